"""Who can hold a pointer to a payload, and for how long: from CDK queues to `RetentionPlan` (R6.1, R6.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, runtime_checkable

import jsii
from aws_cdk import Duration, IStableNumberProducer, IStableStringProducer, Lazy, Token
from aws_cdk import aws_sqs as sqs
from constructs import IConstruct

from claim_check.contract import SQS_MAX_RETENTION_SECONDS, SQS_MIN_RETENTION_SECONDS
from claim_check_cdk.retention import DAY, RetentionPlan, longest
from claim_check_cdk.validation import Mistakes, describe, known_seconds

DEFAULT_RETENTION_SECONDS: Final = 4 * DAY
"""Retention of an SQS queue that was not given one."""

_DEFAULT_VISIBILITY_SECONDS: Final = 30


def _days(count: int) -> Callable[[], Duration]:
    return lambda: Duration.days(count)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionTerms:
    """The terms of a retention plan that no queue knows of itself (R6.1).

    Attributes:
        before_send: From the start of the upload until the pointer is sent: outbox or upload grant, longest upload. By
            default one day.
        delivery: How long SNS or EventBridge may retry the queue, plus the DLQ of that subscription or rule. By default
            nothing: producers send to the queue directly.
        redrive_rounds: How often a dead letter may be sent back. By default once.
        triage: Time a message may spend outside any queue before its redrive, an archive included. By default one day.
        audit: Time the payload is still wanted after the last life of its message. By default none.
        dead_letters_by_receive_count_only: True if nothing is ever *sent* to the DLQ, so that a standard queue's
            message keeps its first enqueue time there, and the longer of the two retentions counts once. By default
            false: our consumer parks messages.
    """

    before_send: Duration = field(default_factory=_days(1))
    delivery: Duration = field(default_factory=_days(0))
    redrive_rounds: int = 1
    triage: Duration = field(default_factory=_days(1))
    audit: Duration = field(default_factory=_days(0))
    dead_letters_by_receive_count_only: bool = False

    def check(self, mistakes: Mistakes, *, fifo: bool) -> None:
        """Note what is wrong with the terms.

        Args:
            mistakes: Where to.
            fifo: Whether the queue is a FIFO queue.
        """
        for name in ("before_send", "delivery", "triage", "audit"):
            duration: Duration = getattr(self, name)
            mistakes.require(
                not duration.is_unresolved(), name, "a token", "must be known at synth", "give a literal Duration"
            )
        mistakes.require(
            self.redrive_rounds >= 0, "redrive_rounds", self.redrive_rounds, "must be 0 or more", "count the redrives"
        )
        mistakes.require(
            not (fifo and self.dead_letters_by_receive_count_only),
            "dead_letters_by_receive_count_only",
            True,
            "holds for standard queues only: FIFO gives a message a new enqueue time in the DLQ",
            "leave it out",
        )

    def plan(self, *, name: str, source: int, dlq: int, processing: int) -> RetentionPlan:
        """Make the plan of one queue; times in seconds."""
        return RetentionPlan(
            name=name,
            before_send=known_seconds(self.before_send) or 0,
            delivery=known_seconds(self.delivery) or 0,
            source=source,
            dlq=dlq,
            processing=processing,
            redrive_rounds=self.redrive_rounds,
            triage=known_seconds(self.triage) or 0,
            audit=known_seconds(self.audit) or 0,
            one_clock=self.dead_letters_by_receive_count_only,
        )


@runtime_checkable
class PlannedQueue(Protocol):
    """A queue that knows how long a message can stay in it and in its DLQ, such as `MessageQueue`."""

    def retention_plan(self, terms: RetentionTerms | None = None) -> RetentionPlan:
        """The plan of this queue under these terms."""


class PointerLife:
    """Collects the queues that may hold pointers; the longest plan decides. Read at synth, when all are known."""

    def __init__(self, owner: IConstruct) -> None:
        """Start with no queue.

        Args:
            owner: The construct whose data must outlive the pointers.
        """
        self._where = describe(owner)
        self._plans: list[Callable[[], RetentionPlan]] = []

    def add(
        self,
        queue: PlannedQueue | sqs.IQueue,
        *,
        terms: RetentionTerms | None = None,
        retention: Duration | None = None,
        dead_letter_retention: Duration | None = None,
        processing: Duration | None = None,
    ) -> None:
        """Count a queue; see `PayloadBucket.retain_for`.

        Raises:
            InvalidSettingsError: The queue's retention is neither told nor known, or a term is wrong.
        """
        if isinstance(queue, PlannedQueue):
            told = (
                ("retention", retention),
                ("dead_letter_retention", dead_letter_retention),
                ("processing", processing),
            )
            mistakes = Mistakes(f"{self._where} retain_for()")
            for argument, value in told:
                mistakes.require(
                    value is None, argument, value, "is known by the queue itself", f"leave {argument} out"
                )
            mistakes.raise_all()
            planned = queue
            planned.retention_plan(terms)
            self._plans.append(lambda: planned.retention_plan(terms))
            return
        terms = terms or RetentionTerms()
        self._check_told(queue, terms, retention, dead_letter_retention)
        self._plans.append(
            lambda: terms.plan(
                name=f"queue '{queue.node.path}'",
                source=_seconds_or(retention, lambda: _retention_of(queue)),
                dlq=_seconds_or(dead_letter_retention, lambda: _dead_letter_retention_of(queue)),
                processing=_seconds_or(processing, lambda: _visibility_of(queue)),
            )
        )

    def _check_told(
        self,
        queue: sqs.IQueue,
        terms: RetentionTerms,
        retention: Duration | None,
        dead_letter_retention: Duration | None,
    ) -> None:
        mistakes = Mistakes(f"{self._where} retain_for({queue.node.path})")
        terms.check(mistakes, fifo=queue.fifo)
        imported = _cfn(queue) is None
        for argument, value, low in (
            ("retention", retention, SQS_MIN_RETENTION_SECONDS),
            ("dead_letter_retention", dead_letter_retention, 0),
        ):
            mistakes.require(
                not (imported and known_seconds(value) is None),
                argument,
                value,
                "must be told: the queue is imported, so nobody here knows how long it keeps a message",
                f"pass {argument}=Duration.days(...) as that queue has it"
                + (", Duration.seconds(0) if it has no DLQ" if low == 0 else ""),
            )
            mistakes.require_range(
                argument,
                known_seconds(value),
                low=low,
                high=SQS_MAX_RETENTION_SECONDS,
                unit="s",
                way_out="see the queue",
            )
        mistakes.raise_all()

    def plan(self) -> RetentionPlan | None:
        """The longest plan of all queues counted so far; None if there is none (R6.3)."""
        return longest(make() for make in self._plans)


def _seconds_or(told: Duration | None, otherwise: Callable[[], int]) -> int:
    seconds = known_seconds(told)
    return otherwise() if seconds is None else seconds


def _cfn(queue: sqs.IQueue) -> sqs.CfnQueue | None:
    child = queue.node.default_child
    return child if isinstance(child, sqs.CfnQueue) else None


def retention_of(queue: sqs.IQueue) -> int | None:
    """Retention of a queue of this app, seconds; None for an imported one, or if it is a token."""
    cfn = _cfn(queue)
    if cfn is None or Token.is_unresolved(cfn.message_retention_period):
        return None
    return int(cfn.message_retention_period or DEFAULT_RETENTION_SECONDS)


def _retention_of(queue: sqs.IQueue) -> int:
    seconds = retention_of(queue)
    # Not known before deployment: assume the most that SQS has, so that the payload never dies first.
    return SQS_MAX_RETENTION_SECONDS if seconds is None else seconds


def _dead_letter_retention_of(queue: sqs.IQueue) -> int:
    dead_letters: sqs.DeadLetterQueue | None = getattr(queue, "dead_letter_queue", None)
    return 0 if dead_letters is None else _retention_of(dead_letters.queue)


def _visibility_of(queue: sqs.IQueue) -> int:
    cfn = _cfn(queue)
    seconds = None if cfn is None else cfn.visibility_timeout
    return _DEFAULT_VISIBILITY_SECONDS if seconds is None or Token.is_unresolved(seconds) else int(seconds)


@jsii.implements(IStableNumberProducer)
class _Number:
    def __init__(self, produce: Callable[[], int]) -> None:
        self._produce = produce

    def produce(self) -> int:
        return self._produce()


@jsii.implements(IStableStringProducer)
class _Text:
    def __init__(self, produce: Callable[[], int]) -> None:
        self._produce = produce

    def produce(self) -> str:
        return str(self._produce())


def lazy_number(produce: Callable[[], int]) -> Any:  # noqa: ANN401 - a number token
    """A number that is computed at synth."""
    return Lazy.number(_Number(produce))


def lazy_text(produce: Callable[[], int]) -> str:
    """The text of a number that is computed at synth, for an environment variable."""
    return Lazy.string(_Text(produce))
