"""The time that a message may still use."""

from __future__ import annotations

from claim_check.errors import DeadlineExceeded, WorkerStopped
from claim_check.ports import Clock


class Deadline:
    """A point in time after which a handler's streams and transaction refuse further work (R4.8).

    Threads cannot be killed: what returns late finds everything closed.
    """

    def __init__(self, clock: Clock, seconds: float) -> None:
        """Start the countdown.

        Args:
            clock: Time.
            seconds: From now; zero or less means that it has passed (0 is a value, not "none").
        """
        self._clock = clock
        self._at = clock.monotonic() + seconds
        self._closed = self._stopped = False

    @property
    def stopped(self) -> bool:
        """Whether it was given up because its worker was asked to stop."""
        return self._stopped

    def remaining(self) -> float:
        """Seconds left; never negative."""
        return 0.0 if self._closed else max(0.0, self._at - self._clock.monotonic())

    def check(self) -> None:
        """Raise once time is up.

        Raises:
            DeadlineExceeded: No time is left, or the record was given up.
            WorkerStopped: It was given up because the worker was asked to stop.
        """
        if self._stopped:
            raise WorkerStopped("the worker was asked to stop; the message will be delivered again")
        if self.remaining() <= 0:
            raise DeadlineExceeded("no time is left for this message; it will be delivered again")

    def shorten(self, seconds: float) -> None:
        """Leave at most so many seconds from now."""
        self._at = min(self._at, self._clock.monotonic() + seconds)

    def close(self) -> None:
        """Give the record up: every later check raises."""
        self._closed = True

    def stop(self) -> None:
        """Give the record up because its worker was asked to stop: that costs no attempt."""
        self._stopped = self._closed = True
