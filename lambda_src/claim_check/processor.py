"""One message through the consumer's protocol: gate, fetch, handle, verify, commit (DESIGN section 3).

Nothing here raises for what a message or a handler does: every way ends in an `Outcome`.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from claim_check import contract, errors
from claim_check.acceptance import Acceptance, Reading
from claim_check.contract import ErrorCode, Metric
from claim_check.envelope import Envelope
from claim_check.errors import (
    ConsumeError,
    LostLease,
    PermanentError,
    PublishError,
    Unavailable,
)
from claim_check.expectation import check_expected
from claim_check.inbox import Hold, Lease, Standing, Verdict, last_reason
from claim_check.message import Message
from claim_check.payload_reader import PayloadReader
from claim_check.telemetry import message_fields
from claim_check.transaction import Transaction
from claim_check.verified_stream import VerifiedStream

if TYPE_CHECKING:
    from claim_check.consumer_rules import ConsumerRules
    from claim_check.deadline import Deadline
    from claim_check.delivery import Delivery
    from claim_check.inbox import Inbox
    from claim_check.parking import ParkingLot
    from claim_check.permits import Permits
    from claim_check.ports import Clock, InboxRow, ObjectStore, Telemetry

Handler: TypeAlias = Callable[[Message, Transaction], object]
Watch: TypeAlias = Callable[[Hold], object]
"""Told about the lease of a message before its attempt starts, so that a heartbeat can extend it; may refuse it."""


def unwatched(_: Hold) -> None:
    """In Lambda a lease lasts as long as the invocation can."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a message failed: a code of R4.5 and a text that may be logged."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Task:
    """One message being worked on.

    Attributes:
        delivery: The message as received.
        envelope: The message decoded; None if nobody can read it.
        deadline: When the handler must stop.
        lease_seconds: How long a lease lasts: past the end of this process's time, unless it is extended.
        watch: Told about the lease.
    """

    delivery: Delivery
    envelope: Envelope | None
    deadline: Deadline
    lease_seconds: float
    watch: Watch = unwatched


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of a received message.

    Attributes:
        name: The metric that counts it; None counts nothing.
        acknowledged: It may be deleted.
        hide_seconds: How long it stays hidden; None leaves what the queue says.
        infrastructure: It failed for the infrastructure.
        set_aside: It is suspected of having killed a process: to be handled again in this batch, alone.
    """

    name: str | None
    acknowledged: bool = False
    hide_seconds: int | None = None
    infrastructure: bool = False
    set_aside: bool = False


class _CommitUnavailable(errors.CommitFailed):
    """Conflicts or throttles until the deadline: the infrastructure's, so the attempt is refunded."""

    refunded = True


LIBRARY_ERRORS: Final = frozenset(
    value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, ConsumeError)
) - {ConsumeError, PermanentError, errors.HandlerFailed} | {_CommitUnavailable, errors.TransactionLimit}
"""Types whose texts are our own; a handler's texts may hold what no log or table should (R11.4)."""


class Processor:
    """Takes single messages through the protocol."""

    def __init__(
        self,
        handler: Handler,
        *,
        rules: ConsumerRules,
        inbox: Inbox,
        objects: ObjectStore,
        parking: ParkingLot | None,
        permits: Permits,
        clock: Clock,
        random: Callable[[], float],
        telemetry: Telemetry,
    ) -> None:
        """Wire a processor.

        Args:
            handler: Called with the message and the transaction.
            rules: What is accepted.
            inbox: The consumer's inbox.
            objects: Where payloads are.
            parking: The DLQ; None where nothing may be parked (a FIFO queue whose poison blocks its group).
            permits: Memory and temporary storage.
            clock: Time.
            random: Numbers in [0, 1) for jitter.
            telemetry: Logs and metrics.
        """
        self._handler = handler
        self._rules = rules
        self._inbox = inbox
        self._payloads = PayloadReader(
            rules,
            objects,
            access=permits.budget.access,
            life_seconds=inbox.ttl_seconds,
            clock=clock,
            telemetry=telemetry,
        )
        self._acceptance = Acceptance(rules, ttl_seconds=inbox.ttl_seconds, clock=clock, telemetry=telemetry)
        self._parking = parking
        self._permits = permits
        self._clock = clock
        self._random = random
        self._telemetry = telemetry

    def read(self, delivery: Delivery) -> Reading:
        """Decode a message and check all that needs no look at the inbox."""
        return self._acceptance.read(delivery)

    # --- Processing -----------------------------------------------------------------------------------------------

    def process(
        self,
        reading: Reading,
        *,
        deadline: Deadline,
        lease_seconds: float,
        alone: bool,
        watch: Watch = unwatched,
    ) -> Outcome:
        """Take one message through the protocol.

        Args:
            reading: The message.
            deadline: When the handler must stop.
            lease_seconds: How long the lease lasts: past the end of this process's time, unless it is extended.
            alone: Whether nothing else runs beside it; a suspect runs only alone.
            watch: Told about the lease once the attempt starts.
        """
        delivery, content = reading.delivery, reading.content
        if isinstance(content, PermanentError):
            return self._park_unclaimed(Task(delivery, reading.decoded, deadline, lease_seconds), content)
        task = Task(delivery, content, deadline, lease_seconds, watch)
        with self._permits.hold(content.payload.content_length, deadline) as granted:
            if not granted or deadline.remaining() < self._rules.start_seconds:
                return Outcome(Metric.DEFERRED, hide_seconds=1)
            return self._gated(task, content, alone=alone)

    def _gated(self, task: Task, envelope: Envelope, *, alone: bool) -> Outcome:
        try:
            gate = self._inbox.gate(envelope, task.delivery, lease_seconds=task.lease_seconds)
        except Unavailable as error:
            self._log_error(task, Reason(error.code, str(error)))
            return self._later(task.delivery.receive_count, infrastructure=True)
        if isinstance(gate, Standing):
            return self._stand(gate, task)
        if gate.suspect and not alone:
            return self._set_aside(gate, task)
        return self._attempt(gate, task, envelope)

    def _stand(self, standing: Standing, task: Task) -> Outcome:  # noqa: PLR0911 - one arrow of the protocol each
        row = standing.row
        match standing.verdict:
            case Verdict.DONE:
                return Outcome(Metric.PROCESSED, acknowledged=True)
            case Verdict.DUPLICATE:
                return Outcome(Metric.DUPLICATE, acknowledged=True)
            case Verdict.PARKED:
                return Outcome(None, acknowledged=True)
            case Verdict.CONFLICT:
                text = "idempotencyKey: known with other content, event type or event version"
                return self._park_unclaimed(task, errors.Conflict(text))
            case Verdict.WAIT:
                return Outcome(Metric.DEFERRED, hide_seconds=self._until(row.lease_until))
            case Verdict.FINISH_PARKING if self._parking is None:
                return self._reopen(row, task)
            case Verdict.FINISH_PARKING:
                return self._park(row, task, Reason(row.last_code or "", row.last_message or ""))
            case Verdict.EXHAUSTED:
                return self._park(row, task, Reason(*last_reason(row)))

    def _reopen(self, row: InboxRow, task: Task) -> Outcome:
        """A deployment that still had a DLQ left this row in PARKING: nothing may be parked any more."""
        try:
            self._inbox.reopen(row)
        except LostLease as lost:
            return self._lost(task, lost)
        except Unavailable:
            return self._later(task.delivery.receive_count, infrastructure=True)
        return Outcome(Metric.DEFERRED, hide_seconds=1)

    def _set_aside(self, lease: Lease, task: Task) -> Outcome:
        """Give a suspect back: it must not take its neighbours down with it, nor cost an attempt by waiting."""
        text = "an earlier attempt was never closed"
        try:
            self._inbox.fail(lease, code=ErrorCode.HANDLER_CRASHED, message=text, refund=True)
        except LostLease as lost:
            return self._lost(task, lost)
        except Unavailable:
            return Outcome(Metric.DEFERRED, hide_seconds=self._until(lease.row.lease_until), infrastructure=True)
        return Outcome(None, set_aside=True)

    def _attempt(self, lease: Lease, task: Task, envelope: Envelope) -> Outcome:
        if lease.suspect and self._parking is None and lease.row.attempts > self._rules.blocks_after:
            self._log_error(task, Reason(ErrorCode.HANDLER_CRASHED, "no attempt so far was closed; its group waits"))
            self._telemetry.count(Metric.GROUP_BLOCKED)
            self._telemetry.flush()  # this attempt may end the process, too, and with it what was only counted
        hold = Hold(self._inbox, lease)
        try:
            task.watch(hold)
            self._run(lease, task, envelope)
        except LostLease as error:
            return self._lost(task, error)
        except Exception as error:  # noqa: BLE001 - the boundary: whatever a handler raises becomes an outcome
            return self._failed(hold.let_go(), task, error)
        self._telemetry.count(Metric.PAYLOAD_BYTES, envelope.payload.content_length)
        if not envelope.payload.verified:
            self._telemetry.count(Metric.UNVERIFIED)
            self._telemetry.log("info", "processed, unverified", **_log_fields(task.delivery, envelope))
        return Outcome(Metric.PROCESSED, acknowledged=True)

    def _run(self, lease: Lease, task: Task, envelope: Envelope) -> None:
        deadline = task.deadline
        transaction = Transaction(deadline)
        check_expected(self._handler, envelope)
        stream = self._payloads.open(envelope.payload, deadline)
        message = Message(
            envelope,
            stream=stream,
            deadline=deadline,
            attempt=lease.row.attempts,
            effect_token=lease.row.key,
            redriven=task.delivery.redriven,
            read_limit=self._rules.read_limit_bytes,
        )
        try:
            with self._telemetry.span("handler"):
                self._handler(message, transaction)
            if stream is not None:
                stream.finish()
        except Exception as error:
            if stream is not None:
                settle(stream, error)
            raise
        finally:
            if stream is not None:
                stream.abandon()
        self._commit(lease, transaction, deadline)

    def _commit(self, lease: Lease, transaction: Transaction, deadline: Deadline) -> None:
        """Commit, repeating the same request through conflicts and throttles while there is time."""
        deadline.check()
        failures, at = 0, self._clock.now()
        while True:
            try:
                with self._telemetry.span("commit"):
                    refused = self._inbox.complete(lease, transaction.writes, at=at)
            except Unavailable as error:
                failures += 1
                pause = min(1.0, 0.05 * 2**failures) * (0.5 + self._random() / 2)
                if deadline.remaining() <= pause:
                    raise _CommitUnavailable(str(error)) from None
                self._clock.sleep(pause)
            else:
                if refused is not None:
                    raise transaction.refusal(refused)
                return

    # --- Ends -----------------------------------------------------------------------------------------------------

    def _failed(self, lease: Lease, task: Task, error: Exception) -> Outcome:
        code = error.code if isinstance(error, ConsumeError) else ErrorCode.HANDLER_FAILED
        reason = Reason(code, str(error) if type(error) in LIBRARY_ERRORS else place_of(error))
        if self._to_be_parked(error, lease.row.attempts):
            if self._parking is not None:
                return self._park(lease.row, task, reason)
            self._telemetry.count(Metric.GROUP_BLOCKED)
        self._log_error(task, reason)
        refund = isinstance(error, ConsumeError) and error.refunded
        try:
            if self._inbox.fail(lease, code=reason.code, message=reason.text, refund=refund):
                return Outcome(Metric.PROCESSED, acknowledged=True)
        except LostLease as lost:
            return self._lost(task, lost)
        except Unavailable:
            return Outcome(Metric.RETRIED, hide_seconds=self._until(lease.row.lease_until), infrastructure=True)
        return self._later(task.delivery.receive_count if refund else lease.row.attempts, infrastructure=refund)

    def _lost(self, task: Task, error: LostLease) -> Outcome:
        """Another worker has the message: it is left as it is, and counted by the error's code."""
        self._log_error(task, Reason(error.code, str(error)))
        return Outcome(None)

    def _to_be_parked(self, error: Exception, attempts: int) -> bool:
        limit = self._inbox.max_attempts if self._parking is not None else self._rules.blocks_after
        if not isinstance(error, ConsumeError):
            return attempts >= limit
        limit = min(limit, error.attempt_limit or limit)
        return error.permanent or (not error.refunded and attempts >= limit)

    def _park(self, row: InboxRow, task: Task, reason: Reason) -> Outcome:
        self._log_error(task, reason)
        try:
            parking = self._inbox.start_parking(
                row, task.delivery, code=reason.code, message=reason.text, lease_seconds=task.lease_seconds
            )
            return self._copy(parking, task)
        except LostLease as lost:
            return self._lost(task, lost)
        except (Unavailable, PublishError) as error:
            return self._not_parked(task, error)

    def _park_unclaimed(self, task: Task, error: PermanentError) -> Outcome:
        self._log_error(task, Reason(error.code, str(error)))
        if self._parking is None:
            self._telemetry.count(Metric.GROUP_BLOCKED)
            return self._later(task.delivery.receive_count)
        try:
            parking = self._inbox.start_parking_unclaimed(
                task.delivery, code=error.code, message=str(error), lease_seconds=task.lease_seconds
            )
            return Outcome(None, acknowledged=True) if parking is None else self._copy(parking, task)
        except LostLease as lost:
            return self._lost(task, lost)
        except (Unavailable, PublishError) as failure:
            return self._not_parked(task, failure)

    def _copy(self, parking: InboxRow, task: Task) -> Outcome:
        if self._parking is None:  # attempts are not limited there, so that nothing should come here
            return self._later(task.delivery.receive_count)
        code, attempts = parking.last_code or "", parking.attempts_spent
        self._parking.send(task.delivery, code=code, attempts=attempts, now=self._clock.now())
        self._inbox.finish_parking(parking)
        return Outcome(Metric.PARKED, acknowledged=True)

    def _not_parked(self, task: Task, error: Exception) -> Outcome:
        """The row says PARKING: the next delivery finishes it. A copy that SQS refuses is left to SQS's own move."""
        unavailable = isinstance(error, Unavailable)
        self._log_error(task, Reason(ErrorCode.UNAVAILABLE if unavailable else type(error).__name__, str(error)))
        return self._later(task.delivery.receive_count, infrastructure=unavailable)

    def _later(self, failures: int, *, infrastructure: bool = False) -> Outcome:
        delay = self._rules.backoff.delay(failures, self._random())
        return Outcome(Metric.RETRIED, hide_seconds=delay, infrastructure=infrastructure)

    def _until(self, moment: float) -> int:
        seconds = math.ceil(moment - self._clock.now()) + 1
        return min(max(1, seconds), contract.SQS_MAX_VISIBILITY_SECONDS)

    def _log_error(self, task: Task, reason: Reason) -> None:
        self._telemetry.count(reason.code)
        self._telemetry.log("error", reason.text, errorCode=reason.code, **_log_fields(task.delivery, task.envelope))


def settle(stream: VerifiedStream, error: Exception) -> None:
    """Raise the stream's own failure in place of what the handler made of it.

    A verdict for good on bytes that were never verified is none: the rest is read and verified first.
    """
    if stream.failure is not None:
        raise stream.failure from error
    if isinstance(error, PermanentError):
        stream.finish()


def _log_fields(delivery: Delivery, envelope: Envelope | None) -> dict[str, str | float | None]:
    received: dict[str, str | float | None] = {
        "queue": delivery.queue,
        "sqsMessageId": delivery.sqs_message_id,
        "receiveCount": delivery.receive_count,
        "traceId": delivery.trace_id,
    }
    return {**received, **(message_fields(envelope) if envelope else {})}


def place_of(error: Exception) -> str:
    """Type and place of a handler's error, without its text."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__module__}.{type(error).__qualname__}{place}"
