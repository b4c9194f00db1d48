"""``claim-check local …``: the application on this machine."""

import contextlib
import json
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Annotated, Final, Protocol

import typer
from rich.console import Console
from rich.table import Table

from claim_check.errors import ClaimCheckError
from claim_check_ops.local.batch_calls import allow_batch_calls
from claim_check_ops.local.cdk_cli import CdkCli, CdkCliError
from claim_check_ops.local.deployment import DOCUMENTS_TABLE, WALLET_TABLE, find_deployment
from claim_check_ops.local.documents_run import DocumentsRun
from claim_check_ops.local.embedded_aws import EmbeddedAws, EmbeddedAwsError
from claim_check_ops.local.ingest_run import IngestRun, find_ingests
from claim_check_ops.local.orders_run import OrdersRun, find_orders
from claim_check_ops.local.progress import progress_bar
from claim_check_ops.local.told import told
from claim_check_ops.local.wallet_run import WalletRun

TABLE_WIDTH: Final = 120
"""Columns of a table that is written to a file or a pipe."""

app = typer.Typer(help="Run the application against an embedded AWS on this machine.", no_args_is_help=True)

EnforceIam = Annotated[bool, typer.Option("--enforce-iam", help="Enforce the IAM policies of all roles.")]
Project = Annotated[Path, typer.Option(help="The folder that holds cdk.json.", exists=True, file_okay=False)]


class Run(Protocol):
    """A part of the application that was put to use."""

    @property
    def problems(self) -> list[str]:
        """What is wrong with it as a whole."""

    @property
    def succeeded(self) -> bool:
        """Whether everything ended as it must."""

    def table(self) -> Table:
        """What became of everything, for people."""

    def document(self) -> dict[str, object]:
        """The same for machines."""


@app.callback()
def group() -> None:
    """Keep `local` a group of commands, however few it holds."""


@app.command()
def up(*, enforce_iam: EnforceIam = False, project: Project = Path()) -> None:
    """Start the embedded AWS, deploy the app into it, and leave it running until Ctrl-C."""
    console = Console()
    try:
        with ends_orderly(), EmbeddedAws(enforce_iam=enforce_iam) as aws:
            outputs = deploy_app(aws, project, console)
            with told(aws.environment()), interrupt_asked() as asked:
                console.print(outputs_table(outputs))
                console.print("It runs until Ctrl-C. In another shell of this folder `claim-check --local …` finds it.")
                console.print("For other programs there:")
                for name, value in aws.environment().items():
                    console.print(f"  export {name}={value}", soft_wrap=True, highlight=False)
                asked.wait()
    except (EmbeddedAwsError, CdkCliError) as error:
        Console(stderr=True).print(str(error), markup=False, highlight=False)
        raise typer.Exit(1) from error


@app.command()
def run(
    *,
    enforce_iam: EnforceIam = False,
    project: Project = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    sabotage: Annotated[
        str | None, typer.Option(help="Let this case's payload vanish before it is read: the run must then fail.")
    ] = None,
) -> None:
    """Deploy the app into an embedded AWS, send it real files, and show what became of each.

    Exits with 0 only if every message ended as it must.
    """
    console = Console(stderr=as_json, width=None if sys.stdout.isatty() else TABLE_WIDTH)
    try:
        with ends_orderly(), EmbeddedAws(enforce_iam=enforce_iam) as aws:
            outputs = deploy_app(aws, project, console).values()
            documents = DocumentsRun(find_deployment(aws, outputs, table=DOCUMENTS_TABLE))
            wallet = WalletRun(find_deployment(aws, outputs, table=WALLET_TABLE))
            orders = OrdersRun(find_orders(aws, outputs))
            ingest = IngestRun(find_ingests(aws, outputs))
            with progress_bar(console) as bar:
                documents.execute(bar, sabotage=sabotage)
                wallet.execute(bar)
                orders.execute(bar)
                ingest.execute(bar)
    except (EmbeddedAwsError, CdkCliError, ClaimCheckError) as error:
        Console(stderr=True).print(str(error), markup=False, highlight=False)
        raise typer.Exit(1) from error
    runs: dict[str, Run] = {"documents": documents, "wallet": wallet, "orders": orders, "ingest": ingest}
    if as_json:
        typer.echo(json.dumps({name: one.document() for name, one in runs.items()}, indent=2))
    else:
        console.print(*(one.table() for one in runs.values()))
    for problem in (problem for one in runs.values() for problem in one.problems):
        console.print(problem, style="red", markup=False)
    if not all(one.succeeded for one in runs.values()):
        raise typer.Exit(1)


def deploy_app(aws: EmbeddedAws, project: Path, console: Console) -> dict[str, dict[str, str]]:
    """Bootstrap and deploy with the real CDK command line, showing what it does; return the stacks' outputs.

    Raises:
        CdkCliError: A command failed.
    """
    with console.status("Preparing the embedded AWS") as status:

        def show(line: str) -> None:
            if line.strip():
                status.update(line.strip()[: console.width - 4].replace("[", r"\["))

        cli = CdkCli(aws, project, on_line=show)
        cli.bootstrap()
        outputs = cli.deploy()
        allow_batch_calls(aws)
        return outputs


def outputs_table(outputs: dict[str, dict[str, str]]) -> Table:
    """Return the stacks' outputs as a table."""
    table = Table("stack", "output", title="Deployed")
    table.add_column("value", overflow="fold")
    for stack, values in outputs.items():
        for name, value in values.items():
            table.add_row(stack, name, value)
    return table


@contextlib.contextmanager
def ends_orderly() -> Iterator[None]:
    """Let SIGTERM end the command as an exception does, so that what it started is ended and removed."""

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def interrupt_asked() -> Iterator[threading.Event]:
    """Give an event that Ctrl-C and SIGTERM set, in place of what they do otherwise."""
    asked = threading.Event()
    before = {number: signal.signal(number, lambda *_: asked.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
