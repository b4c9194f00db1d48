"""Dead letters with all that can be known of them: the inbox's rows, their payloads, what a redrive would do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from claim_check.delivery import Delivery
from claim_check.ports import Clock, InboxReader
from claim_check_ops.dlq.destinations import Destinations
from claim_check_ops.dlq.judging import Judge, Verdict
from claim_check_ops.dlq.letters import DeadLetter, LetterReader, joined
from claim_check_ops.dlq.payloads import PayloadCheck, PayloadChecker
from claim_check_ops.dlq.ports import QueueFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessed:
    """A dead letter, judged.

    Attributes:
        letter: The dead letter.
        payload: The look at its payload.
        destination: Where it would go; None if that is not known.
        verdict: What a redrive does with it.
    """

    letter: DeadLetter
    payload: PayloadCheck
    destination: QueueFacts | None
    verdict: Verdict


class Assessor:
    """Finds out. Its calls raise `Unavailable` and `ReadRefused` as the inbox and SQS do."""

    def __init__(self, reader: LetterReader, inbox: InboxReader, checker: PayloadChecker) -> None:
        """Set up.

        Args:
            reader: Understands messages.
            inbox: Tells what became of their identities.
            checker: Looks at payloads.
        """
        self._reader = reader
        self._inbox = inbox
        self._checker = checker

    def read(self, deliveries: Sequence[Delivery], *, source: str) -> list[DeadLetter]:
        """Understand messages, and join them with their inbox rows."""
        letters = [self._reader.read(delivery, source=source) for delivery in deliveries]
        keys = [self._reader.key(letter) for letter in letters]
        rows = self._inbox.rows([key for key in keys if key is not None])
        return joined(letters, keys, rows)

    def key(self, letter: DeadLetter) -> str | None:
        """Key of the inbox row of a dead letter; None if it has no identity."""
        return self._reader.key(letter)

    def check(self, letters: Sequence[DeadLetter]) -> list[PayloadCheck]:
        """Look at their payloads."""
        return self._checker.check(letters)

    def assess(self, letters: Sequence[DeadLetter], *, judge: Judge, destinations: Destinations) -> list[Assessed]:
        """Judge dead letters."""
        found = []
        for letter, payload in zip(letters, self.check(letters), strict=True):
            destination = destinations.of(letter)
            verdict = judge.judge(letter, payload, destination)
            found.append(Assessed(letter=letter, payload=payload, destination=destination, verdict=verdict))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Court:
    """Judges for one redrive.

    Attributes:
        assessor: Finds out what can be known.
        destinations: Where dead letters go.
        dlq: The DLQ.
        life_seconds: How long the plan lets a payload live.
        clock: Time.
    """

    assessor: Assessor
    destinations: Destinations
    dlq: QueueFacts
    life_seconds: float
    clock: Clock

    def assess(self, letters: Sequence[DeadLetter]) -> list[Assessed]:
        """Judge dead letters by what is known now."""
        judge = Judge(life_seconds=self.life_seconds, dlq_seconds=self.dlq.retention_seconds, now=self.clock.now())
        return self.assessor.assess(letters, judge=judge, destinations=self.destinations)
