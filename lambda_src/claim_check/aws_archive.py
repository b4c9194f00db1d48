"""Looking after a DLQ on AWS: where its parts and their adapters meet, apart from `claim_check.aws` for cold starts."""

from __future__ import annotations

import uuid

from claim_check.adapters.archive import S3DeadLetterArchive
from claim_check.adapters.clock import SystemClock
from claim_check.adapters.inbox_reader import DynamoDbInboxReader
from claim_check.adapters.powertools import PowertoolsTelemetry
from claim_check.adapters.session import Clients, shared
from claim_check.adapters.sqs import SqsQueue
from claim_check.archive_job import DeadLetterJob
from claim_check.archive_settings import DeadLetterSettings
from claim_check.ports import Clock, Telemetry


def dead_letter_job(
    settings: DeadLetterSettings,
    *,
    clients: Clients | None = None,
    telemetry: Telemetry | None = None,
    clock: Clock | None = None,
) -> DeadLetterJob:
    """What looks after the dead letters of one consumer, on AWS.

    Args:
        settings: Its settings.
        clients: AWS clients; the process's shared ones by default.
        telemetry: Logs and metrics; Powertools by default.
        clock: Time; the system's by default.
    """
    clients, clock = clients or shared(), clock or SystemClock()
    table, bucket = settings.inbox_table, settings.archive_bucket
    return DeadLetterJob(
        SqsQueue(clients.sqs, polling=clients.sqs_polling),
        dlq_url=settings.dlq_url,
        clock=clock,
        telemetry=telemetry or PowertoolsTelemetry(service=settings.consumer, tracing=settings.tracing),
        new_id=lambda: str(uuid.uuid4()),
        archive=S3DeadLetterArchive(clients.s3, bucket) if bucket else None,
        archive_after_seconds=settings.archive_after_seconds,
        life_seconds=settings.inbox_ttl_seconds,
        inbox=DynamoDbInboxReader(clients.dynamodb, table, sleep=clock.sleep) if table else None,
        consumer=settings.consumer,
        stuck_after_seconds=settings.stuck_after_seconds,
    )
