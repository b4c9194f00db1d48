"""Bucket against ledger: what differs, in flat memory, resumed anywhere, at a limited rate (R10.3)."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check import contract
from claim_check.contract import Metric
from claim_check.errors import ReadRefused, Unavailable
from claim_check.ingest import LedgerReconciliation
from claim_check.ingest.changes import ObjectEvent
from claim_check.ingest.notifications import parse
from claim_check.ingest.ports import LedgerRow
from claim_check.ingest.reconciliation import (
    CHECKPOINT_OBJECTS,
    SETTLE_SECONDS,
    STOP_SECONDS,
    ReconciliationReport,
    prefixes_of,
)
from claim_check.ingest.settings import KeyFilter, ReconciliationSettings
from claim_check.ports import ListedObject, ListingPage
from tests.fakes.clock import FakeClock
from tests.fakes.ingest import BUCKET, FakeLedger, etag_of
from tests.fakes.queue import FakeQueue
from tests.fakes.telemetry import FakeTelemetry
from tests.ingest_world import QUEUE, IngestWorld


@pytest.fixture
def world() -> IngestWorld:
    """Everything, with a few pages of objects."""
    found = IngestWorld()
    found.bucket.page_objects = 3
    return found


def differing(world: IngestWorld) -> None:
    """Ten objects: some applied, some never told, one changed and one removed behind the ledger's back."""
    for number in range(10):
        record = world.bucket.put(f"k{number}", b"one")
        if number % 3:
            world.handle(record)
    world.bucket.put("k4", b"two")
    world.bucket.delete("k5")
    world.clock.advance(3600)


def seen(world: IngestWorld) -> dict[str, str | None]:
    """What the queued synthetic events saw, by key."""
    found = {}
    for body in world.synthetic():
        (event,) = parse(body)
        assert isinstance(event, ObjectEvent)
        assert event.seen is not None
        found[event.key.text] = event.seen.etag
    return found


# --- Differences ----------------------------------------------------------------------------------------------------


def test_what_is_new_changed_and_gone_is_queued(world: IngestWorld) -> None:
    differing(world)
    report = world.reconciliation().run()
    assert report == ReconciliationReport(listed=9, new=4, changed=1, gone=1, queued=6, complete=True)
    assert seen(world) == {
        **dict.fromkeys(["k0", "k3", "k6", "k9"], etag_of(b"one")),
        "k4": etag_of(b"two"),
        "k5": None,
    }
    assert world.telemetry.counts[Metric.INGEST_DIFFERENCES] == 6
    assert world.telemetry.counts[Metric.INGEST_LISTED] == 9


def test_a_second_run_finds_nothing_once_its_events_were_applied(world: IngestWorld) -> None:
    differing(world)
    world.reconciliation().run()
    for body in world.synthetic():
        assert world.process(world.ingester(), world.delivery(body=body)).acknowledged
    assert world.target() == world.truth()
    assert world.reconciliation().run(anew=True).differences == 0


def test_zero_differences_are_emitted_too(world: IngestWorld) -> None:
    """An alarm on missing data would be one on every quiet day."""
    world.reconciliation().run()
    assert world.telemetry.flushed == [{Metric.INGEST_LISTED: 0, Metric.INGEST_DIFFERENCES: 0}]


def test_a_tombstone_is_no_difference_unless_the_object_is_there(world: IngestWorld) -> None:
    world.handle(world.bucket.put("a", b"one"))
    world.handle(world.bucket.delete("a"))
    world.clock.advance(3600)
    assert world.reconciliation().run().differences == 0
    world.bucket.put("a", b"one")
    world.clock.advance(3600)
    assert world.reconciliation().run(anew=True).new == 1


def test_the_same_content_written_anew_is_a_change(world: IngestWorld) -> None:
    """Its metadata may have changed, and on a versioned bucket the old version will expire."""
    world.handle(world.bucket.put("a", b"one"))
    world.clock.advance(5)
    world.bucket.put("a", b"one")
    world.clock.advance(3600)
    assert world.reconciliation().run().changed == 1
    for body in world.synthetic():
        world.process(world.ingester(), world.delivery(body=body))
    assert world.reconciliation().run(anew=True).differences == 0


def test_young_objects_are_left_to_their_events(world: IngestWorld) -> None:
    world.bucket.put("a", b"one")
    world.clock.advance(contract.INGEST_GRACE_SECONDS - 1)
    assert world.reconciliation().run().differences == 0
    world.clock.advance(2)
    assert world.reconciliation().run(anew=True).new == 1


def test_what_seems_gone_is_looked_at_once_more(world: IngestWorld) -> None:
    """It was written after the listing, or its removal was on its way."""
    for key in ("back", "told", "lost"):
        world.handle(world.bucket.put(key, b"one"))
    removals = {key: world.bucket.delete(key) for key in ("back", "told", "lost")}
    world.clock.advance(3600)

    def meanwhile() -> None:
        world.handle(world.bucket.put("back", b"one"))
        world.handle(removals["told"])

    world.faults.on("page", meanwhile, when="after")
    assert world.reconciliation().run().gone == 1
    assert seen(world) == {"lost": None}
    assert world.clock.sleeps[-1] == 0
    assert max(world.clock.sleeps) == pytest.approx(SETTLE_SECONDS)


def test_only_what_the_bucket_notifies_of_counts(world: IngestWorld) -> None:
    for key in ("in/a.csv", "in/b.txt", "out/c.csv", "in/x/d.csv", "other/e.csv"):
        world.bucket.put(key, b"one")
    world.handle(world.bucket.put("gone/f.csv", b"one"))
    world.bucket.delete("gone/f.csv")
    world.clock.advance(3600)
    filters = (KeyFilter("in/", ".csv"), KeyFilter("out/", ""))
    assert world.reconciliation(filters=filters).run().listed == 3
    assert seen(world).keys() == {"in/a.csv", "in/x/d.csv", "out/c.csv"}


@pytest.mark.parametrize(
    "prefixes, listed",
    [
        ([], [""]),
        (["in/b", "in/a"], ["in/a", "in/b"]),
        (["in/", "in/b", "in0"], ["in/", "in0"]),
        (["b", ""], [""]),
        (["a", "a/b", "a/b/c", "b", "é"], ["a", "b", "é"]),
    ],
    ids=str,
)
def test_what_is_listed_is_what_the_filters_cover(prefixes: list[str], listed: list[str]) -> None:
    """And nothing else: the function may list no other prefix."""
    assert prefixes_of([KeyFilter(prefix) for prefix in prefixes]) == listed


def test_a_run_over_several_prefixes_is_resumed_within_any_of_them(world: IngestWorld) -> None:
    keys = [f"{prefix}/{number}" for prefix in ("a", "b", "c") for number in range(5)]
    for key in [*keys, "other/1"]:
        world.bucket.put(key, b"one")
    world.clock.advance(3600)
    filters = tuple(KeyFilter(f"{prefix}/") for prefix in ("c", "a", "b"))
    found, reports = dict[str, str | None](), []
    for _ in range(20):
        world.faults.on("page", lambda: world.clock.advance(10), when="after", skip=1)
        reports.append(world.reconciliation(filters=filters).run(remaining_seconds=STOP_SECONDS + 5))
        world.faults._plans.clear()
        found |= seen(world)
        if reports[-1].complete:
            break
    assert sorted(found) == keys
    assert len(reports) > 3
    assert sum(report.listed for report in reports) == len(keys)


KEYS = st.sets(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4), max_size=20)


@given(KEYS, KEYS, st.integers(1, 5))
def test_two_streams_of_any_keys_are_joined(listed: set[str], applied: set[str], page: int) -> None:
    world = IngestWorld()
    world.bucket.page_objects = page
    for key in applied:
        world.handle(world.bucket.put(key, b"one"))
    for key in applied - listed:
        world.bucket.delete(key)
    for key in listed - applied:
        world.bucket.put(key, b"one")
    world.clock.advance(3600)
    report = world.reconciliation().run()
    assert (report.new, report.changed, report.gone) == (len(listed - applied), 0, len(applied - listed))
    assert seen(world).keys() == listed ^ applied


# --- Runs -----------------------------------------------------------------------------------------------------------


def test_a_dry_run_only_looks(world: IngestWorld) -> None:
    differing(world)
    report = world.reconciliation().run(dry_run=True)
    assert (report.differences, report.queued) == (6, 0)
    assert world.synthetic() == []
    assert world.ledger.checkpoints == {}


def test_a_run_that_is_not_due_does_nothing(world: IngestWorld) -> None:
    differing(world)
    reconciliation = world.reconciliation(every_seconds=86_400)
    assert reconciliation.run_if_due(remaining_seconds=900).complete
    world.faults.clear()
    assert reconciliation.run_if_due(remaining_seconds=900).skipped
    assert world.faults.calls == ["load"]
    world.clock.advance(86_400 * 0.96)
    assert not reconciliation.run_if_due(remaining_seconds=900).skipped


def test_a_run_that_is_out_of_time_is_resumed_where_it_ended(world: IngestWorld) -> None:
    differing(world)
    world.faults.on("page", lambda: world.clock.advance(40), when="after", skip=1)
    first = world.reconciliation().run_if_due(remaining_seconds=STOP_SECONDS + 30)
    assert (first.complete, first.resumed) == (False, False)
    second = world.reconciliation().run_if_due(remaining_seconds=10**6)
    assert (second.complete, second.resumed) == (True, True)
    assert first.listed + second.listed == 9
    assert seen(world).keys() == {"k0", "k3", "k6", "k9", "k4", "k5"}


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_death_at_any_call_leaves_no_difference_behind(when: Any) -> None:  # noqa: ANN401 - Faults' type
    boundary = 0
    died = True
    while died:
        world = IngestWorld()
        world.bucket.page_objects = 3
        differing(world)
        world.faults.clear()
        world.faults.fail(None, Unavailable("it dies"), when=when, skip=boundary, times=10**6)
        try:
            world.reconciliation().run()
            died = False
        except Unavailable:
            world.faults.clear()
            assert world.reconciliation().run().complete
        world.faults.clear()
        for body in world.synthetic():
            world.process(world.ingester(), world.delivery(body=body))
        assert world.target() == world.truth()
        boundary += 1
    assert boundary >= 10


def test_what_may_be_gone_holds_the_checkpoint_back_only_until_it_has_settled(world: IngestWorld) -> None:
    world.handle(world.bucket.put("a", b"one"))
    world.bucket.delete("a")
    for number in range(6):
        world.bucket.put(f"b{number}", b"one")
    world.clock.advance(3600)

    world.bucket.page_objects = 2

    def after(seconds: float) -> str:
        world.faults.on("page", lambda: world.clock.advance(seconds), when="after", skip=1)
        world.faults.on("page", lambda: world.clock.advance(10), when="after", skip=2)
        world.reconciliation().run(remaining_seconds=STOP_SECONDS + seconds + 5)
        world.faults._plans.clear()
        return str(json.loads(world.ledger.checkpoints["ingest#ingest"])["after"])

    assert after(SETTLE_SECONDS / 2) == ""
    assert "a" not in seen(world)
    assert after(SETTLE_SECONDS) == "b3"
    assert "a" in seen(world)


def test_more_that_is_gone_than_there_is_time_for_is_gone_through_in_several_runs(world: IngestWorld) -> None:
    """A thousand at once are held, each is looked at again, and each event keeps to the rate."""
    world.bucket.page_objects = 10_000
    keys = [f"k{number:04d}" for number in range(1500)]
    for key in keys:
        world.ledger.stored[BUCKET, key] = LedgerRow(bucket=BUCKET, key=key, state="PRESENT", revision=key, etag="e")
    found = dict[str, str | None]()
    reports = []
    for _ in range(20):
        began = world.clock.monotonic()
        reports.append(world.reconciliation(rate=2).run(remaining_seconds=STOP_SECONDS + SETTLE_SECONDS + 100))
        assert world.clock.monotonic() - began < STOP_SECONDS + SETTLE_SECONDS + 100
        found |= seen(world)
        if reports[-1].complete:
            break
    assert sorted(found) == keys
    assert sum(report.gone for report in reports) == len(keys)
    assert len(reports) > 5


def test_what_may_be_gone_is_held_in_bounds(world: IngestWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("claim_check.ingest.reconciliation.MOST_PENDING", 5)
    for number in range(12):
        world.ledger.stored[BUCKET, f"k{number:02d}"] = LedgerRow(
            bucket=BUCKET, key=f"k{number:02d}", state="PRESENT", revision="r", etag="e"
        )
    assert world.reconciliation().run().gone == 12
    assert [seconds for seconds in world.clock.sleeps if seconds > 1] == [SETTLE_SECONDS] * 3


def test_a_checkpoint_of_another_version_is_begun_anew(world: IngestWorld) -> None:
    world.ledger.checkpoints["ingest#ingest"] = '{"marker":"x"}'
    assert world.reconciliation().run_if_due(remaining_seconds=900).complete


def test_events_leave_no_faster_than_the_rate(world: IngestWorld) -> None:
    for number in range(95):
        world.bucket.put(f"k{number:02d}", b"one")
    world.clock.advance(3600)
    world.bucket.page_objects = 1000
    began = world.clock.monotonic()
    assert world.reconciliation(rate=5).run().queued == 95
    assert world.clock.monotonic() - began == pytest.approx(90 / 5)
    assert [len(batch) for batch in world.queue.batches] == [10] * 9 + [5]


def test_events_that_the_queue_refused_are_sent_again(world: IngestWorld) -> None:
    differing(world)
    world.faults.fail("send_batch", Unavailable("no answer"), times=2)
    assert world.reconciliation().run().queued == 6
    assert len(world.synthetic()) == 6


def test_a_queue_that_takes_nothing_ends_the_run_before_its_checkpoint(world: IngestWorld) -> None:
    differing(world)
    world.faults.fail("send_batch", Unavailable("no answer"), times=100)
    with pytest.raises(Unavailable):
        world.reconciliation().run()
    assert world.ledger.checkpoints == {}
    assert world.telemetry.flushed[-1][Metric.INGEST_DIFFERENCES] == 6


def test_a_bucket_that_refuses_is_said_so(world: IngestWorld) -> None:
    world.faults.fail("page", ReadRefused("no"))
    with pytest.raises(ReadRefused):
        world.reconciliation().run()


def test_on_fifo_an_objects_events_share_its_group(world: IngestWorld) -> None:
    """R10.4."""
    differing(world)
    queue = f"{QUEUE}.fifo"
    reconciliation = world.reconciliation(queue_url=queue)
    reconciliation.run()
    messages = [one.message for one in world.queue.messages(queue)]
    assert len(messages) == 6
    for message in messages:
        (event,) = parse(message.body)
        assert isinstance(event, ObjectEvent)
        assert message.group_id == contract.ingest_group(bucket=BUCKET, key=event.key.text)
    world.clock.advance(100)
    reconciliation.run()
    assert len(world.queue.messages(queue)) == 12  # another run's are no duplicates


# --- Size -----------------------------------------------------------------------------------------------------------


class _Many:
    """A bucket of so many objects, and its ledger, none of which is kept; one in ten thousand differs."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.faults = FakeLedger()

    def key(self, number: int) -> str:
        return f"{number:012d}"

    def page(self, *, bucket: str, prefix: str, start_after: str) -> ListingPage:  # noqa: ARG002 - the port's
        first = int(start_after) + 1 if start_after else 0
        last = min(first + 1000, self.count)
        written = datetime.fromtimestamp(0, UTC)
        listed = [
            ListedObject(key=self.key(number), content_length=1, etag="e", last_modified=written)
            for number in range(first, last)
        ]
        return ListingPage(listed, more=last < self.count)

    def rows(self, *, bucket: str, prefix: str, start_after: str) -> Iterator[LedgerRow]:  # noqa: ARG002 - the port's
        for number in range(int(start_after) + 1 if start_after else 0, self.count):
            etag = "e" if number % 10_000 else "other"
            yield LedgerRow(bucket=bucket, key=self.key(number), state="PRESENT", revision="r", etag=etag)


def test_memory_stays_flat_at_a_hundred_thousand_objects() -> None:
    """R10.3: what is held are a page, a batch, and what may be gone."""
    assert _peak(100_000) < 2 * 2**20


def _peak(count: int) -> int:
    many, clock, ledger = _Many(count), FakeClock(), FakeLedger()
    reconciliation = LedgerReconciliation(
        ReconciliationSettings(name="i", bucket=BUCKET, queue_url=QUEUE, ledger_table="l", rate=10**6),
        listing=many,
        ledger=many,  # type: ignore[arg-type]  # it is only walked
        checkpoints=ledger,
        objects=IngestWorld().bucket,
        queue=FakeQueue(clock),
        clock=clock,
        telemetry=FakeTelemetry(),
    )
    tracemalloc.start()
    try:
        report = reconciliation.run()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (report.listed, report.changed) == (count, -(-count // 10_000))
    assert len(ledger.faults.calls) == 2 + count // CHECKPOINT_OBJECTS
    return peak
