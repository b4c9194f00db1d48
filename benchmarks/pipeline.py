"""A bare pipeline for measurements: bucket, queue, inbox and one table for effects, used through the real adapters."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

from claim_check import Event
from claim_check import aws as claim_check_aws
from claim_check.contract import GIB, KIB, InlineMode
from claim_check.settings import ConsumerSettings, ProducerSettings
from claim_check.transaction import Table

if TYPE_CHECKING:
    from pathlib import Path

    from claim_check import Consumer, Producer
    from claim_check.adapters.session import Clients
    from claim_check.message import Message
    from claim_check.transaction import Transaction

MAX_PAYLOAD_BYTES: Final = 2 * GIB
HANDLING_SECONDS: Final = 280.0
_READ_BYTES: Final = 256 * KIB
_DAY_SECONDS: Final = 86_400
_RECEIVE_AT_ONCE: Final = 10


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The resources of one pipeline.

    Attributes:
        clients: How they are reached.
        name: Part of all their names.
        queue_url: Its queue.
        dlq_url: Its dead-letter queue.
    """

    clients: Clients
    name: str
    queue_url: str
    dlq_url: str

    @classmethod
    def find(cls, clients: Clients, name: str) -> Self:
        """One that another process made."""
        urls = (clients.sqs.get_queue_url(QueueName=f"bench-{name}{suffix}")["QueueUrl"] for suffix in ("", "-dlq"))
        return cls(clients, name, *urls)

    @classmethod
    def make(cls, clients: Clients, name: str) -> Self:
        """A new one."""
        for suffix in ("", "-dlq"):
            clients.sqs.create_queue(QueueName=f"bench-{name}{suffix}")
        made = cls.find(clients, name)
        clients.s3.create_bucket(Bucket=made.bucket)
        for table in (made.inbox, made.effects):
            clients.dynamodb.create_table(
                TableName=table,
                KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                BillingMode="PAY_PER_REQUEST",
            )
        return made

    @property
    def bucket(self) -> str:
        """Bucket of the payloads."""
        return f"bench-{self.name}"

    @property
    def inbox(self) -> str:
        """Table of the inbox."""
        return f"bench-{self.name}-inbox"

    @property
    def effects(self) -> str:
        """Table that the handler writes to."""
        return f"bench-{self.name}-effects"

    def producer(self, *, inline: InlineMode = "auto") -> Producer:
        """A producer as an application has it."""
        settings = ProducerSettings(
            bucket=self.bucket,
            queue_url=self.queue_url,
            before_send_seconds=_DAY_SECONDS,
            inline=inline,
            max_payload_bytes=MAX_PAYLOAD_BYTES,
        )
        return claim_check_aws.producer(settings, clients=self.clients)

    def consumer(self) -> Consumer:
        """A consumer as the Lambda function has it, whose handler streams the payload and writes one row."""
        settings = ConsumerSettings(
            consumer="bench",
            bucket=self.bucket,
            queue_url=self.queue_url,
            dlq_url=self.dlq_url,
            inbox_table=self.inbox,
            inbox_ttl_seconds=_DAY_SECONDS,
            handler="",
            max_payload_bytes=MAX_PAYLOAD_BYTES,
        )
        effects = Table(self.effects, "pk")

        def handle(message: Message, transaction: Transaction) -> None:
            stream, size = message.open(), 0
            while piece := stream.read(_READ_BYTES):
                size += len(piece)
            transaction.put(effects, {"pk": message.message_id, "size": size})

        return claim_check_aws.consumer(settings, handler=handle, clients=self.clients)

    def receive(self, count: int) -> list[dict[str, Any]]:
        """Receive exactly so many messages, as records of a Lambda event."""
        records: list[dict[str, Any]] = []
        while len(records) < count:
            answer = self.clients.sqs.receive_message(
                QueueUrl=self.queue_url,
                MaxNumberOfMessages=min(_RECEIVE_AT_ONCE, count - len(records)),
                MessageSystemAttributeNames=["All"],
                MessageAttributeNames=["All"],
                VisibilityTimeout=600,
                WaitTimeSeconds=1,
            )
            records += [_received(message) for message in answer.get("Messages", [])]
        return records

    def delete(self, records: Sequence[dict[str, Any]]) -> None:
        """Delete up to ten messages, as Lambda does once they were handled."""
        entries: list[Any] = [
            {"Id": str(index), "ReceiptHandle": record["receiptHandle"]} for index, record in enumerate(records)
        ]
        self.clients.sqs.delete_message_batch(QueueUrl=self.queue_url, Entries=entries)


def event(payload: bytes | Path, message_id: str) -> Event:
    """An event with a payload."""
    return Event(
        tenant_id="bench",
        event_type="Measured",
        payload=payload,
        content_type="application/octet-stream",
        message_id=message_id,
    )


def small_event(size: int, message_id: str) -> Event:
    """An event with a JSON document of about this size, which travels inline."""
    return Event.json({"text": "x" * size}, tenant_id="bench", event_type="Measured", message_id=message_id)


def handle(consumer: Consumer, records: Sequence[dict[str, Any]]) -> None:
    """Hand a batch over as Lambda does; every record must succeed.

    Raises:
        RuntimeError: One did not: then nothing was measured that is worth a figure.
    """
    answer = consumer.handle_lambda({"Records": list(records)}, remaining_seconds=HANDLING_SECONDS)
    if answer["batchItemFailures"]:
        raise RuntimeError(f"{len(answer['batchItemFailures'])} of {len(records)} records failed; see the log above")


def record(body: str, sqs_message_id: str) -> dict[str, Any]:
    """A message as Lambda hands it over."""
    return {
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:bench",
        "messageId": sqs_message_id,
        "receiptHandle": sqs_message_id,
        "body": body,
        "attributes": {"SentTimestamp": str(int(time.time() * 1000)), "ApproximateReceiveCount": "1"},
        "messageAttributes": {},
    }


def _received(message: Any) -> dict[str, Any]:  # noqa: ANN401 - boto3's answer
    attributes = {
        name: {"dataType": value["DataType"], "stringValue": value.get("StringValue")}
        for name, value in message.get("MessageAttributes", {}).items()
    }
    return record(message["Body"], message["MessageId"]) | {
        "receiptHandle": message["ReceiptHandle"],
        "attributes": message.get("Attributes", {}),
        "messageAttributes": attributes,
    }
