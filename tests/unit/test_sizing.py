"""`Sizing`: memory and temporary storage from payload x concurrent records x expansion (R4.4)."""

from __future__ import annotations

import math
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check.contract import (
    FUNCTION_BASE_MEMORY_MIB,
    GIB,
    LAMBDA_MAX_MEMORY_MIB,
    LAMBDA_MAX_TEMP_MIB,
    LAMBDA_MIN_TEMP_MIB,
    MIB,
    STREAM_BYTES_PER_RECORD,
    PayloadAccess,
)
from claim_check.permits import PayloadBudget
from claim_check_cdk.sizing import COMFORTABLE_MEMORY_MIB, Sizing


def sizings() -> st.SearchStrategy[Sizing]:
    """Any sizing."""
    return st.builds(
        Sizing,
        access=st.sampled_from(get_args(PayloadAccess)),
        max_payload=st.integers(min_value=1, max_value=2 * GIB),
        concurrent_records=st.integers(min_value=1, max_value=20),
        expansion=st.floats(min_value=1, max_value=10),
    )


@pytest.mark.parametrize(
    "access, memory_mib, temp_mib",
    [
        ("none", FUNCTION_BASE_MEMORY_MIB, LAMBDA_MIN_TEMP_MIB),
        ("stream", FUNCTION_BASE_MEMORY_MIB + 5 * 4, LAMBDA_MIN_TEMP_MIB),
        ("memory", FUNCTION_BASE_MEMORY_MIB + 5 * 200 * 3, LAMBDA_MIN_TEMP_MIB),
        ("file", FUNCTION_BASE_MEMORY_MIB + 5 * 4, 5 * 200 * 3),
    ],
)
def test_what_each_access_needs(access: PayloadAccess, memory_mib: int, temp_mib: int) -> None:
    sizing = Sizing(access=access, max_payload=200 * MIB, concurrent_records=5, expansion=3)
    assert (sizing.memory_mib, sizing.temp_mib) == (memory_mib, temp_mib)


def test_too_little_memory_shows_the_sum() -> None:
    sizing = Sizing(access="memory", max_payload=200 * MIB, concurrent_records=5, expansion=3)
    assert sizing.refusals(memory_mib=1024, temp_mib=None) == [
        (
            "memory_size_mib",
            "1024 MiB",
            (
                "payload_access 'memory' needs 3192 MiB of memory (192 MiB for interpreter, clients and library + 5 "
                "concurrent records x 200 MiB payload x 3 expansion = 3192 MiB), and Lambda has at most 10240 MiB"
            ),
        )
    ]


def test_too_little_temporary_storage_shows_the_sum() -> None:
    sizing = Sizing(access="file", max_payload=512 * MIB, concurrent_records=10)
    ((argument, value, limit),) = sizing.refusals(memory_mib=None, temp_mib=512)
    assert (argument, value) == ("ephemeral_storage", "512 MiB")
    assert "10 concurrent records x 512 MiB payload x 1 expansion = 5120 MiB" in limit


def test_more_than_lambda_has_is_refused_although_it_is_computed() -> None:
    sizing = Sizing(access="memory", max_payload=GIB, concurrent_records=10)
    ((argument, _, limit),) = sizing.refusals(memory_mib=None, temp_mib=None)
    assert argument == "memory_size_mib"
    assert "at most 10240 MiB" in limit


def test_the_limit_itself_is_accepted_and_one_less_is_not() -> None:
    sizing = Sizing(access="memory", max_payload=100 * MIB, concurrent_records=10)
    assert sizing.refusals(memory_mib=sizing.memory_mib, temp_mib=None) == []
    assert sizing.refusals(memory_mib=sizing.memory_mib - 1, temp_mib=None) != []


@given(sizing=sizings())
def test_what_is_computed_is_enough_or_refused(sizing: Sizing) -> None:
    fits = sizing.computed_memory_mib <= LAMBDA_MAX_MEMORY_MIB and sizing.temp_mib <= LAMBDA_MAX_TEMP_MIB
    assert (sizing.refusals(memory_mib=None, temp_mib=None) == []) == fits
    assert sizing.computed_memory_mib >= max(sizing.memory_mib, COMFORTABLE_MEMORY_MIB)
    assert sizing.computed_memory_mib % 64 == 0


@given(sizing=sizings())
def test_the_runtime_can_hold_all_records_at_once(sizing: Sizing) -> None:
    """The budgets that follow from a sizing cover what the runtime's permits take for each record."""
    budget = PayloadBudget(
        access=sizing.access,
        memory_bytes=(sizing.computed_memory_mib - FUNCTION_BASE_MEMORY_MIB) * MIB,
        temp_bytes=sizing.temp_mib * MIB,
        expansion=sizing.expansion,
    )
    assert sizing.concurrent_records * budget.need(sizing.max_payload) <= budget.total


@given(sizing=sizings())
def test_the_sums_name_what_they_add(sizing: Sizing) -> None:
    assert sizing.memory_sum().endswith(f"= {sizing.memory_mib} MiB")
    if sizing.access == "file":
        assert f"= {math.ceil(sizing.payload_temp / MIB)} MiB" in sizing.temp_sum()
    if sizing.access == "stream":
        assert f"{STREAM_BYTES_PER_RECORD // MIB} MiB stream" in sizing.memory_sum()
