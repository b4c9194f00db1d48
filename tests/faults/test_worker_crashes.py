"""The worker's process dies at every boundary of a recorded run, and another one takes over (R4.1, R4.10).

The boundaries are the calls of a run that passed: receive, gate, open, heartbeat, commit, failure, parking, delete,
visibility. Each is crashed before and after its effect. Whatever happens: every effect once, nothing lost, nothing
parked that is good, and on FIFO the order of each group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from claim_check.contract import ErrorCode, Metric
from claim_check.errors import PermanentError
from claim_check.message import Message
from claim_check.transaction import Transaction
from tests.fakes.faults import Crash, When
from tests.harness import Sent, World, documents
from tests.worker_world import Process, Started, make_worker

WHENS: tuple[When, ...] = ("before", "after")


class Unreadable(PermanentError):
    """A reason of the handler's own."""

    code = "Unreadable"


@dataclass
class Story:
    """A world with messages of every fate, and the process that handles them."""

    world: World
    good: list[Sent]
    bad: Sent
    stops: bool = False

    @classmethod
    def begin(cls, *, fifo: bool, stops: bool = False) -> Story:
        """Send the messages: two that work at once, one that fails once, one that never works."""
        world = World(fifo=fifo)
        names = ["first", "fails-once", "last"]
        good = [world.send(world.envelope(identity=name), group="a") for name in names[:2]]
        bad = world.send(world.envelope(identity="never"), group="b")
        good.append(world.send(world.envelope(identity=names[2]), group="a"))
        return cls(world, good, bad, stops)

    def run(self, process: Process, *, concurrency: int) -> Started:
        """One process, from its start to its end."""
        failed: Counter[str] = Counter()

        def handle(message: Message, tx: Transaction) -> None:
            if message.idempotency_key == "first":
                self.world.clock.advance(15)
                started.worker.beat()
                if self.stops:
                    started.worker.stop()
                    started.worker._stopping.wait(10)
            if message.idempotency_key == "never":
                raise Unreadable("never")
            failed[message.idempotency_key] += 1
            if message.idempotency_key == "fails-once" and failed[message.idempotency_key] == 1:
                raise ValueError("not yet")
            documents(message, tx)

        started = make_worker(self.world, handle, process=process, concurrency=concurrency)
        return started.run()

    def judge(self, *, crashes: int = 0) -> None:
        """Every effect once, nothing lost, nothing parked that is good."""
        world = self.world
        assert not world.queued()
        assert [world.effects(one) for one in self.good] == [1] * len(self.good)
        assert [world.row(one).state for one in self.good] == ["COMPLETED"] * len(self.good)
        assert world.row(self.bad).state == "PARKED"
        assert set(world.parked()) == {(self.bad.sqs_message_id, "Unreadable")}
        assert len(world.parked()) <= 1 + crashes
        if world.fifo:
            order = [item["pk"].partition("#")[2] for item in world.table.items("documents")]
            assert order == [one.envelope.idempotency_key for one in self.good]


def record(*, fifo: bool, concurrency: int, stops: bool) -> list[tuple[str, int, When]]:
    """The boundaries of a run that passes."""
    story, process = Story.begin(fifo=fifo, stops=stops), Process()
    story.run(process, concurrency=concurrency)
    recorded = list(process.calls)
    story.run(Process(), concurrency=concurrency)  # what a stop handed back
    story.judge()
    numbers: Counter[str] = Counter()
    boundaries: list[tuple[str, int, When]] = []
    for name in recorded:
        boundaries += [(name, numbers[name], when) for when in WHENS]
        numbers[name] += 1
    return boundaries


RUNS = {
    "standard": {"fifo": False, "concurrency": 1, "stops": False},
    "standard, side by side": {"fifo": False, "concurrency": 4, "stops": False},
    "fifo": {"fifo": True, "concurrency": 4, "stops": False},
    "standard, stopped": {"fifo": False, "concurrency": 2, "stops": True},
    "fifo, stopped": {"fifo": True, "concurrency": 4, "stops": True},
}


def boundaries_of(run: str) -> Iterator[tuple[str, int, When]]:
    """Boundaries of one of the runs, and that they are those which matter."""
    boundaries = record(**RUNS[run])  # type: ignore[arg-type]  # its keyword arguments
    names = {name for name, _, _ in boundaries}
    assert {"receive_batch", "take", "open", "complete", "replace", "delete_batch", "change_visibility"} <= names
    return iter(boundaries)


@pytest.mark.parametrize("run", RUNS)
def test_a_process_that_dies_anywhere_is_followed_by_one_that_puts_it_right(run: str) -> None:
    settings = RUNS[run]
    survived = 0
    for boundary in boundaries_of(run):
        story = Story.begin(fifo=bool(settings["fifo"]), stops=bool(settings["stops"]))
        process = Process(dies_at=boundary)
        try:
            story.run(process, concurrency=settings["concurrency"])
        except Crash:
            assert process.died
        else:
            survived += 1  # how often it polled, told or beat differs between runs
        story.stops = False
        story.run(Process(), concurrency=settings["concurrency"])
        try:
            story.judge(crashes=1)
        except AssertionError as error:
            raise AssertionError(f"after a crash {boundary[2]} call {boundary[1]} of {boundary[0]}") from error
    assert survived <= 12


def test_a_process_that_dies_twice() -> None:
    """While it recovers, too."""
    firsts: list[tuple[str, int, When]] = [("take", 0, "after"), ("complete", 0, "after"), ("send_batch", 0, "after")]
    for first in firsts:
        for second in boundaries_of("standard"):
            story = Story.begin(fifo=False)
            for boundary in (first, second):
                try:
                    story.run(Process(dies_at=boundary), concurrency=1)
                except Crash:
                    continue
            story.run(Process(), concurrency=1)
            story.judge(crashes=2)


def test_a_message_that_always_kills_its_process_is_parked_and_its_neighbours_are_not() -> None:
    world = World()
    killer, *others = [world.send() for _ in range(6)]

    def handle(message: Message, tx: Transaction) -> None:
        if message.idempotency_key == killer.envelope.idempotency_key:
            raise Crash("out of memory")
        documents(message, tx)

    for _ in range(30):
        try:
            make_worker(world, handle, concurrency=3).run()
        except Crash:
            continue
        break
    assert world.parked() == [(killer.sqs_message_id, ErrorCode.HANDLER_CRASHED)]
    assert [world.effects(one) for one in others] == [1] * 5
    assert not world.queued()
    assert world.telemetry.counts[Metric.PARKED] == 1
