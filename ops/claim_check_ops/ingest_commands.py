"""``claim-check ingest``: compare a bucket with its ledger, and look at the row of one object."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import typer

from claim_check.adapters.clock import SystemClock
from claim_check.adapters.ingest_objects import S3ObjectSource
from claim_check.adapters.ledger import DynamoDbLedger
from claim_check.adapters.listing import S3Listing
from claim_check.adapters.session import Clients
from claim_check.adapters.sqs import SqsQueue
from claim_check.contract import Setting
from claim_check.errors import InvalidSetting, PublishError, ReadRefused, Unavailable
from claim_check.ingest.ports import LedgerRow
from claim_check.ingest.reconciliation import Difference, LedgerReconciliation, ReconciliationReport
from claim_check.ingest.settings import ReconciliationSettings
from claim_check_ops.ingests import IngestNotFound, ingest_settings
from claim_check_ops.telemetry import SilentTelemetry

FAILED: Final = 1
WRONG_SETTING: Final = 2

app = typer.Typer(no_args_is_help=True, help="Follow the objects of a bucket: compare it with its ledger, and look.")

_Function = Annotated[str | None, typer.Option(help="A function of the ingest, whose settings are taken.")]
_Ingest = Annotated[str | None, typer.Option(help="Name of the ingest, where there are several.")]


@app.command()
def reconcile(
    *,
    function: _Function = None,
    ingest: _Ingest = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run/--queue", help="Only count, or queue an event for every difference.")
    ] = True,
    anew: Annotated[bool, typer.Option("--anew", help="Begin at the start, whatever an earlier run left.")] = False,
    rate: Annotated[int | None, typer.Option(help="Events queued a second, in place of the setting.")] = None,
    grace: Annotated[int | None, typer.Option(help="Objects younger than so many seconds are left alone.")] = None,
    show_keys: Annotated[bool, typer.Option("--show-keys", help="Print the key of every difference.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Compare a bucket with its ledger: what is new, changed or gone.

    A dry run by default. With --queue every difference becomes an event in the ingest's queue, which the ingester
    confirms before it applies it; a run that was ended goes on where it was. What seems gone is looked at twice, a
    minute apart. Exits with 0 once the end is reached, 1 if a service fails or refuses, 2 if a setting is wrong.
    """
    numbers = {Setting.INGEST_RECONCILE_RATE: rate, Setting.INGEST_GRACE: grace}
    overrides = {name: str(value) for name, value in numbers.items() if value is not None}
    with _failures_said():
        settings = ingest_settings(os.environ, function=function, ingest=ingest, overrides=overrides)
        made = _reconciliation(settings, show_keys=show_keys)
        report = made.run(dry_run=dry_run, anew=anew)
    typer.echo(json.dumps(report.to_answer()) if as_json else _told(settings, report, dry_run=dry_run))


@app.command()
def show(
    key: Annotated[str, typer.Argument(help="Key of the object, as it is: not URL-encoded.")],
    *,
    function: _Function = None,
    ingest: _Ingest = None,
) -> None:
    """Print the ledger row of one object, as JSON.

    Exits with 0, with 1 if there is no row or the table refuses, with 2 if a setting is wrong.
    """
    with _failures_said():
        settings = ingest_settings(os.environ, function=function, ingest=ingest)
        row = _ledger(settings).row(bucket=settings.bucket, key=key)
    if row is None:
        typer.echo("The ledger has no row of this object: no event of it was applied.", err=True)
        raise typer.Exit(FAILED)
    typer.echo(json.dumps(_plain(row), indent=2))


def _ledger(settings: ReconciliationSettings) -> DynamoDbLedger:
    return DynamoDbLedger(Clients().dynamodb, settings.ledger_table)


def _reconciliation(settings: ReconciliationSettings, *, show_keys: bool) -> LedgerReconciliation:
    def tell(difference: Difference) -> None:
        if show_keys:
            typer.echo(f"{difference.kind}\t{difference.key}", err=True)

    clients, ledger = Clients(), _ledger(settings)
    return LedgerReconciliation(
        settings,
        listing=S3Listing(clients.s3),
        ledger=ledger,
        checkpoints=ledger,
        objects=S3ObjectSource(clients.s3),
        queue=SqsQueue(clients.sqs),
        clock=SystemClock(),
        telemetry=SilentTelemetry(),
        on_difference=tell,
    )


def _told(settings: ReconciliationSettings, report: ReconciliationReport, *, dry_run: bool) -> str:
    what = f"{report.new} new, {report.changed} changed, {report.gone} gone"
    went_on = ", from where an earlier run ended" if report.resumed else ""
    then = "nothing was queued" if dry_run else f"{report.queued} events were queued"
    return f"{settings.bucket}: {report.listed} objects{went_on}. {what}; {then}."


def _plain(row: LedgerRow) -> Mapping[str, Any]:
    fields = {name: value for name, value in asdict(row).items() if value is not None}
    for name in ("modified_at", "applied_at", "ttl"):
        if name in fields:
            fields[name] = datetime.fromtimestamp(fields[name], UTC).isoformat()
    return fields


@contextmanager
def _failures_said() -> Iterator[None]:
    try:
        yield
    except (InvalidSetting, IngestNotFound) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(WRONG_SETTING) from error
    except (ReadRefused, Unavailable, PublishError) as error:
        typer.echo(f"{error}. What was done is noted; run it again.", err=True)
        raise typer.Exit(FAILED) from error
