"""An S3 in memory, as far as the `ObjectStore` port goes."""

from __future__ import annotations

import hashlib
import io
import threading
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import IO

from claim_check.checksums import Checksum
from claim_check.errors import MissingPayload, PublishError, Unavailable
from claim_check.ports import Clock, ObjectExists, OpenedObject, StoredObject, UploadedPart, UploadGone
from tests.fakes.faults import Faults


@dataclass(frozen=True)
class FakeObject:
    """A stored version: its headers and its bytes."""

    info: StoredObject
    content: bytes


@dataclass
class FakeUpload:
    """A multipart upload that is not completed.

    Attributes:
        key: Bucket and key.
        content_type: Of the object to be.
        metadata: Of the object to be.
        started: When, which is also the age of the object to be.
        parts: Content by part number.
    """

    key: tuple[str, str]
    content_type: str
    metadata: Mapping[str, str]
    started: datetime
    parts: dict[int, bytes] = field(default_factory=dict)


class FakeBody:
    """The body of an answer.

    Attributes:
        closed: Whether the connection was given back.
    """

    def __init__(self, content: bytes, faults: Faults, *, break_after: int | None = None) -> None:
        """Serve ``content``; the connection breaks after ``break_after`` bytes, if given."""
        self.closed = False
        self._stream = io.BytesIO(content if break_after is None else content[:break_after])
        self._breaks = break_after is not None
        self._faults = faults

    def read(self, size: int, /) -> bytes:
        """Read up to ``size`` bytes. Each read is a call named ``read`` of the faults."""
        assert size >= 0
        assert not self.closed, "read after close"
        with self._faults.around("read"):
            piece = self._stream.read(size)
            if not piece and size and self._breaks:
                raise Unavailable("the connection broke")
        return piece

    def close(self) -> None:
        """Give the connection back."""
        self.closed = True


@dataclass
class FakeObjectStore:
    """The `ObjectStore` port. Its calls are named in `faults` as in the port, and ``read``.

    Attributes:
        clock: Dates the objects.
        faults: Failures to come.
        versioned: Whether the bucket keeps versions.
        objects: Versions by bucket and key, the newest last; None is a delete marker.
        bodies: Every body that was opened, so that a test can see them closed.
        uploads: Multipart uploads that are neither completed nor aborted, by id.
    """

    clock: Clock
    faults: Faults = field(default_factory=Faults)
    versioned: bool = False
    objects: dict[tuple[str, str], list[FakeObject | None]] = field(default_factory=dict)
    bodies: list[FakeBody] = field(default_factory=list)
    uploads: dict[str, FakeUpload] = field(default_factory=dict)
    _break_after: int | None = None
    _versions: int = 0
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def put_if_absent(
        self,
        *,
        bucket: str,
        key: str,
        body: bytes | IO[bytes],
        content_length: int,
        sha256: str,
        content_type: str,
        metadata: Mapping[str, str],
    ) -> str | None:
        """Write an object unless the key exists."""
        with self.faults.around("put_if_absent"):
            content = body if isinstance(body, bytes) else body.read()
            self._check(key, content, content_length, sha256, {"content-type": content_type, **metadata})
            with self._lock:
                if self._current(bucket, key) is not None:
                    raise ObjectExists
                return self._write(bucket, key, content, content_type, metadata)

    def start_upload(self, *, bucket: str, key: str, content_type: str, metadata: Mapping[str, str]) -> str:
        """Start a multipart upload."""
        with self.faults.around("start_upload"), self._lock:
            self._check_headers(key, {"content-type": content_type, **metadata})
            self._versions += 1
            upload_id = f"upload-{self._versions}"
            now = datetime.fromtimestamp(self.clock.now(), UTC)
            self.uploads[upload_id] = FakeUpload((bucket, key), content_type, metadata, now)
            return upload_id

    def upload_part(
        self,
        *,
        bucket: str,
        key: str,
        upload_id: str,
        number: int,
        body: IO[bytes],
        content_length: int,
        sha256: str,
    ) -> UploadedPart:
        """Write a part."""
        with self.faults.around("upload_part"):
            upload = self._upload(bucket, key, upload_id)
            content = body.read()
            self._check(key, content, content_length, sha256, {})
            with self._lock:
                upload.parts[number] = content
            return UploadedPart(number=number, tag=f'"{sha256}"', sha256=sha256)

    def complete_upload_if_absent(
        self, *, bucket: str, key: str, upload_id: str, parts: Sequence[UploadedPart], content_length: int
    ) -> str | None:
        """Make an object of the parts unless the key exists."""
        with self.faults.around("complete_upload_if_absent"), self._lock:
            upload = self._upload(bucket, key, upload_id)
            if self._current(bucket, key) is not None:
                raise ObjectExists
            if [part.number for part in parts] != sorted(upload.parts) or not parts:
                raise PublishError("the store refused the completion: InvalidPart")
            if any(part.tag != _tag(upload.parts[part.number]) for part in parts):
                raise PublishError("the store refused the completion: InvalidPart")
            content = b"".join(upload.parts[part.number] for part in parts)
            if len(content) != content_length:
                raise PublishError("the store refused the completion: InvalidRequest")
            del self.uploads[upload_id]
            return self._write(bucket, key, content, upload.content_type, upload.metadata, started=upload.started)

    def abort_upload(self, *, bucket: str, key: str, upload_id: str) -> None:
        """Remove an upload."""
        with self.faults.around("abort_upload"), self._lock:
            upload = self.uploads.get(upload_id)
            assert upload is None or upload.key == (bucket, key)
            self.uploads.pop(upload_id, None)

    def head(self, *, bucket: str, key: str, version_id: str | None = None) -> StoredObject | None:
        """Look at an object."""
        with self.faults.around("head"), self._lock:
            found = self._current(bucket, key) if version_id is None else self._version(bucket, key, version_id)
            return None if found is None else found.info

    def open(self, *, bucket: str, key: str, version_id: str | None, checksum: bool = False) -> OpenedObject:
        """Start reading an object."""
        with self.faults.around("open"), self._lock:
            found = self._current(bucket, key) if version_id is None else self._version(bucket, key, version_id)
            if found is None:
                raise MissingPayload("there is no such object")
            body = FakeBody(found.content, self.faults, break_after=self._break_after)
            self._break_after = None
            self.bodies.append(body)
            return OpenedObject(found.info if checksum else replace(found.info, checksum=None), body)

    # --- What a test does behind everybody's back -------------------------------------------------------------------

    def content(self, bucket: str, key: str) -> bytes | None:
        """The bytes of an object, or None."""
        with self._lock:
            found = self._current(bucket, key)
            return None if found is None else found.content

    def keys(self, bucket: str) -> list[str]:
        """Keys of the objects that exist."""
        with self._lock:
            return sorted(key for at, key in self.objects if at == bucket and self._current(at, key) is not None)

    def tamper(self, bucket: str, key: str, content: bytes) -> None:
        """Replace the bytes; headers but the length stay."""
        with self._lock:
            found = self._current(bucket, key)
            assert found is not None
            info = replace(found.info, content_length=len(content), sha256=hashlib.sha256(content).hexdigest())
            self.objects[bucket, key][-1] = FakeObject(info, content)

    def delete(self, bucket: str, key: str) -> None:
        """Remove an object, or put a delete marker on it."""
        with self._lock:
            if self.versioned:
                self.objects.setdefault((bucket, key), []).append(None)
            else:
                self.objects.pop((bucket, key), None)

    def break_next_body(self, after: int) -> None:
        """The next body that is opened breaks after so many bytes."""
        self._break_after = after

    # --- Inside -----------------------------------------------------------------------------------------------------

    def _upload(self, bucket: str, key: str, upload_id: str) -> FakeUpload:
        with self._lock:
            upload = self.uploads.get(upload_id)
        if upload is None or upload.key != (bucket, key):
            raise UploadGone
        return upload

    @staticmethod
    def _check_headers(key: str, headers: Mapping[str, str]) -> None:
        if len(key.encode()) > 1024:
            raise PublishError("the store refused the write: KeyTooLongError")
        if not all(value.isascii() and value.isprintable() for value in headers.values()):
            raise PublishError("the store refused the write: header values must be ASCII")

    @classmethod
    def _check(cls, key: str, content: bytes, content_length: int, sha256: str, headers: Mapping[str, str]) -> None:
        cls._check_headers(key, headers)
        if len(content) != content_length:
            raise PublishError("the store refused the write: IncompleteBody")
        if hashlib.sha256(content).hexdigest() != sha256:
            raise PublishError("the store refused the write: BadDigest")

    def _current(self, bucket: str, key: str) -> FakeObject | None:
        versions = self.objects.get((bucket, key), [])
        return versions[-1] if versions else None

    def _version(self, bucket: str, key: str, version_id: str) -> FakeObject | None:
        versions = self.objects.get((bucket, key), [])
        return next((one for one in versions if one is not None and one.info.version_id == version_id), None)

    def _write(
        self,
        bucket: str,
        key: str,
        content: bytes,
        content_type: str,
        metadata: Mapping[str, str],
        *,
        started: datetime | None = None,
    ) -> str | None:
        """Write a version; one made of parts since ``started`` has that age, and no SHA-256 of the whole."""
        self._versions += 1
        info = StoredObject(
            content_length=len(content),
            content_type=content_type,
            version_id=f"v{self._versions}" if self.versioned else None,
            last_modified=started or datetime.fromtimestamp(self.clock.now(), UTC),
            sha256=hashlib.sha256(content).hexdigest() if started is None else None,
            metadata=dict(metadata),
            checksum=Checksum("CRC32", zlib.crc32(content).to_bytes(4, "big")),
        )
        versions = self.objects.setdefault((bucket, key), [])
        if not self.versioned:
            versions.clear()
        versions.append(FakeObject(info, content))
        return info.version_id


def _tag(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()}"'
