"""A reconciliation of a million payloads: flat memory, and requests counted by the thousand (R7.1)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from benchmarks import child
from benchmarks.figure import BenchmarkError, Figure
from benchmarks.figures.peak_memory import peak_bytes
from claim_check.adapters.clock import SystemClock
from claim_check.adapters.inbox_reader import DynamoDbInboxReader
from claim_check.contract import DAY_SECONDS, MIB, InboxAttribute
from claim_check.ports import ListedObject, ListingPage
from claim_check.reconciliation import Outcome, Reconciliation
from claim_check.reconciliation.judging import Times
from claim_check.reconciliation.runs import InboxSource, Plan
from claim_check_ops.reconciling.checkpoint_file import Memory
from claim_check_ops.telemetry import SilentTelemetry

if TYPE_CHECKING:
    from benchmarks.stand import Stand

SMALL: Final = 10_000
LARGE: Final = 1_000_000
THOUSAND: Final = 1000
LIMIT_MIB: Final = 4.0
LIST_LIMIT: Final = 1.0
READ_LIMIT: Final = 10.0
SLOWDOWN_LIMIT: Final = 1.5
BUCKET: Final = "payloads"
CONSUMER: Final = "documents"
PREFIX: Final = "payloads/tenants/t-1/DocumentUploaded/"
OLD: Final = datetime(2026, 1, 1, tzinfo=UTC)
HOW: Final = "one consumer, every row completed; the real reader on a made-up DynamoDB client, a generated listing"


def measure(stand: Stand) -> Iterator[Figure]:
    """Memory, requests and time of a million payloads beside those of ten thousand."""
    stand.say("reconciling 1,000,000 payloads (some minutes)")
    found = child.run(f"{__name__}:reconcile", environment=stand.environment(), timeout=1200)
    added = (found["peak"] - found["peak_before"]) / MIB
    how = f"peak resident memory after 1,000,000 payloads, less that after 10,000; {HOW}"
    yield Figure.at_most("1,000,000 payloads add to peak memory", round(added, 2), LIMIT_MIB, unit="MiB", how=how)
    for name, limit in (("lists", LIST_LIMIT), ("reads", READ_LIMIT)):
        count = found[name] * THOUSAND / LARGE
        title = f"{'LIST' if name == 'lists' else 'batched reads'} per 1,000 payloads"
        yield Figure.at_most(title, count, limit, unit="requests", how=f"counted on the clients; {HOW}")
    how = "seconds for each payload of a million, over those of ten thousand"
    slower = (found["seconds"] / LARGE) / (found["seconds_before"] / SMALL)
    yield Figure.at_most(
        "a payload of a million takes, beside one of ten thousand",
        round(slower, 2),
        SLOWDOWN_LIMIT,
        unit="times",
        how=how,
    )


class Listing:
    """So many payloads, made up page by page."""

    def __init__(self, count: int) -> None:
        """Hold so many."""
        self._count = count
        self.requests = 0

    def page(self, *, bucket: str, prefix: str, start_after: str) -> ListingPage:  # noqa: ARG002 - the port's signature
        """The next thousand."""
        self.requests += 1
        start = int(start_after[len(PREFIX) : len(PREFIX) + 32], 16) + 1 if start_after else 0
        end = min(self._count, start + THOUSAND)
        objects = [
            ListedObject(key=f"{PREFIX}{number:032x}/{number:064x}", content_length=1, etag="e", last_modified=OLD)
            for number in range(start, end)
        ]
        return ListingPage(objects, more=end < self._count)


class Rows:
    """A DynamoDB client whose table has a completed row for each key."""

    def __init__(self) -> None:
        """Count from now on."""
        self.requests = 0

    def batch_get_item(self, *, RequestItems: Any) -> Any:  # noqa: ANN401, N803 - boto3's
        """A row for each key."""
        self.requests += 1
        ((table, asked),) = RequestItems.items()
        return {"Responses": {table: [_item(key[InboxAttribute.KEY]["S"]) for key in asked["Keys"]]}}

    def query(self, **_: Any) -> Any:  # noqa: ANN401 - boto3's
        """Nothing is open."""
        return {"Items": []}


def _item(key: str) -> dict[str, Any]:
    number = int(key.rpartition("#")[2], 16)
    values = {
        InboxAttribute.KEY: key,
        InboxAttribute.STATE: "COMPLETED",
        InboxAttribute.CONSUMER: CONSUMER,
        InboxAttribute.SQS_MESSAGE_ID: "s",
        InboxAttribute.PAYLOAD_BUCKET: BUCKET,
        InboxAttribute.PAYLOAD_KEY: f"{PREFIX}{number:032x}/{number:064x}",
    }
    return {name: {"S": value} for name, value in values.items()}


class NoPayloads:
    """Nothing is looked at: every payload has a row."""

    def look(self, *, bucket: str, key: str, version_id: str | None = None) -> None:
        """Fail."""
        raise AssertionError(f"looked at {bucket}/{key} {version_id}")

    tags = remove = look


def run(count: int) -> tuple[Outcome, Listing, Rows, float]:
    """Reconcile so many payloads."""
    listing, rows, clock = Listing(count), Rows(), SystemClock()
    reader = DynamoDbInboxReader(rows, "inbox", sleep=clock.sleep)  # type: ignore[arg-type]  # as much of it as is used
    times = Times(grace=DAY_SECONDS, before_send=DAY_SECONDS, unconfirmed=DAY_SECONDS)
    made = Reconciliation(
        Plan(name="bench", bucket=BUCKET, times=times),
        listing=listing,
        payloads=NoPayloads(),  # type: ignore[arg-type]  # as above
        inboxes=[InboxSource(reader, (CONSUMER,))],
        checkpoints=Memory(),
        clock=clock,
        telemetry=SilentTelemetry(),
        new_token=lambda: "bench",
    )
    before = time.process_time()
    outcome = made.run()
    return outcome, listing, rows, time.process_time() - before


def reconcile() -> dict[str, float]:
    """Ten thousand, then a million, in a process of its own."""
    run(SMALL)
    _, _, _, small = run(SMALL)
    peak_before = peak_bytes()
    outcome, listing, rows, large = run(LARGE)
    if outcome.tally.classes["completed"] != LARGE:
        raise BenchmarkError(f"{outcome.tally.classes} of {LARGE}")
    return {
        "peak_before": peak_before,
        "peak": peak_bytes(),
        "lists": listing.requests,
        "reads": rows.requests,
        "seconds_before": small,
        "seconds": large,
    }
