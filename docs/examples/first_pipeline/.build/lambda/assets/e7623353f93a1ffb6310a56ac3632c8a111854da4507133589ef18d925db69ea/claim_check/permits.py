"""Permits for memory and temporary storage: a record that must wait holds no lease and has cost nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from claim_check.contract import STREAM_BYTES_PER_RECORD, PayloadAccess
from claim_check.deadline import Deadline


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadBudget:
    """What the function was sized for (R4.4).

    Attributes:
        access: How the handler uses payloads.
        memory_bytes: Memory for payloads.
        temp_bytes: Temporary storage for payloads.
        expansion: Bytes needed for each byte of payload.
    """

    access: PayloadAccess
    memory_bytes: int
    temp_bytes: int
    expansion: float = 1.0

    @property
    def total(self) -> int:
        """Bytes of the budget that the access mode draws on."""
        return self.temp_bytes if self.access == "file" else self.memory_bytes

    def need(self, content_length: int) -> int:
        """Bytes that one payload takes of the budget; never more than all of it."""
        match self.access:
            case "none":
                need = 0
            case "stream":
                need = STREAM_BYTES_PER_RECORD
            case "memory" | "file":
                need = int(content_length * self.expansion)
        return min(need, self.total)


class Permits:
    """Hands out the budget, first come first served, to records worked on side by side."""

    def __init__(self, budget: PayloadBudget) -> None:
        """Start with the whole budget free."""
        self.budget = budget
        self._free = budget.total
        self._changed = threading.Condition()

    @contextmanager
    def hold(self, content_length: int, deadline: Deadline) -> Iterator[bool]:
        """Hold what a payload needs; yields False if it was not free before the deadline.

        Args:
            content_length: Bytes of the payload.
            deadline: How long to wait.
        """
        need = self.budget.need(content_length)
        with self._changed:
            granted = self._changed.wait_for(lambda: self._free >= need, timeout=deadline.remaining())
            if granted:
                self._free -= need
        try:
            yield granted
        finally:
            if granted:
                with self._changed:
                    self._free += need
                    self._changed.notify_all()
