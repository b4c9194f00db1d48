"""A received message on its way through a worker."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from claim_check.acceptance import Reading
    from claim_check.deadline import Deadline
    from claim_check.inbox import Hold
    from claim_check.processor import Outcome


class Batch:
    """The messages of one receive, as far as they tell how the infrastructure is."""

    def __init__(self, size: int) -> None:
        """Wait for so many outcomes."""
        self._left = size
        self._infrastructure = True
        self._lock = threading.Lock()

    def add(self, outcome: Outcome) -> bool | None:
        """Count an outcome; with the last one, whether all of them failed for the infrastructure."""
        with self._lock:
            self._left -= 1
            self._infrastructure &= outcome.infrastructure
            return None if self._left else self._infrastructure


class Record:
    """A received message, from its receive to its outcome.

    Attributes:
        reading: The message.
        deadline: When it is given up.
        batch: The messages that were received together with it.
        hold: Its lease, once its attempt has started.
        beats_at: When its heartbeat is due, on the monotonic clock.
    """

    def __init__(self, reading: Reading, deadline: Deadline, batch: Batch) -> None:
        """Begin."""
        self.reading = reading
        self.deadline = deadline
        self.batch = batch
        self.hold: Hold | None = None
        self.beats_at = 0.0
        self._settled = False
        self._lock = threading.Lock()

    @property
    def receipt_handle(self) -> str:
        """Names the receive to the queue."""
        return self.reading.delivery.receipt_handle

    def begin(self, hold: Hold) -> None:
        """Start the attempt, unless the record was given up in the meantime.

        Raises:
            DeadlineExceeded: It was.
        """
        self.hold = hold
        self.deadline.check()

    def settle(self) -> bool:
        """Fix the outcome: true for the first caller only."""
        with self._lock:
            first, self._settled = not self._settled, True
            return first
