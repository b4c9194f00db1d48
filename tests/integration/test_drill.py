"""A small replay drill on the deployed documents pipeline (R9); `make drill` is the large one."""

import pytest
from rich.console import Console

from claim_check.contract import KIB, MIB
from claim_check_ops.dlq.pace import Limit
from claim_check_ops.local.deployment import Deployment
from claim_check_ops.local.drill.counting_proxy import Read, peak
from claim_check_ops.local.drill.drill_run import DrillRun
from claim_check_ops.local.drill.mix import Mix
from claim_check_ops.local.progress import progress_bar


@pytest.mark.integration
@pytest.mark.slow
def test_a_replay_under_limits_applies_each_effect_once(documents: Deployment) -> None:
    """R9.1, R9.2: counted at S3's own door, and in the consumer's records."""
    mix = Mix(claims=30, smallest=256 * KIB, largest=MIB, inline=10, each=2)
    run = DrillRun(documents, mix, Limit(rate=10.0, bytes_per_second=4 * MIB))
    with progress_bar(Console(quiet=True)) as bar:
        run.execute(bar)
    assert run.problems == [], run.document()
    assert run.succeeded
    assert len(run.reads) >= 30
    assert run.reports[0].seconds > 3, "the limits were felt"


def test_a_peak_is_the_most_within_a_stretch_of_time() -> None:
    reads = [Read(0.0, 1), Read(1.0, 10), Read(9.9, 100), Read(10.0, 5), Read(25.0, 50)]
    assert peak(reads, 10.0) == (3, 115)
    assert peak([], 10.0) == (0, 0)
