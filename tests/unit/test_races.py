"""Two workers, late workers, dying workers, forged and redriven messages: one effect, nothing lost (R4.2, R4.6)."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from claim_check.contract import ErrorCode, Metric
from claim_check.deadline import Deadline
from claim_check.delivery import Delivery
from claim_check.envelope import encode
from claim_check.errors import InfrastructureUnavailable, PermanentError, Unavailable
from claim_check.message import Message
from claim_check.ports import InboxRow
from claim_check.processor import Handler
from claim_check.transaction import Transaction
from tests.fakes.faults import Crash, When
from tests.harness import REMAINING_SECONDS, VISIBILITY_SECONDS, Sent, World, documents
from tests.interleaving import Play, SteppedFaults, every_interleaving, perform

EVER = 1_000_000
OUTAGE = Unavailable("the service did not answer")
LEASE_SECONDS = REMAINING_SECONDS + 5


class Unreadable(PermanentError):
    """A reason of the handler's own."""

    code = "Unreadable"


@pytest.fixture
def world() -> World:
    """A pipeline on a standard queue."""
    return World()


def failing(_message: Message, _tx: Transaction) -> None:
    """Fail."""
    raise RuntimeError


def permanent(_message: Message, _tx: Transaction) -> None:
    """Fail for good."""
    raise Unreadable


ENDINGS: dict[str, Handler] = {"succeeds": documents, "fails": failing, "wants to park": permanent}


# --- Every interleaving of two workers and the end of a lease --------------------------------------------------------


def worker(world: World, sent: Sent, handler: Handler) -> Callable[[], None]:
    """One delivery of a message to a process of its own; what it acknowledges is deleted."""
    processor = world.consumer(handler, max_attempts=2)._processor
    delivery = Delivery(
        sqs_message_id=sent.sqs_message_id, receipt_handle="handle", body=encode(sent.envelope), queue="documents"
    )

    def action() -> None:
        reading, deadline = processor.read(delivery), Deadline(world.clock, REMAINING_SECONDS)
        for alone in (False, True):  # a suspect comes a second time
            outcome = processor.process(reading, deadline=deadline, lease_seconds=LEASE_SECONDS, alone=alone)
            if not outcome.set_aside:
                break
        if outcome.acknowledged:
            source = world.queue._queue(world.queue_url)
            source.messages = [one for one in source.messages if one.sqs_message_id != sent.sqs_message_id]

    return action


def another_clock(world: World) -> None:
    """Every lease so far has ended, by the clocks of others; the workers' own deadlines are far away."""
    world.clock._now += LEASE_SECONDS + 1


def nothing_before(_: World, __: Sent) -> None:
    """The first delivery."""


def crashed_before(world: World, sent: Sent) -> None:
    """An attempt was never closed."""
    world.seed_row(sent, "IN_PROGRESS", lease_until=world.clock.now())


def parked_before(world: World, sent: Sent) -> None:
    """Redriven."""
    world.seed_row(sent, "PARKED", attempts=0, attempts_spent=2, sqs_message_id="an-earlier-life")


def used_up_before(world: World, sent: Sent) -> None:
    """The attempts of a process that died are used up."""
    world.seed_row(sent, "IN_PROGRESS", attempts=2, lease_until=world.clock.now())


@pytest.mark.parametrize("first, second", list(itertools.combinations_with_replacement(ENDINGS, 2)))
def test_two_workers_on_one_message_in_every_order(first: str, second: str) -> None:
    """R4.2: whoever is late, and however each ends."""
    assert run_every_order(first, second, nothing_before) > 100


@pytest.mark.parametrize(
    "before, first, second",
    [
        (crashed_before, "succeeds", "succeeds"),
        (parked_before, "succeeds", "fails"),
        (parked_before, "fails", "wants to park"),
        (used_up_before, "succeeds", "fails"),
    ],
)
def test_two_workers_on_a_message_with_a_past_in_every_order(
    before: Callable[[World, Sent], None], first: str, second: str
) -> None:
    assert run_every_order(first, second, before) > 100


def test_two_messages_of_one_identity_in_every_order() -> None:
    for first, second in itertools.product(ENDINGS, repeat=2):
        assert run_every_order(first, second, nothing_before, messages=2) > 100


def run_every_order(first: str, second: str, before: Callable[[World, Sent], None], *, messages: int = 1) -> int:
    """Run two workers and the end of their leases in every order; returns the number of orders."""

    def run(script: Sequence[int]) -> Play:
        world = World(faults=SteppedFaults())
        envelope = world.envelope(b"{}", inline=True)
        sent = [world.send(envelope) for _ in range(messages)]
        before(world, sent[0])
        play = perform(
            [
                worker(world, sent[0], ENDINGS[first]),
                worker(world, sent[-1], ENDINGS[second]),
                lambda: another_clock(world),
            ],
            script,
        )
        assert_nothing_is_lost(world, sent[0])
        world.clock.advance(VISIBILITY_SECONDS)
        world.settle()
        assert_nothing_is_lost(world, sent[0])
        world.redrive()
        world.settle()
        assert world.effects(sent[0]) == 1
        assert world.row(sent[0]).state == "COMPLETED"
        return play

    return every_interleaving(run)


def assert_nothing_is_lost(world: World, sent: Sent) -> None:
    """The effect was applied at most once; if it was not, a message or a copy of it is left."""
    assert world.effects(sent) <= 1
    assert world.effects(sent) or world.queued() or world.queue.messages(world.dlq_url)
    if world.effects(sent):
        assert world.row(sent).state == "COMPLETED"


@pytest.mark.parametrize("handler", ENDINGS.values(), ids=ENDINGS)
def test_two_consumers_get_one_message_at_once(handler: Handler) -> None:
    """The same with real threads."""
    for _ in range(20):
        world = World()
        sent = world.send()
        event = world.queue.lambda_event(world.queue_url)
        barrier = threading.Barrier(2, timeout=10)

        def invoke(world: World = world, event: Any = event, barrier: threading.Barrier = barrier) -> list[str]:  # noqa: ANN401 - Lambda's event
            consumer = world.consumer(handler)
            barrier.wait()
            answer = consumer.handle_lambda(event, remaining_seconds=REMAINING_SECONDS)
            return [item["itemIdentifier"] for item in answer["batchItemFailures"]]

        with ThreadPoolExecutor(2) as pool:
            answers = [one.result() for one in [pool.submit(invoke), pool.submit(invoke)]]
        assert world.effects(sent) == (handler is documents)
        assert len(world.parked()) in ({1, 2} if handler is permanent else {0})  # at worst two copies
        if handler is failing:
            assert answers == [[sent.sqs_message_id]] * 2


# --- Zombies --------------------------------------------------------------------------------------------------------


def zombie(world: World, ending: Handler, meanwhile: Callable[[], object]) -> Handler:
    """A handler that takes so long that its lease ends and others go on; then it ends in its way."""

    def handler(message: Message, tx: Transaction) -> None:
        another_clock(world)
        meanwhile()
        ending(message, tx)

    return handler


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
@pytest.mark.parametrize("other", ENDINGS.values(), ids=[f"the other {name}" for name in ENDINGS])
def test_a_zombie_changes_nothing(world: World, ending: Handler, other: Handler) -> None:
    """It outlives its lease, another worker takes over and comes to an end, and then the zombie comes to its own."""
    sent = world.send()
    rows: list[InboxRow] = []

    def meanwhile() -> None:
        world.clock._now += VISIBILITY_SECONDS
        world.deliver(world.consumer(other))
        rows.append(world.row(sent))
        world.faults.calls.clear()

    failed = world.deliver(world.consumer(zombie(world, ending, meanwhile)))
    assert failed == [sent.sqs_message_id]
    assert world.row(sent) == rows[0]
    assert world.effects(sent) == (other is documents)
    assert len(world.parked()) == (other is permanent)
    assert world.calls("change_visibility", "send_batch") == []
    assert world.telemetry.counts[Metric.LOST_LEASE] == 1
    world.clock.advance(VISIBILITY_SECONDS)
    world.settle()
    assert world.effects(sent) == (other is not permanent)


def test_a_zombie_whose_message_nobody_took_over_may_still_commit(world: World) -> None:
    """The owner's token fences, not the clock: no work is thrown away that nobody else has begun."""
    sent = world.send()
    assert world.deliver(world.consumer(zombie(world, documents, lambda: None))) == []
    assert world.effects(sent) == 1


# --- Lost answers, throttles, conflicts -----------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["take", "complete", "replace"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("times", [1, 2, 5])
@pytest.mark.parametrize("handler", ENDINGS.values(), ids=ENDINGS)
def test_the_table_does_not_answer(world: World, call: str, when: When, times: int, handler: Handler) -> None:
    """One effect, or one parking, however often and wherever an answer is lost."""
    sent = world.send()
    world.faults.fail(call, OUTAGE, when=when, times=times)
    for _ in range(30):
        if not world.queued():
            break
        world.pass_time()
        try:
            world.deliver(world.consumer(handler, max_attempts=10))
        except InfrastructureUnavailable:
            continue
    assert world.effects(sent) == (handler is documents)
    reasons = {code for _, code in world.parked()}
    expected: dict[Handler, set[str]] = {
        documents: set(),
        failing: {ErrorCode.HANDLER_FAILED, ErrorCode.HANDLER_CRASHED},
        permanent: {"Unreadable"},
    }
    assert reasons <= expected[handler]
    assert bool(reasons) == (handler is not documents)


def test_throttles_of_a_whole_day_park_nothing(world: World) -> None:
    """R4.6, DESIGN section 3: what the infrastructure spoils costs no attempt."""
    sent = world.send()
    for call in itertools.islice(itertools.cycle(["take", "open", "read", "complete"]), 100):
        world.faults.clear()
        world.faults.fail(call, OUTAGE, times=EVER)
        world.pass_time()
        with pytest.raises(InfrastructureUnavailable):
            world.deliver()
    world.faults.clear()
    world.settle()
    assert (world.effects(sent), world.row(sent).attempts) == (1, 1)
    assert world.parked() == []


# --- Redriven, forged -----------------------------------------------------------------------------------------------


def test_a_parked_copy_is_redriven_for_several_rounds(world: World) -> None:
    """Each redrive is a life of its own with attempts of its own; in the last the handler is mended."""
    sent = world.send()
    for round_number in range(1, 5):
        world.settle(lambda: world.consumer(failing, max_attempts=3))
        row = world.row(sent)
        assert (row.state, row.attempts, row.attempts_spent) == ("PARKED", 0, 3)
        assert len(world.parked()) == 1
        assert world.parked()[0] == (row.sqs_message_id, ErrorCode.HANDLER_FAILED)
        (again,) = world.redrive()
        assert again != row.sqs_message_id, round_number
    world.settle()
    assert world.effects(sent) == 1
    assert world.row(sent).first_seen_at < world.row(sent).updated_at


def test_a_copy_that_is_redriven_twice_has_one_effect(world: World) -> None:
    """A redrive that dies between its send and its delete."""
    sent = world.send()
    world.deliver(world.consumer(permanent))
    copies = list(world.queue.messages(world.dlq_url))
    world.redrive()
    world.queue._queue(world.dlq_url).messages = copies
    world.redrive()
    assert len(world.queued()) == 2
    world.deliver(world.consumer(concurrency=2))
    world.settle()
    assert world.effects(sent) == 1
    assert world.telemetry.counts[Metric.DUPLICATE] == 1


@pytest.mark.parametrize("moment", ["before", "while it runs", "after"])
@pytest.mark.parametrize(
    "forgery",
    [
        pytest.param({"bucket": "somebody-elses"}, id="bucket"),
        pytest.param({"key": "secrets/a"}, id="prefix"),
        pytest.param({"sha256": "0" * 64}, id="content"),
    ],
)
def test_a_forged_message_under_a_real_events_identity(world: World, forgery: dict[str, Any], moment: str) -> None:
    """What has no claim on an identity never touches its row: the real event is processed all the same (R11.3)."""
    real = world.envelope(identity="real")
    forged = world.envelope(identity="real", **forgery)
    untrusted = "sha256" not in forgery
    if moment == "before":
        bad = world.send(forged)
        world.deliver()
        sent = world.send(real)
        world.deliver()
    elif moment == "after":
        sent = world.send(real)
        world.deliver()
        bad = world.send(forged)
        world.deliver()
    else:
        sent = world.send(real)
        found: list[Sent] = []

        def handler(message: Message, tx: Transaction) -> None:
            found.append(world.send(forged))
            world.deliver(world.consumer(), count=1)
            documents(message, tx)

        assert world.deliver(world.consumer(handler)) == []
        (bad,) = found
    parked = dict(world.parked())
    if untrusted:
        assert parked == {bad.sqs_message_id: ErrorCode.UNTRUSTED_REFERENCE}
        assert world.effects(sent) == 1
    elif moment == "before":  # the identity is bound to what came first: nobody can tell the two apart
        assert parked == {bad.sqs_message_id: ErrorCode.CHECKSUM_MISMATCH, sent.sqs_message_id: ErrorCode.CONFLICT}
    else:
        assert parked == {bad.sqs_message_id: ErrorCode.CONFLICT}
        assert world.effects(sent) == 1


# --- A process that dies on one record while it holds nine others -----------------------------------------------------


def deadly(name: str) -> Handler:
    """A handler whose process dies of one message."""

    def handler(message: Message, tx: Transaction) -> None:
        if message.message_id == name:
            raise Crash
        documents(message, tx)

    return handler


def deliver_to_mortal(world: World, handler: Handler, **options: Any) -> None:  # noqa: ANN401 - options of World.consumer
    """One invocation; when its process dies, nothing of it has an effect any more."""
    dead = threading.Event()

    def mortal(message: Message, tx: Transaction) -> None:
        try:
            handler(message, tx)
        except Crash:
            dead.set()
            world.faults.fail(None, Crash(), times=EVER)
            raise

    try:
        world.deliver(world.consumer(mortal, **options))
    except Crash:
        world.faults._plans.clear()


@pytest.mark.parametrize("place", range(10))
def test_a_process_that_dies_of_one_record_never_parks_the_nine_others(world: World, place: int) -> None:
    """R4.3: one after the other, the deadly one at any place."""
    sent = [world.send() for _ in range(10)]
    handler = deadly(sent[place].envelope.message_id)
    for _ in range(20):
        if not world.queued():
            break
        world.pass_time()
        deliver_to_mortal(world, handler, max_attempts=3)
    assert world.parked() == [(sent[place].sqs_message_id, ErrorCode.HANDLER_CRASHED)]
    assert world.row(sent[place]).attempts_spent == 3
    innocent = [one for one in sent if one is not sent[place]]
    assert [world.effects(one) for one in innocent] == [1] * 9
    assert max(world.row(one).attempts for one in innocent) <= 2


@pytest.mark.parametrize("max_attempts", [2, 5])
def test_a_process_that_dies_with_ten_records_in_their_handlers_parks_one(world: World, max_attempts: int) -> None:
    """R4.3: side by side; all ten attempts are left open, and only one of them is to blame."""
    sent = [world.send() for _ in range(10)]
    culprit = sent[4]
    inside, dead = threading.Semaphore(0), threading.Event()

    def handler(message: Message, _tx: Transaction) -> None:
        if message.message_id != culprit.envelope.message_id:
            inside.release()
            assert dead.wait(10)
            raise Crash
        for _ in range(9):
            assert inside.acquire(timeout=10)
        world.faults.fail(None, Crash(), times=EVER)
        dead.set()
        raise Crash

    with pytest.raises(Crash):
        world.deliver(world.consumer(handler, concurrency=10))
    assert [world.row(one).state for one in sent] == ["IN_PROGRESS"] * 10
    world.faults._plans.clear()
    for _ in range(20):
        if not world.queued():
            break
        world.pass_time()
        deliver_to_mortal(world, deadly(culprit.envelope.message_id), concurrency=10, max_attempts=max_attempts)
    assert world.parked() == [(culprit.sqs_message_id, ErrorCode.HANDLER_CRASHED)]
    assert world.row(culprit).attempts_spent == max_attempts
    assert [world.effects(one) for one in sent if one is not culprit] == [1] * 9


@pytest.mark.parametrize("concurrency", [1, 4])
def test_two_deadly_records_in_one_batch(world: World, concurrency: int) -> None:
    sent = [world.send() for _ in range(10)]
    culprits = {sent[2].envelope.message_id, sent[7].envelope.message_id}

    def handler(message: Message, tx: Transaction) -> None:
        if message.message_id in culprits:
            raise Crash
        documents(message, tx)

    for _ in range(30):
        if not world.queued():
            break
        world.pass_time()
        deliver_to_mortal(world, handler, max_attempts=3, concurrency=concurrency)
    assert {sqs_message_id for sqs_message_id, _ in world.parked()} == {sent[2].sqs_message_id, sent[7].sqs_message_id}
    assert sum(world.effects(one) for one in sent) == 8
