"""R2.8: what a grant's signature covers, recomputed by botocore's own signer; and tags, on botocore's stubs."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.stub import Stubber

from claim_check.adapters.session import Clients, config_for, make_client
from claim_check.adapters.uploads import S3UploadStore, signed_headers
from claim_check.errors import AccessDenied, InvalidSetting, MissingPayload, Unavailable
from claim_check.ports import SignedPut

SECRET, REGION = "not a real secret", "eu-west-1"
CONTENT = b"a file"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
PLACE: dict[str, Any] = {"bucket": "payloads-bucket", "key": "payloads/tenants/t-1/x/y/z"}
PINNED = {
    "content-length",
    "content-type",
    "host",
    "if-none-match",
    "x-amz-checksum-sha256",
    "x-amz-meta-tenant-id",
    "x-amz-tagging",
}


@pytest.fixture(autouse=True)
def no_own_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the environment says."""
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_PROFILE", "AWS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)


def session() -> boto3.Session:
    return boto3.Session(aws_access_key_id="AKIDEXAMPLE", aws_secret_access_key=SECRET, region_name=REGION)


def sign(store: S3UploadStore | None = None) -> SignedPut:
    """A grant."""
    clients = Clients(session())
    return (store or S3UploadStore(clients.s3, signer=clients.s3_signing)).sign_put(
        **PLACE,
        content_length=len(CONTENT),
        content_type="application/pdf",
        sha256=SHA256,
        metadata={"tenant-id": "t-1"},
        tags={"state": "unconfirmed"},
        expires_seconds=900,
    )


def accepted(url: str, headers: Mapping[str, str], *, method: str = "PUT", path: str | None = None) -> bool:
    """Whether S3 would find the signature right: recomputed of what is sent, for the headers that the URL names."""
    parts = urlsplit(url)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    auth = S3SigV4QueryAuth(Credentials("AKIDEXAMPLE", SECRET), "s3", REGION)
    unsigned = "&".join(pair for pair in parts.query.split("&") if not pair.startswith("X-Amz-Signature="))
    request = AWSRequest(method, f"{parts.scheme}://{parts.netloc}{path or parts.path}?{unsigned}")
    sent = {"host": parts.netloc, **{name.lower(): value for name, value in headers.items()}}
    for name in query["X-Amz-SignedHeaders"].split(";"):
        request.headers[name] = sent.get(name, "")
    request.context["timestamp"] = query["X-Amz-Date"]
    text = auth.string_to_sign(request, auth.canonical_request(request))
    return hmac.compare_digest(auth.signature(text, request), query["X-Amz-Signature"])


def test_everything_is_a_signed_header_and_nothing_moves_to_the_query() -> None:
    put = sign()
    assert signed_headers(put.url) == PINNED
    assert set(put.headers) == PINNED - {"host"}
    query = {name.lower() for name in parse_qs(urlsplit(put.url).query)}
    assert not query & PINNED
    assert put.headers["x-amz-tagging"] == "state=unconfirmed"
    assert put.headers["if-none-match"] == "*"


def test_the_address_names_the_region() -> None:
    """S3's global one redirects to buckets elsewhere, and an upload does not follow."""
    assert urlsplit(sign().url).netloc == f"payloads-bucket.s3.{REGION}.amazonaws.com"


def test_an_endpoint_of_ones_own_is_used_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:4566")
    client = make_client(session(), "s3", signing=True)
    assert urlsplit(sign(S3UploadStore(client)).url).path == f"/payloads-bucket/{PLACE['key']}"


def test_the_signature_is_right_for_what_was_granted() -> None:
    put = sign()
    assert accepted(put.url, put.headers)


@pytest.mark.parametrize("name", sorted(PINNED - {"host"}))
@pytest.mark.parametrize("value", ["", "1", "something else"])
def test_no_header_can_be_changed_or_left_out(name: str, value: str) -> None:
    put = sign()
    assert not accepted(put.url, {**put.headers, name: value})


@pytest.mark.parametrize("change", [{"method": "GET"}, {"method": "DELETE"}, {"path": "/payloads/tenants/t-2/x/y/z"}])
def test_neither_method_nor_key_can_be_changed(change: dict[str, str]) -> None:
    put = sign()
    assert not accepted(put.url, put.headers, **change)


def test_a_longer_life_is_not_accepted() -> None:
    put = sign()
    assert not accepted(put.url.replace("X-Amz-Expires=900", "X-Amz-Expires=9000"), put.headers)


def test_the_owner_of_the_bucket_is_pinned_too() -> None:
    put = sign(S3UploadStore(Clients(session()).s3, expected_owner="111122223333"))
    assert signed_headers(put.url) == PINNED | {"x-amz-expected-bucket-owner"}
    assert put.headers["x-amz-expected-bucket-owner"] == "111122223333"


def test_a_client_that_signs_less_gives_no_grant() -> None:
    """boto3's default signs by SigV2, which drops If-None-Match."""
    client = session().client("s3", config=Config(signature_version="s3"))
    with pytest.raises(InvalidSetting, match=r"if-none-match.*s3v4"):
        sign(S3UploadStore(client))


def test_what_other_versions_of_botocore_sign_besides_is_to_be_sent_and_anything_else_gives_no_grant() -> None:
    client = Clients(session()).s3_signing

    def add(name: str) -> None:
        def before_sign(request: AWSRequest, **_: object) -> None:
            request.headers[name] = "SHA256"

        client.meta.events.register("before-sign.s3.PutObject", before_sign, unique_id=name)

    add("x-amz-sdk-checksum-algorithm")
    put = sign(S3UploadStore(client))
    assert put.headers["x-amz-sdk-checksum-algorithm"] == "SHA256"
    assert accepted(put.url, put.headers)
    add("x-amz-something-new")
    with pytest.raises(InvalidSetting, match="x-amz-something-new"):
        sign(S3UploadStore(client))


def test_without_credentials_it_is_an_outage() -> None:
    client = boto3.Session(region_name=REGION).client("s3", config=config_for("s3"))
    client._request_signer._credentials = None  # as on a machine that has none
    with pytest.raises(Unavailable, match="NoCredentialsError"):
        sign(S3UploadStore(client))


# --- Tags -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def stub() -> Iterator[Stubber]:
    with Stubber(session().client("s3", config=config_for("s3"))) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def on(stub: Stubber, **options: Any) -> S3UploadStore:  # noqa: ANN401 - the store's own options
    """A store on stubbed calls."""
    client: Any = stub.client
    return S3UploadStore(client, **options)


REQUEST = {"Bucket": PLACE["bucket"], "Key": PLACE["key"]}


def test_tags_are_read_and_removed(stub: Stubber) -> None:
    store = on(stub)
    stub.add_response("get_object_tagging", {"TagSet": [{"Key": "state", "Value": "unconfirmed"}]}, REQUEST)
    stub.add_response("delete_object_tagging", {}, REQUEST)
    assert store.tags(**PLACE, version_id=None) == {"state": "unconfirmed"}
    store.replace_tags(**PLACE, version_id=None, tags={})


def test_of_a_version_and_others_stay(stub: Stubber) -> None:
    store = on(stub, expected_owner="111122223333")
    request = {**REQUEST, "VersionId": "v1", "ExpectedBucketOwner": "111122223333"}
    stub.add_response("get_object_tagging", {"TagSet": []}, request)
    stub.add_response("put_object_tagging", {}, {**request, "Tagging": {"TagSet": [{"Key": "a", "Value": "b"}]}})
    assert store.tags(**PLACE, version_id="v1") == {}
    store.replace_tags(**PLACE, version_id="v1", tags={"a": "b"})


@pytest.mark.parametrize(
    "code, status, error",
    [
        ("NoSuchKey", 404, MissingPayload),
        ("NoSuchVersion", 404, MissingPayload),
        ("MethodNotAllowed", 405, MissingPayload),
        ("AccessDenied", 403, AccessDenied),
        ("SlowDown", 503, Unavailable),
        ("InternalError", 500, Unavailable),
    ],
)
@pytest.mark.parametrize("call", ["get_object_tagging", "delete_object_tagging"])
def test_failures_are_told_apart(stub: Stubber, call: str, code: str, status: int, error: type[Exception]) -> None:
    store = on(stub)
    stub.add_client_error(call, code, http_status_code=status)
    with pytest.raises(error) as caught:
        store.tags(**PLACE, version_id=None) if call.startswith("get") else store.replace_tags(
            **PLACE, version_id=None, tags={}
        )
    assert PLACE["key"] not in str(caught.value)
