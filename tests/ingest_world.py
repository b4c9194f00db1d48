"""An ingester with everything around it, in memory: bucket, ledger, queue, target."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from claim_check.deadline import Deadline
from claim_check.delivery import Delivery
from claim_check.ingest import LedgerReconciliation, ObjectChange, S3Ingester
from claim_check.ingest.applying import ApplyDelete, ApplyPut, IngestRules
from claim_check.ingest.ports import LedgerTable, ObjectSource
from claim_check.ingest.settings import ReconciliationSettings
from claim_check.parking import ParkingLot
from claim_check.permits import PayloadBudget, Permits
from claim_check.processor import Outcome
from claim_check.transaction import Table, Transaction
from claim_check.verified_stream import VerifiedStream
from tests.fakes.clock import FakeClock
from tests.fakes.faults import Faults
from tests.fakes.ingest import BUCKET, FakeBucket, FakeLedger
from tests.fakes.queue import FakeQueue
from tests.fakes.telemetry import FakeTelemetry

TARGET = Table("target", "key")
TOMBSTONE_SECONDS = 45 * 86_400
QUEUE = "https://sqs.test/1/ingest"
DLQ = "https://sqs.test/1/ingest-dlq"
REMAINING_SECONDS = 60.0


def apply_put(change: ObjectChange, stream: VerifiedStream | None, tx: Transaction) -> None:
    """Keep a copy of the object."""
    content = None if stream is None else stream.read()
    tx.put(
        TARGET,
        {"key": change.key.text, "etag": change.etag, "version": change.version_id, "content": content},
    )


def apply_delete(change: ObjectChange, tx: Transaction) -> None:
    """Remove the copy."""
    tx.delete(TARGET, {"key": change.key.text})


@dataclass
class IngestWorld:
    """Everything that an ingester meets."""

    versioned: bool = False
    faults: Faults = field(default_factory=Faults)
    clock: FakeClock = field(default_factory=FakeClock)
    telemetry: FakeTelemetry = field(default_factory=FakeTelemetry)
    ids: Any = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        """Make the services."""
        self.bucket = FakeBucket(self.clock, self.faults, versioned=self.versioned)
        self.ledger = FakeLedger(self.faults)
        self.queue = FakeQueue(self.clock, self.faults)
        self.queue.create(DLQ)
        self.queue.create(QUEUE)

    def ingester(  # noqa: D417 - the rest is the ingester's own
        self,
        put: ApplyPut = apply_put,
        delete: ApplyDelete = apply_delete,
        *,
        ledger: LedgerTable | None = None,
        objects: ObjectSource | None = None,
        queue_url: str = QUEUE,
        parking: bool = True,
        rules: Mapping[str, Any] | None = None,
        **options: Any,  # noqa: ANN401 - passed on
    ) -> S3Ingester:
        """An ingester.

        Args:
            put: Applies objects.
            delete: Applies removals.
            rules: Fields of `IngestRules` that differ.
        """
        fields = {"bucket": BUCKET, "tombstone_seconds": TOMBSTONE_SECONDS, "pad": "right", "max_object_bytes": 10**6}
        return S3Ingester(
            put,
            delete,
            rules=IngestRules(**{**fields, **(rules or {})}),
            ledger=ledger or self.ledger,
            objects=objects or self.bucket,
            queue=self.queue,
            queue_url=queue_url,
            parking=ParkingLot(self.queue, DLQ) if parking else None,
            permits=Permits(PayloadBudget(access="stream", memory_bytes=64 * 2**20, temp_bytes=0)),
            clock=self.clock,
            random=lambda: 0.5,
            new_token=lambda: f"token-{next(self.ids)}",
            telemetry=self.telemetry,
            **{"concurrency": 4, **options},
        )

    def reconciliation(self, **options: Any) -> LedgerReconciliation:  # noqa: ANN401 - fields of the settings
        """A reconciliation of bucket and ledger."""
        settings: dict[str, Any] = {"name": "ingest", "bucket": BUCKET, "queue_url": QUEUE, "ledger_table": "ledger"}
        return LedgerReconciliation(
            ReconciliationSettings(**{**settings, "rate": 10**6, **options}),
            listing=self.bucket,
            ledger=self.ledger,
            checkpoints=self.ledger,
            objects=self.bucket,
            queue=self.queue,
            clock=self.clock,
            telemetry=self.telemetry,
        )

    # --- Deliveries -------------------------------------------------------------------------------------------------

    def delivery(self, *records: Mapping[str, Any], body: str | None = None, **fields: Any) -> Delivery:  # noqa: ANN401 - of Delivery
        """A message as SQS would hand it over."""
        number = next(self.ids)
        text = json.dumps({"Records": list(records)}) if body is None else body
        return Delivery(
            **{
                "sqs_message_id": f"message-{number}",
                "receipt_handle": f"receipt-{number}",
                "body": text,
                "queue": "ingest",
                "sent_at": self.clock.now(),
                **fields,
            }
        )

    def process(self, ingester: S3Ingester, delivery: Delivery, *, seconds: float = REMAINING_SECONDS) -> Outcome:
        """Take one message through, in this very thread."""
        return ingester.process(
            ingester.read(delivery),
            deadline=Deadline(self.clock, seconds),
            lease_seconds=seconds,
            alone=True,
            watch=lambda _: None,
        )

    def handle(self, *records: Mapping[str, Any], ingester: S3Ingester | None = None) -> Outcome:
        """Take one message with these records through."""
        return self.process(ingester or self.ingester(), self.delivery(*records))

    def synthetic(self) -> list[str]:
        """Bodies of the synthetic events that wait in the queue; they are taken out."""
        return take_all(self.queue, QUEUE)

    # --- What came of it --------------------------------------------------------------------------------------------

    def target(self) -> dict[str, tuple[str | None, str | None]]:
        """Version and entity tag of every object that was applied, by key."""
        found: dict[str, tuple[str | None, str | None]] = {}
        for write in self.ledger.applied:
            if write.action == "Delete":
                found.pop(write.key["key"], None)
            else:
                assert write.item is not None
                found[write.key["key"]] = (write.item["version"], write.item["etag"])
        return found

    def truth(self) -> dict[str, tuple[str | None, str | None]]:
        """Version and entity tag of every object in the bucket, by key."""
        states = {key: self.bucket.current(key) for key in self.bucket.versions}
        return {key: (state.version_id, state.etag) for key, state in states.items() if state is not None}

    def check_order(self) -> None:
        """Every effect is of a state that was current at the time of the last one of its object, or later."""
        places: dict[str, int] = {}
        for write in self.ledger.applied:
            key = write.key["key"]
            wanted = None if write.item is None else (write.item["version"], write.item["etag"])
            states = [
                None if state is None else (state.version_id, state.etag)
                for state in self.bucket.history.get(key, [None])
            ]
            place = next((at for at in range(places.get(key, 0), len(states)) if states[at] == wanted), None)
            assert place is not None, f"an older state of {key!r} was applied after a newer one"
            places[key] = place


def take_all(queue: FakeQueue, queue_url: str) -> list[str]:
    """Bodies of all messages of a queue, which is empty afterwards."""
    bodies = [one.message.body for one in queue.messages(queue_url)]
    queue.create(queue_url)
    return bodies
