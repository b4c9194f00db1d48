"""What an outbox row says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from claim_check import contract
from claim_check.contract import OutboxState
from claim_check.ports import MessageAttribute, OutgoingMessage
from claim_check.telemetry import key_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxRow:
    """A message that was committed with a domain write, and how far it has come.

    Times are epoch seconds. Body and attributes are gone once the row is sent or discarded.

    Attributes:
        key: Its key (`contract.outbox_key`).
        state: How far it has come.
        destination: Name of the queue's pipeline in the outbox.
        tenant_id: Tenant.
        event_type: Kind of event.
        message_id: The event's identity.
        fingerprint: What the identity is bound to: content, event type and version.
        staged_at: When it was staged: what its age is counted from.
        correlation_id: Ties messages of one business transaction together.
        body: The message's body, exactly as it is sent.
        attributes: The message's attributes.
        group_id: Message group.
        deduplication_id: FIFO only.
        trace_header: Of the caller that staged it.
        payload_bucket: Bucket of its payload; None for one that travels inline.
        payload_key: Key of its payload.
        payload_version: Version of its payload.
        payload_bytes: Bytes of its payload.
        updated_at: Last change.
        due_at: Not sent before: the backoff after a failure.
        owner: Token of the relay that works on it.
        lease_until: When that relay's right ends.
        attempts: Sends that failed.
        last_code: Why the last one did, or why it was parked.
        last_message: The same as a text that may be logged.
        sqs_message_id: SQS's id, once it was sent.
        left_by: Token of a relay that had it before and never wrote what became of it.
        doubtful: Whether a send was begun whose outcome nobody knows: the queue may have the message.
        ttl: When it may vanish; 0 for never.
    """

    key: str
    state: OutboxState
    destination: str
    tenant_id: str
    event_type: str
    message_id: str
    fingerprint: str
    staged_at: float
    correlation_id: str | None = None
    body: str | None = field(default=None, repr=False)
    attributes: Mapping[str, MessageAttribute] = field(default_factory=dict, repr=False)
    group_id: str | None = None
    deduplication_id: str | None = None
    trace_header: str | None = None
    payload_bucket: str | None = None
    payload_key: str | None = field(default=None, repr=False)
    payload_version: str | None = None
    payload_bytes: int = 0
    updated_at: float = 0.0
    due_at: float = 0.0
    owner: str | None = None
    lease_until: float = 0.0
    attempts: int = 0
    last_code: str | None = None
    last_message: str | None = None
    sqs_message_id: str | None = None
    left_by: str | None = None
    doubtful: bool = False
    ttl: int = 0

    @property
    def ordered(self) -> bool:
        """Whether it is bound for a FIFO queue: only those have deduplication ids."""
        return self.deduplication_id is not None

    @property
    def group_key(self) -> str | None:
        """Key of the item that keeps its group's order; None on a standard queue."""
        if not self.ordered or self.group_id is None:
            return None
        return contract.outbox_group_key(destination=self.destination, group_id=self.group_id)

    @property
    def place(self) -> str:
        """Its name in its group's item."""
        return self.key.partition("#")[2]

    @property
    def log_fields(self) -> dict[str, str | float | None]:
        """The fields that every log line about it has (R11.4)."""
        return {
            "messageId": self.message_id,
            "tenantId": self.tenant_id,
            "eventType": self.event_type,
            "correlationId": self.correlation_id,
            "payloadBucket": self.payload_bucket,
            "payloadKeyHash": key_hash(self.payload_key) if self.payload_key else None,
            "payloadSizeBytes": self.payload_bytes,
        }

    @property
    def message(self) -> OutgoingMessage:
        """The message: the same at every attempt."""
        return OutgoingMessage(
            body=self.body or "",
            attributes=self.attributes,
            group_id=self.group_id,
            deduplication_id=self.deduplication_id,
            trace_header=self.trace_header,
        )
