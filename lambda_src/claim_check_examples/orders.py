"""The *orders*: an order and the message about it are placed together, or not at all; the message becomes an invoice.

`place` is invoked with an order and writes its row and its message in one transaction (R3.1). `invoice` is the handler
behind the queue; it is only shown documents that the order's row knows (R3.3).
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypedDict

from claim_check import (
    AlreadyStaged,
    Claim,
    Condition,
    Envelope,
    Event,
    Message,
    PermanentError,
    Table,
    Transaction,
    expecting,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from claim_check.outbox import Outbox

ORDERS_TABLE: Final = "ORDERS_TABLE"
"""Environment variable: name of the table of orders and invoices."""

ORDER_PLACED: Final = "OrderPlaced"
ORDER, INVOICE = "order", "invoice"
"""Sort keys of an order's rows."""

MAX_CENTS: Final = 1_000_000
"""Larger orders are for a person."""


class TooLarge(PermanentError):
    """An order that nobody may place without a person."""

    code = "OrderTooLarge"


class Line(TypedDict):
    """One line of an order."""

    sku: str
    count: int
    cents: int


class Order(TypedDict):
    """An order as it is placed; `note` may be long, and then travels through S3."""

    tenantId: str
    orderId: str
    customer: str
    lines: list[Line]
    note: str


def place(order: Order, _context: object = None) -> dict[str, Any]:
    """Place an order: entry point of the function that an application invokes.

    Placing the same order again is safe: it is told that it was placed before.
    """
    return place_with(_outbox(), _orders(), order)


def place_with(outbox: Outbox, orders: Table, order: Order) -> dict[str, Any]:
    """Place an order: its row and its message, in one transaction.

    Raises:
        TooLarge: Nothing was written, and nothing is sent.
    """
    cents = total(order)
    event = Event.json(
        order,
        tenant_id=order["tenantId"],
        event_type=ORDER_PLACED,
        message_id=f"{ORDER_PLACED}-{order['orderId']}",
        group_id=order["customer"],
        domain_ref={"orderId": order["orderId"]},
    )
    try:
        with outbox.transaction() as tx:
            staged = outbox.stage(event, tx)
            row = {"pk": order_key(order["tenantId"], order["orderId"]), "sk": ORDER, "cents": cents}
            claim = {} if staged.claim is None else {"document": stored(staged.claim)}
            tx.put(orders, {**row, **claim}, condition=Condition(expression="attribute_not_exists(pk)"))
            if cents > MAX_CENTS:
                raise TooLarge(f"orderId {order['orderId']}: {cents} cents; up to {MAX_CENTS} without a person")
    except AlreadyStaged:
        return {"orderId": order["orderId"], "placed": "before"}
    return {"orderId": order["orderId"], "placed": "now"}


def total(order: Order) -> int:
    """What an order costs, cents. Pure."""
    return sum(line["count"] * line["cents"] for line in order["lines"])


def order_key(tenant_id: str, order_id: str) -> str:
    """Partition of an order's rows; tenant ids cannot hold the separator."""
    return f"{tenant_id}#{order_id}"


def stored(claim: Claim) -> dict[str, Any]:
    """A claim as the order's row keeps it."""
    known = {
        "bucket": claim.bucket,
        "key": claim.key,
        "versionId": claim.version_id,
        "contentType": claim.content_type,
        "contentLength": claim.content_length,
        "sha256": claim.sha256,
    }
    return {name: value for name, value in known.items() if value is not None}


def recorded(envelope: Envelope) -> Claim | None:
    """The claim that the order's row keeps; None if its document travelled in the message."""
    answer = _client().get_item(
        TableName=_orders().name,
        Key={"pk": {"S": order_key(envelope.tenant_id, str(envelope.domain_ref["orderId"]))}, "sk": {"S": ORDER}},
        ConsistentRead=True,
    )
    item = answer.get("Item", {}).get("document", {}).get("M")
    if item is None:
        return None
    return Claim(
        bucket=item["bucket"]["S"],
        key=item["key"]["S"],
        version_id=item["versionId"]["S"] if "versionId" in item else None,
        content_type=item["contentType"]["S"],
        content_length=int(item["contentLength"]["N"]),
        sha256=item["sha256"]["S"],
    )


@expecting(recorded)
def invoice(message: Message, tx: Transaction) -> None:
    """Write the invoice of an order; the inbox sees to it that there is one."""
    order: Order = message.json()
    tx.put(
        _orders(),
        {
            "pk": order_key(message.tenant_id, order["orderId"]),
            "sk": INVOICE,
            "cents": total(order),
            "messageId": message.message_id,
            "documentBytes": message.content_length,
        },
    )


@cache
def _outbox() -> Outbox:
    from claim_check.aws_outbox import outbox  # noqa: PLC0415 - the handler behind the queue needs none of it
    from claim_check.outbox.settings import OutboxSettings  # noqa: PLC0415 - as above

    return outbox(OutboxSettings.from_environment(os.environ))


@cache
def _orders() -> Table:
    return Table(os.environ[ORDERS_TABLE], partition_key="pk", sort_key="sk")


@cache
def _client() -> DynamoDBClient:
    from claim_check.adapters.session import shared  # noqa: PLC0415 - the process's one session, when first needed

    return shared().dynamodb
