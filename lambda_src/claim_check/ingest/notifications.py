"""Reads S3's notifications: S3 → SQS, S3 → SNS → SQS (raw or not), S3 → EventBridge → SQS, and our own (R10.1).

Keys are decoded here, exactly once, and nowhere else: those of S3's own notifications are URL-encoded, those of
EventBridge are not. Every field but bucket and key is optional; 0 is a size, and absent is absent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias
from urllib.parse import unquote_plus

from claim_check.errors import InvalidNotification
from claim_check.ingest.changes import MAX_KEY_BYTES, Action, ObjectEvent, ObjectKey, OtherEvent, Seen

Parsed: TypeAlias = ObjectEvent | OtherEvent | InvalidNotification
"""One record of a message: an event of an object, another event, or why it cannot be understood."""

TEST_EVENT: Final = "s3:TestEvent"
SYNTHETIC: Final = "Reconciliation"
"""Kind of the events that a reconciliation queues."""

_VERSION: Final = "claimCheckIngest"
_MAX_NAME: Final = 128

_IGNORED: Final = frozenset(
    {
        "ObjectRestore:Post",
        "ObjectRestore:Delete",
        "ReducedRedundancyLostObject",
        "LifecycleTransition",
        "IntelligentTiering",
        "ObjectTagging",
        "ObjectAcl",
        "Replication",
    }
)
"""Events that change no object's content, and families of them."""

_DETAIL_KINDS: Final[Mapping[str, Action | None]] = {
    "Object Created": "put",
    "Object Deleted": "delete",
    "Object Restore Completed": "look",
    "Object Restore Initiated": None,
    "Object Restore Expired": None,
    "Object Storage Class Changed": None,
    "Object Access Tier Changed": None,
    "Object ACL Updated": None,
    "Object Tags Added": None,
    "Object Tags Deleted": None,
}
_MARKER: Final = "Delete Marker Created"
_SEQUENCER: Final = re.compile(r"[0-9A-Fa-f]{1,64}", re.ASCII)


def parse(body: str) -> list[Parsed]:
    """Read the body of a message: at least one record.

    Raises:
        InvalidNotification: It is no notification.
    """
    document = _document(body)
    if document.get("Type") == "Notification" and isinstance(document.get("Message"), str):
        document = _document(document["Message"])  # what SNS puts around it
    if "Records" in document:
        return _records(document["Records"])
    if document.get("Event") == TEST_EVENT and document.get("Service") == "Amazon S3":
        return [OtherEvent(TEST_EVENT, known=True)]
    if _VERSION in document:
        return [_guarded(_synthetic, document)]
    if document.get("source") == "aws.s3" and isinstance(document.get("detail-type"), str):
        return [_guarded(_from_event_bridge, document)]
    raise InvalidNotification("body: neither Records, nor an event of EventBridge's, nor a test event")


def synthetic(*, bucket: str, key: str, seen: Seen) -> str:
    """The body of an event that a reconciliation queues."""
    fields = {_VERSION: 1, "bucket": bucket, "key": key, "seenEtag": seen.etag, "seenRevision": seen.revision}
    return json.dumps(fields, separators=(",", ":"))  # ASCII: SQS refuses characters that keys may have


# --- The forms ------------------------------------------------------------------------------------------------------


def _records(records: Any) -> list[Parsed]:  # noqa: ANN401 - decoded JSON
    if not isinstance(records, list) or not records:
        raise InvalidNotification("Records: expected a list that is not empty")
    return [_guarded(_from_s3, record) for record in records]


def _from_s3(record: Mapping[str, Any]) -> ObjectEvent | OtherEvent:
    name = _text(record.get("eventName"), "eventName").removeprefix("s3:")[:_MAX_NAME]
    s3 = record.get("s3")
    found = _object(s3).get("object") if isinstance(s3, Mapping) else None
    version = _version(found.get("versionId")) if isinstance(found, Mapping) else None
    named_version = isinstance(found, Mapping) and bool(found.get("versionId"))
    action = _action(name, named_version=named_version)
    if action is None:
        return OtherEvent(name, known=name.partition(":")[0] in _IGNORED or name in _IGNORED)
    fields, bucket = _object(found), _object(_object(s3).get("bucket"))
    return ObjectEvent(
        bucket=_text(bucket.get("name"), "bucket.name"),
        key=_key(_decoded(_text(fields.get("key"), "object.key"))),
        action=action,
        kind=name,
        sequencer=_sequencer(fields.get("sequencer")),
        version_id=version,
        etag=_etag(fields.get("eTag")),
        size=_size(fields.get("size")),
        occurred_at=_time(record.get("eventTime")),
    )


def _action(name: str, *, named_version: bool) -> Action | None:
    """What an event of S3's means. Removing one version may make an older one current: only the bucket knows."""
    family, _, what = name.partition(":")
    if family == "ObjectCreated":
        return "put"
    if family in {"ObjectRemoved", "LifecycleExpiration"}:
        if what == "DeleteMarkerCreated":
            return "delete"
        return "delete" if what == "Delete" and not named_version else "look"
    return "look" if name == "ObjectRestore:Completed" else None


def _from_event_bridge(document: Mapping[str, Any]) -> ObjectEvent | OtherEvent:
    kind = document["detail-type"][:_MAX_NAME]
    action = _DETAIL_KINDS.get(kind)
    if action is None:
        return OtherEvent(kind, known=kind in _DETAIL_KINDS)
    detail = _object(document.get("detail"))
    fields = _object(detail.get("object"))
    deletion = detail.get("deletion-type")
    if action == "delete" and deletion != _MARKER and fields.get("version-id"):
        action = "look"
    reason = deletion if isinstance(deletion, str) else detail.get("reason")
    return ObjectEvent(
        bucket=_text(_object(detail.get("bucket")).get("name"), "bucket.name"),
        key=_key(_text(fields.get("key"), "object.key")),
        action=action,
        kind=f"{kind}:{reason}"[:_MAX_NAME] if isinstance(reason, str) else kind,
        sequencer=_sequencer(fields.get("sequencer")),
        version_id=_version(fields.get("version-id")),
        etag=_etag(fields.get("etag")),
        size=_size(fields.get("size")),
        occurred_at=_time(document.get("time")),
    )


def _synthetic(document: Mapping[str, Any]) -> ObjectEvent:
    if document[_VERSION] != 1:
        raise InvalidNotification(f"{_VERSION}: unknown version")
    seen = (document.get("seenEtag"), document.get("seenRevision"))
    if not all(value is None or isinstance(value, str) for value in seen):
        raise InvalidNotification("seenEtag, seenRevision: expected text or null")
    return ObjectEvent(
        bucket=_text(document.get("bucket"), "bucket"),
        key=_key(_text(document.get("key"), "key")),
        action="look",
        kind=SYNTHETIC,
        seen=Seen(*seen),
    )


# --- Fields ---------------------------------------------------------------------------------------------------------


def _guarded(read: Any, record: Any) -> Parsed:  # noqa: ANN401 - one of the readers above, and decoded JSON
    """A record that cannot be understood does not spoil its neighbours."""
    try:
        event: Parsed = read(_object(record))
    except InvalidNotification as error:
        return error
    return event


def _document(body: str) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidNotification("body: not JSON") from None
    if not isinstance(document, dict):
        raise InvalidNotification("body: expected an object")
    return document


def _object(value: Any) -> Mapping[str, Any]:  # noqa: ANN401 - decoded JSON
    if not isinstance(value, Mapping):
        raise InvalidNotification("record: expected an object")
    return value


def _text(value: object, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidNotification(f"{name}: expected text")
    return value


def _decoded(encoded: str) -> str:
    """The key of S3's own form: ``+`` is a space, ``%2B`` a plus; once, never twice."""
    try:
        return unquote_plus(encoded, errors="strict")
    except UnicodeDecodeError:
        raise InvalidNotification("object.key: not UTF-8 when decoded") from None


def _key(text: str) -> ObjectKey:
    try:
        length = len(text.encode())
    except UnicodeEncodeError:
        raise InvalidNotification("object.key: not well-formed Unicode") from None
    if not 0 < length <= MAX_KEY_BYTES:
        raise InvalidNotification(f"object.key: {length} bytes; a key has 1 to {MAX_KEY_BYTES}")
    return ObjectKey(text)


def _sequencer(value: object) -> str | None:
    return value.upper() if isinstance(value, str) and _SEQUENCER.fullmatch(value) else None


def _version(value: object) -> str | None:
    """The version; ``null`` names no version for good."""
    return value if isinstance(value, str) and value not in {"", "null"} else None


def _etag(value: object) -> str | None:
    return (value.strip('"') or None) if isinstance(value, str) else None


def _size(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _time(value: object) -> float | None:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
