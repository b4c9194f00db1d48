"""The system's time."""

from __future__ import annotations

import time


class SystemClock:
    """`claim_check.ports.Clock` of the machine."""

    def now(self) -> float:
        """Epoch seconds."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)
