"""Messages that commit together with domain writes, and what publishes them (R3)."""

from claim_check.outbox.staging import Outbox, Staged

__all__ = ["Outbox", "Staged"]
