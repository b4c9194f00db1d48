"""S3's events between EventBridge and a FIFO queue: group, deduplication, bodies (R10.4)."""

from __future__ import annotations

import json
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check.errors import InvalidNotification, PublishError
from claim_check.ingest_forwarding import EventForwarder, to_message
from tests.fakes.clock import FakeClock
from tests.fakes.queue import FakeQueue

QUEUE_URL = "https://sqs.example/ingest.fifo"


def queue() -> FakeQueue:
    """A FIFO queue that knows what SQS refuses."""
    return FakeQueue(clock=FakeClock())


def event(key: str = "in/a b+ü.csv", *, bucket: str = "inbox", event_id: str = "17793124-05d4-b198") -> dict[str, Any]:
    """An event as EventBridge delivers it."""
    return {
        "version": "0",
        "id": event_id,
        "detail-type": "Object Created",
        "source": "aws.s3",
        "detail": {"bucket": {"name": bucket}, "object": {"key": key, "size": 5, "sequencer": "617F08299329D189"}},
    }


def test_an_event_is_sent_unchanged_in_the_group_of_its_object() -> None:
    fifo = queue()
    message_id = EventForwarder(fifo, queue_url=QUEUE_URL).forward(event())
    (received,) = fifo.receive_batch(QUEUE_URL, count=10, wait_seconds=0, visibility_seconds=30, attempt_id=None)
    assert received.sqs_message_id == message_id
    ((message,),) = fifo.batches
    assert json.loads(message.body) == event()
    assert message.deduplication_id == "17793124-05d4-b198"
    assert not message.attributes


@given(
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=300),
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=300),
)
def test_one_object_is_one_group_and_any_key_makes_a_group_that_sqs_takes(one: str, other: str) -> None:
    first, again, second = (to_message(event(key, event_id=str(n))) for n, key in enumerate((one, one, other)))
    assert first.group_id == again.group_id
    assert (first.group_id == second.group_id) == (one == other)
    assert 1 <= len(first.group_id or "") <= 100, "EventBridge allows no more, SQS 128"
    assert set(first.group_id or "") <= set(string.hexdigits)
    assert first.deduplication_id != again.deduplication_id


def test_the_same_key_of_two_buckets_is_two_groups() -> None:
    assert to_message(event(bucket="one")).group_id != to_message(event(bucket="other")).group_id


def test_a_body_holds_only_characters_that_sqs_takes() -> None:
    assert to_message(event("in/\ufffe\x00ü😀")).body.isascii()


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"id": "1"},
        {"id": "1", "detail": None},
        {"id": "1", "detail": {"bucket": {"name": "b"}, "object": {}}},
        {"id": 1, "detail": {"bucket": {"name": "b"}, "object": {"key": "k"}}},
    ],
    ids=["empty", "no-detail", "null-detail", "no-key", "number-as-id"],
)
def test_what_is_no_event_of_an_object_fails_the_invocation(broken: dict[str, Any]) -> None:
    fifo = queue()
    with pytest.raises(InvalidNotification, match=r"none of S3's objects"):
        EventForwarder(fifo, queue_url=QUEUE_URL).forward(broken)
    assert not fifo.batches


def test_an_event_that_comes_again_is_the_same_message() -> None:
    fifo = queue()
    forwarder = EventForwarder(fifo, queue_url=QUEUE_URL)
    assert forwarder.forward(event()) == forwarder.forward(event())
    assert forwarder.forward(event()) != forwarder.forward(event(event_id="another"))


def test_an_event_that_sqs_does_not_take_fails_the_invocation() -> None:
    fifo = queue()
    fifo.refuse_entries[to_message(event()).body] = (1, False)
    with pytest.raises(PublishError, match="SQS did not take an event") as caught:
        EventForwarder(fifo, queue_url=QUEUE_URL).forward(event())
    assert "in/a" not in str(caught.value)
