"""The benchmarks' runner: limits, exit code, what cannot be measured. Nothing is measured here."""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import runner
from benchmarks.figure import BenchmarkError, Figure
from benchmarks.figures.request_counts import as_text
from benchmarks.stand import Stand

HOLDS = Figure.at_most("size", 4.0, 4.0, unit="MiB", how="by hand")
BROKEN = Figure.at_most("size", 4.01, 4.0, unit="MiB", how="by hand")
NOTED = Figure.noted("rate", 0.2, unit="x", how="by hand, too")


def test_a_limit_is_part_of_what_is_allowed() -> None:
    assert HOLDS.passed
    assert not BROKEN.passed


def test_an_exact_figure_allows_nothing_less_either() -> None:
    assert Figure.exactly("calls", 1, 1, how="").passed
    assert not Figure.exactly("calls", 0, 1, how="").passed
    assert not Figure.exactly("calls", "2 GetObject", "1 GetObject", how="").passed


@pytest.mark.parametrize(
    "figures,code",
    [
        ([], 0),
        ([HOLDS, NOTED], 0),
        ([HOLDS, BROKEN, NOTED], 1),
        ([HOLDS, Figure.unmeasured("memory", "no server")], 1),
    ],
)
def test_one_broken_or_unmeasured_limit_decides_the_exit_code(figures: list[Figure], code: int) -> None:
    assert runner.exit_code(figures) == code


def test_every_group_is_in_the_table_of_the_page() -> None:
    page = (Path(runner.__file__).parent / "README.md").read_text()
    assert re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE) == list(runner.GROUPS)


def test_what_fails_is_a_figure_and_hides_none_before_it() -> None:
    def measure(_: Stand) -> Iterator[Figure]:
        yield HOLDS
        raise BenchmarkError("no server")

    found = list(runner.measured("memory", measure, Stand()))
    assert found == [HOLDS, Figure.unmeasured("memory", "no server")]


def test_only_what_is_asked_for_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    groups = {"a": lambda _: [HOLDS], "b": lambda _: [BROKEN], "c": lambda _: [NOTED]}
    monkeypatch.setattr(runner, "GROUPS", groups)
    assert runner.main(["--json", "--only", "c", "--only", "a"]) == 0
    figures = json.loads(capsys.readouterr().out)["figures"]
    assert [figure["name"] for figure in figures] == ["size", "rate"]
    assert figures[0] == {"name": "size", "value": 4, "limit": 4, "unit": "MiB", "passed": True, "how": "by hand"}
    assert runner.main([]) == 1
    shown = capsys.readouterr().out
    assert "BROKEN" in shown
    assert "1 of 2 limits broken: size." in shown


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        runner.main(["--only", "everything"])
    assert caught.value.code == 2
    assert "everything" in capsys.readouterr().err


def test_the_table_shows_value_limit_and_verdict() -> None:
    output = io.StringIO()
    Console(width=120, file=output).print(runner.as_table([HOLDS, BROKEN, NOTED, Figure.unmeasured("memory", "none")]))
    rows = [line for line in output.getvalue().splitlines() if "│" in line]
    cells = [[cell.strip() for cell in row.strip("│").split("│")] for row in rows]
    assert cells == [
        ["size", "4 MiB", "4 MiB", "holds", "1"],
        ["size", "4.01 MiB", "4 MiB", "BROKEN", "1"],
        ["rate", "0.2 x", "-", "", "2"],
        ["memory", "not measured", "-", "BROKEN", "3"],
    ]


def test_requests_are_told_in_one_order() -> None:
    assert as_text({"PutObject": 10, "GetObject": 1}) == as_text({"GetObject": 1, "PutObject": 10})
    assert as_text({"PutObject": 10, "GetObject": 1}) == "1 GetObject + 10 PutObject"
