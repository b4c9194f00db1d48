"""The alarms of what publishes: `ProducerFunction`, `UploadApi` (R12.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk.assertions import Template

from claim_check.contract import METRIC_DIMENSION, METRIC_NAMESPACE, Metric
from claim_check_cdk import AlarmTopic, ClaimCheckPipeline, ProducerFunction, UploadApi
from tests.infrastructure.kit import make_stack, resources
from tests.metric_sources import emits, services, watched


class Sample:
    """A pipeline, and both that publish to it."""

    def __init__(self) -> None:
        """Synthesize."""
        self.stack = make_stack()
        self.topic = AlarmTopic(self.stack, "Topic").topic
        pipeline = ClaimCheckPipeline(
            self.stack, "Pipeline", consumer_name="scans", handler="claim_check.handlers:none"
        )
        self.producer = ProducerFunction(self.stack, "Producer", pipeline=pipeline, alarm_topic=self.topic)
        self.uploads = UploadApi(self.stack, "Uploads", pipeline=pipeline, alarm_topic=self.topic)
        self.silent = ProducerFunction(self.stack, "Silent", pipeline=pipeline)
        self.template = Template.from_stack(self.stack)
        self.found = resources(self.template, "AWS::CloudWatch::Alarm")

    def alarms(self, alarms: Mapping[str, cloudwatch.Alarm]) -> dict[str, dict[str, Any]]:
        """Properties by the alarms' ids."""
        made = {}
        for name, alarm in alarms.items():
            child = alarm.node.default_child
            assert isinstance(child, cdk.CfnResource)
            made[name] = dict(self.found[self.stack.get_logical_id(child)])
        return made


@pytest.fixture(scope="module")
def sample() -> Sample:
    """One synth for the module."""
    return Sample()


def test_the_alarms_are_these(sample: Sample) -> None:
    assert list(sample.producer.alarms) == ["PublishFailed", "FunctionErrors", "FunctionThrottles"]
    assert list(sample.uploads.alarms) == ["ApiErrors", "PublishFailed", "FunctionErrors", "FunctionThrottles"]


def test_what_is_not_published_rings_under_the_name_of_who_did_not(sample: Sample) -> None:
    for alarms, service in ((sample.producer.alarms, "scans-producer"), (sample.uploads.alarms, "scans-uploads")):
        alarm = sample.alarms(alarms)["PublishFailed"]
        assert (alarm["Namespace"], alarm["MetricName"]) == (METRIC_NAMESPACE, Metric.PUBLISH_FAILED)
        assert alarm["Dimensions"] == [{"Name": METRIC_DIMENSION, "Value": service}]
        assert (alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]) == (2, 15)
        assert service in services(sample.template.to_json())


def test_failures_of_the_api_itself_ring(sample: Sample) -> None:
    alarm = sample.alarms(sample.uploads.alarms)["ApiErrors"]
    assert (alarm["Namespace"], alarm["MetricName"], alarm["Statistic"]) == ("AWS/ApiGateway", "5xx", "Sum")
    assert {one["Name"] for one in alarm["Dimensions"]} == {"ApiId", "Stage"}
    assert (alarm["Threshold"], alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]) == (1, 3, 15)


def test_a_caller_that_hands_over_a_wrong_event_twice_rings_nothing(sample: Sample) -> None:
    """What is wrong with an event fails the invocation, too: three bad minutes out of five it must be."""
    alarm = sample.alarms(sample.producer.alarms)["FunctionErrors"]
    assert (alarm["Threshold"], alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]) == (1, 3, 5)
    assert "events that are wrong" in alarm["AlarmDescription"]


def test_the_topic_is_told_if_there_is_one(sample: Sample) -> None:
    topic = [sample.stack.resolve(sample.topic.topic_arn)]
    for alarms in (sample.producer.alarms, sample.uploads.alarms):
        assert all(alarm["AlarmActions"] == topic for alarm in sample.alarms(alarms).values())
    assert not any("AlarmActions" in alarm for alarm in sample.alarms(sample.silent.alarms).values())


def test_every_metric_is_emitted_by_somebody(sample: Sample) -> None:
    assert all(emits(*one.kind) for one in watched(sample.template.to_json()))
