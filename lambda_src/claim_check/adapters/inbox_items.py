"""Inbox rows as DynamoDB items, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer

from claim_check import contract
from claim_check.contract import InboxAttribute as Attribute
from claim_check.envelope import format_time
from claim_check.ports import InboxRow

NAMES: Final = {
    "key": Attribute.KEY,
    "state": Attribute.STATE,
    "consumer": Attribute.CONSUMER,
    "sqs_message_id": Attribute.SQS_MESSAGE_ID,
    "fingerprint": Attribute.FINGERPRINT,
    "owner": Attribute.OWNER,
    "lease_until": Attribute.LEASE_UNTIL,
    "attempts": Attribute.ATTEMPTS,
    "attempts_spent": Attribute.ATTEMPTS_SPENT,
    "redriven": Attribute.REDRIVEN,
    "last_code": Attribute.LAST_CODE,
    "last_message": Attribute.LAST_MESSAGE,
    "tenant_id": Attribute.TENANT_ID,
    "event_type": Attribute.EVENT_TYPE,
    "message_id": Attribute.MESSAGE_ID,
    "correlation_id": Attribute.CORRELATION_ID,
    "payload_bucket": Attribute.PAYLOAD_BUCKET,
    "payload_key": Attribute.PAYLOAD_KEY,
    "payload_version": Attribute.PAYLOAD_VERSION,
    "payload_bytes": Attribute.PAYLOAD_BYTES,
    "first_seen_at": Attribute.FIRST_SEEN_AT,
    "updated_at": Attribute.UPDATED_AT,
    "ttl": Attribute.TTL,
}
"""Field of `InboxRow` to attribute of the item."""

_KINDS: Final = {field.name: field.type for field in fields(InboxRow)}

serialize = TypeSerializer().serialize
deserialize = TypeDeserializer().deserialize


def to_item(row: InboxRow) -> dict[str, Any]:
    """The item of a row, in the low-level form. What a row does not have is no attribute."""
    values = {name: getattr(row, field) for field, name in NAMES.items()}
    values[Attribute.REDRIVEN] = row.redriven or None
    if row.state != "COMPLETED":
        since = format_time(datetime.fromtimestamp(row.updated_at, UTC))
        values[Attribute.OPEN_SHARD] = contract.inbox_open_shard(consumer=row.consumer, key=row.key)
        values[Attribute.OPEN_SINCE] = f"{row.state}#{since}"
    return {name: to_value(value) for name, value in values.items() if value is not None}


def to_row(item: Mapping[str, Any]) -> InboxRow:
    """The row of an item; attributes that a newer version may have added are left out."""
    present = {field: deserialize(item[name]) for field, name in NAMES.items() if name in item}
    return InboxRow(**{field: _plain(value, _KINDS[field]) for field, value in present.items()})


def to_value(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any plain value
    """A plain value in the low-level form; floats travel as the shortest decimal that reads back the same."""
    if isinstance(value, float):
        value = int(value) if value.is_integer() else Decimal(repr(value))
    return dict(serialize(value))


def _plain(value: Any, kind: Any) -> Any:  # noqa: ANN401 - a field of a row
    if not isinstance(value, Decimal):
        return value
    return float(value) if kind == "float" else int(value)
