"""A run through all of a deployed pipeline, with canaries in payloads, file names and keys; and all places to look."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from aws_lambda_powertools import Logger

from claim_check import Claim, Event, Producer
from claim_check.adapters.inbox_items import to_row
from claim_check.adapters.powertools import PowertoolsTelemetry
from claim_check.adapters.session import Clients
from claim_check.aws import producer
from claim_check.contract import ATTRIBUTE_PAYLOAD_SIZE, InboxAttribute, Setting
from claim_check.envelope import Envelope, encode
from claim_check.errors import ClaimCheckError
from claim_check.extended_client import POINTER_CLASS
from claim_check_ops.local import EmbeddedAws, wait_until
from claim_check_ops.local.deployment import Deployment
from claim_check_ops.local.direct_uploads import declaration
from tests.canary import Canary, told
from tests.integration.test_worker_process import Place

TENANT, EVENT_TYPE = "canary-tenant", "Scan"
PDF = "application/pdf"
BIN = Path(sys.executable).parent
TALKATIVE = '''
"""A handler whose error quotes the payload."""


def talkative(message, tx):
    raise ValueError(f"cannot use {message.read().decode()}")
'''


@dataclass
class Places:
    """Everywhere that a canary must not be.

    Attributes:
        aws: Where the pipelines are.
        logged: What processes of our own logged, and the metrics that they emitted.
        exceptions: What exceptions told.
        shown: What the operator's commands showed.
    """

    aws: EmbeddedAws
    logged: list[str] = field(default_factory=list)
    exceptions: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    def look(self) -> Mapping[str, list[str]]:
        """All texts that are in these places now."""
        logs = [*self.logged, *self._function_logs()]
        return {
            "log": [line for line in logs if '"_aws"' not in line],
            "metric": [*(line for line in logs if '"_aws"' in line), *self._metrics()],
            "DLQ attribute": list(self._dlq_attributes()),
            "inbox text": list(self._inbox_texts()),
            "exception": self.exceptions,
            "command": self.shown,
        }

    def _function_logs(self) -> Iterator[str]:
        for page in self.aws.lambda_.get_paginator("list_functions").paginate():
            for function in page["Functions"]:
                for text in self.aws.lambda_logs(function["FunctionName"]):
                    yield from text.splitlines()

    def _metrics(self) -> Iterator[str]:
        for page in self.aws.cloudwatch.get_paginator("list_metrics").paginate():
            yield from (json.dumps(metric) for metric in page["Metrics"])

    def _dlq_attributes(self) -> Iterator[str]:
        for url in self.aws.sqs.list_queues().get("QueueUrls", []):
            if "dlq" in url.lower() or "deadletter" in url.lower():
                for message in self._sampled(url):
                    yield json.dumps([message.get("MessageAttributes", {}), message.get("Attributes", {})], default=str)

    def _sampled(self, queue_url: str) -> list[Any]:
        """What lies in a queue; all of it is visible again afterwards."""
        found: list[Any] = []
        while True:
            answer = self.aws.sqs.receive_message(
                QueueUrl=queue_url,
                MaxNumberOfMessages=10,
                VisibilityTimeout=30,
                MessageAttributeNames=["All"],
                MessageSystemAttributeNames=["All"],
            )
            if not answer.get("Messages"):
                break
            found += answer["Messages"]
        for message in found:
            self.aws.sqs.change_message_visibility(
                QueueUrl=queue_url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0
            )
        return found

    def _inbox_texts(self) -> Iterator[str]:
        for name in self.aws.dynamodb.list_tables()["TableNames"]:
            for page in self.aws.dynamodb.get_paginator("scan").paginate(TableName=name, ConsistentRead=True):
                for item in page["Items"]:
                    if InboxAttribute.CONSUMER in item:
                        row = to_row(item)
                        yield f"{row.state} {row.last_code} {row.last_message}"


class CanaryRun:
    """Sends everything that can be sent, and everything that can be wrong with it.

    Attributes:
        content: The canary in payloads, and all keys of objects.
        names: The canary in names of files.
        places: Where to look for them.
    """

    def __init__(self, documents: Deployment, folder: Path) -> None:
        """Prepare."""
        self.content, self.names = Canary(), Canary()
        self.places = Places(documents.aws)
        self._documents = documents
        self._folder = folder
        self._log = io.StringIO()
        logger = Logger(service=f"canary-{uuid.uuid4()}", stream=self._log, location=None)
        self._telemetry = PowertoolsTelemetry(service="canary", logger=logger)
        self._producer = self._made()
        self._began = datetime.now(UTC) - timedelta(seconds=5)

    def execute(self) -> None:
        """Send all, wait until the queue is empty, and look around with the operator's commands."""
        with contextlib.redirect_stdout(self._log):
            self._publish()
            self._fail_to_publish()
            self._point()
            self._telemetry.flush()
        self._invoke()
        self._upload()
        self._send_malformed()
        self._work()
        wait_until(self._idle, what="an empty queue", timeout=300)
        self._operate()
        self._keep_keys()
        self.places.logged += self._log.getvalue().splitlines()

    # --- Sending ----------------------------------------------------------------------------------------------------

    def _made(self, **settings: Any) -> Producer:  # noqa: ANN401 - fields of ProducerSettings
        return producer(
            replace(self._documents.producer, **settings), clients=self._documents.clients, telemetry=self._telemetry
        )

    def _event(self, payload: bytes | Path, content_type: str = PDF, **fields: Any) -> Event:  # noqa: ANN401 - an event's
        return Event(tenant_id=TENANT, event_type=EVENT_TYPE, payload=payload, content_type=content_type, **fields)

    def _file(self, content: bytes) -> Path:
        path = self._folder / f"{self.names.token}-{uuid.uuid4().hex}.pdf"
        path.write_bytes(content)
        return path

    def _publish(self) -> None:
        """From files, from memory, inline, in parts, in the other wire format; the same again, and a conflict."""
        self._producer.publish(self._event(self._file(self.content.payload(100_000))))
        self._producer.publish(Event.json({"text": self.content.token}, tenant_id=TENANT, event_type=EVENT_TYPE))
        self._made(multipart_threshold_bytes=5 * 2**20).publish(
            self._event(self._file(self.content.payload(6 * 2**20)))
        )
        self._made(wire_format="extended-client").publish(self._event(self.content.payload(), "text/plain"))
        name = f"canary-{uuid.uuid4().hex}"
        again = self._event(self.content.payload(), message_id=name)
        self._producer.publish(again)
        self._producer.publish(again)
        self._producer.publish(self._event(self.content.payload(), message_id=name))
        self._producer.publish(self._event(self.content.payload() + b"\xff\xfe", "text/csv"))

    def _fail_to_publish(self) -> None:
        """Keep what the exceptions tell."""
        small, queue_url = self._made(max_payload_bytes=10), self._documents.producer.queue_url
        unreadable = self.content.payload() + b"\xff"
        for publisher, event in (
            (small, self._event(self._file(self.content.payload()))),
            (small, self._event(self.content.payload())),
            (self._producer, self._event(self._folder / f"{self.names.token}-gone.pdf")),
            (self._made(wire_format="extended-client"), self._event(unreadable, "text/plain")),
            (self._made(bucket=f"missing-{uuid.uuid4()}"), self._event(self.content.payload())),
            (self._made(queue_url=f"{queue_url}-gone"), self._event(self.content.payload())),
        ):
            try:
                publisher.publish(event)
            except ClaimCheckError as error:
                self.places.exceptions.append(told(error))
        assert len(self.places.exceptions) == 6

    def _point(self) -> None:
        """Pointers to what is gone, tampered with, elsewhere; and one that is too old."""
        aws, bucket = self._documents.aws, self._documents.producer.bucket
        gone, other, old, elsewhere = (self._staged() for _ in range(4))
        aws.s3.delete_object(Bucket=bucket, Key=self._claim(gone).key)
        aws.s3.put_object(Bucket=bucket, Key=self._claim(other).key, Body=self.content.payload(), ContentType=PDF)
        for envelope in (
            gone,
            other,
            replace(old, published_at=datetime.now(UTC) - timedelta(days=3000)),
            replace(elsewhere, payload=replace(self._claim(elsewhere), key=f"elsewhere/{self.content.token}.pdf")),
        ):
            self._send(encode(envelope))
        self._point_from_elsewhere()

    def _point_from_elsewhere(self) -> None:
        """As Amazon's clients do, whose keys may be anything."""
        foreign = self._documents.consumer.foreign
        if foreign is None or not foreign.buckets:
            return
        bucket, _, prefix = next(iter(foreign.buckets)).partition("/")
        key = f"{prefix}{self.content.token}"
        self._documents.aws.s3.put_object(Bucket=bucket, Key=key, Body=self.content.payload())
        for name in (key, f"{key}-gone"):
            self._send(
                json.dumps([POINTER_CLASS, {"s3BucketName": bucket, "s3Key": name}]),
                {ATTRIBUTE_PAYLOAD_SIZE: {"DataType": "Number", "StringValue": str(len(self.content.payload()))}},
            )

    def _staged(self) -> Envelope:
        """An event whose payload is in S3, and whose message nobody has sent."""
        name = f"canary-{uuid.uuid4().hex}"
        queue = self._documents.aws.sqs.create_queue(QueueName=name)["QueueUrl"]
        published = self._made(queue_url=queue).publish(self._event(self.content.payload(), message_id=name))
        assert isinstance(published.payload, Claim)
        self.content.keep(published.payload.key)
        return Envelope(
            message_id=name,
            event_type=EVENT_TYPE,
            tenant_id=TENANT,
            idempotency_key=name,
            published_at=datetime.now(UTC),
            payload=published.payload,
            domain_ref={},
        )

    @staticmethod
    def _claim(envelope: Envelope) -> Claim:
        assert isinstance(envelope.payload, Claim)
        return envelope.payload

    def _send(self, body: str, attributes: Any = None) -> None:  # noqa: ANN401 - as SQS takes them
        self._documents.aws.sqs.send_message(
            QueueUrl=self._documents.consumer.queue_url, MessageBody=body, MessageAttributes=attributes or {}
        )

    def _send_malformed(self) -> None:
        """Canaries where nobody expects them: in bodies that cannot be read, and in fields of the wrong kind."""
        self._send(f"no envelope {self.content.token}")
        document = json.loads(encode(self._staged()))
        self._send(json.dumps(document | {"payloadRef": self.content.token}))
        self._send(json.dumps(document | {"v": 99}))

    def _invoke(self) -> None:
        """Through the producer function: taken, and refused."""
        base = {"tenantId": TENANT, "eventType": EVENT_TYPE, "contentType": PDF}
        payload = base64.b64encode(self.content.payload()).decode()
        for request in (
            base | {"payloadBase64": payload},
            base | {"payloadBase64": payload, "tenantId": "no/name"},
            base | {"payloadBase64": f"!{self.content.token}"},
            base | {"payloadText": self.content.token, "unknown": self.content.token},
        ):
            answer = self._documents.aws.lambda_.invoke(
                FunctionName=self._documents.producer_function, Payload=json.dumps(request).encode()
            )
            if "FunctionError" in answer:
                self.places.exceptions.append(answer["Payload"].read().decode())

    def _upload(self) -> None:
        """Through the upload API: granted, uploaded, confirmed; and confirmed without an upload."""
        uploads, content = self._documents.uploads, self.content.payload()
        assert uploads is not None
        for there in (True, False):
            declared = declaration(
                content,
                tenant_id=TENANT,
                event_type=EVENT_TYPE,
                message_id=f"canary-{uuid.uuid4().hex}",
                content_type=PDF,
            )
            _, granted = uploads.call("/uploads", declared)
            self.content.keep(granted["upload"]["url"])
            if there:
                uploads.put(granted["upload"], content)
            uploads.call("/events", declared)

    def _work(self) -> None:
        """By a worker process, whose handler's error quotes the payload."""
        place = Place(self._documents.aws, Clients(self._documents.aws.session), self._folder)
        (self._folder / "handlers_of_test.py").write_text(TALKATIVE, encoding="utf-8")
        published = self._made(bucket=place.name, queue_url=place.queue_url).publish(
            self._event(self.content.payload())
        )
        assert isinstance(published.payload, Claim)
        self.content.keep(published.payload.key)
        with place.worker(handler="talkative", **{Setting.MAX_ATTEMPTS: "1"}) as process:
            wait_until(lambda: place.queued() == (0, 0), what="the worker's message", timeout=120)
            process.send_signal(signal.SIGTERM)
            printed, _ = process.communicate(timeout=30)
        assert "ValueError" in printed
        self.places.logged += printed.splitlines()

    # --- Afterwards -------------------------------------------------------------------------------------------------

    def _idle(self) -> bool:
        names: Any = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        answer = self._documents.aws.sqs.get_queue_attributes(
            QueueUrl=self._documents.consumer.queue_url, AttributeNames=names
        )
        return all(value == "0" for value in answer["Attributes"].values())

    def _keep_keys(self) -> None:
        """All keys of the bucket that are new are secrets, too."""
        for one in self.stored():
            self.content.keep(one["Key"])

    def stored(self) -> list[Any]:
        """Objects of the bucket that this run wrote."""
        pages = self._documents.aws.s3.get_paginator("list_objects_v2").paginate(Bucket=self._documents.producer.bucket)
        found = [one for page in pages for one in page.get("Contents", [])]
        return [one for one in found if one["LastModified"] >= self._began]

    def holding(self) -> list[str]:
        """Keys of those objects that hold the canary."""
        bucket, s3 = self._documents.producer.bucket, self._documents.aws.s3
        keys = [one["Key"] for one in self.stored() if one["Size"] < 10 * 2**20]
        return [
            key for key in keys if self.content.token.encode() in s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        ]

    def _operate(self) -> None:
        """Look around; what ``send`` shows of a file's name is what its caller typed."""
        consumer = ("--consumer", self._documents.consumer.consumer)
        for command in (
            ("status",),
            ("status", *consumer, "--json"),
            ("inbox", "list", *consumer),
            ("inbox", "list", *consumer, "--json"),
            ("dlq", "list", *consumer, "--messages"),
            ("dlq", "list", *consumer, "--json"),
            ("dlq", "check", *consumer),
            ("dlq", "redrive", *consumer, "--tenant", TENANT),
        ):
            self.places.shown.append(self.command(*command))
        rows = json.loads(self.command("inbox", "list", *consumer, "--tenant", TENANT, "--json"))["rows"]
        assert rows
        for row in rows:
            self.places.shown.append(self.command("inbox", "show", row["key"], *consumer))
        sent = self.command(
            "send", str(self._file(self.content.payload())), "--tenant", TENANT, "--type", EVENT_TYPE,
            "--function", self._documents.producer_function,
        )  # fmt: skip
        self.places.shown.append(sent.replace(self.names.token, "(name)"))

    def command(self, *arguments: str) -> str:
        """What a command of ours shows."""
        environment = self._documents.aws.process_environment() | {"PATH": f"{BIN}:{os.environ['PATH']}"}
        done = subprocess.run(  # noqa: S603 - our own command
            [BIN / "claim-check", *arguments], capture_output=True, env=environment, check=False, timeout=120, text=True
        )
        assert done.returncode in {0, 1}, done.stderr
        return done.stdout + done.stderr


def planted_metric(aws: EmbeddedAws, secret: str) -> None:
    """A metric with a secret for a dimension."""
    dimensions: list[Any] = [{"Name": "file", "Value": secret}]
    aws.cloudwatch.put_metric_data(
        Namespace="Planted", MetricData=[{"MetricName": "Leaks", "Dimensions": dimensions, "Value": 1}]
    )


def planted_line(aws: EmbeddedAws, function: str, secret: str) -> None:
    """A line in a function's log with a secret in it."""
    configuration = aws.lambda_.get_function_configuration(FunctionName=function)
    group = configuration.get("LoggingConfig", {}).get("LogGroup") or f"/aws/lambda/{function}"
    stream = f"planted-{uuid.uuid4()}"
    aws.logs.create_log_stream(logGroupName=group, logStreamName=stream)
    event: Any = {"timestamp": int(time.time() * 1000), "message": json.dumps({"message": f"read {secret}"})}
    aws.logs.put_log_events(logGroupName=group, logStreamName=stream, logEvents=[event])
