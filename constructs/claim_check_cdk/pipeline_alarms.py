"""The alarms that want a person, each with what to do in its description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Protocol

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from claim_check.contract import SQS_MAX_IN_FLIGHT, SQS_MAX_RETENTION_SECONDS, Metric
from claim_check_cdk.alarm_codes import ALARMED_CODES
from claim_check_cdk.alarm_rules import (
    FUNCTION_ERRORS,
    FUNCTION_THROTTLES,
    PERIOD_SECONDS,
    AlarmSet,
    Rule,
    table_metric,
)
from claim_check_cdk.pointer_life import retention_of
from claim_check_cdk.retention import DAY, HOUR, RetentionPlan, format_seconds
from claim_check_cdk.validation import Mistakes, describe, known_seconds

_HALF_HOUR: Final = 30
"""Minutes; a message that blocks its group is tried again within a quarter of an hour (`contract.Backoff.cap`)."""

_QUARTER: Final = 15
_UNREAD: Final = 1.5
"""The queue's own age rings that many times later than the consumer's: it matters only if the consumer is silent."""

_IN_FLIGHT_SHARE: Final = 0.8

_DEAD_LETTERS: Final = Rule(
    threshold=1,
    datapoints=2,
    periods=3,
    what_to_do="Messages wait in the dead-letter queue. Sample it, group by the reason in the attribute "
    "'parked', fix the cause, then redrive a few and watch.",
)
_IN_FLIGHT: Final = Rule(
    threshold=_IN_FLIGHT_SHARE * SQS_MAX_IN_FLIGHT,
    datapoints=3,
    periods=5,
    what_to_do=f"The queue holds nearly as many received, undeleted messages as SQS allows ({SQS_MAX_IN_FLIGHT:,}); "
    "beyond that nobody can receive. Look for handlers that hang or fail slowly; lower the maximum concurrency, and do "
    "not start another redrive.",
)
_INBOX_THROTTLES: Final = Rule(
    threshold=1,
    datapoints=3,
    periods=5,
    what_to_do="DynamoDB throttles writes of inbox rows: messages wait, no attempt is spent. Lower the maximum "
    "concurrency or stop a redrive; a table that was idle doubles what it takes within minutes. Look for a limit of "
    "the table's or the account's own.",
)
_REDRIVE_RUNNING: Final = Rule(
    threshold=1,
    datapoints=1,
    periods=_QUARTER,
    informs=True,
    what_to_do="Messages that were in the dead-letter queue are being received again. This informs, and calls nobody: "
    "read the other alarms and the graphs with it in mind.",
)
_GROUP_BLOCKED: Final = Rule(
    threshold=1,
    datapoints=1,
    periods=_HALF_HOUR,
    what_to_do="A message that cannot succeed holds up its message group while the other groups go on. Find it in the "
    "log (its errorCode, messageId and domain ids) or among the open inbox rows, and fix the cause: the group then "
    "goes on by itself within 15 minutes, in order. Do it before the queue's retention ends, which deletes messages.",
)
_FUNCTION_ERRORS: Final = replace(
    FUNCTION_ERRORS,
    what_to_do="The function itself fails: a crash, a timeout, or every record of a batch met an outage of S3, SQS or "
    "DynamoDB. Read its log for the newest error.",
)
_FUNCTION_THROTTLES: Final = replace(
    FUNCTION_THROTTLES,
    what_to_do="Lambda has no room for the function: the account's concurrency is used up, or reserved concurrency is "
    "below the mapping's maximum. Throttled receives count towards maxReceiveCount.",
)


class BlockingQueue(Protocol):
    """A FIFO queue without a DLQ, such as a `MessageQueue` with ``on_poison="block"``."""

    @property
    def queue(self) -> sqs.IQueue:
        """The queue itself."""

    def retention_plan(self) -> RetentionPlan:
        """Of which the queue's own retention is one term."""


class PipelineAlarms(Construct):
    """Alarms on one consumer and its queue (R12.1).

    Every alarm counts minutes out of a window, so that one data point more or less does not make it flap, and treats
    missing data as good: an idle queue and an idle function emit none. The age of work comes from the consumer's own
    metric, since SQS omits what was received three times or more. Codes of errors ring by `alarm_codes`.

    Attributes:
        alarms: Every alarm by its id.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        service: str,
        function: lambda_.IFunction,
        dead_letter_queue: sqs.IQueue | None,
        queue: sqs.IQueue | None = None,
        blocking_queue: BlockingQueue | None = None,
        inbox_table: dynamodb.ITable | None = None,
        max_age: Duration | None = None,
        least_payload_life: Duration | None = None,
        topic: sns.ITopic | None = None,
    ) -> None:
        """Make the alarms.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            service: The consumer's name, the dimension of its metrics.
            function: The consumer's function.
            dead_letter_queue: Its DLQ; None for a FIFO queue that blocks.
            queue: The queue it reads: its age and its messages in flight ring, too. By default they do not.
            blocking_queue: The FIFO queue that blocks (R5.1): alarms on a blocked group, and at half of its retention,
                since what expires there is lost in silence. By default the queue has a DLQ, and needs neither.
            inbox_table: The consumer's inbox: its throttled writes ring, too. By default they do not.
            max_age: How old a message may be when it is received. By default one hour.
            least_payload_life: How much of its life a payload that is fetched must have left; by a retention plan that
                holds it never has less. By default as long as the DLQ keeps a message (14 days if that is not known),
                and without a DLQ one day.
            topic: Told when an alarm rings and when it is over. By default nobody is told.

        Raises:
            InvalidSettingsError: ``max_age`` or ``least_payload_life`` is out of range.
        """
        super().__init__(scope, construct_id)
        self._set = AlarmSet(self, service=service, topic=topic)
        self.alarms: Mapping[str, cloudwatch.Alarm] = self._set.alarms
        age, life = known_seconds(max_age), known_seconds(least_payload_life)
        mistakes = Mistakes(describe(self))
        mistakes.require_range(
            "max_age", age, low=PERIOD_SECONDS, high=SQS_MAX_RETENTION_SECONDS, unit="s", way_out="leave it out"
        )
        mistakes.require_range(
            "least_payload_life", life, low=HOUR, high=36_500 * DAY, unit="s", way_out="leave it out"
        )
        mistakes.raise_all()
        age = HOUR if age is None else age
        if dead_letter_queue is not None:
            self._watch_dead_letters(dead_letter_queue)
        if blocking_queue is not None:
            self._watch_blocked_groups(blocking_queue)
        self._watch_age(age)
        self._set.add_function(function, errors=_FUNCTION_ERRORS, throttles=_FUNCTION_THROTTLES)
        for code, rule in ALARMED_CODES.items():
            self._set.add_own(code, code, "Sum", rule)
        self._watch_payload_life(_least_life(dead_letter_queue) if life is None else life)
        self._set.add_own("RedriveRunning", Metric.REDRIVEN, "Sum", _REDRIVE_RUNNING)
        if queue is not None:
            self._watch_queue(queue, None if blocking_queue is not None else age)
        if inbox_table is not None:
            metric = table_metric(inbox_table, "WriteThrottleEvents", "Sum")
            self._set.add("InboxThrottles", metric, _INBOX_THROTTLES)

    def _watch_dead_letters(self, queue: sqs.IQueue) -> None:
        metric = queue.metric_approximate_number_of_messages_visible(
            period=Duration.seconds(PERIOD_SECONDS), statistic="Maximum"
        )
        self._set.add("DeadLetters", metric, _DEAD_LETTERS)

    def _watch_blocked_groups(self, blocking: BlockingQueue) -> None:
        retention = blocking.retention_plan().source
        expiry = (
            f"Half of the queue's retention of {format_seconds(retention)} is over for its oldest message. There is no "
            "dead-letter queue: what expires is lost, and its group goes on without it. "
        )
        found = Rule(
            threshold=retention // 2,
            datapoints=1,
            periods=_HALF_HOUR,
            what_to_do=expiry + "The consumer still tries it: fix what the alarm GroupBlocked tells, or lengthen the "
            "retention of the queue now, which also holds for the messages in it.",
        )
        waiting = Rule(
            threshold=retention // 2,
            datapoints=3,
            periods=5,
            what_to_do=expiry + "If the consumer's own metrics are silent, it does not read the queue at all: look at "
            "the event source mapping and the function, and lengthen the retention of the queue meanwhile.",
        )
        self._set.add_own("GroupBlocked", Metric.GROUP_BLOCKED, "Sum", _GROUP_BLOCKED)
        self._set.add_own("HalfOfRetention", Metric.MESSAGE_AGE, "Maximum", found)
        self._watch_queue_age(blocking.queue, waiting)

    def _watch_queue(self, queue: sqs.IQueue, age: int | None) -> None:
        in_flight = queue.metric_approximate_number_of_messages_not_visible(
            period=Duration.seconds(PERIOD_SECONDS), statistic="Maximum"
        )
        self._set.add("InFlight", in_flight, _IN_FLIGHT)
        if age is None:  # half of its retention rings
            return
        unread = Rule(
            threshold=int(_UNREAD * age),
            datapoints=3,
            periods=5,
            what_to_do="The oldest message in the queue is old by SQS's own metric. If the alarm WorkAge rings too, "
            "work is only late. If it does not, nobody reads the queue at all: look at the event source mapping "
            "(disabled?) and the function.",
        )
        self._watch_queue_age(queue, unread)

    def _watch_queue_age(self, queue: sqs.IQueue, rule: Rule) -> None:
        age = queue.metric_approximate_age_of_oldest_message(period=rule.period, statistic="Maximum")
        self._set.add("QueueAge", age, rule)

    def _watch_age(self, seconds: float) -> None:
        rule = Rule(
            threshold=seconds,
            datapoints=3,
            periods=5,
            what_to_do="Messages are worked on late. Look for retries (lastCode of open inbox rows), throttles, "
            "and too low a maximum concurrency.",
        )
        self._set.add_own("WorkAge", Metric.MESSAGE_AGE, "Maximum", rule)

    def _watch_payload_life(self, seconds: int) -> None:
        rule = Rule(
            threshold=seconds / DAY,
            datapoints=1,
            periods=_QUARTER,
            falling=True,
            what_to_do=f"A payload was fetched with at most {format_seconds(seconds)} of its life left, less than the "
            "retention plan foresees: parked now, its message could outlive it. Look whether messages are redriven "
            "more often than planned, lay outside the queues, or the bucket's lifecycle was changed by hand.",
        )
        self._set.add_own("PayloadLife", Metric.PAYLOAD_LIFE_LEFT, "Minimum", rule)


def _least_life(dead_letter_queue: sqs.IQueue | None) -> int:
    if dead_letter_queue is None:
        return DAY
    return max(DAY, retention_of(dead_letter_queue) or SQS_MAX_RETENTION_SECONDS)
