"""An outbox and a table of checkpoints in memory, as far as the ports of the reconciliation go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from claim_check.contract import OutboxState
from claim_check.outbox.rows import OutboxRow
from claim_check.reconciliation.ports import Checkpoint
from tests.fakes.faults import Faults


@dataclass
class FakeOutboxRows:
    """The `OutboxRows` port. Calls: ``get_outbox`` (a batch of keys), ``query_outbox`` and ``discard``.

    Attributes:
        by_key: All rows there are.
        faults: Failures to come.
    """

    by_key: dict[str, OutboxRow]
    faults: Faults = field(default_factory=Faults)

    def rows(self, keys: Sequence[str]) -> Mapping[str, OutboxRow]:
        """Rows by their keys."""
        wanted, found = list(dict.fromkeys(keys)), dict[str, OutboxRow]()
        for start in range(0, len(wanted), 100):
            with self.faults.around("get_outbox"):
                found |= {key: self.by_key[key] for key in wanted[start : start + 100] if key in self.by_key}
        return found

    def open_rows(self, state: OutboxState) -> Iterator[OutboxRow]:
        """Rows of one state."""
        with self.faults.around("query_outbox"):
            found = [row for row in self.by_key.values() if row.state == state]
        yield from found

    def discard(self, row: OutboxRow, *, now: float) -> bool:
        """Set a parked row aside for good."""
        with self.faults.around("discard"):
            present = self.by_key.get(row.key)
            if present is None or (present.state != "DISCARDED" and present != row):
                return False
            if present.state == "DISCARDED":
                return True
            if present.state != "PARKED":
                return False
            self.by_key[row.key] = replace(row, state="DISCARDED", body=None, attributes={}, updated_at=now)
            return True


@dataclass
class FakeCheckpoints:
    """The `Checkpoints` port. Calls: ``take`` and ``save``.

    Attributes:
        faults: Failures to come.
        kept: Checkpoint, owner and end of the lease by name.
    """

    faults: Faults = field(default_factory=Faults)
    kept: dict[str, tuple[str, str, float]] = field(default_factory=dict)

    def take(self, name: str, *, owner: str, now: float, until: float) -> Checkpoint | None:
        """Take the lease."""
        with self.faults.around("take"):
            state, present, ends = self.kept.get(name, ("", "", 0.0))
            if ends > now and present != owner:
                return None
            self.kept[name] = (state, owner, until)
            return Checkpoint(name=name, state=state)

    def save(self, checkpoint: Checkpoint, *, owner: str, until: float) -> bool:
        """Write if the lease is ours."""
        with self.faults.around("save"):
            if self.kept.get(checkpoint.name, ("", "", 0.0))[1] != owner:
                return False
            self.kept[checkpoint.name] = (checkpoint.state, owner, until)
            return True
