"""The limits of a redrive hold in every stretch of time (R9.2)."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check.packing import Item
from claim_check_ops.dlq.pace import Limit, Pace, TokenBucket, calls
from claim_check_ops.dlq.prefetch import one_ahead
from claim_check_ops.dlq.selecting import InvalidAge, InvalidSize, parse_age, parse_size
from claim_check_ops.dlq.times import iso, span

RATES = st.floats(0.01, 1000.0)
COSTS = st.lists(st.tuples(st.integers(0, 5000), st.floats(0, 3)), min_size=1, max_size=40)


@given(rate=RATES, burst=st.floats(1.0, 100.0), steps=COSTS)
def test_no_stretch_of_time_has_more_than_burst_and_rate(
    rate: float, burst: float, steps: list[tuple[int, float]]
) -> None:
    bucket, now = TokenBucket(rate, burst=burst, now=0.0), 0.0
    gone: list[tuple[float, int]] = []
    for cost, idle in steps:
        now += idle
        now += bucket.wait(cost, now)
        bucket.take(cost, now)
        gone.append((now, cost))
    for first, (began, _) in enumerate(gone):
        total = 0
        for ended, cost in gone[first:]:
            allowed = burst + rate * (ended - began)
            assert total <= allowed * (1 + 1e-6) + 1e-6, "what went before its last one"
            total += cost


@given(rate=RATES, costs=st.lists(st.integers(1, 10), min_size=2, max_size=50))
def test_nobody_waits_longer_than_the_rate_asks_for(rate: float, costs: list[int]) -> None:
    bucket, now = TokenBucket(rate, burst=10.0, now=0.0), 0.0
    for cost in costs:
        now += bucket.wait(cost, now)
        bucket.take(cost, now)
    assert now <= sum(costs[:-1]) / rate + 10.0 / rate + 1e-6
    assert now >= (sum(costs) - 10.0) / rate - max(costs) / rate - 1e-6


def test_a_clock_that_stands_still_grants_nothing() -> None:
    bucket = TokenBucket(10.0, burst=5.0, now=100.0)
    bucket.take(5, 100.0)
    assert bucket.wait(1, 100.0) == pytest.approx(0.1)
    assert bucket.wait(1, 99.0) == pytest.approx(0.1)


@given(
    sizes=st.lists(st.integers(0, 3000), min_size=1, max_size=60),
    groups=st.lists(st.sampled_from(["a", "b", "c"]), min_size=60, max_size=60),
    rate=RATES,
    most=st.one_of(st.none(), st.floats(1.0, 4000.0)),
    fifo=st.booleans(),
)
def test_calls_hold_everything_once_in_order_and_nothing_too_large(
    sizes: list[int], groups: list[str], rate: float, most: float | None, *, fifo: bool
) -> None:
    limit = Limit(rate=rate, bytes_per_second=most)
    items = [Item(place, 100, groups[place] if fifo else None) for place in range(len(sizes))]
    found = list(calls(items, sizes, limit))
    assert sorted(place for call in found for place in call) == list(range(len(sizes)))
    for call in found:
        assert 1 <= len(call) <= limit.per_call <= 10
        assert len(call) == 1 or most is None or sum(sizes[place] for place in call) <= most
    sequence = [place for call in found for place in call]
    for group in set(groups) if fifo else {None}:
        mine = [place for place in sequence if not fifo or groups[place] == group]
        assert mine == sorted(mine)
        assert not fifo or all(sum(groups[place] == group for place in call) <= 1 for call in found)


@pytest.mark.parametrize("rate, per_call", [(0.1, 1), (5, 1), (10, 2), (50, 10), (1000, 10)])
def test_a_low_rate_sends_few_at_once(rate: float, per_call: int) -> None:
    assert Limit(rate=rate).per_call == per_call


def test_both_limits_count() -> None:
    limit = Limit(rate=10.0, bytes_per_second=100.0)
    pace = Pace(limit, now=0.0)
    pace.take(messages=1, payload_bytes=300, now=0.0)
    assert pace.wait(messages=1, payload_bytes=1, now=0.0) == pytest.approx(2.01)
    assert limit.seconds(messages=10, payload_bytes=500) == 5.0
    assert limit.seconds(messages=100, payload_bytes=500) == 10.0


@pytest.mark.parametrize("text, seconds", [("90s", 90), ("15m", 900), ("1.5h", 5400), ("3d", 259_200)])
def test_an_age(text: str, seconds: float) -> None:
    assert parse_age(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "h", "-1h", "1w", "1 h 2 m"])
def test_what_is_no_age_says_how_to_write_one(text: str) -> None:
    with pytest.raises(InvalidAge, match="90s, 15m, 6h, 3d"):
        parse_age(text)


@pytest.mark.parametrize(
    "text, size", [("100", 100), ("500kB", 500_000), ("20MB", 20e6), ("16MiB", 2**24), ("1.5 GiB", 1.5 * 2**30)]
)
def test_a_size(text: str, size: float) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "0", "0MB", "MB", "-1", "5TB", "1e3"])
def test_what_is_no_size_says_how_to_write_one(text: str) -> None:
    with pytest.raises(InvalidSize, match="16MiB"):
        parse_size(text)


@pytest.mark.parametrize(
    "seconds, text", [(-1, "0 s"), (5, "5 s"), (119, "119 s"), (600, "10 min"), (7200, "2 h"), (1e6, "11.6 d")]
)
def test_a_span(seconds: float, text: str) -> None:
    assert span(seconds) == text


def test_a_moment() -> None:
    assert iso(1_783_332_930.9) == "2026-07-06T10:15:30Z"


def test_one_ahead_brings_all_and_raises_in_turn() -> None:
    made: list[int] = []

    def numbers() -> Generator[int, None, None]:
        for number in range(3):
            made.append(number)
            yield number
        raise KeyError

    seen: list[int] = []
    with pytest.raises(KeyError):
        seen.extend(one_ahead(numbers()))
    assert made == [0, 1, 2]


def test_one_ahead_is_one_ahead_and_no_more() -> None:
    made: list[int] = []

    def numbers() -> Generator[int, None, None]:
        for number in range(9):
            made.append(number)
            yield number

    coming = one_ahead(numbers())
    assert next(coming) == 0
    coming.close()
    assert made == [0, 1]
