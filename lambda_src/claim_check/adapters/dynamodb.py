"""The inbox table on DynamoDB: every transition is one conditional request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

from claim_check.adapters.dynamodb_calls import PASSING, REFUSED, cancellations
from claim_check.adapters.inbox_items import NAMES, serialize, to_item, to_row, to_value
from claim_check.contract import InboxAttribute as Attribute
from claim_check.errors import CommitFailed, Unavailable
from claim_check.inbox import taken
from claim_check.ports import Guard, InboxRow, Refused, TableWrite, Taken, WriteRefused

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_TAKE_CONDITION: Final = (
    "attribute_not_exists(pk) OR (fingerprint = :fingerprint AND attempts < :maxAttempts AND ("
    "#state = :failed"
    " OR (#state = :inProgress AND leaseUntil <= :now)"
    " OR (#state = :parked AND sqsMessageId <> :sqsMessageId)"
    " OR (#state = :parking AND sqsMessageId <> :sqsMessageId AND leaseUntil <= :now)))"
)
"""`claim_check.inbox.may_take` as DynamoDB evaluates it; the contract suite holds the two together."""

_STATES: Final = {":failed": "FAILED", ":inProgress": "IN_PROGRESS", ":parked": "PARKED", ":parking": "PARKING"}

_HISTORY: Final = (
    Attribute.KEY,
    Attribute.ATTEMPTS,
    Attribute.ATTEMPTS_SPENT,
    Attribute.LAST_CODE,
    Attribute.LAST_MESSAGE,
    Attribute.FIRST_SEEN_AT,
)
"""What the gate's update does not overwrite."""

_KEPT: Final = frozenset({*_HISTORY, Attribute.REDRIVEN})
"""What it does not remove either: a row that was redriven once stays marked."""

_SERVER_ERROR: Final = 500


class DynamoDbInbox:
    """`claim_check.ports.InboxTable` on one DynamoDB table."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        """Use a table.

        Args:
            client: DynamoDB client.
            table: Table name.
        """
        self._client = client
        self._table = table

    def take(self, wanted: InboxRow, *, now: float, max_attempts: int) -> Taken | Refused:
        """See `claim_check.ports.InboxTable.take`."""
        item = to_item(wanted)
        assigned = {name: value for name, value in item.items() if name not in _HISTORY}
        absent = [name for name in NAMES.values() if name not in item and name not in _KEPT]
        names = {f"#{name}": name for name in [*assigned, *absent]}
        sets = [f"#{name} = :{name}" for name in assigned]
        sets.append("attempts = if_not_exists(attempts, :zero) + :one")
        sets.append("attemptsSpent = if_not_exists(attemptsSpent, :zero)")
        sets.append("firstSeenAt = if_not_exists(firstSeenAt, :firstSeenAt)")
        values = {f":{name}": value for name, value in assigned.items()}
        values |= {name: to_value(state) for name, state in _STATES.items()}
        values |= {":zero": to_value(0), ":one": to_value(1), ":now": to_value(now)}
        values |= {":maxAttempts": to_value(max_attempts), ":firstSeenAt": item[Attribute.FIRST_SEEN_AT]}
        try:
            answer = self._client.update_item(
                TableName=self._table,
                Key={Attribute.KEY: item[Attribute.KEY]},
                UpdateExpression="SET " + ", ".join(sets) + _removal(absent),
                ConditionExpression=_TAKE_CONDITION,
                ExpressionAttributeNames=names,
                ExpressionAttributeValues=values,
                ReturnValues="ALL_OLD",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ClientError as error:
            return _refusal(error)
        except BotoCoreError as error:
            raise _no_answer(error) from None
        before = to_row(answer["Attributes"]) if answer.get("Attributes") else None
        return Taken(taken(wanted, before), before)

    def replace(self, row: InboxRow, *, guard: Guard | None) -> Refused | None:
        """See `claim_check.ports.InboxTable.replace`."""
        try:
            self._client.put_item(**self._guarded_put(row, guard))
        except ClientError as error:
            return _refusal(error)
        except BotoCoreError as error:
            raise _no_answer(error) from None
        return None

    def complete(
        self, row: InboxRow, *, guard: Guard, writes: Sequence[TableWrite], token: str
    ) -> Refused | WriteRefused | None:
        """See `claim_check.ports.InboxTable.complete`."""
        if not writes:
            return self.replace(row, guard=guard)
        items: list[Any] = [{"Put": self._guarded_put(row, guard)}, *(low_level(write) for write in writes)]
        try:
            self._client.transact_write_items(TransactItems=items, ClientRequestToken=token)
        except ClientError as error:
            return _cancellation(error)
        except ParamValidationError as error:
            raise CommitFailed(f"the SDK refused the commit: {type(error).__name__}") from None
        except BotoCoreError as error:
            raise _no_answer(error) from None
        return None

    def _guarded_put(self, row: InboxRow, guard: Guard | None) -> dict[str, Any]:
        put: dict[str, Any] = {
            "TableName": self._table,
            "Item": to_item(row),
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        if guard is None:
            return put | {"ConditionExpression": "attribute_not_exists(pk)"}
        condition = "#owner = :owner AND #state = :state"
        values = {":owner": to_value(guard.owner), ":state": to_value(guard.state)}
        if guard.lease_until is not None:
            condition += " AND leaseUntil = :leaseUntil"
            values[":leaseUntil"] = to_value(guard.lease_until)
        return put | {
            "ConditionExpression": condition,
            "ExpressionAttributeNames": {"#owner": Attribute.OWNER, "#state": Attribute.STATE},
            "ExpressionAttributeValues": values,
        }


def _removal(names: Sequence[str]) -> str:
    return " REMOVE " + ", ".join(f"#{name}" for name in names) if names else ""


def low_level(write: TableWrite) -> dict[str, Any]:
    """A write in the form of TransactWriteItems."""
    values = {name: serialize(value) for name, value in write.values.items()}
    parts = {
        "TableName": write.table,
        "Item": {name: serialize(value) for name, value in (write.item or {}).items()},
        "Key": {name: serialize(value) for name, value in write.key.items()},
        "UpdateExpression": write.update,
        "ConditionExpression": write.condition,
        "ExpressionAttributeNames": dict(write.names),
        "ExpressionAttributeValues": values,
    }
    unused = "Key" if write.action == "Put" else "Item"
    return {write.action: {name: value for name, value in parts.items() if value and name != unused}}


def _refusal(error: ClientError) -> Refused:
    """The row that refused a conditional write.

    Raises:
        Unavailable: The write failed for any other reason.
    """
    code, status = _code_and_status(error)
    if code == f"{REFUSED}Exception":
        return Refused(_row(error.response.get("Item")))
    raise Unavailable(f"DynamoDB: {code}, HTTP {status}") from None


def _cancellation(error: ClientError) -> Refused | WriteRefused:
    """Which condition refused a transaction; ours is looked at first.

    Raises:
        Unavailable: A conflict, a throttle or a fault of the service.
        CommitFailed: Anything that repeating cannot mend.
    """
    code, status = _code_and_status(error)
    reasons = cancellations(error)
    codes = [str(reason.get("Code")) for reason in reasons]
    if codes and codes[0] == REFUSED:
        return Refused(_row(reasons[0].get("Item")))
    if REFUSED in codes:
        return WriteRefused(codes.index(REFUSED) - 1)
    cause = next((name for name in codes if name != "None"), code)
    if cause in PASSING or status >= _SERVER_ERROR:
        raise Unavailable(f"DynamoDB: {cause}, HTTP {status}") from None
    raise CommitFailed(f"DynamoDB refused the commit: {cause}, HTTP {status}") from None


def _row(item: Any) -> InboxRow | None:  # noqa: ANN401 - ReturnValuesOnConditionCheckFailure adds it to the error
    return to_row(item) if item else None


def _code_and_status(error: ClientError) -> tuple[str, int]:
    response = error.response
    return response.get("Error", {}).get("Code", ""), response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)


def _no_answer(error: BotoCoreError) -> Unavailable:
    return Unavailable(f"DynamoDB: no answer, {type(error).__name__}")
