"""What every `ObjectSource` does: exactly the object that is meant, or none (R10.2)."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from claim_check.adapters.ingest_objects import S3ObjectSource
from claim_check.adapters.session import Clients
from claim_check.ingest.ports import ObjectSource
from tests.fakes.clock import FakeClock
from tests.fakes.ingest import BUCKET, FakeBucket, etag_of

KEY = "a b/é+%.txt"


@dataclass
class Case:
    """A bucket.

    Attributes:
        source: Looks and reads.
        bucket: Its name.
        put: Writes the object; returns its version.
        delete: Removes it, or puts a delete marker on it.
    """

    source: ObjectSource
    bucket: str
    put: Callable[[bytes], str | None]
    delete: Callable[[], object]

    def read(self, *, version_id: str | None = None, etag: str | None = None) -> bytes | None:
        """The content; None if there is no such object."""
        opened = self.source.open(bucket=self.bucket, key=KEY, version_id=version_id, etag=etag)
        if opened is None:
            return None
        content = opened.body.read(opened.found.state.size or 1)
        opened.body.close()
        return content

    def seen(self, *, version_id: str | None = None, etag: str | None = None) -> str | None:
        """The entity tag; None if there is no such object."""
        found = self.source.head(bucket=self.bucket, key=KEY, version_id=version_id, etag=etag)
        return None if found is None else found.state.etag


@pytest.fixture(
    params=[
        "versioned, fake",
        "unversioned, fake",
        pytest.param("versioned, s3", marks=pytest.mark.integration),
        pytest.param("unversioned, s3", marks=pytest.mark.integration),
    ]
)
def case(request: pytest.FixtureRequest) -> Case:
    """Each side in turn, with and without versions."""
    kind, side = request.param.split(", ")
    return _case(request, side, versioned=kind == "versioned")


@pytest.fixture(params=["fake", pytest.param("s3", marks=pytest.mark.integration)])
def versioned(request: pytest.FixtureRequest) -> Case:
    """Each side in turn, with versions."""
    return _case(request, request.param, versioned=True)


def _case(request: pytest.FixtureRequest, side: str, *, versioned: bool) -> Case:
    if side == "s3":
        clients: Clients = request.getfixturevalue("clients")
        return _real(clients, versioned=versioned)
    fake = FakeBucket(FakeClock(), versioned=versioned)

    def put(content: bytes) -> str | None:
        fake.put(KEY, content)
        return fake.versions[KEY][-1].version_id

    return Case(fake, BUCKET, put, lambda: fake.delete(KEY))


def _real(clients: Clients, *, versioned: bool) -> Case:
    s3, bucket = clients.s3, f"objects-{uuid.uuid4()}"
    s3.create_bucket(Bucket=bucket)
    if versioned:
        s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})

    def put(content: bytes) -> str | None:
        return s3.put_object(Bucket=bucket, Key=KEY, Body=content, Metadata={"origin": "here"}).get("VersionId")

    return Case(S3ObjectSource(s3), bucket, put, lambda: s3.delete_object(Bucket=bucket, Key=KEY))


def test_what_is_not_there_is_none(case: Case) -> None:
    assert case.seen() is None
    assert case.read(etag=etag_of(b"one")) is None


def test_an_object_is_told_with_its_state(case: Case) -> None:
    version = case.put(b"one")
    for found in (
        case.source.head(bucket=case.bucket, key=KEY),
        getattr(case.source.open(bucket=case.bucket, key=KEY, version_id=None, etag=None), "found", None),
    ):
        assert found is not None
        assert (found.state.version_id, found.state.etag, found.state.size) == (version, etag_of(b"one"), 3)
        assert found.state.modified_at is not None
        assert found.metadata == {"origin": "here"}


def test_an_object_is_read_only_if_it_still_has_its_tag(case: Case) -> None:
    """R10.2: never new bytes under an old sequencer."""
    case.put(b"one")
    assert case.read(etag=etag_of(b"one")) == b"one"
    assert case.seen(etag=etag_of(b"one")) == etag_of(b"one")
    case.put(b"two")
    assert case.read(etag=etag_of(b"one")) is None
    assert case.seen(etag=etag_of(b"one")) is None


def test_an_object_that_was_removed_is_none(case: Case) -> None:
    case.put(b"one")
    case.delete()
    assert case.seen() is None
    assert case.read(etag=etag_of(b"one")) is None
    assert case.read() is None


def test_the_very_version_is_read_whatever_came_after(versioned: Case) -> None:
    version = versioned.put(b"one")
    versioned.put(b"two")
    versioned.delete()
    assert versioned.read(version_id=version) == b"one"
    assert versioned.seen(version_id=version) == etag_of(b"one")


def test_a_version_that_is_gone_is_none(versioned: Case) -> None:
    versioned.put(b"one")
    assert versioned.read(version_id="never-was") is None
    assert versioned.seen(version_id="never-was") is None


def test_an_empty_object_is_one(case: Case) -> None:
    case.put(b"")
    assert case.read(etag=etag_of(b"")) == b""
