"""Random histories of a bucket, with everything that may happen to its events (R10.1 - R10.3).

Events are shuffled, duplicated, delayed and dropped; two ingesters are at work inside of one another; processes die and
answers are lost at any call. The bucket itself remembers in which order its states were true, and judges: no effect of
an older state after a newer one, and after reconciliation the target is what the bucket is.
"""

from __future__ import annotations

import dataclasses
import json
import random
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from claim_check.contract import ErrorCode, Metric
from claim_check.errors import Unavailable
from claim_check.ingest import ObjectChange, ingester, ledger, notifications
from claim_check.ingest.applying import Applier
from claim_check.ingest.changes import ObjectEvent
from claim_check.ingest.ledger import Verdict
from claim_check.ingest.ports import LedgerRow, OpenedVersion
from claim_check.transaction import Transaction
from claim_check.verified_stream import VerifiedStream
from tests.fakes.faults import Crash
from tests.fakes.ingest import FakeBucket, FakeLedger
from tests.ingest_world import TOMBSTONE_SECONDS, IngestWorld, apply_delete, apply_put

HISTORIES = 6_000
CHUNK = 2000
KEYS = ("a", "b/é +%2B.txt")
CONTENTS = (b"", b"one", b"two", b"three")


class History:
    """One history, drawn from a seed."""

    def __init__(self, seed: int, *, world: Callable[[bool], IngestWorld] = IngestWorld) -> None:
        """Begin with an empty bucket."""
        self.random = random.Random(seed)  # noqa: S311 - a test's choices
        self.world = world(seed % 2 == 0)
        self.world.clock.advance(self.random.random())
        self.on_their_way: list[str] = []
        self.known_at: list[dict[str, int]] = []
        self.depth = 0
        self.calm = False
        self.ingesters = [self.world.ingester(self.put, self.delete) for _ in range(2)]

    # --- Handlers ---------------------------------------------------------------------------------------------------

    def put(self, change: ObjectChange, stream: VerifiedStream | None, tx: Transaction) -> None:
        """Apply; fail now and then."""
        if not self.calm and self.random.random() < 0.1:
            raise RuntimeError
        apply_put(change, stream, tx)

    def delete(self, change: ObjectChange, tx: Transaction) -> None:
        """Apply; fail now and then."""
        if not self.calm and self.random.random() < 0.1:
            raise RuntimeError
        apply_delete(change, tx)

    # --- What happens -----------------------------------------------------------------------------------------------

    def run(self) -> None:
        """All of it."""
        for _ in range(self.random.randint(6, 22)):
            actions = (self.change, self.deliver, self.reconcile, self.wait, self.expire)
            action = self.random.choices(actions, (5, 5, 1, 1, 0.3))[0]
            action()
            self.world.check_order()
        late = [body for body in self.on_their_way if self.random.random() < 0.3]
        self.end()
        self.on_their_way = late  # replayed when all is done
        self.deliver_all()
        self.world.check_order()
        assert self.world.target() == self.world.truth(), "the target is not the bucket"

    def end(self) -> None:
        """Let everything arrive, and reconcile until nothing differs."""
        self.calm = True
        self.deliver_all()
        for _ in range(6):
            self.world.clock.advance(3600)
            report = self.world.reconciliation().run(anew=True)
            self.on_their_way += self.world.synthetic()
            self.deliver_all()
            self.world.check_order()
            if report.differences == 0:
                break
        else:
            pytest.fail("the reconciliation finds differences again and again")
        assert report.complete
        assert self.world.target() == self.world.truth(), "the target is not the bucket"

    def change(self) -> None:
        """Something happens to an object; its event is sent, or lost, or sent twice."""
        key, bucket = self.random.choice(KEYS), self.world.bucket
        versions = bucket.versions.get(key, [])
        self.world.clock.advance(2)  # a listing tells versions of the same content apart by their second
        if bucket.versioned and versions and self.random.random() < 0.3:
            record = bucket.remove_version(key, self.random.choice(versions))
        elif versions and self.random.random() < 0.4:
            record = bucket.delete(key, family=self.random.choice(("ObjectRemoved", "LifecycleExpiration")))
        else:
            kind = self.random.choice(("Put", "Copy", "CompleteMultipartUpload"))
            record = bucket.put(key, self.random.choice(CONTENTS), kind=f"ObjectCreated:{kind}")
        fields = record["s3"]["object"]
        fate = self.random.random()
        if fate < 0.05:
            del fields["sequencer"]
        elif fate < 0.2:
            fields["sequencer"] += self.random.choice(("01", "A5F3"))
        copies = self.random.choices((0, 1, 2), (3, 8, 2))[0]
        self.on_their_way += [json.dumps({"Records": [record]})] * copies

    def deliver(self) -> None:
        """Any of the messages arrives, and perhaps something goes wrong meanwhile."""
        if not self.on_their_way:
            return
        if not self.calm and self.depth == 0 and self.random.random() < 0.7:
            self.plan_mishap()
        body = self.on_their_way.pop(self.random.randrange(len(self.on_their_way)))
        self.depth += 1
        try:
            delivery = self.world.delivery(body=body)
            outcome = self.world.process(self.ingesters[self.depth % 2], delivery, seconds=4)
            if not outcome.acknowledged:
                self.on_their_way.append(body)
        except Crash:
            self.on_their_way.append(body)
            if self.depth > 1:
                raise
        finally:
            self.depth -= 1
            if self.depth == 0:
                self.world.faults._plans.clear()

    def plan_mishap(self) -> None:
        """At some call: the process dies, the service does not answer, or others are at work."""
        when, skip, faults = self.random.choice(("before", "after")), self.random.randrange(7), self.world.faults
        match self.random.choice(("death", "lost", "another", "another", "another", "change")):
            case "death":
                faults.fail(None, Crash(), when=when, skip=skip)  # type: ignore[arg-type]
            case "lost":
                name = self.random.choice(("read_row", "write_row", "write_row", "head", "open", "read"))
                times = self.random.choice((1, 1, 50))
                faults.fail(name, Unavailable("no answer"), when=when, times=times)  # type: ignore[arg-type]
            case "another":
                faults.on(None, self.deliver, when=when, skip=skip)  # type: ignore[arg-type]
            case "change":
                faults.on(None, self.change, when=when, skip=skip)  # type: ignore[arg-type]

    def reconcile(self) -> None:
        """A reconciliation runs, perhaps while things happen; its events take their time like others."""
        if self.random.random() < 0.3:
            self.world.clock.advance(3600)
        if self.random.random() < 0.5:
            interruption = self.random.choice((self.change, self.deliver))
            self.world.faults.on(None, interruption, skip=self.random.randrange(8))
        grace = self.random.choice((0, 900))
        self.world.reconciliation(grace_seconds=grace).run(anew=True)
        self.world.faults._plans.clear()
        self.on_their_way += self.world.synthetic()

    def wait(self) -> None:
        """Time passes."""
        self.world.clock.advance(self.random.choice((0.5, 30, 900)))

    def expire(self) -> None:
        """Tombstones reach the end of their lives, although there are events that are older."""
        self.world.clock.advance(TOMBSTONE_SECONDS + 1)
        rows, now = self.world.ledger.stored, self.world.clock.now()
        for place in [place for place, row in rows.items() if row.ttl is not None and row.ttl <= now]:
            del rows[place]

    def deliver_all(self) -> None:
        """Everything arrives, in any order."""
        for _ in range(400):
            if not self.on_their_way:
                return
            self.deliver()
        pytest.fail("never quiet")


@pytest.mark.parametrize("first", range(0, HISTORIES, CHUNK))
def test_no_older_state_is_applied_after_a_newer_one_and_the_target_becomes_the_bucket(first: int) -> None:
    """R10: some thousand histories, a different one for each seed; among them everything that can happen."""
    seen: Counter[str] = Counter()
    for seed in range(first, first + CHUNK):
        history = History(seed)
        try:
            history.run()
        except BaseException as error:
            error.add_note(f"history {seed}")
            raise
        seen.update({name: int(value) for name, value in history.world.telemetry.counts.items()})
    expected = {
        Metric.INGESTED_PUTS,
        Metric.INGESTED_DELETES,
        Metric.DUPLICATE,
        Metric.INGEST_STALE,
        Metric.INGEST_SUPERSEDED,
        Metric.INGEST_UNDECIDED,
        Metric.INGEST_CONFLICTS,
        Metric.INGEST_DIFFERENCES,
        ErrorCode.UNAVAILABLE,
        ErrorCode.HANDLER_FAILED,
    }
    assert {name for name in expected if seen[name] < CHUNK // 20} == set()


# --- Rules broken on purpose ----------------------------------------------------------------------------------------


class _NoCondition(FakeLedger):
    """Writes whatever was read."""

    def matches(self, present: LedgerRow | None, seen: str | None) -> bool:  # noqa: ARG002 - the fake's
        return True


class _NoTombstones(FakeLedger):
    """Forgets what was removed."""

    def write(self, row: LedgerRow, **options: Any) -> Any:  # noqa: ANN401 - the port's
        reply = super().write(row, **options)
        if reply is None and row.state == "DELETED":
            self.stored.pop((row.bucket, row.key), None)
        return reply


class _NoIfMatch(FakeBucket):
    """Reads whatever is current."""

    def open(
        self,
        *,
        bucket: str,
        key: str,
        version_id: str | None,
        etag: str | None,  # noqa: ARG002 - that it is not used is what breaks the rule
    ) -> OpenedVersion | None:
        return super().open(bucket=bucket, key=key, version_id=version_id, etag=None)


def _with(part: str, kind: type) -> Callable[[bool], IngestWorld]:
    def make(versioned: bool) -> IngestWorld:  # noqa: FBT001 - as IngestWorld
        world = IngestWorld(versioned)
        if part == "ledger":
            world.ledger = kind(world.faults)
        else:
            world.bucket = kind(world.clock, world.faults, versioned=versioned)
        return world

    return make


def _by_padded_text(a: str | None, b: str | None) -> int | None:
    """Left-padded text decides alone."""
    if a is None or b is None:
        return None
    width = max(len(a), len(b))
    a, b = a.rjust(width, "0"), b.rjust(width, "0")
    return (a > b) - (a < b)


def _left_pad(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ledger, "order", _by_padded_text)


def _arrival_order(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ledger, "order", lambda a, b: None if a is None or b is None else int(a != b))


def _blind_synthetic(patch: pytest.MonkeyPatch) -> None:
    def blind(body: str) -> list[Any]:
        return [
            dataclasses.replace(one, action="delete" if one.seen.etag is None else "put", etag=one.seen.etag)
            if isinstance(one, ObjectEvent) and one.seen is not None
            else one
            for one in notifications.parse(body)
        ]

    judge = ledger.judge

    def judged(row: LedgerRow | None, event: ObjectEvent, **options: Any) -> Verdict:  # noqa: ANN401 - the rule's
        return Verdict.APPLY if event.seen is not None else judge(row, event, **options)

    patch.setattr(ingester, "parse", blind)
    patch.setattr("claim_check.ingest.applying.judge", judged)


def _asked_is_exact(patch: pytest.MonkeyPatch) -> None:
    row_after = ledger.row_after

    def exact(*arguments: Any, **options: Any) -> LedgerRow:  # noqa: ANN401 - the rule's
        row = row_after(*arguments, **options)
        return dataclasses.replace(row, exact=True)

    patch.setattr("claim_check.ingest.applying.row_after", exact)


def _every_delete_is_a_delete(patch: pytest.MonkeyPatch) -> None:
    action = notifications._action

    def named(name: str, *, named_version: bool) -> Any:  # noqa: ANN401, ARG001 - as the rule
        return action(name, named_version=False)

    patch.setattr(notifications, "_action", named)


def _unconfirmed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("claim_check.ingest.applying.confirms", lambda *_: True)
    patch.setattr(
        Applier,
        "_by_bucket",
        lambda self, step: self._exact(dataclasses.replace(step, exact=True)),
    )


def _no_row_is_proof(patch: pytest.MonkeyPatch) -> None:
    judge = ledger.judge

    def judged(row: LedgerRow | None, event: ObjectEvent, **options: Any) -> Verdict:  # noqa: ANN401 - the rule's
        return judge(row, event, **{**options, "tombstone_seconds": 10**9})

    patch.setattr("claim_check.ingest.applying.judge", judged)


MUTANTS: Mapping[str, tuple[Callable[[bool], IngestWorld], Callable[[pytest.MonkeyPatch], None]]] = {
    "the write has no condition": (_with("ledger", _NoCondition), lambda _: None),
    "deletes leave no tombstone": (_with("ledger", _NoTombstones), lambda _: None),
    "the read has no If-Match": (_with("bucket", _NoIfMatch), lambda _: None),
    "left-padded text decides alone": (IngestWorld, _left_pad),
    "events apply in the order of arrival": (IngestWorld, _arrival_order),
    "a synthetic event is applied blindly": (IngestWorld, _blind_synthetic),
    "what the bucket said counts as the event's": (IngestWorld, _asked_is_exact),
    "the removal of a version is that of the object": (IngestWorld, _every_delete_is_a_delete),
    "the bucket is never asked": (IngestWorld, _unconfirmed),
    "no row is proof, whatever the age of an event": (IngestWorld, _no_row_is_proof),
}


WRONG = "an older state of|again and again|never quiet|target is not the bucket"


def _run_all(world: Callable[[bool], IngestWorld]) -> None:
    for seed in range(HISTORIES):
        History(seed, world=world).run()


@pytest.mark.parametrize("rule", MUTANTS)
def test_a_broken_rule_is_found(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rule of the ledger is needed: without it some history goes wrong."""
    world, break_it = MUTANTS[rule]
    break_it(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception), match=WRONG):
        _run_all(world)
