"""The orders on the embedded AWS: outbox rows through the real stream, mapping, relay and sweep (R3)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from claim_check import contract
from claim_check.adapters.outbox import DynamoDbOutbox
from claim_check.adapters.outbox_items import to_item
from claim_check.outbox.relay import TOO_OLD
from claim_check_examples.orders import ORDER_PLACED, Order
from claim_check_ops.cli import app
from claim_check_ops.local import EmbeddedAws
from claim_check_ops.local.orders_run import DESTINATION, TENANT, OrdersDeployment, OrdersRun, find_orders
from claim_check_ops.local.progress import progress_bar
from claim_check_ops.local.waiting import wait_until

SECONDS = 60.0


@pytest.fixture(scope="module")
def orders(embedded_aws: EmbeddedAws, outputs: list[Mapping[str, str]]) -> OrdersDeployment:
    """The orders, deployed."""
    return find_orders(embedded_aws, outputs)


@pytest.fixture(scope="module")
def table(orders: OrdersDeployment) -> DynamoDbOutbox:
    """Its outbox."""
    return DynamoDbOutbox(orders.aws.dynamodb, orders.outbox, sleep=lambda _: None)


def test_orders_and_their_messages_are_placed_together(orders: OrdersDeployment) -> None:
    run = OrdersRun(orders)
    with progress_bar(Console(quiet=True)) as bar:
        run.execute(bar)
    assert run.document()["problems"] == []
    assert run.succeeded, run.document()


def order_of(name: str, *, customer: str) -> Order:
    """An order."""
    return Order(
        tenantId=TENANT,
        orderId=name,
        customer=customer,
        lines=[{"sku": "tea", "count": 1, "cents": 1}],
        note="",
    )


def place(orders: OrdersDeployment, order: Order) -> str:
    """Place it. Returns its row's key."""
    answer = orders.aws.lambda_.invoke(FunctionName=orders.place_function, Payload=json.dumps(order).encode())
    assert json.loads(answer["Payload"].read()) == {"orderId": order["orderId"], "placed": "now"}
    id_hash = contract.id_hash(f"{ORDER_PLACED}-{order['orderId']}")
    return contract.outbox_key(destination=DESTINATION, tenant_id=TENANT, id_hash=id_hash)


def sweep(orders: OrdersDeployment) -> dict[str, Any]:
    """What the schedule does."""
    answer = orders.aws.lambda_.invoke(FunctionName=orders.sweep_function, Payload=b"{}")
    assert not answer.get("FunctionError")
    swept: dict[str, Any] = json.loads(answer["Payload"].read())
    return swept


@contextmanager
def no_stream(orders: OrdersDeployment) -> Iterator[None]:
    """Let the relay see nothing of what is staged."""
    arn = orders.aws.dynamodb.describe_table(TableName=orders.outbox)["Table"]["LatestStreamArn"]
    (mapping,) = orders.aws.lambda_.list_event_source_mappings(EventSourceArn=arn)["EventSourceMappings"]
    orders.aws.lambda_.update_event_source_mapping(UUID=mapping["UUID"], Enabled=False)
    try:
        yield
    finally:
        orders.aws.lambda_.update_event_source_mapping(UUID=mapping["UUID"], Enabled=True)


def age(orders: OrdersDeployment, table: DynamoDbOutbox, key: str, seconds: float) -> None:
    """Let a row have been staged that long ago."""
    row = table.rows([key])[key]
    orders.aws.dynamodb.put_item(TableName=orders.outbox, Item=to_item(replace(row, staged_at=row.staged_at - seconds)))


def test_the_sweep_sends_what_the_stream_missed_in_order(orders: OrdersDeployment, table: DynamoDbOutbox) -> None:
    customer, names = f"c-{uuid.uuid4().hex}", [f"missed-{uuid.uuid4().hex}" for _ in range(3)]
    with no_stream(orders):
        keys = [place(orders, order_of(name, customer=customer)) for name in names]
        assert {row.state for row in table.rows(keys).values()} == {"PENDING"}
        assert sweep(orders)["sent"] == 0  # young rows are the stream's
        for key in keys:
            age(orders, table, key, 60)
        swept = sweep(orders)
    assert swept["sent"] == 3
    assert swept["lag_seconds"] >= 60
    rows = table.rows(keys)
    assert [rows[key].state for key in keys] == ["SENT"] * 3
    sent = [rows[key].updated_at for key in keys]
    assert sent == sorted(sent)


def test_a_row_that_grew_too_old_is_parked_and_can_be_discarded(
    orders: OrdersDeployment, table: DynamoDbOutbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    customer = f"c-{uuid.uuid4().hex}"
    with no_stream(orders):
        key, behind = [place(orders, order_of(uuid.uuid4().hex, customer=customer)) for _ in range(2)]
        age(orders, table, key, contract.DEFAULT_OUTBOX_SECONDS + 1)
        age(orders, table, behind, 60)
        assert sweep(orders)["parked"] == 1
    rows = table.rows([key, behind])
    assert (rows[key].state, rows[key].last_code) == ("PARKED", TOO_OLD)
    assert rows[behind].state == "PENDING"  # order never breaks behind a parked row

    for name, value in orders.aws.environment().items():
        monkeypatch.setenv(name, value)
    listed = CliRunner().invoke(app, ["outbox", "list", "--json"])
    assert [row["key"] for row in json.loads(listed.output)["rows"]] == [key]
    refused = CliRunner().invoke(app, ["outbox", "retry", key])
    assert (refused.exit_code, refused.output.strip()) == (1, f"{key}: too old")
    assert CliRunner().invoke(app, ["outbox", "discard", key]).exit_code == 0

    def sent() -> bool:
        sweep(orders)
        return table.rows([behind])[behind].state == "SENT"

    assert wait_until(sent, what="the row behind it", timeout=SECONDS)
    assert table.rows([key])[key].state == "DISCARDED"
