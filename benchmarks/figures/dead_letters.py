"""A thousand dead letters: how long a look at them takes, what it leaves behind, how true a redrive is to its rate."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from benchmarks import child
from benchmarks.figure import Figure
from benchmarks.pipeline import Pipeline, event
from claim_check.adapters.session import Clients
from claim_check.adapters.sqs import SqsQueue
from claim_check.contract import DAY_SECONDS, SQS_MAX_BATCH_ENTRIES
from claim_check.parking import parked_copy
from claim_check.ports import VisibilityChange
from claim_check.settings import ConsumerSettings
from claim_check_ops.dlq.desk import Desk, desk
from claim_check_ops.dlq.journal import opened
from claim_check_ops.dlq.letters import grouped
from claim_check_ops.dlq.pace import Limit
from claim_check_ops.dlq.redriving import Orders
from claim_check_ops.dlq.report import Report
from claim_check_ops.dlq.selecting import Selection
from claim_check_ops.dlq.surveying import survey

if TYPE_CHECKING:
    from benchmarks.stand import Stand
    from claim_check.delivery import Delivery

MESSAGES: Final = 1000
LIST_SECONDS: Final = 10.0
RATE: Final = 50.0
TOLERANCE: Final = 0.10

_LIFE_SECONDS: Final = 90 * DAY_SECONDS
_PAYLOAD: Final = b"%PDF-1.7 " * 100


def measure(stand: Stand) -> Iterator[Figure]:
    """Listing and redriving."""
    stand.say(f"{MESSAGES} dead letters: listing them, redriving them at {RATE:g}/s")
    found = child.run(f"{__name__}:listed_and_redriven", environment=stand.environment(), messages=MESSAGES)
    how = f"embedded AWS, a standard DLQ with {MESSAGES} parked claims"
    yield Figure.at_most(
        f"dlq list of {MESSAGES} messages",
        round(found["list_seconds"], 2),
        LIST_SECONDS,
        unit="s",
        how=f"{how}: receive, join with the inbox, group, give back; eight receivers",
    )
    yield Figure.exactly(
        "messages seen by dlq list", found["seen"], MESSAGES, unit="messages", how=f"{how}: each of them once"
    )
    yield Figure.exactly(
        "messages receivable after dlq list",
        found["receivable"],
        MESSAGES,
        unit="messages",
        how=f"{how}: received at once by somebody else, polled until two answers were empty",
    )
    rate = found["redriven"] / found["redrive_seconds"]
    for name, make, limit in (
        ("at least", Figure.at_least, RATE * (1 - TOLERANCE)),
        ("at most", Figure.at_most, RATE * (1 + TOLERANCE)),
    ):
        yield make(
            f"redrive at {RATE:g}/s: {name}",
            round(rate, 2),
            limit,
            unit="messages/s",
            how=f"{how}, {found['redriven']} moved, each payload looked at, each step in a journal on the disk; from "
            "the first copy to the last",
        )


def listed_and_redriven(messages: int) -> dict[str, float]:
    """Fill a DLQ, look at it as `claim-check dlq list` does, then redrive it."""
    clients = Clients()
    pipeline = Pipeline.make(clients, "dead-letters")
    _fill(pipeline, messages)
    place = _desk(pipeline)
    began = time.perf_counter()
    sample = survey(place.new_sources(), place.assessor, limit=None)
    grouped(sample.letters)
    list_seconds = time.perf_counter() - began
    receivable = _receivable(pipeline)
    report = _redriven(place)
    return {
        "list_seconds": list_seconds,
        "seen": len(sample.letters),
        "receivable": receivable,
        "redriven": len(report.moved),
        "redrive_seconds": report.seconds,
    }


def _desk(pipeline: Pipeline) -> Desk:
    settings = ConsumerSettings(
        consumer="bench",
        bucket=pipeline.bucket,
        queue_url=pipeline.queue_url,
        dlq_url=pipeline.dlq_url,
        inbox_table=pipeline.inbox,
        inbox_ttl_seconds=_LIFE_SECONDS,
        handler="",
    )
    return desk(settings, clients=pipeline.clients)


def _fill(pipeline: Pipeline, messages: int) -> None:
    """Publish claims, and park each of them as the consumer does."""
    sqs, queue = pipeline.clients.sqs, SqsQueue(pipeline.clients.sqs)
    arn = sqs.get_queue_attributes(QueueUrl=pipeline.dlq_url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 50})
    sqs.set_queue_attributes(QueueUrl=pipeline.queue_url, Attributes={"RedrivePolicy": policy})
    pipeline.producer(inline="never").publish_batch([event(_PAYLOAD, f"m-{number}") for number in range(messages)])
    parked = 0
    while parked < messages:
        received = _received(queue, pipeline.queue_url, hidden_seconds=600)
        copies = [parked_copy(one, code="HandlerFailed", attempts=5, now=time.time(), fifo=False) for one in received]
        queue.send_batch(pipeline.dlq_url, copies)
        queue.delete_batch(pipeline.queue_url, [one.receipt_handle for one in received])
        parked += len(received)


def _received(queue: SqsQueue, url: str, *, hidden_seconds: int) -> list[Delivery]:
    return queue.receive_batch(
        url, count=SQS_MAX_BATCH_ENTRIES, wait_seconds=0, visibility_seconds=hidden_seconds, attempt_id=None
    )


def _receivable(pipeline: Pipeline) -> int:
    """How many different messages somebody else receives now; they are visible again afterwards."""
    queue, handles, empty = SqsQueue(pipeline.clients.sqs), dict[str, str](), 0
    while empty <= 1:
        received = _received(queue, pipeline.dlq_url, hidden_seconds=600)
        handles |= {one.sqs_message_id: one.receipt_handle for one in received}
        empty = 0 if received else empty + 1
    queue.change_visibility(pipeline.dlq_url, [VisibilityChange(handle, 0) for handle in handles.values()])
    return len(handles)


def _redriven(place: Desk) -> Report:
    orders = Orders(selection=Selection(), limit=Limit(rate=RATE), canary_seconds=None, settle_seconds=0.0)
    with TemporaryDirectory(prefix="claim-check-bench-") as folder:
        path = Path(folder) / "journal.jsonl"
        with opened(path, run="bench", about={}, now=time.time()) as journal:
            return place.redriver(place.court(), orders, journal=journal, told=_Silent()).run()


class _Silent:
    """Shows nothing."""

    def step(self, text: str) -> None:
        """What is done now."""

    def moved(self, messages: int, payload_bytes: int) -> None:
        """So much more was sent."""
