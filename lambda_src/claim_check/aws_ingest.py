"""Ingesters and their reconciliation on AWS: where `claim_check.ingest` and its AWS adapters meet."""

from __future__ import annotations

import importlib
import uuid
from random import SystemRandom
from typing import TYPE_CHECKING, Any

from claim_check.adapters.clock import SystemClock
from claim_check.adapters.ingest_objects import S3ObjectSource
from claim_check.adapters.ledger import DynamoDbLedger
from claim_check.adapters.listing import S3Listing
from claim_check.adapters.powertools import PowertoolsTelemetry
from claim_check.adapters.session import Clients, shared
from claim_check.adapters.sqs import SqsQueue
from claim_check.errors import InvalidSetting
from claim_check.ingest import LedgerReconciliation, S3Ingester
from claim_check.ingest.applying import IngestRules
from claim_check.parking import ParkingLot
from claim_check.permits import PayloadBudget, Permits

if TYPE_CHECKING:
    from claim_check.ingest import ApplyDelete, ApplyPut
    from claim_check.ingest.settings import IngestSettings, ReconciliationSettings
    from claim_check.ports import Telemetry


def ingester(
    settings: IngestSettings,
    *,
    apply_put: ApplyPut | None = None,
    apply_delete: ApplyDelete | None = None,
    clients: Clients | None = None,
    telemetry: Telemetry | None = None,
) -> S3Ingester:
    """An ingester on AWS.

    Args:
        settings: Its settings.
        apply_put: Applies a created or overwritten object; by default the function that the settings name is imported.
        apply_delete: Applies a removed object; likewise.
        clients: AWS clients; the process's shared ones by default.
        telemetry: Logs and metrics; Powertools by default.

    Raises:
        InvalidSetting: A function cannot be imported.
    """
    clients = clients or shared()
    queue = SqsQueue(clients.sqs)
    return S3Ingester(
        apply_put or _load(settings.apply_put),
        apply_delete or _load(settings.apply_delete),
        rules=_rules(settings),
        ledger=DynamoDbLedger(clients.dynamodb, settings.ledger_table),
        objects=S3ObjectSource(clients.s3),
        queue=queue,
        queue_url=settings.queue_url,
        parking=ParkingLot(queue, settings.dlq_url) if settings.dlq_url else None,
        permits=Permits(_budget(settings)),
        concurrency=settings.concurrency,
        clock=SystemClock(),
        random=SystemRandom().random,
        new_token=lambda: str(uuid.uuid4()),
        telemetry=telemetry or PowertoolsTelemetry(service=settings.name, tracing=settings.tracing),
        max_attempts=settings.max_attempts,
        visibility_seconds=settings.visibility_seconds,
    )


def reconciliation(
    settings: ReconciliationSettings, *, clients: Clients | None = None, telemetry: Telemetry | None = None
) -> LedgerReconciliation:
    """A reconciliation of bucket and ledger on AWS.

    Args:
        settings: Its settings.
        clients: AWS clients; the process's shared ones by default.
        telemetry: Logs and metrics; Powertools by default.
    """
    clients = clients or shared()
    ledger = DynamoDbLedger(clients.dynamodb, settings.ledger_table)
    return LedgerReconciliation(
        settings,
        listing=S3Listing(clients.s3),
        ledger=ledger,
        checkpoints=ledger,
        objects=S3ObjectSource(clients.s3),
        queue=SqsQueue(clients.sqs),
        clock=SystemClock(),
        telemetry=telemetry or PowertoolsTelemetry(service=settings.name, tracing=settings.tracing),
    )


def _rules(settings: IngestSettings) -> IngestRules:
    return IngestRules(
        bucket=settings.bucket,
        tombstone_seconds=settings.tombstone_seconds,
        pad=settings.pad,
        max_object_bytes=settings.max_object_bytes,
        access=settings.payload_access,
    )


def _budget(settings: IngestSettings) -> PayloadBudget:
    return PayloadBudget(
        access=settings.payload_access,
        memory_bytes=settings.memory_budget_bytes,
        temp_bytes=settings.temp_budget_bytes,
        expansion=settings.expansion,
    )


def _load(reference: str) -> Any:  # noqa: ANN401 - either kind of function
    module, _, name = reference.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidSetting(f"function {reference!r} cannot be imported: {error}") from error
    if not callable(found):
        raise InvalidSetting(f"{reference!r} is a {type(found).__name__}; a function is needed")
    return found
