"""A trace and a correlation stay with a message into the DLQ, back to work, and into the DLQ again (R12.2)."""

from __future__ import annotations

import json

import pytest

from claim_check.dead_letters import redriven_copy
from claim_check.delivery import Delivery
from claim_check.errors import PermanentError
from claim_check.message import Message
from claim_check.transaction import Transaction
from tests.harness import World

TRACE_ID = "1-6b0ce1e3-8c6d02daab7cd9289efa3c10"
HEADER = f"Root={TRACE_ID};Parent=53995c3f42cd8ad8;Sampled=1"


@pytest.mark.parametrize("fifo", [False, True], ids=["standard", "FIFO"])
def test_trace_and_correlation_survive_parking_and_a_redrive(fifo: bool) -> None:  # noqa: FBT001 - a parameter
    world = World(fifo=fifo)

    def handle(_: Message, __: Transaction) -> None:
        raise PermanentError("never")

    sent = world.send(trace_header=HEADER)
    for number in range(2):
        world.deliver(world.consumer(handle))
        (dead,) = world.queue.receive_batch(
            world.dlq_url, count=10, wait_seconds=0, visibility_seconds=0, attempt_id=None
        )
        assert dead.trace_header == HEADER
        assert json.loads(dead.body)["correlationId"] == sent.envelope.correlation_id
        line = world.telemetry.lines[-1]
        assert (line.fields["traceId"], line.fields["correlationId"]) == (TRACE_ID, sent.envelope.correlation_id)
        assert len([one for one in world.telemetry.lines if one.level == "error"]) == number + 1
        copy = redriven_copy(dead, reason="HandlerFailed", run="run", now=world.clock.now(), fifo=fifo)
        assert copy.trace_header == HEADER
        world.queue.delete_batch(world.dlq_url, [dead.receipt_handle])
        world.queue.send_batch(world.queue_url, [copy])


@pytest.mark.parametrize(
    "header,trace_id",
    [
        (HEADER, TRACE_ID),
        (f"Parent=53995c3f42cd8ad8;Root={TRACE_ID}", TRACE_ID),
        (f"Root={TRACE_ID}", TRACE_ID),
        (f"Self=1-0-0;Root={TRACE_ID};Lineage=a", TRACE_ID),
        (None, None),
        ("Root=1-6b0ce1e3", None),
        ("Root=payloads/tenants/t-1/secret", None),
        (f"MyRoot={TRACE_ID}", None),
        (f"Root={TRACE_ID}0", None),
    ],
    ids=["usual", "other order", "alone", "with more", "none", "too short", "no id", "another field", "too long"],
)
def test_the_trace_of_a_message_is_its_roots_id(header: str | None, trace_id: str | None) -> None:
    delivery = Delivery(sqs_message_id="m", receipt_handle="r", body="", trace_header=header)
    assert delivery.trace_id == trace_id
