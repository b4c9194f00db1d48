"""Sizes of items as the limit of a transaction counts them: by DynamoDB's rules, and never too few."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check.item_size import item_size, value_size


@pytest.mark.parametrize(
    "value, size",
    [
        (None, 1),
        (True, 1),
        (False, 1),
        ("", 0),
        ("häll✓", 8),
        (b"", 0),
        (b"abc", 3),
        (bytearray(b"abc"), 3),
        (0, 3),
        (7, 3),
        (1234, 5),
        (Decimal("-1.5"), 4),
        ([], 3),
        (["a", "b"], 3 + 2 * 2),
        (("a", "b"), 3 + 2 * 2),
        ({"a", "b"}, 3 + 2 * 2),
        ({}, 3),
        ({"key": "value"}, 3 + 3 + 5 + 1),
        ({"a": {"b": [None]}}, 3 + 1 + (3 + 1 + (3 + 1 + 1) + 1) + 1),
    ],
)
def test_the_size_of_a_value(value: Any, size: int) -> None:  # noqa: ANN401 - any plain value
    assert value_size(value) == size


def test_an_item_is_its_names_and_values() -> None:
    assert item_size({"pk": "1", "ü": b"abc"}) == 2 + 1 + 2 + 3


@given(st.decimals(allow_nan=False, allow_infinity=False, places=10, min_value=-(10**20), max_value=10**20))
def test_a_number_is_never_counted_too_small(number: Decimal) -> None:
    """DynamoDB: a byte for two significant digits, one more, and one for a sign."""
    digits = number.normalize().as_tuple().digits
    assert value_size(number) >= (len(digits) + 1) // 2 + 1 + (number < 0)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(1.5, id="float"),
        pytest.param(object(), id="object"),
        pytest.param({"a": 1.5}, id="float in a map"),
        pytest.param([[1.5]], id="float in a list"),
        pytest.param({1: "a"}, id="a name that is no text"),
        pytest.param(complex(1), id="complex"),
        pytest.param(Decimal("NaN"), id="NaN"),
        pytest.param(Decimal("Infinity"), id="Infinity"),
    ],
)
def test_what_dynamodb_does_not_take_has_no_size(value: object) -> None:
    with pytest.raises(TypeError):
        value_size(value)
