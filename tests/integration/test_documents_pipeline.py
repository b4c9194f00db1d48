"""The synthesized template in the embedded AWS: real files, and everything that can be wrong with a message."""

from __future__ import annotations

import base64
import json
import uuid
from dataclasses import dataclass, replace
from typing import Any

import pytest

from claim_check import Claim, Event, Producer
from claim_check.adapters.inbox_items import to_row
from claim_check.aws import producer
from claim_check.contract import ATTRIBUTE_PARKED, ErrorCode, InboxAttribute, inbox_key
from claim_check.invocation import MAX_PAYLOAD_BYTES
from claim_check.ports import InboxRow
from claim_check_examples.documents import UnreadableFile, document_key
from claim_check_ops.local import wait_until
from claim_check_ops.local.deployment import Deployment
from claim_check_ops.local.documents_run import DocumentsRun
from claim_check_ops.telemetry import SilentTelemetry

pytestmark = pytest.mark.integration

TENANT = "tenant-9"


@pytest.fixture(scope="module")
def publisher(documents: Deployment) -> Producer:
    return producer(documents.producer, clients=documents.clients, telemetry=SilentTelemetry())


@dataclass(frozen=True)
class Pointer:
    """A message that was not sent yet."""

    body: str
    message_id: str
    claim: Claim


class Staging:
    """Puts payloads without sending their messages."""

    def __init__(self, documents: Deployment) -> None:
        """Stage for one pipeline."""
        self._documents = documents
        name = f"staging-{uuid.uuid4().hex}"
        self._queue_url = documents.aws.sqs.create_queue(QueueName=name)["QueueUrl"]
        settings = replace(documents.producer, queue_url=self._queue_url)
        self._producer = producer(settings, clients=documents.clients, telemetry=SilentTelemetry())

    def stage(self, content: bytes) -> Pointer:
        """Put a payload; its message can be sent by hand."""
        event = Event(tenant_id=TENANT, event_type="Scan", payload=content, content_type="application/octet-stream")
        published = self._producer.publish(event)
        assert isinstance(published.payload, Claim)
        (message,) = self._documents.aws.sqs.receive_message(QueueUrl=self._queue_url)["Messages"]
        self._documents.aws.sqs.delete_message(QueueUrl=self._queue_url, ReceiptHandle=message["ReceiptHandle"])
        return Pointer(message["Body"], published.message_id, published.payload)

    def overwrite(self, pointer: Pointer, content: bytes) -> None:
        """Put other bytes in the payload's place."""
        claim = pointer.claim
        self._documents.aws.s3.put_object(
            Bucket=claim.bucket, Key=claim.key, Body=content, ContentType=claim.content_type
        )


@pytest.fixture(scope="module")
def staging(documents: Deployment) -> Staging:
    return Staging(documents)


def row_of(documents: Deployment, idempotency_key: str, state: str) -> InboxRow:
    """The inbox row of an identity, once it is in a state."""
    key = inbox_key(consumer=documents.consumer.consumer, tenant_id=TENANT, idempotency_key=idempotency_key)

    def look() -> InboxRow | None:
        answer = documents.aws.dynamodb.get_item(
            TableName=documents.consumer.inbox_table, Key={InboxAttribute.KEY: {"S": key}}, ConsistentRead=True
        )
        row = to_row(answer["Item"]) if "Item" in answer else None
        return row if row is not None and row.state == state else None

    return wait_until(look, what=f"the row to be {state}", timeout=60)


def document(documents: Deployment, message_id: str) -> dict[str, Any] | None:
    key = {"pk": {"S": document_key(TENANT, message_id)}}
    return documents.aws.dynamodb.get_item(TableName=documents.table, Key=key).get("Item")


def parked_copy(documents: Deployment, sqs_message_id: str) -> dict[str, Any]:
    """The copy in the DLQ of a message, left hidden."""

    def look() -> dict[str, Any] | None:
        answer = documents.aws.sqs.receive_message(
            QueueUrl=documents.consumer.dlq_url or "",
            MaxNumberOfMessages=10,
            VisibilityTimeout=1,
            MessageAttributeNames=["All"],
        )
        for message in answer.get("Messages", []):
            parked = message.get("MessageAttributes", {}).get(ATTRIBUTE_PARKED)  # others may lie there without one
            if parked and json.loads(parked["StringValue"])["originalMessageId"] == sqs_message_id:
                return dict(message)
        return None

    return wait_until(look, what="the parked copy", timeout=60)


def invoke(documents: Deployment, request: dict[str, Any]) -> dict[str, Any]:
    answer = documents.aws.lambda_.invoke(
        FunctionName=documents.producer_function, Payload=json.dumps(request).encode()
    )
    body: dict[str, Any] = json.loads(answer["Payload"].read())
    return body


def test_every_message_ends_as_it_must(run: DocumentsRun) -> None:  # R13.2
    assert run.problems == []
    assert {sent.case: seen.problems for sent in run.sent for seen in [run.seen[sent.case]]} == {
        sent.case: () for sent in run.sent
    }
    assert run.succeeded
    names = {sent.case for sent in run.sent}
    assert "direct upload" in names
    assert len(run.sent) == 12 + ("Extended Client" in names)  # sent where Amazon's client is installed


def test_all_lengths_from_nothing_on(documents: Deployment, publisher: Producer) -> None:
    for content in (b"", b"x"):
        published = publisher.publish(
            Event(tenant_id=TENANT, event_type="Note", payload=content, content_type="text/plain")
        )
        row = row_of(documents, published.idempotency_key, "COMPLETED")
        assert row.payload_bytes == len(content)
        item = document(documents, published.message_id)
        assert item is not None
        assert item["size"]["N"] == str(len(content))


def test_what_the_handler_declares_permanent_is_parked_with_its_own_code(
    documents: Deployment, publisher: Producer
) -> None:  # R4.5, R4.6
    event = Event(tenant_id=TENANT, event_type="Export", payload=b"a,b\n\xff\xfe,1\n", content_type="text/csv")
    published = publisher.publish(event)
    row = row_of(documents, published.idempotency_key, "PARKED")
    assert (row.last_code, row.attempts_spent) == (UnreadableFile.code, 1)
    assert document(documents, published.message_id) is None


def test_a_parked_copy_is_redriven_and_takes_effect_once(documents: Deployment, staging: Staging) -> None:  # R9.2
    pointer = staging.stage(b"the right bytes")
    staging.overwrite(pointer, b"the wrong bytes")
    sent = documents.aws.sqs.send_message(QueueUrl=documents.consumer.queue_url, MessageBody=pointer.body)
    copy = parked_copy(documents, sent["MessageId"])
    reason = json.loads(copy["MessageAttributes"][ATTRIBUTE_PARKED]["StringValue"])
    assert reason["errorCode"] == ErrorCode.CHECKSUM_MISMATCH
    assert copy["Body"] == pointer.body
    assert document(documents, pointer.message_id) is None

    staging.overwrite(pointer, b"the right bytes")
    for _ in range(2):  # a redrive that crashed before its delete sends twice
        documents.aws.sqs.send_message(QueueUrl=documents.consumer.queue_url, MessageBody=copy["Body"])
    row = row_of(documents, pointer.message_id, "COMPLETED")
    assert row.attempts == 1  # a new life counts from the start
    assert document(documents, pointer.message_id) is not None


def test_a_message_that_nobody_can_read_is_parked_as_it_came(documents: Deployment) -> None:  # R4.5
    attributes = {f"a{number}": {"DataType": "String", "StringValue": "x"} for number in range(10)}
    body = "\u00e9\U0001f600 {not json"
    sent = documents.aws.sqs.send_message(
        QueueUrl=documents.consumer.queue_url,
        MessageBody=body,
        MessageAttributes=attributes,  # type: ignore[arg-type]
    )
    copy = parked_copy(documents, sent["MessageId"])
    reason = json.loads(copy["MessageAttributes"].pop(ATTRIBUTE_PARKED)["StringValue"])
    assert copy["Body"] == body
    assert reason["errorCode"] == ErrorCode.INVALID_ENVELOPE
    assert reason["droppedAttributes"] == ["a9"]
    assert sorted(copy["MessageAttributes"]) == [f"a{number}" for number in range(9)]


@pytest.mark.parametrize(
    "change,words",
    [
        ({"tenantId": "no/slash"}, ("tenant_id", "no/slash")),
        (
            {"payloadBase64": base64.b64encode(bytes(MAX_PAYLOAD_BYTES + 1)).decode()},
            ("claim_check.Producer", str(MAX_PAYLOAD_BYTES)),
        ),
    ],
    ids=["tenant outside the alphabet", "payload above what Lambda takes"],
)
def test_the_producer_function_says_what_is_wrong(
    documents: Deployment, change: dict[str, str], words: tuple[str, ...]
) -> None:
    answer = invoke(documents, {"tenantId": TENANT, "eventType": "Note", "payloadBase64": "eA=="} | change)
    assert all(word in answer["errorMessage"] for word in words)


def test_nothing_that_is_secret_is_logged(documents: Deployment, publisher: Producer) -> None:  # R11.4
    canary = f"canary-{uuid.uuid4().hex}"
    request = {"tenantId": TENANT, "eventType": "Note", "payloadText": canary, "idempotencyKey": f"{canary}-key"}
    answer = invoke(documents, request)
    row = row_of(documents, answer["idempotencyKey"], "COMPLETED")
    bad = Event(tenant_id=TENANT, event_type="Note", payload=f"{canary}\xff".encode("latin-1"), content_type="text/csv")
    parked = row_of(documents, publisher.publish(bad).idempotency_key, "PARKED")

    secrets = [canary]
    for one in (row, parked):
        assert one.payload_bucket is not None
        assert one.payload_key is not None
        stored = documents.aws.s3.get_object(Bucket=one.payload_bucket, Key=one.payload_key)["Body"].read()
        assert canary.encode() in stored  # the canary is where it must be …
        secrets.append(one.payload_key)

    def logged() -> list[str]:
        lines = documents.aws.lambda_logs(documents.consumer_function)
        return lines if any(UnreadableFile.code in line and '"level"' in line for line in lines) else []

    lines = wait_until(logged, what="the consumer's error line")
    lines += documents.aws.lambda_logs(documents.producer_function)
    assert [line for line in lines for secret in secrets if secret in line] == []  # … and nowhere else
    (error_line,) = [json.loads(line) for line in lines if f'"{parked.message_id}"' in line and '"level"' in line]
    fields = {"queue", "messageId", "tenantId", "payloadBucket", "payloadKeyHash", "payloadSizeBytes", "errorCode"}
    assert fields <= error_line.keys()
