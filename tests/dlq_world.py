"""A pipeline on fakes with dead letters in its DLQ, and the operator's desk beside it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from claim_check.consumer import Consumer
from claim_check.consumer_rules import ConsumerRules
from claim_check.envelope import Claim
from claim_check.message import Message
from claim_check.ports import MessageAttribute, OutgoingMessage
from claim_check.processor import Handler
from claim_check.transaction import Transaction
from claim_check_ops.dlq.assessing import Assessor, Court
from claim_check_ops.dlq.destinations import Destinations
from claim_check_ops.dlq.journal import MemoryJournal
from claim_check_ops.dlq.letters import LetterReader
from claim_check_ops.dlq.outcomes import Outcomes
from claim_check_ops.dlq.pace import Limit
from claim_check_ops.dlq.payloads import PayloadChecker
from claim_check_ops.dlq.ports import DeadLetterSource, QueueFacts
from claim_check_ops.dlq.queue_source import QueueSource
from claim_check_ops.dlq.redriving import Orders, Redriver, one_by_one
from claim_check_ops.dlq.report import Report
from claim_check_ops.dlq.selecting import Selection
from tests.fakes.clock import FakeClock
from tests.fakes.inbox_reader import FakeInboxReader
from tests.harness import BUCKET, CONSUMER, TTL_SECONDS, Sent, World, documents

ARN = "arn:aws:sqs:us-east-1:000000000000:"
DAY = 86_400
SOURCE_SECONDS = 4 * DAY
DLQ_SECONDS = 14 * DAY


class BusyClock(FakeClock):
    """A clock whose sleeps let others work.

    Attributes:
        meanwhile: What happens while somebody sleeps.
    """

    def __init__(self) -> None:
        """Nothing happens yet."""
        super().__init__()
        self.meanwhile: Callable[[], object] = lambda: None

    def sleep(self, seconds: float) -> None:
        """Let time pass, then let others work."""
        super().sleep(seconds)
        self.meanwhile()


class Directory:
    """The `QueueDirectory` port over the queues of a world."""

    def __init__(self, world: World) -> None:
        """Know the source queue and its DLQ."""
        self.world = world
        self.strangers: dict[str, QueueFacts] = {}

    def find(self, name: str) -> QueueFacts | None:
        """A queue by its name."""
        for url in (self.world.queue_url, self.world.dlq_url):
            if url.rpartition("/")[2] == name:
                return self.facts(url)
        return self.strangers.get(name)

    def facts(self, queue_url: str) -> QueueFacts:
        """A queue by its URL."""
        messages, now = self.world.queue.messages(queue_url), self.world.clock.now()
        hidden = sum(one.visible_at > now for one in messages)
        is_source = queue_url == self.world.queue_url
        return QueueFacts(
            url=queue_url,
            arn=ARN + queue_url.rpartition("/")[2],
            retention_seconds=SOURCE_SECONDS if is_source else DLQ_SECONDS,
            visible=len(messages) - hidden,
            in_flight=hidden,
            dead_letters_to=ARN + self.world.dlq_url.rpartition("/")[2] if is_source else None,
        )


@dataclass
class Told:
    """Remembers what it was told."""

    steps: list[str] = field(default_factory=list)
    messages: int = 0
    payload_bytes: int = 0

    def step(self, text: str) -> None:
        """What is done now."""
        self.steps.append(text)

    def moved(self, messages: int, payload_bytes: int) -> None:
        """So much more was sent."""
        self.messages += messages
        self.payload_bytes += payload_bytes


def broken(_message: Message, _tx: Transaction) -> None:
    """A handler of a broken deployment."""
    raise RuntimeError


class DlqWorld(World):
    """A world whose consumer works while the operator waits."""

    def __init__(self, *, fifo: bool = False, **fields: Any) -> None:  # noqa: ANN401 - fields of World
        """Make the services, and the desk's clock."""
        self.busy = BusyClock()
        super().__init__(fifo=fifo, clock=self.busy, **fields)
        self.directory = Directory(self)
        self.told = Told()
        self.life_seconds = TTL_SECONDS
        self._ids = itertools.count(1)
        self.queue.create(self.dlq_url, visibility_timeout=30)

    # --- Making dead letters ----------------------------------------------------------------------------------------

    def die(self, *sent: Sent, handler: Handler = broken) -> None:
        """Let all that was sent fail until it is parked."""
        self.settle(lambda: self.consumer(handler, max_attempts=1))
        parked = {identity for identity, _ in self.parked()}
        assert {one.sqs_message_id for one in sent} <= parked

    def dead(self, count: int = 1, *, groups: int = 1) -> list[Sent]:
        """So many events whose handler failed, in the DLQ; on FIFO group by group in turn."""
        sent = [self.send(group=f"g-{number % groups}" if self.fifo else None) for number in range(count)]
        self.die(*sent)
        self.faults.clear()
        return sent

    def moved_by_sqs(self, sent: Sent) -> None:
        """Move a message of the source queue to the DLQ as SQS does it."""
        (one,) = [one for one in self.queued() if one.sqs_message_id == sent.sqs_message_id]
        self.queue._move(self.queue._queue(self.queue_url), one, self.dlq_url)

    def put_dead(self, body: str, **attributes: str) -> str:
        """Put any message right into the DLQ."""
        message = OutgoingMessage(
            body=body,
            attributes={name: MessageAttribute(data_type="String", value=value) for name, value in attributes.items()},
            group_id="g-1" if self.fifo else None,
            deduplication_id=f"put-{next(self._ids)}" if self.fifo else None,
        )
        result = self.queue._send(self.queue._queue(self.dlq_url), message)
        assert result.sqs_message_id is not None
        return result.sqs_message_id

    def lose_payload(self, sent: Sent) -> None:
        """Remove a payload behind everybody's back."""
        claim = sent.envelope.payload
        assert isinstance(claim, Claim)
        self.objects.delete(BUCKET, claim.key)

    def dead_ids(self) -> list[str]:
        """Ids of what lies in the DLQ, hidden messages too."""
        return [one.sqs_message_id for one in self.queue.messages(self.dlq_url)]

    def all_visible(self) -> bool:
        """Whether everything in the DLQ can be received."""
        now = self.clock.now()
        return all(one.visible_at <= now for one in self.queue.messages(self.dlq_url))

    # --- The desk ---------------------------------------------------------------------------------------------------

    def source(self, *, receivers: int = 1, hold_seconds: int = 300) -> QueueSource:
        """The DLQ, as a new process sees it."""
        return QueueSource(
            self.queue,
            self.directory,
            self.dlq_url,
            clock=self.clock,
            new_id=lambda: f"attempt-{next(self._ids)}",
            receivers=receivers,
            hold_seconds=hold_seconds,
        )

    def assessor(self, **rules: Any) -> Assessor:  # noqa: ANN401 - fields of ConsumerRules
        """Finds out what can be known."""
        reader = LetterReader(
            ConsumerRules(consumer=CONSUMER, bucket=BUCKET, **rules), ttl_seconds=self.life_seconds, clock=self.clock
        )
        return Assessor(reader, FakeInboxReader(self.table.rows, self.faults), PayloadChecker(self.objects, parallel=1))

    def court(self, *, named: QueueFacts | None = None) -> Court:
        """Judges."""
        dlq = self.directory.facts(self.dlq_url)
        return Court(
            assessor=self.assessor(),
            destinations=Destinations(self.directory, dlq, named=named),
            life_seconds=self.life_seconds,
            dlq=dlq,
            clock=self.clock,
        )

    def redriver(
        self,
        *,
        journal: MemoryJournal | None = None,
        sources: Sequence[DeadLetterSource] | None = None,
        limit: Limit = Limit(rate=1000.0),  # noqa: B008 - an immutable value
        selection: Selection = Selection(),  # noqa: B008 - an immutable value
        named: QueueFacts | None = None,
        **orders: Any,  # noqa: ANN401 - fields of Orders
    ) -> Redriver:
        """A redrive in a new process."""
        return Redriver(
            [self.source()] if sources is None else sources,
            self.queue,
            court=self.court(named=named),
            outcomes=Outcomes(FakeInboxReader(self.table.rows, self.faults)),
            journal=journal or MemoryJournal(f"run-{next(self._ids)}"),
            orders=Orders(selection=selection, limit=limit, **orders),
            clock=self.clock,
            told=self.told,
            ahead=one_by_one,
        )

    def redrive_with(self, handler: Handler = documents, *, max_attempts: int = 5, **redriver: Any) -> Report:  # noqa: ANN401 - of `redriver`
        """Redrive while a consumer with this handler works."""
        self.work_with(handler, max_attempts=max_attempts)
        return self.redriver(**redriver).run()

    def work_with(self, handler: Handler = documents, *, max_attempts: int = 5) -> None:
        """From now on the consumer works whenever the operator waits."""
        consumer: Consumer = self.consumer(handler, max_attempts=max_attempts)
        self.busy.meanwhile = lambda: self.deliver(consumer)
