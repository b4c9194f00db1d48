"""A pipeline on the embedded AWS that Amazon's clients talk to: queues, a bucket of ours, a bucket of theirs."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from typing import Any

from claim_check.adapters.session import Clients
from claim_check.aws import consumer, producer
from claim_check.consumer import Consumer
from claim_check.contract import INBOX_OPEN_INDEX, InboxAttribute, WireFormat
from claim_check.delivery import from_api
from claim_check.extended_client import ForeignMessages
from claim_check.message import Message
from claim_check.producer import Producer
from claim_check.settings import ConsumerSettings, ProducerSettings
from claim_check.transaction import Transaction
from claim_check_ops.local import EmbeddedAws
from claim_check_ops.local.extended_client import sns_client, sqs_client
from tests.fakes.telemetry import FakeTelemetry

TENANT, EVENT_TYPE = "t-1", "OrderPlaced"
LARGE = "a large order, € included; " * 12_000
"""More than the 256 KiB from which on those clients use S3."""

SMALL = "a small order"


@dataclass(frozen=True)
class Seen:
    """What the handler saw of a message."""

    content: str
    verified: bool
    message_id: str
    tenant_id: str
    event_type: str


@dataclass
class Pipeline:
    """Made anew for each test.

    Attributes:
        aws: The embedded AWS.
        fifo: Whether the queues are FIFO.
        seen: What the handler was given.
    """

    aws: EmbeddedAws
    fifo: bool = False
    seen: list[Seen] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make the resources."""
        self.name = f"interop-{uuid.uuid4().hex[:12]}"
        self.own, self.theirs = f"{self.name}-own", f"{self.name}-theirs"
        for bucket in (self.own, self.theirs):
            self.aws.s3.create_bucket(Bucket=bucket)
        self.queue_url = self._queue("queue", ContentBasedDeduplication="true")
        self.dlq_url = self._queue("dlq")
        self.telemetry = FakeTelemetry()
        self.clients = Clients(self.aws.session)
        self.aws.dynamodb.create_table(
            TableName=self.name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"}
                for name in (InboxAttribute.KEY, InboxAttribute.OPEN_SHARD, InboxAttribute.OPEN_SINCE)
            ],
            KeySchema=[{"AttributeName": InboxAttribute.KEY, "KeyType": "HASH"}],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": INBOX_OPEN_INDEX,
                    "KeySchema": [
                        {"AttributeName": InboxAttribute.OPEN_SHARD, "KeyType": "HASH"},
                        {"AttributeName": InboxAttribute.OPEN_SINCE, "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
        )

    def _queue(self, kind: str, **attributes: str) -> str:
        if not self.fifo:
            return self.aws.sqs.create_queue(QueueName=f"{self.name}-{kind}")["QueueUrl"]
        fifo: Any = {"FifoQueue": "true", **attributes}
        return self.aws.sqs.create_queue(QueueName=f"{self.name}-{kind}.fifo", Attributes=fifo)["QueueUrl"]

    # --- Ours -------------------------------------------------------------------------------------------------------

    def producer(self, wire_format: WireFormat = "extended-client") -> Producer:
        """Our producer, writing for those clients."""
        settings = ProducerSettings(
            bucket=self.own, queue_url=self.queue_url, before_send_seconds=3600, wire_format=wire_format
        )
        return producer(settings, clients=self.clients, telemetry=FakeTelemetry())

    def consumer(self, *, allow_unverified: bool = True) -> Consumer:
        """Our consumer, taking what those clients send."""
        settings = ConsumerSettings(
            consumer="interop",
            bucket=self.own,
            queue_url=self.queue_url,
            dlq_url=self.dlq_url,
            inbox_table=self.name,
            inbox_ttl_seconds=86_400,
            handler="-",
            payload_access="memory",
            foreign=ForeignMessages(
                tenant_id=TENANT,
                event_type=EVENT_TYPE,
                buckets=(self.theirs,),
                allow_unverified=allow_unverified,
            ),
        )
        return consumer(settings, handler=self._handle, clients=self.clients, telemetry=self.telemetry)

    def _handle(self, message: Message, _: Transaction) -> None:
        self.seen.append(
            Seen(message.text(), message.verified, message.message_id, message.tenant_id, message.event_type)
        )

    def deliver(self, consumer: Consumer | None = None, *, shaped: str = "api", wait: int = 2) -> list[str]:
        """Receive once, handle, delete what is acknowledged. Returns the codes of what was refused."""
        messages: Any = self.aws.sqs.receive_message(
            QueueUrl=self.queue_url,
            MaxNumberOfMessages=10,
            WaitTimeSeconds=wait,
            MessageAttributeNames=["All"],
            MessageSystemAttributeNames=["All"],
        ).get("Messages", [])
        consumer = consumer or self.consumer()
        if shaped == "lambda":
            answer = consumer.handle_lambda({"Records": list(map(_record, messages))}, remaining_seconds=60)
            failed = {item["itemIdentifier"] for item in answer["batchItemFailures"]}
        else:
            deliveries = [from_api(message, queue=self.name) for message in messages]
            outcomes = consumer.handle(deliveries, remaining_seconds=60)
            failed = {one.sqs_message_id for one, out in zip(deliveries, outcomes, strict=True) if not out.acknowledged}
        for message in messages:
            if message["MessageId"] not in failed:
                self.aws.sqs.delete_message(QueueUrl=self.queue_url, ReceiptHandle=message["ReceiptHandle"])
        return sorted(failed)

    def parked(self) -> list[dict[str, Any]]:
        """The messages in the DLQ."""
        found: Any = self.aws.sqs.receive_message(
            QueueUrl=self.dlq_url, MaxNumberOfMessages=10, MessageAttributeNames=["All"], VisibilityTimeout=0
        )
        messages: list[dict[str, Any]] = found.get("Messages", [])
        return messages

    def reasons(self) -> list[str]:
        """Why the messages in the DLQ are there."""
        values = [message["MessageAttributes"]["parked"]["StringValue"] for message in self.parked()]
        return sorted(json.loads(value)["errorCode"] for value in values)

    def row(self, key: str) -> dict[str, Any]:
        """An inbox row."""
        return dict(self.aws.dynamodb.get_item(TableName=self.name, Key={"pk": {"S": key}})["Item"])

    # --- Theirs -----------------------------------------------------------------------------------------------------

    def sqs(self, *, always: bool = False, legacy: bool = False) -> Any:  # noqa: ANN401 - the client adds to boto3's
        """The Python SQS Extended Client."""
        return sqs_client(self.aws, self.theirs, always=always, legacy=legacy)

    def sns(self, *, always: bool = False, legacy: bool = False) -> Any:  # noqa: ANN401 - there are no stubs
        """The Python SNS Extended Client."""
        return sns_client(self.aws, self.theirs, always=always, legacy=legacy)

    def topic(self, *, raw: bool, policy: dict[str, Any] | None = None) -> str:
        """A topic whose messages come to the queue."""
        sns = self.aws.client("sns")
        topic: str = sns.create_topic(Name=self.name)["TopicArn"]
        arn = self.aws.sqs.get_queue_attributes(QueueUrl=self.queue_url, AttributeNames=["QueueArn"])
        attributes = {"RawMessageDelivery": str(raw).lower()}
        if policy is not None:
            attributes["FilterPolicy"] = json.dumps(policy)
        sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn["Attributes"]["QueueArn"], Attributes=attributes)
        return topic

    def keys(self, bucket: str) -> list[str]:
        """Keys of the objects in a bucket."""
        return [item["Key"] for item in self.aws.s3.list_objects_v2(Bucket=bucket).get("Contents", [])]


def _record(message: dict[str, Any]) -> dict[str, Any]:
    """A message as Lambda hands it over."""
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message["Attributes"],
        "messageAttributes": {
            name: {
                "dataType": value["DataType"],
                "stringValue": value.get("StringValue"),
                "stringListValues": [],
                "binaryListValues": [],
            }
            for name, value in message.get("MessageAttributes", {}).items()
        },
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:interop",
    }
