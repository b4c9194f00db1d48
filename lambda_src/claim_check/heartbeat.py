"""The heartbeat of a worker: what is being worked on stays hidden, and its lease stays ours (R4.10).

A record beats from its receive to its outcome, and no longer than its deadline: nothing that is done, lost or given up
is ever extended.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from claim_check.errors import LostLease, Unavailable
from claim_check.ports import VisibilityChange

BEATS: Final = 3
"""Beats in the time that a message is hidden."""

RECEIVED_SECONDS: Final = 20
"""Longest that a message is hidden by its receive alone: nobody may have read the answer of a poll that was left."""

PATIENCE_SECONDS: Final = 1.0

if TYPE_CHECKING:
    from claim_check.ports import Clock, ReceivingQueue, Telemetry
    from claim_check.record import Record


class Heartbeat:
    """Extends visibility and lease of the records that it is told of.

    Attributes:
        received_seconds: How long a receive is to hide messages.
    """

    def __init__(
        self, queue: ReceivingQueue, *, queue_url: str, seconds: int, clock: Clock, telemetry: Telemetry
    ) -> None:
        """Know no records.

        Args:
            queue: Hides the messages.
            queue_url: Where they come from.
            seconds: Each beat hides a message, and lets its lease last, for so long from then on.
            clock: Time.
            telemetry: Logs.
        """
        self._queue = queue
        self._queue_url = queue_url
        self.received_seconds = min(seconds, RECEIVED_SECONDS)
        self._seconds = seconds
        self._clock = clock
        self._telemetry = telemetry
        self._records: dict[int, Record] = {}
        self._lock = threading.Lock()
        self._changing = threading.Lock()

    def add(self, records: Sequence[Record]) -> None:
        """Let records beat that were just received."""
        first = self._clock.monotonic() + self.received_seconds / BEATS
        for record in records:
            record.beats_at = first
        with self._lock:
            self._records.update({id(record): record for record in records})

    def remove(self, records: Sequence[Record]) -> None:
        """Stop them: when this returns, no beat will undo the visibility that their outcomes ask for.

        It waits for a change under way, but not for a queue that does not answer.
        """
        with self._lock:
            for record in records:
                self._records.pop(id(record), None)
        if self._changing.acquire(timeout=PATIENCE_SECONDS):
            self._changing.release()

    def beat(self) -> None:
        """Extend what is due: leases first, so that a message is not hidden for a worker that lost it."""
        now = self._clock.monotonic()
        due = [record for record in self._beating() if record.beats_at <= now]
        for record in due:
            record.beats_at = now + self._seconds / BEATS
        ours = [record for record in due if self._keep_lease(record)]
        with self._changing:
            beating = set(map(id, self._beating()))
            changes = [VisibilityChange(one.receipt_handle, self._seconds) for one in ours if id(one) in beating]
            refused = self._queue.change_visibility(self._queue_url, changes) if changes else []
        if refused:  # those may be received elsewhere: the lease tells the other worker to wait
            self._telemetry.log("warning", "visibility was not extended", failed=len(refused))

    def _beating(self) -> list[Record]:
        with self._lock:
            return [record for record in self._records.values() if record.deadline.remaining() > 0]

    def _keep_lease(self, record: Record) -> bool:
        """Extend a record's lease; False, and its deadline closed, once the lease is another worker's or has ended."""
        hold = record.hold
        if hold is None:
            return True
        try:
            hold.extend(self._seconds)
        except LostLease:
            record.deadline.close()
        except Unavailable:
            record.beats_at = 0.0  # at once again
            if self._clock.now() >= hold.until:
                record.deadline.close()
        return record.deadline.remaining() > 0
