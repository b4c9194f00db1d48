"""100,000 mutated batches, half of them on FIFO: no exception escapes, nothing is acknowledged wrongly.

The mutations and the judgement are those of ``test_mutated_records.py``, which runs fewer of them with real threads.
Here lanes run in the caller's thread, since starting threads would take most of the time, and the events to be mutated
are made once.
"""

from __future__ import annotations

import json
import random
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import pytest

from claim_check import consumer as consumer_module
from claim_check.delivery import from_lambda
from claim_check.errors import MalformedBatch
from claim_check.message import Message
from claim_check.ports import MessageAttribute
from claim_check.transaction import Transaction
from tests.fakes.object_store import FakeObject
from tests.harness import EVENT_TYPE, World, documents
from tests.unit.test_mutated_records import KINDS, acknowledged_rightly, effects_are_true, envelopes_of

BATCHES = 100_000
PARTS = 5
SEEDS = 16
SECONDS = 60.0
FAILING = "fails"


class HereAndNow:
    """An executor that runs what is submitted at once."""

    def __init__(self, **_: Any) -> None:  # noqa: ANN401 - what ThreadPoolExecutor takes
        """Take any options."""

    def submit(self, function: Any, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401 - any call
        """Run it."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - a future holds it
            future.set_exception(error)
        return future

    def shutdown(self, **_: Any) -> None:  # noqa: ANN401 - what ThreadPoolExecutor takes
        """Nothing runs."""


@dataclass(frozen=True)
class Start:
    """What a mutation begins with.

    Attributes:
        event: Lambda's event, as JSON.
        objects: What is in the bucket.
    """

    event: str
    objects: dict[tuple[str, str], list[FakeObject | None]]


def handler(message: Message, tx: Transaction) -> None:
    """Fail on some messages, so that groups stop."""
    if message.idempotency_key == FAILING:
        raise RuntimeError
    documents(message, tx)


def starts(*, fifo: bool) -> list[Start]:
    """Events with a few messages of every kind, failing ones among them."""
    found = []
    for seed in range(SEEDS):
        rng = random.Random(seed)  # noqa: S311 - no secret
        world = World(fifo=fifo)
        attributes = {
            "eventType": MessageAttribute(data_type="String", value=EVENT_TYPE),
            "raw": MessageAttribute(data_type="Binary", value=b"\x00"),
            "n": MessageAttribute(data_type="Number.int", value="7"),
        }
        twice = world.envelope(b'{"small":true}', inline=True)
        fails = world.envelope(b"{}", inline=True, identity=FAILING)
        choices = [None, twice, twice, fails]
        rng.shuffle(choices)
        for envelope in choices[: rng.randrange(1, 4)]:
            some = attributes if rng.random() < 0.3 else {}
            world.send(envelope, group=rng.choice(["g-1", "g-1", "g-2"]), attributes=some)
        if rng.random() < 0.2:
            world.send_body("no envelope", group="g-2")
        event = world.queue.lambda_event(world.queue_url)
        found.append(Start(json.dumps(event), {key: list(value) for key, value in world.objects.objects.items()}))
    return found


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("fifo", [False, True], ids=["standard", "fifo"])
def test_no_mutated_batch_is_answered_wrongly(fifo: bool, part: int, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001 - a parameter
    monkeypatch.setattr(consumer_module, "ThreadPoolExecutor", HereAndNow)
    begin = starts(fifo=fifo)
    answered = refused = stopped = 0
    for number in range(BATCHES // (2 * PARTS)):
        seed = f"{fifo}-{part}-{number}"
        rng = random.Random(seed)  # noqa: S311 - no secret
        start = rng.choice(begin)
        event = mutated(rng, json.loads(start.event))
        world = World(fifo=fifo)
        world.objects.objects.update(start.objects)
        try:
            failed = judged(world, event)
        except BaseException as error:
            error.add_note(f"mutation {seed}: {repr(event)[:3000]}")
            raise
        answered += failed is not None
        refused += failed is None
        stopped += bool(failed)
    assert answered + refused == BATCHES // (2 * PARTS)
    assert min(answered, refused, stopped) > answered / 200, "every kind of answer was seen"


def mutated(rng: random.Random, event: Any) -> Any:  # noqa: ANN401 - Lambda's event
    """One to three mutations, as far as there is something to mutate."""
    for _ in range(rng.randrange(1, 4)):
        try:
            event = rng.choice(KINDS)(rng, event)
        except (AttributeError, IndexError, KeyError, TypeError):
            break
    return event


def judged(world: World, event: Any) -> list[str] | None:  # noqa: ANN401 - Lambda's event
    """Hand the event over, and judge the answer: the failed ids; None if the batch was refused as a whole."""
    consumer = world.consumer(handler)
    try:
        answer = consumer.handle_lambda(event, remaining_seconds=SECONDS)
    except MalformedBatch:
        assert world.calls() == [], "a batch is refused before any side effect"
        return None
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
    if world.fifo:
        assert nothing_overtakes(records, names)
    return names


def nothing_overtakes(records: list[Any], failed: list[str]) -> bool:
    """Whether in every group nothing behind a failed record is acknowledged.

    Of two records with one message id, which no queue delivers, an answer cannot tell which one it means.
    """
    if len({record["messageId"] for record in records}) < len(records):
        return True
    stopped: set[str | None] = set()
    for record in records:
        delivery = from_lambda(record)
        if delivery is None:  # no SQS message at all: it has no group to hold up
            continue
        if delivery.sqs_message_id in failed:
            stopped.add(delivery.group_id)
        elif delivery.group_id in stopped:
            return False
    return True
