"""What the protocol costs: messages a second through the consumer, beside a bare receive-and-delete loop."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from benchmarks import child
from benchmarks.figure import Figure
from benchmarks.pipeline import Pipeline, handle, small_event
from claim_check.adapters.session import Clients
from claim_check.contract import KIB, SQS_MAX_BATCH_ENTRIES

if TYPE_CHECKING:
    from benchmarks.stand import Stand
    from claim_check import Consumer

ROUNDS: Final = 30
MESSAGE_BYTES: Final = 1 * KIB


def measure(stand: Stand) -> Iterator[Figure]:
    """Both rates, as a ratio."""
    environment = stand.environment()
    stand.say("batches through the consumer and through a bare loop in turn")
    bare, ours = (
        SQS_MAX_BATCH_ENTRIES / statistics.median(seconds)
        for seconds in child.run(f"{__name__}:batches", environment=environment, rounds=ROUNDS)
    )
    yield Figure.noted(
        "messages/s through the consumer : a bare loop",
        round(ours / bare, 2),
        unit="x",
        how=f"embedded AWS, inline messages of 1 KiB in batches of ten, one poller, median of {ROUNDS} rounds in turn: "
        f"{ours:.0f}/s with gate and commit : {bare:.0f}/s of boto3's receive and delete; both wait on one server "
        "process that takes one request at a time",
    )


def batches(rounds: int) -> list[list[float]]:
    """Take a batch through the bare loop and one through the consumer in turn; returns the seconds of each."""
    clients = Clients()
    bare, ours = Pipeline.make(clients, "rate-bare"), Pipeline.make(clients, "rate-ours")
    consumer = ours.consumer()

    def timed(pipeline: Pipeline, consumer: Consumer | None) -> float:
        began = time.perf_counter()
        records = pipeline.receive(SQS_MAX_BATCH_ENTRIES)
        if consumer is not None:
            handle(consumer, records)
        pipeline.delete(records)
        return time.perf_counter() - began

    for pipeline in (bare, ours):
        events = [small_event(MESSAGE_BYTES, f"{number}") for number in range((rounds + 1) * SQS_MAX_BATCH_ENTRIES)]
        pipeline.producer().publish_batch(events)
    pairs = [(timed(bare, None), timed(ours, consumer)) for _ in range(rounds + 1)][1:]
    return [[one for one, _ in pairs], [other for _, other in pairs]]
