"""The *wallet* pipeline: movements of an account, applied in order to its balance (FIFO, one group per account).

An overdraft is an outcome of the business: it is recorded, and the next movement goes on. Only a movement that cannot
be read at all is poison.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

from claim_check import Condition, ConsumeError, Message, PermanentError, Table, Transaction

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

WALLET_TABLE: Final = "WALLET_TABLE"
"""Environment variable: name of the table of balances and movements."""

BALANCE: Final = "balance"
"""Sort key of an account's balance row."""

Result = Literal["applied", "overdraft"]


class UnreadableMovement(PermanentError):
    """The message is no movement; trying again cannot help."""

    code = "UnreadableMovement"


class BalanceMoved(ConsumeError):
    """Another worker changed the balance in between; trying again reads it anew."""

    code = "BalanceMoved"


@dataclass(frozen=True, slots=True)
class Movement:
    """Money in or out of an account.

    Attributes:
        account: Account.
        cents: Positive in, negative out.
    """

    account: str
    cents: int


@dataclass(frozen=True, slots=True)
class Balance:
    """An account's balance.

    Attributes:
        cents: Never negative.
        movements: Number of movements seen, overdrafts included: the place of the last one in the order.
    """

    cents: int = 0
    movements: int = 0


def apply(balance: Balance, movement: Movement) -> tuple[Balance, Result]:
    """The balance after a movement, and what became of the movement. Pure."""
    cents = balance.cents + movement.cents
    if cents < 0:
        return Balance(balance.cents, balance.movements + 1), "overdraft"
    return Balance(cents, balance.movements + 1), "applied"


def parse(document: Any) -> Movement:  # noqa: ANN401 - decoded JSON
    """Read a movement.

    Raises:
        UnreadableMovement: It is none.
    """
    match document:
        case {"account": str(account), "cents": int(cents)} if account and not isinstance(cents, bool):
            return Movement(account, cents)
    raise UnreadableMovement('a movement looks like {"account": "acc-1", "cents": -250}')


def handle(message: Message, tx: Transaction) -> None:
    """Apply one movement: the new balance and the movement's own row, together with the inbox's."""
    try:
        movement = parse(message.json())
    except ValueError as error:  # not JSON, or not UTF-8
        raise UnreadableMovement("the payload is not JSON") from error
    account = account_key(message.tenant_id, movement.account)
    before = _read(account)
    after, result = apply(before, movement)
    tx.update(
        _wallet(),
        {"pk": account, "sk": BALANCE},
        "SET cents = :cents, movements = :movements",
        values={":cents": after.cents, ":movements": after.movements},
        condition=Condition(
            expression="movements = :seen" if before.movements else "attribute_not_exists(pk)",
            values={":seen": before.movements} if before.movements else {},
        ),
        if_condition_fails=BalanceMoved("the balance changed while the movement was applied"),
    )
    tx.put(
        _wallet(),
        {
            "pk": account,
            "sk": f"movement#{after.movements:012d}",
            "messageId": message.message_id,
            "cents": movement.cents,
            "result": result,
        },
    )


def account_key(tenant_id: str, account: str) -> str:
    """Partition of an account's rows; tenant ids cannot hold the separator."""
    return f"{tenant_id}#{account}"


def _read(account: str) -> Balance:
    answer = _client().get_item(
        TableName=_wallet().name, Key={"pk": {"S": account}, "sk": {"S": BALANCE}}, ConsistentRead=True
    )
    item = answer.get("Item")
    return Balance(int(item["cents"]["N"]), int(item["movements"]["N"])) if item else Balance()


@cache
def _wallet() -> Table:
    return Table(os.environ[WALLET_TABLE], partition_key="pk", sort_key="sk")


@cache
def _client() -> DynamoDBClient:
    from claim_check.adapters.session import shared  # noqa: PLC0415 - the process's one session, when first needed

    return shared().dynamodb
