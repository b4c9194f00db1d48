"""Entry point of a consumer behind an SQS event source mapping."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from claim_check.aws import consumer
from claim_check.consumer import Consumer
from claim_check.settings import ConsumerSettings

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, list[dict[str, str]]]:
    """Handle a batch; the answer names what is to be delivered again."""
    return _consumer().handle_lambda(event, remaining_seconds=context.get_remaining_time_in_millis() / 1000)


@cache
def _consumer() -> Consumer:
    return consumer(ConsumerSettings.from_environment(os.environ))
