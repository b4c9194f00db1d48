"""R2: the payload first, then the pointer; batches; retries; FIFO."""

from __future__ import annotations

import dataclasses
import io
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claim_check import contract, envelope
from claim_check.contract import Metric
from claim_check.envelope import Claim, Inline
from claim_check.errors import (
    EmptyField,
    EventTooLarge,
    InvalidPayload,
    MessageTooLarge,
    Overtaken,
    PublishError,
    Unavailable,
)
from claim_check.event import Event
from claim_check.payload_store import PayloadStore
from claim_check.producer import (
    CLAIM_SLACK_BYTES,
    WAVE,
    WAVES_AHEAD,
    Producer,
    Published,
    Unpublished,
    deduplication_id,
)
from claim_check.retries import Retry
from claim_check.side_by_side import SideBySide
from tests.fakes.clock import FakeClock
from tests.fakes.faults import Crash, Faults, When
from tests.fakes.object_store import FakeObjectStore
from tests.fakes.queue import FakeQueue, StoredMessage, size_of
from tests.fakes.telemetry import FakeTelemetry

STANDARD, FIFO = "https://sqs/0/documents", "https://sqs/0/documents.fifo"
BUCKET = "bucket"
PDF = b"%PDF-1.7"


class Setup:
    """A producer on fakes that share one list of calls."""

    def __init__(self, queue_url: str = STANDARD, **options: Any) -> None:  # noqa: ANN401 - the producer's own options
        """Start empty."""
        self.clock, self.faults, self.url = FakeClock(), Faults(), queue_url
        self.objects = FakeObjectStore(self.clock, self.faults)
        self.queue = FakeQueue(self.clock, self.faults)
        self.telemetry = FakeTelemetry()
        self.ids = iter(f"id-{number}" for number in range(10**6))
        self.calls = self.faults.calls
        self.store = PayloadStore(
            self.objects, bucket=BUCKET, before_send_seconds=3600, clock=self.clock, random=lambda: 0.5
        )
        self.producer = Producer(
            self.store,
            self.queue,
            queue_url=queue_url,
            clock=self.clock,
            new_id=lambda: next(self.ids),
            random=lambda: 0.5,
            telemetry=self.telemetry,
            **({"parallel": 1} | options),
        )

    def messages(self) -> list[StoredMessage]:
        """What is in the queue."""
        return self.queue.messages(self.url)

    def envelopes(self) -> list[envelope.Envelope]:
        """What is in the queue, decoded."""
        return [envelope.decode(one.message.body) for one in self.messages()]


@pytest.fixture
def setup() -> Setup:
    """A standard queue."""
    return Setup()


def event(payload: bytes | Path | io.BytesIO = PDF, **fields: Any) -> Event:  # noqa: ANN401 - an event's own fields
    base = {"tenant_id": "t-1", "event_type": "DocumentUploaded", "content_type": "application/pdf"}
    return Event(payload=payload, **(base | fields))


def document(size: int = 10, **fields: Any) -> Event:  # noqa: ANN401 - an event's own fields
    """A JSON event whose payload has ``size`` bytes."""
    return Event.json("x" * (size - 2), **({"tenant_id": "t-1", "event_type": "Noted"} | fields))


# --- One event ------------------------------------------------------------------------------------------------------


def test_small_json_travels_inline(setup: Setup) -> None:
    result = setup.producer.publish(Event.json({"a": "ü"}, tenant_id="t-1", event_type="Noted"))
    assert setup.calls == ["send_batch"]
    assert result.payload == Inline(content_type="application/json", body='{"a":"ü"}')
    (found,) = setup.envelopes()
    assert found.payload == result.payload
    assert (found.message_id, found.idempotency_key, result.message_id) == ("id-0", "id-0", "id-0")
    assert result.sqs_message_id == setup.messages()[0].sqs_message_id


def test_anything_else_is_a_claim_payload_first(setup: Setup) -> None:
    result = setup.producer.publish(event())
    assert setup.calls == ["put_if_absent", "send_batch"]
    assert isinstance(result.payload, Claim)
    assert setup.objects.content(BUCKET, result.payload.key) == PDF
    assert setup.envelopes()[0].payload == result.payload
    assert (result.sha256, result.content_length) == (result.payload.sha256, len(PDF))


@pytest.mark.parametrize("payload", [b"", b"x"])
def test_empty_and_one_byte_payloads(setup: Setup, payload: bytes) -> None:
    result = setup.producer.publish(event(payload))
    assert isinstance(result.payload, Claim)
    assert result.content_length == len(payload)
    assert setup.objects.content(BUCKET, result.payload.key) == payload


# FIELD: aspecto-io/sns-sqs-big-payload#46 (attributes travel outside the payload, so filters work)
def test_the_message_carries_what_filters_and_triage_need(setup: Setup) -> None:
    setup.producer.publish(
        event(
            message_id="m-1",
            idempotency_key="document-uploaded:doc-789:v3",
            correlation_id="c-1",
            event_version=2,
            domain_ref={"documentId": "doc-789"},
            attributes={"priority": "high"},
        ),
        trace_header="Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1",
    )
    (stored,) = setup.messages()
    attributes = {name: (value.data_type, value.value) for name, value in stored.message.attributes.items()}
    assert attributes == {
        "eventType": ("String", "DocumentUploaded"),
        "tenantId": ("String", "t-1"),
        "priority": ("String", "high"),
    }
    assert stored.message.trace_header == "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1"
    assert (stored.message.group_id, stored.message.deduplication_id) == (None, None)
    found = setup.envelopes()[0]
    assert (found.message_id, found.idempotency_key) == ("m-1", "document-uploaded:doc-789:v3")
    assert (found.correlation_id, found.event_version) == ("c-1", 2)
    assert found.domain_ref == {"documentId": "doc-789"}
    assert found.published_at is not None
    assert found.published_at.timestamp() == setup.clock.now()


@pytest.mark.parametrize("header", ["", "not a trace", "Root=1\x00", "Root=" + "x" * 2000])
def test_a_malformed_trace_header_never_stops_a_publish(setup: Setup, header: str) -> None:
    setup.producer.publish(event(), trace_header=header)
    assert setup.messages()[0].message.trace_header is None


def test_sensitive_and_inline_never_force_a_claim() -> None:
    sensitive = Setup()
    assert isinstance(sensitive.producer.publish(document(sensitive=True)).payload, Claim)
    never = Setup(inline="never")
    assert isinstance(never.producer.publish(document()).payload, Claim)


def whole_size(setup: Setup) -> int:
    return size_of(setup.messages()[-1].message)


# FIELD: awslabs/amazon-sqs-java-extended-client-lib#28 (attributes count)
@pytest.mark.parametrize("attributes", [{}, {"a.b": "ü" * 300}])
def test_the_inline_limit_counts_the_whole_message_and_is_itself_inline(attributes: dict[str, str]) -> None:
    setup = Setup()
    fields: dict[str, Any] = {"attributes": attributes, "message_id": "m"}
    setup.producer.publish(document(100, **fields))
    limit = contract.DEFAULT_INLINE_LIMIT_BYTES - contract.DEFAULT_RESERVE_BYTES
    largest = 100 + limit - whole_size(setup)
    assert isinstance(setup.producer.publish(document(largest, **fields)).payload, Inline)
    assert whole_size(setup) == limit
    assert isinstance(setup.producer.publish(document(largest + 1, **fields)).payload, Claim)


# FIELD: co-go/sqs-extended-client-go#81
def test_inline_limit_above_the_queues_own_is_the_queues_own() -> None:
    setup = Setup(inline_limit=10**6, max_message_bytes=256 * 1024)
    assert isinstance(setup.producer.publish(document(250 * 1024)).payload, Inline)
    assert isinstance(setup.producer.publish(document(262 * 1024)).payload, Claim)


# FIELD: newrelic/newrelic-java-agent#2292 (a tracer's attributes come after the size check, and need slots)
def test_three_attributes_stay_free(setup: Setup) -> None:
    setup.producer.publish(event(attributes={f"a{number}": "x" for number in range(contract.USER_ATTRIBUTES_MAX)}))
    assert len(setup.messages()[0].message.attributes) == contract.SQS_MAX_ATTRIBUTES - 3


# FIELD: awslabs/amazon-sqs-java-extended-client-lib#172 (1 MiB is usable)
def test_a_message_of_one_mebibyte_is_sent() -> None:
    setup = Setup(inline_limit=contract.SQS_MAX_MESSAGE_BYTES, reserve_bytes=0)
    fields: dict[str, Any] = {"message_id": "m"}
    setup.producer.publish(document(100, **fields))
    largest = 100 + contract.SQS_MAX_MESSAGE_BYTES - whole_size(setup)
    setup.producer.publish(document(largest, **fields))
    assert whole_size(setup) == 1_048_576


# FIELD: Particular/docs.particular.net#7059
def test_reserve_leaves_room_for_a_tracer() -> None:
    setup = Setup(inline_limit=10**6, max_message_bytes=10_000, reserve_bytes=200)
    size = 5_000
    while isinstance(setup.producer.publish(document(size)).payload, Inline):
        size += 1
        assert whole_size(setup) + 200 <= 10_000


def test_payload_over_the_maximum_is_refused_before_anything_is_written() -> None:
    setup = Setup(max_payload_bytes=5)
    setup.producer.publish(event(b"12345"))
    setup.calls.clear()
    for payload in (b"123456", io.BytesIO(b"123456")):
        with pytest.raises(EventTooLarge, match="6 bytes"):
            setup.producer.publish(event(payload))
    assert setup.calls == []


def test_message_limit_itself_is_accepted_and_one_byte_more_is_refused_before_anything_is_written() -> None:
    probe = Setup(reserve_bytes=0)
    fields: dict[str, Any] = {"message_id": "m", "attributes": {"a": "x"}}
    probe.producer.publish(event(**fields))
    limit = whole_size(probe) + CLAIM_SLACK_BYTES
    Setup(reserve_bytes=0, max_message_bytes=limit).producer.publish(event(**fields))
    setup = Setup(reserve_bytes=0, max_message_bytes=limit - 1)
    with pytest.raises(MessageTooLarge, match=f"{limit} bytes"):
        setup.producer.publish(event(**fields))
    assert setup.calls == []


def test_a_missing_file_is_refused_before_anything_is_written(setup: Setup, tmp_path: Path) -> None:
    with pytest.raises(InvalidPayload):
        setup.producer.publish(event(tmp_path / "none"))
    assert setup.calls == []


def test_a_file_is_published_from_its_path_and_small_json_from_one_is_inline(setup: Setup, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"[1]")
    assert isinstance(setup.producer.publish(event(path)).payload, Claim)
    result = setup.producer.publish(event(path, content_type="application/json"))
    assert result.payload == Inline(content_type="application/json", body="[1]")


def test_a_payload_that_breaks_while_it_is_read_is_a_publish_error(setup: Setup) -> None:
    class Broken(io.BytesIO):
        """A disk that fails."""

        def read(self, size: int | None = -1, /) -> bytes:
            """Fail."""
            raise RuntimeError(size)

    with pytest.raises(PublishError, match="RuntimeError"):
        setup.producer.publish(event(Broken(b"abc")))
    assert setup.messages() == []


def test_any_payload_text_reaches_the_queue_without_a_refusal(setup: Setup) -> None:
    for text in ('"\\ud800"', '"\\u0000"', '"\uffff\ufffe\x7f\x85"', '"\U0010ffff"'):
        setup.producer.publish(event(text.encode(), content_type="application/json"))
    assert [one.payload.content.decode() for one in setup.envelopes() if isinstance(one.payload, Inline)] == [
        '"\\ud800"',
        '"\\u0000"',
        '"\uffff\ufffe\x7f\x85"',
        '"\U0010ffff"',
    ]


# FIELD: timothymugayi/boto3-sqs-extended-client-lib#8
def test_the_same_event_twice_changes_nothing_of_the_callers(setup: Setup) -> None:
    attributes, file = {"order": "1"}, io.BytesIO(PDF)
    made = event(file, attributes=attributes, message_id="m-1")
    before = dataclasses.replace(made)
    first, second = setup.producer.publish(made), setup.producer.publish(made)
    assert first.payload == second.payload
    assert (made, attributes, file.tell()) == (before, {"order": "1"}, 0)


def test_nothing_of_the_payload_or_its_key_is_told(setup: Setup) -> None:
    result = setup.producer.publish(document(sensitive=True))
    setup.producer.publish(Event.json("very-secret", tenant_id="t-1", event_type="Noted"))
    assert isinstance(result.payload, Claim)
    said = json.dumps([dataclasses.asdict(line) for line in setup.telemetry.lines]) + repr(result)
    assert result.payload.key not in said
    assert "xxx" not in said
    assert "secret" not in said
    (line, _) = setup.telemetry.lines
    assert line.fields["payloadBucket"] == BUCKET
    assert line.fields["payloadSizeBytes"] == 10
    assert line.fields["queue"] == "documents"


def test_metrics(setup: Setup) -> None:
    setup.producer.publish(document(10))
    setup.producer.publish(event())
    assert setup.telemetry.counts == {
        Metric.PUBLISHED: 2,
        Metric.PUBLISHED_BYTES: 10 + len(PDF),
        Metric.PUBLISHED_CLAIMS: 1,
    }


# R12.1
def test_metrics_are_emitted_once_for_each_call_where_nobody_else_does() -> None:
    setup = Setup(flushes=True)
    setup.producer.publish_batch([document() for _ in range(25)])
    assert [metrics[Metric.PUBLISHED] for metrics in setup.telemetry.flushed] == [25]
    claim = setup.producer.publish(event()).payload
    assert isinstance(claim, Claim)
    setup.producer.publish_claim(event(message_id="m-2"), claim)
    assert [metrics[Metric.PUBLISHED] for metrics in setup.telemetry.flushed] == [25, 1, 1]


@pytest.mark.parametrize("call", ["publish", "publish_batch", "publish_claim"])
def test_metrics_of_a_call_that_fails_are_emitted_too(call: str) -> None:
    setup = Setup(flushes=True)
    claim = Setup().producer.publish(event()).payload
    assert isinstance(claim, Claim)
    setup.faults.fail("send_batch", PublishError("SQS refused the messages: AccessDenied"), times=9)
    if call == "publish_batch":
        setup.producer.publish_batch([event(), event()])
    else:
        with pytest.raises(PublishError):
            setup.producer.publish(event()) if call == "publish" else setup.producer.publish_claim(event(), claim)
    assert setup.telemetry.flushed == [{Metric.PUBLISH_FAILED: 2 if call == "publish_batch" else 1}]


def test_whoever_gave_the_telemetry_emits_the_metrics(setup: Setup) -> None:
    setup.producer.publish_batch([document(), document()])
    assert setup.telemetry.flushed == []


# --- Failures -------------------------------------------------------------------------------------------------------


def test_failures_are_counted_but_not_mistakes_of_the_caller() -> None:  # R12.1
    setup = Setup(FIFO, max_payload_bytes=100)
    setup.faults.fail("send_batch", PublishError("SQS refused the messages: AccessDenied"))
    events = [document(group_id="g"), document(group_id="g"), document(101, group_id="h"), document(group_id=None)]
    results = setup.producer.publish_batch(events)
    errors = [type(result.error) for result in results if isinstance(result, Unpublished)]
    assert errors == [PublishError, Overtaken, EventTooLarge, EmptyField]
    assert setup.telemetry.counts == {Metric.PUBLISH_FAILED: 2}


def test_no_pointer_without_a_payload(setup: Setup) -> None:
    setup.faults.fail("put_if_absent", PublishError("S3 refused the payload: AccessDenied"))
    with pytest.raises(PublishError, match="AccessDenied"):
        setup.producer.publish(event())
    assert setup.calls == ["put_if_absent"]
    assert setup.telemetry.events("error") == ["not published"]


def test_an_outage_of_the_queue_is_retried_and_bounded(setup: Setup) -> None:
    setup.faults.fail("send_batch", Unavailable("SQS did not take the messages (Throttled)"), times=2)
    setup.producer.publish(event())
    assert setup.faults.count("send_batch") == 3
    setup.faults.fail("send_batch", Unavailable("SQS did not take the messages (Throttled)"), times=99)
    with pytest.raises(PublishError, match="Throttled"):
        setup.producer.publish(event())
    assert setup.faults.count("send_batch") == 3 + Retry().attempts


def test_a_refused_call_is_not_retried(setup: Setup) -> None:
    setup.faults.fail("send_batch", PublishError("SQS refused the messages: AccessDenied"))
    with pytest.raises(PublishError, match="AccessDenied"):
        setup.producer.publish(event())
    assert setup.faults.count("send_batch") == 1


def record_boundaries() -> list[str]:
    setup = Setup()
    setup.producer.publish(event(message_id="m-1"))
    return list(setup.calls)


BOUNDARIES = record_boundaries()


@pytest.mark.parametrize("index", range(len(BOUNDARIES)), ids=BOUNDARIES)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("queue_url", [STANDARD, FIFO])
def test_a_crash_at_every_boundary_then_a_retry(index: int, when: When, queue_url: str) -> None:
    setup = Setup(queue_url)
    made = event(message_id="m-1", group_id="g")
    setup.faults.crash_at(index, when)
    with pytest.raises(Crash):
        setup.producer.publish(made)
    for found in setup.envelopes():  # whatever can be seen resolves
        assert isinstance(found.payload, Claim)
        assert setup.objects.content(BUCKET, found.payload.key) == PDF
    setup.producer.publish(made)
    assert len(setup.objects.keys(BUCKET)) == 1
    assert {found.message_id for found in setup.envelopes()} == {"m-1"}
    assert len(setup.messages()) == (2 if queue_url == STANDARD and (index, when) == (1, "after") else 1)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_while_looking_at_an_earlier_object(when: When) -> None:
    setup = Setup()
    made = event(message_id="m-1")
    setup.faults.fail("put_if_absent", Crash(), when="after")
    with pytest.raises(Crash):
        setup.producer.publish(made)
    setup.faults.fail("head", Crash(), when=when)
    with pytest.raises(Crash):
        setup.producer.publish(made)
    setup.producer.publish(made)
    assert len(setup.objects.keys(BUCKET)) == len(setup.messages()) == 1


# --- FIFO (R2.6) ----------------------------------------------------------------------------------------------------


def test_fifo_needs_a_group_and_says_so_before_anything_is_written() -> None:
    setup = Setup(FIFO)
    with pytest.raises(EmptyField, match="group_id"):
        setup.producer.publish(event())
    assert setup.calls == []


# FIELD: measured amazon-sqs-extended-client 1.0.1#fifo-dedup
def test_the_same_event_twice_is_one_message_and_the_same_content_of_two_events_is_two() -> None:
    setup = Setup(FIFO)
    for message_id in ("m-1", "m-1", "m-2"):
        setup.producer.publish(event(message_id=message_id, group_id="g"))
    assert [found.message_id for found in setup.envelopes()] == ["m-1", "m-2"]


def test_the_deduplication_id_covers_the_tenant() -> None:
    setup = Setup(FIFO)
    for tenant in ("t-1", "t-2"):
        setup.producer.publish(event(tenant_id=tenant, idempotency_key="k", group_id="g"))
    assert len(setup.messages()) == 2


@given(
    st.from_regex(contract.NAME_PATTERN, fullmatch=True), st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
)
def test_any_identity_gives_a_deduplication_id_sqs_takes(tenant_id: str, key: str) -> None:
    found = deduplication_id(tenant_id, key)
    assert 1 <= len(found) <= 128
    assert found.isalnum()
    assert found != deduplication_id(tenant_id, key + "x")


def test_fair_queues_group_by_tenant() -> None:
    setup = Setup(fair_queues=True)
    setup.producer.publish(event())
    setup.producer.publish(event(group_id="g"))
    assert [one.message.group_id for one in setup.messages()] == ["t-1", "g"]
    assert [one.message.deduplication_id for one in setup.messages()] == [None, None]


# --- Batches (R2.7) -------------------------------------------------------------------------------------------------


def published(results: list[Published | Unpublished]) -> list[str]:
    return [result.message_id for result in results if isinstance(result, Published)]


def test_a_batch_of_ten_shares_one_call(setup: Setup) -> None:
    results = setup.producer.publish_batch(document() for _ in range(10))
    assert setup.calls == ["send_batch"]
    assert published(results) == [f"id-{number}" for number in range(10)]


def test_no_events_no_call(setup: Setup) -> None:
    assert setup.producer.publish_batch([]) == []
    assert setup.calls == []


@pytest.mark.parametrize("parallel", [1, 8])
def test_results_come_in_the_callers_order_whatever_each_became(parallel: int) -> None:
    setup = Setup(parallel=parallel, max_payload_bytes=1000)
    events = [event(b"x" * 1001) if number % 7 == 3 else event(str(number).encode()) for number in range(250)]
    results = setup.producer.publish_batch(events)
    assert len(results) == 250
    for number, result in enumerate(results):
        if number % 7 == 3:
            assert isinstance(result, Unpublished)
            assert isinstance(result.error, EventTooLarge)
        else:
            assert isinstance(result, Published)
            assert isinstance(result.payload, Claim)
            assert setup.objects.content(BUCKET, result.payload.key) == str(number).encode()
    assert {one.message_id for one in setup.envelopes()} == set(published(results))
    assert len(setup.messages()) == len(published(results))


# FIELD: awslabs/amazon-sqs-python-extended-client-lib#25
def test_a_batch_that_would_not_fit_moves_its_largest_to_s3() -> None:
    setup = Setup(inline_limit=1_048_576)
    sizes = [200_000, 50_000, 300_000, 200_000, 200_000, 100_000, 10, 10, 10, 10]
    results = setup.producer.publish_batch([document(size) for size in sizes])
    assert setup.calls == ["put_if_absent", "send_batch"]
    assert [isinstance(result, Published) and isinstance(result.payload, Claim) for result in results] == [
        size == 300_000 for size in sizes
    ]


def test_what_cannot_be_moved_is_split_into_more_calls() -> None:
    setup = Setup()
    big = {f"a{number}": "x" * 40_000 for number in range(5)}
    setup.producer.publish_batch([event(attributes=big) for _ in range(10)])
    assert [len(batch) for batch in setup.queue.batches] == [5, 5]
    assert all(sum(size_of(message) for message in batch) <= 1_048_576 for batch in setup.queue.batches)


def test_what_s3_does_not_take_now_is_sent_inline_in_more_calls() -> None:
    setup = Setup(inline_limit=1_048_576)
    setup.faults.fail("put_if_absent", PublishError("S3 refused the payload: AccessDenied"), times=99)
    results = setup.producer.publish_batch([document(200_000) for _ in range(10)])
    assert len(published(results)) == 10
    assert [len(batch) for batch in setup.queue.batches] == [5, 5]


def bodies(batches: list[Any]) -> list[list[str]]:
    return [[message.body for message in batch] for batch in batches]


def test_refused_entries_are_retried_with_the_same_ids() -> None:
    setup = Setup(FIFO)
    events = [document(10 + number, message_id=f"m-{number}", group_id=f"g{number}") for number in range(5)]
    setup.producer.publish_batch(events)
    second = setup.queue.batches[0][1]
    again = Setup(FIFO)
    again.queue.refuse_entries[second.body] = (2, False)
    results = again.producer.publish_batch(events)
    assert published(results) == [f"m-{number}" for number in range(5)]
    assert again.queue.batches[1:] == [(second,), (second,)]


def test_an_entry_that_is_at_fault_is_not_retried_and_hides_no_success(setup: Setup) -> None:
    probe = Setup()
    events = [document(10 + number, message_id=f"m-{number}") for number in range(5)]
    probe.producer.publish_batch(events)
    setup.queue.refuse_entries[probe.queue.batches[0][2].body] = (99, True)
    results = setup.producer.publish_batch(events)
    assert published(results) == ["m-0", "m-1", "m-3", "m-4"]
    bad = results[2]
    assert isinstance(bad, Unpublished)
    assert "InvalidMessage" in str(bad.error)
    assert bad.message_id == "m-2"
    assert setup.calls == ["send_batch"]


def test_entries_that_are_refused_to_the_end_are_returned(setup: Setup) -> None:
    probe = Setup()
    events = [document(10 + number, message_id=f"m-{number}") for number in range(3)]
    probe.producer.publish_batch(events)
    setup.queue.refuse_entries[probe.queue.batches[0][0].body] = (99, False)
    results = setup.producer.publish_batch(events)
    assert published(results) == ["m-1", "m-2"]
    assert isinstance(results[0], Unpublished)
    assert "InternalError" in str(results[0].error)
    assert len(setup.messages()) == 2


def test_a_call_that_is_refused_as_a_whole_is_sent_one_by_one(setup: Setup) -> None:
    setup.faults.fail("send_batch", PublishError("SQS refused the messages: InvalidBatchEntry"))
    results = setup.producer.publish_batch([document() for _ in range(3)])
    assert len(published(results)) == 3
    assert [len(batch) for batch in setup.queue.batches] == [1, 1, 1]


def test_a_batch_whose_answer_is_lost_is_repeated_and_fifo_takes_it_once() -> None:
    setup = Setup(FIFO)
    setup.faults.fail("send_batch", Unavailable("no answer"), when="after")
    results = setup.producer.publish_batch([document(group_id=f"g{number}") for number in range(10)])
    assert len(published(results)) == 10
    assert len(setup.messages()) == 10
    assert setup.queue.batches[0] == setup.queue.batches[1]


@given(st.lists(st.sampled_from("abc"), max_size=40), st.sampled_from([1, 4]))
@settings(deadline=None)
def test_fifo_calls_hold_a_group_once_and_groups_keep_their_order(groups: list[str], parallel: int) -> None:
    setup = Setup(FIFO, parallel=parallel)
    results = setup.producer.publish_batch([document(group_id=group) for group in groups])
    for batch in setup.queue.batches:
        named = [message.group_id for message in batch]
        assert len(named) == len(set(named))
    for group in "abc":
        sent = [
            envelope.decode(one.message.body).message_id for one in setup.messages() if one.message.group_id == group
        ]
        assert sent == [result.message_id for result, of in zip(results, groups, strict=True) if of == group]


@pytest.mark.parametrize("cause", ["queue", "payload", "store"])
def test_nothing_overtakes_a_failed_event_of_its_group(cause: str) -> None:
    setup = Setup(FIFO, max_payload_bytes=1000)
    first = event(b"x" * 1001 if cause == "payload" else PDF, group_id="a", message_id="m-0")
    others = [document(group_id=group, message_id=f"m-{number}") for number, group in enumerate("abab", 1)]
    if cause == "store":
        setup.faults.fail("put_if_absent", PublishError("S3 refused the payload: AccessDenied"))
    if cause == "queue":
        probe = Setup(FIFO)
        probe.producer.publish(first)
        setup.queue.refuse_entries[probe.queue.batches[0][0].body] = (99, True)
    results = setup.producer.publish_batch([first, *others])
    assert published(results) == ["m-2", "m-4"]
    blocked = [result.error for result in results if isinstance(result, Unpublished)]
    assert [isinstance(error, Overtaken) for error in blocked] == [False, True, True]
    assert {one.message.group_id for one in setup.messages()} == {"b"}


def test_a_standard_queue_has_no_order_to_keep() -> None:
    setup = Setup(max_payload_bytes=1000)
    results = setup.producer.publish_batch([event(b"x" * 1001, group_id="a"), event(group_id="a")])
    assert len(published(results)) == 1


def test_payloads_of_a_batch_are_put_side_by_side() -> None:
    setup = Setup(parallel=4)
    meeting = threading.Barrier(4, timeout=10)
    setup.faults.on("put_if_absent", meeting.wait, times=4)
    assert len(published(setup.producer.publish_batch([event(str(n).encode()) for n in range(4)]))) == 4


def test_a_producer_is_shared_between_threads() -> None:
    setup = Setup(parallel=4)
    results: list[list[Published | Unpublished]] = []

    def publish() -> None:
        results.append(setup.producer.publish_batch([event(str(number).encode()) for number in range(30)]))

    threads = [threading.Thread(target=publish) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(len(published(one)) for one in results) == 120
    assert len(setup.messages()) == 120


# --- Side by side ---------------------------------------------------------------------------------------------------


def test_a_wave_is_prepared_and_sent_while_another_is_on_its_way() -> None:
    setup, later = Setup(parallel=2), threading.Event()
    setup.faults.on("send_batch", lambda: later.wait(10) or pytest.fail("the second wave waited for the first"))
    setup.faults.on("send_batch", later.set, skip=WAVE // 10)
    results = setup.producer.publish_batch(document(message_id=f"m-{number}") for number in range(2 * WAVE))
    assert [result.message_id for result in results] == [f"m-{number}" for number in range(2 * WAVE)]
    assert all(isinstance(result, Published) for result in results)


def test_waves_on_their_way_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a batch holds in memory does not grow with it."""
    setup, prepared, most = Setup(parallel=2), 0, 0
    stage_all = setup.producer._stage_all

    def counted(drafts: Any, threads: SideBySide) -> Any:  # noqa: ANN401 - private types
        nonlocal prepared, most
        prepared += len(drafts)
        most = max(most, prepared - len(setup.telemetry.lines))
        return stage_all(drafts, threads)

    monkeypatch.setattr(setup.producer, "_stage_all", counted)
    setup.producer.publish_batch(document(message_id=f"m-{number}") for number in range(8 * WAVE))
    assert len(setup.telemetry.lines) == 8 * WAVE
    assert most == (WAVES_AHEAD + 1) * WAVE


def test_in_one_thread_calls_are_made_in_order_and_at_once() -> None:
    made: list[int] = []
    with SideBySide(1) as threads:
        results = threads.start(made.append, [1, 2, 3])
        assert made == [1, 2, 3]
    assert results() == [None] * 3
    assert threads._pool is None


@pytest.mark.parametrize("items, wait, in_place", [(1, True, True), (1, False, False), (2, True, False)])
def test_a_single_call_that_is_waited_for_needs_no_thread(items: int, wait: bool, in_place: bool) -> None:  # noqa: FBT001 - parameters of the test
    with SideBySide(4) as threads:
        results = threads.start(lambda _: threading.current_thread(), range(items), wait=wait)()
    assert (results[0] is threading.current_thread()) is in_place


def test_an_interrupt_drops_the_calls_that_have_not_begun() -> None:
    begun: list[int] = []
    first = threading.Event()

    def call(item: int) -> None:
        begun.append(item)
        first.set()
        time.sleep(0.1)

    def interrupted() -> None:
        with SideBySide(2) as threads:
            threads.start(call, range(100))
            first.wait(10)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert len(begun) <= 4
