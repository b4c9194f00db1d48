"""What a run is told, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from claim_check import contract
from claim_check.ports import Clock, InboxReader
from claim_check.reconciliation.judging import Class, Times
from claim_check.reconciliation.ports import OutboxRows
from claim_check.reconciliation.tally import Progress, Tally
from claim_check.telemetry import key_hash

Status = Literal["finished", "unfinished", "busy", "waiting"]
"""``unfinished``: out of time, to be gone on with. ``busy``: another run is at it. ``waiting``: none is due yet."""

SampleKind = Class | Literal["dead pointer", "removed", "held"]

MAX_SAMPLES: Final = 20
"""Of each kind that an outcome holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run does.

    Attributes:
        name: Name of the reconciliation: the key of its checkpoint.
        bucket: Bucket of the payloads.
        times: Ages that decide.
        prefix: Only keys that begin so.
        delete: Whether it removes what is proven unpublished. By default it only reports.
        rate: Objects removed a second, at most.
        looks: Objects looked at one by one in a run, at most; as many again for pointers.
        every_seconds: How long after the start of a run the next one is due.
    """

    name: str
    bucket: str
    times: Times
    prefix: str = contract.PAYLOAD_PREFIX
    delete: bool = False
    rate: float = contract.RECONCILE_RATE
    looks: int = contract.RECONCILE_LOOKS
    every_seconds: int = contract.DAY_SECONDS


@dataclass(frozen=True, slots=True)
class InboxSource:
    """A table of inboxes, and the consumers whose rows it holds."""

    reader: InboxReader
    consumers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OutboxSource:
    """A table of an outbox, and the destinations whose rows it holds."""

    table: OutboxRows
    destinations: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One finding, for people.

    Attributes:
        kind: What was found.
        key: The object's key.
        consumer: Consumer, or destination, whose row points at it.
        message_id: The event, where a row tells it.
    """

    kind: SampleKind
    key: str = field(repr=False)
    consumer: str | None = None
    message_id: str | None = None

    def document(self, *, reveal: bool = False) -> dict[str, str | None]:
        """As JSON has it; the key is a hash unless it is to be revealed."""
        key = {"key": self.key} if reveal else {}
        return {
            "kind": self.kind,
            "payloadKeyHash": key_hash(self.key),
            **key,
            "consumer": self.consumer,
            "messageId": self.message_id,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run came to.

    Attributes:
        status: Whether it finished.
        tally: What it has counted since its start; of the last run where none is due.
        samples: Some of what this invocation found, `MAX_SAMPLES` of each kind.
        growth: By how many percentage points the unknown share is above that of the run before; once finished.
    """

    status: Status
    tally: Tally
    samples: Sequence[Sample] = ()
    growth: float = 0.0

    def document(self, *, reveal: bool = False) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "status": self.status,
            **self.tally.document(),
            "unknown_percent": round(self.tally.unknown_percent, 2),
            "unknown_growth": round(self.growth, 2),
            "samples": [one.document(reveal=reveal) for one in self.samples],
        }


class Samples:
    """Keeps the first few of each kind."""

    def __init__(self) -> None:
        """Begin with none."""
        self.kept: list[Sample] = []

    def add(self, sample: Sample) -> None:
        """Keep it, if there are not enough of its kind."""
        if sum(one.kind == sample.kind for one in self.kept) < MAX_SAMPLES:
            self.kept.append(sample)


class TimeLeft:
    """How long an invocation may go on."""

    def __init__(self, clock: Clock, seconds: float | None) -> None:
        """Count from now; None means without end."""
        self._clock = clock
        self._end = None if seconds is None else clock.monotonic() + seconds

    @property
    def endless(self) -> bool:
        """Whether there is no end."""
        return self._end is None

    def suffices(self, seconds: float) -> bool:
        """Whether so many are left."""
        return self._end is None or self._end - self._clock.monotonic() >= seconds


@dataclass(slots=True, kw_only=True)
class Run:
    """One invocation's share of a run.

    Attributes:
        progress: How far it has come.
        time: How long it may go on.
        owner: Token of its lease.
        ends: When that ends, epoch seconds.
        samples: What it found.
        moved: Told after every step.
        kept: `progress` as it was when counts and place last agreed: what is saved.
        save_at: When it is to be saved at the latest, on the clock that never goes back.
    """

    progress: Progress
    time: TimeLeft
    owner: str
    ends: float
    samples: Samples = field(default_factory=Samples)
    moved: Callable[[Tally], object] | None = None
    kept: str = field(init=False, repr=False)
    save_at: float = 0.0

    def __post_init__(self) -> None:
        """Keep what there is."""
        self.keep()

    @property
    def tally(self) -> Tally:
        """What it has counted."""
        return self.progress.tally

    def keep(self) -> None:
        """Counts and place agree now."""
        self.kept = self.progress.to_json()
