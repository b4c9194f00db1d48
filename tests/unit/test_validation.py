"""Mistakes are collected, and raised once."""

from __future__ import annotations

import pytest
from aws_cdk import Duration, Size, Token

from claim_check_cdk.pointer_life import lazy_number
from claim_check_cdk.validation import InvalidSettingsError, Mistakes, known, known_bytes, known_seconds


def test_no_mistake_raises_nothing() -> None:
    mistakes = Mistakes("Queue 'A'")
    mistakes.require(True, "a", 1, "limit", "way out")  # noqa: FBT003 - a condition
    mistakes.require(None, "b", 1, "limit", "way out")
    mistakes.require_range("c", 5, low=5, high=5, way_out="way out")
    mistakes.require_range("d", None, low=5, high=5, way_out="way out")
    mistakes.raise_all()


def test_all_mistakes_are_raised_at_once_with_argument_value_limit_and_way_out() -> None:
    mistakes = Mistakes("Queue 'A'")
    mistakes.add("name", "x y", "must have no space", "rename it")
    mistakes.require_range("size", 11, low=1, high=10, unit="s", way_out="lower it")
    with pytest.raises(InvalidSettingsError) as raised:
        mistakes.raise_all()
    assert str(raised.value) == (
        "Queue 'A' has 2 invalid settings:\n"
        "  - name = x y: must have no space. Way out: rename it.\n"
        "  - size = 11 s: must be from 1 to 10 s. Way out: lower it."
    )
    assert [mistake.argument for mistake in raised.value.mistakes] == ["name", "size"]


def test_one_mistake_is_in_the_singular() -> None:
    mistakes = Mistakes("Queue 'A'")
    mistakes.add("name", "x", "must", "do")
    with pytest.raises(InvalidSettingsError, match="has 1 invalid setting:"):
        mistakes.raise_all()


def test_tokens_are_never_compared() -> None:
    number, text = lazy_number(lambda: -5), Token.as_string({"Ref": "Parameter"})
    mistakes = Mistakes("Queue 'A'")
    mistakes.require_range("number", number, low=1, high=2, way_out="none")
    mistakes.raise_all()
    assert known(text) is None
    assert known(number) is None
    assert known_seconds(Duration.seconds(number)) is None
    assert known_bytes(Size.bytes(Token.as_number({"Ref": "Parameter"}))) is None


def test_known_values_are_themselves() -> None:
    assert known("x") == "x"
    assert known_seconds(Duration.minutes(2)) == 120
    assert known_seconds(Duration.millis(1500)) == 1
    assert known_bytes(Size.kibibytes(2)) == 2048
    assert known_seconds(None) is None
