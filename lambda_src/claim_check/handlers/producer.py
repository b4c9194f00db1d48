"""Entry point of the producer function: an application invokes it with an event (see `claim_check.invocation`)."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from claim_check import invocation
from claim_check.adapters.powertools import PowertoolsTelemetry
from claim_check.aws import producer
from claim_check.contract import producer_service
from claim_check.ports import Telemetry
from claim_check.producer import Producer
from claim_check.settings import ProducerSettings

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Publish one event; the answer holds its ids, where its payload went, and its hash."""
    publisher, telemetry = _parts()
    try:
        parsed = invocation.to_event(event, message_id=context.aws_request_id)
        return invocation.to_answer(publisher.publish(parsed, trace_header=os.environ.get("_X_AMZN_TRACE_ID")))
    finally:
        telemetry.flush()


@cache
def _parts() -> tuple[Producer, Telemetry]:
    settings = ProducerSettings.from_environment(os.environ)
    telemetry = PowertoolsTelemetry(service=producer_service(settings.pipeline), tracing=settings.tracing)
    return producer(settings, telemetry=telemetry), telemetry
