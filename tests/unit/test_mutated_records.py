"""Mutated Lambda events: whatever arrives, no record is acknowledged wrongly, and nothing but MalformedBatch escapes.

``CLAIM_CHECK_MUTATIONS=100000 pytest tests/unit/test_mutated_records.py`` looks longer.
"""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Callable
from typing import Any

import pytest

from claim_check.delivery import from_lambda
from claim_check.envelope import Envelope, decode
from claim_check.errors import MalformedBatch, PermanentError
from claim_check.ports import MessageAttribute
from tests.harness import BUCKET, DOCUMENTS, EVENT_TYPE, World

MUTATIONS = int(os.environ.get("CLAIM_CHECK_MUTATIONS", "4000"))
PARTS = 8
SECONDS = 60.0

JUNK: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    float("nan"),
    float("inf"),
    2**63,
    10**40,
    10**400,
    "",
    " ",
    "x",
    "..",
    "a/b",
    "#",
    "\x00\x1f\x7f",
    "\ud800",
    "\uffff",
    "\U0001f600",
    "x" * 5000,
    "aws:sqs",
    "9999-12-31T23:59:59.999999+00:00",
    "0001-01-01T00:00:00+23:59",
    "2026-07-06",
    "2026-07-06T10:15:30",
    "1E400",
    [],
    [None],
    {},
    {"a": {"b": [1, {"c": None}]}},
    b"bytes".hex(),
]

Mutation = Callable[[random.Random, Any], Any]


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401 - JSON
    """Every place in a JSON value but the root."""
    children: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        children = list(value.items())
    elif isinstance(value, list):
        children = list(enumerate(value))
    return [found for key, child in children for found in ((*path, key), *paths_of(child, (*path, key)))]


def mutate_tree(rng: random.Random, tree: Any) -> Any:  # noqa: ANN401 - JSON
    """Remove, replace, double or move something in it."""
    places = paths_of(tree)
    if not places:
        return rng.choice(JUNK)
    *above, key = rng.choice(places)
    parent = tree
    for step in above:
        parent = parent[step]
    kind = rng.randrange(5)
    if kind == 0:
        del parent[key]
    elif kind == 1:
        parent[key] = rng.choice(JUNK)
    elif kind == 2 and isinstance(parent[key], str):
        parent[key] = mutate_text(rng, parent[key])
    elif kind == 3 and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[key]))
    elif isinstance(parent, dict):
        parent[rng.choice([*parent, "unknown"])] = copy.deepcopy(parent[key])
    return tree


def mutate_text(rng: random.Random, text: str) -> str:
    """Cut, double, flip or fill a text."""
    at = rng.randrange(len(text) + 1)
    kind = rng.randrange(6)
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + rng.choice(["\ud800", "\x00", "9" * 30, "9" * 6000, "/", ".", "ß", '"', "\\u"]) + text[at:]
    if kind == 2:
        return text[:at] + text[at + 1 :]
    if kind == 3:
        return text * 2
    if kind == 4:
        return rng.choice("[{") * rng.choice([1, 50_000]) + text
    return text[:at] + chr(rng.randrange(0x110000)) + text[at:]


def mutate_body(rng: random.Random, event: Any) -> Any:  # noqa: ANN401 - Lambda's event
    """Change something inside the JSON of one body."""
    record = rng.choice(event["Records"])
    try:
        document = json.loads(record["body"])
    except (ValueError, RecursionError):
        return event
    record["body"] = json.dumps(mutate_tree(rng, document))
    return event


def mutate_raw_body(rng: random.Random, event: Any) -> Any:  # noqa: ANN401 - Lambda's event
    """Change the text of one body."""
    record = rng.choice(event["Records"])
    record["body"] = mutate_text(rng, record["body"])
    return event


KINDS: list[Mutation] = [mutate_tree, mutate_body, mutate_body, mutate_raw_body]


def make_world(rng: random.Random) -> World:
    """A world with a few messages of every kind in the source queue."""
    world = World(fifo=rng.random() < 0.2)
    attributes = {
        "eventType": MessageAttribute(data_type="String", value=EVENT_TYPE),
        "raw": MessageAttribute(data_type="Binary", value=b"\x00"),
        "n": MessageAttribute(data_type="Number.int", value="7"),
    }
    world.send(attributes=attributes, trace_header="Root=1-2-3")
    twice = world.envelope(b'{"small":true}', inline=True)
    for _ in range(rng.randrange(1, 3)):
        world.send(twice)
    if rng.random() < 0.3:
        world.send_body("no envelope", group="g-2")
    return world


def acknowledged_rightly(world: World, record: dict[str, Any]) -> bool:
    """Whether the record's work is done, or its copy is in the DLQ."""
    delivery = from_lambda(record)
    if delivery is None:
        return False
    if delivery.sqs_message_id in {original for original, _ in world.parked()}:
        return True
    try:
        envelope = decode(delivery.body)
    except PermanentError:
        return False
    row = world.table.rows.get(world.key(envelope))
    return row is not None and row.state == "COMPLETED" and row.fingerprint == envelope.fingerprint


def effects_are_true(world: World, envelopes: list[Envelope]) -> bool:
    """Whether every effect is that of some message whose payload has the length and the hash it says."""
    payloads: list[tuple[Envelope, Any]] = [(one, one.payload) for one in envelopes]
    real = {(f"{one.tenant_id}#{one.idempotency_key}", payload.sha256) for one, payload in payloads}
    items = [(item["pk"], item["sha256"]) for item in world.table.items(DOCUMENTS.name)]
    return set(items) <= real and len(items) == len({name for name, _ in items})


@pytest.mark.parametrize("part", range(PARTS))
def test_no_mutation_is_acknowledged_wrongly_or_escapes(part: int) -> None:
    """R4.7, and "bad input": any bytes as body, a record that is no record, attributes of unknown types."""
    for seed in range(part, MUTATIONS, PARTS):
        rng = random.Random(seed)  # noqa: S311 - no secret
        world = make_world(rng)
        event: Any = world.queue.lambda_event(world.queue_url)
        for _ in range(rng.randrange(1, 4)):
            try:
                event = rng.choice(KINDS)(rng, event)
            except (AttributeError, IndexError, KeyError, TypeError):
                break  # nothing is left that could be mutated further
        try:
            check(world, event)
        except BaseException as error:
            error.add_note(f"mutation {seed}: {repr(event)[:3000]}")
            raise


def check(world: World, event: Any) -> None:  # noqa: ANN401 - Lambda's event
    """Hand the event over; the answer is right for every record of it."""
    try:
        answer = world.consumer().handle_lambda(event, remaining_seconds=SECONDS)
    except MalformedBatch:
        assert world.calls() == [], "a batch is refused before any side effect"
        return
    records = event["Records"]
    names: list[Any] = [item["itemIdentifier"] for item in answer["batchItemFailures"]]
    assert set(answer) == {"batchItemFailures"}
    assert all(isinstance(name, str) and name for name in names), "a bad itemIdentifier fails the whole batch on AWS"
    assert len(names) == len(set(names))
    assert set(names) <= {record.get("messageId") for record in records}
    for record in records:
        if record["messageId"] not in names:
            assert acknowledged_rightly(world, record), record["messageId"]
    assert "unexpected failure" not in world.telemetry.events()
    assert effects_are_true(world, envelopes_of(records))
    assert {bucket for bucket, _ in world.objects.objects} <= {BUCKET}


def envelopes_of(records: list[Any]) -> list[Envelope]:
    """Whatever envelopes the records hold."""
    found = []
    for record in records:
        try:
            found.append(decode(record["body"]))
        except (PermanentError, TypeError, KeyError):
            continue
    return found
