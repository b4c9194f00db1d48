"""The right to send: one row of a standard queue, or the rows of a FIFO group one after the other.

Each has an owner and an end. Whoever lost it records nothing any more, so that a group never moves on behind the back
of the relay that has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol, TypeVar

from claim_check.contract import OnPoison
from claim_check.errors import Unavailable
from claim_check.outbox.ports import Group, OutboxTable
from claim_check.outbox.rows import OutboxRow
from claim_check.ports import Clock
from claim_check.retries import Retry

AHEAD: Final = 10
"""Rows of a group that are read at once."""

WRITE_RETRY: Final = Retry(attempts=6, base=0.05, cap=1.0, budget=10.0)
"""Conflicts with those who stage for the same group pass in milliseconds."""

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What all claims of one run share.

    Attributes:
        table: The outbox.
        owner: Token of the run.
        until: When its claims end, epoch seconds.
        ttl_seconds: How long the item of an empty group is kept.
        clock: Time.
        random: Draws from [0, 1) for the jitter.
    """

    table: OutboxTable
    owner: str
    until: float
    ttl_seconds: int
    clock: Clock
    random: Callable[[], float]

    def insist(self, call: Callable[[], _Answer]) -> _Answer:
        """Repeat a call of the table through conflicts and throttles.

        Raises:
            Unavailable: It did not answer within the retries.
        """
        problem = Unavailable("no time was left")
        for _ in WRITE_RETRY.tries(self.clock, self.random):
            try:
                return call()
            except Unavailable as error:
                problem = error
        raise problem


class Claim(Protocol):
    """A right to send."""

    @property
    def name(self) -> str:
        """Key of the row or of the group."""

    def next(self) -> OutboxRow | None:
        """The row to be looked at now; None when nothing more is to be done.

        Raises:
            Unavailable: The table did not answer.
        """

    def settle(self, row: OutboxRow) -> bool:
        """Write what became of that row. Whether it was ours.

        Raises:
            Unavailable: The table did not answer.
        """

    def let_go(self) -> None:
        """Give it back, if it is still ours; what cannot be given back ends by itself."""


class RowClaim:
    """A row of a standard queue."""

    def __init__(self, row: OutboxRow, desk: Desk) -> None:
        """Hold a row that is leased."""
        self._row: OutboxRow | None = row
        self._desk = desk
        self.name = row.key

    @classmethod
    def take(cls, key: str, desk: Desk) -> RowClaim | None:
        """Claim a row; None if it is not to be sent now, or by somebody else.

        Raises:
            Unavailable: The table did not answer.
        """
        now = desk.clock.now()
        row = desk.insist(lambda: desk.table.lease_row(key, owner=desk.owner, now=now, until=desk.until))
        return None if row is None else cls(row, desk)

    def next(self) -> OutboxRow | None:
        """The row, once."""
        row, self._row = self._row, None
        return row

    def settle(self, row: OutboxRow) -> bool:
        """See `Claim.settle`."""
        return self._desk.insist(lambda: self._desk.table.settle_row(row, owner=self._desk.owner))

    def let_go(self) -> None:
        """Nothing: a row that was not settled is sent by whoever finds it when the lease has ended."""


class GroupClaim:
    """A FIFO group: its rows in the order in which they were committed; what cannot be sent stops it."""

    def __init__(self, group: Group, destination: str, on_poison: OnPoison, desk: Desk) -> None:
        """Hold a group that is leased.

        Args:
            group: The group as it was when it was leased.
            destination: Of its rows.
            on_poison: What a parked row does to it.
            desk: Table and owner.
        """
        self._pending = list(group.pending)
        self._ahead: dict[str, OutboxRow] = {}
        self._destination = destination
        self._on_poison = on_poison
        self._desk = desk
        self._ours = True
        self.name = group.key

    @classmethod
    def take(cls, key: str, destination: str, on_poison: OnPoison, desk: Desk) -> GroupClaim | None:
        """Claim a group; None if another relay has it.

        Raises:
            Unavailable: The table did not answer.
        """
        group = _lease(key, desk)
        return None if group is None else cls(group, destination, on_poison, desk)

    def next(self) -> OutboxRow | None:
        """The first row, if it may be sent now."""
        while self._ours and (self._pending or self._refilled()):
            key = f"{self._destination}#{self._pending[0]}"
            row = self._row(key)
            if row is None or row.state in {"SENT", "DISCARDED"}:
                self._advance(ours=self._desk.insist(partial(self._drop, key)))
            elif row.state == "PARKED" or row.due_at > self._desk.clock.now():
                return None
            else:
                return row
        return None

    def settle(self, row: OutboxRow) -> bool:
        """Write what became of the first row: sent (or set aside, where that is allowed) takes it off the group."""
        moves_on = row.state == "SENT" or (row.state == "PARKED" and self._on_poison == "park")
        if not moves_on:
            self._ahead.pop(row.key, None)
            return self._desk.insist(lambda: self._desk.table.settle_row(row, owner=None))
        ours = self._desk.insist(lambda: self._desk.table.settle_head(row, group=self.name, owner=self._desk.owner))
        self._advance(ours=ours)
        return ours

    def let_go(self) -> None:
        """End the lease."""
        if self._ours:
            self._release(emptied=False)

    def _advance(self, *, ours: bool) -> None:
        self._ours = ours
        if ours:
            self._ahead.pop(f"{self._destination}#{self._pending.pop(0)}", None)

    def _drop(self, key: str) -> bool:
        return self._desk.table.drop_head(key, group=self.name, owner=self._desk.owner)

    def _row(self, key: str) -> OutboxRow | None:
        if key not in self._ahead:
            keys = [f"{self._destination}#{place}" for place in self._pending[:AHEAD]]
            self._ahead = dict(self._desk.insist(lambda: self._desk.table.rows(keys)))
        return self._ahead.get(key)

    def _refilled(self) -> bool:
        """Let an empty group go, unless somebody staged for it meanwhile: nobody else would come for that."""
        if self._release(emptied=True):
            self._ours = False
            return False
        group = _lease(self.name, self._desk)
        self._ours = group is not None
        self._pending = list(group.pending) if group else []
        return bool(self._pending)

    def _release(self, *, emptied: bool) -> bool:
        ttl = int(self._desk.clock.now()) + self._desk.ttl_seconds
        table, owner = self._desk.table, self._desk.owner
        return self._desk.insist(lambda: table.release_group(self.name, owner=owner, emptied=emptied, ttl=ttl))


def _lease(key: str, desk: Desk) -> Group | None:
    now = desk.clock.now()
    return desk.insist(lambda: desk.table.lease_group(key, owner=desk.owner, now=now, until=desk.until))
