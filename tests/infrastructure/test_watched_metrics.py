"""Every metric that an alarm or a widget of the app watches is one that AWS or the code really emits (R12.1)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from claim_check.contract import METRIC_DIMENSION, METRIC_NAMESPACE, Metric
from stacks.settings import ENVIRONMENT_CONTEXT
from tests.infrastructure.kit import PROJECT, flags
from tests.metric_sources import AWS_METRICS, Watched, counted, emits, services, watched

DIMENSION_TYPES: Final = {
    "QueueName": "AWS::SQS::Queue",
    "FunctionName": "AWS::Lambda::Function",
    "TableName": "AWS::DynamoDB::Table",
    "BucketName": "AWS::S3::Bucket",
    "ApiId": "AWS::ApiGatewayV2::Api",
    "Stage": "AWS::ApiGatewayV2::Stage",
    "RuleName": "AWS::Events::Rule",
    "TopicName": "AWS::SNS::Topic",
}
"""What the value of a dimension names."""

Template = Mapping[str, Any]


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Template]:
    """Every stack of the app, whichever there are."""
    folder = tmp_path_factory.mktemp("app")
    context = json.dumps({**flags(), ENVIRONMENT_CONTEXT: "production"})
    environment = {**os.environ, "CDK_OUTDIR": str(folder), "CDK_CONTEXT_JSON": context}
    done = subprocess.run(
        [sys.executable, "app.py"], cwd=PROJECT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.template.json")}


def everything(templates: Mapping[str, Template]) -> list[tuple[Template, Watched]]:
    """Every watched metric beside its template."""
    return [(template, metric) for template in templates.values() for metric in watched(template)]


def target(template: Template, value: object) -> Mapping[str, Any]:
    """The resource that a dimension's value refers to; none if it refers to nothing of this stack."""
    reference = value if isinstance(value, Mapping) else {}
    name = reference.get("Ref") or reference.get("Fn::GetAtt", [""])[0]
    resource: Mapping[str, Any] = template["Resources"].get(name, {})
    return resource


def test_every_stack_has_alarms_and_a_dashboard(templates: dict[str, Template]) -> None:
    assert len(templates) >= 2
    for name, template in templates.items():
        kinds = {resource["Type"] for resource in template["Resources"].values()}
        assert "AWS::CloudWatch::Alarm" in kinds, name
        pipelines = {"AWS::Lambda::EventSourceMapping"} & kinds
        assert not pipelines or "AWS::CloudWatch::Dashboard" in kinds, name


def test_no_alarm_or_widget_watches_what_nobody_emits(templates: dict[str, Template]) -> None:
    found = everything(templates)
    assert len(found) > 100
    assert [(metric.where, metric.kind) for _, metric in found if not emits(*metric.kind)] == []


def test_the_services_that_are_watched_are_those_of_the_functions(templates: dict[str, Template]) -> None:
    """A function emits under the name that its own variables say; a metric under another name stays empty for ever."""
    strangers = [
        (metric.where, metric.dimensions[METRIC_DIMENSION])
        for template, metric in everything(templates)
        if metric.namespace == METRIC_NAMESPACE and metric.dimensions[METRIC_DIMENSION] not in services(template)
    ]
    assert strangers == []


def test_dimensions_name_resources_of_the_stack(templates: dict[str, Template]) -> None:
    checked = set()
    for template, metric in everything(templates):
        for name, value in metric.dimensions.items():
            if name in DIMENSION_TYPES and value != "$default":
                assert target(template, value)["Type"] == DIMENSION_TYPES[name], (metric.where, name, value)
                checked.add(name)
    assert {"QueueName", "FunctionName", "TableName", "BucketName", "ApiId"} <= checked


def test_the_filter_of_s3s_request_metrics_is_one_of_the_bucket(templates: dict[str, Template]) -> None:
    """S3 emits nothing under a filter that the bucket does not have."""
    seen = 0
    for template, metric in everything(templates):
        if metric.namespace != "AWS/S3":
            continue
        bucket = target(template, metric.dimensions["BucketName"])["Properties"]
        assert {"Id": metric.dimensions["FilterId"], "Prefix": "payloads/"} in bucket["MetricsConfigurations"]
        seen += 1
    assert seen


def test_the_index_whose_throttles_are_shown_exists(templates: dict[str, Template]) -> None:
    for template, metric in everything(templates):
        if index := metric.dimensions.get("GlobalSecondaryIndexName"):
            table = target(template, metric.dimensions["TableName"])["Properties"]
            assert index in {one["IndexName"] for one in table["GlobalSecondaryIndexes"]}


def test_no_statistic_hides_what_it_shall_show(templates: dict[str, Template]) -> None:
    """Sums of ages, or averages of counts, would be numbers without a meaning."""
    for _, metric in everything(templates):
        if metric.name.endswith(("Seconds", "Milliseconds", "Duration", "Latency", "OldestMessage")):
            assert metric.statistic != "Sum", metric
        if metric.name.endswith("LeftDays"):
            assert metric.statistic == "Minimum", metric


def test_every_metric_of_the_contract_is_counted_somewhere() -> None:
    every = {value for name, value in vars(Metric).items() if name.isupper()}
    assert every - counted() == set()


def test_a_name_that_is_only_described_is_not_taken_for_counted(tmp_path: Path) -> None:
    from tests.metric_sources import _counted_in  # noqa: PLC0415 - looks inside

    module = tmp_path / "module.py"
    module.write_text("A = {Metric.PARKED}\nif x == Metric.RETRIED: count(Metric.PROCESSED)\n", encoding="utf-8")
    assert set(_counted_in(module)) == {"PROCESSED"}


def test_every_metric_of_awss_own_is_named_with_its_page() -> None:
    source = (PROJECT / "tests" / "metric_sources.py").read_text(encoding="utf-8")
    table = source.partition("AWS_METRICS: Final = {")[2].partition("\n}")[0]
    namespaces = {namespace for namespace, _, _ in AWS_METRICS}
    assert table.count("# https://docs.aws.amazon.com/") >= len(namespaces)
