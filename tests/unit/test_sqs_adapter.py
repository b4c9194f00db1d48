"""What SQS answers to batches: every entry's own result, chunks of ten, nothing taken apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from claim_check.adapters.session import Clients, config_for
from claim_check.adapters.sqs import SqsQueue
from claim_check.delivery import Delivery
from claim_check.errors import PublishError, ReceiveRefused, Unavailable
from claim_check.ports import MessageAttribute, OutgoingMessage, SendResult, VisibilityChange

URL = "https://sqs.eu-west-1.amazonaws.com/0/documents"


@pytest.fixture(scope="module")
def client() -> Any:  # noqa: ANN401 - a boto3 client
    """One client for all."""
    session: Any = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name="eu-west-1")
    return session.client("sqs", config=config_for("sqs"))


@pytest.fixture
def stub(client: Any) -> Iterator[Stubber]:  # noqa: ANN401 - a boto3 client
    """Answers in place of SQS."""
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def message(body: str = "x") -> OutgoingMessage:
    return OutgoingMessage(body=body, attributes={})


def test_an_entry_carries_everything(client: Any, stub: Stubber) -> None:  # noqa: ANN401
    trace = "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1"
    entry = {
        "Id": "0",
        "MessageBody": "{}",
        "MessageAttributes": {
            "a": {"DataType": "String", "StringValue": "ü"},
            "b": {"DataType": "Binary.gif", "BinaryValue": b"\0"},
        },
        "MessageGroupId": "g",
        "MessageDeduplicationId": "d",
        "MessageSystemAttributes": {"AWSTraceHeader": {"DataType": "String", "StringValue": trace}},
    }
    answer = {"Successful": [{"Id": "0", "MessageId": "s", "MD5OfMessageBody": "m"}], "Failed": []}
    stub.add_response("send_message_batch", answer, {"QueueUrl": URL, "Entries": [entry]})
    attributes = {
        "a": MessageAttribute(data_type="String", value="ü"),
        "b": MessageAttribute(data_type="Binary.gif", value=b"\0"),
    }
    outgoing = OutgoingMessage(body="{}", attributes=attributes, group_id="g", deduplication_id="d", trace_header=trace)
    assert SqsQueue(client).send_batch(URL, [outgoing]) == [SendResult(sqs_message_id="s")]


def test_results_are_in_the_order_of_the_messages_whatever_the_answers_order(client: Any, stub: Stubber) -> None:  # noqa: ANN401
    answer = {
        "Successful": [
            {"Id": "2", "MessageId": "s2", "MD5OfMessageBody": "m"},
            {"Id": "0", "MessageId": "s0", "MD5OfMessageBody": "m"},
        ],
        "Failed": [{"Id": "1", "Code": "InternalError", "SenderFault": False, "Message": "secret"}],
    }
    stub.add_response("send_message_batch", answer)
    assert SqsQueue(client).send_batch(URL, [message() for _ in range(4)]) == [
        SendResult(sqs_message_id="s0"),
        SendResult(error_code="InternalError"),
        SendResult(sqs_message_id="s2"),
        SendResult(error_code="NoAnswer"),
    ]


@pytest.mark.parametrize(
    "code, status, error",
    [
        ("RequestThrottled", 400, Unavailable),
        ("AWS.SimpleQueueService.RequestThrottled", 400, Unavailable),
        ("ThrottlingException", 400, Unavailable),
        ("KmsThrottled", 400, Unavailable),
        ("InternalError", 500, Unavailable),
        ("ServiceUnavailable", 503, Unavailable),
        ("", 502, Unavailable),
        ("AWS.SimpleQueueService.NonExistentQueue", 400, PublishError),
        ("AWS.SimpleQueueService.BatchRequestTooLong", 400, PublishError),
        ("AccessDeniedException", 403, PublishError),
        ("InvalidParameterValue", 400, PublishError),
        ("KmsAccessDenied", 400, PublishError),
    ],
)
def test_errors_of_a_whole_call(client: Any, stub: Stubber, code: str, status: int, error: type[Exception]) -> None:  # noqa: ANN401
    stub.add_client_error("send_message_batch", code, "secret", status)
    with pytest.raises(error) as caught:
        SqsQueue(client).send_batch(URL, [message()])
    assert type(caught.value) is error
    assert "secret" not in str(caught.value)


# FIELD: awslabs/amazon-sqs-java-extended-client-lib#9, awslabs/amazon-sqs-python-extended-client-lib#28
def test_receipt_handles_go_as_they_came(client: Any, stub: Stubber) -> None:  # noqa: ANN401
    handle = "AQEB...-abc-def-..SEPARATOR..-/+="
    stub.add_response(
        "change_message_visibility_batch",
        {"Successful": [{"Id": "0"}], "Failed": []},
        {"QueueUrl": URL, "Entries": [{"Id": "0", "ReceiptHandle": handle, "VisibilityTimeout": 0}]},
    )
    assert SqsQueue(client).change_visibility(URL, [VisibilityChange(handle, 0)]) == []


def changes(count: int) -> list[VisibilityChange]:
    return [VisibilityChange(f"h{number}", number) for number in range(count)]


def visibility_call(stub: Stubber, sent: list[VisibilityChange], failed: tuple[int, ...] = ()) -> None:
    stub.add_response(
        "change_message_visibility_batch",
        {
            "Successful": [{"Id": str(place)} for place in range(len(sent)) if place not in failed],
            "Failed": [{"Id": str(place), "SenderFault": True, "Code": "InvalidParameterValue"} for place in failed],
        },
        {
            "QueueUrl": URL,
            "Entries": [
                {"Id": str(place), "ReceiptHandle": change.receipt_handle, "VisibilityTimeout": change.seconds}
                for place, change in enumerate(sent)
            ],
        },
    )


# FIELD: aws-powertools/powertools-lambda-java#663 (chunks of ten), NangoHQ/nango#7334 (Failed is looked at)
def test_visibility_goes_in_tens_and_what_failed_once_more(client: Any, stub: Stubber) -> None:  # noqa: ANN401
    wanted = changes(25)
    visibility_call(stub, wanted[:10], failed=(3,))
    visibility_call(stub, wanted[10:20])
    visibility_call(stub, wanted[20:], failed=(0, 4))
    visibility_call(stub, [wanted[3], wanted[20], wanted[24]], failed=(2,))
    assert SqsQueue(client).change_visibility(URL, wanted) == [wanted[24]]


def test_visibility_never_raises(client: Any, stub: Stubber) -> None:  # noqa: ANN401
    wanted = changes(12)
    stub.add_client_error("change_message_visibility_batch", "InternalError", "", 500)
    visibility_call(stub, wanted[10:])
    stub.add_client_error("change_message_visibility_batch", "AccessDenied", "", 403)
    assert SqsQueue(client).change_visibility(URL, wanted) == wanted[:10]


# --- Receiving ------------------------------------------------------------------------------------------------------


def receive(client: Any, **how: Any) -> Any:  # noqa: ANN401 - a boto3 client
    wanted = {"count": 10, "wait_seconds": 20, "visibility_seconds": 60, "attempt_id": None, **how}
    return SqsQueue(client).receive_batch(URL, **wanted)


@pytest.mark.parametrize("attempt", [None, "attempt-1"])
def test_a_receive_asks_for_everything(client: Any, stub: Stubber, attempt: str | None) -> None:  # noqa: ANN401
    wanted = {
        "QueueUrl": URL,
        "MaxNumberOfMessages": 3,
        "WaitTimeSeconds": 20,
        "VisibilityTimeout": 60,
        "MessageAttributeNames": ["All"],
        "MessageSystemAttributeNames": ["All"],
        **({"ReceiveRequestAttemptId": attempt} if attempt else {}),
    }
    system = {
        "SentTimestamp": "1783332930500",
        "ApproximateReceiveCount": "3",
        "MessageGroupId": "g",
        "AWSTraceHeader": "Root=1",
    }
    attributes = {
        "a": {"DataType": "String", "StringValue": "ü"},
        "b": {"DataType": "Binary.gif", "BinaryValue": b"\0"},
    }
    full = {"MessageId": "s", "ReceiptHandle": "AQEB...-abc-def-..SEPARATOR..-/+=", "Body": "{}"}
    bare = {"MessageId": "t", "ReceiptHandle": "h", "Body": "x"}
    messages = [full | {"Attributes": system, "MessageAttributes": attributes}, bare]
    stub.add_response("receive_message", {"Messages": messages}, wanted)
    assert receive(client, count=3, attempt_id=attempt) == [
        Delivery(
            sqs_message_id="s",
            receipt_handle="AQEB...-abc-def-..SEPARATOR..-/+=",
            body="{}",
            attributes={
                "a": MessageAttribute(data_type="String", value="ü"),
                "b": MessageAttribute(data_type="Binary.gif", value=b"\0"),
            },
            queue="documents",
            sent_at=1_783_332_930.5,
            receive_count=3,
            group_id="g",
            trace_header="Root=1",
        ),
        Delivery(sqs_message_id="t", receipt_handle="h", body="x", queue="documents"),
    ]


@pytest.mark.parametrize(
    "code, status, error",
    [
        ("RequestThrottled", 400, Unavailable),
        ("KmsThrottled", 400, Unavailable),
        ("InternalError", 500, Unavailable),
        ("AWS.SimpleQueueService.NonExistentQueue", 400, ReceiveRefused),
        ("AccessDeniedException", 403, ReceiveRefused),
        ("KmsAccessDenied", 400, ReceiveRefused),
    ],
)
def test_errors_of_a_receive(client: Any, stub: Stubber, code: str, status: int, error: type[Exception]) -> None:  # noqa: ANN401
    stub.add_client_error("receive_message", code, "secret", status)
    with pytest.raises(error) as caught:
        receive(client)
    assert type(caught.value) is error
    assert "secret" not in str(caught.value)


# FIELD: co-go/sqs-extended-client-go#153 (Failed is looked at), and what failed is tried once more
def test_deletes_go_in_tens_and_what_failed_once_more(client: Any, stub: Stubber) -> None:  # noqa: ANN401
    handles = [f"h{number}" for number in range(12)]

    def call(sent: list[str], failed: tuple[int, ...] = ()) -> None:
        stub.add_response(
            "delete_message_batch",
            {
                "Successful": [{"Id": str(place)} for place in range(len(sent)) if place not in failed],
                "Failed": [{"Id": str(place), "SenderFault": False, "Code": "InternalError"} for place in failed],
            },
            {"QueueUrl": URL, "Entries": [{"Id": str(place), "ReceiptHandle": one} for place, one in enumerate(sent)]},
        )

    call(handles[:10], failed=(3,))
    call(handles[10:])
    call([handles[3]], failed=(0,))
    assert SqsQueue(client).delete_batch(URL, handles) == [handles[3]]


def test_a_delete_never_raises(client: Any, stub: Stubber) -> None:  # noqa: ANN401
    stub.add_client_error("delete_message_batch", "InternalError", "", 500)
    stub.add_client_error("delete_message_batch", "AccessDenied", "", 403)
    assert SqsQueue(client).delete_batch(URL, ["h"]) == ["h"]


def test_long_polls_have_a_client_that_waits_longer_and_does_not_repeat() -> None:
    clients = Clients(boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name="eu-west-1"))
    usual, polling = clients.sqs.meta.config, clients.sqs_polling.meta.config
    options: Any = polling
    assert (options.read_timeout, options.retries["total_max_attempts"]) == (30, 1)
    assert options.user_agent_extra == "claim-check-sqs"
    assert usual.read_timeout == 10  # type: ignore[attr-defined]  # stubs
    assert clients.sqs_polling is clients.sqs_polling is not clients.sqs
