"""The producer on real adapters: requests counted, the function's entry point, a queue read back."""

from __future__ import annotations

import base64
import json
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import boto3
import pytest

from claim_check import Claim, Event, Inline, PayloadConflict, Published, envelope
from claim_check.adapters.session import Clients
from claim_check.aws import producer
from claim_check.contract import Setting
from claim_check.handlers import producer as function
from claim_check.producer import Producer
from claim_check.settings import ProducerSettings
from claim_check.verified_stream import VerifiedStream
from claim_check_ops.local import EmbeddedAws
from tests.fakes.telemetry import FakeTelemetry

pytestmark = pytest.mark.integration


@dataclass
class World:
    """A bucket, a queue, a producer, and every request it makes."""

    aws: EmbeddedAws
    bucket: str
    queue_url: str
    producer: Producer
    requests: Counter[str]

    def received(self) -> list[envelope.Envelope]:
        """Messages in the queue, decoded."""
        found: list[envelope.Envelope] = []
        while messages := self.aws.sqs.receive_message(QueueUrl=self.queue_url, MaxNumberOfMessages=10).get("Messages"):
            found += [envelope.decode(message["Body"]) for message in messages]
        return found


@pytest.fixture
def world(embedded_aws: EmbeddedAws, monkeypatch: pytest.MonkeyPatch) -> World:
    """Made anew for each test."""
    for name, value in embedded_aws.environment().items():
        monkeypatch.setenv(name, value)
    bucket = f"publishing-{uuid.uuid4()}"
    embedded_aws.s3.create_bucket(Bucket=bucket)
    queue_url = embedded_aws.sqs.create_queue(QueueName=bucket)["QueueUrl"]
    clients, requests = Clients(boto3.Session()), Counter[str]()
    for client in (clients.s3, clients.sqs):
        client.meta.events.register("before-send", lambda request, **_: _count(requests, request))
    settings = ProducerSettings(bucket=bucket, queue_url=queue_url, before_send_seconds=3600)
    made = producer(settings, clients=clients, telemetry=FakeTelemetry())
    return World(embedded_aws, bucket, queue_url, made, requests)


def _count(requests: Counter[str], request: Any) -> None:  # noqa: ANN401 - botocore's request
    target = request.headers.get("X-Amz-Target")
    requests[target.decode().rpartition(".")[2] if target else request.method] += 1


def pdf(payload: bytes | Path = b"%PDF-1.7", **fields: Any) -> Event:  # noqa: ANN401 - an event's own fields
    return Event(
        tenant_id="t-1", event_type="DocumentUploaded", payload=payload, content_type="application/pdf", **fields
    )


def test_a_claim_is_one_put_and_one_send(world: World) -> None:
    result = world.producer.publish(pdf())
    assert world.requests == {"PUT": 1, "SendMessageBatch": 1}
    (found,) = world.received()
    assert found.payload == result.payload
    assert isinstance(found.payload, Claim)
    head = world.aws.s3.head_object(Bucket=world.bucket, Key=found.payload.key)
    assert head["ContentType"] == "application/pdf"
    assert head["Metadata"] == {
        "tenant-id": "t-1",
        "event-id": result.message_id,
        "sha256": result.sha256,
    }


def test_an_inline_message_is_one_send_and_ten_share_it(world: World) -> None:
    results = world.producer.publish_batch(Event.json({"n": n}, tenant_id="t-1", event_type="Noted") for n in range(10))
    assert world.requests == {"SendMessageBatch": 1}
    assert all(isinstance(result, Published) and isinstance(result.payload, Inline) for result in results)
    assert len(world.received()) == 10


def test_a_large_file_from_its_path_reads_back_verified(world: World, tmp_path: Path) -> None:
    path = tmp_path / "large.bin"
    path.write_bytes(bytes(range(256)) * 32 * 1024)
    result = world.producer.publish(pdf(path))
    assert isinstance(result.payload, Claim)
    body = world.aws.s3.get_object(Bucket=world.bucket, Key=result.payload.key)["Body"]
    stream = VerifiedStream(cast("Any", body), content_length=path.stat().st_size, sha256=result.sha256)
    stream.finish()
    assert stream.verified


def test_the_same_event_again_is_found_and_not_written(world: World) -> None:
    made = pdf(message_id="m-1")
    first, second = world.producer.publish(made), world.producer.publish(made)
    assert first.payload == second.payload
    assert world.requests == {"PUT": 2, "HEAD": 1, "SendMessageBatch": 2}


def test_other_content_under_the_events_key_is_told(world: World) -> None:
    made = pdf(message_id="m-1")
    claim = world.producer.publish(made).payload
    assert isinstance(claim, Claim)
    world.aws.s3.put_object(Bucket=world.bucket, Key=claim.key, Body=b"tampered")
    with pytest.raises(PayloadConflict):
        world.producer.publish(made)


@dataclass
class Context:
    """What Lambda tells a function."""

    aws_request_id: str = "request-1"


@pytest.fixture
def configured(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """The function's environment."""
    monkeypatch.setenv(Setting.BUCKET, world.bucket)
    monkeypatch.setenv(Setting.QUEUE_URL, world.queue_url)
    monkeypatch.setenv(Setting.BEFORE_SEND, "3600")
    monkeypatch.setattr("claim_check.aws.shared", lambda: Clients(boto3.Session()))
    function._parts.cache_clear()
    yield world
    function._parts.cache_clear()


def test_the_function_publishes_and_answers(configured: World, capsys: pytest.CaptureFixture[str]) -> None:
    base = {"tenantId": "t-1", "eventType": "DocumentUploaded"}
    context = cast("Any", Context())
    inline = function.handler(base | {"payload": {"a": 1}}, context)
    claim = function.handler(base | {"payloadBase64": base64.b64encode(b"%PDF").decode()}, context)
    json.dumps([inline, claim])
    assert (inline["delivery"], claim["delivery"], claim["contentLength"]) == ("inline", "claim", 4)
    assert (inline["messageId"], claim["messageId"]) == ("request-1", "request-1")
    payloads = [found.payload for found in configured.received()]
    hashes = {payload.sha256 for payload in payloads if isinstance(payload, Inline | Claim)}
    assert hashes == {inline["sha256"], claim["sha256"]}
    emitted = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]
    assert [document["Published"] for document in emitted] == [[1.0], [1.0]]
