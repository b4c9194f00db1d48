"""The lister of reconciliations: one request a page, flat memory, resumed anywhere, at a pace (R7.1, R10.3)."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, datetime

import pytest

from claim_check.contract import MIB
from claim_check.errors import Unavailable
from claim_check.listing import pages
from claim_check.ports import ListedObject, ListingPage
from tests.fakes.object_listing import FakeListing

BUCKET = "b"
MOMENT = datetime(2026, 7, 6, tzinfo=UTC)


class Generated:
    """A listing of so many objects that no memory holds."""

    def __init__(self, count: int) -> None:
        """Hold so many."""
        self._count = count

    def page(self, *, bucket: str, prefix: str, start_after: str) -> ListingPage:
        """The next thousand."""
        assert bucket
        start = int(start_after.removeprefix(prefix) or "-1") + 1
        end = min(self._count, start + 1000)
        found = [
            ListedObject(key=f"{prefix}{number:09}", content_length=1, etag="e", last_modified=MOMENT)
            for number in range(start, end)
        ]
        return ListingPage(found, more=end < self._count)


def test_each_page_is_one_request_made_when_it_is_asked_for() -> None:
    listing = FakeListing(page_size=2)
    listing.add(BUCKET, "abcde")
    found = pages(listing, bucket=BUCKET)
    assert listing.faults.calls == []
    assert [one.key for one in next(found)] == ["a", "b"]
    assert listing.faults.calls == ["page"]
    assert [[one.key for one in page] for page in found] == [["c", "d"], ["e"]]
    assert listing.faults.calls == ["page"] * 3


def test_a_run_that_broke_off_is_resumed_with_the_last_key_it_was_done_with() -> None:
    listing = FakeListing(page_size=2)
    listing.add(BUCKET, "abcde")
    listing.faults.fail("page", Unavailable("later"), skip=1)
    seen: list[str] = []
    with pytest.raises(Unavailable):
        seen.extend(one.key for page in pages(listing, bucket=BUCKET) for one in page)
    again = pages(listing, bucket=BUCKET, start_after="b")
    assert [one.key for page in again for one in page] == ["c", "d", "e"]


def test_the_pace_is_kept_before_every_request() -> None:
    listing, order = FakeListing(page_size=1), list[str]()
    listing.add(BUCKET, "ab")
    listing.faults.on("page", lambda: order.append("page"), times=9)
    list(pages(listing, bucket=BUCKET, pace=lambda: order.append("pace")))
    assert order == ["pace", "page", "pace", "page"]


def test_an_answer_that_promises_more_and_holds_nothing_ends_the_listing() -> None:
    class Odd:
        def page(self, *, bucket: str, prefix: str, start_after: str) -> ListingPage:  # noqa: ARG002 - the port's
            return ListingPage([], more=True)

    assert list(pages(Odd(), bucket=BUCKET)) == []


def test_memory_stays_flat_over_many_pages() -> None:
    list(pages(Generated(2_000), bucket=BUCKET, prefix="k/"))
    tracemalloc.start()
    count = sum(len(page) for page in pages(Generated(100_000), bucket=BUCKET, prefix="k/"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 100_000
    assert peak < 2 * MIB
