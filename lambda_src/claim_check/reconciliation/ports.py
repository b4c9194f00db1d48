"""What the reconciliation of payloads needs of the outside world, beside listing and inbox rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from claim_check.contract import OutboxState
from claim_check.outbox.rows import OutboxRow

Removal = Literal["removed", "changed", "refused"]
"""What became of a removal.

``changed``: the object is gone, or another one than was looked at. ``refused``: the store keeps it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What the store told of one object.

    Attributes:
        etag: Entity tag, without quotes.
        version_id: Version, if the bucket keeps versions.
        last_modified: When it was written.
        uploaded: Whether a client uploaded it by grant.
        kept: Whether it was put for an outbox row, so that nobody who publishes directly relies on it.
        held: Whether a legal hold or a retention keeps it.
    """

    etag: str
    version_id: str | None = field(repr=False)
    last_modified: datetime
    uploaded: bool
    kept: bool
    held: bool


class Payloads(Protocol):
    """Looks at single objects, and removes them.

    All raise `AccessDenied` where the store refuses (but see `Removal`), and `Unavailable` for throttles, failures and
    lost answers.
    """

    def look(self, *, bucket: str, key: str, version_id: str | None = None) -> Look | None:
        """Look at an object, or one version of it, without reading it: one request. None if there is none."""

    def tags(self, *, bucket: str, key: str, version_id: str | None) -> Mapping[str, str] | None:
        """Tags of an object: one request. None if there is no such object."""

    def remove(self, *, bucket: str, key: str, seen: Look) -> Removal:
        """Remove exactly what was looked at: that version, or, without versions, that content. Sent once only."""


class OutboxRows(Protocol):
    """What is looked up in an outbox, and the one write: a row that is not sent any more."""

    def rows(self, keys: Sequence[str]) -> Mapping[str, OutboxRow]:
        """See `claim_check.outbox.ports.OutboxReader.rows`."""

    def open_rows(self, state: OutboxState) -> Iterator[OutboxRow]:
        """See `claim_check.outbox.ports.OutboxReader.open_rows`."""

    def discard(self, row: OutboxRow, *, now: float) -> bool:
        """Mark a parked row as discarded, so that nobody sends it any more. Whether it was still as it was seen.

        A row that is discarded already is a success.

        Raises:
            ReadRefused: The table refuses.
            Unavailable: Throttled, failed, or no answer; repeating is safe.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """How far the runs of one reconciliation have come.

    Attributes:
        name: Which reconciliation.
        state: What its runner wrote, as JSON; empty before its first run.
    """

    name: str
    state: str = ""


class Checkpoints(Protocol):
    """Keeps checkpoints. Only who has the lease writes: two runs never fight.

    All raise `ReadRefused` where the store refuses, and `Unavailable` for throttles, failures and lost answers: it is
    then unknown whether the write took effect, and repeating it is safe.
    """

    def take(self, name: str, *, owner: str, now: float, until: float) -> Checkpoint | None:
        """Take the lease and read the checkpoint; None if another's lease is alive.

        Args:
            name: Which reconciliation.
            owner: Our token.
            now: Epoch seconds.
            until: When the lease ends, epoch seconds.
        """

    def save(self, checkpoint: Checkpoint, *, owner: str, until: float) -> bool:
        """Write a checkpoint and the end of the lease (0 gives it back). Whether the lease was still ours."""
