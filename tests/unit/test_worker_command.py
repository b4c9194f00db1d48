"""The command ``claim-check worker``: what is wrong is said in words, before anything is received."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from claim_check.contract import Setting
from claim_check.errors import ReceiveRefused
from claim_check_ops import worker_commands
from claim_check_ops.cli import app

ENVIRONMENT = {
    Setting.CONSUMER: "c",
    Setting.BUCKET: "b",
    Setting.QUEUE_URL: "https://sqs/0/q",
    Setting.INBOX_TABLE: "t",
    Setting.INBOX_TTL: "86400",
    "AWS_DEFAULT_REGION": "us-east-1",
}
HANDLER = ["--handler", "claim_check_examples.documents:handle"]


def run(*options: str, environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Exit code and output."""
    wanted = ENVIRONMENT if environment is None else environment
    absent = {name: None for name in os.environ if name.startswith("CLAIM_CHECK_")}
    result = CliRunner().invoke(app, ["worker", *options], env={**absent, **wanted})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


@pytest.mark.parametrize(
    "options, text",
    [
        (["--concurrency", "0"], "CLAIM_CHECK_CONCURRENCY = '0'"),
        (["--visibility", "1"], "visibility_seconds = 1: a number from 2 to 3600 is needed"),
        (["--time-limit", "50000"], "time_limit_seconds = 50000.0: a number from 1 to 43080 is needed"),
        (["--grace", "9"], "grace_seconds = 9.0: a number from 0 to 5 is needed"),
        (["--health-file", "no/such/folder/health"], "cannot be written: No such file or directory"),
        (["--handler", "no_such_module:handle"], "handler 'no_such_module:handle' cannot be imported"),
    ],
    ids=["concurrency", "visibility", "time limit", "grace", "health file", "handler"],
)
def test_a_wrong_setting_ends_it_with_2(options: list[str], text: str) -> None:
    code, printed = run(*HANDLER, *options)
    assert (code, text in printed) == (2, True), printed


def test_a_missing_setting_is_named() -> None:
    code, printed = run(*HANDLER, environment={})
    assert (code, "CLAIM_CHECK_CONSUMER is not set" in printed) == (2, True), printed


class Fake:
    """A worker that does what a test wants, and the settings it was made with."""

    def __init__(self, act: Callable[[Fake], None]) -> None:
        """Begin."""
        self.act = act
        self.stops = 0
        self.made: dict[str, Any] = {}

    def make(self, settings: Any, **options: Any) -> Fake:  # noqa: ANN401 - as `claim_check.aws.worker`
        """Stand in for `claim_check.aws.worker`."""
        self.made = {"settings": settings, **options}
        return self

    def run(self) -> None:
        """Act."""
        self.act(self)

    def stop(self) -> None:
        """Count."""
        self.stops += 1


def with_fake(monkeypatch: pytest.MonkeyPatch, act: Callable[[Fake], None], *options: str) -> tuple[Fake, int, str]:
    fake = Fake(act)
    monkeypatch.setattr(worker_commands, "aws_worker", lambda: fake.make)
    return fake, *run(*HANDLER, *options)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_in_order(monkeypatch: pytest.MonkeyPatch, number: signal.Signals) -> None:
    before = signal.getsignal(number)
    fake, code, printed = with_fake(monkeypatch, lambda _: signal.raise_signal(number))
    assert (fake.stops, code, printed) == (1, 0, "")
    assert signal.getsignal(number) is before


def test_the_health_file_is_there_while_it_works_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    health = tmp_path / "health"
    health.touch()  # left by an earlier process
    seen: list[bool] = []

    def act(worker: Fake) -> None:
        seen.append(health.exists())
        worker.made["alive"]()
        seen.append(health.exists())

    with_fake(monkeypatch, act, "--health-file", str(health))
    assert [*seen, health.exists()] == [False, True, False]


def test_a_health_file_that_cannot_be_touched_any_more_is_no_reason_to_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()

    def act(worker: Fake) -> None:
        folder.rmdir()
        worker.made["alive"]()

    _, code, _ = with_fake(monkeypatch, act, "--health-file", str(folder / "health"))
    assert code == 0


def test_options_and_variables_reach_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    fake, _, _ = with_fake(
        monkeypatch,
        lambda _: None,
        *("--concurrency", "7", "--queue-url", "https://sqs/0/other", "--visibility", "30", "--time-limit", "100"),
    )
    settings = fake.made.pop("settings")
    assert (settings.concurrency, settings.queue_url, settings.consumer) == (7, "https://sqs/0/other", "c")
    assert settings.handler == HANDLER[1]
    assert fake.made == {"visibility_seconds": 30, "time_limit_seconds": 100, "grace_seconds": 5, "alive": None}


def test_a_queue_that_refuses_ends_it_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    def act(_: Fake) -> None:
        raise ReceiveRefused("SQS refused the receive: NonExistentQueue")

    _, code, printed = with_fake(monkeypatch, act)
    assert (code, printed) == (1, "SQS refused the receive: NonExistentQueue\n")
