"""The consumer of an SQS batch: lanes side by side, one answer for Lambda (R4.7).

Records of one lane run one after the other: a message group on FIFO, an identity on standard queues. Lanes run side by
side. A record whose earlier attempt was never closed is set aside and runs alone at the end, so that a message that
kills its process neither takes its neighbours down nor costs them an attempt.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeAlias, TypeVar

from claim_check import contract
from claim_check.acceptance import Reading
from claim_check.contract import Metric
from claim_check.deadline import Deadline
from claim_check.delivery import Delivery, from_lambda
from claim_check.errors import InfrastructureUnavailable, MalformedBatch
from claim_check.ports import VisibilityChange
from claim_check.processor import Outcome, Watch, unwatched

if TYPE_CHECKING:
    from claim_check.ports import Clock, MessageQueue, Telemetry

STOP_SECONDS: Final = 1.0
"""Time kept at the end of an invocation for recording failures and answering."""


MUCH_LONGER: Final = 2
"""How many times longer the queue's visibility timeout must be before it is worth a call to shorten it."""


@dataclass
class _Batch:
    """One batch being worked on."""

    ends_at: float
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    deadlines: list[Deadline] = field(default_factory=list)


class ReadMessage(Protocol):
    """A received message, decoded as far as it could be."""

    @property
    def delivery(self) -> Delivery:
        """The message as received."""

    @property
    def identity(self) -> str:
        """Messages of one identity are handled one after the other."""


_Reading = TypeVar("_Reading", bound=ReadMessage)
_Lane: TypeAlias = Sequence[tuple[int, _Reading]]
"""Records, with their places in the batch, that must run one after the other."""


class MessageProcessor(Protocol[_Reading]):
    """What handles single messages. It never raises for what a message or a handler does."""

    def read(self, delivery: Delivery) -> _Reading:
        """Decode a message."""

    def process(
        self, reading: _Reading, *, deadline: Deadline, lease_seconds: float, alone: bool, watch: Watch = unwatched
    ) -> Outcome:
        """See `claim_check.processor.Processor.process`."""


class BatchConsumer(Generic[_Reading]):
    """Handles batches of SQS records with one processor.

    Attributes:
        queue_url: The queue the messages come from.
        fifo: Whether it is a FIFO queue.
    """

    def __init__(
        self,
        processor: MessageProcessor[_Reading],
        queue: MessageQueue,
        *,
        queue_url: str,
        concurrency: int,
        visibility_seconds: int = 0,
        clock: Clock,
        telemetry: Telemetry,
    ) -> None:
        """Wire a consumer.

        Args:
            processor: Takes single messages through the protocol.
            queue: Hides messages that come back later.
            queue_url: The queue the batches come from; ``.fifo`` at its end makes lanes of message groups.
            concurrency: Lanes worked on side by side.
            visibility_seconds: The queue's visibility timeout; 0 if it is not known.
            clock: Time.
            telemetry: Logs and metrics.
        """
        self.queue_url = queue_url
        self.fifo = queue_url.endswith(".fifo")
        self._processor = processor
        self._queue = queue
        self._concurrency = concurrency
        self._visibility = visibility_seconds
        self._clock = clock
        self._telemetry = telemetry

    def handle_lambda(self, event: Any, *, remaining_seconds: float) -> dict[str, list[dict[str, str]]]:  # noqa: ANN401 - whatever Lambda hands over
        """Handle the event of an SQS event source mapping with ReportBatchItemFailures.

        Args:
            event: The invocation's event.
            remaining_seconds: Until Lambda ends the process.

        Returns:
            The partial batch response.

        Raises:
            MalformedBatch: No batch of SQS records, or a record has no id to answer with; nothing was done.
            InfrastructureUnavailable: Every record failed for the infrastructure.
        """
        deliveries, strangers = _records(event)
        outcomes = self.handle(deliveries, remaining_seconds=remaining_seconds)
        failed = [
            delivery.sqs_message_id
            for delivery, outcome in zip(deliveries, outcomes, strict=True)
            if not outcome.acknowledged
        ]
        if outcomes and not strangers and all(outcome.infrastructure for outcome in outcomes):
            raise InfrastructureUnavailable(f"all {len(outcomes)} records failed for the infrastructure")
        return {"batchItemFailures": [{"itemIdentifier": name} for name in dict.fromkeys([*failed, *strangers])]}

    def handle(self, deliveries: Sequence[Delivery], *, remaining_seconds: float) -> list[Outcome]:
        """Handle received messages: one outcome each, in order. Visibility is changed, nothing is deleted.

        Args:
            deliveries: The messages.
            remaining_seconds: Until this process's time ends.
        """
        batch = _Batch(ends_at=self._clock.monotonic() + remaining_seconds)
        self._come_back_soon(deliveries, remaining_seconds)
        readings = [self.read(delivery) for delivery in deliveries]
        set_aside = self._side_by_side(self._lanes(readings), batch)
        for lane in set_aside:
            self._side_by_side([lane], batch, alone=True)
        outcomes = [batch.outcomes.get(place, _NOT_STARTED) for place in range(len(readings))]
        self._hide(deliveries, outcomes)
        for outcome in outcomes:
            if outcome.name is not None:
                self._telemetry.count(outcome.name)
        self._telemetry.flush()
        return outcomes

    # --- Single messages: what a worker outside Lambda uses, too -----------------------------------------------------

    def read(self, delivery: Delivery) -> _Reading:
        """Decode a received message, and count it and its age."""
        if delivery.sent_at:
            self._telemetry.count(Metric.MESSAGE_AGE, max(0.0, self._clock.now() - delivery.sent_at))
        self._telemetry.count(Metric.REDRIVEN if delivery.sent_back else Metric.NEW)
        return self._processor.read(delivery)

    def lane_of(self, reading: _Reading) -> str:
        """Name of the lane: its records run one after the other."""
        return (reading.delivery.group_id or "") if self.fifo else reading.identity

    def process(
        self, reading: _Reading, *, deadline: Deadline, lease_seconds: float, alone: bool, watch: Watch
    ) -> Outcome:
        """Take one message through the protocol (`claim_check.processor.Processor.process`)."""
        return self._processor.process(
            reading, deadline=deadline, lease_seconds=lease_seconds, alone=alone, watch=watch
        )

    # --- Batches ----------------------------------------------------------------------------------------------------

    def _come_back_soon(self, deliveries: Sequence[Delivery], remaining_seconds: float) -> None:
        """On FIFO, let a crash block the groups for this invocation's time only, not for the queue's own timeout."""
        seconds = math.ceil(max(0.0, remaining_seconds)) + contract.LEASE_SLACK_SECONDS
        if self.fifo and self._visibility > MUCH_LONGER * seconds:
            changes = [VisibilityChange(delivery.receipt_handle, seconds) for delivery in deliveries]
            self._queue.change_visibility(self.queue_url, changes)

    def _lanes(self, readings: Iterable[_Reading]) -> list[_Lane[_Reading]]:
        lanes: dict[str, list[tuple[int, _Reading]]] = {}
        for place, reading in enumerate(readings):
            lanes.setdefault(self.lane_of(reading), []).append((place, reading))
        return list(lanes.values())

    def _side_by_side(
        self, lanes: Sequence[_Lane[_Reading]], batch: _Batch, *, alone: bool = False
    ) -> list[_Lane[_Reading]]:
        """Run lanes until all have ended or time is up. Returns what was set aside.

        Threads cannot be killed: what has not returned by then finds its stream and its transaction closed.
        """
        if not lanes:
            return []
        pool = ThreadPoolExecutor(max_workers=min(self._concurrency, len(lanes)), thread_name_prefix="lane")
        try:
            running = [pool.submit(self._run_lane, lane, batch, alone=alone) for lane in lanes]
            patience = batch.ends_at - STOP_SECONDS / 2 - self._clock.monotonic()
            done, late = wait(running, timeout=max(0.0, patience))
            if late:
                for deadline in batch.deadlines:
                    deadline.close()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return [lane for future in running if future in done for lane in self._set_aside(future)]

    def _set_aside(self, future: Future[_Lane[_Reading] | None]) -> list[_Lane[_Reading]]:
        error = future.exception()
        if error is None:
            lane = future.result()
            return [lane] if lane is not None else []
        if not isinstance(error, Exception):  # the process itself is asked to end: answer nothing
            raise error
        self._telemetry.log("error", "unexpected failure", errorType=type(error).__qualname__)
        return []

    def _run_lane(self, lane: _Lane[_Reading], batch: _Batch, *, alone: bool) -> _Lane[_Reading] | None:
        """Run a lane; returns what is left of it from a suspect on."""
        batch.outcomes.update({place: _UNFINISHED for place, _ in lane})
        for number, (place, reading) in enumerate(lane):
            outcome = self._run(reading, batch, alone=alone)
            if outcome.set_aside:
                batch.outcomes.update({later: _NOT_STARTED for later, _ in lane[number:]})
                return lane[number:]
            batch.outcomes[place] = outcome
            if self.fifo and not outcome.acknowledged:
                batch.outcomes.update({later: behind(outcome) for later, _ in lane[number + 1 :]})
                return None
        return None

    def _run(self, reading: _Reading, batch: _Batch, *, alone: bool) -> Outcome:
        left = batch.ends_at - self._clock.monotonic()
        deadline = Deadline(self._clock, left - STOP_SECONDS)
        batch.deadlines.append(deadline)
        lease_seconds = max(0.0, left) + contract.LEASE_SLACK_SECONDS
        return self._processor.process(reading, deadline=deadline, lease_seconds=lease_seconds, alone=alone)

    def _hide(self, deliveries: Sequence[Delivery], outcomes: Sequence[Outcome]) -> None:
        """Hide what comes back later; what SQS refuses keeps the queue's own visibility."""
        changes = [
            VisibilityChange(delivery.receipt_handle, outcome.hide_seconds)
            for delivery, outcome in zip(deliveries, outcomes, strict=True)
            if outcome.hide_seconds is not None
        ]
        if changes:
            self._queue.change_visibility(self.queue_url, changes)


class Consumer(BatchConsumer[Reading]):
    """Handles batches of claim-check messages with one handler."""


def behind(outcome: Outcome) -> Outcome:
    """What becomes of the records behind one that failed, where order matters.

    The head comes first again, so what follows goes back untouched, hidden for just as long.
    """
    return Outcome(Metric.DEFERRED, hide_seconds=outcome.hide_seconds, infrastructure=outcome.infrastructure)


_NOT_STARTED: Final = Outcome(Metric.DEFERRED, hide_seconds=1)
"""Its turn never came: it holds no lease and has cost nothing."""

_UNFINISHED: Final = Outcome(Metric.RETRIED)
"""Still running when time was up, or behind one that was: its lease, if it has one, ends soon."""


def _records(event: Any) -> tuple[list[Delivery], list[str]]:  # noqa: ANN401 - whatever Lambda hands over
    """The deliveries of an event, and the ids of records that are no SQS messages: those are never acknowledged."""
    records = event.get("Records") if isinstance(event, Mapping) else None
    if not isinstance(records, list):
        raise MalformedBatch("the event has no list of Records: invoke this function by an SQS event source mapping")
    deliveries, strangers = [], []
    for place, record in enumerate(records):
        delivery = from_lambda(record)
        if delivery is not None:
            deliveries.append(delivery)
            continue
        name = record.get("messageId") if isinstance(record, Mapping) else None
        if not isinstance(name, str) or not name:
            raise MalformedBatch(f"record {place} has no messageId, so no answer could name it; nothing was done")
        strangers.append(name)
    if records and not deliveries:
        raise MalformedBatch("no record has eventSource aws:sqs: invoke this function by an SQS event source mapping")
    return deliveries, strangers
