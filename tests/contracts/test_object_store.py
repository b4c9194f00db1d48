"""What every `ObjectStore` does (R2.3, R4.5)."""

from __future__ import annotations

import hashlib
import io
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO

import pytest

from claim_check.adapters.s3 import S3ObjectStore
from claim_check.adapters.session import Clients
from claim_check.errors import MissingPayload, PublishError
from claim_check.payload_source import Section
from claim_check.ports import ObjectExists, ObjectStore
from tests.fakes.clock import FakeClock
from tests.fakes.object_store import FakeObjectStore

METADATA = {"tenant-id": "t-1", "event-id": "e%201", "sha256": "0" * 64}


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
    second = versioned.put("k", b"second")
    assert second not in {None, first}
    assert versioned.read("k") == b"second"
    assert versioned.read("k", first) == b"first"


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
