"""Who can hold a pointer to a payload, and for how long: from CDK queues to `RetentionPlan` (R6.1, R6.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, runtime_checkable

import jsii
from aws_cdk import Duration, IStableNumberProducer, IStableStringProducer, Lazy, Token
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from claim_check.contract import SQS_MAX_RETENTION_SECONDS, SQS_MIN_RETENTION_SECONDS
from claim_check_cdk.retention import DAY, RetentionPlan, longest
from claim_check_cdk.validation import Mistakes, describe, known_seconds, validate_at_synth

DEFAULT_RETENTION_SECONDS: Final = 4 * DAY
"""Retention of an SQS queue that was not given one."""

_DEFAULT_VISIBILITY_SECONDS: Final = 30
_NO_QUEUE: Final = (
    "{argument} = None: there is no queue to compute it from. Way out: call retain_for(queue), or pass {argument}."
)


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
        triage: Time a message may spend outside any queue, and outside a `DlqArchive`, before its redrive. By default
            one day.
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
            known_seconds(self.before_send) != 0,
            "before_send",
            "0 s",
            "must be at least a second: an upload takes time, and an older object is not published again",
            "give the longest upload, or leave it out for a day",
        )
        mistakes.require(
            self.redrive_rounds >= 0, "redrive_rounds", self.redrive_rounds, "must be 0 or more", "count the redrives"
        )
        mistakes.require(
            not (fifo and self.dead_letters_by_receive_count_only),
            "dead_letters_by_receive_count_only",
            self.dead_letters_by_receive_count_only,
            "holds for standard queues only: FIFO gives a message a new enqueue time in the DLQ",
            "leave it out",
        )

    def plan(self, *, name: str, source: int, dlq: int, processing: int, archive: int = 0) -> RetentionPlan:
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
            archive=archive,
            audit=known_seconds(self.audit) or 0,
            one_clock=self.dead_letters_by_receive_count_only,
        )


@runtime_checkable
class PlannedQueue(Protocol):
    """A queue that knows how long a message can stay in it and in its DLQ, such as `MessageQueue`."""

    def retention_plan(self, terms: RetentionTerms | None = None) -> RetentionPlan:
        """The plan of this queue under these terms."""


class KeepsForPointers(Construct):
    """Base of what must outlive every pointer: collects the queues that may hold one; the longest plan decides (R6.3).

    Read at synth, when all queues are known.
    """

    def __init__(self, scope: Construct, construct_id: str, *, argument: str, told: Duration | None) -> None:
        """Start with no queue.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            argument: Name of the setting by which the life can be told.
            told: What was told; None if the life is to be computed.
        """
        super().__init__(scope, construct_id)
        self._argument = argument
        self._told = known_seconds(told)
        self._plans: list[Callable[[], RetentionPlan]] = []
        validate_at_synth(self, self._check_life)

    def retain_for(
        self,
        queue: PlannedQueue | sqs.IQueue,
        *,
        terms: RetentionTerms | None = None,
        retention: Duration | None = None,
        dead_letter_retention: Duration | None = None,
        processing: Duration | None = None,
    ) -> None:
        """Keep data for as long as this queue could hold a pointer to it (R6.1, R6.2).

        Args:
            queue: A queue that may hold pointers.
            terms: What no queue knows of itself. By default `RetentionTerms()`.
            retention: For a queue that is no `MessageQueue`: how long it keeps a message. By default read from the
                queue, if this app makes it; an imported one must be told.
            dead_letter_retention: The same of its DLQ; 0 s if it has none.
            processing: How long a message received in its last second may be worked on. By default the queue's
                visibility timeout.

        Raises:
            InvalidSettingsError: The queue's retention is neither told nor known, or a term is wrong.
        """
        told = {"retention": retention, "dead_letter_retention": dead_letter_retention, "processing": processing}
        if isinstance(queue, PlannedQueue):
            self._retain_for_planned(queue, terms, told)
        else:
            self._retain_for_plain(queue, terms or RetentionTerms(), told)

    def retention_plan(self) -> RetentionPlan | None:
        """The longest plan of the queues counted so far; None if there is none."""
        return longest(make() for make in self._plans)

    def _retain_for_planned(
        self, queue: PlannedQueue, terms: RetentionTerms | None, told: dict[str, Duration | None]
    ) -> None:
        mistakes = Mistakes(f"{describe(self)} retain_for()")
        for argument, value in told.items():
            mistakes.require(value is None, argument, value, "is known by the queue itself", f"leave {argument} out")
        mistakes.raise_all()
        queue.retention_plan(terms)  # Wrong terms fail here and now.
        self._plans.append(lambda: queue.retention_plan(terms))

    def _retain_for_plain(self, queue: sqs.IQueue, terms: RetentionTerms, told: dict[str, Duration | None]) -> None:
        mistakes = Mistakes(f"{describe(self)} retain_for('{queue.node.path}')")
        terms.check(mistakes, fifo=queue.fifo)
        for argument, low in (("retention", SQS_MIN_RETENTION_SECONDS), ("dead_letter_retention", 0)):
            seconds = known_seconds(told[argument])
            mistakes.require(
                _cfn(queue) is not None or seconds is not None,
                argument,
                told[argument],
                "must be told: the queue is imported, so nobody here knows how long it keeps a message",
                f"pass {argument}=Duration.days(...) as it is there{'' if low else '; 0 if there is no DLQ'}",
            )
            mistakes.require_range(
                argument, seconds, low=low, high=SQS_MAX_RETENTION_SECONDS, unit="s", way_out="tell what the queue has"
            )
        mistakes.raise_all()
        self._plans.append(
            lambda: terms.plan(
                name=f"queue '{queue.node.path}'",
                source=_seconds_or(told["retention"], lambda: _retention_of(queue)),
                dlq=_seconds_or(told["dead_letter_retention"], lambda: _dead_letter_retention_of(queue)),
                processing=_seconds_or(told["processing"], lambda: _visibility_of(queue)),
            )
        )

    def _life_seconds(self) -> int:
        """What was told, or the plan in whole days."""
        if self._told is not None:
            return self._told
        plan = self.retention_plan()
        # Without a plan the check below fails the synthesis; the number only has to be one.
        return plan.days * DAY if plan else DAY

    def _check_life(self) -> list[str]:
        plan = self.retention_plan()
        if self._told is None:
            return [] if plan else [_NO_QUEUE.format(argument=self._argument)]
        refusal = plan.refusal(argument=self._argument, given=self._told) if plan else None
        return [refusal] if refusal else []


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
