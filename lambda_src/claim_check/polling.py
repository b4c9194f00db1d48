"""The receiving side of a worker: long polls, their repetition, and how long to leave the services alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from claim_check import contract
from claim_check.errors import ReceiveRefused, Unavailable

if TYPE_CHECKING:
    from claim_check.delivery import Delivery
    from claim_check.ports import Clock, ReceivingQueue, Telemetry

LONGEST_PAUSE_SECONDS: Final = 30.0
FIRST_PAUSE_SECONDS: Final = 0.5
ATTEMPT_SECONDS: Final = 240
"""How long an attempt id is used: SQS remembers it for five minutes."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A receive on FIFO that is repeated word for word until it is answered."""

    name: str
    count: int
    at: float


class Poller:
    """Receives from one queue. Used by one thread, but for `judge`."""

    def __init__(
        self,
        queue: ReceivingQueue,
        *,
        queue_url: str,
        visibility_seconds: int,
        clock: Clock,
        random: Callable[[], float],
        new_id: Callable[[], str],
        telemetry: Telemetry,
    ) -> None:
        """Poll a queue.

        Args:
            queue: Where from.
            queue_url: Its URL.
            visibility_seconds: How long received messages are hidden.
            clock: Time.
            random: Numbers in [0, 1) for jitter.
            new_id: Makes attempt ids, never the same twice.
            telemetry: Logs.
        """
        self._queue = queue
        self._queue_url = queue_url
        self._fifo = queue_url.endswith(".fifo")
        self._visibility = visibility_seconds
        self._clock = clock
        self._random = random
        self._new_id = new_id
        self._telemetry = telemetry
        self._attempt: _Attempt | None = None
        self._answered = False
        self._failed_receives = 0
        self._failed_batches = 0

    def pause_seconds(self) -> float:
        """How long to wait before the next receive: grows while receives, or whole batches, fail."""
        failures = max(self._failed_receives, self._failed_batches)
        if not failures:
            return 0.0
        ceiling: float = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** min(failures, 16))
        return ceiling / 2 + self._random() * ceiling / 2

    def judge(self, *, infrastructure: bool) -> None:
        """Hear of the end of a batch: whether all of it failed for the infrastructure."""
        self._failed_batches = self._failed_batches + 1 if infrastructure else 0

    def receive(self, count: int) -> list[Delivery] | None:
        """Receive messages once; None if that failed.

        On FIFO a lost answer blocks the groups of its messages, so the repetition carries the same attempt id.

        Raises:
            ReceiveRefused: The queue refuses, and has never answered before: a setting is wrong.
        """
        attempt = self._attempt_for(count)
        try:
            deliveries = self._queue.receive_batch(
                self._queue_url,
                count=attempt.count if attempt else count,
                wait_seconds=contract.SQS_LONG_POLL_SECONDS,
                visibility_seconds=self._visibility,
                attempt_id=attempt.name if attempt else None,
            )
        except (Unavailable, ReceiveRefused) as error:
            if isinstance(error, ReceiveRefused) and not self._answered:
                raise
            self._failed_receives += 1
            name = self._queue_url.rpartition("/")[2]
            self._telemetry.log("error", str(error), errorType=type(error).__qualname__, queue=name)
            return None
        self._attempt, self._answered, self._failed_receives = None, True, 0
        return deliveries

    def _attempt_for(self, count: int) -> _Attempt | None:
        if not self._fifo:
            return None
        now = self._clock.monotonic()
        if self._attempt is None or now - self._attempt.at > ATTEMPT_SECONDS:
            self._attempt = _Attempt(self._new_id(), count, now)
        return self._attempt
