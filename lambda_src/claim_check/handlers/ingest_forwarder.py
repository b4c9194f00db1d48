"""Entry point of the function that puts S3's events from EventBridge into a FIFO queue, grouped by object (R10.4)."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from claim_check.adapters.session import shared
from claim_check.adapters.sqs import SqsQueue
from claim_check.contract import Setting
from claim_check.ingest_forwarding import EventForwarder
from claim_check.settings import Environment

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, str]:  # noqa: ARG001 - Lambda passes both
    """Send one event on; the answer holds the message's id."""
    return {"sqsMessageId": _forwarder().forward(event)}


@cache
def _forwarder() -> EventForwarder:
    queue_url = Environment(os.environ).text(Setting.INGEST_QUEUE_URL)
    return EventForwarder(SqsQueue(shared().sqs), queue_url=queue_url)
