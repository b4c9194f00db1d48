"""The worker outside Lambda beside plain boto3 loops that receive and delete, and do nothing in between."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from benchmarks import child
from benchmarks.far_queue import SQS_SECONDS, far_queue
from benchmarks.far_services import DYNAMODB_SECONDS
from benchmarks.figure import Figure
from benchmarks.pipeline import Pipeline, small_event
from claim_check import aws as claim_check_aws
from claim_check.adapters.session import Clients
from claim_check.contract import KIB, SQS_MAX_BATCH_ENTRIES, Metric
from claim_check.settings import ConsumerSettings
from claim_check_ops.telemetry import SilentTelemetry

if TYPE_CHECKING:
    from benchmarks.stand import Stand
    from claim_check.message import Message
    from claim_check.transaction import Transaction
    from claim_check.worker import Worker

LIMIT: Final = 0.6
MESSAGES: Final = 400
CONCURRENCY: Final = 32
ROUNDS: Final = 2
_QUEUE: Final = "https://sqs.us-east-1.amazonaws.com/000000000000/bench"

WORKER: Final = "worker"
PLAIN: Final = "plain loop"
BATCHED: Final = "plain loop, batched deletes"


def measure(stand: Stand) -> Iterator[Figure]:
    """Rates as ratios."""
    stand.say("messages through the worker, and through plain loops")
    with far_queue() as endpoint:
        environment = stand.bare_environment() | {"AWS_ENDPOINT_URL": endpoint}
        rates = child.run(f"{__name__}:best_rates", environment=environment, messages=MESSAGES, rounds=ROUNDS)
    worker, plain, batched = rates[WORKER], rates[PLAIN], rates[BATCHED]
    how = (
        f"{MESSAGES} inline messages of 1 KiB, a stand-in that answers in {SQS_SECONDS * 1000:.0f} ms for SQS and "
        f"{DYNAMODB_SECONDS * 1000:.0f} ms for DynamoDB, any number side by side; one process each, the best of "
        f"{ROUNDS} rounds in turn; the worker with {CONCURRENCY} lanes, gate and commit (two DynamoDB requests a "
        f"message) until the last delete: {worker:.0f}/s"
    )
    yield Figure.at_least(
        "messages/s of the worker : plain boto3",
        round(worker / plain, 2),
        LIMIT,
        unit="x",
        how=f"{how} : {plain:.0f}/s of a loop of receive_message (ten) and delete_message, without an inbox or work",
    )
    yield Figure.noted(
        "messages/s of the worker : plain boto3, batched deletes",
        round(worker / batched, 2),
        unit="x",
        how=f"{how} : {batched:.0f}/s of a loop of receive_message (ten) and delete_message_batch; what remains is "
        "the CPU of boto3's two requests to DynamoDB, which the loop does not make",
    )


def best_rates(messages: int, rounds: int) -> dict[str, float]:
    """Messages a second of each way, measured in a process of its own."""
    pipeline = Pipeline(Clients(), "worker", _QUEUE, f"{_QUEUE}-dlq")
    publisher = pipeline.producer()
    ways: dict[str, Callable[[int], None]] = {
        WORKER: lambda count: through_worker(pipeline, count),
        PLAIN: lambda count: through_loop(pipeline.clients.sqs, count, batched=False),
        BATCHED: lambda count: through_loop(pipeline.clients.sqs, count, batched=True),
    }
    best = dict.fromkeys(ways, 0.0)
    for number in range(rounds):
        for name, way in ways.items():
            publisher.publish_batch([small_event(KIB, f"{name}-{number}-{place}") for place in range(messages)])
            began = time.perf_counter()
            way(messages)
            best[name] = max(best[name], messages / (time.perf_counter() - began))
    return best


def through_loop(client: Any, messages: int, *, batched: bool) -> None:  # noqa: ANN401 - boto3's client
    """What a program without a library does."""
    done = 0
    while done < messages:
        answer = client.receive_message(
            QueueUrl=_QUEUE,
            MaxNumberOfMessages=SQS_MAX_BATCH_ENTRIES,
            WaitTimeSeconds=20,
            MessageAttributeNames=["All"],
            MessageSystemAttributeNames=["All"],
        )
        handles = [message["ReceiptHandle"] for message in answer.get("Messages", [])]
        if batched:
            entries = [{"Id": str(place), "ReceiptHandle": handle} for place, handle in enumerate(handles)]
            client.delete_message_batch(QueueUrl=_QUEUE, Entries=entries)
        else:
            for handle in handles:
                client.delete_message(QueueUrl=_QUEUE, ReceiptHandle=handle)
        done += len(handles)


class _Counting(SilentTelemetry):
    """Stops the worker once everything was processed."""

    def __init__(self, messages: int) -> None:
        self.worker: Worker | None = None
        self._left = messages
        self._lock = threading.Lock()

    def count(self, metric: str, value: float = 1) -> None:
        with self._lock:
            self._left -= int(value) if metric == Metric.PROCESSED else 0
            if self._left == 0 and metric == Metric.PROCESSED and self.worker is not None:
                self.worker.stop()


def through_worker(pipeline: Pipeline, messages: int) -> None:
    """The worker as ``claim-check worker`` makes it."""
    settings = ConsumerSettings(
        consumer="bench",
        bucket=pipeline.bucket,
        queue_url=pipeline.queue_url,
        dlq_url=pipeline.dlq_url,
        inbox_table=pipeline.inbox,
        inbox_ttl_seconds=86_400,
        handler="",
        concurrency=CONCURRENCY,
    )

    def handle(message: Message, _: Transaction) -> None:
        message.read()

    telemetry = _Counting(messages)
    worker = claim_check_aws.worker(settings, handler=handle, clients=pipeline.clients, telemetry=telemetry)
    telemetry.worker = worker
    worker.run()
