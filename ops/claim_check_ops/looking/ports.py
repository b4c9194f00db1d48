"""What looking needs of the outside world, beside `claim_check.ports.InboxReader`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth:
    """How many messages are in a queue, approximately, as SQS says.

    Attributes:
        visible: Waiting to be received.
        in_flight: Received, and neither deleted nor visible again.
        delayed: Not to be received yet.
    """

    visible: int
    in_flight: int
    delayed: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.visible + self.in_flight + self.delayed


class Queues(Protocol):
    """Looks at queues."""

    def depth(self, queue_url: str) -> Depth:
        """How many messages there are: one request.

        Raises:
            ReadRefused: The queue refuses, or is not there.
            Unavailable: Throttled, failed, or no answer.
        """

    def oldest_seconds(self, queue_url: str) -> float | None:
        """Age of the oldest message as CloudWatch knows it; None if it knows nothing, or does not tell."""


class Pollers(Protocol):
    """Looks at what lets Lambda poll queues."""

    def states(self, function: str, queue_url: str) -> list[str]:
        """States of the event source mappings of a function and a queue, ``Enabled`` and ``Disabled`` among them.

        Raises:
            ReadRefused: Lambda refuses, or there is no such function.
            Unavailable: Throttled, failed, or no answer.
        """
