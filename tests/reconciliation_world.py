"""What tests of the reconciliation share: a bucket, two consumers, an outbox, and events in any state."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from claim_check import contract
from claim_check.contract import InboxState, OutboxState
from claim_check.outbox.rows import OutboxRow
from claim_check.ports import InboxRow
from claim_check.reconciliation import Outcome, Reconciliation
from claim_check.reconciliation.judging import Times
from claim_check.reconciliation.runs import InboxSource, OutboxSource, Plan
from claim_check.reconciliation.tally import Tally
from tests.fakes.clock import FakeClock
from tests.fakes.faults import Faults
from tests.fakes.inbox_reader import FakeInboxReader
from tests.fakes.payloads import FakePayloads
from tests.fakes.reconciliation import FakeCheckpoints, FakeOutboxRows
from tests.fakes.telemetry import FakeTelemetry

BUCKET = "payloads-bucket"
TENANT = "t-1"
EVENT_TYPE = "DocumentUploaded"
HOUR = 3600
DAY = 86_400
TIMES = Times(grace=DAY, before_send=DAY, unconfirmed=7 * DAY)
UNCONFIRMED = {contract.TAG_STATE: contract.TAG_UNCONFIRMED}


def key_of(name: str, *, generation: int = 0, content: str | None = None) -> str:
    """Key of an event's object."""
    sha256 = hashlib.sha256((content or name).encode()).hexdigest()
    return contract.object_key(
        tenant_id=TENANT, event_type=EVENT_TYPE, idempotency_key=name, sha256=sha256, generation=generation
    )


@dataclass
class World:
    """Everything in memory.

    Attributes:
        faults: Of all fakes.
        plan: What reconciliations do here.
    """

    faults: Faults = field(default_factory=Faults)
    plan: Plan = field(default_factory=lambda: Plan(name="nightly", bucket=BUCKET, times=TIMES))
    clock: FakeClock = field(default_factory=FakeClock)
    inbox: dict[str, InboxRow] = field(default_factory=dict)
    outbox: dict[str, OutboxRow] = field(default_factory=dict)
    telemetry: FakeTelemetry = field(default_factory=FakeTelemetry)
    consumers: tuple[str, ...] = ("documents", "search")
    _tokens: itertools.count[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        """Make what rests on the faults."""
        self.payloads = FakePayloads(faults=self.faults)
        self.checkpoints = FakeCheckpoints(faults=self.faults)

    # --- What there is ----------------------------------------------------------------------------------------------

    def put(self, name: str, *, age: float = 30 * DAY, key: str | None = None, **fields: Any) -> str:  # noqa: ANN401 - of FakePayload
        """Write the object of an event; its key."""
        key = key or key_of(name)
        self.payloads.put(key, at=self.clock.now() - age, **fields)
        return key

    def received(
        self,
        name: str,
        state: InboxState,
        *,
        consumer: str = "documents",
        key: str | None = None,
        **fields: Any,  # noqa: ANN401 - of InboxRow
    ) -> InboxRow:
        """A consumer has received an event."""
        row = InboxRow(
            key=contract.inbox_key(consumer=consumer, tenant_id=TENANT, idempotency_key=name),
            state=state,
            consumer=consumer,
            sqs_message_id=f"sqs-{name}",
            tenant_id=TENANT,
            event_type=EVENT_TYPE,
            message_id=name,
            payload_bucket=BUCKET,
            payload_key=key or key_of(name),
            updated_at=self.clock.now() - DAY,
        )
        self.inbox[row.key] = replace(row, **fields)
        return self.inbox[row.key]

    def staged(
        self,
        name: str,
        state: OutboxState,
        *,
        age: float = 30 * DAY,
        key: str | None = None,
        **fields: Any,  # noqa: ANN401 - of OutboxRow
    ) -> OutboxRow:
        """An event was committed to the outbox, and last changed as long ago."""
        row = OutboxRow(
            key=contract.outbox_key(destination="documents", tenant_id=TENANT, id_hash=contract.id_hash(name)),
            state=state,
            destination="documents",
            tenant_id=TENANT,
            event_type=EVENT_TYPE,
            message_id=name,
            fingerprint="f",
            staged_at=self.clock.now() - age,
            updated_at=self.clock.now() - age,
            payload_bucket=BUCKET,
            payload_key=key or key_of(name),
            sqs_message_id=f"sqs-{name}" if state == "SENT" else None,
        )
        self.outbox[row.key] = replace(row, **fields)
        return self.outbox[row.key]

    # --- What is done -----------------------------------------------------------------------------------------------

    def reconciliation(self, **plan: Any) -> Reconciliation:  # noqa: ANN401 - of Plan
        """A reconciliation, as a new process would make it."""
        return Reconciliation(
            replace(self.plan, **plan),
            listing=self.payloads,
            payloads=self.payloads,
            inboxes=[InboxSource(FakeInboxReader(self.inbox, self.faults), self.consumers)],
            outboxes=[OutboxSource(FakeOutboxRows(self.outbox, self.faults), ("documents",))],
            checkpoints=self.checkpoints,
            clock=self.clock,
            telemetry=self.telemetry,
            new_token=lambda: f"run-{next(self._tokens)}",
        )

    def run(self, *, moved: Callable[[Tally], object] | None = None, **plan: Any) -> Outcome:  # noqa: ANN401 - of Plan
        """Reconcile to the end."""
        return self.reconciliation(**plan).run(moved=moved)

    def classes(self, outcome: Outcome) -> Mapping[str, int]:
        """What was found, without what was not."""
        return {name: count for name, count in outcome.tally.classes.items() if count}
