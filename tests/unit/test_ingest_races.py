"""Two ingesters and one object: every interleaving of their calls to the outside (R10.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from claim_check.delivery import Delivery
from claim_check.ingest.changes import Seen
from claim_check.ingest.notifications import synthetic
from tests.fakes.ingest import BUCKET, etag_of
from tests.ingest_world import IngestWorld
from tests.interleaving import Play, SteppedFaults, every_interleaving, perform

KEY = "a"


def _seen(world: IngestWorld, etag: str | None) -> Delivery:
    row = world.ledger.stored.get((BUCKET, KEY))
    return world.delivery(body=synthetic(bucket=BUCKET, key=KEY, seen=Seen(etag, row.revision if row else None)))


def _overwritten(world: IngestWorld) -> list[Delivery]:
    return [world.delivery(world.bucket.put(KEY, content)) for content in (b"", b"new")]


def _removed(world: IngestWorld) -> list[Delivery]:
    return [world.delivery(world.bucket.put(KEY, b"")), world.delivery(world.bucket.delete(KEY))]


def _written_anew(world: IngestWorld) -> list[Delivery]:
    world.handle(world.bucket.put(KEY, b""))
    return [world.delivery(world.bucket.delete(KEY)), world.delivery(world.bucket.put(KEY, b""))]


def _twice(world: IngestWorld) -> list[Delivery]:
    delivery = world.delivery(world.bucket.put(KEY, b""))
    return [delivery, delivery]


def _synthetic_removal(world: IngestWorld) -> list[Delivery]:
    world.handle(world.bucket.put(KEY, b""))
    world.bucket.delete(KEY)
    gone = _seen(world, None)
    return [gone, world.delivery(world.bucket.put(KEY, b""))]


def _synthetic_put(world: IngestWorld) -> list[Delivery]:
    world.bucket.put(KEY, b"")
    new = _seen(world, etag_of(b""))
    return [new, world.delivery(world.bucket.delete(KEY))]


def _undecided(world: IngestWorld) -> list[Delivery]:
    world.handle(world.bucket.put(KEY, b"first"))
    records = [world.bucket.put(KEY, b""), world.bucket.delete(KEY)]
    for record in records:
        record["s3"]["object"]["sequencer"] += "AB"
    return [world.delivery(record) for record in records]


CASES = {
    "overwritten": _overwritten,
    "removed": _removed,
    "removed and written anew": _written_anew,
    "delivered twice at once": _twice,
    "seen as gone, and written anew": _synthetic_removal,
    "seen as new, and removed": _synthetic_put,
    "sequencers that do not compare": _undecided,
}


@pytest.mark.parametrize("versioned", [False, True], ids=["unversioned", "versioned"])
@pytest.mark.parametrize("name", CASES)
def test_whatever_the_order_of_their_calls_the_target_becomes_the_bucket(name: str, versioned: bool) -> None:  # noqa: FBT001 - a parameter
    number = every_interleaving(lambda script: _performed(CASES[name], script, versioned=versioned))
    assert number > 10


def _performed(prepare: Callable[[IngestWorld], list[Delivery]], script: Sequence[int], *, versioned: bool) -> Play:
    world = IngestWorld(versioned=versioned, faults=SteppedFaults())
    deliveries = prepare(world)
    actions = [_action(world, delivery) for delivery in deliveries]
    play = perform(actions, script)
    world.check_order()
    assert world.target() == world.truth()
    return play


def _action(world: IngestWorld, delivery: Delivery) -> Callable[[], None]:
    ingester = world.ingester(rules={"access": "none"})  # its content makes no difference, only more orders

    def act() -> None:
        assert world.process(ingester, delivery).acknowledged

    return act
