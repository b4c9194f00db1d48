"""``claim-check worker``: a consumer outside Lambda, as the one process of a container."""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Annotated, Final

import typer

from claim_check import contract
from claim_check.contract import Setting
from claim_check.errors import InvalidSetting, ReceiveRefused
from claim_check.settings import ConsumerSettings
from claim_check.worker import Worker

FAILED: Final = 1
WRONG_SETTING: Final = 2


def worker(
    *,
    handler: Annotated[
        str, typer.Option(help="The handler, module:function; modules are found in the working folder, too.")
    ],
    concurrency: Annotated[
        int | None, typer.Option(help="Messages side by side; on FIFO message groups. By default the setting's, or 10.")
    ] = None,
    queue_url: Annotated[str | None, typer.Option(help="The queue, in place of the setting.")] = None,
    health_file: Annotated[
        Path | None, typer.Option(help="Touched while the worker gets on; unhealthy when older than 90 seconds.")
    ] = None,
    visibility: Annotated[
        int, typer.Option(help="Seconds after which the messages of a worker that vanished come back.")
    ] = contract.WORKER_VISIBILITY_SECONDS,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds that a handler may take. By default nearly 12 hours.")
    ] = None,
    grace: Annotated[
        float, typer.Option(help="Seconds that running handlers have to finish after SIGTERM or SIGINT; at most 5.")
    ] = contract.WORKER_GRACE_SECONDS,
) -> None:
    """Handle the messages of a queue until SIGTERM or SIGINT, then stop in order within ten seconds.

    Everything else comes from the same environment variables as the Lambda function's. Logs and metrics are JSON lines.
    Exits with 0 after a stop, 2 if a setting is wrong, 1 if the queue refuses or the process cannot go on.
    """
    overrides = {
        Setting.HANDLER: handler,
        Setting.QUEUE_URL: queue_url,
        Setting.CONCURRENCY: None if concurrency is None else str(concurrency),
    }
    variables = os.environ | {name: value for name, value in overrides.items() if value is not None}
    sys.path.insert(0, str(Path.cwd()))
    try:
        settings = ConsumerSettings.from_environment(variables)
        alive = None if health_file is None else _health(health_file)
        made = aws_worker()(
            settings,
            visibility_seconds=visibility,
            time_limit_seconds=time_limit,
            grace_seconds=grace,
            alive=alive,
        )
        with _stopped_by_signals(made):
            made.run()
    except InvalidSetting as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(WRONG_SETTING) from error
    except ReceiveRefused as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(FAILED) from error
    finally:
        if health_file is not None:
            _remove(health_file)


def aws_worker() -> Callable[..., Worker]:
    """`claim_check.aws.worker`, which needs more packages than the other commands.

    Raises:
        InvalidSetting: They are not installed.
    """
    try:
        from claim_check.aws import worker as make  # noqa: PLC0415 - see above
    except ImportError as error:
        raise InvalidSetting(f"{error}; install claim-check-sqs[ops,runtime]") from error
    return make


def _health(path: Path) -> Callable[[], None]:
    """Touches the file. Nothing is there before the first sign of life; what an earlier process left is removed."""
    try:
        path.touch()
        path.unlink()
    except OSError as error:
        raise InvalidSetting(f"--health-file {path}: cannot be written: {error.strerror}") from error

    def touch() -> None:
        with contextlib.suppress(OSError):  # the file then grows old, which is what it is for
            path.touch()

    return touch


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def _stopped_by_signals(worker: Worker) -> Iterator[None]:
    """Let SIGTERM and SIGINT stop the worker in order; a second one ends the process at once, which loses nothing."""
    asked = False

    def stop(number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            os._exit(128 + number)
        asked = True
        worker.stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
