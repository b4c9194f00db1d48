"""Random histories of FIFO groups: whatever happens, each group takes effect in the order sent (R4.7, R5.1).

Several groups, several producers and consumers: batches, duplicates sent at once and after SQS has forgotten, handlers
that fail now and then, always or for good, processes that die at any call, services that do not answer before or after
a call took effect, invocations that outlive their visibility while another goes on, redrives. At the end of each
history: per group the applied order equals the sent order less what was parked, and every movement took effect once.

A history follows from its seed alone: lanes run in the caller's thread, one after the other.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

import pytest

from claim_check import consumer as consumer_module
from claim_check import packing
from claim_check import producer as producer_module
from claim_check.acceptance import Reading
from claim_check.consumer import Consumer
from claim_check.envelope import decode
from claim_check.errors import InfrastructureUnavailable, PermanentError, Unavailable
from claim_check.event import Event
from claim_check.message import Message
from claim_check.processor import Outcome
from claim_check.producer import Published
from claim_check.transaction import Transaction
from tests.fakes import inbox_table as inbox_table_module
from tests.fakes.faults import Crash
from tests.fakes.inbox_table import FakeInboxTable
from tests.harness import EVENT_TYPE, REMAINING_SECONDS, TENANT, World, documents
from tests.unit.test_fifo import QUEUE_SECONDS, producer
from tests.unit.test_mutated_batches import HereAndNow

HISTORIES: Final = 1200
PARTS: Final = 4
MISHAPS: Final = 4
FLAKY: Final = 2
MAX_ATTEMPTS: Final = MISHAPS + FLAKY + 2
"""More than mishaps and flakiness can take from one message: what is parked is so for its own sake."""

ANSWERING: Final = ["take", "replace", "complete", "open", "read", "put_if_absent", "send_batch"]
"""Calls that can fail; a change of visibility never does, it says what was refused."""

ROUNDS: Final = 400
MODES: Final = ["good"] * 6 + ["flaky", "fails", "poison"]
LONG_SECONDS: Final = 400
"""Past the deduplication interval of SQS."""


class Unreadable(PermanentError):
    """A reason of the handler's own."""

    code = "Unreadable"


@dataclass
class Seen:
    """How often each thing happened, so that a history that shows nothing is noticed."""

    counts: Counter[str] = field(default_factory=Counter)


class History:
    """One world, and what is done to it.

    Attributes:
        world: The world.
        blocks: Whether poison blocks its group.
        fixed: Whether the causes of all failures were mended.
        sent: Names of the events of each group, in the order sent.
        parked: Names of the events that ever lay in the DLQ.
        seen: What happened.
    """

    def __init__(self, seed: int, seen: Seen) -> None:
        """Draw the plan of a history."""
        self.rng = random.Random(seed)  # noqa: S311 - no secret
        self.world = World(fifo=True)
        self.shortens = self.rng.random() < 0.5
        self.world.queue.create(self.world.queue_url, visibility_timeout=QUEUE_SECONDS)
        self.blocks = self.rng.random() < 0.4
        self.fixed = False
        self.parked: set[str] = set()
        self.seen = seen
        self.mishaps = self.rng.randrange(MISHAPS + 1)
        self.failures: Counter[str] = Counter()
        self.sent: dict[str, list[str]] = {}
        self.unsent: dict[str, list[Event]] = {}
        for number in range(self.rng.randrange(1, 5)):
            group = f"g-{number}"
            names = [f"{self.rng.choice(MODES)}-{number}-{place}" for place in range(self.rng.randrange(1, 7))]
            self.sent[group] = names
            self.unsent[group] = [self._event(name, group) for name in names]

    def _event(self, name: str, group: str) -> Event:
        json = self.rng.random() < 0.7
        return Event(
            tenant_id=TENANT,
            event_type=EVENT_TYPE,
            payload=b'{"cents":1}',
            content_type="application/json" if json else "application/octet-stream",
            message_id=name,
            group_id=group,
        )

    # --- What happens -----------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Let it happen, until all is quiet; then judge."""
        for _ in range(ROUNDS):
            self.rng.choice([self.publish, self.deliver, self.deliver, self.publish_again, self.wait])()
            if not any(self.unsent.values()) and self.rng.random() < 0.1:
                break
        while any(self.unsent.values()):
            self.publish()
        if self.blocks:
            self.drain(rounds=self.rng.randrange(10), patient=False)
            self.fixed = True
            self.drain()
        else:
            self.drain()
            if self.world.parked() and self.rng.random() < 0.5:
                self.fixed = self.rng.random() < 0.7
                self.seen.counts["redriven"] += 1
                self.world.redrive()
                self.drain()
        self.judge()

    def publish(self) -> None:
        """A producer's process: the next events of some groups, in one batch; again what it did not get through."""
        groups = [group for group, events in self.unsent.items() if events]
        if not groups:
            return
        events = [
            event
            for group in self.rng.sample(groups, self.rng.randrange(1, len(groups) + 1))
            for event in self.unsent[group][: self.rng.randrange(1, 4)]
        ]
        with self.mishap(), suppress(Crash):
            for event, result in zip(events, producer(self.world).publish_batch(events), strict=True):
                if isinstance(result, Published):
                    self.unsent[str(event.group_id)].remove(event)

    def publish_again(self) -> None:
        """A producer that saw no answer, minutes later or much later."""
        done = [(group, name) for group, names in self.sent.items() for name in names if not self._is_unsent(name)]
        if done:
            group, name = self.rng.choice(done)
            if self.rng.random() < 0.3:
                self.world.clock.advance(LONG_SECONDS)
            self.seen.counts["published again"] += 1
            producer(self.world).publish(self._event_again(name, group))

    def _event_again(self, name: str, group: str) -> Event:
        for one in self.world.queued():
            envelope = decode(one.message.body)
            if envelope.message_id == name:
                json = envelope.payload.content_type == "application/json"
                break
        else:
            row = [row for row in self.world.table.rows.values() if row.message_id == name]
            json = bool(row) and row[0].payload_key is None
        return Event(
            tenant_id=TENANT,
            event_type=EVENT_TYPE,
            payload=b'{"cents":1}',
            content_type="application/json" if json else "application/octet-stream",
            message_id=name,
            group_id=group,
        )

    def _is_unsent(self, name: str) -> bool:
        return any(event.message_id == name for events in self.unsent.values() for event in events)

    def deliver(self) -> None:
        """A consumer's process: one invocation, with something going wrong in it now and then."""
        with self.mishap(), suppress(Crash, InfrastructureUnavailable):
            self.invoke()

    def invoke(self) -> None:
        """One invocation."""
        world = self.world
        event = world.queue.lambda_event(world.queue_url, self.rng.choice([1, 3, 10]))
        if event["Records"]:
            answer = self.consumer().handle_lambda(event, remaining_seconds=REMAINING_SECONDS)
            world.queue.apply(world.queue_url, event, answer)
        self._look()

    def wait(self) -> None:
        """Time passes: until the next hidden message comes back, or a little."""
        now = self.world.clock.now()
        hidden = [one.visible_at - now for one in self.world.queued() if one.visible_at > now]
        self.world.clock.advance(min(hidden, default=1.0) if self.rng.random() < 0.7 else 1.0)

    def consumer(self) -> Consumer:
        """A consumer in a new process."""
        return self.world.consumer(
            self.handle,
            park=not self.blocks,
            max_attempts=10**9 if self.blocks else MAX_ATTEMPTS,
            visibility_seconds=QUEUE_SECONDS if self.shortens else 0,
            random=self.rng.random,
        )

    def handle(self, message: Message, tx: Transaction) -> None:
        """Do what the name says."""
        mode = message.message_id.partition("-")[0]
        self.seen.counts[f"attempt, {mode}"] += 1
        if mode == "poison" and not self.fixed:
            raise Unreadable
        if mode == "fails" and not self.fixed:
            raise RuntimeError
        if mode == "flaky" and self.failures[message.message_id] < FLAKY:
            self.failures[message.message_id] += 1
            raise RuntimeError
        documents(message, tx)

    @contextmanager
    def mishap(self) -> Iterator[None]:
        """Let one call of a process go wrong, perhaps."""
        faults = self.world.faults
        if self.mishaps and self.rng.random() < 0.5:
            kind = self.rng.choice(["death", "no answer", "outlived", "outlived and leased anew"])
            when, index = self.rng.choice(["before", "after"]), self.rng.randrange(12)
            actions: dict[str, Callable[[], None]] = {
                "death": self._die,
                "no answer": self._no_answer,
                "outlived": lambda: self._another(REMAINING_SECONDS - 1),
                "outlived and leased anew": lambda: self._another(QUEUE_SECONDS),
            }
            name = self.rng.choice(ANSWERING) if kind == "no answer" else None
            index = index // 3 if name else index
            faults.on(name, actions[kind], when=when, skip=index)  # type: ignore[arg-type]  # one of two literals
        yield
        faults._plans.clear()

    def _count(self, kind: str) -> None:
        self.mishaps -= 1
        self.seen.counts[kind] += 1

    def _die(self) -> None:
        self._count("death")
        raise Crash

    def _no_answer(self) -> None:
        self._count("no answer")
        raise Unavailable("no answer")

    def _another(self, seconds: float) -> None:
        """Time passes in the middle of an invocation, and another one does what it finds."""
        self._count("outlived")
        self.world.clock.advance(seconds)
        with suppress(InfrastructureUnavailable):
            self.invoke()

    def drain(self, *, rounds: int = ROUNDS, patient: bool = True) -> None:
        """Deliver until the queue is empty."""
        for _ in range(rounds):
            if not self.world.queued():
                return
            now = self.world.clock.now()
            later = [one.visible_at - now for one in self.world.queued() if one.visible_at > now]
            with suppress(InfrastructureUnavailable):
                self.invoke()
            self.world.clock.advance(min(later, default=1.0))
        assert not patient, "never quiet"

    def _look(self) -> None:
        """Remember what lies in the DLQ."""
        for one in self.world.queue.messages(self.world.dlq_url):
            self.parked.add(decode(one.message.body).message_id)

    # --- What must hold ---------------------------------------------------------------------------------------------

    def judge(self) -> None:
        """Order, exactly once, nothing lost, nothing parked that need not be."""
        applied = [write.key["pk"].partition("#")[2] for write in self.world.table.applied]
        assert not [name for name, times in Counter(applied).items() if times > 1], "every movement once"
        self.seen.counts["parked"] += len(self.parked)
        self.seen.counts["applied"] += len(applied)
        for names in self.sent.values():
            in_order = [name for name in names if name not in self.parked]
            found = [name for name in applied if name in set(in_order)]
            assert found == in_order, "the applied order is the sent order, less what was parked"
        assert {name.partition("-")[0] for name in self.parked} <= {"fails", "poison"}, "nothing innocent was parked"
        in_dlq = {decode(one.message.body).message_id for one in self.world.queue.messages(self.world.dlq_url)}
        lost = {name for names in self.sent.values() for name in names} - set(applied) - in_dlq
        assert not lost, "nothing is lost"
        assert not self.world.queued()
        assert {row.state for row in self.world.table.rows.values()} <= {"COMPLETED", "PARKED"}
        assert not (self.blocks and self.parked)


def histories(seeds: range) -> Seen:
    """Run histories; the seed of one that fails is told."""
    seen = Seen()
    for seed in seeds:
        try:
            History(seed, seen).run()
        except AssertionError as error:
            error.add_note(f"history {seed}")
            raise
    return seen


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumer_module, "ThreadPoolExecutor", HereAndNow)


@pytest.mark.parametrize("part", range(PARTS))
def test_every_group_takes_effect_in_the_order_sent(part: int, capsys: pytest.CaptureFixture[str]) -> None:
    number = HISTORIES // PARTS
    seen = histories(range(part * number, (part + 1) * number))
    with capsys.disabled():
        print(f"\n{number} FIFO histories: {dict(sorted(seen.counts.items()))}")  # noqa: T201 - the counts are to be seen
    for what in ("death", "no answer", "outlived", "published again", "redriven", "parked", "attempt, flaky"):
        assert seen.counts[what] > number / 20, f"{what} was hardly tried"


# --- The histories notice a broken rule -----------------------------------------------------------------------------


def _tail_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Consumer, "lane_of", lambda _, reading: reading.identity)


def _tail_is_acknowledged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumer_module, "behind", lambda _: Outcome(None, acknowledged=True))


def _a_group_forgets_its_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_lane(
        self: Consumer, lane: consumer_module._Lane[Reading], batch: consumer_module._Batch, *, alone: bool
    ) -> None:
        for place, reading in lane:
            batch.outcomes[place] = self._run(reading, batch, alone=alone or True)

    monkeypatch.setattr(Consumer, "_run_lane", run_lane)


def _writes_are_not_fenced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeInboxTable, "_matches", lambda *_: True)


def _the_gate_takes_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox_table_module, "may_take", lambda *_, **__: True)


def _content_is_the_deduplication_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(producer_module, "deduplication_id", lambda *_: "d" * 64)


def _a_failed_head_is_overtaken_in_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "rounds", lambda items: [list(reversed(items))] if items else [])


BROKEN = [
    _tail_goes_on,
    _tail_is_acknowledged,
    _a_group_forgets_its_failure,
    _writes_are_not_fenced,
    _the_gate_takes_everything,
    _content_is_the_deduplication_id,
    _a_failed_head_is_overtaken_in_the_batch,
]


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__.strip("_"))
def test_a_broken_rule_is_noticed(
    broken: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch)
    with pytest.raises(AssertionError):
        histories(range(HISTORIES))
