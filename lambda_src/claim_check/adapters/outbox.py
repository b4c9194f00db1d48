"""The outbox table on DynamoDB: every transition is one conditional request."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

from claim_check import contract
from claim_check.adapters.dynamodb import low_level
from claim_check.adapters.dynamodb_calls import (
    REFUSED,
    cancellations,
    commit_failure,
    condition_failed,
    items_of_keys,
    queried,
)
from claim_check.adapters.failures import code_of
from claim_check.adapters.inbox_items import serialize, to_value
from claim_check.adapters.outbox_items import to_group, to_item, to_row
from claim_check.contract import OutboxAttribute as Attribute
from claim_check.contract import OutboxState
from claim_check.errors import CommitFailed, Unavailable
from claim_check.outbox.ports import Group
from claim_check.outbox.rows import OutboxRow
from claim_check.ports import TableWrite

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_FREE: Final = "(attribute_not_exists(#owner) OR #owner = :owner OR leaseUntil <= :now)"
_LEASE: Final = "SET #owner = :owner, leaseUntil = :until"
_OWNER: Final = {"#owner": Attribute.OWNER}
_STATE: Final = {"#state": Attribute.STATE}


class DynamoDbTransactions:
    """`claim_check.outbox.ports.Transactions` on DynamoDB."""

    def __init__(self, client: DynamoDBClient) -> None:
        """Use a client."""
        self._client = client

    def commit(self, writes: Sequence[TableWrite], *, token: str) -> int | None:
        """See `claim_check.outbox.ports.Transactions.commit`: one TransactWriteItems."""
        return transact(self._client, [low_level(write) for write in writes], token=token)


class DynamoDbOutbox:
    """`claim_check.outbox.ports.OutboxTable` on one DynamoDB table."""

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

    # --- Reads ------------------------------------------------------------------------------------------------------

    def rows(self, keys: Sequence[str]) -> Mapping[str, OutboxRow]:
        """See `claim_check.outbox.ports.OutboxReader.rows`."""
        wanted = [{Attribute.KEY: serialize(key)} for key in dict.fromkeys(keys)]
        rows = map(to_row, items_of_keys(self._client, self._table, wanted, sleep=self._sleep))
        return {row.key: row for row in rows}

    def open_rows(self, state: OutboxState) -> Iterator[OutboxRow]:
        """See `claim_check.outbox.ports.OutboxReader.open_rows`."""
        for shard in contract.outbox_open_shards():
            yield from self._shard(shard, state)

    def _shard(self, shard: str, state: OutboxState) -> Iterator[OutboxRow]:
        request: dict[str, Any] = {
            "TableName": self._table,
            "IndexName": contract.OUTBOX_OPEN_INDEX,
            "KeyConditionExpression": "#shard = :shard AND begins_with(#since, :state)",
            "ExpressionAttributeNames": {"#shard": Attribute.OPEN_SHARD, "#since": Attribute.OPEN_SINCE},
            "ExpressionAttributeValues": {":shard": serialize(shard), ":state": serialize(f"{state}#")},
        }
        return map(to_row, queried(self._client, request))

    # --- Leases -----------------------------------------------------------------------------------------------------

    def lease_row(self, key: str, *, owner: str, now: float, until: float) -> OutboxRow | None:
        """See `claim_check.outbox.ports.OutboxTable.lease_row`."""
        due = "#state = :pending AND dueAt <= :now"
        values = {":pending": to_value("PENDING"), ":nobody": to_value(""), **_lease_values(owner, now, until)}
        lease = f"{_LEASE}, {Attribute.LEFT_BY} = if_not_exists(#owner, :nobody)"
        item = self._update(key, lease, f"{due} AND {_FREE}", names={**_OWNER, **_STATE}, values=values)
        return None if item is None else to_row(item)

    def lease_group(self, key: str, *, owner: str, now: float, until: float) -> Group | None:
        """See `claim_check.outbox.ports.OutboxTable.lease_group`."""
        condition = f"attribute_exists({Attribute.KEY}) AND {_FREE}"
        item = self._update(key, _LEASE, condition, names=_OWNER, values=_lease_values(owner, now, until))
        return None if item is None else to_group(item)

    def release_group(self, key: str, *, owner: str, emptied: bool, ttl: int) -> bool:
        """See `claim_check.outbox.ports.OutboxTable.release_group`."""
        update, condition, names, values = f"REMOVE #owner, {Attribute.LEASE_UNTIL}", "#owner = :owner", _OWNER, {}
        if emptied:
            update = f"SET #ttl = :ttl {update}"
            condition += f" AND (attribute_not_exists({Attribute.PENDING}) OR size({Attribute.PENDING}) = :none)"
            names = {**_OWNER, "#ttl": Attribute.TTL}
            values = {":ttl": to_value(ttl), ":none": to_value(0)}
        values = {":owner": to_value(owner), **values}
        return self._update(key, update, condition, names=names, values=values) is not None

    def _update(
        self, key: str, update: str, condition: str, *, names: Mapping[str, str], values: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """A conditional update; the item as it is then, None if the condition does not hold."""
        try:
            answer = self._client.update_item(
                TableName=self._table,
                Key={Attribute.KEY: serialize(key)},
                UpdateExpression=update,
                ConditionExpression=condition,
                ExpressionAttributeNames=dict(names),
                ExpressionAttributeValues=dict(values),
                ReturnValues="ALL_NEW",
            )
        except ClientError as error:
            if condition_failed(error):
                return None
            raise _unavailable(error) from None
        except BotoCoreError as error:
            raise _unavailable(error) from None
        return answer["Attributes"]

    # --- What became of a row ---------------------------------------------------------------------------------------

    def settle_row(self, row: OutboxRow, *, owner: str | None) -> bool:
        """See `claim_check.outbox.ports.OutboxTable.settle_row`."""
        put = self._put(row)
        if owner is not None:
            put["ConditionExpression"] += " AND #owner = :owner"
            put["ExpressionAttributeNames"] |= _OWNER
            put["ExpressionAttributeValues"] |= {":owner": to_value(owner)}
        try:
            self._client.put_item(**put, ReturnValuesOnConditionCheckFailure="ALL_OLD")
        except ClientError as error:
            if not condition_failed(error):
                raise _unavailable(error) from None
            present: Any = error.response.get("Item")
            return bool(present) and to_row(present) == row
        except BotoCoreError as error:
            raise _unavailable(error) from None
        return True

    def settle_head(self, row: OutboxRow, *, group: str, owner: str) -> bool:
        """See `claim_check.outbox.ports.OutboxTable.settle_head`."""
        return self._pop(row.place, group, owner, {"Put": self._put(row)}, what=row.state)

    def drop_head(self, key: str, *, group: str, owner: str) -> bool:
        """See `claim_check.outbox.ports.OutboxTable.drop_head`."""
        check = {
            "TableName": self._table,
            "Key": {Attribute.KEY: serialize(key)},
            "ConditionExpression": f"attribute_not_exists({Attribute.KEY}) OR #state IN (:sent, :discarded)",
            "ExpressionAttributeNames": _STATE,
            "ExpressionAttributeValues": {":sent": to_value("SENT"), ":discarded": to_value("DISCARDED")},
        }
        return self._pop(key.partition("#")[2], group, owner, {"ConditionCheck": check}, what="drop")

    def _put(self, row: OutboxRow) -> dict[str, Any]:
        return {
            "TableName": self._table,
            "Item": to_item(row),
            "ConditionExpression": "#state = :pending",
            "ExpressionAttributeNames": dict(_STATE),
            "ExpressionAttributeValues": {":pending": to_value("PENDING")},
        }

    def _pop(self, place: str, group: str, owner: str, other: dict[str, Any], *, what: str) -> bool:
        """Take the first name off a group together with another write; the same request again is one request."""
        pop = {
            "TableName": self._table,
            "Key": {Attribute.KEY: serialize(group)},
            "UpdateExpression": f"REMOVE {Attribute.PENDING}[0]",
            "ConditionExpression": f"#owner = :owner AND {Attribute.PENDING}[0] = :place",
            "ExpressionAttributeNames": dict(_OWNER),
            "ExpressionAttributeValues": {":owner": to_value(owner), ":place": to_value(place)},
        }
        token = hashlib.sha256(f"{owner} {group} {place} {what}".encode()).hexdigest()[:32]
        return transact(self._client, [{"Update": pop}, other], token=token) is None


def transact(client: DynamoDBClient, items: Sequence[Any], *, token: str) -> int | None:
    """One TransactWriteItems. None when committed, else the number of the item whose condition did not hold.

    Raises:
        Unavailable: A conflict, a throttle, a fault of the service, or no answer.
        CommitFailed: Anything that repeating cannot mend.
    """
    try:
        client.transact_write_items(TransactItems=list(items), ClientRequestToken=token)
    except ClientError as error:
        return _cancellation(error)
    except ParamValidationError as error:
        raise CommitFailed(f"the SDK refused the commit: {type(error).__name__}") from None
    except BotoCoreError as error:
        raise _unavailable(error) from None
    return None


def _cancellation(error: ClientError) -> int:
    codes = [str(reason.get("Code")) for reason in cancellations(error)]
    if REFUSED in codes:
        return codes.index(REFUSED)
    raise commit_failure(error, codes, "the transaction") from None


def _lease_values(owner: str, now: float, until: float) -> dict[str, Any]:
    return {":owner": to_value(owner), ":now": to_value(now), ":until": to_value(until)}


def _unavailable(error: ClientError | BotoCoreError) -> Unavailable:
    return Unavailable(f"DynamoDB: {code_of(error)}")
