"""``claim-check outbox …``: committed messages that wait for a decision."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from random import SystemRandom
from typing import Annotated, Any, Final, Literal, cast

import typer
from botocore.exceptions import BotoCoreError, ClientError
from rich.console import Console
from rich.table import Table

from claim_check.adapters.clock import SystemClock
from claim_check.adapters.outbox import DynamoDbOutbox, DynamoDbTransactions
from claim_check.adapters.s3 import S3ObjectStore
from claim_check.adapters.session import Clients
from claim_check.contract import OutboxState, Setting
from claim_check.errors import ClaimCheckError
from claim_check.outbox.parked import Decided, ParkedRows
from claim_check.outbox.rows import OutboxRow
from claim_check.outbox.settings import RelaySettings
from claim_check_ops.dlq.times import span
from claim_check_ops.functions import all_variables, lambda_client

LEFT: Final = 1
WRONG_USE: Final = 2
DEFAULT_LIMIT: Final = 100
_DONE: Final[frozenset[Decided]] = frozenset({"retried", "discarded"})

OpenState = Literal["PARKED", "PENDING"]

Outbox = Annotated[str | None, typer.Option(help="Name of the outbox. By default the only one there is.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]
Keys = Annotated[list[str] | None, typer.Argument(help="Keys of rows, as `list` shows them.", metavar="KEY")]
All = Annotated[bool, typer.Option("--all", help="Every parked row.")]

app = typer.Typer(no_args_is_help=True, help="Look at committed messages that were not sent, and decide about them.")


@app.command("list")
def list_rows(
    *,
    state: Annotated[OpenState, typer.Option(help="PARKED: wait for a decision. PENDING: will be sent.")] = "PARKED",
    limit: Annotated[int, typer.Option(help="Rows to show.", min=1)] = DEFAULT_LIMIT,
    outbox: Outbox = None,
    as_json: AsJson = False,
) -> None:
    """List rows that are not sent, oldest first within each part of their index.

    Exits with 0, or with 2 if the call is wrong or a service refuses.
    """
    with _told_wrong():
        found = list(islice(_parked(outbox).rows(cast("OutboxState", state)), limit))
    if as_json:
        typer.echo(json.dumps({"rows": [_document(row) for row in found]}, indent=2))
    else:
        Console(width=None if os.isatty(1) else 200).print(_table(found))


@app.command()
def retry(*, keys: Keys = None, every: All = False, outbox: Outbox = None, as_json: AsJson = False) -> None:
    """Send parked rows again, with the next sweep; those whose payload is gone, or that are too old, stay.

    Exits with 0 if all were put back, 1 if some were not, 2 if the call is wrong or a service refuses.
    """
    _decide(lambda parked, key: parked.retry(key), keys, every=every, outbox=outbox, as_json=as_json)


@app.command()
def discard(*, keys: Keys = None, every: All = False, outbox: Outbox = None, as_json: AsJson = False) -> None:
    """Give parked rows up for good: they are never sent, and their FIFO groups go on without them.

    Exits with 0 if all were discarded, 1 if some were not, 2 if the call is wrong or a service refuses.
    """
    _decide(lambda parked, key: parked.discard(key), keys, every=every, outbox=outbox, as_json=as_json)


def relay_settings(outbox: str | None) -> RelaySettings:
    """Settings of the relay of an outbox: the environment's own, or those of the functions of this account and Region.

    Args:
        outbox: Name of the outbox; None for the only one there is.

    Raises:
        LookupError: None, or more than one, comes into question.
        InvalidSetting: A setting is missing or malformed.
    """
    if Setting.OUTBOX_TTL in os.environ and outbox in {None, os.environ.get(Setting.OUTBOX)}:
        return RelaySettings.from_environment(os.environ)
    found = {one.outbox.name: one for one in map(RelaySettings.from_environment, _relays())}
    if outbox is None and len(found) == 1:
        return next(iter(found.values()))
    if outbox in found:
        return found[outbox]
    names = ", ".join(sorted(found)) or "none"
    raise LookupError(f"Name an outbox by --outbox. There are in this account and Region: {names}.")


def _relays() -> Iterator[dict[str, str]]:
    """Variables of the functions that relay."""
    return (variables for _, variables in all_variables(lambda_client()) if Setting.OUTBOX_TTL in variables)


def _parked(outbox: str | None) -> ParkedRows:
    settings, clients, clock = relay_settings(outbox), Clients(), SystemClock()
    return ParkedRows(
        DynamoDbOutbox(clients.dynamodb, settings.outbox.table, sleep=clock.sleep),
        DynamoDbTransactions(clients.dynamodb),
        S3ObjectStore(clients.s3),
        table=settings.outbox.table,
        before_send_seconds=settings.before_send_seconds,
        ttl_seconds=settings.ttl_seconds,
        clock=clock,
        new_token=lambda: secrets.token_hex(16),
        random=SystemRandom().random,
    )


def _decide(
    decide: Callable[[ParkedRows, str], Decided],
    keys: Sequence[str] | None,
    *,
    every: bool,
    outbox: str | None,
    as_json: bool,
) -> None:
    if bool(keys) is every:
        typer.echo("Name rows by their keys, or --all.", err=True)
        raise typer.Exit(WRONG_USE)
    with _told_wrong():
        parked = _parked(outbox)
        wanted = [row.key for row in list(parked.rows())] if every else list(keys or ())
        decided = {key: decide(parked, key) for key in dict.fromkeys(wanted)}
    if as_json:
        typer.echo(json.dumps({"rows": decided}, indent=2))
    else:
        for key, what in decided.items():
            typer.echo(f"{key}: {what}")
        if not decided:
            typer.echo("Nothing is parked.")
    if not set(decided.values()) <= _DONE:
        raise typer.Exit(LEFT)


@contextmanager
def _told_wrong() -> Iterator[None]:
    """Tell what is wrong with the call, or with the services, in one line."""
    try:
        yield
    except (ClaimCheckError, LookupError, ClientError, BotoCoreError) as error:
        typer.echo(str(error.args[0] if isinstance(error, LookupError) else error), err=True)
        raise typer.Exit(WRONG_USE) from error


def _document(row: OutboxRow) -> dict[str, Any]:
    return {
        "key": row.key,
        "state": row.state,
        "code": row.last_code,
        "reason": row.last_message,
        "attempts": row.attempts,
        "ageSeconds": round(time.time() - row.staged_at),
        "tenantId": row.tenant_id,
        "eventType": row.event_type,
        "messageId": row.message_id,
        "groupId": row.group_id,
        "payloadBytes": row.payload_bytes,
    }


def _table(rows: Sequence[OutboxRow]) -> Table:
    table = Table("key", "state", "reason", "attempts", "age", "event", "group")
    for row in rows:
        age = span(time.time() - row.staged_at)
        reason = f"{row.last_code}: {row.last_message}" if row.last_code else ""
        table.add_row(row.key, row.state, reason, str(row.attempts), age, row.event_type, row.group_id or "")
    return table
