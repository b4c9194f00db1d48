"""Tells the queue what became of a worker's messages: deleted, or hidden until they come again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from claim_check import contract
from claim_check.ports import VisibilityChange

if TYPE_CHECKING:
    from claim_check.ports import ReceivingQueue, Telemetry

DELETE_ROUNDS: Final = 3
"""How often a delete is tried. A message that stays comes again as a duplicate, which is acknowledged."""

FIRST_PAUSE_SECONDS: Final = 0.2


class Settler:
    """Collects what is to be told into few calls. Deletes can wait a moment, since what is done is done."""

    def __init__(
        self,
        queue: ReceivingQueue,
        *,
        queue_url: str,
        linger_seconds: float,
        pause: Callable[[float], object],
        telemetry: Telemetry,
    ) -> None:
        """Have nothing to tell.

        Args:
            queue: Whom to tell.
            queue_url: Its URL.
            linger_seconds: How long a delete waits for others to share its call.
            pause: Waits before a repetition.
            telemetry: Logs.
        """
        self._queue = queue
        self._queue_url = queue_url
        self._linger = linger_seconds
        self._pause = pause
        self._telemetry = telemetry
        self._deletes: list[str] = []
        self._changes: list[VisibilityChange] = []
        self._closed = self._telling = False
        self._changed = threading.Condition()

    def delete(self, receipt_handle: str) -> None:
        """Have a message deleted: its result is durable."""
        with self._changed:
            self._deletes.append(receipt_handle)
            self._changed.notify()

    def hide(self, receipt_handle: str, seconds: int) -> None:
        """Have a message hidden for so many seconds from now."""
        with self._changed:
            self._changes.append(VisibilityChange(receipt_handle, seconds))
            self._changed.notify()

    @property
    def idle(self) -> bool:
        """Whether everything was told."""
        with self._changed:
            return not (self._deletes or self._changes or self._telling)

    def close(self) -> None:
        """Let `run` return once everything was told."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def run(self) -> None:
        """Tell, until closed."""
        while True:
            with self._changed:
                self._telling = False
                self._changed.wait_for(lambda: self._deletes or self._changes or self._closed)
                self._changed.wait_for(self._urgent, timeout=self._linger)
                deletes, self._deletes = self._deletes, []
                changes, self._changes = self._changes, []
                self._telling = bool(deletes or changes)
            if not self._telling:
                return
            if changes:  # what is refused stays hidden as long as it was
                self._queue.change_visibility(self._queue_url, changes)
            if deletes:
                self._delete(deletes)

    def _urgent(self) -> bool:
        return bool(self._changes) or self._closed or len(self._deletes) >= contract.SQS_MAX_BATCH_ENTRIES

    def _delete(self, receipt_handles: list[str]) -> None:
        left = receipt_handles
        for number in range(DELETE_ROUNDS):
            if number:
                self._pause(FIRST_PAUSE_SECONDS * 2**number)
            left = self._queue.delete_batch(self._queue_url, left)
            if not left:
                return
        self._telemetry.log("warning", "processed messages were not deleted; they come again", failed=len(left))
