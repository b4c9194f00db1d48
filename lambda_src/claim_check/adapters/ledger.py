"""The ledger of an ingester on DynamoDB.

Rows lie in a few partitions per bucket, by a hash of the key, with the key itself as sort key: writes spread, and the
partitions merged give all rows in the order in which S3 lists, by consistent reads and in flat memory.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

from claim_check import contract
from claim_check.adapters.dynamodb import low_level
from claim_check.adapters.dynamodb_calls import (
    REFUSED,
    cancellations,
    commit_failure,
    condition_failed,
    queried,
    read_failure,
)
from claim_check.adapters.failures import code_of
from claim_check.adapters.inbox_items import deserialize, to_value
from claim_check.contract import LedgerAttribute as Attribute
from claim_check.errors import CommitFailed, Unavailable
from claim_check.ingest.ports import LedgerRefused, LedgerRow
from claim_check.ports import TableWrite, WriteRefused

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NAMES: Final = {
    "state": Attribute.STATE,
    "revision": Attribute.REVISION,
    "sequencer": Attribute.SEQUENCER,
    "exact": Attribute.EXACT,
    "kind": Attribute.KIND,
    "version_id": Attribute.VERSION_ID,
    "etag": Attribute.ETAG,
    "size": Attribute.SIZE,
    "modified_at": Attribute.MODIFIED_AT,
    "applied_at": Attribute.APPLIED_AT,
    "ttl": Attribute.TTL,
}
"""Field of `LedgerRow` to attribute of the item; bucket and key are its primary key."""

_SHOWN: Final = "the ledger"
_PAGE_ROWS: Final = 500
"""Rows of one partition that are held at once."""

_LONE: Final = "-"
"""Sort key of rows that are alone in their partition."""


def to_item(row: LedgerRow) -> dict[str, Any]:
    """The item of a row, in the low-level form."""
    values = {name: getattr(row, field) for field, name in NAMES.items()}
    values |= {Attribute.SHARD: contract.ledger_shard(bucket=row.bucket, key=row.key), Attribute.KEY: row.key}
    return {name: to_value(value) for name, value in values.items() if value is not None}


def to_row(item: Mapping[str, Any]) -> LedgerRow:
    """The row of an item; attributes that a newer version may have added are left out."""
    present = {field: deserialize(item[name]) for field, name in NAMES.items() if name in item}
    for field, kind in (("size", int), ("modified_at", float), ("applied_at", float), ("ttl", int)):
        if field in present:
            present[field] = kind(present[field])
    bucket = deserialize(item[Attribute.SHARD]).rpartition("#")[0]
    return LedgerRow(bucket=bucket, key=deserialize(item[Attribute.KEY]), **present)


class DynamoDbLedger:
    """`LedgerTable`, `LedgerReader` and `Checkpoints` of `claim_check.ingest.ports` on one DynamoDB table."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        """Use a table.

        Args:
            client: DynamoDB client.
            table: Table name.
        """
        self._client = client
        self._table = table

    # --- LedgerTable ------------------------------------------------------------------------------------------------

    def read(self, *, bucket: str, key: str) -> LedgerRow | None:
        """See `claim_check.ingest.ports.LedgerTable.read`."""
        item = self._item(contract.ledger_shard(bucket=bucket, key=key), key)
        return to_row(item) if item else None

    def write(
        self, row: LedgerRow, *, seen: str | None, writes: Sequence[TableWrite]
    ) -> LedgerRefused | WriteRefused | None:
        """See `claim_check.ingest.ports.LedgerTable.write`."""
        put = self._guarded_put(row, seen)
        try:
            if not writes:
                self._client.put_item(**put)
            else:
                items: list[Any] = [{"Put": put}, *(low_level(write) for write in writes)]
                self._client.transact_write_items(TransactItems=items, ClientRequestToken=row.revision)
        except ClientError as error:
            return _refusal(error)
        except ParamValidationError as error:
            raise CommitFailed(f"the SDK refused the commit: {type(error).__name__}") from None
        except BotoCoreError as error:
            raise Unavailable(f"DynamoDB: no answer, {type(error).__name__}") from None
        return None

    def failed(self, sqs_message_id: str, *, expires_at: int) -> int:
        """See `claim_check.ingest.ports.LedgerTable.failed`: one atomic addition."""
        try:
            answer = self._client.update_item(
                TableName=self._table,
                Key=_lone(f"failures#{sqs_message_id}"),
                UpdateExpression="ADD #failures :one SET #ttl = :ttl",
                ExpressionAttributeNames={"#failures": Attribute.FAILURES, "#ttl": Attribute.TTL},
                ExpressionAttributeValues={":one": to_value(1), ":ttl": to_value(expires_at)},
                ReturnValues="UPDATED_NEW",
            )
        except (ClientError, BotoCoreError) as error:
            raise Unavailable(f"DynamoDB: {code_of(error)}") from None
        return int(deserialize(answer["Attributes"][Attribute.FAILURES]))

    # --- LedgerReader -----------------------------------------------------------------------------------------------

    def row(self, *, bucket: str, key: str) -> LedgerRow | None:
        """See `claim_check.ingest.ports.LedgerReader.row`."""
        return self.read(bucket=bucket, key=key)

    def rows(self, *, bucket: str, prefix: str, start_after: str) -> Iterator[LedgerRow]:
        """See `claim_check.ingest.ports.LedgerReader.rows`: all partitions, merged in the order of the keys' bytes."""
        shards = (self._shard(shard, prefix, start_after) for shard in contract.ledger_shards(bucket))
        return heapq.merge(*shards, key=lambda row: row.key.encode())

    def _shard(self, shard: str, prefix: str, start_after: str) -> Iterator[LedgerRow]:
        condition, values = "#pk = :pk", {":pk": to_value(shard)}
        names = {"#pk": Attribute.SHARD}
        if prefix:
            condition, names["#sk"] = f"{condition} AND begins_with(#sk, :prefix)", Attribute.KEY
            values[":prefix"] = to_value(prefix)
        request: dict[str, Any] = {
            "TableName": self._table,
            "KeyConditionExpression": condition,
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
            "ConsistentRead": True,
            "Limit": _PAGE_ROWS,
        }
        if start_after:  # a key need not exist to be started after
            request["ExclusiveStartKey"] = {Attribute.SHARD: to_value(shard), Attribute.KEY: to_value(start_after)}
        return map(to_row, queried(self._client, request, what=_SHOWN))

    # --- Checkpoints ------------------------------------------------------------------------------------------------

    def load(self, name: str) -> str | None:
        """See `claim_check.ingest.ports.Checkpoints.load`."""
        item = self._item(f"checkpoint#{name}", _LONE)
        return str(deserialize(item[Attribute.CHECKPOINT])) if item else None

    def save(self, name: str, text: str) -> None:
        """See `claim_check.ingest.ports.Checkpoints.save`."""
        item = {**_lone(f"checkpoint#{name}"), Attribute.CHECKPOINT: to_value(text)}
        try:
            self._client.put_item(TableName=self._table, Item=item)
        except (ClientError, BotoCoreError) as error:
            raise read_failure(error, f"show {_SHOWN}") from None

    # --- Inside -----------------------------------------------------------------------------------------------------

    def _item(self, shard: str, key: str) -> Mapping[str, Any] | None:
        place = {Attribute.SHARD: to_value(shard), Attribute.KEY: to_value(key)}
        try:
            answer = self._client.get_item(TableName=self._table, Key=place, ConsistentRead=True)
        except (ClientError, BotoCoreError) as error:
            raise read_failure(error, f"show {_SHOWN}") from None
        return answer.get("Item")

    def _guarded_put(self, row: LedgerRow, seen: str | None) -> dict[str, Any]:
        put: dict[str, Any] = {
            "TableName": self._table,
            "Item": to_item(row),
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        if seen is None:
            return put | {"ConditionExpression": f"attribute_not_exists({Attribute.SHARD})"}
        return put | {
            "ConditionExpression": "#revision = :seen",
            "ExpressionAttributeNames": {"#revision": Attribute.REVISION},
            "ExpressionAttributeValues": {":seen": to_value(seen)},
        }


def _lone(shard: str) -> dict[str, Any]:
    return {Attribute.SHARD: to_value(shard), Attribute.KEY: to_value(_LONE)}


def _refusal(error: ClientError) -> LedgerRefused | WriteRefused:
    """Which condition refused a write; the row's own is looked at first.

    Raises:
        Unavailable: A conflict, a throttle or a fault of the service.
        CommitFailed: Anything that repeating cannot mend.
    """
    if condition_failed(error):
        return LedgerRefused(_row(error.response.get("Item")))
    reasons = cancellations(error)
    codes = [str(reason.get("Code")) for reason in reasons]
    if codes and codes[0] == REFUSED:
        return LedgerRefused(_row(reasons[0].get("Item")))
    if REFUSED in codes:
        return WriteRefused(codes.index(REFUSED) - 1)
    raise commit_failure(error, codes, "the commit") from None


def _row(item: Any) -> LedgerRow | None:  # noqa: ANN401 - ReturnValuesOnConditionCheckFailure adds it to the error
    return to_row(item) if item else None
