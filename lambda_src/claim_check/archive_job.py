"""One pass over a DLQ: measures what lies there, stores what comes near its retention, lets the rest be seen again.

What is received is hidden until the run ends, so that each receive brings something else; then what stays is made
visible again. A run that dies hides it until the function's time would have been over. Receiving raises a message's
receive count. That moves nothing, for a DLQ has no redrive policy; but SQS's own metric of the oldest message leaves
out what was received three times, so ages come from here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from claim_check import contract
from claim_check.archive import ArchivedLetter
from claim_check.contract import Metric
from claim_check.dead_letters import parked_reason
from claim_check.envelope import decode
from claim_check.errors import (
    ArchiveRefused,
    ClaimCheckError,
    InvalidLetter,
    PermanentError,
    ReadRefused,
    ReceiveRefused,
    Unavailable,
)
from claim_check.ports import VisibilityChange, WriteConflict
from claim_check.side_by_side import SideBySide

if TYPE_CHECKING:
    from claim_check.archive import DeadLetterArchive
    from claim_check.contract import InboxState
    from claim_check.delivery import Delivery
    from claim_check.ports import Clock, InboxReader, InboxRow, ReceivingQueue, Telemetry

PARALLEL: Final = 8
"""Receives, writes and releases side by side."""

MAX_STUCK_ROWS: Final = 10_000
"""Unfinished rows that are counted, of each state."""

_EMPTY_ROUNDS: Final = 2
_TRIES: Final = 3
_RETRY_SECONDS: Final = 0.5
_LAST_CALLS_SECONDS: Final = 60.0
"""No round begins that late: its calls may each take long, and then all that is held is released."""

_RELEASE_SECONDS: Final = 0.01
_SLACK_SECONDS: Final = 5
_UNFINISHED: Final[tuple[InboxState, ...]] = ("IN_PROGRESS", "PARKING", "FAILED")


@dataclass(slots=True, kw_only=True)
class DeadLetterReport:
    """What a run did.

    Attributes:
        seen: Dead letters received.
        archived: Of these, stored and deleted from the DLQ.
        failed: Of these, due for the archive, but not stored, or not deleted.
        finished: Whether all of the DLQ was seen; otherwise the next run goes on.
        stuck: Rows of the inbox that nobody goes on with; None if they were not looked at.
    """

    seen: int = 0
    archived: int = 0
    failed: int = 0
    finished: bool = True
    stuck: int | None = None


@dataclass(frozen=True, slots=True)
class _Held:
    """A message that is hidden: what is needed to release it, and what is measured of it."""

    receipt_handle: str
    sent_at: float
    code: str
    life_ends: float | None


@dataclass(slots=True)
class _Pass:
    """The state of one pass."""

    ends: float
    report: DeadLetterReport = field(default_factory=DeadLetterReport)
    held: dict[str, _Held] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    error: ClaimCheckError | None = None


class DeadLetterJob:
    """Looks after one DLQ, and at the unfinished rows of its consumer's inbox."""

    def __init__(
        self,
        queue: ReceivingQueue,
        *,
        dlq_url: str | None,
        clock: Clock,
        telemetry: Telemetry,
        new_id: Callable[[], str],
        archive: DeadLetterArchive | None = None,
        archive_after_seconds: int = contract.SQS_MAX_RETENTION_SECONDS,
        life_seconds: int | None = None,
        inbox: InboxReader | None = None,
        consumer: str = "",
        stuck_after_seconds: int = contract.DEFAULT_STUCK_SECONDS,
        parallel: int = PARALLEL,
    ) -> None:
        """Set up.

        Args:
            queue: Receives, hides, deletes.
            dlq_url: The DLQ; None where there is none (a FIFO queue that blocks), so that only the inbox is looked at.
            clock: Time.
            telemetry: Logs and metrics of the consumer.
            new_id: Names attempts at receiving, so that a FIFO queue repeats a lost answer.
            archive: Where to store; None stores nothing.
            archive_after_seconds: Age in this DLQ from which a message is stored.
            life_seconds: The retention plan's sum, counted from when an event was published; None if it is not known.
            inbox: The consumer's rows; None does not look at them.
            consumer: Its name there.
            stuck_after_seconds: How long ago a lease ended, or an attempt failed, for the row to count as stuck.
            parallel: Calls side by side; 1 uses no threads.
        """
        self._queue = queue
        self._url = dlq_url
        self._clock = clock
        self._telemetry = telemetry
        self._new_id = new_id
        self._archive = archive
        self._archive_after = archive_after_seconds
        self._life = life_seconds
        self._inbox = inbox
        self._consumer = consumer
        self._stuck_after = stuck_after_seconds
        self._parallel = parallel

    def run(self, *, remaining_seconds: float) -> DeadLetterReport:
        """Make one pass, and emit what was found.

        Args:
            remaining_seconds: Time that the function has; the run ends in time to release what it holds.

        Raises:
            Unavailable: The DLQ did not answer again and again. Whatever the error, what was held has been released.
            ReceiveRefused: The DLQ refuses to be read.
            ArchiveRefused: The archive refuses.
        """
        state = _Pass(self._clock.monotonic() + remaining_seconds)
        if self._url is not None:
            self._look_at_queue(self._url, state)
        if self._inbox is not None:
            state.report.stuck = self._look_at_inbox(self._inbox)
        self._telemetry.flush()
        if state.error is not None:
            raise state.error
        return state.report

    # --- The DLQ ----------------------------------------------------------------------------------------------------

    def _look_at_queue(self, url: str, state: _Pass) -> None:
        with SideBySide(self._parallel) as pool:
            self._pass(url, pool, state)
            self._release(url, pool, state)
        self._measure(state)
        report = state.report
        self._telemetry.log(
            "info" if report.finished and not report.failed else "warning",
            "looked at the dead letters"
            if report.finished
            else "looked at some of the dead letters; the next run goes on",
            queue=_name(url),
            batchSize=report.seen,
            failed=report.failed,
        )

    def _pass(self, url: str, pool: SideBySide, state: _Pass) -> None:
        empty = 0
        while empty < _EMPTY_ROUNDS and state.error is None:
            if self._late(state):
                state.report.finished = False
                return
            found = self._receive(url, pool, state, wait_seconds=1 if empty else 0)
            empty = 0 if found else empty + 1
            self._sort(url, pool, state, found)
        state.report.finished = state.error is None

    def _late(self, state: _Pass) -> bool:
        reserve = _LAST_CALLS_SECONDS + _RELEASE_SECONDS * len(state.held)
        return self._clock.monotonic() + reserve > state.ends

    def _receive(self, url: str, pool: SideBySide, state: _Pass, *, wait_seconds: int) -> list[Delivery]:
        """One round of receives; on FIFO one receive, for order."""
        hidden = math.ceil(state.ends - self._clock.monotonic()) + _SLACK_SECONDS
        rounds = 1 if _fifo(url) else self._parallel

        def receive(_: int) -> list[Delivery]:
            try:
                return self._answered(url, wait_seconds, hidden)
            except (ReceiveRefused, Unavailable) as error:
                self._stop(state, error)
                return []

        answers = pool.start(receive, range(rounds), wait=True)()
        return [delivery for answer in answers for delivery in answer]

    def _answered(self, url: str, wait_seconds: int, hidden: int) -> list[Delivery]:
        attempt = self._new_id() if _fifo(url) else None
        for tries_left in reversed(range(_TRIES)):
            try:
                return self._queue.receive_batch(
                    url,
                    count=contract.SQS_MAX_BATCH_ENTRIES,
                    wait_seconds=wait_seconds,
                    visibility_seconds=hidden,
                    attempt_id=attempt,
                )
            except Unavailable:
                if not tries_left:
                    raise
                self._clock.sleep(_RETRY_SECONDS)
        return []

    def _sort(self, url: str, pool: SideBySide, state: _Pass, found: Sequence[Delivery]) -> None:
        """Store and delete what is due; hold the rest."""
        state.seen.update(delivery.sqs_message_id for delivery in found)
        state.report.seen = len(state.seen)
        due = [delivery for delivery in found if self._due(delivery)]
        stored = self._store(self._archive, pool, state, due) if self._archive is not None else []
        handles = [delivery.receipt_handle for delivery in stored]
        refused = set(self._queue.delete_batch(url, handles)) if handles else set()
        gone = {delivery.receipt_handle for delivery in stored} - refused
        state.report.archived += len(gone)
        state.report.failed += len(refused)
        for delivery in found:
            if delivery.receipt_handle not in gone:
                state.held[delivery.sqs_message_id] = self._facts(delivery)

    def _due(self, delivery: Delivery) -> bool:
        return self._archive is not None and self._clock.now() - delivery.sent_at >= self._archive_after

    def _store(
        self, archive: DeadLetterArchive, pool: SideBySide, state: _Pass, due: Sequence[Delivery]
    ) -> list[Delivery]:
        def store(group: Sequence[Delivery]) -> list[Delivery]:
            stored: list[Delivery] = []
            for delivery in group:
                if state.error is not None or self._late(state):
                    break
                if not self._stored(archive, state, delivery):
                    failures.append(delivery)
                    break  # on FIFO what stands behind it must not overtake it
                stored.append(delivery)
            return stored

        failures: list[Delivery] = []
        answers = pool.start(store, _groups(due), wait=True)()
        state.report.failed += len(failures)
        return [delivery for answer in answers for delivery in answer]

    def _stored(self, archive: DeadLetterArchive, state: _Pass, delivery: Delivery) -> bool:
        """Whether the archive surely holds a message now."""
        letter = ArchivedLetter.of(delivery, now=self._clock.now())
        try:
            if archive.put(letter):
                return True
            present = archive.stored(delivery)
        except ArchiveRefused as error:
            self._stop(state, error)
            return False
        except (Unavailable, WriteConflict, InvalidLetter) as error:
            self._tell(delivery, error)
            return False
        if present is None or not present.same_message(letter):
            self._tell(delivery, InvalidLetter("the letter", "another one is there", limit="one a message", way_out=""))
            return False
        return True

    def _release(self, url: str, pool: SideBySide, state: _Pass) -> None:
        """Make visible what stays. On FIFO the last comes first: a group can be received once its head is free."""
        handles = [held.receipt_handle for held in state.held.values()]
        changes = [VisibilityChange(handle, 0) for handle in (reversed(handles) if _fifo(url) else handles)]
        tens = [changes[start : start + 10] for start in range(0, len(changes), contract.SQS_MAX_BATCH_ENTRIES)]
        if _fifo(url):
            refused = [self._queue.change_visibility(url, ten) for ten in tens]
        else:
            refused = pool.start(lambda ten: self._queue.change_visibility(url, ten), tens, wait=True)()
        if count := sum(map(len, refused)):
            self._telemetry.log(
                "warning",
                "some dead letters stay hidden until this run would have ended",
                queue=_name(url),
                failed=count,
            )

    # --- What is measured -------------------------------------------------------------------------------------------

    def _facts(self, delivery: Delivery) -> _Held:
        parked = parked_reason(delivery)
        return _Held(
            delivery.receipt_handle,
            delivery.sent_at,
            contract.OTHER_REASON if parked is None else parked.error_code,
            self._life_ends(delivery),
        )

    def _life_ends(self, delivery: Delivery) -> float | None:
        """When a message's payload expires, and the inbox forgets it; None where that is not known."""
        if self._life is None:
            return None
        try:
            published = decode(delivery.body).published_at
        except PermanentError:
            return None
        return None if published is None else published.timestamp() + self._life

    def _measure(self, state: _Pass) -> None:
        now, held = self._clock.now(), list(state.held.values())
        if self._archive is not None:
            self._telemetry.count(Metric.ARCHIVED_LETTERS, state.report.archived)
            self._telemetry.count(Metric.ARCHIVE_FAILED, state.report.failed)
        self._telemetry.count(Metric.DEAD_LETTERS, len(held))
        self._telemetry.count(Metric.OLDEST_DEAD_LETTER, max((now - one.sent_at for one in held), default=0.0))
        for one in held:
            self._telemetry.count(contract.dead_letter_metric(one.code))
        ends = [one.life_ends for one in held if one.life_ends is not None]
        if ends:
            self._telemetry.count(Metric.DEAD_LETTER_LIFE_LEFT, (min(ends) - now) / contract.DAY_SECONDS)

    def _stop(self, state: _Pass, error: ClaimCheckError) -> None:
        """Begin nothing more in this run, and fail once what is held has been released."""
        self._telemetry.log("error", str(error), errorType=type(error).__qualname__, queue=_name(self._url or ""))
        state.report.finished = False
        if state.error is None or isinstance(state.error, Unavailable):
            state.error = error

    def _tell(self, delivery: Delivery, error: Exception) -> None:
        self._telemetry.log(
            "error",
            f"a dead letter stays in the DLQ: {str(error) or type(error).__name__}",
            errorType=type(error).__qualname__,
            queue=delivery.queue,
            sqsMessageId=delivery.sqs_message_id,
        )

    # --- The inbox --------------------------------------------------------------------------------------------------

    def _look_at_inbox(self, inbox: InboxReader) -> int | None:
        before = self._clock.now() - self._stuck_after
        try:
            stuck = sum(self._stuck(inbox.open_rows(self._consumer, state=state), before) for state in _UNFINISHED)
        except (ReadRefused, Unavailable) as error:
            self._telemetry.log("error", str(error), errorType=type(error).__qualname__, consumer=self._consumer)
            return None
        self._telemetry.count(Metric.STUCK_WORK, stuck)
        return stuck

    @staticmethod
    def _stuck(rows: Iterable[InboxRow], before: float) -> int:
        return sum(stands_since(row) < before for row, _ in zip(rows, range(MAX_STUCK_ROWS), strict=False))


def stands_since(row: InboxRow) -> float:
    """Since when nobody works on an unfinished row, epoch seconds: its lease ended, or its last attempt failed."""
    return row.updated_at if row.state == "FAILED" else row.lease_until


def _groups(deliveries: Sequence[Delivery]) -> list[Sequence[Delivery]]:
    """What must be stored in order; on a standard queue, whose messages have no sequence, each message is alone."""
    groups: dict[str, list[Delivery]] = {}
    for delivery in deliveries:
        ordered = delivery.sequence_number is not None or _fifo(delivery.queue)
        groups.setdefault(f"group {delivery.group_id}" if ordered else delivery.receipt_handle, []).append(delivery)
    return list(groups.values())


def _fifo(queue: str) -> bool:
    return queue.endswith(".fifo")


def _name(url: str) -> str:
    return url.rpartition("/")[2]
