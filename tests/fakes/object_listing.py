"""A bucket in memory, as far as the `ObjectListing` port goes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from claim_check.ports import ListedObject, ListingPage
from tests.fakes.clock import START
from tests.fakes.faults import Faults

PAGE = 1000


@dataclass
class FakeListing:
    """The `ObjectListing` port; its call is named ``page`` in `faults`.

    Attributes:
        faults: Failures to come.
        objects: What is listed, by bucket and key.
        page_size: Objects that one answer holds.
    """

    faults: Faults = field(default_factory=Faults)
    objects: dict[tuple[str, str], ListedObject] = field(default_factory=dict)
    page_size: int = PAGE

    def page(self, *, bucket: str, prefix: str, start_after: str) -> ListingPage:
        """Objects in the order of their keys' bytes."""
        with self.faults.around("page"):
            keys = sorted(
                (
                    key
                    for at, key in self.objects
                    if at == bucket and key.startswith(prefix) and _bytes(key, start_after)
                ),
                key=str.encode,
            )
            return ListingPage(
                [self.objects[bucket, key] for key in keys[: self.page_size]], more=len(keys) > self.page_size
            )

    def add(self, bucket: str, keys: Iterable[str], *, at: float = START, size: int = 1) -> None:
        """Put objects into the bucket."""
        for key in keys:
            self.objects[bucket, key] = ListedObject(
                key=key, content_length=size, etag=f"etag-of-{key}", last_modified=datetime.fromtimestamp(at, UTC)
            )


def _bytes(key: str, start_after: str) -> bool:
    return key.encode() > start_after.encode()
