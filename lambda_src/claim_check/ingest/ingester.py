"""`S3Ingester`: batches of notifications, from SQS's record to its answer (R10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from claim_check.consumer import BatchConsumer
from claim_check.contract import DEFAULT_BACKOFF, DEFAULT_MAX_ATTEMPTS, Backoff, ErrorCode, Metric
from claim_check.errors import (
    ConsumeError,
    InvalidNotification,
    PublishError,
    Unavailable,
    UntrustedReference,
)
from claim_check.ingest.applying import Applier, ApplyDelete, ApplyPut, Busy, IngestRules
from claim_check.ingest.changes import ObjectEvent, OtherEvent
from claim_check.ingest.notifications import Parsed, parse
from claim_check.processor import LIBRARY_ERRORS, Outcome, Reason, Watch, place_of, unwatched

if TYPE_CHECKING:
    from claim_check.deadline import Deadline
    from claim_check.delivery import Delivery
    from claim_check.ingest.ports import LedgerTable, ObjectSource
    from claim_check.parking import ParkingLot
    from claim_check.permits import Permits
    from claim_check.ports import Clock, MessageQueue, Telemetry

SUSPECT_RECEIVES: Final = 3
"""A message received more often than this runs alone: it may be what ends the process."""

START_SECONDS: Final = 1.0
"""Time that must be left for an event to be started."""

_OWN_ERRORS: Final = LIBRARY_ERRORS | {Busy}


@dataclass(frozen=True, slots=True)
class Notification:
    """A received message, decoded as far as it could be.

    Attributes:
        delivery: The message.
        records: Its records, in order; or why it is no notification.
    """

    delivery: Delivery
    records: Sequence[Parsed]

    @property
    def identity(self) -> str:
        """Messages about one object are handled one after the other."""
        first = next((record for record in self.records if isinstance(record, ObjectEvent)), None)
        return f"#{self.delivery.sqs_message_id}" if first is None else f"{first.bucket}/{first.key.text}"


class S3Ingester(BatchConsumer[Notification]):
    """Handles batches of S3's notifications.

    Attributes:
        queue_url: The queue the messages come from.
        fifo: Whether it is a FIFO queue; its groups keep their order, and stop behind a failure.
    """

    def __init__(
        self,
        apply_put: ApplyPut,
        apply_delete: ApplyDelete,
        *,
        rules: IngestRules,
        ledger: LedgerTable,
        objects: ObjectSource,
        queue: MessageQueue,
        queue_url: str,
        parking: ParkingLot | None,
        permits: Permits,
        concurrency: int,
        clock: Clock,
        random: Callable[[], float],
        new_token: Callable[[], str],
        telemetry: Telemetry,
        max_attempts: int = DEFAULT_MAX_ATTEMPTS,
        visibility_seconds: int = 0,
        backoff: Backoff = DEFAULT_BACKOFF,
    ) -> None:
        """Wire an ingester.

        Args:
            apply_put: Applies a created or overwritten object.
            apply_delete: Applies a removed object.
            rules: What is accepted, and how the ledger is kept.
            ledger: What was applied.
            objects: Where the objects are.
            queue: Hides messages that come back later.
            queue_url: The queue of the notifications; ``.fifo`` at its end makes lanes of message groups.
            parking: The DLQ; None where nothing may be parked.
            permits: Memory and temporary storage.
            concurrency: Messages side by side.
            clock: Time.
            random: Numbers in [0, 1) for jitter.
            new_token: Makes revisions, up to 36 characters, never the same twice.
            telemetry: Logs and metrics.
            max_attempts: Failures of a handler before its message is parked.
            visibility_seconds: The queue's visibility timeout; 0 if it is not known.
            backoff: Delays between attempts.
        """
        applier = Applier(
            apply_put,
            apply_delete,
            rules=rules,
            ledger=ledger,
            objects=objects,
            clock=clock,
            random=random,
            new_token=new_token,
            telemetry=telemetry,
        )
        processor = _Processor(
            applier,
            rules=rules,
            ledger=ledger,
            parking=parking,
            permits=permits,
            max_attempts=max_attempts,
            backoff=backoff,
            clock=clock,
            random=random,
            telemetry=telemetry,
        )
        super().__init__(
            processor,
            queue,
            queue_url=queue_url,
            concurrency=concurrency,
            visibility_seconds=visibility_seconds,
            clock=clock,
            telemetry=telemetry,
        )


class _Processor:
    """`claim_check.consumer.MessageProcessor` of notifications."""

    def __init__(
        self,
        applier: Applier,
        *,
        rules: IngestRules,
        ledger: LedgerTable,
        parking: ParkingLot | None,
        permits: Permits,
        max_attempts: int,
        backoff: Backoff,
        clock: Clock,
        random: Callable[[], float],
        telemetry: Telemetry,
    ) -> None:
        self._applier = applier
        self._rules = rules
        self._ledger = ledger
        self._parking = parking
        self._permits = permits
        self._max_attempts = max_attempts
        self._backoff = backoff
        self._clock = clock
        self._random = random
        self._telemetry = telemetry

    def read(self, delivery: Delivery) -> Notification:
        """Decode a message; whose bucket it speaks of is looked at here, too."""
        try:
            records = parse(delivery.body)
        except InvalidNotification as error:
            records = [error]
        return Notification(delivery, records)

    def process(
        self,
        reading: Notification,
        *,
        deadline: Deadline,
        lease_seconds: float,  # noqa: ARG002 - the ledger needs no lease: its condition is the fence
        alone: bool,
        watch: Watch = unwatched,  # noqa: ARG002 - likewise
    ) -> Outcome:
        """Apply all events of a message. What fails does not keep the others from being applied."""
        delivery = reading.delivery
        if delivery.receive_count > SUSPECT_RECEIVES and not alone:
            return Outcome(None, set_aside=True)
        outcomes: list[str | None] = []
        errors: list[tuple[Parsed, Exception]] = []
        for record in reading.records:
            if deadline.remaining() < START_SECONDS:
                return Outcome(Metric.DEFERRED, hide_seconds=1)
            try:
                outcomes.append(self._handle(record, deadline))
            except Exception as error:  # noqa: BLE001 - the boundary: whatever a handler raises becomes an outcome
                errors.append((record, error))
        if errors:
            return self._failed(delivery, errors)
        return Outcome(_summary(outcomes), acknowledged=True)

    def _handle(self, record: Parsed, deadline: Deadline) -> str | None:
        """Handle a record; what is returned names the metric that counts it."""
        if isinstance(record, Exception):
            raise record
        if isinstance(record, OtherEvent):
            return self._other(record)
        if record.bucket != self._rules.bucket:
            raise UntrustedReference("bucket: not this ingester's")
        with self._permits.hold(record.size or 0, deadline) as granted:
            if not granted:
                raise Unavailable("no memory or temporary storage was free in time")
            return self._applier.apply(record, deadline)

    def _other(self, event: OtherEvent) -> str:
        metric = Metric.INGEST_IGNORED if event.known else Metric.INGEST_UNKNOWN
        self._telemetry.count(metric)
        if not event.known:
            self._telemetry.log("warning", "an event of an unknown kind was acknowledged", eventType=event.kind)
        return metric

    # --- Ends -------------------------------------------------------------------------------------------------------

    def _failed(self, delivery: Delivery, errors: Sequence[tuple[Parsed, Exception]]) -> Outcome:
        """One answer for the message: what time may mend is tried again before anything is parked."""
        for record, error in errors:
            self._log(delivery, record, error)
        infrastructure = [error for _, error in errors if isinstance(error, ConsumeError) and error.refunded]
        if infrastructure:
            return self._later(delivery.receive_count, infrastructure=len(infrastructure) == len(errors))
        passing = [error for _, error in errors if not (isinstance(error, ConsumeError) and error.permanent)]
        error = (passing or [error for _, error in errors])[0]
        return self._retried(delivery, error) if passing else self._park(delivery, error, attempts=1)

    def _retried(self, delivery: Delivery, error: Exception) -> Outcome:
        """Count the failure; a message that failed often enough is parked."""
        expires = int(self._clock.now()) + self._rules.tombstone_seconds
        try:
            failures = self._ledger.failed(delivery.sqs_message_id, expires_at=expires)
        except Unavailable:
            return self._later(delivery.receive_count, infrastructure=True)
        limit = getattr(error, "attempt_limit", None) or self._max_attempts
        if failures >= min(limit, self._max_attempts):
            return self._park(delivery, error, attempts=failures)
        return self._later(failures)

    def _park(self, delivery: Delivery, error: Exception, *, attempts: int) -> Outcome:
        if self._parking is None:
            self._telemetry.count(Metric.GROUP_BLOCKED)
            return self._later(delivery.receive_count)
        try:
            self._parking.send(delivery, code=_reason(error).code, attempts=attempts, now=self._clock.now())
        except (Unavailable, PublishError) as refused:
            unavailable = isinstance(refused, Unavailable)
            self._telemetry.log("error", str(refused), errorCode=ErrorCode.UNAVAILABLE if unavailable else None)
            return self._later(delivery.receive_count, infrastructure=unavailable)
        return Outcome(Metric.PARKED, acknowledged=True)

    def _later(self, failures: int, *, infrastructure: bool = False) -> Outcome:
        delay = self._backoff.delay(failures, self._random())
        return Outcome(Metric.RETRIED, hide_seconds=delay, infrastructure=infrastructure)

    def _log(self, delivery: Delivery, record: Parsed, error: Exception) -> None:
        reason = _reason(error)
        self._telemetry.count(reason.code)
        self._telemetry.log(
            "error",
            reason.text,
            errorCode=reason.code,
            queue=delivery.queue,
            sqsMessageId=delivery.sqs_message_id,
            receiveCount=delivery.receive_count,
            **(_fields(record) if isinstance(record, ObjectEvent) else {}),
        )


def _fields(event: ObjectEvent) -> dict[str, str | float | None]:
    return {
        "payloadBucket": event.bucket,
        "payloadKeyHash": event.key.hash,
        "payloadSizeBytes": event.size,
        "eventType": event.kind,
    }


def _reason(error: Exception) -> Reason:
    code = error.code if isinstance(error, ConsumeError) else ErrorCode.HANDLER_FAILED
    return Reason(code, str(error) if type(error) in _OWN_ERRORS else place_of(error))


def _summary(outcomes: Sequence[str | None]) -> str | None:
    """The message as a whole: processed if any event had an effect; each event has been counted by itself."""
    effects = {Metric.INGESTED_PUTS, Metric.INGESTED_DELETES}
    return Metric.PROCESSED if effects & set(outcomes) else None
