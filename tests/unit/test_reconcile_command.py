"""The command ``claim-check reconcile``: what it shows, what it is told, and its exit codes (R7.1)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from claim_check.contract import Setting
from claim_check.errors import Unavailable
from claim_check.reconciliation import Reconciliation
from claim_check.reconciliation.ports import Checkpoint, Checkpoints
from claim_check.reconciliation.runs import InboxSource, OutboxSource
from claim_check.reconciliation.settings import ReconcilerSettings
from claim_check.telemetry import key_hash
from claim_check_ops import reconcile_commands
from claim_check_ops.cli import app
from claim_check_ops.pipelines import PipelineNotFound
from claim_check_ops.reconciling.checkpoint_file import CheckpointFile
from claim_check_ops.reconciling.finding import reconciler_settings
from tests.fakes.inbox_reader import FakeInboxReader
from tests.fakes.reconciliation import FakeOutboxRows
from tests.reconciliation_world import BUCKET, DAY, UNCONFIRMED, World, key_of

TOLD = {
    Setting.RECONCILER: "nightly",
    Setting.BUCKET: BUCKET,
    Setting.BEFORE_SEND: str(DAY),
    Setting.RECONCILER_INBOXES: "documents=Inbox,search=Inbox",
    Setting.RECONCILER_OUTBOXES: "documents=Outbox",
    Setting.RECONCILER_GRACE: str(DAY),
    Setting.RECONCILER_DELETE: "true",
}


class Command:
    """The command, on fakes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Put them in their place."""
        self.world = World()
        self.settings: list[ReconcilerSettings] = []
        monkeypatch.setattr(reconcile_commands, "_reconciliation", self._make)

    def _make(self, settings: ReconcilerSettings, kept: Checkpoints) -> Reconciliation:
        self.settings.append(settings)
        world = self.world
        return Reconciliation(
            settings.plan,
            listing=world.payloads,
            payloads=world.payloads,
            inboxes=[InboxSource(FakeInboxReader(world.inbox, world.faults), settings.inboxes["Inbox"])],
            outboxes=[OutboxSource(FakeOutboxRows(world.outbox, world.faults), settings.outboxes["Outbox"])],
            checkpoints=kept,
            clock=world.clock,
            telemetry=world.telemetry,
            new_token=lambda: "by hand",
        )

    def run(self, *arguments: str) -> Any:  # noqa: ANN401 - click's result
        """Run it."""
        absent = {name: None for name in os.environ if name.startswith("CLAIM_CHECK_")}
        result = CliRunner().invoke(app, ["reconcile", *arguments], env={**absent, **TOLD})
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Command:
    """On fakes."""
    return Command(monkeypatch)


def test_by_hand_nothing_is_removed_unless_told_to_whatever_is_deployed(command: Command) -> None:
    command.world.put("e", uploaded=True, tags=UNCONFIRMED)
    result = command.run()
    assert result.exit_code == 0
    assert command.settings[0].plan.delete is False
    assert "Nothing was removed" in result.output
    assert command.world.payloads.current(key_of("e")) is not None
    assert command.run("--delete").exit_code == 0
    assert command.world.payloads.current(key_of("e")) is None


def test_the_table_shows_every_class_and_no_key(command: Command) -> None:
    command.world.put("e")
    result = command.run()
    for word in ("open", "completed", "unpublished", "unknown", "foreign", "young", key_hash(key_of("e"))):
        assert word in result.output
    assert "payloads/tenants" not in result.output
    assert key_of("e")[:60] in command.run("--reveal-keys").output


def test_dead_pointers_need_a_person(command: Command) -> None:
    command.world.received("lost", "PARKED")
    result = command.run("--json")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert document["dead_pointers"] == 1
    assert document["samples"] == [
        {
            "kind": "dead pointer",
            "payloadKeyHash": key_hash(key_of("lost")),
            "consumer": "documents",
            "messageId": "lost",
        }
    ]
    shown = json.loads(command.run("--json", "--reveal-keys").stdout)
    assert shown["samples"][0]["key"] == key_of("lost")


@pytest.mark.parametrize("arguments", [["--looks", "1"], ["--delete", "--grace", "1h"]], ids=["not looked at", "held"])
def test_what_could_not_be_done_needs_a_person(command: Command, arguments: list[str]) -> None:
    for name in "ab":
        command.world.put(name, uploaded=True, tags=UNCONFIRMED, held=True)
    assert command.run(*arguments).exit_code == 1


def test_options_win_over_what_is_deployed(command: Command) -> None:
    result = command.run("--grace", "2h", "--rate", "3", "--looks", "7", "--prefix", "payloads/tenants/t-1/")
    assert result.exit_code == 0
    plan = command.settings[0].plan
    assert (plan.times.grace, plan.rate, plan.looks, plan.prefix) == (7200, 3, 7, "payloads/tenants/t-1/")


@pytest.mark.parametrize(
    "arguments",
    [["--grace", "soon"], ["--prefix", "other/"], ["--rate", "0"]],
    ids=["grace", "prefix", "rate"],
)
def test_a_wrong_call_is_refused_before_anything_is_looked_at(command: Command, arguments: list[str]) -> None:
    result = command.run(*arguments)
    assert result.exit_code == 2
    assert command.settings == []


def test_a_run_that_broke_off_goes_on_from_its_file(command: Command, tmp_path: Path) -> None:
    for number in range(250):
        command.world.put(f"e{number}")
    path = tmp_path / "progress"
    command.world.faults.fail("get_rows", Unavailable("DynamoDB: no answer"), skip=2)
    result = command.run("--checkpoint", str(path))
    assert result.exit_code == 2
    assert "The same call goes on." in result.output
    assert path.stat().st_mode & 0o777 == 0o600
    command.world.faults.clear()
    result = command.run("--checkpoint", str(path), "--json")
    assert json.loads(result.stdout)["classes"]["unknown"] == 250
    assert command.world.faults.count("get_rows") == 3


def test_an_interrupted_run_says_how_to_go_on(command: Command) -> None:
    command.world.put("e")
    command.world.faults.fail("get_rows", KeyboardInterrupt())
    result = command.run()
    assert result.exit_code == 130
    assert "--checkpoint FILE" in result.output


def test_a_file_that_cannot_be_read_or_written_is_refused(command: Command, tmp_path: Path) -> None:
    assert command.run("--checkpoint", str(tmp_path)).exit_code == 2
    kept = CheckpointFile(tmp_path / "no" / "folder")
    with pytest.raises(Exception, match="cannot be written"):
        kept.save(Checkpoint(name="n", state="s"), owner="o", until=0)


# --- Which reconciliation is meant ------------------------------------------------------------------------------------


class Functions:
    """A Lambda with these functions."""

    def __init__(self, *functions: Mapping[str, str]) -> None:
        """Have them."""
        self._functions = functions

    def get_paginator(self, name: str) -> Functions:
        """Of ``list_functions``."""
        assert name == "list_functions"
        return self

    def paginate(self) -> list[dict[str, Any]]:
        """One page."""
        return [
            {
                "Functions": [
                    {"FunctionName": str(place), "Environment": {"Variables": dict(one)}}
                    for place, one in enumerate(self._functions)
                ]
            },
            {"Functions": []},
        ]

    def get_function_configuration(self, **named: str) -> dict[str, Any]:
        """One of them, by place."""
        return {"Environment": {"Variables": dict(self._functions[int(named["FunctionName"])])}}


def consumer(name: str, bucket: str = BUCKET) -> dict[str, str]:
    """Variables of a consumer's function."""
    return {Setting.CONSUMER: name, Setting.INBOX_TABLE: f"{name}-inbox", Setting.BUCKET: bucket, "X": "y"}


def find(*functions: Mapping[str, str], **options: Any) -> ReconcilerSettings:  # noqa: ANN401 - of the function
    """Look for it."""
    return reconciler_settings({}, functions=Functions(*functions), **options)  # type: ignore[arg-type]  # as much of it as is used


def test_the_deployed_one_is_found_and_named_ones_win() -> None:
    other = {**TOLD, Setting.RECONCILER: "other", Setting.BUCKET: "elsewhere"}
    assert find(consumer("a"), TOLD).plan.name == "nightly"
    assert find(TOLD, other, bucket="elsewhere").plan.name == "other"
    assert find(TOLD, other, function="1").plan.name == "other"
    assert reconciler_settings(TOLD, functions=Functions()).plan.name == "nightly"  # type: ignore[arg-type]  # as above


def test_without_one_all_consumers_of_the_bucket_are_asked_and_nothing_is_removed() -> None:
    found = find(consumer("b"), consumer("a"), {"OTHER": "x"})
    assert found.inboxes == {"a-inbox": ("a",), "b-inbox": ("b",)}
    assert (found.plan.name, found.plan.bucket, found.plan.delete) == ("by-hand", BUCKET, False)
    with pytest.raises(PipelineNotFound, match="No Reconciler is deployed"):
        find(consumer("a"), overrides={Setting.RECONCILER_DELETE: "true"})


@pytest.mark.parametrize(
    "functions, problem",
    [
        ([], "0 buckets"),
        ([consumer("a"), consumer("b", "elsewhere")], "2 buckets"),
        (
            [TOLD, {**TOLD, Setting.RECONCILER: "other"}],
            "Name one by --function: 0 .nightly., 1 .other.",
        ),
    ],
    ids=["none", "two buckets", "two reconcilers"],
)
def test_what_is_not_clear_is_asked_for(functions: list[dict[str, str]], problem: str) -> None:
    with pytest.raises(PipelineNotFound, match=problem):
        find(*functions)


def test_a_function_that_is_none_is_refused() -> None:
    with pytest.raises(PipelineNotFound, match="is no reconciler"):
        find(consumer("a"), function="0")
