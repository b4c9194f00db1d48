"""The commands ``claim-check dlq``: what they print, and exit codes that a script can use. On fakes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from claim_check.contract import ErrorCode, Setting
from claim_check.errors import ReceiveRefused, Unavailable
from claim_check.settings import ConsumerSettings
from claim_check_ops import dlq_commands
from claim_check_ops.cli import app
from claim_check_ops.dlq.archive_source import ArchiveSource
from claim_check_ops.dlq.desk import Desk, desk
from claim_check_ops.dlq.finding import archive_bucket
from claim_check_ops.dlq.ports import DeadLetterSource
from claim_check_ops.pipelines import PipelineNotFound
from tests.dlq_world import DlqWorld, broken
from tests.fakes.archive import FakeArchive
from tests.fakes.inbox_reader import FakeInboxReader
from tests.harness import BUCKET, CONSUMER, TTL_SECONDS, documents

FAST = ("--rate", "1000", "--settle", "1s")


class Command:
    """The command, whose desk is one on fakes."""

    def __init__(self, world: DlqWorld, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Put the fakes in its place."""
        self.world, self.folder = world, folder
        self.places: list[Any] = []
        self.archive: FakeArchive | None = None
        monkeypatch.setattr(dlq_commands, "_desk", self._desk)

    def _desk(self, settings: ConsumerSettings, place: Any) -> Desk:  # noqa: ANN401 - the command's own
        self.places.append(place)
        return Desk(
            settings=settings,
            dlq_url=self.world.dlq_url,
            queue=self.world.queue,
            directory=self.world.directory,
            inbox=FakeInboxReader(self.world.table.rows, self.world.faults),
            assessor=self.world.assessor(),
            clock=self.world.clock,
            new_sources=self._sources,
        )

    def _sources(self) -> Sequence[DeadLetterSource]:
        name = self.world.dlq_url.rpartition("/")[2]
        archives = [] if self.archive is None else [ArchiveSource(self.archive, name)]
        return [*archives, self.world.source()]

    def run(self, *arguments: str, code: int = 0) -> Any:  # noqa: ANN401 - JSON, or what was printed
        """Run it."""
        absent = {name: None for name in os.environ if name.startswith("CLAIM_CHECK_")}
        told = {
            Setting.CONSUMER: CONSUMER,
            Setting.BUCKET: BUCKET,
            Setting.QUEUE_URL: self.world.queue_url,
            Setting.DLQ_URL: self.world.dlq_url,
            Setting.INBOX_TABLE: "inbox",
            Setting.INBOX_TTL: str(TTL_SECONDS),
            Setting.HANDLER: "h:h",
            "XDG_STATE_HOME": str(self.folder),
        }
        result = CliRunner().invoke(app, ["dlq", *arguments], env={**absent, **told})
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert result.exit_code == code, result.output
        assert self.world.all_visible()
        return json.loads(result.stdout) if "--json" in arguments and code in {0, 1} else result.output


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """On fakes."""
    return Command(DlqWorld(), tmp_path, monkeypatch)


def test_a_list_is_a_table_or_a_document(command: Command) -> None:
    command.world.dead(3)
    table = command.run("list", "--messages")
    assert "HandlerFailed" in table
    assert "3 looked at" in table
    document = command.run("list", "--json")
    assert (document["seen"], document["about"], document["complete"]) == (3, {"queue": 3}, True)


def test_a_limited_list_says_that_there_is_more(command: Command) -> None:
    command.world.dead(5)
    assert "About 3 more" in command.run("list", "--limit", "2")
    assert command.run("list", "--limit", "2", "--all", "--json")["seen"] == 5


def test_what_could_not_be_given_back_is_1(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    command.world.dead()
    monkeypatch.setattr(command.world.queue, "change_visibility", lambda _, changes: list(changes))
    monkeypatch.setattr(command.world, "all_visible", lambda: True)
    assert "could not be made visible" in command.run("list", code=1)


@pytest.mark.parametrize("error", [Unavailable("no"), ReceiveRefused("no")], ids=["no answer", "refused"])
def test_a_queue_that_cannot_be_read_is_1(command: Command, error: Exception) -> None:
    command.world.dead()
    command.world.faults.fail("receive_batch", error, times=99)
    assert type(error).__name__ in command.run("list", code=1)


def test_an_interrupt_is_130(command: Command) -> None:
    command.world.dead(20)
    command.world.faults.fail("receive_batch", KeyboardInterrupt(), skip=1)
    assert "Interrupted" in command.run("list", code=130)


def test_one_is_shown_by_any_of_its_ids(command: Command) -> None:
    (sent,) = command.world.dead()
    assert sent.envelope.message_id in command.run("show", sent.sqs_message_id)
    (shown,) = command.run("show", sent.envelope.message_id, "--json")["messages"]
    assert shown["envelope"]["payload"]["keyHash"]
    command.run("show", "nobody", code=1)


def test_a_check_is_1_when_a_payload_is_gone(command: Command) -> None:
    lost, _ = command.world.dead(2)
    command.run("check", "--reason", "HandlerFailed", "--type", "DocumentUploaded", "--tenant", "t-1")
    command.world.lose_payload(lost)
    assert command.run("check", "--json", code=1)["counts"] == {"readable": 1, "missing": 1}
    command.run("check", "--reason", "Conflict")


def test_a_redrive_without_go_sends_nothing(command: Command) -> None:
    command.world.dead(2)
    printed = command.run("redrive")
    assert "Nothing was sent. 2 messages" in printed
    assert "Add --go" in printed
    assert command.run("redrive", "--dry-run", "--json")["dryRun"] is True
    assert command.world.queued() == []
    assert list(command.folder.iterdir()) == [], "and writes nothing"


def test_a_limited_redrive_plans_and_moves_so_many(command: Command) -> None:
    command.world.dead(5)
    assert command.run("redrive", "--limit", "2", "--json")["messages"] == 2
    command.world.work_with(documents)
    assert len(command.run("redrive", "--limit", "2", "--go", "--json", *FAST)["moved"]) == 2
    assert len(command.world.dead_ids()) == 3


def test_a_plan_in_which_something_stays_is_1(command: Command) -> None:
    command.world.lose_payload(command.world.dead()[0])
    assert "MissingPayload" in command.run("redrive", code=1)


def test_a_redrive_with_go_moves_and_reports(command: Command) -> None:
    sent = command.world.dead(12)
    command.world.work_with(documents)
    printed = command.run("redrive", "--go", *FAST)
    assert "12 moved" in printed
    assert "12 completed" in printed
    assert [command.world.effects(one) for one in sent] == [1] * 12
    assert command.run("redrive", "--go", "--json", *FAST)["moved"] == []


def test_a_redrive_that_stops_is_1_and_goes_on(command: Command) -> None:
    command.world.dead(3)
    command.world.work_with(broken, max_attempts=1)
    assert "failed: HandlerFailed" in command.run("redrive", "--go", *FAST, code=1)
    assert "other options (tenants)" in command.run("redrive", "--go", "--tenant", "t-1", code=2)
    command.world.work_with(documents)
    assert "Going on with redrive" in command.run("redrive", "--go", *FAST)


def test_an_interrupted_redrive_is_130_and_reports(command: Command) -> None:
    command.world.dead(30)
    command.world.faults.fail("send_batch", KeyboardInterrupt(), skip=1)
    assert "10 moved" in command.run("redrive", "--go", "--no-canary", *FAST, code=130)


def test_what_stays_is_told_with_its_reason(command: Command) -> None:
    lost, _ = command.world.dead(2)
    command.world.lose_payload(lost)
    command.world.work_with(documents)
    printed = command.run("redrive", "--go", *FAST, code=1)
    assert ErrorCode.MISSING_PAYLOAD in printed
    assert "1 moved" in printed


def test_completed_ones_are_deleted_when_told_so(command: Command) -> None:
    (sent,) = command.world.dead()
    command.world.send(sent.envelope)
    command.world.settle()
    assert "1 acknowledged" in command.run("redrive", "--go", "--delete-completed", *FAST)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("redrive", "--to", "nowhere"), "there is no such queue"),
        (("redrive", "--to", "documents-dlq"), "is the DLQ itself"),
        (("redrive", "--older-than", "soon"), "--older-than"),
        (("redrive", "--max-bytes-per-second", "lots"), "--max-bytes-per-second"),
        (("redrive", "--rate", "0"), "--rate"),
        (("list", "--limit", "0"), "--limit"),
        (("list", "--consumer", "another"), "Functions cannot be listed"),
    ],
)
def test_a_wrong_call_is_2(
    command: Command, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    assert words in command.run(*arguments, code=2)


def test_a_consumer_without_a_dlq_is_a_wrong_call() -> None:
    settings = ConsumerSettings(
        consumer="c", bucket="b", queue_url="q", inbox_table="t", inbox_ttl_seconds=1, handler="h:h"
    )
    with pytest.raises(ValueError, match="--dlq-url"):
        desk(settings)


# --- Which archive --------------------------------------------------------------------------------------------------


class Functions:
    """Lambda, as far as it lists functions."""

    def __init__(self, *variables: dict[str, str]) -> None:
        """These functions."""
        self._variables = variables

    def get_paginator(self, _name: str) -> Functions:
        """Itself."""
        return self

    def paginate(self) -> list[dict[str, Any]]:
        """One page."""
        own = ({"FunctionName": "other", "Environment": {"Variables": one}} for one in self._variables)
        return [{"Functions": [{"FunctionName": "without variables"}, *own]}]


def found(environment: dict[str, str], *variables: dict[str, str]) -> str | None:
    """The archive of the DLQ ``d``."""
    return archive_bucket(environment, "d", functions=Functions(*variables))  # type: ignore[arg-type]


def test_the_archive_is_told_by_the_environment_or_by_its_function() -> None:
    mine = {Setting.DLQ_URL: "d", Setting.ARCHIVE_BUCKET: "mine"}
    other = {Setting.DLQ_URL: "e", Setting.ARCHIVE_BUCKET: "other"}
    assert found({Setting.ARCHIVE_BUCKET: "told"}, mine) == "told"
    assert found({Setting.CONSUMER: "c"}, mine) is None
    assert found({}, other, mine) == "mine"
    assert found({}, other, {Setting.DLQ_URL: "d"}) is None


def test_an_archive_that_nobody_tells_of_has_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(PipelineNotFound, match="--no-archive"):
        archive_bucket({}, "d")


def test_the_place_asks_for_no_archive_when_told_so(command: Command) -> None:
    command.run("list", "--no-archive", "--archive-bucket", "b")
    command.run("list", "--archive-bucket", "b")
    buckets: list[Callable[[str], str | None]] = [place.bucket for place in command.places]
    assert [bucket("d") for bucket in buckets] == [None, "b"]


def test_an_archive_is_listed_too(command: Command) -> None:
    from claim_check.archive import ArchivedLetter  # noqa: PLC0415 - beside its only use

    command.world.dead(2)
    command.archive = FakeArchive(faults=command.world.faults)
    source = command.world.source()
    command.archive.put(ArchivedLetter.of(source.take(1)[0], now=command.world.clock.now()))
    source.give_back()
    document = command.run("list", "--json")
    assert document["about"] == {"archive": 1, "queue": 2}
    assert document["seen"] == 2, "one of them lies in both places"
