"""A trace and a correlation go from the producer through SQS to the consumer's log (R12.2).

The embedded AWS drops the system attributes of a SendMessageBatch, so the message that the producer sent is looked at
on its way, and sent on by a SendMessage, which keeps them. The way into the DLQ and back: tests/unit/test_traces.py.
"""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from claim_check import Event
from claim_check.adapters.session import Clients
from claim_check.aws import producer
from claim_check_examples.documents import UnreadableFile
from claim_check_ops.local import wait_until
from claim_check_ops.local.deployment import Deployment
from claim_check_ops.telemetry import SilentTelemetry

pytestmark = pytest.mark.integration


def error_line(documents: Deployment, message_id: str) -> dict[str, Any] | None:
    """What the consumer logged of an event's failure."""
    lines = documents.aws.lambda_logs(documents.consumer_function)
    found = [json.loads(line) for line in lines if f'"{message_id}"' in line and '"errorCode"' in line]
    return found[0] if found else None


def sent_entry(documents: Deployment, event: Event, trace_header: str) -> dict[str, Any]:
    """The entry of SendMessageBatch by which a producer sends an event; the call itself is not made."""
    clients, entries = Clients(documents.aws.session), list[dict[str, Any]]()

    def take(params: dict[str, Any], **_: Any) -> tuple[Any, dict[str, Any]]:  # noqa: ANN401 - botocore's hook
        call = json.loads(params["body"])
        entries.extend(call["Entries"])
        answer = {
            "Successful": [{"Id": one["Id"], "MessageId": "m", "MD5OfMessageBody": ""} for one in call["Entries"]]
        }
        return type("Answer", (), {"status_code": 200})(), {**answer, "Failed": []}

    clients.sqs.meta.events.register("before-call.sqs.SendMessageBatch", take)  # type: ignore[arg-type]  # an answer ends the call
    publisher = producer(documents.producer, clients=clients, telemetry=SilentTelemetry())
    publisher.publish(event, trace_header=trace_header)
    (entry,) = entries
    return entry


def test_trace_and_correlation_reach_the_consumers_log(documents: Deployment) -> None:
    trace_id = f"1-{uuid.uuid4().hex[:8]}-{uuid.uuid4().hex[:24]}"
    header = f"Root={trace_id};Parent=53995c3f42cd8ad8;Sampled=1"
    message_id, correlation_id = f"traced-{uuid.uuid4().hex}", f"correlated-{uuid.uuid4().hex}"
    unreadable = Event(
        tenant_id="tenant-9",
        event_type="Export",
        payload=b"a,b\n\xff\xfe,1\n",
        content_type="text/csv",
        message_id=message_id,
        correlation_id=correlation_id,
    )
    entry = sent_entry(documents, unreadable, header)
    assert entry["MessageSystemAttributes"] == {"AWSTraceHeader": {"DataType": "String", "StringValue": header}}

    entry.pop("Id")
    documents.aws.sqs.send_message(QueueUrl=documents.consumer.queue_url, **entry)
    line = wait_until(lambda: error_line(documents, message_id), what="the consumer's line", timeout=120)
    assert (line["traceId"], line["correlationId"]) == (trace_id, correlation_id)
    assert line["errorCode"] == UnreadableFile.code
