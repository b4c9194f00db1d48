"""What finds rows that the stream or the relay missed, and measures how far behind the outbox is (R3.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from claim_check.contract import Metric
from claim_check.outbox.ports import OutboxReader
from claim_check.outbox.relay import MARGIN_SECONDS, Relay
from claim_check.outbox.rows import OutboxRow
from claim_check.ports import Clock, Telemetry

YOUNG_SECONDS: Final = 20.0
"""Younger rows are the stream's: it is at most a few seconds behind."""

BATCH: Final = 100
"""Rows that the relay is given at once."""

COUNTED_PARKED: Final = 10_000
"""Parked rows are counted up to this many."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep came to.

    Attributes:
        pending: Rows that were not sent when it began.
        sent: Rows that it sent.
        parked: Rows that wait for an operator.
        lag_seconds: Age of the oldest row that was not sent when it began.
    """

    pending: int
    sent: int
    parked: int
    lag_seconds: float


class Sweep:
    """Goes through the unsent rows, oldest first within each shard of their index."""

    def __init__(self, relay: Relay, reader: OutboxReader, *, clock: Clock, telemetry: Telemetry) -> None:
        """Make a sweep.

        Args:
            relay: Sends.
            reader: Reads the outbox.
            clock: Time.
            telemetry: Logs and metrics.
        """
        self._relay = relay
        self._reader = reader
        self._clock = clock
        self._telemetry = telemetry

    def run(self, *, remaining_seconds: float) -> Swept:
        """Send what is due, as far as the time goes: the next run goes on.

        Args:
            remaining_seconds: Time that this process has left.

        Raises:
            ReadRefused: The table refuses.
            Unavailable: The table did not answer.
        """
        try:
            return self._run(self._clock.monotonic() + remaining_seconds)
        finally:
            self._telemetry.flush()

    def _run(self, ends: float) -> Swept:
        found = _Found()
        sent = 0
        for batch in _batches(self._overdue(found, ends)):
            left = ends - self._clock.monotonic()
            if left <= MARGIN_SECONDS:
                break
            sent += self._relay.run(batch, remaining_seconds=left).sent
        parked = sum(1 for _ in islice(self._reader.open_rows("PARKED"), COUNTED_PARKED))
        swept = Swept(found.pending, sent, parked, found.lag_seconds)
        self._tell(swept)
        return swept

    def _overdue(self, found: _Found, ends: float) -> Iterator[str]:
        """Keys of rows that the stream should have had sent by now; no more once there is no time to send them."""
        now = self._clock.now()
        for row in self._reader.open_rows("PENDING"):
            found.see(row, now)
            if ends - self._clock.monotonic() <= MARGIN_SECONDS:
                return  # rows that are not due yet cost time, too: what was found must still be told
            leased = row.owner is not None and row.lease_until > now
            if row.staged_at + YOUNG_SECONDS <= now and row.due_at <= now and not leased:
                yield row.key

    def _tell(self, swept: Swept) -> None:
        self._telemetry.count(Metric.OUTBOX_LAG, swept.lag_seconds)
        self._telemetry.count(Metric.OUTBOX_PARKED, swept.parked)
        self._telemetry.count(Metric.OUTBOX_SWEPT, swept.sent)


@dataclass(slots=True)
class _Found:
    """What a sweep has come across so far."""

    pending: int = 0
    lag_seconds: float = 0.0

    def see(self, row: OutboxRow, now: float) -> None:
        """Count a row."""
        self.pending += 1
        self.lag_seconds = max(self.lag_seconds, now - row.staged_at)


def _batches(keys: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(islice(keys, BATCH)):
        yield batch
