"""A progress bar of settled messages."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


class ProgressBar:
    """How many messages are settled, and what is being done."""

    def __init__(self, progress: Progress) -> None:
        """Begin with an unknown total."""
        self._progress = progress
        self._task = progress.add_task("preparing", total=None)

    def show(self, text: str, done: int, total: int) -> None:
        """Say what is being done, and how far it is."""
        self._progress.update(self._task, description=text, completed=done, total=total)


@contextmanager
def progress_bar(console: Console) -> Iterator[ProgressBar]:
    """Show a bar until the block ends."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        yield ProgressBar(progress)
