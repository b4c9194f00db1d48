"""What the outbox needs of its table, as small interfaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from claim_check.contract import OutboxState
from claim_check.outbox.rows import OutboxRow
from claim_check.ports import TableWrite


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The item that keeps the order of a FIFO group.

    Attributes:
        key: Its key (`contract.outbox_group_key`).
        pending: Places of the rows to be sent (`OutboxRow.place`), in the order in which they were committed.
        owner: Token of the relay that works on it.
        lease_until: When that relay's right ends, epoch seconds.
    """

    key: str
    pending: tuple[str, ...] = ()
    owner: str | None = None
    lease_until: float = 0.0


class OutboxReader(Protocol):
    """Reads of outbox rows by those who only look: operators, the reconciler. None of them scans.

    All raise `ReadRefused` where the table refuses, and `Unavailable` for throttles, 5xx and lost answers.
    """

    def rows(self, keys: Sequence[str]) -> Mapping[str, OutboxRow]:
        """Rows by their keys, as many keys as you like, read in batches of a hundred; what is not there is left out."""

    def open_rows(self, state: OutboxState) -> Iterator[OutboxRow]:
        """Rows that are ``PENDING`` or ``PARKED``, oldest first within each shard; lazily, page by page.

        Read through an index, which is a moment behind: what counts is read again by its key.
        """


class OutboxTable(OutboxReader, Protocol):
    """Conditional writes of outbox rows and groups. Every one is a single request; none is applied in part.

    All raise `Unavailable` for throttles, conflicts, 5xx and lost answers: it is then unknown whether the write took
    effect, and repeating it is safe.
    """

    def lease_row(self, key: str, *, owner: str, now: float, until: float) -> OutboxRow | None:
        """Take the right to send a row of a standard queue; None if it is not to be sent now, or by somebody else.

        Takes what is pending, due, and under no lease that is alive, its own included.
        """

    def lease_group(self, key: str, *, owner: str, now: float, until: float) -> Group | None:
        """Take the right to send a group's rows; None if another relay has it, or there is no such group."""

    def settle_row(self, row: OutboxRow, *, owner: str | None) -> bool:
        """Write what became of a pending row, and end its lease. Whether it was still pending and still ours.

        Args:
            row: As it is to be. Repeating what was written already is a success.
            owner: Who must still have it; None on FIFO, where the group's lease counts (`settle_head`).
        """

    def settle_head(self, row: OutboxRow, *, group: str, owner: str) -> bool:
        """Write what became of the first row of a group and take it off, in one transaction. Whether it was ours.

        Args:
            row: As it is to be.
            group: Key of the group.
            owner: Who must still have the group.
        """

    def drop_head(self, key: str, *, group: str, owner: str) -> bool:
        """Take the first name of a group off whose row is not to be sent any more, in one transaction.

        Returns:
            Whether the group was ours, and its row is there no more, or sent, or discarded.
        """

    def release_group(self, key: str, *, owner: str, emptied: bool, ttl: int) -> bool:
        """End a lease. False, and nothing is written, if the group is not ours, or not as was told.

        Args:
            key: Key of the group.
            owner: Who has it.
            emptied: Only if nothing is pending: then nobody who staged meanwhile waits for the sweep.
            ttl: When an empty group's item may vanish, epoch seconds.
        """


class Transactions(Protocol):
    """Commits writes together."""

    def commit(self, writes: Sequence[TableWrite], *, token: str) -> int | None:
        """Apply all writes or none. None when committed, else the number of the write whose condition did not hold.

        Args:
            writes: At least one.
            token: Makes a repeated request the same request, up to 36 characters.

        Raises:
            Unavailable: Conflict, throttle or no answer; repeating is safe.
            CommitFailed: Refused for a reason that repeating cannot mend.
        """
