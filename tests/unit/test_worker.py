"""The worker: the consumer's protocol outside Lambda (R4.10)."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import pytest

from claim_check import contract
from claim_check.contract import ErrorCode, Metric
from claim_check.errors import InvalidSetting, PermanentError, ReceiveRefused, Unavailable
from claim_check.heartbeat import RECEIVED_SECONDS
from claim_check.message import Message
from claim_check.permits import PayloadBudget, Permits
from claim_check.ports import MessageAttribute
from claim_check.processor import Handler
from claim_check.transaction import Transaction
from tests.harness import TTL_SECONDS, World, documents
from tests.worker_world import VISIBILITY_SECONDS, Gate, make_worker, wait_for

OUTAGE = Unavailable("the service did not answer")


@pytest.fixture
def world() -> World:
    """A pipeline on a standard queue."""
    return World()


@pytest.fixture
def fifo() -> World:
    """A pipeline on a FIFO queue."""
    return World(fifo=True)


def order(world: World) -> list[str]:
    """Identities in the order in which their effects were committed."""
    return [str(item["pk"]).partition("#")[2] for item in world.table.items("documents")]


def failing(times: int, *identities: str) -> Handler:
    """A handler that fails so many times for these identities, and then works."""
    seen: Counter[str] = Counter()

    def handle(message: Message, tx: Transaction) -> None:
        seen[message.idempotency_key] += 1
        if message.idempotency_key in identities and seen[message.idempotency_key] <= times:
            raise ValueError("not yet")
        documents(message, tx)

    return handle


# --- What it does with a queue --------------------------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [1, 4, 16])
def test_every_message_is_handled_once_and_deleted(world: World, concurrency: int) -> None:
    sent = [world.send() for _ in range(25)]
    started = make_worker(world, concurrency=concurrency).run()
    assert [world.effects(one) for one in sent] == [1] * 25
    assert not world.queued()
    assert started.process.calls.count("take") == started.process.calls.count("complete") == 25
    assert "change_visibility" not in started.process.calls
    assert world.telemetry.counts[Metric.PROCESSED] == 25
    assert sum(metrics.get(Metric.PROCESSED, 0) for metrics in world.telemetry.flushed) == 25


def test_it_polls_long_for_as_many_as_there_is_room_for(world: World) -> None:
    for _ in range(30):
        world.send()
    make_worker(world, concurrency=16).run()
    count, wait, visibility, attempt = world.queue.receives[0]
    assert (count, wait, visibility, attempt) == (10, contract.SQS_LONG_POLL_SECONDS, RECEIVED_SECONDS, None)
    assert world.queue.receives[1][0] <= 10
    make_worker(world, concurrency=3).run()
    assert world.queue.receives[-1][0] == 3


def test_a_message_with_everything_arrives_as_a_delivery(world: World) -> None:
    attributes = {
        "a": MessageAttribute(data_type="String", value="ü"),
        "b": MessageAttribute(data_type="Binary.gif", value=b"\0"),
        contract.ATTRIBUTE_REDRIVE: MessageAttribute(data_type="String", value="1"),
    }
    world.send(attributes=attributes, trace_header="Root=1", group="tenant")
    (found,) = world.queue.receive_batch(
        world.queue_url, count=1, wait_seconds=0, visibility_seconds=30, attempt_id=None
    )
    assert found.attributes == attributes
    assert (found.queue, found.receive_count, found.group_id, found.trace_header) == (
        "documents",
        1,
        "tenant",
        "Root=1",
    )
    assert found.sent_at == pytest.approx(world.clock.now())
    assert found.redriven


def test_no_more_handlers_run_than_allowed_and_a_free_slot_is_used_at_once(world: World) -> None:
    slow = world.send()
    others = [world.send() for _ in range(30)]
    gate, lock, running, most = Gate(), threading.Lock(), 0, 0

    def handle(message: Message, tx: Transaction) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        if message.idempotency_key == slow.envelope.idempotency_key:
            gate.wait()
        documents(message, tx)
        with lock:
            running -= 1

    started = make_worker(world, handle, concurrency=3).start()
    gate.reached()
    wait_for(lambda: all(world.effects(one) for one in others), "the others go on beside the slow one")
    assert world.effects(slow) == 0
    gate.open()
    started.join()
    assert most <= 3
    assert world.effects(slow) == 1


def test_the_same_identity_twice_runs_one_after_the_other(world: World) -> None:
    envelope = world.envelope()
    sent = [world.send(envelope) for _ in range(4)]
    make_worker(world, concurrency=4).run()
    assert world.effects(sent[0]) == 1
    assert world.telemetry.counts == {
        Metric.PROCESSED: 1,
        Metric.DUPLICATE: 3,
        Metric.NEW: 4,
        Metric.MESSAGE_AGE: 0,
        Metric.FETCH_MILLISECONDS: 0,
        Metric.PAYLOAD_LIFE_LEFT: TTL_SECONDS / 86_400,
        Metric.PAYLOAD_BYTES: envelope.payload.content_length,
    }


def test_a_failed_message_comes_back_after_the_outcomes_delay(world: World) -> None:
    sent = world.send(world.envelope(identity="bad"))
    make_worker(world, failing(2, "bad")).run()
    assert world.effects(sent) == 1
    assert [change.seconds for change in world.queue.visibility_changes] == [2, 3]  # jitter in the middle of 1-2, 2-4
    assert world.row(sent).attempts == 3


def test_a_permanent_error_is_parked_and_deleted(world: World) -> None:
    def handle(_: Message, __: Transaction) -> None:
        raise PermanentError("never")

    sent = world.send()
    make_worker(world, handle).run()
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.HANDLER_FAILED)]


def test_a_message_leased_elsewhere_is_left_until_that_lease_ends(world: World) -> None:
    sent = world.send()
    world.seed_row(sent, "IN_PROGRESS", lease_until=world.clock.now() + 100)
    make_worker(world).run()
    assert world.queue.visibility_changes[0].seconds == 101
    assert world.effects(sent) == 1  # the other worker never came back


# --- Deletes --------------------------------------------------------------------------------------------------------


def test_deletes_go_in_batches(world: World) -> None:
    for _ in range(40):
        world.send()
    make_worker(world, concurrency=20, linger_seconds=5).run()
    assert (sum(world.queue.deletes), max(world.queue.deletes)) == (40, 10)
    assert len(world.queue.deletes) <= 5  # a stop waits for no company, so that one batch may come in two calls


def test_a_delete_does_not_wait_for_company_for_long(world: World) -> None:
    sent = world.send()
    make_worker(world, linger_seconds=0.05).run()
    assert world.queue.deletes == [1]
    assert world.effects(sent) == 1


def test_a_stop_waits_for_no_company(world: World) -> None:
    world.send()
    gate = Gate()
    started = make_worker(world, lambda *_: gate.tell(), ends=False, linger_seconds=60).start()
    gate.reached()
    wait_for(lambda: world.telemetry.counts.get(Metric.PROCESSED), "the outcome")
    started.worker.stop()
    started.join(5)
    assert not world.queued()


# FIELD: co-go/sqs-extended-client-go#153
def test_a_delete_that_fails_in_part_is_repeated_for_that_part(world: World) -> None:
    first, second = world.send(), world.send()
    (body,) = [one.message.body for one in world.queued() if one.sqs_message_id == first.sqs_message_id]
    world.queue.refuse_deletes[body] = 3  # two in the first call, one in the next
    started = make_worker(world).run()
    assert not world.queued()
    assert started.pauses.seconds == [0.4]
    assert (world.effects(first), world.effects(second)) == (1, 1)


def test_a_message_that_cannot_be_deleted_comes_again_as_a_duplicate(world: World) -> None:
    sent = world.send()
    (stored,) = world.queued()
    world.queue.refuse_deletes[stored.message.body] = 6
    make_worker(world).run()
    assert world.effects(sent) == 1
    assert world.telemetry.counts[Metric.DUPLICATE] == 1
    assert world.telemetry.events("warning") == ["processed messages were not deleted; they come again"]


# --- The heartbeat --------------------------------------------------------------------------------------------------


def beating(world: World, times: int, *, step: float) -> tuple[Handler, list[Any]]:
    """A handler that lets time pass while the worker beats."""
    workers: list[Any] = []

    def handle(message: Message, tx: Transaction) -> None:
        for _ in range(times):
            world.clock.advance(step)
            workers[0].worker.beat()
        documents(message, tx)

    return handle, workers


def test_a_long_handler_is_received_once(world: World) -> None:
    sent = world.send()
    handle, workers = beating(world, 40, step=15)  # ten minutes, ten times the visibility
    workers.append(make_worker(world, handle))
    workers[0].run()
    assert world.effects(sent) == 1
    assert [change.seconds for change in world.queue.visibility_changes] == [VISIBILITY_SECONDS] * 20
    assert "visibility was not extended" not in world.telemetry.events()
    assert world.telemetry.counts[Metric.PROCESSED] == 1
    assert world.faults.count("receive_batch") <= 3
    assert world.row(sent).attempts == 1


def test_without_a_heartbeat_it_is_received_again_and_takes_effect_once(world: World) -> None:
    """The counter-example: what the heartbeat is for."""
    sent = world.send()

    def handle(message: Message, tx: Transaction) -> None:
        world.clock.advance(VISIBILITY_SECONDS + 1)
        other = make_worker(world)
        other.run()
        documents(message, tx)

    make_worker(world, handle).run()
    assert world.effects(sent) == 1
    assert world.telemetry.counts["LostLease"] == 1


def test_lease_and_visibility_are_extended_together(world: World) -> None:
    sent = world.send()
    seen: list[tuple[float, float]] = []

    def handle(message: Message, tx: Transaction) -> None:
        world.clock.advance(15)
        started.worker.beat()
        row = world.row(sent)
        seen.append((row.lease_until - world.clock.now(), world.hidden(sent.sqs_message_id)))
        assert (row.state, row.attempts, row.updated_at) == ("IN_PROGRESS", 1, world.clock.now() - 15)
        documents(message, tx)

    started = make_worker(world, handle)
    started.run()
    assert seen == [(VISIBILITY_SECONDS, VISIBILITY_SECONDS)]


def test_nothing_is_extended_once_it_is_done(world: World) -> None:
    world.send()
    started = make_worker(world).run()
    world.clock.advance(15)
    started.worker.beat()
    assert not world.queue.visibility_changes
    assert world.faults.count("replace") == 0


def test_a_message_that_waits_in_its_lane_stays_hidden(fifo: World) -> None:
    """Or its receipt handle would be of no use any more when its turn comes."""
    head, tail = fifo.send(), fifo.send()
    handle, workers = beating(fifo, 10, step=15)
    workers.append(make_worker(fifo, handle, concurrency=2))
    workers[0].run()
    assert (fifo.effects(head), fifo.effects(tail)) == (1, 1)
    assert fifo.telemetry.counts[Metric.PROCESSED] == 2
    assert Metric.DUPLICATE not in fifo.telemetry.counts


def test_visibility_is_never_extended_past_twelve_hours_in_total(world: World) -> None:
    sent = world.send()
    worked, hidden = list[float](), list[float]()

    def handle(message: Message, tx: Transaction) -> None:
        received = world.clock.now()
        world.clock.advance(10)
        started.worker.beat()
        while message.remaining_seconds() > 0:
            world.clock.advance(1200)
            started.worker.beat()
            hidden.append(world.hidden(sent.sqs_message_id) + world.clock.now() - received)
        worked.append(world.clock.now() - received)
        documents(message, tx)

    started = make_worker(world, handle, visibility_seconds=3600, consumer={"max_attempts": 1})
    started.run()
    assert contract.SQS_MAX_VISIBILITY_SECONDS - 2 * 3600 <= worked[0] <= contract.SQS_MAX_VISIBILITY_SECONDS - 3600
    assert contract.SQS_MAX_VISIBILITY_SECONDS - 3 * 3600 < max(hidden) <= contract.SQS_MAX_VISIBILITY_SECONDS
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.DEADLINE_EXCEEDED)]
    assert "visibility was not extended" not in world.telemetry.events()


def test_a_handler_past_its_time_limit_is_extended_no_more(world: World) -> None:
    sent = world.send()

    def handle(message: Message, tx: Transaction) -> None:
        world.clock.advance(31)
        started.worker.beat()
        assert not world.queue.visibility_changes
        assert not world.faults.count("replace")
        documents(message, tx)

    started = make_worker(world, handle, time_limit_seconds=30, consumer={"max_attempts": 1})
    started.run()
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.DEADLINE_EXCEEDED)]


def test_a_lost_lease_ends_the_heartbeat_and_closes_the_deadline(world: World) -> None:
    sent = world.send()
    left: list[float] = []

    def handle(message: Message, tx: Transaction) -> None:
        world.seed_row(sent, "IN_PROGRESS", owner="another", lease_until=world.clock.now() + 100)
        world.clock.advance(8)
        started.worker.beat()
        left.append(message.remaining_seconds())
        assert not world.queue.visibility_changes
        world.clock.advance(8)
        started.worker.beat()
        documents(message, tx)

    started = make_worker(world, handle, ends=False)
    started.start()
    wait_for(lambda: "LostLease" in world.telemetry.counts, "the loss is counted")
    started.worker.stop()
    started.join()
    assert left == [0]
    assert (world.effects(sent), world.row(sent).owner) == (0, "another")
    assert world.faults.count("replace") == 2  # the beat, and the attempt to record a failure: both refused
    assert not world.queue.visibility_changes
    assert not world.parked()


def test_a_heartbeat_that_fails_until_the_lease_has_ended_closes_the_deadline(world: World) -> None:
    sent = world.send()
    left: list[float] = []

    def handle(message: Message, tx: Transaction) -> None:
        world.faults.fail("replace", OUTAGE, times=4)
        for _ in range(4):
            world.clock.advance(20)
            started.worker.beat()
            left.append(message.remaining_seconds())
        other = make_worker(world)  # the table is back, and somebody else takes over
        world.clock.advance(VISIBILITY_SECONDS)
        other.run()
        documents(message, tx)

    started = make_worker(world, handle)
    started.run()
    assert [bool(seconds) for seconds in left] == [True, True, False, False]
    assert world.effects(sent) == 1
    assert world.row(sent).owner != "token-1"


def test_a_parking_compares_the_lease_as_it_was_last_extended(world: World) -> None:
    sent = world.send()

    def handle(_: Message, __: Transaction) -> None:
        world.clock.advance(20)
        started.worker.beat()
        raise PermanentError("never")

    started = make_worker(world, handle)
    started.run()
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.HANDLER_FAILED)]
    assert "LostLease" not in world.telemetry.counts


def test_a_beat_that_meets_the_handlers_own_commit_changes_nothing(world: World) -> None:
    sent = world.send()
    started = make_worker(world)
    world.faults.on("complete", started.worker.beat, when="after")
    started.run()
    assert world.row(sent).state == "COMPLETED"
    assert world.telemetry.counts[Metric.PROCESSED] == 1
    assert "LostLease" not in world.telemetry.counts


def test_an_extension_that_sqs_refuses_is_logged_and_the_lease_is_kept(world: World) -> None:
    sent = world.send()

    def handle(message: Message, tx: Transaction) -> None:
        (stored,) = world.queued()
        world.queue.refuse_handles[stored.receipt_handle] = 2
        world.clock.advance(15)
        started.worker.beat()
        assert world.row(sent).lease_until == world.clock.now() + VISIBILITY_SECONDS
        documents(message, tx)

    started = make_worker(world, handle)
    started.run()
    assert world.telemetry.events("warning") == ["visibility was not extended"]
    assert world.effects(sent) == 1


# --- FIFO -----------------------------------------------------------------------------------------------------------


def test_groups_run_side_by_side_and_in_order_inside(fifo: World) -> None:
    sent = {group: [fifo.send(group=group) for _ in range(7)] for group in ("a", "b", "c")}
    make_worker(fifo, concurrency=8).run()
    done = order(fifo)
    for messages in sent.values():
        names = [one.envelope.idempotency_key for one in messages]
        assert [name for name in done if name in names] == names


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_failed_head_stops_its_group_only_and_comes_first_again(fifo: World, concurrency: int) -> None:
    bad = fifo.envelope(identity="bad")
    head, *tail = [fifo.send(bad, group="a"), *(fifo.send(group="a") for _ in range(3))]
    other = fifo.send(group="b")
    make_worker(fifo, failing(2, "bad"), concurrency=concurrency).run()
    names = [one.envelope.idempotency_key for one in (head, *tail)]
    done = order(fifo)
    assert [name for name in done if name in names] == names
    assert done[0] == other.envelope.idempotency_key
    assert [fifo.row(one).attempts for one in tail] == [1, 1, 1]
    first = [change.seconds for change in fifo.queue.visibility_changes][:concurrency]
    assert first == [2] * concurrency  # head and tail alike


def test_a_receive_that_failed_is_repeated_word_for_word(fifo: World) -> None:
    sent = [fifo.send() for _ in range(3)]
    fifo.faults.fail("receive_batch", OUTAGE, when="after")
    started = make_worker(fifo, concurrency=5).run()
    first, again, *later = fifo.queue.receives
    assert first == again == (5, 20, RECEIVED_SECONDS, "attempt-0")
    assert later[0][3] == "attempt-1"
    assert order(fifo) == [one.envelope.idempotency_key for one in sent]
    assert all(fifo.row(one).attempts == 1 for one in sent)
    assert started.pauses.seconds == [0.75]  # a new attempt id would have waited until it is visible again


def test_without_the_attempt_id_a_lost_answer_blocks_its_group(fifo: World) -> None:
    """The counter-example."""
    fifo.send()
    fifo.faults.fail("receive_batch", OUTAGE, when="after")
    began = fifo.clock.now()
    started = make_worker(fifo)
    started.worker._poller._fifo = False
    started.run()
    assert fifo.clock.now() - began >= RECEIVED_SECONDS


def test_an_attempt_id_is_not_used_for_longer_than_sqs_knows_it(fifo: World) -> None:
    fifo.send()
    fifo.faults.fail("receive_batch", OUTAGE, when="after", times=40)
    make_worker(fifo).run()
    names = [attempt for *_, attempt in fifo.queue.receives[:40]]
    assert len(set(names)) > 1
    assert fifo.telemetry.counts[Metric.PROCESSED] == 1


# --- When the services fail -----------------------------------------------------------------------------------------


def test_receives_that_fail_are_repeated_with_growing_pauses(world: World) -> None:
    sent = world.send()
    world.faults.fail("receive_batch", OUTAGE, times=8)
    started = make_worker(world).run()
    assert started.pauses.seconds == [0.75, 1.5, 3, 6, 12, 22.5, 22.5, 22.5]
    assert world.effects(sent) == 1
    assert world.telemetry.events("error") == [str(OUTAGE)] * 8
    assert len(started.alive) >= 1


def test_a_failed_receive_is_no_sign_of_life(world: World) -> None:
    world.faults.fail("receive_batch", OUTAGE, times=10**9)
    started = make_worker(world, ends=False).start()
    wait_for(lambda: len(started.pauses.seconds) > 20, "many repetitions")
    started.worker.stop()
    started.join()
    assert started.alive == []


def test_a_first_receive_that_is_refused_ends_the_worker(world: World) -> None:
    world.faults.fail("receive_batch", ReceiveRefused("SQS refused the receive: NonExistentQueue"))
    with pytest.raises(ReceiveRefused, match="NonExistentQueue"):
        make_worker(world).run()


def test_a_later_receive_that_is_refused_is_repeated(world: World) -> None:
    sent = world.send()
    world.faults.fail("receive_batch", ReceiveRefused("SQS refused the receive: AccessDenied"), skip=1)
    started = make_worker(world).run()
    assert world.effects(sent) == 1
    assert started.pauses.seconds == [0.75]


def test_batches_that_fail_for_the_infrastructure_slow_the_worker_down(world: World) -> None:
    sent = world.send()
    world.faults.fail("take", OUTAGE, times=4)
    started = make_worker(world).run()
    assert list(dict.fromkeys(started.pauses.seconds)) == [0.75, 1.5, 3, 6]
    assert (world.effects(sent), world.row(sent).attempts) == (1, 1)


def test_one_good_message_in_a_batch_is_no_outage(world: World) -> None:
    for _ in range(3):
        world.send()
    world.faults.fail("take", OUTAGE, times=2)
    started = make_worker(world, concurrency=3).run()
    assert started.pauses.seconds == []


def test_a_mistake_of_our_own_leaves_the_message_to_its_visibility(world: World) -> None:
    sent = world.send()
    world.faults.fail("take", RuntimeError("a bug"))
    make_worker(world).run()
    assert world.effects(sent) == 1
    assert world.telemetry.events("error") == ["unexpected failure"]


def test_a_mistake_while_reading_starts_nothing_of_that_receive(fifo: World, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = [fifo.send() for _ in range(3)]
    started = make_worker(fifo, concurrency=3)
    read, failures = started.worker._consumer.read, iter([False, True])

    def mistaken(delivery: Any) -> Any:  # noqa: ANN401 - passed through
        if next(failures, False):
            raise RuntimeError("a bug")
        return read(delivery)

    monkeypatch.setattr(started.worker._consumer, "read", mistaken)
    started.run()
    assert order(fifo) == [one.envelope.idempotency_key for one in sent]
    assert fifo.telemetry.events("error") == ["unexpected failure"]


# --- Suspects -------------------------------------------------------------------------------------------------------


def test_a_suspect_runs_alone(world: World) -> None:
    """A message that killed its process takes no neighbour down with it."""
    suspects = [world.send() for _ in range(2)]
    for one in suspects:
        world.seed_row(one, "IN_PROGRESS", lease_until=world.clock.now() - 1)
    others = [world.send() for _ in range(12)]
    names = {one.envelope.idempotency_key for one in suspects}
    lock, running, seen = threading.Lock(), 0, list[int]()

    def handle(message: Message, tx: Transaction) -> None:
        nonlocal running
        with lock:
            running += 1
            if message.idempotency_key in names:
                seen.append(running)
        documents(message, tx)
        with lock:
            if message.idempotency_key in names:
                seen.append(running)
            running -= 1

    make_worker(world, handle, concurrency=4).run()
    assert seen == [1, 1, 1, 1]
    assert [world.effects(one) for one in suspects + others] == [1] * 14
    assert [world.row(one).attempts for one in suspects] == [2, 2]


def test_a_suspect_waits_for_those_that_run_and_nothing_new_starts(world: World) -> None:
    slow, suspect = world.send(), world.send()
    world.seed_row(suspect, "IN_PROGRESS", lease_until=world.clock.now() - 1)
    gate, ran = Gate(), list[str]()

    def handle(message: Message, tx: Transaction) -> None:
        ran.append(message.idempotency_key)
        if message.idempotency_key == slow.envelope.idempotency_key:
            gate.wait()
        documents(message, tx)

    started = make_worker(world, handle, concurrency=3).start()
    gate.reached()
    wait_for(lambda: started.worker._lanes._suspects, "the suspect is set aside")
    assert world.row(suspect).last_code == ErrorCode.HANDLER_CRASHED
    assert started.worker._lanes.full  # one lane is free
    later = world.send()
    receives = world.faults.count("receive_batch")
    assert ran == [slow.envelope.idempotency_key]
    gate.open()
    started.join()
    assert world.faults.count("receive_batch") > receives
    assert ran == [one.envelope.idempotency_key for one in (slow, suspect, later)]


# --- Stopping -------------------------------------------------------------------------------------------------------


def stopped_while(world: World, gate: Gate, handler: Handler, **options: Any) -> Any:  # noqa: ANN401 - a Started
    """Start a worker, and ask it to stop while its handlers wait."""
    started = make_worker(world, handler, ends=False, **options).start()
    gate.reached(options.get("concurrency", 1))
    started.stop()
    return started


def test_stop_lets_running_handlers_finish_and_deletes_what_is_done(world: World) -> None:
    sent = [world.send() for _ in range(3)]
    gate = Gate()

    def handle(message: Message, tx: Transaction) -> None:
        gate.wait()
        documents(message, tx)

    started = stopped_while(world, gate, handle, concurrency=3)
    receives = world.faults.count("receive_batch")
    gate.open()
    started.join()
    assert [world.effects(one) for one in sent] == [1] * 3
    assert not world.queued()
    assert world.faults.count("receive_batch") <= receives + 1


def test_stop_hands_back_what_was_not_started_all_of_the_group(fifo: World) -> None:
    head, *tail = [fifo.send() for _ in range(5)]
    gate = Gate()

    def handle(message: Message, tx: Transaction) -> None:
        gate.wait()
        documents(message, tx)

    started = stopped_while(fifo, gate, handle, concurrency=1)
    gate.open()
    started.join()
    done = order(fifo)
    assert done == [head.envelope.idempotency_key]
    make_worker(fifo, concurrency=5).run()
    assert order(fifo) == [one.envelope.idempotency_key for one in (head, *tail)]
    assert all(fifo.row(one).attempts == 1 for one in tail)


def test_what_was_not_started_is_visible_at_once_while_the_head_still_runs(fifo: World) -> None:
    for _ in range(5):
        fifo.send()
    gate = Gate()

    def handle(message: Message, tx: Transaction) -> None:
        gate.wait()
        documents(message, tx)

    started = make_worker(fifo, handle, concurrency=5, ends=False).start()
    gate.reached()
    started.worker.stop()
    wait_for(lambda: len(fifo.queue.visibility_changes) == 4, "the tail is handed back")
    assert {change.seconds for change in fifo.queue.visibility_changes} == {0}
    assert not fifo.queue.receive(fifo.queue_url)  # the head still blocks its group: order holds
    gate.open()
    started.join()
    assert len(fifo.queue.receive(fifo.queue_url)) == 4


def test_a_handler_that_notices_its_closed_deadline_gives_up_without_the_cost_of_an_attempt(world: World) -> None:
    sent = world.send()
    gate, noticed = Gate(), list[str]()

    def handle(message: Message, tx: Transaction) -> None:
        gate.tell()
        wait_for(lambda: message.remaining_seconds() == 0, "the deadline is closed")
        noticed.append(message.message_id)
        documents(message, tx)

    started = make_worker(world, handle, ends=False, grace_seconds=0.05).start()
    gate.reached()
    started.worker.stop()
    started.join()
    assert noticed == [sent.envelope.message_id]
    row = world.row(sent)
    assert (row.state, row.attempts, row.last_code) == ("FAILED", 0, ErrorCode.DEADLINE_EXCEEDED)
    assert world.hidden(sent.sqs_message_id) <= 0
    make_worker(world).run()
    assert world.effects(sent) == 1


def test_a_handler_that_never_ends_is_released_and_cannot_commit(world: World) -> None:
    sent = world.send()
    gate, refused = Gate(), list[BaseException]()

    def handle(message: Message, _: Transaction) -> None:
        gate.wait()
        try:
            message.open()
            message.read()
        except BaseException as error:
            refused.append(error)
            raise

    started = stopped_while(world, gate, handle, grace_seconds=0.05)
    started.join(5)
    row = world.row(sent)
    assert (row.state, row.attempts) == ("FAILED", 0)
    assert world.hidden(sent.sqs_message_id) <= 0
    make_worker(world).run()  # another worker takes it over, as no suspect
    assert world.effects(sent) == 1
    assert world.row(sent).last_code is None
    gate.open()  # the zombie wakes up
    wait_for(lambda: refused, "the zombie is refused")
    wait_for(lambda: "LostLease" in world.telemetry.counts, "the zombie's end")
    assert world.effects(sent) == 1
    assert not world.parked()


def test_a_zombie_that_commits_before_it_is_released_is_deleted(world: World) -> None:
    sent = world.send()
    gate = Gate()
    world.faults.on("complete", gate.wait, when="after")
    started = make_worker(world, ends=False, grace_seconds=0.05).start()
    gate.reached()
    started.worker.stop()
    started.join(5)
    gate.open()
    assert world.effects(sent) == 1
    assert not world.queued()


def test_a_poll_that_brings_messages_after_the_stop_hands_them_back(world: World) -> None:
    gate = Gate()
    world.faults.on("receive_batch", gate.wait)
    started = make_worker(world, ends=False).start()
    gate.reached()
    sent = world.send()
    started.stop()
    gate.open()
    started.join()
    assert world.hidden(sent.sqs_message_id) <= 0
    assert world.faults.count("take") == 0


def test_what_is_released_into_a_poll_of_our_own_is_handed_back_again(world: World) -> None:
    """Found with real processes: the dying worker's long poll took its own message back, and kept it hidden."""
    sent = world.send()
    running, polling = Gate(), threading.Event()

    def handle(message: Message, tx: Transaction) -> None:
        running.wait()
        documents(message, tx)

    started = make_worker(world, handle, concurrency=2, ends=False, grace_seconds=0.05)
    receive = world.queue.receive_batch

    def long_poll(*where: Any, **how: Any) -> Any:  # noqa: ANN401 - the port's
        found = receive(*where, **how)
        while not found and polling.is_set():
            found = receive(*where, **how)
        return found

    started.polled.receive_batch = long_poll  # type: ignore[method-assign]
    polling.set()
    started.start()
    running.reached()
    started.worker.stop()
    started.join()
    assert world.queued()[0].receive_count == 2
    assert world.hidden(sent.sqs_message_id) <= 0
    running.open()


def test_a_suspect_that_waits_is_handed_back(world: World) -> None:
    slow, suspect = world.send(), world.send()
    world.seed_row(suspect, "IN_PROGRESS", lease_until=world.clock.now() - 1)
    gate = Gate()

    def handle(message: Message, tx: Transaction) -> None:
        gate.wait()
        documents(message, tx)

    started = make_worker(world, handle, concurrency=2, ends=False).start()
    gate.reached()
    wait_for(lambda: world.row(suspect).last_code == ErrorCode.HANDLER_CRASHED, "it is set aside")
    started.stop()
    gate.open()
    started.join()
    assert (world.effects(slow), world.effects(suspect)) == (1, 0)
    assert world.hidden(suspect.sqs_message_id) <= 0


def test_a_gate_that_opens_after_the_stop_starts_no_handler(world: World) -> None:
    sent = world.send()
    gate, ran = Gate(), list[str]()
    world.faults.on("take", gate.wait, when="after")
    started = make_worker(
        world, lambda message, _: ran.append(message.message_id), ends=False, grace_seconds=0.05
    ).start()
    gate.reached()
    started.worker.stop()
    started.join(5)
    assert world.hidden(sent.sqs_message_id) <= 0
    gate.open()
    wait_for(lambda: not started.worker._lanes._running, "its end")
    row = world.row(sent)
    assert (ran, row.state, row.attempts) == ([], "FAILED", 0)
    assert world.telemetry.counts[Metric.DEFERRED] == 1
    assert Metric.RETRIED not in world.telemetry.counts  # the first outcome counts, and no other


def test_a_record_that_waits_for_memory_is_handed_back(world: World) -> None:
    permits = Permits(PayloadBudget(access="memory", memory_bytes=50, temp_bytes=0))
    first, second = world.send(), world.send()
    gate = Gate()

    def handle(message: Message, tx: Transaction) -> None:
        gate.wait()
        documents(message, tx)

    started = make_worker(
        world, handle, concurrency=2, ends=False, grace_seconds=0.05, consumer={"permits": permits}
    ).start()
    gate.reached()
    started.worker.stop()
    started.join(5)
    assert world.faults.count("take") == 1
    assert all(world.hidden(one.sqs_message_id) <= 0 for one in (first, second))
    gate.open()


def test_stop_while_it_backs_off_does_not_wait(world: World) -> None:
    world.faults.fail("receive_batch", OUTAGE, times=10**9)
    started = make_worker(world, ends=False, pause=threading.Event.wait).start()
    wait_for(lambda: world.faults.count("receive_batch") >= 2, "a pause")
    started.worker.stop()
    started.join(2)


def test_a_handler_that_ends_the_process_leaves_everything_as_it_is(world: World) -> None:
    def handle(_: Message, __: Transaction) -> None:
        raise SystemExit(3)

    sent = world.send()
    started = make_worker(world, handle)
    with pytest.raises(SystemExit):
        started.run()
    assert world.row(sent).state == "IN_PROGRESS"
    assert world.hidden(sent.sqs_message_id) == RECEIVED_SECONDS
    assert not world.queue.deletes


# --- Signs of life --------------------------------------------------------------------------------------------------


def test_a_worker_whose_lanes_are_all_busy_is_alive_until_their_time_is_up(world: World) -> None:
    world.send()
    gate = Gate()

    def handle(message: Message, tx: Transaction) -> None:
        gate.wait()
        documents(message, tx)

    started = make_worker(world, handle, ends=False, time_limit_seconds=100).start()
    gate.reached()
    before = len(started.alive)
    started.worker.beat()
    assert len(started.alive) == before + 1
    world.clock.advance(101)
    started.worker.beat()
    assert len(started.alive) == before + 1
    gate.open()
    started.worker.stop()
    started.join()


# --- Settings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"concurrency": 0},
        {"visibility_seconds": 1},
        {"visibility_seconds": 3601},
        {"grace_seconds": 5.1},
        {"grace_seconds": -1},
        {"time_limit_seconds": 0},
        {"time_limit_seconds": 12 * 3600 - 2 * VISIBILITY_SECONDS + 1},
    ],
    ids=str,
)
def test_numbers_out_of_range_are_refused_by_name(world: World, options: dict[str, Any]) -> None:
    ((name, value),) = options.items()
    with pytest.raises(InvalidSetting, match=f"{name} = {value}: a number from"):
        make_worker(world, **options)
