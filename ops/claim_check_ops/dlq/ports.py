"""What the work on dead letters needs of the outside world."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from claim_check.delivery import Delivery
from claim_check.ports import StoredObject


class DeadLetterSource(Protocol):
    """Where dead letters lie: a DLQ, or an archive. What was taken is held until it is given back or removed."""

    @property
    def name(self) -> str:
        """What it is called in tables."""

    @property
    def ordered(self) -> bool:
        """Whether order means something in it: what stands behind others in its group comes once these are removed."""

    def total(self) -> int | None:
        """About how many dead letters there are; None if it is not known."""

    def take(self, count: int) -> Sequence[Delivery]:
        """Up to so many that were not taken before. None at all: there are no more to be had.

        Raises:
            Unavailable: It does not answer.
            ReceiveRefused: It refuses.
            ReadRefused: It refuses.
        """

    def keep(self) -> None:
        """Go on holding what is held; called again and again by whoever needs long."""

    def remove(self, taken: Sequence[Delivery]) -> Collection[str]:
        """Remove for good. Returns the ids of those that were refused; never raises."""

    def give_back(self) -> Collection[str]:
        """Let others see again what is still held. Returns the ids of those that were refused; never raises."""


class PayloadLook(Protocol):
    """The part of `claim_check.ports.ObjectStore` that looks without reading."""

    def head(self, *, bucket: str, key: str, version_id: str | None = None) -> StoredObject | None:
        """See `claim_check.ports.ObjectStore.head`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFacts:
    """What a queue says of itself.

    Attributes:
        url: Its URL.
        arn: Its ARN.
        retention_seconds: How long it keeps messages.
        visible: About how many messages can be received.
        in_flight: About how many are hidden, delayed ones included.
        dead_letters_to: ARN of its own DLQ, if it has one.
    """

    url: str
    arn: str
    retention_seconds: int
    visible: int
    in_flight: int
    dead_letters_to: str | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self.url.rpartition("/")[2]

    @property
    def fifo(self) -> bool:
        """Whether it is a FIFO queue."""
        return self.url.endswith(".fifo")


class QueueDirectory(Protocol):
    """Finds queues of this account and Region.

    Both raise `ReadRefused` where SQS refuses, and `Unavailable` for throttles, 5xx and lost answers.
    """

    def find(self, name: str) -> QueueFacts | None:
        """A queue by its name; None if there is none."""

    def facts(self, queue_url: str) -> QueueFacts:
        """A queue by its URL."""
