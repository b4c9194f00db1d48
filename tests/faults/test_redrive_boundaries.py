"""A redrive dies, or hears no answer, at each of its calls to the outside; then the same command is given again (R9.1).

The boundaries are recorded from a passing run of each path. At every moment each event is in the DLQ, in its archive,
in its queue, or applied: nothing is lost. In the end each effect exists once, and nothing is left anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import get_args

import pytest

from claim_check.archive import ArchivedLetter, decode_letter
from claim_check.contract import ErrorCode
from claim_check.envelope import decode
from claim_check.errors import Unavailable
from claim_check_ops.dlq.archive_source import ArchiveSource
from claim_check_ops.dlq.journal import MemoryJournal
from claim_check_ops.dlq.pace import Limit
from claim_check_ops.dlq.ports import DeadLetterSource
from tests.dlq_world import DlqWorld
from tests.fakes.archive import FakeArchive
from tests.fakes.faults import Crash, Faults, When
from tests.harness import Sent, documents

EVER = 1_000_000
TRIES = 12

NEVER_RAISES = {"change_visibility", "delete_batch", "archive_remove"}
"""They answer with what was refused."""


class CrashingJournal(MemoryJournal):
    """A journal on a disk that outlives the processes; a line is whole or not there."""

    def __init__(self, faults: Faults) -> None:
        """Begin."""
        super().__init__("run-1")
        self._faults = faults

    def note(self, event: str, **fields: object) -> None:
        """Write a line."""
        with self._faults.around("journal"):
            super().note(event, **fields)


@dataclass
class Path:
    """Dead letters, and what must become of them.

    Attributes:
        world: Where they are.
        once: Events whose effect must exist once.
        stay: Events that must stay in the DLQ.
        archive: Their archive, if they have one.
        canary: Whether a copy is sent ahead.
        orders: Other orders.
    """

    world: DlqWorld
    once: list[Sent]
    stay: list[Sent] = field(default_factory=list)
    archive: FakeArchive | None = None
    canary: bool = False
    delete_completed: bool = False

    def sources(self) -> Sequence[DeadLetterSource]:
        """What a new process sees."""
        queue = self.world.source()
        if self.archive is None:
            return [queue]
        return [ArchiveSource(self.archive, self.world.dlq_url.rpartition("/")[2]), queue]


def parked(world: DlqWorld) -> Path:
    """More than one call holds."""
    return Path(world, world.dead(13))


def with_a_canary(world: DlqWorld) -> Path:
    """The consumer works while the canary is watched."""
    return Path(world, world.dead(3), canary=True)


def moved_by_sqs(world: DlqWorld) -> Path:
    """Neither has a reason."""
    sent = [world.send(), world.send()]
    world.seed_row(sent[0], "FAILED", last_code=ErrorCode.COMMIT_FAILED)
    for one in sent:
        world.moved_by_sqs(one)
    return Path(world, sent)


def with_one_that_stays(world: DlqWorld) -> Path:
    """A payload that is gone."""
    sent = world.dead(4)
    world.lose_payload(sent[1])
    return Path(world, [sent[0], *sent[2:]], stay=[sent[1]])


def with_one_that_is_done(world: DlqWorld) -> Path:
    """What the inbox has completed is acknowledged."""
    sent = world.dead(3)
    world.send(sent[0].envelope)
    world.settle()
    return Path(world, sent, delete_completed=True)


def of_the_archive(world: DlqWorld) -> Path:
    """One of the three is still in the DLQ, too."""
    sent, archive, source = world.dead(3), FakeArchive(faults=world.faults), world.source()
    for delivery in source.take(10):
        archive.put(ArchivedLetter.of(delivery, now=world.clock.now()))
    source.give_back()
    del world.queue._queue(world.dlq_url).messages[1:]
    return Path(world, sent, archive=archive)


def in_groups(world: DlqWorld) -> Path:
    """Two groups, one of them longer than SQS shows at once."""
    long: list[Sent] = []
    short: list[Sent] = []
    for number in range(14):
        (short if number % 7 == 0 else long).append(world.send(group="g-s" if number % 7 == 0 else "g-l"))
    world.die(*long, *short)
    return Path(world, [*long, *short])


PATHS: dict[str, tuple[Callable[[DlqWorld], Path], bool]] = {
    make.__name__: (make, fifo)
    for make, fifo in (
        (parked, False),
        (with_a_canary, False),
        (moved_by_sqs, False),
        (with_one_that_stays, False),
        (with_one_that_is_done, False),
        (of_the_archive, False),
        (in_groups, True),
    )
}


# --- Running a path -------------------------------------------------------------------------------------------------


@dataclass
class Run:
    """A redrive, given again and again until it is through."""

    path: Path
    journal: CrashingJournal
    deaths: int = 0

    @property
    def world(self) -> DlqWorld:
        """Where it happens."""
        return self.path.world

    def until_done(self) -> None:
        """A new process each time; what a dead one held comes back in its time."""
        for _ in range(TRIES):
            if self._process():
                return
            self.world.clock.advance(400)
        raise AssertionError("never done")

    def _process(self) -> bool:
        world = self.world
        if self.path.canary:
            world.work_with()
        redriver = world.redriver(
            journal=self.journal,
            sources=self.path.sources(),
            limit=Limit(rate=100.0),
            canary_seconds=60.0 if self.path.canary else None,
            settle_seconds=0.0,
            delete_completed=self.path.delete_completed,
        )
        try:
            report = redriver.run()
        except Crash:
            self.deaths += 1
            world.faults._plans.clear()
            return False
        finally:
            self.nothing_is_lost()
        return report.stopped is None and not report.still_there and not report.unseen

    def nothing_is_lost(self) -> None:
        """Each event is somewhere."""
        world = self.world
        bodies = [one.message.body for url in (world.dlq_url, world.queue_url) for one in world.queue.messages(url)]
        if self.path.archive is not None:
            found = self.path.archive.objects.values()
            bodies += [letter.delivery.body for letter in map(decode_letter, found)]
        somewhere = {decode(body).message_id for body in bodies}
        for sent in [*self.path.once, *self.path.stay]:
            assert sent.envelope.message_id in somewhere or world.effects(sent) == 1, "an event is nowhere"

    def check(self) -> None:
        """The consumer works off what was sent; then each effect is there once."""
        world = self.world
        world.faults._plans.clear()
        world.settle(lambda: world.consumer(documents))
        assert [world.effects(one) for one in self.path.once] == [1] * len(self.path.once), "each effect exactly once"
        assert [world.effects(one) for one in self.path.stay] == [0] * len(self.path.stay)
        left = [decode(one.message.body).message_id for one in world.queue.messages(world.dlq_url)]
        assert left == [one.envelope.message_id for one in self.path.stay]
        assert self.path.archive is None or self.path.archive.objects == {}
        if world.fifo:
            self.order_held()

    def order_held(self) -> None:
        """The first effects of each group came in the order in which they were sent."""
        applied = [str(write.key["pk"]).partition("#")[2] for write in self.world.table.applied]
        for group in (
            [one.envelope.message_id for one in self.path.once[:12]],
            [one.envelope.message_id for one in self.path.once[12:]],
        ):
            assert [identity for identity in applied if identity in group] == group


def start(name: str) -> Run:
    """Make a path's dead letters."""
    make, fifo = PATHS[name]
    world = DlqWorld(fifo=fifo)
    path = make(world)
    world.faults.clear()
    return Run(path, CrashingJournal(world.faults))


@cache
def boundaries(name: str) -> list[str]:
    """The calls of a passing redrive."""
    run = start(name)
    run.until_done()
    calls = list(run.world.faults.calls)
    run.check()
    return calls


def finish(run: Run, what: str) -> None:
    """Repeat until done, and check."""
    try:
        run.until_done()
        run.check()
    except AssertionError as error:
        error.add_note(what)
        raise


@pytest.mark.parametrize("when", get_args(When))
@pytest.mark.parametrize("path", PATHS)
def test_a_redrive_that_dies_at_any_boundary_of(path: str, when: When) -> None:
    for index, name in enumerate(boundaries(path)):
        run = start(path)
        run.world.faults.fail(None, Crash(), when=when, skip=index)
        run.world.faults.fail(None, Crash(), when="before", skip=index + 1, times=EVER)
        finish(run, f"died {when} call {index}, {name}, of {boundaries(path)}")
        assert run.deaths == 1, "a boundary that was not reached was not tested"


@pytest.mark.parametrize("when", get_args(When))
@pytest.mark.parametrize("path", PATHS)
def test_a_service_that_does_not_answer_at_any_boundary_of(path: str, when: When) -> None:
    for index, name in enumerate(boundaries(path)):
        if name in NEVER_RAISES | {"journal"}:
            continue
        run = start(path)
        run.world.faults.fail(None, Unavailable("no answer"), when=when, skip=index)
        finish(run, f"no answer {when} call {index}, {name}, of {boundaries(path)}")


@pytest.mark.parametrize("path", PATHS)
def test_a_second_process_that_dies_as_well(path: str) -> None:
    for first in range(0, len(boundaries(path)), 3):
        for second in range(0, 12, 2):
            run = start(path)
            run.world.faults.fail(None, Crash(), when="after", skip=first)
            run.world.faults.fail(None, Crash(), when="before", skip=first + 1, times=EVER)
            run._process()
            run.world.clock.advance(400)
            run.world.faults.fail(None, Crash(), when="after", skip=second)
            run.world.faults.fail(None, Crash(), when="before", skip=second + 1, times=EVER)
            finish(run, f"died after call {first}, and {second} calls later")


def test_every_call_of_a_redrive_is_a_boundary_of_some_path() -> None:
    recorded = {name for path in PATHS for name in boundaries(path)}
    mine = {"receive_batch", "get_rows", "head", "send_batch", "delete_batch", "change_visibility", "journal"}
    assert mine | {"archive_read", "archive_remove"} <= recorded
