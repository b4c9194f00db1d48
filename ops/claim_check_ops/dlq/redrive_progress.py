"""A progress bar of a redrive."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn


class Bar:
    """`claim_check_ops.dlq.redriving.Told` as a bar over messages, with the bytes beside it."""

    def __init__(self, progress: Progress, task: TaskID, payload_bytes: int) -> None:
        """Begin at nothing."""
        self._progress = progress
        self._task = task
        self._expected = payload_bytes
        self._bytes = 0

    def step(self, text: str) -> None:
        """Say what is done now."""
        self._progress.update(self._task, description=text)

    def moved(self, messages: int, payload_bytes: int) -> None:
        """So much more was sent."""
        self._bytes += payload_bytes
        sizes = f"{decimal(self._bytes)} of {decimal(self._expected)}"
        self._progress.update(self._task, advance=messages, description="sent", sizes=sizes)


@contextmanager
def redrive_progress(console: Console, *, messages: int, payload_bytes: int) -> Iterator[Bar]:
    """Show the bar until the block ends, on a terminal only.

    Args:
        console: Where to.
        messages: Messages expected.
        payload_bytes: Bytes of their payloads.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[sizes]}"))
    with Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        yield Bar(progress, progress.add_task("begins", total=messages or None, sizes=""), payload_bytes)
