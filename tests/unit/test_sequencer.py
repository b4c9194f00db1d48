"""The order of the events of one key (R10.1): minio/minio#18272."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check.contract import SequencerPad
from claim_check.ingest.sequencer import latest, newer, order

HEX = st.text("0123456789ABCDEF", min_size=1, max_size=20)
PADS = st.sampled_from(["right", "left"])


@pytest.mark.parametrize("pad", ["right", "left"])
def test_equal_lengths_compare_as_text_on_either_side(pad: SequencerPad) -> None:
    assert newer("0055AED6DCD90281E6", "0055AED6DCD90281E5", pad)
    assert not newer("0055AED6DCD90281E5", "0055AED6DCD90281E6", pad)
    assert not newer("0055AED6DCD90281E5", "0055AED6DCD90281E5", pad)


def test_padded_on_the_left_the_longer_one_is_later() -> None:
    assert newer("0100", "FF", pad="left")
    assert not newer("FF", "0100", pad="left")


def test_padded_on_the_right_the_first_digits_decide() -> None:
    assert newer("FF", "0100")
    assert not newer("0100", "FF")


def test_trailing_zeros_are_nothing_on_the_right() -> None:
    assert not newer("AB", "AB00")
    assert not newer("AB00", "AB")
    assert newer("AB01", "AB")


def test_case_does_not_matter() -> None:
    assert newer("0b", "0A")
    assert order("0a", "0A") == 0


@given(HEX, HEX, PADS)
def test_of_two_at_most_one_is_newer(a: str, b: str, pad: SequencerPad) -> None:
    assert not (newer(a, b, pad) and newer(b, a, pad))


@given(HEX, HEX, HEX, PADS)
def test_newer_is_transitive(a: str, b: str, c: str, pad: SequencerPad) -> None:
    if newer(a, b, pad) and newer(b, c, pad):
        assert newer(a, c, pad)


@given(HEX, HEX)
def test_padded_on_the_left_it_is_the_order_of_numbers(a: str, b: str) -> None:
    assert newer(a, b, "left") == (int(a, 16) > int(b, 16))


@given(HEX, HEX)
def test_the_order_is_certain_for_equal_lengths_only(a: str, b: str) -> None:
    if len(a) == len(b):
        assert order(a, b) == newer(a, b) - newer(b, a)
    else:
        assert order(a, b) is None


def test_without_a_sequencer_no_order_is_certain() -> None:
    assert order(None, "A") is None
    assert order("A", None) is None
    assert order(None, None) is None


@given(HEX, HEX, PADS)
def test_the_latest_is_one_of_both(a: str, b: str, pad: SequencerPad) -> None:
    found = latest(a, b, pad)
    assert found in {a, b}
    assert found is not None
    assert not newer(a, found, pad)
    assert not newer(b, found, pad)


def test_the_latest_of_one_is_that_one() -> None:
    assert latest(None, "A", "right") == "A"
    assert latest("A", None, "right") == "A"
    assert latest(None, None, "right") is None
