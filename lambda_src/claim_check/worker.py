"""The consumer outside Lambda: a process that polls, keeps what it works on, and stops in order (R4.10).

Four kinds of thread: one receives (`claim_check.polling`), one per lane handles (`claim_check.lanes`), one beats
(`claim_check.heartbeat`), one tells the queue what became of each message (`claim_check.settling`). All are daemons:
a handler that never returns cannot keep the process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final

from claim_check import contract
from claim_check.consumer import behind
from claim_check.contract import Metric
from claim_check.deadline import Deadline
from claim_check.errors import InvalidSetting, LostLease, Unavailable, WorkerStopped
from claim_check.heartbeat import BEATS, Heartbeat
from claim_check.lanes import Lane, Lanes
from claim_check.polling import Poller
from claim_check.processor import Outcome
from claim_check.record import Batch, Record
from claim_check.settling import Settler

if TYPE_CHECKING:
    from claim_check.consumer import Consumer
    from claim_check.delivery import Delivery
    from claim_check.ports import Clock, ReceivingQueue, Telemetry

DEFAULT_CONCURRENCY: Final = 10
MIN_VISIBILITY_SECONDS: Final = 2
MAX_VISIBILITY_SECONDS: Final = 3600

LINGER_SECONDS: Final = 0.1
LET_GO_SECONDS: Final = 1.0
"""After the grace, deadlines are closed: time for handlers to notice."""

RELEASE_SECONDS: Final = 1.0
"""After that, the leases of what still runs are given back: time for it."""

POLL_SECONDS: Final = 1.0
"""What is handed back may come again to a poll of our own that is still under way: time for it to end."""

SETTLE_SECONDS: Final = 1.0
"""Time for the last deletes and visibility changes. The sum, with the grace, stays below ten seconds (R4.10)."""

_RELEASED: Final = Outcome(Metric.DEFERRED, hide_seconds=0)
_UNEXPECTED: Final = Outcome(Metric.RETRIED)


class Worker:
    """Polls a queue and takes its messages through a consumer's protocol, side by side."""

    def __init__(
        self,
        consumer: Consumer,
        queue: ReceivingQueue,
        *,
        clock: Clock,
        telemetry: Telemetry,
        random: Callable[[], float],
        new_id: Callable[[], str],
        concurrency: int = DEFAULT_CONCURRENCY,
        visibility_seconds: int = contract.WORKER_VISIBILITY_SECONDS,
        time_limit_seconds: float | None = None,
        grace_seconds: float = contract.WORKER_GRACE_SECONDS,
        linger_seconds: float = LINGER_SECONDS,
        alive: Callable[[], object] | None = None,
        pause: Callable[[threading.Event, float], object] = threading.Event.wait,
    ) -> None:
        """Wire a worker.

        Args:
            consumer: Takes single messages through the protocol; its queue is the worker's.
            queue: Receives, deletes and hides.
            clock: Time.
            telemetry: Logs and metrics.
            random: Numbers in [0, 1) for jitter.
            new_id: Makes the ids of receives on FIFO, never the same twice.
            concurrency: Lanes side by side: messages on a standard queue, message groups on FIFO.
            visibility_seconds: How long a message stays hidden, and its lease lasts, after its worker vanished; 2 to
                3600. A heartbeat extends both, three times in that time; by its receive alone a message is hidden for
                20 at most.
            time_limit_seconds: How long a handler may take; by default, and at most, what SQS allows: 12 hours from
                the receive, less twice the visibility.
            grace_seconds: How long running handlers may go on when the worker is asked to stop; 5 at most, so that
                the whole stop takes less than 10.
            linger_seconds: How long a delete waits for others to share its call.
            alive: Called while receives succeed, and while all lanes are busy within their time: for a health file.
            pause: Waits for the event of the stop, so many seconds at most.

        Raises:
            InvalidSetting: A number is out of its range.
        """
        _check("concurrency", concurrency, 1, 1000)
        _check("visibility_seconds", visibility_seconds, MIN_VISIBILITY_SECONDS, MAX_VISIBILITY_SECONDS)
        _check("grace_seconds", grace_seconds, 0, contract.WORKER_GRACE_SECONDS)
        self._longest = contract.SQS_MAX_VISIBILITY_SECONDS - 2 * visibility_seconds
        self._time_limit = self._longest if time_limit_seconds is None else time_limit_seconds
        _check("time_limit_seconds", self._time_limit, 1, self._longest)
        self._consumer = consumer
        self._clock = clock
        self._telemetry = telemetry
        self._concurrency = concurrency
        self._visibility = visibility_seconds
        self._grace = grace_seconds
        self._alive = alive or (lambda: None)
        self._pause = pause
        url = consumer.queue_url
        self._heartbeat = Heartbeat(queue, queue_url=url, seconds=visibility_seconds, clock=clock, telemetry=telemetry)
        self._poller = Poller(
            queue,
            queue_url=url,
            visibility_seconds=self._heartbeat.received_seconds,
            clock=clock,
            random=random,
            new_id=new_id,
            telemetry=telemetry,
        )
        self._settler = Settler(
            queue,
            queue_url=url,
            linger_seconds=linger_seconds,
            pause=lambda seconds: pause(self._stopping, seconds),
            telemetry=telemetry,
        )
        self._lanes = Lanes(concurrency)
        self._asked: SimpleQueue[BaseException | None] = SimpleQueue()
        self._stopping = threading.Event()
        self._ended = threading.Event()

    # --- Running ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Work until `stop` is called; then stop in order, within ten seconds.

        What runs may finish within the grace. What was not started is handed back at once, what does not finish in
        time afterwards: visible to others, without the cost of an attempt, and unable to commit any more.

        Raises:
            ReceiveRefused: The queue refused the first receive.
            BaseException: A handler asked the process to end (`SystemExit`, `KeyboardInterrupt`): nothing was told to
                the queue.
        """
        self._say("worker started")
        receiver = self._start("receiver", self._receive)
        settler = self._start("settler", self._settler.run)
        self._start("heartbeat", self._beat)
        for number in range(self._concurrency):
            self._start(f"lane-{number}", self._work)
        error = self._asked.get()
        self._stopping.set()
        if error is None:
            self._say("worker is asked to stop")
            self._wind_up(receiver, settler)
            error = self._failure()
        self._ended.set()
        self._lanes.close()
        self._telemetry.flush()
        if error is not None:
            raise error
        self._say("worker stopped")

    def stop(self) -> None:
        """Ask `run` to stop; safe in signal handlers, returns at once."""
        self._asked.put(None)

    def beat(self) -> None:
        """Extend what is being worked on, emit metrics, tell that the worker is alive; called by its own thread."""
        self._heartbeat.beat()
        self._telemetry.flush()
        if self._lanes.full and any(record.deadline.remaining() > 0 for record in self._lanes.at_work()):
            self._alive()

    def _failure(self) -> BaseException | None:
        """What ended one of the threads while the worker stopped, if anything did."""
        while not self._asked.empty():
            if (error := self._asked.get()) is not None:
                return error
        return None

    def _start(self, name: str, target: Callable[[], None]) -> threading.Thread:
        def run() -> None:
            try:
                target()
            except BaseException as error:  # noqa: BLE001 - handed to the thread that called `run`
                self._asked.put(error)
                self._lanes.abandon()

        thread = threading.Thread(target=run, name=name, daemon=True)
        thread.start()
        return thread

    def _beat(self) -> None:
        while not self._ended.wait(self._heartbeat.received_seconds / BEATS / 2):
            try:
                self.beat()
            except Exception as error:  # noqa: BLE001 - the next beat may do better; until then leases only grow older
                self._unexpected(error)

    # --- Receiving --------------------------------------------------------------------------------------------------

    def _receive(self) -> None:
        while room := self._lanes.wait_for_room():
            if seconds := self._poller.pause_seconds():
                self._pause(self._stopping, seconds)
            if self._stopping.is_set():
                return
            deliveries = self._poller.receive(room)
            if deliveries is not None:
                self._alive()
                self._admit(deliveries)

    def _admit(self, deliveries: Sequence[Delivery]) -> None:
        batch = Batch(len(deliveries))
        try:
            records = [self._record(delivery, batch) for delivery in deliveries]
        except Exception as error:  # noqa: BLE001 - not one of them was started: they come again
            self._unexpected(error)
            return
        self._heartbeat.add(records)
        if not self._lanes.admit((self._consumer.lane_of(record.reading), record) for record in records):
            self._settle(records, _RELEASED)

    def _record(self, delivery: Delivery, batch: Batch) -> Record:
        return Record(self._consumer.read(delivery), Deadline(self._clock, self._longest), batch)

    # --- Handling ---------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        while (lane := self._lanes.take()) is not None:
            self._run_lane(lane)

    def _run_lane(self, lane: Lane) -> None:
        while (record := self._lanes.advance(lane)) is not None:
            outcome = self._process(record, alone=lane.alone)
            if outcome.set_aside:
                self._settle(self._lanes.set_aside(lane), _RELEASED)
                return
            stops = self._consumer.fifo and not outcome.acknowledged
            followers = self._lanes.drop_waiting(lane) if stops else []
            self._settle([record], outcome)
            self._settle(followers, behind(outcome))

    def _process(self, record: Record, *, alone: bool) -> Outcome:
        record.deadline.shorten(self._time_limit)
        try:
            return self._consumer.process(
                record.reading,
                deadline=record.deadline,
                lease_seconds=self._visibility,
                alone=alone,
                watch=record.begin,
            )
        except Exception as error:  # noqa: BLE001 - a mistake of ours: the message comes again when its visibility ends
            self._unexpected(error)
            return _UNEXPECTED

    def _settle(self, records: Sequence[Record], outcome: Outcome) -> None:
        """Tell the queue what becomes of records; only the first outcome of a record counts."""
        first = [record for record in records if record.settle()]
        self._heartbeat.remove(first)
        for record in first:
            if outcome.name is not None:
                self._telemetry.count(outcome.name)
            if outcome.acknowledged:
                self._settler.delete(record.receipt_handle)
            elif outcome.hide_seconds is not None:
                self._settler.hide(record.receipt_handle, 0 if record.deadline.stopped else outcome.hide_seconds)
            if (infrastructure := record.batch.add(outcome)) is not None:
                self._poller.judge(infrastructure=infrastructure)

    # --- Stopping ---------------------------------------------------------------------------------------------------

    def _wind_up(self, receiver: threading.Thread, settler: threading.Thread) -> None:
        until = time.monotonic() + self._grace
        self._settle(self._lanes.close(), _RELEASED)
        self._lanes.wait_until_idle(until - time.monotonic())
        _join([receiver], until)  # what a poll under way still brings is handed back
        for record in self._lanes.at_work():
            record.deadline.stop()
        if not self._lanes.wait_until_idle(LET_GO_SECONDS):
            self._ended.set()
            releases = [self._start("release", partial(self._release, record)) for record in self._lanes.at_work()]
            _join(releases, time.monotonic() + RELEASE_SECONDS)
        _join([receiver], time.monotonic() + POLL_SECONDS)
        self._settler.close()
        _join([settler], time.monotonic() + SETTLE_SECONDS)

    def _release(self, record: Record) -> None:
        """Give back what does not end: its handler may go on, but cannot commit."""
        try:
            if record.hold is not None and record.hold.hand_back(WorkerStopped("the worker was asked to stop")):
                self._settle([record], Outcome(Metric.PROCESSED, acknowledged=True))
            else:
                self._settle([record], _RELEASED)
        except LostLease:
            self._settle([record], Outcome(None))
        except Unavailable:  # its lease and its visibility run out soon
            self._settle([record], _UNEXPECTED)

    def _say(self, what: str) -> None:
        self._telemetry.log("info", what, queue=self._consumer.queue_url.rpartition("/")[2])

    def _unexpected(self, error: Exception) -> None:
        self._telemetry.log("error", "unexpected failure", errorType=type(error).__qualname__)


def _join(threads: Sequence[threading.Thread], until: float) -> None:
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))


def _check(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise InvalidSetting(f"{name} = {value}: a number from {least:g} to {most:g} is needed")
