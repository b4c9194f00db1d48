"""What every `MessageQueue` does (R2.6, R2.7)."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from claim_check.adapters.session import Clients
from claim_check.adapters.sqs import SqsQueue
from claim_check.errors import PublishError
from claim_check.ports import MessageAttribute, MessageQueue, OutgoingMessage, VisibilityChange
from tests.fakes.clock import FakeClock
from tests.fakes.queue import FakeQueue


@dataclass(frozen=True)
class Received:
    """What a test looks at of a received message."""

    body: str
    handle: str
    attributes: dict[str, str | bytes]
    system: dict[str, str]


@dataclass
class Case:
    """A queue, and how messages are received from it."""

    queue: MessageQueue
    url: str
    receive: Callable[[], list[Received]]

    def receive_all(self) -> list[Received]:
        """Receive until nothing is left to be seen."""
        found: list[Received] = []
        while some := self.receive():
            found += some
        return found


@pytest.fixture(params=["fake", pytest.param("sqs", marks=pytest.mark.integration)])
def make(request: pytest.FixtureRequest) -> Callable[[str], Case]:
    """Makes queues on one side."""
    return _fake if request.param == "fake" else lambda suffix: _real(request.getfixturevalue("clients"), suffix)


@pytest.fixture
def case(make: Callable[[str], Case]) -> Case:
    """A standard queue."""
    return make("")


@pytest.fixture
def fifo(make: Callable[[str], Case]) -> Case:
    """A FIFO queue."""
    return make(".fifo")


def _fake(suffix: str) -> Case:
    queue, url = FakeQueue(FakeClock()), f"https://sqs/0/contract{suffix}"

    def receive() -> list[Received]:
        return [
            Received(
                one.message.body,
                one.receipt_handle,
                {name: attribute.value for name, attribute in one.message.attributes.items()},
                {
                    name: value
                    for name, value in {
                        "MessageGroupId": one.message.group_id,
                        "MessageDeduplicationId": one.message.deduplication_id,
                    }.items()
                    if value is not None
                },
            )
            for one in queue.receive(url)
        ]

    return Case(queue, url, receive)


def _real(clients: Clients, suffix: str) -> Case:
    attributes: Any = {"FifoQueue": "true"} if suffix else {}
    name = f"contract-{uuid.uuid4()}{suffix}"
    url = clients.sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]

    def receive() -> list[Received]:
        answer = clients.sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"], MessageSystemAttributeNames=["All"]
        )
        return [_received(message) for message in answer.get("Messages", [])]

    return Case(SqsQueue(clients.sqs), url, receive)


def _received(message: Any) -> Received:  # noqa: ANN401 - the client's own shape
    wanted = ("MessageGroupId", "MessageDeduplicationId")
    return Received(
        message["Body"],
        message["ReceiptHandle"],
        {
            name: value.get("BinaryValue", value.get("StringValue", ""))
            for name, value in message.get("MessageAttributes", {}).items()
        },
        {name: value for name, value in message.get("Attributes", {}).items() if name in wanted},
    )


def text(value: str) -> MessageAttribute:
    return MessageAttribute(data_type="String", value=value)


def messages(count: int) -> list[OutgoingMessage]:
    return [OutgoingMessage(body=f"body {number}", attributes={"n": text(str(number))}) for number in range(count)]


def test_ten_messages_arrive_as_they_were_sent(case: Case) -> None:
    results = case.queue.send_batch(case.url, messages(10))
    assert len({result.sqs_message_id for result in results}) == 10
    assert all(result.sqs_message_id and result.error_code is None for result in results)
    found = sorted(case.receive_all(), key=lambda one: one.body)
    assert [one.body for one in found] == [f"body {number}" for number in range(10)]
    assert [one.attributes for one in found] == [{"n": str(number)} for number in range(10)]


def test_attributes(case: Case) -> None:
    attributes = {"text": text("ü€😀"), "raw": MessageAttribute(data_type="Binary", value=b"\0\xff")}
    case.queue.send_batch(case.url, [OutgoingMessage(body="{}", attributes=attributes)])
    assert [one.attributes for one in case.receive_all()] == [{"text": "ü€😀", "raw": b"\0\xff"}]


def test_no_attributes(case: Case) -> None:
    case.queue.send_batch(case.url, [OutgoingMessage(body="x", attributes={})])
    assert [one.attributes for one in case.receive_all()] == [{}]


def test_group_on_a_standard_queue(case: Case) -> None:
    case.queue.send_batch(case.url, [OutgoingMessage(body="x", attributes={}, group_id="tenant-1")])
    assert [one.system.get("MessageGroupId") for one in case.receive_all()] == ["tenant-1"]


def test_eleven_messages_are_refused(case: Case) -> None:
    with pytest.raises(PublishError):
        case.queue.send_batch(case.url, messages(11))
    assert case.receive_all() == []


def test_deduplication_id_swallows_the_second(fifo: Case) -> None:
    first = OutgoingMessage(body="one", attributes={}, group_id="g", deduplication_id="d")
    again = OutgoingMessage(body="other body", attributes={}, group_id="g", deduplication_id="d")
    assert fifo.queue.send_batch(fifo.url, [first])[0].sqs_message_id
    assert fifo.queue.send_batch(fifo.url, [again])[0].sqs_message_id
    (found,) = fifo.receive_all()
    assert (found.body, found.system["MessageGroupId"], found.system["MessageDeduplicationId"]) == ("one", "g", "d")


def test_same_body_twice_under_two_ids_arrives_twice(fifo: Case) -> None:
    for number in range(2):
        fifo.queue.send_batch(
            fifo.url,
            [OutgoingMessage(body="same", attributes={}, group_id=f"g{number}", deduplication_id=f"d{number}")],
        )
    assert [one.body for one in fifo.receive_all()] == ["same", "same"]


# FIELD: aws-powertools/powertools-lambda-java#663
def test_visibility_of_25_messages(case: Case) -> None:
    for start in range(0, 30, 10):
        case.queue.send_batch(case.url, messages(30)[start : start + 10])
    found = case.receive_all()[:25]
    assert case.queue.change_visibility(case.url, [VisibilityChange(one.handle, 0) for one in found]) == []
    again = case.receive_all()
    assert sorted(one.body for one in again) == sorted(one.body for one in found)


# FIELD: NangoHQ/nango#7334
def test_visibility_that_is_refused_is_told(case: Case) -> None:
    case.queue.send_batch(case.url, messages(2))
    good, *_ = [VisibilityChange(one.handle, 0) for one in case.receive_all()]
    bad = VisibilityChange("no handle", 5)
    assert case.queue.change_visibility(case.url, [bad, good]) == [bad]
    assert len(case.receive_all()) == 1


def test_no_visibility_change_is_no_call(case: Case) -> None:
    assert case.queue.change_visibility(case.url, []) == []
