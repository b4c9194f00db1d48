"""``claim-check local drill``: a replay on this machine, from broken to mended, under limits."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from claim_check.contract import MIB
from claim_check.errors import ClaimCheckError
from claim_check_ops.dlq.pace import Limit
from claim_check_ops.local.cdk_cli import CdkCliError
from claim_check_ops.local.commands import TABLE_WIDTH, deploy_app, ends_orderly
from claim_check_ops.local.deployment import DOCUMENTS_TABLE, find_deployment
from claim_check_ops.local.drill.drill_run import DrillRun
from claim_check_ops.local.drill.mix import Mix
from claim_check_ops.local.embedded_aws import EmbeddedAws, EmbeddedAwsError
from claim_check_ops.local.progress import progress_bar


def drill(
    *,
    claims: Annotated[int, typer.Option(min=1, help="Claims of 5 to 16 MiB whose handler fails.")] = 200,
    rate: Annotated[float, typer.Option(min=0.1, help="Messages per second of the redrive.")] = 20.0,
    max_mib_per_second: Annotated[float, typer.Option(min=1, help="Payload MiB per second of the redrive.")] = 32.0,
    project: Annotated[
        Path, typer.Option(help="The folder that holds cdk.json.", exists=True, file_okay=False)
    ] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Fill a DLQ, mend the cause, redrive under limits, and count what was read at S3's own door.

    A broken deployment fails large claims and small events; payloads get lost, others are tampered with; malformed and
    forged messages come in, and some that are done by the time of the redrive. The embedded AWS keeps all payloads in
    memory: about 2.5 GB.

    Exits with 0 only if each effect is there exactly once, all that must stay stays, and the limits held.
    """
    console = Console(stderr=as_json, width=None if sys.stdout.isatty() else TABLE_WIDTH)
    limit = Limit(rate=rate, bytes_per_second=max_mib_per_second * MIB)
    try:
        with ends_orderly(), EmbeddedAws() as aws:
            outputs = deploy_app(aws, project, console).values()
            run = DrillRun(find_deployment(aws, outputs, table=DOCUMENTS_TABLE), Mix(claims=claims), limit)
            with progress_bar(console) as bar:
                run.execute(bar)
    except (EmbeddedAwsError, CdkCliError, ClaimCheckError, TimeoutError) as error:
        Console(stderr=True).print(str(error), markup=False, highlight=False)
        raise typer.Exit(1) from error
    if as_json:
        typer.echo(json.dumps(run.document(), indent=2))
    else:
        console.print(run.table())
        for name, value in run.figures.items():
            console.print(f"{name}: {value}", markup=False, highlight=False)
    for problem in run.problems:
        console.print(problem, style="red", markup=False)
    if not run.succeeded:
        raise typer.Exit(1)
