"""Entry point of the relay behind an outbox's stream (see `claim_check.outbox.stream`)."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from claim_check.aws_outbox import stream_relay
from claim_check.outbox.settings import RelaySettings
from claim_check.outbox.stream import StreamRelay

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, list[dict[str, str]]]:
    """Publish what was staged; the answer names the first record to be delivered again."""
    return _relay().handle(event, remaining_seconds=context.get_remaining_time_in_millis() / 1000)


@cache
def _relay() -> StreamRelay:
    return stream_relay(RelaySettings.from_environment(os.environ))
