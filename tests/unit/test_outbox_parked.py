"""What an operator decides about parked rows of an outbox: sent again, or given up (R3.2)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from claim_check.contract import OnPoison
from claim_check.errors import Unavailable
from claim_check.outbox.parked import ParkedRows
from claim_check_ops import outbox_commands
from claim_check_ops.cli import app
from tests.fakes.outbox_table import OUTBOX
from tests.outbox_world import BEFORE_SEND_SECONDS, BUCKET, TTL_SECONDS, OutboxWorld

GROUP = "order-1"


def parked_rows(world: OutboxWorld) -> ParkedRows:
    """What the operator has in hand."""
    return ParkedRows(
        world.table,
        world.table,
        world.objects,
        table=OUTBOX,
        before_send_seconds=BEFORE_SEND_SECONDS,
        ttl_seconds=TTL_SECONDS,
        clock=world.clock,
        new_token=world.new_token,
        random=lambda: 0.5,
    )


def park(world: OutboxWorld, identity: str) -> str:
    """Let the queue refuse a row until it is parked, then mend the queue."""
    row = world.row(identity)
    world.queue.refuse_entries[row.body or ""] = (10, True)
    for _ in range(30):
        world.clock.advance(300)
        world.sweep()
    assert world.row(identity).state == "PARKED"
    return row.key


def test_a_parked_row_is_sent_again() -> None:
    world = OutboxWorld()
    world.stage("o-1", content=b"x", content_type="text/plain")
    key = park(world, "o-1")
    assert [row.key for row in parked_rows(world).rows()] == [key]
    assert parked_rows(world).retry(key) == "retried"
    assert (world.row("o-1").attempts, world.row("o-1").due_at) == (0, 0)
    world.sweep()
    assert world.sent() == ["o-1"]


@pytest.mark.parametrize(
    "on_poison, sent", [("block", ["o-0", "o-1", "o-2", "o-3"]), ("park", ["o-0", "o-2", "o-1", "o-3"])]
)
def test_on_fifo_it_stands_where_it_stood_or_comes_last(on_poison: OnPoison, sent: list[str]) -> None:
    world = OutboxWorld(fifo=True, on_poison=on_poison)
    for number in range(3):
        world.stage(f"o-{number}", group=GROUP)
    key = park(world, "o-1")
    assert parked_rows(world).retry(key) == "retried"
    world.stage("o-3", group=GROUP)
    world.sweep()
    assert world.sent() == sent


@pytest.mark.parametrize("fifo", [False, True], ids=["standard", "fifo"])
def test_a_discarded_row_is_never_sent_and_its_group_goes_on(fifo: bool) -> None:  # noqa: FBT001
    world = OutboxWorld(fifo=fifo)
    for number in range(3):
        world.stage(f"o-{number}", group=GROUP if fifo else None)
    key = park(world, "o-1")
    assert parked_rows(world).discard(key) == "discarded"
    assert world.row("o-1").ttl == int(world.clock.now()) + TTL_SECONDS
    world.sweep()
    assert world.sent() == ["o-0", "o-2"]
    assert parked_rows(world).retry(key) == "not parked"
    assert list(parked_rows(world).rows()) == []


def test_a_row_whose_payload_is_gone_stays() -> None:
    world = OutboxWorld()
    world.stage("o-1", content=b"x", content_type="text/plain")
    key = park(world, "o-1")
    del world.objects.objects[BUCKET, world.row("o-1").payload_key or ""]
    assert parked_rows(world).retry(key) == "payload gone"
    assert world.row("o-1").state == "PARKED"


def test_a_row_that_is_too_old_stays() -> None:
    world = OutboxWorld()
    key = world.stage("o-1")
    world.clock.advance(BEFORE_SEND_SECONDS + 1)
    world.sweep()
    assert parked_rows(world).retry(key) == "too old"


def test_what_is_not_parked_is_left_alone() -> None:
    world = OutboxWorld()
    key = world.stage("o-1")
    assert parked_rows(world).retry(key) == "not parked"
    assert parked_rows(world).discard(key) == "not parked"
    assert parked_rows(world).retry("invoices#t-1#none") == "not parked"


def test_a_lost_answer_decides_once() -> None:
    world = OutboxWorld()
    key = world.stage("o-1")
    park(world, "o-1")
    world.faults.fail("commit", Unavailable("no answer"), when="after")
    assert parked_rows(world).retry(key) == "retried"


def test_a_table_that_does_not_answer_is_told_and_nothing_is_decided() -> None:
    world = OutboxWorld()
    key = world.stage("o-1")
    park(world, "o-1")
    world.faults.fail("commit", Unavailable("down"), times=9)
    with pytest.raises(Unavailable):
        parked_rows(world).discard(key)
    assert world.states() == ["PARKED"]


# --- The command ----------------------------------------------------------------------------------------------------


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> OutboxWorld:
    """An outbox with a parked row, for the command."""
    world = OutboxWorld()
    world.stage("o-1")
    park(world, "o-1")
    monkeypatch.setattr(outbox_commands, "_parked", lambda _: parked_rows(world))
    return world


def run(*words: str) -> Any:  # noqa: ANN401 - typer's result
    """The command's result."""
    return CliRunner().invoke(app, ["outbox", *words])


def test_the_command_lists_what_is_parked(world: OutboxWorld) -> None:
    shown = run("list", "--json")
    (row,) = json.loads(shown.output)["rows"]
    assert (row["key"], row["code"], row["attempts"]) == (world.key("o-1"), "Refused", 10)
    assert world.key("o-1") in run("list").output


def test_the_command_sends_again_and_discards(world: OutboxWorld) -> None:
    assert run("retry", world.key("o-1")).exit_code == 0
    assert world.row("o-1").state == "PENDING"
    again = run("discard", "--json", world.key("o-1"))
    assert (again.exit_code, json.loads(again.output)) == (1, {"rows": {world.key("o-1"): "not parked"}})


def test_the_command_takes_all(world: OutboxWorld) -> None:
    assert run("discard", "--all").exit_code == 0
    assert world.states() == ["DISCARDED"]


@pytest.mark.parametrize("words", [["retry"], ["retry", "--all", "key"]], ids=["none", "both"])
def test_the_command_wants_to_be_told_which(world: OutboxWorld, words: list[str]) -> None:
    assert run(*words).exit_code == 2
    assert world.states() == ["PARKED"]


def test_a_service_that_does_not_answer_is_told(world: OutboxWorld) -> None:
    world.faults.fail("open_rows", Unavailable("DynamoDB: down"))
    shown = run("list")
    assert (shown.exit_code, "down" in shown.output) == (2, True)
