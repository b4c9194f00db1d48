"""Dead letters that outlive SQS's fourteen days: what is stored of each, and where (R6.5).

Pure but for the port. A letter is stored before its message is deleted from the DLQ, so it can be in both places at
once: it is one letter, known by SQS's id of the message.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

from claim_check import contract
from claim_check.dead_letters import parked_reason
from claim_check.delivery import Delivery
from claim_check.envelope import format_time
from claim_check.errors import InvalidLetter
from claim_check.ports import MessageAttribute

if TYPE_CHECKING:
    from collections.abc import Sequence

LETTER_VERSION: Final = 1
LETTER_CONTENT_TYPE: Final = "application/json"
_SAFE_ID: Final = re.compile(r"[A-Za-z0-9-]{1,100}", re.ASCII)
_SEQUENCE_DIGITS: Final = 20
_WAY_OUT: Final = "read it with the version that wrote it, or a later one"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedLetter:
    """A dead letter in the archive.

    Attributes:
        delivery: The message as it lay in the DLQ: body, all attributes, group, trace header, ids, times. Its receipt
            handle is empty.
        archived_at: When it was stored, epoch seconds.
    """

    delivery: Delivery
    archived_at: float

    @classmethod
    def of(cls, delivery: Delivery, *, now: float) -> ArchivedLetter:
        """What is stored of a message received from a DLQ.

        Args:
            delivery: The message.
            now: Epoch seconds.
        """
        return cls(delivery=replace(delivery, receipt_handle=""), archived_at=round(now, 3))

    @property
    def queue(self) -> str:
        """Name of the DLQ it lay in."""
        return self.delivery.queue

    @property
    def id(self) -> str:
        """SQS's id of the message in the DLQ: what makes it one letter, wherever it lies."""
        return self.delivery.sqs_message_id

    def same_message(self, other: ArchivedLetter) -> bool:
        """Whether both are of one message; when it was stored, and how often it was received before, may differ."""
        return _at_rest(self.delivery) == _at_rest(other.delivery)


class DeadLetterArchive(Protocol):
    """Stores dead letters, oldest first by when SQS took them into their DLQ.

    All raise `ArchiveRefused` where the store refuses, and `Unavailable` for throttles, 5xx and lost answers: repeating
    is then safe.
    """

    def put(self, letter: ArchivedLetter) -> bool:
        """Store a letter unless it is there; once this returns, it is durable. Returns whether it was not there.

        Raises:
            WriteConflict: Another write of it was under way: nothing was written, try again.
        """

    def letters(self, queue: str) -> Iterator[ArchivedLetter]:
        """Letters of a DLQ, named without its URL, oldest first; lazily. What is removed meanwhile may be left out.

        Raises:
            InvalidLetter: One of them cannot be understood.
        """

    def count(self, queue: str) -> int:
        """How many letters of a DLQ there are; none of them is read."""

    def get(self, queue: str, sqs_message_id: str) -> ArchivedLetter | None:
        """A letter by SQS's id of its message; None if it is not there.

        Raises:
            InvalidLetter: It cannot be understood.
        """

    def stored(self, delivery: Delivery) -> ArchivedLetter | None:
        """The letter of a message that is at hand, by its key: one read; None if it is not there.

        Raises:
            InvalidLetter: It cannot be understood.
        """

    def remove(self, letters: Sequence[ArchivedLetter]) -> Sequence[ArchivedLetter]:
        """Remove letters for good: call it once their redrive is confirmed. Those that are gone are a success.

        Returns those that were refused; never raises.
        """


# --- Where a letter lies --------------------------------------------------------------------------------------------


def letters_prefix(queue: str) -> str:
    """Prefix of the objects of a DLQ's letters."""
    return f"{contract.ARCHIVE_PREFIX}{queue}/"


def letter_key(delivery: Delivery) -> str:
    """Key of a letter's object: the same for the same message, and in the order in which SQS took messages in.

    On FIFO the sequence number orders what came within a millisecond.
    """
    sequence = (delivery.sequence_number or "").zfill(_SEQUENCE_DIGITS)
    moment = f"{round(delivery.sent_at * 1000):014d}"
    return f"{letters_prefix(delivery.queue)}{moment}-{sequence}{_id_part(delivery.sqs_message_id)}"


def is_key_of(key: str, sqs_message_id: str) -> bool:
    """Whether a key is that of the letter of this message."""
    return key.endswith(_id_part(sqs_message_id))


def _id_part(sqs_message_id: str) -> str:
    safe = _SAFE_ID.fullmatch(sqs_message_id) is not None
    return f"_{sqs_message_id if safe else hashlib.sha256(sqs_message_id.encode()).hexdigest()}.json"


# --- What is stored -------------------------------------------------------------------------------------------------


def encode_letter(letter: ArchivedLetter) -> bytes:
    """A letter as JSON; `decode_letter` is its inverse.

    ``reason`` and ``firstMessageId`` are told for whoever reads the object itself; they follow from the attributes.
    """
    delivery = letter.delivery
    parked = parked_reason(delivery)
    fields: dict[str, Any] = {
        "v": LETTER_VERSION,
        "queue": delivery.queue,
        "sqsMessageId": delivery.sqs_message_id,
        "firstMessageId": delivery.first_message_id,
        "reason": None if parked is None else parked.error_code,
        "sentAt": round(delivery.sent_at * 1000),
        "archivedAt": format_time(datetime.fromtimestamp(letter.archived_at, UTC)),
        "receiveCount": delivery.receive_count,
        "groupId": delivery.group_id,
        "sequenceNumber": delivery.sequence_number,
        "traceHeader": delivery.trace_header,
        "deadLetterSource": delivery.dead_letter_source,
        "attributes": {name: _encoded(value) for name, value in delivery.attributes.items()},
        "body": delivery.body,
    }
    present = {name: value for name, value in fields.items() if value is not None}
    return json.dumps(present, ensure_ascii=False, separators=(",", ":")).encode()


def decode_letter(content: bytes) -> ArchivedLetter:
    """Read a letter. Unknown fields are ignored.

    Raises:
        InvalidLetter: It is none, or of a version that is not known.
    """
    try:
        raw = json.loads(content)
    except (ValueError, RecursionError):
        raise InvalidLetter("the letter", "no JSON", limit="what the archive wrote", way_out=_WAY_OUT) from None
    if not isinstance(raw, dict):
        raise InvalidLetter("the letter", "no JSON object", limit="what the archive wrote", way_out=_WAY_OUT)
    version = raw.get("v")
    if type(version) is not int or version != LETTER_VERSION:
        raise InvalidLetter("v", f"is {str(version)[:20]!r}", limit=str(LETTER_VERSION), way_out=_WAY_OUT)
    read = _Fields(raw)
    return ArchivedLetter(
        delivery=Delivery(
            sqs_message_id=read.text("sqsMessageId"),
            receipt_handle="",
            body=read.text("body"),
            attributes=read.attributes("attributes"),
            queue=read.text("queue"),
            sent_at=read.number("sentAt") / 1000,
            receive_count=read.number("receiveCount"),
            group_id=read.optional("groupId"),
            trace_header=read.optional("traceHeader"),
            dead_letter_source=read.optional("deadLetterSource"),
            sequence_number=read.optional("sequenceNumber"),
        ),
        archived_at=read.time("archivedAt"),
    )


class _Fields:
    """Typed fields of a letter; every method raises `InvalidLetter`, which names the field and never its content."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self._raw = raw

    def text(self, name: str) -> str:
        return _text(name, self._raw.get(name))

    def optional(self, name: str) -> str | None:
        return None if self._raw.get(name) is None else self.text(name)

    def number(self, name: str) -> int:
        value = self._raw.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise _wrong(name, value, "a whole number from 0")
        return value

    def time(self, name: str) -> float:
        text = self.text(name)
        try:
            return datetime.fromisoformat(text).astimezone(UTC).timestamp()
        except (ValueError, OverflowError):
            raise _wrong(name, text, "a time in ISO 8601") from None

    def attributes(self, name: str) -> dict[str, MessageAttribute]:
        value = self._raw.get(name)
        if not isinstance(value, dict):
            raise _wrong(name, value, "an object")
        return {each: _attribute(f"{name}.{each}", raw) for each, raw in value.items()}


def _attribute(name: str, raw: object) -> MessageAttribute:
    if not isinstance(raw, dict):
        raise _wrong(name, raw, "an object")
    kind = _text(f"{name}.type", raw.get("type"))
    if not kind.startswith("Binary"):
        return MessageAttribute(data_type=kind, value=_text(f"{name}.text", raw.get("text")))
    encoded = _text(f"{name}.base64", raw.get("base64"))
    try:
        return MessageAttribute(data_type=kind, value=base64.b64decode(encoded, validate=True))
    except (binascii.Error, ValueError):
        raise _wrong(f"{name}.base64", encoded, "base64") from None


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise _wrong(name, value, "a text")
    return value


def _wrong(name: str, value: object, wanted: str) -> InvalidLetter:
    return InvalidLetter(name[:100], f"a {type(value).__name__}", limit=wanted, way_out=_WAY_OUT)


def _encoded(attribute: MessageAttribute) -> dict[str, str]:
    if isinstance(attribute.value, bytes):
        return {"type": attribute.data_type, "base64": base64.b64encode(attribute.value).decode()}
    return {"type": attribute.data_type, "text": attribute.value}


def _at_rest(delivery: Delivery) -> Delivery:
    return replace(delivery, receipt_handle="", receive_count=1, attributes=dict(delivery.attributes))
