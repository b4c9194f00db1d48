"""Times and durations as people read them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from claim_check.envelope import format_time

_UNITS: Final = ((86_400, "d"), (3600, "h"), (60, "min"))


def iso(moment: float) -> str:
    """An epoch second as RFC 3339, whole seconds."""
    return format_time(datetime.fromtimestamp(int(moment), UTC))


def span(seconds: float) -> str:
    """A duration in the largest unit of which there are two: ``45 s``, ``12 min``, ``9.5 h``, ``3.2 d``."""
    for size, unit in _UNITS:
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{max(0.0, seconds):.3g} s"
