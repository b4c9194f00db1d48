"""R4.5: what S3 answers, told apart by error code first and status second. What an emulator does not show."""

from __future__ import annotations

import base64
import hashlib
import io
import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
import urllib3
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import (
    BotoCoreError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    NoCredentialsError,
    ReadTimeoutError,
)
from botocore.response import StreamingBody
from botocore.stub import ANY, Stubber

from claim_check.adapters.s3 import S3Body, S3ObjectStore
from claim_check.adapters.session import make_client
from claim_check.errors import AccessDenied, ClaimCheckError, MissingPayload, PublishError, Unavailable
from claim_check.ports import ObjectExists, UploadedPart, UploadGone, WriteConflict

SHA256 = hashlib.sha256(b"abc").hexdigest()


def new_client() -> Any:  # noqa: ANN401 - a boto3 client
    session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name="eu-west-1")
    return make_client(session, "s3")


@pytest.fixture(scope="module")
def client() -> Any:  # noqa: ANN401 - a boto3 client
    """One client for all."""
    return new_client()


@pytest.fixture
def stub(client: Any) -> Iterator[Stubber]:  # noqa: ANN401 - a boto3 client
    """Answers in place of S3."""
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def put(store: S3ObjectStore) -> str | None:
    return store.put_if_absent(
        bucket="bucket",
        key="key",
        body=b"abc",
        content_length=3,
        sha256=SHA256,
        content_type="text/csv",
        metadata={"tenant-id": "t-1"},
    )


# FIELD: adobe/S3Mock#2790 (code first, 304), apache/james-project#3152 (409)
@pytest.mark.parametrize(
    "code, status, error",
    [
        ("PreconditionFailed", 412, ObjectExists),
        ("PreconditionFailed", 400, ObjectExists),
        ("412", 412, ObjectExists),
        ("304", 304, ObjectExists),
        ("ConditionalRequestConflict", 409, WriteConflict),
        ("OperationAborted", 409, WriteConflict),
        ("SlowDown", 503, Unavailable),
        ("InternalError", 500, Unavailable),
        ("ServiceUnavailable", 503, Unavailable),
        ("RequestTimeout", 400, Unavailable),
        ("ThrottlingException", 400, Unavailable),
        ("KMS.ThrottlingException", 400, Unavailable),
        ("", 502, Unavailable),
        ("Whatever", 429, Unavailable),
        ("AccessDenied", 403, PublishError),
        ("NoSuchBucket", 404, PublishError),
        ("BadDigest", 400, PublishError),
        ("XAmzContentChecksumMismatch", 400, PublishError),
        ("EntityTooLarge", 400, PublishError),
        ("InvalidRequest", 400, PublishError),
        ("KMS.DisabledException", 400, PublishError),
        ("ExpiredToken", 400, PublishError),
        ("SignatureDoesNotMatch", 403, PublishError),
    ],
)
def test_errors_of_a_put(client: Any, stub: Stubber, code: str, status: int, error: type[Exception]) -> None:  # noqa: ANN401
    stub.add_client_error("put_object", code, "key payloads/secret", status)
    with pytest.raises(error) as caught:
        put(S3ObjectStore(client))
    assert type(caught.value) is error
    assert "secret" not in str(caught.value)


def test_304_to_a_put_is_worth_a_warning(client: Any, stub: Stubber, caplog: pytest.LogCaptureFixture) -> None:  # noqa: ANN401
    stub.add_client_error("put_object", "304", "", 304)
    with caplog.at_level(logging.WARNING), pytest.raises(ObjectExists):
        put(S3ObjectStore(client))
    assert "304" in caplog.text


# FIELD: aws/aws-sdk-java#974 (403 and 404 told apart)
@pytest.mark.parametrize(
    "code, status, error",
    [
        ("NoSuchKey", 404, MissingPayload),
        ("NoSuchVersion", 404, MissingPayload),
        ("NoSuchBucket", 404, MissingPayload),
        ("404", 404, MissingPayload),
        ("MethodNotAllowed", 405, MissingPayload),
        ("405", 405, MissingPayload),
        ("InvalidArgument", 400, MissingPayload),
        ("AccessDenied", 403, AccessDenied),
        ("403", 403, AccessDenied),
        ("AllAccessDisabled", 403, AccessDenied),
        ("KMS.DisabledException", 400, AccessDenied),
        ("InvalidAccessKeyId", 403, AccessDenied),
        ("PermanentRedirect", 301, AccessDenied),
        ("SlowDown", 503, Unavailable),
        ("InternalError", 500, Unavailable),
        ("RequestTimeout", 400, Unavailable),
        ("503", 503, Unavailable),
        ("", 500, Unavailable),
    ],
)
def test_errors_of_a_read(client: Any, stub: Stubber, code: str, status: int, error: type[Exception]) -> None:  # noqa: ANN401
    stub.add_client_error("get_object", code, "key payloads/secret", status)
    with pytest.raises(error) as caught:
        S3ObjectStore(client).open(bucket="bucket", key="key", version_id="v")
    assert type(caught.value) is error
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "code, status, error",
    [("404", 404, None), ("405", 405, None), ("403", 403, AccessDenied), ("503", 503, Unavailable)],
)
def test_errors_of_a_head(client: Any, stub: Stubber, code: str, status: int, error: type[Exception] | None) -> None:  # noqa: ANN401
    stub.add_client_error("head_object", code, "", status)
    if error is None:
        assert S3ObjectStore(client).head(bucket="bucket", key="key") is None
    else:
        with pytest.raises(error):
            S3ObjectStore(client).head(bucket="bucket", key="key")


class Failing:
    """A client that cannot reach S3."""

    def __init__(self, error: BotoCoreError) -> None:
        """Fail with ``error``."""
        self._error = error

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any call
        """Every call fails."""

        def call(**_: object) -> None:
            raise self._error

        return call


@pytest.mark.parametrize(
    "cause, of_put, of_read",
    [
        (ConnectTimeoutError(endpoint_url="x"), Unavailable, Unavailable),
        (ReadTimeoutError(endpoint_url="x"), Unavailable, Unavailable),
        (EndpointConnectionError(endpoint_url="x"), Unavailable, Unavailable),
        (HTTPClientError(error="x"), Unavailable, Unavailable),
        (NoCredentialsError(), PublishError, AccessDenied),
    ],
)
def test_failures_of_the_client(
    cause: BotoCoreError, of_put: type[ClaimCheckError], of_read: type[ClaimCheckError]
) -> None:
    store = S3ObjectStore(Failing(cause))  # type: ignore[arg-type]
    with pytest.raises(of_put):
        put(store)
    for read in (
        lambda: store.open(bucket="b", key="k", version_id=None),
        lambda: store.head(bucket="b", key="k"),
    ):
        with pytest.raises(of_read):
            read()


def test_an_error_of_our_own_body_stays_what_it_is() -> None:
    wrapped = HTTPClientError(error="x")
    wrapped.__context__ = PublishError("payload: the file became shorter")
    with pytest.raises(PublishError, match="shorter"):
        put(S3ObjectStore(Failing(wrapped)))  # type: ignore[arg-type]


def test_a_put_is_conditional_checked_and_owned(client: Any, stub: Stubber) -> None:  # noqa: ANN401
    expected = {
        "Bucket": "bucket",
        "Key": "key",
        "Body": b"abc",
        "ContentLength": 3,
        "ContentType": "text/csv",
        "ChecksumSHA256": base64.b64encode(bytes.fromhex(SHA256)).decode(),
        "IfNoneMatch": "*",
        "Metadata": {"tenant-id": "t-1"},
    }
    # FIELD: gomods/athens#2165 (a policy that demands the header), awslabs/amazon-sqs-python-extended-client-lib#21
    more = {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "k", "ExpectedBucketOwner": "123456789012"}
    stub.add_response("put_object", {"VersionId": "v1"}, expected)
    stub.add_response("put_object", {"VersionId": "null"}, expected | more)
    assert put(S3ObjectStore(client)) == "v1"
    encryption = {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "k"}
    assert put(S3ObjectStore(client, expected_owner="123456789012", encryption=encryption)) is None


# FIELD: floci-io/floci#3083
@pytest.mark.parametrize(
    "checksum",
    [
        {"ChecksumSHA256": base64.b64encode(bytes(32)).decode() + "-3", "ChecksumType": "COMPOSITE"},
        {"ChecksumSHA256": base64.b64encode(bytes(32)).decode(), "ChecksumType": "COMPOSITE"},
        {},
    ],
)
def test_a_composite_checksum_is_not_the_objects(client: Any, stub: Stubber, checksum: dict[str, str]) -> None:  # noqa: ANN401
    stub.add_response("head_object", {"ContentLength": 3, "LastModified": datetime.now(UTC), **checksum})
    found = S3ObjectStore(client).head(bucket="b", key="k")
    assert found is not None
    assert found.sha256 is None


@pytest.mark.parametrize(
    "header, end",
    [
        ('expiry-date="Fri, 21 Dec 2012 00:00:00 GMT", rule-id="expire-payloads"', datetime(2012, 12, 21, tzinfo=UTC)),
        ('expiry-date="Fri, 21 Dec 2012 00:00:00 -0000"', datetime(2012, 12, 21, tzinfo=UTC)),
        ('expiry-date="some day"', None),
        ("NotImplemented", None),
        (None, None),
    ],
)
def test_the_end_that_a_lifecycle_rule_gives_an_object_is_read(
    client: Any,  # noqa: ANN401
    stub: Stubber,
    header: str | None,
    end: datetime | None,
) -> None:  # R12.1
    answer = {"ContentLength": 3, "LastModified": datetime.now(UTC)}
    stub.add_response("head_object", answer if header is None else {**answer, "Expiration": header})
    found = S3ObjectStore(client).head(bucket="b", key="k")
    assert found is not None
    assert found.expires_at == end


# --- In parts -------------------------------------------------------------------------------------------------------

BASE64 = base64.b64encode(bytes.fromhex(SHA256)).decode()
PART = UploadedPart(number=7, tag='"tag"', sha256=SHA256)
OF_UPLOAD = {"Bucket": "bucket", "Key": "key", "UploadId": "u"}
PARTS: dict[str, Callable[[S3ObjectStore], object]] = {
    "create_multipart_upload": lambda store: store.start_upload(
        bucket="bucket", key="key", content_type="text/csv", metadata={"tenant-id": "t-1"}
    ),
    "upload_part": lambda store: store.upload_part(
        bucket="bucket", key="key", upload_id="u", number=7, body=io.BytesIO(b"abc"), content_length=3, sha256=SHA256
    ),
    "complete_multipart_upload": lambda store: store.complete_upload_if_absent(
        bucket="bucket", key="key", upload_id="u", parts=[PART], content_length=3
    ),
    "abort_multipart_upload": lambda store: store.abort_upload(bucket="bucket", key="key", upload_id="u"),
}


# FIELD: adobe/S3Mock#2790 (code first, 304), apache/james-project#3152 (409)
@pytest.mark.parametrize(
    "code, status, error",
    [
        ("PreconditionFailed", 412, ObjectExists),
        ("304", 304, ObjectExists),
        ("ConditionalRequestConflict", 409, WriteConflict),
        ("OperationAborted", 409, WriteConflict),
        ("NoSuchUpload", 404, UploadGone),
        ("SlowDown", 503, Unavailable),
        ("InternalError", 500, Unavailable),
        ("RequestTimeout", 400, Unavailable),
        ("AccessDenied", 403, PublishError),
        ("NoSuchBucket", 404, PublishError),
        ("BadDigest", 400, PublishError),
        ("InvalidPart", 400, PublishError),
        ("EntityTooSmall", 400, PublishError),
        ("InvalidRequest", 400, PublishError),
    ],
)
@pytest.mark.parametrize("operation", PARTS)
def test_errors_of_an_upload_in_parts(
    stub: Stubber, operation: str, code: str, status: int, error: type[Exception]
) -> None:
    stub.add_client_error(operation, code, "key payloads/secret", status)
    store = S3ObjectStore(stub.client)  # type: ignore[arg-type]
    if operation == "abort_multipart_upload" and error is UploadGone:
        PARTS[operation](store)
        return
    with pytest.raises(error) as caught:
        PARTS[operation](store)
    assert type(caught.value) is error
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("operation", PARTS)
def test_failures_of_the_client_in_parts(operation: str) -> None:
    with pytest.raises(Unavailable):
        PARTS[operation](S3ObjectStore(Failing(ReadTimeoutError(endpoint_url="x"))))  # type: ignore[arg-type]
    wrapped = HTTPClientError(error="x")
    wrapped.__context__ = PublishError("payload: the upload was stopped")
    with pytest.raises(PublishError, match="stopped"):
        PARTS[operation](S3ObjectStore(Failing(wrapped)))  # type: ignore[arg-type]


def test_parts_are_checked_and_only_the_completion_is_conditional(client: Any, stub: Stubber) -> None:  # noqa: ANN401
    encryption = {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "k"}
    owner = {"ExpectedBucketOwner": "123456789012"}
    start = {"Bucket": "bucket", "Key": "key", "ContentType": "text/csv", "Metadata": {"tenant-id": "t-1"}}
    listed = [{"PartNumber": 7, "ETag": '"tag"', "ChecksumSHA256": BASE64}]
    stub.add_response(
        "create_multipart_upload", {"UploadId": "u"}, start | {"ChecksumAlgorithm": "SHA256"} | encryption | owner
    )
    stub.add_response(
        "upload_part",
        {"ETag": '"tag"'},
        OF_UPLOAD | {"PartNumber": 7, "Body": ANY, "ContentLength": 3, "ChecksumSHA256": BASE64} | owner,
    )
    for version in ("v1", "null"):
        stub.add_response(
            "complete_multipart_upload",
            {"VersionId": version},
            OF_UPLOAD | {"MultipartUpload": {"Parts": listed}, "MpuObjectSize": 3, "IfNoneMatch": "*"} | owner,
        )
    stub.add_response("abort_multipart_upload", {}, OF_UPLOAD | owner)
    store = S3ObjectStore(client, expected_owner="123456789012", encryption=encryption)
    assert PARTS["create_multipart_upload"](store) == "u"
    assert PARTS["upload_part"](store) == PART
    assert PARTS["complete_multipart_upload"](store) == "v1"
    assert PARTS["complete_multipart_upload"](store) is None
    PARTS["abort_multipart_upload"](store)


def body_of(raw: Any, length: int) -> S3Body:  # noqa: ANN401 - urllib3's response or a stand-in
    return S3Body(StreamingBody(raw, length))


class Raw(io.BytesIO):
    """A connection that breaks at its end."""

    error: Exception | None = None

    def read(self, size: int | None = -1, /) -> bytes:
        """Read, then break."""
        piece = super().read(size)
        if not piece and self.error is not None:
            raise self.error
        return piece


@pytest.mark.parametrize(
    "error",
    [
        None,
        urllib3.exceptions.ProtocolError("Connection broken: IncompleteRead"),
        urllib3.exceptions.ReadTimeoutError(None, "", "timed out"),  # type: ignore[arg-type]
        urllib3.exceptions.SSLError("bad record"),
        ConnectionResetError(),
        TimeoutError(),
    ],
)
def test_a_body_that_breaks_off_is_unavailable(error: Exception | None) -> None:
    raw = Raw(b"abc")
    raw.error = error
    body = body_of(raw, 10)
    assert body.read(0) == b""
    assert body.read(3) == b"abc"
    with pytest.raises(Unavailable):
        body.read(3)


class Sent:
    """What went over the wire, with S3's answer to it."""

    def __init__(self, client: Any, answer: bytes = b"") -> None:  # noqa: ANN401 - a boto3 client
        """Listen to a client."""
        self.requests: list[Any] = []
        self._content = answer
        client.meta.events.register("before-send.s3.*", self.answer)

    def answer(self, request: Any, **_: object) -> AWSResponse:  # noqa: ANN401 - botocore's request
        """Take a request down and answer 200."""
        self.requests.append(request)
        raw: Any = urllib3.HTTPResponse(io.BytesIO(self._content), preload_content=False)
        headers = HTTPHeaders()
        headers["Content-Length"] = str(len(self._content))
        headers["ETag"] = '"tag"'
        return AWSResponse(request.url, 200, headers, raw)


def test_over_tls_the_signature_does_not_hash_the_body_again() -> None:
    client = new_client()
    sent = Sent(client)
    put(S3ObjectStore(client))
    (request,) = sent.requests
    assert request.headers["x-amz-content-sha256"] == b"UNSIGNED-PAYLOAD"
    assert request.headers["x-amz-checksum-sha256"] == base64.b64encode(bytes.fromhex(SHA256))
    assert request.headers["If-None-Match"] == b"*"
    assert b"AWS4-HMAC-SHA256" in request.headers["Authorization"]
    assert b"if-none-match" in request.headers["Authorization"]
    assert b"claim-check-sqs" in request.headers["User-Agent"]
    assert not {name.lower() for name in request.headers} & {"x-amz-checksum-crc32", "content-md5", "x-amz-trailer"}


def test_over_tls_a_part_is_hashed_once_and_a_completion_signs_its_condition() -> None:
    client = new_client()
    sent = Sent(client, b"<CompleteMultipartUploadResult><Bucket>b</Bucket></CompleteMultipartUploadResult>")
    PARTS["upload_part"](S3ObjectStore(client))
    PARTS["complete_multipart_upload"](S3ObjectStore(client))
    part, completion = sent.requests
    assert part.headers["x-amz-content-sha256"] == b"UNSIGNED-PAYLOAD"
    assert part.headers["x-amz-checksum-sha256"].decode() == BASE64
    assert not {name.lower() for name in part.headers} & {"if-none-match", "x-amz-trailer", "x-amz-checksum-crc32"}
    assert completion.headers["If-None-Match"] == b"*"
    assert b"if-none-match" in completion.headers["Authorization"]
    assert completion.headers["x-amz-mp-object-size"] == b"3"
    assert f"<ChecksumSHA256>{BASE64}</ChecksumSHA256>".encode() in completion.body


def test_a_completion_that_fails_after_its_200_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """S3 answers 200 before it has put the parts together, and says in the body whether it could."""
    monkeypatch.setattr("time.sleep", lambda _: None)  # between the SDK's own retries
    client = new_client()
    sent = Sent(client, b"<Error><Code>InternalError</Code><Message>try again</Message></Error>")
    with pytest.raises(Unavailable, match="InternalError"):
        PARTS["complete_multipart_upload"](S3ObjectStore(client))
    assert len(sent.requests) == 3


def test_without_tls_the_body_is_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    client = new_client()
    sent = Sent(client)
    put(S3ObjectStore(client))
    assert sent.requests[0].headers["x-amz-content-sha256"] == SHA256.encode()


def test_a_read_asks_for_no_second_checksum() -> None:
    client = new_client()
    sent = Sent(client)
    S3ObjectStore(client).open(bucket="bucket", key="key", version_id=None).body.close()
    assert "x-amz-checksum-mode" not in {name.lower() for name in sent.requests[0].headers}
