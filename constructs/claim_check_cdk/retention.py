"""How long a payload must live, and why (R6.1): a pure value with an explanation.

    before_send + (1 + redrive_rounds) x (delivery + source + dlq + processing)
                + triage + redrive_rounds x archive + audit

Nothing here knows the CDK. Units are seconds; S3 expires whole days, so `RetentionPlan.days` is rounded up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Final

MINUTE: Final = 60
HOUR: Final = 3600
DAY: Final = 86_400

SNS_DELIVERY_SECONDS: Final = 23 * DAY
"""How long SNS goes on retrying a queue that refuses (a subscription's DLQ adds its own retention)."""

EVENTBRIDGE_DELIVERY_SECONDS: Final = DAY
"""How long EventBridge goes on retrying a queue that refuses (a rule's DLQ adds its own retention)."""


ARCHIVE_ROUNDING_SECONDS: Final = DAY
"""S3 expires at the midnight (UTC) after the days are over, so an archived letter may live up to a day longer."""


@dataclass(frozen=True, slots=True)
class Term:
    """One line of a plan's sum.

    Attributes:
        name: Field of `RetentionPlan`.
        seconds: Its value.
        why: What takes this time.
        repeats: How often it counts.
    """

    name: str
    seconds: int
    why: str
    repeats: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPlan:
    """How long a payload must stay readable so that no pointer to it can dangle (R6.1).

    Attributes:
        source: Retention of the queue.
        dlq: Retention of its dead-letter queue; 0 if it has none.
        before_send: From the start of the upload until the pointer is sent: outbox or upload grant, longest upload.
        delivery: How long SNS or EventBridge may retry the queue, and the DLQ of that subscription or rule.
        processing: A message may be received in the last second of its life, and is then worked on for this long.
        redrive_rounds: How often a dead letter may be sent back; every time, a new life begins.
        triage: Time a message spends outside any queue, and outside a `DlqArchive`, before its redrive.
        archive: How long a `DlqArchive` keeps a dead letter before it is redriven; 0 if there is none.
        audit: Time the payload is still wanted after the last life ended.
        one_clock: Count ``max(source, dlq)`` in place of their sum. True only of a standard queue whose DLQ receives by
            ``maxReceiveCount`` alone: SQS then keeps the first enqueue time; parking and redrives start a new one.
        name: What the plan is of, for people.
    """

    source: int
    dlq: int
    before_send: int = DAY
    delivery: int = 0
    processing: int = 0
    redrive_rounds: int = 1
    triage: int = DAY
    archive: int = 0
    audit: int = 0
    one_clock: bool = False
    name: str = "a queue"

    def __post_init__(self) -> None:
        """Refuse what is not a time.

        Raises:
            ValueError: A term is negative.
        """
        negative = [
            f"{field.name} = {getattr(self, field.name)}"
            for field in fields(self)
            if field.name != "name" and getattr(self, field.name) < 0
        ]
        if negative:
            raise ValueError(
                f"RetentionPlan of {self.name}: {', '.join(negative)}: must be 0 or more. Way out: leave it out."
            )

    @property
    def lives(self) -> int:
        """How many lives a message can have: the first, and one for each redrive round."""
        return 1 + self.redrive_rounds

    @property
    def life(self) -> int:
        """The longest single life of a message, seconds."""
        queues = max(self.source, self.dlq) if self.one_clock else self.source + self.dlq
        return self.delivery + queues + self.processing

    @property
    def seconds(self) -> int:
        """The whole sum, seconds."""
        outside = self.triage + self.redrive_rounds * self.archive
        return self.before_send + self.lives * self.life + outside + self.audit

    @property
    def days(self) -> int:
        """The sum in whole days, rounded up: what a lifecycle rule and the inbox's TTL are given."""
        return -(-self.seconds // DAY)

    def terms(self) -> tuple[Term, ...]:
        """The lines of the sum, in the formula's order."""
        dlq = 0 if self.one_clock and self.dlq <= self.source else self.dlq
        source = 0 if self.one_clock and self.dlq > self.source else self.source
        shared = " (one clock with the other queue: the longer counts)" if self.one_clock else ""
        archive = Term(
            "archive", self.archive, "in the archive of dead letters, before each redrive", self.redrive_rounds
        )
        return (
            Term("before_send", self.before_send, "outbox or upload grant, and the longest upload"),
            Term("delivery", self.delivery, "SNS or EventBridge retrying the queue", self.lives),
            Term("source", source, f"retention of the queue{shared}", self.lives),
            Term("dlq", dlq, f"retention of the dead-letter queue{shared}", self.lives),
            Term("processing", self.processing, "a message received in its last second", self.lives),
            Term("triage", self.triage, "outside any queue and archive, before the redrive"),
            *((archive,) if self.archive and self.redrive_rounds else ()),
            Term("audit", self.audit, "wanted after the last life"),
        )

    def table(self) -> str:
        """The sum as a table for people, one term a line."""
        rounds = f"{self.redrive_rounds} redrive round{'s'[: self.redrive_rounds != 1]}"
        lives = f"{self.lives} lives: the first and {rounds}" if self.redrive_rounds else "one life, never redriven"
        lines = [f"Retention plan of {self.name} ({lives}):"]
        lines += [
            f"  {'' if index == 0 else '+':1} {f'{term.repeats} x ' if term.repeats > 1 else '':4}{term.name:<12}"
            f"{format_seconds(term.seconds):>14}   {term.why}"
            for index, term in enumerate(self.terms())
        ]
        lines.append(
            f"  = {'':4}{'sum':<12}{format_seconds(self.seconds):>14}   in whole days, rounded up: {self.days} d"
        )
        return "\n".join(lines)

    def refusal(self, *, argument: str, given: int) -> str | None:
        """Why a life of ``given`` seconds is too short, with the table of terms; None if it is long enough.

        Args:
            argument: Name of the setting, for the text.
            given: Seconds.
        """
        if given >= self.days * DAY:
            return None
        return (
            f"{argument} = {format_seconds(given)}: must be at least {self.days} d, or a message could outlive what it "
            f"points at. Way out: leave {argument} out (it is computed), or shorten the terms below.\n{self.table()}"
        )


def longest(plans: Iterable[RetentionPlan]) -> RetentionPlan | None:
    """The plan that decides when several queues may hold a payload's pointers (R6.3); None if there is no plan."""
    return max(plans, key=lambda plan: plan.seconds, default=None)


def format_seconds(seconds: int) -> str:
    """A time for people, such as ``4 d 6 h``; the smallest unit is the second."""
    parts, rest = [], seconds
    for size, unit in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (1, "s")):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts) or "0 s"
