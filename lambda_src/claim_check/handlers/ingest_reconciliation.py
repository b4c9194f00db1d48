"""Entry point of the scheduled function that compares a bucket with its ledger (R10.3)."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from claim_check.aws_ingest import reconciliation
from claim_check.ingest import LedgerReconciliation
from claim_check.ingest.settings import ReconciliationSettings

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda passes both
    """Run, or go on with, a reconciliation if one is due; the answer holds its counts."""
    return _reconciliation().run_if_due(remaining_seconds=context.get_remaining_time_in_millis() / 1000).to_answer()


@cache
def _reconciliation() -> LedgerReconciliation:
    return reconciliation(ReconciliationSettings.from_environment(os.environ))
