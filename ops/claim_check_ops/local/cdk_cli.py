"""Runs the real CDK command line (``node_modules/.bin/cdk``) against an embedded AWS."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from claim_check_ops.local.embedded_aws import ACCOUNT_ID, REGION, EmbeddedAws

_TIMEOUT_SECONDS: Final = 600.0
_TAIL_LINES: Final = 60


class CdkCliError(RuntimeError):
    """The CDK command line is missing, failed or took too long; the text holds the command and its last lines."""


class CdkCli:
    """The CDK command line, bound to one embedded AWS and one project.

    Args:
        aws: Where it deploys to; must be running.
        project: The folder that holds ``cdk.json``.
        app: The command of the app, in place of the one in ``cdk.json``; or a synthesized cloud assembly's folder.
        output: Where the cloud assembly is written; by default a folder that ends with the embedded AWS, so that
            nobody's ``cdk.out`` is overwritten.
        context: Context values, in addition to those of ``cdk.json``.
        on_line: Called with every line that it prints, as it comes.
        timeout: Seconds for one command.
    """

    def __init__(
        self,
        aws: EmbeddedAws,
        project: Path,
        *,
        app: str | None = None,
        output: Path | None = None,
        context: Mapping[str, str] | None = None,
        on_line: Callable[[str], None] | None = None,
        timeout: float = _TIMEOUT_SECONDS,
    ) -> None:
        """Find the command line; nothing runs yet.

        Raises:
            CdkCliError: It is not installed.
        """
        self.aws: Final = aws
        self.project: Final = project.resolve()
        self.output: Final = (output or aws.folder / "cdk.out").resolve()
        self._app = app
        self._context = dict(context or {})
        self._on_line = on_line
        self._timeout = timeout
        self._command = _find_cdk(self.project)

    def bootstrap(self) -> None:
        """Make the resources that deployments need (bucket, roles, version parameter)."""
        # A bootstrap needs no app; with one it would synthesize first.
        self._run("bootstrap", f"aws://{ACCOUNT_ID}/{REGION}", "--app", "", with_app=False)

    def synth(self, *stacks: str) -> Path:
        """Synthesize; return the folder of the cloud assembly."""
        self._run("synth", "--quiet", *stacks)
        return self.output

    def deploy(self, *stacks: str) -> dict[str, dict[str, str]]:
        """Deploy the named stacks, by default all; return the outputs by stack name and output key."""
        outputs = self.aws.folder / "cdk-outputs.json"
        outputs.unlink(missing_ok=True)
        self._run(
            "deploy", *(stacks or ("--all",)), "--require-approval", "never", "--progress", "events",
            "--outputs-file", str(outputs),
        )  # fmt: skip
        return json.loads(outputs.read_text(encoding="utf-8")) if outputs.exists() else {}

    def diff(self, *stacks: str) -> str:
        """Return what a deployment would change, as the command line prints it."""
        return self._run("diff", *stacks)

    def destroy(self, *stacks: str) -> None:
        """Remove the named stacks, by default all."""
        self._run("destroy", *(stacks or ("--all",)), "--force")

    def environment(self) -> dict[str, str]:
        """Return the environment it runs in: this Python first on the path, no telemetry, no version check."""
        variables = self.aws.process_environment()
        variables["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), variables.get("PATH", os.defpath)))
        variables["CDK_DISABLE_CLI_TELEMETRY"] = "true"
        variables["CDK_DISABLE_VERSION_CHECK"] = "1"
        # Node 20 works but is announced to end; the variable's value is the major version it silences.
        variables["JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION"] = "20"
        return variables

    def _run(self, *arguments: str, with_app: bool = True) -> str:
        command = [self._command, *arguments, "--no-notices", "--no-color", "--ci", "--no-version-reporting"]
        if with_app:
            command += ["--app", self._app] if self._app else []
            command += ["--output", str(self.output)]
            command += [part for item in self._context.items() for part in ("--context", "=".join(item))]
        return self._capture(command)

    def _capture(self, command: Sequence[str]) -> str:
        try:
            process = subprocess.Popen(  # noqa: S603 - the project's own command line
                command,
                cwd=self.project,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise CdkCliError(f"Could not run {command[0]}: {error}") from error
        lines, in_time = self._read(process)
        if not in_time or process.returncode != 0:
            how = f"ended with {process.returncode}" if in_time else f"took longer than {self._timeout:g} s"
            raise CdkCliError(f"`cdk {' '.join(command[1:])}` {how}:\n{''.join(lines[-_TAIL_LINES:])}")
        return "".join(lines)

    def _read(self, process: subprocess.Popen[str]) -> tuple[list[str], bool]:
        """Collect the output until the process ends; return it, and whether the process ended by itself."""
        late = threading.Event()

        def end() -> None:
            late.set()
            _kill_group(process.pid)

        timer = threading.Timer(self._timeout, end)
        timer.start()
        lines = []
        try:
            with process:
                for line in process.stdout or ():
                    lines.append(line)
                    if self._on_line is not None:
                        self._on_line(line.rstrip("\n"))
        except BaseException:
            _kill_group(process.pid)
            raise
        finally:
            timer.cancel()
            timer.join()
        return lines, not late.is_set()


def _find_cdk(project: Path) -> str:
    for folder in (project, *project.parents, Path(__file__).resolve().parents[3]):
        candidate = folder / "node_modules" / ".bin" / "cdk"
        if candidate.exists():
            return str(candidate)
    installed = shutil.which("cdk")
    if installed is None:
        raise CdkCliError(
            "The CDK command line is not installed. Run `make setup` (or `npm ci`) in the project's folder."
        )
    return installed


def _kill_group(group: int) -> None:
    # start_new_session made the command the leader of a group of its own, the app's process included.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
