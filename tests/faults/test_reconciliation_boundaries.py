"""A reconciliation dies, or hears no answer, around each of its calls: nothing is lost, or counted twice (R7.1)."""

from __future__ import annotations

import pytest

from claim_check.errors import Unavailable
from tests.fakes.faults import Crash, Faults, When
from tests.reconciliation_world import HOUR, UNCONFIRMED, World, key_of

REMOVABLE = {"grant", "parked", "discarded"}
KEPT = {"unknown", "open", "completed", "sent", "held"}
WANTED = {
    "take",
    "save",
    "page",
    "get_rows",
    "get_outbox",
    "query_outbox",
    "query",
    "look",
    "tags",
    "discard",
    "remove",
}


def furnished(faults: Faults) -> World:
    """A payload of every kind, and a dead pointer."""
    world = World(faults=faults)
    world.put("grant", uploaded=True, tags=UNCONFIRMED)
    world.put("held", uploaded=True, tags=UNCONFIRMED, held=True)
    world.put("parked", kept=True)
    world.staged("parked", "PARKED")
    world.put("discarded", kept=True)
    world.staged("discarded", "DISCARDED")
    world.put("unknown")
    world.put("sent", kept=True)
    world.staged("sent", "SENT")
    for name, state in (("open", "FAILED"), ("completed", "COMPLETED")):
        world.put(name)
        world.received(name, state)  # type: ignore[arg-type]  # literals of the state
    world.received("lost", "PARKED")
    return world


def calls() -> list[str]:
    """The calls of a run that nothing disturbs."""
    faults = Faults()
    furnished(faults).run(delete=True)
    return list(faults.calls)


CALLS = calls()


def test_the_run_makes_every_kind_of_call() -> None:
    assert set(CALLS) == WANTED


def check(world: World) -> None:
    """All that could go is gone, all else is there."""
    there = {name for name in REMOVABLE | KEPT if world.payloads.current(key_of(name)) is not None}
    assert there == KEPT
    assert sorted(world.payloads.removed) == sorted(key_of(name) for name in REMOVABLE)
    states = {row.message_id: row.state for row in world.outbox.values()}
    assert states == {"parked": "DISCARDED", "discarded": "DISCARDED", "sent": "SENT"}


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("place", range(len(CALLS)), ids=[f"{place}-{name}" for place, name in enumerate(CALLS)])
def test_a_run_that_died_is_gone_on_with_when_its_lease_has_ended(place: int, when: When) -> None:
    world = furnished(Faults())
    world.faults.crash_at(place, when)
    with pytest.raises(Crash):
        world.run(delete=True)
    world.faults.clear()
    assert world.reconciliation(delete=True).run_if_due(remaining_seconds=600).status in {"busy", "waiting", "finished"}
    world.clock.advance(HOUR)
    outcome = world.reconciliation(delete=True, every_seconds=1).run_if_due(remaining_seconds=600)
    assert outcome.status == "finished"
    assert outcome.tally.dead_pointers == 1
    check(world)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("place", range(len(CALLS)), ids=[f"{place}-{name}" for place, name in enumerate(CALLS)])
def test_a_lost_answer_is_made_good_by_the_next_call(place: int, when: When) -> None:
    world = furnished(Faults())
    world.faults.fail(None, Unavailable("no answer"), when=when, skip=place)
    try:
        world.run(delete=True)
    except Unavailable:
        world.clock.advance(HOUR)
        outcome = world.run(delete=True)
        assert outcome.status == "finished"
        assert outcome.tally.dead_pointers == 1
    check(world)


@pytest.mark.parametrize("place", range(len(CALLS)), ids=[f"{place}-{name}" for place, name in enumerate(CALLS)])
def test_two_runs_at_once_do_no_harm(place: int) -> None:
    """The other has taken over, since this one's lease had ended; both go on."""
    world = furnished(Faults())

    def other() -> None:
        world.clock.advance(HOUR)
        assert world.run(delete=True).status == "finished"

    world.faults.on(None, other, skip=place)
    assert world.reconciliation(delete=True).run_if_due(remaining_seconds=600).status in {"busy", "finished", "waiting"}
    check(world)
