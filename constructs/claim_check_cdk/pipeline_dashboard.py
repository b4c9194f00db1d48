"""One screen that answers: is it healthy, and if not, where (R12.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from claim_check.contract import (
    ERROR_CODES,
    INBOX_OPEN_INDEX,
    OTHER_REASON,
    ErrorCode,
    Metric,
    dead_letter_metric,
    producer_service,
)
from claim_check_cdk.alarm_rules import metric, own_metric, table_metric
from claim_check_cdk.service_dashboard import COLUMNS, ServiceDashboard, WatchedAlarms
from claim_check_cdk.validation import Mistakes, describe

_SAMPLED: Final = Duration.hours(1)
"""Period of what is measured on a schedule."""

_OF_OTHERS: Final = frozenset({ErrorCode.INVALID_NOTIFICATION, ErrorCode.ALREADY_STAGED, ErrorCode.OUTBOX_FULL})
"""Codes that no consumer of events counts."""

_GUIDE: Final = """\
**{service}: is it healthy?** All alarms green, *Dead* flat at 0, *Age* flat: yes.

**If not, where?** Read the graphs from left to right: the first one that changed its shape is the place.
In fell: producers. Queue grows: consumers. Dead grows: look at Errors by code.
Fetch is slow: S3. Conflicts, throttles: the tables.

A ringing alarm says what to do; so does the {runbook}. *Redriven* is work from the dead-letter queue.
"""


class WatchedQueue(Protocol):
    """A queue with its DLQ, such as `MessageQueue`."""

    @property
    def queue(self) -> sqs.IQueue:
        """The source queue."""

    @property
    def dead_letter_queue(self) -> sqs.IQueue | None:
        """Its DLQ, if it has one."""


class WatchedBucket(Protocol):
    """A bucket of payloads, such as `PayloadBucket`; one that has a ``request_metrics_id`` shows S3's own metrics."""

    @property
    def bucket(self) -> s3.IBucket:
        """The bucket itself."""


class WatchedInbox(Protocol):
    """An inbox, such as `InboxTable`."""

    @property
    def table(self) -> dynamodb.ITable:
        """The table."""


class WatchedPipeline(Protocol):
    """A consumer with all that belongs to it, such as `ClaimCheckPipeline`."""

    @property
    def consumer_name(self) -> str:
        """The dimension of its metrics."""

    @property
    def function(self) -> lambda_.IFunction:
        """Its function."""

    @property
    def queue(self) -> WatchedQueue:
        """What it reads."""

    @property
    def bucket(self) -> WatchedBucket:
        """Where its payloads are."""

    @property
    def inbox(self) -> WatchedInbox:
        """What it remembers."""

    @property
    def alarms(self) -> WatchedAlarms:
        """What rings."""


class PipelineDashboard(ServiceDashboard):
    """A CloudWatch dashboard of one pipeline: alarms, flow, work, payloads, errors, tables (R12.1).

    Read it from the top: an alarm that rings names the trouble; the first row of graphs whose shape has changed says
    where it is. Constructs that stand beside the pipeline add rows and alarms of their own.

    Attributes:
        dashboard: The dashboard.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        pipeline: WatchedPipeline,
        publishers: Sequence[str] | None = None,
        tables: Mapping[str, dynamodb.ITable] | None = None,
        dashboard_name: str | None = None,
        period: Duration | None = None,
    ) -> None:
        """Make the dashboard.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            pipeline: What is watched.
            publishers: Names under which its producers emit their metrics. By default that of `ProducerFunction`.
            tables: The tables that its handler writes, by a title. By default none but the inbox is shown.
            dashboard_name: Its name, the same in all Regions of an account. By default CloudFormation gives it one.
            period: Of each data point. By default a minute.

        Raises:
            InvalidSettingsError: A table has no title.
        """
        super().__init__(
            scope,
            construct_id,
            service=pipeline.consumer_name,
            alarms=pipeline.alarms.alarms,
            guide=_GUIDE,
            dashboard_name=dashboard_name,
            period=period,
        )
        mistakes = Mistakes(describe(self))
        mistakes.require(
            all((tables or {}).keys()), "tables", "''", "must have a title for each table", 'write {"orders": table}'
        )
        mistakes.raise_all()
        self._pipeline = pipeline
        self.add_row("Flow: in, waiting, done, dead", self._flow(publishers or [producer_service(self._service)]))
        self.add_row("Work", self._work())
        self.add_row("Payloads", self._payloads())
        self.add_row("Errors", self._errors())
        self._add_table("inbox", pipeline.inbox.table, index=INBOX_OPEN_INDEX)
        for title, table in (tables or {}).items():
            self._add_table(title, table)

    def add_dead_letters(self, watch: WatchedAlarms, *, archived: bool = False) -> None:
        """Add a row of what is sampled from the DLQ and the inbox, and the alarms on it.

        Args:
            watch: What samples them, such as `DlqSampler` or `DlqArchive`.
            archived: Whether it archives, too.
        """
        self.add_alarms(watch.alarms.values())
        reasons = [*sorted(ERROR_CODES - _OF_OTHERS), OTHER_REASON]
        letters = [self._sampled(dead_letter_metric(code), code) for code in reasons]
        age = [self._sampled(Metric.OLDEST_DEAD_LETTER, "oldest, s")]
        life = [self._sampled(Metric.DEAD_LETTER_LIFE_LEFT, "days of payload life left, least", "Minimum")]
        rest = [self._sampled(Metric.STUCK_WORK, "stuck rows of the inbox")]
        if archived:
            rest.append(self._sampled(Metric.ARCHIVED_LETTERS, "archived", "Sum"))
            rest.append(self._sampled(Metric.ARCHIVE_FAILED, "not archived", "Sum"))
        self.add_row(
            "Dead letters, as sampled",
            [
                self.graph("By reason", letters, stacked=True),
                self.graph("Age", age),
                self.graph("Life left", life),
                self.graph("Stuck work, and the archive" if archived else "Stuck work", rest),
            ],
        )

    # --- Rows -------------------------------------------------------------------------------------------------------

    def _flow(self, publishers: Sequence[str]) -> list[cloudwatch.IWidget]:
        queue, dead = self._pipeline.queue.queue, self._pipeline.queue.dead_letter_queue
        published = [self._of(name, Metric.PUBLISHED, f"published by {name}") for name in publishers]
        failed = [self._of(name, Metric.PUBLISH_FAILED, f"not published by {name}") for name in publishers]
        waiting = [
            self._of_queue(queue, "ApproximateNumberOfMessagesVisible", "waiting"),
            self._of_queue(queue, "ApproximateNumberOfMessagesNotVisible", "in flight, or hidden until a retry"),
            self._of_queue(queue, "ApproximateNumberOfMessagesDelayed", "delayed"),
        ]
        done = [self._own(Metric.PROCESSED, "processed"), self._own(Metric.DUPLICATE, "duplicates")]
        blocked = self._own(Metric.GROUP_BLOCKED, "attempts in a blocked group")
        lost = [self._own(Metric.PARKED, "parked with their reason")] if dead else [blocked]
        if dead is not None:
            lost.append(self._of_queue(dead, "ApproximateNumberOfMessagesVisible", "in the dead-letter queue"))
        return [
            self.graph("1 · In", [*published, *failed]),
            self.graph("2 · Queue", waiting, alarms=["InFlight"]),
            self.graph("3 · Done", done),
            self.graph("4 · Dead" if dead else "4 · Blocked", lost, alarms=["DeadLetters"]),
        ]

    def _work(self) -> list[cloudwatch.IWidget]:
        function, queue = self._pipeline.function, self._pipeline.queue.queue
        received = [self._own(Metric.NEW, "new"), self._own(Metric.REDRIVEN, "redriven, from the dead-letter queue")]
        names = (Metric.PROCESSED, Metric.DUPLICATE, Metric.RETRIED, Metric.DEFERRED, Metric.PARKED)
        age = [
            self._own(Metric.MESSAGE_AGE, "of what is received, s", "Maximum"),
            self._of_queue(queue, "ApproximateAgeOfOldestMessage", "of the oldest by SQS, s"),
        ]
        runs = [
            function.metric_invocations(statistic="Sum", label="invocations", period=self._period),
            function.metric_errors(statistic="Sum", label="errors", period=self._period),
            function.metric_throttles(statistic="Sum", label="throttles", period=self._period),
        ]
        duration = [function.metric_duration(statistic="p99", label="duration p99, ms", period=self._period)]
        return [
            self.graph("Received: new and redriven", received, stacked=True),
            self.graph("Outcomes", [self._own(name, name) for name in names], stacked=True),
            self.graph("Age", age, alarms=["WorkAge", "HalfOfRetention"]),
            self.graph("Function", runs, right=duration),
        ]

    def _payloads(self) -> list[cloudwatch.IWidget]:
        filter_id: str | None = getattr(self._pipeline.bucket, "request_metrics_id", None)
        bytes_ = [self._own(Metric.PAYLOAD_BYTES, "bytes of processed messages")]
        fetch = [
            self._own(Metric.FETCH_MILLISECONDS, "fetch, slowest", "Maximum"),
            self._own(Metric.FETCH_MILLISECONDS, "fetch, average of batches' slowest", "Average"),
        ]
        life = [self._own(Metric.PAYLOAD_LIFE_LEFT, "days left when fetched, least", "Minimum")]
        if filter_id is None:
            return [
                self.graph("Payload bytes", bytes_, width=8),
                self.graph("First byte, ms", fetch, width=8),
                self.graph("Retention margin, days", life, width=8, alarms=["PayloadLife"]),
            ]
        latency = [self._of_s3(filter_id, "FirstByteLatency", "p99", "S3's first byte p99")]
        errors = [self._of_s3(filter_id, name, "Sum", name[:3]) for name in ("4xxErrors", "5xxErrors")]
        requests = [
            self._of_s3(filter_id, name, "Sum", name.removesuffix("Requests"))
            for name in ("GetRequests", "PutRequests")
        ]
        return [
            self.graph("Payload bytes", bytes_),
            self.graph("First byte, ms", [*fetch, *latency]),
            self.graph("S3: errors (left), requests (right)", errors, right=requests),
            self.graph("Retention margin, days", life, alarms=["PayloadLife"]),
        ]

    def _errors(self) -> list[cloudwatch.IWidget]:
        codes = [*sorted(ERROR_CODES - _OF_OTHERS), Metric.LOST_LEASE]
        return [self.graph("Errors by code", [self._own(code, code) for code in codes], width=COLUMNS, stacked=True)]

    def _add_table(self, title: str, table: dynamodb.ITable, *, index: str | None = None) -> None:
        kinds = ("Read", "Write")
        capacity = [self._of_table(table, f"Consumed{kind}CapacityUnits", kind.lower()) for kind in kinds]
        throttles = [self._of_table(table, f"{kind}ThrottleEvents", kind.lower()) for kind in kinds]
        if index is not None:
            throttles.append(self._of_table(table, "WriteThrottleEvents", f"write, index {index}", index))
        conflicts = [self._of_table(table, "TransactionConflict", "conflicts")]
        alarms = ["InboxThrottles"] if index is not None else []
        self.add_row(
            f"Table: {title}",
            [
                self.graph("Consumed capacity", capacity, width=8),
                self.graph("Throttles", throttles, width=8, alarms=alarms),
                self.graph("Transaction conflicts", conflicts, width=8),
            ],
        )

    # --- Metrics ----------------------------------------------------------------------------------------------------

    def _own(self, name: str, label: str, statistic: str = "Sum") -> cloudwatch.Metric:
        return own_metric(self._service, name, statistic, label=label, period=self._period)

    def _sampled(self, name: str, label: str, statistic: str = "Maximum") -> cloudwatch.Metric:
        return own_metric(self._service, name, statistic, label=label, period=_SAMPLED)

    def _of(self, service: str, name: str, label: str) -> cloudwatch.Metric:
        return own_metric(service, name, "Sum", label=label, period=self._period)

    def _of_queue(self, queue: sqs.IQueue, name: str, label: str) -> cloudwatch.Metric:
        dimensions = {"QueueName": queue.queue_name}
        return metric("AWS/SQS", name, dimensions, "Maximum", label=label, period=self._period)

    def _of_table(self, table: dynamodb.ITable, name: str, label: str, index: str | None = None) -> cloudwatch.Metric:
        return table_metric(table, name, "Sum", index=index, label=label, period=self._period)

    def _of_s3(self, filter_id: str, name: str, statistic: str, label: str) -> cloudwatch.Metric:
        dimensions = {"BucketName": self._pipeline.bucket.bucket.bucket_name, "FilterId": filter_id}
        return metric("AWS/S3", name, dimensions, statistic, label=label, period=self._period)
