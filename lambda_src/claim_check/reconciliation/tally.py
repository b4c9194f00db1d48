"""What a run has counted."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from claim_check.reconciliation.judging import CLASSES, Class


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts of one run, from its start, over all invocations that it took.

    Attributes:
        classes: Objects by class.
        bytes: Their bytes, by class.
        dead_pointers: Open rows whose object is gone.
        pointers: Open rows that point at a payload here.
        unchecked_pointers: Those that were not looked up, since the run may look at so many only.
        removed: Objects removed.
        held: Proven unpublished, kept by a hold or refused by the store.
        spared: Proven unpublished at first, and not any more when it was looked at again.
        unlooked: Objects that no row knows and that were not looked at, since the run may look at so many only.
        lists: Requests that listed.
        reads: Batched reads of rows, up to a hundred keys each.
        looks: Objects that no row knows and that were looked at.
        rechecks: Objects that were looked at once more before their removal.
    """

    classes: dict[Class, int] = field(default_factory=lambda: dict.fromkeys(CLASSES, 0))
    bytes: dict[Class, int] = field(default_factory=lambda: dict.fromkeys(CLASSES, 0))
    dead_pointers: int = 0
    pointers: int = 0
    unchecked_pointers: int = 0
    removed: int = 0
    held: int = 0
    spared: int = 0
    unlooked: int = 0
    lists: int = 0
    reads: int = 0
    looks: int = 0
    rechecks: int = 0

    @property
    def objects(self) -> int:
        """Objects seen."""
        return sum(self.classes.values())

    @property
    def unknown_percent(self) -> float:
        """Share of the unknown among our own objects past the grace age, per cent."""
        judged = self.objects - self.classes["young"] - self.classes["foreign"]
        return 100 * self.classes["unknown"] / judged if judged else 0.0

    def add(self, found: Class, size: int) -> None:
        """Count one object."""
        self.classes[found] += 1
        self.bytes[found] += size

    def document(self) -> dict[str, Any]:
        """As JSON has it."""
        return dataclasses.asdict(self)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Tally:
        """Read one back; what a newer version may have added is left out."""
        names = {one.name for one in dataclasses.fields(cls)}
        found = cls(**{name: value for name, value in document.items() if name in names})
        for counts in (found.classes, found.bytes):
            for name in CLASSES:
                counts.setdefault(name, 0)
        return found


@dataclass(slots=True, kw_only=True)
class Progress:
    """What a checkpoint holds.

    Attributes:
        started_at: When the run that is under way began, epoch seconds; 0 if none is.
        scope: Bucket and prefix of that run.
        after: Key of the last object that is done with.
        sources: Tables whose open rows are done with.
        tally: What the run has counted.
        first_at: When the first run ever was due.
        finished_at: When the last run finished; 0 if none did.
        last_started_at: When it had begun: what the next one is due by.
        last: What it counted.
        growth: By how many percentage points its unknown share was above that of the run before.
    """

    started_at: float = 0.0
    scope: str = ""
    after: str = field(default="", repr=False)
    sources: int = 0
    tally: Tally = field(default_factory=Tally)
    first_at: float = 0.0
    finished_at: float = 0.0
    last_started_at: float = 0.0
    last: Tally | None = None
    growth: float = 0.0

    def goes_on(self, scope: str) -> bool:
        """Whether a run over these objects is under way."""
        return self.started_at > 0 and self.scope == scope

    def begin(self, now: float, scope: str) -> None:
        """Begin a run."""
        self.scope = scope
        self.started_at, self.after, self.sources, self.tally = now, "", 0, Tally()

    def finish(self, now: float) -> None:
        """End the run: what it counted is the last result."""
        self.growth = self.tally.unknown_percent - self.last.unknown_percent if self.last else 0.0
        self.finished_at, self.last_started_at, self.last = now, self.started_at, self.tally
        self.started_at, self.after, self.sources, self.tally = 0.0, "", 0, Tally()

    def to_json(self) -> str:
        """As text."""
        return json.dumps(dataclasses.asdict(self), separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def of(cls, text: str) -> Progress:
        """Read one back; what cannot be read begins anew."""
        try:
            document = json.loads(text or "{}")
            last = document.pop("last", None)
            tally = Tally.of(document.pop("tally", {}))
            names = {one.name for one in dataclasses.fields(cls)}
            kept = {name: value for name, value in document.items() if name in names}
            return cls(**kept, tally=tally, last=None if last is None else Tally.of(last))
        except (ValueError, AttributeError, TypeError):
            return cls()
