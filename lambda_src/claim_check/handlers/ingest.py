"""Entry point of an ingester behind an SQS event source mapping (see `claim_check.ingest`)."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from claim_check.aws_ingest import ingester
from claim_check.ingest import S3Ingester
from claim_check.ingest.settings import IngestSettings

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, list[dict[str, str]]]:
    """Handle a batch of notifications; the answer names what is to be delivered again."""
    return _ingester().handle_lambda(event, remaining_seconds=context.get_remaining_time_in_millis() / 1000)


@cache
def _ingester() -> S3Ingester:
    return ingester(IngestSettings.from_environment(os.environ))
