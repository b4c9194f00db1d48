"""The tutorial, word for word: its stack in the embedded AWS, its scripts, and what they print."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from claim_check_ops.local import CdkCli, EmbeddedAws, deploy_assembly, wait_until
from tests.docs.kit import DOCS, ROOT

pytestmark = [pytest.mark.integration, pytest.mark.slow]

PROJECT = ROOT / "docs" / "examples" / "first_pipeline"
WORKER = ROOT / "docs" / "examples" / "worker"
PUBLISHING = ROOT / "docs" / "examples" / "publishing"


@dataclass
class Tutorial:
    """The deployed stack, and a reader who types."""

    aws: EmbeddedAws
    outputs: dict[str, str]
    folder: Path

    def python(self, script: Path, *arguments: str, **variables: str) -> str:
        """Run a script as the reader does; returns what it printed, log lines left out."""
        done = subprocess.run(  # noqa: S603 - our own script
            [sys.executable, str(script), *arguments],
            env=self.aws.process_environment() | variables,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return "".join(line for line in done.stdout.splitlines(keepends=True) if not line.startswith("{"))

    def file(self, name: str, content: bytes) -> str:
        """Make a file."""
        (self.folder / name).write_bytes(content)
        return name

    @property
    def producer_environment(self) -> dict[str, str]:
        """What a program needs to publish."""
        found: dict[str, str] = json.loads(self.outputs["ProducerEnvironment"])
        return found

    def dead_letters(self) -> list[dict[str, Any]]:
        """Reasons of all messages in the DLQ."""
        urls = self.aws.sqs.list_queues()["QueueUrls"]
        (url,) = [url for url in urls if "DeadLetterQueue" in url]
        messages = self.aws.sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0, MessageAttributeNames=["All"]
        ).get("Messages", [])
        return [json.loads(message["MessageAttributes"]["parked"]["StringValue"]) for message in messages]


@pytest.fixture(scope="module")
def tutorial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tutorial]:
    """Step 4."""
    with EmbeddedAws() as aws:
        assembly = CdkCli(aws, PROJECT, context={"claim-check:build-dir": str(ROOT / ".build" / "lambda")}).synth()
        (stack,) = deploy_assembly(aws, assembly).values()
        yield Tutorial(aws, dict(stack.outputs), tmp_path_factory.mktemp("reader"))


def test_the_tutorial(tutorial: Tutorial) -> None:
    page = (DOCS / "tutorial.md").read_text()
    lines = "".join(f"{number}\n" for number in range(1, 1001)).encode()  # seq 1000
    first = tutorial.file("invoices.csv", lines)

    printed = tutorial.python(PROJECT / "publish.py", first, "invoices-2026-07")
    assert printed
    assert printed in page

    def looked() -> str:
        return tutorial.python(PROJECT / "look.py")

    seen = wait_until(looked, what="the row", timeout=60, interval=0.2)
    assert seen in page

    # Step 7: nothing of it changes the table.
    tutorial.python(PROJECT / "publish.py", first, "invoices-2026-07")
    tutorial.python(PROJECT / "publish.py", tutorial.file("other.csv", b"other\n"), "invoices-2026-07")
    tutorial.python(PROJECT / "publish.py", tutorial.file("bad.csv", b"\xff\xfe"), "bad-1")
    wait_until(lambda: len(tutorial.dead_letters()) == 2, what="two dead letters", timeout=60, interval=0.2)
    assert {reason["errorCode"] for reason in tutorial.dead_letters()} == {"Conflict", "NotText"}
    assert looked() == seen


def test_the_publishing_scripts(tutorial: Tutorial) -> None:
    folder = tutorial.folder / "files"
    folder.mkdir()
    for name in ("a.csv", "b.csv"):
        (folder / name).write_bytes(b"1\n2\n")
    environment = tutorial.producer_environment
    printed = tutorial.python(PUBLISHING / "publish_files.py", str(folder), "t-2", **environment)
    assert printed == "2 published, 0 not\n"
    tutorial.python(PUBLISHING / "with_metrics.py", **environment)

    def rows() -> bool:
        table = tutorial.aws.dynamodb.scan(TableName=tutorial.outputs["TableName"])["Items"]
        sha256 = hashlib.sha256(b"1\n2\n").hexdigest()
        return sum(row["sha256"]["S"] == sha256 for row in table) == 2

    assert wait_until(rows, what="two rows", timeout=60, interval=0.2)


def test_the_worker(tutorial: Tutorial) -> None:
    """It handles what is published, and stops when it is asked to."""
    app = f"{sys.executable} {WORKER / 'app.py'}"
    assembly = CdkCli(tutorial.aws, WORKER, app=app, output=tutorial.folder / "worker.out").synth()
    (stack,) = deploy_assembly(tutorial.aws, assembly).values()
    environment: dict[str, str] = json.loads(stack.outputs["Environment"])
    process = subprocess.Popen(  # noqa: S603 - our own script
        [sys.executable, str(WORKER / "scans.py")],
        env=tutorial.aws.process_environment() | environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        tutorial.python(PUBLISHING / "with_metrics.py", **environment)
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        assert next(line for line in lines if not line.startswith("{")) == "doc-789-v3: 14 bytes\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        process.communicate()
