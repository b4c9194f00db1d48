"""R2.5: bounded, with backoff and jitter, and never past the deduplication interval."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check.adapters import session
from claim_check.retries import DEDUPLICATION_SECONDS, LONGEST_CALL_SECONDS, Retry
from tests.fakes.clock import FakeClock


def test_delays_double_up_to_the_cap() -> None:
    clock = FakeClock()
    assert list(Retry(attempts=6, base=1, cap=4).tries(clock, lambda: 1.0)) == [1, 2, 3, 4, 5, 6]
    assert clock.sleeps == [1, 2, 4, 4, 4]


def test_jitter_takes_up_to_half_off() -> None:
    clock = FakeClock()
    list(Retry(attempts=3, base=1).tries(clock, lambda: 0.0))
    assert clock.sleeps == [0.5, 1.0]


@given(
    attempts=st.integers(1, 1000),
    base=st.floats(0.01, 100),
    fraction=st.floats(0, 1, exclude_max=True),
    call=st.floats(0, LONGEST_CALL_SECONDS),
)
def test_a_fifo_send_is_over_before_sqs_forgets_its_id(
    attempts: int, base: float, fraction: float, call: float
) -> None:
    clock = FakeClock()
    started = clock.monotonic()
    for number in Retry(attempts=attempts, base=base).tries(clock, lambda: fraction):
        assert number <= attempts
        clock.advance(call)
    assert clock.monotonic() - started < DEDUPLICATION_SECONDS


def test_no_call_of_an_adapter_takes_longer_than_the_budget_assumes() -> None:
    assert session.CALL_SECONDS <= LONGEST_CALL_SECONDS
    config = session.config_for("sqs")
    retries = config.retries  # type: ignore[attr-defined]
    timeouts = config.connect_timeout + config.read_timeout  # type: ignore[attr-defined]
    assert retries == {"mode": "standard", "total_max_attempts": session.SDK_ATTEMPTS}
    assert pytest.approx(session.SDK_ATTEMPTS * timeouts + 3) == session.CALL_SECONDS
