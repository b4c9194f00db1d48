"""The operator's command ``claim-check``. Each group of commands is a module of its own, put together here."""

import typer

from claim_check_ops.local.commands import app as local_app
from claim_check_ops.worker_commands import worker

app = typer.Typer(
    name="claim-check",
    help="Operate claim-check pipelines: send, look, repair, and run everything on this machine.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)
app.add_typer(local_app, name="local")
app.command()(worker)


def main() -> None:
    """Run the command; the entry point of the distribution's script."""
    app()


if __name__ == "__main__":
    main()
