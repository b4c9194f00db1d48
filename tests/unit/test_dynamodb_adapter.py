"""What DynamoDB answers, told apart; the answers that an emulator cannot be made to give (R4.1, R4.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ConnectTimeoutError, EndpointConnectionError, NoCredentialsError, ReadTimeoutError
from botocore.stub import ANY, Stubber

from claim_check.adapters.dynamodb import DynamoDbInbox
from claim_check.adapters.inbox_items import to_item
from claim_check.adapters.session import config_for
from claim_check.errors import CommitFailed, Unavailable
from claim_check.ports import Guard, InboxRow, Refused, TableWrite, WriteRefused

ROW = InboxRow(
    key="documents#t-1#0", state="IN_PROGRESS", consumer="documents", sqs_message_id="s-1", owner="o-1", lease_until=9.5
)
GUARD = Guard(owner="o-1", state="IN_PROGRESS")
WRITES = [
    TableWrite(action="Put", table="documents", key={"pk": "a"}, item={"pk": "a"}),
    TableWrite(action="Delete", table="documents", key={"pk": "b"}),
]

REFUSED = {"Code": "ConditionalCheckFailed", "Item": to_item(ROW)}
NONE = {"Code": "None"}
CONFLICT = {"Code": "TransactionConflict"}

PASSING = [
    ("ProvisionedThroughputExceededException", 400),
    ("RequestLimitExceeded", 400),
    ("ThrottlingException", 400),
    ("TransactionConflictException", 400),
    ("TransactionInProgressException", 400),
    ("InternalServerError", 500),
    ("ServiceUnavailable", 503),
    ("SomethingNew", 502),
]
LASTING = [
    ("ValidationException", 400),
    ("AccessDeniedException", 400),
    ("ResourceNotFoundException", 400),
    ("IdempotentParameterMismatchException", 400),
]


@pytest.fixture(scope="module")
def client() -> Any:  # noqa: ANN401 - a boto3 client
    """One client for all."""
    session: Any = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name="eu-west-1")
    return session.client("dynamodb", config=config_for("dynamodb"))


@pytest.fixture
def stub(client: Any) -> Iterator[Stubber]:  # noqa: ANN401 - a boto3 client
    """Answers in place of DynamoDB."""
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


@pytest.fixture
def inbox(client: Any) -> DynamoDbInbox:  # noqa: ANN401 - a boto3 client
    """The adapter."""
    return DynamoDbInbox(client, "inbox")


CALLS: dict[str, Callable[[DynamoDbInbox], object]] = {
    "update_item": lambda inbox: inbox.take(ROW, now=1.0, max_attempts=5),
    "put_item": lambda inbox: inbox.replace(ROW, guard=GUARD),
    "transact_write_items": lambda inbox: inbox.complete(ROW, guard=GUARD, writes=WRITES, token="o-1"),
}


@pytest.mark.parametrize("call", ["update_item", "put_item"])
@pytest.mark.parametrize("present", [ROW, None])
def test_a_failed_condition_is_a_refusal_with_the_present_row(
    inbox: DynamoDbInbox, stub: Stubber, call: str, present: InboxRow | None
) -> None:
    item = {"Item": to_item(present)} if present else {}
    stub.add_client_error(call, "ConditionalCheckFailedException", http_status_code=400, modeled_fields=item)
    assert CALLS[call](inbox) == Refused(present)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("code, status", PASSING)
def test_what_passes_by_itself_is_an_outage(
    inbox: DynamoDbInbox, stub: Stubber, call: str, code: str, status: int
) -> None:
    stub.add_client_error(call, code, http_status_code=status)
    with pytest.raises(Unavailable, match=f"{code}, HTTP {status}"):
        CALLS[call](inbox)


@pytest.mark.parametrize("call", ["update_item", "put_item"])
@pytest.mark.parametrize("code, status", LASTING)
def test_the_inboxs_own_writes_fail_only_for_the_infrastructure(
    inbox: DynamoDbInbox, stub: Stubber, call: str, code: str, status: int
) -> None:
    """Nothing of a message can make them invalid, so a lasting refusal is a misconfiguration of all messages."""
    stub.add_client_error(call, code, http_status_code=status)
    with pytest.raises(Unavailable):
        CALLS[call](inbox)


@pytest.mark.parametrize("code, status", LASTING)
def test_a_commit_refused_for_good_is_a_failed_commit(
    inbox: DynamoDbInbox, stub: Stubber, code: str, status: int
) -> None:
    stub.add_client_error("transact_write_items", code, http_status_code=status)
    with pytest.raises(CommitFailed, match=code):
        CALLS["transact_write_items"](inbox)


def cancel(stub: Stubber, *reasons: dict[str, Any]) -> None:
    stub.add_client_error(
        "transact_write_items",
        "TransactionCanceledException",
        http_status_code=400,
        modeled_fields={"CancellationReasons": list(reasons)},
    )


@pytest.mark.parametrize(
    "reasons, reply",
    [
        pytest.param([REFUSED, NONE, NONE], Refused(ROW), id="ours"),
        pytest.param([{"Code": "ConditionalCheckFailed"}, NONE, NONE], Refused(None), id="ours, no row"),
        pytest.param([REFUSED, REFUSED, NONE], Refused(ROW), id="ours before theirs"),
        pytest.param([REFUSED, CONFLICT, NONE], Refused(ROW), id="ours beside a conflict"),
        pytest.param([NONE, REFUSED, NONE], WriteRefused(0), id="their first"),
        pytest.param([NONE, NONE, REFUSED], WriteRefused(1), id="their second"),
        pytest.param([NONE, REFUSED, REFUSED], WriteRefused(0), id="both of theirs"),
        pytest.param([NONE, CONFLICT, REFUSED], WriteRefused(1), id="theirs beside a conflict"),
    ],
)
def test_a_cancelled_transaction_names_the_condition_that_failed(
    inbox: DynamoDbInbox, stub: Stubber, reasons: list[dict[str, Any]], reply: object
) -> None:
    """Item 0 is the inbox row: a lost lease is told before anything of the handler's."""
    cancel(stub, *reasons)
    assert CALLS["transact_write_items"](inbox) == reply


@pytest.mark.parametrize("code", ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"])
@pytest.mark.parametrize("place", range(3))
def test_conflicts_and_throttles_inside_a_cancellation_are_an_outage(
    inbox: DynamoDbInbox, stub: Stubber, code: str, place: int
) -> None:
    """The SDK does not retry those."""
    cancel(stub, *({"Code": code} if place == at else NONE for at in range(3)))
    with pytest.raises(Unavailable, match=code):
        CALLS["transact_write_items"](inbox)


@pytest.mark.parametrize("code", ["ValidationError", "ItemCollectionSizeLimitExceeded", "SomethingNew"])
def test_anything_else_inside_a_cancellation_is_a_failed_commit(inbox: DynamoDbInbox, stub: Stubber, code: str) -> None:
    cancel(stub, NONE, {"Code": code, "Message": "text with data"}, NONE)
    with pytest.raises(CommitFailed, match=f"{code}, HTTP 400") as caught:
        CALLS["transact_write_items"](inbox)
    assert "data" not in str(caught.value)


URL = "https://dynamodb.eu-west-1.amazonaws.com"


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "error",
    [
        EndpointConnectionError(endpoint_url=URL),
        ConnectTimeoutError(endpoint_url=URL),
        ReadTimeoutError(endpoint_url=URL),
    ],
    ids=lambda error: type(error).__name__,
)
def test_no_answer_is_an_outage(
    inbox: DynamoDbInbox, monkeypatch: pytest.MonkeyPatch, call: str, error: Exception
) -> None:
    def unanswered(**_: object) -> None:
        raise error

    monkeypatch.setattr(inbox._client, call, unanswered)
    with pytest.raises(Unavailable, match=f"no answer, {type(error).__name__}"):
        CALLS[call](inbox)


@pytest.mark.parametrize("call", CALLS)
def test_no_credentials_are_everybodys_outage(inbox: DynamoDbInbox, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    def unsigned(**_: object) -> None:
        raise NoCredentialsError

    monkeypatch.setattr(inbox._client, call, unsigned)
    with pytest.raises(Unavailable):
        CALLS[call](inbox)


def test_a_write_that_the_sdk_refuses_to_send_is_the_handlers_failed_commit(inbox: DynamoDbInbox) -> None:
    """Repeating it cannot help, and no other message is to blame."""
    names: Any = {"#a": 7}
    wrong = TableWrite(action="Delete", table="documents", key={"pk": "a"}, condition="#a = #a", names=names)
    with pytest.raises(CommitFailed, match="ParamValidationError"):
        inbox.complete(ROW, guard=GUARD, writes=[wrong], token="o-1")


def test_the_gate_is_one_request_that_answers_with_the_old_row(inbox: DynamoDbInbox, stub: Stubber) -> None:
    expected = {
        "TableName": "inbox",
        "Key": {"pk": {"S": ROW.key}},
        "UpdateExpression": ANY,
        "ConditionExpression": ANY,
        "ExpressionAttributeNames": ANY,
        "ExpressionAttributeValues": ANY,
        "ReturnValues": "ALL_OLD",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    stub.add_response("update_item", {}, expected)
    CALLS["update_item"](inbox)


def test_a_commit_without_writes_is_one_conditional_put(inbox: DynamoDbInbox, stub: Stubber) -> None:
    """No transaction, which costs twice the write units."""
    stub.add_response("put_item", {})
    assert inbox.complete(ROW, guard=GUARD, writes=[], token="o-1") is None
