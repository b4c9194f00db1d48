"""Runs groups of figures, shows them beside their limits, and says whether all limits hold."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from benchmarks.figure import BenchmarkError, Figure
from benchmarks.figures import (
    batch_latency,
    dead_letters,
    huge_file,
    ingest,
    lambda_asset,
    peak_memory,
    publish_batch,
    put_cpu,
    reconcile,
    request_counts,
    throughput,
    worker,
)
from benchmarks.stand import Stand

if TYPE_CHECKING:
    from benchmarks.figure import Value

Measure: TypeAlias = Callable[[Stand], Iterable[Figure]]

GROUPS: Final[Mapping[str, Measure]] = {
    "requests": request_counts.measure,
    "asset": lambda_asset.measure,
    "latency": batch_latency.measure,
    "throughput": throughput.measure,
    "worker": worker.measure,
    "put-cpu": put_cpu.measure,
    "memory": peak_memory.measure,
    "batch": publish_batch.measure,
    "huge": huge_file.measure,
    "dead-letters": dead_letters.measure,
    "ingest": ingest.measure,
    "reconcile": reconcile.measure,
}

PLAIN_WIDTH: Final = 140
"""Columns where the output is no terminal."""

PASSED: Final = 0
BROKEN: Final = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for.

    Args:
        arguments: Of the command line, by default this process's.

    Returns:
        The exit code: 1 when a limit is broken or a figure could not be measured, else 0.
    """
    chosen = _parse(arguments)
    names = [name for name in GROUPS if name in chosen.only] if chosen.only else list(GROUPS)
    began = time.monotonic()
    figures = with_progress({name: GROUPS[name] for name in names})
    if chosen.json:
        print(json.dumps(as_document(figures), indent=2))
    else:
        console = Console()
        console = console if console.is_terminal else Console(width=PLAIN_WIDTH)
        console.print(as_table(figures))
        for how, number in how_notes(figures).items():
            console.print(f"{number:>3}  {how}", markup=False, highlight=False)
        print(f"{summary(figures)} {time.monotonic() - began:.0f} s.")
    return exit_code(figures)


def with_progress(groups: Mapping[str, Measure]) -> list[Figure]:
    """Measure, and show on the terminal how far it has come."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=len(groups))
        name = ""

        def say(step: str) -> None:
            progress.update(task, description=f"{name}: {step}" if step else name)
            if step and not console.is_terminal:
                print(f"{name}: {step}", file=sys.stderr, flush=True)

        figures: list[Figure] = []
        with Stand(say) as stand:
            for name, measure in groups.items():
                say("")
                figures += measured(name, measure, stand)
                progress.advance(task)
    return figures


def measured(name: str, measure: Measure, stand: Stand) -> Iterator[Figure]:
    """The figures of a group; what cannot be measured becomes a figure that says so.

    Args:
        name: Of the group.
        measure: Measures it.
        stand: What it is measured on.
    """
    try:
        yield from measure(stand)
    except BenchmarkError as error:
        yield Figure.unmeasured(name, str(error))


def exit_code(figures: Iterable[Figure]) -> int:
    """1 when a limit is broken, else 0."""
    return PASSED if all(figure.passed for figure in figures) else BROKEN


def as_document(figures: Iterable[Figure]) -> dict[str, Any]:
    """All that was found, for programs."""
    machine = {"python": platform.python_version(), "machine": platform.machine(), "cpus": os.cpu_count()}
    return {"on": machine, "figures": [dataclasses.asdict(figure) for figure in figures]}


def as_table(figures: Sequence[Figure]) -> Table:
    """All that was found, for people; the last column names the note that says how."""
    notes = how_notes(figures)
    table = Table(title="Figures and their limits", title_justify="left")
    for header in ("Figure", "Value", "Limit", "", "Note"):
        table.add_column(header, overflow="fold")
    for figure in figures:
        verdict = "" if figure.limit is None else "[green]holds[/]"
        verdict = verdict if figure.passed else "[bold red]BROKEN[/]"
        value = "not measured" if figure.value is None else shown(figure.value, figure.unit)
        limit = "-" if figure.limit is None else shown(figure.limit, figure.unit)
        table.add_row(figure.name, value, limit, verdict, str(notes[figure.how]))
    return table


def how_notes(figures: Iterable[Figure]) -> dict[str, int]:
    """How the figures were measured: each way once, with its number."""
    return {how: number for number, how in enumerate(dict.fromkeys(figure.how for figure in figures), start=1)}


def shown(value: Value, unit: str) -> str:
    """A value with its unit; texts speak for themselves."""
    return value if isinstance(value, str) else f"{value:g} {unit}".rstrip()


def summary(figures: Sequence[Figure]) -> str:
    """One sentence about all of it."""
    limited = [figure for figure in figures if figure.limit is not None or not figure.passed]
    broken = [figure.name for figure in limited if not figure.passed]
    if broken:
        return f"{len(broken)} of {len(limited)} limits broken: {'; '.join(broken)}."
    return f"All {len(limited)} limits hold." if limited else "No limits among these."


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure figures beside their limits.")
    parser.add_argument(
        "--only", action="append", choices=list(GROUPS), metavar="NAME", help=f"one group: {', '.join(GROUPS)}"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser.parse_args(arguments)
