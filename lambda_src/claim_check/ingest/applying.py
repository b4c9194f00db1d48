"""One event of one object: judged by the ledger, by the bucket where need be, applied, and recorded (R10.2).

The row is read first, the bucket is asked after that, and the write is conditional on the row being as it was read. So
what is applied is never older than what the row says, whoever else is at work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from claim_check.contract import Metric, PayloadAccess, SequencerPad
from claim_check.errors import ChecksumMismatch, CommitFailed, PayloadTooLarge, Unavailable
from claim_check.ingest.changes import ObjectChange, ObjectState
from claim_check.ingest.ledger import Verdict, confirms, effect_token, judge, row_after, settled
from claim_check.ingest.ports import LedgerRefused, OpenedVersion
from claim_check.ports import WriteRefused
from claim_check.processor import settle
from claim_check.transaction import Transaction
from claim_check.verified_stream import VerifiedStream

if TYPE_CHECKING:
    from claim_check.deadline import Deadline
    from claim_check.ingest.changes import ObjectEvent
    from claim_check.ingest.ports import FoundObject, LedgerRow, LedgerTable, ObjectSource
    from claim_check.ports import Clock, Telemetry

ApplyPut: TypeAlias = Callable[[ObjectChange, VerifiedStream | None, Transaction], object]
"""Applies a created or overwritten object; the stream is None where the ingester reads no content."""

ApplyDelete: TypeAlias = Callable[[ObjectChange, Transaction], object]
"""Applies a removed object. It is told of objects, too, that were never applied."""

ROUNDS: Final = 6
"""How often an event is judged anew because its row, or its object, changed meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestRules:
    """What an ingester accepts, and how its ledger is kept.

    Attributes:
        bucket: The only bucket whose events it follows.
        tombstone_seconds: Life of a tombstone.
        pad: Side on which the shorter of two sequencers is padded.
        max_object_bytes: Largest object.
        access: How ``apply_put`` uses the content; ``none`` reads no object.
    """

    bucket: str
    tombstone_seconds: int
    pad: SequencerPad
    max_object_bytes: int
    access: PayloadAccess = "stream"


@dataclass(frozen=True, slots=True)
class _Step:
    """One judgement of one event.

    Attributes:
        event: The event.
        row: The row it was judged by.
        deadline: When the handler must stop.
        exact: Whether the event's own state is applied, rather than what the bucket says.
    """

    event: ObjectEvent
    row: LedgerRow | None
    deadline: Deadline
    exact: bool


class Applier:
    """Applies single events."""

    def __init__(
        self,
        apply_put: ApplyPut,
        apply_delete: ApplyDelete,
        *,
        rules: IngestRules,
        ledger: LedgerTable,
        objects: ObjectSource,
        clock: Clock,
        random: Callable[[], float],
        new_token: Callable[[], str],
        telemetry: Telemetry,
    ) -> None:
        """Wire it; see `claim_check.ingest.S3Ingester`."""
        self._apply_put = apply_put
        self._apply_delete = apply_delete
        self._rules = rules
        self._ledger = ledger
        self._objects = objects
        self._clock = clock
        self._random = random
        self._new_token = new_token
        self._telemetry = telemetry

    def apply(self, event: ObjectEvent, deadline: Deadline) -> str:
        """Apply an event, or find that there is nothing to apply. Returns the metric that says which; counts it, too.

        Raises:
            Exception: What the handler raised, or an error of `claim_check.errors`: nothing was recorded.
        """
        for _ in range(ROUNDS):
            deadline.check()
            outcome = self._once(event, deadline)
            if outcome is not None:
                self._telemetry.count(outcome)
                return outcome
            self._telemetry.count(Metric.INGEST_CONFLICTS)
        raise Unavailable("the ledger row, or the object, changed each time that it was looked at")

    def _once(self, event: ObjectEvent, deadline: Deadline) -> str | None:
        row = self._ledger.read(bucket=event.bucket, key=event.key.text)
        verdict = judge(row, event, now=self._clock.now(), tombstone_seconds=self._rules.tombstone_seconds)
        match verdict:
            case Verdict.DUPLICATE:
                return Metric.DUPLICATE
            case Verdict.STALE:
                return Metric.INGEST_STALE
            case Verdict.MOVED_ON:
                return Metric.INGEST_SUPERSEDED
            case Verdict.APPLY:
                return self._exact(_Step(event, row, deadline, exact=True))
            case Verdict.UNDECIDED:
                self._telemetry.count(Metric.INGEST_UNDECIDED)
        return self._by_bucket(_Step(event, row, deadline, exact=False))

    # --- The event as it is -----------------------------------------------------------------------------------------

    def _exact(self, step: _Step) -> str | None:
        event = step.event
        if event.action == "delete":
            return self._removed(step)
        self._check_size(event.size)
        reached = self._put(step, event.state)
        return Metric.INGEST_SUPERSEDED if reached is None else self._done(Metric.INGESTED_PUTS, committed=reached)

    # --- What the bucket says ---------------------------------------------------------------------------------------

    def _by_bucket(self, step: _Step) -> str | None:
        event, row = step.event, step.row
        found = self._objects.head(bucket=event.bucket, key=event.key.text)
        current = None if found is None else found.state
        if not confirms(current, event):
            return Metric.INGEST_SUPERSEDED
        if settled(row, current):
            return self._nothing_new(step, current)
        if current is None:
            return self._removed(step)
        self._check_size(current.size)
        return self._done(Metric.INGESTED_PUTS, committed=bool(self._put(step, current)))

    def _nothing_new(self, step: _Step, current: ObjectState | None) -> str | None:
        """Record only that no earlier event counts any more."""
        if step.event.sequencer is None:
            return Metric.DUPLICATE
        committed = self._commit(step, current, Transaction(step.deadline))
        return self._done(Metric.DUPLICATE, committed=committed)

    # --- Effects ----------------------------------------------------------------------------------------------------

    def _put(self, step: _Step, wanted: ObjectState) -> bool | None:
        """Apply a state: whether it was committed; None if the object is not so any more."""
        transaction = Transaction(step.deadline)
        opened = self._open(step.event, wanted)
        if opened is None:
            return None
        found = opened.found if isinstance(opened, OpenedVersion) else opened
        change = self._change(step, found)
        if not isinstance(opened, OpenedVersion):
            self._check_length(step, found)
            self._run(lambda: self._apply_put(change, None, transaction))
        else:
            stream = self._stream(step, opened)
            try:
                self._run(lambda: self._apply_put(change, stream, transaction))
                stream.finish()
            except Exception as error:
                settle(stream, error)
                raise
            finally:
                stream.abandon()
        return self._commit(step, found.state, transaction)

    def _removed(self, step: _Step) -> str | None:
        transaction = Transaction(step.deadline)
        change = self._change(step, None)
        self._run(lambda: self._apply_delete(change, transaction))
        return self._done(Metric.INGESTED_DELETES, committed=self._commit(step, None, transaction))

    @staticmethod
    def _done(metric: str, *, committed: bool) -> str | None:
        return metric if committed else None

    def _run(self, handler: Callable[[], object]) -> None:
        with self._telemetry.span("handler"):
            handler()

    def _open(self, event: ObjectEvent, wanted: ObjectState) -> OpenedVersion | FoundObject | None:
        """The very version or, without one, the current object only if it still has the entity tag."""
        version = wanted.version_id
        etag = wanted.etag if version is None else None
        place = {"bucket": event.bucket, "key": event.key.text}
        if self._rules.access == "none":
            return self._objects.head(**place, version_id=version, etag=etag)
        began = self._clock.monotonic()
        try:
            with self._telemetry.span("fetch"):
                return self._objects.open(**place, version_id=version, etag=etag)
        finally:
            self._telemetry.count(Metric.FETCH_MILLISECONDS, (self._clock.monotonic() - began) * 1000)

    def _stream(self, step: _Step, opened: OpenedVersion) -> VerifiedStream:
        found = opened.found
        try:
            self._check_length(step, found)
        except Exception:
            opened.body.close()
            raise
        return VerifiedStream(
            opened.body,
            content_length=found.state.size or 0,
            sha256=None,
            checksum=found.checksum,
            checkpoint=step.deadline.check,
        )

    def _check_length(self, step: _Step, found: FoundObject) -> None:
        told = step.event.size if step.exact else None
        if told is not None and told != found.state.size:
            raise ChecksumMismatch(f"size: the object has {found.state.size} bytes, the event says {told}")
        self._check_size(found.state.size)
        self._telemetry.count(Metric.PAYLOAD_BYTES, found.state.size or 0)

    def _check_size(self, size: int | None) -> None:
        if size is not None and size > self._rules.max_object_bytes:
            raise PayloadTooLarge(f"size: {size} bytes; this ingester takes {self._rules.max_object_bytes}")

    @staticmethod
    def _change(step: _Step, found: FoundObject | None) -> ObjectChange:
        event = step.event
        common = {
            "bucket": event.bucket,
            "key": event.key,
            "kind": event.kind,
            "effect_token": effect_token(step.row, event),
            "sequencer": event.sequencer,
            "occurred_at": event.occurred_at,
        }
        if found is None:
            return ObjectChange(**common, version_id=event.version_id if step.exact else None)  # type: ignore[arg-type]  # as below
        return ObjectChange(
            **common,  # type: ignore[arg-type]  # each value is of its field's type
            version_id=found.state.version_id,
            etag=found.state.etag,
            size=found.state.size,
            content_type=found.content_type,
            metadata=found.metadata,
        )

    # --- Commit -----------------------------------------------------------------------------------------------------

    def _commit(self, step: _Step, current: ObjectState | None, transaction: Transaction) -> bool:
        """Record the state with its effect. False if the row is not as it was read: nothing was written."""
        step.deadline.check()
        row = row_after(
            step.row,
            step.event,
            current,
            exact=step.exact,
            revision=self._new_token(),
            now=self._clock.now(),
            tombstone_seconds=self._rules.tombstone_seconds,
            pad=self._rules.pad,
        )
        seen = None if step.row is None else step.row.revision
        with self._telemetry.span("commit"):
            reply = self._written(row, seen, transaction, step.deadline)
        if isinstance(reply, WriteRefused):
            raise transaction.refusal(reply.index)
        return reply is None or (reply.row is not None and reply.row.revision == row.revision)

    def _written(
        self, row: LedgerRow, seen: str | None, transaction: Transaction, deadline: Deadline
    ) -> LedgerRefused | WriteRefused | None:
        """One write, the same request again through conflicts and throttles while there is time."""
        failures = 0
        while True:
            try:
                return self._ledger.write(row, seen=seen, writes=transaction.writes)
            except Unavailable as error:
                failures += 1
                pause = min(1.0, 0.05 * 2**failures) * (0.5 + self._random() / 2)
                if deadline.remaining() <= pause:
                    raise Busy(str(error)) from None
                self._clock.sleep(pause)


class Busy(CommitFailed):
    """Conflicts or throttles until the deadline: the infrastructure's."""

    refunded = True
