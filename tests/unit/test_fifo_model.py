"""A FIFO group keeps its order in every interleaving that the model reaches, and each broken rule is noticed (R4.7)."""

from __future__ import annotations

import pytest

from tests.fifo_model import BUGS, SCENARIOS, Scenario, explore, main

STATES = {"", "IN_PROGRESS", "COMPLETED", "FAILED"}
PARKING = {"PARKING", "PARKED"}
STEPS = {"idle", "gate", "commit", "fail", "answer"}


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_interleaving_breaks_the_order_of_a_group(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = SCENARIOS[name]
    found = explore(scenario)
    with capsys.disabled():
        print(f"\nFIFO model, {name}: {found.states:,} states")  # noqa: T201 - the count is to be seen
    assert not found.problem, "\n".join([found.problem, *found.trace])
    assert found.rows == STATES | (set() if scenario.blocks else PARKING), "the model went everywhere"
    assert found.steps >= STEPS
    assert ("copy" in found.steps) != scenario.blocks
    assert {"gate again", "refund"} <= found.steps or not scenario.outages
    assert {"alone", "set aside"} <= found.steps


@pytest.mark.parametrize("bug", BUGS)
def test_a_broken_rule_is_noticed(bug: str) -> None:
    found = explore(BUGS[bug], bug)
    assert found.problem
    assert found.trace[0] == "start"


@pytest.mark.parametrize("scenario", dict.fromkeys(BUGS.values()), ids=str)
def test_the_scenario_of_a_broken_rule_is_sound_without_it(scenario: Scenario) -> None:
    assert not explore(scenario).problem


def test_the_command_prints_the_shortest_way_to_a_problem(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--bug", "tail-is-acked"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("tail-is-acked: ")
    assert lines[0].endswith("[1] lost")
    assert lines[1].strip() == "start"


def test_without_mishaps_a_group_is_quickly_done_with() -> None:
    assert explore(Scenario(workers=1)).states < 300
