"""An application that stages, the relays and sweeps that publish, and what came of it: an outbox made of the fakes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from claim_check import contract
from claim_check.contract import OnPoison
from claim_check.envelope import Envelope, decode
from claim_check.event import Event
from claim_check.outbox import Outbox
from claim_check.outbox.relay import Relay, RelayRules, Route
from claim_check.outbox.rows import OutboxRow
from claim_check.outbox.stream import StreamRelay
from claim_check.outbox.sweep import Sweep, Swept
from claim_check.payload_store import PayloadStore
from claim_check.ports import MessageQueue
from claim_check.producer import Producer
from claim_check.transaction import Table, Transaction
from tests.fakes.clock import FakeClock
from tests.fakes.faults import Faults
from tests.fakes.object_store import FakeObjectStore
from tests.fakes.outbox_table import OUTBOX, FakeOutboxTable
from tests.fakes.queue import FakeQueue
from tests.fakes.telemetry import FakeTelemetry

BUCKET = "payloads-bucket"
DESTINATION = "invoices"
TENANT = "t-1"
EVENT_TYPE = "OrderPlaced"
ORDERS = Table("orders", partition_key="pk")
REMAINING_SECONDS = 60.0
BEFORE_SEND_SECONDS = 86_400
TTL_SECONDS = 30 * 86_400


@dataclass
class OutboxWorld:
    """All that is outside the processes: table with its stream, bucket, queues.

    Attributes:
        fifo: Whether the queue is FIFO.
        on_poison: What a row that cannot be sent does to its group.
        clock: Time.
        faults: Failures of every fake, and the record of all calls.
    """

    fifo: bool = False
    on_poison: OnPoison = "block"
    clock: FakeClock = field(default_factory=FakeClock)
    faults: Faults = field(default_factory=Faults)

    def __post_init__(self) -> None:
        """Make the services."""
        self.queue_url = f"https://sqs/000000000000/invoices{'.fifo' if self.fifo else ''}"
        self.other_url = "https://sqs/000000000000/audit"
        self.table = FakeOutboxTable(faults=self.faults)
        self.objects = FakeObjectStore(self.clock, faults=self.faults)
        self.queue = FakeQueue(self.clock, faults=self.faults)
        self.queue.create(self.queue_url, visibility_timeout=360)
        self.telemetry = FakeTelemetry()
        self._tokens = itertools.count(1)
        self._read = 0

    # --- The processes ----------------------------------------------------------------------------------------------

    def outbox(self, *, destinations: Iterable[str] = (DESTINATION,), **producer: Any) -> Outbox:  # noqa: ANN401 - of Producer
        """What an application stages with, in a new process."""
        store = PayloadStore(
            self.objects,
            bucket=BUCKET,
            before_send_seconds=BEFORE_SEND_SECONDS,
            clock=self.clock,
            random=lambda: 0.5,
        )
        urls = {DESTINATION: self.queue_url}
        producers = {
            name: Producer(
                store,
                self.queue,
                queue_url=urls.get(name, self.other_url),
                clock=self.clock,
                new_id=self.new_token,
                random=lambda: 0.5,
                telemetry=self.telemetry,
                **producer,
            )
            for name in destinations
        }
        return Outbox(
            producers,
            table=OUTBOX,
            reader=self.table,
            transactions=self.table,
            clock=self.clock,
            new_token=self.new_token,
            random=lambda: 0.5,
            telemetry=self.telemetry,
        )

    def relay(self, *, queue: MessageQueue | None = None, routes: Iterable[str] = (DESTINATION,)) -> Relay:
        """A relay in a new process."""
        known = {
            DESTINATION: Route(queue_url=self.queue_url, on_poison=self.on_poison),
            "audit": Route(queue_url=self.other_url),
        }
        return Relay(
            self.table,
            queue or self.queue,
            routes={name: known[name] for name in routes},
            rules=RelayRules(ttl_seconds=TTL_SECONDS, before_send_seconds=BEFORE_SEND_SECONDS),
            clock=self.clock,
            new_token=self.new_token,
            random=lambda: 0.5,
            telemetry=self.telemetry,
        )

    def new_token(self) -> str:
        """Never the same twice."""
        return f"token-{next(self._tokens)}"

    # --- What they do -----------------------------------------------------------------------------------------------

    def stage(self, identity: str, *, group: str | None = None, outbox: Outbox | None = None, **event: Any) -> str:  # noqa: ANN401 - of Event
        """Commit an order and its message. Returns the row's key."""
        outbox = outbox or self.outbox()
        with outbox.transaction() as tx:
            place_order(outbox, tx, identity, group=group, **event)
        return self.key(identity)

    def deliver(self, relay: Relay | None = None, *, count: int = 100) -> list[str]:
        """What the stream's mapping does once: a batch, from where the last one got to. Returns its keys."""
        batch = self.table.stream[self._read : self._read + count]
        if not batch:
            return []
        answer = StreamRelay(relay or self.relay(), telemetry=self.telemetry).handle(
            stream_event(batch, start=self._read), remaining_seconds=REMAINING_SECONDS
        )
        failed = [int(one["itemIdentifier"]) for one in answer["batchItemFailures"]]
        self._read = failed[0] if failed else self._read + len(batch)
        return batch

    def sweep(self, relay: Relay | None = None) -> Swept:
        """What the schedule does once."""
        sweep = Sweep(relay or self.relay(), self.table, clock=self.clock, telemetry=self.telemetry)
        return sweep.run(remaining_seconds=REMAINING_SECONDS)

    # --- What came of it --------------------------------------------------------------------------------------------

    def key(self, identity: str, destination: str = DESTINATION) -> str:
        """Key of an event's row."""
        return contract.outbox_key(destination=destination, tenant_id=TENANT, id_hash=contract.id_hash(identity))

    def row(self, identity: str) -> OutboxRow:
        """An event's row; it must exist."""
        return self.table.items[self.key(identity)]

    def states(self) -> list[str]:
        """States of all rows, in the order staged."""
        return [row.state for row in self.table.items.values()]

    def ordered(self) -> list[str]:
        """Identities of the orders that were committed, in order."""
        return [str(write.key["pk"]) for write in self.table.applied if write.table == ORDERS.name]

    def envelopes(self) -> list[Envelope]:
        """What lies in the queue, in order."""
        return [decode(one.message.body) for one in self.queue.messages(self.queue_url)]

    def sent(self) -> list[str]:
        """Identities of what lies in the queue, in order."""
        return [envelope.idempotency_key for envelope in self.envelopes()]


def place_order(
    outbox: Outbox,
    tx: Transaction,
    identity: str,
    *,
    group: str | None = None,
    content: bytes = b"{}",
    **event: Any,  # noqa: ANN401 - of Event
) -> None:
    """An order and its message, in one transaction."""
    tx.put(ORDERS, {"pk": identity})
    outbox.stage(event_of(identity, group=group, payload=content, **event), tx)


def event_of(identity: str | None, *, group: str | None = None, **fields: Any) -> Event:  # noqa: ANN401 - of Event
    """An event about an order."""
    known: dict[str, Any] = {"payload": b"{}", "content_type": "application/json"}
    return Event(tenant_id=TENANT, event_type=EVENT_TYPE, message_id=identity, group_id=group, **{**known, **fields})


def stream_event(keys: Iterable[str], *, start: int = 0, name: str = "INSERT") -> dict[str, Any]:
    """Stream records of these items, in the shape that Lambda hands over; sequence numbers count from ``start``."""
    return {
        "Records": [
            {
                "eventID": f"id-{start + place}",
                "eventName": name,
                "eventVersion": "1.1",
                "eventSource": "aws:dynamodb",
                "awsRegion": "us-east-1",
                "dynamodb": {
                    "Keys": {"pk": {"S": key}},
                    "SequenceNumber": str(start + place),
                    "SizeBytes": 26,
                    "StreamViewType": "KEYS_ONLY",
                },
                "eventSourceARN": "arn:aws:dynamodb:us-east-1:000000000000:table/outbox/stream/2026",
            }
            for place, key in enumerate(keys)
        ]
    }


def until(done: Callable[[], bool], step: Callable[[], object], *, rounds: int = 50) -> int:
    """Repeat a step until something holds. Returns how often it took."""
    for number in range(rounds):
        if done():
            return number
        step()
    assert done(), f"not done after {rounds} rounds"
    return rounds
