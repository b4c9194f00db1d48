"""Extended Clients' messages: which shapes are read, what is refused, how identity lasts, and what ours look like."""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check import contract, sizes
from claim_check.consumer_rules import ConsumerRules
from claim_check.contract import ErrorCode, Metric, Setting, WireFormat
from claim_check.delivery import Delivery, from_api, from_lambda
from claim_check.envelope import Claim, Envelope, Inline, UnverifiedClaim, UnverifiedInline, decode, encode
from claim_check.errors import (
    InvalidEnvelope,
    InvalidPayload,
    InvalidSetting,
    PermanentError,
    UnsupportedVersion,
    UnverifiedPayload,
)
from claim_check.event import Event
from claim_check.extended_client import (
    LEGACY_POINTER_CLASS,
    POINTER_CLASS,
    ForeignMessages,
    read,
)
from claim_check.message import Message
from claim_check.ports import MessageAttribute
from claim_check.settings import ConsumerSettings, ProducerSettings
from claim_check.transaction import Transaction
from tests.foreign_world import (
    CONTENT,
    FOREIGN,
    FOREIGN_BUCKET,
    ForeignWorld,
    identity_of,
    notification,
    pointer,
    size,
    text,
)
from tests.harness import BUCKET, CONSUMER, EVENT_TYPE, TENANT, documents, reason_of

NEW, LEGACY = contract.ATTRIBUTE_PAYLOAD_SIZE, contract.ATTRIBUTE_LEGACY_PAYLOAD_SIZE


@pytest.fixture
def world() -> ForeignWorld:
    return ForeignWorld()


def received(body: str, attributes: Mapping[str, MessageAttribute] | None = None, **more: Any) -> Delivery:  # noqa: ANN401 - fields of Delivery
    return Delivery(sqs_message_id="sqs-1", receipt_handle="r-1", body=body, attributes=attributes or {}, **more)


def envelope_of(delivery: Delivery, foreign: ForeignMessages = FOREIGN) -> Envelope:
    return read(delivery, foreign).envelope


# --- Shapes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [POINTER_CLASS, LEGACY_POINTER_CLASS])
@pytest.mark.parametrize("attribute", [NEW, LEGACY])
@pytest.mark.parametrize("wrapped", [False, True])
def test_every_attribute_name_with_every_class_raw_and_wrapped(attribute: str, kind: str, wrapped: bool) -> None:  # noqa: FBT001 - a parameter of the test
    body, attributes = pointer("in/1", kind=kind), {attribute: size(50)}
    delivery = received(notification(body, attributes)) if wrapped else received(body, attributes)
    found = envelope_of(delivery)
    assert found.payload == UnverifiedClaim(
        bucket=FOREIGN_BUCKET, key="in/1", content_type=FOREIGN.content_type, content_length=50
    )
    assert (found.message_id, found.idempotency_key) == (identity_of("in/1"), identity_of("in/1"))
    assert (found.tenant_id, found.event_type) == (TENANT, EVENT_TYPE)


def test_the_order_of_fields_and_further_fields_do_not_matter() -> None:
    body = json.dumps([POINTER_CLASS, {"more": [1], "s3Key": "in/1", "s3BucketName": FOREIGN_BUCKET}], indent=2)
    assert envelope_of(received(body, {NEW: size(1)})).idempotency_key == identity_of("in/1")


def test_a_bare_object_is_read_and_counted_apart() -> None:
    """aspecto-io/sns-sqs-big-payload#42: one library writes an object where the other writes an array."""
    body = json.dumps({"s3BucketName": FOREIGN_BUCKET, "s3Key": "in/1"})
    found = read(received(body, {NEW: size(1)}), FOREIGN)
    assert found.counter == Metric.FOREIGN_OBJECT
    assert found.envelope.idempotency_key == identity_of("in/1")
    assert read(received(pointer("in/1"), {NEW: size(1)}), FOREIGN).counter == Metric.FOREIGN_POINTER
    assert read(received("hello"), FOREIGN).counter == Metric.FOREIGN_INLINE


@pytest.mark.parametrize("body", ["plain text", "7", '"text"', "{}", '{"v":2,"total":1}', "[1,2]", "{not json", " "])
def test_any_other_body_is_its_payload(body: str) -> None:
    """aws-powertools/powertools-lambda-typescript#4411: a body is text until it says otherwise."""
    found = envelope_of(received(body))
    assert found.payload == UnverifiedInline(content_type=FOREIGN.content_type, body=body)
    assert found.message_id == "sqs-1"
    assert not found.payload.verified


def test_events_that_only_resemble_ours_are_payloads() -> None:
    """Other people's events have message ids and types, too."""
    document = {"messageId": "m", "eventType": "OrderPlaced", "total": 3}
    assert isinstance(envelope_of(received(json.dumps(document))).payload, UnverifiedInline)


def test_names_come_from_attributes_where_they_are() -> None:
    attributes = {"tenantId": text("t-2"), "eventType": text("OrderPlaced"), NEW: size(1)}
    for delivery in (received(pointer("in/1"), attributes), received(notification(pointer("in/1"), attributes))):
        found = envelope_of(delivery)
        assert (found.tenant_id, found.event_type) == ("t-2", "OrderPlaced")


def test_lambda_shaped_and_api_shaped_records_read_the_same() -> None:
    system = {"SentTimestamp": "1796008449973", "ApproximateReceiveCount": "1"}
    of_lambda = from_lambda(
        {
            "eventSource": "aws:sqs",
            "messageId": "sqs-1",
            "receiptHandle": "r",
            "body": pointer("in/1"),
            "attributes": system,
            "messageAttributes": {
                LEGACY: {"dataType": "Number", "stringValue": "50", "stringListValues": [], "binaryListValues": []}
            },
        }
    )
    of_api = from_api(
        {
            "MessageId": "sqs-1",
            "ReceiptHandle": "r",
            "Body": pointer("in/1"),
            "Attributes": system,
            "MessageAttributes": {LEGACY: {"DataType": "Number", "StringValue": "50"}},
        },
        queue="q",
    )
    assert of_lambda is not None
    assert envelope_of(of_lambda) == envelope_of(of_api)


def test_an_envelope_of_ours_is_read_as_ever(world: ForeignWorld) -> None:
    ours = world.envelope()
    found = read(received(encode(ours)), FOREIGN)
    assert (found.envelope, found.counter) == (ours, None)
    assert envelope_of(received(notification(encode(ours)))) == ours


# --- Refusals -------------------------------------------------------------------------------------------------------

REFUSED = {
    "a mark without a pointer": ("plain text", {NEW: size(1)}),
    "an unknown class": (pointer("in/1", kind="com.example.S3Pointer"), {NEW: size(1)}),
    "a pointer of three": (json.dumps([POINTER_CLASS, {"s3BucketName": "b", "s3Key": "k"}, 1]), {NEW: size(1)}),
    "a pointer without a key": (json.dumps([POINTER_CLASS, {"s3BucketName": "b"}]), {NEW: size(1)}),
    "a key that is no text": (json.dumps([POINTER_CLASS, {"s3BucketName": "b", "s3Key": 1}]), {NEW: size(1)}),
    "an endless key": (pointer("k" * 1025), {NEW: size(1)}),
    "a lone surrogate": ('["' + POINTER_CLASS + '",{"s3BucketName":"b","s3Key":"\\ud800"}]', {NEW: size(1)}),
    "a size that is none": (pointer("in/1"), {NEW: text("many")}),
    "a negative size": (pointer("in/1"), {NEW: size(-1)}),
    "a binary size": (pointer("in/1"), {NEW: MessageAttribute(data_type="Binary", value=b"1")}),
    "two sizes": (pointer("in/1"), {NEW: size(1), LEGACY: size(2)}),
    "a pointer without its mark": (pointer("in/1"), {}),
    "an object without its mark": (json.dumps({"s3BucketName": "b", "s3Key": "k"}), {}),
    "another library's pointer": (json.dumps({"S3Payload": {"Id": "1", "Key": "k"}}), {}),
    "a mark lost in SNS": (notification(pointer("in/1")), {}),
    "a broken envelope of ours": ('{"v":1,"messageId":"m","payloadRef":{}}', {}),
    "an envelope without a payload": ('{"v":1,"messageId":"m","eventType":"E","tenantId":"t"}', {}),
    "a confirmation of SNS": (notification("You have chosen", Type="SubscriptionConfirmation"), {}),
    "a tenant that is none": ("hello", {"tenantId": text("../t-2")}),
    "an event type that is none": (pointer("in/1"), {NEW: size(1), "eventType": text("a b")}),
    "no body": ("", {}),
    "a broken header": ("{}", {contract.ATTRIBUTE_CLAIM_CHECK: text("{")}),
    "a header that is no object": ("{}", {contract.ATTRIBUTE_CLAIM_CHECK: text("[]")}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_no_data_is_made_of(case: str, world: ForeignWorld) -> None:
    """An unknown shape is parked as such; neither the handler nor S3 ever sees it."""
    body, attributes = REFUSED[case]
    with pytest.raises(InvalidEnvelope):
        read(received(body, attributes), FOREIGN)
    if not body:
        return
    sent = world.send_body(body, attributes=attributes)
    world.settle()
    assert world.parked() == [(sent, ErrorCode.INVALID_ENVELOPE)]
    assert "open" not in world.calls()


def test_a_newer_envelope_of_ours_is_no_payload() -> None:
    document = {"v": 2, "messageId": "m", "eventType": "E", "tenantId": "t", "content": {}}
    with pytest.raises(UnsupportedVersion):
        read(received(json.dumps(document)), FOREIGN)


@given(st.text(max_size=200), st.booleans(), st.booleans())
def test_whatever_comes_is_read_or_refused(body: str, marked: bool, wrapped: bool) -> None:  # noqa: FBT001 - parameters of the test
    attributes = {NEW: size(len(body))} if marked else {}
    delivery = received(notification(body, attributes)) if wrapped else received(body, attributes)
    try:
        found = envelope_of(delivery)
    except PermanentError:
        return
    assert not found.payload.verified or isinstance(decode(body), Envelope)
    assert isinstance(found.payload, UnverifiedInline | UnverifiedClaim)


# --- Trust ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body, attributes", [(pointer("in/1"), {NEW: size(1)}), ("hello", {})])
def test_nothing_unverified_is_taken_unless_the_consumer_says_so(
    body: str, attributes: dict[str, MessageAttribute], world: ForeignWorld
) -> None:
    world.foreign = replace(FOREIGN, allow_unverified=False)
    sent = world.send_body(body, attributes=attributes)
    world.settle()
    assert world.parked() == [(sent, ErrorCode.UNVERIFIED_PAYLOAD)]
    assert "open" not in world.calls()
    with pytest.raises(UnverifiedPayload):
        read(received(body, attributes), world.foreign)


def test_plain_bodies_can_be_refused_and_pointers_taken(world: ForeignWorld) -> None:
    """Where clients offload everything, whatever else comes is malformed."""
    world.foreign = replace(FOREIGN, plain_bodies=False)
    sent = world.send_body("this is no envelope")
    world.offload()
    world.producer().publish(event(b"{}", "application/json"))
    world.settle()
    assert world.parked() == [(sent, ErrorCode.INVALID_ENVELOPE)]
    assert len(world.table.applied) == 2


def test_without_the_setting_none_of_them_is_taken(world: ForeignWorld) -> None:
    world.foreign = None
    sent = [world.offload(), world.send_body("hello")]
    world.settle()
    assert sorted(world.parked()) == sorted((one, ErrorCode.INVALID_ENVELOPE) for one in sent)


@pytest.mark.parametrize("bucket, key", [("elsewhere", "in/1"), (FOREIGN_BUCKET, "out/1"), (BUCKET, "in/1")])
def test_foreign_buckets_are_never_followed(bucket: str, key: str, world: ForeignWorld) -> None:
    """amazon-sqs-extended-client 1.0.1 reads whatever bucket a message names."""
    world.store(key, bucket=bucket)
    sent = world.send_body(pointer(key, bucket=bucket), attributes={NEW: size(len(CONTENT))})
    world.settle()
    assert world.parked() == [(sent, ErrorCode.UNTRUSTED_REFERENCE)]
    assert "open" not in world.calls()


def test_the_consumers_own_bucket_is_not_theirs() -> None:
    foreign = replace(FOREIGN, buckets=[f"{BUCKET}/in/"])
    with pytest.raises(InvalidSetting, match="own"):
        ConsumerRules(consumer=CONSUMER, bucket=BUCKET, foreign=foreign)


@pytest.mark.parametrize(
    "wrong", [{"tenant_id": "a b"}, {"event_type": ".."}, {"buckets": "b"}, {"buckets": ["b*"]}, {"buckets": ["/in"]}]
)
def test_wrong_settings_are_told(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidSetting):
        replace(FOREIGN, **wrong)


# --- Handling -------------------------------------------------------------------------------------------------------


def test_a_pointer_is_handled_and_marked_unverified(world: ForeignWorld) -> None:
    seen: list[tuple[bool, str]] = []

    def handler(message: Message, tx: Transaction) -> None:
        documents(message, tx)
        seen.append((message.verified, message.sha256))

    world.offload()
    assert world.deliver(world.consumer(handler)) == []
    assert seen == [(False, hashlib.sha256(CONTENT).hexdigest())]
    row = world.row_of(identity_of("in/1"))
    assert (row.state, row.payload_bucket, row.payload_key) == ("COMPLETED", FOREIGN_BUCKET, "in/1")
    assert row.fingerprint == f"unverified-{len(CONTENT)}:{EVENT_TYPE}:1"
    assert world.telemetry.counts[Metric.UNVERIFIED] == 1
    assert world.telemetry.counts[Metric.FOREIGN_POINTER] == 1
    assert "in/1" not in str(world.telemetry.lines)
    assert world.objects.bodies[0].closed


def test_an_inline_message_is_handled_and_marked_unverified(world: ForeignWorld) -> None:
    sent = world.send_body("hello")
    assert world.deliver() == []
    row = world.row_of(f"message-{sent}")
    assert (row.state, row.message_id) == ("COMPLETED", sent)
    assert row.fingerprint.startswith("unverified-")
    assert world.telemetry.counts[Metric.UNVERIFIED] == 1


def test_a_verified_message_is_not_counted_as_unverified(world: ForeignWorld) -> None:
    world.send()
    world.deliver()
    assert Metric.UNVERIFIED not in world.telemetry.counts


def test_the_hash_of_an_unread_payload_is_not_made_up(world: ForeignWorld) -> None:
    told: list[str] = []

    def handler(message: Message, _: Transaction) -> None:
        with pytest.raises(ValueError, match="read"):
            told.append(message.sha256)
        told.append(message.message_id)

    for number, access in enumerate(("stream", "none")):
        world.offload(f"in/{number}")
        assert world.deliver(world.consumer(handler, access=access)) == []
    assert told == [identity_of("in/0"), identity_of("in/1")]


@pytest.mark.parametrize("told", [len(CONTENT) - 1, len(CONTENT) + 1])
def test_a_length_that_is_not_the_attributes_is_parked(told: int, world: ForeignWorld) -> None:
    world.store()
    sent = world.send_body(pointer("in/1"), attributes={NEW: size(told)})
    world.settle()
    assert world.parked() == [(sent, ErrorCode.CHECKSUM_MISMATCH)]


def test_bytes_that_are_not_those_of_s3s_checksum_lead_to_no_effect(world: ForeignWorld) -> None:
    sent = world.offload()
    world.objects.tamper(FOREIGN_BUCKET, "in/1", bytes(reversed(CONTENT)))
    world.settle()
    assert world.parked() == [(sent, ErrorCode.CHECKSUM_MISMATCH)]
    assert world.table.applied == []


def test_an_object_without_a_whole_checksum_is_held_to_its_length_alone(world: ForeignWorld) -> None:
    """A multipart object has a checksum of checksums: it is compared with nothing."""
    world.offload()
    (version,) = world.objects.objects[FOREIGN_BUCKET, "in/1"]
    assert version is not None
    world.objects.objects[FOREIGN_BUCKET, "in/1"] = [replace(version, info=replace(version.info, checksum=None))]
    assert world.deliver() == []
    assert len(world.table.applied) == 1


def test_one_missing_payload_fails_one_message(world: ForeignWorld) -> None:
    """awslabs/amazon-sqs-java-extended-client-lib#30: there the whole receive fails, again and again."""
    for number in range(3):
        world.offload(f"in/{number}")
    world.objects.delete(FOREIGN_BUCKET, "in/1")
    assert len(world.deliver()) == 1
    assert len(world.table.applied) == 2
    assert world.row_of(identity_of("in/1")).last_code == ErrorCode.MISSING_PAYLOAD


def test_the_payload_is_never_deleted(world: ForeignWorld) -> None:
    world.offload()
    world.settle()
    assert world.objects.content(FOREIGN_BUCKET, "in/1") == CONTENT


# --- Identity -------------------------------------------------------------------------------------------------------


def test_the_same_pointer_twice_is_one_work(world: ForeignWorld) -> None:
    world.offload()
    world.offload()
    world.settle()
    assert len(world.table.applied) == 1
    assert world.telemetry.counts[Metric.DUPLICATE] == 1


def test_the_same_pointer_with_another_size_is_a_conflict(world: ForeignWorld) -> None:
    """A key that a sender chose and used twice: told, where it can be."""
    world.offload()
    world.settle()
    second = world.offload(content=b"something else")
    world.settle()
    assert world.parked() == [(second, ErrorCode.CONFLICT)]


def test_equal_bodies_are_two_messages(world: ForeignWorld) -> None:
    world.send_body("hello")
    world.send_body("hello")
    world.settle()
    assert len(world.table.applied) == 2


def test_a_notification_that_sns_delivers_twice_is_one_work(world: ForeignWorld) -> None:
    for _ in range(2):
        world.send_body(notification("hello"))
    world.settle()
    assert len(world.table.applied) == 1


@pytest.mark.parametrize("attribute", [False, True])
@pytest.mark.parametrize("fifo", [False, True])
def test_an_inline_message_keeps_its_identity_through_every_parking(fifo: bool, attribute: bool) -> None:  # noqa: FBT001 - parameters of the test
    """Parked twice and sent back twice it is the same work: its row, and its effect once."""

    def broken(_: Message, __: Transaction) -> None:
        raise PermanentError("not yet")

    world = ForeignWorld(fifo=fifo)
    first = world.send_body("hello")
    lives = [first]
    for _ in range(2):
        world.settle(lambda: world.consumer(broken))
        (copy,) = world.queue.messages(world.dlq_url)
        reason = reason_of(copy)
        assert reason["originalMessageId"] == lives[-1]
        assert reason.get("firstMessageId", first) == first
        lives += world.redrive(attribute=attribute)
    world.settle()
    assert len(set(lives)) == 3
    assert world.row_of(f"message-{first}").state == "COMPLETED"
    assert len(world.table.applied) == 1


def test_a_full_message_keeps_its_mark_when_it_is_parked(world: ForeignWorld) -> None:
    """Ten attributes leave no room for the reason: what goes is never what makes it a pointer."""
    attributes = {f"A{number}": text("x") for number in range(8)} | {"tenantId": text(TENANT)}
    world.store()
    world.send_body(pointer("in/1"), attributes={LEGACY: size(len(CONTENT)), **attributes})
    calls = iter([PermanentError("not yet")])

    def handler(message: Message, tx: Transaction) -> None:
        for error in calls:
            raise error
        documents(message, tx)

    consumer = world.consumer(handler)
    world.settle(lambda: consumer)
    (copy,) = world.queue.messages(world.dlq_url)
    assert len(copy.message.attributes) == 10
    assert reason_of(copy)["droppedAttributes"] == ["A7"]
    world.redrive()
    world.settle(lambda: consumer)
    assert world.row_of(identity_of("in/1")).state == "COMPLETED"


# --- What ours look like --------------------------------------------------------------------------------------------


def event(payload: Any = b"words of a file", content_type: str = "text/plain", **fields: Any) -> Event:  # noqa: ANN401 - fields of Event
    base = {"tenant_id": TENANT, "event_type": EVENT_TYPE, "message_id": "e-1", "correlation_id": "c-1"}
    return Event(**{**base, **fields}, payload=payload, content_type=content_type)


def sent_by(world: ForeignWorld, wire_format: WireFormat, *events: Event) -> list[Any]:
    for one in events:
        world.producer(wire_format).publish(one)
    return [one.message for one in world.queued()]


@pytest.mark.parametrize(
    "wire_format, attribute, kind",
    [("extended-client", NEW, POINTER_CLASS), ("extended-client-legacy", LEGACY, LEGACY_POINTER_CLASS)],
)
def test_the_pointer_we_write(wire_format: WireFormat, attribute: str, kind: str, world: ForeignWorld) -> None:
    (message,) = sent_by(world, wire_format, event(attributes={"colour": "red"}))
    written, fields = json.loads(message.body)
    assert (written, fields["s3BucketName"]) == (kind, BUCKET)
    assert world.objects.content(BUCKET, fields["s3Key"]) == b"words of a file"
    assert contract.parse_object_key(fields["s3Key"]) is not None, "deterministic, under our prefix"
    assert (fields["sha256"], fields["contentLength"]) == (hashlib.sha256(b"words of a file").hexdigest(), 15)
    assert message.attributes == {
        "eventType": text(EVENT_TYPE),
        "tenantId": text(TENANT),
        "colour": text("red"),
        attribute: size(15),
    }


def test_an_inline_payload_is_the_body_as_it_is(world: ForeignWorld) -> None:
    (message,) = sent_by(world, "extended-client", event(b'{"a": 1}', "application/json"))
    assert message.body == '{"a": 1}'
    assert set(message.attributes) == {"eventType", "tenantId", "claimCheck"}


@pytest.mark.parametrize("content, content_type", [(b'{"a": 1}', "application/json"), (b"words", "text/plain")])
@pytest.mark.parametrize("versioned", [False, True])
def test_our_consumer_reads_them_verified_and_with_their_identity(
    content: bytes,
    content_type: str,
    versioned: bool,  # noqa: FBT001 - a parameter of the test
    world: ForeignWorld,
) -> None:
    world.foreign = replace(FOREIGN, allow_unverified=False, buckets=())
    world.objects.versioned = versioned
    seen: list[Message] = []

    def handler(message: Message, tx: Transaction) -> None:
        documents(message, tx)
        seen.append(message)

    published = world.producer().publish(event(content, content_type, domain_ref={"n": 1}))
    world.producer().publish(event(content, content_type, domain_ref={"n": 1}))
    world.settle(lambda: world.consumer(handler))
    (message,) = seen
    assert message.payload == published.payload
    assert (message.verified, message.message_id, message.correlation_id) == (True, "e-1", "c-1")
    assert (message.content_type, message.domain_ref) == (content_type, {"n": 1})
    assert world.telemetry.counts[Metric.DUPLICATE] == 1
    assert Metric.UNVERIFIED not in world.telemetry.counts


def test_a_forged_size_or_hash_of_ours_is_refused(world: ForeignWorld) -> None:
    (message,) = sent_by(world, "extended-client", event())
    world.queue._queue(world.queue_url).messages.clear()
    wrong_size = world.send_body(message.body, attributes={**message.attributes, NEW: size(16)})
    forged = message.body.replace(
        hashlib.sha256(b"words of a file").hexdigest() + '","contentL', "0" * 64 + '","contentL'
    )
    assert forged != message.body
    wrong_hash = world.send_body(forged, attributes=message.attributes)
    world.settle()
    assert sorted(world.parked()) == sorted(
        [(wrong_size, ErrorCode.INVALID_ENVELOPE), (wrong_hash, ErrorCode.CHECKSUM_MISMATCH)]
    )


def test_a_pointer_of_ours_cannot_cross_tenants(world: ForeignWorld) -> None:
    (message,) = sent_by(world, "extended-client", event())
    world.queue._queue(world.queue_url).messages.clear()
    sent = world.send_body(
        message.body.replace(f'"tenantId":"{TENANT}"', '"tenantId":"t-2"'), attributes=message.attributes
    )
    world.settle()
    assert world.parked() == [(sent, ErrorCode.UNTRUSTED_REFERENCE)]


def test_a_payload_that_looks_like_an_envelope_stays_a_payload(world: ForeignWorld) -> None:
    content = encode(world.envelope(b"{}", inline=True)).encode()
    seen: list[bytes] = []
    world.producer().publish(event(content, "application/json"))
    world.settle(lambda: world.consumer(lambda message, _: seen.append(message.read())))
    assert seen == [content]


@pytest.mark.parametrize("payload", [b"\xff\xfe", b"text cut \xe2\x82", io.BytesIO(b"\x00\x9f" * 200_000)])
def test_what_those_clients_could_not_decode_is_refused_and_nothing_is_written(
    payload: bytes | BinaryIO, world: ForeignWorld
) -> None:
    with pytest.raises(InvalidPayload, match="UTF-8"):
        world.producer().publish(event(payload, "application/octet-stream"))
    assert world.calls() == []


def test_text_across_chunks_is_text(world: ForeignWorld, tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("€" * 300_000, encoding="utf-8")
    world.producer().publish(event(path))
    assert len(world.objects.keys(BUCKET)) == 1


def test_characters_that_sqs_refuses_go_to_s3(world: ForeignWorld) -> None:
    published = world.producer().publish(event('"\uffff"'.encode(), "application/json"))
    assert isinstance(published.payload, Claim)
    plain = world.producer("claim-check").publish(event('"\uffff"'.encode(), "application/json", message_id="e-2"))
    assert isinstance(plain.payload, Inline)


def test_attributes_are_within_ten_parked_and_redriven(world: ForeignWorld) -> None:
    """Two of ours, five of the user's, the mark or the header: with `parked` and `redrive` they are ten."""
    full = {f"mine{number}": "x" for number in range(contract.USER_ATTRIBUTES_MAX)}
    messages = sent_by(
        world,
        "extended-client",
        event(attributes=full),
        event(b"{}", "application/json", message_id="e-2", attributes=full),
    )
    for message in messages:
        assert len({*message.attributes, contract.ATTRIBUTE_PARKED, contract.ATTRIBUTE_REDRIVE}) == 10


def test_mark_and_header_count_in_the_size(world: ForeignWorld) -> None:
    """A payload travels inline exactly as long as the whole message fits, header included."""
    for limit in range(300, 560, 5):
        one = event(b'"' + b"x" * 100 + b'"', "application/json", message_id=f"e-{limit}")
        published = world.producer(inline_limit=limit, reserve_bytes=0).publish(one)
        message = world.queued()[-1].message
        assert isinstance(published.payload, Claim) or sizes.message_bytes(message) <= limit
    kinds = {json.loads(one.message.body).__class__ for one in world.queued()}
    assert kinds == {str, list}


def test_deduplication_is_by_identity_never_by_the_pointer() -> None:
    """amazon-sqs-extended-client 1.0.1: a random key defeats content-based deduplication."""
    world = ForeignWorld(fifo=True)
    for _ in range(2):
        world.producer().publish(event(group_id="g"))
    world.producer().publish(event(group_id="g", message_id="e-2"))
    first, second = (one.message.deduplication_id for one in world.queued())
    assert None not in {first, second}
    assert first != second
    assert len(world.objects.keys(BUCKET)) == 2


def test_the_callers_arguments_are_left_alone(world: ForeignWorld) -> None:
    """timothymugayi/boto3-sqs-extended-client-lib#8: there the second send says that the attribute is reserved."""
    attributes = {"colour": "red"}
    for number in range(2):
        world.producer().publish(event(attributes=attributes, message_id=f"e-{number}"))
    assert attributes == {"colour": "red"}
    assert len(world.queued()) == 2


# --- Settings -------------------------------------------------------------------------------------------------------

CONSUMER_VARIABLES = {
    Setting.CONSUMER: "c",
    Setting.BUCKET: "b",
    Setting.QUEUE_URL: "q",
    Setting.INBOX_TABLE: "t",
    Setting.INBOX_TTL: "1",
    Setting.HANDLER: "a:b",
}


def test_settings_of_a_consumer() -> None:
    assert ConsumerSettings.from_environment(CONSUMER_VARIABLES).foreign is None
    variables = {
        Setting.FOREIGN_TENANT: "t-1",
        Setting.FOREIGN_EVENT_TYPE: "OrderPlaced:2",
        Setting.FOREIGN_BUCKETS: "one, two/in/",
        Setting.ALLOW_UNVERIFIED: "true",
        Setting.FOREIGN_PLAIN_BODIES: "false",
    }
    assert ConsumerSettings.from_environment({**CONSUMER_VARIABLES, **variables}).foreign == ForeignMessages(
        tenant_id="t-1",
        event_type="OrderPlaced",
        event_version=2,
        buckets=("one", "two/in/"),
        allow_unverified=True,
        plain_bodies=False,
    )


@pytest.mark.parametrize(
    "variables",
    [
        {Setting.FOREIGN_TENANT: "t-1"},
        {Setting.FOREIGN_EVENT_TYPE: "OrderPlaced:1"},
        {Setting.FOREIGN_TENANT: "t-1", Setting.FOREIGN_EVENT_TYPE: "OrderPlaced"},
        {Setting.FOREIGN_TENANT: "t-1", Setting.FOREIGN_EVENT_TYPE: "OrderPlaced:1", Setting.ALLOW_UNVERIFIED: "yes"},
    ],
)
def test_half_a_setting_is_refused(variables: dict[str, str]) -> None:
    with pytest.raises(InvalidSetting):
        ConsumerSettings.from_environment({**CONSUMER_VARIABLES, **variables})


def test_settings_of_a_producer() -> None:
    variables = {Setting.BUCKET: "b", Setting.QUEUE_URL: "q", Setting.BEFORE_SEND: "1"}
    assert ProducerSettings.from_environment(variables).wire_format == "claim-check"
    variables[Setting.WIRE_FORMAT] = "extended-client"
    assert ProducerSettings.from_environment(variables).wire_format == "extended-client"
    with pytest.raises(InvalidSetting):
        ProducerSettings.from_environment({**variables, Setting.WIRE_FORMAT: "java"})


def test_binary_attributes_of_a_notification_do_not_disturb() -> None:
    body = notification("hello")
    document = json.loads(body)
    document["MessageAttributes"] = {
        "good": {"Type": "Binary", "Value": base64.b64encode(b"x").decode()},
        "bad": {"Type": "Binary", "Value": "?"},
        "odd": 7,
    }
    assert envelope_of(received(json.dumps(document))).message_id == "sns-message-1"
