"""The wire format of Amazon's SQS and SNS Extended Client Libraries, read and written.

An offloaded message is a pointer, ``["software.amazon.payloadoffloading.PayloadS3Pointer", {"s3BucketName": …, "s3Key":
…}]``, marked by the attribute ``ExtendedPayloadSize``, whose value is the payload's bytes. Older clients name the class
and the attribute otherwise, and mix both. A message below the client's threshold is its payload as it is: no envelope,
no mark. SNS wraps either into a notification, unless the subscription delivers raw.

Such messages tell no identity and no hash. Our own producer writes them with an envelope in extra fields, which those
clients ignore, so that our consumer reads them back like any other event.

Decided by shape. What looks like a message of this library, like a pointer without its mark, or like a mark without its
pointer, is refused and never taken for data.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from claim_check import contract
from claim_check.contract import Metric, Setting, WireFormat
from claim_check.envelope import (
    NOT_XML,
    Claim,
    Envelope,
    Inline,
    UnverifiedClaim,
    UnverifiedInline,
    dump,
    from_document,
    header,
)
from claim_check.errors import InvalidEnvelope, InvalidPayload, InvalidSetting, UnverifiedPayload
from claim_check.ports import MessageAttribute

if TYPE_CHECKING:
    from claim_check.delivery import Delivery
    from claim_check.payload_source import PayloadSource
    from claim_check.settings import Environment

POINTER_CLASS: Final = "software.amazon.payloadoffloading.PayloadS3Pointer"
LEGACY_POINTER_CLASS: Final = "com.amazon.sqs.javamessaging.MessageS3Pointer"

DEFAULT_CONTENT_TYPE: Final = "text/plain; charset=utf-8"
"""Those clients send text and nothing else, and say nothing of what it is."""

_BUCKET: Final = "s3BucketName"
_KEY: Final = "s3Key"
_HEADER: Final = contract.ATTRIBUTE_CLAIM_CHECK
_KEY_MAX_LENGTH: Final = 1024
_CHUNK_BYTES: Final = 256 * contract.KIB
_MARKS: Final[Mapping[WireFormat, tuple[str, str]]] = {
    "extended-client": (contract.ATTRIBUTE_PAYLOAD_SIZE, POINTER_CLASS),
    "extended-client-legacy": (contract.ATTRIBUTE_LEGACY_PAYLOAD_SIZE, LEGACY_POINTER_CLASS),
}


@dataclass(frozen=True, kw_only=True)
class ForeignMessages:
    """What a consumer takes of Extended Clients' messages; without it, it takes none.

    Attributes:
        tenant_id: Tenant of messages without an attribute ``tenantId``.
        event_type: Event type of messages without an attribute ``eventType``.
        event_version: Version of the payload's schema.
        buckets: Where their payloads may lie: each ``bucket`` or ``bucket/prefix``; nothing else is ever read.
        content_type: Media type of their payloads.
        allow_unverified: Whether messages without identity and hash are taken; else only those of our own producer are.
        plain_bodies: Whether a body that is neither an envelope nor a pointer is taken for a small payload; False for
            clients that offload everything, so that a malformed message never becomes data.
    """

    tenant_id: str
    event_type: str
    event_version: int = 1
    buckets: Collection[str] = ()
    content_type: str = DEFAULT_CONTENT_TYPE
    allow_unverified: bool = False
    plain_bodies: bool = True

    def __post_init__(self) -> None:
        """Check them.

        Raises:
            InvalidSetting: A name is none, or a bucket is a pattern.
        """
        for field in ("tenant_id", "event_type"):
            value = getattr(self, field)
            if not contract.is_name(value):
                raise InvalidSetting(f"foreign {field} = {value!r}: letters, digits and . _ -, 1 to 128 of them")
        if isinstance(self.buckets, str):
            raise InvalidSetting(f"foreign buckets = {self.buckets!r}: a collection is needed, such as a tuple")
        for entry in self.buckets:
            if not entry.partition("/")[0] or "*" in entry:
                raise InvalidSetting(f"foreign bucket {entry!r}: must be bucket or bucket/prefix, without patterns")

    @classmethod
    def from_environment(cls, read: Environment) -> ForeignMessages | None:
        """Read them; None if neither tenant nor event type is set.

        Raises:
            InvalidSetting: A variable is missing or malformed.
        """
        if read.optional(Setting.FOREIGN_TENANT) is None and read.optional(Setting.FOREIGN_EVENT_TYPE) is None:
            return None
        version = read.text(Setting.FOREIGN_EVENT_TYPE).partition(":")[2]
        if not (version.isascii() and version.isdigit()):
            raise InvalidSetting(f"{Setting.FOREIGN_EVENT_TYPE} is not of the form OrderPlaced:1")
        return cls(
            tenant_id=read.text(Setting.FOREIGN_TENANT),
            event_type=read.text(Setting.FOREIGN_EVENT_TYPE).partition(":")[0],
            event_version=int(version),
            buckets=read.words(Setting.FOREIGN_BUCKETS),
            content_type=read.optional(Setting.FOREIGN_CONTENT_TYPE) or DEFAULT_CONTENT_TYPE,
            allow_unverified=read.flag(Setting.ALLOW_UNVERIFIED),
            plain_bodies=read.flag(Setting.FOREIGN_PLAIN_BODIES, default=True),
        )

    @property
    def bucket_names(self) -> frozenset[str]:
        """The buckets, without prefixes."""
        return frozenset(entry.partition("/")[0] for entry in self.buckets)

    def allows(self, bucket: str, key: str) -> bool:
        """Whether a payload may be read that lies there."""
        parts = (entry.partition("/") for entry in self.buckets)
        return any(bucket == name and key.startswith(prefix) for name, _, prefix in parts)


@dataclass(frozen=True, slots=True)
class Found:
    """A message that was read.

    Attributes:
        envelope: What it says.
        counter: The metric of its shape; None for an envelope of our own format.
    """

    envelope: Envelope
    counter: str | None = None


# --- Reading --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Received:
    """A message without the notification that SNS may have wrapped around it."""

    body: str
    document: Any
    attributes: Mapping[str, MessageAttribute]
    first_id: str


def read(delivery: Delivery, foreign: ForeignMessages) -> Found:
    """Read a message of our own format or of an Extended Client, raw or wrapped by SNS.

    Raises:
        InvalidEnvelope: Neither of the two; the text names the field, never its content.
        UnsupportedVersion: An envelope of ours that is newer than this library.
        UnverifiedPayload: It tells no identity and no hash, and that is not allowed.
    """
    received = _unwrapped(delivery)
    size = _size(received.attributes)
    if size is not None:
        return _pointer(received, size, foreign)
    if _HEADER in received.attributes:
        return Found(_own_inline(received), Metric.FOREIGN_INLINE)
    if _is_envelope(received.document):
        return Found(from_document(received.document))
    if _is_pointer(received.document):
        raise InvalidEnvelope(
            "body: a pointer of an Extended Client without its attribute ExtendedPayloadSize or SQSLargePayloadSize; "
            "it was lost on the way, or the message was not sent by such a client"
        )
    return _foreign_inline(received, foreign)


def _unwrapped(delivery: Delivery) -> _Received:
    document = _parsed(delivery.body)
    if isinstance(document, dict) and isinstance(document.get("TopicArn"), str):
        kind, body, identity = (document.get(name) for name in ("Type", "Message", "MessageId"))
        if kind in {"SubscriptionConfirmation", "UnsubscribeConfirmation"}:
            raise InvalidEnvelope(f"Type: {kind} of SNS, which is no message of a producer")
        if kind == "Notification" and isinstance(body, str) and isinstance(identity, str) and identity:
            return _Received(body, _parsed(body), dict(_sns_attributes(document)), identity)
    return _Received(delivery.body, document, delivery.attributes, delivery.first_message_id)


def _parsed(body: str) -> Any:  # noqa: ANN401 - decoded JSON
    """The JSON array or object that a body is; None for any other text."""
    if body[:32].lstrip()[:1] not in {"{", "["}:
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _sns_attributes(notification: Mapping[str, Any]) -> Iterator[tuple[str, MessageAttribute]]:
    given = notification.get("MessageAttributes")
    for name, raw in given.items() if isinstance(given, dict) else ():
        kind, value = (raw.get("Type"), raw.get("Value")) if isinstance(raw, dict) else (None, None)
        if not isinstance(kind, str) or not isinstance(value, str):
            continue
        if kind.startswith("Binary"):
            try:
                yield name, MessageAttribute(data_type=kind, value=base64.b64decode(value, validate=True))
            except (binascii.Error, ValueError):
                continue
        else:
            yield name, MessageAttribute(data_type=kind, value=value)


def _size(attributes: Mapping[str, MessageAttribute]) -> int | None:
    """The payload's size that a pointer's attribute tells; None for a message without it."""
    found = {attributes[name].value for name in contract.FOREIGN_ATTRIBUTES if name in attributes}
    if not found:
        return None
    value, *others = found
    digits = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19  # noqa: PLR2004 - fits 64 bits
    if others or not digits:
        raise InvalidEnvelope("ExtendedPayloadSize, SQSLargePayloadSize: expected one number of bytes")
    return int(value)


def _pointer(received: _Received, size: int, foreign: ForeignMessages) -> Found:
    match received.document:
        case [str() as kind, dict() as fields] if kind in {POINTER_CLASS, LEGACY_POINTER_CLASS}:
            counter = Metric.FOREIGN_POINTER
        case {"s3BucketName": _, "s3Key": _} as fields:
            counter = Metric.FOREIGN_OBJECT
        case _:
            raise InvalidEnvelope("body: marked as a pointer of an Extended Client, but it has another shape")
    if _HEADER in fields:
        return Found(_own_claim(fields, size), counter)
    _refuse_unless_allowed(foreign)
    bucket, key = _text(fields, _BUCKET), _text(fields, _KEY)
    payload = UnverifiedClaim(bucket=bucket, key=key, content_type=foreign.content_type, content_length=size)
    identity = pointer_identity(bucket, key)
    return Found(_foreign_envelope(received, foreign, payload, identity, identity), counter)


def pointer_identity(bucket: str, key: str) -> str:
    """The identity of what an Extended Client put there: told of the place, without telling the place (R11.4)."""
    return f"pointer-{hashlib.sha256(f'{bucket}/{key}'.encode()).hexdigest()}"


def _own_claim(fields: Mapping[str, Any], size: int) -> Envelope:
    reference = {"bucket": fields.get(_BUCKET), "key": fields.get(_KEY)}
    reference |= {name: fields.get(name) for name in ("versionId", "contentType", "contentLength", "sha256")}
    envelope = from_document({**_object(fields[_HEADER]), "payloadRef": reference, "inline": None})
    if envelope.payload.content_length != size:
        raise InvalidEnvelope("contentLength: not the size that the pointer's attribute tells")
    return envelope


def _own_inline(received: _Received) -> Envelope:
    try:
        fields = _object(json.loads(received.attributes[_HEADER].value))
    except (ValueError, RecursionError):
        raise InvalidEnvelope(f"{_HEADER}: not JSON") from None
    inline = {"contentType": fields.get("contentType"), "body": received.body}
    return from_document({**fields, "inline": inline, "payloadRef": None})


def _foreign_inline(received: _Received, foreign: ForeignMessages) -> Found:
    if not foreign.plain_bodies:
        raise InvalidEnvelope("body: neither an envelope nor a pointer, and this consumer takes no plain bodies")
    _refuse_unless_allowed(foreign)
    payload = UnverifiedInline(content_type=foreign.content_type, body=_well_formed(received.body, "body"))
    identity = received.first_id
    envelope = _foreign_envelope(received, foreign, payload, identity, f"message-{identity}")
    return Found(envelope, Metric.FOREIGN_INLINE)


def _foreign_envelope(
    received: _Received,
    foreign: ForeignMessages,
    payload: UnverifiedInline | UnverifiedClaim,
    message_id: str,
    idempotency_key: str,
) -> Envelope:
    return Envelope(
        message_id=message_id,
        event_type=_name(received.attributes, contract.ATTRIBUTE_EVENT_TYPE, foreign.event_type),
        event_version=foreign.event_version,
        tenant_id=_name(received.attributes, contract.ATTRIBUTE_TENANT_ID, foreign.tenant_id),
        idempotency_key=idempotency_key,
        domain_ref={},
        payload=payload,
    )


def _refuse_unless_allowed(foreign: ForeignMessages) -> None:
    if not foreign.allow_unverified:
        raise UnverifiedPayload(
            "an Extended Client's message, without identity and hash; this consumer takes such only with "
            "allow_unverified=True"
        )


def _is_envelope(document: Any) -> bool:  # noqa: ANN401 - decoded JSON
    """Whether it is meant as an envelope of ours, well-formed or not."""
    if not isinstance(document, dict):
        return False
    if {"v", "messageId", "eventType", "tenantId"} <= document.keys():
        return True
    payload = isinstance(document.get("payloadRef"), dict) or isinstance(document.get("inline"), dict)
    return payload and not document.keys().isdisjoint({"v", "messageId", "eventType", "tenantId"})


def _is_pointer(document: Any) -> bool:  # noqa: ANN401 - decoded JSON
    """Whether it is a pointer of whatever client: never the data that it points at."""
    match document:
        case [str() as kind, dict() as fields]:
            return kind.endswith("S3Pointer") or _BUCKET in fields or _KEY in fields
        case dict():
            return {_BUCKET, _KEY} <= document.keys() or isinstance(document.get("S3Payload"), dict)
        case _:
            return False


def _object(value: Any) -> dict[str, Any]:  # noqa: ANN401 - decoded JSON
    if not isinstance(value, dict):
        raise InvalidEnvelope(f"{_HEADER}: expected an object")
    return value


def _well_formed(value: object, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidEnvelope(f"{name}: expected text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidEnvelope(f"{name}: not well-formed Unicode") from None
    return value


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = _well_formed(fields.get(name), name)
    if len(value.encode()) > _KEY_MAX_LENGTH:
        raise InvalidEnvelope(f"{name}: more than {_KEY_MAX_LENGTH} bytes")
    return value


def _name(attributes: Mapping[str, MessageAttribute], name: str, otherwise: str) -> str:
    attribute = attributes.get(name)
    if attribute is None:
        return otherwise
    if not isinstance(attribute.value, str) or not contract.is_name(attribute.value):
        raise InvalidEnvelope(f"attribute {name}: allowed are letters, digits and . _ -, 1 to 128 of them")
    return attribute.value


# --- Writing --------------------------------------------------------------------------------------------------------


def encode(envelope: Envelope, wire_format: WireFormat) -> tuple[str, dict[str, MessageAttribute]]:
    """The body of a message, and the attributes that belong to it, as Extended Clients read them.

    Args:
        envelope: An event whose payload's SHA-256 is known.
        wire_format: One of the two formats of those clients.
    """
    payload = envelope.payload
    if isinstance(payload, UnverifiedClaim):
        raise TypeError("an unverified claim cannot be published: what its content must be is not known")
    if isinstance(payload, Inline):
        fields = dump({**header(envelope), "contentType": payload.content_type})
        return payload.body, {_HEADER: MessageAttribute(data_type="String", value=fields)}
    attribute, kind = _MARKS[wire_format]
    size = MessageAttribute(data_type="Number", value=str(payload.content_length))
    return dump([kind, _pointer_fields(envelope, payload)]), {attribute: size}


def _pointer_fields(envelope: Envelope, claim: Claim) -> dict[str, Any]:
    fields: dict[str, Any] = {
        _BUCKET: claim.bucket,
        _KEY: claim.key,
        "sha256": claim.sha256,
        "contentLength": claim.content_length,
        "contentType": claim.content_type,
    }
    if claim.version_id is not None:
        fields["versionId"] = claim.version_id
    return {**fields, _HEADER: header(envelope)}


def fits_inline(text: str) -> bool:
    """Whether a payload can be a body as it is: SQS refuses some characters that JSON allows."""
    return bool(text) and NOT_XML.search(text) is None


def check_text(source: PayloadSource) -> None:
    """Refuse a payload that those clients could not read: they decode every payload as UTF-8.

    Reads it once, in flat memory.

    Raises:
        InvalidPayload: It is no UTF-8.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    body = source.body()
    pieces = [body] if isinstance(body, bytes) else iter(lambda: body.read(_CHUNK_BYTES), b"")
    try:
        for piece in pieces:
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise InvalidPayload(
            "payload",
            "no UTF-8 text, and the wire format is the Extended Client's",
            limit="text: those clients decode every payload as UTF-8, and fail at anything else",
            way_out="encode it (base64), or publish it in the wire format claim-check",
        ) from None
