"""What SQS tells of queues, and what it means when it does not (R9.1)."""

from __future__ import annotations

from collections.abc import Iterator

import boto3
import pytest
from botocore.stub import Stubber

from claim_check.errors import ReadRefused, Unavailable
from claim_check_ops.dlq.aws_queues import SqsDirectory

URL = "https://sqs.us-east-1.amazonaws.com/000000000000/orders-dlq.fifo"
ARN = "arn:aws:sqs:us-east-1:000000000000:orders-dlq.fifo"


class Stubbed:
    """The directory, and what SQS answers next."""

    def __init__(self) -> None:
        """Answer nothing yet."""
        session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1")
        client = session.client("sqs")
        self.sqs, self.directory = Stubber(client), SqsDirectory(client)
        self.sqs.activate()


@pytest.fixture
def stubbed() -> Iterator[Stubbed]:
    """All answers must be asked for."""
    made = Stubbed()
    yield made
    made.sqs.assert_no_pending_responses()


def test_a_queue_tells_its_facts(stubbed: Stubbed) -> None:
    attributes = {
        "QueueArn": ARN,
        "MessageRetentionPeriod": "345600",
        "ApproximateNumberOfMessages": "3",
        "ApproximateNumberOfMessagesNotVisible": "2",
        "ApproximateNumberOfMessagesDelayed": "1",
        "RedrivePolicy": '{"deadLetterTargetArn":"arn:x","maxReceiveCount":50}',
    }
    stubbed.sqs.add_response("get_queue_attributes", {"Attributes": attributes})
    facts = stubbed.directory.facts(URL)
    assert (facts.name, facts.fifo, facts.arn) == ("orders-dlq.fifo", True, ARN)
    assert (facts.retention_seconds, facts.visible, facts.in_flight) == (345_600, 3, 3)
    assert facts.dead_letters_to == "arn:x"


def test_a_queue_without_a_dlq_has_none(stubbed: Stubbed) -> None:
    stubbed.sqs.add_response("get_queue_url", {"QueueUrl": URL})
    stubbed.sqs.add_response("get_queue_attributes", {"Attributes": {"QueueArn": ARN, "MessageRetentionPeriod": "60"}})
    found = stubbed.directory.find("orders-dlq.fifo")
    assert found is not None
    assert found.dead_letters_to is None


@pytest.mark.parametrize("code", ["AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"])
def test_a_queue_that_is_not_there_is_none(stubbed: Stubbed, code: str) -> None:
    stubbed.sqs.add_client_error("get_queue_url", code, http_status_code=400)
    assert stubbed.directory.find("nowhere") is None


@pytest.mark.parametrize(
    "code, status, error",
    [("AccessDenied", 403, ReadRefused), ("RequestThrottled", 400, Unavailable), ("InternalError", 500, Unavailable)],
)
def test_what_sqs_does_not_tell_is_an_error_with_a_way_out(
    stubbed: Stubbed, code: str, status: int, error: type[Exception]
) -> None:
    stubbed.sqs.add_client_error("get_queue_url", code, http_status_code=status)
    stubbed.sqs.add_client_error("get_queue_attributes", code, http_status_code=status)
    with pytest.raises(error, match="orders"):
        stubbed.directory.find("orders")
    with pytest.raises(error, match="orders-dlq"):
        stubbed.directory.facts(URL)
