"""The process that looks after a DLQ dies, or loses an answer, at every call of a recorded run (R6.5).

The boundaries are the calls of a run that passed: receive, put, read, delete, release. Whatever happens, every dead
letter is in the DLQ, in the archive or in both, with all it had; what is in both is one letter; the next runs archive
all that is due; and a redrive of both places has each effect once.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache

import pytest

from claim_check.contract import ATTRIBUTE_PARKED
from claim_check.errors import ClaimCheckError, Unavailable
from tests.archive_world import AFTER, DAY, REMAINING, ArchiveWorld, broken
from tests.fakes.faults import Crash, When
from tests.harness import Sent, documents

WHENS: tuple[When, ...] = ("before", "after")
EVER = 1_000_000


class Story:
    """Dead letters that are due, among them one that is stored already, and some that are not due."""

    def __init__(self, *, fifo: bool) -> None:
        """Park them through the real consumer."""
        self.world = ArchiveWorld(fifo=fifo)
        self.due = self._park("due", 4)
        self.world.clock.advance(AFTER)
        self._archive_but_not_delete(self.world.dead()[0])
        self.young = self._park("young", 3)
        self.ids = self.world.everywhere()
        self.world.faults.clear()

    def _park(self, name: str, count: int) -> list[Sent]:
        sent = [
            self.world.send(self.world.envelope(identity=f"{name}-{number}"), group=f"g-{number % 2}")
            for number in range(count)
        ]
        self.world.settle(lambda: self.world.consumer(broken))
        return sent

    def _archive_but_not_delete(self, first: str) -> None:
        body = self.world.everywhere()[first].body
        self.world.queue.refuse_deletes[body] = 2
        self.world.faults.fail("archive_put", Unavailable("down"), skip=1, times=EVER)
        self.world.job(inbox=None).run(remaining_seconds=REMAINING)
        assert (self.world.archived(), len(self.world.dead())) == ([first], len(self.due))

    def run(self) -> None:
        """One run, to its end or its death."""
        with suppress(ClaimCheckError):
            self.world.job(inbox=None).run(remaining_seconds=REMAINING)

    def nothing_is_lost(self) -> None:
        """Each letter is somewhere, as it was."""
        found = self.world.everywhere()
        assert found.keys() == self.ids.keys()
        for identity, before in self.ids.items():
            now = found[identity]
            assert (now.body, now.group_id, now.sent_at) == (before.body, before.group_id, before.sent_at)
            assert now.attributes[ATTRIBUTE_PARKED] == before.attributes[ATTRIBUTE_PARKED]

    def end_well(self) -> None:
        """Later runs finish the work, and a redrive has each effect once."""
        world = self.world
        world.faults.clear()
        world.clock.advance(REMAINING + 10)  # what a dead process hid can be seen again
        world.job(inbox=None).run(remaining_seconds=REMAINING)
        self.nothing_is_lost()
        assert len(world.archived()) == len(self.due)
        assert len(world.receivable()) == len(world.dead()) == len(self.young)
        sent = world.redrive_all()
        assert len(sent) == len(self.ids), "a letter in both places is sent back once"
        world.settle(lambda: world.consumer(documents))
        assert [world.effects(one) for one in (*self.due, *self.young)] == [1] * len(self.ids)
        assert world.dead() == []


@cache
def boundaries(*, fifo: bool) -> list[str]:
    """Calls of a run that passes."""
    story = Story(fifo=fifo)
    story.run()
    calls = list(story.world.faults.calls)
    story.end_well()
    assert {"receive_batch", "archive_put", "archive_read", "delete_batch", "change_visibility"} <= set(calls)
    return calls


CASES = [
    pytest.param(kind, index, when, id=f"{kind}-{index}-{name}-{when}")
    for kind in ("standard", "fifo")
    for index, name in enumerate(boundaries(fifo=kind == "fifo"))
    for when in WHENS
]


def _die(story: Story, index: int, when: When) -> None:
    """Dead is dead: from that call on nothing of the process has an effect."""
    story.world.faults.fail(None, Crash(), when=when, skip=index)
    story.world.faults.fail(None, Crash(), when="before", skip=index + 1, times=EVER)


def _lose_the_answer(story: Story, index: int, when: When) -> None:
    """The call fails, or its answer is lost; the process goes on. What never raises tells what it could not do."""
    name = boundaries(fifo=story.world.fifo)[index]
    if name in {"delete_batch", "change_visibility"}:
        if when == "before":
            story.world.queue.refuse_deletes |= {one.body: 2 for one in story.ids.values()}
        return
    story.world.faults.fail(None, Unavailable("no answer"), when=when, skip=index)


@pytest.mark.parametrize("kind, index, when", CASES)
@pytest.mark.parametrize("harm", [_die, _lose_the_answer], ids=["dies", "loses an answer"])
def test_nothing_is_lost_at_any_boundary(
    harm: Callable[[Story, int, When], None], kind: str, index: int, when: When
) -> None:
    story = Story(fifo=kind == "fifo")
    harm(story, index, when)
    with suppress(Crash):
        story.run()
    story.nothing_is_lost()
    story.world.queue.refuse_deletes.clear()
    story.end_well()


def test_a_letter_is_never_deleted_before_it_is_stored() -> None:
    story = Story(fifo=False)

    def look() -> None:
        stored = set(story.world.archived())
        assert {one for one in story.ids if one not in story.world.dead()} <= stored

    story.world.faults.on(None, look, when="after", times=EVER)
    story.world.faults.on(None, look, when="before", times=EVER)
    story.run()
    story.nothing_is_lost()


def test_the_world_is_as_old_as_it_says() -> None:
    # Otherwise nothing would be due, and every test above would pass for nothing.
    story = Story(fifo=False)
    ages = [story.world.clock.now() - one.sent_at for one in story.ids.values()]
    assert sorted(age >= 12 * DAY for age in ages) == [False] * 3 + [True] * 4
