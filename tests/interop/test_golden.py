"""Messages as Java, Python and other clients write them, kept as files; and ours, held to the letter."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from claim_check import contract
from claim_check.contract import Metric, WireFormat
from claim_check.delivery import from_lambda
from claim_check.event import Event
from claim_check.extended_client import read
from tests.foreign_world import FOREIGN, FOREIGN_BUCKET, ForeignWorld, identity_of
from tests.harness import EVENT_TYPE, TENANT

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.json"))
CONTENT = b"what the old client put into S3"


def record(path: Path) -> Any:  # noqa: ANN401 - a record of Lambda's event
    return json.loads(path.read_text(encoding="utf-8"))["record"]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_message_is_hydrated(path: Path) -> None:
    """R1.4: whoever wrote it, the handler gets the payload."""
    world = ForeignWorld()
    key = "in/orders/" if "prefix" in path.stem else "in/"
    key += "0b6c7f0e-6a1f-4d0e-9a3e-2f1c5d8e7a90"
    world.store(key, CONTENT)
    seen: list[bytes] = []
    consumer = world.consumer(lambda message, _: seen.append(message.read()))
    answer = consumer.handle_lambda({"Records": [record(path)]}, remaining_seconds=60.0)
    assert answer == {"batchItemFailures": []}
    assert seen == [CONTENT]
    assert world.row_of(identity_of(key)).state == "COMPLETED"
    bare = path.stem == "bare-object"
    assert world.telemetry.counts[Metric.FOREIGN_OBJECT if bare else Metric.FOREIGN_POINTER] == 1


def test_the_golden_messages_cover_every_name_with_every_class() -> None:
    pairs = set()
    for path in GOLDEN:
        delivery = from_lambda(record(path))
        assert delivery is not None
        body = json.loads(delivery.body)
        if isinstance(body, list):
            pairs |= {(name, body[0]) for name in delivery.attributes if name in contract.FOREIGN_ATTRIBUTES}
    assert len(pairs) == 4


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_message_tells_its_size_and_bucket(path: Path) -> None:
    delivery = from_lambda(record(path))
    assert delivery is not None
    payload: Any = read(delivery, FOREIGN).envelope.payload
    assert (payload.bucket, payload.content_length) == (FOREIGN_BUCKET, len(CONTENT))


# --- Ours -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wire_format, attribute, kind",
    [
        ("extended-client", "ExtendedPayloadSize", "software.amazon.payloadoffloading.PayloadS3Pointer"),
        ("extended-client-legacy", "SQSLargePayloadSize", "com.amazon.sqs.javamessaging.MessageS3Pointer"),
    ],
)
def test_what_we_write_to_the_letter(wire_format: WireFormat, attribute: str, kind: str) -> None:
    """awslabs/amazon-sqs-python-extended-client-lib#20: which names are written is told, and held."""
    world = ForeignWorld()
    event = Event(
        tenant_id=TENANT, event_type=EVENT_TYPE, message_id="e-1", payload=b"words", content_type="text/plain"
    )
    world.producer(wire_format).publish(event)
    (one,) = world.queued()
    sha256 = hashlib.sha256(b"words").hexdigest()
    key = contract.object_key(tenant_id=TENANT, event_type=EVENT_TYPE, idempotency_key="e-1", sha256=sha256)
    assert one.message.body == (
        f'["{kind}",{{"s3BucketName":"payloads-bucket","s3Key":"{key}","sha256":"{sha256}","contentLength":5,'
        '"contentType":"text/plain","claimCheck":{"v":1,"messageId":"e-1","eventType":"DocumentUploaded",'
        '"eventVersion":1,"publishedAt":"2026-07-06T10:15:30Z","tenantId":"t-1","idempotencyKey":"e-1"}}]'
    )
    mark = one.message.attributes[attribute]
    assert (mark.data_type, mark.value) == ("Number", "5")
