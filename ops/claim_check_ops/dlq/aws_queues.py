"""Finds queues on SQS."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NoReturn

from botocore.exceptions import BotoCoreError, ClientError

from claim_check.adapters.failures import code_of, kind_of
from claim_check.errors import ReadRefused, Unavailable
from claim_check_ops.dlq.ports import QueueFacts

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_NOT_THERE = frozenset({"NonExistentQueue", "QueueDoesNotExist"})


class SqsDirectory:
    """`claim_check_ops.dlq.ports.QueueDirectory` on SQS."""

    def __init__(self, client: SQSClient) -> None:
        """Use a client."""
        self._client = client

    def find(self, name: str) -> QueueFacts | None:
        """See `QueueDirectory.find`."""
        try:
            url = self._client.get_queue_url(QueueName=name)["QueueUrl"]
        except (ClientError, BotoCoreError) as error:
            if code_of(error) in _NOT_THERE:
                return None
            _raise(error, name)
        return self.facts(url)

    def facts(self, queue_url: str) -> QueueFacts:
        """See `QueueDirectory.facts`."""
        try:
            answer = self._client.get_queue_attributes(QueueUrl=queue_url, AttributeNames=["All"])
        except (ClientError, BotoCoreError) as error:
            _raise(error, queue_url.rpartition("/")[2])
        known = {str(name): value for name, value in answer["Attributes"].items()}
        policy = json.loads(known.get("RedrivePolicy") or "{}")
        hidden = ("ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed")
        return QueueFacts(
            url=queue_url,
            arn=known["QueueArn"],
            retention_seconds=int(known["MessageRetentionPeriod"]),
            visible=int(known.get("ApproximateNumberOfMessages", 0)),
            in_flight=sum(int(known.get(name, 0)) for name in hidden),
            dead_letters_to=policy.get("deadLetterTargetArn"),
        )


def _raise(error: ClientError | BotoCoreError, name: str) -> NoReturn:
    if kind_of(error) in {"transient", "conflict"}:
        raise Unavailable(f"SQS did not tell of the queue {name} ({code_of(error)})") from error
    raise ReadRefused(
        f"SQS refuses to tell of the queue {name}: {code_of(error)}; check its name, sqs:GetQueueUrl and "
        "sqs:GetQueueAttributes"
    ) from error
