"""Requests, counted exactly: what each step costs in calls to AWS."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from benchmarks import child
from benchmarks.figure import Figure
from benchmarks.pipeline import Pipeline, event, handle, small_event
from claim_check.adapters.session import Clients
from claim_check.contract import KIB, SQS_MAX_BATCH_ENTRIES

if TYPE_CHECKING:
    from benchmarks.stand import Stand

HOW: Final = "HTTP requests of the real clients (botocore's before-send, retries included), embedded AWS"
TEN: Final = SQS_MAX_BATCH_ENTRIES
CLAIM_BYTES: Final = 100 * KIB
INLINE_BYTES: Final = 1 * KIB

EXPECTED: Final[Mapping[str, Mapping[str, int]]] = {
    "publish a claim": {"PutObject": 1, "SendMessageBatch": 1},
    "publish inline": {"SendMessageBatch": 1},
    "publish ten claims in a batch": {"PutObject": TEN, "SendMessageBatch": 1},
    "publish ten inline in a batch": {"SendMessageBatch": 1},
    "consume a claim": {"GetObject": 1, "UpdateItem": 1, "TransactWriteItems": 1},
    "consume inline": {"UpdateItem": 1, "TransactWriteItems": 1},
    "consume a duplicate": {"UpdateItem": 1},
    "consume ten claims in a batch": {"GetObject": TEN, "UpdateItem": TEN, "TransactWriteItems": TEN},
}


class RequestCounter:
    """Counts every HTTP request that some clients send, by operation."""

    def __init__(self, clients: Clients) -> None:
        """Count from now on."""
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        for client in (clients.s3, clients.sqs, clients.dynamodb):
            client.meta.events.register("before-send", self._count)

    def _count(self, event_name: str, **_: Any) -> None:  # noqa: ANN401 - botocore's
        with self._lock:
            self._counts[event_name.rpartition(".")[2]] += 1

    def take(self) -> dict[str, int]:
        """What was sent since the last time."""
        with self._lock:
            counts, self._counts = dict(self._counts), Counter()
        return counts


def measure(stand: Stand) -> Iterator[Figure]:
    """Every step's requests beside those it may cost."""
    found: dict[str, dict[str, int]] = child.run(f"{__name__}:count", environment=stand.environment())
    for step, expected in EXPECTED.items():
        yield Figure.exactly(step, as_text(found[step]), as_text(expected), unit="requests", how=HOW)
    spared = sum(
        count for counts in found.values() for name, count in counts.items() if name.startswith(("Head", "List"))
    )
    yield Figure.exactly("HEAD and LIST of all these steps", spared, 0, unit="requests", how=HOW)


def as_text(counts: Mapping[str, int]) -> str:
    """Counts as a reader takes them in."""
    return " + ".join(f"{count} {name}" for name, count in sorted(counts.items()))


def count() -> dict[str, dict[str, int]]:
    """Take every step once, in a process of its own; returns the requests of each."""
    clients = Clients()
    pipeline = Pipeline.make(clients, "requests")
    publisher, consumer = pipeline.producer(), pipeline.consumer()
    counter = RequestCounter(clients)
    claim, found = bytes(CLAIM_BYTES), dict[str, dict[str, int]]()

    publisher.publish(event(claim, "one-claim"))
    found["publish a claim"] = counter.take()
    (record,) = received(pipeline, counter, 1)
    handle(consumer, [record])
    found["consume a claim"] = counter.take()
    handle(consumer, [record | {"messageId": "another-delivery"}])
    found["consume a duplicate"] = counter.take()

    publisher.publish(small_event(INLINE_BYTES, "one-inline"))
    found["publish inline"] = counter.take()
    records = received(pipeline, counter, 1)
    handle(consumer, records)
    found["consume inline"] = counter.take()

    publisher.publish_batch([event(claim, f"claim-{number}") for number in range(TEN)])
    found["publish ten claims in a batch"] = counter.take()
    records = received(pipeline, counter, TEN)
    handle(consumer, records)
    found["consume ten claims in a batch"] = counter.take()

    publisher.publish_batch([small_event(INLINE_BYTES, f"inline-{number}") for number in range(TEN)])
    found["publish ten inline in a batch"] = counter.take()
    return found


def received(pipeline: Pipeline, counter: RequestCounter, number: int) -> list[dict[str, Any]]:
    """Messages as Lambda would hand them over; its own calls do not count."""
    records = pipeline.receive(number)
    counter.take()
    return records
