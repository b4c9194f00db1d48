"""``claim-check worker`` as a real process: signals, kills, long handlers, zombies (R4.10)."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from claim_check import Event, aws
from claim_check.adapters.inbox_items import to_row
from claim_check.adapters.session import Clients
from claim_check.contract import ErrorCode, Setting
from claim_check.ports import InboxRow
from claim_check.settings import ProducerSettings
from claim_check_ops.local import EmbeddedAws
from claim_check_ops.local.waiting import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.slow]

COMMAND = Path(sys.executable).parent / "claim-check"

HANDLERS = '''
"""Handlers that tell when they start, and wait to be let go."""

import os
import time
from pathlib import Path

from claim_check import Message, Table, Transaction

MARKS = Path(os.environ["MARKS"])
EFFECTS = Table(os.environ["EFFECTS"], "pk")


def mark(name: str) -> None:
    with (MARKS / name).open("a") as file:
        file.write(f"{os.getpid()}\\n")


def handle(message: Message, tx: Transaction) -> None:
    """Wait until the file `go` is there, heeding the deadline."""
    mark(f"started-{message.message_id}")
    while not (MARKS / "go").exists() and message.remaining_seconds() > 0:
        time.sleep(0.01)
    tx.put(EFFECTS, {"pk": message.message_id, "pid": os.getpid()})
    mark(f"returned-{message.message_id}")


def deaf(message: Message, tx: Transaction) -> None:
    """Wait for the file `go`, whatever the deadline says."""
    mark(f"started-{message.message_id}")
    while not (MARKS / "go").exists():
        time.sleep(0.01)
    tx.put(EFFECTS, {"pk": message.message_id, "pid": os.getpid()})


def quitting(message: Message, tx: Transaction) -> None:
    raise SystemExit(7)
'''


@dataclass
class Place:
    """A pipeline of this test's own, and the folder of its handlers."""

    aws: EmbeddedAws
    clients: Clients
    folder: Path
    fifo: bool = False
    name: str = field(default_factory=lambda: f"worker-{uuid.uuid4().hex[:12]}")

    def __post_init__(self) -> None:
        """Make queue, tables, bucket and handlers."""
        suffix, attributes = (".fifo", {"FifoQueue": "true"}) if self.fifo else ("", {})
        create: Any = self.clients.sqs.create_queue
        self.queue_url = create(QueueName=self.name + suffix, Attributes={**attributes, "VisibilityTimeout": "600"})[
            "QueueUrl"
        ]
        self.dlq_url = create(QueueName=f"{self.name}-dlq{suffix}", Attributes=attributes)["QueueUrl"]
        self.clients.s3.create_bucket(Bucket=self.name)
        for table in (self.name, f"{self.name}-effects"):
            self.clients.dynamodb.create_table(
                TableName=table,
                BillingMode="PAY_PER_REQUEST",
                KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            )
        (self.folder / "handlers_of_test.py").write_text(HANDLERS, encoding="utf-8")

    def send(self, count: int = 1) -> list[str]:
        """Publish events; returns their ids."""
        producer = aws.producer(
            ProducerSettings(bucket=self.name, queue_url=self.queue_url, before_send_seconds=3600), clients=self.clients
        )
        names = [f"m{number}" for number in range(count)]
        for name in names:
            producer.publish(
                Event.json(
                    {"n": name},
                    tenant_id="t-1",
                    event_type="Tested",
                    message_id=name,
                    group_id="g" if self.fifo else None,
                )
            )
        return names

    @contextmanager
    def worker(self, *options: str, handler: str = "handle", **environment: str) -> Iterator[subprocess.Popen[str]]:
        """A worker process, killed at the end unless it has ended."""
        variables = self.aws.process_environment() | {
            "MARKS": str(self.folder),
            "EFFECTS": f"{self.name}-effects",
            Setting.CONSUMER: "tested",
            Setting.BUCKET: self.name,
            Setting.QUEUE_URL: self.queue_url,
            Setting.DLQ_URL: self.dlq_url,
            Setting.INBOX_TABLE: self.name,
            Setting.INBOX_TTL: "86400",
            **environment,
        }
        command = [str(COMMAND), "worker", "--handler", f"handlers_of_test:{handler}", *options]
        with subprocess.Popen(  # noqa: S603 - our own command
            command, cwd=self.folder, env=variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.kill()

    def go(self) -> None:
        """Let the handlers go on."""
        (self.folder / "go").touch()

    def marks(self, name: str) -> list[str]:
        """Processes that left this mark."""
        path = self.folder / name
        return path.read_text(encoding="utf-8").split() if path.exists() else []

    def started(self, *names: str) -> None:
        """Wait until handlers have started."""
        wait_until(lambda: all(self.marks(f"started-{name}") for name in names), what=f"the handlers of {names}")

    def row(self, name: str) -> InboxRow:
        """The inbox row of an event."""
        items = self.clients.dynamodb.scan(TableName=self.name, ConsistentRead=True)["Items"]
        (row,) = [row for row in map(to_row, items) if row.message_id == name]
        return row

    def effects(self) -> dict[str, int]:
        """Which process committed the effect of which event."""
        items: Any = self.clients.dynamodb.scan(TableName=f"{self.name}-effects", ConsistentRead=True)["Items"]
        return {item["pk"]["S"]: int(item["pid"]["N"]) for item in items}

    def queued(self) -> tuple[int, int]:
        """Messages that can be received, and messages that are hidden."""
        names: Any = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        answer: Any = self.clients.sqs.get_queue_attributes(QueueUrl=self.queue_url, AttributeNames=names)
        return int(answer["Attributes"][names[0]]), int(answer["Attributes"][names[1]])

    def drained(self) -> None:
        """Wait until the queue is empty."""
        wait_until(lambda: self.queued() == (0, 0), what="an empty queue")


@pytest.fixture
def make(embedded_aws: EmbeddedAws, tmp_path: Path) -> Callable[..., Place]:
    """Makes a place."""
    return lambda **options: Place(embedded_aws, Clients(embedded_aws.session), tmp_path, **options)


def ended(process: subprocess.Popen[str], *, seconds: float = 10) -> str:
    """Wait for the end of a process; returns what it printed."""
    printed, _ = process.communicate(timeout=seconds)
    return printed


def lines(printed: str) -> list[dict[str, Any]]:
    """Log lines and metrics: every one is JSON."""
    return [json.loads(line) for line in printed.splitlines()]


def events(printed: str) -> Sequence[str]:
    """What was logged."""
    return [str(line["message"]) for line in lines(printed) if "message" in line]


def test_sigterm_lets_handlers_finish(make: Callable[..., Place]) -> None:
    place, health = make(), "health"
    names = place.send(3)
    with place.worker("--concurrency", "3", "--health-file", health) as process:
        place.started(*names)
        assert (place.folder / health).exists()
        process.terminate()
        began = time.monotonic()
        time.sleep(0.2)  # it is stopping while they still run
        place.go()
        printed = ended(process)
    assert time.monotonic() - began < 10
    assert process.returncode == 0, printed
    assert place.effects() == dict.fromkeys(names, process.pid)
    assert place.queued() == (0, 0)
    assert not (place.folder / health).exists()
    assert events(printed) == ["worker started", "worker is asked to stop", "worker stopped"]
    assert sum(line.get("Processed", [0])[0] for line in lines(printed)) == 3


def test_sigterm_releases_what_does_not_finish(make: Callable[..., Place]) -> None:
    place = make(fifo=True)
    names = place.send(3)
    with place.worker("--grace", "1", handler="deaf") as process:
        place.started("m0")
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        printed = ended(process)
        assert time.monotonic() - began < 10
    assert process.returncode == 0, printed
    assert place.queued() == (3, 0)  # all of the group is visible at once
    row = place.row("m0")
    assert (row.state, row.attempts, row.last_code) == ("FAILED", 0, ErrorCode.DEADLINE_EXCEEDED)
    place.go()
    with place.worker(handler="deaf") as second:
        place.drained()
    assert place.effects() == dict.fromkeys(names, second.pid)
    assert place.row("m0").attempts == 1


def test_sigkill_in_a_handler_brings_the_message_back(make: Callable[..., Place]) -> None:
    place = make()
    names = place.send(2)
    with place.worker("--concurrency", "2", "--visibility", "2") as first:
        place.started(*names)
        first.kill()
    assert place.effects() == {}
    place.go()
    with place.worker("--concurrency", "2", "--visibility", "2") as second:
        place.drained()
    assert place.effects() == dict.fromkeys(names, second.pid)
    assert [place.row(name).attempts for name in names] == [2, 2]
    assert place.marks("started-m0") == [str(first.pid), str(second.pid)]


def test_a_long_handler_outlives_its_visibility_and_is_received_once(make: Callable[..., Place]) -> None:
    place = make()
    place.send()
    options = ("--visibility", "2", "--grace", "0.2")
    with place.worker(*options) as process, place.worker(*options) as other:
        place.started("m0")
        lease = place.row("m0").lease_until
        wait_until(lambda: place.row("m0").lease_until > lease + 3, what="extensions beyond the first visibility")
        place.go()
        place.drained()
        process.terminate()
        other.terminate()
        printed = lines(ended(process)) + lines(ended(other))
    assert len(place.marks("started-m0")) == 1
    assert place.row("m0").attempts == 1
    assert set(place.effects()) == {"m0"}
    assert len([line for line in printed if "MessageAgeSeconds" in line]) == 1  # received once
    assert not [line for line in printed if "Deferred" in line]


def test_a_zombie_loses_its_lease_and_commits_nothing(make: Callable[..., Place]) -> None:
    place = make()
    place.send()
    with place.worker("--visibility", "2", "--grace", "0.2") as zombie:
        place.started("m0")
        zombie.send_signal(signal.SIGSTOP)
        with place.worker("--visibility", "2") as second:
            wait_until(lambda: len(place.marks("started-m0")) == 2, what="the message comes back to another worker")
            place.go()
            place.drained()
        zombie.send_signal(signal.SIGCONT)
        wait_until(
            lambda: place.marks("returned-m0").count(str(zombie.pid)), what="the zombie's handler returns", timeout=5
        )
        zombie.terminate()
        printed = ended(zombie, seconds=30)  # the time that a stop may take is held by other tests
    assert place.effects() == {"m0": second.pid}
    assert place.row("m0").state == "COMPLETED"
    codes = {line.get("errorCode") for line in lines(printed)}
    assert codes & {"LostLease"}, printed


def test_a_second_signal_ends_it_at_once(make: Callable[..., Place]) -> None:
    place = make()
    place.send()
    with place.worker(handler="deaf") as process:
        place.started("m0")
        process.terminate()
        wait_until(lambda: "asked to stop" in (process.stdout.readline() if process.stdout else ""), what="the log")
        process.terminate()
        ended(process, seconds=2)
    assert process.returncode == 128 + signal.SIGTERM


def test_a_handler_that_ends_the_process_decides_its_exit_code(make: Callable[..., Place]) -> None:
    place = make()
    place.send()
    with place.worker(handler="quitting") as process:
        printed = ended(process)
    assert process.returncode == 7, printed
    assert place.queued() == (0, 1)


def test_a_queue_that_is_not_there_ends_it_with_words(make: Callable[..., Place]) -> None:
    with make().worker("--queue-url", "http://127.0.0.1/000000000000/nowhere") as process:
        printed = ended(process)
    assert "SQS refused the receive: NonExistentQueue" in printed
    assert process.returncode == 1
    assert "Traceback" not in printed
