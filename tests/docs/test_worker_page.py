"""The page about the worker: its container, its handler, its numbers."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer.main

from claim_check import contract, heartbeat, polling, worker
from claim_check.processor import Handler
from claim_check_ops.cli import app
from tests.docs.kit import DOCS, ROOT
from tests.harness import World
from tests.worker_world import make_worker

EXAMPLE = DOCS / "examples" / "worker"
PAGE = (DOCS / "how-to" / "run-a-worker.md").read_text(encoding="utf-8")
INSTRUCTIONS = dict(
    line.split(" ", 1) for line in (EXAMPLE / "Dockerfile").read_text(encoding="utf-8").splitlines() if line
)


def parsed(arguments: list[str]) -> dict[str, Any]:
    """What the command makes of its arguments; it refuses those it does not know."""
    commands: Any = typer.main.get_command(app)
    found: dict[str, Any] = commands.commands["worker"].make_context("worker", arguments).params
    return found


def test_the_containers_process_is_the_command_with_options_that_it_has() -> None:
    command, group, *options = json.loads(INSTRUCTIONS["ENTRYPOINT"])
    assert (command, group) == ("claim-check", "worker")
    found = parsed(options)
    assert found["handler"] == "scans:handle"
    assert str(found["health_file"]) in INSTRUCTIONS["HEALTHCHECK"]


def test_the_command_line_of_the_page() -> None:
    (line,) = re.findall(r"^claim-check worker (.*)$", PAGE, re.MULTILINE)
    found = parsed(line.split())
    assert (found["handler"], found["concurrency"]) == ("scans:handle", 8)


def test_the_container_installs_extras_that_there_are() -> None:
    match = re.search(r"\[([a-z,]+)\]", INSTRUCTIONS["RUN"])
    assert match is not None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(match[1].split(",")) <= set(project["optional-dependencies"])


@pytest.mark.parametrize("age, healthy", [(0, True), (80, True), (100, False), (None, False)])
def test_the_health_check_looks_at_the_age_of_the_file(tmp_path: Path, age: int | None, healthy: bool) -> None:  # noqa: FBT001 - a case
    path = tmp_path / "healthy"
    if age is not None:
        path.touch()
        os.utime(path, (time.time() - age,) * 2)
    check = INSTRUCTIONS["HEALTHCHECK"].partition("CMD ")[2].replace("/dev/shm/healthy", str(path))  # noqa: S108 - the page's
    done = subprocess.run(["/bin/sh", "-c", check], capture_output=True, check=False)  # noqa: S603 - our own line
    assert (done.returncode == 0) == healthy


def test_the_handler_runs_in_a_worker(capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("scans", EXAMPLE / "scans.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    handle: Handler = module.handle
    world = World()
    sent = world.send(world.envelope(b"x" * 1000))
    make_worker(world, handle).run()
    assert capsys.readouterr().out == f"{sent.envelope.message_id}: 1000 bytes\n"
    assert world.row(sent).state == "COMPLETED"


@pytest.mark.parametrize(
    "text",
    [
        f"`--visibility` ({contract.WORKER_VISIBILITY_SECONDS} seconds by default)",
        f"`--grace` ({contract.WORKER_GRACE_SECONDS:.0f} seconds, which is also the most)",
        f"visible again after {heartbeat.RECEIVED_SECONDS} seconds",
        f"polls for {contract.SQS_LONG_POLL_SECONDS} seconds at a time",
    ],
)
def test_numbers_of_the_page_are_those_of_the_code(text: str) -> None:
    assert text in PAGE


def test_words_for_numbers_too() -> None:
    after_grace = worker.LET_GO_SECONDS + worker.RELEASE_SECONDS + worker.POLL_SECONDS + worker.SETTLE_SECONDS
    assert contract.WORKER_GRACE_SECONDS + after_grace < 10
    assert "within ten seconds" in PAGE
    assert polling.LONGEST_PAUSE_SECONDS == 30
    assert "up to half a minute" in PAGE
    assert heartbeat.BEATS == 3
    assert "three times within `--visibility`" in PAGE
