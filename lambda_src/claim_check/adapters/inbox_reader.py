"""Reads of the inbox table for those who only look: operators, the reconciler (R4.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from claim_check import contract
from claim_check.adapters.dynamodb_calls import items_of_keys, queried
from claim_check.adapters.inbox_items import serialize, to_row
from claim_check.contract import InboxAttribute as Attribute
from claim_check.contract import InboxState
from claim_check.ports import InboxRow

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoDbInboxReader:
    """`claim_check.ports.InboxReader` on one DynamoDB table."""

    def __init__(self, client: DynamoDBClient, table: str, *, sleep: Callable[[float], object]) -> None:
        """Use a table.

        Args:
            client: DynamoDB client.
            table: Table name.
            sleep: Waits so many seconds.
        """
        self._client = client
        self._table = table
        self._sleep = sleep

    def rows(self, keys: Sequence[str]) -> Mapping[str, InboxRow]:
        """See `claim_check.ports.InboxReader.rows`."""
        wanted = [{Attribute.KEY: serialize(key)} for key in dict.fromkeys(keys)]
        rows = map(to_row, items_of_keys(self._client, self._table, wanted, sleep=self._sleep))
        return {row.key: row for row in rows}

    def open_rows(self, consumer: str, *, state: InboxState | None = None) -> Iterator[InboxRow]:
        """See `claim_check.ports.InboxReader.open_rows`."""
        for shard in contract.inbox_open_shards(consumer):
            yield from self._shard(shard, state)

    def _shard(self, shard: str, state: InboxState | None) -> Iterator[InboxRow]:
        condition, values = "#shard = :shard", {":shard": serialize(shard)}
        names = {"#shard": Attribute.OPEN_SHARD}
        if state is not None:
            condition += " AND begins_with(#since, :state)"
            names["#since"] = Attribute.OPEN_SINCE
            values[":state"] = serialize(f"{state}#")
        request: dict[str, Any] = {
            "TableName": self._table,
            "IndexName": contract.INBOX_OPEN_INDEX,
            "KeyConditionExpression": condition,
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
        }
        return map(to_row, queried(self._client, request))
