"""Reconciliation of payloads with what the tables know of them (R7.1)."""

from claim_check.reconciliation.runner import Reconciliation
from claim_check.reconciliation.runs import Outcome, Sample
from claim_check.reconciliation.tally import Tally

__all__ = ["Outcome", "Reconciliation", "Sample", "Tally"]
