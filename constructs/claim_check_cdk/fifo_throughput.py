"""How much a FIFO queue carries: a pure value with an explanation.

Two ceilings, and the lower one wins: what the queue takes (calls x messages per call), and what its groups allow, since
the messages of one group are handled one after the other (groups / handling time). Nothing here knows the CDK.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from claim_check.contract import SQS_MAX_BATCH_ENTRIES

CALLS_PER_SECOND: Final = 300
"""Calls of one action on a FIFO queue; with high throughput on one partition of it."""

STANDARD_FIFO_MESSAGES: Final = CALLS_PER_SECOND * SQS_MAX_BATCH_ENTRIES
"""Messages a second without high throughput, in full batches."""

HIGH_THROUGHPUT_MESSAGES: Final = 70_000
"""Messages a second with high throughput, in the large Regions."""

HIGH_THROUGHPUT_MESSAGES_ELSEWHERE: Final = 9_000
"""The same in Mumbai and Singapore."""

Ceiling = Literal["queue", "groups"]

_DIGITS: Final = 9
"""Digits that count: 2,500 x 0.1 is 250 groups, not 251."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FifoThroughput:
    """What a FIFO queue carries, messages a second.

    Attributes:
        handling: Seconds that one message takes, from the gate to the commit.
        groups: Message groups that have work at the same time, and a consumer that is free for them.
        messages_per_second: What the queue takes; `STANDARD_FIFO_MESSAGES` without high throughput.
        name: What this is of, for people.
    """

    handling: float
    groups: int
    messages_per_second: int = STANDARD_FIFO_MESSAGES
    name: str = "a queue"

    def __post_init__(self) -> None:
        """Refuse what no queue has.

        Raises:
            ValueError: A value is not positive.
        """
        wrong = [f"{name} = {value}" for name, value in self._figures() if not value > 0]
        if wrong:
            raise ValueError(f"FifoThroughput of {self.name}: {', '.join(wrong)}: must be more than 0.")

    def _figures(self) -> list[tuple[str, float]]:
        return [
            ("handling", self.handling),
            ("groups", self.groups),
            ("messages_per_second", self.messages_per_second),
        ]

    @property
    def per_group(self) -> float:
        """Messages of one group a second: they are handled one after the other."""
        return round(1 / self.handling, _DIGITS)

    @property
    def all_groups(self) -> float:
        """Messages of all groups a second, side by side."""
        return round(self.groups / self.handling, _DIGITS)

    @property
    def rate(self) -> float:
        """Messages a second: the lower of the two ceilings."""
        return min(float(self.messages_per_second), self.all_groups)

    @property
    def limited_by(self) -> Ceiling:
        """Which of the two it is."""
        return "queue" if self.messages_per_second <= self.all_groups else "groups"

    def line(self) -> str:
        """The sum as one line of a table for people."""
        return (
            f"{self.name:<38}{self.groups:>8,}{self.handling * 1000:>8,.0f} ms{self.all_groups:>12,.0f}/s"
            f"{self.messages_per_second:>11,}/s{self.rate:>11,.0f}/s   {self.limited_by}"
        )


HEADING: Final = f"{'':<38}{'groups':>8}{'handling':>11}{'groups':>14}{'queue':>13}{'carries':>13}   limited by"
"""Heading above lines of `FifoThroughput.line`."""


def groups_for(rate: float, *, handling: float) -> int:
    """How many groups with work at the same time a rate needs.

    Args:
        rate: Messages a second.
        handling: Seconds that one message takes.
    """
    return math.ceil(round(rate * handling, _DIGITS))


def backlog(*, arriving: float, handling: float, seconds: float) -> int:
    """Messages of one group that wait after some time, because they arrive faster than one after the other is handled.

    Args:
        arriving: Messages of the group a second.
        handling: Seconds that one message takes.
        seconds: How long that goes on.
    """
    return max(0, math.floor(round((arriving - 1 / handling) * seconds, _DIGITS)))
