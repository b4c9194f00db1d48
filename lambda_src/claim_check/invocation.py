"""Events as the producer function gets them: JSON in, an `Event` out (and what became of it back as JSON).

An invocation looks like this; everything but the first two and one payload may be left out::

    {"tenantId": "t-1", "eventType": "DocumentUploaded", "payload": {"any": "JSON"},
     "contentType": "application/json", "messageId": "…", "idempotencyKey": "…", "correlationId": "…",
     "eventVersion": 1, "occurredAt": "2026-07-06T10:15:30Z", "domainRef": {"documentId": "doc-789"},
     "attributes": {"priority": "high"}, "groupId": "doc-789", "sensitive": false}

In place of ``payload`` there may be ``payloadText`` (any text, sent as UTF-8) or ``payloadBase64``.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from claim_check.contract import KIB, LAMBDA_MAX_REQUEST_BYTES
from claim_check.envelope import Claim
from claim_check.errors import EmptyField, EventTooLarge, InvalidPayload, InvalidText, NaiveTimestamp, UnknownField
from claim_check.event import Event, encode_json, shown
from claim_check.producer import Published

FIELDS_BYTES: Final = 64 * KIB
"""Room for the other fields of a request beside its payload."""

MAX_PAYLOAD_BYTES: Final = (LAMBDA_MAX_REQUEST_BYTES - FIELDS_BYTES) * 3 // 4
"""Largest payload of an invocation: what fits into Lambda's request in base64 (about 4.5 MB)."""

FIELDS: Final = {
    "tenantId": "tenant_id",
    "eventType": "event_type",
    "contentType": "content_type",
    "messageId": "message_id",
    "eventVersion": "event_version",
    "correlationId": "correlation_id",
    "idempotencyKey": "idempotency_key",
    "domainRef": "domain_ref",
    "attributes": "attributes",
    "groupId": "group_id",
}
"""Fields of an invocation that are those of an `Event` under another name."""

_PAYLOADS: Final = ("payload", "payloadText", "payloadBase64")
_KNOWN: Final = frozenset({*FIELDS, *_PAYLOADS, "occurredAt", "sensitive"})
_DEFAULT_TYPES: Final = {
    "payload": "application/json",
    "payloadText": "text/plain; charset=utf-8",
    "payloadBase64": "application/octet-stream",
}


def to_event(invocation: object, *, message_id: str) -> Event:
    """Read an invocation.

    Args:
        invocation: What Lambda handed over.
        message_id: Identity of an event that states none. Lambda's request id stays the same when an asynchronous
            invocation is retried, so such a retry is the same work.

    Raises:
        InvalidEvent: A subclass per cause; nothing was written.
    """
    if not isinstance(invocation, Mapping):
        raise UnknownField(
            "event", f"of type {type(invocation).__name__}", limit="a JSON object", way_out="see claim_check.invocation"
        )
    unknown = sorted(str(name) for name in invocation.keys() - _KNOWN)
    if unknown:
        names = ", ".join(sorted(_KNOWN))
        raise UnknownField(unknown[0], "no known field", limit=names, way_out="correct or remove it")
    fields: dict[str, Any] = {
        name: invocation[given] for given, name in FIELDS.items() if invocation.get(given) is not None
    }
    for name in ("tenant_id", "event_type"):
        fields.setdefault(name, "")  # the event's own check names it
    kind, content = _payload(invocation)
    _check_size(kind, len(content))
    return Event(
        **({"content_type": _DEFAULT_TYPES[kind], "message_id": message_id} | fields),
        payload=content,
        occurred_at=to_time(invocation.get("occurredAt")),
        sensitive=_flag(invocation.get("sensitive")),
    )


def to_answer(published: Published) -> dict[str, Any]:
    """What the function answers: ids, where the payload went, its length and hash."""
    return {
        "messageId": published.message_id,
        "idempotencyKey": published.idempotency_key,
        "sqsMessageId": published.sqs_message_id,
        "delivery": "claim" if isinstance(published.payload, Claim) else "inline",
        "contentLength": published.content_length,
        "sha256": published.sha256,
    }


def _payload(invocation: Mapping[str, Any]) -> tuple[str, bytes]:
    given = [name for name in _PAYLOADS if name in invocation]
    if not given:
        raise EmptyField("payload", "missing", limit=f"one of {', '.join(_PAYLOADS)}", way_out="set one of them")
    if len(given) > 1:
        raise InvalidPayload(
            "payload", f"{' and '.join(given)} are set", limit=f"one of {', '.join(_PAYLOADS)}", way_out="keep one"
        )
    (kind,) = given
    value = invocation[kind]
    if kind == "payload":
        return kind, encode_json(value)
    if not isinstance(value, str):
        raise InvalidPayload(kind, f"of type {type(value).__name__}", limit="text", way_out="use payload for JSON")
    return kind, _text(kind, value) if kind == "payloadText" else _base64(kind, value)


def _text(kind: str, value: str) -> bytes:
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise InvalidPayload(
            kind, "not well-formed Unicode", limit="text that can be encoded", way_out="use payloadBase64"
        ) from None


def _base64(kind: str, value: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidPayload(
            kind, "not base64", limit="base64 with padding, without line breaks", way_out="encode the bytes anew"
        ) from None


def _check_size(kind: str, size: int) -> None:
    if size > MAX_PAYLOAD_BYTES:
        raise EventTooLarge(
            kind,
            f"{size} bytes",
            limit=f"up to {MAX_PAYLOAD_BYTES} bytes, which is what Lambda's request of 6 MiB holds in base64",
            way_out="publish it in your own process with claim_check.Producer, which streams files of any size",
        )


def to_time(value: object) -> datetime | None:
    """Read the field ``occurredAt``.

    Raises:
        NaiveTimestamp: It is no timestamp with a time zone.
    """
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise NaiveTimestamp(
            "occurredAt",
            f"{shown(value)} is no timestamp with a time zone",
            limit="RFC 3339, such as 2026-07-06T10:15:30Z",
            way_out="add Z or an offset",
        )
    return moment.astimezone(UTC)


def _flag(value: object) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    raise InvalidText("sensitive", f"{shown(value)}", limit="true or false", way_out="leave it out or set it")
