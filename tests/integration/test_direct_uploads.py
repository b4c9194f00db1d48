"""R2.8: direct uploads through the deployed HTTP API; the embedded AWS verifies presigned signatures and checksums."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from claim_check import contract
from claim_check.adapters.uploads import S3UploadStore
from claim_check.contract import InboxAttribute, inbox_key
from claim_check_ops.local import wait_until
from claim_check_ops.local.deployment import Deployment
from claim_check_ops.local.direct_uploads import DirectUploads, declaration

pytestmark = pytest.mark.integration

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "uploads"
TENANT = "tenant-9"


@dataclass
class Client:
    """A client with one file.

    Attributes:
        documents: The pipeline.
        uploads: Its upload API.
        content: The file.
        declared: What it declares.
    """

    documents: Deployment
    uploads: DirectUploads
    content: bytes = field(default_factory=lambda: uuid.uuid4().bytes * 100)
    declared: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Declare a new event."""
        self.declared = declaration(
            self.content,
            tenant_id=TENANT,
            event_type="Scan",
            message_id=f"upload-{uuid.uuid4()}",
            content_type="application/octet-stream",
        )

    @property
    def key(self) -> str:
        """Its object."""
        return contract.object_key(
            tenant_id=TENANT,
            event_type="Scan",
            idempotency_key=self.declared["messageId"],
            sha256=self.declared["sha256"],
        )

    @property
    def place(self) -> dict[str, str]:
        """Its object, for S3."""
        return {"Bucket": self.documents.producer.bucket, "Key": self.key}

    def grant(self) -> dict[str, Any]:
        """Ask for a grant, and get one."""
        status, answer = self.uploads.call("/uploads", self.declared)
        assert status == 201, answer
        upload: dict[str, Any] = answer["upload"]
        return upload

    def put(self, content: bytes | None = None, **changed: str | None) -> int:
        """Upload under a new grant."""
        return self.uploads.put(self.grant(), self.content if content is None else content, **changed)

    def confirm(self, **changed: object) -> tuple[int, Any]:
        """Confirm."""
        return self.uploads.call("/events", {**self.declared, **changed})

    def tags(self) -> list[Any]:
        """Tags of its object."""
        return list(self.documents.aws.s3.get_object_tagging(**self.place)["TagSet"])  # type: ignore[arg-type]  # a dict

    def row(self) -> dict[str, Any] | None:
        """The inbox row of its event."""
        key = inbox_key(
            consumer=self.documents.consumer.consumer, tenant_id=TENANT, idempotency_key=self.declared["messageId"]
        )
        answer = self.documents.aws.dynamodb.get_item(
            TableName=self.documents.consumer.inbox_table, Key={InboxAttribute.KEY: {"S": key}}, ConsistentRead=True
        )
        return answer.get("Item")

    def await_processed(self) -> None:
        """Wait until the handler is done."""

        def done() -> bool:
            row = self.row()
            return row is not None and row[InboxAttribute.STATE]["S"] == "COMPLETED"

        wait_until(done, what="the upload to be processed", timeout=60)

    def never_published(self) -> bool:
        """Whether nothing of it reached the consumer, who is quick, in a while."""
        time.sleep(0.5)
        return self.row() is None


@pytest.fixture
def client(documents: Deployment) -> Client:
    assert documents.uploads is not None
    return Client(documents, documents.uploads)


def test_declared_uploaded_confirmed_processed(client: Client) -> None:
    assert client.put() == 200
    assert client.tags() == [{"Key": "state", "Value": "unconfirmed"}]
    head = client.documents.aws.s3.head_object(**client.place)  # type: ignore[arg-type]  # a dict
    assert head["Metadata"]["tenant-id"] == TENANT
    status, answer = client.confirm()
    assert (status, answer["sha256"]) == (200, client.declared["sha256"])
    client.await_processed()
    assert client.tags() == []


def test_a_retried_upload_and_a_repeated_confirm_succeed(client: Client) -> None:
    assert client.put() == 200
    assert client.put() == 412
    first = client.confirm()
    assert first[0] == 200
    assert client.put() == 412
    assert client.confirm() == first
    client.await_processed()
    row = client.row()
    assert row is not None
    assert row[InboxAttribute.ATTEMPTS]["N"] == "1"


@pytest.mark.parametrize(
    "change, status",
    [
        ({"content": "other bytes"}, 400),
        ({"content": "longer"}, 403),
        ({"x_amz_checksum_sha256": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}, 403),
        ({"content_type": "text/html"}, 403),
        ({"if_none_match": None}, 403),
        ({"x_amz_tagging": "state=confirmed"}, 403),
        ({"x_amz_tagging": None}, 403),
        ({"x_amz_meta_tenant_id": "tenant-8"}, 403),
        ({"x_amz_meta_upload": None}, 403),
    ],
)
def test_an_upload_that_is_not_what_was_granted_is_refused(
    client: Client, change: dict[str, str | None], status: int
) -> None:
    contents: dict[str | None, bytes] = {"other bytes": client.content[::-1], "longer": client.content + b"x"}
    content = contents.get(change.pop("content", None), client.content)
    if len(content) != len(client.content):
        change = {"content_length": str(len(content))}
    assert client.put(content, **change) == status
    assert client.confirm()[0] == 404
    assert client.never_published()


def test_a_grant_that_has_expired(client: Client) -> None:
    granted = S3UploadStore(client.documents.clients.s3).sign_put(
        bucket=client.place["Bucket"],
        key=client.key,
        content_length=len(client.content),
        content_type=client.declared["contentType"],
        sha256=client.declared["sha256"],
        metadata={},
        tags={},
        expires_seconds=1,
    )
    upload = {"url": granted.url, "headers": granted.headers}
    time.sleep(2)
    assert client.uploads.put(upload, client.content) == 403
    assert client.confirm()[0] == 404
    assert client.never_published()


def test_a_grant_is_for_one_key(client: Client) -> None:
    upload = client.grant()
    upload["url"] = upload["url"].replace(f"/tenants/{TENANT}/", "/tenants/tenant-8/")
    assert client.uploads.put(upload, client.content) == 403


def _overwrite(client: Client) -> None:
    client.documents.aws.s3.put_object(
        **client.place,  # type: ignore[arg-type]  # a dict
        Body=client.content[::-1],
        ChecksumAlgorithm="SHA256",
        ContentType=client.declared["contentType"],
        Metadata={"tenant-id": TENANT},
    )


def _tag(client: Client) -> None:
    client.documents.aws.s3.put_object_tagging(
        **client.place,  # type: ignore[arg-type]  # a dict
        Tagging={"TagSet": [{"Key": "state", "Value": "confirmed"}]},
    )


def _one_after_the_other(*steps: Callable[[Client], object]) -> Callable[[Client], object]:
    return lambda client: [step(client) for step in steps]


@pytest.mark.parametrize(
    "arrange, changed, status, code",
    [
        (lambda client: client.grant(), {}, 404, "NotUploaded"),
        (lambda client: client.put(), {"tenantId": "tenant-8"}, 404, "NotUploaded"),
        (lambda client: client.put(), {"sha256": "0" * 64}, 404, "NotUploaded"),
        (lambda client: client.put(), {"contentLength": 1}, 409, "UploadMismatch"),
        (lambda client: client.put(), {"contentType": "text/html"}, 409, "UploadMismatch"),
        (_overwrite, {}, 409, "UploadMismatch"),
        (_one_after_the_other(Client.put, _overwrite), {}, 409, "UploadMismatch"),
        (_one_after_the_other(Client.put, _tag), {}, 409, "UploadTampered"),
        (lambda client: client.put(), {"contentLength": 5 * contract.GIB + 1}, 413, "EventTooLarge"),
        (lambda client: client.put(), {"key": "payloads/x"}, 400, "UnknownField"),
    ],
)
def test_a_confirm_that_is_refused(
    client: Client, arrange: Callable[[Client], object], changed: dict[str, object], status: int, code: str
) -> None:
    arrange(client)
    found, problem = client.confirm(**changed)
    assert (found, problem["code"]) == (status, code), problem
    assert {"type", "title", "detail", "field", "limit", "wayOut"} <= problem.keys()
    assert client.never_published()


def test_what_is_no_declaration(client: Client) -> None:
    for body in ("", "{", "[]"):
        status, problem = client.uploads.call("/uploads", body)
        assert (status, problem["status"]) == (400, 400)


def test_nothing_secret_is_logged(client: Client) -> None:  # R11.4
    upload = client.grant()
    client.uploads.put(upload, client.content)
    client.confirm()
    client.confirm(contentLength=1)
    client.await_processed()
    function = client.documents.uploads_function or ""

    def logged() -> list[str]:
        lines = client.documents.aws.lambda_logs(function)
        return lines if sum(client.declared["messageId"] in line for line in lines) > 1 else []

    lines = "\n".join(wait_until(logged, what="the log lines"))
    signature = upload["url"].partition("X-Amz-Signature=")[2]
    for secret in (client.key, client.declared["sha256"], signature, "X-Amz-"):
        assert secret not in lines


# --- The clients of the docs ----------------------------------------------------------------------------------------


def _run(client: Client, tmp_path: Path, *command: str) -> dict[str, Any]:
    file = tmp_path / "report.pdf"
    file.write_bytes(client.content)
    arguments = {"FILE": str(file), "API": client.uploads.url, "ID": client.declared["messageId"]}
    done = subprocess.run(  # noqa: S603 - our own examples
        [arguments.get(word, word) for word in command],
        env=client.documents.aws.process_environment(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize(
    "command",
    [
        [sys.executable, str(EXAMPLES / "upload_file.py"), "API", "FILE", TENANT, "ID"],
        ["bash", str(EXAMPLES / "upload_file.sh"), "API", "FILE", "application/pdf", TENANT, "ID"],
    ],
    ids=["python", "curl"],
)
def test_the_clients_of_the_docs_upload_and_may_be_repeated(client: Client, tmp_path: Path, command: list[str]) -> None:
    first = _run(client, tmp_path, *command)
    assert (first["messageId"], first["sha256"]) == (client.declared["messageId"], client.declared["sha256"])
    assert _run(client, tmp_path, *command) == first
    client.await_processed()
