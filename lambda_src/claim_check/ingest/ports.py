"""What ingesting needs of the outside world besides `claim_check.ports`: the ledger, and objects by version or tag."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from claim_check.checksums import Checksum
from claim_check.contract import LedgerState
from claim_check.ingest.changes import ObjectState
from claim_check.ports import ByteStream, TableWrite, WriteRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """What was last applied of one object.

    Attributes:
        bucket: Bucket.
        key: Key.
        state: Whether it was there.
        revision: Changes with every write, and never comes again.
        sequencer: No event up to this one is applied any more; None if none is known.
        exact: Whether the state is that of ``sequencer``; otherwise it is that of the bucket at some later time.
        kind: Name of the event that led to it.
        version_id: Version that was applied, or the delete marker's.
        etag: Entity tag that was applied.
        size: Bytes.
        modified_at: When the object was written, as the store tells, epoch seconds.
        applied_at: When, epoch seconds.
        ttl: When the row may go, epoch seconds; tombstones only.
    """

    bucket: str
    key: str = field(repr=False)
    state: LedgerState
    revision: str
    sequencer: str | None = None
    exact: bool = False
    kind: str = ""
    version_id: str | None = None
    etag: str | None = None
    size: int | None = None
    modified_at: float | None = None
    applied_at: float = 0.0
    ttl: int | None = None

    @property
    def object(self) -> ObjectState | None:
        """The object that was applied; None if its absence was."""
        if self.state == "DELETED":
            return None
        return ObjectState(self.version_id, self.etag, self.size, self.modified_at)


@dataclass(frozen=True, slots=True)
class LedgerRefused:
    """The row is not as it was read; `row` is what is there instead (None: no row)."""

    row: LedgerRow | None


class LedgerTable(Protocol):
    """Conditional writes of ledger rows. Every one is a single request; none is applied in part.

    All raise `Unavailable` for throttles, conflicts, 5xx and lost answers: it is then unknown whether a write took
    effect, and repeating the same one is safe.
    """

    def read(self, *, bucket: str, key: str) -> LedgerRow | None:
        """The row as it is now, never an earlier one."""

    def write(
        self, row: LedgerRow, *, seen: str | None, writes: Sequence[TableWrite]
    ) -> LedgerRefused | WriteRefused | None:
        """Write a row and the handler's writes in one transaction, if the row is as it was read. None on success.

        Args:
            row: The row; its revision also makes a repeated request the same request.
            seen: Revision that was read; None if there was no row.
            writes: The handler's writes.

        Raises:
            CommitFailed: Refused for a reason that repeating cannot mend (validation, access).
        """

    def failed(self, sqs_message_id: str, *, expires_at: int) -> int:
        """Count a failure of a handler for a message; returns how many there were.

        Args:
            sqs_message_id: SQS's id of the message.
            expires_at: When the count may go, epoch seconds.
        """


class LedgerReader(Protocol):
    """Reads for those who only look.

    All raise `ReadRefused` where the table refuses, and `Unavailable` for throttles, 5xx and lost answers.
    """

    def row(self, *, bucket: str, key: str) -> LedgerRow | None:
        """One row, as it is now."""

    def rows(self, *, bucket: str, prefix: str, start_after: str) -> Iterator[LedgerRow]:
        """Rows of a bucket whose keys come after ``start_after``, tombstones too, in the order of the keys' bytes.

        Lazily: memory does not grow with the number of rows.
        """


class Checkpoints(Protocol):
    """Where a reconciliation notes how far it has come. Errors are those of `LedgerReader`."""

    def load(self, name: str) -> str | None:
        """What was saved last."""

    def save(self, name: str, text: str) -> None:
        """Save."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundObject:
    """What the store answered about an object.

    Attributes:
        state: Version, entity tag, size.
        content_type: Media type.
        metadata: User metadata.
        checksum: The store's own checksum of the whole object, where it has one.
    """

    state: ObjectState
    content_type: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    checksum: Checksum | None = None


@dataclass(frozen=True, slots=True)
class OpenedVersion:
    """An object being read: the answer's headers, and its body."""

    found: FoundObject
    body: ByteStream


class ObjectSource(Protocol):
    """Looks at objects, and reads exactly the one that is meant. Each is one request.

    All raise `AccessDenied` where the store refuses, and `Unavailable` for throttles, failures and lost answers.
    """

    def head(
        self, *, bucket: str, key: str, version_id: str | None = None, etag: str | None = None
    ) -> FoundObject | None:
        """Look at an object; None if there is no such object (any more).

        Args:
            bucket: Bucket.
            key: Key.
            version_id: That version; None means the current object.
            etag: Only if it has this entity tag.
        """

    def open(self, *, bucket: str, key: str, version_id: str | None, etag: str | None) -> OpenedVersion | None:
        """Start reading a version, or the current object if it has an entity tag; None as for `head`."""
