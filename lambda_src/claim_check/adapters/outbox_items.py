"""Outbox rows as DynamoDB items, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal
from typing import Any, Final

from claim_check.adapters.inbox_items import deserialize, to_value
from claim_check.contract import OutboxAttribute as Attribute
from claim_check.outbox.items import NAMES, plain_item
from claim_check.outbox.ports import Group
from claim_check.outbox.rows import OutboxRow
from claim_check.ports import MessageAttribute

_KINDS: Final = {field.name: field.type for field in fields(OutboxRow)}
_FLOATS: Final = frozenset(name for name, kind in _KINDS.items() if kind == "float")


def to_item(row: OutboxRow) -> dict[str, Any]:
    """The item of a row in the low-level form."""
    return {name: to_value(value) for name, value in plain_item(row).items()}


def to_row(item: Mapping[str, Any]) -> OutboxRow:
    """The row of an item; attributes that a newer version may have added are left out."""
    present = {field: deserialize(item[name]) for field, name in NAMES.items() if name in item}
    present["left_by"] = present.get("left_by") or None
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


def _plain(field: str, value: Any) -> Any:  # noqa: ANN401 - a field of a row
    if not isinstance(value, Decimal):
        return value
    return float(value) if field in _FLOATS else int(value)


def _text_or_bytes(value: Any) -> str | bytes:  # noqa: ANN401 - boto3 wraps bytes
    return value if isinstance(value, str) else bytes(value)
