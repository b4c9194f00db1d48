"""Prefix and suffix filters of an ingest: which overlap, and how each service writes them (R10.1)."""

from __future__ import annotations

from itertools import product
from urllib.parse import unquote_plus

import pytest
from aws_cdk import Aws
from hypothesis import given
from hypothesis import strategies as st

from claim_check_cdk.ingest_filters import (
    ALL_KEYS,
    MAX_FILTERS,
    KeyFilter,
    check_filters,
    check_pattern,
    encoded,
    key_patterns,
    overlapping,
)
from claim_check_cdk.validation import InvalidSettingsError, Mistakes

EVERY_KEY = ["".join(letters) for length in range(7) for letters in product("ab", repeat=length)]
"""Of two letters, up to the length of the longest prefix and suffix below together."""

SHORT = st.text(alphabet="ab", max_size=3)
FILTERS = st.builds(KeyFilter, prefix=SHORT, suffix=SHORT)


def checked(*filters: KeyFilter) -> list[str]:
    """What is wrong with filters."""
    mistakes = Mistakes("test")
    check_filters(mistakes, filters)
    try:
        mistakes.raise_all()
    except InvalidSettingsError as error:
        return [str(mistake) for mistake in error.mistakes]
    return []


@given(FILTERS, FILTERS)
def test_two_filters_overlap_exactly_if_some_key_matches_both(one: KeyFilter, other: KeyFilter) -> None:
    assert one.overlaps(other) == any(one.matches(key) and other.matches(key) for key in EVERY_KEY)
    assert one.overlaps(other) == other.overlaps(one)


@given(st.lists(FILTERS, max_size=5))
def test_overlapping_names_every_pair(filters: list[KeyFilter]) -> None:
    expected = [
        (first, second)
        for second in range(len(filters))
        for first in range(second)
        if any(filters[first].matches(key) and filters[second].matches(key) for key in EVERY_KEY)
    ]
    assert sorted(overlapping(filters)) == sorted(expected)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20))
def test_what_s3_is_given_decodes_to_the_text(text: str) -> None:
    assert unquote_plus(encoded(text)) == text
    assert encoded(text).isascii()


def test_the_rules_are_url_encoded_as_s3_wants_them() -> None:
    one = KeyFilter(prefix="in coming/é=1/", suffix=".csv")
    assert one.rules() == [
        {"Name": "prefix", "Value": "in+coming/%C3%A9%3D1/"},
        {"Name": "suffix", "Value": ".csv"},
    ]
    assert ALL_KEYS.rules() == []


def test_an_event_pattern_takes_the_text_as_it_is() -> None:
    assert key_patterns(
        [
            KeyFilter(prefix="a b/"),
            KeyFilter(suffix=".é"),
            KeyFilter(prefix="x\\", suffix=".csv"),
        ]
    ) == [{"prefix": "a b/"}, {"suffix": ".é"}, {"wildcard": "x\\\\*.csv"}]
    assert key_patterns([KeyFilter(prefix="a/"), ALL_KEYS]) == []


@pytest.mark.parametrize(
    "filters",
    [
        (ALL_KEYS,),
        (KeyFilter(prefix="in/"), KeyFilter(prefix="out/")),
        (KeyFilter(prefix="in/", suffix=".csv"), KeyFilter(prefix="in/", suffix=".json")),
        (KeyFilter(prefix="é" * 170),),
    ],
    ids=["all", "prefixes", "suffixes", "as-long-as-can-be"],
)
def test_filters_that_s3_takes(filters: tuple[KeyFilter, ...]) -> None:
    assert checked(*filters) == []


@pytest.mark.parametrize(
    "filters, texts",
    [
        ((), ["filters = 0: must be from 1 to 100"]),
        ((KeyFilter(prefix="a/"), KeyFilter(prefix="a/b/")), ["filters[1]", "overlaps filters[0]"]),
        ((KeyFilter(suffix=".csv"), KeyFilter(prefix="in/")), ["overlaps filters[0]"]),
        ((KeyFilter(prefix="in/*"),), ["filters[0].prefix = 'in/*'", "no wildcards"]),
        ((KeyFilter(suffix="?.csv"),), ["filters[0].suffix"]),
        ((KeyFilter(prefix="${aws:username}/"),), ["filters[0].prefix"]),
        ((KeyFilter(prefix="a" * 1025),), ["1025 characters when URL-encoded", "at most 1024"]),
        ((KeyFilter(prefix="é" * 171),), ["1026 characters when URL-encoded"]),
        ((KeyFilter(prefix="a" * 600, suffix="b" * 425),), ["filters[0] = 1025 bytes"]),
        ((KeyFilter(prefix="a\n"),), ["printable"]),
        ((KeyFilter(prefix="\ud800"),), ["printable"]),
        ((KeyFilter(prefix=Aws.STACK_NAME),), ["filters[0].prefix = no literal text"]),
        (tuple(KeyFilter(prefix=f"{n}/") for n in range(MAX_FILTERS + 1)), ["filters = 101"]),
    ],
    ids=[
        "none",
        "prefix-in-prefix",
        "prefix-and-suffix",
        "star",
        "question-mark",
        "variable",
        "long",
        "long-encoded",
        "long-together",
        "control-character",
        "surrogate",
        "token",
        "many",
    ],
)
def test_filters_that_cannot_be_are_refused(filters: tuple[KeyFilter, ...], texts: list[str]) -> None:
    found = "\n".join(checked(*filters))
    assert all(text in found for text in texts), found
    assert "Way out: " in found


def test_filters_too_long_for_one_rule_are_refused() -> None:
    filters = [KeyFilter(prefix=f"{n:02}" + "a" * 98) for n in range(19)]
    mistakes = Mistakes("test")
    check_pattern(mistakes, filters[:1], other_characters=100)
    mistakes.raise_all()
    check_pattern(mistakes, filters, other_characters=100)
    with pytest.raises(InvalidSettingsError, match="2048 characters of the rule's pattern"):
        mistakes.raise_all()
