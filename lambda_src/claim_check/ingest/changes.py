"""What happens to the objects of a bucket: keys, states, events, and what a handler is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from claim_check.telemetry import key_hash

MAX_KEY_BYTES: Final = 1024

Action = Literal["put", "delete", "look"]
"""What an event means: an object was written, it was removed, or only a look at the bucket tells."""


@dataclass(frozen=True, slots=True)
class ObjectKey:
    """The key of an object, decoded once, at the edge. Its text shows in no repr, log or error (R11.4).

    Attributes:
        text: The key.
    """

    text: str = field(repr=False)

    @property
    def hash(self) -> str:
        """What stands in for the key in logs."""
        return key_hash(self.text)


@dataclass(frozen=True, slots=True)
class ObjectState:
    """An object as it is, or was, in its bucket.

    Attributes:
        version_id: Version, if the bucket keeps versions.
        etag: Entity tag, without quotes.
        size: Bytes, where they are known.
        modified_at: When it was written as the store itself tells, epoch seconds, where that is known.
    """

    version_id: str | None
    etag: str | None
    size: int | None = None
    modified_at: float | None = None

    def same_as(self, other: ObjectState) -> bool:
        """Whether both are one: the same version or, where one of them tells none, entity tag and time of writing."""
        if self.version_id is not None and other.version_id is not None:
            return self.version_id == other.version_id
        return self.etag is not None and self.etag == other.etag and same_second(self.modified_at, other.modified_at)


def same_second(a: float | None, b: float | None) -> bool:
    """Whether two times may be one: headers tell whole seconds, and unknown is anything."""
    return a is None or b is None or abs(a - b) < 1


@dataclass(frozen=True, slots=True)
class Seen:
    """What a reconciliation saw: its event is good for exactly that.

    Attributes:
        etag: Entity tag in the listing; None if the object was not there.
        revision: Revision of the ledger row; None if there was none.
    """

    etag: str | None
    revision: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectEvent:
    """One event of one object.

    Attributes:
        bucket: Bucket.
        key: Key, decoded.
        action: What it means.
        kind: Name of the event, such as ``ObjectCreated:Put``.
        sequencer: Its place among the events of this key, hexadecimal in capitals; None if it tells none.
        version_id: Version that was written, or the delete marker's.
        etag: Entity tag that was written.
        size: Bytes that were written; 0 is a size, None is unknown.
        occurred_at: When, epoch seconds.
        seen: Of a synthetic event: what the reconciliation saw.
    """

    bucket: str
    key: ObjectKey
    action: Action
    kind: str
    sequencer: str | None = None
    version_id: str | None = None
    etag: str | None = None
    size: int | None = None
    occurred_at: float | None = None
    seen: Seen | None = None

    @property
    def state(self) -> ObjectState:
        """What was written."""
        return ObjectState(self.version_id, self.etag, self.size)


@dataclass(frozen=True, slots=True)
class OtherEvent:
    """An event that changes no object's content.

    Attributes:
        kind: Its name.
        known: Whether this library knows what it means.
    """

    kind: str
    known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectChange:
    """What a handler is told: the object is now so, or is gone.

    Attributes:
        bucket: Bucket.
        key: Key; ``key.text`` is its text.
        kind: Name of the event that led here, such as ``ObjectCreated:Put``.
        version_id: Version that is applied, or the delete marker's, where the bucket keeps versions.
        etag: Entity tag that is applied; None for a removal.
        size: Bytes; None for a removal.
        content_type: Media type; None for a removal.
        metadata: User metadata.
        sequencer: Of the event; None for what the bucket itself was asked for.
        occurred_at: When it happened, epoch seconds, where that is known.
        effect_token: The same whenever this change is applied again: for effects outside of the transaction.
    """

    bucket: str
    key: ObjectKey
    kind: str
    effect_token: str
    version_id: str | None = None
    etag: str | None = None
    size: int | None = None
    content_type: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict, repr=False)
    sequencer: str | None = None
    occurred_at: float | None = None
