"""The alarms of an ingest that want a person (R10.3, R12.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from claim_check.contract import ErrorCode, Metric
from claim_check_cdk.alarm_rules import PERIOD_SECONDS, AlarmSet, Rule, table_metric
from claim_check_cdk.validation import Mistakes, describe, known_seconds

_HOUR: Final = 3600
_QUARTER: Final = 15

_DIFFERENCES: Final = Rule(
    threshold=1,
    datapoints=1,
    periods=24,
    period_seconds=_HOUR,
    what_to_do="The reconciliation found objects that the ledger does not know as they are: notifications were lost. "
    "They are being ingested now from synthetic events. Look why: a notification configuration that somebody changed, "
    "a queue or key policy, messages that were purged, or a bucket that was there before the ingest.",
)
_LEDGER_THROTTLES: Final = Rule(
    threshold=1,
    datapoints=3,
    periods=5,
    what_to_do="DynamoDB throttles writes of ledger rows or of the handler's own: events wait, and nothing is lost. "
    "Lower max_concurrency, or look for a key of the handler's table that every event writes.",
)
_LEDGER_CONFLICTS: Final = Rule(
    threshold=100,
    datapoints=5,
    periods=15,
    informs=True,
    what_to_do="Many events of the same objects are worked on at the same time; each is decided anew, and nothing is "
    "lost. If it stays so, ingest through EventBridge into a FIFO queue.",
)
_DEAD_LETTERS: Final = Rule(
    threshold=1,
    datapoints=2,
    periods=3,
    what_to_do="Notifications wait in the dead-letter queue. Sample it, group by the reason in the attribute 'parked', "
    "fix the cause, then redrive: the ledger lets nothing old overtake what is newer.",
)
_UNDELIVERED: Final = Rule(
    threshold=1,
    datapoints=2,
    periods=3,
    what_to_do="EventBridge or the forwarder gave up on events: a policy, a key, or an outage. They wait as they were. "
    "Fix the cause, then send them to the ingest's queue; or let the reconciliation find what they meant.",
)
_NOT_RECONCILED: Final = Rule(
    threshold=1,
    datapoints=2,
    periods=3,
    what_to_do="Invocations of the reconciliation failed to the end. Read its log for the newest error; the next "
    "invocation goes on where the last one stopped. Then purge the queue of these invocations.",
)
_ACCESS_DENIED: Final = Rule(
    threshold=1,
    datapoints=1,
    periods=_QUARTER,
    what_to_do="S3 refused an object: the ingester's role, the bucket's policy or its key's policy is wrong. "
    "Notifications are being parked. Fix it, then redrive the DLQ.",
)
_UNKNOWN: Final = Rule(
    threshold=1,
    datapoints=1,
    periods=_QUARTER,
    informs=True,
    what_to_do="S3 sent kinds of events that this version does not know; they were acknowledged. The next "
    "reconciliation finds what they meant. Look for a newer version.",
)


class IngestAlarms(Construct):
    """Alarms on an ingest: its queue, functions, ledger and reconciliation.

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
        ledger_table: dynamodb.ITable,
        dead_letter_queue: sqs.IQueue | None = None,
        reconciler: lambda_.IFunction | None = None,
        reconciler_failures: sqs.IQueue | None = None,
        forwarder: lambda_.IFunction | None = None,
        undelivered: sqs.IQueue | None = None,
        max_age: Duration | None = None,
        topic: sns.ITopic | None = None,
    ) -> None:
        """Make the alarms.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            service: The ingest's name, the dimension of its metrics.
            function: The ingester's function.
            ledger_table: Its ledger.
            dead_letter_queue: Its DLQ. By default it has none.
            reconciler: The function that compares. By default there is none.
            reconciler_failures: Keeps that function's failed invocations.
            forwarder: The function between EventBridge and a FIFO queue. By default there is none.
            undelivered: Keeps what EventBridge or the forwarder gave up.
            max_age: How old a notification may be when it is received. By default one hour.
            topic: Told when an alarm rings and when it is over. By default nobody is told.

        Raises:
            InvalidSettingsError: ``max_age`` is out of range.
        """
        super().__init__(scope, construct_id)
        self._set = AlarmSet(self, service=service, topic=topic)
        self.alarms: Mapping[str, cloudwatch.Alarm] = self._set.alarms
        seconds = known_seconds(max_age) if max_age else _HOUR
        mistakes = Mistakes(describe(self))
        mistakes.require_range(
            "max_age", seconds, low=PERIOD_SECONDS, high=14 * 86_400, unit="s", way_out="leave it out"
        )
        mistakes.raise_all()
        self._watch_work(_HOUR if seconds is None else seconds)
        self._watch_ledger(ledger_table)
        self._watch_functions({"": function, "Reconciler": reconciler, "Forwarder": forwarder})
        queues = (
            ("IngestDeadLetters", dead_letter_queue, _DEAD_LETTERS),
            ("UndeliveredEvents", undelivered, _UNDELIVERED),
            ("ReconcilerFailures", reconciler_failures, _NOT_RECONCILED),
        )
        for alarm_id, queue, rule in queues:
            if queue is not None:
                visible = queue.metric_approximate_number_of_messages_visible(period=rule.period, statistic="Maximum")
                self._set.add(alarm_id, visible, rule)
        if reconciler is not None:
            self._set.add_own("IngestDifferences", Metric.INGEST_DIFFERENCES, "Sum", _DIFFERENCES)

    def _watch_work(self, seconds: float) -> None:
        late = Rule(
            threshold=seconds,
            datapoints=3,
            periods=5,
            what_to_do="Notifications are worked on late. Look for handlers that fail, for throttles, and for too low "
            "a maximum concurrency.",
        )
        self._set.add_own("IngestAge", Metric.MESSAGE_AGE, "Maximum", late)
        self._set.add_own("IngestAccessDenied", ErrorCode.ACCESS_DENIED, "Sum", _ACCESS_DENIED)
        self._set.add_own("UnknownEvents", Metric.INGEST_UNKNOWN, "Sum", _UNKNOWN)

    def _watch_ledger(self, table: dynamodb.ITable) -> None:
        self._set.add("LedgerThrottles", table_metric(table, "WriteThrottleEvents", "Sum"), _LEDGER_THROTTLES)
        self._set.add_own("LedgerConflicts", Metric.INGEST_CONFLICTS, "Sum", _LEDGER_CONFLICTS)

    def _watch_functions(self, functions: Mapping[str, lambda_.IFunction | None]) -> None:
        for prefix, function in functions.items():
            if function is not None:
                self._set.add_function(function, prefix=prefix)
