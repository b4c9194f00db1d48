"""Orders per customer, in order: one that needs what is not there yet blocks its customer, and nobody else."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from claim_check import Message, PermanentError, Table, Transaction

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class NoSuchArticle(PermanentError):
    """Waiting does not help: a person must add the article."""

    code = "NoSuchArticle"


def handle(message: Message, tx: Transaction) -> None:
    """Book an order behind the customer's last one."""
    order = message.json()
    if not _exists({"pk": f"article#{order['article']}", "sk": "-"}):
        raise NoSuchArticle("an order names an article that nobody has added")
    place = f"{order['place']:04d}"
    before = f"{order['place'] - 1:04d}"
    in_order = order["place"] == 0 or _exists({"pk": f"customer#{order['customer']}", "sk": before})
    tx.put(_orders(), {"pk": f"customer#{order['customer']}", "sk": place, "inOrder": in_order})


def _exists(key: dict[str, str]) -> bool:
    answer = _client().get_item(
        TableName=_orders().name, Key={name: {"S": value} for name, value in key.items()}, ConsistentRead=True
    )
    return "Item" in answer


@cache
def _orders() -> Table:
    return Table(os.environ["ORDERS_TABLE"], partition_key="pk", sort_key="sk")


@cache
def _client() -> DynamoDBClient:
    from claim_check.adapters.session import shared  # noqa: PLC0415 - the process's one session, when first needed

    return shared().dynamodb
