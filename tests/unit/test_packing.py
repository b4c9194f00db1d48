"""R2.7: calls hold ten messages, or as many as fit."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from claim_check.packing import SQS, Item, Limits, pack, rounds, to_offload

SIZES = st.lists(st.integers(1, 1_048_576), max_size=60)
GROUPS = st.lists(st.sampled_from([None, "a", "b", "c"]), max_size=40)


@given(SIZES)
def test_packing_keeps_every_item_in_order_within_both_limits(sizes: list[int]) -> None:
    items = [Item(index, size) for index, size in enumerate(sizes)]
    calls = pack(items)
    assert [item for call in calls for item in call] == items
    for call in calls:
        assert 1 <= len(call) <= 10
        assert sum(item.size for item in call) <= 1_048_576
    for call, following in pairwise(calls):
        assert len(call) == 10 or sum(item.size for item in call) + following[0].size > 1_048_576


# FIELD: awslabs/amazon-sqs-python-extended-client-lib#25
def test_ten_entries_of_200_000_bytes_are_two_calls() -> None:
    assert [len(call) for call in pack([Item(index, 200_000) for index in range(10)])] == [5, 5]


def test_the_limit_itself_fits_and_one_byte_more_does_not() -> None:
    assert len(pack([Item(0, SQS.size - 1), Item(1, 1)])) == 1
    assert len(pack([Item(0, SQS.size), Item(1, 1)])) == 2


def test_a_giant_gets_a_call_of_its_own() -> None:
    assert [[item.index for item in call] for call in pack([Item(0, 1), Item(1, 2_000_000), Item(2, 1)])] == [
        [0],
        [1],
        [2],
    ]


# FIELD: a-h/stream#8
def test_other_services_have_other_limits() -> None:
    limits = Limits(entries=10, size=256 * 1024)
    assert [len(call) for call in pack([Item(index, 100_000) for index in range(3)], limits)] == [2, 1]


@given(GROUPS)
def test_a_round_holds_a_group_once_and_groups_keep_their_order(groups: list[str | None]) -> None:
    items = [Item(index, 1, group) for index, group in enumerate(groups)]
    found = rounds(items)
    assert sorted(item.index for one in found for item in one) == list(range(len(items)))
    for one in found:
        named = [item.group for item in one if item.group is not None]
        assert len(named) == len(set(named))
    for group in ("a", "b", "c"):
        order = [item.index for one in found for item in one if item.group == group]
        assert order == sorted(order)
    assert all(item in found[0] for item in items if item.group is None)


@given(st.lists(st.tuples(st.integers(1, 400_000), st.one_of(st.none(), st.integers(500, 2_000))), max_size=10))
def test_offloading_takes_the_largest_and_no_more_than_needed(pairs: list[tuple[int, int | None]]) -> None:
    sizes, small = [size for size, _ in pairs], [after for _, after in pairs]
    chosen = to_offload(sizes, small)

    def total(positions: list[int]) -> int:
        return sum(small[place] or 0 if place in positions else size for place, size in enumerate(sizes))

    if sum(sizes) <= SQS.size:
        assert chosen == []
    elif chosen:
        assert total(chosen[:-1]) > SQS.size
        useful = [place for place, size in enumerate(sizes) if (after := small[place]) is not None and after < size]
        assert total(chosen) <= SQS.size or sorted(chosen) == useful
        assert [sizes[place] for place in chosen] == sorted((sizes[place] for place in chosen), reverse=True)
        left = [sizes[place] for place in useful if place not in chosen]
        assert not left or max(left) <= min(sizes[place] for place in chosen)
