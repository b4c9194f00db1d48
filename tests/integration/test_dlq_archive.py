"""The replay that the docs describe, deployed: parked, archived, gone from the DLQ, redriven, once (R6.5).

The embedded AWS triggers no schedule and nobody can wait twelve days, so the function is invoked, and its own setting
says that everything is old enough. The thirty days themselves are `test_replay_after_weeks`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from claim_check import Event, Published
from claim_check.adapters.archive import S3DeadLetterArchive
from claim_check.adapters.session import Clients
from claim_check.adapters.sqs import SqsQueue
from claim_check.archive import ArchivedLetter
from claim_check.aws import producer
from claim_check.contract import Setting
from claim_check.settings import ProducerSettings
from claim_check_ops.local import CdkCli, EmbeddedAws, deploy_assembly, wait_until
from claim_check_ops.telemetry import SilentTelemetry

pytestmark = [pytest.mark.integration, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
REPLAY = ROOT / "docs" / "examples" / "replay"
BIN = Path(sys.executable).parent


@dataclass
class Replay:
    """The example of the docs, deployed, and what its people do."""

    aws: EmbeddedAws
    outputs: dict[str, str]
    folder: Path

    @property
    def archive_settings(self) -> dict[str, str]:
        """Variables of the archive's function."""
        found = self.aws.lambda_.get_function_configuration(FunctionName=self.outputs["ArchiveFunctionName"])
        return dict(found["Environment"]["Variables"])

    @property
    def dlq_url(self) -> str:
        """The DLQ."""
        return self.archive_settings[Setting.DLQ_URL]

    def set(self, name: str, value: str) -> None:
        """Change a setting of the archive's function."""
        variables = self.archive_settings | {name: value}
        function = self.outputs["ArchiveFunctionName"]
        self.aws.lambda_.update_function_configuration(FunctionName=function, Environment={"Variables": variables})

    def run_archive(self) -> dict[str, Any]:
        """One scheduled run."""
        answer = self.aws.lambda_.invoke(FunctionName=self.outputs["ArchiveFunctionName"], Payload=b"{}")
        report: dict[str, Any] = json.loads(answer["Payload"].read())
        assert not answer.get("FunctionError"), report
        return report

    def publish(self, account: str, cents: int) -> str:
        """Publish a booking whose payload lies in S3."""
        settings = ProducerSettings.from_environment(json.loads(self.outputs["ProducerEnvironment"]))
        event = Event(
            tenant_id="t-1",
            event_type="AmountBooked",
            payload=json.dumps({"account": account, "cents": cents}).encode(),
            content_type="application/json",
            sensitive=True,
        )
        publisher = producer(settings, clients=Clients(self.aws.session), telemetry=SilentTelemetry())
        published = publisher.publish(event)
        assert isinstance(published, Published)
        return published.message_id

    def open_account(self, account: str) -> None:
        """The fix."""
        self.aws.dynamodb.put_item(TableName=self.outputs["TableName"], Item={"pk": {"S": account}})

    def account(self, account: str) -> dict[str, int]:
        """How often was booked, and how much."""
        item = self.aws.dynamodb.get_item(
            TableName=self.outputs["TableName"], Key={"pk": {"S": account}}, ConsistentRead=True
        ).get("Item", {})
        return {name: int(item[name]["N"]) for name in ("booked", "cents") if name in item}

    def depth(self) -> dict[str, int]:
        """Messages in the DLQ that can be received, and that are hidden."""
        names: Any = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        found = self.aws.sqs.get_queue_attributes(QueueUrl=self.dlq_url, AttributeNames=names)["Attributes"]
        return {"visible": int(found[names[0]]), "hidden": int(found[names[1]])}

    def letters(self) -> S3DeadLetterArchive:
        """The archive."""
        return S3DeadLetterArchive(self.aws.s3, self.outputs["ArchiveBucketName"])

    def dlq(self, *command: str) -> Any:  # noqa: ANN401 - a JSON document
        """``claim-check dlq ... --json`` as an operator types it."""
        environment = self.aws.process_environment() | {
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "XDG_STATE_HOME": str(self.folder),
        }
        done = subprocess.run(  # noqa: S603 - our own command
            [str(BIN / "claim-check"), "dlq", *command, "--consumer", "bookings", "--json"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replay]:
    """The example, in an AWS of its own."""
    with EmbeddedAws() as aws:
        assembly = CdkCli(aws, REPLAY, context={"claim-check:build-dir": str(ROOT / ".build" / "lambda")}).synth()
        (stack,) = deploy_assembly(aws, assembly).values()
        yield Replay(aws, dict(stack.outputs), tmp_path_factory.mktemp("operator"))


def test_dead_letters_are_archived_and_redriven_once_each(replay: Replay) -> None:
    account = f"account-{uuid.uuid4().hex[:8]}"
    published = [replay.publish(account, cents) for cents in (100, 20, 3)]
    wait_until(lambda: replay.depth()["visible"] == 3, what="the bookings to be parked", timeout=90)

    young = replay.run_archive()
    assert (young["seen"], young["archived"], young["failed"], young["finished"]) == (3, 0, 0, True)
    assert young["stuck"] == 0
    assert replay.depth() == {"visible": 3, "hidden": 0}, "what is not due can be received at once"

    replay.set(Setting.ARCHIVE_AFTER, "0")
    old = replay.run_archive()
    assert (old["seen"], old["archived"], old["failed"], old["finished"]) == (3, 3, 0, True)
    assert replay.depth() == {"visible": 0, "hidden": 0}
    queue = replay.dlq_url.rpartition("/")[2]
    letters = list(replay.letters().letters(queue))
    assert len(letters) == 3
    assert {letter.delivery.noted("parked")["errorCode"] for letter in letters} == {"NoSuchAccount"}
    assert replay.run_archive()["seen"] == 0

    (group,) = replay.dlq("list")["groups"]
    assert (group["reason"], group["source"], group["messages"]) == ("NoSuchAccount", "archive", 3)

    replay.open_account(account)
    replay.dlq("redrive", "--reason", "NoSuchAccount", "--go", "--settle", "5s")
    wait_until(lambda: replay.account(account).get("booked") == 3, what="the bookings", timeout=60)
    assert replay.account(account) == {"booked": 3, "cents": 123}
    assert list(replay.letters().letters(queue)) == []
    assert replay.depth() == {"visible": 0, "hidden": 0}
    assert len(set(published)) == 3


def test_a_letter_in_both_places_is_shown_once_and_applied_once(replay: Replay) -> None:
    """The archive's function died after it stored, before it deleted."""
    account = f"account-{uuid.uuid4().hex[:8]}"
    replay.publish(account, 5)
    wait_until(lambda: replay.depth()["visible"] == 1, what="the booking to be parked", timeout=90)
    (delivery,) = SqsQueue(replay.aws.sqs).receive_batch(
        replay.dlq_url, count=1, wait_seconds=2, visibility_seconds=0, attempt_id=None
    )
    assert replay.letters().put(ArchivedLetter.of(delivery, now=delivery.sent_at + 1))
    assert sum(group["messages"] for group in replay.dlq("list")["groups"]) == 1
    replay.open_account(account)
    replay.dlq("redrive", "--go", "--settle", "5s")
    wait_until(lambda: replay.account(account) == {"booked": 1, "cents": 5}, what="the booking", timeout=60)
    assert replay.letters().count(delivery.queue) == 0
