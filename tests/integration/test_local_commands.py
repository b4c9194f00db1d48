"""``claim-check local up`` as a person uses it: start, look, Ctrl-C."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.integration, pytest.mark.slow]

COMMAND = Path(sys.executable).parent / "claim-check"
SCRATCH = Path(__file__).parent / "apps" / "scratch"


def start(*arguments: str) -> subprocess.Popen[str]:
    """Start ``claim-check local`` with its output in one pipe."""
    return subprocess.Popen(  # noqa: S603 - our own command
        [str(COMMAND), "local", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"COLUMNS": "200"},
    )


def test_up_deploys_says_how_to_use_it_and_ends_on_interrupt() -> None:
    with start("up", "--project", str(SCRATCH)) as process:
        assert process.stdout is not None
        printed = ""
        for line in process.stdout:
            printed += line
            if "export AWS_ENDPOINT_URL_S3=" in line:
                break
        process.send_signal(signal.SIGINT)
        printed += process.stdout.read()
    assert process.returncode == 0, printed
    assert "QueueUrl" in printed
    assert "Ctrl-C" in printed
    assert "Traceback" not in printed


def test_a_folder_without_an_app_is_an_error_in_words(tmp_path: Path) -> None:
    with start("up", "--project", str(tmp_path)) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
    assert process.returncode == 1
    assert "--app is required" in printed
    assert "Traceback" not in printed
