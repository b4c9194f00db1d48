"""A DynamoDB in memory, as far as the outbox goes: rows, groups, transactions, and the stream of what was inserted."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from claim_check.adapters.inbox_items import to_value
from claim_check.adapters.outbox_items import to_row
from claim_check.contract import OUTBOX_GROUP_MARK, OutboxAttribute, OutboxState
from claim_check.outbox.ports import Group
from claim_check.outbox.rows import OutboxRow
from claim_check.ports import TableWrite
from tests.fakes.faults import Faults

OUTBOX = "outbox"


@dataclass
class FakeOutboxTable:
    """The ports `OutboxTable` and `Transactions`. Its calls are named like their methods in `faults`.

    Conditions of an application's own writes are not evaluated: `refuse_write` says which write is refused.

    Attributes:
        faults: Failures to come.
        items: Rows by key.
        groups: Groups by key.
        applied: Writes to other tables that were committed, in order.
        stream: Keys of what was inserted, in order, group items too.
        refuse_write: Number of the write that its condition refuses, if any.
    """

    faults: Faults = field(default_factory=Faults)
    items: dict[str, OutboxRow] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    applied: list[TableWrite] = field(default_factory=list)
    stream: list[str] = field(default_factory=list)
    refuse_write: int | None = None
    _tokens: set[str] = field(default_factory=set)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    # --- Reads ------------------------------------------------------------------------------------------------------

    def rows(self, keys: Sequence[str]) -> Mapping[str, OutboxRow]:
        """Rows by their keys."""
        with self.faults.around("rows"), self._lock:
            return {key: self.items[key] for key in keys if key in self.items}

    def open_rows(self, state: OutboxState) -> Iterator[OutboxRow]:
        """Rows of a state, oldest first."""
        with self.faults.around("open_rows"), self._lock:
            found = [row for row in self.items.values() if row.state == state]
        yield from sorted(found, key=lambda row: row.staged_at)

    # --- Leases -----------------------------------------------------------------------------------------------------

    def lease_row(self, key: str, *, owner: str, now: float, until: float) -> OutboxRow | None:
        """The right to send a row."""
        with self.faults.around("lease_row"), self._lock:
            row = self.items.get(key)
            if row is None or row.state != "PENDING" or row.due_at > now:
                return None
            if row.owner not in {None, owner} and row.lease_until > now:
                return None
            self.items[key] = replace(row, owner=owner, lease_until=until, left_by=row.owner)
            return self.items[key]

    def lease_group(self, key: str, *, owner: str, now: float, until: float) -> Group | None:
        """The right to send a group's rows."""
        with self.faults.around("lease_group"), self._lock:
            group = self.groups.get(key)
            if group is None or (group.owner not in {None, owner} and group.lease_until > now):
                return None
            self.groups[key] = replace(group, owner=owner, lease_until=until)
            return self.groups[key]

    def release_group(self, key: str, *, owner: str, emptied: bool, ttl: int) -> bool:
        """The end of a lease."""
        assert not emptied or ttl > 0
        with self.faults.around("release_group"), self._lock:
            group = self.groups.get(key)
            if group is None or group.owner != owner or (emptied and group.pending):
                return False
            self.groups[key] = replace(group, owner=None, lease_until=0.0)
            return True

    # --- What became of a row ---------------------------------------------------------------------------------------

    def settle_row(self, row: OutboxRow, *, owner: str | None) -> bool:
        """What became of a pending row."""
        with self.faults.around("settle_row"), self._lock:
            present = self.items.get(row.key)
            if present is None or present.state != "PENDING" or (owner is not None and present.owner != owner):
                return present == row
            self.items[row.key] = row
            return True

    def settle_head(self, row: OutboxRow, *, group: str, owner: str) -> bool:
        """What became of the first row of a group, which is taken off."""
        with self.faults.around("settle_head"), self._lock:
            present = self.items.get(row.key)
            if present is None or present.state != "PENDING" or not self._pop(row.place, group, owner):
                return self._once(owner, group, row.place, row.state)
            self.items[row.key] = row
            self._tokens.add(f"{owner} {group} {row.place} {row.state}")
            return True

    def drop_head(self, key: str, *, group: str, owner: str) -> bool:
        """The first name of a group whose row is not to be sent any more."""
        with self.faults.around("drop_head"), self._lock:
            present, place = self.items.get(key), key.partition("#")[2]
            if present is not None and present.state not in {"SENT", "DISCARDED"}:
                return False
            if not self._pop(place, group, owner):
                return self._once(owner, group, place, "drop")
            self._tokens.add(f"{owner} {group} {place} drop")
            return True

    def _once(self, owner: str, group: str, place: str, what: str) -> bool:
        """Whether this very request was committed before: its client token says so."""
        return f"{owner} {group} {place} {what}" in self._tokens

    def _pop(self, place: str, key: str, owner: str) -> bool:
        group = self.groups.get(key)
        if group is None or group.owner != owner or group.pending[:1] != (place,):
            return False
        self.groups[key] = replace(group, pending=group.pending[1:])
        return True

    # --- Transactions -----------------------------------------------------------------------------------------------

    def commit(self, writes: Sequence[TableWrite], *, token: str) -> int | None:
        """All writes or none."""
        assert 0 < len(token) <= 36
        with self.faults.around("commit"), self._lock:
            if token in self._tokens:
                return None
            refused = self.refused(writes)
            if refused is None:
                self._tokens.add(token)
                self.apply(writes)
            return refused

    def refused(self, writes: Sequence[TableWrite]) -> int | None:
        """The first write whose condition does not hold."""
        for index, write in enumerate(writes):
            if self.refuse_write == index or (
                write.action == "Put" and self._is_row(write) and not self._may_put(write)
            ):
                return index
            group = self.groups.get(str(write.key.get(OutboxAttribute.KEY)))
            if ":most" in write.values and group is not None and len(group.pending) > write.values[":most"]:
                return index
            if ":place" in write.values and (group is None or write.values[":place"] not in group.pending):
                return index
        return None

    def apply(self, writes: Sequence[TableWrite]) -> None:
        """Write, without a look at conditions: an inbox's transaction has looked."""
        with self._lock:
            for write in writes:
                key = str(write.key.get(OutboxAttribute.KEY))
                if write.action == "ConditionCheck":
                    continue
                if self._is_row(write):
                    assert write.item is not None
                    self.items[key] = to_row({name: to_value(value) for name, value in write.item.items()})
                    if ":parked" not in write.values:
                        self.stream.append(key)
                elif write.table == OUTBOX:
                    if key not in self.groups:
                        self.stream.append(key)
                    group = self.groups.get(key, Group(key=key))
                    self.groups[key] = replace(group, pending=(*group.pending, *write.values[":more"]))
                else:
                    self.applied.append(write)

    def _is_row(self, write: TableWrite) -> bool:
        key = str(write.key.get(OutboxAttribute.KEY))
        return write.table == OUTBOX and not key.startswith(OUTBOX_GROUP_MARK)

    def _may_put(self, write: TableWrite) -> bool:
        """A new row where there is none, or a parked one where it is still parked."""
        present = self.items.get(str(write.key[OutboxAttribute.KEY]))
        if ":parked" in write.values:
            return present is not None and present.state == "PARKED"
        return present is None
