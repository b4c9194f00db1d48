"""Progress bars of files that are sent: how much is hashed, and how much is uploaded."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from claim_check.payload_source import Step
from claim_check_ops.sending import File


class SendProgress:
    """Two bars over all files."""

    def __init__(self, progress: Progress, files: Sequence[File]) -> None:
        """Begin at nothing; a stream's size is added when it is known."""
        self._progress = progress
        self._sizes: dict[int, int] = {place: file.size for place, file in enumerate(files) if file.size is not None}
        self._done: dict[Step, dict[int, int]] = {"hash": {}, "upload": {}}
        self._tasks = {step: progress.add_task(step, total=sum(self._sizes.values()) or None) for step in self._done}
        self._lock = threading.Lock()

    def moved(self, place: int, step: Step, done: int, total: int) -> None:
        """Note how far a file is; from any thread."""
        with self._lock:
            self._sizes[place], self._done[step][place] = total, done
            self._show(step)

    def finished(self, place: int) -> None:
        """Note that a file is done with, however much of it was read."""
        with self._lock:
            for step, done in self._done.items():
                done[place] = self._sizes.get(place, 0)
                self._show(step)

    def _show(self, step: Step) -> None:
        total = sum(self._sizes.values())
        self._progress.update(self._tasks[step], completed=sum(self._done[step].values()), total=total)


@contextmanager
def send_progress(console: Console, files: Sequence[File]) -> Iterator[SendProgress]:
    """Show the bars until the block ends, on a terminal only."""
    columns = (TextColumn("{task.description:>6}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        yield SendProgress(progress, files)
