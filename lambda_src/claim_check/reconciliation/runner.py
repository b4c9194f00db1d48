"""Runs a reconciliation of payloads: resumable, in flat memory, one run at a time (R7.1).

A run looks up what open rows point at, then lists the payloads and judges them, a hundred at a time. Whatever it has
counted is saved together with the place that it was counted up to, so that a run that breaks off anywhere is gone on
with, and counts nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from claim_check.contract import Metric
from claim_check.errors import ClaimCheckError
from claim_check.listing import pages
from claim_check.ports import Clock, ListedObject, ListingPage, ObjectListing, Telemetry
from claim_check.reconciliation.judging import Class
from claim_check.reconciliation.lookup import Lookup
from claim_check.reconciliation.pointers import Pointers
from claim_check.reconciliation.ports import Checkpoint, Checkpoints, Payloads
from claim_check.reconciliation.removal import Remover
from claim_check.reconciliation.runs import (
    InboxSource,
    OutboxSource,
    Outcome,
    Plan,
    Run,
    Sample,
    Status,
    TimeLeft,
)
from claim_check.reconciliation.tally import Progress, Tally

CHUNK: Final = 100
"""Objects judged at once: as many as one batched read has keys."""

SAVE_SECONDS: Final = 20.0
"""At least so often, a run saves how far it has come."""

RESERVE_SECONDS: Final = 45.0
"""What judging a hundred objects and looking at each of them may take; removals come on top."""

LEASE_SECONDS: Final = 900.0
"""Of a run without an end of its own, from each time it saves."""

_LEASE_SLACK_SECONDS: Final = 60.0

SAMPLED: Final = frozenset({"unpublished", "unknown", "foreign"})
"""Classes of which an outcome holds samples."""

METRICS: Final[Mapping[Class, str]] = {
    "open": Metric.RECONCILED_OPEN,
    "completed": Metric.RECONCILED_COMPLETED,
    "unpublished": Metric.RECONCILED_UNPUBLISHED,
    "unknown": Metric.RECONCILED_UNKNOWN,
    "foreign": Metric.RECONCILED_FOREIGN,
}
"""Metric of each class."""


class Reconciliation:
    """Compares the payloads of a bucket with the rows that point at them."""

    def __init__(
        self,
        plan: Plan,
        *,
        listing: ObjectListing,
        payloads: Payloads,
        inboxes: Sequence[InboxSource],
        checkpoints: Checkpoints,
        clock: Clock,
        telemetry: Telemetry,
        new_token: Callable[[], str],
        outboxes: Sequence[OutboxSource] = (),
    ) -> None:
        """Set it up.

        Args:
            plan: What it does.
            listing: Lists the bucket.
            payloads: Looks at single objects, and removes them.
            inboxes: Every inbox of a consumer of this bucket.
            checkpoints: Where its progress is kept.
            clock: Time.
            telemetry: Logs and metrics.
            new_token: Makes tokens that are never the same twice.
            outboxes: Every outbox whose payloads are in this bucket.
        """
        self._plan = plan
        self._counting = _Counting(listing)
        self._checkpoints = checkpoints
        self._clock = clock
        self._telemetry = telemetry
        self._new_token = new_token
        self._lookup = Lookup(plan, payloads, inboxes, outboxes)
        self._pointers = Pointers(plan, payloads, inboxes, outboxes, telemetry=telemetry)
        self._remover = Remover(plan, self._lookup, payloads, outboxes, clock=clock, telemetry=telemetry)

    def run_if_due(self, *, remaining_seconds: float) -> Outcome:
        """Go on with a run, or begin one that is due; flushes the metrics, which tell of the last run in any case.

        Args:
            remaining_seconds: How long this invocation may take.

        Raises:
            AccessDenied: The bucket refuses a look.
            ReadRefused: A table or the bucket refuses.
            Unavailable: Something did not answer; the next call goes on.
        """
        try:
            return self._run(remaining_seconds, None, only_if_due=True)
        finally:
            self._telemetry.flush()

    def run(self, *, moved: Callable[[Tally], object] | None = None) -> Outcome:
        """Go on with a run, or begin one, to its end.

        Args:
            moved: Told after every step.

        Raises:
            AccessDenied: The bucket refuses a look.
            ReadRefused: A table or the bucket refuses.
            Unavailable: Something did not answer; calling it again goes on.
        """
        return self._run(None, moved, only_if_due=False)

    # --- One invocation ---------------------------------------------------------------------------------------------

    @property
    def _reserve(self) -> float:
        return RESERVE_SECONDS + (CHUNK / self._plan.rate if self._plan.delete else 0.0)

    def _run(self, seconds: float | None, moved: Callable[[Tally], object] | None, *, only_if_due: bool) -> Outcome:
        now, owner = self._clock.now(), self._new_token()
        until = now + (LEASE_SECONDS if seconds is None else seconds + _LEASE_SLACK_SECONDS)
        taken = self._checkpoints.take(self._plan.name, owner=owner, now=now, until=until)
        if taken is None:
            return Outcome(status="busy", tally=Tally())
        progress = Progress.of(taken.state)
        progress.first_at = progress.first_at or now
        run = Run(progress=progress, time=TimeLeft(self._clock, seconds), moved=moved, owner=owner, ends=until)
        try:
            status = self._advance(run, only_if_due=only_if_due)
        except (ClaimCheckError, KeyboardInterrupt, SystemExit):
            self._give_back(run)
            raise
        finally:
            self._tell(progress)
        ended = status in {"finished", "waiting"} and progress.last is not None
        tally = progress.last if ended and progress.last is not None else run.tally
        return Outcome(status=status, tally=tally, samples=run.samples.kept, growth=progress.growth)

    def _advance(self, run: Run, *, only_if_due: bool) -> Status:
        progress, now = run.progress, self._clock.now()
        scope = f"{self._plan.bucket}/{self._plan.prefix}"
        if not progress.goes_on(scope):
            if only_if_due and progress.last is not None and now < progress.last_started_at + self._plan.every_seconds:
                self._give_back(run)
                return "waiting"
            progress.begin(now, scope)
        run.keep()
        while self._pointers.step(run):
            run.keep()
            if not self._save(run):
                return "busy"
        for chunk in self._chunks(progress.after):
            if not run.time.suffices(self._reserve):
                return "unfinished" if self._save(run, last=True) else "busy"
            removed = run.tally.removed
            self._judge(chunk, run)
            progress.after = chunk[-1].key
            run.keep()
            due = run.tally.removed > removed or self._clock.monotonic() >= run.save_at
            if due and not self._save(run):
                return "busy"
        progress.finish(self._clock.now())
        run.keep()
        return "finished" if self._save(run, last=True) else "busy"

    def _chunks(self, after: str) -> Iterator[Sequence[ListedObject]]:
        found = pages(self._counting, bucket=self._plan.bucket, prefix=self._plan.prefix, start_after=after)
        return (page[start : start + CHUNK] for page in found for start in range(0, len(page), CHUNK))

    def _judge(self, chunk: Sequence[ListedObject], run: Run) -> None:
        tally = run.tally
        tally.lists += self._counting.taken()
        for one, verdict in zip(chunk, self._lookup.judge(chunk, tally, now=self._clock.now()), strict=True):
            tally.add(verdict.found, one.content_length)
            if verdict.found in SAMPLED:
                run.samples.add(Sample(kind=verdict.found, key=one.key))
            if verdict.found == "unpublished" and self._plan.delete:
                self._remover.remove(one, run)
        if run.moved is not None:
            run.moved(tally)

    # --- Checkpoint and metrics -------------------------------------------------------------------------------------

    def _save(self, run: Run, *, last: bool = False) -> bool:
        """Save how far the run has come; False if another run has taken over: then this one ends."""
        run.save_at = self._clock.monotonic() + SAVE_SECONDS
        run.ends = max(run.ends, self._clock.now() + LEASE_SECONDS) if run.time.endless else run.ends
        checkpoint = Checkpoint(name=self._plan.name, state=run.kept)
        return self._checkpoints.save(checkpoint, owner=run.owner, until=0.0 if last else run.ends)

    def _give_back(self, run: Run) -> None:
        """End the lease, so that a repetition need not wait; whether that succeeds is of no matter."""
        with suppress(ClaimCheckError):
            self._save(run, last=True)

    def _tell(self, progress: Progress) -> None:
        count = self._telemetry.count
        count(Metric.RECONCILIATION_AGE, max(0.0, self._clock.now() - (progress.finished_at or progress.first_at)))
        last = progress.last
        if last is None:
            return
        count(Metric.RECONCILED_OBJECTS, last.objects)
        for found, metric in METRICS.items():
            count(metric, last.classes[found])
        count(Metric.DEAD_POINTERS, last.dead_pointers)
        count(Metric.UNKNOWN_SHARE, last.unknown_percent)
        count(Metric.UNKNOWN_GROWTH, max(0.0, progress.growth))


class _Counting:
    """Counts the requests of a listing."""

    def __init__(self, listing: ObjectListing) -> None:
        self._listing = listing
        self._count = 0

    def page(self, *, bucket: str, prefix: str, start_after: str) -> ListingPage:
        """See `claim_check.ports.ObjectListing.page`."""
        self._count += 1
        return self._listing.page(bucket=bucket, prefix=prefix, start_after=start_after)

    def taken(self) -> int:
        """How many there were since the last time."""
        count, self._count = self._count, 0
        return count
