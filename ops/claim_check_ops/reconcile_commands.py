"""``claim-check reconcile``: what every payload is to its consumers, and, if told to, without those of no message."""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from claim_check.contract import Setting
from claim_check.errors import AccessDenied, ClaimCheckError, InvalidSetting, Unavailable
from claim_check.reconciliation import Outcome, Reconciliation
from claim_check.reconciliation.ports import Checkpoints
from claim_check.reconciliation.settings import ReconcilerSettings
from claim_check_ops.dlq.selecting import InvalidAge, parse_age
from claim_check_ops.local.commands import TABLE_WIDTH, ends_orderly
from claim_check_ops.pipelines import PipelineNotFound
from claim_check_ops.reconciling import views
from claim_check_ops.reconciling.checkpoint_file import CheckpointFile, Memory
from claim_check_ops.reconciling.finding import reconciler_settings
from claim_check_ops.telemetry import SilentTelemetry

NEEDS_A_PERSON: Final = 1
WRONG_USE: Final = 2
INTERRUPTED: Final = 130


def reconcile(
    *,
    delete: Annotated[
        bool, typer.Option("--delete", help="Remove what is proven unpublished. By default nothing is removed.")
    ] = False,
    prefix: Annotated[str | None, typer.Option(help="Only keys that begin so, such as payloads/tenants/t-1/.")] = None,
    grace: Annotated[
        str | None, typer.Option(help="Leave alone what is younger: 90s, 15m, 6h, 3d. By default the deployed one.")
    ] = None,
    rate: Annotated[float | None, typer.Option(min=0.1, help="Objects removed a second, at most.")] = None,
    looks: Annotated[
        int | None, typer.Option(min=0, help="Objects that no row knows and that are looked at one by one, at most.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="File that keeps how far the run has come, to go on with it by the same call.")
    ] = None,
    reveal_keys: Annotated[bool, typer.Option("--reveal-keys", help="Show object keys, not their hashes.")] = False,
    function: Annotated[str | None, typer.Option(help="Function of the reconciler whose settings are used.")] = None,
    bucket: Annotated[str | None, typer.Option(help="Bucket of the payloads, if there are several.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document on the standard output.")] = False,
) -> None:
    """Tell what every payload is to its consumers, and which open rows point at nothing.

    The settings are those of the deployed `Reconciler` that --function names, or of the only one there is. Without one,
    all consumers of the bucket are asked, and --delete is refused.

    Only what is proven unpublished is ever removed: an upload by grant that was not confirmed in time, or the payload
    of an outbox row that was parked or discarded before it was sent. Its row is discarded for that.

    Exits with 0, with 1 if there are dead pointers or something was not looked at or could not be removed, with 2 if
    the call is wrong or something refuses or fails to answer, with 130 if it was interrupted.
    """
    console = Console(stderr=as_json, width=None if sys.stdout.isatty() else TABLE_WIDTH)
    try:
        settings = reconciler_settings(
            os.environ, function=function, bucket=bucket, overrides=_overrides(delete, prefix, grace, rate, looks)
        )
        kept = Memory() if checkpoint is None else CheckpointFile(checkpoint)
        outcome = _run(settings, kept, console)
    except (ClaimCheckError, PipelineNotFound, InvalidAge) as error:
        typer.echo(_told(error, checkpoint), err=True)
        raise typer.Exit(WRONG_USE) from error
    except KeyboardInterrupt:
        typer.echo(f"Interrupted. {_way_on(checkpoint)}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        typer.echo(json.dumps({"bucket": settings.plan.bucket, **outcome.document(reveal=reveal_keys)}, indent=2))
    else:
        console.print(views.tally_table(outcome.tally))
        if outcome.samples:
            console.print(views.samples_table(outcome, reveal=reveal_keys))
        console.print(views.summary(outcome.tally, delete=delete), highlight=False)
    if needs_a_person(outcome):
        raise typer.Exit(NEEDS_A_PERSON)


def needs_a_person(outcome: Outcome) -> bool:
    """Whether something is left that a person should look at."""
    tally = outcome.tally
    return bool(tally.dead_pointers or tally.held or tally.unlooked or tally.unchecked_pointers)


def _run(settings: ReconcilerSettings, kept: Checkpoints, console: Console) -> Outcome:
    made = _reconciliation(settings, kept)
    with ends_orderly(), views.progress_of(console) as moved:
        return made.run(moved=moved)


def _reconciliation(settings: ReconcilerSettings, kept: Checkpoints) -> Reconciliation:
    """One that logs nothing: what it finds is shown.

    Raises:
        InvalidSetting: The library's own packages are not installed.
    """
    try:
        from claim_check.aws_reconciliation import reconciliation  # noqa: PLC0415 - needs more packages than others
    except ImportError as error:
        raise InvalidSetting(f"{error}; install claim-check-sqs[ops,runtime]") from error
    return reconciliation(settings, telemetry=SilentTelemetry(), checkpoints=kept)


def _overrides(
    delete: bool,  # noqa: FBT001 - an option of the command
    prefix: str | None,
    grace: str | None,
    rate: float | None,
    looks: int | None,
) -> dict[str, str]:
    named = {
        Setting.RECONCILER_PREFIX: prefix,
        Setting.RECONCILER_GRACE: None if grace is None else str(int(parse_age(grace))),
        Setting.RECONCILER_RATE: None if rate is None else f"{rate:g}",
        Setting.RECONCILER_LOOKS: None if looks is None else str(looks),
    }
    return {Setting.RECONCILER_DELETE: str(delete).lower()} | {
        name: value for name, value in named.items() if value is not None
    }


def _told(error: Exception, checkpoint: Path | None) -> str:
    broke_off = isinstance(error, Unavailable | AccessDenied)
    return f"{error}. {_way_on(checkpoint)}" if broke_off else str(error)


def _way_on(checkpoint: Path | None) -> str:
    if checkpoint is None:
        return "Calling it again begins anew; with --checkpoint FILE it would go on."
    return "The same call goes on."
