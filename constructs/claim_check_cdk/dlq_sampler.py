"""A scheduled function that looks at a DLQ, and at the unfinished rows of the inbox beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Protocol

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from claim_check.contract import DEFAULT_STUCK_SECONDS, INBOX_OPEN_INDEX, Metric, Setting, is_name
from claim_check_cdk.alarm_rules import DAY, AlarmSet, Rule
from claim_check_cdk.claim_check_function import ClaimCheckFunction
from claim_check_cdk.event_rule import EventRule, undelivered_queue
from claim_check_cdk.validation import Mistakes, describe, known, known_seconds

DEAD_LETTERS_HANDLER: Final = "claim_check.handlers.archive.handler"
DEFAULT_EVERY_SECONDS: Final = 3600

_TIMEOUT: Final = Duration.minutes(15)
_MEMORY_MIB: Final = 1024
"""Eighty messages of 1 MiB at once, as received and as stored."""

_LEAST_EVERY_SECONDS: Final = 15 * 60
_MOST_EVERY_SECONDS: Final = DAY // 2
_PERIODS: Final = 2
_LIFE_DAYS: Final = 3
_HOUR: Final = 3600

_ERRORS: Final = Rule(
    threshold=2,
    datapoints=1,
    periods=_PERIODS,
    period_seconds=_HOUR,
    what_to_do="The function that looks after the DLQ fails again and again: dead letters are neither measured nor "
    "archived. Read its log for the newest error.",
)
_THROTTLES: Final = Rule(
    threshold=1,
    datapoints=1,
    periods=_PERIODS,
    period_seconds=_HOUR,
    what_to_do="Lambda has no room for the function that looks after the DLQ: the account's concurrency is used up.",
)
_NOT_RUN: Final = Rule(
    threshold=1,
    datapoints=1,
    periods=1,
    period_seconds=300,
    what_to_do="A scheduled run that looks after the DLQ never ran, or failed to the end. Look at the function's log, "
    "mend the cause, and empty the queue of undelivered runs: the next scheduled run makes up for all of them.",
)


class SampledQueue(Protocol):
    """A queue whose dead letters can be looked at, such as `MessageQueue`."""

    @property
    def dead_letter_queue(self) -> sqs.IQueue | None:
        """Its DLQ; None on a FIFO queue that blocks."""


class SampledInbox(Protocol):
    """The inbox of the consumer, such as `InboxTable`."""

    @property
    def table(self) -> dynamodb.ITable:
        """The table."""

    @property
    def ttl_text(self) -> str:
        """The retention plan's sum, seconds, as text."""


class DlqSampler(Construct):
    """Measures what no metric of AWS's tells of dead letters, and finds work that is stuck (R5.3, R12.1).

    On a schedule a function receives what lies in the DLQ, makes it visible again, and emits how old the oldest dead
    letter is, how many there are of each reason, and how long the first payload of theirs has yet to live. Beside it,
    it counts the inbox's rows that nobody finishes: on FIFO, a group may wait behind each. While it runs, for seconds,
    the dead letters are hidden; their receive counts grow, which moves nothing: a DLQ has no redrive policy.

    `DlqArchive` has one of these, which archives besides.

    Attributes:
        sampler: The function construct.
        function: Its Lambda function.
        schedule: What invokes it.
        every: How often it runs.
        undelivered: Keeps the runs that EventBridge or Lambda gave up.
        alarms: Every alarm by its id.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        queue: SampledQueue,
        consumer_name: str,
        inbox: SampledInbox | None = None,
        every: Duration | None = None,
        stuck_after: Duration | None = None,
        handler_package: Path | None = None,
        encryption_key: kms.IKey | None = None,
        alarm_topic: sns.ITopic | None = None,
        tracing: bool = True,
        log_retention: logs.RetentionDays = logs.RetentionDays.ONE_MONTH,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Make the function and its schedule.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            queue: The queue whose DLQ is looked at. One that blocks has none: then only the inbox is looked at.
            consumer_name: Whose dead letters and inbox rows these are: the dimension of the metrics.
            inbox: The consumer's inbox. By default it is not looked at, and how long payloads live is not known.
            every: How often it runs, whole minutes, 15 minutes to 12 hours. By default every hour.
            stuck_after: How long ago a lease must have ended, or an attempt failed, for work to count as stuck. By
                default one hour.
            handler_package: The package of the pipeline's handler, so that the functions share one asset. By default
                the asset holds the library alone.
            encryption_key: Customer key of the queue of undelivered runs. By default SQS's own.
            alarm_topic: Told when an alarm rings and when it is over. By default nobody is told.
            tracing: Whether X-Ray samples invocations. By default it does.
            log_retention: How long logs are kept. By default one month.
            removal_policy: What happens to logs and the queue of undelivered runs when they leave the stack. By default
                they stay.

        Raises:
            InvalidSettingsError: Settings are wrong; the message lists all of them.
        """
        super().__init__(scope, construct_id)
        every_seconds = DEFAULT_EVERY_SECONDS if every is None else known_seconds(every)
        stuck_seconds = DEFAULT_STUCK_SECONDS if stuck_after is None else known_seconds(stuck_after)
        self._check(queue, consumer_name, inbox, every_seconds, stuck_seconds)
        self.every = Duration.seconds(every_seconds or DEFAULT_EVERY_SECONDS)
        self.undelivered = undelivered_queue(
            self, "Undelivered", encryption_key=encryption_key, removal_policy=removal_policy
        )
        self.sampler = ClaimCheckFunction(
            self,
            "Function",
            handler=DEAD_LETTERS_HANDLER,
            handler_package=handler_package,
            environment=_environment(queue.dead_letter_queue, consumer_name, inbox, stuck_seconds),
            timeout=_TIMEOUT,
            memory_size_mib=_MEMORY_MIB,
            tracing=tracing,
            dead_letter_queue=self.undelivered,
            log_retention=log_retention,
            removal_policy=removal_policy,
        )
        self.function: lambda_.Function = self.sampler.function
        if encryption_key is not None:  # Lambda tells what it gave up under the function's own role
            encryption_key.grant(self.sampler, "kms:Decrypt", "kms:GenerateDataKey")
        if queue.dead_letter_queue is not None:
            grant_dead_letters(self.sampler, queue.dead_letter_queue, "ChangeMessageVisibility", "ReceiveMessage")
        if inbox is not None:
            _grant_open_rows(self.sampler, inbox.table)
        self.schedule = EventRule(
            self,
            "Schedule",
            every=self.every,
            function=self.function,
            dead_letter_queue=self.undelivered,
            retry_for=self.every,
            description=f"Looks after the dead letters of {known(consumer_name) or 'a consumer'}.",
        )
        self._alarm_set = AlarmSet(Construct(self, "Alarms"), service=consumer_name, topic=alarm_topic)
        self.alarms: Mapping[str, cloudwatch.Alarm] = self._alarm_set.alarms
        self._watch(has_dlq=queue.dead_letter_queue is not None, has_inbox=inbox is not None)

    def rule(
        self,
        *,
        threshold: float,
        what_to_do: str,
        falling: bool = False,
        datapoints: int = 1,
        silence_rings: bool = False,
    ) -> Rule:
        """A rule for what is measured once a run: looks at two periods, each long enough for a run.

        Args:
            threshold: Rings at this value and beyond it.
            what_to_do: For who gets the alarm.
            falling: Whether small values are the bad ones.
            datapoints: How many of the periods must be bad.
            silence_rings: Whether a period without a run is a bad one.
        """
        return Rule(
            threshold=threshold,
            datapoints=datapoints,
            periods=_PERIODS,
            period_seconds=max(_HOUR, -(-int(self.every.to_seconds()) // _HOUR) * _HOUR),
            what_to_do=what_to_do,
            falling=falling,
            silence_rings=silence_rings,
        )

    def _watch(self, *, has_dlq: bool, has_inbox: bool) -> None:
        self._alarm_set.add_function(self.function, prefix="DeadLetter", errors=_ERRORS, throttles=_THROTTLES)
        waiting = self.undelivered.metric_approximate_number_of_messages_visible(
            period=_NOT_RUN.period, statistic="Maximum"
        )
        self._alarm_set.add("UndeliveredRuns", waiting, _NOT_RUN)
        if not has_inbox:
            return
        stuck = self.rule(
            threshold=1,
            datapoints=_PERIODS,
            what_to_do="Work was begun, and nobody goes on with it: rows of the inbox whose lease ended, or whose last "
            "attempt failed, long ago. On FIFO the message group behind each may wait. Find them among the open rows "
            "of the inbox.",
        )
        self._alarm_set.add_own("StuckWork", Metric.STUCK_WORK, "Maximum", stuck)
        if has_dlq:
            life = self.rule(
                threshold=_LIFE_DAYS,
                falling=True,
                what_to_do=f"The payload of a dead letter has at most {_LIFE_DAYS} days to live: after that its "
                "message cannot be processed any more. Redrive it now, or decide that it is lost.",
            )
            self._alarm_set.add_own("DeadLetterLife", Metric.DEAD_LETTER_LIFE_LEFT, "Minimum", life)

    def _check(
        self,
        queue: SampledQueue,
        consumer_name: str,
        inbox: SampledInbox | None,
        every: int | None,
        stuck: int | None,
    ) -> None:
        mistakes = Mistakes(describe(self))
        mistakes.require(
            known(consumer_name) is None or is_name(consumer_name),
            "consumer_name",
            repr(consumer_name),
            "must be 1 to 128 of A-Z a-z 0-9 . _ -",
            "take the pipeline's consumer_name",
        )
        mistakes.require(
            queue.dead_letter_queue is not None or inbox is not None,
            "queue",
            "without a dead-letter queue",
            "leaves nothing to look at without an inbox",
            "pass inbox, or a queue with a DLQ",
        )
        for name, seconds in (("every", every), ("stuck_after", stuck)):
            mistakes.require(seconds is not None, name, "a token", "must be known at synth", "give a literal Duration")
        mistakes.require_range(
            "every", every, low=_LEAST_EVERY_SECONDS, high=_MOST_EVERY_SECONDS, unit="s", way_out="leave it out"
        )
        mistakes.require(
            every is None or every % 60 == 0, "every", f"{every} s", "must be whole minutes", "round it up"
        )
        mistakes.require_range("stuck_after", stuck, low=60, high=14 * DAY, unit="s", way_out="leave it out")
        mistakes.raise_all()


def grant_dead_letters(grantee: iam.IGrantable, dlq: sqs.IQueue, *actions: str) -> iam.Grant:
    """Allow actions on a DLQ, and decrypting its messages.

    Args:
        grantee: Who.
        dlq: The DLQ.
        actions: Without ``sqs:``.
    """
    grant = dlq.grant(grantee, *(f"sqs:{action}" for action in actions))
    key = dlq.encryption_master_key
    return grant if key is None else grant.combine(key.grant(grantee, "kms:Decrypt"))


def _grant_open_rows(grantee: iam.IGrantable, table: dynamodb.ITable) -> None:
    iam.Grant.add_to_principal(
        grantee=grantee,
        actions=["dynamodb:Query"],
        resource_arns=[f"{table.table_arn}/index/{INBOX_OPEN_INDEX}"],
    )
    if table.encryption_key is not None:
        table.encryption_key.grant(grantee, "kms:Decrypt", "kms:DescribeKey")


def _environment(
    dlq: sqs.IQueue | None, consumer_name: str, inbox: SampledInbox | None, stuck: int | None
) -> dict[str, str]:
    found = {Setting.CONSUMER: consumer_name, Setting.STUCK_AFTER: str(stuck)}
    if dlq is not None:
        found[Setting.DLQ_URL] = dlq.queue_url
    if inbox is not None:
        found[Setting.INBOX_TABLE] = inbox.table.table_name
        found[Setting.INBOX_TTL] = inbox.ttl_text
    return found
