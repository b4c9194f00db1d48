"""Sizes of DynamoDB items, by the rules of its developer guide ("DynamoDB item sizes and formats")."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Any

_CONTAINER_OVERHEAD = 3
_NUMBER_OVERHEAD = 2  # sign and exponent beside the digits, rounded up


def item_size(item: Mapping[str, Any]) -> int:
    """Bytes of an item: names and values.

    Raises:
        TypeError: A value is of a type that DynamoDB does not take (a float, say: use Decimal).
    """
    if not all(isinstance(name, str) for name in item):
        raise TypeError("an attribute's name that is no text is no DynamoDB type")
    return sum(len(name.encode()) + value_size(value) for name, value in item.items())


def value_size(value: Any) -> int:  # noqa: ANN401 - any plain value; one rule each
    """Bytes of one value, never too few.

    Raises:
        TypeError: The type is none that DynamoDB takes.
    """
    match value:
        case None | bool():
            return 1
        case str():
            return len(value.encode())
        case int() | Decimal() if Decimal(value).is_finite():
            return len(Decimal(value).as_tuple().digits) // 2 + _NUMBER_OVERHEAD + 1
        case bytes() | bytearray():
            return len(value)
        case Mapping():
            return _CONTAINER_OVERHEAD + item_size(value) + len(value)
        case list() | tuple() | AbstractSet():
            return _CONTAINER_OVERHEAD + sum(value_size(element) + 1 for element in value)
    raise TypeError(f"{type(value).__name__} is no DynamoDB type; numbers are int or Decimal, and finite")
