"""A message's claim is compared with the domain's own record before its payload is used (R3.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from claim_check import Claim, Envelope, Message, Transaction, expecting
from tests.harness import World, documents


@pytest.fixture
def world() -> World:
    """One pipeline."""
    return World()


def handler(find: Callable[[Envelope], Claim | None]) -> Callable[[Message, Transaction], None]:
    """The documents' handler, with a record of its own."""

    @expecting(find)
    def handle(message: Message, tx: Transaction) -> None:
        documents(message, tx)

    return handle


def claim_of(envelope: Envelope) -> Claim:
    """The claim of an envelope that has one."""
    assert isinstance(envelope.payload, Claim)
    return envelope.payload


@pytest.mark.parametrize(
    "find",
    [claim_of, lambda _: None, lambda envelope: replace(claim_of(envelope), version_id="v1")],
    ids=["as-recorded", "no-record", "version-known-to-one-only"],
)
def test_a_claim_that_is_as_recorded_is_processed(world: World, find: Callable[[Envelope], Claim | None]) -> None:
    sent = world.send()
    world.deliver(world.consumer(handler(find)))
    assert world.row(sent).state == "COMPLETED"
    assert world.effects(sent) == 1


@pytest.mark.parametrize(
    "change",
    [{"bucket": "b"}, {"key": "k"}, {"content_length": 1}, {"sha256": "0" * 64}],
    ids=["bucket", "key", "length", "hash"],
)
def test_any_difference_parks_the_message_before_its_payload_is_fetched(
    world: World, change: dict[str, str | int]
) -> None:
    sent = world.send()
    world.deliver(world.consumer(handler(lambda envelope: replace(claim_of(envelope), **change))))  # type: ignore[arg-type]
    row = world.row(sent)
    assert (row.state, row.last_code) == ("PARKED", "ClaimMismatch")
    assert next(iter(change)) in str(row.last_message)
    assert world.calls("open") == []
    assert world.calls("take") == ["take"]  # after the gate
    assert world.effects(sent) == 0


def test_another_version_is_a_difference(world: World) -> None:
    sent = world.send(world.envelope(version_id="v2"))
    world.deliver(world.consumer(handler(lambda envelope: replace(claim_of(envelope), version_id="v1"))))
    assert world.row(sent).last_code == "ClaimMismatch"


def test_a_payload_that_travels_inline_is_none_of_the_record(world: World) -> None:
    recorded = claim_of(world.envelope())
    sent = world.send(world.envelope(b"{}", inline=True))
    world.deliver(world.consumer(handler(lambda _: recorded)))
    assert world.row(sent).last_code == "ClaimMismatch"


def test_a_record_that_cannot_be_asked_is_a_failure_of_the_handler(world: World) -> None:
    def fails(_: Envelope) -> Claim | None:
        raise OSError("no answer")

    sent = world.send()
    world.deliver(world.consumer(handler(fails)))
    assert (world.row(sent).state, world.row(sent).last_code) == ("FAILED", "HandlerFailed")


def test_the_reason_tells_no_key(world: World) -> None:
    sent = world.send()
    world.deliver(world.consumer(handler(lambda envelope: replace(claim_of(envelope), key="secret-key"))))
    assert "secret-key" not in str(world.row(sent).last_message)
    assert claim_of(sent.envelope).key not in str(world.row(sent).last_message)
