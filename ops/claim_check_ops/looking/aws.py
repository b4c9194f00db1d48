"""The ports of looking on AWS."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from claim_check.adapters.failures import code_of, kind_of
from claim_check.adapters.inbox_reader import DynamoDbInboxReader
from claim_check.errors import ReadRefused, Unavailable
from claim_check_ops.looking.ports import Depth

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_sqs import SQSClient

METRIC_WINDOW: Final = timedelta(minutes=10)
"""SQS tells the age of the oldest message every minute, and not at all of a queue that nobody uses."""

_CONFIG: Final = Config(connect_timeout=5, read_timeout=20, retries={"mode": "standard", "max_attempts": 4})
_Answer = TypeVar("_Answer")


class AwsQueues:
    """`claim_check_ops.looking.ports.Queues` on SQS and CloudWatch."""

    def __init__(self, sqs: SQSClient, cloudwatch: CloudWatchClient, *, now: Callable[[], float] = time.time) -> None:
        """Use clients.

        Args:
            sqs: Tells depths.
            cloudwatch: Tells ages; it may refuse.
            now: Epoch seconds.
        """
        self._sqs = sqs
        self._cloudwatch = cloudwatch
        self._now = now

    def depth(self, queue_url: str) -> Depth:
        """See `claim_check_ops.looking.ports.Queues.depth`."""
        names: list[Any] = [
            "ApproximateNumberOfMessages",
            "ApproximateNumberOfMessagesNotVisible",
            "ApproximateNumberOfMessagesDelayed",
        ]
        answer = _asked("SQS", lambda: self._sqs.get_queue_attributes(QueueUrl=queue_url, AttributeNames=names))
        visible, in_flight, delayed = (int(answer["Attributes"].get(name, 0)) for name in names)
        return Depth(visible=visible, in_flight=in_flight, delayed=delayed)

    def oldest_seconds(self, queue_url: str) -> float | None:
        """See `claim_check_ops.looking.ports.Queues.oldest_seconds`."""
        now = datetime.fromtimestamp(self._now(), UTC)
        try:
            answer = self._cloudwatch.get_metric_statistics(
                Namespace="AWS/SQS",
                MetricName="ApproximateAgeOfOldestMessage",
                Dimensions=[{"Name": "QueueName", "Value": queue_url.rpartition("/")[2]}],
                StartTime=now - METRIC_WINDOW,
                EndTime=now,
                Period=60,
                Statistics=["Maximum"],
            )
        except (ClientError, BotoCoreError):  # it is no more than a help
            return None
        points = sorted(answer.get("Datapoints", []), key=lambda point: point["Timestamp"])
        return points[-1]["Maximum"] if points else None


class AwsPollers:
    """`claim_check_ops.looking.ports.Pollers` on Lambda."""

    def __init__(self, functions: LambdaClient) -> None:
        """Use a client."""
        self._functions = functions

    def states(self, function: str, queue_url: str) -> list[str]:
        """See `claim_check_ops.looking.ports.Pollers.states`."""
        queue = queue_url.rpartition("/")[2]
        pages = self._functions.get_paginator("list_event_source_mappings")
        found = _asked("Lambda", lambda: list(pages.paginate(FunctionName=function)))
        mappings = [mapping for page in found for mapping in page["EventSourceMappings"]]
        return [one.get("State", "") for one in mappings if one.get("EventSourceArn", "").rpartition(":")[2] == queue]


def queues() -> AwsQueues:
    """Of the environment's account and Region."""
    return AwsQueues(_client("sqs"), _client("cloudwatch"))


def pollers() -> AwsPollers:
    """Of the environment's account and Region."""
    return AwsPollers(_client("lambda"))


def inbox_reader(table: str) -> DynamoDbInboxReader:
    """Of the environment's account and Region."""
    return DynamoDbInboxReader(_client("dynamodb"), table, sleep=time.sleep)


def _client(service: str) -> Any:  # noqa: ANN401 - boto3 makes client classes at run time
    try:
        return boto3.Session().client(service, config=_CONFIG)
    except BotoCoreError as error:
        raise ReadRefused(f"{service}: {error}") from error


def _asked(service: str, ask: Callable[[], _Answer]) -> _Answer:
    try:
        return ask()
    except (ClientError, BotoCoreError) as error:
        failure = Unavailable if kind_of(error) == "transient" else ReadRefused
        raise failure(f"{service}: {code_of(error)}") from None
