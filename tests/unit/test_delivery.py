"""What is read of a received message, whatever shape it came in; what cannot be read is left out (R1.4)."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from claim_check.delivery import Delivery, from_api, from_lambda
from claim_check.ports import MessageAttribute

RECORD: dict[str, Any] = {
    "messageId": "m-1",
    "receiptHandle": "handle",
    "body": "a body",
    "attributes": {
        "SentTimestamp": "1783332930250",
        "ApproximateReceiveCount": "3",
        "MessageGroupId": "g-1",
        "AWSTraceHeader": "Root=1",
        "SequenceNumber": "18849496460467696128",
    },
    "messageAttributes": {
        "text": {"dataType": "String", "stringValue": "ü"},
        "number": {"dataType": "Number.int", "stringValue": "7"},
        "bytes": {"dataType": "Binary.gif", "binaryValue": base64.b64encode(b"\0\1").decode()},
    },
    "eventSource": "aws:sqs",
    "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:documents",
}


def read(**changes: Any) -> Delivery:  # noqa: ANN401 - fields of a record
    """The record with changes; it is one of SQS's."""
    delivery = from_lambda({**RECORD, **changes})
    assert delivery is not None
    return delivery


def system(**changes: Any) -> Delivery:  # noqa: ANN401 - system attributes
    """The record with changed system attributes."""
    return read(attributes={**RECORD["attributes"], **changes})


def with_attributes(**attributes: Any) -> dict[str, MessageAttribute]:  # noqa: ANN401 - message attributes
    """What is read of message attributes."""
    return dict(read(messageAttributes=attributes).attributes)


def test_everything_of_a_record_is_read() -> None:
    assert read() == Delivery(
        sqs_message_id="m-1",
        receipt_handle="handle",
        body="a body",
        attributes={
            "text": MessageAttribute(data_type="String", value="ü"),
            "number": MessageAttribute(data_type="Number.int", value="7"),
            "bytes": MessageAttribute(data_type="Binary.gif", value=b"\0\1"),
        },
        queue="documents",
        sent_at=1_783_332_930.25,
        receive_count=3,
        group_id="g-1",
        trace_header="Root=1",
    )


@pytest.mark.parametrize(
    "record",
    [
        None,
        "text",
        [],
        {},
        {**RECORD, "eventSource": "aws:sns"},
        {name: value for name, value in RECORD.items() if name != "eventSource"},
        *({**RECORD, name: value} for name in ("messageId", "receiptHandle") for value in (None, "", 7)),
        *({**RECORD, "body": value} for value in (None, 7)),
    ],
    ids=[
        *("nothing", "text", "list", "empty", "of SNS", "of nobody"),
        *(f"{name} {value}" for name in ("id", "handle") for value in ("missing", "empty", "number")),
        *("body missing", "body number"),
    ],
)
def test_what_is_no_message_of_sqs_is_told_by_none(record: object) -> None:
    assert from_lambda(record) is None


def test_an_empty_body_is_a_body() -> None:
    assert read(body="").body == ""


@pytest.mark.parametrize("attributes", [None, "text", [], {}], ids=["none", "text", "list", "empty"])
def test_without_system_attributes_a_message_is_new_and_of_no_group(attributes: object) -> None:
    found = read(attributes=attributes)
    assert (found.sent_at, found.receive_count, found.group_id, found.trace_header) == (0, 1, None, None)


@pytest.mark.parametrize("arn", [None, 7, ""], ids=["none", "number", "empty"])
def test_without_an_arn_the_queue_has_no_name(arn: object) -> None:
    assert read(eventSourceARN=arn).queue == ""


@pytest.mark.parametrize(
    "value,count",
    [("0", 1), ("1", 1), ("2", 2), ("-2", 1), ("2.5", 1), ("²", 1), ("٣", 1), ("", 1), (2, 1), (None, 1)],
    ids=["0", "1", "2", "negative", "fraction", "superscript", "Arabic", "empty", "a number", "none"],
)
def test_a_receive_count_is_at_least_one(value: object, count: int) -> None:
    assert system(ApproximateReceiveCount=value).receive_count == count


@pytest.mark.parametrize("digits,read_as", [(19, 9_999_999_999_999_999_999), (20, 0)], ids=["19 digits", "20 digits"])
def test_a_number_beyond_64_bits_is_none(digits: int, read_as: int) -> None:
    assert system(SentTimestamp="9" * digits).sent_at == read_as / 1000


@pytest.mark.parametrize("value", ["", None, 7], ids=["empty", "none", "number"])
def test_a_group_or_trace_that_is_no_text_is_none(value: object) -> None:
    found = system(MessageGroupId=value, AWSTraceHeader=value)
    assert (found.group_id, found.trace_header) == (None, None)


# --- Message attributes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("raw", [None, "text", []], ids=["none", "text", "list"])
def test_attributes_that_are_no_object_are_none(raw: object) -> None:
    assert read(messageAttributes=raw).attributes == {}


@pytest.mark.parametrize(
    "raw",
    [
        None,
        "text",
        {"stringValue": "x"},
        {"dataType": 7, "stringValue": "x"},
        {"dataType": "String"},
        {"dataType": "String", "stringValue": ""},
        {"dataType": "String", "stringValue": 7},
        {"dataType": "Binary", "stringValue": "eA=="},
        {"dataType": "Binary", "binaryValue": 7},
        {"dataType": "Binary", "binaryValue": "no Base64!"},
        {"dataType": "Binary", "binaryValue": "eA="},
    ],
    ids=[
        *("none", "text", "no type", "type of another kind", "no value", "empty", "number"),
        *("binary as text", "binary as number", "no Base64", "padding cut off"),
    ],
)
def test_an_attribute_that_cannot_be_read_is_left_out_and_the_others_stay(raw: object) -> None:
    other = {"dataType": "String", "stringValue": "x"}
    assert with_attributes(bad=raw, good=other) == {"good": MessageAttribute(data_type="String", value="x")}


def test_a_name_that_is_no_text_is_left_out() -> None:
    assert read(messageAttributes={7: {"dataType": "String", "stringValue": "x"}}).attributes == {}


# --- As ReceiveMessage answers --------------------------------------------------------------------------------------


def test_everything_of_an_answer_is_read() -> None:
    message = {
        "MessageId": "m-1",
        "ReceiptHandle": "handle",
        "Body": "a body",
        "Attributes": {**RECORD["attributes"], "DeadLetterQueueSourceArn": "arn:aws:sqs:us-east-1:0:documents"},
        "MessageAttributes": {
            "text": {"DataType": "String", "StringValue": "ü"},
            "bytes": {"DataType": "Binary.gif", "BinaryValue": b"\0\1"},
        },
    }
    assert from_api(message, queue="documents-dlq") == Delivery(
        sqs_message_id="m-1",
        receipt_handle="handle",
        body="a body",
        attributes={
            "text": MessageAttribute(data_type="String", value="ü"),
            "bytes": MessageAttribute(data_type="Binary.gif", value=b"\0\1"),
        },
        queue="documents-dlq",
        sent_at=1_783_332_930.25,
        receive_count=3,
        group_id="g-1",
        trace_header="Root=1",
        dead_letter_source="arn:aws:sqs:us-east-1:0:documents",
        sequence_number="18849496460467696128",
    )


def test_the_least_of_an_answer_is_read() -> None:
    least = from_api({"MessageId": "m-1", "ReceiptHandle": "handle"}, queue="q")
    assert least == Delivery(sqs_message_id="m-1", receipt_handle="handle", body="", queue="q")
    assert (least.sent_at, least.receive_count, least.sequence_number, least.dead_letter_source) == (0, 1, None, None)


# --- What attributes of ours say ------------------------------------------------------------------------------------


def noting(**attributes: str | bytes) -> Delivery:
    """A message with attributes."""
    made = {name: MessageAttribute(data_type="String", value=value) for name, value in attributes.items()}
    return Delivery(sqs_message_id="m-3", receipt_handle="r", body="", attributes=made)


@pytest.mark.parametrize(
    "value,number",
    [
        ('{"round":1}', 1),
        ('{"round":2}', 2),
        ('{"round":999999}', 999_999),
        ('{"round":1000000}', 1),
        ('{"round":0}', 1),
        ('{"round":-1}', 1),
        ('{"round":true}', 1),
        ('{"round":"2"}', 1),
        ('{"round":2.0}', 1),
        ("{}", 1),
        ("[]", 1),
        ("no JSON", 1),
        ("[" * 100_000, 1),
        (b"\xff", 1),
    ],
    ids=[
        *("first", "second", "most", "too many", "zero", "negative", "truth", "text", "fraction", "no round"),
        *("no object", "no JSON", "too deep", "bytes"),
    ],
)
def test_a_redriven_message_was_sent_back_at_least_once(value: str | bytes, number: int) -> None:
    found = noting(redrive=value)
    assert (found.redrive_round, found.redriven, found.sent_back) == (number, True, True)


def test_a_message_that_was_parked_and_moved_back_as_it_is_was_sent_back() -> None:
    moved, new = noting(parked='{"errorCode":"Stale"}'), noting(other='{"round":2}')
    assert (moved.redrive_round, moved.redriven, moved.sent_back) == (0, False, True)
    assert (new.redrive_round, new.redriven, new.sent_back) == (0, False, False)


@pytest.mark.parametrize(
    "attributes,first",
    [
        ({}, "m-3"),
        ({"parked": '{"originalMessageId":"m-2"}'}, "m-2"),
        ({"parked": '{"originalMessageId":"m-2","firstMessageId":"m-1"}'}, "m-1"),
        ({"redrive": '{"originalMessageId":"m-2"}'}, "m-2"),
        ({"parked": '{"originalMessageId":"m-2"}', "redrive": '{"originalMessageId":"m-1"}'}, "m-2"),
        ({"parked": "{}", "redrive": '{"firstMessageId":"m-1"}'}, "m-1"),
        ({"parked": '{"originalMessageId":7}'}, "m-3"),
        ({"parked": '{"firstMessageId":"","originalMessageId":"m-2"}'}, "m-2"),
    ],
    ids=["first life", "parked", "parked twice", "sent back", "both", "parked by others", "no text", "empty"],
)
def test_the_first_life_of_a_message_is_known(attributes: dict[str, str], first: str) -> None:
    assert noting(**attributes).first_message_id == first


def test_attributes_that_are_not_ours_note_nothing() -> None:
    assert noting().noted("parked") == {}
    assert noting(parked='{"a":1}').noted("parked") == {"a": 1}
