"""A bucket of payloads in memory: what a reconciliation lists, looks at and removes."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from claim_check.errors import AccessDenied
from claim_check.ports import ListedObject, ListingPage
from claim_check.reconciliation.ports import Look, Removal
from tests.fakes.faults import Faults


@dataclass(frozen=True, kw_only=True)
class FakePayload:
    """One version of an object."""

    etag: str
    version_id: str | None
    at: float
    size: int = 1
    uploaded: bool = False
    kept: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)
    held: bool = False


@dataclass
class FakePayloads:
    """The `Payloads` and `ObjectListing` ports. Calls: ``page``, ``look``, ``tags``, ``remove``.

    Attributes:
        faults: Failures to come.
        versioned: Whether the bucket keeps versions.
        objects: Versions by key, the newest last.
        page_size: Objects of one answer of the listing.
        denied: Whether every look is refused.
        hides_holds: Whether looks do not tell of holds, so that only the removal is refused.
        removed: Keys that were removed, in order.
    """

    faults: Faults = field(default_factory=Faults)
    versioned: bool = False
    objects: dict[str, list[FakePayload]] = field(default_factory=dict)
    page_size: int = 1000
    denied: bool = False
    hides_holds: bool = False
    removed: list[str] = field(default_factory=list)
    _count: int = 0
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def put(  # noqa: D417 - `key` is positional
        self,
        key: str,
        *,
        at: float,
        uploaded: bool = False,
        kept: bool = False,
        tags: Mapping[str, str] | None = None,
        held: bool = False,
        etag: str | None = None,
    ) -> None:
        """Write an object that was not there.

        Args:
            at: When, epoch seconds.
            uploaded: By grant.
            kept: For an outbox row.
            tags: Its tags.
            held: Under a legal hold.
            etag: By default that of the key: the same key is the same content.
        """
        with self._lock:
            self._count += 1
            made = FakePayload(
                etag=etag or f"etag-of-{key}",
                version_id=f"v{self._count}" if self.versioned else None,
                at=at,
                uploaded=uploaded,
                kept=kept,
                tags=tags or {},
                held=held,
            )
            self.objects[key] = [*(self.objects.get(key, []) if self.versioned else []), made]

    def current(self, key: str) -> FakePayload | None:
        """The newest version."""
        found = self.objects.get(key)
        return found[-1] if found else None

    def page(self, *, bucket: str, prefix: str, start_after: str) -> ListingPage:  # noqa: ARG002 - there is one bucket
        """List what is there now."""
        with self.faults.around("page"), self._lock:
            keys = sorted(
                (key for key in self.objects if key.startswith(prefix) and key.encode() > start_after.encode()),
                key=str.encode,
            )
            found = [
                ListedObject(
                    key=key,
                    content_length=self.objects[key][-1].size,
                    etag=self.objects[key][-1].etag,
                    last_modified=datetime.fromtimestamp(self.objects[key][-1].at, UTC),
                )
                for key in keys[: self.page_size]
            ]
            return ListingPage(found, more=len(keys) > self.page_size)

    def look(self, *, bucket: str, key: str, version_id: str | None = None) -> Look | None:  # noqa: ARG002 - as above
        """Look at an object."""
        with self.faults.around("look"), self._lock:
            if self.denied:
                raise AccessDenied("S3 refused")
            found = self._version(key, version_id)
            if found is None:
                return None
            return Look(
                etag=found.etag,
                version_id=found.version_id,
                last_modified=datetime.fromtimestamp(found.at, UTC),
                uploaded=found.uploaded,
                kept=found.kept,
                held=found.held and not self.hides_holds,
            )

    def tags(self, *, bucket: str, key: str, version_id: str | None) -> Mapping[str, str] | None:  # noqa: ARG002 - as above
        """Tags of an object."""
        with self.faults.around("tags"), self._lock:
            found = self._version(key, version_id)
            return None if found is None else dict(found.tags)

    def remove(self, *, bucket: str, key: str, seen: Look) -> Removal:  # noqa: ARG002 - as above
        """Remove exactly what was looked at."""
        with self.faults.around("remove"), self._lock:
            found = self._version(key, seen.version_id)
            if found is None:
                return "removed" if seen.version_id else "changed"
            if found.etag != seen.etag:
                return "changed"
            if found.held:
                return "refused"
            self.objects[key].remove(found)
            if not self.objects[key]:
                del self.objects[key]
            self.removed.append(key)
            return "removed"

    def _version(self, key: str, version_id: str | None) -> FakePayload | None:
        if version_id is None:
            return self.current(key)
        return next((one for one in self.objects.get(key, []) if one.version_id == version_id), None)
