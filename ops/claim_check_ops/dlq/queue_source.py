"""A DLQ as a source of dead letters: receives without consuming, holds what it received, gives it back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from claim_check import contract
from claim_check.delivery import Delivery
from claim_check.errors import Unavailable
from claim_check.ports import Clock, ReceivingQueue, VisibilityChange
from claim_check.side_by_side import SideBySide
from claim_check_ops.dlq.ports import QueueDirectory

HOLD_SECONDS: Final = 300
"""What is held, and not kept held, can be received again after this time, whatever became of this process."""

RECEIVERS: Final = 8
"""Receives side by side: one receive brings ten messages at most."""

EMPTY_ROUNDS: Final = 2
"""So many rounds in a row must bring nothing new before nothing is left: one answer of SQS may come of few servers."""

_WAIT_SECONDS: Final = 1
"""A receive that waits asks all of SQS's servers."""

_TRIES: Final = 3
_RETRY_SECONDS: Final = 0.5
_LAST_CALL: Final = contract.SQS_MAX_VISIBILITY_SECONDS - HOLD_SECONDS


@dataclass(slots=True)
class _Held:
    delivery: Delivery
    since: float
    until: float


class QueueSource:
    """`claim_check_ops.dlq.ports.DeadLetterSource` on a DLQ.

    On a FIFO queue SQS shows at most ten messages of a group until these are deleted, so that more of a group come only
    while it is emptied.
    """

    name = "queue"

    def __init__(
        self,
        queue: ReceivingQueue,
        directory: QueueDirectory,
        queue_url: str,
        *,
        clock: Clock,
        new_id: Callable[[], str],
        receivers: int = RECEIVERS,
        hold_seconds: int = HOLD_SECONDS,
    ) -> None:
        """Receive nothing yet.

        Args:
            queue: Receives, hides, deletes.
            directory: Tells how full the queue is.
            queue_url: The DLQ.
            clock: Time.
            new_id: Names attempts at receiving, so that a FIFO queue repeats a lost answer.
            receivers: Receives side by side; 1 needs no threads.
            hold_seconds: How long what is received stays hidden, unless it is kept or given back.
        """
        self._queue = queue
        self._directory = directory
        self._url = queue_url
        self._clock = clock
        self._new_id = new_id
        self._receivers = receivers
        self._hold_seconds = hold_seconds
        self._held: dict[str, _Held] = {}
        self._taken: set[str] = set()
        self._removed: set[str] = set()
        self._spare: list[Delivery] = []
        self._lock = threading.Lock()

    @property
    def ordered(self) -> bool:
        """See `DeadLetterSource.ordered`."""
        return self._url.endswith(".fifo")

    def total(self) -> int | None:
        """See `DeadLetterSource.total`: what SQS says, approximately, hidden messages included."""
        facts = self._directory.facts(self._url)
        return facts.visible + facts.in_flight

    # --- Taking -----------------------------------------------------------------------------------------------------

    def take(self, count: int) -> Sequence[Delivery]:
        """See `DeadLetterSource.take`."""
        empty = 0
        while len(self._spare) < count and empty < EMPTY_ROUNDS:
            found = self._receive(count - len(self._spare), wait_seconds=_WAIT_SECONDS if empty else 0)
            empty = 0 if found else empty + 1
            self._spare += found
            if found and self.ordered:  # more of these groups come once these are deleted
                break
        given, self._spare = self._spare[:count], self._spare[count:]
        return given

    def _receive(self, count: int, *, wait_seconds: int) -> list[Delivery]:
        """One round of receives side by side; returns what was not taken before."""
        sizes = list(_tens(count))[: self._receivers]
        with SideBySide(self._receivers) as pool:
            answers = pool.start(lambda size: self._receive_some(size, wait_seconds), sizes, wait=True)()
        return [delivery for answer in answers for delivery in answer]

    def _receive_some(self, count: int, wait_seconds: int) -> list[Delivery]:
        began = self._clock.now()
        return self._hold(self._answered(count, wait_seconds), began)

    def _answered(self, count: int, wait_seconds: int) -> list[Delivery]:
        attempt = self._new_id() if self.ordered else None
        for tries_left in reversed(range(_TRIES)):
            try:
                return self._queue.receive_batch(
                    self._url,
                    count=count,
                    wait_seconds=wait_seconds,
                    visibility_seconds=self._hold_seconds,
                    attempt_id=attempt,
                )
            except Unavailable:
                if not tries_left:
                    raise
                self._clock.sleep(_RETRY_SECONDS)
        return []

    def _hold(self, received: Sequence[Delivery], began: float) -> list[Delivery]:
        """Note what is hidden now. What was seen before, and came again, is held anew but not given out again."""
        with self._lock:
            gone = [one.receipt_handle for one in received if one.sqs_message_id in self._removed]
            fresh = []
            for one in received:
                if one.sqs_message_id in self._removed:  # SQS delivers once more, now and then, what was deleted
                    continue
                self._held[one.sqs_message_id] = _Held(one, began, began + self._hold_seconds)
                if one.sqs_message_id not in self._taken:
                    self._taken.add(one.sqs_message_id)
                    fresh.append(one)
        if gone:
            self._queue.delete_batch(self._url, gone)
        return fresh

    # --- What is held -----------------------------------------------------------------------------------------------

    def keep(self) -> None:
        """See `DeadLetterSource.keep`: hides anew what was hidden for half of its time."""
        now = self._clock.now()
        with self._lock:
            due = [one for one in self._held.values() if one.until - now < self._hold_seconds / 2]
            due = [one for one in due if now - one.since < _LAST_CALL]  # SQS hides for 12 hours in all
        if not due:
            return
        self._change([one.delivery for one in due], self._hold_seconds)
        with self._lock:
            for one in due:
                one.until = now + self._hold_seconds

    def remove(self, taken: Sequence[Delivery]) -> set[str]:
        """See `DeadLetterSource.remove`."""
        with self._lock:
            handles = {self._handle(one): one.sqs_message_id for one in taken}
        refused = {handles[handle] for handle in self._queue.delete_batch(self._url, list(handles))}
        with self._lock:
            for identity in handles.values():
                if identity not in refused:
                    self._held.pop(identity, None)
                    self._removed.add(identity)
        return refused

    def give_back(self) -> set[str]:
        """See `DeadLetterSource.give_back`: makes visible again what is hidden still.

        On a FIFO queue the last comes first: a group's messages can be received only once its head is free.
        """
        now = self._clock.now()
        with self._lock:
            held = [one.delivery for one in self._held.values() if one.until > now]
        refused = self._change(held[::-1] if self.ordered else held, 0)
        with self._lock:
            self._held.clear()  # only now: an interrupt before makes the caller begin again
        return refused

    def _handle(self, delivery: Delivery) -> str:
        held = self._held.get(delivery.sqs_message_id)
        return delivery.receipt_handle if held is None else held.delivery.receipt_handle

    def _change(self, deliveries: Sequence[Delivery], seconds: int) -> set[str]:
        """Change the visibility of messages, in calls of ten; side by side where order means nothing."""
        identities = {one.receipt_handle: one.sqs_message_id for one in deliveries}
        tens = [
            [VisibilityChange(one.receipt_handle, seconds) for one in deliveries[start : start + 10]]
            for start in range(0, len(deliveries), contract.SQS_MAX_BATCH_ENTRIES)
        ]
        with SideBySide(1 if self.ordered else self._receivers) as pool:
            refused = pool.start(self._change_ten, tens, wait=True)()
        return {identities[change.receipt_handle] for ten in refused for change in ten}

    def _change_ten(self, changes: Sequence[VisibilityChange]) -> list[VisibilityChange]:
        return self._queue.change_visibility(self._url, changes)


def _tens(count: int) -> Iterator[int]:
    while count > 0:
        yield min(count, contract.SQS_MAX_BATCH_ENTRIES)
        count -= contract.SQS_MAX_BATCH_ENTRIES
