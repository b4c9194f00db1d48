"""The deployed reconciler of the documents pipeline, and the command beside it: one payload of every kind (R7.1)."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from claim_check import aws_reconciliation
from claim_check.adapters.inbox_items import to_item
from claim_check.adapters.session import Clients
from claim_check.contract import (
    METADATA_UPLOAD,
    TAG_STATE,
    TAG_UNCONFIRMED,
    InboxState,
    Setting,
    inbox_key,
    object_key,
)
from claim_check.ports import InboxRow
from claim_check.reconciliation.settings import ReconcilerSettings
from claim_check.telemetry import key_hash
from claim_check_ops.local import EmbeddedAws
from claim_check_ops.local.deployment import Deployment
from claim_check_ops.local.waiting import wait_until
from claim_check_ops.reconciling.checkpoint_file import Memory
from tests.fakes.clock import FakeClock
from tests.fakes.telemetry import FakeTelemetry

pytestmark = pytest.mark.integration

TENANT = f"reconciled-{uuid.uuid4().hex[:8]}"
PREFIX = f"payloads/tenants/{TENANT}/"
SECONDS = 60.0


@dataclass(frozen=True)
class Stand:
    """What is deployed, and what is put there for a tenant of its own."""

    aws: EmbeddedAws
    bucket: str
    inbox: str
    function: str

    @property
    def variables(self) -> dict[str, str]:
        """Settings of the deployed function."""
        answer = self.aws.lambda_.get_function_configuration(FunctionName=self.function)
        return dict(answer["Environment"]["Variables"])

    def put(self, name: str, **options: Any) -> str:  # noqa: ANN401 - of put_object
        """An object of an event."""
        key = key_of(name)
        self.aws.s3.put_object(Bucket=self.bucket, Key=key, Body=name.encode(), IfNoneMatch="*", **options)
        return key

    def received(self, name: str, state: InboxState) -> None:
        """A row of the pipeline's consumer."""
        row = InboxRow(
            key=inbox_key(consumer="documents", tenant_id=TENANT, idempotency_key=name),
            state=state,
            consumer="documents",
            sqs_message_id=str(uuid.uuid4()),
            tenant_id=TENANT,
            event_type="DocumentUploaded",
            message_id=name,
            payload_bucket=self.bucket,
            payload_key=key_of(name),
        )
        self.aws.dynamodb.put_item(TableName=self.inbox, Item=to_item(row))

    def is_there(self, name: str) -> bool:
        """Whether the object is."""
        return bool(self.aws.s3.list_objects_v2(Bucket=self.bucket, Prefix=key_of(name)).get("Contents"))

    @contextmanager
    def settings(self, **changed: str) -> Iterator[None]:
        """Deploy the function with other settings for a while."""
        before = self.variables
        configure: Any = self.aws.lambda_.update_function_configuration
        configure(FunctionName=self.function, Environment={"Variables": {**before, **changed}})
        try:
            yield
        finally:
            configure(FunctionName=self.function, Environment={"Variables": before})

    def invoke(self) -> dict[str, Any]:
        """One tick."""
        answer: Any = self.aws.lambda_.invoke(FunctionName=self.function, Payload=b"{}")
        document: dict[str, Any] = json.loads(answer["Payload"].read())
        assert not answer.get("FunctionError"), document
        return document

    def due(self) -> dict[str, Any] | None:
        """One tick, if it is time for a run."""
        answer = self.invoke()
        return None if answer["status"] == "waiting" else answer

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """``claim-check reconcile``."""
        return subprocess.run(  # noqa: S603 - our own command
            [str(Path(sys.executable).with_name("claim-check")), "reconcile", *arguments],
            env={**self.aws.environment(), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )


def key_of(name: str) -> str:
    """Key of an event's object."""
    sha256 = hashlib.sha256(name.encode()).hexdigest()
    return object_key(tenant_id=TENANT, event_type="DocumentUploaded", idempotency_key=name, sha256=sha256)


@pytest.fixture(scope="module")
def stand(embedded_aws: EmbeddedAws, documents: Deployment, outputs: list[Mapping[str, str]]) -> Stand:
    """One payload of every kind, and a row whose payload is gone."""
    bucket = documents.consumer.bucket
    (ours,) = (one for one in outputs if one.get("BucketName") == bucket)
    made = Stand(embedded_aws, bucket, ours["InboxTableName"], ours["ReconcilerFunctionName"])
    made.put("orphan")
    made.put("open")
    made.received("open", "FAILED")
    made.put("completed")
    made.received("completed", "COMPLETED")
    tagged = {"Metadata": {METADATA_UPLOAD: "direct"}, "Tagging": f"{TAG_STATE}={TAG_UNCONFIRMED}"}
    made.put("unconfirmed", **tagged)
    made.put("confirmed", Metadata={METADATA_UPLOAD: "direct"})
    made.received("lost", "PARKED")
    embedded_aws.s3.put_object(Bucket=made.bucket, Key=f"{PREFIX}by-hand.txt", Body=b"", IfNoneMatch="*")
    return made


CLASSES = {"young": 0, "open": 1, "completed": 1, "unpublished": 0, "unknown": 3, "foreign": 1}
"""Nothing here is old enough for the proof of an upload by grant: its time cannot be moved."""


def test_the_deployed_function_leaves_young_payloads_alone_and_finds_dead_pointers(stand: Stand) -> None:
    with stand.settings(**{Setting.RECONCILER_PREFIX: PREFIX, Setting.RECONCILER_EVERY: "1"}):
        report = stand.invoke()
    assert report["status"] == "finished"
    assert report["classes"] == {**dict.fromkeys(CLASSES, 0), "young": 5, "foreign": 1}
    assert report["dead_pointers"] == 1
    (sample,) = [one for one in report["samples"] if one["kind"] == "dead pointer"]
    assert (sample["messageId"], sample["payloadKeyHash"]) == ("lost", key_hash(key_of("lost")))
    assert "payloads/" not in json.dumps(report)


def test_the_deployed_function_tells_every_class_and_runs_once_a_day(stand: Stand) -> None:
    due = {Setting.RECONCILER_PREFIX: PREFIX, Setting.RECONCILER_GRACE: "0"}
    with stand.settings(**due, **{Setting.RECONCILER_EVERY: "1"}):
        report = wait_until(stand.due, what="a run is due again", timeout=SECONDS)
    assert (report["status"], report["classes"]) == ("finished", CLASSES)
    assert report["looks"] == 3
    with stand.settings(**due):
        assert stand.invoke()["status"] == "waiting"


def test_the_command_shows_the_same_and_removes_only_what_is_proven(stand: Stand) -> None:
    options = ("--prefix", PREFIX, "--grace", "0s", "--json", "--function", stand.function)
    result = stand.command(*options)
    assert result.returncode == 1, result.stderr  # a dead pointer
    assert json.loads(result.stdout)["classes"] == CLASSES
    result = stand.command(*options, "--delete")
    assert json.loads(result.stdout)["removed"] == 0
    for name in ("orphan", "open", "completed", "unconfirmed", "confirmed"):
        assert stand.is_there(name)


def test_an_upload_that_was_not_confirmed_in_time_goes(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Days later, by the clock of who runs it: the function's own library, on the deployed tables."""
    later = FakeClock(
        now=stand.aws.s3.head_object(Bucket=stand.bucket, Key=key_of("orphan"))["LastModified"].timestamp()
    )
    later.advance(30 * 86_400)
    monkeypatch.setattr(aws_reconciliation, "SystemClock", lambda: later)
    variables = {**stand.variables, Setting.RECONCILER_PREFIX: PREFIX, Setting.RECONCILER_DELETE: "true"}
    outcome = aws_reconciliation.reconciliation(
        ReconcilerSettings.from_environment(variables),
        clients=Clients(stand.aws.session),
        telemetry=FakeTelemetry(),
        checkpoints=Memory(),
    ).run()
    assert (outcome.tally.removed, outcome.tally.classes["unpublished"]) == (1, 1)
    assert not stand.is_there("unconfirmed")
    for name in ("orphan", "open", "completed", "confirmed"):
        assert stand.is_there(name)
