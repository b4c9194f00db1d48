"""`PipelineDashboard`: a body that CloudWatch takes, rows that answer "is it healthy, and if not, where" (R12.1)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk.assertions import Template

from claim_check.contract import ERROR_CODES, ErrorCode, Metric, dead_letter_metric
from claim_check_cdk import (
    DlqSampler,
    DomainTable,
    FifoOptions,
    InboxTable,
    InvalidSettingsError,
    MessageQueue,
    PayloadBucket,
    PipelineAlarms,
    PipelineDashboard,
    ServiceDashboard,
)
from claim_check_cdk.alarm_rules import RUNBOOK_CONTEXT, Rule
from tests.infrastructure.kit import findings, make_function, make_stack, resources
from tests.metric_sources import body_of, emits, unmask, watched

COLUMNS: Final = 24

# What CloudWatch takes, by its page on the structure of a dashboard's body:
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html
PROPERTIES: Final = {
    "metric": {"view", "title", "region", "stacked", "metrics", "yAxis", "period", "annotations", "stat"},
    "alarm": {"alarms", "title"},
    "text": {"markdown", "background"},
}
LINE_OPTIONS: Final = {"label", "period", "stat", "yAxis", "color", "visible", "region"}
STATISTIC: Final = re.compile(r"Sum|Average|Minimum|Maximum|SampleCount|p\d{1,2}(\.\d+)?")
DURATION: Final = re.compile(r"-P(\d+[MWD])?(T(\d+[HMS])+)?")


@dataclass(frozen=True)
class Pipeline:
    """What a team of its own may have in place of `ClaimCheckPipeline`."""

    consumer_name: str
    function: lambda_.IFunction
    queue: MessageQueue
    bucket: PayloadBucket
    inbox: InboxTable
    alarms: PipelineAlarms


def make_pipeline(stack: cdk.Stack, name: str, *, fifo: FifoOptions | None, request_metrics: bool = True) -> Pipeline:
    """A pipeline of the parts."""
    queue = MessageQueue(stack, f"{name}Queue", fifo=fifo)
    bucket = PayloadBucket(stack, f"{name}Bucket", request_metrics=request_metrics)
    inbox = InboxTable(stack, f"{name}Inbox")
    bucket.retain_for(queue)
    inbox.retain_for(queue)
    function = make_function(stack, f"{name}Function")
    alarms = PipelineAlarms(
        stack,
        f"{name}Alarms",
        service=name,
        function=function,
        dead_letter_queue=queue.dead_letter_queue,
        queue=queue.queue,
        blocking_queue=queue if queue.dead_letter_queue is None else None,
        inbox_table=inbox.table,
    )
    return Pipeline(name, function, queue, bucket, inbox, alarms)


class Sample:
    """A dashboard of a pipeline with a DLQ, and one of a pipeline that blocks and has no request metrics."""

    def __init__(self) -> None:
        """Synthesize."""
        self.stack = make_stack()
        self.documents = make_pipeline(self.stack, "documents", fifo=None)
        self.orders = make_pipeline(self.stack, "orders", fifo=FifoOptions(on_poison="block"), request_metrics=False)
        table = DomainTable(self.stack, "Documents").table
        self.first = PipelineDashboard(
            self.stack, "First", pipeline=self.documents, tables={"documents": table}, publishers=["a", "b"]
        )
        self.second = PipelineDashboard(self.stack, "Second", pipeline=self.orders, dashboard_name="Orders")
        lag = self.second.graph("Lag", [cloudwatch.Metric(namespace="N", metric_name="M", statistic="Sum")], width=16)
        self.second.add_row("Outbox", [lag, lag])
        self.more = self.documents.alarms.alarms["WorkAge"]
        self.second.add_alarms([self.more])
        self.sampler = DlqSampler(
            self.stack,
            "Sampler",
            queue=self.orders.queue,
            consumer_name=self.orders.consumer_name,
            inbox=self.orders.inbox,
        )
        self.second.add_dead_letters(self.sampler, archived=True)
        self.findings = [found for found in findings(self.stack) if "First/" in found[1] or "Second/" in found[1]]
        self.template = Template.from_stack(self.stack)
        self.bodies = [body_of(one) for one in resources(self.template, "AWS::CloudWatch::Dashboard").values()]

    @property
    def widgets(self) -> Iterator[Mapping[str, Any]]:
        """All widgets of all dashboards."""
        return itertools.chain.from_iterable(body["widgets"] for body in self.bodies)

    def lines(self, dashboard: int, title: str) -> dict[str, str]:
        """Names of the metrics of a graph by their labels."""
        (widget,) = (one for one in self.bodies[dashboard]["widgets"] if one["properties"].get("title") == title)
        return {line[-1]["label"]: line[1] for line in widget["properties"]["metrics"]}

    def titles(self, dashboard: int) -> list[str]:
        """Titles of the rows, from the top."""
        texts = [one["properties"]["markdown"] for one in self.bodies[dashboard]["widgets"] if one["type"] == "text"]
        return [text.removeprefix("## ") for text in texts if text.startswith("## ")]


@pytest.fixture(scope="module")
def sample() -> Sample:
    """One synth for the module."""
    return Sample()


# --- The body is one that CloudWatch takes --------------------------------------------------------------------------


def test_the_body_has_known_fields_only(sample: Sample) -> None:
    for body in sample.bodies:
        assert set(body) == {"start", "periodOverride", "widgets"}
        assert body["periodOverride"] == "inherit"
        assert DURATION.fullmatch(body["start"])
        assert 0 < len(body["widgets"]) <= 500
    for widget in sample.widgets:
        assert set(widget) == {"type", "x", "y", "width", "height", "properties"}
        assert set(widget["properties"]) <= PROPERTIES[widget["type"]]


def test_widgets_lie_within_the_columns_and_do_not_overlap(sample: Sample) -> None:
    for body in sample.bodies:
        taken: set[tuple[int, int]] = set()
        for widget in body["widgets"]:
            x, y, width, height = (widget[name] for name in ("x", "y", "width", "height"))
            assert 0 <= x < x + width <= COLUMNS
            assert y >= 0
            assert 1 <= height <= 1000
            cells = set(itertools.product(range(x, x + width), range(y, y + height)))
            assert not cells & taken
            taken |= cells
        assert {y for _, y in taken} == set(range(max(y for _, y in taken) + 1)), "no empty lines"


def test_every_line_is_well_formed(sample: Sample) -> None:
    seen = 0
    for widget in sample.widgets:
        lines = widget["properties"].get("metrics", [])
        assert len(lines) <= 500
        for namespace, name, *pairs, options in lines:
            assert all(isinstance(text, str) and text for text in (namespace, name, *pairs))
            assert len(pairs) % 2 == 0
            assert len(pairs) <= 2 * 30
            assert set(options) <= LINE_OPTIONS
            assert STATISTIC.fullmatch(options.get("stat", "Average"))
            assert options.get("yAxis", "left") in {"left", "right"}
            assert options.get("period", 60) % 60 == 0
            seen += 1
    assert seen > 60


def test_every_graph_names_the_stacks_region_and_begins_at_zero(sample: Sample) -> None:
    for widget in sample.widgets:
        if widget["type"] == "metric":
            assert unmask(widget["properties"]["region"]) == {"Ref": "AWS::Region"}
            assert widget["properties"]["view"] == "timeSeries"
            assert widget["properties"]["yAxis"]["left"]["min"] == 0


def test_no_line_is_metric_math(sample: Sample) -> None:
    assert all(
        "expression" not in line[-1] for widget in sample.widgets for line in widget["properties"].get("metrics", [])
    )


def test_no_token_is_left_in_a_body(sample: Sample) -> None:
    assert "${Token" not in str(sample.bodies)


def test_every_metric_of_its_own_rows_is_emitted_by_somebody(sample: Sample) -> None:
    kinds = [metric.kind for metric in watched(sample.template.to_json()) if metric.namespace != "N"]
    assert len(kinds) > 100
    assert [kind for kind in kinds if not emits(*kind)] == []


# --- It answers -----------------------------------------------------------------------------------------------------


def test_the_rows_are_these(sample: Sample) -> None:
    common = ["Flow: in, waiting, done, dead", "Work", "Payloads", "Errors", "Table: inbox"]
    assert sample.titles(0) == [*common, "Table: documents"]
    assert sample.titles(1) == [*common, "Outbox", "Dead letters, as sampled"]


def test_the_flow_goes_from_left_to_right(sample: Sample) -> None:
    assert list(sample.lines(0, "1 · In").values()) == [Metric.PUBLISHED] * 2 + [Metric.PUBLISH_FAILED] * 2
    assert set(sample.lines(0, "3 · Done").values()) == {Metric.PROCESSED, Metric.DUPLICATE}
    assert Metric.PARKED in sample.lines(0, "4 · Dead").values()
    flow = [one for one in sample.bodies[0]["widgets"] if one["properties"].get("title", "").startswith(tuple("1234"))]
    assert [one["x"] for one in flow] == [0, 6, 12, 18]
    assert len({one["y"] for one in flow}) == 1


def test_new_work_and_redriven_work_are_apart(sample: Sample) -> None:  # R9.1
    assert set(sample.lines(0, "Received: new and redriven").values()) == {Metric.NEW, Metric.REDRIVEN}


def test_a_pipeline_that_blocks_shows_its_blocked_groups_in_place_of_a_dlq(sample: Sample) -> None:  # R5.1, R5.3
    assert list(sample.lines(1, "4 · Blocked").values()) == [Metric.GROUP_BLOCKED]
    assert "dead-letter" not in str(sample.lines(1, "4 · Blocked"))


def test_every_code_of_a_consumer_is_among_the_errors(sample: Sample) -> None:  # R4.5
    of_others = {"InvalidNotification", "AlreadyStaged", "OutboxFull"}
    assert set(sample.lines(0, "Errors by code").values()) == (ERROR_CODES | {Metric.LOST_LEASE}) - of_others


def test_s3s_own_metrics_are_shown_where_the_bucket_has_them(sample: Sample) -> None:
    assert "FirstByteLatency" in sample.lines(0, "First byte, ms").values()
    assert {"4xxErrors", "5xxErrors", "GetRequests", "PutRequests"} == set(
        sample.lines(0, "S3: errors (left), requests (right)").values()
    )
    assert "AWS/S3" not in str(sample.bodies[1])
    assert "FetchMilliseconds" in sample.lines(1, "First byte, ms").values()


def test_the_retention_margin_is_drawn_with_the_threshold_of_its_alarm(sample: Sample) -> None:
    (widget,) = (
        one for one in sample.bodies[0]["widgets"] if one["properties"].get("title") == "Retention margin, days"
    )
    (line,) = widget["properties"]["annotations"]["horizontal"]
    assert line["value"] == 14


def test_each_table_shows_capacity_throttles_and_conflicts(sample: Sample) -> None:
    graphs = [one["properties"] for one in sample.bodies[0]["widgets"] if one["type"] == "metric"]
    for title, names in (
        ("Consumed capacity", {"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"}),
        ("Throttles", {"ReadThrottleEvents", "WriteThrottleEvents"}),
        ("Transaction conflicts", {"TransactionConflict"}),
    ):
        found = [graph["metrics"] for graph in graphs if graph["title"] == title]
        assert len(found) == 2, "the inbox, and the handler's table"
        assert all({line[1] for line in lines} == names for lines in found)
    indexes = [line for graph in graphs for line in graph["metrics"] if "GlobalSecondaryIndexName" in line]
    assert len(indexes) == 1


def test_the_alarms_are_at_the_top_those_of_others_too(sample: Sample) -> None:
    for body, alarms in zip(
        sample.bodies,
        (
            sample.documents.alarms.alarms.values(),
            [*sample.orders.alarms.alarms.values(), sample.more, *sample.sampler.alarms.values()],
        ),
        strict=True,
    ):
        first = body["widgets"][0]
        assert (first["type"], first["y"]) == ("alarm", 0)
        shown = [unmask(arn)["Fn::GetAtt"][0] for arn in first["properties"]["alarms"]]
        assert shown == [sample.stack.get_logical_id(child) for alarm in alarms if (child := _child(alarm)) is not None]


def test_a_text_says_how_to_read_it_and_where_the_runbook_is(sample: Sample) -> None:
    guide = sample.bodies[0]["widgets"][1]
    assert (guide["type"], guide["y"]) == ("text", 0)
    text = guide["properties"]["markdown"]
    assert text.startswith("**documents: is it healthy?**")
    assert "runbook (`docs/runbook.md`)" in text
    stack = make_stack()
    stack.node.set_context(RUNBOOK_CONTEXT, "https://git.example.com/runbook.md")
    PipelineDashboard(stack, "D", pipeline=make_pipeline(stack, "s", fifo=None))
    assert "[runbook](https://git.example.com/runbook.md)" in str(Template.from_stack(stack).to_json())


def test_what_is_sampled_of_dead_letters_has_a_row(sample: Sample) -> None:  # R5.3, R12.1
    reasons = sample.lines(1, "By reason")
    assert reasons[ErrorCode.MISSING_PAYLOAD] == dead_letter_metric(ErrorCode.MISSING_PAYLOAD)
    assert list(sample.lines(1, "Life left").values()) == [Metric.DEAD_LETTER_LIFE_LEFT]
    names = set(sample.lines(1, "Stuck work, and the archive").values())
    assert names == {Metric.STUCK_WORK, Metric.ARCHIVED_LETTERS, Metric.ARCHIVE_FAILED}


def test_what_is_added_and_does_not_fit_goes_below(sample: Sample) -> None:
    added = [one for one in sample.bodies[1]["widgets"] if one["properties"].get("title") == "Lag"]
    assert [one["x"] for one in added] == [0, 0]
    assert added[1]["y"] == added[0]["y"] + added[0]["height"]


def test_more_than_a_hundred_alarms_need_a_second_widget() -> None:
    stack = make_stack()
    dashboard = PipelineDashboard(stack, "D", pipeline=make_pipeline(stack, "s", fifo=None))
    metric = cloudwatch.Metric(namespace="N", metric_name="M")
    rule = Rule(threshold=1, datapoints=1, periods=1, what_to_do="")
    for number in range(100):
        alarm = metric.create_alarm(stack, f"A{number}", threshold=rule.threshold, evaluation_periods=rule.periods)
        dashboard.add_alarms([alarm])
    (properties,) = resources(Template.from_stack(stack), "AWS::CloudWatch::Dashboard").values()
    shown = [len(one["properties"]["alarms"]) for one in body_of(properties)["widgets"] if one["type"] == "alarm"]
    assert len(shown) == 2
    assert max(shown) == 100


def test_it_has_the_name_it_was_given_and_else_none(sample: Sample) -> None:
    names = [one.get("DashboardName") for one in resources(sample.template, "AWS::CloudWatch::Dashboard").values()]
    assert names == [None, "Orders"]


def test_what_cannot_be_shown_is_refused() -> None:
    stack = make_stack()
    pipeline = make_pipeline(stack, "s", fifo=None)
    with pytest.raises(InvalidSettingsError, match=r"tables = ''.*title"):
        PipelineDashboard(stack, "Untitled", pipeline=pipeline, tables={"": pipeline.inbox.table})


def test_cdk_nag_finds_nothing(sample: Sample) -> None:
    assert sample.findings == []


def _child(alarm: cloudwatch.Alarm) -> cdk.CfnElement | None:
    child = alarm.node.default_child
    return child if isinstance(child, cdk.CfnElement) else None


def test_the_period_holds_for_every_line(sample: Sample) -> None:
    stack = make_stack()
    slow = make_pipeline(stack, "s", fifo=None)
    PipelineDashboard(stack, "D", pipeline=slow, period=cdk.Duration.minutes(5))
    alarmed = {one.kind for one in watched(Template.from_stack(stack).to_json()) if one.period == 60}
    shown = [one for one in watched(Template.from_stack(stack).to_json()) if ": " in one.where]
    assert {one.period for one in shown} == {300}
    assert alarmed
    usual = [one for one in watched(sample.template.to_json()) if one.where.startswith("First")]
    assert {one.period for one in usual} == {60}


# --- Of anything else -----------------------------------------------------------------------------------------------


def test_a_dashboard_of_anything_shows_what_it_is_given() -> None:
    stack = make_stack()
    board = ServiceDashboard(stack, "Board", service="jobs")
    board.add_measured("Work", {"Done": [Metric.PROCESSED], "Lag": [Metric.OUTBOX_LAG, ErrorCode.STALE]})
    board.add_measured(
        "Elsewhere", {"Age": [Metric.MESSAGE_AGE]}, service="others", statistic="Maximum", period=cdk.Duration.hours(1)
    )
    (properties,) = resources(Template.from_stack(stack), "AWS::CloudWatch::Dashboard").values()
    guide, *rows = body_of(properties)["widgets"]
    assert (guide["type"], guide["width"]) == ("text", 8)
    assert guide["properties"]["markdown"].startswith("**jobs: is it healthy?**")
    graphs = [one for one in rows if one["type"] == "metric"]
    assert [one["width"] for one in graphs] == [12, 12, 24]
    lines = [line for one in graphs for line in one["properties"]["metrics"]]
    assert [(line[1], line[3], line[-1].get("stat"), line[-1]["period"]) for line in lines] == [
        (Metric.PROCESSED, "jobs", "Sum", 60),
        (Metric.OUTBOX_LAG, "jobs", "Sum", 60),
        (ErrorCode.STALE, "jobs", "Sum", 60),
        (Metric.MESSAGE_AGE, "others", "Maximum", 3600),
    ]


def test_a_row_of_five_graphs_wraps() -> None:
    stack = make_stack()
    board = ServiceDashboard(stack, "Board", service="jobs")
    board.add_measured("Work", {str(number): [Metric.PROCESSED] for number in range(5)})
    (properties,) = resources(Template.from_stack(stack), "AWS::CloudWatch::Dashboard").values()
    graphs = [one for one in body_of(properties)["widgets"] if one["type"] == "metric"]
    assert [one["x"] for one in graphs] == [0, 6, 12, 18, 0]
