"""The runbook can be followed at night: it has every section, and its commands are real (R9.3)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from claim_check_ops.cli import app

RUNBOOK = (Path(__file__).parents[2] / "docs" / "runbook.md").read_text(encoding="utf-8")
STEPS = 9
USAGE_ERROR: Any = typer.BadParameter.__base__
"""The mistake of whoever typed; its module is typer's own."""


def typed(text: str) -> Iterator[str]:
    """Everything that begins with the command's name, in blocks and in the prose."""
    blocks = re.findall(r"^```\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    for block in blocks:
        lines = block.replace("\\\n", " ").splitlines()
        yield from (line.strip() for line in lines if line.strip().startswith("claim-check "))
    yield from re.findall(r"`(claim-check [^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))


def parse(line: str) -> None:
    """Parse a command as a shell and the command itself do, and run nothing.

    Raises:
        UsageError: There is no such command or option, or a value is of the wrong kind.
    """
    words = shlex.split(line, comments=True)[1:]
    command: Any = get_command(app)
    context = None
    while True:
        context = command.make_context(command.name, words, parent=context)
        if not hasattr(command, "resolve_command"):
            return
        words = [*context._protected_args, *context.args]
        _, command, words = command.resolve_command(context, words)


COMMANDS = sorted({line for line in typed(RUNBOOK) if "…" not in line})


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_of_the_runbook_parses(line: str) -> None:
    parse(line)


@pytest.mark.parametrize(
    "line",
    [
        "claim-check stats",
        "claim-check inbox",
        "claim-check inbox list --state COMPLETED",
        "claim-check inbox list --limit many",
        "claim-check dlq redrive --speed 5",
        "claim-check dlq show",
    ],
)
def test_a_command_that_is_not_there_does_not_parse(line: str) -> None:
    with pytest.raises(USAGE_ERROR):
        parse(line)


def test_the_procedure_has_its_nine_steps_in_order() -> None:
    procedure = section("Send messages back")
    assert re.findall(r"^\*\*(\d)\. ", procedure, re.MULTILINE) == [str(number) for number in range(1, STEPS + 1)]
    without = [text for text in re.split(r"^\*\*\d\. ", procedure, flags=re.MULTILINE)[1:] if "claim-check" not in text]
    assert [text[:20] for text in without] == ["Group by reason.** T"], "every step says with which command"


def test_nothing_is_sent_before_the_sixth_step() -> None:
    before, _, after = section("Send messages back").partition("**6. ")
    assert "--go" not in before
    assert "--go" in after


@pytest.mark.parametrize("part", ["Alarms", "Error codes"])
def test_the_index_names_every_section(part: str) -> None:
    sections = re.findall(r"^## (.+)$", RUNBOOK.partition(f"\n# {part}\n")[2].partition("\n# ")[0], re.MULTILINE)
    index = RUNBOOK.partition("\n# ")[0]
    assert sections
    assert [name for name in sections if f"](#{name.lower().replace(' ', '-')})" not in index] == []


def section(name: str) -> str:
    """A section's text."""
    return RUNBOOK.partition(f"\n## {name}\n")[2].partition("\n# ")[0].partition("\n## ")[0]
