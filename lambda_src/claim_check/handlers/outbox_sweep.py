"""Entry point of an outbox's sweep: a schedule invokes it (see `claim_check.outbox.sweep`)."""

from __future__ import annotations

import dataclasses
import os
from functools import cache
from typing import TYPE_CHECKING, Any

from claim_check.aws_outbox import sweep
from claim_check.outbox.settings import RelaySettings
from claim_check.outbox.sweep import Sweep

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda passes both
    """Send what is overdue, and measure how far behind the outbox is."""
    return dataclasses.asdict(_sweep().run(remaining_seconds=context.get_remaining_time_in_millis() / 1000))


@cache
def _sweep() -> Sweep:
    return sweep(RelaySettings.from_environment(os.environ))
