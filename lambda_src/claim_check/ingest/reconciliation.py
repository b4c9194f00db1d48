"""Compares a bucket with its ledger, and queues a synthetic event for every difference (R10.3).

The bucket's listing and the ledger's rows are two streams in the order of keys, walked side by side in flat memory.
A synthetic event says what was seen; the ingester applies it only if the ledger row is still that one and the bucket
confirms it. So nothing here needs to be exact, and events may flow meanwhile.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from claim_check import contract
from claim_check.contract import Metric
from claim_check.errors import Unavailable
from claim_check.ingest.changes import Seen, same_second
from claim_check.ingest.notifications import synthetic
from claim_check.listing import pages
from claim_check.ports import OutgoingMessage, SendResult

if TYPE_CHECKING:
    from claim_check.ingest.ports import Checkpoints, LedgerReader, LedgerRow, ObjectSource
    from claim_check.ingest.settings import KeyFilter, ReconciliationSettings
    from claim_check.ports import Clock, ListedObject, MessageQueue, ObjectListing, Telemetry

DifferenceKind = Literal["new", "changed", "gone"]

STOP_SECONDS: Final = 30.0
"""Time kept at the end of a run for what is under way."""

SETTLE_SECONDS: Final = 60.0
"""How long after it was missed an object must still be gone: the event of its removal may be on its way."""

MOST_PENDING: Final = 1000
CHECKPOINT_OBJECTS: Final = 10_000
_SEND_ROUNDS: Final = 6
_DUE_SLACK: Final = 0.05
"""Part of the interval by which a schedule may be early."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An object on which bucket and ledger differ.

    Attributes:
        kind: The ledger has not got it, has another content of it, or has it though it is gone.
        key: Its key.
        seen: What was seen.
    """

    kind: DifferenceKind
    key: str = field(repr=False)
    seen: Seen


@dataclass(frozen=True, slots=True)
class ReconciliationReport:
    """What a run did.

    Attributes:
        listed: Objects that were looked at.
        new: Objects that the ledger has not got.
        changed: Objects of which the ledger has another content.
        gone: Objects that the ledger has, and the bucket has not.
        queued: Synthetic events that were queued.
        complete: Whether the end was reached; the next run goes on otherwise.
        resumed: Whether it went on where an earlier run ended.
        skipped: Whether nothing was due.
    """

    listed: int = 0
    new: int = 0
    changed: int = 0
    gone: int = 0
    queued: int = 0
    complete: bool = False
    resumed: bool = False
    skipped: bool = False

    @property
    def differences(self) -> int:
        """Differences that were found."""
        return self.new + self.changed + self.gone

    def to_answer(self) -> dict[str, Any]:
        """As a function answers it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    """How far a run has come.

    Attributes:
        after: Key of the last object that is done with.
        started_at: When it began, epoch seconds.
        finished_at: When it reached the end; None while it has not.
    """

    after: str
    started_at: float
    finished_at: float | None = None


@dataclass(frozen=True, slots=True)
class _Missed:
    """An object that seems to be gone.

    Attributes:
        difference: What was seen.
        before: The key before it, where a run is resumed that ends before this is certain.
        settled_at: When a second look counts, on the monotonic clock.
    """

    difference: Difference
    before: str
    settled_at: float


@dataclass
class _Run:
    """A run under way.

    Attributes:
        checkpoint: Where it began, or has come to.
        report: What it did so far.
        stop_at: When it must end, on the monotonic clock.
        dry: Whether it only looks.
        pending: Objects that seem to be gone.
        outbox: Events that fill a batch.
        next_send: When the next batch may be sent.
    """

    checkpoint: _Checkpoint
    report: ReconciliationReport
    stop_at: float
    dry: bool
    pending: deque[_Missed] = field(default_factory=deque)
    outbox: list[OutgoingMessage] = field(default_factory=list)
    next_send: float = 0.0

    def count(self, **more: int) -> None:
        """Add to the report."""
        self.report = replace(
            self.report, **{name: getattr(self.report, name) + number for name, number in more.items()}
        )


class LedgerReconciliation:
    """Compares one bucket with its ledger."""

    def __init__(
        self,
        settings: ReconciliationSettings,
        *,
        listing: ObjectListing,
        ledger: LedgerReader,
        checkpoints: Checkpoints,
        objects: ObjectSource,
        queue: MessageQueue,
        clock: Clock,
        telemetry: Telemetry,
        on_difference: Callable[[Difference], object] = lambda _: None,
    ) -> None:
        """Wire it.

        Args:
            settings: Bucket, queue, filters, grace and rate.
            listing: Lists the bucket.
            ledger: What was applied.
            checkpoints: Where it notes how far it has come.
            objects: Looks once more at what seems to be gone.
            queue: Takes the synthetic events.
            clock: Time.
            telemetry: Metrics.
            on_difference: Told of every difference that counts.
        """
        self._settings = settings
        self._listing = listing
        self._ledger = ledger
        self._checkpoints = checkpoints
        self._objects = objects
        self._queue = queue
        self._clock = clock
        self._telemetry = telemetry
        self._on_difference = on_difference
        self._prefixes = prefixes_of(settings.filters)
        self._name = f"{settings.name}#{settings.bucket}"

    def run_if_due(self, *, remaining_seconds: float) -> ReconciliationReport:
        """Run if one is due: an earlier one did not reach its end, or the last one ended long enough ago."""
        last = self._load()
        if last is not None and last.finished_at is not None:
            due = last.finished_at + self._settings.every_seconds * (1 - _DUE_SLACK)
            if self._clock.now() < due:
                return ReconciliationReport(complete=True, skipped=True)
        return self.run(remaining_seconds=remaining_seconds)

    def run(
        self, *, remaining_seconds: float = math.inf, dry_run: bool = False, anew: bool = False
    ) -> ReconciliationReport:
        """Compare until the end is reached or time is used up.

        Args:
            remaining_seconds: Until this process ends.
            dry_run: Queue nothing, note nothing.
            anew: Begin at the start, whatever an earlier run left.

        Raises:
            ReadRefused: Bucket or ledger refuse to be looked at.
            Unavailable: A service did not answer; what was done is noted, and the next run goes on there.
        """
        last = None if anew or dry_run else self._load()
        resumed = last is not None and last.finished_at is None
        checkpoint = last if last is not None and resumed else _Checkpoint("", self._clock.now())
        stop_at = self._clock.monotonic() + remaining_seconds - STOP_SECONDS
        run = _Run(checkpoint, ReconciliationReport(resumed=resumed), stop_at, dry_run)
        try:
            self._compare(run)
        finally:
            self._telemetry.count(Metric.INGEST_LISTED, run.report.listed)
            self._telemetry.count(Metric.INGEST_DIFFERENCES, run.report.differences)
            self._telemetry.flush()
        return run.report

    # --- One run ----------------------------------------------------------------------------------------------------

    def _compare(self, run: _Run) -> None:
        began = after = run.checkpoint.after
        unsaved = 0
        for key, listed, row in self._both(after):
            if after != began and self._clock.monotonic() >= run.stop_at:
                break  # never before anything was done, or slow answers would keep a run from ever getting on
            self._confirm_settled(run, self._clock.monotonic())
            self._look(run, key, listed, row, before=after)
            after, unsaved = key, unsaved + 1
            if len(run.pending) >= MOST_PENDING and not self._confirm_gone(run):
                break
            if unsaved >= CHECKPOINT_OBJECTS:
                self._note(run, after)
                unsaved = 0
        else:
            self._end(run)
            return
        self._note(run, after)

    def _end(self, run: _Run) -> None:
        if not self._confirm_gone(run):
            self._note(run, run.pending[0].before)
            return
        self._send(run)
        run.report = replace(run.report, complete=True)
        self._save(run, replace(run.checkpoint, finished_at=self._clock.now()))

    def _note(self, run: _Run, after: str) -> None:
        """Note how far everything is done with: not farther than what is not certain yet."""
        self._confirm_settled(run, self._clock.monotonic())
        self._send(run)
        place = run.pending[0].before if run.pending else after
        run.checkpoint = replace(run.checkpoint, after=place)
        self._save(run, run.checkpoint)

    def _both(self, after: str) -> Iterator[tuple[str, ListedObject | None, LedgerRow | None]]:
        """Walk bucket and ledger side by side, in the order of keys, where the bucket notifies of anything."""
        for prefix in self._prefixes:
            if after.startswith(prefix):
                yield from self._both_below(prefix, after)
            elif after.encode() < prefix.encode():
                yield from self._both_below(prefix, "")

    def _both_below(self, prefix: str, after: str) -> Iterator[tuple[str, ListedObject | None, LedgerRow | None]]:
        bucket = self._settings.bucket
        listing = pages(self._listing, bucket=bucket, prefix=prefix, start_after=after)
        objects = (one for page in listing for one in page if self._ours(one.key))
        rows = (
            row for row in self._ledger.rows(bucket=bucket, prefix=prefix, start_after=after) if self._ours(row.key)
        )
        listed, row = next(objects, None), next(rows, None)
        while listed is not None or row is not None:
            key = min((one.key for one in (listed, row) if one is not None), key=str.encode)
            yield (
                key,
                listed if listed is not None and listed.key == key else None,
                row if row is not None and row.key == key else None,
            )
            if listed is not None and listed.key == key:
                listed = next(objects, None)
            if row is not None and row.key == key:
                row = next(rows, None)

    def _ours(self, key: str) -> bool:
        return not self._settings.filters or any(one.matches(key) for one in self._settings.filters)

    def _look(self, run: _Run, key: str, listed: ListedObject | None, row: LedgerRow | None, *, before: str) -> None:
        revision = None if row is None else row.revision
        young = self._clock.now() - self._settings.grace_seconds
        if listed is None:
            if row is not None and row.state == "PRESENT":
                difference = Difference("gone", key, Seen(None, revision))
                run.pending.append(_Missed(difference, before, self._clock.monotonic() + SETTLE_SECONDS))
            return
        run.count(listed=1)
        if listed.last_modified.timestamp() > young:
            return
        if row is None or row.state == "DELETED":
            self._found(run, Difference("new", key, Seen(listed.etag, revision)))
        elif row.etag != listed.etag or not same_second(row.modified_at, listed.last_modified.timestamp()):
            self._found(run, Difference("changed", key, Seen(listed.etag, revision)))

    # --- What seems to be gone --------------------------------------------------------------------------------------

    def _confirm_gone(self, run: _Run) -> bool:
        """Wait until all of them have settled, and look once more. Whether there was time for that."""
        if not run.pending:
            return True
        settled_at = run.pending[-1].settled_at
        if settled_at < run.stop_at:
            self._clock.sleep(max(0.0, settled_at - self._clock.monotonic()))
            self._confirm_settled(run, settled_at)
        return not run.pending

    def _confirm_settled(self, run: _Run, now: float) -> None:
        """Look once more: an object may have come since it was listed, or the event of its removal have arrived."""
        while run.pending and run.pending[0].settled_at <= now and self._clock.monotonic() < run.stop_at:
            difference, bucket = run.pending.popleft().difference, self._settings.bucket
            row = self._ledger.row(bucket=bucket, key=difference.key)
            unchanged = row is not None and row.revision == difference.seen.revision
            if unchanged and self._objects.head(bucket=bucket, key=difference.key) is None:
                self._found(run, difference)

    # --- Events -----------------------------------------------------------------------------------------------------

    def _found(self, run: _Run, difference: Difference) -> None:
        run.count(**{difference.kind: 1})
        self._on_difference(difference)
        if run.dry:
            return
        run.outbox.append(self._message(difference, run.checkpoint.started_at))
        if len(run.outbox) == contract.SQS_MAX_BATCH_ENTRIES:
            self._send(run)

    def _message(self, difference: Difference, started_at: float) -> OutgoingMessage:
        bucket, key = self._settings.bucket, difference.key
        body = synthetic(bucket=bucket, key=key, seen=difference.seen)
        if not self._settings.queue_url.endswith(".fifo"):
            return OutgoingMessage(body=body, attributes={})
        return OutgoingMessage(
            body=body,
            attributes={},
            group_id=contract.ingest_group(bucket=bucket, key=key),
            deduplication_id=hashlib.sha256(f"{started_at}/{body}".encode()).hexdigest(),
        )

    def _send(self, run: _Run) -> None:
        """Send what fills a batch, no faster than the rate."""
        left = run.outbox
        for attempt in range(_SEND_ROUNDS):
            if not left:
                break
            self._clock.sleep(max(0.0, run.next_send - self._clock.monotonic()))
            pause = 0.2 * 2**attempt if attempt else 0.0
            run.next_send = self._clock.monotonic() + max(len(left) / self._settings.rate, pause)
            accepted = [result.sqs_message_id is not None for result in self._sent(left)]
            run.count(queued=sum(accepted))
            left = [message for message, taken in zip(left, accepted, strict=True) if not taken]
        if left:
            raise Unavailable(f"the queue did not take {len(left)} synthetic events")
        run.outbox = []

    def _sent(self, messages: list[OutgoingMessage]) -> list[SendResult]:
        try:
            return self._queue.send_batch(self._settings.queue_url, messages)
        except Unavailable:
            return [SendResult(error_code="Unavailable") for _ in messages]

    # --- Checkpoints ------------------------------------------------------------------------------------------------

    def _load(self) -> _Checkpoint | None:
        text = self._checkpoints.load(self._name)
        try:
            return None if text is None else _Checkpoint(**json.loads(text))
        except (ValueError, TypeError):  # of another version: begin anew
            return None

    def _save(self, run: _Run, checkpoint: _Checkpoint) -> None:
        if not run.dry:
            self._checkpoints.save(self._name, json.dumps(asdict(checkpoint)))


def prefixes_of(filters: Sequence[KeyFilter]) -> list[str]:
    """The prefixes that filters cover together, none within another, in the order of their bytes; one that is all."""
    found: list[str] = []
    for prefix in sorted({one.prefix for one in filters} or {""}, key=str.encode):
        if not found or not prefix.startswith(found[-1]):
            found.append(prefix)
    return found
