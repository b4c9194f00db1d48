"""Payloads and what the rows say of them: every class, what is removed and what never is (R7.1)."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

from benchmarks.figures.reconcile import PREFIX, Listing
from claim_check.contract import MIB, TAG_STATE, InboxState, Metric
from claim_check.errors import AccessDenied, ReadRefused, Unavailable
from claim_check.ports import InboxRow
from claim_check.reconciliation import Outcome, Reconciliation
from claim_check.reconciliation.judging import CLASSES
from claim_check.reconciliation.runs import InboxSource
from claim_check.reconciliation.tally import Progress, Tally
from claim_check.telemetry import key_hash
from tests.reconciliation_world import BUCKET, DAY, HOUR, TENANT, UNCONFIRMED, World, key_of

Setup = Callable[[World], object]


def uploaded(world: World, *, age: float = 30 * DAY, **fields: Any) -> str:  # noqa: ANN401 - of World.put
    """An upload by grant."""
    return world.put("e", age=age, uploaded=True, **{"tags": UNCONFIRMED, **fields})


CASES: Final[dict[str, tuple[str, Setup]]] = {
    "no row": ("unknown", lambda w: w.put("e")),
    "younger than the grace age": ("young", lambda w: w.put("e", age=DAY - 1)),
    "in progress": ("open", lambda w: (w.put("e"), w.received("e", "IN_PROGRESS"))),
    "failed": ("open", lambda w: (w.put("e"), w.received("e", "FAILED"))),
    "parking": ("open", lambda w: (w.put("e"), w.received("e", "PARKING"))),
    "parked": ("open", lambda w: (w.put("e"), w.received("e", "PARKED"))),
    "completed": ("completed", lambda w: (w.put("e"), w.received("e", "COMPLETED"))),
    "completed by one, open for another": (
        "open",
        lambda w: (w.put("e"), w.received("e", "COMPLETED"), w.received("e", "FAILED", consumer="search")),
    ),
    "completed by both": (
        "completed",
        lambda w: (w.put("e"), w.received("e", "COMPLETED"), w.received("e", "COMPLETED", consumer="search")),
    ),
    "the identity's row points at another key": (
        "unknown",
        lambda w: (w.put("e"), w.received("e", "COMPLETED", key=key_of("e", generation=1))),
    ),
    "the identity's row points into another bucket": (
        "unknown",
        lambda w: (w.put("e"), w.received("e", "IN_PROGRESS", payload_bucket="elsewhere")),
    ),
    "the identity's row has no payload in S3": (
        "unknown",
        lambda w: (w.put("e"), w.received("e", "COMPLETED", payload_key=None)),
    ),
    "staged": ("open", lambda w: (w.put("e", kept=True), w.staged("e", "PENDING"))),
    "sent and not yet seen": ("open", lambda w: (w.put("e", kept=True), w.staged("e", "SENT"))),
    "sent and completed": (
        "completed",
        lambda w: (w.put("e", kept=True), w.staged("e", "SENT"), w.received("e", "COMPLETED")),
    ),
    "staged again and completed": (
        "open",
        lambda w: (w.put("e", kept=True), w.staged("e", "PENDING"), w.received("e", "COMPLETED")),
    ),
    "outbox row parked": ("unpublished", lambda w: (w.put("e", kept=True), w.staged("e", "PARKED"))),
    "outbox row discarded": ("unpublished", lambda w: (w.put("e", kept=True), w.staged("e", "DISCARDED"))),
    "outbox row parked, a consumer has seen it": (
        "open",
        lambda w: (w.put("e", kept=True), w.staged("e", "PARKED"), w.received("e", "FAILED")),
    ),
    "outbox row parked, a consumer has seen other content of it": (
        "open",
        lambda w: (
            w.put("e", kept=True),
            w.staged("e", "PARKED"),
            w.received("e", "COMPLETED", key=key_of("e", content="x")),
        ),
    ),
    "outbox row discarded, a consumer has seen other content of it": (
        "unknown",
        lambda w: (
            w.put("e", kept=True),
            w.staged("e", "DISCARDED"),
            w.received("e", "COMPLETED", key=key_of("e", content="x")),
        ),
    ),
    "outbox row parked a moment ago": (
        "open",
        lambda w: (w.put("e", kept=True), w.staged("e", "PARKED", updated_at=w.clock.now() - DAY + 1)),
    ),
    "outbox row discarded a moment ago": (
        "unpublished",
        lambda w: (w.put("e", kept=True), w.staged("e", "DISCARDED", age=0)),
    ),
    "outbox row parked, a producer may still rely on the object": (
        "open",
        lambda w: (w.put("e", age=DAY + HOUR, kept=True), w.staged("e", "PARKED")),
    ),
    "outbox row parked that was sent after all": (
        "open",
        lambda w: (w.put("e", kept=True), w.staged("e", "PARKED", sqs_message_id="m")),
    ),
    "outbox row parked after a send whose outcome nobody knows": (
        "open",
        lambda w: (w.put("e", kept=True), w.staged("e", "PARKED", doubtful=True)),
    ),
    "outbox row discarded after a send whose outcome nobody knows": (
        "unknown",
        lambda w: (w.put("e", kept=True), w.staged("e", "DISCARDED", doubtful=True)),
    ),
    "outbox row parked, the object may have been published directly, too": (
        "open",
        lambda w: (w.put("e"), w.staged("e", "PARKED")),
    ),
    "outbox row discarded, the object may have been published directly, too": (
        "unknown",
        lambda w: (w.put("e"), w.staged("e", "DISCARDED")),
    ),
    "put for an outbox row that is not there": ("unknown", lambda w: w.put("e", kept=True)),
    "outbox row of a FIFO queue parked": (
        "open",
        lambda w: (w.put("e", kept=True), w.staged("e", "PARKED", deduplication_id="d", group_id="g")),
    ),
    "outbox row parked, pointing at another key": (
        "unknown",
        lambda w: (w.put("e", kept=True), w.staged("e", "PARKED", key=key_of("e", content="x"))),
    ),
    "outbox row parked, of a later generation": (
        "unknown",
        lambda w: (
            w.put("e", key=key_of("e", generation=1), kept=True),
            w.staged("e", "PARKED", key=key_of("e", generation=1)),
        ),
    ),
    "upload by grant, never confirmed": ("unpublished", uploaded),
    "upload by grant that can still be confirmed": ("unknown", lambda w: uploaded(w, age=7 * DAY)),
    "upload by grant just past its time": ("unknown", lambda w: uploaded(w, age=7 * DAY + HOUR)),
    "upload by grant past its time and the margin": (
        "unpublished",
        lambda w: uploaded(w, age=7 * DAY + HOUR + 1),
    ),
    "upload by grant, confirmed": ("unknown", lambda w: uploaded(w, tags={})),
    "upload by grant with a tag of another's": ("unknown", lambda w: uploaded(w, tags={TAG_STATE: "done"})),
    "tagged like an upload by grant, and none": ("unknown", lambda w: w.put("e", tags=UNCONFIRMED)),
    "upload by grant of a later generation": ("unknown", lambda w: uploaded(w, key=key_of("e", generation=2))),
    "upload by grant that a consumer has seen": (
        "completed",
        lambda w: (uploaded(w), w.received("e", "COMPLETED")),
    ),
    "later generation that a row points at": (
        "completed",
        lambda w: (
            w.put("e", key=key_of("e", generation=1)),
            w.received("e", "COMPLETED", key=key_of("e", generation=1)),
        ),
    ),
    "a key that is none of ours": ("foreign", lambda w: w.put("e", key="payloads/report.csv")),
    "a key that looks like ours": ("foreign", lambda w: w.put("e", key=f"payloads/tenants/{TENANT}/x/1/2")),
}


@pytest.mark.parametrize("name", CASES)
def test_what_an_object_is(name: str) -> None:
    world = World()
    expected, make = CASES[name]
    make(world)
    outcome = world.run()
    assert world.classes(outcome) == {expected: 1}
    assert outcome.status == "finished"


@pytest.mark.parametrize("name", CASES)
def test_only_what_is_proven_unpublished_is_removed_and_only_when_told_to(name: str) -> None:
    world = World()
    expected, make = CASES[name]
    make(world)
    keys = set(world.payloads.objects)
    assert world.run().tally.removed == 0
    assert set(world.payloads.objects) == keys
    outcome = world.run(delete=True)
    assert set(world.payloads.objects) == (set() if expected == "unpublished" else keys)
    assert outcome.tally.removed == (expected == "unpublished")


def test_every_class_has_a_case() -> None:
    assert {expected for expected, _ in CASES.values()} == set(CLASSES)


# --- Removal --------------------------------------------------------------------------------------------------------


def test_a_parked_row_is_set_aside_for_good_before_its_payload_goes() -> None:
    world = World()
    world.put("e", kept=True)
    row = world.staged("e", "PARKED")
    assert world.run(delete=True).tally.removed == 1
    assert world.outbox[row.key].state == "DISCARDED"
    calls = world.faults.calls
    assert calls.index("discard") < calls.index("remove")


@pytest.mark.parametrize("hides_holds", [False, True], ids=["told", "refused"])
def test_a_held_object_stays(hides_holds: bool) -> None:  # noqa: FBT001 - a parameter of the test
    world = World()
    uploaded(world, held=True)
    world.payloads.hides_holds = hides_holds
    outcome = world.run(delete=True)
    assert (outcome.tally.held, outcome.tally.removed) == (1, 0)
    assert world.payloads.current(key_of("e")) is not None
    assert [sample.kind for sample in outcome.samples] == ["unpublished", "held"]
    assert world.telemetry.counts[Metric.PAYLOADS_HELD] == 1


def test_a_held_objects_row_is_not_given_up() -> None:
    world = World()
    world.put("e", held=True, kept=True)
    row = world.staged("e", "PARKED")
    world.run(delete=True)
    assert world.outbox[row.key].state == "PARKED"


def test_removals_keep_their_rate() -> None:
    world = World()
    for number in range(5):
        world.put(f"e{number}", uploaded=True, tags=UNCONFIRMED)
    before = world.clock.monotonic()
    assert world.run(delete=True, rate=2).tally.removed == 5
    assert world.clock.monotonic() - before == pytest.approx(2.0)


def test_on_a_versioned_bucket_exactly_the_version_that_was_looked_at_goes() -> None:
    world = World()
    world.payloads.versioned = True
    uploaded(world)
    world.faults.on("remove", lambda: world.put("e", age=0))
    outcome = world.run(delete=True)
    assert outcome.tally.removed == 1
    left = world.payloads.current(key_of("e"))
    assert left is not None
    assert left.at == world.clock.now()


# --- Races: what happens between the look-up and the removal ----------------------------------------------------------


def confirm(world: World) -> None:
    """A client confirms: the tag goes, then the message is sent."""
    world.put("e", uploaded=True, tags={})


RACES: Final[dict[str, tuple[Setup, str, Setup]]] = {
    "confirmed before the second look": (uploaded, "look", confirm),
    "a consumer sees it": (uploaded, "look", lambda w: w.received("e", "IN_PROGRESS")),
    "the outbox row is retried": (
        lambda w: (w.put("e", kept=True), w.staged("e", "PARKED")),
        "look",
        lambda w: w.staged("e", "PENDING"),
    ),
    "the outbox row is retried at the last moment": (
        lambda w: (w.put("e", kept=True), w.staged("e", "PARKED")),
        "discard",
        lambda w: w.staged("e", "PENDING"),
    ),
    "the outbox row is retried and parked again": (
        lambda w: (w.put("e", kept=True), w.staged("e", "PARKED")),
        "discard",
        lambda w: w.staged("e", "PARKED", age=0),
    ),
    "the outbox row is sent": (
        lambda w: (w.put("e", kept=True), w.staged("e", "PARKED")),
        "discard",
        lambda w: w.staged("e", "SENT"),
    ),
    "another content is there": (uploaded, "remove", lambda w: w.put("e", age=0, etag="other")),
    "it is gone, and written anew before the second look": (
        uploaded,
        "look",
        lambda w: w.put("e", age=0, uploaded=True, tags=UNCONFIRMED),
    ),
}


@pytest.mark.parametrize("name", RACES)
def test_what_is_needed_a_moment_before_its_removal_stays(name: str) -> None:
    world = World()
    make, call, meanwhile = RACES[name]
    make(world)
    world.faults.on(call, lambda: meanwhile(world), skip=call == "look")
    outcome = world.run(delete=True)
    assert world.payloads.current(key_of("e")) is not None
    assert (outcome.tally.removed, outcome.tally.spared) == (0, 1)


def test_what_is_gone_by_itself_is_no_removal() -> None:
    world = World()
    uploaded(world)
    world.faults.on("remove", world.payloads.objects.clear)
    outcome = world.run(delete=True)
    assert (outcome.tally.removed, outcome.tally.spared) == (0, 1)


# --- Dead pointers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["IN_PROGRESS", "FAILED", "PARKING", "PARKED"])
def test_an_open_row_whose_object_is_gone_is_a_dead_pointer(state: str) -> None:
    world = World()
    world.received("e", state)  # type: ignore[arg-type]  # one of its literals
    outcome = world.run()
    assert outcome.tally.dead_pointers == 1
    (sample,) = outcome.samples
    assert (sample.kind, sample.consumer, sample.message_id) == ("dead pointer", "documents", "e")
    (line,) = [line for line in world.telemetry.lines if line.event == "dead pointer"]
    assert line.fields["payloadKeyHash"] == key_hash(key_of("e"))
    assert line.level == "error"


@pytest.mark.parametrize("state", ["PENDING", "PARKED"])
def test_an_unsent_outbox_row_whose_object_is_gone_is_a_dead_pointer(state: str) -> None:
    world = World()
    world.staged("e", state)  # type: ignore[arg-type]  # one of its literals
    outcome = world.run()
    assert (outcome.tally.dead_pointers, outcome.tally.pointers) == (1, 1)


NO_DEAD_POINTERS: Final[dict[str, Setup]] = {
    "the object is there": lambda w: (w.put("e"), w.received("e", "FAILED")),
    "the work is done": lambda w: w.received("e", "COMPLETED"),
    "the message is sent": lambda w: w.staged("e", "SENT"),
    "the message is discarded": lambda w: w.staged("e", "DISCARDED"),
    "the payload travelled inside": lambda w: w.received("e", "FAILED", payload_key=None, payload_bucket=None),
    "the payload is elsewhere": lambda w: w.received("e", "FAILED", payload_bucket="elsewhere"),
    "the payload is an Extended Client's": lambda w: w.received("e", "FAILED", key="0b2f"),
}


@pytest.mark.parametrize("name", NO_DEAD_POINTERS)
def test_other_rows_are_no_dead_pointers(name: str) -> None:
    world = World()
    NO_DEAD_POINTERS[name](world)
    assert world.run().tally.dead_pointers == 0


def test_a_row_that_is_completed_meanwhile_is_no_dead_pointer() -> None:
    world = World()
    world.received("e", "IN_PROGRESS")
    world.faults.on("look", lambda: world.received("e", "COMPLETED"))
    assert world.run().tally.dead_pointers == 0


def test_a_version_that_is_gone_is_a_dead_pointer() -> None:
    world = World()
    world.payloads.versioned = True
    world.put("e")
    world.received("e", "FAILED", payload_version="v1")
    world.put("f")
    world.received("f", "FAILED", payload_version="v99")
    assert world.run().tally.dead_pointers == 1


# --- Bounds -----------------------------------------------------------------------------------------------------------


def test_requests_stay_within_one_list_and_ten_batched_reads_for_each_consumer() -> None:
    world = World(consumers=("documents",))
    for number in range(1000):
        world.put(f"e{number}")
        world.received(f"e{number}", "COMPLETED")
    outcome = world.run()
    assert outcome.tally.classes["completed"] == 1000
    assert world.faults.count("page") == outcome.tally.lists == 1
    assert world.faults.count("get_rows") == 10
    assert world.faults.count("get_outbox") == 10
    assert outcome.tally.reads == 20
    assert world.faults.count("look") == 0


def test_young_objects_and_foreign_ones_cost_no_read() -> None:
    world = World()
    for number in range(50):
        world.put(f"e{number}", age=0)
        world.put(f"f{number}", key=f"payloads/{number}")
    outcome = world.run()
    assert world.classes(outcome) == {"young": 50, "foreign": 50}
    assert world.faults.count("get_rows") == world.faults.count("look") == 0


def test_only_so_many_objects_are_looked_at_one_by_one() -> None:
    world = World()
    for number in range(10):
        world.put(f"e{number}", uploaded=True, tags=UNCONFIRMED)
    outcome = world.run(looks=4)
    assert world.faults.count("look") == outcome.tally.looks == 4
    assert (outcome.tally.unlooked, world.classes(outcome)) == (6, {"unpublished": 4, "unknown": 6})


def test_only_so_many_pointers_are_looked_up() -> None:
    world = World()
    for number in range(10):
        world.received(f"e{number}", "FAILED")
    outcome = world.run(looks=4)
    assert (outcome.tally.dead_pointers, outcome.tally.unchecked_pointers, outcome.tally.pointers) == (4, 6, 10)


def test_a_report_holds_only_some_samples() -> None:
    world = World()
    for number in range(200):
        world.put(f"e{number}")
    outcome = world.run()
    assert outcome.tally.classes["unknown"] == 200
    assert len(outcome.samples) == 20


def test_only_a_prefix_is_looked_at() -> None:
    world = World()
    world.put("e")
    world.received("lost", "FAILED")
    other = key_of("e").replace(TENANT, "t-2")
    world.put("x", key=other)
    world.received("other", "FAILED", key=key_of("other").replace(TENANT, "t-2"))
    outcome = world.run(prefix="payloads/tenants/t-2/")
    assert (outcome.tally.objects, outcome.tally.dead_pointers) == (1, 1)


def test_no_key_is_in_what_a_run_says_of_itself() -> None:
    world = World()
    world.put("e")
    uploaded(world, key=key_of("f"))
    world.received("lost", "FAILED")
    outcome = world.run(delete=True)
    said = f"{world.telemetry.lines} {world.telemetry.counts} {outcome} {outcome.document()} {world.plan}"
    assert "payloads/" not in said.replace("prefix='payloads/'", "")
    assert key_of("e") in str(outcome.document(reveal=True))


# --- Runs -------------------------------------------------------------------------------------------------------------


def test_nothing_runs_before_it_is_due() -> None:
    world = World()
    world.put("e")
    assert world.reconciliation().run_if_due(remaining_seconds=600).status == "finished"
    world.clock.advance(DAY - 1)
    waiting = world.reconciliation().run_if_due(remaining_seconds=600)
    assert (waiting.status, waiting.tally.objects) == ("waiting", 1)
    assert world.faults.count("page") == 1
    world.clock.advance(1)
    assert world.reconciliation().run_if_due(remaining_seconds=600).status == "finished"


def test_a_run_out_of_time_is_gone_on_with_and_counts_everything_once() -> None:
    world = World()
    for number in range(450):
        world.put(f"e{number:03}")
        world.received(f"e{number:03}", "COMPLETED")
    world.faults.on("get_rows", lambda: world.clock.advance(60), times=99)
    outcomes: list[Outcome] = []
    while not outcomes or outcomes[-1].status == "unfinished":
        outcomes.append(world.reconciliation().run_if_due(remaining_seconds=200))
        assert len(outcomes) < 9
    assert len(outcomes) > 1
    assert [one.status for one in outcomes[:-1]] == ["unfinished"] * (len(outcomes) - 1)
    assert outcomes[-1].tally.objects == 450
    assert outcomes[-1].tally.classes["completed"] == 450


def test_metrics_of_the_last_run_are_told_at_every_tick() -> None:
    world = World()
    world.put("a")
    world.put("b")
    world.received("b", "COMPLETED")
    world.received("lost", "FAILED")
    world.reconciliation().run_if_due(remaining_seconds=600)
    world.clock.advance(HOUR)
    world.reconciliation().run_if_due(remaining_seconds=600)
    first, second = world.telemetry.flushed
    for told in (first, second):
        assert told[Metric.RECONCILED_OBJECTS] == 2
        assert told[Metric.RECONCILED_UNKNOWN] == told[Metric.RECONCILED_COMPLETED] == 1
        assert told[Metric.DEAD_POINTERS] == 1
        assert told[Metric.UNKNOWN_SHARE] == 50
        assert told[Metric.UNKNOWN_GROWTH] == 0
    assert (first[Metric.RECONCILIATION_AGE], second[Metric.RECONCILIATION_AGE]) == (0, HOUR)


def test_a_growing_share_of_unknown_objects_is_told_in_points() -> None:
    world = World()
    world.put("a")
    world.put("b")
    for name in "ab":
        world.received(name, "COMPLETED")
    assert world.run().growth == 0
    for name in "cd":
        world.put(name)
    assert world.run().growth == 50
    assert world.run().growth == 0


def test_what_never_finished_is_counted_from_its_first_tick() -> None:
    world = World()
    world.payloads.denied = True
    world.put("e")
    for age in (0, DAY):
        with pytest.raises(AccessDenied):
            world.reconciliation().run_if_due(remaining_seconds=600)
        assert world.telemetry.flushed[-1][Metric.RECONCILIATION_AGE] == age
        world.clock.advance(DAY)


def test_only_one_run_is_at_it() -> None:
    world = World()
    for number in range(3):
        world.put(f"e{number}")
    seen = []
    world.faults.on("page", lambda: seen.append(world.reconciliation().run_if_due(remaining_seconds=600).status))
    assert world.reconciliation().run_if_due(remaining_seconds=600).status == "finished"
    assert seen == ["busy"]


def test_a_run_whose_lease_has_ended_writes_nothing_more() -> None:
    world = World()
    for number in range(3):
        world.put(f"e{number}")

    def overtake() -> None:
        world.clock.advance(HOUR)
        assert world.reconciliation().run_if_due(remaining_seconds=600).status == "finished"

    world.faults.on("get_rows", overtake)
    assert world.reconciliation().run_if_due(remaining_seconds=600).status == "busy"
    assert world.reconciliation().run_if_due(remaining_seconds=600).status == "waiting"


@pytest.mark.parametrize("error", [Unavailable("later"), ReadRefused("no")], ids=["unavailable", "refused"])
def test_a_failed_run_gives_its_lease_back_so_that_the_next_goes_on_at_once(error: Exception) -> None:
    world = World()
    world.put("e")
    world.faults.fail("get_rows", error)
    with pytest.raises(type(error)):
        world.reconciliation().run_if_due(remaining_seconds=600)
    outcome = world.reconciliation().run_if_due(remaining_seconds=600)
    assert (outcome.status, outcome.tally.objects) == ("finished", 1)


def test_a_run_over_other_objects_begins_anew() -> None:
    world = World()
    for number in range(150):
        world.put(f"e{number}")
    world.faults.fail("get_rows", KeyboardInterrupt(), skip=2)
    with pytest.raises(KeyboardInterrupt):
        world.run()
    assert world.run(prefix=f"payloads/tenants/{TENANT}/").tally.objects == 150


def test_a_run_that_is_interrupted_keeps_what_it_has_done() -> None:
    world = World()
    for number in range(150):
        world.put(f"e{number}")
    world.faults.fail("get_rows", KeyboardInterrupt(), skip=2)
    with pytest.raises(KeyboardInterrupt):
        world.run()
    world.faults.clear()
    assert world.run().tally.objects == 150
    assert world.faults.count("get_rows") == 1


@pytest.mark.parametrize("text", ["", "{", "[]", '{"tally": 3}', '{"other": 1}', '{"started_at": 0, "tally": {}}'])
def test_a_checkpoint_that_cannot_be_read_begins_anew(text: str) -> None:
    found = Progress.of(text)
    assert (found.after, found.started_at, found.tally.objects) == ("", 0.0, 0)


def test_a_checkpoint_reads_back_as_it_was_written() -> None:
    progress = Progress(started_at=1.5, after=f"{BUCKET}\U0001f600", sources=2, last=Tally(looks=3), growth=1.25)
    progress.tally.add("open", 7)
    again = Progress.of(progress.to_json())
    assert again == progress
    assert replace(again.tally, looks=1) != progress.tally


class Completed:
    """Rows for whatever is asked."""

    def __init__(self) -> None:
        """Count the reads."""
        self.reads = 0

    def rows(self, keys: Sequence[str]) -> Mapping[str, InboxRow]:
        """Completed, each."""
        self.reads += -(-len(keys) // 100)
        return {key: replace(self._row, key=key, payload_key=listed_key(key)) for key in keys}

    def open_rows(self, consumer: str, *, state: InboxState | None = None) -> Iterator[InboxRow]:  # noqa: ARG002 - the port's
        """None."""
        return iter(())

    _row = InboxRow(key="", state="COMPLETED", consumer="documents", sqs_message_id="s", payload_bucket="payloads")


def listed_key(row: str) -> str:
    """Key of the object whose identity a row has."""
    number = row.rpartition("#")[2]
    return f"{PREFIX}{number}/{int(number, 16):064x}"


def test_memory_stays_flat_over_a_hundred_thousand_payloads() -> None:
    world, listing, reader = World(), Listing(100_000), Completed()
    made = Reconciliation(
        replace(world.plan, bucket="payloads"),
        listing=listing,
        payloads=world.payloads,
        inboxes=[InboxSource(reader, ("documents",))],
        checkpoints=world.checkpoints,
        clock=world.clock,
        telemetry=world.telemetry,
        new_token=lambda: "t",
    )
    tracemalloc.start()
    outcome = made.run()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert outcome.tally.classes["completed"] == 100_000
    assert (listing.requests, reader.reads) == (100, 1000)
    assert peak < 4 * MIB
