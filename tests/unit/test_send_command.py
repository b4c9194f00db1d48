"""The command ``claim-check send``: what it prints, and exit codes that a script can use."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from claim_check.contract import Setting
from claim_check.envelope import decode
from claim_check.errors import PublishError
from claim_check.settings import ProducerSettings
from claim_check_ops import send_commands
from claim_check_ops.cli import app
from claim_check_ops.pipelines import PipelineNotFound, producer_settings
from tests.unit.test_sending import FIFO, STANDARD, World

WHO = ["--tenant", "t-1", "--type", "DocumentUploaded"]


class Command:
    """The command, whose producer is one on fakes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Put the fakes in its place."""
        self.world = World()
        self.settings: list[ProducerSettings] = []
        monkeypatch.setattr(send_commands, "_producer", self._producer)

    def _producer(self, settings: ProducerSettings) -> Any:  # noqa: ANN401 - a producer
        self.settings.append(settings)
        self.world = World(settings.queue_url) if settings.queue_url != self.world.url else self.world
        return self.world.producer

    def run(self, *arguments: str, queue_url: str = STANDARD, stdin: bytes = b"") -> Any:  # noqa: ANN401 - click's result
        """Run it."""
        absent = {name: None for name in os.environ if name.startswith("CLAIM_CHECK_")}
        environment = {Setting.BUCKET: "b", Setting.QUEUE_URL: queue_url, Setting.BEFORE_SEND: "3600"}
        result = CliRunner().invoke(app, ["send", *arguments], env={**absent, **environment}, input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Command:
    """On fakes."""
    return Command(monkeypatch)


@pytest.fixture
def pdf(tmp_path: Path) -> str:
    """A file."""
    path = tmp_path / "contract.pdf"
    path.write_bytes(b"%PDF-1.7")
    return str(path)


@pytest.fixture
def note(tmp_path: Path) -> str:
    """A small JSON file."""
    path = tmp_path / "note.json"
    path.write_bytes(b'{"a":1}')
    return str(path)


def test_all_published_is_0_and_a_line_of_ids_for_each(command: Command, pdf: str, note: str) -> None:
    result = command.run(pdf, note, *WHO)
    assert result.exit_code == 0
    envelopes = [decode(one.message.body) for one in command.world.queue.messages(STANDARD)]
    lines = result.stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [
        [envelopes[0].message_id, "claim"],
        [envelopes[1].message_id, "inline"],
    ]
    assert lines[0].endswith(pdf)
    assert result.stderr == ""
    assert [(one.tenant_id, one.event_type) for one in envelopes] == [("t-1", "DocumentUploaded")] * 2


def test_json_is_all_of_the_standard_output(command: Command, pdf: str) -> None:
    result = command.run(pdf, *WHO, "--json", "--id", "doc-1", "--idempotency-key", "doc-1-v3")
    found = json.loads(result.stdout)
    assert (found["published"], found["failed"]) == (1, 0)
    (row,) = found["files"]
    assert set(row) == {"file", "messageId", "idempotencyKey", "sqsMessageId", "delivery", "contentLength", "sha256"}
    assert (row["file"], row["messageId"], row["idempotencyKey"]) == (pdf, "doc-1", "doc-1-v3")


def test_one_that_fails_is_1_and_says_so_with_its_id(command: Command, pdf: str, note: str) -> None:
    command.world.faults.fail("put_if_absent", PublishError("S3 refused the payload: AccessDenied"))
    result = command.run(pdf, note, *WHO)
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 1
    assert "AccessDenied" in result.stderr
    assert pdf in result.stderr.replace("\n", "")
    command.world.faults.fail("put_if_absent", PublishError("S3 refused the payload: AccessDenied"))
    found = json.loads(command.run(pdf, note, *WHO, "--json").stdout)
    assert (found["published"], found["failed"]) == (1, 1)
    assert found["files"][0]["error"]["type"] == "PublishError"
    assert found["files"][0]["messageId"]


def test_an_interrupt_is_130_and_names_what_is_not_known(command: Command, pdf: str, tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(9 * 2**20)
    command.world.faults.fail("put_if_absent", KeyboardInterrupt(), skip=1)
    result = command.run(pdf, str(large), "--json", *WHO)
    assert result.exit_code == 130
    found = json.loads(result.stdout)
    assert (found["published"], found["failed"]) == (1, 1)
    assert found["files"][1]["error"]["type"] == "Interrupted"
    assert found["files"][1]["messageId"] in result.stderr


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["{pdf}", "--type", "T"], "--tenant"),
        (["{pdf}", "--tenant", "t"], "--type"),
        (WHO, "FILE"),
        (["missing.pdf", *WHO], "missing.pdf cannot be read"),
        (["{pdf}", "missing.pdf", *WHO], "missing.pdf cannot be read"),
        ([".", *WHO], "cannot be read"),
        (["{pdf}", "--tenant", "a/b", "--type", "T"], "tenant_id"),
        (["{pdf}", *WHO, "--content-type", "pdf"], "content_type"),
        (["{pdf}", *WHO, "--group", "ü"], "group_id"),
        (["{pdf}", "{pdf}", *WHO, "--id", "x"], "is for one file"),
        (["{pdf}", "{pdf}", *WHO, "--idempotency-key", "x"], "is for one file"),
        (["-", "-", *WHO], "once"),
        (["{pdf}", *WHO, "--wire-format", "morse"], Setting.WIRE_FORMAT),
    ],
    ids=str,
)
def test_a_wrong_call_is_2_and_sends_nothing(command: Command, pdf: str, arguments: list[str], says: str) -> None:
    result = command.run(*(argument.replace("{pdf}", pdf) for argument in arguments))
    assert result.exit_code == 2
    assert says in result.stderr
    assert command.world.faults.calls == []


def test_a_fifo_queue_needs_a_group(command: Command, pdf: str) -> None:
    result = command.run(pdf, *WHO, queue_url=FIFO)
    assert (result.exit_code, "FIFO" in result.stderr) == (2, True)
    assert command.run(pdf, *WHO, "--group", "g", queue_url=FIFO).exit_code == 0
    (message,) = command.world.queue.messages(FIFO)
    assert message.message.group_id == "g"


def test_the_standard_input(command: Command) -> None:
    result = command.run("-", *WHO, "--content-type", "application/json", stdin=b'{"piped":true}')
    assert result.exit_code == 0
    (message,) = command.world.queue.messages(STANDARD)
    assert '"body":"{\\"piped\\":true}"' in message.message.body


def test_sensitive_files_never_travel_inside(command: Command, note: str) -> None:
    assert "claim" in command.run(note, *WHO, "--sensitive").stdout


def test_the_wire_format_is_the_pipelines_unless_it_is_named(command: Command, note: str) -> None:
    command.run(note, *WHO)
    command.run(note, *WHO, "--wire-format", "extended-client")
    assert [settings.wire_format for settings in command.settings] == ["claim-check", "extended-client"]


# --- Which pipeline -------------------------------------------------------------------------------------------------

A = {Setting.BUCKET: "a", Setting.QUEUE_URL: "https://sqs/0/a"}
B = {Setting.BUCKET: "b", Setting.QUEUE_URL: "https://sqs/0/b", Setting.BEFORE_SEND: "7200"}


class Functions:
    """Lambda, as far as it is asked: functions by name, with their variables."""

    def __init__(self, **functions: dict[str, str] | None) -> None:
        """Hold them."""
        self._functions = functions

    def get_function_configuration(self, *, FunctionName: str) -> dict[str, Any]:  # noqa: N803 - boto3's
        """One."""
        return self._configuration(FunctionName)

    def get_paginator(self, _: str) -> Functions:
        """All, a page each."""
        return self

    def paginate(self) -> list[dict[str, Any]]:
        """All, a page each."""
        return [{"Functions": [self._configuration(name)]} for name in self._functions]

    def _configuration(self, name: str) -> dict[str, Any]:
        variables = self._functions[name]
        return {"FunctionName": name} | ({} if variables is None else {"Environment": {"Variables": variables}})


def found(functions: Functions, environment: dict[str, str] | None = None, **named: str) -> ProducerSettings:
    return producer_settings(environment or {}, functions=functions, **named)  # type: ignore[arg-type]  # a fake


def test_a_function_tells_its_pipeline() -> None:
    settings = found(Functions(one=B, two=A), function="one")
    assert (settings.bucket, settings.queue_url, settings.before_send_seconds) == ("b", "https://sqs/0/b", 7200)
    assert found(Functions(one=A), function="one").before_send_seconds == 3600, "a consumer does not know it"


def test_a_function_of_no_pipeline_is_told() -> None:
    with pytest.raises(PipelineNotFound, match="other belongs to no pipeline"):
        found(Functions(other=None), function="other")


def test_the_only_pipeline_is_found_by_its_functions() -> None:
    consumer = {**B, Setting.BEFORE_SEND: ""}
    del consumer[Setting.BEFORE_SEND]
    assert found(Functions(other=None, consumer=consumer, producer=B)) == found(Functions(producer=B))


def test_of_several_pipelines_one_must_be_named() -> None:
    functions = Functions(one=A, two=B)
    with pytest.raises(PipelineNotFound, match="https://sqs/0/a, https://sqs/0/b"):
        found(functions)
    assert found(functions, queue_url="https://sqs/0/b").bucket == "b"
    with pytest.raises(PipelineNotFound, match="No function with this --queue-url"):
        found(functions, queue_url="https://sqs/0/c")
    with pytest.raises(PipelineNotFound, match="No function in this account"):
        found(Functions(other=None))


def test_queue_and_bucket_ask_nobody() -> None:
    settings = found(Functions(), queue_url="https://sqs/0/q", bucket="q")
    assert (settings.bucket, settings.queue_url) == ("q", "https://sqs/0/q")
    assert found(Functions(), A | {Setting.MAX_PAYLOAD: "7"}).max_payload_bytes == 7
    assert found(Functions(two=B), A, queue_url="https://sqs/0/b").bucket == "b", "another queue than the environment's"


# --- The embedded AWS that was left running -------------------------------------------------------------------------


def test_local_adopts_what_was_left_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from claim_check_ops.local import told  # noqa: PLC0415 - only here

    monkeypatch.chdir(tmp_path)
    variables = {"AWS_PROFILE": "production", "PATH": "/bin"}
    with told.told({"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}):
        told.adopt(variables)
    assert variables == {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "PATH": "/bin"}
    with pytest.raises(told.NotRunning):
        told.adopt(variables)


def test_local_does_not_believe_a_file_of_a_dead_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".local").mkdir()
    (tmp_path / ".local" / "aws.json").write_text('{"pid": 4194305, "environment": {}}')
    result = CliRunner().invoke(app, ["--local", "send", "x", *WHO])
    assert result.exit_code == 2
    assert "make local" in result.stderr


def test_the_file_of_another_that_took_over_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from claim_check_ops.local import told  # noqa: PLC0415 - only here

    monkeypatch.chdir(tmp_path)
    with told.told({"AWS_ENDPOINT_URL": "first"}):
        told.FILE.write_text('{"pid": 1, "environment": {}}')
    assert told.FILE.exists()
