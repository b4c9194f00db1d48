"""``claim-check send`` as people and scripts use it: against the deployed application, found by its functions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from claim_check_ops.local.deployment import Deployment
from claim_check_ops.local.waiting import wait_until

pytestmark = pytest.mark.integration

BIN = Path(sys.executable).parent
EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "sending" / "send_folder.sh"
WHO = ["--tenant", "t-1", "--type", "DocumentUploaded"]


def run(documents: Deployment, *command: str, stdin: bytes = b"", **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command of ours as in the second shell of ``make local``."""
    environment = documents.aws.process_environment() | {"PATH": f"{BIN}:{os.environ['PATH']}"} | variables
    done = subprocess.run(  # noqa: S603 - our own commands
        command, input=stdin, capture_output=True, env=environment, check=False, timeout=120
    )
    text = subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in text.stderr, text.stderr
    return text


def row(documents: Deployment, message_id: str) -> dict[str, Any]:
    """What the handler wrote about a file, once it has."""
    key = {"pk": {"S": f"t-1#{message_id}"}}
    table = documents.aws.dynamodb
    return wait_until(lambda: table.get_item(TableName=documents.table, Key=key).get("Item"), what="the handler's row")


def unfinished(documents: Deployment) -> list[Any]:
    """Uploads in parts that are neither completed nor aborted."""
    return list(documents.aws.s3.list_multipart_uploads(Bucket=documents.producer.bucket).get("Uploads", []))


def test_a_file_in_parts_is_processed(documents: Deployment, tmp_path: Path) -> None:
    """Found by the function's settings; above the threshold that this process sets."""
    path = tmp_path / "large.bin"
    path.write_bytes(os.urandom(6 * 2**20))
    before = unfinished(documents)
    done = run(
        documents, "claim-check", "send", str(path), *WHO, "--json",
        "--queue-url", documents.producer.queue_url, "--bucket", documents.producer.bucket,
        CLAIM_CHECK_MULTIPART_THRESHOLD_BYTES=str(5 * 2**20),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (sent,) = json.loads(done.stdout)["files"]
    assert row(documents, sent["messageId"])["sha256"]["S"] == sent["sha256"]
    stored = documents.aws.s3.list_objects_v2(Bucket=documents.producer.bucket)["Contents"]
    assert any(one["ETag"].endswith('-1"') for one in stored), "it did travel in parts"
    assert unfinished(documents) == before


@pytest.mark.parametrize("function", ["producer_function", "consumer_function"])
def test_the_pipeline_is_found_by_either_function(documents: Deployment, tmp_path: Path, function: str) -> None:
    path = tmp_path / "note.csv"
    path.write_bytes(b"a,b\n1,2\n")
    done = run(documents, "claim-check", "send", str(path), *WHO, "--function", getattr(documents, function))
    assert done.returncode == 0, done.stderr
    message_id, delivery, *_ = done.stdout.split()
    assert delivery == "claim"
    assert row(documents, message_id)


def test_one_of_several_pipelines_must_be_named(documents: Deployment, tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_bytes(b"text")
    done = run(documents, "claim-check", "send", str(path), *WHO)
    assert done.returncode == 2
    assert documents.producer.queue_url in done.stderr
    done = run(documents, "claim-check", "send", str(path), *WHO, "--queue-url", documents.producer.queue_url)
    assert done.returncode == 0, done.stderr


def test_what_a_command_writes_goes_through_the_standard_input(documents: Deployment) -> None:
    done = run(
        documents, "claim-check", "send", "-", *WHO, "--content-type", "text/plain", "--json",
        "--function", documents.producer_function, stdin=b"piped " * 1000,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (sent,) = json.loads(done.stdout)["files"]
    assert sent["contentLength"] == 6000
    assert row(documents, sent["messageId"])


def test_a_function_that_is_not_there_is_a_wrong_call(documents: Deployment, tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_bytes(b"text")
    done = run(documents, "claim-check", "send", str(path), *WHO, "--function", "no-such-function")
    assert done.returncode == 2
    assert "no-such-function cannot be looked at" in done.stderr


def test_a_folder_sent_twice_is_the_same_events(documents: Deployment, tmp_path: Path) -> None:
    """The script of the page on sending files."""
    contents = [os.urandom(100) for _ in range(3)]
    for number, content in enumerate(contents):
        (tmp_path / f"{number}.bin").write_bytes(content)
    function = documents.producer_function
    command = ["bash", str(EXAMPLE), str(tmp_path), "t-1", "DocumentUploaded", "--function", function]
    first, second = run(documents, *command), run(documents, *command)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    ids = [line.split()[0] for line in first.stdout.splitlines()]
    assert ids == [line.split()[0] for line in second.stdout.splitlines()]
    assert len(set(ids)) == 3
    for message_id in ids:
        assert row(documents, message_id)
    wrong = run(documents, *command[:4], "Bad/Type", *command[5:])
    assert wrong.returncode == 2
    assert wrong.stdout == ""
