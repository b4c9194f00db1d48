"""The protocol holds in every interleaving that the model reaches, and each rule broken on purpose is noticed (R4)."""

from __future__ import annotations

import pytest

from tests.protocol_model import BUGS, SCENARIOS, Scenario, explore, main

STATES = {"", "IN_PROGRESS", "COMPLETED", "FAILED", "PARKING", "PARKED"}
STEPS = {
    "idle",
    "gate",
    "gate again",
    "alone",
    "set aside",
    "commit",
    "fail",
    "park",
    "give up",
    "copy",
    "finish",
    "ack",
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_interleaving_breaks_the_protocol(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = explore(SCENARIOS[name])
    with capsys.disabled():
        print(f"\nprotocol model, {name}: {found.states:,} states")  # noqa: T201 - the count is to be seen
    assert not found.problem, "\n".join([found.problem, *found.trace])
    assert found.rows == STATES, "the model went everywhere"
    assert found.steps >= STEPS
    assert ("refund" in found.steps) == bool(SCENARIOS[name].outages)


@pytest.mark.parametrize("bug", BUGS)
def test_a_broken_rule_is_noticed(bug: str) -> None:
    found = explore(BUGS[bug], bug)
    assert found.problem
    assert found.trace[0] == "start"


@pytest.mark.parametrize("bug", BUGS)
def test_the_scenario_of_a_broken_rule_is_sound_without_it(bug: str) -> None:
    assert not explore(BUGS[bug]).problem


def test_the_command_prints_the_shortest_way_to_a_problem(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--bug", "commit-not-fenced"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("commit-not-fenced: ")
    assert lines[0].endswith("the effect was applied twice")
    assert lines[1].strip() == "start"


def test_without_mishaps_a_message_is_quickly_done_with() -> None:
    assert explore(Scenario(workers=1)).states < 100
