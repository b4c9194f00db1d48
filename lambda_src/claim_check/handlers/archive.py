"""Entry point of the scheduled function that looks after a DLQ (see `claim_check.archive_job`)."""

from __future__ import annotations

import os
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any

from claim_check.archive_job import DeadLetterJob
from claim_check.archive_settings import DeadLetterSettings
from claim_check.aws_archive import dead_letter_job

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: Any, context: LambdaContext) -> dict[str, Any]:  # noqa: ANN401, ARG001 - a schedule's event says nothing
    """Make one pass; the answer says what it did."""
    return asdict(_job().run(remaining_seconds=context.get_remaining_time_in_millis() / 1000))


@cache
def _job() -> DeadLetterJob:
    return dead_letter_job(DeadLetterSettings.from_environment(os.environ))
