"""What the drill puts into a DLQ: events that fail for a broken deployment, and all that must not be redriven."""

from __future__ import annotations

import json
import random
import secrets
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, Literal

from claim_check import Claim, Event, Published
from claim_check.aws import producer
from claim_check.contract import MIB, ErrorCode
from claim_check.envelope import Envelope, encode
from claim_check_ops.local.deployment import Deployment
from claim_check_ops.telemetry import SilentTelemetry

TENANT: Final = "tenant-drill"
EVENT_TYPE: Final = "DocumentUploaded"
PARALLEL: Final = 4

Kind = Literal[
    "large claim", "inline", "payload gone", "tampered", "malformed", "foreign bucket", "done meanwhile", "by hand"
]
"""``by hand``: sent right into the DLQ, so that it has no reason, and nobody knows where it came from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """How much of everything.

    Attributes:
        claims: Claims whose handler fails.
        smallest: Bytes of the smallest of them.
        largest: Bytes of the largest.
        inline: Small events whose handler fails.
        each: Of every kind that must not simply go back.
    """

    claims: int = 200
    smallest: int = 5 * MIB
    largest: int = 16 * MIB
    inline: int = 50
    each: int = 3


@dataclass(frozen=True, slots=True)
class Put:
    """A message that was put into the DLQ.

    Attributes:
        kind: What it is.
        message_id: The event's id, or SQS's where it has none.
        payload_bytes: Bytes of its payload in S3.
        claim: Its payload in S3, if it has one.
    """

    kind: Kind
    message_id: str
    payload_bytes: int = 0
    claim: Claim | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """What must become of a kind.

    Attributes:
        processed: Whether its effect must be there, once.
        stays: Whether it lies in the DLQ in the end.
        why: Why the first redrive leaves it there; None if it sends it.
    """

    processed: bool
    stays: bool
    why: str | None = None


EXPECTED: Final[dict[Kind, Expected]] = {
    "large claim": Expected(processed=True, stays=False),
    "inline": Expected(processed=True, stays=False),
    "payload gone": Expected(processed=False, stays=True, why=ErrorCode.MISSING_PAYLOAD),
    "tampered": Expected(processed=False, stays=True, why="CameBack"),
    "malformed": Expected(processed=False, stays=True, why=ErrorCode.INVALID_ENVELOPE),
    "foreign bucket": Expected(processed=False, stays=True, why=ErrorCode.UNTRUSTED_REFERENCE),
    "done meanwhile": Expected(processed=True, stays=True, why="AlreadyCompleted"),
    "by hand": Expected(processed=True, stays=False, why="NoDestination"),
}


@dataclass
class Filler:
    """Puts a mix into the DLQ of a deployment whose handler fails.

    Attributes:
        deployment: The pipeline.
        mix: How much of everything.
        told: Is told what is put.
        put: What was put.
    """

    deployment: Deployment
    mix: Mix
    told: Callable[[str, int, int], object]
    put: list[Put] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make a producer."""
        self._producer = producer(
            self.deployment.producer, clients=self.deployment.clients, telemetry=SilentTelemetry()
        )
        self._random = random.Random(4711)  # noqa: S311 - sizes, no secrets
        self._run = secrets.token_hex(4)
        self._noise = secrets.token_bytes(self.mix.largest)

    def fill(self) -> None:
        """Publish what must fail, and send by hand what no producer of ours sends."""
        each = self.mix.each
        counts: dict[Kind, int] = {
            "large claim": self.mix.claims,
            "inline": self.mix.inline,
            "payload gone": each,
            "tampered": each,
            "done meanwhile": each,
        }
        kinds = [kind for kind, count in counts.items() for _ in range(count)]
        with ThreadPoolExecutor(PARALLEL, thread_name_prefix="fill") as pool:
            for number, one in enumerate(pool.map(self._publish, kinds, self._sizes(kinds)), start=1):
                self.put.append(one)
                self.told("publishing", number, len(kinds))
        for _ in range(self.mix.each):
            self.put.append(Put("malformed", self._send(self.deployment.consumer.queue_url, "{")))
            self._foreign()
            self._by_hand()

    def again(self) -> list[Published]:
        """Publish once more what is to be done by the time of the redrive."""
        return [
            self._event_published(one.message_id, self._small(one.message_id), "application/json")
            for one in self.put
            if one.kind == "done meanwhile"
        ]

    def spoil(self) -> None:
        """Take payloads away, and swap others for bytes of the same length."""
        s3 = self.deployment.aws.s3
        for one in self.put:
            if one.claim is None:
                continue
            if one.kind == "payload gone":
                s3.delete_object(Bucket=one.claim.bucket, Key=one.claim.key)
            elif one.kind == "tampered":
                s3.put_object(Bucket=one.claim.bucket, Key=one.claim.key, Body=b"x" * one.payload_bytes)

    # --- Inside -----------------------------------------------------------------------------------------------------

    def _sizes(self, kinds: list[Kind]) -> list[int]:
        """Large ones spread evenly between their limits, in random order; others are small."""
        step = (self.mix.largest - self.mix.smallest) / max(1, self.mix.claims - 1)
        large = [round(self.mix.smallest + number * step) for number in range(self.mix.claims)]
        self._random.shuffle(large)
        return [large.pop() if kind == "large claim" else 100_000 for kind in kinds]

    def _publish(self, kind: Kind, size: int) -> Put:
        message_id = f"{self._run}-{uuid.uuid4().hex}"
        if kind in {"inline", "done meanwhile"}:
            self._event_published(message_id, self._small(message_id), "application/json")
            return Put(kind, message_id)
        head = message_id.encode()  # so that no two payloads are the same
        published = self._event_published(
            message_id, head + self._noise[: size - len(head)], "application/octet-stream"
        )
        claim = published.payload if isinstance(published.payload, Claim) else None
        return Put(kind, message_id, size, claim)

    def _event_published(self, message_id: str, content: bytes, content_type: str) -> Published:
        return self._producer.publish(
            Event(
                tenant_id=TENANT,
                event_type=EVENT_TYPE,
                payload=content,
                content_type=content_type,
                message_id=message_id,
            )
        )

    def _small(self, message_id: str) -> bytes:
        return json.dumps({"id": message_id}).encode()

    def _foreign(self) -> None:
        message_id = f"{self._run}-{uuid.uuid4().hex}"
        claim = Claim(
            bucket="somebody-elses-bucket", key="a/key", content_type="text/plain", content_length=1, sha256="0" * 64
        )
        envelope = Envelope(
            message_id=message_id,
            event_type=EVENT_TYPE,
            tenant_id=TENANT,
            idempotency_key=message_id,
            domain_ref={},
            payload=claim,
        )
        self._send(self.deployment.consumer.queue_url, encode(envelope))
        self.put.append(Put("foreign bucket", message_id))

    def _by_hand(self) -> None:
        """What an event's message is, without its reason, as an older tool may have moved it."""
        message_id = f"{self._run}-{uuid.uuid4().hex}"
        content = self._small(message_id).decode()
        body = {
            "messageId": message_id,
            "eventType": EVENT_TYPE,
            "tenantId": TENANT,
            "inline": {"contentType": "application/json", "body": content},
        }
        self._send(self.deployment.consumer.dlq_url or "", json.dumps(body))
        self.put.append(Put("by hand", message_id))

    def _send(self, url: str, body: str) -> str:
        return self.deployment.aws.sqs.send_message(QueueUrl=url, MessageBody=body)["MessageId"]
