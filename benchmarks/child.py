"""Runs one measuring function in a fresh process of its own, so that nothing measured before has warmed it.

A task is ``module:function``; its arguments and its result are JSON. What it prints (logs and metrics of the library)
goes to a file, whose end is shown if it fails.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.figure import BenchmarkError

ROOT: Final = Path(__file__).resolve().parents[1]
TIMEOUT_SECONDS: Final = 300.0
_TAIL_CHARACTERS: Final = 3000


def run(task: str, *, environment: Mapping[str, str], timeout: float = TIMEOUT_SECONDS, **arguments: Any) -> Any:  # noqa: ANN401 - JSON
    """Call a function in a process of its own, and return what it returned.

    Args:
        task: ``module:function``.
        environment: The process's whole environment.
        timeout: Seconds it may take; it is ended then.
        arguments: Keyword arguments of the function; JSON.

    Raises:
        BenchmarkError: It failed, or took too long.
    """
    with tempfile.TemporaryDirectory(prefix="claim-check-bench-") as folder:
        answer = Path(folder) / "answer.json"
        command = [sys.executable, "-m", "benchmarks.child", task, str(answer)]
        output = execute(
            command, environment=environment, timeout=timeout, what=task, given=json.dumps(arguments), log=Path(folder)
        )
        if not answer.exists():
            raise BenchmarkError(f"{task} gave no answer. Its output ends:\n{output}")
        return json.loads(answer.read_text(encoding="utf-8"))


def execute(
    command: list[str], *, environment: Mapping[str, str], timeout: float, what: str, given: str, log: Path
) -> str:
    """Run a command of ours from the checkout, and return the end of its output.

    Args:
        command: Program and arguments.
        environment: The process's whole environment.
        timeout: Seconds it may take; it is ended then.
        what: Name of it in errors.
        given: Its standard input.
        log: Folder for its output.

    Raises:
        BenchmarkError: It failed, or took too long.
    """
    path = log / "output.log"
    with path.open("wb") as output:
        try:
            done = subprocess.run(  # noqa: S603 - our own program
                command,
                input=given.encode(),
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
                env=dict(environment),
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise BenchmarkError(f"{what} took longer than {timeout:.0f} s and was ended.") from error
    tail = path.read_text(encoding="utf-8", errors="replace")[-_TAIL_CHARACTERS:]
    if done.returncode != 0:
        raise BenchmarkError(f"{what} failed. Its output ends:\n{tail}")
    return tail


def main(task: str, answer: str) -> None:
    """Do the task of this process.

    Args:
        task: ``module:function``.
        answer: File for the result.
    """
    module, _, function = task.partition(":")
    result = getattr(importlib.import_module(module), function)(**json.load(sys.stdin))
    Path(answer).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
