"""Telemetry that remembers, and refuses what must not be logged."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from claim_check import telemetry as rules
from claim_check.ports import Level


@dataclass(frozen=True)
class LogLine:
    """One log line."""

    level: Level
    event: str
    fields: dict[str, str | float]


@dataclass
class FakeTelemetry:
    """The `Telemetry` port.

    Attributes:
        lines: Log lines.
        counts: Metrics since the start, combined as CloudWatch would see one batch.
        flushed: One entry per flush that had something to emit.
        spans: Names of the traced steps.
    """

    lines: list[LogLine] = field(default_factory=list)
    counts: dict[str, float] = field(default_factory=dict)
    flushed: list[dict[str, float]] = field(default_factory=list)
    spans: list[str] = field(default_factory=list)
    _pending: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def log(self, level: Level, event: str, **fields: str | float | None) -> None:
        """Remember a line; a field off the allow list is a mistake of the caller's, so it fails loudly here."""
        unknown = fields.keys() - rules.ALLOWED_FIELDS
        assert not unknown, f"log fields that are not on the allow list: {sorted(unknown)}"
        with self._lock:
            self.lines.append(LogLine(level, event, rules.allowed(fields)))

    def count(self, metric: str, value: float = 1) -> None:
        """Add to a metric."""
        with self._lock:
            self.counts[metric] = rules.combine(metric, self.counts.get(metric), value)
            self._pending[metric] = rules.combine(metric, self._pending.get(metric), value)

    def flush(self) -> None:
        """Emit the sums."""
        with self._lock:
            if self._pending:
                self.flushed.append(dict(self._pending))
                self._pending.clear()

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """Remember a traced step."""
        with self._lock:
            self.spans.append(name)
        yield

    def events(self, level: Level | None = None) -> list[str]:
        """Events of the lines of a level, or of all."""
        with self._lock:
            return [line.event for line in self.lines if level in {None, line.level}]
