"""`PipelineAlarms`: the alarms of R12.1, and that every metric exists."""

from __future__ import annotations

from typing import Any, Final

import aws_cdk as cdk
import pytest
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template

from claim_check.contract import ERROR_CODES, METRIC_DIMENSION, METRIC_NAMESPACE, Backoff, ErrorCode, Metric
from claim_check.errors import LostLease
from claim_check_cdk import FifoOptions, InvalidSettingsError, MessageQueue, PipelineAlarms
from claim_check_cdk.alarm_codes import ALARMED_CODES, UNALARMED_CODES
from claim_check_cdk.alarm_rules import RUNBOOK_CONTEXT, Rule
from tests.infrastructure.kit import findings, make_function, make_stack, resources

AWS_METRICS: Final = {
    ("AWS/SQS", "ApproximateNumberOfMessagesVisible"): {"QueueName"},
    ("AWS/SQS", "ApproximateAgeOfOldestMessage"): {"QueueName"},
    ("AWS/SQS", "ApproximateNumberOfMessagesNotVisible"): {"QueueName"},
    ("AWS/DynamoDB", "WriteThrottleEvents"): {"TableName"},
    ("AWS/Lambda", "Errors"): {"FunctionName"},
    ("AWS/Lambda", "Throttles"): {"FunctionName"},
}
"""The checked list of AWS's own metrics: namespace, name, dimensions."""

OWN_METRICS: Final = {value for names in (Metric, ErrorCode) for name, value in vars(names).items() if name.isupper()}


class Sample:
    """Alarms with a topic, and alarms of a queue that blocks."""

    def __init__(self) -> None:
        """Synthesize."""
        self.stack = make_stack()
        function = make_function(self.stack)
        self.queue = MessageQueue(self.stack, "Queue")
        self.table = dynamodb.Table(
            self.stack, "Inbox", partition_key=dynamodb.Attribute(name="pk", type=dynamodb.AttributeType.STRING)
        )
        self.topic = sns.Topic(self.stack, "Topic", enforce_ssl=True)
        self.alarms = PipelineAlarms(
            self.stack,
            "Alarms",
            service="documents",
            function=function,
            dead_letter_queue=self.queue.dead_letter_queue,
            queue=self.queue.queue,
            inbox_table=self.table,
            topic=self.topic,
        )
        self.blocking_queue = MessageQueue(
            self.stack, "Blocking", fifo=FifoOptions(on_poison="block"), retention=cdk.Duration.days(5)
        )
        self.blocking = PipelineAlarms(
            self.stack,
            "BlockingAlarms",
            service="orders",
            function=function,
            dead_letter_queue=self.blocking_queue.dead_letter_queue,
            queue=self.blocking_queue.queue,
            blocking_queue=self.blocking_queue,
            max_age=cdk.Duration.days(2),
        )
        self.bare = PipelineAlarms(
            self.stack,
            "BareAlarms",
            service="bare",
            function=function,
            dead_letter_queue=None,
            least_payload_life=cdk.Duration.hours(60),
        )
        self.findings = [found for found in findings(self.stack) if "Alarms/" in found[1]]
        self.template = Template.from_stack(self.stack)
        self.found = resources(self.template, "AWS::CloudWatch::Alarm")

    def alarm(self, alarm_id: str, alarms: PipelineAlarms | None = None) -> dict[str, Any]:
        """Properties of an alarm."""
        child = (alarms or self.alarms).alarms[alarm_id].node.default_child
        assert isinstance(child, cdk.CfnResource)
        return dict(self.found[self.stack.get_logical_id(child)])


@pytest.fixture(scope="module")
def sample() -> Sample:
    """One synth for the module."""
    return Sample()


def test_the_alarms_are_these(sample: Sample) -> None:
    assert list(sample.alarms.alarms) == [
        "DeadLetters",
        "WorkAge",
        "FunctionErrors",
        "FunctionThrottles",
        "AccessDenied",
        "MissingPayload",
        "ChecksumMismatch",
        "ClaimMismatch",
        "UntrustedReference",
        "Conflict",
        "InvalidEnvelope",
        "UnsupportedVersion",
        "Stale",
        "HandlerCrashed",
        "CommitFailed",
        "Unavailable",
        "PayloadLife",
        "RedriveRunning",
        "InFlight",
        "QueueAge",
        "InboxThrottles",
    ]
    without = sample.alarms.alarms.keys() - {"DeadLetters", "InboxThrottles"}
    assert sample.blocking.alarms.keys() == {"GroupBlocked", "HalfOfRetention"} | without
    assert len(sample.bare.alarms) == len(sample.alarms.alarms) - len({"DeadLetters", *PARTS})


PARTS: Final = ("InFlight", "QueueAge", "InboxThrottles")


def test_every_code_rings_or_says_why_not() -> None:  # R4.5, R12.1
    """One alarm per code that needs a person; the others name what rings in their place."""
    codes = ERROR_CODES | {LostLease.code}
    assert ALARMED_CODES.keys() | UNALARMED_CODES.keys() == codes
    assert not ALARMED_CODES.keys() & UNALARMED_CODES.keys()
    assert all(reason.endswith(".") for reason in UNALARMED_CODES.values())


@pytest.mark.parametrize(
    "alarm_id, metric, statistic, threshold, datapoints, periods",
    [
        ("DeadLetters", "ApproximateNumberOfMessagesVisible", "Maximum", 1, 2, 3),
        ("WorkAge", "MessageAgeSeconds", "Maximum", 3600, 3, 5),
        ("FunctionErrors", "Errors", "Sum", 1, 2, 5),
        ("FunctionThrottles", "Throttles", "Sum", 1, 3, 5),
        ("AccessDenied", "AccessDenied", "Sum", 1, 1, 15),
        ("MissingPayload", "MissingPayload", "Sum", 1, 1, 15),
        ("ChecksumMismatch", "ChecksumMismatch", "Sum", 1, 1, 15),
        ("ClaimMismatch", "ClaimMismatch", "Sum", 1, 1, 15),
        ("UntrustedReference", "UntrustedReference", "Sum", 1, 1, 15),
        ("Conflict", "Conflict", "Sum", 1, 1, 15),
        ("InvalidEnvelope", "InvalidEnvelope", "Sum", 1, 1, 15),
        ("UnsupportedVersion", "UnsupportedVersion", "Sum", 1, 1, 15),
        ("Stale", "Stale", "Sum", 1, 1, 15),
        ("HandlerCrashed", "HandlerCrashed", "Sum", 1, 1, 15),
        ("CommitFailed", "CommitFailed", "Sum", 1, 3, 15),
        ("Unavailable", "Unavailable", "Sum", 1, 10, 15),
        ("RedriveRunning", "Redriven", "Sum", 1, 1, 15),
        ("InFlight", "ApproximateNumberOfMessagesNotVisible", "Maximum", 96_000, 3, 5),
        ("QueueAge", "ApproximateAgeOfOldestMessage", "Maximum", 5400, 3, 5),
        ("InboxThrottles", "WriteThrottleEvents", "Sum", 1, 3, 5),
    ],
)
def test_when_an_alarm_rings(
    sample: Sample, *, alarm_id: str, metric: str, statistic: str, threshold: int, datapoints: int, periods: int
) -> None:
    alarm = sample.alarm(alarm_id)
    assert alarm["MetricName"] == metric
    assert alarm["Statistic"] == statistic
    assert alarm["Threshold"] == threshold
    assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
    assert (alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"], alarm["Period"]) == (datapoints, periods, 60)


def test_the_alarm_on_a_payloads_life_rings_at_what_the_dlq_needs_and_below(sample: Sample) -> None:
    """R6.1, R12.1: a copy that is parked now stays as long as the DLQ keeps it."""
    alarm = sample.alarm("PayloadLife")
    assert (alarm["MetricName"], alarm["Statistic"], alarm["Threshold"]) == (Metric.PAYLOAD_LIFE_LEFT, "Minimum", 14)
    assert alarm["ComparisonOperator"] == "LessThanOrEqualToThreshold"
    assert "with at most 14 d of its life left" in alarm["AlarmDescription"]
    assert sample.alarm("PayloadLife", sample.blocking)["Threshold"] == 1
    assert sample.alarm("PayloadLife", sample.bare)["Threshold"] == 2.5


HALF_OF_RETENTION: Final = 5 * 86_400 // 2


@pytest.mark.parametrize(
    "alarm_id, namespace, metric, statistic, threshold, datapoints, periods",
    [
        ("GroupBlocked", METRIC_NAMESPACE, "GroupBlocked", "Sum", 1, 1, 30),
        ("HalfOfRetention", METRIC_NAMESPACE, "MessageAgeSeconds", "Maximum", HALF_OF_RETENTION, 1, 30),
        ("QueueAge", "AWS/SQS", "ApproximateAgeOfOldestMessage", "Maximum", HALF_OF_RETENTION, 3, 5),
    ],
)
def test_when_an_alarm_of_a_queue_that_blocks_rings(
    sample: Sample,
    *,
    alarm_id: str,
    namespace: str,
    metric: str,
    statistic: str,
    threshold: int,
    datapoints: int,
    periods: int,
) -> None:  # R5.1, R5.3
    alarm = sample.alarm(alarm_id, sample.blocking)
    assert (alarm["Namespace"], alarm["MetricName"], alarm["Statistic"]) == (namespace, metric, statistic)
    assert alarm["Threshold"] == threshold
    assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
    assert (alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"], alarm["Period"]) == (datapoints, periods, 60)


def test_an_alarm_that_waits_for_a_retry_looks_further_back_than_the_longest_backoff(sample: Sample) -> None:
    for alarm_id in ("GroupBlocked", "HalfOfRetention"):
        alarm = sample.alarm(alarm_id, sample.blocking)
        assert alarm["EvaluationPeriods"] * alarm["Period"] > Backoff().cap + alarm["Period"]


def test_the_alarms_of_a_queue_that_blocks_say_what_ends_and_what_to_do(sample: Sample) -> None:
    texts = {name: sample.alarm(name, sample.blocking)["AlarmDescription"] for name in sample.blocking.alarms}
    assert "while the other groups go on" in texts["GroupBlocked"]
    assert "fix the cause" in texts["GroupBlocked"]
    for name in ("HalfOfRetention", "QueueAge"):
        assert "Half of the queue's retention of 5 d is over" in texts[name]
        assert "what expires is lost" in texts[name]
        assert "lengthen the retention of the queue" in texts[name]
    assert "event source mapping" in texts["QueueAge"]


def test_the_age_of_the_queue_is_that_of_the_queue_that_blocks(sample: Sample) -> None:
    name = sample.stack.resolve(sample.blocking_queue.queue.queue_name)
    assert sample.alarm("QueueAge", sample.blocking)["Dimensions"] == [{"Name": "QueueName", "Value": name}]


def test_no_alarm_flaps_or_rings_for_missing_data(sample: Sample) -> None:
    for alarm in sample.found.values():
        assert alarm["TreatMissingData"] == "notBreaching"
        assert alarm["EvaluationPeriods"] >= 3


def test_the_dlq_alarm_watches_the_dlq(sample: Sample) -> None:
    dead_letters = sample.queue.dead_letter_queue
    assert dead_letters is not None
    (dimension,) = sample.alarm("DeadLetters")["Dimensions"]
    assert dimension == {"Name": "QueueName", "Value": sample.stack.resolve(dead_letters.queue_name)}


def test_the_age_of_work_is_our_own_metric(sample: Sample) -> None:
    for alarms, service, threshold in ((sample.alarms, "documents", 3600), (sample.blocking, "orders", 172_800)):
        alarm = sample.alarm("WorkAge", alarms)
        assert alarm["Namespace"] == METRIC_NAMESPACE
        assert alarm["Dimensions"] == [{"Name": METRIC_DIMENSION, "Value": service}]
        assert alarm["Threshold"] == threshold


def test_every_metric_and_dimension_exists(sample: Sample) -> None:
    for alarm in sample.found.values():
        dimensions = {dimension["Name"] for dimension in alarm["Dimensions"]}
        if alarm["Namespace"] == METRIC_NAMESPACE:
            assert alarm["MetricName"] in OWN_METRICS
            assert dimensions == {METRIC_DIMENSION}
        else:
            assert AWS_METRICS[alarm["Namespace"], alarm["MetricName"]] == dimensions


def test_every_alarm_says_whose_it_is_and_what_to_do(sample: Sample) -> None:
    descriptions = [alarm["AlarmDescription"] for alarm in sample.found.values()]
    assert all(len(description) > 100 for description in descriptions)
    assert all(len(description) <= 1024 for description in descriptions)
    assert all(description.startswith(("documents: ", "orders: ", "bare: ")) for description in descriptions)


def test_every_alarm_links_its_section_of_the_runbook(sample: Sample) -> None:
    for alarm_id in sample.alarms.alarms:
        link = f" Runbook: docs/runbook.md#alarm-{alarm_id.lower()}"
        assert sample.alarm(alarm_id)["AlarmDescription"].endswith(link)


def test_the_runbook_may_be_a_page_on_the_web() -> None:
    stack = make_stack()
    stack.node.set_context(RUNBOOK_CONTEXT, "https://git.example.com/docs/runbook.md")
    PipelineAlarms(stack, "Alarms", service="s", function=make_function(stack), dead_letter_queue=None)
    found = resources(Template.from_stack(stack), "AWS::CloudWatch::Alarm")
    assert all("https://git.example.com/docs/runbook.md#alarm-" in one["AlarmDescription"] for one in found.values())


def test_a_topic_is_told_when_an_alarm_rings_and_when_it_is_over(sample: Sample) -> None:
    topic = [sample.stack.resolve(sample.topic.topic_arn)]
    for alarm_id in sample.alarms.alarms.keys() - {"RedriveRunning"}:
        alarm = sample.alarm(alarm_id)
        assert (alarm["AlarmActions"], alarm["OKActions"]) == (topic, topic)
    assert "AlarmActions" not in sample.alarm("WorkAge", sample.blocking)


def test_a_redrive_that_runs_is_shown_and_calls_nobody(sample: Sample) -> None:  # R9.1
    assert not {"AlarmActions", "OKActions"} & sample.alarm("RedriveRunning").keys()


# FIELD: cdklabs/cdk-monitoring-constructs#109, cdklabs/construct-hub#1779, getlift/lift#337
def test_the_alarm_on_the_dlq_counts_what_can_be_received_and_does_not_flap(sample: Sample) -> None:
    """Sent does not count what SQS moves, NotVisible counts who only looks, and an idle queue sends nothing."""
    alarm = sample.alarm("DeadLetters")
    assert (alarm["MetricName"], alarm["Statistic"]) == ("ApproximateNumberOfMessagesVisible", "Maximum")
    assert (alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]) == (2, 3)
    assert alarm["TreatMissingData"] == "notBreaching"


def test_a_rule_that_cloudwatch_would_refuse_is_refused() -> None:
    for periods, datapoints, seconds in ((1, 2, 60), (0, 0, 60), (1441, 1, 60), (25, 1, 3600)):
        with pytest.raises(ValueError, match=r"datapoints = |periods = "):
            Rule(threshold=1, datapoints=datapoints, periods=periods, period_seconds=seconds, what_to_do="")
    assert Rule(threshold=1, datapoints=1, periods=24, period_seconds=3600, what_to_do="").periods == 24


def test_no_metric_math_and_no_composite_alarm(sample: Sample) -> None:
    sample.template.resource_count_is("AWS::CloudWatch::CompositeAlarm", 0)
    assert all("Metrics" not in alarm for alarm in sample.found.values())


def test_an_age_out_of_range_is_refused() -> None:
    stack = make_stack()
    for life in (cdk.Duration.minutes(59), cdk.Duration.days(36_501)):
        with pytest.raises(InvalidSettingsError, match=r"least_payload_life = .* must be from 3600"):
            PipelineAlarms(
                stack,
                f"Life{life.to_seconds()}",
                service="documents",
                function=make_function(stack, f"OfLife{life.to_seconds()}"),
                dead_letter_queue=None,
                least_payload_life=life,
            )
    for age in (cdk.Duration.seconds(59), cdk.Duration.days(15)):
        with pytest.raises(InvalidSettingsError, match=r"max_age = .* must be from 60"):
            PipelineAlarms(
                stack,
                f"Alarms{age.to_seconds()}",
                service="documents",
                function=make_function(stack, f"Function{age.to_seconds()}"),
                dead_letter_queue=None,
                max_age=age,
            )


def test_cdk_nag_finds_nothing(sample: Sample) -> None:
    assert sample.findings == []
