"""The alarms that want a person, each with what to do in its description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Protocol

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from claim_check.contract import ErrorCode, Metric
from claim_check_cdk.alarm_rules import FUNCTION_ERRORS, FUNCTION_THROTTLES, PERIOD_SECONDS, AlarmSet, Rule
from claim_check_cdk.retention import RetentionPlan, format_seconds
from claim_check_cdk.validation import Mistakes, describe, known_seconds

_HALF_HOUR: Final = 30
"""Minutes; a message that blocks its group is tried again within a quarter of an hour (`contract.Backoff.cap`)."""

_ERROR_RULES: Final = {
    "AccessDenied": (
        ErrorCode.ACCESS_DENIED,
        Rule(
            threshold=1,
            datapoints=1,
            periods=15,
            what_to_do="S3 refused a payload: the consumer's role, the bucket policy or the key policy is wrong. "
            "Messages are being parked. Compare the role with PayloadBucket.grant_read, fix it, then redrive the DLQ.",
        ),
    ),
    "MissingPayload": (
        ErrorCode.MISSING_PAYLOAD,
        Rule(
            threshold=1,
            datapoints=1,
            periods=15,
            what_to_do="A message points at an object that is gone. Look who deleted it (lifecycle, person, other "
            "job), and whether a queue is missing from PayloadBucket.retain_for. Restore the object, or have the event "
            "published anew.",
        ),
    ),
    "ChecksumMismatch": (
        ErrorCode.CHECKSUM_MISMATCH,
        Rule(
            threshold=1,
            datapoints=1,
            periods=15,
            what_to_do="A payload's bytes are not those that were published. Treat it as tampering until proven "
            "otherwise: find the writer in the access logs, keep the object, and have the event published anew.",
        ),
    ),
}


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
    metric, since SQS omits what was received three times or more.

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
        blocking_queue: BlockingQueue | None = None,
        max_age: Duration | None = None,
        topic: sns.ITopic | None = None,
    ) -> None:
        """Make the alarms.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            service: The consumer's name, the dimension of its metrics.
            function: The consumer's function.
            dead_letter_queue: Its DLQ; None for a FIFO queue that blocks.
            blocking_queue: The FIFO queue that blocks (R5.1): alarms on a blocked group, and at half of its retention,
                since what expires there is lost in silence. By default the queue has a DLQ, and needs neither.
            max_age: How old a message may be when it is received. By default one hour.
            topic: Told when an alarm rings and when it is over. By default nobody is told.

        Raises:
            InvalidSettingsError: ``max_age`` is out of range.
        """
        super().__init__(scope, construct_id)
        self._set = AlarmSet(self, service=service, topic=topic)
        self.alarms: Mapping[str, cloudwatch.Alarm] = self._set.alarms
        seconds = known_seconds(max_age) if max_age else 3600
        mistakes = Mistakes(describe(self))
        mistakes.require_range(
            "max_age", seconds, low=PERIOD_SECONDS, high=14 * 86_400, unit="s", way_out="leave it out"
        )
        mistakes.raise_all()
        if dead_letter_queue is not None:
            self._watch_dead_letters(dead_letter_queue)
        if blocking_queue is not None:
            self._watch_blocked_groups(blocking_queue)
        self._watch_age(seconds if seconds is not None else 3600)
        self._watch_function(function)
        for alarm_id, (code, rule) in _ERROR_RULES.items():
            self._set.add_own(alarm_id, code, "Sum", rule)

    def _watch_dead_letters(self, queue: sqs.IQueue) -> None:
        metric = queue.metric_approximate_number_of_messages_visible(
            period=Duration.seconds(PERIOD_SECONDS), statistic="Maximum"
        )
        self._set.add(
            "DeadLetters",
            metric,
            Rule(
                threshold=1,
                datapoints=2,
                periods=3,
                what_to_do="Messages wait in the dead-letter queue. Sample it, group by the reason in the attribute "
                "'parked', fix the cause, then redrive a few and watch.",
            ),
        )

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
        age = blocking.queue.metric_approximate_age_of_oldest_message(
            period=Duration.seconds(PERIOD_SECONDS), statistic="Maximum"
        )
        self._set.add_own("GroupBlocked", Metric.GROUP_BLOCKED, "Sum", _GROUP_BLOCKED)
        self._set.add_own("HalfOfRetention", Metric.MESSAGE_AGE, "Maximum", found)
        self._set.add("QueueAge", age, waiting)

    def _watch_age(self, seconds: float) -> None:
        self._set.add_own(
            "WorkAge",
            Metric.MESSAGE_AGE,
            "Maximum",
            Rule(
                threshold=seconds,
                datapoints=3,
                periods=5,
                what_to_do="Messages are worked on late. Look for retries (lastCode of open inbox rows), throttles, "
                "and too low a maximum concurrency.",
            ),
        )

    def _watch_function(self, function: lambda_.IFunction) -> None:
        self._set.add_function(function, errors=_FUNCTION_ERRORS, throttles=_FUNCTION_THROTTLES)
