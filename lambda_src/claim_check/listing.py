"""The lister of reconciliations: all objects under a prefix in flat memory, to be resumed anywhere (R7.1, R10.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from claim_check.ports import ListedObject, ObjectListing


def pages(
    listing: ObjectListing,
    *,
    bucket: str,
    prefix: str = "",
    start_after: str = "",
    pace: Callable[[], object] | None = None,
) -> Iterator[tuple[ListedObject, ...]]:
    """All objects under a prefix, in pages of up to a thousand: one request each, made when the page is asked for.

    Keep the key of the last object that is done with: a run that ended there is resumed with it.

    Args:
        listing: The bucket.
        bucket: Its name.
        prefix: Beginning of the keys; empty lists all.
        start_after: Where an earlier run ended; empty begins at the start.
        pace: Called before every request: waits where requests are to be spread. By default nobody waits.

    Raises:
        ReadRefused: The store refuses, or there is no such bucket.
        Unavailable: Throttled, failed, or no answer.
    """
    after, more = start_after, True
    while more:
        if pace is not None:
            pace()
        page = listing.page(bucket=bucket, prefix=prefix, start_after=after)
        if page.objects:
            after = page.objects[-1].key
            yield tuple(page.objects)
        more = page.more and bool(page.objects)
