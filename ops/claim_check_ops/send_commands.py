"""``claim-check send``: files as events, from the command line or a script."""

import json
import os
from typing import Annotated, Any, Final, get_args

import typer
from rich.console import Console
from rich.filesize import decimal

from claim_check import invocation
from claim_check.contract import Setting, WireFormat
from claim_check.errors import InvalidEvent, InvalidSetting
from claim_check.producer import FIFO_SUFFIX, Producer, Published
from claim_check.settings import ProducerSettings
from claim_check_ops.local.commands import ends_orderly
from claim_check_ops.pipelines import PipelineNotFound, producer_settings
from claim_check_ops.send_progress import send_progress
from claim_check_ops.sending import STDIN, File, Sender, Sent, checked_files
from claim_check_ops.telemetry import SilentTelemetry

FAILED: Final = 1
WRONG_USE: Final = 2
INTERRUPTED: Final = 130

_FORMATS: Final = get_args(WireFormat)


def send(
    files: Annotated[list[str], typer.Argument(help="The files; - is the standard input.", metavar="FILE...")],
    *,
    tenant: Annotated[str, typer.Option(help="Tenant of the events.")],
    event_type: Annotated[str, typer.Option("--type", help="Type of the events.")],
    group: Annotated[
        str | None, typer.Option(help="Message group: required on FIFO queues, where files stay in the order given.")
    ] = None,
    content_type: Annotated[
        str | None, typer.Option(help="Media type. By default what each name's ending says.")
    ] = None,
    message_id: Annotated[
        str | None, typer.Option("--id", help="Id of the event, for one file. By default a new one is drawn.")
    ] = None,
    idempotency_key: Annotated[
        str | None, typer.Option(help="What makes two events the same work, for one file. By default the id.")
    ] = None,
    sensitive: Annotated[bool, typer.Option("--sensitive", help="Never inside the message, however small.")] = False,
    wire_format: Annotated[str | None, typer.Option(help=f"{', '.join(_FORMATS)}. By default the pipeline's.")] = None,
    function: Annotated[
        str | None, typer.Option(help="A producer or consumer function of the pipeline, whose settings are used.")
    ] = None,
    queue_url: Annotated[str | None, typer.Option(help="The pipeline's queue.")] = None,
    bucket: Annotated[
        str | None, typer.Option(help="The pipeline's bucket; with --queue-url no function is asked.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what became of each file as JSON.")] = False,
) -> None:
    """Publish files as events, and print their ids.

    The pipeline is the one that --function or --queue-url names, or that CLAIM_CHECK_BUCKET and CLAIM_CHECK_QUEUE_URL
    tell, or the only one whose functions are in this account and Region.

    Exits with 0 if every file was published, 1 if one was not, 2 if the call is wrong and nothing was sent, 130 if it
    was interrupted.
    """
    overrides = {} if wire_format is None else {Setting.WIRE_FORMAT: wire_format}
    try:
        _check_names(files, message_id=message_id, idempotency_key=idempotency_key)
        settings = producer_settings(
            os.environ, function=function, queue_url=queue_url, bucket=bucket, overrides=overrides
        )
        if settings.queue_url.endswith(FIFO_SUFFIX) and group is None:
            raise typer.BadParameter("is missing, and the queue is FIFO", param_hint="--group")
        checked = checked_files(
            files,
            max_bytes=settings.max_payload_bytes,
            content_type=content_type,
            message_id=message_id,
            idempotency_key=idempotency_key,
            tenant_id=tenant,
            event_type=event_type,
            group_id=group,
            sensitive=sensitive,
        )
        sender = Sender(_producer(settings), queue_url=settings.queue_url)
    except (InvalidEvent, InvalidSetting, PipelineNotFound) as error:
        typer.echo(f"Nothing was sent. {error}", err=True)
        raise typer.Exit(WRONG_USE) from error
    interrupted = _send(sender, checked, as_json=as_json)
    if as_json:
        typer.echo(json.dumps(document(checked, sender.sent), indent=2))
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if not all(isinstance(sent.result, Published) for sent in sender.sent):
        raise typer.Exit(FAILED)


def _send(sender: Sender, files: list[File], *, as_json: bool) -> bool:
    """Send, with progress and a line for each file; whether it was interrupted."""
    console = Console(stderr=True)
    try:
        with ends_orderly(), send_progress(console, files) as bars:
            for place, sent in enumerate(sender.send(files, bars.moved)):
                bars.finished(place)
                if not as_json:
                    _tell(console, sent)
    except KeyboardInterrupt:
        typer.echo("Interrupted. Not sent, or not known to be; send them again under these ids:", err=True)
        for file in files[len(sender.sent) :]:
            typer.echo(f"{file.event.message_id}  {file.name}", err=True)
        return True
    return False


def _tell(console: Console, sent: Sent) -> None:
    """A line of ids on the standard output; what failed goes to the other one."""
    name, result = sent.file.name, sent.result
    if isinstance(result, Published):
        answer = invocation.to_answer(result)
        size = decimal(result.content_length)
        typer.echo(f"{answer['messageId']}  {answer['delivery']:<6}  {size:>9}  {name}")
    else:
        console.print(
            f"{result.message_id}  not sent: {name}: {result.error}", markup=False, highlight=False, soft_wrap=True
        )


def document(files: list[File], sent: list[Sent]) -> dict[str, Any]:
    """What became of each file, for programs; of those that are missing in ``sent`` it is not known."""
    rows = [{"file": one.file.name, **_row(one)} for one in sent]
    unknown = {"type": "Interrupted", "message": "not sent, or not known to be; send it again under this id"}
    rows += [{"file": file.name, "messageId": file.event.message_id, "error": unknown} for file in files[len(sent) :]]
    failed = sum("error" in row for row in rows)
    return {"published": len(rows) - failed, "failed": failed, "files": rows}


def _row(sent: Sent) -> dict[str, Any]:
    if isinstance(sent.result, Published):
        return invocation.to_answer(sent.result)
    error = sent.result.error
    return {"messageId": sent.result.message_id, "error": {"type": type(error).__name__, "message": str(error)}}


def _check_names(files: list[str], *, message_id: str | None, idempotency_key: str | None) -> None:
    for option, value in (("--id", message_id), ("--idempotency-key", idempotency_key)):
        if value is not None and len(files) > 1:
            raise typer.BadParameter(f"is for one file, and there are {len(files)}", param_hint=option)
    if files.count(STDIN) > 1:
        raise typer.BadParameter("the standard input can be sent once", param_hint="FILE")


def _producer(settings: ProducerSettings) -> Producer:
    """A producer that logs nothing: what became of each file is shown.

    Raises:
        InvalidSetting: The library's own packages are not installed.
    """
    try:
        from claim_check.aws import producer  # noqa: PLC0415 - needs more packages than the other commands
    except ImportError as error:
        raise InvalidSetting(f"{error}; install claim-check-sqs[ops,runtime]") from error
    return producer(settings, telemetry=SilentTelemetry())
