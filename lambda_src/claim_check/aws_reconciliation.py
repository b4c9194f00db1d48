"""Reconciliations of payloads on AWS: where `claim_check.reconciliation` and its AWS adapters meet."""

from __future__ import annotations

import secrets

from claim_check.adapters.clock import SystemClock
from claim_check.adapters.inbox_reader import DynamoDbInboxReader
from claim_check.adapters.listing import S3Listing
from claim_check.adapters.powertools import PowertoolsTelemetry
from claim_check.adapters.reconciliation import DynamoDbCheckpoints, S3Payloads
from claim_check.adapters.session import Clients, shared
from claim_check.errors import InvalidSetting
from claim_check.ports import Telemetry
from claim_check.reconciliation import Reconciliation
from claim_check.reconciliation.ports import Checkpoints
from claim_check.reconciliation.runs import InboxSource, OutboxSource
from claim_check.reconciliation.settings import ReconcilerSettings


def reconciliation(
    settings: ReconcilerSettings,
    *,
    clients: Clients | None = None,
    telemetry: Telemetry | None = None,
    checkpoints: Checkpoints | None = None,
) -> Reconciliation:
    """A reconciliation on AWS.

    Args:
        settings: Its settings.
        clients: AWS clients; the process's shared ones by default.
        telemetry: Logs and metrics; Powertools by default.
        checkpoints: Where it keeps how far it has come; by default the table that the settings name.

    Raises:
        InvalidSetting: There is nowhere to keep it.
    """
    clients, clock = clients or shared(), SystemClock()
    if checkpoints is None and settings.table is None:
        raise InvalidSetting("a reconciliation needs a table for its checkpoint; the construct Reconciler makes one")
    dynamodb = clients.dynamodb
    return Reconciliation(
        settings.plan,
        listing=S3Listing(clients.s3),
        payloads=S3Payloads(clients.s3, once=clients.s3_once),
        inboxes=[
            InboxSource(DynamoDbInboxReader(dynamodb, table, sleep=clock.sleep), consumers)
            for table, consumers in settings.inboxes.items()
        ],
        outboxes=_outboxes(settings, clients, clock),
        checkpoints=checkpoints or DynamoDbCheckpoints(dynamodb, settings.table or ""),
        clock=clock,
        telemetry=telemetry or PowertoolsTelemetry(service=settings.plan.name, tracing=settings.tracing),
        new_token=lambda: secrets.token_hex(16),
    )


def _outboxes(settings: ReconcilerSettings, clients: Clients, clock: SystemClock) -> list[OutboxSource]:
    """Loaded only where there is an outbox."""
    if not settings.outboxes:
        return []
    from claim_check.adapters.reconciled_outbox import DynamoDbOutboxRows  # noqa: PLC0415 - see above

    return [
        OutboxSource(DynamoDbOutboxRows(clients.dynamodb, table, sleep=clock.sleep), destinations)
        for table, destinations in settings.outboxes.items()
    ]
