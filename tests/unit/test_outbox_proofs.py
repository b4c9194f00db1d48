"""What a parked outbox row proves: that no message of it can be in a queue, or nothing at all (R3.1, R7.1)."""

from __future__ import annotations

import pytest

from claim_check.contract import METADATA_STAGED
from claim_check.envelope import Claim
from claim_check.errors import Unavailable
from claim_check.payload_store import PayloadStore
from claim_check.producer import Producer
from claim_check.reconciliation.judging import never_sent
from tests.fakes.faults import Crash
from tests.outbox_world import BEFORE_SEND_SECONDS, BUCKET, OutboxWorld, event_of


def grown_old(world: OutboxWorld, key: str) -> bool:
    """Days later a relay parks the row; whether it proves then that it was never sent."""
    world.clock.advance(BEFORE_SEND_SECONDS + 1)
    world.relay().run([key], remaining_seconds=60)
    row = world.table.rows([key])[key]
    assert row.state == "PARKED"
    return never_sent(row)


def test_a_row_that_no_relay_had_in_time_was_never_sent() -> None:
    world = OutboxWorld()
    assert grown_old(world, world.stage("e"))


def test_a_refused_row_was_never_sent() -> None:
    world = OutboxWorld()
    key = world.stage("e")
    body = world.table.rows([key])[key].body or ""
    world.queue.refuse_entries[body] = (1, True)
    world.relay().run([key], remaining_seconds=60)
    assert grown_old(world, key)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_row_whose_relay_died_while_it_sent_proves_nothing(when: str) -> None:
    world = OutboxWorld()
    key = world.stage("e")
    world.faults.fail("send_batch", Crash(), when=when)  # type: ignore[arg-type]  # one of its literals
    with pytest.raises(Crash):
        world.relay().run([key], remaining_seconds=60)
    assert len(world.queue.messages(world.queue_url)) == (when == "after")
    assert not grown_old(world, key)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_row_whose_send_was_not_answered_proves_nothing(when: str) -> None:
    world = OutboxWorld()
    key = world.stage("e")
    world.faults.fail("send_batch", Unavailable("no answer"), when=when)  # type: ignore[arg-type]  # as above
    world.relay().run([key], remaining_seconds=60)
    assert not grown_old(world, key)


def test_a_doubt_outlives_later_refusals() -> None:
    world = OutboxWorld()
    key = world.stage("e")
    body = world.table.rows([key])[key].body or ""
    world.faults.fail("send_batch", Crash(), when="after")
    with pytest.raises(Crash):
        world.relay().run([key], remaining_seconds=60)
    world.clock.advance(600)
    world.queue.refuse_entries[body] = (1, True)
    world.relay().run([key], remaining_seconds=60)
    assert not grown_old(world, key)


def test_a_row_of_a_fifo_queue_proves_nothing() -> None:
    world = OutboxWorld(fifo=True)
    assert not grown_old(world, world.stage("e", group="g"))


CONTENT = b"p" * 300_000


def direct(world: OutboxWorld) -> Producer:
    """A producer that publishes past the outbox."""
    store = PayloadStore(
        world.objects,
        bucket=BUCKET,
        before_send_seconds=BEFORE_SEND_SECONDS,
        clock=world.clock,
        random=lambda: 0.5,
    )
    return Producer(
        store,
        world.queue,
        queue_url=world.queue_url,
        clock=world.clock,
        new_id=world.new_token,
        random=lambda: 0.5,
        telemetry=world.telemetry,
    )


def test_who_publishes_directly_does_not_rely_on_a_staged_payload() -> None:
    """Or its message would point at an object that goes with its parked row."""
    world = OutboxWorld()
    key = world.stage("e", content=CONTENT)
    row = world.table.rows([key])[key]
    published = direct(world).publish(event_of("e", payload=CONTENT))
    assert isinstance(published.payload, Claim)
    assert published.payload.key == f"{row.payload_key}.1"


def test_a_staged_row_relies_on_what_was_published_before_and_proves_nothing_of_it() -> None:
    world = OutboxWorld()
    published = direct(world).publish(event_of("e", payload=CONTENT))
    assert isinstance(published.payload, Claim)
    key = world.stage("e", content=CONTENT)
    assert world.table.rows([key])[key].payload_key == published.payload.key
    found = world.objects.head(bucket=BUCKET, key=published.payload.key)
    assert found is not None
    assert METADATA_STAGED not in found.metadata
