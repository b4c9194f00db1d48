"""Who emits which metric: AWS by its documentation, the library by its source. What alarms and widgets are held to."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from claim_check import contract
from claim_check.contract import ERROR_CODES, METRIC_DIMENSION, METRIC_NAMESPACE, Metric, Setting
from claim_check.errors import LostLease

LIBRARY: Final = Path(contract.__file__).parent

AWS_METRICS: Final = {
    # https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
    ("AWS/SQS", "ApproximateNumberOfMessagesVisible", ("QueueName",)),
    ("AWS/SQS", "ApproximateNumberOfMessagesNotVisible", ("QueueName",)),
    ("AWS/SQS", "ApproximateNumberOfMessagesDelayed", ("QueueName",)),
    ("AWS/SQS", "ApproximateAgeOfOldestMessage", ("QueueName",)),
    # https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
    ("AWS/Lambda", "Invocations", ("FunctionName",)),
    ("AWS/Lambda", "Errors", ("FunctionName",)),
    ("AWS/Lambda", "Throttles", ("FunctionName",)),
    ("AWS/Lambda", "Duration", ("FunctionName",)),
    # https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html (IteratorAge: streams only)
    ("AWS/Lambda", "IteratorAge", ("FunctionName",)),
    # https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html
    ("AWS/DynamoDB", "ConsumedReadCapacityUnits", ("TableName",)),
    ("AWS/DynamoDB", "ConsumedWriteCapacityUnits", ("TableName",)),
    ("AWS/DynamoDB", "ReadThrottleEvents", ("TableName",)),
    ("AWS/DynamoDB", "WriteThrottleEvents", ("TableName",)),
    ("AWS/DynamoDB", "WriteThrottleEvents", ("GlobalSecondaryIndexName", "TableName")),
    ("AWS/DynamoDB", "TransactionConflict", ("TableName",)),
    # https://docs.aws.amazon.com/AmazonS3/latest/userguide/metrics-dimensions.html (request metrics)
    ("AWS/S3", "GetRequests", ("BucketName", "FilterId")),
    ("AWS/S3", "PutRequests", ("BucketName", "FilterId")),
    ("AWS/S3", "4xxErrors", ("BucketName", "FilterId")),
    ("AWS/S3", "5xxErrors", ("BucketName", "FilterId")),
    ("AWS/S3", "FirstByteLatency", ("BucketName", "FilterId")),
    # https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-metrics.html
    ("AWS/ApiGateway", "5xx", ("ApiId", "Stage")),
    # https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-monitoring.html
    ("AWS/Events", "FailedInvocations", ("RuleName",)),
    # https://docs.aws.amazon.com/sns/latest/dg/sns-monitoring-using-cloudwatch.html
    ("AWS/SNS", "NumberOfNotificationsFailed", ("TopicName",)),
}
"""Metrics of AWS's own, as its documentation lists them: namespace, name, all dimensions."""

SERVICE_SETTINGS: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    "consumer": (Setting.CONSUMER, str),
    "archive": (Setting.CONSUMER, str),
    "producer": (Setting.PIPELINE, contract.producer_service),
    "uploads": (Setting.PIPELINE, contract.uploads_service),
    "ingest": (Setting.INGEST, str),
    "ingest_reconciliation": (Setting.INGEST, str),
    "outbox_relay": (Setting.OUTBOX, str),
    "outbox_sweep": (Setting.OUTBOX, str),
    "reconciler": (Setting.RECONCILER, str),
}
"""By the name of a handler's module: the variable that names its service, and how the service follows from it."""


@dataclass(frozen=True)
class Watched:
    """A metric that an alarm or a widget of a template watches.

    Attributes:
        where: The resource, and what in it.
        namespace: Of the metric.
        name: Of the metric.
        dimensions: Values by names, as the template has them.
        statistic: How its values become one.
        period: Seconds.
    """

    where: str
    namespace: str
    name: str
    dimensions: Mapping[str, Any]
    statistic: str
    period: int

    @property
    def kind(self) -> tuple[str, str, tuple[str, ...]]:
        """Namespace, name and names of the dimensions."""
        return self.namespace, self.name, tuple(sorted(self.dimensions))


# --- What is watched ------------------------------------------------------------------------------------------------


def watched(template: Mapping[str, Any]) -> list[Watched]:
    """Every metric that a template's alarms and dashboards watch."""
    found = []
    for name, resource in template["Resources"].items():
        properties = resource.get("Properties", {})
        if resource["Type"] == "AWS::CloudWatch::Alarm":
            found.append(_of_alarm(name, properties))
        elif resource["Type"] == "AWS::CloudWatch::Dashboard":
            found += _of_dashboard(name, body_of(properties))
    return found


def _of_alarm(name: str, alarm: Mapping[str, Any]) -> Watched:
    return Watched(
        name,
        alarm["Namespace"],
        alarm["MetricName"],
        {one["Name"]: one["Value"] for one in alarm["Dimensions"]},
        alarm.get("Statistic") or alarm["ExtendedStatistic"],
        alarm["Period"],
    )


def _of_dashboard(name: str, body: Mapping[str, Any]) -> Iterator[Watched]:
    for widget in body["widgets"]:
        for line in widget["properties"].get("metrics", []):
            namespace, metric, *pairs, options = line
            dimensions = {key: unmask(value) for key, value in zip(pairs[::2], pairs[1::2], strict=True)}
            where = f"{name}: {widget['properties']['title']}"
            yield Watched(
                where, namespace, metric, dimensions, options.get("stat", "Average"), options.get("period") or 300
            )


_MASKS: Final = ("Ref", "Fn::GetAtt")


def body_of(dashboard: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a dashboard; references stand in it as ``${...}`` with their JSON in hexadecimal digits."""
    body = dashboard["DashboardBody"]
    parts = body["Fn::Join"][1] if isinstance(body, dict) else [body]
    text = "".join(part if isinstance(part, str) else f"${{{json.dumps(part).encode().hex()}}}" for part in parts)
    parsed: dict[str, Any] = json.loads(text)
    return parsed


def unmask(value: str) -> Any:  # noqa: ANN401 - a reference is a mapping
    """The reference that `body_of` hid in a text."""
    if value.startswith("${") and value.endswith("}"):
        return json.loads(bytes.fromhex(value[2:-1]))
    return value


# --- What is emitted ------------------------------------------------------------------------------------------------


@cache
def emitted_names() -> frozenset[str]:
    """Names of all metrics that the library's source emits; error codes and reasons of dead letters among them."""
    reasons = {contract.dead_letter_metric(code) for code in (*ERROR_CODES, "a code of a handler")}
    return frozenset(counted() | ERROR_CODES | {LostLease.code} | reasons)


@cache
def counted() -> frozenset[str]:
    """Metrics of `contract.Metric` that a module hands to a ``count``, by itself or in what is counted later."""
    names = {name for path in LIBRARY.rglob("*.py") for name in _counted_in(path)}
    return frozenset(getattr(Metric, name) for name in names) | {LostLease.code}  # counted as every error is


def _counted_in(path: Path) -> Iterator[str]:
    """``Metric.X`` where it is a value: an argument, a result, an entry; not where it is only compared or described."""
    if path.name in {"contract.py", "telemetry.py"}:
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    compared = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare | ast.Set | ast.BinOp)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="Metric"), attr=name) if id(node) not in compared:
                yield name


def services(template: Mapping[str, Any]) -> set[str]:
    """Names under which the functions of a template emit their metrics."""
    found = set()
    for resource in template["Resources"].values():
        properties = resource.get("Properties", {})
        if resource["Type"] != "AWS::Lambda::Function" or "Handler" not in properties:
            continue
        package, _, _ = str(properties["Handler"]).rpartition(".")
        module = package.removeprefix("claim_check.handlers.")
        if module in SERVICE_SETTINGS:
            variable, service = SERVICE_SETTINGS[module]
            found.add(service(properties["Environment"]["Variables"][variable]))
    return found


def emits(namespace: str, name: str, dimensions: tuple[str, ...]) -> bool:
    """Whether AWS or the library emits such a metric."""
    if namespace == METRIC_NAMESPACE:
        return name in emitted_names() and dimensions == (METRIC_DIMENSION,)
    return (namespace, name, dimensions) in AWS_METRICS
