"""FIFO, rule by rule: what the consumer, the producer and parking owe an ordered group (R2.5, R2.6, R4.7, R5.1)."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check import contract
from claim_check.adapters.sqs import _entry
from claim_check.consumer import MUCH_LONGER, Consumer
from claim_check.contract import Backoff, ErrorCode, Metric
from claim_check.envelope import Claim, Inline, decode
from claim_check.errors import (
    EmptyField,
    InfrastructureUnavailable,
    InvalidText,
    PermanentError,
    PublishError,
    Unavailable,
)
from claim_check.event import Event
from claim_check.message import Message
from claim_check.payload_store import PayloadStore
from claim_check.ports import OutgoingMessage
from claim_check.processor import Handler
from claim_check.producer import Producer, Published, Unpublished, deduplication_id
from claim_check.retries import DEDUPLICATION_SECONDS, LONGEST_CALL_SECONDS
from claim_check.transaction import Transaction
from tests.fakes.faults import Crash
from tests.fakes.queue import StoredMessage
from tests.harness import (
    BUCKET,
    EVENT_TYPE,
    REMAINING_SECONDS,
    TENANT,
    VISIBILITY_SECONDS,
    Sent,
    World,
    documents,
    reason_of,
)

BATCH = contract.SQS_MAX_BATCH_ENTRIES
QUEUE_SECONDS = 1080
"""Visibility timeout of a queue behind a function of three minutes: 6 x 180 s."""

SHORT_SECONDS = int(REMAINING_SECONDS) + contract.LEASE_SLACK_SECONDS


class Unreadable(PermanentError):
    """A reason of the handler's own."""

    code = "Unreadable"


@pytest.fixture
def fifo() -> World:
    """A pipeline on a FIFO queue."""
    return World(fifo=True)


def failing(*names: str, error: Exception | BaseException | None = None) -> Handler:
    """A handler that fails on the messages of these names."""

    def handler(message: Message, tx: Transaction) -> None:
        if message.message_id in names:
            raise error or RuntimeError
        documents(message, tx)

    return handler


def send(world: World, *names: str, group: str = "g-1") -> list[Sent]:
    """Send messages of these names to one group, in order."""
    return [world.send(world.envelope(identity=name), group=group) for name in names]


def applied(world: World) -> list[str]:
    """Names of the messages that took effect, in the order of their commits."""
    return [write.key["pk"].partition("#")[2] for write in world.table.applied]


def drain(world: World, make: Callable[[], Consumer] | None = None) -> None:
    """Deliver until the source queue is empty, through outages, and past groups that wait for a hidden message."""
    for _ in range(60):
        later = [one.visible_at for one in world.queued() if one.visible_at > world.clock.now()]
        with suppress(InfrastructureUnavailable):
            world.deliver(make() if make else None)
        if not world.queued():
            return
        world.clock.advance(max(0.0, min(later, default=0.0) - world.clock.now()))
    pytest.fail("never quiet")


def receive_counts(world: World) -> dict[str, int]:
    """How often each message in the source queue was received, by its name."""
    return {decode(one.message.body).message_id: one.receive_count for one in world.queued()}


# --- The counter-example: reporting a failure is not enough (R4.7) --------------------------------------------------


def naively(event: Mapping[str, Any], bad: str) -> dict[str, Any]:
    """What many a FIFO consumer does: stop at a failure and report everything behind it, visibility as the queue's."""
    failed: list[str] = []
    for record in event["Records"]:
        if failed or decode(record["body"]).message_id == bad:
            failed.append(record["messageId"])
    return {"batchItemFailures": [{"itemIdentifier": one} for one in failed]}


def test_counter_example_a_tail_that_is_only_reported_goes_to_the_dlq_with_its_head(fifo: World) -> None:
    fifo.queue.create(fifo.queue_url, visibility_timeout=VISIBILITY_SECONDS, dlq=fifo.dlq_url, max_receive_count=3)
    send(fifo, "bad", "b", "c", "d")
    for _ in range(4):
        event = fifo.queue.lambda_event(fifo.queue_url)
        fifo.queue.apply(fifo.queue_url, event, naively(event, "bad"))
        fifo.pass_time()
    lost = [decode(one.message.body).message_id for one in fifo.queue.messages(fifo.dlq_url)]
    assert lost == ["bad", "b", "c", "d"], "all four, although three of them never ran"
    assert not fifo.queued()


@pytest.mark.parametrize("error", [Unreadable(), RuntimeError()], ids=["for good", "every time"])
def test_the_same_group_on_the_same_queue_loses_only_its_poison(fifo: World, error: Exception) -> None:
    fifo.queue.create(fifo.queue_url, visibility_timeout=VISIBILITY_SECONDS, dlq=fifo.dlq_url, max_receive_count=3)
    bad, *_ = send(fifo, "bad", "b", "c", "d")
    fifo.settle(lambda: fifo.consumer(failing("bad", error=error), max_attempts=3))
    assert [sqs_message_id for sqs_message_id, _ in fifo.parked()] == [bad.sqs_message_id]
    assert applied(fifo) == ["b", "c", "d"]


@pytest.mark.parametrize("allowed", [False, True], ids=["as on a standard queue", "as on a FIFO queue"])
def test_a_follower_behind_many_failing_ones_needs_a_higher_backstop(fifo: World, allowed: bool) -> None:  # noqa: FBT001 - a parameter
    """SQS counts a receive of the follower for every attempt at each of the nine before it."""
    attempts = 8
    backstop = contract.receive_count_for(Backoff(), attempts_ahead=attempts if allowed else 0)
    fifo.queue.create(
        fifo.queue_url, visibility_timeout=VISIBILITY_SECONDS, dlq=fifo.dlq_url, max_receive_count=backstop
    )
    bad = [f"bad-{number}" for number in range(BATCH - 1)]
    send(fifo, *bad, "good")
    fifo.settle(lambda: fifo.consumer(failing(*bad), max_attempts=attempts), rounds=200)
    assert applied(fifo) == (["good"] if allowed else [])


def test_the_backstop_on_fifo_leaves_room_for_an_outage_behind_nine_failing_ones() -> None:
    standard, attempts = contract.receive_count_for(Backoff()), contract.DEFAULT_MAX_ATTEMPTS
    assert contract.receive_count_for(Backoff(), attempts_ahead=attempts) == standard + (BATCH - 1) * attempts


# --- A group after a failure (R4.7) ---------------------------------------------------------------------------------


def test_the_head_comes_first_again_and_the_tail_behind_it(fifo: World) -> None:
    send(fifo, "a", "b", "c")
    order: list[str] = []

    def handler(message: Message, _: Transaction) -> None:
        order.append(message.message_id)
        if message.message_id == "a" and message.attempt < 3:
            raise RuntimeError

    fifo.settle(lambda: fifo.consumer(handler))
    assert order == ["a", "a", "a", "b", "c"]


def test_the_tail_loses_no_attempt_however_often_its_head_fails(fifo: World) -> None:
    head, tail, last = send(fifo, "head", "tail", "last")
    for _ in range(4):
        fifo.deliver(fifo.consumer(failing("head")))
        assert fifo.key(tail.envelope) not in fifo.table.rows
        fifo.pass_time()
    assert fifo.row(head).attempts == 4
    assert receive_counts(fifo) == {"head": 4, "tail": 4, "last": 4}, "SQS counts them all; the inbox does not"
    fifo.settle(lambda: fifo.consumer(failing("head")))
    assert (fifo.row(tail).attempts, fifo.row(last).attempts) == (1, 1)
    assert applied(fifo) == ["tail", "last"]


def test_head_and_tail_are_hidden_in_one_call_for_the_same_time(fifo: World) -> None:
    send(fifo, "a", "head", "b", "c")
    fifo.deliver(fifo.consumer(failing("head")))
    assert fifo.calls("change_visibility") == ["change_visibility"]
    assert [change.seconds for change in fifo.queue.visibility_changes] == [Backoff().delay(1, 0.5)] * 3
    hidden = [one.receipt_handle for one in fifo.queued()]
    assert [change.receipt_handle for change in fifo.queue.visibility_changes] == hidden


def test_the_group_is_not_blocked_for_the_queues_own_timeout(fifo: World) -> None:
    """FIELD: aws/aws-dotnet-messaging#150, awspring/spring-cloud-aws#1415."""
    head, _ = send(fifo, "head", "tail")
    fifo.deliver(fifo.consumer(failing("head")))
    assert fifo.hidden(head.sqs_message_id) <= Backoff().ceiling(1) < VISIBILITY_SECONDS


def test_what_stands_behind_a_failure_is_reported_and_never_deleted(fifo: World) -> None:
    """FIELD: aws/aws-dotnet-messaging#174."""
    sent = send(fifo, "head", "tail")
    failed = fifo.deliver(fifo.consumer(failing("head")))
    assert failed == [one.sqs_message_id for one in sent]
    assert len(fifo.queued()) == 2


def test_a_refused_visibility_change_breaks_no_order(fifo: World) -> None:
    head, _, _ = send(fifo, "head", "b", "c")
    consumer = fifo.consumer(failing("head"))
    event = fifo.queue.lambda_event(fifo.queue_url)
    fifo.queue.refuse_handles[event["Records"][0]["receiptHandle"]] = 2
    fifo.queue.apply(fifo.queue_url, event, consumer.handle_lambda(event, remaining_seconds=REMAINING_SECONDS))
    assert fifo.hidden(head.sqs_message_id) == VISIBILITY_SECONDS
    fifo.pass_time()
    assert fifo.queue.receive(fifo.queue_url) == [], "the group waits for its head"
    drain(fifo)
    assert applied(fifo) == ["head", "b", "c"]


def test_one_groups_failure_is_not_remembered_in_the_next_invocation(fifo: World) -> None:
    """FIELD: aws-powertools/powertools-lambda-typescript#3673; one process, many invocations."""
    send(fifo, "head", "tail")
    fails = [True]

    def handler(message: Message, tx: Transaction) -> None:
        if fails[0]:
            raise RuntimeError
        documents(message, tx)

    consumer = fifo.consumer(handler)
    fifo.deliver(consumer)
    fails[0] = False
    fifo.pass_time()
    assert fifo.deliver(consumer) == []
    assert applied(fifo) == ["head", "tail"]


def test_a_duplicate_of_what_is_done_does_not_stop_its_group(fifo: World) -> None:
    first, *_ = send(fifo, "a")
    fifo.deliver()
    fifo.send(first.envelope, group="g-1")
    send(fifo, "b")
    assert fifo.deliver() == []
    assert applied(fifo) == ["a", "b"]


def test_records_without_a_group_are_one_lane(fifo: World) -> None:
    """AWS always names the group; should it be missing, order is kept rather than guessed."""
    send(fifo, "a", group="g-1")
    send(fifo, "b", group="g-2")
    event = fifo.queue.lambda_event(fifo.queue_url)
    for record in event["Records"]:
        del record["attributes"]["MessageGroupId"]
    answer = fifo.consumer(failing("a")).handle_lambda(event, remaining_seconds=REMAINING_SECONDS)
    assert len(answer["batchItemFailures"]) == 2


# --- Groups beside each other ---------------------------------------------------------------------------------------


def test_other_groups_go_on_side_by_side_while_one_fails(fifo: World) -> None:
    """FIELD: aws-powertools/powertools-lambda-python#1927."""
    barrier = threading.Barrier(3, timeout=10)

    def handler(message: Message, tx: Transaction) -> None:
        if message.message_id.endswith("1"):
            barrier.wait()
        if message.message_id.startswith("a"):
            raise RuntimeError
        documents(message, tx)

    for group in "abc":
        send(fifo, f"{group}1", f"{group}2", group=group)
    failed = fifo.deliver(fifo.consumer(handler, concurrency=3))
    assert len(failed) == 2
    assert sorted(applied(fifo)) == ["b1", "b2", "c1", "c2"]
    assert applied(fifo).index("b1") < applied(fifo).index("b2")


def test_a_group_that_waits_for_its_head_does_not_hold_up_the_next_batch(fifo: World) -> None:
    send(fifo, "head", "tail", group="a")
    fifo.deliver(fifo.consumer(failing("head")))
    send(fifo, "late", group="a")
    send(fifo, "other", group="b")
    assert fifo.deliver() == []
    assert applied(fifo) == ["other"]
    drain(fifo)
    assert applied(fifo) == ["other", "head", "tail", "late"]


# --- Suspects, deadlines, leases ------------------------------------------------------------------------------------


def test_a_suspect_in_the_middle_runs_at_the_end_with_what_follows_it(fifo: World) -> None:
    _, suspect, _ = send(fifo, "a", "suspect", "c", group="g-1")
    send(fifo, "x", "y", group="g-2")
    fifo.seed_row(suspect, "IN_PROGRESS", lease_until=fifo.clock.now() - 1)
    assert fifo.deliver() == []
    assert applied(fifo) == ["a", "x", "y", "suspect", "c"]


def test_a_suspect_that_kills_its_process_again_costs_nobody_else_anything(fifo: World) -> None:
    suspect, follower = send(fifo, "suspect", "b", group="g-1")
    (other,) = send(fifo, "x", group="g-2")
    fifo.seed_row(suspect, "IN_PROGRESS", lease_until=fifo.clock.now() - 1)
    with pytest.raises(Crash):
        fifo.deliver(fifo.consumer(failing("suspect", error=Crash()), max_attempts=2))
    assert fifo.effects(other) == 1
    assert fifo.key(follower.envelope) not in fifo.table.rows
    fifo.clock.advance(VISIBILITY_SECONDS)
    assert fifo.deliver(fifo.consumer(failing("suspect", error=Crash()), max_attempts=2)) == []
    assert fifo.parked() == [(suspect.sqs_message_id, ErrorCode.HANDLER_CRASHED)]
    assert applied(fifo) == ["x", "b"]
    assert fifo.row(follower).attempts == 1


def test_time_that_ends_in_the_middle_of_a_group_hands_the_rest_back_as_one(fifo: World) -> None:
    _, _, third, fourth = send(fifo, "a", "b", "c", "d")

    def handler(message: Message, tx: Transaction) -> None:
        documents(message, tx)
        if message.message_id == "b":
            fifo.clock.advance(REMAINING_SECONDS - 1.5)

    assert fifo.deliver(fifo.consumer(handler)) == [third.sqs_message_id, fourth.sqs_message_id]
    assert applied(fifo) == ["a", "b"]
    assert {fifo.key(one.envelope) for one in (third, fourth)} & fifo.table.rows.keys() == set(), "none has cost a try"
    assert [change.seconds for change in fifo.queue.visibility_changes] == [1, 1]
    assert fifo.telemetry.counts[Metric.DEFERRED] == 2


def test_a_handler_that_does_not_end_in_time_keeps_its_group_in_order(fifo: World) -> None:
    """Threads cannot be killed: nothing of the group is answered for, nothing behind it starts."""
    go_on = threading.Event()
    sent = send(fifo, "slow", "b")

    def handler(message: Message, tx: Transaction) -> None:
        go_on.wait(10)
        documents(message, tx)

    consumer = fifo.consumer(handler, start_seconds=0.0)
    failed = fifo.deliver(consumer, remaining=1.2)
    go_on.set()
    assert failed == [one.sqs_message_id for one in sent]
    assert fifo.queue.visibility_changes == [], "both keep the visibility that they had"
    for thread in threading.enumerate():
        if thread.name.startswith("lane"):
            thread.join()
    assert applied(fifo) == [], "what returned late found everything closed"
    fifo.clock.advance(VISIBILITY_SECONDS)
    fifo.settle()
    assert applied(fifo) == ["slow", "b"]


def test_a_lost_lease_at_the_head_touches_nothing_of_its_group(fifo: World) -> None:
    head, tail = send(fifo, "head", "tail")
    fifo.faults.on("open", lambda: fifo.seed_row(head, "IN_PROGRESS", owner="thief", lease_until=1e12))
    assert len(fifo.deliver()) == 2
    assert fifo.row(head).owner == "thief"
    assert fifo.queue.visibility_changes == []
    assert fifo.hidden(head.sqs_message_id) == fifo.hidden(tail.sqs_message_id) == VISIBILITY_SECONDS


def test_a_group_whose_head_is_leased_elsewhere_waits_for_that_lease_as_one(fifo: World) -> None:
    head, tail = send(fifo, "head", "tail")
    fifo.seed_row(head, "IN_PROGRESS", lease_until=fifo.clock.now() + 77)
    fifo.deliver()
    assert fifo.hidden(head.sqs_message_id) == fifo.hidden(tail.sqs_message_id) == 78
    assert fifo.row(head).attempts == 1


# --- The visibility at the start of a batch -------------------------------------------------------------------------


def test_a_batch_begins_with_one_call_that_shortens_its_visibility(fifo: World) -> None:
    sent = send(fifo, "a", "b") + send(fifo, "x", group="g-2")
    fifo.deliver(fifo.consumer(visibility_seconds=QUEUE_SECONDS), remaining=REMAINING_SECONDS - 0.5)
    assert fifo.calls()[0] == "change_visibility"
    assert fifo.faults.count("change_visibility") == 1
    assert [change.seconds for change in fifo.queue.visibility_changes] == [SHORT_SECONDS] * len(sent)


@pytest.mark.parametrize(
    "visibility", [0, 1, SHORT_SECONDS, MUCH_LONGER * SHORT_SECONDS], ids=["unknown", "tiny", "as long", "not much"]
)
def test_no_call_is_spent_where_the_queues_timeout_is_not_much_longer(fifo: World, visibility: int) -> None:
    send(fifo, "a")
    fifo.deliver(fifo.consumer(visibility_seconds=visibility))
    assert fifo.calls("change_visibility") == []


def test_a_standard_queue_has_no_groups_that_a_crash_could_block() -> None:
    world = World()
    world.send()
    world.deliver(world.consumer(visibility_seconds=QUEUE_SECONDS))
    assert world.calls("change_visibility") == []


def test_no_time_left_is_a_value_and_shortens_to_the_slack(fifo: World) -> None:
    (sent,) = send(fifo, "a")
    fifo.deliver(fifo.consumer(visibility_seconds=QUEUE_SECONDS), remaining=0.0)
    assert fifo.queue.visibility_changes[0].seconds == contract.LEASE_SLACK_SECONDS
    assert fifo.key(sent.envelope) not in fifo.table.rows


def test_a_crash_costs_the_rest_of_the_invocation_not_the_queues_timeout(fifo: World) -> None:
    fifo.queue.create(fifo.queue_url, visibility_timeout=QUEUE_SECONDS)
    head, _ = send(fifo, "head", "tail")
    with pytest.raises(Crash):
        fifo.deliver(fifo.consumer(failing("head", error=Crash()), visibility_seconds=QUEUE_SECONDS))
    assert fifo.hidden(head.sqs_message_id) == SHORT_SECONDS
    fifo.clock.advance(SHORT_SECONDS)
    assert fifo.row(head).lease_until <= fifo.clock.now(), "the lease has ended when the messages come back"
    assert fifo.deliver(fifo.consumer(visibility_seconds=QUEUE_SECONDS)) == []
    assert applied(fifo) == ["head", "tail"]


def test_after_a_refused_shortening_the_batch_is_handled_all_the_same(fifo: World) -> None:
    send(fifo, "a", "b")
    event = fifo.queue.lambda_event(fifo.queue_url)
    fifo.queue.refuse_handles = {record["receiptHandle"]: 9 for record in event["Records"]}
    consumer = fifo.consumer(visibility_seconds=QUEUE_SECONDS)
    assert consumer.handle_lambda(event, remaining_seconds=REMAINING_SECONDS) == {"batchItemFailures": []}


# --- Parking (R5.1 `park`) ------------------------------------------------------------------------------------------


def copies(world: World) -> list[StoredMessage]:
    """What lies in the DLQ."""
    return world.queue.messages(world.dlq_url)


def test_a_parked_copy_keeps_its_group_and_gets_a_fresh_deduplication_id(fifo: World) -> None:
    bad, *_ = send(fifo, "bad", "b", group="account-7")
    fifo.deliver(fifo.consumer(failing("bad", error=Unreadable())))
    (copy,) = copies(fifo)
    assert copy.message.group_id == "account-7"
    assert copy.message.deduplication_id == bad.sqs_message_id
    assert reason_of(copy)["originalMessageId"] == bad.sqs_message_id
    assert applied(fifo) == ["b"]


def test_parked_twice_within_five_minutes_is_two_copies(fifo: World) -> None:
    """An id of the event's own would be swallowed the second time."""
    send(fifo, "bad")
    found = []
    for _ in range(2):
        fifo.deliver(fifo.consumer(failing("bad", error=Unreadable())))
        found += copies(fifo)
        fifo.redrive()
    assert len({copy.message.deduplication_id for copy in found}) == 2


def test_a_copy_whose_answer_was_lost_is_one_copy_within_five_minutes(fifo: World) -> None:
    """FIELD: awsdocs/amazon-sqs-developer-guide#54 - SQS's own move uses the message id, too."""
    bad, *_ = send(fifo, "bad", "b")
    fifo.faults.fail("send_batch", Unavailable("no answer"), when="after")
    drain(fifo, lambda: fifo.consumer(failing("bad", error=Unreadable())))
    assert [copy.message.deduplication_id for copy in copies(fifo)] == [bad.sqs_message_id]
    assert applied(fifo) == ["b"]


def test_nothing_overtakes_a_head_whose_copy_the_dlq_did_not_take(fifo: World) -> None:
    bad, *_ = send(fifo, "bad", "b")
    fifo.faults.fail("send_batch", Unavailable("no answer"), times=3)
    for _ in range(3):
        with pytest.raises(InfrastructureUnavailable):
            fifo.deliver(fifo.consumer(failing("bad", error=Unreadable())))
        assert applied(fifo) == []
        fifo.pass_time()
    fifo.settle(lambda: fifo.consumer(failing("bad", error=Unreadable())))
    assert fifo.parked() == [(bad.sqs_message_id, "Unreadable")]
    assert applied(fifo) == ["b"]


# --- Blocking (R5.1 `block`) ----------------------------------------------------------------------------------------


def blocking(world: World, handler: Handler = documents, **rules: Any) -> Consumer:  # noqa: ANN401 - fields of ConsumerRules
    """A consumer that may park nothing."""
    return world.consumer(handler, park=False, max_attempts=10**9, **rules)


def test_a_poison_message_blocks_its_group_alone_and_is_counted(fifo: World) -> None:
    send(fifo, "bad", "b")
    send(fifo, "x", group="g-2")
    fifo.deliver(blocking(fifo, failing("bad", error=Unreadable())))
    assert applied(fifo) == ["x"]
    assert fifo.telemetry.counts[Metric.GROUP_BLOCKED] == 1
    assert fifo.telemetry.flushed[-1][Metric.GROUP_BLOCKED] == 1
    assert fifo.parked() == []


def test_a_failing_message_counts_as_blocking_once_its_retries_are_used_up(fifo: World) -> None:
    send(fifo, "bad", "b")
    for attempt in range(1, 6):
        fifo.deliver(blocking(fifo, failing("bad"), blocks_after=4))
        assert fifo.telemetry.counts.get(Metric.GROUP_BLOCKED, 0) == max(0, attempt - 3)
        fifo.pass_time()


def test_what_cannot_even_be_decoded_blocks_and_is_counted_each_time(fifo: World) -> None:
    fifo.send_body("{", group="g-1")
    send(fifo, "b")
    for times in (1, 2):
        fifo.deliver(blocking(fifo))
        assert fifo.telemetry.counts[Metric.GROUP_BLOCKED] == times
        fifo.pass_time()
    assert applied(fifo) == []


def test_a_message_that_kills_every_process_is_counted_before_it_kills_the_next(fifo: World) -> None:
    """What a dying process only counted is lost with it, and the group would be blocked in silence."""
    send(fifo, "bad", "b")
    for _ in range(5):
        with pytest.raises(Crash):
            fifo.deliver(blocking(fifo, failing("bad", error=Crash()), blocks_after=3))
        fifo.clock.advance(VISIBILITY_SECONDS)
    emitted = [flush[Metric.GROUP_BLOCKED] for flush in fifo.telemetry.flushed if Metric.GROUP_BLOCKED in flush]
    assert emitted == [1, 1], "attempts four and five"
    assert fifo.telemetry.counts[ErrorCode.HANDLER_CRASHED] == 2
    assert applied(fifo) == []
    assert fifo.deliver(blocking(fifo)) == []
    assert applied(fifo) == ["bad", "b"]


def test_nothing_counts_as_blocking_where_it_can_be_parked(fifo: World) -> None:
    send(fifo, "bad", "b")
    fifo.settle(lambda: fifo.consumer(failing("bad"), max_attempts=2))
    assert Metric.GROUP_BLOCKED not in fifo.telemetry.counts


def test_a_blocked_group_goes_on_in_order_once_the_cause_is_fixed(fifo: World) -> None:
    send(fifo, "bad", "b")
    for _ in range(12):
        fifo.deliver(blocking(fifo, failing("bad", error=Unreadable())))
        fifo.pass_time()
    send(fifo, "c")
    assert fifo.deliver(blocking(fifo)) == []
    assert applied(fifo) == ["bad", "b", "c"]
    assert not fifo.queued()


def test_a_blocked_group_is_looked_at_again_at_least_every_quarter_of_an_hour(fifo: World) -> None:
    """What the alarm on blocked groups relies on: some attempt falls into every half hour."""
    (bad,) = send(fifo, "bad")
    for _ in range(30):
        fifo.deliver(blocking(fifo, failing("bad"), backoff=Backoff()))
        assert fifo.hidden(bad.sqs_message_id) <= Backoff().cap == 900
        fifo.pass_time()


def test_a_row_that_was_being_parked_is_taken_up_again_where_nothing_may_be_parked(fifo: World) -> None:
    """A deployment may turn `park` into `block` while a parking was left half done."""
    bad, _ = send(fifo, "bad", "b")
    fifo.seed_row(bad, "PARKING", lease_until=0.0, attempts=0, attempts_spent=5, last_code="Unreadable")
    fifo.settle(lambda: blocking(fifo))
    assert applied(fifo) == ["bad", "b"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_taking_it_up_again_survives_a_lost_answer(fifo: World, when: Any) -> None:  # noqa: ANN401 - a literal
    bad, _ = send(fifo, "bad", "b")
    fifo.seed_row(bad, "PARKING", lease_until=0.0, last_code="Unreadable")
    fifo.faults.fail("replace", Unavailable("no answer"), when=when)
    drain(fifo, lambda: blocking(fifo))
    assert applied(fifo) == ["bad", "b"]


def test_taking_it_up_again_is_fenced(fifo: World) -> None:
    bad, _ = send(fifo, "bad", "b")
    fifo.seed_row(bad, "PARKING", lease_until=0.0, last_code="Unreadable")
    fifo.faults.on("replace", lambda: fifo.seed_row(bad, "PARKED"))
    assert len(fifo.deliver(blocking(fifo))) == 2
    assert fifo.row(bad).state == "PARKED"


# --- The producer (R2.5, R2.6) --------------------------------------------------------------------------------------


def producer(world: World, **options: Any) -> Producer:  # noqa: ANN401 - the producer's own options
    """A producer in a new process."""
    store = PayloadStore(world.objects, bucket=BUCKET, before_send_seconds=3600, clock=world.clock, random=lambda: 0.5)
    numbers = itertools.count()
    return Producer(
        store,
        world.queue,
        queue_url=world.queue_url,
        clock=world.clock,
        new_id=lambda: f"drawn-{next(numbers)}",
        random=lambda: 0.5,
        telemetry=world.telemetry,
        **({"parallel": 1} | options),
    )


def movement(name: str | None = None, **fields: Any) -> Event:  # noqa: ANN401 - fields of Event
    """An event whose content is always the same."""
    return Event.json(
        {"cents": 1}, **({"tenant_id": TENANT, "event_type": EVENT_TYPE, "message_id": name, "group_id": "g"} | fields)
    )


def outgoing(world: World) -> list[OutgoingMessage]:
    """Every entry of every call."""
    return [message for batch in world.queue.batches for message in batch]


OFFLOADED = pytest.mark.parametrize("inline", ["auto", "never"], ids=["inline", "offloaded"])


@OFFLOADED
@pytest.mark.parametrize("names", [("m-1", "m-2"), (None, None)], ids=["named", "drawn"])
def test_an_identical_body_twice_is_two_messages(fifo: World, inline: str, names: tuple[str | None, ...]) -> None:
    """FIELD: measured amazon-sqs-extended-client 1.0.1#fifo-dedup: content-based ids swallow one, or neither."""
    publisher = producer(fifo, inline=inline)
    for name in names:
        publisher.publish(movement(name))
    assert len(fifo.queued()) == 2
    payloads = [decode(one.message.body).payload for one in fifo.queued()]
    assert {type(payload) for payload in payloads} == {Inline if inline == "auto" else Claim}


@OFFLOADED
@pytest.mark.parametrize("seconds, messages", [(0, 1), (DEDUPLICATION_SECONDS - 1, 1), (DEDUPLICATION_SECONDS, 2)])
def test_a_retry_within_five_minutes_is_one_message_and_later_one_effect(
    fifo: World, inline: str, seconds: int, messages: int
) -> None:
    first = producer(fifo, inline=inline).publish(movement("m-1"))
    fifo.clock.advance(seconds)
    second = producer(fifo, inline=inline).publish(movement("m-1"))
    assert len(fifo.queued()) == messages
    assert (first.sqs_message_id == second.sqs_message_id) == (messages == 1)
    fifo.settle()
    assert applied(fifo) == ["m-1"], "a retry that came too late for SQS is what the inbox is for"


def test_the_deduplication_id_survives_offloading(fifo: World) -> None:
    """The same event, once inside the message and once in S3, is the same to SQS."""
    producer(fifo).publish(movement("m-1"))
    producer(fifo, inline="never").publish(movement("m-1"))
    assert len({message.body for message in outgoing(fifo)}) == 2
    assert len(fifo.queued()) == 1


def test_every_entry_names_its_group_and_an_explicit_deduplication_id(fifo: World) -> None:
    producer(fifo).publish_batch([movement(f"m-{number}", group_id=f"g-{number % 3}") for number in range(12)])
    assert len(outgoing(fifo)) == 12
    assert all(message.group_id and message.deduplication_id for message in outgoing(fifo))


def test_the_deduplication_id_covers_tenant_and_identity_and_nothing_else(fifo: World) -> None:
    publisher = producer(fifo)
    for tenant, key in (("t-1", "k"), ("t-2", "k"), ("t-1", "k2")):
        publisher.publish(movement("m", tenant_id=tenant, idempotency_key=key))
    publisher.publish(movement("other", tenant_id="t-1", idempotency_key="k", event_type="Other", group_id="g-2"))
    ids = [message.deduplication_id for message in outgoing(fifo)]
    assert len(set(ids)) == 3
    assert ids[3] == ids[0] == deduplication_id("t-1", "k")


@given(st.from_regex(r"[A-Za-z0-9._-]{1,128}", fullmatch=True), st.text(min_size=1, max_size=1024))
def test_a_derived_deduplication_id_is_hashed_to_what_sqs_takes(tenant_id: str, key: str) -> None:
    found = deduplication_id(tenant_id, key.encode(errors="replace").decode())
    assert len(found) == 64
    assert found.isalnum()


def test_group_ids_are_1_to_128_characters() -> None:
    assert movement(group_id="g" * 128).group_id == "g" * 128
    assert movement(group_id="!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~").group_id
    with pytest.raises(EmptyField, match="group_id"):
        movement(group_id="")
    for wrong in ("g" * 129, "a b", "ä", "a\n"):
        with pytest.raises(InvalidText, match=r"^group_id: .* 1 to 128 of them"):
            movement(group_id=wrong)


@pytest.mark.parametrize("group_id", ["g", "x" * 128])
def test_ids_reach_sqs_as_they_are_and_no_message_is_delayed(fifo: World, group_id: str) -> None:
    producer(fifo).publish(movement("m-1", group_id=group_id))
    (message,) = outgoing(fifo)
    entry = _entry(message)
    assert entry.keys() == {"MessageBody", "MessageAttributes", "MessageGroupId", "MessageDeduplicationId"}
    assert entry["MessageGroupId"] == group_id


def test_all_sends_of_a_message_start_within_the_deduplication_interval(fifo: World) -> None:  # R2.5
    """Calls that hang, then one that is refused as a whole, so that its messages are sent one by one."""
    times: dict[str, list[float]] = {}
    send_batch = fifo.queue.send_batch
    calls = itertools.count(1)

    def recorded(queue_url: str, messages: Any) -> Any:  # noqa: ANN401 - as the port has it
        for message in messages:
            times.setdefault(message.deduplication_id, []).append(fifo.clock.monotonic())
        number = next(calls)
        fifo.clock.advance(LONGEST_CALL_SECONDS)
        if number == 3:
            raise PublishError("SQS refused the messages")
        send_batch(queue_url, messages)
        raise Unavailable("no answer")

    fifo.queue.send_batch = recorded  # type: ignore[method-assign]
    events = [movement(f"m-{number}", group_id=f"g-{number}") for number in range(BATCH)]
    results = producer(fifo).publish_batch(events)
    assert [one.message_id for one in results if isinstance(one, Unpublished)] == [one.message_id for one in events]
    assert len(times) == BATCH
    lasted = {sent[-1] + LONGEST_CALL_SECONDS - sent[0] for sent in times.values()}
    assert max(lasted) < DEDUPLICATION_SECONDS
    assert len(fifo.queued()) == BATCH, "each is there once"


def test_a_lost_answer_in_the_middle_of_a_batch_keeps_the_order_of_every_group(fifo: World) -> None:
    fifo.faults.fail("send_batch", Unavailable("no answer"), when="after", skip=1)
    events = [movement(f"{group}{number}", group_id=group) for number in range(3) for group in "abc"]
    results = producer(fifo, parallel=4).publish_batch(events)
    assert all(isinstance(one, Published) for one in results)
    for group in "abc":
        found = [decode(one.message.body).message_id for one in fifo.queued() if one.message.group_id == group]
        assert found == [f"{group}{number}" for number in range(3)]


# --- Fair queues on standard (R5.2) ---------------------------------------------------------------------------------


@pytest.mark.parametrize("fair, groups", [(True, ["t-1", "t-2", "own"]), (False, [None, None, "own"])])
def test_on_a_fair_queue_the_tenant_is_the_group_and_gives_no_order(fair: bool, groups: list[str | None]) -> None:  # noqa: FBT001 - a parameter
    world = World()
    publisher = producer(world, fair_queues=fair)
    for name, tenant, group in (("a", "t-1", None), ("b", "t-2", None), ("c", "t-1", "own")):
        publisher.publish(movement(name, tenant_id=tenant, group_id=group))
    assert [message.group_id for message in outgoing(world)] == groups
    assert [message.deduplication_id for message in outgoing(world)] == [None] * 3
    entries: list[dict[str, Any]] = [_entry(message) for message in outgoing(world)]
    assert [entry.get("MessageGroupId") for entry in entries] == groups
    failed = world.deliver(world.consumer(failing("a")))
    assert len(failed) == 1, "what follows in its group is not held up"
