"""A small replay drill on the deployed documents pipeline (R9); `make drill` is the large one."""

import pytest
from rich.console import Console

from claim_check.contract import KIB, MIB
from claim_check_ops.dlq.pace import Limit
from claim_check_ops.dlq.report import Moved, Report
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


def drilled(reads: list[Read], *, moved: int = 1) -> DrillRun:
    """A drill whose reads are these, judged by its limits; nothing is deployed."""
    run = DrillRun(None, Mix(largest=MIB), Limit(rate=1.0, bytes_per_second=1.0 * MIB))  # type: ignore[arg-type]
    report = Report("drill-1", moved=[Moved("m", "e", "c", "q", MIB)] * moved)
    run.reports, run.reads = [report], reads
    run._judge_limits()
    return run


def test_reads_within_the_limits_are_no_problem() -> None:
    assert drilled([Read(float(number), MIB) for number in range(30)]).problems == []


@pytest.mark.parametrize(
    "reads, words",
    [
        ([], "nobody read"),
        ([Read(number / 2, 1) for number in range(60)], "GETs within 10 s"),
        ([Read(float(number), 2 * MIB) for number in range(30)], "read within 10 s"),
    ],
    ids=["none", "too many", "too large"],
)
def test_reads_beyond_a_limit_make_the_drill_fail(reads: list[Read], words: str) -> None:
    run = drilled(reads)
    assert any(words in problem for problem in run.problems)
    assert not run.succeeded


def test_a_peak_is_the_most_within_a_stretch_of_time() -> None:
    reads = [Read(0.0, 1), Read(1.0, 10), Read(9.9, 100), Read(10.0, 5), Read(25.0, 50)]
    assert peak(reads, 10.0) == (3, 115)
    assert peak([], 10.0) == (0, 0)
