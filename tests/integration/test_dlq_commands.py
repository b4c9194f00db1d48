"""``claim-check dlq`` as an operator uses it, against the deployed application (R9)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from claim_check import Claim, Event
from claim_check.adapters.archive import S3DeadLetterArchive
from claim_check.adapters.inbox_items import to_row
from claim_check.adapters.sqs import SqsQueue
from claim_check.archive import ArchivedLetter
from claim_check.aws import producer
from claim_check.contract import ErrorCode, InboxAttribute, inbox_key
from claim_check.delivery import Delivery
from claim_check.parking import parked_copy
from claim_check.ports import InboxRow
from claim_check_examples.documents import document_key
from claim_check_ops.local.deployment import Deployment
from claim_check_ops.telemetry import SilentTelemetry

pytestmark = pytest.mark.integration

BIN = Path(sys.executable).parent
TENANT = "tenant-dlq"
EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "replay" / "replay_reason.sh"


@dataclass(frozen=True)
class Dead:
    """A dead letter: its event, and SQS's id of it in the DLQ."""

    message_id: str
    sqs_message_id: str
    claim: Claim | None


class Desk:
    """A DLQ of one's own beside the documents pipeline, and the command."""

    def __init__(self, documents: Deployment, folder: Path, *, fifo: bool = False) -> None:
        """Make queues: a staging one, whose messages are looked at before they are dead, and a DLQ."""
        self.documents, self.folder = documents, folder
        suffix = ".fifo" if fifo else ""
        attributes: Any = {"FifoQueue": "true"} if fifo else {}
        name = f"dlq-{uuid.uuid4().hex[:12]}"
        sqs = documents.aws.sqs
        self.dlq_url = sqs.create_queue(QueueName=f"{name}-dlq{suffix}", Attributes=attributes)["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=self.dlq_url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 1})
        self.source_url = sqs.create_queue(
            QueueName=f"{name}{suffix}", Attributes={**attributes, "RedrivePolicy": policy}
        )["QueueUrl"]
        self.queue = SqsQueue(documents.clients.sqs)
        settings = replace(documents.producer, queue_url=self.source_url)
        self.producer = producer(settings, clients=documents.clients, telemetry=SilentTelemetry())

    def run(self, *arguments: str, dlq: bool = True, code: int = 0) -> Any:  # noqa: ANN401 - JSON, or text
        """Run the command; its document where it prints one."""
        command = ["claim-check", "dlq", *arguments, "--function", self.documents.consumer_function]
        command += ["--dlq-url", self.dlq_url] if dlq else []
        environment = self.documents.aws.process_environment() | {"PATH": f"{BIN}:{os.environ['PATH']}"}
        environment["XDG_STATE_HOME"] = str(self.folder)
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)  # noqa: S603 - our own command
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout) if "--json" in arguments and code != 2 else done.stdout + done.stderr

    def receive(self, url: str) -> list[Delivery]:
        """Up to ten messages, hidden from then on."""
        return self.queue.receive_batch(url, count=10, wait_seconds=0, visibility_seconds=600, attempt_id=None)

    def everything(self, url: str) -> list[Delivery]:
        """All messages of a queue that can be received, polled until two answers are empty."""
        found: dict[str, Delivery] = {}
        empty = 0
        while empty <= 1:
            received = self.receive(url)
            found |= {one.sqs_message_id: one for one in received}
            empty = 0 if received else empty + 1
        return list(found.values())

    def dead(
        self, count: int = 1, *, group: str | None = None, queue: str | None = None, code: str = "HandlerFailed"
    ) -> list[Dead]:
        """Publish claims, and park them as the consumer does; their source is ``queue``, or one's own."""
        made = []
        fifo = self.dlq_url.endswith(".fifo")
        for _ in range(count):
            event = Event(
                tenant_id=TENANT,
                event_type="Scan",
                payload=b"%PDF-1.7 " + uuid.uuid4().hex.encode(),
                content_type="application/pdf",
                group_id=group,
            )
            published = self.producer.publish(event)
            (delivery,) = self.receive(self.source_url)
            named = replace(delivery, queue=queue or delivery.queue)
            copy = parked_copy(named, code=code, attempts=5, now=time.time() - 60, fifo=fifo)
            (result,) = self.queue.send_batch(self.dlq_url, [copy])
            self.queue.delete_batch(self.source_url, [delivery.receipt_handle])
            claim = published.payload if isinstance(published.payload, Claim) else None
            made.append(Dead(published.message_id, result.sqs_message_id or "", claim))
        return made

    def row(self, dead: Dead) -> InboxRow | None:
        """The inbox's row of an event."""
        consumer = self.documents.consumer
        key = inbox_key(consumer=consumer.consumer, tenant_id=TENANT, idempotency_key=dead.message_id)
        answer = self.documents.aws.dynamodb.get_item(
            TableName=consumer.inbox_table, Key={InboxAttribute.KEY: {"S": key}}
        )
        return to_row(answer["Item"]) if "Item" in answer else None

    def document(self, dead: Dead) -> bool:
        """Whether the handler's row of an event is there."""
        key = {"pk": {"S": document_key(TENANT, dead.message_id)}}
        return "Item" in self.documents.aws.dynamodb.get_item(TableName=self.documents.table, Key=key)

    def lose(self, dead: Dead) -> None:
        """Remove a payload."""
        assert dead.claim is not None
        self.documents.aws.s3.delete_object(Bucket=dead.claim.bucket, Key=dead.claim.key)


@pytest.fixture
def desk(documents: Deployment, tmp_path: Path) -> Desk:
    """A standard queue and its DLQ."""
    return Desk(documents, tmp_path)


@pytest.fixture
def fifo(documents: Deployment, tmp_path: Path) -> Desk:
    """A FIFO queue and its DLQ."""
    return Desk(documents, tmp_path, fifo=True)


def tens(count: int) -> Iterator[range]:
    """Numbers, ten at a time."""
    for start in range(0, count, 10):
        yield range(start, min(start + 10, count))


@pytest.mark.slow
def test_a_thousand_are_listed_and_all_can_be_received_afterwards(desk: Desk) -> None:
    """How long it takes is measured by `make bench`, on a machine that does nothing else."""
    for numbers in tens(1000):
        entries: Any = [{"Id": str(number), "MessageBody": f'{{"number":{number}}}'} for number in numbers]
        desk.documents.aws.sqs.send_message_batch(QueueUrl=desk.dlq_url, Entries=entries)
    listed = desk.run("list", "--json")
    assert listed["seen"] == 1000
    assert listed["hiddenUntilTheirTimeIsUp"] == []
    (group,) = listed["groups"]
    assert (group["reason"], group["messages"]) == (ErrorCode.INVALID_ENVELOPE, 1000)
    assert len(desk.everything(desk.dlq_url)) == 1000


def test_a_list_groups_and_tells_the_life_left(desk: Desk) -> None:
    desk.dead(3)
    table = desk.run("list", "--messages")
    assert "HandlerFailed" in table
    assert TENANT in table
    assert "3 looked at; they are visible again." in table
    (group,) = desk.run("list", "--json")["groups"]
    days = desk.documents.consumer.inbox_ttl_seconds / 86_400
    assert group["lifeLeftDays"] == pytest.approx(days, abs=0.01)


def test_one_is_shown_with_a_hash_of_its_key(desk: Desk) -> None:
    (dead, _) = desk.dead(2)
    assert dead.claim is not None
    for identity in (dead.message_id, dead.sqs_message_id):
        (shown,) = desk.run("show", identity, "--json")["messages"]
        assert shown["envelope"]["messageId"] == dead.message_id
        assert dead.claim.key not in json.dumps(shown)
    text = desk.run("show", dead.message_id, "--reveal-key")
    assert dead.claim.key[-60:] in text.replace("\n", "").replace(" ", "")
    assert "is not among the 2 dead letters" in desk.run("show", "nobody", code=1)
    assert len(desk.everything(desk.dlq_url)) == 2


def test_a_check_finds_the_payload_that_is_gone(desk: Desk) -> None:
    lost, _ = desk.dead(2)
    desk.lose(lost)
    found = desk.run("check", "--json", code=1)
    assert found["counts"] == {"readable": 1, "missing": 1}
    assert "readable" in desk.run("check", "--id", desk.dead()[0].message_id)


def test_a_redrive_shows_its_plan_then_moves_and_says_what_stays(desk: Desk) -> None:
    """To the deployed consumer, which processes each once and marks it."""
    queue = desk.documents.consumer.queue_url.rpartition("/")[2]
    moved = desk.dead(5, queue=queue)
    (lost,) = desk.dead(queue=queue)
    desk.lose(lost)
    plan = desk.run("redrive", "--to", queue, "--rate", "50", "--json", code=1)
    assert plan["dryRun"] is True
    assert (plan["messages"], len(plan["plan"])) == (5, 6)
    assert "Nothing was sent." in desk.run("redrive", "--to", queue, code=1)
    assert not any(desk.document(one) for one in moved)
    report = desk.run("redrive", "--to", queue, "--go", "--rate", "50", "--json", code=1)
    assert report["outcomes"] == {"completed": 5}
    assert [one["why"] for one in report["stayed"]] == [ErrorCode.MISSING_PAYLOAD]
    assert {one["messageId"] for one in report["moved"]} == {one.message_id for one in moved}
    assert all(desk.document(one) for one in moved)
    assert {row.redriven for one in moved if (row := desk.row(one))} == {1}
    assert [one.sqs_message_id for one in desk.everything(desk.dlq_url)] == [lost.sqs_message_id]


def test_what_nobody_named_a_queue_for_goes_where_it_came_from(desk: Desk) -> None:
    dead = desk.dead(12)
    report = desk.run("redrive", "--go", "--no-canary", "--settle", "0s", "--rate", "100", "--json")
    assert len(report["moved"]) == 12
    arrived = desk.everything(desk.source_url)
    assert {one.redrive_round for one in arrived} == {1}
    assert {json.loads(one.body)["messageId"] for one in arrived} == {one.message_id for one in dead}
    assert desk.everything(desk.dlq_url) == []


def test_what_sqs_moved_goes_back_and_is_untraced(desk: Desk) -> None:
    event = Event(tenant_id=TENANT, event_type="Scan", payload=b"%PDF", content_type="application/pdf")
    published = desk.producer.publish(event)
    sqs = desk.documents.aws.sqs
    for _ in range(2):
        sqs.receive_message(QueueUrl=desk.source_url, VisibilityTimeout=0)
    (group,) = desk.run("list", "--json")["groups"]
    assert (group["reason"], group["movedBySqs"]) == ("Untraced", 1)
    desk.run("redrive", "--go", "--no-canary", "--settle", "0s")
    (arrived,) = desk.everything(desk.source_url)
    assert json.loads(arrived.body)["messageId"] == published.message_id


def test_a_canary_that_nobody_works_on_stops_it_and_the_same_call_goes_on(desk: Desk) -> None:
    desk.dead(3)
    arguments = ("redrive", "--go", "--canary-timeout", "1s", "--settle", "0s")
    stopped = desk.run(*arguments, code=1)
    assert "not completed within 1 s" in stopped
    assert "1 moved" in stopped
    assert "The same call goes on" in stopped
    again = desk.run("redrive", "--go", "--no-canary", "--settle", "0s")
    assert "Going on with redrive" in again
    assert "2 moved" in again
    assert len(desk.everything(desk.source_url)) == 3


def test_order_holds_on_a_fifo_queue(fifo: Desk) -> None:
    sent = {group: [one.message_id for one in fifo.dead(12, group=group)] for group in ("a", "b")}
    report = fifo.run("redrive", "--go", "--no-canary", "--settle", "0s", "--rate", "100", "--json")
    assert len(report["moved"]) == 24
    arrived: dict[str, list[str]] = {"a": [], "b": []}
    while received := fifo.receive(fifo.source_url):
        for one in received:
            arrived[one.group_id or ""].append(json.loads(one.body)["messageId"])
        fifo.queue.delete_batch(fifo.source_url, [one.receipt_handle for one in received])
    assert arrived == sent


def test_the_archive_is_read_too(desk: Desk) -> None:
    """R6.5."""
    bucket = f"archive-{uuid.uuid4().hex[:12]}"
    desk.documents.aws.s3.create_bucket(Bucket=bucket)
    archive = S3DeadLetterArchive(desk.documents.clients.s3, bucket)
    desk.dead(2)
    for delivery in desk.everything(desk.dlq_url):
        archive.put(ArchivedLetter.of(delivery, now=time.time()))
        desk.queue.delete_batch(desk.dlq_url, [delivery.receipt_handle])
    desk.dead()
    listed = desk.run("list", "--archive-bucket", bucket, "--json")
    assert listed["about"] == {"archive": 2, "queue": 1}
    assert {group["source"]: group["messages"] for group in listed["groups"]} == {"archive": 2, "queue": 1}
    assert desk.run("list", "--json", "--no-archive", "--archive-bucket", bucket)["seen"] == 1
    report = desk.run("redrive", "--archive-bucket", bucket, "--go", "--no-canary", "--settle", "0s", "--json")
    assert len(report["moved"]) == 3
    assert list(archive.letters(desk.dlq_url.rpartition("/")[2])) == []
    assert len(desk.everything(desk.source_url)) == 3


def test_the_script_of_the_page_replays_one_reason(desk: Desk) -> None:
    """docs/how-to/replay-dead-letters.md, on the pipeline's own DLQ."""
    desk.dlq_url = desk.documents.consumer.dlq_url or ""
    code = f"Mended{uuid.uuid4().hex[:8]}"
    dead = desk.dead(3, queue=desk.documents.consumer.queue_url.rpartition("/")[2], code=code)
    environment = desk.documents.aws.process_environment() | {"PATH": f"{BIN}:{os.environ['PATH']}"}
    environment["XDG_STATE_HOME"] = str(desk.folder)
    done = subprocess.run(  # noqa: S603 - our own script
        ["bash", str(EXAMPLE), code, "--function", desk.documents.consumer_function],  # noqa: S607
        capture_output=True, text=True, env=environment, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 moved" in done.stdout
    assert all(desk.document(one) for one in dead)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("list", "--function", "no-such-function"), "cannot be looked at"),
        (("redrive", "--to", "no-such-queue"), "there is no such queue"),
    ],
)
def test_a_wrong_call_is_2_and_says_why(desk: Desk, arguments: tuple[str, ...], words: str) -> None:
    environment = desk.documents.aws.process_environment() | {"PATH": f"{BIN}:{os.environ['PATH']}"}
    function = [] if "--function" in arguments else ["--function", desk.documents.consumer_function]
    done = subprocess.run(  # noqa: S603 - our own command
        [str(BIN / "claim-check"), "dlq", *arguments, *function],
        capture_output=True, text=True, env=environment, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 2, done.stdout + done.stderr
    assert words in done.stderr
