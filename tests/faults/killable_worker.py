"""A worker process on the real adapters that stops at a chosen call and waits there to be killed.

Run as a program it takes its settings as one JSON argument, prints the name of every call that it makes, and at the
chosen one prints `STOPPED` and waits. Without a chosen call it works until its queue is empty.
"""

from __future__ import annotations

import itertools
import json
import secrets
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from claim_check import contract
from claim_check.adapters.clock import SystemClock
from claim_check.adapters.dynamodb import DynamoDbInbox
from claim_check.adapters.s3 import S3ObjectStore
from claim_check.adapters.session import Clients
from claim_check.adapters.sqs import SqsQueue
from claim_check.consumer import Consumer
from claim_check.consumer_rules import ConsumerRules
from claim_check.contract import Backoff
from claim_check.delivery import from_api
from claim_check.errors import PermanentError
from claim_check.inbox import Inbox
from claim_check.message import Message
from claim_check.parking import ParkingLot
from claim_check.permits import PayloadBudget, Permits
from claim_check.ports import OpenedObject
from claim_check.processor import Processor
from claim_check.transaction import Table, Transaction
from tests.fakes.telemetry import FakeTelemetry

STOPPED = "STOPPED"


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a worker works.

    Attributes:
        queue_url: Source queue.
        dlq_url: Its DLQ.
        bucket: Payloads.
        inbox: Inbox table.
        documents: The handler's table.
    """

    queue_url: str
    dlq_url: str
    bucket: str
    inbox: str
    documents: str


class Unreadable(PermanentError):
    """A reason of the handler's own."""

    code = "Unreadable"


class LaterClock(SystemClock):
    """A clock that is ahead, so that every earlier lease has ended by it."""

    def __init__(self, ahead: float) -> None:
        """Be so many seconds ahead."""
        self._ahead = ahead

    def now(self) -> float:
        """Epoch seconds."""
        return super().now() + self._ahead


class Calls:
    """Counts the calls of all services, and stops the process at one of them."""

    def __init__(self, say: Callable[[str], None], *, stop_at: int | None = None, after: bool = False) -> None:
        """Stop before call number `stop_at`, or after it took effect."""
        self._say = say
        self._stop_at = stop_at
        self._after = after
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    @contextmanager
    def around(self, name: str) -> Iterator[None]:
        """What a call runs in."""
        with self._lock:
            number = next(self._numbers)
            self._say(name)
        if number == self._stop_at and not self._after:
            self._stop()
        yield
        if number == self._stop_at:
            self._stop()

    def _stop(self) -> None:
        self._say(STOPPED)
        threading.Event().wait()


class Counted:
    """A service whose calls are counted."""

    def __init__(self, service: object, calls: Calls) -> None:
        """Wrap a service."""
        self._service = service
        self._calls = calls

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the service has
        """A method of the service, counted."""
        method = getattr(self._service, name)

        def counted(*positional: object, **named: object) -> object:
            if name == "close":
                return method()
            with self._calls.around(name):
                answer = method(*positional, **named)
            if isinstance(answer, OpenedObject):
                body: Any = Counted(answer.body, self._calls)
                return OpenedObject(answer.info, body)
            return answer

        return counted


def work(place: Place, clients: Clients, calls: Calls, *, ahead: float = 0.0) -> None:
    """Receive, handle and delete until the queue is empty."""
    consumer = _consumer(place, clients, calls, LaterClock(ahead))
    source: Any = Counted(clients.sqs, calls)
    while not _is_empty(place, clients):
        messages = clients.sqs.receive_message(
            QueueUrl=place.queue_url,
            MaxNumberOfMessages=10,
            WaitTimeSeconds=1,
            MessageAttributeNames=["All"],
            MessageSystemAttributeNames=["All"],
        ).get("Messages", [])
        deliveries = [from_api(message, queue="source") for message in messages]
        outcomes = consumer.handle(deliveries, remaining_seconds=30)
        for delivery, outcome in zip(deliveries, outcomes, strict=True):
            if outcome.acknowledged:
                source.delete_message(QueueUrl=place.queue_url, ReceiptHandle=delivery.receipt_handle)


def _is_empty(place: Place, clients: Clients) -> bool:
    names: Any = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    found = clients.sqs.get_queue_attributes(QueueUrl=place.queue_url, AttributeNames=names)["Attributes"]
    return all(int(found[name]) == 0 for name in names)


def _consumer(place: Place, clients: Clients, calls: Calls, clock: LaterClock) -> Consumer:
    queue: Any = Counted(SqsQueue(clients.sqs), calls)
    objects: Any = Counted(S3ObjectStore(clients.s3), calls)
    table: Any = Counted(DynamoDbInbox(clients.dynamodb, place.inbox), calls)
    telemetry = FakeTelemetry()
    processor = Processor(
        handler_for(Table(place.documents, partition_key="pk")),
        rules=ConsumerRules(consumer="documents", bucket=place.bucket, backoff=Backoff(base=1, cap=1)),
        inbox=Inbox(
            table, consumer="documents", ttl_seconds=86_400, clock=clock, new_token=lambda: secrets.token_hex(16)
        ),
        objects=objects,
        parking=ParkingLot(queue, place.dlq_url),
        permits=Permits(PayloadBudget(access="stream", memory_bytes=contract.GIB, temp_bytes=0)),
        clock=clock,
        random=lambda: 0.5,
        telemetry=telemetry,
    )
    return Consumer(processor, queue, queue_url=place.queue_url, concurrency=1, clock=clock, telemetry=telemetry)


def handler_for(documents: Table) -> Callable[[Message, Transaction], None]:
    """A handler whose effect can be counted; messages named ``poison`` are bad for good, ``flaky`` ones fail once."""

    def handler(message: Message, tx: Transaction) -> None:
        size = len(message.read())
        if message.message_id == "poison":
            raise Unreadable
        if message.message_id == "flaky" and message.attempt == 1:
            raise RuntimeError
        tx.update(
            documents,
            {"pk": message.message_id},
            "SET #size = :size ADD #times :one",
            names={"#size": "size", "#times": "times"},
            values={":size": size, ":one": 1},
        )

    return handler


def arguments(place: Place, *, stop_at: int, after: bool) -> str:
    """The program's argument."""
    return json.dumps({"place": asdict(place), "stop_at": stop_at, "after": after})


def main(argument: str) -> None:
    """Run as a program."""
    settings = json.loads(argument)
    calls = Calls(_say, stop_at=settings["stop_at"], after=settings["after"])
    work(Place(**settings["place"]), Clients(), calls)


def _say(name: str) -> None:
    sys.stdout.write(f"{name}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
