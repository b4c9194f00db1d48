"""``claim-check dlq``: sample, judge and send back what lies in a dead-letter queue."""

import json
import os
import secrets
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import Console

from claim_check.errors import ClaimCheckError, InvalidSetting
from claim_check_ops.dlq import views
from claim_check_ops.dlq.assessing import Assessed, Court
from claim_check_ops.dlq.finding import archive_bucket as find_archive
from claim_check_ops.dlq.journal import JournalInUse, JournalMismatch, JournalUnusable, default_path, opened
from claim_check_ops.dlq.letters import DeadLetter, grouped
from claim_check_ops.dlq.pace import Limit
from claim_check_ops.dlq.redrive_progress import redrive_progress
from claim_check_ops.dlq.redriving import Orders, first_of, total_of
from claim_check_ops.dlq.report import Report
from claim_check_ops.dlq.selecting import InvalidAge, InvalidSize, Selection, ids_of, parse_age, parse_size
from claim_check_ops.dlq.surveying import Sample, survey
from claim_check_ops.local.commands import ends_orderly
from claim_check_ops.looking.commands import WIDTH
from claim_check_ops.pipelines import PipelineNotFound, consumer_settings

if TYPE_CHECKING:
    from claim_check_ops.dlq.desk import Desk

FAILED: Final = 1
WRONG_USE: Final = 2
INTERRUPTED: Final = 130

DEFAULT_SAMPLE: Final = 1000

app = typer.Typer(help="Look at dead letters, and send them back to work.", no_args_is_help=True)

Function = Annotated[str | None, typer.Option(help="Function of the consumer, whose settings are used.")]
Consumer = Annotated[str | None, typer.Option(help="Name of the consumer, if there are several in the account.")]
Archive = Annotated[
    bool, typer.Option("--archive/--no-archive", help="Include the archive of the DLQ, if there is one.")
]
ArchiveBucket = Annotated[str | None, typer.Option(help="Bucket of the archive. By default it is found.")]
DlqUrl = Annotated[str | None, typer.Option(help="Another DLQ than the consumer's own.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on the standard output.")]
Reasons = Annotated[list[str] | None, typer.Option("--reason", help="Reason, as `list` shows it; may be repeated.")]
Tenants = Annotated[list[str] | None, typer.Option("--tenant", help="Tenant; may be repeated.")]
Types = Annotated[list[str] | None, typer.Option("--type", help="Event type; may be repeated.")]
Ids = Annotated[list[str] | None, typer.Option("--id", help="Id of the event or of the message; may be repeated.")]
Older = Annotated[str | None, typer.Option(help="In the DLQ for longer than 90s, 15m, 6h, 3d.")]
Newer = Annotated[str | None, typer.Option(help="In the DLQ for no longer than that.")]
Count = Annotated[int, typer.Option("--limit", min=1, help="Look at so many at most.")]
Everything = Annotated[bool, typer.Option("--all", help="Look at all that can be had.")]


@app.command(name="list")
def list_(
    *,
    limit: Count = DEFAULT_SAMPLE,
    everything: Everything = False,
    messages: Annotated[bool, typer.Option("--messages", help="A line for each message, too.")] = False,
    function: Function = None,
    consumer: Consumer = None,
    dlq_url: DlqUrl = None,
    archive: Archive = True,
    archive_bucket: ArchiveBucket = None,
    as_json: AsJson = False,
) -> None:
    """Sample dead letters, grouped by reason, tenant and type. Nothing is consumed.

    Messages are received, and made visible again at once, also after Ctrl-C. Their receive count rises; a DLQ does not
    mind. On a FIFO queue SQS shows ten messages of a group at most.

    `life left` is the time of publishing (`publishedAt`, else when SQS took the message in) plus the retention plan's
    seconds (CLAIM_CHECK_INBOX_TTL_SECONDS of the consumer: the life of payloads and of the inbox), less now, for the
    most aged message of each group. `check` asks S3 itself. `oldest` is the age by which the queue's retention counts.

    A message that SQS itself moved has the reason of its inbox row; `Untraced` if there is none.

    Exits with 0, with 1 if something could not be read or given back, with 2 if the call is wrong.
    """
    with _at_desk(_Place(function, consumer, dlq_url, archive, archive_bucket)) as desk:
        sample = _sample(desk, None if everything else limit)
        now, life = desk.clock.now(), desk.settings.inbox_ttl_seconds
        groups = grouped(sample.letters)
        if as_json:
            _print_json(views.sample_document(sample, groups, now=now, life_seconds=life))
        else:
            console = _console()
            console.print(views.groups_table(groups, now=now, life_seconds=life))
            if messages:
                console.print(views.letters_table(sample.letters, now=now, life_seconds=life))
            console.print(_summary(sample))
        _end(sample)


@app.command()
def show(
    identity: Annotated[str, typer.Argument(help="Id of the event, or SQS's id of the message.", metavar="ID")],
    *,
    reveal_key: Annotated[bool, typer.Option("--reveal-key", help="Show the key of its payload, not a hash.")] = False,
    function: Function = None,
    consumer: Consumer = None,
    dlq_url: DlqUrl = None,
    archive: Archive = True,
    archive_bucket: ArchiveBucket = None,
    as_json: AsJson = False,
) -> None:
    """Show all that is known of one dead letter, but never its payload.

    Exits with 0, with 1 if it is not there, with 2 if the call is wrong.
    """
    with _at_desk(_Place(function, consumer, dlq_url, archive, archive_bucket)) as desk:
        sample = _sample(desk, None, wanted=identity)
        found = [letter for letter in sample.letters if identity in ids_of(letter)]
        if not found:
            typer.echo(f"{identity} is not among the {len(sample.letters)} dead letters that can be had.", err=True)
            raise typer.Exit(FAILED)
        now, life = desk.clock.now(), desk.settings.inbox_ttl_seconds
        documents = [views.details(one, now=now, life_seconds=life, reveal_key=reveal_key) for one in found]
        if as_json:
            _print_json({"messages": documents})
        else:
            for document in documents:
                _console().print(views.details_table(document))
        _end(sample)


@app.command()
def check(
    *,
    reason: Reasons = None,
    tenant: Tenants = None,
    event_type: Types = None,
    identity: Ids = None,
    older_than: Older = None,
    newer_than: Newer = None,
    limit: Count = DEFAULT_SAMPLE,
    everything: Everything = False,
    function: Function = None,
    consumer: Consumer = None,
    dlq_url: DlqUrl = None,
    archive: Archive = True,
    archive_bucket: ArchiveBucket = None,
    as_json: AsJson = False,
) -> None:
    """Look whether the payloads of dead letters can still be read: one HEAD each, and its size.

    Exits with 0 if all can be read, with 1 if one cannot, with 2 if the call is wrong.
    """
    selection = _selection(reason, tenant, event_type, identity, older_than=older_than, newer_than=newer_than)
    with _at_desk(_Place(function, consumer, dlq_url, archive, archive_bucket)) as desk:
        sample = _sample(desk, None if everything else limit)
        now, life = desk.clock.now(), desk.settings.inbox_ttl_seconds
        letters = [letter for letter in sample.letters if selection.takes(letter, now=now)]
        checks = desk.assessor.check(letters)
        if as_json:
            _print_json(views.checks_document(letters, checks, now=now, life_seconds=life))
        else:
            _console().print(views.checks_table(letters, checks))
        _end(sample, failed=any(one.state != "readable" for one in checks))


@app.command()
def redrive(
    *,
    reason: Reasons = None,
    tenant: Tenants = None,
    event_type: Types = None,
    identity: Ids = None,
    older_than: Older = None,
    newer_than: Newer = None,
    dry_run: Annotated[bool, typer.Option("--dry-run/--go", help="Show what would be done, or do it.")] = True,
    rate: Annotated[float, typer.Option(min=0.001, help="Messages per second.")] = 10.0,
    max_bytes_per_second: Annotated[
        str | None, typer.Option(help="Payload bytes per second, such as 20MiB; by default not limited.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Send so many at most: a small batch first.")] = None,
    to: Annotated[
        str | None, typer.Option(help="Name of the queue they go to. By default the one that each came from.")
    ] = None,
    canary: Annotated[
        bool, typer.Option("--canary/--no-canary", help="Send one ahead, and wait until the inbox has completed it.")
    ] = True,
    canary_timeout: Annotated[str, typer.Option(help="How long that may take.")] = "2m",
    max_failures: Annotated[int, typer.Option(min=0, help="More failed copies than this end it.")] = 5,
    settle: Annotated[str, typer.Option(help="How long to watch the last copies.")] = "30s",
    delete_completed: Annotated[
        bool, typer.Option("--delete-completed", help="Delete what the inbox has as completed.")
    ] = False,
    journal: Annotated[
        Path | None, typer.Option(help="Where to keep what was done, to go on after a stop. By default a state folder.")
    ] = None,
    function: Function = None,
    consumer: Consumer = None,
    dlq_url: DlqUrl = None,
    archive: Archive = True,
    archive_bucket: ArchiveBucket = None,
    as_json: AsJson = False,
) -> None:
    """Send dead letters back to the queue that they came from. Shows only what it would do, unless --go is given.

    Left where it is: what its consumer would park again, whatever its handler does; a payload that is missing, denied,
    or other than it was; a payload that has less life left than its queue and the DLQ keep a message; what the inbox
    has as completed; what was parked after the redrive began.

    A copy keeps body, attributes, trace header and group; the attribute `redrive` takes the place of `parked`. A dead
    letter is deleted once SQS has confirmed its copy. The same call again goes on where a stopped one left off.

    Exits with 0 if all that was meant is done, with 1 if something stays or failed or it was stopped, with 2 if the
    call is wrong and nothing was done, with 130 if it was interrupted.
    """
    selection = _selection(reason, tenant, event_type, identity, older_than=older_than, newer_than=newer_than)
    orders = Orders(
        selection=selection,
        limit=Limit(rate=rate, bytes_per_second=_parsed("--max-bytes-per-second", max_bytes_per_second, parse_size)),
        most=limit,
        canary_seconds=_parsed("--canary-timeout", canary_timeout, parse_age) if canary else None,
        max_failures=max_failures,
        settle_seconds=_parsed("--settle", settle, parse_age) or 0.0,
        delete_completed=delete_completed,
    )
    with _at_desk(_Place(function, consumer, dlq_url, archive, archive_bucket)) as desk:
        court = desk.court(to=to)
        planned, sample = _plan(desk, court, selection, most=limit)
        if dry_run:
            _show_plan(planned, sample, orders, as_json=as_json)
            _end(sample, failed=any(one.verdict.action == "stay" for one in planned))
            return
        if not as_json:
            typer.echo(views.estimate(planned, orders.limit), err=True)
        path = journal or default_path(court.dlq.name, os.environ, Path.home())
        report = _perform(
            desk, court, orders, total_of(planned), path, about={"dlq": court.dlq.arn, "to": to, **selection.document()}
        )
        _show_report(report, path, as_json=as_json)
        if report.interrupted:
            raise typer.Exit(INTERRUPTED)
        if not report.succeeded:
            raise typer.Exit(FAILED)


# --- What they share ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    """Options that say whose dead letters are meant."""

    function: str | None
    consumer: str | None
    dlq_url: str | None
    archive: bool
    archive_bucket: str | None

    def bucket(self, dlq_url: str) -> str | None:
        """Bucket of the archive of a DLQ."""
        if not self.archive:
            return None
        environment = {} if self.function else os.environ
        return self.archive_bucket or find_archive(environment, dlq_url)


@contextmanager
def _at_desk(place: _Place) -> Iterator["Desk"]:
    """A desk of the consumer that is meant; what goes wrong there is told in words."""
    try:
        settings = consumer_settings(os.environ, function=place.function, consumer=place.consumer)
        desk = _desk(settings, place)
    except (InvalidSetting, PipelineNotFound) as error:
        raise _wrong(str(error)) from error
    try:
        with ends_orderly():
            yield desk
    except (InvalidSetting, JournalInUse, JournalMismatch, JournalUnusable, PipelineNotFound) as error:
        raise _wrong(str(error)) from error
    except ClaimCheckError as error:
        typer.echo(f"{type(error).__name__}: {error}", err=True)
        raise typer.Exit(FAILED) from error
    except KeyboardInterrupt:
        typer.echo("Interrupted; what was held is given back.", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _desk(settings: Any, place: _Place) -> "Desk":  # noqa: ANN401 - ConsumerSettings, which needs more packages
    """A desk on AWS.

    Raises:
        InvalidSetting: It has no DLQ, or the library's own packages are not installed.
    """
    try:
        from claim_check_ops.dlq.desk import desk  # noqa: PLC0415 - needs more packages than the other commands
    except ImportError as error:
        raise InvalidSetting(f"{error}; install claim-check-sqs[ops,runtime]") from error
    return desk(settings, dlq_url=place.dlq_url, archive=place.bucket)


def _sample(desk: "Desk", limit: int | None, *, wanted: str | None = None) -> Sample:
    def until(letter: DeadLetter) -> bool:
        return wanted is not None and wanted in ids_of(letter)

    console = Console(stderr=True)
    with console.status("Receiving") as status:
        return survey(
            desk.new_sources(),
            desk.assessor,
            limit=limit,
            until=until,
            told=lambda number: status.update(f"Receiving: {number}"),
        )


def _selection(
    reasons: Sequence[str] | None,
    tenants: Sequence[str] | None,
    types: Sequence[str] | None,
    ids: Sequence[str] | None,
    *,
    older_than: str | None,
    newer_than: str | None,
) -> Selection:
    return Selection(
        reasons=frozenset(reasons or ()),
        tenants=frozenset(tenants or ()),
        types=frozenset(types or ()),
        ids=frozenset(ids or ()),
        older_than=_parsed("--older-than", older_than, parse_age),
        newer_than=_parsed("--newer-than", newer_than, parse_age),
    )


def _parsed(option: str, text: str | None, parse: Any) -> Any:  # noqa: ANN401 - a number, or None
    try:
        return None if text is None else parse(text)
    except (InvalidAge, InvalidSize) as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


def _plan(desk: "Desk", court: Court, selection: Selection, *, most: int | None) -> tuple[list[Assessed], Sample]:
    sample = _sample(desk, None)
    now = desk.clock.now()
    assessed = court.assess([letter for letter in sample.letters if selection.takes(letter, now=now)])
    return first_of(assessed, most), sample


def _perform(
    desk: "Desk", court: Court, orders: Orders, expected: tuple[int, int], path: Path, *, about: dict[str, object]
) -> Report:
    with (
        opened(path, run=secrets.token_hex(6), about=about, now=desk.clock.now()) as kept,
        redrive_progress(Console(stderr=True), messages=expected[0], payload_bytes=expected[1]) as bar,
    ):
        if kept.resumed:
            typer.echo(f"Going on with redrive {kept.run}, as {path} says.", err=True)
        return desk.redriver(court, orders, journal=kept, told=bar).run()


# --- What they print ------------------------------------------------------------------------------------------------


def _show_plan(planned: Sequence[Assessed], sample: Sample, orders: Orders, *, as_json: bool) -> None:
    if as_json:
        _print_json({"dryRun": True, **views.plan_document(planned, orders.limit)})
        return
    console = _console()
    console.print(views.plan_table(planned))
    console.print(_summary(sample))
    console.print(f"Nothing was sent. {views.estimate(planned, orders.limit)} Add --go to do it.", highlight=False)


def _show_report(report: Report, path: Path, *, as_json: bool) -> None:
    if as_json:
        _print_json({"dryRun": False, "journal": str(path), **report.document()})
        return
    console = _console()
    if report.stayed:
        console.print(views.stayed_table(report.stayed))
    for line in views.report_lines(report):
        console.print(line, markup=False, highlight=False)
    if report.stopped is not None:
        console.print(f"The same call goes on from {path}.", markup=False, highlight=False, soft_wrap=True)


def _summary(sample: Sample) -> str:
    text = f"{len(sample.letters)} looked at; they are visible again."
    if sample.unseen:
        why = f"not to be had now: {views.WHY_UNSEEN}" if sample.complete else "look at them by --all"
        text += f" About {sample.unseen} more: {why}."
    return text


def _end(sample: Sample, *, failed: bool = False) -> None:
    if sample.not_given_back:
        number = len(sample.not_given_back)
        typer.echo(f"{number} messages could not be made visible; they come back by themselves in 5 minutes.", err=True)
    if failed or sample.not_given_back:
        raise typer.Exit(FAILED)


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else WIDTH)


def _print_json(document: dict[str, Any]) -> None:
    typer.echo(json.dumps(document, indent=2))


def _wrong(text: str) -> typer.Exit:
    typer.echo(text, err=True)
    return typer.Exit(WRONG_USE)
