"""Producers and consumers on AWS: the one place where the library's parts and its AWS adapters meet.

In a process of your own::

    from claim_check import Event
    from claim_check.aws import producer
    from claim_check.settings import ProducerSettings

    publisher = producer(ProducerSettings.from_environment(os.environ))
    publisher.publish(Event(tenant_id="t-1", event_type="DocumentUploaded", ...))
"""

from __future__ import annotations

import importlib
import secrets
import uuid
from collections.abc import Callable
from random import SystemRandom
from typing import TYPE_CHECKING, Final

from claim_check import contract
from claim_check.adapters.clock import SystemClock
from claim_check.adapters.dynamodb import DynamoDbInbox
from claim_check.adapters.powertools import PowertoolsTelemetry
from claim_check.adapters.s3 import S3ObjectStore
from claim_check.adapters.session import Clients, shared
from claim_check.adapters.sqs import SqsQueue
from claim_check.consumer import Consumer
from claim_check.consumer_rules import DEFAULT_READ_LIMIT_BYTES, ConsumerRules
from claim_check.errors import InvalidSetting
from claim_check.inbox import UNLIMITED_ATTEMPTS, Inbox
from claim_check.parking import ParkingLot
from claim_check.payload_store import PayloadStore
from claim_check.permits import PayloadBudget, Permits
from claim_check.ports import Telemetry
from claim_check.processor import Handler, Processor
from claim_check.producer import Producer
from claim_check.retries import Retry
from claim_check.settings import ConsumerSettings, ProducerSettings, UploadSettings

if TYPE_CHECKING:
    from claim_check.upload_api import UploadApi
    from claim_check.worker import Worker

_WITHIN_A_REQUEST: Final = Retry(attempts=3, budget=5)
"""An HTTP API waits 30 s at most; its clients repeat what was not answered."""


def producer(
    settings: ProducerSettings,
    *,
    clients: Clients | None = None,
    telemetry: Telemetry | None = None,
    retry: Retry = Retry(),  # noqa: B008 - an immutable value
) -> Producer:
    """A producer on AWS.

    Args:
        settings: Its settings.
        clients: AWS clients; the process's shared ones by default.
        telemetry: Logs and metrics, whose metrics the caller emits; by default Powertools, which emits those of each
            call at its end.
        retry: How outages and refused messages are retried.
    """
    clients, clock, random = clients or shared(), SystemClock(), SystemRandom().random
    store = PayloadStore(
        S3ObjectStore(clients.s3),
        bucket=settings.bucket,
        before_send_seconds=settings.before_send_seconds,
        clock=clock,
        random=random,
        multipart_threshold=settings.multipart_threshold_bytes,
    )
    return Producer(
        store,
        SqsQueue(clients.sqs),
        queue_url=settings.queue_url,
        clock=clock,
        new_id=lambda: str(uuid.uuid4()),
        random=random,
        telemetry=telemetry
        or PowertoolsTelemetry(service=contract.producer_service(settings.pipeline), tracing=settings.tracing),
        inline=settings.inline,
        inline_limit=settings.inline_limit_bytes,
        max_message_bytes=settings.max_message_bytes,
        max_payload_bytes=settings.max_payload_bytes,
        fair_queues=settings.fair_queues,
        wire_format=settings.wire_format,
        retry=retry,
        flushes=telemetry is None,
    )


def upload_api(
    settings: UploadSettings, *, clients: Clients | None = None, telemetry: Telemetry | None = None
) -> UploadApi:
    """The function behind an upload API, on AWS.

    Args:
        settings: Its settings.
        clients: AWS clients; the process's shared ones by default.
        telemetry: Logs and metrics; Powertools by default.
    """
    from claim_check.adapters.uploads import S3UploadStore  # noqa: PLC0415 - other functions' cold starts need none of it
    from claim_check.upload_api import UploadApi  # noqa: PLC0415
    from claim_check.uploads import Uploads  # noqa: PLC0415

    clients = clients or shared()
    telemetry = telemetry or PowertoolsTelemetry(
        service=contract.uploads_service(settings.producer.pipeline), tracing=settings.producer.tracing
    )
    uploads = Uploads(
        S3UploadStore(clients.s3, signer=clients.s3_signing),
        producer(settings.producer, clients=clients, telemetry=telemetry, retry=_WITHIN_A_REQUEST),
        bucket=settings.producer.bucket,
        clock=SystemClock(),
        telemetry=telemetry,
        max_payload_bytes=settings.producer.max_payload_bytes,
        grant_seconds=settings.grant_seconds,
        confirm_seconds=settings.confirm_seconds,
    )
    return UploadApi(uploads, telemetry=telemetry, tenant_claim=settings.tenant_claim)


def consumer(
    settings: ConsumerSettings,
    *,
    handler: Handler | None = None,
    clients: Clients | None = None,
    telemetry: Telemetry | None = None,
) -> Consumer:
    """A consumer on AWS.

    Args:
        settings: Its settings.
        handler: The handler; by default the one that the settings name is imported.
        clients: AWS clients; the process's shared ones by default.
        telemetry: Logs and metrics; Powertools by default.

    Raises:
        InvalidSetting: The handler cannot be imported.
    """
    clients, clock = clients or shared(), SystemClock()
    telemetry = telemetry or PowertoolsTelemetry(service=settings.consumer, tracing=settings.tracing)
    queue = SqsQueue(clients.sqs)
    parking = ParkingLot(queue, settings.dlq_url) if settings.dlq_url else None
    inbox = Inbox(
        DynamoDbInbox(clients.dynamodb, settings.inbox_table),
        consumer=settings.consumer,
        ttl_seconds=settings.inbox_ttl_seconds,
        clock=clock,
        new_token=lambda: secrets.token_hex(16),
        max_attempts=settings.max_attempts if parking else UNLIMITED_ATTEMPTS,
    )
    processor = Processor(
        handler or load_handler(settings.handler),
        rules=_rules(settings),
        inbox=inbox,
        objects=S3ObjectStore(clients.s3),
        parking=parking,
        permits=Permits(_budget(settings)),
        clock=clock,
        random=SystemRandom().random,
        telemetry=telemetry,
    )
    return Consumer(
        processor,
        queue,
        queue_url=settings.queue_url,
        concurrency=settings.concurrency,
        visibility_seconds=settings.visibility_seconds,
        clock=clock,
        telemetry=telemetry,
    )


def worker(
    settings: ConsumerSettings,
    *,
    handler: Handler | None = None,
    clients: Clients | None = None,
    telemetry: Telemetry | None = None,
    visibility_seconds: int = contract.WORKER_VISIBILITY_SECONDS,
    time_limit_seconds: float | None = None,
    grace_seconds: float = contract.WORKER_GRACE_SECONDS,
    alive: Callable[[], object] | None = None,
) -> Worker:
    """A worker on AWS: the same consumer outside Lambda.

    Args:
        settings: Settings of its consumer; as many lanes run side by side as they say.
        handler: The handler; by default the one that the settings name is imported.
        clients: AWS clients; the process's shared ones by default.
        telemetry: Logs and metrics; Powertools by default.
        visibility_seconds: How long a message stays hidden after its worker vanished; a heartbeat extends it.
        time_limit_seconds: How long a handler may take; by default what SQS allows, nearly 12 hours.
        grace_seconds: How long running handlers may go on when the worker is asked to stop.
        alive: Called while it works, for a health file.

    Raises:
        InvalidSetting: The handler cannot be imported, or a number is out of its range.
    """
    from claim_check.worker import Worker  # noqa: PLC0415 - Lambda's cold starts need none of it

    clients = clients or shared()
    telemetry = telemetry or PowertoolsTelemetry(service=settings.consumer, tracing=settings.tracing)
    return Worker(
        consumer(settings, handler=handler, clients=clients, telemetry=telemetry),
        SqsQueue(clients.sqs, polling=clients.sqs_polling),
        clock=SystemClock(),
        telemetry=telemetry,
        random=SystemRandom().random,
        new_id=lambda: str(uuid.uuid4()),
        concurrency=settings.concurrency,
        visibility_seconds=visibility_seconds,
        time_limit_seconds=time_limit_seconds,
        grace_seconds=grace_seconds,
        alive=alive,
    )


def load_handler(reference: str) -> Handler:
    """Import a handler.

    Args:
        reference: ``package.module:function``.

    Raises:
        InvalidSetting: There is no such function.
    """
    module, _, name = reference.partition(":")
    try:
        handler = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidSetting(f"handler {reference!r} cannot be imported: {error}") from error
    if not callable(handler):
        raise InvalidSetting(f"handler {reference!r} is a {type(handler).__name__}; a function is needed")
    loaded: Handler = handler
    return loaded


def _rules(settings: ConsumerSettings) -> ConsumerRules:
    whole = settings.payload_access == "memory"
    return ConsumerRules(
        consumer=settings.consumer,
        bucket=settings.bucket,
        max_payload_bytes=settings.max_payload_bytes,
        content_types=settings.content_types,
        event_types=settings.event_types,
        blocks_after=settings.max_attempts,
        read_limit_bytes=settings.max_payload_bytes if whole else DEFAULT_READ_LIMIT_BYTES,
        foreign=settings.foreign,
    )


def _budget(settings: ConsumerSettings) -> PayloadBudget:
    return PayloadBudget(
        access=settings.payload_access,
        memory_bytes=settings.memory_budget_bytes,
        temp_bytes=settings.temp_budget_bytes,
        expansion=settings.expansion,
    )
