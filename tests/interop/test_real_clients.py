"""Amazon's own Python clients as peers, both ways, through the embedded AWS."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import boto3
import pytest

from claim_check import Claim, Event, Inline
from claim_check.contract import ErrorCode, Metric, Setting, WireFormat
from tests.interop.kit import EVENT_TYPE, LARGE, SMALL, TENANT, Pipeline

pytestmark = pytest.mark.integration

PUBLISH = Path(__file__).parents[2] / "docs" / "examples" / "extended_client" / "publish.py"


def read_by_them(pipeline: Pipeline, **options: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - of `receive_message`
    """What their SQS client receives."""
    asked = {"MaxNumberOfMessages": 10, "WaitTimeSeconds": 2, "MessageAttributeNames": ["All"], **options}
    messages: list[dict[str, Any]] = pipeline.sqs().receive_message(QueueUrl=pipeline.queue_url, **asked)["Messages"]
    return messages


def event(payload: bytes, content_type: str = "text/plain", **fields: Any) -> Event:  # noqa: ANN401 - fields of Event
    return Event(tenant_id=TENANT, event_type=EVENT_TYPE, payload=payload, content_type=content_type, **fields)


# --- Theirs to ours -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("content, always", [(LARGE, False), (SMALL, True)])
@pytest.mark.parametrize("shaped", ["api", "lambda"])
def test_an_offloaded_message_of_the_sqs_client(
    content: str,
    always: bool,  # noqa: FBT001 - parameters of the test
    legacy: bool,  # noqa: FBT001
    shaped: str,
    pipeline: Pipeline,
) -> None:
    peer = pipeline.sqs(always=always, legacy=legacy)
    peer.send_message(QueueUrl=pipeline.queue_url, MessageBody=content)
    assert pipeline.deliver(shaped=shaped) == []
    (seen,) = pipeline.seen
    assert (seen.content, seen.verified) == (content, False)
    assert (seen.tenant_id, seen.event_type) == (TENANT, EVENT_TYPE)
    assert pipeline.telemetry.counts[Metric.FOREIGN_POINTER] == 1
    assert pipeline.telemetry.counts[Metric.UNVERIFIED] == 1
    assert len(pipeline.keys(pipeline.theirs)) == 1, "the payload is never deleted by a consumer"


@pytest.mark.parametrize("shaped", ["api", "lambda"])
def test_an_inline_message_of_the_sqs_client(shaped: str, pipeline: Pipeline) -> None:
    sent = pipeline.sqs().send_message(QueueUrl=pipeline.queue_url, MessageBody=SMALL)
    assert pipeline.deliver(shaped=shaped) == []
    (seen,) = pipeline.seen
    assert (seen.content, seen.verified, seen.message_id) == (SMALL, False, sent["MessageId"])


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("content", [LARGE, SMALL])
def test_a_message_of_the_sns_client(content: str, legacy: bool, raw: bool, pipeline: Pipeline) -> None:  # noqa: FBT001 - parameters of the test
    """awslabs/amazon-sqs-java-extended-client-lib#175: with and without raw delivery it is the same payload."""
    topic = pipeline.topic(raw=raw)
    pipeline.sns(legacy=legacy).publish(TopicArn=topic, Message=content)
    assert pipeline.deliver() == []
    (seen,) = pipeline.seen
    assert (seen.content, seen.verified) == (content, False)


def test_names_of_tenant_and_type_come_with_their_messages(pipeline: Pipeline) -> None:
    attributes = {
        "tenantId": {"DataType": "String", "StringValue": "t-9"},
        "eventType": {"DataType": "String", "StringValue": "OrderCancelled"},
    }
    pipeline.sqs().send_message(QueueUrl=pipeline.queue_url, MessageBody=LARGE, MessageAttributes=attributes)
    pipeline.deliver()
    (seen,) = pipeline.seen
    assert (seen.tenant_id, seen.event_type) == ("t-9", "OrderCancelled")


def test_both_names_in_one_queue_at_the_same_time(pipeline: Pipeline) -> None:
    """co-go/sqs-extended-client-go#3: a queue holds messages of an old and of a new client."""
    for legacy in (False, True):
        pipeline.sqs(always=True, legacy=legacy).send_message(QueueUrl=pipeline.queue_url, MessageBody=f"{legacy}")
    pipeline.producer().publish(event(b"ours"))
    pipeline.producer("claim-check").publish(event(b"ours, too"))
    while len(pipeline.seen) < 4:
        assert pipeline.deliver() == []
    assert {(one.content, one.verified) for one in pipeline.seen} == {
        ("False", False),
        ("True", False),
        ("ours", True),
        ("ours, too", True),
    }


# --- Ours to theirs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire_format", ["extended-client", "extended-client-legacy"])
def test_their_client_reads_our_claim(wire_format: WireFormat, pipeline: Pipeline) -> None:
    published = pipeline.producer(wire_format).publish(event(LARGE.encode(), attributes={"colour": "red"}))
    assert isinstance(published.payload, Claim)
    (message,) = read_by_them(pipeline)
    assert message["Body"] == LARGE
    names = {name: one["StringValue"] for name, one in message["MessageAttributes"].items()}
    assert names == {"tenantId": TENANT, "eventType": EVENT_TYPE, "colour": "red"}


def test_their_client_reads_our_claim_without_asking_for_attributes(pipeline: Pipeline) -> None:
    pipeline.producer().publish(event(LARGE.encode()))
    messages = pipeline.sqs().receive_message(QueueUrl=pipeline.queue_url, WaitTimeSeconds=2)["Messages"]
    assert [message["Body"] for message in messages] == [LARGE]


def test_their_client_reads_our_inline_message(pipeline: Pipeline) -> None:
    published = pipeline.producer().publish(event(b'{"order": 1}', "application/json"))
    assert isinstance(published.payload, Inline)
    (message,) = read_by_them(pipeline)
    assert json.loads(message["Body"]) == {"order": 1}


def test_their_client_can_delete_what_it_read_of_us(pipeline: Pipeline) -> None:
    pipeline.producer().publish(event(LARGE.encode()))
    (message,) = read_by_them(pipeline)
    assert "-..s3BucketName..-" in message["ReceiptHandle"]
    # Their client keeps what follows the last '-' of a handle; so the plain one is given, as their issue 28 advises.
    handle = message["ReceiptHandle"].rpartition("-..s3Key..-")[2]
    pipeline.aws.sqs.delete_message(QueueUrl=pipeline.queue_url, ReceiptHandle=handle)
    assert len(pipeline.keys(pipeline.own)) == 1


def test_our_consumer_reads_both_of_ours_back(pipeline: Pipeline) -> None:
    """Verified, under their own identity, with nothing unverified allowed."""
    consumer = pipeline.consumer(allow_unverified=False)
    for message_id, content in (("e-1", LARGE.encode()), ("e-2", b'"small"')):
        for _ in range(2):
            pipeline.producer().publish(event(content, "application/json", message_id=message_id))
    for _ in range(4):
        assert pipeline.deliver(consumer, wait=0) == []
    assert sorted((one.message_id, one.verified) for one in pipeline.seen) == [("e-1", True), ("e-2", True)]
    assert len(pipeline.keys(pipeline.own)) == 1


def test_what_their_client_cannot_decode_is_never_sent(pipeline: Pipeline) -> None:
    with pytest.raises(ValueError, match="UTF-8"):
        pipeline.producer().publish(event(b"\xff", "application/pdf"))
    assert pipeline.keys(pipeline.own) == []


# --- Parking and sending back ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [LARGE, SMALL])
def test_a_refused_message_is_parked_as_it_was_and_can_be_sent_back(content: str, pipeline: Pipeline) -> None:
    sent = pipeline.sqs().send_message(QueueUrl=pipeline.queue_url, MessageBody=content)
    assert pipeline.deliver(pipeline.consumer(allow_unverified=False)) == []
    assert pipeline.reasons() == [ErrorCode.UNVERIFIED_PAYLOAD]
    (copy,) = pipeline.parked()
    pipeline.aws.sqs.send_message(
        QueueUrl=pipeline.queue_url, MessageBody=copy["Body"], MessageAttributes=copy["MessageAttributes"]
    )
    assert pipeline.deliver() == []
    (seen,) = pipeline.seen
    assert seen.content == content
    if content == SMALL:
        assert seen.message_id == sent["MessageId"], "the identity of its first life"


# --- The example of the docs ----------------------------------------------------------------------------------------


def test_what_the_docs_example_publishes_is_read_by_their_client(pipeline: Pipeline, tmp_path: Path) -> None:
    """docs/how-to/interoperate-with-the-extended-client.md."""
    file = tmp_path / "order-41.txt"
    file.write_text(LARGE, encoding="utf-8")
    settings = {
        Setting.BUCKET: pipeline.own,
        Setting.QUEUE_URL: pipeline.queue_url,
        Setting.BEFORE_SEND: "3600",
    }
    done = subprocess.run(  # noqa: S603 - our own example
        [sys.executable, str(PUBLISH), str(file), TENANT],
        env={**pipeline.aws.process_environment(), **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"order-41: {len(LARGE.encode())} bytes" in done.stdout
    (message,) = read_by_them(pipeline)
    assert message["Body"] == LARGE


# --- The process ----------------------------------------------------------------------------------------------------


def test_boto3_is_as_it_was_though_their_client_is_here(pipeline: Pipeline) -> None:
    """awslabs/amazon-sqs-python-extended-client-lib#27: importing it replaces boto3's session for everybody."""
    pipeline.sqs()
    pipeline.sns()
    assert boto3.Session is boto3.session.Session
    assert boto3.Session.__module__ == "boto3.session"
    assert not hasattr(boto3.Session().client("sqs", region_name="us-east-1"), "large_payload_support")
