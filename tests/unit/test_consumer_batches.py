"""A batch as a whole: what is answered, counted and hidden, whatever its records do (R4.7)."""

from __future__ import annotations

import pytest

from claim_check import contract
from claim_check.contract import Metric
from claim_check.errors import InfrastructureUnavailable, Unavailable
from claim_check.message import Message
from claim_check.transaction import Transaction
from tests.harness import REMAINING_SECONDS, World, documents

OUTAGE = Unavailable("the service did not answer")


@pytest.fixture
def world() -> World:
    """A pipeline on a standard queue."""
    return World()


def failing(_: Message, __: Transaction) -> None:
    """A handler."""
    raise ValueError("no")


def test_a_record_that_comes_twice_in_a_batch_is_answered_once(world: World) -> None:
    sent = world.send()
    (record,) = world.queue.lambda_event(world.queue_url)["Records"]
    answer = world.consumer(failing).handle_lambda({"Records": [record, record]}, remaining_seconds=REMAINING_SECONDS)
    assert answer == {"batchItemFailures": [{"itemIdentifier": sent.sqs_message_id}]}


def test_a_stranger_in_the_batch_is_answered_and_keeps_an_outage_from_failing_the_whole(world: World) -> None:
    sent = world.send()
    (record,) = world.queue.lambda_event(world.queue_url)["Records"]
    world.faults.fail("take", OUTAGE, times=9)
    stranger = {"messageId": "of-sns", "eventSource": "aws:sns"}
    answer = world.consumer().handle_lambda({"Records": [stranger, record]}, remaining_seconds=REMAINING_SECONDS)
    assert [one["itemIdentifier"] for one in answer["batchItemFailures"]] == [sent.sqs_message_id, "of-sns"]
    with pytest.raises(InfrastructureUnavailable, match="all 1 records"):
        world.consumer().handle_lambda({"Records": [record]}, remaining_seconds=REMAINING_SECONDS)


def test_one_success_keeps_an_outage_from_failing_the_whole(world: World) -> None:
    good, bad = world.send(), world.send()
    world.faults.fail("take", OUTAGE, skip=1)
    assert world.deliver() == [bad.sqs_message_id]
    assert world.effects(good) == 1


def test_nothing_is_no_batch_that_failed(world: World) -> None:
    assert world.consumer().handle_lambda({"Records": []}, remaining_seconds=1) == {"batchItemFailures": []}


@pytest.mark.parametrize(
    "ahead,age", [(0, 0), (30, 30), (-5, 0)], ids=["just sent", "half a minute ago", "by a clock that is ahead"]
)
def test_the_age_of_a_message_is_never_negative(world: World, ahead: float, age: float) -> None:
    world.send()
    world.clock.advance(ahead)
    world.deliver()
    assert world.telemetry.counts[Metric.MESSAGE_AGE] == pytest.approx(age, abs=0.01)


def test_a_message_without_a_time_has_no_age(world: World) -> None:
    world.send()
    (record,) = world.queue.lambda_event(world.queue_url)["Records"]
    record["attributes"].pop("SentTimestamp")
    world.consumer().handle_lambda({"Records": [record]}, remaining_seconds=REMAINING_SECONDS)
    assert Metric.MESSAGE_AGE not in world.telemetry.counts
    assert world.telemetry.counts[Metric.PROCESSED] == 1


@pytest.mark.parametrize("remaining", [30.0, 60.5])
def test_a_lease_lasts_until_the_invocation_has_surely_ended(world: World, remaining: float) -> None:
    sent = world.send()
    leases = list[float]()

    def handle(message: Message, tx: Transaction) -> None:
        leases.append(world.row(sent).lease_until - world.clock.now())
        documents(message, tx)

    world.deliver(world.consumer(handle), remaining=remaining)
    assert leases == pytest.approx([remaining + contract.LEASE_SLACK_SECONDS], abs=0.001)


def test_a_mistake_of_our_own_fails_that_message_alone(world: World) -> None:
    """Here the jitter of the one that fails cannot be drawn."""
    bad, good = world.send(world.envelope(identity="bad")), world.send()

    def handle(message: Message, tx: Transaction) -> None:
        if message.idempotency_key == "bad":
            raise ValueError("no")
        documents(message, tx)

    def broken() -> float:
        raise ZeroDivisionError

    assert world.deliver(world.consumer(handle, random=broken)) == [bad.sqs_message_id]
    assert world.effects(good) == 1
    assert "unexpected failure" in world.telemetry.events("error")
    (line,) = [one for one in world.telemetry.lines if one.event == "unexpected failure"]
    assert line.fields == {"errorType": "ZeroDivisionError"}
    assert world.telemetry.counts[Metric.RETRIED] == 1
    assert not world.queue.visibility_changes, "it comes again when the queue's own timeout ends"


def test_metrics_are_emitted_once_for_a_batch(world: World) -> None:
    for _ in range(3):
        world.send()
    world.deliver()
    assert [metrics[Metric.PROCESSED] for metrics in world.telemetry.flushed] == [3]


def test_a_queue_that_hides_a_little_more_than_twice_as_long_is_worth_a_call() -> None:
    world = World(fifo=True)
    world.send()
    short = 30 + contract.LEASE_SLACK_SECONDS
    world.deliver(world.consumer(visibility_seconds=2 * short + 1), remaining=30)
    assert [change.seconds for change in world.queue.visibility_changes] == [short]
