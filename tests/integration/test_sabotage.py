"""`make run` fails when something is wrong: one sample's payload vanishes before it is read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

SABOTAGED = "PDF"


def test_a_run_with_a_sabotaged_sample_fails() -> None:  # R13.2
    command = [sys.executable, "-m", "claim_check_ops.cli", "local", "run", "--json", "--sabotage", SABOTAGED]
    done = subprocess.run(  # noqa: S603 - our own command
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 1
    documents = json.loads(done.stdout)["documents"]
    assert not documents["succeeded"]
    wrong = {one["case"]: one["code"] for one in documents["messages"] if one["problems"]}
    assert wrong[SABOTAGED] == "MissingPayload"
    assert "PNG" not in wrong
