"""A clock that moves only when told to."""

from __future__ import annotations

import threading

START = 1_783_332_930.0
"""2026-07-06T10:15:30Z."""


class FakeClock:
    """The `Clock` port: `sleep` moves time on and returns at once.

    Attributes:
        sleeps: What was slept, in order.
    """

    def __init__(self, now: float = START) -> None:
        """Start at ``now``, epoch seconds."""
        self.sleeps: list[float] = []
        self._now = now
        self._monotonic = 1000.0
        self._lock = threading.Lock()

    def now(self) -> float:
        """Epoch seconds."""
        with self._lock:
            return self._now

    def monotonic(self) -> float:
        """Seconds that never go back."""
        with self._lock:
            return self._monotonic

    def sleep(self, seconds: float) -> None:
        """Let the time pass at once."""
        with self._lock:
            self.sleeps.append(seconds)
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        """Move time on."""
        with self._lock:
            self._now += seconds
            self._monotonic += seconds
