"""Entry point of the scheduled function that reconciles payloads with the rows that point at them (R7.1)."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from claim_check.aws_reconciliation import reconciliation
from claim_check.reconciliation import Reconciliation
from claim_check.reconciliation.settings import ReconcilerSettings

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda passes both
    """Run, or go on with, a reconciliation if one is due; the answer holds its counts."""
    return _reconciliation().run_if_due(remaining_seconds=context.get_remaining_time_in_millis() / 1000).document()


@cache
def _reconciliation() -> Reconciliation:
    return reconciliation(ReconcilerSettings.from_environment(os.environ))
