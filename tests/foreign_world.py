"""A world whose queue has Extended Clients' messages, too: what they send, and a bucket of theirs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from claim_check import contract
from claim_check.consumer import Consumer
from claim_check.extended_client import POINTER_CLASS, ForeignMessages
from claim_check.payload_store import PayloadStore
from claim_check.ports import InboxRow, MessageAttribute
from claim_check.processor import Handler
from claim_check.producer import Producer
from tests.harness import BUCKET, CONSUMER, EVENT_TYPE, TENANT, World, documents

FOREIGN_BUCKET = "old-clients"
FOREIGN = ForeignMessages(
    tenant_id=TENANT, event_type=EVENT_TYPE, buckets=(f"{FOREIGN_BUCKET}/in/",), allow_unverified=True
)
CONTENT = b"a payload of an old client, read in several pieces"


def text(value: str) -> MessageAttribute:
    """A String attribute."""
    return MessageAttribute(data_type="String", value=value)


def size(value: object) -> MessageAttribute:
    """The attribute that marks a pointer."""
    return MessageAttribute(data_type="Number", value=str(value))


def pointer(key: str, *, bucket: str = FOREIGN_BUCKET, kind: str = POINTER_CLASS, **more: object) -> str:
    """The body of an offloaded message."""
    return json.dumps([kind, {"s3BucketName": bucket, "s3Key": key, **more}])


def notification(body: str, attributes: Mapping[str, MessageAttribute] | None = None, **fields: object) -> str:
    """What SNS makes of a message for a subscription without raw delivery."""
    wrapped = {name: {"Type": one.data_type, "Value": one.value} for name, one in (attributes or {}).items()}
    document = {
        "Type": "Notification",
        "MessageId": "sns-message-1",
        "TopicArn": "arn:aws:sns:us-east-1:000000000000:orders",
        "Message": body,
        "Timestamp": "2026-07-06T10:15:30.000Z",
        "MessageAttributes": wrapped,
    }
    return json.dumps({**document, **fields})


def identity_of(key: str, bucket: str = FOREIGN_BUCKET) -> str:
    """The identity of what lies at a pointer."""
    return f"pointer-{hashlib.sha256(f'{bucket}/{key}'.encode()).hexdigest()}"


@dataclass
class ForeignWorld(World):
    """A pipeline that reads Extended Clients' messages.

    Attributes:
        foreign: What its consumers take of them.
    """

    foreign: ForeignMessages | None = FOREIGN

    def consumer(self, handler: Handler = documents, **options: Any) -> Consumer:  # noqa: ANN401 - of `World.consumer`
        """A consumer that takes such messages."""
        return super().consumer(handler, **{"foreign": self.foreign, **options})

    def producer(self, wire_format: contract.WireFormat = "extended-client", **options: Any) -> Producer:  # noqa: ANN401 - of `Producer`
        """A producer that writes what those clients read."""
        store = PayloadStore(
            self.objects, bucket=BUCKET, before_send_seconds=3600.0, clock=self.clock, random=lambda: 0.5
        )
        return Producer(
            store,
            self.queue,
            queue_url=self.queue_url,
            clock=self.clock,
            new_id=lambda: "never drawn",
            random=lambda: 0.5,
            telemetry=self.telemetry,
            wire_format=wire_format,
            **{"parallel": 1, **options},
        )

    def store(self, key: str = "in/1", content: bytes = CONTENT, *, bucket: str = FOREIGN_BUCKET) -> None:
        """Put an object there, as an old client does: without a type, whatever was there before."""
        self.objects._write(bucket, key, content, "binary/octet-stream", {})

    def offload(self, key: str = "in/1", content: bytes = CONTENT, **attributes: MessageAttribute) -> str:
        """Send what an old client sends of a large payload; returns SQS's message id."""
        self.store(key, content)
        mark = {contract.ATTRIBUTE_PAYLOAD_SIZE: size(len(content))}
        return self.send_body(pointer(key), attributes={**mark, **attributes})

    def redrive(self, *, attribute: bool = False) -> list[str]:
        """Move everything in the DLQ back, attributes included, as SQS does; or as the operator's command would."""
        dead = self.queue._queue(self.dlq_url)
        messages, dead.messages = dead.messages, []
        sent = []
        for one in messages:
            attributes = dict(one.message.attributes)
            if attribute:
                attributes[contract.ATTRIBUTE_REDRIVE] = attributes.pop(contract.ATTRIBUTE_PARKED)
            sent.append(self.send_body(one.message.body, group=one.message.group_id, attributes=attributes))
        return sent

    def row_of(self, identity: str, tenant_id: str = TENANT) -> InboxRow:
        """The inbox row of an identity."""
        key = contract.inbox_key(consumer=CONSUMER, tenant_id=tenant_id, idempotency_key=identity)
        return self.table.rows[key]
