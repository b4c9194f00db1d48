"""`RetentionPlan`: the sum of R6.1, its worked rows, its explanation."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check_cdk.retention import (
    DAY,
    EVENTBRIDGE_DELIVERY_SECONDS,
    HOUR,
    SNS_DELIVERY_SECONDS,
    RetentionPlan,
    format_seconds,
    longest,
)

SECONDS = st.integers(min_value=0, max_value=400 * DAY)


def plans() -> st.SearchStrategy[RetentionPlan]:
    """Any plan."""
    return st.builds(
        RetentionPlan,
        source=SECONDS,
        dlq=SECONDS,
        before_send=SECONDS,
        delivery=SECONDS,
        processing=SECONDS,
        redrive_rounds=st.integers(min_value=0, max_value=5),
        triage=SECONDS,
        archive=SECONDS,
        audit=SECONDS,
        one_clock=st.booleans(),
    )


# --- Worked rows (DESIGN section 4) ---------------------------------------------------------------------------------


def test_fifo_of_14_and_14_days_without_redrive_fits_in_30_days() -> None:  # R6.1
    plan = RetentionPlan(
        source=14 * DAY, dlq=14 * DAY, redrive_rounds=0, before_send=DAY, processing=18 * 60, triage=0, audit=0
    )
    assert plan.seconds == 29 * DAY + 18 * 60
    assert plan.days == 30
    assert plan.refusal(argument="expiration", given=30 * DAY) is None
    assert plan.refusal(argument="expiration", given=29 * DAY) is not None


def test_one_redrive_round_of_the_same_does_not() -> None:
    plan = RetentionPlan(source=14 * DAY, dlq=14 * DAY, redrive_rounds=1, before_send=DAY, processing=18 * 60, triage=0)
    assert plan.days == 58


def test_dlq_of_14_days_with_expiration_of_3_days_prints_the_sum() -> None:  # R6.2
    plan = RetentionPlan(source=4 * DAY, dlq=14 * DAY, processing=1080, name="queue 'documents'")
    refusal = plan.refusal(argument="expiration", given=3 * DAY)
    assert refusal is not None
    assert refusal.startswith("expiration = 3 d: must be at least 39 d")
    assert "Way out:" in refusal
    assert plan.table() in refusal


def test_an_archive_counts_before_each_redrive_and_is_a_line_of_its_own() -> None:  # R6.5
    plan = RetentionPlan(source=4 * DAY, dlq=14 * DAY, before_send=DAY, archive=31 * DAY, redrive_rounds=2)
    assert plan.seconds == DAY + 3 * 18 * DAY + DAY + 2 * 31 * DAY
    assert "  + 2 x archive               31 d   in the archive of dead letters, before each redrive" in plan.table()


@pytest.mark.parametrize("archive, rounds", [(0, 1), (31 * DAY, 0)], ids=["no archive", "no redrive"])
def test_without_an_archive_or_a_redrive_there_is_no_such_line(archive: int, rounds: int) -> None:
    plan = RetentionPlan(source=4 * DAY, dlq=14 * DAY, archive=archive, redrive_rounds=rounds)
    assert "archive of dead letters" not in plan.table()
    assert plan.seconds == replace(plan, archive=0).seconds


def test_replay_window_of_30_days_counts_the_archive_in_triage() -> None:  # R6.5
    plan = RetentionPlan(source=4 * DAY, dlq=14 * DAY, before_send=DAY, processing=HOUR, triage=30 * DAY)
    assert plan.seconds == DAY + 2 * (18 * DAY + HOUR) + 30 * DAY
    assert plan.days == 68


def test_fan_out_counts_delivery_in_every_life() -> None:
    plan = RetentionPlan(source=4 * DAY, dlq=14 * DAY, delivery=SNS_DELIVERY_SECONDS, before_send=0, triage=0)
    assert plan.seconds == 2 * (23 + 4 + 14) * DAY
    assert EVENTBRIDGE_DELIVERY_SECONDS == DAY


@pytest.mark.parametrize("source, dlq", [(4 * DAY, 14 * DAY), (14 * DAY, 14 * DAY), (14 * DAY, 4 * DAY)])
def test_one_clock_counts_the_longer_queue_only(source: int, dlq: int) -> None:
    plan = RetentionPlan(source=source, dlq=dlq, one_clock=True, before_send=0, triage=0, redrive_rounds=0)
    assert plan.seconds == 14 * DAY


def test_the_table_shows_every_term_and_the_days() -> None:
    plan = RetentionPlan(
        source=4 * DAY,
        dlq=14 * DAY,
        before_send=2 * HOUR,
        processing=1080,
        triage=DAY,
        audit=7 * DAY,
        name="MessageQueue 'Stack/Queue'",
    )
    assert plan.table().splitlines() == [
        "Retention plan of MessageQueue 'Stack/Queue' (2 lives: the first and 1 redrive round):",
        "        before_send            2 h   outbox or upload grant, and the longest upload",
        "  + 2 x delivery               0 s   SNS or EventBridge retrying the queue",
        "  + 2 x source                 4 d   retention of the queue",
        "  + 2 x dlq                   14 d   retention of the dead-letter queue",
        "  + 2 x processing          18 min   a message received in its last second",
        "  +     triage                 1 d   outside any queue and archive, before the redrive",
        "  +     audit                  7 d   wanted after the last life",
        "  =     sum         44 d 2 h 36 min   in whole days, rounded up: 45 d",
    ]


# --- Rules ----------------------------------------------------------------------------------------------------------


@given(plan=plans())
def test_the_terms_add_up_to_the_sum(plan: RetentionPlan) -> None:
    assert sum(term.repeats * term.seconds for term in plan.terms()) == plan.seconds


@given(plan=plans())
def test_days_are_the_fewest_that_hold_the_sum(plan: RetentionPlan) -> None:
    assert (plan.days - 1) * DAY < plan.seconds <= plan.days * DAY


@given(plan=plans(), given_seconds=SECONDS)
def test_exactly_what_is_shorter_than_the_plan_is_refused(plan: RetentionPlan, given_seconds: int) -> None:
    refused = plan.refusal(argument="expiration", given=given_seconds) is not None
    assert refused == (given_seconds < plan.days * DAY)
    assert plan.refusal(argument="expiration", given=plan.days * DAY) is None


@given(plan=plans())
def test_no_single_life_outlasts_the_plan(plan: RetentionPlan) -> None:
    assert plan.lives * plan.life + plan.before_send <= plan.seconds
    assert plan.life >= max(plan.source, plan.dlq)


@given(several=st.lists(plans(), max_size=5))
def test_the_longest_plan_decides(several: list[RetentionPlan]) -> None:  # R6.3
    decides = longest(several)
    assert (decides is None) == (not several)
    assert all(plan.seconds <= decides.seconds for plan in several if decides)


@pytest.mark.parametrize("term", ["source", "dlq", "before_send", "delivery", "processing", "triage", "audit"])
def test_a_negative_term_is_refused_by_name(term: str) -> None:
    changed: dict[str, Any] = {term: -1}
    with pytest.raises(ValueError, match=rf"{term} = -1: must be 0 or more"):
        replace(RetentionPlan(source=DAY, dlq=DAY), **changed)


def test_negative_terms_are_refused_all_at_once() -> None:
    with pytest.raises(ValueError, match=r"source = -1, redrive_rounds = -2"):
        RetentionPlan(source=-1, dlq=0, redrive_rounds=-2)


@pytest.mark.parametrize(
    "seconds, text",
    [(0, "0 s"), (59, "59 s"), (60, "1 min"), (3661, "1 h 1 min 1 s"), (14 * DAY, "14 d"), (DAY + 1, "1 d 1 s")],
)
def test_times_for_people(seconds: int, text: str) -> None:
    assert format_seconds(seconds) == text


@given(seconds=SECONDS)
def test_times_for_people_lose_nothing(seconds: int) -> None:
    sizes = {"d": DAY, "h": HOUR, "min": 60, "s": 1}
    parts = re.findall(r"(\d+) (d|h|min|s)\b", format_seconds(seconds))
    assert sum(int(count) * sizes[unit] for count, unit in parts) == seconds
