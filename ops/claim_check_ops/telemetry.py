"""Telemetry of the operator's command: it shows results itself, so that the library stays silent."""

from contextlib import AbstractContextManager, nullcontext

from claim_check.ports import Level


class SilentTelemetry:
    """`claim_check.ports.Telemetry` that says nothing."""

    def log(self, level: Level, event: str, **fields: str | float | None) -> None:
        """Write nothing."""

    def count(self, metric: str, value: float = 1) -> None:
        """Count nothing."""

    def flush(self) -> None:
        """Emit nothing."""

    def span(self, name: str) -> AbstractContextManager[None]:  # noqa: ARG002 - the port's signature
        """Trace nothing."""
        return nullcontext()
