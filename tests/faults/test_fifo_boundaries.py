"""FIFO: consumer and producer die at every recorded boundary, and while they recover; no group loses its order.

The same pattern as ``test_crash_boundaries.py``: a passing run of each path is recorded, call by call; then, for every
call, the process dies before or after it took effect, and a new one takes its place. In the end every group has taken
effect in the order sent, less what was parked, each movement exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import get_args

import pytest

from claim_check.contract import ErrorCode
from claim_check.envelope import decode
from claim_check.errors import InfrastructureUnavailable, InvalidEnvelope, PermanentError, PublishError, Unavailable
from claim_check.event import Event
from claim_check.message import Message
from claim_check.producer import Producer, Unpublished
from claim_check.transaction import Transaction
from tests.fakes.faults import Crash, When
from tests.harness import EVENT_TYPE, TENANT, World, documents
from tests.unit.test_fifo import QUEUE_SECONDS, producer

EVER = 1_000_000
MAX_ATTEMPTS = 5
"""More than a message can lose to two deaths, and to failing once."""
ROUNDS = 80
SILENT = {"change_visibility"}
"""Calls that answer with what was refused, and never fail."""


class Unreadable(PermanentError):
    """A reason of the handler's own."""

    code = "Unreadable"


@dataclass
class Path:
    """What a path begins with, and what there must be in the end.

    Attributes:
        groups: Names of the messages of each group, in the order sent; those that name no identity are parked.
        parked: Reasons that each parked message may have, by its SQS message id.
        blocks: Whether poison blocks; its cause is mended once the rest is done.
        publish: What the producer does first; repeated until it succeeds.
    """

    groups: dict[str, list[str]]
    parked: dict[str, set[str]] = field(default_factory=dict)
    blocks: bool = False
    publish: Callable[[Producer], object] = lambda _: None


# --- Paths of the consumer ------------------------------------------------------------------------------------------


def sent(world: World, group: str, *names: str) -> dict[str, str]:
    """Send messages to a group, every other one with its payload inside; SQS's id of each by its name."""
    return {
        name: world.send(
            world.envelope(f'{{"of":"{name}"}}'.encode(), identity=name, inline=number % 2 == 0), group=group
        ).sqs_message_id
        for number, name in enumerate(names)
    }


def two_groups(world: World) -> Path:
    """Nothing goes wrong."""
    sent(world, "g-1", "a", "b", "c")
    sent(world, "g-2", "x", "y")
    return Path({"g-1": ["a", "b", "c"], "g-2": ["x", "y"]})


def head_fails_once(world: World) -> Path:
    """The group comes back as one."""
    sent(world, "g-1", "once", "b", "c")
    sent(world, "g-2", "x")
    return Path({"g-1": ["once", "b", "c"], "g-2": ["x"]})


def head_fails_always(world: World) -> Path:
    """It is parked after its attempts; its followers have lost none."""
    ids = sent(world, "g-1", "fails", "b", "c")
    return Path({"g-1": ["b", "c"]}, parked={ids["fails"]: {ErrorCode.HANDLER_FAILED, ErrorCode.HANDLER_CRASHED}})


def poison_in_the_middle(world: World) -> Path:
    """It is parked at once."""
    ids = sent(world, "g-1", "a", "poison", "c")
    sent(world, "g-2", "x")
    return Path({"g-1": ["a", "c"], "g-2": ["x"]}, parked={ids["poison"]: {"Unreadable", ErrorCode.HANDLER_CRASHED}})


def no_envelope_at_the_head(world: World) -> Path:
    """It is parked under a row of its own."""
    bad = world.send_body("{", group="g-1")
    sent(world, "g-1", "b")
    return Path({"g-1": ["b"]}, parked={bad: {ErrorCode.INVALID_ENVELOPE}})


def duplicate_in_the_group(world: World) -> Path:
    """The same event again, minutes later, behind another one."""
    first = world.send(world.envelope(identity="a"), group="g-1")
    sent(world, "g-1", "b")
    world.send(first.envelope, group="g-1")
    sent(world, "g-1", "c")
    return Path({"g-1": ["a", "b", "c"]})


def suspect_in_the_middle(world: World) -> Path:
    """It runs at the end, alone, and what follows it behind it."""
    sent(world, "g-1", "a")
    suspect = world.send(world.envelope(identity="b"), group="g-1")
    sent(world, "g-1", "c")
    sent(world, "g-2", "x")
    world.seed_row(suspect, "IN_PROGRESS", lease_until=world.clock.now())
    return Path({"g-1": ["a", "b", "c"], "g-2": ["x"]})


def poison_that_blocks(world: World) -> Path:
    """Its group waits until the cause is mended; the other one does not."""
    sent(world, "g-1", "a", "poison", "c")
    sent(world, "g-2", "x", "y")
    return Path({"g-1": ["a", "poison", "c"], "g-2": ["x", "y"]}, blocks=True)


def parking_left_where_poison_blocks(world: World) -> Path:
    """A deployment turned park into block."""
    left = world.send(world.envelope(identity="a"), group="g-1")
    sent(world, "g-1", "b")
    world.seed_row(left, "PARKING", attempts=0, attempts_spent=3, last_code="Unreadable")
    return Path({"g-1": ["a", "b"]}, blocks=True)


# --- Paths of the producer ------------------------------------------------------------------------------------------


def event(name: str, group: str) -> Event:
    """An event; every other one travels as a claim."""
    inline = int(name[-1]) % 2 == 0
    return Event(
        tenant_id=TENANT,
        event_type=EVENT_TYPE,
        payload=f'{{"of":"{name}"}}'.encode(),
        content_type="application/json" if inline else "application/octet-stream",
        message_id=name,
        group_id=group,
    )


def published(groups: dict[str, list[str]], publish: Callable[[Producer, Sequence[Event]], None]) -> Path:
    """Publish events, taking turns between the groups."""
    longest = max(map(len, groups.values()))
    events = [
        event(names[place], group) for place in range(longest) for group, names in groups.items() if place < len(names)
    ]
    return Path(groups, publish=lambda publisher: publish(publisher, events))


def one_by_one(publisher: Producer, events: Sequence[Event]) -> None:
    """Publish each with a call of its own."""
    for one in events:
        publisher.publish(one)


def in_one_batch(publisher: Producer, events: Sequence[Event]) -> None:
    """Publish them together; what was not published is told."""
    assert not [one for one in publisher.publish_batch(events) if isinstance(one, Unpublished)]


def publish_one_by_one(_: World) -> Path:
    """A group and another."""
    return published({"g-1": ["a0", "a1", "a2"], "g-2": ["x0"]}, one_by_one)


def publish_a_batch(_: World) -> Path:
    """Two groups in calls that hold each of them once."""
    return published({"g-1": ["a0", "a1", "a2"], "g-2": ["x0", "x1"]}, in_one_batch)


def publish_through_a_refusal(world: World) -> Path:
    """The queue takes a call only when it is repeated."""
    world.faults.fail("send_batch", Unavailable("throttled"), skip=1)
    return published({"g-1": ["a0", "a1"], "g-2": ["x0", "x1"]}, in_one_batch)


def publish_twice(_: World) -> Path:
    """A producer that never saw its own success."""

    def twice(publisher: Producer, events: Sequence[Event]) -> None:
        one_by_one(publisher, events)
        one_by_one(publisher, events)

    return published({"g-1": ["a0", "a1"], "g-2": ["x0"]}, twice)


PATHS: dict[str, Callable[[World], Path]] = {
    path.__name__: path
    for path in (
        two_groups,
        head_fails_once,
        head_fails_always,
        poison_in_the_middle,
        no_envelope_at_the_head,
        duplicate_in_the_group,
        suspect_in_the_middle,
        poison_that_blocks,
        parking_left_where_poison_blocks,
        publish_one_by_one,
        publish_a_batch,
        publish_through_a_refusal,
        publish_twice,
    )
}


# --- Running a path, and what must hold -----------------------------------------------------------------------------


@dataclass
class Run:
    """A path being run.

    Attributes:
        world: Its world.
        path: The path.
        deaths: Processes that died.
        dies_again: Calls after which the process dies that takes the place of the first dead one.
        mended: Whether the cause of all poison was mended.
    """

    world: World
    path: Path
    deaths: int = 0
    dies_again: int | None = None
    mended: bool = False

    def until_quiet(self) -> None:
        """Publish until it succeeds, then deliver until the source queue is empty: a new process each time."""
        while not self._survives(lambda: self.path.publish(producer(self.world))):
            pass
        for number in range(ROUNDS):
            if not self.world.queued():
                return
            self.mended = self.path.blocks and number > ROUNDS // 4
            self._pass_time()
            with suppress(InfrastructureUnavailable):  # Lambda delivers again
                self._survives(self._deliver)
        assert not self.world.queued(), "never quiet"

    def _pass_time(self) -> None:
        """Until the next hidden message comes back: one that a dead process had done may hold up its group."""
        now = self.world.clock.now()
        waits = [one.visible_at - now for one in self.world.queued()]
        self.world.clock.advance(min((wait for wait in waits if wait > 0), default=0.0))

    def _deliver(self) -> None:
        blocks = self.path.blocks
        consumer = self.world.consumer(
            self.handle,
            park=not blocks,
            max_attempts=EVER if blocks else MAX_ATTEMPTS,
            visibility_seconds=QUEUE_SECONDS,
        )
        self.world.deliver(consumer)

    def handle(self, message: Message, tx: Transaction) -> None:
        """Do what the name says."""
        if message.message_id == "poison" and not self.mended:
            raise Unreadable
        if message.message_id == "fails" or (message.message_id == "once" and message.attempt == 1):
            raise RuntimeError
        documents(message, tx)

    def _survives(self, process: Callable[[], object]) -> bool:
        try:
            process()
        except Crash:
            self.deaths += 1
            self.world.faults._plans.clear()
            if self.dies_again is not None:
                self.die_at(self.dies_again, "after")
                self.dies_again = None
            return False
        except PublishError:  # publishing the same event again is safe
            return False
        return True

    def die_at(self, index: int, when: When) -> None:
        """Dead is dead: from that call on nothing of the process has an effect."""
        self.world.faults.fail(None, Crash(), when=when, skip=index)
        self.world.faults.fail(None, Crash(), when="before", skip=index + 1, times=EVER)

    def check(self) -> None:
        """What there must be in the end."""
        world, path = self.world, self.path
        applied = [write.key["pk"].partition("#")[2] for write in world.table.applied]
        for names in path.groups.values():
            assert [name for name in applied if name in names] == names, "in the order sent, each exactly once"
        assert len(applied) == sum(map(len, path.groups.values())), "and nothing else"
        copies = [sqs_message_id for sqs_message_id, _ in world.parked()]
        assert set(copies) == set(path.parked), "parked is what should be, nothing else"
        assert len(copies) <= len(path.parked) + self.deaths, "one more copy for each death at most"
        assert all(code in path.parked[sqs_message_id] for sqs_message_id, code in world.parked())
        for copy in world.queue.messages(world.dlq_url):
            assert copy.message.group_id == "g-1", "a copy keeps its group"
            with suppress(InvalidEnvelope):
                assert decode(copy.message.body).message_id not in applied
        assert {row.state for row in world.table.rows.values()} <= {"COMPLETED", "PARKED"}, "nothing is left open"


def start(path: str) -> Run:
    """A path in a world without a past."""
    world = World(fifo=True)
    world.queue.create(world.queue_url, visibility_timeout=QUEUE_SECONDS)
    return Run(world, PATHS[path](world))


@cache
def boundaries(path: str) -> tuple[str, ...]:
    """The calls of a passing run, in order."""
    run = start(path)
    run.until_quiet()
    run.check()
    assert run.deaths == 0
    return tuple(run.world.faults.calls)


def checked(run: Run, note: str) -> None:
    """Run to the end, and judge."""
    try:
        run.until_quiet()
        run.check()
    except AssertionError as error:
        error.add_note(note)
        raise


@pytest.mark.parametrize("when", get_args(When))
@pytest.mark.parametrize("path", PATHS)
def test_a_process_that_dies_at_any_boundary_of(path: str, when: When) -> None:
    for index, name in enumerate(boundaries(path)):
        run = start(path)
        run.die_at(index, when)
        checked(run, f"died {when} call {index}, {name}, of {path}: {boundaries(path)}")
        assert run.deaths == 1, "a boundary that was not reached was not tested"


@pytest.mark.parametrize("path", PATHS)
def test_a_process_that_dies_while_it_recovers_from_a_death_of(path: str) -> None:
    for index, name in enumerate(boundaries(path)):
        for again in range(3):
            run = start(path)
            run.dies_again = again
            run.die_at(index, "after")
            checked(run, f"died after call {index}, {name}, of {path}, and again {again} calls later")


@pytest.mark.parametrize("when", get_args(When))
@pytest.mark.parametrize("path", PATHS)
def test_a_service_that_does_not_answer_at_any_boundary_of(path: str, when: When) -> None:
    """The process lives on, and does not know whether the call took effect."""
    for index, name in enumerate(boundaries(path)):
        if name in SILENT:
            continue
        run = start(path)
        run.world.faults.fail(None, Unavailable("no answer"), when=when, skip=index)
        checked(run, f"no answer {when} call {index}, {name}, of {path}: {boundaries(path)}")


def test_the_boundaries_are_counted_and_none_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    recorded = {path: boundaries(path) for path in PATHS}
    every = {"put_if_absent", "head", "send_batch", "change_visibility", "take", "open", "read", "replace", "complete"}
    assert {name for calls in recorded.values() for name in calls} == every
    number = sum(map(len, recorded.values()))
    consumed = sum(len(calls) for path, calls in recorded.items() if not path.startswith("publish"))
    with capsys.disabled():
        text = f"{len(PATHS)} paths, {number} boundaries ({consumed} of the consumer alone)"
        print(f"\nFIFO crash tests: {text}; each: two deaths, three second deaths, two lost answers")  # noqa: T201 - to be seen
