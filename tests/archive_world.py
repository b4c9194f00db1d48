"""A world whose DLQ is looked after: the job in a new process each time, and what there is of a dead letter."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from claim_check import contract
from claim_check.archive import ArchivedLetter, decode_letter
from claim_check.archive_job import DeadLetterJob
from claim_check.dead_letters import parked_reason, redriven_copy
from claim_check.delivery import Delivery
from claim_check.errors import PermanentError
from claim_check.message import Message
from claim_check.parking import parked_copy
from claim_check.transaction import Transaction
from tests.fakes.archive import FakeArchive
from tests.fakes.inbox_reader import FakeInboxReader
from tests.harness import CONSUMER, TTL_SECONDS, World

DAY = contract.DAY_SECONDS
AFTER = 12 * DAY
"""Age from which the job archives here: a retention of 14 days less a margin of two."""

REMAINING = 900.0


class Broken(PermanentError):
    """The handler is broken."""

    code = "Broken"


def broken(message: Message, tx: Transaction) -> None:  # noqa: ARG001 - a handler's signature
    """Park everything."""
    raise Broken


@dataclass
class ArchiveWorld(World):
    """A `World` with an archive."""

    archive: FakeArchive = field(init=False)

    def __post_init__(self) -> None:
        """Make the services."""
        super().__post_init__()
        self.archive = FakeArchive(faults=self.faults)
        self._attempts = itertools.count(1)

    def job(self, **settings: Any) -> DeadLetterJob:  # noqa: ANN401 - fields of the job
        """The job in a new process; without threads unless told."""
        known: dict[str, Any] = {
            "dlq_url": self.dlq_url,
            "archive": self.archive,
            "archive_after_seconds": AFTER,
            "life_seconds": TTL_SECONDS,
            "inbox": FakeInboxReader(self.table.rows, faults=self.faults),
            "consumer": CONSUMER,
            "parallel": 1,
        }
        return DeadLetterJob(
            self.queue,
            clock=self.clock,
            telemetry=self.telemetry,
            new_id=lambda: f"attempt-{next(self._attempts)}",
            **{**known, **settings},
        )

    def bury(self, body: str = "{}", *, code: str = "HandlerFailed", group: str | None = None) -> str:
        """Put a parked copy into the DLQ, behind the back of `faults`; returns SQS's id of it there."""
        delivery = Delivery(
            sqs_message_id=f"first-{next(self._identities)}",
            receipt_handle="",
            body=body,
            queue="documents.fifo" if self.fifo else "documents",
            group_id=(group or "g-1") if self.fifo else group,
        )
        copy = parked_copy(delivery, code=code, attempts=5, now=self.clock.now(), fifo=self.fifo)
        result = self.queue._send(self.queue._queue(self.dlq_url), copy)
        assert result.sqs_message_id is not None, result.error_code
        return result.sqs_message_id

    def dead(self) -> list[str]:
        """Ids of what lies in the DLQ, hidden or not."""
        return [one.sqs_message_id for one in self.queue.messages(self.dlq_url)]

    def receivable(self) -> list[str]:
        """Ids of what anybody could receive from the DLQ now."""
        now = self.clock.now()
        return [one.sqs_message_id for one in self.queue.messages(self.dlq_url) if one.visible_at <= now]

    def letters(self) -> list[ArchivedLetter]:
        """What the archive holds, oldest first, behind the back of `faults`."""
        return [decode_letter(content) for _, content in sorted(self.archive.objects.items())]

    def archived(self) -> list[str]:
        """Ids of what the archive holds, oldest first."""
        return [letter.id for letter in self.letters()]

    def everywhere(self) -> dict[str, Delivery]:
        """Each dead letter once, by its id, whether it lies in the DLQ, in the archive or in both."""
        return {delivery.sqs_message_id: delivery for delivery in self._both()}

    def _both(self) -> Iterator[Delivery]:
        yield from (letter.delivery for letter in self.letters())
        name = self.dlq_url.rpartition("/")[2]
        for one in self.queue.messages(self.dlq_url):
            yield Delivery(
                sqs_message_id=one.sqs_message_id,
                receipt_handle=one.receipt_handle,
                body=one.message.body,
                attributes=one.message.attributes,
                queue=name,
                sent_at=one.sent_at,
                group_id=one.message.group_id,
            )

    def redrive_all(self) -> list[str]:
        """Send each dead letter back once, then empty both places: what the operator's command does."""
        sent = [self._send_back(delivery) for delivery in self.everywhere().values()]
        self.archive.objects.clear()
        self.queue._queue(self.dlq_url).messages.clear()
        return sent

    def _send_back(self, delivery: Delivery) -> str:
        reason = parked_reason(delivery)
        copy = redriven_copy(
            delivery,
            reason="" if reason is None else reason.error_code,
            run="run-1",
            now=self.clock.now(),
            fifo=self.fifo,
        )
        result = self.queue._send(self.queue._queue(self.queue_url), copy)
        assert result.sqs_message_id is not None, result.error_code
        return result.sqs_message_id
