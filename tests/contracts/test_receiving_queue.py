"""What every `ReceivingQueue` does (R4.10)."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from claim_check.adapters.session import Clients
from claim_check.adapters.sqs import SqsQueue
from claim_check.delivery import Delivery
from claim_check.errors import ReceiveRefused
from claim_check.ports import MessageAttribute, OutgoingMessage, VisibilityChange
from tests.fakes.clock import FakeClock
from tests.fakes.queue import FakeQueue


@dataclass
class Case:
    """A queue, and how time passes there."""

    queue: Any
    url: str
    now: Callable[[], float]
    pass_time: Callable[[float], None]

    def send(self, *bodies: str, group: str | None = None) -> None:
        """Send messages."""
        fifo = self.url.endswith(".fifo")
        results = self.queue.send_batch(
            self.url,
            [
                OutgoingMessage(
                    body=body,
                    attributes={},
                    group_id=(group or "g") if fifo else group,
                    deduplication_id=uuid.uuid4().hex if fifo else None,
                )
                for body in bodies
            ],
        )
        assert all(result.sqs_message_id for result in results)

    def receive(self, count: int = 10, *, visibility: int = 30, attempt: str | None = None) -> list[Delivery]:
        """Receive what there is."""
        found: list[Delivery] = self.queue.receive_batch(
            self.url, count=count, wait_seconds=0, visibility_seconds=visibility, attempt_id=attempt
        )
        return found


@pytest.fixture(params=["fake", pytest.param("sqs", marks=pytest.mark.integration)])
def make(request: pytest.FixtureRequest) -> Callable[[str], Case]:
    """Makes queues on one side."""
    if request.param == "fake":
        return _fake
    clients: Clients = request.getfixturevalue("clients")
    return lambda suffix: _real(clients, suffix)


@pytest.fixture
def case(make: Callable[[str], Case]) -> Case:
    """A standard queue."""
    return make("")


@pytest.fixture
def fifo(make: Callable[[str], Case]) -> Case:
    """A FIFO queue."""
    return make(".fifo")


def _fake(suffix: str) -> Case:
    clock = FakeClock()
    return Case(FakeQueue(clock), f"https://sqs/000000000000/contract{suffix}", clock.now, clock.advance)


def _real(clients: Clients, suffix: str) -> Case:
    attributes: Any = {"FifoQueue": "true"} if suffix else {}
    url = clients.sqs.create_queue(QueueName=f"contract-{uuid.uuid4()}{suffix}", Attributes=attributes)["QueueUrl"]
    return Case(SqsQueue(clients.sqs, polling=clients.sqs_polling), url, time.time, time.sleep)


def test_a_delivery_is_all_that_was_sent(case: Case) -> None:
    attributes = {
        "text": MessageAttribute(data_type="String", value="ü€"),
        "raw": MessageAttribute(data_type="Binary", value=b"\0\xff"),
    }
    outgoing = OutgoingMessage(body='{"ü": 1}', attributes=attributes, group_id="tenant-1")
    (result,) = case.queue.send_batch(case.url, [outgoing])
    (found,) = case.receive()
    assert (found.body, found.attributes, found.group_id) == (outgoing.body, attributes, "tenant-1")
    assert (found.sqs_message_id, found.queue) == (result.sqs_message_id, case.url.rpartition("/")[2])
    assert found.receive_count == 1
    assert found.sent_at == pytest.approx(case.now(), abs=5)


def test_nothing_there_is_no_failure(case: Case) -> None:
    assert case.receive() == []


def test_no_more_than_asked_for(case: Case) -> None:
    case.send("a", "b", "c")
    assert len(case.receive(2)) == 2
    assert len(case.receive(2)) == 1


@pytest.mark.parametrize("count", [0, 11])
def test_a_count_that_sqs_does_not_take_is_refused(case: Case, count: int) -> None:
    with pytest.raises(ReceiveRefused):
        case.receive(count)


def test_hidden_for_as_long_as_asked_for(case: Case) -> None:
    case.send("a")
    assert len(case.receive(visibility=1)) == 1
    assert case.receive() == []
    case.pass_time(1.1)
    (again,) = case.receive()
    assert again.receive_count == 2


def test_an_extension_counts_from_now(case: Case) -> None:
    case.send("a")
    (found,) = case.receive(visibility=1)
    assert case.queue.change_visibility(case.url, [VisibilityChange(found.receipt_handle, 30)]) == []
    case.pass_time(1.1)
    assert case.receive() == []


def test_released_is_visible_at_once(case: Case) -> None:
    case.send("a")
    (found,) = case.receive()
    case.queue.change_visibility(case.url, [VisibilityChange(found.receipt_handle, 0)])
    assert [one.body for one in case.receive()] == ["a"]


def test_25_messages_are_deleted_in_tens(case: Case) -> None:
    bodies = [f"{number}" for number in range(25)]
    for start in range(0, 25, 10):
        case.send(*bodies[start : start + 10])
    found = [one for _ in range(3) for one in case.receive()]
    assert case.queue.delete_batch(case.url, [one.receipt_handle for one in found[:23]]) == []
    for one in found[23:]:
        case.queue.change_visibility(case.url, [VisibilityChange(one.receipt_handle, 0)])
    assert sorted(one.body for one in case.receive()) == sorted(one.body for one in found[23:])


# FIELD: co-go/sqs-extended-client-go#153
def test_a_delete_that_is_refused_is_told_and_the_others_are_done(case: Case) -> None:
    case.send("a", "b")
    first, second = case.receive()
    handles = [first.receipt_handle, "no handle", second.receipt_handle]
    assert case.queue.delete_batch(case.url, handles) == ["no handle"]
    assert case.receive() == []


def test_nothing_to_delete_is_no_call(case: Case) -> None:
    assert case.queue.delete_batch(case.url, []) == []


def test_a_group_comes_in_order_and_waits_while_its_head_is_hidden(fifo: Case) -> None:
    fifo.send("a", group="g")
    fifo.send("b", group="g")
    fifo.send("c", group="h")
    (head, other) = fifo.receive(1), fifo.receive(1)
    assert [one.body for one in (*head, *other)] == ["a", "c"]
    assert fifo.receive() == []
    fifo.queue.delete_batch(fifo.url, [head[0].receipt_handle])
    assert [one.body for one in fifo.receive()] == ["b"]


def test_a_whole_group_that_is_released_comes_again_in_order(fifo: Case) -> None:
    fifo.send("a")
    fifo.send("b")
    fifo.send("c")
    found = fifo.receive()
    assert [one.body for one in found] == ["a", "b", "c"]
    fifo.queue.change_visibility(fifo.url, [VisibilityChange(one.receipt_handle, 0) for one in reversed(found)])
    assert [one.body for one in fifo.receive()] == ["a", "b", "c"]


def test_an_attempt_id_is_taken(fifo: Case) -> None:
    fifo.send("a")
    assert [one.body for one in fifo.receive(attempt=str(uuid.uuid4()))] == ["a"]


# The embedded AWS does not know attempt ids; the fake does what SQS documents.


def test_the_fake_brings_the_same_messages_again_for_the_same_attempt() -> None:
    fifo = _fake(".fifo")
    fifo.send("a")
    fifo.send("b")
    first = fifo.receive(attempt="one")
    fifo.pass_time(10)
    assert fifo.receive(attempt="two") == []
    again = fifo.receive(attempt="one")
    assert [one.receipt_handle for one in again] == [one.receipt_handle for one in first]
    fifo.pass_time(25)
    assert fifo.receive(attempt="three") == []  # the repetition hid them anew
    fifo.queue.delete_batch(fifo.url, [first[0].receipt_handle])
    assert fifo.receive(attempt="one") == []  # one of them was touched


def test_the_fake_refuses_an_attempt_id_on_a_standard_queue() -> None:
    with pytest.raises(ReceiveRefused):
        _fake("").receive(attempt="one")


def test_the_fake_hides_for_twelve_hours_in_total_at_most() -> None:
    case = _fake("")
    case.send("a")
    (found,) = case.receive(visibility=3600)
    case.pass_time(3000)
    longest = VisibilityChange(found.receipt_handle, 43_200 - 3000)
    assert case.queue.change_visibility(case.url, [longest]) == []
    too_long = VisibilityChange(found.receipt_handle, 43_201 - 3000)
    assert case.queue.change_visibility(case.url, [too_long]) == [too_long]
