"""``claim-check ingest`` and the composed ingester, against the embedded AWS (R10.3)."""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
from typer.testing import CliRunner

from claim_check import Table
from claim_check.adapters.session import Clients
from claim_check.aws_ingest import ingester
from claim_check.contract import LedgerAttribute, Setting
from claim_check.ingest import S3Ingester
from claim_check.ingest.settings import IngestSettings
from claim_check_ops.cli import app
from claim_check_ops.local import EmbeddedAws
from claim_check_ops.telemetry import SilentTelemetry

pytestmark = pytest.mark.integration

COPIES = "copies"
KEYS = ["in/a b+é.txt", "in/b.txt", "in/c.txt"]


@dataclass
class Ingest:
    """An ingest of a bucket of its own, described by the environment.

    Attributes:
        clients: AWS.
        variables: Its settings.
    """

    clients: Clients
    variables: dict[str, str]

    @property
    def bucket(self) -> str:
        """Its bucket."""
        return self.variables[Setting.INGEST_BUCKET]

    def put(self, key: str, content: bytes) -> None:
        """Write an object that nobody is told of."""
        self.clients.s3.put_object(Bucket=self.bucket, Key=key, Body=content)

    def run(self, *arguments: str) -> tuple[int, str]:
        """Run a command: exit code and output."""
        absent = {name: None for name in os.environ if name.startswith("CLAIM_CHECK_")}
        result = CliRunner().invoke(app, ["ingest", *arguments], env={**absent, **self.variables})
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.output

    def reconcile(self, *arguments: str) -> dict[str, Any]:
        """Run a reconciliation; what it tells."""
        code, printed = self.run("reconcile", "--json", "--grace", "0", *arguments)
        assert code == 0, printed
        report: dict[str, Any] = json.loads(printed)
        return report

    def deliver(self) -> None:
        """Let the ingester handle all that is queued."""
        url, made = self.variables[Setting.INGEST_QUEUE_URL], self._ingester()
        while messages := self.clients.sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, MessageSystemAttributeNames=["All"]
        ).get("Messages"):
            records = [
                {
                    "messageId": one["MessageId"],
                    "receiptHandle": one["ReceiptHandle"],
                    "body": one["Body"],
                    "attributes": one["Attributes"],
                    "eventSource": "aws:sqs",
                    "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:ingest",
                }
                for one in messages
            ]
            assert made.handle_lambda({"Records": records}, remaining_seconds=60) == {"batchItemFailures": []}
            for one in messages:
                self.clients.sqs.delete_message(QueueUrl=url, ReceiptHandle=one["ReceiptHandle"])

    def _ingester(self) -> S3Ingester:
        def put(change: Any, stream: Any, tx: Any) -> None:  # noqa: ANN401 - a handler
            tx.put(Table(self.variables[COPIES], "key"), {"key": change.key.text, "content": stream.read()})

        def delete(change: Any, tx: Any) -> None:  # noqa: ANN401 - a handler
            tx.delete(Table(self.variables[COPIES], "key"), {"key": change.key.text})

        settings = IngestSettings.from_environment(self.variables)
        return ingester(settings, apply_put=put, apply_delete=delete, clients=self.clients, telemetry=SilentTelemetry())

    def copies(self) -> dict[str, bytes]:
        """What was applied."""
        items = self.clients.dynamodb.scan(TableName=self.variables[COPIES])["Items"]
        return {item["key"]["S"]: item["content"]["B"] for item in items}


@pytest.fixture
def ingest(embedded_aws: EmbeddedAws, monkeypatch: pytest.MonkeyPatch) -> Ingest:
    """An ingest whose bucket sends no events at all."""
    for name, value in embedded_aws.environment().items():
        monkeypatch.setenv(name, value)
    clients, name = Clients(boto3.Session(region_name="us-east-1")), f"ingest-{uuid.uuid4().hex[:12]}"
    clients.s3.create_bucket(Bucket=name)
    clients.s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    url = clients.sqs.create_queue(QueueName=name)["QueueUrl"]
    _table(clients, name, LedgerAttribute.SHARD, LedgerAttribute.KEY)
    _table(clients, f"{name}-copies", "key")
    variables = {
        Setting.INGEST: name,
        Setting.INGEST_BUCKET: name,
        Setting.INGEST_QUEUE_URL: url,
        Setting.LEDGER_TABLE: name,
        Setting.INGEST_PUT: "tests.ingest_world:apply_put",
        Setting.INGEST_DELETE: "tests.ingest_world:apply_delete",
        Setting.INGEST_FILTERS: '[{"prefix":"in/"}]',
        "AWS_DEFAULT_REGION": "us-east-1",
        COPIES: f"{name}-copies",
    }
    return Ingest(clients, variables)


def _table(clients: Clients, name: str, *keys: str) -> None:
    kinds: list[Any] = ["HASH", "RANGE"]
    clients.dynamodb.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": key, "KeyType": kind} for key, kind in zip(keys, kinds, strict=False)],
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
    )


def test_a_bucket_that_never_told_anything_is_brought_in_and_kept_up(
    ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New, changed and gone, by the command alone."""
    monkeypatch.setattr("claim_check.ingest.reconciliation.SETTLE_SECONDS", 0)
    for key in KEYS:
        ingest.put(key, b"one")
    ingest.put("elsewhere/d.txt", b"one")
    assert ingest.reconcile()["new"] == 3
    assert ingest.reconcile("--queue")["queued"] == 3
    ingest.deliver()
    assert ingest.copies() == dict.fromkeys(KEYS, b"one")
    ingest.put(KEYS[0], b"two")
    ingest.clients.s3.delete_object(Bucket=ingest.bucket, Key=KEYS[1])
    report = ingest.reconcile("--queue")
    assert (report["new"], report["changed"], report["gone"], report["queued"]) == (0, 1, 1, 2)
    ingest.deliver()
    assert ingest.copies() == {KEYS[0]: b"two", KEYS[2]: b"one"}
    assert ingest.reconcile("--queue") | {"listed": 2} == {
        "listed": 2, "new": 0, "changed": 0, "gone": 0, "queued": 0, "complete": True, "resumed": False,
        "skipped": False,
    }  # fmt: skip


def test_the_row_of_an_object_is_shown(ingest: Ingest) -> None:
    ingest.put(KEYS[0], b"one")
    ingest.reconcile("--queue")
    ingest.deliver()
    code, printed = ingest.run("show", KEYS[0])
    assert code == 0, printed
    row = json.loads(printed)
    assert (row["key"], row["state"], row["kind"], row["size"]) == (KEYS[0], "PRESENT", "Reconciliation", 3)
    code, printed = ingest.run("show", "no such object")
    assert (code, "has no row" in printed) == (1, True)


def test_a_report_is_said_in_words_and_keys_only_if_asked_for(ingest: Ingest) -> None:
    ingest.put(KEYS[0], b"one")
    code, printed = ingest.run("reconcile", "--grace", "0")
    assert code == 0
    assert printed == f"{ingest.bucket}: 1 objects. 1 new, 0 changed, 0 gone; nothing was queued.\n"
    code, printed = ingest.run("reconcile", "--grace", "0", "--show-keys")
    assert f"new\t{KEYS[0]}" in printed


def test_what_refuses_is_said_so(ingest: Ingest) -> None:
    ingest.variables[Setting.LEDGER_TABLE] = "absent"
    code, printed = ingest.run("reconcile")
    assert (code, "refuses to show the ledger" in printed) == (1, True)


def test_an_ingest_that_nobody_names_is_not_guessed(ingest: Ingest) -> None:
    del ingest.variables[Setting.INGEST]
    code, printed = ingest.run("reconcile", "--ingest", "no-such-ingest")
    assert (code, "0 ingests in this account" in printed) == (2, True)
    code, printed = ingest.run("reconcile", "--function", "no-such-function")
    assert (code, "no-such-function cannot be looked at" in printed) == (2, True)
