"""Bucket against ledger at a million objects: time and memory of a reconciliation (R10.3)."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from benchmarks import child
from benchmarks.figure import Figure
from claim_check import contract
from claim_check.adapters.clock import SystemClock
from claim_check.adapters.ledger import DynamoDbLedger
from claim_check.adapters.listing import S3Listing
from claim_check.contract import LEDGER_SHARDS, LedgerAttribute
from claim_check.ingest.reconciliation import LedgerReconciliation
from claim_check.ingest.settings import ReconciliationSettings
from claim_check.ports import OutgoingMessage, SendResult
from claim_check_ops.telemetry import SilentTelemetry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.stand import Stand

OBJECTS: Final = 1_000_000
DIFFERENT: Final = 10_000
"""One object in so many has another content in the ledger."""

MEMORY_MIB: Final = 48
SECONDS: Final = 600

_PAGE: Final = 1000
_ETAG: Final = "d41d8cd98f00b204e9800998ecf8427e"
_WRITTEN: Final = datetime(2026, 1, 1, tzinfo=UTC)


def measure(stand: Stand) -> Iterator[Figure]:
    """One reconciliation."""
    stand.say(f"reconciling {OBJECTS:,} objects with their ledger")
    found = child.run(f"{__name__}:reconciled", environment=stand.environment(), timeout=2 * SECONDS, objects=OBJECTS)
    how = "the adapters on clients that make up their answers: S3's pages of 1,000, DynamoDB's of 500 rows"
    yield Figure.exactly("differences found", found["differences"], OBJECTS // DIFFERENT, unit="objects", how=how)
    yield Figure.at_most(
        f"memory of reconciling {OBJECTS:,} objects",
        round(found["mib"], 1),
        MEMORY_MIB,
        unit="MiB",
        how=f"{how}; growth of the process's largest resident size over that of 10,000 objects",
    )
    yield Figure.at_most(
        f"time of reconciling {OBJECTS:,} objects", round(found["seconds"]), SECONDS, unit="s", how=f"{how}; no network"
    )


def reconciled(objects: int) -> dict[str, float]:
    """Reconcile a few, then all: what the many need more."""
    _reconcile(10_000)
    before, began = _largest_mib(), time.monotonic()
    differences = _reconcile(objects)
    return {
        "differences": differences,
        "mib": _largest_mib() - before,
        "seconds": time.monotonic() - began,
    }


def _reconcile(objects: int) -> int:
    client: Any = _Client(objects)
    ledger = DynamoDbLedger(client, "ledger")
    settings = ReconciliationSettings(
        name="bench", bucket="bench", queue_url="https://queue", ledger_table="ledger", rate=10**6
    )
    source: Any = None  # nothing is gone
    reconciliation = LedgerReconciliation(
        settings,
        listing=S3Listing(client),
        ledger=ledger,
        checkpoints=ledger,
        objects=source,
        queue=_Queue(),
        clock=SystemClock(),
        telemetry=SilentTelemetry(),
    )
    return reconciliation.run(anew=True).differences


def _largest_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class _Client:
    """S3 and DynamoDB, as far as they are asked; nothing is stored."""

    def __init__(self, objects: int) -> None:
        self._objects = objects

    def list_objects_v2(self, *, StartAfter: str = "", **_: Any) -> dict[str, Any]:  # noqa: N803, ANN401 - boto3's names
        first = int(StartAfter) + 1 if StartAfter else 0
        last = min(first + _PAGE, self._objects)
        found = [
            {"Key": _key(number), "Size": 0, "ETag": f'"{_ETAG}"', "LastModified": _WRITTEN}
            for number in range(first, last)
        ]
        return {"Contents": found, "IsTruncated": last < self._objects}

    def query(self, *, Limit: int, **request: Any) -> dict[str, Any]:  # noqa: N803, ANN401 - boto3's names
        shard = request["ExpressionAttributeValues"][":pk"]["S"]
        start = request.get("ExclusiveStartKey")
        step = LEDGER_SHARDS
        first = int(start[LedgerAttribute.KEY]["S"]) + step if start else contract.ledger_shards("bench").index(shard)
        numbers = range(first, self._objects, step)[:Limit]
        answer: dict[str, Any] = {"Items": [_item(shard, number) for number in numbers]}
        if len(numbers) == Limit:
            answer["LastEvaluatedKey"] = {LedgerAttribute.KEY: {"S": _key(numbers[-1])}}
        return answer

    def put_item(self, **_: Any) -> None:  # noqa: ANN401 - boto3's
        """Take a checkpoint."""


def _item(shard: str, number: int) -> dict[str, Any]:
    return {
        LedgerAttribute.SHARD: {"S": shard},
        LedgerAttribute.KEY: {"S": _key(number)},
        LedgerAttribute.STATE: {"S": "PRESENT"},
        LedgerAttribute.REVISION: {"S": "0b7e1a52-0000-4000-8000-000000000000"},
        LedgerAttribute.SEQUENCER: {"S": "0055AED6DCD90281E5"},
        LedgerAttribute.EXACT: {"BOOL": True},
        LedgerAttribute.KIND: {"S": "ObjectCreated:Put"},
        LedgerAttribute.ETAG: {"S": _ETAG if number % DIFFERENT else "other"},
        LedgerAttribute.SIZE: {"N": "0"},
        LedgerAttribute.APPLIED_AT: {"N": "1783332930"},
    }


def _key(number: int) -> str:
    return f"{number:012d}"


class _Queue:
    """Takes everything."""

    def send_batch(self, queue_url: str, messages: Sequence[OutgoingMessage]) -> list[SendResult]:  # noqa: ARG002 - the port's
        return [SendResult(sqs_message_id="taken") for _ in messages]

    def change_visibility(self, queue_url: str, changes: Sequence[Any]) -> list[Any]:  # noqa: ARG002 - the port's
        return []
