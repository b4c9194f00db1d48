"""Who runs when in a worker: lanes side by side, records of one lane one after the other, suspects alone."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable

from claim_check import contract
from claim_check.record import Record


class Lane:
    """Records that run one after the other: a message group on FIFO, an identity on standard queues.

    Attributes:
        name: Its name.
        alone: Whether it runs while no other does: its first record may have killed a process.
        current: The record that is being worked on.
        waiting: Those behind it.
    """

    def __init__(self, name: str) -> None:
        """Begin without records."""
        self.name = name
        self.alone = False
        self.current: Record | None = None
        self.waiting: deque[Record] = deque()


class Lanes:
    """The lanes of a worker, at most so many at a time; each occupies one thread from `take` to `leave`.

    A lane that was set aside waits until no other runs, and nothing new starts or is received before it has ended.
    """

    def __init__(self, concurrency: int) -> None:
        """Begin without lanes."""
        self._concurrency = concurrency
        self._lanes: dict[str, Lane] = {}
        self._ready: deque[Lane] = deque()
        self._suspects: deque[Lane] = deque()
        self._running: list[Lane] = []
        self._closed = False
        lock = threading.Lock()
        self._work = threading.Condition(lock)
        self._changed = threading.Condition(lock)

    # --- The receiving side -----------------------------------------------------------------------------------------

    def wait_for_room(self) -> int:
        """Wait until something may be received; how many messages, ten at most. 0 once closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._room() > 0)
            return 0 if self._closed else min(self._room(), contract.SQS_MAX_BATCH_ENTRIES)

    @property
    def full(self) -> bool:
        """Whether nothing may be received for now."""
        with self._changed:
            return self._room() <= 0

    def admit(self, records: Iterable[tuple[str, Record]]) -> bool:
        """Line records up by the names of their lanes; False, and nothing is taken, once closed."""
        with self._changed:
            if self._closed:
                return False
            for name, record in records:
                lane = self._lanes.get(name)
                if lane is None:
                    lane = self._lanes[name] = Lane(name)
                    self._ready.append(lane)
                lane.waiting.append(record)
            self._work.notify(len(self._ready))
            return True

    # --- The threads that run lanes ---------------------------------------------------------------------------------

    def take(self) -> Lane | None:
        """Wait for a lane that may run now; None once closed."""
        with self._work:
            while not self._closed:
                lane = self._may_run()
                if lane is not None:
                    (self._suspects if lane.alone else self._ready).remove(lane)
                    self._running.append(lane)
                    return lane
                self._work.wait()
            return None

    def advance(self, lane: Lane) -> Record | None:
        """The lane's next record; None when it has none left, which ends it."""
        with self._changed:
            lane.current = lane.waiting.popleft() if lane.waiting else None
            if lane.current is None:
                del self._lanes[lane.name]
                self._leave(lane)
            return lane.current

    def set_aside(self, lane: Lane) -> list[Record]:
        """Let a lane begin again with its present record, alone. Returns its records instead once closed."""
        with self._changed:
            if lane.current is not None:
                lane.waiting.appendleft(lane.current)
            lane.current = None
            lane.alone = True
            self._suspects.append(lane)
            self._leave(lane)
            return self._drop(lane) if self._closed else []

    def drop_waiting(self, lane: Lane) -> list[Record]:
        """Take away what waits behind the present record, in order."""
        with self._changed:
            return self._drop(lane)

    # --- The end ----------------------------------------------------------------------------------------------------

    def close(self) -> list[Record]:
        """Start nothing any more. Returns everything that was not started, in the order of each lane."""
        with self._changed:
            self._closed = True
            self._work.notify_all()
            self._changed.notify_all()
            return [record for lane in self._lanes.values() for record in self._drop(lane)]

    def abandon(self) -> None:
        """Wait for nothing any more: the process ends."""
        with self._changed:
            self._closed = True
            self._running.clear()
            self._work.notify_all()
            self._changed.notify_all()

    def wait_until_idle(self, seconds: float) -> bool:
        """Wait until no lane runs; whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._running, timeout=seconds)

    def at_work(self) -> list[Record]:
        """The records that are being worked on."""
        with self._changed:
            return [lane.current for lane in self._running if lane.current is not None]

    # --- Inside -----------------------------------------------------------------------------------------------------

    def _room(self) -> int:
        alone = self._suspects or any(lane.alone for lane in self._running)
        return 0 if alone else self._concurrency - len(self._lanes)

    def _may_run(self) -> Lane | None:
        if any(lane.alone for lane in self._running):
            return None
        if self._suspects:
            return None if self._running else self._suspects[0]
        return self._ready[0] if self._ready else None

    def _leave(self, lane: Lane) -> None:
        if lane in self._running:
            self._running.remove(lane)
        self._changed.notify_all()
        if lane.alone:  # others may go on, or the next suspect
            self._work.notify_all()
        elif self._suspects and not self._running:
            self._work.notify()

    @staticmethod
    def _drop(lane: Lane) -> list[Record]:
        dropped = list(lane.waiting)
        lane.waiting.clear()
        return dropped
