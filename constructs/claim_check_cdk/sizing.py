"""Memory and temporary storage of a consumer function, from what its handler does with payloads (R4.4).

Pure arithmetic: payload x concurrent records x expansion, by `PayloadAccess`. Sizes are bytes unless a name says MiB.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from claim_check.contract import (
    FUNCTION_BASE_MEMORY_MIB,
    LAMBDA_MAX_MEMORY_MIB,
    LAMBDA_MAX_TEMP_MIB,
    LAMBDA_MIN_TEMP_MIB,
    MIB,
    STREAM_BYTES_PER_RECORD,
    PayloadAccess,
)

COMFORTABLE_MEMORY_MIB: Final = 512
"""Memory that a function gets at least when it is computed: Lambda's CPU share grows with it."""

_STEP_MIB: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizing:
    """What a function needs.

    Attributes:
        access: What the handler does with payloads.
        max_payload: Largest payload, bytes.
        concurrent_records: Records that one invocation handles side by side.
        expansion: How much larger a payload becomes in the handler's hands (1.0: it stays as it is).
    """

    access: PayloadAccess
    max_payload: int
    concurrent_records: int
    expansion: float = 1.0

    @property
    def payload_memory(self) -> int:
        """Memory for payloads, bytes."""
        if self.access == "none":
            return 0
        if self.access == "memory":
            return self._expanded
        return self.concurrent_records * STREAM_BYTES_PER_RECORD

    @property
    def payload_temp(self) -> int:
        """Temporary storage for payloads, bytes."""
        return self._expanded if self.access == "file" else 0

    @property
    def memory_mib(self) -> int:
        """Least memory of the function, MiB."""
        return FUNCTION_BASE_MEMORY_MIB + _mib(self.payload_memory)

    @property
    def temp_mib(self) -> int:
        """Least temporary storage of the function, MiB; Lambda gives 512 in any case."""
        return max(LAMBDA_MIN_TEMP_MIB, _mib(self.payload_temp))

    @property
    def computed_memory_mib(self) -> int:
        """Memory to configure when nobody asked for more, MiB: a multiple of 64, at least 512."""
        return max(COMFORTABLE_MEMORY_MIB, math.ceil(self.memory_mib / _STEP_MIB) * _STEP_MIB)

    @property
    def _expanded(self) -> int:
        return math.ceil(self.concurrent_records * self.max_payload * self.expansion)

    def memory_sum(self) -> str:
        """The sum behind `memory_mib`, for people."""
        if self.access == "none":
            return f"{FUNCTION_BASE_MEMORY_MIB} MiB for interpreter, clients and library = {self.memory_mib} MiB"
        each = self._product if self.access == "memory" else self._streams
        return f"{FUNCTION_BASE_MEMORY_MIB} MiB for interpreter, clients and library + {each} = {self.memory_mib} MiB"

    def temp_sum(self) -> str:
        """The sum behind `temp_mib`, for people."""
        if self.access != "file":
            return f"Lambda's least, {LAMBDA_MIN_TEMP_MIB} MiB"
        return f"{self._product} = {_mib(self.payload_temp)} MiB, at least {LAMBDA_MIN_TEMP_MIB} MiB"

    @property
    def _product(self) -> str:
        payload = f"{self.max_payload / MIB:g} MiB payload"
        return f"{self.concurrent_records} concurrent records x {payload} x {self.expansion:g} expansion"

    @property
    def _streams(self) -> str:
        return f"{self.concurrent_records} concurrent records x {STREAM_BYTES_PER_RECORD // MIB} MiB stream"

    def refusals(self, *, memory_mib: int | None, temp_mib: int | None) -> list[tuple[str, str, str]]:
        """What is too little, or more than Lambda has: (argument, value, limit with the sum) of each.

        Args:
            memory_mib: The function's memory; None if it is computed.
            temp_mib: The function's temporary storage; None if it is computed.
        """
        found = []
        memory = self.computed_memory_mib if memory_mib is None else memory_mib
        temp = self.temp_mib if temp_mib is None else temp_mib
        if not self.memory_mib <= memory <= LAMBDA_MAX_MEMORY_MIB:
            found.append(
                ("memory_size_mib", f"{memory} MiB", self._limit(self.memory_mib, "memory", self.memory_sum()))
            )
        if not self.temp_mib <= temp <= LAMBDA_MAX_TEMP_MIB:
            limit = self._limit(self.temp_mib, "temporary storage", self.temp_sum())
            found.append(("ephemeral_storage", f"{temp} MiB", limit))
        return found

    def _limit(self, least: int, what: str, how: str) -> str:
        most = LAMBDA_MAX_MEMORY_MIB if what == "memory" else LAMBDA_MAX_TEMP_MIB
        return f"payload_access {self.access!r} needs {least} MiB of {what} ({how}), and Lambda has at most {most} MiB"


def _mib(size: int) -> int:
    return math.ceil(size / MIB)
