"""What an application publishes.

An `Event` is checked when it is made, before anything is written anywhere: one exception type per cause, and a text
that names the field, its value (never the payload), what is allowed, and the way out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Final, Self

from claim_check import contract
from claim_check.errors import (
    EmptyField,
    InvalidDomainRef,
    InvalidEventVersion,
    InvalidName,
    InvalidPayload,
    InvalidText,
    NaiveTimestamp,
    ReservedAttribute,
    TooManyAttributes,
)

MESSAGE_ID_MAX_LENGTH: Final = 128
KEY_MAX_LENGTH: Final = 1024
"""Longest idempotency key and correlation id, characters."""

CONTENT_TYPE_MAX_LENGTH: Final = 255
GROUP_ID_MAX_LENGTH: Final = 128
DOMAIN_REF_MAX_BYTES: Final = 4 * contract.KIB
"""The domain reference is for a few ids, as JSON."""

EVENT_VERSION_MAX: Final = 2**31 - 1
DOMAIN_INTEGER_MAX: Final = 2**53 - 1
"""Larger integers lose digits in languages whose only number is a double."""

_CONTENT_TYPE: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+(\s*;[ -~]*)?", re.ASCII)
_GROUP_ID: Final = re.compile("[!-~]{1,128}")
_ATTRIBUTE_NAME: Final = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*", re.ASCII)
_ATTRIBUTE_NAME_MAX_LENGTH: Final = 256
_ATTRIBUTE_TEXT: Final = re.compile("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+")

_NAME_RULE: Final = "letters, digits and . _ - (1 to 128 of them, not . or ..)"


@dataclass(frozen=True, kw_only=True)
class Event:
    """One thing that happened, with its payload.

    Mappings are copied; what the caller passed is never changed and never shared.

    Attributes:
        tenant_id: Tenant.
        event_type: Kind of event.
        payload: The content: bytes, the path of a file, or a binary file (read from where it stands to its end, and
            put back there if it can seek; one that cannot is copied to temporary storage).
        content_type: Media type.
        message_id: Identity of the event. The producer draws one if there is none: then publishing the same event
            again is new work, so an event that may be published again needs one (or an idempotency key).
        event_version: Version of the event's own schema.
        occurred_at: When it happened, with a time zone.
        correlation_id: Ties messages of one business transaction together.
        idempotency_key: What makes two messages the same work; the message id if there is none.
        domain_ref: A few ids of domain objects; never personal data, since it is logged.
        attributes: Up to five message attributes of one's own, for filters.
        group_id: Message group: required on FIFO queues, where it orders; spreads load fairly on standard ones.
        sensitive: The payload never travels inside the message, however small.
    """

    tenant_id: str
    event_type: str
    payload: bytes | Path | BinaryIO = field(repr=False)
    content_type: str
    message_id: str | None = None
    event_version: int = 1
    occurred_at: datetime | None = None
    correlation_id: str | None = None
    idempotency_key: str | None = None
    domain_ref: Mapping[str, str | int] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)
    group_id: str | None = None
    sensitive: bool = False

    def __post_init__(self) -> None:
        """Check every field, and copy the mappings.

        Raises:
            InvalidEvent: A subclass per cause.
        """
        _check_name("tenant_id", self.tenant_id)
        _check_name("event_type", self.event_type)
        _check_payload(self.payload)
        _check_content_type(self.content_type)
        _check_id("message_id", self.message_id, MESSAGE_ID_MAX_LENGTH)
        _check_id("correlation_id", self.correlation_id, KEY_MAX_LENGTH)
        _check_id("idempotency_key", self.idempotency_key, KEY_MAX_LENGTH)
        _check_event_version(self.event_version)
        _check_time("occurred_at", self.occurred_at)
        _check_group_id(self.group_id)
        object.__setattr__(self, "domain_ref", _checked_domain_ref(self.domain_ref))
        object.__setattr__(self, "attributes", _checked_attributes(self.attributes))

    @classmethod
    def json(cls, document: Any, *, content_type: str = "application/json", **fields: Any) -> Self:  # noqa: ANN401 - JSON
        """An event whose payload is a JSON document.

        Args:
            document: Anything `json.dumps` takes; encoded compactly, in the order it has.
            content_type: JSON, or a ``+json`` type.
            fields: The other fields of an event.

        Raises:
            InvalidPayload: The document is no JSON.
        """
        return cls(payload=encode_json(document), content_type=content_type, **fields)


def encode_json(document: Any) -> bytes:  # noqa: ANN401 - JSON
    """A document as compact JSON in UTF-8.

    Raises:
        InvalidPayload: It is no JSON.
    """
    try:
        return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidPayload(
            "payload",
            f"cannot be encoded as JSON ({type(error).__name__})",
            limit="JSON: objects, arrays, well-formed text, finite numbers, true, false, null",
            way_out="convert it first, or pass bytes",
        ) from None


def shown(value: object) -> str:
    """A value as error texts show it: escaped, and not at length."""
    text = ascii(value)
    return text if len(text) <= 80 else f"{text[:77]}..."  # noqa: PLR2004 - about a line


def _check_filled(name: str, value: object, way_out: str) -> None:
    if not isinstance(value, str):
        raise InvalidText(name, f"{shown(value)} is no text", limit="text", way_out=way_out)
    if not value:
        raise EmptyField(name, "empty", limit="at least one character", way_out=way_out)


def _check_name(name: str, value: str) -> None:
    _check_filled(name, value, "set it")
    if not contract.is_name(value):
        raise InvalidName(
            name, f"{shown(value)} is no name", limit=_NAME_RULE, way_out="map it to such a name before publishing"
        )


def _check_id(name: str, value: str | None, max_length: int) -> None:
    if value is None:
        return
    _check_filled(name, value, "leave it out or set it")
    if len(value) > max_length:
        problem = f"{shown(value)} has {len(value)} characters"
        raise InvalidText(name, problem, limit=f"1 to {max_length} characters", way_out="use a hash of it")
    if not value.isprintable():
        problem = f"{shown(value)} holds characters that cannot be printed"
        raise InvalidText(name, problem, limit="printable characters", way_out="remove or encode them")


def _check_payload(value: object) -> None:
    if isinstance(value, bytes | Path) or (hasattr(value, "read") and not hasattr(value, "encoding")):
        return
    raise InvalidPayload(
        "payload",
        f"of type {type(value).__name__}",
        limit="bytes, pathlib.Path, or a file opened in binary mode",
        way_out="encode text first, use Event.json for a document, and copy other buffers with bytes()",
    )


def _check_content_type(value: str) -> None:
    _check_filled("content_type", value, "use application/octet-stream if nothing better is known")
    if len(value) > CONTENT_TYPE_MAX_LENGTH or _CONTENT_TYPE.fullmatch(value) is None:
        raise InvalidText(
            "content_type",
            f"{shown(value)} is no media type",
            limit=f"type/subtype with optional parameters, ASCII, up to {CONTENT_TYPE_MAX_LENGTH} characters",
            way_out="use application/octet-stream if nothing better is known",
        )


def _check_event_version(value: object) -> None:
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= EVENT_VERSION_MAX:
        return
    raise InvalidEventVersion(
        "event_version",
        f"{shown(value)} is no version",
        limit=f"whole numbers from 1 to {EVENT_VERSION_MAX}",
        way_out="number the versions of the event's schema from 1",
    )


def _check_time(name: str, value: object) -> None:
    if value is None or (isinstance(value, datetime) and value.utcoffset() is not None):
        return
    raise NaiveTimestamp(
        name,
        f"{shown(value)} has no time zone",
        limit="a datetime with a time zone",
        way_out="use datetime.now(UTC), or attach the zone with replace(tzinfo=...)",
    )


def _check_group_id(value: str | None) -> None:
    if value is None:
        return
    _check_filled("group_id", value, "leave it out or set it")
    if _GROUP_ID.fullmatch(value) is None:
        raise InvalidText(
            "group_id",
            f"{shown(value)} is no message group id",
            limit=f"letters, digits and ASCII punctuation, 1 to {GROUP_ID_MAX_LENGTH} of them",
            way_out="use a hash of it",
        )


def _checked_domain_ref(value: object) -> Mapping[str, str | int]:
    rule = f"a flat object of names to text or whole numbers, up to {DOMAIN_REF_MAX_BYTES} bytes as JSON"
    if not isinstance(value, Mapping):
        raise InvalidDomainRef("domain_ref", f"of type {type(value).__name__}", limit=rule, way_out="pass a mapping")
    copy: dict[Any, Any] = dict(value)
    for name, item in copy.items():
        if not (isinstance(name, str) and name and name.isprintable()):
            problem = f"the name {shown(name)}"
            raise InvalidDomainRef("domain_ref", problem, limit=f"{rule}; names printable", way_out="rename it")
        if not _is_reference(item):
            problem = f"the value {shown(item)} of {shown(name)}"
            raise InvalidDomainRef("domain_ref", problem, limit=rule, way_out="reference domain objects by their ids")
    size = len(json.dumps(copy, ensure_ascii=False, separators=(",", ":")).encode())
    if size > DOMAIN_REF_MAX_BYTES:
        raise InvalidDomainRef("domain_ref", f"{size} bytes as JSON", limit=rule, way_out="move data into the payload")
    return MappingProxyType(copy)


def _is_reference(item: object) -> bool:
    if isinstance(item, str):
        return item.isprintable()
    return isinstance(item, int) and not isinstance(item, bool) and abs(item) <= DOMAIN_INTEGER_MAX


def _checked_attributes(value: Mapping[str, str]) -> Mapping[str, str]:
    if not isinstance(value, Mapping):
        raise InvalidText(
            "attributes", f"of type {type(value).__name__}", limit="names to text", way_out="pass a mapping"
        )
    copy = dict(value)
    if len(copy) > contract.USER_ATTRIBUTES_MAX:
        raise TooManyAttributes(
            "attributes",
            f"{len(copy)} of them",
            limit=f"up to {contract.USER_ATTRIBUTES_MAX}; the rest of SQS's {contract.SQS_MAX_ATTRIBUTES} are in use",
            way_out="keep those that filters need, and move the others into domain_ref or the payload",
        )
    for name, text in copy.items():
        _check_attribute(name, text)
    return MappingProxyType(copy)


def _check_attribute(name: str, text: str) -> None:
    _check_filled("attributes", name, "name every attribute")
    if name in contract.RESERVED_ATTRIBUTES or name in contract.FOREIGN_ATTRIBUTES:
        names = ", ".join(sorted(contract.RESERVED_ATTRIBUTES | contract.FOREIGN_ATTRIBUTES))
        problem = f"the name {shown(name)} is reserved"
        raise ReservedAttribute("attributes", problem, limit=f"names other than {names}", way_out="rename it")
    reserved_start = name.lower().startswith(("aws.", "amazon."))
    if reserved_start or len(name) > _ATTRIBUTE_NAME_MAX_LENGTH or _ATTRIBUTE_NAME.fullmatch(name) is None:
        raise InvalidText(
            "attributes",
            f"the name {shown(name)}",
            limit="letters, digits, - _ and single dots inside, up to 256, not starting with AWS. or Amazon.",
            way_out="rename it",
        )
    _check_filled(f"attributes[{name}]", text, "leave the attribute out or give it a value")
    if _ATTRIBUTE_TEXT.fullmatch(text) is None:
        raise InvalidText(
            f"attributes[{name}]",
            f"{shown(text)} holds characters that SQS refuses",
            limit="tab, line feed, carriage return, and well-formed Unicode from U+0020 but U+FFFE and U+FFFF",
            way_out="remove or encode them",
        )
