"""`FifoThroughput`: two ceilings, of which the lower one wins; the numbers of the docs come from here."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check_cdk.fifo_throughput import (
    CALLS_PER_SECOND,
    HEADING,
    HIGH_THROUGHPUT_MESSAGES,
    STANDARD_FIFO_MESSAGES,
    FifoThroughput,
    backlog,
    groups_for,
)

HANDLING = st.floats(0.001, 900)
GROUPS = st.integers(1, 10**6)
RATES = st.floats(0.01, 10**5)


def test_the_worked_figures() -> None:
    """100 ms a message: ten a second in each group, and 2,500 a second need 250 groups."""
    assert FifoThroughput(handling=0.1, groups=1).per_group == 10
    assert FifoThroughput(handling=0.1, groups=1).rate == 10
    assert groups_for(2_500, handling=0.1) == 250
    assert FifoThroughput(handling=0.1, groups=250).rate == 2_500
    assert CALLS_PER_SECOND * 10 == STANDARD_FIFO_MESSAGES == 3_000


@pytest.mark.parametrize(
    "groups, limit, rate, limited_by",
    [
        (299, STANDARD_FIFO_MESSAGES, 2_990, "groups"),
        (300, STANDARD_FIFO_MESSAGES, 3_000, "queue"),
        (5_000, STANDARD_FIFO_MESSAGES, 3_000, "queue"),
        (5_000, HIGH_THROUGHPUT_MESSAGES, 50_000, "groups"),
        (8_000, HIGH_THROUGHPUT_MESSAGES, 70_000, "queue"),
    ],
)
def test_the_lower_ceiling_wins(groups: int, limit: int, rate: int, limited_by: str) -> None:
    found = FifoThroughput(handling=0.1, groups=groups, messages_per_second=limit)
    assert (found.rate, found.limited_by) == (rate, limited_by)


@given(HANDLING, GROUPS)
def test_no_queue_carries_more_than_either_ceiling(handling: float, groups: int) -> None:
    found = FifoThroughput(handling=handling, groups=groups)
    assert found.rate <= STANDARD_FIFO_MESSAGES
    assert found.rate <= found.all_groups
    assert found.rate in {STANDARD_FIFO_MESSAGES, found.all_groups}


@given(RATES, HANDLING)
def test_as_many_groups_as_it_takes_and_no_more(rate: float, handling: float) -> None:
    groups = groups_for(rate, handling=handling)
    assert groups >= 1 or rate * handling < 1e-9
    assert groups / handling >= rate * (1 - 1e-6)
    assert (groups - 1) / handling < rate * (1 + 1e-6)


@given(RATES, HANDLING, st.floats(0, 10**5))
def test_a_backlog_grows_only_where_more_arrives_than_one_after_the_other_takes(
    arriving: float, handling: float, seconds: float
) -> None:
    waiting = backlog(arriving=arriving, handling=handling, seconds=seconds)
    assert waiting >= 0
    assert waiting == 0 or arriving > 1 / handling


def test_a_backlog() -> None:
    assert backlog(arriving=12, handling=0.1, seconds=3600) == 7_200
    assert backlog(arriving=10, handling=0.1, seconds=3600) == 0


@pytest.mark.parametrize("wrong", [{"handling": 0}, {"groups": 0}, {"messages_per_second": -1}, {"handling": -0.1}])
def test_what_no_queue_has_is_refused(wrong: dict[str, float]) -> None:
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"{name} = {value}: must be more than 0"):
        FifoThroughput(**({"handling": 0.1, "groups": 1} | wrong))  # type: ignore[arg-type]  # wrong on purpose


def test_a_line_says_which_ceiling_it_is() -> None:
    line = FifoThroughput(name="250 accounts", handling=0.1, groups=250).line()
    assert line.split() == ["250", "accounts", "250", "100", "ms", "2,500/s", "3,000/s", "2,500/s", "groups"]
    assert len(HEADING.removesuffix("   limited by")) == len(line.removesuffix("   groups"))
