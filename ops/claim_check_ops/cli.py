"""The operator's command ``claim-check``. Each group of commands is a module of its own, put together here."""

import os
from typing import Annotated

import typer

from claim_check_ops.dlq_commands import app as dlq_app
from claim_check_ops.ingest_commands import app as ingest_app
from claim_check_ops.local.commands import app as local_app
from claim_check_ops.local.drill_commands import drill
from claim_check_ops.local.told import NotRunning, adopt
from claim_check_ops.looking.commands import app as inbox_app
from claim_check_ops.looking.commands import status
from claim_check_ops.outbox_commands import app as outbox_app
from claim_check_ops.reconcile_commands import reconcile
from claim_check_ops.send_commands import send
from claim_check_ops.worker_commands import worker

app = typer.Typer(
    name="claim-check",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)
app.add_typer(dlq_app, name="dlq")
local_app.command()(drill)
app.add_typer(ingest_app, name="ingest")
app.add_typer(local_app, name="local")
app.add_typer(inbox_app, name="inbox")
app.add_typer(outbox_app, name="outbox")
app.command()(status)
app.command()(reconcile)
app.command()(send)
app.command()(worker)


@app.callback()
def options(
    *,
    local: Annotated[
        bool, typer.Option("--local", help="Use the embedded AWS that `make local` left running in this folder.")
    ] = False,
) -> None:
    """Operate claim-check pipelines: send, look, repair, and run everything on this machine."""
    if not local:
        return
    try:
        adopt(os.environ)
    except NotRunning as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error


def main() -> None:
    """Run the command; the entry point of the distribution's script."""
    app()


if __name__ == "__main__":
    main()
