"""Bounded retries with backoff and jitter (R2.5), on an injected clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from claim_check.ports import Clock

DEDUPLICATION_SECONDS: Final = 300
"""SQS forgets a deduplication id after this time: a retry that comes later is a new message."""

LONGEST_CALL_SECONDS: Final = 45
"""Longest that one call of an adapter takes, the SDK's own retries included (`claim_check.adapters.session`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """How often and how long something is tried again.

    Attributes:
        attempts: Attempts in all.
        base: Ceiling of the first delay, seconds; doubles with each attempt. A delay is between half of its ceiling
            and the whole of it.
        cap: Longest delay, seconds.
        budget: No attempt starts later than this after the first, seconds.
    """

    attempts: int = 5
    base: float = 0.2
    cap: float = 10.0
    budget: float = DEDUPLICATION_SECONDS - LONGEST_CALL_SECONDS - 15.0

    def ceiling(self, failures: int) -> float:
        """Longest delay after so many failures (1 and up), seconds."""
        return min(self.cap, self.base * 2.0 ** (min(failures, 30) - 1))

    def tries(self, clock: Clock, random: Callable[[], float], *, started: float | None = None) -> Iterator[int]:
        """Number the attempts from 1, waiting between them; ends when attempts or budget are used up.

        Args:
            clock: Time.
            random: Draws from [0, 1) for the jitter.
            started: When the budget began, on the monotonic clock; now, unless earlier attempts share it.
        """
        started = clock.monotonic() if started is None else started
        if clock.monotonic() - started > self.budget:
            return
        yield 1
        for number in range(2, self.attempts + 1):
            ceiling = self.ceiling(number - 1)
            delay = ceiling / 2 + random() * ceiling / 2
            if clock.monotonic() + delay - started > self.budget:
                return
            clock.sleep(delay)
            yield number
