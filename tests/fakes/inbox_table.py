"""A DynamoDB in memory, as far as the `InboxTable` port goes, with one table of the handler's own kind."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from claim_check.inbox import may_take, taken
from claim_check.ports import Guard, InboxRow, Refused, TableWrite, Taken, WriteRefused
from tests.fakes.faults import Faults


@dataclass
class FakeInboxTable:
    """The `InboxTable` port. Its calls are named ``take``, ``replace`` and ``complete`` in `faults`.

    Conditions of a handler's writes are not evaluated: `refuse_write` says which write is refused.

    Attributes:
        faults: Failures to come.
        rows: Inbox rows by key.
        applied: The handler's writes that were committed, in order.
        refuse_write: Number of the handler's write that its condition refuses, if any.
    """

    faults: Faults = field(default_factory=Faults)
    rows: dict[str, InboxRow] = field(default_factory=dict)
    applied: list[TableWrite] = field(default_factory=list)
    refuse_write: int | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def take(self, wanted: InboxRow, *, now: float, max_attempts: int) -> Taken | Refused:
        """The gate's conditional update."""
        with self.faults.around("take"), self._lock:
            before = self.rows.get(wanted.key)
            if not may_take(before, wanted, now=now, max_attempts=max_attempts):
                return Refused(before)
            self.rows[wanted.key] = taken(wanted, before)
            return Taken(self.rows[wanted.key], before)

    def replace(self, row: InboxRow, *, guard: Guard | None) -> Refused | None:
        """A guarded write of a whole row."""
        with self.faults.around("replace"), self._lock:
            if not self._matches(row.key, guard):
                return Refused(self.rows.get(row.key))
            self.rows[row.key] = row
            return None

    def complete(
        self, row: InboxRow, *, guard: Guard, writes: Sequence[TableWrite], token: str
    ) -> Refused | WriteRefused | None:
        """The commit: the row and the handler's writes, together or not at all."""
        assert 0 < len(token) <= 36
        with self.faults.around("complete"), self._lock:
            if not self._matches(row.key, guard):
                return Refused(self.rows.get(row.key))
            if self.refuse_write is not None and writes:
                return WriteRefused(self.refuse_write)
            self.rows[row.key] = row
            self.applied.extend(writes)
            return None

    def items(self, table: str) -> list[dict[str, Any]]:
        """Items put into a table so far, the same one again if it was put again."""
        with self._lock:
            return [dict(write.item or {}) for write in self.applied if write.table == table]

    def _matches(self, key: str, guard: Guard | None) -> bool:
        row = self.rows.get(key)
        if guard is None:
            return row is None
        return (
            row is not None
            and row.owner == guard.owner
            and row.state == guard.state
            and (guard.lease_until is None or row.lease_until == guard.lease_until)
        )
