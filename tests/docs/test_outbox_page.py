"""The page about outboxes: its examples do what it says (R3)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from claim_check.outbox import staging
from claim_check.outbox.relay import OUTAGE_SECONDS
from tests.docs.test_examples import EXAMPLES, kinds, load, synthesize
from tests.harness import World
from tests.outbox_world import ORDERS, OutboxWorld

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "publish-with-an-outbox.md"


def test_the_app_has_an_outbox_that_its_function_may_stage_with(tmp_path: Path) -> None:
    template = synthesize(EXAMPLES / "outbox" / "app.py", tmp_path)
    assert kinds(template).count("AWS::DynamoDB::Table") == 3
    policies = [one["Properties"] for one in template["Resources"].values() if one["Type"] == "AWS::IAM::Policy"]
    (shop,) = [one for one in policies if one["PolicyName"].startswith("PlaceOrder")]
    assert "sqs:" not in json.dumps(shop)
    assert "dynamodb:BatchGetItem" in json.dumps(shop)


def test_an_order_is_placed_with_its_message_and_once() -> None:
    world, place = OutboxWorld(fifo=True), load("outbox/place.py").place
    assert place(world.outbox(), ORDERS, "o-1", ["tea"]) == "placed"
    assert place(world.outbox(), ORDERS, "o-1", ["tea"]) == "placed before"
    assert place(world.outbox(), ORDERS, "o-1", ["coffee"]) == "another order has this id"
    assert world.ordered() == ["o-1"]
    world.deliver()
    (envelope,) = world.envelopes()
    assert envelope.message_id == "OrderPlaced-o-1"


def test_an_order_that_fails_has_no_message() -> None:
    world, place = OutboxWorld(fifo=True), load("outbox/place.py").place
    world.table.refuse_write = 2
    with pytest.raises(Exception, match="condition"):
        place(world.outbox(), ORDERS, "o-1", ["tea"])
    assert (world.ordered(), world.states()) == ([], [])


def test_a_handler_is_shown_what_is_on_record() -> None:
    world, example = World(), load("outbox/expecting.py")
    sent = [world.send() for _ in range(2)]
    example.RECORDS["doc-789"] = sent[0].envelope.payload
    world.deliver(world.consumer(example.handle, access="memory"))
    assert [world.row(one).last_code for one in sent] == [None, "ClaimMismatch"]


def test_the_pages_figures_are_the_codes() -> None:
    text = PAGE.read_text()
    assert f"up to {staging._MOST_BEFORE:,} messages" in text
    assert f"after {OUTAGE_SECONDS} seconds" in text
