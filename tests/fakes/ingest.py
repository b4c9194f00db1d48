"""A bucket that remembers its true history, and a ledger, in memory: the ports of `claim_check.ingest`."""

from __future__ import annotations

import hashlib
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote_plus

from claim_check.checksums import Checksum
from claim_check.ingest.changes import ObjectState
from claim_check.ingest.ports import FoundObject, LedgerRefused, LedgerRow, OpenedVersion
from claim_check.ports import Clock, ListedObject, ListingPage, TableWrite, WriteRefused
from tests.fakes.faults import Faults
from tests.fakes.object_store import FakeBody

BUCKET = "ingest"


def etag_of(content: bytes) -> str:
    """The entity tag of some content."""
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


@dataclass(frozen=True)
class Version:
    """One version of an object.

    Attributes:
        version_id: Its id; None where the bucket keeps no versions.
        content: Its bytes; None for a delete marker.
        written_at: When.
    """

    version_id: str | None
    content: bytes | None
    written_at: float

    @property
    def state(self) -> ObjectState | None:
        """The object; None for a delete marker."""
        if self.content is None:
            return None
        return ObjectState(self.version_id, etag_of(self.content), len(self.content), self.written_at)


@dataclass
class FakeBucket:
    """An S3 bucket: `ObjectSource` and `ObjectListing`, and the events that it would send.

    Attributes:
        clock: Dates what is written.
        faults: Failures to come.
        versioned: Whether it keeps versions.
        page_objects: Objects of one page of a listing.
        versions: Versions by key, the newest last.
        history: By key, the states that were current, in their true order; before the first there was nothing.
        bodies: Every body that was opened.
    """

    clock: Clock
    faults: Faults = field(default_factory=Faults)
    versioned: bool = False
    page_objects: int = 1000
    versions: dict[str, list[Version]] = field(default_factory=dict)
    history: dict[str, list[ObjectState | None]] = field(default_factory=dict)
    bodies: list[FakeBody] = field(default_factory=list)
    _number: int = 0

    # --- What users of the bucket do: each returns the event's record -----------------------------------------------

    def put(self, key: str, content: bytes, *, kind: str = "ObjectCreated:Put") -> dict[str, Any]:
        """Write an object."""
        version = Version(f"v{self._next()}" if self.versioned else None, content, self.clock.now())
        kept = self.versions.get(key, []) if self.versioned else []
        self.versions[key] = [*kept, version]
        self._changed(key)
        fields = {"size": len(content), "eTag": etag_of(content), "versionId": version.version_id}
        return self._record(kind, key, fields)

    def delete(self, key: str, *, family: str = "ObjectRemoved") -> dict[str, Any]:
        """Remove an object, or put a delete marker on it."""
        if not self.versioned:
            self.versions.pop(key, None)
            self._changed(key)
            return self._record(f"{family}:Delete", key, {})
        marker = Version(f"v{self._next()}", None, self.clock.now())
        self.versions.setdefault(key, []).append(marker)
        self._changed(key)
        return self._record(f"{family}:DeleteMarkerCreated", key, {"versionId": marker.version_id})

    def remove_version(self, key: str, version: Version) -> dict[str, Any]:
        """Remove a version, or a delete marker, for good."""
        self.versions[key].remove(version)
        self._changed(key)
        return self._record("ObjectRemoved:Delete", key, {"versionId": version.version_id})

    def current(self, key: str) -> ObjectState | None:
        """The object as it is."""
        kept = self.versions.get(key, [])
        return kept[-1].state if kept else None

    def _changed(self, key: str) -> None:
        states = self.history.setdefault(key, [None])
        if states[-1] != self.current(key) or not self.versioned:
            states.append(self.current(key))

    def _record(self, kind: str, key: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        told = {name: value for name, value in fields.items() if value is not None}
        return {
            "eventVersion": "2.1",
            "eventSource": "aws:s3",
            "awsRegion": "eu-central-1",
            "eventTime": datetime.fromtimestamp(self.clock.now(), UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "eventName": kind,
            "s3": {
                "s3SchemaVersion": "1.0",
                "bucket": {"name": BUCKET},
                "object": {"key": quote_plus(key, safe="/"), "sequencer": f"{self._next():018X}", **told},
            },
        }

    def _next(self) -> int:
        self._number += 1
        return self._number

    # --- ObjectSource -----------------------------------------------------------------------------------------------

    def head(
        self, *, bucket: str, key: str, version_id: str | None = None, etag: str | None = None
    ) -> FoundObject | None:
        """Look at an object."""
        with self.faults.around("head"):
            version = self._find(bucket, key, version_id, etag)
            return None if version is None else _found(version)

    def open(self, *, bucket: str, key: str, version_id: str | None, etag: str | None) -> OpenedVersion | None:
        """Start reading an object."""
        with self.faults.around("open"):
            version = self._find(bucket, key, version_id, etag)
            if version is None:
                return None
            body = FakeBody(version.content or b"", self.faults)
            self.bodies.append(body)
            return OpenedVersion(_found(version), body)

    def _find(self, bucket: str, key: str, version_id: str | None, etag: str | None) -> Version | None:
        kept = self.versions.get(key, []) if bucket == BUCKET else []
        if version_id is None:
            found = kept[-1] if kept else None
        else:
            found = next((one for one in kept if one.version_id == version_id), None)
        if found is None or found.content is None or (etag is not None and etag != etag_of(found.content)):
            return None
        return found

    # --- ObjectListing ----------------------------------------------------------------------------------------------

    def page(self, *, bucket: str, prefix: str, start_after: str) -> ListingPage:
        """List objects."""
        with self.faults.around("page"):
            assert bucket == BUCKET
            after = start_after.encode()
            keys = sorted((key for key in self.versions if key.startswith(prefix)), key=str.encode)
            keys = [key for key in keys if key.encode() > after and self.current(key) is not None]
            listed = [self._listed(key) for key in keys[: self.page_objects]]
            return ListingPage(listed, more=len(keys) > self.page_objects)

    def _listed(self, key: str) -> ListedObject:
        version = self.versions[key][-1]
        content = version.content or b""
        written = datetime.fromtimestamp(version.written_at, UTC)
        return ListedObject(key=key, content_length=len(content), etag=etag_of(content), last_modified=written)


def _found(version: Version) -> FoundObject:
    state, content = version.state, version.content or b""
    assert state is not None
    return FoundObject(
        state=state,
        content_type="text/plain",
        metadata={"origin": "here"},
        checksum=Checksum("CRC32", zlib.crc32(content).to_bytes(4, "big")),
    )


@dataclass
class FakeLedger:
    """`LedgerTable`, `LedgerReader` and `Checkpoints` in memory, with the handler's own tables.

    Conditions of a handler's writes are not evaluated: `refuse_write` says which write is refused.

    Attributes:
        faults: Failures to come.
        stored: Rows by bucket and key.
        failures: Failures by message.
        checkpoints: Checkpoints by name.
        applied: The handler's writes that were committed, in order.
        tokens: Revisions of committed writes: the same request again is done already.
        refuse_write: Number of the handler's write that its condition refuses, if any.
    """

    faults: Faults = field(default_factory=Faults)
    stored: dict[tuple[str, str], LedgerRow] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    checkpoints: dict[str, str] = field(default_factory=dict)
    applied: list[TableWrite] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    refuse_write: int | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def read(self, *, bucket: str, key: str) -> LedgerRow | None:
        """The row as it is now."""
        with self.faults.around("read_row"), self._lock:
            return self.stored.get((bucket, key))

    def write(
        self, row: LedgerRow, *, seen: str | None, writes: Sequence[TableWrite]
    ) -> LedgerRefused | WriteRefused | None:
        """Write a row and the handler's writes, together or not at all."""
        assert 0 < len(row.revision) <= 36
        with self.faults.around("write_row"), self._lock:
            if writes and row.revision in self.tokens:
                return None
            present = self.stored.get((row.bucket, row.key))
            if not self.matches(present, seen):
                return LedgerRefused(present)
            if self.refuse_write is not None and writes:
                return WriteRefused(self.refuse_write)
            self.stored[row.bucket, row.key] = row
            self.tokens.add(row.revision)
            self.applied.extend(writes)
            return None

    def matches(self, present: LedgerRow | None, seen: str | None) -> bool:
        """The condition of a write."""
        return (None if present is None else present.revision) == seen

    def failed(self, sqs_message_id: str, *, expires_at: int) -> int:
        """Count a failure."""
        assert expires_at > 0
        with self.faults.around("failed"), self._lock:
            self.failures[sqs_message_id] = self.failures.get(sqs_message_id, 0) + 1
            return self.failures[sqs_message_id]

    def row(self, *, bucket: str, key: str) -> LedgerRow | None:
        """One row."""
        return self.read(bucket=bucket, key=key)

    def rows(self, *, bucket: str, prefix: str, start_after: str) -> Iterator[LedgerRow]:
        """Rows in the order of their keys' bytes."""
        with self.faults.around("rows"), self._lock:
            keys = [key for at, key in self.stored if at == bucket and key.startswith(prefix)]
        for key in sorted(keys, key=str.encode):
            row = self.stored.get((bucket, key))
            if key.encode() > start_after.encode() and row is not None:
                yield row

    def load(self, name: str) -> str | None:
        """A checkpoint."""
        with self.faults.around("load"), self._lock:
            return self.checkpoints.get(name)

    def save(self, name: str, text: str) -> None:
        """Save a checkpoint."""
        with self.faults.around("save"), self._lock:
            self.checkpoints[name] = text
