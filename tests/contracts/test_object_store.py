"""What every `ObjectStore` does (R2.3, R2.4, R4.5)."""

from __future__ import annotations

import hashlib
import io
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO

import pytest

from claim_check import payload_source
from claim_check.adapters.s3 import S3ObjectStore
from claim_check.adapters.session import Clients
from claim_check.errors import MissingPayload, PublishError
from claim_check.multipart import MultipartUploads
from claim_check.payload_source import Section
from claim_check.ports import ObjectExists, ObjectStore, UploadedPart, UploadGone
from claim_check.retries import Retry
from tests.fakes.clock import FakeClock
from tests.fakes.object_store import FakeObjectStore

METADATA = {"tenant-id": "t-1", "event-id": "e%201", "sha256": "0" * 64}
PARTS = (b"first part, " * 500_000, b"last part")


@dataclass
class Case:
    """A store with a bucket, and how its objects are removed behind its back."""

    store: ObjectStore
    bucket: str
    delete: Callable[[str], object]

    def put(
        self, key: str, content: bytes, body: bytes | IO[bytes] | None = None, sha256: str | None = None
    ) -> str | None:
        """Write an object; by default the right way."""
        return self.store.put_if_absent(
            bucket=self.bucket,
            key=key,
            body=content if body is None else body,
            content_length=len(content),
            sha256=sha256 or hashlib.sha256(content).hexdigest(),
            content_type="text/csv",
            metadata=METADATA,
        )

    def start(self, key: str) -> str:
        """Start a multipart upload."""
        return self.store.start_upload(bucket=self.bucket, key=key, content_type="text/csv", metadata=METADATA)

    def part(self, key: str, upload_id: str, number: int, content: bytes, sha256: str | None = None) -> UploadedPart:
        """Write a part; by default the right way."""
        return self.store.upload_part(
            bucket=self.bucket,
            key=key,
            upload_id=upload_id,
            number=number,
            body=io.BytesIO(content),
            content_length=len(content),
            sha256=sha256 or hashlib.sha256(content).hexdigest(),
        )

    def complete(
        self, key: str, upload_id: str, parts: list[UploadedPart], length: int = len(PARTS[0] + PARTS[1])
    ) -> str | None:
        """Make an object of the parts."""
        return self.store.complete_upload_if_absent(
            bucket=self.bucket, key=key, upload_id=upload_id, parts=parts, content_length=length
        )

    def upload(self, key: str, contents: tuple[bytes, ...] = ()) -> str | None:
        """Upload an object of parts from start to completion."""
        upload_id, contents = self.start(key), contents or PARTS
        parts = [self.part(key, upload_id, number, content) for number, content in enumerate(contents, 1)]
        return self.complete(key, upload_id, parts, sum(map(len, contents)))

    def abort(self, key: str, upload_id: str) -> None:
        """Remove an upload."""
        self.store.abort_upload(bucket=self.bucket, key=key, upload_id=upload_id)

    def read(self, key: str, version_id: str | None = None) -> bytes:
        """Read an object in small steps."""
        body = self.store.open(bucket=self.bucket, key=key, version_id=version_id).body
        content = b"".join(iter(lambda: body.read(7), b""))
        body.close()
        return content


@pytest.fixture(params=["fake", pytest.param("s3", marks=pytest.mark.integration)])
def kind(request: pytest.FixtureRequest) -> str:
    """Which side."""
    return str(request.param)


def case_of(kind: str, request: pytest.FixtureRequest, *, versioned: bool) -> Case:
    bucket = f"contract-{uuid.uuid4()}"
    if kind == "fake":
        fake = FakeObjectStore(FakeClock(), versioned=versioned)
        return Case(fake, bucket, lambda key: fake.delete(bucket, key))
    clients: Clients = request.getfixturevalue("clients")
    clients.s3.create_bucket(Bucket=bucket)
    if versioned:
        clients.s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    return Case(S3ObjectStore(clients.s3), bucket, lambda key: clients.s3.delete_object(Bucket=bucket, Key=key))


@pytest.fixture
def case(kind: str, request: pytest.FixtureRequest) -> Case:
    """A plain bucket."""
    return case_of(kind, request, versioned=False)


@pytest.fixture
def versioned(kind: str, request: pytest.FixtureRequest) -> Case:
    """A versioned bucket."""
    return case_of(kind, request, versioned=True)


@pytest.mark.parametrize("content", [b"", b"x", b"a,b\n" * 5000])
def test_put_head_open(case: Case, content: bytes) -> None:
    assert case.put("payloads/k", content) is None
    for info in (
        case.store.head(bucket=case.bucket, key="payloads/k"),
        case.store.open(bucket=case.bucket, key="payloads/k", version_id=None).info,
    ):
        assert info is not None
        assert (info.content_length, info.content_type) == (len(content), "text/csv")
        assert info.metadata == METADATA
        assert info.version_id is None
        assert info.last_modified is not None
        assert info.last_modified.utcoffset() is not None
    assert case.read("payloads/k") == content


def test_head_knows_the_stores_own_sha256(case: Case) -> None:
    case.put("k", b"abc")
    info = case.store.head(bucket=case.bucket, key="k")
    assert info is not None
    assert info.sha256 == hashlib.sha256(b"abc").hexdigest()


def test_second_put_is_refused_and_changes_nothing(case: Case) -> None:
    case.put("k", b"first")
    with pytest.raises(ObjectExists):
        case.put("k", b"second")
    assert case.read("k") == b"first"


def test_of_two_writers_one_wins(case: Case) -> None:
    def attempt(content: bytes) -> bool:
        try:
            case.put("k", content)
        except ObjectExists:
            return False
        return True

    contents = [f"writer {number}".encode() for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(attempt, contents))
    assert won.count(True) == 1
    assert case.read("k") == contents[won.index(True)]


def test_wrong_sha256_writes_nothing(case: Case) -> None:
    with pytest.raises(PublishError):
        case.put("k", b"abc", sha256=hashlib.sha256(b"abd").hexdigest())
    assert case.store.head(bucket=case.bucket, key="k") is None


def test_body_from_a_part_of_a_file(case: Case) -> None:
    content = bytes(range(256)) * 1000
    section = Section(io.BytesIO(b"before" + content + b"after"), 6, len(content))
    case.put("k", content, body=section)  # type: ignore[arg-type]  # `IO` is nominal
    assert case.read("k") == content


def test_missing_object(case: Case) -> None:
    assert case.store.head(bucket=case.bucket, key="k") is None
    with pytest.raises(MissingPayload):
        case.store.open(bucket=case.bucket, key="k", version_id=None)


def test_versions(versioned: Case) -> None:
    first = versioned.put("k", b"first")
    assert first
    versioned.delete("k")
    assert versioned.store.head(bucket=versioned.bucket, key="k") is None
    with pytest.raises(MissingPayload):
        versioned.read("k")
    assert versioned.read("k", first) == b"first"
    found = versioned.store.head(bucket=versioned.bucket, key="k", version_id=first)
    assert found is not None
    assert (found.content_length, found.version_id) == (5, first)
    second = versioned.put("k", b"second")
    assert second not in {None, first}
    assert versioned.read("k") == b"second"
    assert versioned.read("k", first) == b"first"


# --- In parts -------------------------------------------------------------------------------------------------------


def test_an_upload_is_an_object_once_it_is_completed(case: Case) -> None:
    upload_id = case.start("k")
    last = case.part("k", upload_id, 2, PARTS[1])
    first = case.part("k", upload_id, 1, PARTS[0])
    assert case.store.head(bucket=case.bucket, key="k") is None
    assert case.complete("k", upload_id, [first, last]) is None
    info = case.store.head(bucket=case.bucket, key="k")
    assert info is not None
    assert (info.content_length, info.content_type, info.metadata) == (sum(map(len, PARTS)), "text/csv", METADATA)
    body = case.store.open(bucket=case.bucket, key="k", version_id=None).body
    assert body.read(10**8) == b"".join(PARTS)
    body.close()


# FIELD: floci-io/floci#3083
@pytest.mark.parametrize("contents", [PARTS, (b"one part",)])
def test_a_store_has_no_sha256_of_what_came_in_parts(case: Case, contents: tuple[bytes, ...]) -> None:
    case.upload("k", contents)
    info = case.store.head(bucket=case.bucket, key="k")
    assert info is not None
    assert info.sha256 is None


def test_a_part_with_a_wrong_sha256_is_refused(case: Case) -> None:
    upload_id = case.start("k")
    with pytest.raises(PublishError):
        case.part("k", upload_id, 1, b"abc", sha256=hashlib.sha256(b"abd").hexdigest())
    with pytest.raises(PublishError):
        case.complete("k", upload_id, [UploadedPart(number=1, tag='"x"', sha256="0" * 64)])
    assert case.store.head(bucket=case.bucket, key="k") is None


def test_a_completion_where_something_is_changes_nothing(case: Case) -> None:
    upload_id = case.start("k")
    part = case.part("k", upload_id, 1, b"in parts")
    case.put("k", b"first")
    with pytest.raises(ObjectExists):
        case.complete("k", upload_id, [part], len(b"in parts"))
    assert case.read("k") == b"first"
    case.abort("k", upload_id)
    assert case.read("k") == b"first"


def test_a_put_where_an_upload_was_completed_is_refused(case: Case) -> None:
    case.upload("k", (b"in parts",))
    with pytest.raises(ObjectExists):
        case.put("k", b"second")
    assert case.read("k") == b"in parts"


def test_of_two_completions_one_wins(case: Case) -> None:
    contents = [f"writer {number}".encode() for number in range(4)]
    uploads = [case.start("k") for _ in contents]
    parts = [case.part("k", upload_id, 1, content) for upload_id, content in zip(uploads, contents, strict=True)]

    def attempt(number: int) -> bool:
        try:
            case.complete("k", uploads[number], [parts[number]], len(contents[number]))
        except ObjectExists:
            return False
        return True

    with ThreadPoolExecutor(len(contents)) as pool:
        won = list(pool.map(attempt, range(len(contents))))
    assert won.count(True) == 1
    assert case.read("k") == contents[won.index(True)]


@pytest.mark.parametrize("length", [len(PARTS[0]), len(PARTS[0] + PARTS[1]) + 1])
def test_a_completion_of_another_length_is_refused(case: Case, length: int) -> None:
    upload_id = case.start("k")
    parts = [case.part("k", upload_id, number, content) for number, content in enumerate(PARTS, 1)]
    with pytest.raises(PublishError):
        case.complete("k", upload_id, parts, length)
    assert case.store.head(bucket=case.bucket, key="k") is None


def test_a_part_may_be_sent_again(case: Case) -> None:
    upload_id = case.start("k")
    case.part("k", upload_id, 1, b"lost answer")
    part = case.part("k", upload_id, 1, b"last answer")
    case.complete("k", upload_id, [part], len(b"last answer"))
    assert case.read("k") == b"last answer"


def test_an_aborted_upload_is_gone_and_may_be_aborted_again(case: Case) -> None:
    upload_id = case.start("k")
    part = case.part("k", upload_id, 1, b"abc")
    case.abort("k", upload_id)
    case.abort("k", upload_id)
    with pytest.raises(UploadGone):
        case.part("k", upload_id, 1, b"abc")
    with pytest.raises(UploadGone):
        case.complete("k", upload_id, [part], 3)
    assert case.store.head(bucket=case.bucket, key="k") is None


def test_an_abort_after_the_completion_leaves_the_object(case: Case) -> None:
    upload_id = case.start("k")
    case.complete("k", upload_id, [case.part("k", upload_id, 1, b"abc")], 3)
    case.abort("k", upload_id)
    assert case.read("k") == b"abc"


def test_a_completed_upload_has_a_version(versioned: Case) -> None:
    first = versioned.upload("k", (b"in parts",))
    assert first
    assert versioned.read("k", first) == b"in parts"


def test_parts_of_one_file_side_by_side(case: Case) -> None:
    """Real requests that read one open file in turns."""
    content = bytes(range(256)) * 80_000
    with payload_source.opened(content, max_bytes=len(content), part_size=lambda _: 5 * 1024 * 1024) as source:
        uploads = MultipartUploads(
            case.store,
            bucket=case.bucket,
            before_send_seconds=3600,
            clock=FakeClock(),
            random=lambda: 0.5,
            retry=Retry(attempts=1),
        )
        assert len(source.parts) == 4
        uploads.put_if_absent(source, key="k", content_type="text/csv", metadata=METADATA)
    body = case.store.open(bucket=case.bucket, key="k", version_id=None).body
    assert body.read(10**8) == content
    body.close()


# FIELD: boto/botocore#1245
def test_read_0_first_and_beyond_the_end(case: Case) -> None:
    case.put("k", b"abc")
    body = case.store.open(bucket=case.bucket, key="k", version_id=None).body
    assert [body.read(0), body.read(2), body.read(0), body.read(100), body.read(1), body.read(1)] == [
        b"",
        b"ab",
        b"",
        b"c",
        b"",
        b"",
    ]
    body.close()


def test_a_body_closed_early_does_no_harm(case: Case) -> None:
    case.put("k", bytes(1_000_000))
    for _ in range(3):
        body = case.store.open(bucket=case.bucket, key="k", version_id=None).body
        body.read(1)
        body.close()
    assert len(case.read("k")) == 1_000_000
