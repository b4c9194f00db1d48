"""Reads of the inbox table for those who only look: operators, the reconciler (R4.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from boto3.dynamodb.types import TypeSerializer
from botocore.exceptions import BotoCoreError, ClientError

from claim_check import contract
from claim_check.adapters.dynamodb import PASSING
from claim_check.adapters.failures import code_of, kind_of
from claim_check.adapters.inbox_items import to_row
from claim_check.contract import InboxAttribute as Attribute
from claim_check.contract import InboxState
from claim_check.errors import ReadRefused, Unavailable
from claim_check.ports import InboxRow

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

BATCH_KEYS: Final = 100
"""Keys that one BatchGetItem takes."""

_MAX_ROUNDS: Final = 8
"""Times that keys which DynamoDB left over are asked for again, without progress, before it counts as throttled."""

_serialize: Final = TypeSerializer().serialize


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
        wanted = list(dict.fromkeys(keys))
        found: dict[str, InboxRow] = {}
        for start in range(0, len(wanted), BATCH_KEYS):
            for row in self._batch(wanted[start : start + BATCH_KEYS]):
                found[row.key] = row
        return found

    def open_rows(self, consumer: str, *, state: InboxState | None = None) -> Iterator[InboxRow]:
        """See `claim_check.ports.InboxReader.open_rows`."""
        for shard in contract.inbox_open_shards(consumer):
            yield from self._shard(shard, state)

    def _shard(self, shard: str, state: InboxState | None) -> Iterator[InboxRow]:
        condition, values = "#shard = :shard", {":shard": _serialize(shard)}
        names = {"#shard": Attribute.OPEN_SHARD}
        if state is not None:
            condition += " AND begins_with(#since, :state)"
            names["#since"] = Attribute.OPEN_SINCE
            values[":state"] = _serialize(f"{state}#")
        request: dict[str, Any] = {
            "TableName": self._table,
            "IndexName": contract.INBOX_OPEN_INDEX,
            "KeyConditionExpression": condition,
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
        }
        while True:
            answer = _asked(lambda: self._client.query(**request))
            yield from map(to_row, answer["Items"])
            if not answer.get("LastEvaluatedKey"):
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def _batch(self, keys: Sequence[str]) -> Iterator[InboxRow]:
        left: list[Any] = [{Attribute.KEY: _serialize(key)} for key in keys]
        rounds = 0
        while rounds < _MAX_ROUNDS:
            request: Any = {self._table: {"Keys": left, "ConsistentRead": True}}
            answer = _asked(partial(self._client.batch_get_item, RequestItems=request))
            yield from map(to_row, answer["Responses"].get(self._table, []))
            before, left = len(left), answer.get("UnprocessedKeys", {}).get(self._table, {}).get("Keys", [])
            if not left:
                return
            rounds = 0 if len(left) < before else rounds + 1
            self._sleep(min(5.0, 0.1 * 2**rounds))
        raise Unavailable("DynamoDB: keys are left unprocessed again and again")


def _asked(ask: Callable[[], Any]) -> Any:  # noqa: ANN401 - an answer of one of several calls
    try:
        return ask()
    except (ClientError, BotoCoreError) as error:
        code = code_of(error)
        if code in PASSING or kind_of(error) == "transient":
            raise Unavailable(f"DynamoDB: {code}") from None
        raise ReadRefused(f"DynamoDB refuses to show the table: {code}") from None
