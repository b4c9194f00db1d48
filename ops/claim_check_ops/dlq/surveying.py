"""Looks at dead letters and leaves them where they are (R9.1, steps 1 to 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from claim_check_ops.dlq.assessing import Assessor
from claim_check_ops.dlq.letters import DeadLetter
from claim_check_ops.dlq.ports import DeadLetterSource

WINDOW = 200
"""Dead letters taken at once."""


@dataclass(slots=True)
class Sample:
    """Dead letters that were looked at.

    Attributes:
        letters: The dead letters.
        totals: About how many there are, by source; what is not known is left out.
        complete: Whether nothing more was to be had.
        not_given_back: Ids of those that stay hidden until their time is up.
    """

    letters: list[DeadLetter] = field(default_factory=list)
    totals: dict[str, int] = field(default_factory=dict)
    complete: bool = True
    not_given_back: set[str] = field(default_factory=set)

    @property
    def unseen(self) -> int:
        """About how many were not looked at."""
        return max(0, sum(self.totals.values()) - sum(letter.source in self.totals for letter in self.letters))


@contextmanager
def held(sources: Sequence[DeadLetterSource], sample: Sample) -> Iterator[None]:
    """Give back in the end what was taken, whatever happens; an interrupt while doing so makes it begin again."""
    try:
        yield
    finally:
        for source in sources:
            try:
                sample.not_given_back |= set(source.give_back())
            except KeyboardInterrupt:
                sample.not_given_back |= set(source.give_back())
                raise


def survey(
    sources: Sequence[DeadLetterSource],
    assessor: Assessor,
    *,
    limit: int | None,
    until: Callable[[DeadLetter], bool] = lambda _: False,
    told: Callable[[int], object] = lambda _: None,
) -> Sample:
    """Take dead letters, understand them, give them back.

    Args:
        sources: Where they are.
        assessor: Understands them.
        limit: So many at most; None takes all that can be had.
        until: Ends it at the first one for which this is true.
        told: Is told how many there are so far.

    Raises:
        Unavailable: A service does not answer.
        ReceiveRefused: The queue refuses.
        ReadRefused: The inbox or the archive refuses.
    """
    sample, seen = Sample(), set[str]()
    with held(sources, sample):
        for source in sources:
            total = source.total()
            if total is not None:
                sample.totals[source.name] = total
            for letters in _windows(source, assessor, room=_room(sample, limit)):
                fresh = [letter for letter in letters if letter.id not in seen]  # archived, and still in the DLQ
                seen |= {letter.id for letter in fresh}
                sample.letters += fresh
                told(len(sample.letters))
                source.keep()
                if any(map(until, letters)):
                    sample.complete = False
                    return sample
        sample.complete = limit is None or len(sample.letters) < limit
    return sample


def _room(sample: Sample, limit: int | None) -> Callable[[], int]:
    """How many to take next."""
    return lambda: WINDOW if limit is None else min(WINDOW, limit - len(sample.letters))


def _windows(source: DeadLetterSource, assessor: Assessor, *, room: Callable[[], int]) -> Iterator[list[DeadLetter]]:
    """Take from one source until there is no more of it, or no room."""
    while (count := room()) > 0 and (deliveries := source.take(count)):
        yield assessor.read(deliveries, source=source.name)
