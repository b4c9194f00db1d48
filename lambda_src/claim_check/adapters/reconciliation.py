"""What a reconciliation of payloads does with S3 and with its own table: single looks, removals, checkpoints (R7.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from claim_check import contract
from claim_check.adapters.dynamodb_calls import condition_failed, read_failure
from claim_check.adapters.failures import code_of, kind_of
from claim_check.adapters.inbox_items import serialize, to_value
from claim_check.contract import ReconciliationAttribute as Attribute
from claim_check.errors import AccessDenied, Unavailable
from claim_check.reconciliation.ports import Checkpoint, Look, Removal

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

_Answer = TypeVar("_Answer")
_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)


class S3Payloads:
    """`claim_check.reconciliation.ports.Payloads` on S3."""

    def __init__(self, client: S3Client, *, once: S3Client | None = None) -> None:
        """Use a client.

        Args:
            client: S3 client (`claim_check.adapters.session`).
            once: The client that removes: it must repeat nothing by itself, since a removal that comes late could meet
                an object that was written anew (`claim_check.adapters.session.Clients.s3_once`). By default the same.
        """
        self._client = client
        self._once = once or client

    def look(self, *, bucket: str, key: str, version_id: str | None = None) -> Look | None:
        """See `claim_check.reconciliation.ports.Payloads.look`: one HEAD, which tells of holds to who may know."""
        answer = _read(lambda: self._client.head_object(Bucket=bucket, Key=key, **_version(version_id)))
        if answer is None:
            return None
        until = answer.get("ObjectLockRetainUntilDate", _LONG_AGO)  # absent from most answers
        metadata = answer.get("Metadata", {})
        return Look(
            etag=answer["ETag"].strip('"'),
            version_id=_none(answer.get("VersionId")),
            last_modified=answer["LastModified"],
            uploaded=contract.METADATA_UPLOAD in metadata,
            kept=contract.METADATA_STAGED in metadata,
            held=answer.get("ObjectLockLegalHoldStatus") == "ON" or until > datetime.now(UTC),
        )

    def tags(self, *, bucket: str, key: str, version_id: str | None) -> Mapping[str, str] | None:
        """See `claim_check.reconciliation.ports.Payloads.tags`."""
        answer = _read(lambda: self._client.get_object_tagging(Bucket=bucket, Key=key, **_version(version_id)))
        return None if answer is None else {tag["Key"]: tag["Value"] for tag in answer["TagSet"]}

    def remove(self, *, bucket: str, key: str, seen: Look) -> Removal:
        """See `claim_check.reconciliation.ports.Payloads.remove`: that version, or what has that entity tag."""
        exactly: Any = _version(seen.version_id) or {"IfMatch": seen.etag}
        try:
            self._once.delete_object(Bucket=bucket, Key=key, **exactly)
        except (ClientError, BotoCoreError) as error:
            kind = kind_of(error)
            if kind in {"exists", "missing", "conflict"}:
                return "changed"
            if kind == "refused":
                return "refused"
            raise Unavailable(f"S3 did not answer a removal ({code_of(error)})") from error
        return "removed"


class DynamoDbCheckpoints:
    """`claim_check.reconciliation.ports.Checkpoints` on one item of a DynamoDB table for each reconciliation."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        """Use a table.

        Args:
            client: DynamoDB client.
            table: Table name.
        """
        self._client = client
        self._table = table

    def take(self, name: str, *, owner: str, now: float, until: float) -> Checkpoint | None:
        """See `claim_check.reconciliation.ports.Checkpoints.take`; a lost answer of our own take is no obstacle."""
        answer = self._update(
            name,
            "SET #owner = :owner, #until = :until",
            "attribute_not_exists(#until) OR #until <= :now OR #owner = :owner",
            {":owner": owner, ":until": until, ":now": now},
        )
        if answer is None:
            return None
        state = answer["Attributes"].get(Attribute.STATE, {"S": ""})
        return Checkpoint(name=name, state=state["S"])

    def save(self, checkpoint: Checkpoint, *, owner: str, until: float) -> bool:
        """See `claim_check.reconciliation.ports.Checkpoints.save`."""
        answer = self._update(
            checkpoint.name,
            "SET #until = :until, #state = :state",
            "#owner = :owner",
            {":owner": owner, ":until": until, ":state": checkpoint.state},
        )
        return answer is not None

    def _update(self, name: str, update: str, condition: str, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - boto3's answer
        names = {"#owner": Attribute.OWNER, "#until": Attribute.LEASE_UNTIL, "#state": Attribute.STATE}
        used = {short: long for short, long in names.items() if short in update + condition}
        try:
            return self._client.update_item(
                TableName=self._table,
                Key={Attribute.KEY: serialize(name)},
                UpdateExpression=update,
                ConditionExpression=condition,
                ExpressionAttributeNames=used,
                ExpressionAttributeValues={place: to_value(value) for place, value in values.items()},
                ReturnValues="ALL_NEW",
            )
        except (ClientError, BotoCoreError) as error:
            if condition_failed(error):
                return None
            raise read_failure(error, "keep the checkpoint") from None


def _read(ask: Callable[[], _Answer]) -> _Answer | None:
    try:
        return ask()
    except (ClientError, BotoCoreError) as error:
        kind, code = kind_of(error), code_of(error)
        if kind == "missing" or code == "InvalidArgument":  # what is no version id names nothing
            return None
        if kind == "refused":
            raise AccessDenied(
                f"S3 refused to tell about a payload ({code}); check s3:GetObject, s3:GetObjectTagging and "
                "s3:ListBucket on the payload prefix"
            ) from error
        raise Unavailable(f"S3 did not answer a look at a payload ({code})") from error


def _version(version_id: str | None) -> dict[str, Any]:
    return {} if version_id is None else {"VersionId": version_id}


def _none(version_id: str | None) -> str | None:
    """The version; a bucket whose versioning was suspended says ``null``, which names no version for good."""
    return None if version_id in {None, "null"} else version_id
