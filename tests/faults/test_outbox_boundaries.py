"""A process that dies at any call of staging, relaying or sweeping: nothing is lost, nothing uncommitted is published.

The boundaries are recorded, not listed: whatever call the outbox makes, a crash before and after it is tried (R3.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import pytest

from claim_check.errors import AlreadyStaged
from claim_check.message import Message
from claim_check.ports import TableWrite
from claim_check.transaction import Transaction
from tests.fakes.faults import Crash, When
from tests.fakes.outbox_table import FakeOutboxTable
from tests.harness import World
from tests.outbox_world import BUCKET, DESTINATION, EVENT_TYPE, REMAINING_SECONDS, OutboxWorld, place_order, until

CONTENT = b"x" * 1000
COMMON = {"content": CONTENT, "content_type": "text/plain"}
LONG_ENOUGH = REMAINING_SECONDS + 30


@dataclass(frozen=True)
class Step:
    """What dies, in a world of one kind.

    Attributes:
        name: For the test's id.
        fifo: Kind of queue.
        prepare: What happened before.
        act: What the process does.
    """

    name: str
    fifo: bool
    prepare: Callable[[OutboxWorld], object]
    act: Callable[[OutboxWorld], object]


def stage_two(world: OutboxWorld) -> None:
    """Two orders, the later one of the same group."""
    for identity in ("o-1", "o-2"):
        world.stage(identity, group="g" if world.fifo else None, **COMMON)  # type: ignore[arg-type]  # fields of Event


def nothing(_: OutboxWorld) -> None:
    """Nothing happened before."""


def late(world: OutboxWorld) -> None:
    """Two orders that the stream has missed."""
    stage_two(world)
    world.clock.advance(30)


def sweep(world: OutboxWorld) -> object:
    """The schedule's turn."""
    return world.sweep()


def deliver(world: OutboxWorld) -> object:
    """The stream's turn."""
    return world.deliver()


STEPS = [
    Step(f"{name}-{'fifo' if fifo else 'standard'}", fifo, prepare, act)
    for fifo in (False, True)
    for name, prepare, act in (("stage", nothing, stage_two), ("relay", stage_two, deliver), ("sweep", late, sweep))
]


def boundaries() -> Iterator[object]:
    """Every call of every step, before and after it took effect."""
    for step in STEPS:
        world = OutboxWorld(fifo=step.fifo)
        step.prepare(world)
        world.faults.clear()
        step.act(world)
        for index, call in enumerate(world.faults.calls):
            for when in ("before", "after"):
                yield pytest.param(step, index, when, id=f"{step.name}-{when}-{index}-{call}")


@pytest.mark.parametrize("step, index, when", list(boundaries()))
def test_a_crash_anywhere_loses_nothing_and_invents_nothing(step: Step, index: int, when: When) -> None:
    world = OutboxWorld(fifo=step.fifo)
    step.prepare(world)
    world.faults.clear()
    world.faults.crash_at(index, when)
    with pytest.raises(Crash):
        step.act(world)
    world.faults.clear()

    settle(world)
    committed = world.ordered()
    assert len(committed) == len(set(committed))
    assert sorted(set(world.sent())) == sorted(committed)  # all that was committed, and nothing else
    assert list(dict.fromkeys(world.sent())) == committed or not step.fifo  # first deliveries in the order of commits
    assert set(world.states()) <= {"SENT"}

    again(world)
    settle(world)
    assert world.ordered() == ["o-1", "o-2"]
    assert sorted(set(world.sent())) == ["o-1", "o-2"]


def settle(world: OutboxWorld) -> None:
    """Let stream and sweep do their work, in new processes, until nothing is pending."""

    def step() -> None:
        world.clock.advance(LONG_ENOUGH)
        world.deliver()
        world.sweep()

    step()
    until(lambda: "PENDING" not in world.states(), step)


def again(world: OutboxWorld) -> None:
    """The application repeats what it does not know to be done: that is safe, and says what was done."""
    for identity in ("o-1", "o-2"):
        try:
            world.stage(identity, group="g" if world.fifo else None, **COMMON)  # type: ignore[arg-type]  # fields of Event
        except AlreadyStaged:
            assert identity in world.ordered()


def test_there_are_boundaries_of_every_kind() -> None:
    calls = {str(one.id).rpartition("-")[2] for one in boundaries()}  # type: ignore[attr-defined]
    wanted = {"put_if_absent", "commit", "rows", "lease_row", "lease_group", "send_batch", "settle_row", "settle_head"}
    assert wanted | {"release_group", "open_rows"} <= calls


# --- In a consumer's transaction ------------------------------------------------------------------------------------


@dataclass
class Chain:
    """A consumer whose handler places orders: the message's completion, the order and its own message are one."""

    source: World = field(default_factory=World)

    def __post_init__(self) -> None:
        """Let both worlds share clock, faults and time."""
        self.target = OutboxWorld(clock=self.source.clock, faults=self.source.faults)
        self.source.table.applied = _Forwarding(self.target.table)

    def handle(self, message: Message, tx: Transaction) -> None:
        """Place an order, and stage its message."""
        place_order(self.target.outbox(), tx, message.message_id, content=message.read(), content_type="text/plain")

    def deliver(self) -> None:
        """Deliver to a new process."""
        self.source.deliver(self.source.consumer(self.handle))


class _Forwarding(list[TableWrite]):
    """What an inbox commits, which is one table with the outbox's as far as transactions go."""

    def __init__(self, table: FakeOutboxTable) -> None:
        """Forward to a table."""
        super().__init__()
        self._table = table

    def extend(self, writes: Iterable[TableWrite]) -> None:
        """What one transaction commits."""
        committed = list(writes)
        super().extend(committed)
        self._table.apply(committed)


def chain_boundaries() -> Iterator[object]:
    """Every call of one delivery."""
    chain = Chain()
    chain.source.send(chain.source.envelope(b"an order", identity="o-1"))
    chain.source.faults.clear()
    chain.deliver()
    for index, call in enumerate(chain.source.faults.calls):
        for when in ("before", "after"):
            yield pytest.param(index, when, id=f"{when}-{index}-{call}")


@pytest.mark.parametrize("index, when", list(chain_boundaries()))
def test_a_consumer_that_dies_commits_its_work_and_the_message_of_it_once(index: int, when: When) -> None:
    chain = Chain()
    chain.source.send(chain.source.envelope(b"an order", identity="o-1"))
    chain.source.faults.clear()
    chain.source.faults.crash_at(index, when)
    with pytest.raises(Crash):
        chain.deliver()
    chain.source.faults.clear()
    chain.source.settle(lambda: chain.source.consumer(chain.handle))
    settle(chain.target)
    assert chain.target.ordered() == ["o-1"]
    assert chain.target.sent() == ["o-1"]
    assert (chain.target.row("o-1").destination, chain.target.row("o-1").event_type) == (DESTINATION, EVENT_TYPE)
    assert chain.target.row("o-1").payload_bucket == BUCKET
