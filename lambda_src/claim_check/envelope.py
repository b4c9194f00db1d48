"""The envelope: the JSON that travels through SQS (DESIGN section 2, wire format version 1).

Pure: no AWS. `encode` and `decode` are inverse to each other; `decode` tells every defect as one clear error.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar, Final, TypeAlias

from claim_check import contract
from claim_check.errors import InvalidEnvelope, UnsupportedVersion

TEXT_MAX_LENGTH: Final = 1024
"""Longest text of an envelope but for the payload itself, characters: the inbox row holds some of them."""

INTEGER_MAX: Final = 2**63 - 1
"""Largest number of an envelope: what every language and every table can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Where a payload lies in S3, and what it must be.

    Attributes:
        bucket: Bucket name.
        key: Object key.
        version_id: Version of the object, if the bucket keeps versions.
        content_type: Media type.
        content_length: Bytes.
        sha256: SHA-256 of the whole content, 64 lower-case hexadecimal digits.
    """

    verified: ClassVar[bool] = True

    bucket: str
    key: str
    content_type: str
    content_length: int
    sha256: str
    version_id: str | None = None

    @property
    def content_id(self) -> str:
        """What is known of the content before it is read."""
        return self.sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class Inline:
    """A small JSON payload that travels in the message itself.

    Attributes:
        content_type: Media type.
        body: The exact text.
    """

    verified: ClassVar[bool] = True

    content_type: str
    body: str

    @property
    def content_id(self) -> str:
        """What is known of the content before it is read."""
        return self.sha256

    @property
    def content(self) -> bytes:
        """The payload's bytes."""
        return self.body.encode()

    @property
    def content_length(self) -> int:
        """Bytes of the payload."""
        return len(self.content)

    @property
    def sha256(self) -> str:
        """SHA-256 of the payload, hexadecimal."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnverifiedInline(Inline):
    """The whole body of a message without an envelope: an Extended Client's, small enough to travel as it is."""

    verified: ClassVar[bool] = False

    @property
    def content_id(self) -> str:
        """What is known of the content, marked."""
        return f"unverified-{self.sha256}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnverifiedClaim:
    """Where an Extended Client put a payload; what its bytes must hash to was never told, so it has no ``sha256``.

    Attributes:
        bucket: Bucket name.
        key: Object key.
        content_type: Media type that the consumer's settings say; the clients tell none.
        content_length: Bytes.
    """

    verified: ClassVar[bool] = False
    version_id: ClassVar[None] = None

    bucket: str
    key: str
    content_type: str
    content_length: int

    @property
    def content_id(self) -> str:
        """What is known of the content before it is read: its length."""
        return f"unverified-{self.content_length}"


Payload: TypeAlias = Inline | Claim | UnverifiedClaim
"""Every way in which a payload can travel (R1.3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """An event without its bytes, with either an inline payload or a claim (R1.1, R1.3).

    Attributes:
        message_id: Identity of the event, given by the producer (not SQS's message id).
        event_type: Kind of event.
        event_version: Version of the event's own schema.
        occurred_at: When it happened, if known; with a time zone.
        published_at: When it was published, if known; with a time zone.
        tenant_id: Tenant.
        correlation_id: Ties messages of one business transaction together.
        idempotency_key: What makes two messages the same work.
        domain_ref: Small references to domain objects.
        payload: The discriminated union that a consumer cannot forget a case of.
    """

    message_id: str
    event_type: str
    tenant_id: str
    idempotency_key: str
    payload: Payload
    event_version: int = 1
    correlation_id: str | None = None
    occurred_at: datetime | None = None
    published_at: datetime | None = None
    domain_ref: Mapping[str, str | int]

    @property
    def fingerprint(self) -> str:
        """What the inbox binds an identity to: content, event type and version (DESIGN section 3)."""
        return f"{self.payload.content_id}:{self.event_type}:{self.event_version}"


def format_time(moment: datetime) -> str:
    """RFC 3339 in UTC with ``Z``; fractions of a second only if there are any."""
    text = moment.astimezone(UTC).isoformat()
    return text.removesuffix("+00:00") + "Z"


def encode(envelope: Envelope) -> str:
    """Encode an envelope as compact JSON that SQS takes: no lone surrogate, no non-character, no control character."""
    return dump({**header(envelope), **_encode_payload(envelope.payload)})


def header(envelope: Envelope) -> dict[str, Any]:
    """An envelope's fields but for its payload."""
    document: dict[str, Any] = {
        "v": contract.ENVELOPE_VERSION,
        "messageId": envelope.message_id,
        "eventType": envelope.event_type,
        "eventVersion": envelope.event_version,
    }
    if envelope.occurred_at is not None:
        document["occurredAt"] = format_time(envelope.occurred_at)
    if envelope.published_at is not None:
        document["publishedAt"] = format_time(envelope.published_at)
    document["tenantId"] = envelope.tenant_id
    if envelope.correlation_id is not None:
        document["correlationId"] = envelope.correlation_id
    document["idempotencyKey"] = envelope.idempotency_key
    if envelope.domain_ref:
        document["domainRef"] = dict(envelope.domain_ref)
    return document


_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def dump(document: Any) -> str:  # noqa: ANN401 - JSON
    """Compact JSON that SQS takes as a body and as the value of an attribute."""
    text = _JSON.encode(document)
    return NOT_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


NOT_XML: Final = re.compile("[\ud800-\udfff\ufffe\uffff]")
"""What JSON allows and SQS refuses. It can stand inside strings only, so that an escape is safe."""


def _encode_payload(payload: Payload) -> dict[str, Any]:
    if isinstance(payload, UnverifiedClaim):
        raise TypeError("an unverified claim has no envelope: what its content must be is not known")
    if isinstance(payload, Inline):
        return {"inline": {"contentType": payload.content_type, "body": payload.body}}
    reference: dict[str, Any] = {"bucket": payload.bucket, "key": payload.key}
    if payload.version_id is not None:
        reference["versionId"] = payload.version_id
    reference |= {
        "contentType": payload.content_type,
        "contentLength": payload.content_length,
        "sha256": payload.sha256,
    }
    return {"payloadRef": reference}


def decode(body: str) -> Envelope:
    """Decode the body of a message.

    Unknown fields are ignored and a missing ``v`` means 1 (R1.4).

    Raises:
        InvalidEnvelope: The body is no envelope; the text names the field, never its content.
        UnsupportedVersion: The envelope's version is newer than this library.
    """
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidEnvelope("body: not JSON") from None
    return from_document(document)


def from_document(document: Any) -> Envelope:  # noqa: ANN401 - decoded JSON
    """`decode`, once the body is parsed; raises the same."""
    if not isinstance(document, dict):
        raise InvalidEnvelope(f"body: expected a JSON object, got {type(document).__name__}")
    version = _integer(document, "v", default=contract.ENVELOPE_VERSION)
    if version != contract.ENVELOPE_VERSION:
        raise UnsupportedVersion(f"v: envelope version {version} is unknown; this consumer reads version 1")
    message_id = _text(document, "messageId")
    return Envelope(
        message_id=message_id,
        event_type=_name(document, "eventType"),
        event_version=_integer(document, "eventVersion", default=1),
        occurred_at=_time(document, "occurredAt"),
        published_at=_time(document, "publishedAt"),
        tenant_id=_name(document, "tenantId"),
        correlation_id=_optional_text(document, "correlationId"),
        idempotency_key=_optional_text(document, "idempotencyKey") or message_id,
        domain_ref=_domain_ref(document),
        payload=_payload(document),
    )


def _payload(document: Mapping[str, Any]) -> Inline | Claim:
    inline, reference = document.get("inline"), document.get("payloadRef")
    if (inline is None) == (reference is None):
        raise InvalidEnvelope("inline, payloadRef: exactly one of the two is needed")
    if inline is not None:
        fields = _object(inline, "inline")
        return Inline(content_type=_text(fields, "contentType"), body=_well_formed(fields.get("body"), "body"))
    fields = _object(reference, "payloadRef")
    length = _integer(fields, "contentLength")
    sha256 = _text(fields, "sha256").lower()
    if length < 0:
        raise InvalidEnvelope("payloadRef.contentLength: negative")
    if re.fullmatch("[0-9a-f]{64}", sha256, re.ASCII) is None:
        raise InvalidEnvelope("payloadRef.sha256: not 64 hexadecimal digits")
    return Claim(
        bucket=_text(fields, "bucket"),
        key=_text(fields, "key"),
        version_id=_optional_text(fields, "versionId"),
        content_type=_text(fields, "contentType"),
        content_length=length,
        sha256=sha256,
    )


def _object(value: Any, field: str) -> dict[str, Any]:  # noqa: ANN401 - decoded JSON
    if not isinstance(value, dict):
        raise InvalidEnvelope(f"{field}: expected an object")
    return value


def _encodes(text: str) -> bool:
    """Whether a decoded text is well-formed Unicode: JSON's escapes can smuggle lone surrogates in."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _well_formed(value: Any, name: str) -> str:  # noqa: ANN401 - decoded JSON
    if not isinstance(value, str):
        raise InvalidEnvelope(f"{name}: expected text")
    if not _encodes(value):
        raise InvalidEnvelope(f"{name}: not well-formed Unicode")
    return value


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = _well_formed(fields.get(name), name)
    if not 1 <= len(value) <= TEXT_MAX_LENGTH:
        raise InvalidEnvelope(f"{name}: expected 1 to {TEXT_MAX_LENGTH} characters")
    return value


def _optional_text(fields: Mapping[str, Any], name: str) -> str | None:
    return None if fields.get(name) is None else _text(fields, name)


def _name(fields: Mapping[str, Any], name: str) -> str:
    value = _text(fields, name)
    if not contract.is_name(value):
        raise InvalidEnvelope(f"{name}: allowed are letters, digits and . _ -, 1 to 128 of them, not . or ..")
    return value


def _integer(fields: Mapping[str, Any], name: str, *, default: int | None = None) -> int:
    value = fields.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > INTEGER_MAX:
        raise InvalidEnvelope(f"{name}: expected an integer of 64 bits")
    return value


def _time(fields: Mapping[str, Any], name: str) -> datetime | None:
    text = _optional_text(fields, name)
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidEnvelope(f"{name}: expected an RFC 3339 timestamp") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _domain_ref(fields: Mapping[str, Any]) -> dict[str, str | int]:
    value = fields.get("domainRef")
    if value is None:
        return {}
    return {
        name: item
        for name, item in _object(value, "domainRef").items()
        if isinstance(item, str | int) and not isinstance(item, bool)
    }
