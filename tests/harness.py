"""A consumer made of the fakes, and the small world around it: messages, rounds of delivery, and what came of them."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from claim_check import contract
from claim_check.consumer import Consumer
from claim_check.consumer_rules import ConsumerRules
from claim_check.contract import InboxState, PayloadAccess
from claim_check.envelope import Claim, Envelope, Inline, encode
from claim_check.inbox import Inbox
from claim_check.message import Message
from claim_check.parking import ParkingLot
from claim_check.permits import PayloadBudget, Permits
from claim_check.ports import InboxRow, InboxTable, MessageAttribute, MessageQueue, ObjectStore, OutgoingMessage
from claim_check.processor import Handler, Processor
from claim_check.transaction import Table, Transaction
from tests.fakes.clock import START, FakeClock
from tests.fakes.faults import Faults
from tests.fakes.inbox_table import FakeInboxTable
from tests.fakes.object_store import FakeObjectStore
from tests.fakes.queue import FakeQueue, StoredMessage
from tests.fakes.telemetry import FakeTelemetry

CONSUMER = "documents"
BUCKET = "payloads-bucket"
TENANT = "t-1"
EVENT_TYPE = "DocumentUploaded"
DOCUMENTS = Table("documents", partition_key="pk")
TTL_SECONDS = 30 * 86_400
VISIBILITY_SECONDS = 360
REMAINING_SECONDS = 60.0
CHUNK_BYTES = 16


def documents(message: Message, tx: Transaction) -> None:
    """Stream the payload and write one row about it, like the app's documents pipeline."""
    size = sum(len(chunk) for chunk in chunks(message))
    tx.put(DOCUMENTS, {"pk": f"{message.tenant_id}#{message.idempotency_key}", "size": size, "sha256": message.sha256})


def chunks(message: Message) -> Iterator[bytes]:
    """The payload, piece by piece."""
    stream = message.open()
    return iter(lambda: stream.read(CHUNK_BYTES), b"")


@dataclass(frozen=True)
class Sent:
    """A message in the source queue."""

    envelope: Envelope
    sqs_message_id: str


@dataclass
class World:
    """One pipeline: a source queue, its DLQ, a bucket, an inbox; all that is outside the consumer's process.

    Attributes:
        fifo: Whether the queues are FIFO.
        clock: Time.
        faults: Failures of every fake, and the record of all calls.
    """

    fifo: bool = False
    clock: FakeClock = field(default_factory=FakeClock)
    faults: Faults = field(default_factory=Faults)

    def __post_init__(self) -> None:
        """Make the services."""
        suffix = ".fifo" if self.fifo else ""
        self.queue_url = f"https://sqs/000000000000/documents{suffix}"
        self.dlq_url = f"https://sqs/000000000000/documents-dlq{suffix}"
        self.table = FakeInboxTable(faults=self.faults)
        self.objects = FakeObjectStore(self.clock, faults=self.faults)
        self.queue = FakeQueue(self.clock, faults=self.faults)
        self.queue.create(self.queue_url, visibility_timeout=VISIBILITY_SECONDS)
        self.telemetry = FakeTelemetry()
        self._tokens = itertools.count(1)
        self._identities = itertools.count(1)

    # --- The process under test -------------------------------------------------------------------------------------

    def consumer(
        self,
        handler: Handler = documents,
        *,
        max_attempts: int = 5,
        concurrency: int = 1,
        park: bool = True,
        permits: Permits | None = None,
        access: PayloadAccess = "stream",
        random: Callable[[], float] = lambda: 0.5,
        table: InboxTable | None = None,
        objects: ObjectStore | None = None,
        queue: MessageQueue | None = None,
        visibility_seconds: int = 0,
        **rules: Any,  # noqa: ANN401 - fields of ConsumerRules
    ) -> Consumer:
        """A consumer in a new process: it shares nothing with an earlier one but the services."""
        permits = permits or Permits(PayloadBudget(access=access, memory_bytes=contract.GIB, temp_bytes=contract.GIB))
        processor = Processor(
            handler,
            rules=ConsumerRules(consumer=CONSUMER, bucket=BUCKET, **rules),
            inbox=self.inbox(max_attempts=max_attempts, table=table),
            objects=objects or self.objects,
            parking=ParkingLot(queue or self.queue, self.dlq_url) if park else None,
            permits=permits,
            clock=self.clock,
            random=random,
            telemetry=self.telemetry,
        )
        return Consumer(
            processor,
            queue or self.queue,
            queue_url=self.queue_url,
            concurrency=concurrency,
            visibility_seconds=visibility_seconds,
            clock=self.clock,
            telemetry=self.telemetry,
        )

    def inbox(self, *, max_attempts: int = 5, table: InboxTable | None = None) -> Inbox:
        """The consumer's inbox."""
        return Inbox(
            table or self.table,
            consumer=CONSUMER,
            ttl_seconds=TTL_SECONDS,
            clock=self.clock,
            new_token=lambda: f"token-{next(self._tokens)}",
            max_attempts=max_attempts,
        )

    # --- Messages ---------------------------------------------------------------------------------------------------

    def envelope(
        self,
        content: bytes = b"a payload of some length, read in several pieces",
        *,
        identity: str | None = None,
        inline: bool = False,
        event_version: int = 1,
        **claim: Any,  # noqa: ANN401 - fields of Claim that differ from the truth
    ) -> Envelope:
        """An event; its object is stored unless it travels inline."""
        identity = identity or f"event-{next(self._identities)}"
        sha256 = hashlib.sha256(content).hexdigest()
        payload: Inline | Claim = Inline(content_type="application/json", body=content.decode())
        if not inline:
            key = contract.object_key(tenant_id=TENANT, event_type=EVENT_TYPE, idempotency_key=identity, sha256=sha256)
            if self.objects.content(BUCKET, key) is None:
                self.objects._write(BUCKET, key, content, "application/octet-stream", {})
            facts = {
                "bucket": BUCKET,
                "key": key,
                "content_type": "application/octet-stream",
                "content_length": len(content),
                "sha256": sha256,
            }
            payload = Claim(**{**facts, **claim})
        return Envelope(
            message_id=identity,
            event_type=EVENT_TYPE,
            event_version=event_version,
            tenant_id=TENANT,
            idempotency_key=identity,
            correlation_id=f"correlation of {identity}",
            domain_ref={"documentId": "doc-789"},
            payload=payload,
        )

    def send(
        self,
        envelope: Envelope | None = None,
        *,
        group: str | None = None,
        attributes: Mapping[str, MessageAttribute] | None = None,
        trace_header: str | None = None,
    ) -> Sent:
        """Put an event into the source queue, behind the back of `faults`; a new one if none is given."""
        envelope = envelope or self.envelope()
        return Sent(
            envelope, self.send_body(encode(envelope), group=group, attributes=attributes, trace_header=trace_header)
        )

    def send_body(
        self,
        body: str,
        *,
        group: str | None = None,
        attributes: Mapping[str, MessageAttribute] | None = None,
        trace_header: str | None = None,
    ) -> str:
        """Put any body into the source queue; returns SQS's message id."""
        message = OutgoingMessage(
            body=body,
            attributes=attributes or {},
            group_id=(group or "g-1") if self.fifo else group,
            deduplication_id=f"d-{next(self._identities)}" if self.fifo else None,
            trace_header=trace_header,
        )
        result = self.queue._send(self.queue._queue(self.queue_url), message)
        assert result.sqs_message_id is not None, result.error_code
        return result.sqs_message_id

    def redrive(self) -> list[str]:
        """Move everything in the DLQ back, as SQS or the operator's command do: new message ids."""
        dead = self.queue._queue(self.dlq_url)
        messages, dead.messages = dead.messages, []
        return [self.send_body(one.message.body, group=one.message.group_id) for one in messages]

    # --- Rounds -----------------------------------------------------------------------------------------------------

    def deliver(
        self, consumer: Consumer | None = None, *, count: int = 10, remaining: float = REMAINING_SECONDS
    ) -> list[str]:
        """What Lambda's poller does once: receive, invoke, delete what did not fail. Returns the failed ids."""
        event = self.queue.lambda_event(self.queue_url, count)
        answer = (consumer or self.consumer()).handle_lambda(event, remaining_seconds=remaining)
        self.queue.apply(self.queue_url, event, answer)
        return [item["itemIdentifier"] for item in answer["batchItemFailures"]]

    def pass_time(self) -> None:
        """Let the next hidden message become visible."""
        hidden = [one.visible_at for one in self.queue.messages(self.queue_url)]
        if hidden:
            self.clock.advance(max(0.0, min(hidden) - self.clock.now()))

    def settle(self, make: Callable[[], Consumer] | None = None, *, rounds: int = 40) -> int:
        """Deliver, each time to a new process, until the source queue is empty. Returns the rounds it took."""
        for number in range(rounds):
            if not self.queue.messages(self.queue_url):
                return number
            self.pass_time()
            self.deliver(make() if make else None)
        assert not self.queue.messages(self.queue_url), f"not quiet after {rounds} rounds"
        return rounds

    # --- What came of it --------------------------------------------------------------------------------------------

    def key(self, envelope: Envelope) -> str:
        """Key of the identity's inbox row."""
        return contract.inbox_key(
            consumer=CONSUMER, tenant_id=envelope.tenant_id, idempotency_key=envelope.idempotency_key
        )

    def row(self, sent: Sent) -> InboxRow:
        """The identity's row; it must exist."""
        return self.table.rows[self.key(sent.envelope)]

    def seed_row(self, sent: Sent, state: InboxState, **fields: Any) -> InboxRow:  # noqa: ANN401 - fields of InboxRow
        """Put a row of this identity there, as an earlier worker left it."""
        known = {
            "key": self.key(sent.envelope),
            "state": state,
            "consumer": CONSUMER,
            "sqs_message_id": sent.sqs_message_id,
            "fingerprint": sent.envelope.fingerprint,
            "owner": "another-worker",
            "attempts": 1,
            "first_seen_at": START - 100,
            "updated_at": START - 50,
        }
        row = InboxRow(**{**known, **fields})
        self.table.rows[row.key] = row
        return row

    def effects(self, sent: Sent) -> int:
        """How often the handler's effect of this event was committed."""
        wanted = f"{sent.envelope.tenant_id}#{sent.envelope.idempotency_key}"
        return sum(item["pk"] == wanted for item in self.table.items(DOCUMENTS.name))

    def queued(self) -> list[StoredMessage]:
        """Messages in the source queue, hidden ones too."""
        return self.queue.messages(self.queue_url)

    def hidden(self, sqs_message_id: str) -> float:
        """Seconds for which a message in the source queue is hidden from now."""
        (message,) = [one for one in self.queued() if one.sqs_message_id == sqs_message_id]
        return message.visible_at - self.clock.now()

    def parked(self) -> list[tuple[str, str]]:
        """What lies in the DLQ: the source's message id and the reason of each copy."""
        reasons = [reason_of(one) for one in self.queue.messages(self.dlq_url)]
        return [(str(reason["originalMessageId"]), str(reason["errorCode"])) for reason in reasons]

    def calls(self, *names: str) -> list[str]:
        """Calls of these names so far, in order; all of them if none is given."""
        return [name for name in self.faults.calls if not names or name in names]


def reason_of(copy: StoredMessage) -> dict[str, Any]:
    """The reason that a copy in the DLQ carries."""
    value = copy.message.attributes[contract.ATTRIBUTE_PARKED].value
    assert isinstance(value, str)
    reason: dict[str, Any] = json.loads(value)
    return reason
