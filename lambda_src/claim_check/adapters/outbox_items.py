"""Outbox rows as DynamoDB items, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from claim_check import contract
from claim_check.adapters.inbox_items import deserialize, to_value
from claim_check.contract import OutboxAttribute as Attribute
from claim_check.envelope import format_time
from claim_check.outbox.ports import Group
from claim_check.outbox.rows import OutboxRow
from claim_check.ports import MessageAttribute

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
    "ttl": Attribute.TTL,
}
"""Field of `OutboxRow` to attribute of the item."""

_KINDS: Final = {field.name: field.type for field in fields(OutboxRow)}
_FLOATS: Final = frozenset(name for name, kind in _KINDS.items() if kind == "float")


def plain_item(row: OutboxRow) -> dict[str, Any]:
    """The item of a row in plain Python values, numbers as DynamoDB takes them. What a row has not is no attribute."""
    values = {name: getattr(row, field) for field, name in NAMES.items()}
    values[Attribute.ATTRIBUTES] = {
        name: {"type": one.data_type, "value": one.value} for name, one in row.attributes.items()
    }
    if row.state in {"PENDING", "PARKED"}:
        since = format_time(datetime.fromtimestamp(row.staged_at, UTC))
        values[Attribute.OPEN_SHARD] = contract.outbox_open_shard(row.key)
        values[Attribute.OPEN_SINCE] = f"{row.state}#{since}"
    kept = {name: value for name, value in values.items() if value not in (None, {}) and (name, value) != ("ttl", 0)}
    return {name: _number(value) if isinstance(value, float) else value for name, value in kept.items()}


def to_item(row: OutboxRow) -> dict[str, Any]:
    """The same in the low-level form."""
    return {name: to_value(value) for name, value in plain_item(row).items()}


def to_row(item: Mapping[str, Any]) -> OutboxRow:
    """The row of an item; attributes that a newer version may have added are left out."""
    present = {field: deserialize(item[name]) for field, name in NAMES.items() if name in item}
    attributes = {
        name: MessageAttribute(data_type=one["type"], value=_text_or_bytes(one["value"]))
        for name, one in present.pop("attributes", {}).items()
    }
    return OutboxRow(**{field: _plain(field, value) for field, value in present.items()}, attributes=attributes)


def to_group(item: Mapping[str, Any]) -> Group:
    """The group of an item."""
    return Group(
        key=deserialize(item[Attribute.KEY]),
        pending=tuple(deserialize(item[Attribute.PENDING])) if Attribute.PENDING in item else (),
        owner=deserialize(item[Attribute.OWNER]) if Attribute.OWNER in item else None,
        lease_until=float(deserialize(item[Attribute.LEASE_UNTIL])) if Attribute.LEASE_UNTIL in item else 0.0,
    )


def _number(value: float) -> int | Decimal:
    return int(value) if value.is_integer() else Decimal(repr(value))


def _plain(field: str, value: Any) -> Any:  # noqa: ANN401 - a field of a row
    if not isinstance(value, Decimal):
        return value
    return float(value) if field in _FLOATS else int(value)


def _text_or_bytes(value: Any) -> str | bytes:  # noqa: ANN401 - boto3 wraps bytes
    return value if isinstance(value, str) else bytes(value)
