"""Finds dead pointers: open rows whose payload is gone (R7.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from claim_check.outbox.rows import OutboxRow
from claim_check.ports import InboxRow, Telemetry
from claim_check.reconciliation.ports import Payloads
from claim_check.reconciliation.runs import InboxSource, OutboxSource, Plan, Run, Sample
from claim_check.telemetry import key_hash

_SECONDS: Final = 60.0
"""Left over for the rest of an invocation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointer:
    """A row that points at a payload.

    Attributes:
        row: Key of the row.
        key: Key of the object.
        version_id: Its version, if the row names one.
        consumer: Consumer, or destination.
        tenant_id: Tenant.
        event_type: Kind of event.
        message_id: The event.
    """

    row: str
    key: str = field(repr=False)
    version_id: str | None = field(repr=False)
    consumer: str
    tenant_id: str | None
    event_type: str | None
    message_id: str | None


@dataclass(frozen=True, slots=True)
class _Source:
    pointers: Callable[[], Iterator[Pointer]]
    still: Callable[[str], Pointer | None]


class Pointers:
    """Looks up what open rows point at."""

    def __init__(
        self,
        plan: Plan,
        payloads: Payloads,
        inboxes: Sequence[InboxSource],
        outboxes: Sequence[OutboxSource],
        *,
        telemetry: Telemetry,
    ) -> None:
        """Use these."""
        self._plan = plan
        self._payloads = payloads
        self._telemetry = telemetry
        self._sources = [
            *(self._inbox(one, consumer) for one in inboxes for consumer in one.consumers),
            *(self._outbox(one) for one in outboxes),
        ]

    def step(self, run: Run) -> bool:
        """Look up every open row of the next table; what there is no time for is counted. False if all are done with.

        Raises:
            AccessDenied: The bucket refuses.
            ReadRefused: A table refuses.
            Unavailable: Something did not answer.
        """
        if run.progress.sources >= len(self._sources):
            return False
        source = self._sources[run.progress.sources]
        for pointer in source.pointers():
            self._check(pointer, source, run)
        run.progress.sources += 1
        return True

    def _check(self, pointer: Pointer, source: _Source, run: Run) -> None:
        tally = run.tally
        tally.pointers += 1
        if tally.pointers - tally.unchecked_pointers > self._plan.looks or not run.time.suffices(_SECONDS):
            tally.unchecked_pointers += 1
            return
        if self._is_there(pointer) or source.still(pointer.row) != pointer:
            return
        tally.dead_pointers += 1
        run.samples.add(
            Sample(kind="dead pointer", key=pointer.key, consumer=pointer.consumer, message_id=pointer.message_id)
        )
        if run.moved is not None:
            run.moved(tally)
        self._telemetry.log(
            "error",
            "dead pointer",
            consumer=pointer.consumer,
            tenantId=pointer.tenant_id,
            eventType=pointer.event_type,
            messageId=pointer.message_id,
            payloadBucket=self._plan.bucket,
            payloadKeyHash=key_hash(pointer.key),
        )

    def _is_there(self, pointer: Pointer) -> bool:
        found = self._payloads.look(bucket=self._plan.bucket, key=pointer.key, version_id=pointer.version_id)
        return found is not None

    # --- Rows -------------------------------------------------------------------------------------------------------

    def _inbox(self, source: InboxSource, consumer: str) -> _Source:
        return _Source(
            lambda: self._here(map(self._of_inbox, source.reader.open_rows(consumer))),
            lambda key: self._of_inbox(source.reader.rows([key]).get(key)),
        )

    def _outbox(self, source: OutboxSource) -> _Source:
        table = source.table
        return _Source(
            lambda: self._here(map(self._of_outbox, chain(table.open_rows("PENDING"), table.open_rows("PARKED")))),
            lambda key: self._of_outbox(table.rows([key]).get(key)),
        )

    def _here(self, pointers: Iterator[Pointer | None]) -> Iterator[Pointer]:
        return (one for one in pointers if one is not None and one.key.startswith(self._plan.prefix))

    def _of_inbox(self, row: InboxRow | None) -> Pointer | None:
        if row is None or row.state == "COMPLETED":
            return None
        return self._pointer(row, row.consumer)

    def _of_outbox(self, row: OutboxRow | None) -> Pointer | None:
        if row is None or row.state not in {"PENDING", "PARKED"}:
            return None
        return self._pointer(row, row.destination)

    def _pointer(self, row: InboxRow | OutboxRow, consumer: str) -> Pointer | None:
        if row.payload_bucket != self._plan.bucket or row.payload_key is None:
            return None
        return Pointer(
            row=row.key,
            key=row.payload_key,
            version_id=row.payload_version,
            consumer=consumer,
            tenant_id=row.tenant_id,
            event_type=row.event_type,
            message_id=row.message_id,
        )
