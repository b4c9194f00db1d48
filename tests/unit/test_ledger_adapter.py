"""What DynamoDB and S3 answer an ingester, told apart; the answers that an emulator cannot be made to give (R10.2)."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError
from botocore.response import StreamingBody
from botocore.stub import ANY, Stubber

from claim_check.adapters.ingest_objects import S3ObjectSource
from claim_check.adapters.ledger import DynamoDbLedger, to_item
from claim_check.adapters.session import config_for
from claim_check.checksums import Checksum
from claim_check.errors import AccessDenied, CommitFailed, ReadRefused, Unavailable
from claim_check.ingest.ports import LedgerRefused, LedgerRow
from claim_check.ports import TableWrite, WriteRefused

ROW = LedgerRow(bucket="b", key="k", state="PRESENT", revision="r-1")
EFFECT = [TableWrite(action="Put", table="t", key={"pk": "a"}, item={"pk": "a"})]
NONE = {"Code": "None"}
REFUSED = {"Code": "ConditionalCheckFailed", "Item": to_item(ROW)}
THROTTLED = {"Code": "ThrottlingError"}
CONFLICT = {"Code": "TransactionConflict"}


def _client(service: str) -> Any:  # noqa: ANN401 - a boto3 client
    session: Any = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name="eu-west-1")
    return session.client(service, config=config_for(service))


@pytest.fixture(scope="module")
def dynamodb() -> Any:  # noqa: ANN401 - a boto3 client
    """One client for all."""
    return _client("dynamodb")


@pytest.fixture(scope="module")
def s3() -> Any:  # noqa: ANN401 - a boto3 client
    """One client for all."""
    return _client("s3")


@pytest.fixture
def tables(dynamodb: Any) -> Iterator[Stubber]:  # noqa: ANN401 - a boto3 client
    """Answers in place of DynamoDB."""
    with Stubber(dynamodb) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


@pytest.fixture
def objects(s3: Any) -> Iterator[Stubber]:  # noqa: ANN401 - a boto3 client
    """Answers in place of S3."""
    with Stubber(s3) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def cancelled(stub: Stubber, *reasons: dict[str, Any]) -> None:
    """Let the transaction be cancelled."""
    stub.add_client_error(
        "transact_write_items",
        "TransactionCanceledException",
        http_status_code=400,
        modeled_fields={"CancellationReasons": list(reasons)},
    )


@pytest.mark.parametrize(
    "reasons, reply",
    [
        ([REFUSED, NONE], LedgerRefused(ROW)),
        ([REFUSED, CONFLICT], LedgerRefused(ROW)),
        ([{"Code": "ConditionalCheckFailed"}, NONE], LedgerRefused(None)),
        ([NONE, REFUSED], WriteRefused(0)),
        ([CONFLICT, REFUSED], WriteRefused(0)),
    ],
)
def test_a_cancellation_says_whose_condition_refused(
    dynamodb: Any,  # noqa: ANN401 - a boto3 client
    tables: Stubber,
    reasons: list[dict[str, Any]],
    reply: object,
) -> None:
    cancelled(tables, *reasons)
    assert DynamoDbLedger(dynamodb, "ledger").write(ROW, seen="r-0", writes=EFFECT) == reply


@pytest.mark.parametrize(
    "reasons, error",
    [
        ([CONFLICT, NONE], Unavailable),
        ([NONE, THROTTLED], Unavailable),
        ([NONE, {"Code": "ValidationError"}], CommitFailed),
        ([{"Code": "ItemCollectionSizeLimitExceeded"}, NONE], CommitFailed),
    ],
)
def test_what_passes_is_told_apart_from_what_lasts(
    dynamodb: Any,  # noqa: ANN401 - a boto3 client
    tables: Stubber,
    reasons: list[dict[str, Any]],
    error: type[Exception],
) -> None:
    cancelled(tables, *reasons)
    with pytest.raises(error):
        DynamoDbLedger(dynamodb, "ledger").write(ROW, seen=None, writes=EFFECT)


@pytest.mark.parametrize(
    "code, status, error",
    [
        ("ThrottlingException", 400, Unavailable),
        ("TransactionInProgressException", 400, Unavailable),
        ("InternalServerError", 500, Unavailable),
        ("SomethingNew", 503, Unavailable),
        ("ValidationException", 400, CommitFailed),
        ("AccessDeniedException", 400, CommitFailed),
    ],
)
@pytest.mark.parametrize("call", ["put_item", "transact_write_items"])
def test_other_refusals_of_a_write(  # noqa: PLR0917 - parameters
    dynamodb: Any,  # noqa: ANN401 - a boto3 client
    tables: Stubber,
    call: str,
    code: str,
    status: int,
    error: type[Exception],
) -> None:
    tables.add_client_error(call, code, http_status_code=status)
    with pytest.raises(error):
        DynamoDbLedger(dynamodb, "ledger").write(ROW, seen=None, writes=EFFECT if call != "put_item" else [])


def test_a_repeated_write_is_the_same_request(dynamodb: Any, tables: Stubber) -> None:  # noqa: ANN401 - a boto3 client
    for _ in range(2):
        tables.add_response("transact_write_items", {}, {"TransactItems": ANY, "ClientRequestToken": "r-1"})
        assert DynamoDbLedger(dynamodb, "ledger").write(ROW, seen=None, writes=EFFECT) is None


@pytest.mark.parametrize(
    "code, status, error",
    [
        ("ThrottlingException", 400, Unavailable),
        ("InternalServerError", 500, Unavailable),
        ("AccessDeniedException", 400, ReadRefused),
        ("ResourceNotFoundException", 400, ReadRefused),
    ],
)
def test_refusals_of_a_read(
    dynamodb: Any,  # noqa: ANN401 - a boto3 client
    tables: Stubber,
    code: str,
    status: int,
    error: type[Exception],
) -> None:
    ledger = DynamoDbLedger(dynamodb, "ledger")
    tables.add_client_error("get_item", code, http_status_code=status)
    with pytest.raises(error):
        ledger.read(bucket="b", key="k")
    tables.add_client_error("query", code, http_status_code=status)
    with pytest.raises(error):
        list(ledger.rows(bucket="b", prefix="", start_after=""))
    tables.add_client_error("update_item", code, http_status_code=status)
    with pytest.raises(Unavailable):
        ledger.failed("m", expires_at=1)


class _Dead:
    """A client whose every call ends in the same error."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, _: str) -> Any:  # noqa: ANN401 - a client's method
        def call(**_: object) -> None:
            raise self._error

        return call


@pytest.mark.parametrize("kind", [ConnectTimeoutError, ReadTimeoutError])
def test_no_answer_is_unavailable(kind: Any) -> None:  # noqa: ANN401 - an error class of botocore's
    dead: Any = _Dead(kind(endpoint_url="https://x"))
    ledger, source = DynamoDbLedger(dead, "ledger"), S3ObjectSource(dead)
    for call in (
        lambda: ledger.write(ROW, seen=None, writes=[]),
        lambda: ledger.write(ROW, seen=None, writes=EFFECT),
        lambda: ledger.read(bucket="b", key="k"),
        lambda: ledger.failed("m", expires_at=1),
        lambda: source.head(bucket="b", key="k"),
        lambda: source.open(bucket="b", key="k", version_id=None, etag="e"),
    ):
        with pytest.raises(Unavailable):
            call()


# --- Objects --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code, status",
    [("NoSuchKey", 404), ("NoSuchVersion", 404), ("MethodNotAllowed", 405), ("PreconditionFailed", 412), ("404", 404),
     ("405", 405), ("412", 412), ("InvalidArgument", 400)],
)  # fmt: skip
@pytest.mark.parametrize("call", ["head_object", "get_object"])
def test_an_object_that_is_not_what_was_asked_for_is_none(
    s3: Any,  # noqa: ANN401 - a boto3 client
    objects: Stubber,
    call: str,
    code: str,
    status: int,
) -> None:
    objects.add_client_error(call, code, http_status_code=status)
    source = S3ObjectSource(s3)
    read = source.head if call == "head_object" else source.open
    assert read(bucket="b", key="k", version_id="v", etag=None) is None


@pytest.mark.parametrize(
    "code, status, error, text",
    [
        ("AccessDenied", 403, AccessDenied, "s3:ListBucket"),
        ("403", 403, AccessDenied, "s3:GetObject"),
        ("InvalidObjectState", 403, AccessDenied, "restore it"),
        ("SlowDown", 503, Unavailable, "SlowDown"),
        ("InternalError", 500, Unavailable, "InternalError"),
    ],
)
def test_what_s3_refuses_is_said_with_a_way_out(  # noqa: PLR0917 - parameters
    s3: Any,  # noqa: ANN401 - a boto3 client
    objects: Stubber,
    code: str,
    status: int,
    error: type[Exception],
    text: str,
) -> None:
    objects.add_client_error("get_object", code, http_status_code=status)
    with pytest.raises(error, match=text):
        S3ObjectSource(s3).open(bucket="b", key="k", version_id=None, etag="e")


def test_a_version_is_asked_for_by_its_id_and_else_the_entity_tag_must_match(s3: Any, objects: Stubber) -> None:  # noqa: ANN401 - a boto3 client
    """R10.2; the null version names none for good; a composite checksum is none of the content."""
    body = StreamingBody(io.BytesIO(b"one"), 3)
    answer = {
        "Body": body,
        "ContentLength": 3,
        "ETag": '"e"',
        "VersionId": "null",
        "ChecksumCRC32": "AAAAAA==",
        "ChecksumType": "FULL_OBJECT",
    }
    place = {"Bucket": "b", "Key": "k", "ChecksumMode": "ENABLED"}
    objects.add_response("get_object", answer, {**place, "IfMatch": '"e"'})
    opened = S3ObjectSource(s3).open(bucket="b", key="k", version_id=None, etag="e")
    assert opened is not None
    assert (opened.found.state.version_id, opened.found.state.etag, opened.found.state.size) == (None, "e", 3)
    assert opened.found.checksum == Checksum("CRC32", bytes(4))
    objects.add_response("head_object", {"ContentLength": 3, "VersionId": "v"}, {**place, "VersionId": "v"})
    found = S3ObjectSource(s3).head(bucket="b", key="k", version_id="v")
    assert found is not None
    assert (found.state.version_id, found.state.etag, found.checksum) == ("v", None, None)
