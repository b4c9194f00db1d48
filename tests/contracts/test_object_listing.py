"""What every `ObjectListing` does, and the lister on top of it (R7.1, R10.3)."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from claim_check.adapters.listing import S3Listing
from claim_check.adapters.session import Clients
from claim_check.errors import ReadRefused
from claim_check.listing import pages
from claim_check.ports import ObjectListing
from tests.fakes.object_listing import FakeListing

ODD_KEYS = ["payloads/a b", "payloads/a+b", "payloads/a%20b", "payloads/é", "payloads/\U0001f600", "payloads/<&>", "z"]


@dataclass
class Case:
    """A bucket, and how objects come into it."""

    listing: ObjectListing
    bucket: str
    put: Callable[[str], object]

    def keys(self, *, prefix: str = "", start_after: str = "") -> list[str]:
        """All keys that the lister shows."""
        found = pages(self.listing, bucket=self.bucket, prefix=prefix, start_after=start_after)
        return [one.key for page in found for one in page]


@pytest.fixture(params=["fake", pytest.param("s3", marks=pytest.mark.integration)])
def case(request: pytest.FixtureRequest) -> Case:
    """Both sides."""
    bucket = f"listing-{uuid.uuid4()}"
    if request.param == "fake":
        fake = FakeListing()
        return Case(fake, bucket, lambda key: fake.add(bucket, [key], size=3))
    clients: Clients = request.getfixturevalue("clients")
    clients.s3.create_bucket(Bucket=bucket)
    return Case(S3Listing(clients.s3), bucket, lambda key: clients.s3.put_object(Bucket=bucket, Key=key, Body=b"abc"))


def test_an_empty_bucket_is_one_empty_page(case: Case) -> None:
    page = case.listing.page(bucket=case.bucket, prefix="", start_after="")
    assert (list(page.objects), page.more) == ([], False)
    assert case.keys() == []


def test_objects_come_in_the_order_of_their_keys_bytes(case: Case) -> None:
    for key in reversed(ODD_KEYS):
        case.put(key)
    assert case.keys() == sorted(ODD_KEYS, key=str.encode)


def test_an_object_is_shown_with_what_is_known_without_asking_again(case: Case) -> None:
    case.put("k")
    (found,) = case.listing.page(bucket=case.bucket, prefix="", start_after="").objects
    assert (found.key, found.content_length) == ("k", 3)
    assert found.etag
    assert '"' not in found.etag
    assert found.last_modified.utcoffset() is not None


def test_only_a_prefix_is_listed(case: Case) -> None:
    for key in ("payloads/tenants/a/1", "payloads/tenants/ab/1", "other"):
        case.put(key)
    assert case.keys(prefix="payloads/tenants/a/") == ["payloads/tenants/a/1"]


@pytest.mark.parametrize("place", range(len(ODD_KEYS)), ids=str)
def test_a_listing_goes_on_after_any_key(case: Case, place: int) -> None:
    for key in ODD_KEYS:
        case.put(key)
    ordered = sorted(ODD_KEYS, key=str.encode)
    assert case.keys(start_after=ordered[place]) == ordered[place + 1 :]


def test_a_listing_goes_on_after_a_key_that_is_gone(case: Case) -> None:
    for key in ("a", "c"):
        case.put(key)
    assert case.keys(start_after="b") == ["c"]


@pytest.mark.integration
def test_a_bucket_that_is_not_there_is_refused(clients: Clients) -> None:
    with pytest.raises(ReadRefused, match="NoSuchBucket"):
        S3Listing(clients.s3).page(bucket=f"nobody-{uuid.uuid4()}", prefix="", start_after="")


@pytest.mark.integration
def test_more_than_a_thousand_objects_come_in_pages(clients: Clients) -> None:
    bucket, keys = f"listing-{uuid.uuid4()}", [f"k/{number:04}" for number in range(1003)]
    clients.s3.create_bucket(Bucket=bucket)
    for key in keys:
        clients.s3.put_object(Bucket=bucket, Key=key, Body=b"")
    found = list(pages(S3Listing(clients.s3), bucket=bucket, prefix="k/"))
    assert [len(page) for page in found] == [1000, 3]
    assert [one.key for page in found for one in page] == keys
