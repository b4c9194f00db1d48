"""Outbox rows as items in plain Python values, as they enter a transaction."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from claim_check import contract
from claim_check.contract import OutboxAttribute as Attribute
from claim_check.envelope import format_time
from claim_check.outbox.rows import OutboxRow

NAMES: Final = {
    "key": Attribute.KEY,
    "state": Attribute.STATE,
    "destination": Attribute.DESTINATION,
    "tenant_id": Attribute.TENANT_ID,
    "event_type": Attribute.EVENT_TYPE,
    "message_id": Attribute.MESSAGE_ID,
    "fingerprint": Attribute.FINGERPRINT,
    "staged_at": Attribute.STAGED_AT,
    "correlation_id": Attribute.CORRELATION_ID,
    "body": Attribute.BODY,
    "attributes": Attribute.ATTRIBUTES,
    "group_id": Attribute.GROUP_ID,
    "deduplication_id": Attribute.DEDUPLICATION_ID,
    "trace_header": Attribute.TRACE_HEADER,
    "payload_bucket": Attribute.PAYLOAD_BUCKET,
    "payload_key": Attribute.PAYLOAD_KEY,
    "payload_version": Attribute.PAYLOAD_VERSION,
    "payload_bytes": Attribute.PAYLOAD_BYTES,
    "updated_at": Attribute.UPDATED_AT,
    "due_at": Attribute.DUE_AT,
    "owner": Attribute.OWNER,
    "lease_until": Attribute.LEASE_UNTIL,
    "attempts": Attribute.ATTEMPTS,
    "last_code": Attribute.LAST_CODE,
    "last_message": Attribute.LAST_MESSAGE,
    "sqs_message_id": Attribute.SQS_MESSAGE_ID,
    "left_by": Attribute.LEFT_BY,
    "doubtful": Attribute.DOUBTFUL,
    "ttl": Attribute.TTL,
}
"""Field of `OutboxRow` to attribute of the item."""


def plain_item(row: OutboxRow) -> dict[str, Any]:
    """The item of a row in plain Python values, numbers as DynamoDB takes them. What a row has not is no attribute."""
    values = {name: getattr(row, field) for field, name in NAMES.items()}
    values[Attribute.DOUBTFUL] = row.doubtful or None
    values[Attribute.ATTRIBUTES] = {
        name: {"type": one.data_type, "value": one.value} for name, one in row.attributes.items()
    }
    if row.state in {"PENDING", "PARKED"}:
        since = format_time(datetime.fromtimestamp(row.staged_at, UTC))
        values[Attribute.OPEN_SHARD] = contract.outbox_open_shard(row.key)
        values[Attribute.OPEN_SINCE] = f"{row.state}#{since}"
    kept = {name: value for name, value in values.items() if value not in (None, {}) and (name, value) != ("ttl", 0)}
    return {name: _number(value) if isinstance(value, float) else value for name, value in kept.items()}


def _number(value: float) -> int | Decimal:
    return int(value) if value.is_integer() else Decimal(repr(value))
