"""What ``claim-check reconcile`` shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.filesize import decimal
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from claim_check.reconciliation import Outcome, Tally
from claim_check.reconciliation.judging import Class
from claim_check.telemetry import key_hash

MEANINGS: Final[dict[Class, str]] = {
    "open": "a row points at it, and its work is not done",
    "completed": "every consumer that has seen it has completed it",
    "unpublished": "no message can ever point at it",
    "unknown": "no row knows it: not yet seen, or never sent",
    "foreign": "its key is none of ours",
    "young": "younger than the grace age",
}
"""What each class means, in a few words."""


def tally_table(tally: Tally) -> Table:
    """Objects and bytes by class."""
    table = Table(title="Payloads")
    for heading, justify in (("class", "left"), ("objects", "right"), ("bytes", "right"), ("meaning", "left")):
        table.add_column(heading, justify="right" if justify == "right" else "left")
    for name, meaning in MEANINGS.items():
        table.add_row(name, f"{tally.classes[name]:,}", decimal(tally.bytes[name]), meaning)
    return table


def samples_table(outcome: Outcome, *, reveal: bool) -> Table:
    """Some of what was found."""
    table = Table(title="Samples")
    for heading in ("finding", "key" if reveal else "hash of key", "consumer", "event"):
        table.add_column(heading, overflow="fold")
    for one in outcome.samples:
        key = one.key if reveal else key_hash(one.key)
        table.add_row(one.kind, key, one.consumer or "", one.message_id or "")
    return table


def summary(tally: Tally, *, delete: bool) -> str:
    """What it came to, and what it cost."""
    lines = [
        f"{tally.dead_pointers} dead pointers among {tally.pointers} rows that are not done with.",
        f"{tally.objects:,} objects: {tally.lists} lists, {tally.reads} batched reads, {tally.looks} looks one by one.",
    ]
    if delete:
        lines.append(f"{tally.removed} removed, {tally.held} held, {tally.spared} spared at the second look.")
    elif tally.classes["unpublished"]:
        lines.append("Nothing was removed. --delete removes what is proven unpublished, and nothing else.")
    if tally.unlooked or tally.unchecked_pointers:
        left = f"{tally.unlooked} objects that no row knows, {tally.unchecked_pointers} rows"
        lines.append(f"Not looked at: {left}. Raise --looks.")
    return "\n".join(lines)


@contextmanager
def progress_of(console: Console) -> Iterator[Callable[[Tally], object]]:
    """Show how many objects are done with, on a terminal only: a listing does not tell how many there are."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("looking at open rows", total=None)

        def moved(tally: Tally) -> None:
            told = f"{tally.objects:,} objects, {tally.classes['unpublished']} unpublished, {tally.removed} removed"
            progress.update(task, description=f"{told}, {tally.dead_pointers} dead pointers")

        yield moved
