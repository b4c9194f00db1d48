"""Removes a payload that is proven unpublished: proof once more, row set aside for good, then the object (R7.1).

In this order, since of these steps only the last one cannot be taken back. What a row proves holds from its discard
on: nobody sends it any more. What an upload proves holds by its age: no confirm takes it any more. Producers do not
rely on an object that old, whatever its row says. A death in between leaves the object to the next run.
"""

from __future__ import annotations

from collections.abc import Sequence

from claim_check.contract import Metric
from claim_check.errors import AccessDenied
from claim_check.ports import Clock, ListedObject, Telemetry
from claim_check.reconciliation.lookup import Lookup, Verdict
from claim_check.reconciliation.ports import Payloads, Removal
from claim_check.reconciliation.runs import OutboxSource, Plan, Run, Sample
from claim_check.telemetry import key_hash


class Remover:
    """Removes payloads at a limited rate."""

    def __init__(
        self,
        plan: Plan,
        lookup: Lookup,
        payloads: Payloads,
        outboxes: Sequence[OutboxSource],
        *,
        clock: Clock,
        telemetry: Telemetry,
    ) -> None:
        """Use these."""
        self._plan = plan
        self._lookup = lookup
        self._payloads = payloads
        self._outboxes = outboxes
        self._clock = clock
        self._telemetry = telemetry
        self._next = clock.monotonic()

    def remove(self, listed: ListedObject, run: Run) -> None:
        """Remove an object if the proof still holds.

        Raises:
            ReadRefused: A table refuses.
            Unavailable: Something did not answer; repeating is safe.
        """
        self._keep_pace()
        verdict = self._lookup.judge_again(listed, run.tally, now=self._clock.now())
        done = self._if_proven(listed, verdict)
        if done == "removed":
            run.tally.removed += 1
            self._telemetry.count(Metric.PAYLOADS_REMOVED)
            run.samples.add(Sample(kind="removed", key=listed.key))
        elif done == "refused":
            run.tally.held += 1
            self._telemetry.count(Metric.PAYLOADS_HELD)
            run.samples.add(Sample(kind="held", key=listed.key))
        else:
            run.tally.spared += 1
        self._telemetry.log(
            "warning" if done == "refused" else "info",
            "payload of no message",
            state=done,
            payloadBucket=self._plan.bucket,
            payloadKeyHash=key_hash(listed.key),
            payloadSizeBytes=listed.content_length,
        )

    def _if_proven(self, listed: ListedObject, verdict: Verdict) -> Removal:
        look = verdict.look
        if verdict.found != "unpublished" or look is None or look.etag != listed.etag:
            return "changed"
        if look.held:
            return "refused"
        if not self._set_aside_for_good(verdict):
            return "changed"
        try:
            return self._payloads.remove(bucket=self._plan.bucket, key=listed.key, seen=look)
        except AccessDenied:
            return "refused"

    def _set_aside_for_good(self, verdict: Verdict) -> bool:
        """Discard every row that the proof rests on; False if one of them is not as it was seen."""
        tables = {name: one.table for one in self._outboxes for name in one.destinations}
        now = self._clock.now()
        return all(tables[row.destination].discard(row, now=now) for row in verdict.rows.outbox)

    def _keep_pace(self) -> None:
        now = self._clock.monotonic()
        if self._next > now:
            self._clock.sleep(self._next - now)
        self._next = max(now, self._next) + 1 / self._plan.rate
