"""Outboxes on AWS: where `claim_check.outbox` and its AWS adapters meet; other functions' cold starts need none of it.

In a process of your own::

    from claim_check import Event
    from claim_check.aws_outbox import outbox
    from claim_check.outbox.settings import OutboxSettings

    messages = outbox(OutboxSettings.from_environment(os.environ))
    with messages.transaction() as tx:
        tx.put(ORDERS, {"pk": order_id, ...})
        messages.stage(Event(tenant_id="t-1", event_type="OrderPlaced", ...), tx)
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from random import SystemRandom

from claim_check import aws, contract
from claim_check.adapters.clock import SystemClock
from claim_check.adapters.outbox import DynamoDbOutbox, DynamoDbTransactions
from claim_check.adapters.powertools import PowertoolsTelemetry
from claim_check.adapters.session import Clients, shared
from claim_check.adapters.sqs import SqsQueue
from claim_check.outbox import Outbox
from claim_check.outbox.relay import Relay, RelayRules, Route
from claim_check.outbox.settings import OutboxSettings, RelaySettings
from claim_check.outbox.stream import StreamRelay
from claim_check.outbox.sweep import Sweep
from claim_check.ports import Telemetry


def outbox(settings: OutboxSettings, *, clients: Clients | None = None, telemetry: Telemetry | None = None) -> Outbox:
    """What an application stages with.

    Args:
        settings: Its settings.
        clients: AWS clients; the process's shared ones by default.
        telemetry: Logs and metrics; Powertools by default.
    """
    clients, clock = clients or shared(), SystemClock()
    telemetry = telemetry or PowertoolsTelemetry(service=settings.name, tracing=False)
    producers = {
        name: aws.producer(
            replace(
                one.producer,
                inline_limit_bytes=min(one.producer.inline_limit_bytes, contract.OUTBOX_MAX_INLINE_BYTES),
            ),
            clients=clients,
            telemetry=telemetry,
        )
        for name, one in settings.destinations.items()
    }
    return Outbox(
        producers,
        table=settings.table,
        reader=DynamoDbOutbox(clients.dynamodb, settings.table, sleep=clock.sleep),
        transactions=DynamoDbTransactions(clients.dynamodb),
        clock=clock,
        new_token=_new_token,
        random=SystemRandom().random,
        telemetry=telemetry,
    )


def relay(settings: RelaySettings, *, clients: Clients | None = None, telemetry: Telemetry | None = None) -> Relay:
    """What publishes rows.

    Args:
        settings: Its settings.
        clients: AWS clients; the process's shared ones by default.
        telemetry: Logs and metrics; Powertools by default.
    """
    clients, clock = clients or shared(), SystemClock()
    return Relay(
        DynamoDbOutbox(clients.dynamodb, settings.outbox.table, sleep=clock.sleep),
        SqsQueue(clients.sqs),
        routes={
            name: Route(queue_url=one.producer.queue_url, on_poison=one.on_poison)
            for name, one in settings.outbox.destinations.items()
        },
        rules=RelayRules(
            ttl_seconds=settings.ttl_seconds,
            before_send_seconds=settings.before_send_seconds,
            max_attempts=settings.max_attempts,
        ),
        clock=clock,
        new_token=_new_token,
        random=SystemRandom().random,
        telemetry=telemetry or _telemetry(settings),
    )


def stream_relay(settings: RelaySettings, *, clients: Clients | None = None) -> StreamRelay:
    """The function behind the outbox's stream."""
    telemetry = _telemetry(settings)
    return StreamRelay(relay(settings, clients=clients, telemetry=telemetry), telemetry=telemetry)


def sweep(settings: RelaySettings, *, clients: Clients | None = None, telemetry: Telemetry | None = None) -> Sweep:
    """The function that a schedule invokes."""
    clients, clock = clients or shared(), SystemClock()
    telemetry = telemetry or _telemetry(settings)
    return Sweep(
        relay(settings, clients=clients, telemetry=telemetry),
        DynamoDbOutbox(clients.dynamodb, settings.outbox.table, sleep=clock.sleep),
        clock=clock,
        telemetry=telemetry,
    )


def _telemetry(settings: RelaySettings) -> Telemetry:
    return PowertoolsTelemetry(service=settings.outbox.name, tracing=settings.tracing)


def _new_token() -> str:
    return secrets.token_hex(16)
