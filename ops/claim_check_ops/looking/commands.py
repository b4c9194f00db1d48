"""``claim-check status`` and ``claim-check inbox``."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final, Literal, cast

import typer
from rich.console import Console
from rich.table import Table

from claim_check import contract
from claim_check.errors import InvalidSetting, ReadRefused, Unavailable
from claim_check_ops.looking import aws, inbox_rows, views
from claim_check_ops.looking.inbox_rows import Wanted
from claim_check_ops.looking.status import MAX_ROWS, status_of
from claim_check_ops.pipelines import PipelineNotFound, consumer_settings, consumers

NEEDS_A_PERSON: Final = 1
NOT_FOUND: Final = 1
WRONG_USE: Final = 2
DEFAULT_LIMIT: Final = 50
WIDTH: Final = 200  # of tables that no terminal shows: ids are whole

OpenState = Literal["IN_PROGRESS", "FAILED", "PARKING", "PARKED"]

Consumer = Annotated[str | None, typer.Option(help="Name of the consumer. By default the only one there is.")]
Function = Annotated[str | None, typer.Option(help="The consumer's function, whose settings are used.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]
MaxRows = Annotated[int, typer.Option(help="Rows of the inbox that are read at most, of each state.", min=1)]

app = typer.Typer(no_args_is_help=True, help="Look into the inbox: what became of an event, what is not completed.")


def status(
    *,
    consumer: Annotated[str | None, typer.Option(help="Name of the consumer. By default all of them.")] = None,
    function: Function = None,
    stuck_after: Annotated[
        float, typer.Option(help="Seconds without anybody at it after which unfinished work counts as stuck.", min=1)
    ] = contract.DEFAULT_STUCK_SECONDS,
    max_rows: MaxRows = MAX_ROWS,
    as_json: AsJson = False,
) -> None:
    """Show how consumers are: depth and age of their queues, dead letters, failures by code, stuck work.

    Exits with 0 if all is well. Exits with 1 if a person is needed: there are dead letters; or nobody has worked on
    unfinished work for long; or a group is blocked; or nothing polls the queue. Exits with 2 if the call is wrong, or
    something refuses or fails to answer.
    """
    with _told_wrong():
        found = consumers(os.environ, function=function, consumer=consumer)
        queues, pollers = aws.queues(), aws.pollers()
        seen = []
        for one in found:
            with _told_of(one.settings.consumer):
                looked = status_of(
                    one,
                    queues=queues,
                    pollers=pollers,
                    inbox=aws.inbox_reader(one.settings.inbox_table),
                    now=time.time(),
                    stuck_after=stuck_after,
                    max_rows=max_rows,
                )
                seen.append(looked)
    _show(views.status_document(seen), [views.status_table(one) for one in seen], as_json=as_json)
    if any(one.problems for one in seen):
        raise typer.Exit(NEEDS_A_PERSON)


@app.command()
def show(
    identity: Annotated[
        str,
        typer.Argument(
            help="An event's idempotency key, or its id (the same unless the producer gave another): with --tenant, "
            "else only what is not completed is found. Or SQS's id of a message, or a row's key.",
            metavar="ID",
        ),
    ],
    *,
    tenant: Annotated[str | None, typer.Option(help="The event's tenant.")] = None,
    consumer: Consumer = None,
    function: Function = None,
    max_rows: MaxRows = MAX_ROWS,
    as_json: AsJson = False,
) -> None:
    """Show what the inbox says of one event or message.

    Exits with 0 if it knows it, 1 if it does not, 2 if the call is wrong or the table refuses.
    """
    with _told_wrong():
        settings = consumer_settings(os.environ, function=function, consumer=consumer)
        reader = aws.inbox_reader(settings.inbox_table)
        found = inbox_rows.find(reader, identity, consumer=settings.consumer, tenant=tenant, max_rows=max_rows)
    now = time.time()
    documents = [views.row_document(row, now=now) for row in found]
    _show({"rows": documents}, [views.row_table(row, now=now) for row in found], as_json=as_json)
    if not found:
        typer.echo(_unknown(settings.consumer, tenant), err=True)
        raise typer.Exit(NOT_FOUND)


@app.command("list")
def list_rows(
    *,
    state: Annotated[OpenState | None, typer.Option(help="Only rows in this state.")] = None,
    code: Annotated[str | None, typer.Option(help="Only rows whose last failure has this code.")] = None,
    stuck: Annotated[
        bool, typer.Option("--stuck", help="Only rows whose lease has ended without their work being done.")
    ] = False,
    tenant: Annotated[str | None, typer.Option(help="Only rows of this tenant.")] = None,
    limit: Annotated[int, typer.Option(help="Rows to show.", min=1)] = DEFAULT_LIMIT,
    consumer: Consumer = None,
    function: Function = None,
    max_rows: MaxRows = MAX_ROWS,
    as_json: AsJson = False,
) -> None:
    """List what is not completed, longest unchanged first, through the index of open work.

    Exits with 0, or with 2 if the call is wrong or the table refuses.
    """
    wanted = Wanted(state=cast("contract.InboxState | None", state), code=code, tenant=tenant, overdue=stuck)
    now = time.time()
    with _told_wrong():
        settings = consumer_settings(os.environ, function=function, consumer=consumer)
        reader = aws.inbox_reader(settings.inbox_table)
        found = inbox_rows.listing(reader, settings.consumer, wanted, now=now, limit=limit, max_rows=max_rows)
    _show(views.listing_document(found, now=now), [views.rows_table(found.rows, now=now)], as_json=as_json)
    if not as_json:
        more = "" if found.complete else f" among the first {max_rows} open rows; there are more"
        typer.echo(f"{len(found.rows)} of {found.matching} rows{more}", err=True)


def _unknown(consumer: str, tenant: str | None) -> str:
    told = "" if tenant else " Completed work is found by --tenant and the idempotency key only."
    return f"The inbox of {consumer} knows no such event or message.{told}"


def _show(document: dict[str, Any], tables: list[Table], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(document, indent=2))
        return
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    for table in tables:
        console.print(table)
        console.print()


@contextmanager
def _told_of(consumer: str) -> Iterator[None]:
    """Say whose queue or table it is that refuses."""
    try:
        yield
    except (ReadRefused, Unavailable) as error:
        raise type(error)(f"{consumer}: {error}") from error


@contextmanager
def _told_wrong() -> Iterator[None]:
    try:
        yield
    except (PipelineNotFound, InvalidSetting, ReadRefused, Unavailable) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(WRONG_USE) from error
