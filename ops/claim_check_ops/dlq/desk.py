"""Everything that the commands need to work on one consumer's dead letters, on AWS."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from claim_check.adapters.archive import S3DeadLetterArchive
from claim_check.adapters.clock import SystemClock
from claim_check.adapters.inbox_reader import DynamoDbInboxReader
from claim_check.adapters.s3 import S3ObjectStore
from claim_check.adapters.session import Clients
from claim_check.adapters.sqs import SqsQueue
from claim_check.consumer_rules import ConsumerRules
from claim_check.errors import InvalidSetting
from claim_check.ports import Clock, InboxReader, MessageQueue
from claim_check_ops.dlq.archive_source import ArchiveSource
from claim_check_ops.dlq.assessing import Assessor, Court
from claim_check_ops.dlq.aws_queues import SqsDirectory
from claim_check_ops.dlq.destinations import Destinations
from claim_check_ops.dlq.journal import Journal
from claim_check_ops.dlq.letters import LetterReader
from claim_check_ops.dlq.outcomes import Outcomes
from claim_check_ops.dlq.payloads import PayloadChecker
from claim_check_ops.dlq.ports import DeadLetterSource, QueueDirectory
from claim_check_ops.dlq.prefetch import one_ahead
from claim_check_ops.dlq.queue_source import QueueSource
from claim_check_ops.dlq.redriving import Orders, Redriver, Told

if TYPE_CHECKING:
    from claim_check.settings import ConsumerSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """One consumer's dead letters, and what is needed to work on them.

    Attributes:
        settings: The consumer's settings.
        dlq_url: Its DLQ.
        queue: Sends and receives.
        directory: Finds queues.
        inbox: The consumer's inbox, read.
        assessor: Finds out what can be known of dead letters.
        clock: Time.
        new_sources: Where its dead letters lie; what one made before took, is given out anew by one made later.
    """

    settings: ConsumerSettings
    dlq_url: str
    queue: MessageQueue
    directory: QueueDirectory
    inbox: InboxReader
    assessor: Assessor
    clock: Clock
    new_sources: Callable[[], Sequence[DeadLetterSource]]

    def court(self, *, to: str | None = None) -> Court:
        """Judges for a redrive.

        Args:
            to: Name of the queue that everything goes to.

        Raises:
            InvalidSetting: There is no such queue, or it is the DLQ itself.
            ReadRefused: SQS refuses to tell of a queue.
            Unavailable: It does not answer.
        """
        dlq = self.directory.facts(self.dlq_url)
        named = None if to is None else self.directory.find(to)
        if to is not None and (named is None or named.arn == dlq.arn):
            problem = "there is no such queue" if named is None else "is the DLQ itself"
            raise InvalidSetting(f"--to {to}: {problem}; name a queue of this account and Region")
        return Court(
            assessor=self.assessor,
            destinations=Destinations(self.directory, dlq, named=named),
            dlq=dlq,
            life_seconds=self.settings.inbox_ttl_seconds,
            clock=self.clock,
        )

    def redriver(self, court: Court, orders: Orders, *, journal: Journal, told: Told) -> Redriver:
        """A redrive, not yet begun.

        Args:
            court: Judges.
            orders: How it is to be done.
            journal: What was done before, and is done now.
            told: Is told how far it is.
        """
        return Redriver(
            self.new_sources(),
            self.queue,
            court=court,
            outcomes=Outcomes(self.inbox),
            journal=journal,
            orders=orders,
            clock=self.clock,
            told=told,
            ahead=one_ahead,
        )


def rules(settings: ConsumerSettings) -> ConsumerRules:
    """What a consumer accepts, as far as its settings say."""
    return ConsumerRules(
        consumer=settings.consumer,
        bucket=settings.bucket,
        max_payload_bytes=settings.max_payload_bytes,
        content_types=settings.content_types,
        event_types=settings.event_types,
        foreign=settings.foreign,
    )


def desk(
    settings: ConsumerSettings,
    *,
    dlq_url: str | None = None,
    archive: Callable[[str], str | None] = lambda _: None,
    clients: Clients | None = None,
) -> Desk:
    """Work on a consumer's dead letters on AWS.

    Args:
        settings: Its settings.
        dlq_url: Another DLQ than its own.
        archive: Tells the bucket of the archive of a DLQ, by the DLQ's URL; None leaves it out.
        clients: AWS clients; its own by default.

    Raises:
        InvalidSetting: It has no DLQ.
    """
    clients, clock = clients or Clients(), SystemClock()
    url = dlq_url or settings.dlq_url
    if url is None:
        raise InvalidSetting(
            f"Consumer {settings.consumer} parks nothing: what fails blocks its group. Name a DLQ by --dlq-url."
        )
    queue = SqsQueue(clients.sqs, polling=clients.sqs_polling)
    directory = SqsDirectory(clients.sqs)
    inbox = DynamoDbInboxReader(clients.dynamodb, settings.inbox_table, sleep=clock.sleep)
    reader = LetterReader(rules(settings), ttl_seconds=settings.inbox_ttl_seconds, clock=clock)
    return Desk(
        settings=settings,
        dlq_url=url,
        queue=queue,
        directory=directory,
        inbox=inbox,
        assessor=Assessor(reader, inbox, PayloadChecker(S3ObjectStore(clients.s3))),
        clock=clock,
        new_sources=lambda: [
            *_archives(clients, archive(url), url),
            QueueSource(queue, directory, url, clock=clock, new_id=lambda: str(uuid.uuid4())),
        ],
    )


def _archives(clients: Clients, bucket: str | None, dlq_url: str) -> Iterator[DeadLetterSource]:
    """The archive, if there is one: what lies there is older, so that it comes first."""
    if bucket is not None:
        yield ArchiveSource(S3DeadLetterArchive(clients.s3, bucket), dlq_url.rpartition("/")[2])
