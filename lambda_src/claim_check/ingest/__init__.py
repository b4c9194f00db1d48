"""Ingests the objects of a bucket from S3's notifications (R10): at least once, out of order, or never, as they come.

::

    def apply_put(change: ObjectChange, stream: VerifiedStream | None, tx: Transaction) -> None: ...
    def apply_delete(change: ObjectChange, tx: Transaction) -> None: ...

    ingester = S3Ingester(apply_put, apply_delete, ...)   # or claim_check.aws_ingest.ingester(settings)

One ledger row per bucket and key says what was applied last. Every write is one transaction with the effect,
conditional on that row being as it was read.
"""

from __future__ import annotations

from claim_check.ingest.applying import ApplyDelete, ApplyPut
from claim_check.ingest.changes import ObjectChange, ObjectKey
from claim_check.ingest.ingester import S3Ingester
from claim_check.ingest.reconciliation import LedgerReconciliation, ReconciliationReport

__all__ = [
    "ApplyDelete",
    "ApplyPut",
    "LedgerReconciliation",
    "ObjectChange",
    "ObjectKey",
    "ReconciliationReport",
    "S3Ingester",
]
