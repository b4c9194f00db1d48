"""One screen that answers: is it healthy, and if not, where (R12.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

import jsii
from aws_cdk import Duration, IStableStringProducer, Lazy, Stack
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
from claim_check_cdk.alarm_rules import PERIOD_SECONDS, metric, own_metric, runbook, table_metric
from claim_check_cdk.validation import Mistakes, describe

COLUMNS: Final = 24
"""Width of a dashboard."""

_GRAPH_HEIGHT: Final = 6
_SAMPLED: Final = Duration.hours(1)
"""Period of what is measured on a schedule."""

_OF_OTHERS: Final = frozenset({ErrorCode.INVALID_NOTIFICATION, ErrorCode.ALREADY_STAGED, ErrorCode.OUTBOX_FULL})
"""Codes that no consumer of events counts."""

_MAX_ALARMS: Final = 100
"""Of one alarm widget; https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html"""


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


class WatchedAlarms(Protocol):
    """Alarms, such as `PipelineAlarms`."""

    @property
    def alarms(self) -> Mapping[str, cloudwatch.Alarm]:
        """Each by its id."""


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


class PipelineDashboard(Construct):
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
        super().__init__(scope, construct_id)
        mistakes = Mistakes(describe(self))
        mistakes.require(
            all((tables or {}).keys()), "tables", "''", "must have a title for each table", 'write {"orders": table}'
        )
        mistakes.raise_all()
        self._pipeline = pipeline
        self._service = pipeline.consumer_name
        self._period = period or Duration.seconds(PERIOD_SECONDS)
        self._alarms: list[cloudwatch.IAlarm] = list(pipeline.alarms.alarms.values())
        self._rows: list[tuple[str, Sequence[cloudwatch.IWidget]]] = []
        self.add_row("Flow: in, waiting, done, dead", self._flow(publishers or [producer_service(self._service)]))
        self.add_row("Work", self._work())
        self.add_row("Payloads", self._payloads())
        self.add_row("Errors", self._errors())
        self._add_table("inbox", pipeline.inbox.table, index=INBOX_OPEN_INDEX)
        for title, table in (tables or {}).items():
            self._add_table(title, table)
        self.dashboard = cloudwatch.CfnDashboard(
            self, "Dashboard", dashboard_name=dashboard_name, dashboard_body=Lazy.string(_Body(self))
        )

    def add_row(self, title: str, widgets: Sequence[cloudwatch.IWidget]) -> None:
        """Add a row at the bottom.

        Args:
            title: Stands above it.
            widgets: From left to right; what does not fit into 24 columns goes below.
        """
        self._rows.append((title, widgets))

    def add_alarms(self, alarms: Iterable[cloudwatch.IAlarm]) -> None:
        """Show more alarms at the top.

        Args:
            alarms: Such as the values of an ``AlarmSet``'s ``alarms``.
        """
        self._alarms += alarms

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

    def graph(
        self,
        title: str,
        metrics: Sequence[cloudwatch.IMetric],
        *,
        right: Sequence[cloudwatch.IMetric] = (),
        width: int = 6,
        stacked: bool = False,
        alarms: Sequence[str] = (),
    ) -> cloudwatch.IWidget:
        """Make a graph as the dashboard's own are, for `add_row`.

        Args:
            title: Stands above it.
            metrics: Its lines.
            right: Lines with an axis of their own.
            width: Columns.
            stacked: Whether lines are areas upon each other.
            alarms: Ids of the pipeline's alarms whose thresholds are drawn, where it has them.
        """
        lines = [self._pipeline.alarms.alarms[name] for name in alarms if name in self._pipeline.alarms.alarms]
        return cloudwatch.GraphWidget(
            title=title,
            left=list(metrics),
            right=list(right),
            width=width,
            height=_GRAPH_HEIGHT,
            stacked=stacked,
            period=self._period,
            left_y_axis=cloudwatch.YAxisProps(min=0, show_units=False),
            right_y_axis=cloudwatch.YAxisProps(min=0, show_units=False) if right else None,
            left_annotations=[line.to_annotation() for line in lines],
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

    # --- The body ---------------------------------------------------------------------------------------------------

    def body(self) -> str:
        """The dashboard's JSON, with all rows and alarms there are by now."""
        rows: list[Sequence[cloudwatch.IWidget]] = [self._head()]
        for title, widgets in self._rows:
            rows += [[_text(f"## {title}", height=1)], widgets]
        return Stack.of(self).to_json_string({"start": "-PT3H", "periodOverride": "inherit", "widgets": lay_out(rows)})

    def _head(self) -> list[cloudwatch.IWidget]:
        book = runbook(self)
        link = f"[runbook]({book})" if "://" in book else f"runbook (`{book}`)"
        guide = cloudwatch.TextWidget(
            markdown=_GUIDE.format(service=self._service, runbook=link), width=8, height=_GRAPH_HEIGHT
        )
        alarms = [
            cloudwatch.AlarmStatusWidget(
                title="Alarms", alarms=self._alarms[at : at + _MAX_ALARMS], width=16, height=_GRAPH_HEIGHT
            )
            for at in range(0, len(self._alarms), _MAX_ALARMS)
        ]
        return [*alarms[:1], guide, *alarms[1:]]


_GUIDE: Final = """\
**{service}: is it healthy?** All alarms green, *Dead* flat at 0, *Age* flat: yes.

**If not, where?** Read the graphs from left to right: the first one that changed its shape is the place.
In fell: producers. Queue grows: consumers. Dead grows: look at Errors by code.
Fetch is slow: S3. Conflicts, throttles: the tables.

A ringing alarm says what to do; so does the {runbook}. *Redriven* is work from the dead-letter queue.
"""


def lay_out(rows: Iterable[Sequence[cloudwatch.IWidget]]) -> list[Any]:
    """Place widgets row by row, from left to right, and render them.

    Args:
        rows: Each begins at the left, below all of the rows before it.
    """
    placed: list[Any] = []
    top = 0
    for row in rows:
        left = tallest = 0
        for widget in row:
            if left + widget.width > COLUMNS:
                top, left, tallest = top + tallest, 0, 0
            widget.position(left, top)
            placed += widget.to_json()
            left, tallest = left + int(widget.width), max(tallest, int(widget.height))
        top += tallest
    return placed


def _text(markdown: str, *, height: int) -> cloudwatch.IWidget:
    background = cloudwatch.TextWidgetBackground.TRANSPARENT
    return cloudwatch.TextWidget(markdown=markdown, width=COLUMNS, height=height, background=background)


@jsii.implements(IStableStringProducer)
class _Body:
    def __init__(self, dashboard: PipelineDashboard) -> None:
        self._dashboard = dashboard

    def produce(self) -> str:
        return self._dashboard.body()
