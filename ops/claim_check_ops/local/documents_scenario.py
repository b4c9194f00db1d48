"""What `claim-check local run` sends: real files in every way there is, and all that can be wrong with a message.

Each case says what must become of it. Nothing here looks at outcomes; `outcomes` does.
"""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Final, Literal

from claim_check import Claim, Envelope, Event, Inline, Published
from claim_check.aws import producer
from claim_check.contract import ATTRIBUTE_TENANT_ID, ErrorCode, object_key
from claim_check.envelope import encode
from claim_check.errors import PublishError
from claim_check.extended_client import pointer_identity
from claim_check_examples.file_facts import FileFacts
from claim_check_ops.local import extended_client, sample_files
from claim_check_ops.local.deployment import Deployment
from claim_check_ops.local.direct_uploads import declaration
from claim_check_ops.telemetry import SilentTelemetry

TENANT: Final = "tenant-1"
EVENT_TYPE: Final = "DocumentUploaded"
FOREIGN_BUCKET: Final = "somebody-elses-bucket"

Outcome = Literal["processed", "duplicate", "parked"]
Shape = Literal["inline", "claim", "-"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What must become of a message.

    Attributes:
        outcome: Its end.
        code: Why it was parked.
        sha256: Content that the document row must have, if there must be one.
        facts: What the document row must say of the file.
    """

    outcome: Outcome
    code: str | None = None
    sha256: str | None = None
    facts: FileFacts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A message that was sent.

    Attributes:
        case: Name of its case.
        expected: What must become of it.
        way: How it was sent.
        shape: How its payload travelled.
        size: Bytes of the payload.
        sqs_message_id: SQS's id; None if the sender is not told.
        sent_at: Epoch seconds.
        message_id: The event's identity; None if it has none.
        idempotency_key: What makes two messages the same work; None if it has none.
    """

    case: str
    expected: Expected
    way: str
    shape: Shape
    size: int
    sqs_message_id: str | None
    sent_at: float
    message_id: str | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One message of the run.

    Attributes:
        name: What it is.
        send: Sends it.
        later: Sent once everything before it is settled, since it refers to what was processed.
    """

    name: str
    send: Callable[[], Sent]
    later: bool = False


class Scenario:
    """All cases of a run, against one deployment."""

    def __init__(self, deployment: Deployment, folder: Path, *, sabotage: str | None = None) -> None:
        """Make the sample files.

        Args:
            deployment: Where to.
            folder: Where the files are made.
            sabotage: Name of a case whose payload vanishes before it is read: a run that must not succeed.
        """
        self._deployment = deployment
        self._producer = producer(deployment.producer, clients=deployment.clients, telemetry=SilentTelemetry())
        self._folder = folder
        self._sabotage = sabotage
        self._run_id = f"run-{secrets.token_hex(4)}"

    def cases(self) -> list[Case]:
        """The cases, in the order in which they are sent."""
        json_file = sample_files.write_json(self._folder / "case.json")
        pdf, png = self._folder / "report.pdf", self._folder / "scan.png"
        csv, binary = self._folder / "export.csv", self._folder / "archive.bin"
        sample_files.write_pdf(pdf)
        sample_files.write_png(png)
        rows = sample_files.write_csv(csv)
        sample_files.write_binary(binary)
        return [
            self._published("64 MiB binary", binary, "application/octet-stream"),
            self._published("5 MiB CSV", csv, "text/csv", rows=rows),
            self._invoked("small JSON", json_file, "application/json"),
            self._invoked("PDF", pdf, "application/pdf"),
            self._invoked("PNG", png, "image/png"),
            *self._of_other_clients("Extended Client", json_file),
            Case("direct upload", lambda: self._uploaded("direct upload", png, "image/png")),
            Case("object tampered with", lambda: self._tampered(pdf)),
            Case("malformed message", self._malformed),
            Case("foreign bucket", lambda: self._foreign(pdf)),
            Case("payload gone", lambda: self._gone("payload gone", pdf, self._parked(ErrorCode.MISSING_PAYLOAD))),
            Case("same event again", lambda: self._again(pdf), later=True),
            Case("same identity, other content", lambda: self._conflicting(png), later=True),
        ]

    # --- Files that must be processed -----------------------------------------------------------------------------

    def _published(self, name: str, path: Path, content_type: str, *, rows: int | None = None) -> Case:
        expected = _processed(path, content_type, rows)

        def send() -> Sent:
            if self._sabotage == name:
                return self._gone(name, path, expected)
            event = self._event(name, path, content_type)
            began = time.time()
            return _sent(name, expected, "library", self._producer.publish(event), began)

        return Case(name, send)

    def _invoked(self, name: str, path: Path, content_type: str) -> Case:
        expected = _processed(path, content_type, None)

        def send() -> Sent:
            if self._sabotage == name:
                return self._gone(name, path, expected)
            return self._invoke(name, path, content_type, expected)

        return Case(name, send)

    def _invoke(self, name: str, path: Path, content_type: str, expected: Expected) -> Sent:
        content = path.read_bytes()
        request = {
            "tenantId": TENANT,
            "eventType": EVENT_TYPE,
            "messageId": self._message_id(name),
            "contentType": content_type,
            "payloadBase64": base64.b64encode(content).decode(),
        }
        began = time.time()
        answer = self._deployment.aws.lambda_.invoke(
            FunctionName=self._deployment.producer_function, Payload=json.dumps(request).encode()
        )
        body = json.loads(answer["Payload"].read())
        if answer.get("FunctionError"):
            raise PublishError(f"{name}: the producer function failed: {body.get('errorMessage')}")
        return Sent(
            case=name,
            expected=expected,
            way="function",
            shape=body["delivery"],
            size=len(content),
            sqs_message_id=body["sqsMessageId"],
            sent_at=began,
            message_id=body["messageId"],
            idempotency_key=body["idempotencyKey"],
        )

    def _of_other_clients(self, name: str, path: Path) -> list[Case]:
        """A message of Amazon's own client; none where that is not installed, or the pipeline takes none."""
        foreign = self._deployment.consumer.foreign
        if foreign is None or not foreign.buckets or not extended_client.installed():
            return []
        (bucket, _, prefix), expected = (
            next(iter(foreign.buckets)).partition("/"),
            _processed(path, "application/json", None),
        )

        def send() -> Sent:
            if self._sabotage == name:
                return self._gone(name, path, expected)
            key = f"{prefix}{self._run_id}"
            client = extended_client.sqs_client(self._deployment.aws, bucket, always=True)
            began = time.time()
            answer = client.send_message(
                QueueUrl=self._deployment.producer.queue_url,
                MessageBody=path.read_text(encoding="utf-8"),
                MessageAttributes={
                    "S3Key": {"DataType": "String", "StringValue": key},
                    ATTRIBUTE_TENANT_ID: {"DataType": "String", "StringValue": TENANT},
                },
            )
            identity = pointer_identity(bucket, key)
            return Sent(
                case=name,
                expected=expected,
                way="Amazon's client",
                shape="claim",
                size=path.stat().st_size,
                sqs_message_id=answer["MessageId"],
                sent_at=began,
                message_id=identity,
                idempotency_key=identity,
            )

        return [Case(name, send)]

    def _uploaded(self, name: str, path: Path, content_type: str) -> Sent:
        """Straight to S3, twice, as a client does that lost an answer; confirmed when it is there."""
        uploads, content = self._deployment.uploads, path.read_bytes()
        if uploads is None:
            raise PublishError(f"{name}: the stack has no upload API")
        message_id = self._message_id(name)
        declared = declaration(
            content, tenant_id=TENANT, event_type=EVENT_TYPE, message_id=message_id, content_type=content_type
        )
        began = time.time()
        for wanted in (HTTPStatus.OK, HTTPStatus.PRECONDITION_FAILED):
            status, granted = uploads.call("/uploads", declared)
            if status != HTTPStatus.CREATED or (put := uploads.put(granted["upload"], content)) != wanted:
                raise PublishError(f"{name}: not uploaded: {granted.get('detail') or put}")
        status, confirmed = uploads.call("/events", declared)
        if status != HTTPStatus.OK:
            raise PublishError(f"{name}: not confirmed: {confirmed.get('detail')}")
        return Sent(
            case=name,
            expected=_processed(path, content_type, None),
            way="upload API",
            shape=confirmed["delivery"],
            size=len(content),
            sqs_message_id=None,
            sent_at=began,
            message_id=message_id,
            idempotency_key=message_id,
        )

    # --- Everything that can be wrong -----------------------------------------------------------------------------

    def _again(self, pdf: Path) -> Sent:
        event = self._event("PDF", pdf, "application/pdf")
        began = time.time()
        expected = Expected(outcome="duplicate")
        return _sent("same event again", expected, "library", self._producer.publish(event), began)

    def _conflicting(self, png: Path) -> Sent:
        event = self._event("PDF", png, "image/png")
        began = time.time()
        expected = self._parked(ErrorCode.CONFLICT)
        return _sent("same identity, other content", expected, "library", self._producer.publish(event), began)

    def _gone(self, name: str, path: Path, expected: Expected) -> Sent:
        claim = self._upload(name, path.read_bytes())
        self._deployment.aws.s3.delete_object(Bucket=claim.bucket, Key=claim.key)
        return self._point(name, expected, claim)

    def _tampered(self, pdf: Path) -> Sent:
        name, content = "object tampered with", pdf.read_bytes()
        claim = self._upload(name, content)
        self._deployment.aws.s3.delete_object(Bucket=claim.bucket, Key=claim.key)
        self._put(claim, bytes([content[0] ^ 1]) + content[1:])
        return self._point(name, self._parked(ErrorCode.CHECKSUM_MISMATCH), claim)

    def _foreign(self, pdf: Path) -> Sent:
        name, content = "foreign bucket", pdf.read_bytes()
        self._deployment.aws.s3.create_bucket(Bucket=FOREIGN_BUCKET)
        foreign = replace(self._claim(name, content), bucket=FOREIGN_BUCKET)
        self._put(foreign, content)
        return self._point(name, self._parked(ErrorCode.UNTRUSTED_REFERENCE), foreign)

    def _malformed(self) -> Sent:
        return self._send("malformed message", self._parked(ErrorCode.INVALID_ENVELOPE), "this is no envelope")

    @staticmethod
    def _parked(code: str) -> Expected:
        return Expected(outcome="parked", code=code)

    # --- Pointers without a producer ------------------------------------------------------------------------------

    def _claim(self, name: str, content: bytes) -> Claim:
        sha256 = hashlib.sha256(content).hexdigest()
        key = object_key(tenant_id=TENANT, event_type=EVENT_TYPE, idempotency_key=self._message_id(name), sha256=sha256)
        return Claim(
            bucket=self._deployment.producer.bucket,
            key=key,
            content_type="application/pdf",
            content_length=len(content),
            sha256=sha256,
        )

    def _upload(self, name: str, content: bytes) -> Claim:
        claim = self._claim(name, content)
        self._put(claim, content)
        return claim

    def _put(self, claim: Claim, content: bytes) -> None:
        self._deployment.aws.s3.put_object(
            Bucket=claim.bucket, Key=claim.key, Body=content, ContentType=claim.content_type, IfNoneMatch="*"
        )

    def _point(self, name: str, expected: Expected, claim: Claim) -> Sent:
        message_id = self._message_id(name)
        envelope = Envelope(
            message_id=message_id,
            event_type=EVENT_TYPE,
            tenant_id=TENANT,
            idempotency_key=message_id,
            published_at=datetime.now(UTC),
            payload=claim,
            domain_ref={},
        )
        return self._send(name, expected, encode(envelope), claim=claim, message_id=message_id)

    def _send(
        self, name: str, expected: Expected, body: str, *, claim: Claim | None = None, message_id: str | None = None
    ) -> Sent:
        began = time.time()
        answer = self._deployment.aws.sqs.send_message(QueueUrl=self._deployment.producer.queue_url, MessageBody=body)
        return Sent(
            case=name,
            expected=expected,
            way="raw message",
            shape="claim" if claim else "-",
            size=claim.content_length if claim else len(body),
            sqs_message_id=answer["MessageId"],
            sent_at=began,
            message_id=message_id,
            idempotency_key=message_id,
        )

    def _message_id(self, name: str) -> str:
        return f"{self._run_id}-{name.replace(' ', '-').replace(',', '').lower()}"

    def _event(self, name: str, path: Path, content_type: str) -> Event:
        return Event(
            tenant_id=TENANT,
            event_type=EVENT_TYPE,
            payload=path,
            content_type=content_type,
            message_id=self._message_id(name),
            occurred_at=datetime.now(UTC),
        )


def _processed(path: Path, content_type: str, rows: int | None) -> Expected:
    facts = FileFacts(path.stat().st_size, content_type, rows)
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Expected(outcome="processed", sha256=sha256, facts=facts)


def _sent(name: str, expected: Expected, way: str, published: Published, began: float) -> Sent:
    return Sent(
        case=name,
        expected=expected,
        way=way,
        shape="inline" if isinstance(published.payload, Inline) else "claim",
        size=published.content_length,
        sqs_message_id=published.sqs_message_id,
        sent_at=began,
        message_id=published.message_id,
        idempotency_key=published.idempotency_key,
    )
