"""Writes what the docs take from the code: the pages of `docs/reference/`, and the snippets of the other pages.

    python docs/generate_reference.py           write
    python docs/generate_reference.py --check   write nothing; end with 1 and name every page that is not current

A snippet is a fenced block right after a line `<!-- include: PATH -->`: the file at PATH (from the repository's root),
or, with `<!-- output: PATH -->`, what that script prints.
"""

import ast
import dataclasses
import importlib
import inspect
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any, Final, get_args

import typer.main
from aws_cdk import App, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs

import claim_check
import claim_check_cdk
from claim_check import (
    Claim,
    Envelope,
    Inline,
    archive_settings,
    contract,
    errors,
    extended_client,
    settings,
    telemetry,
)
from claim_check.contract import ErrorCode, InboxAttribute, LedgerAttribute, Metric, Setting
from claim_check.dead_letters import redriven_copy
from claim_check.delivery import Delivery
from claim_check.envelope import encode
from claim_check.ingest import applying, changes, ingester, reconciliation
from claim_check.ingest import settings as ingest_settings
from claim_check.ingest.notifications import parse
from claim_check.outbox import Outbox, Staged
from claim_check.outbox import settings as outbox_settings
from claim_check.outbox.rows import OutboxRow
from claim_check.outbox.sweep import Swept
from claim_check.parking import parked_copy
from claim_check.ports import MessageAttribute
from claim_check.producer import deduplication_id
from claim_check.reconciliation import settings as reconciler_settings
from claim_check.schema import envelope_schema
from claim_check_cdk import alarm_rules, claim_check_function, message_queue
from claim_check_cdk.alarm_codes import UNALARMED_CODES
from claim_check_cdk.retention import format_seconds
from claim_check_ops.cli import app as command

ROOT: Final = Path(__file__).resolve().parents[1]
DOCS: Final = ROOT / "docs"
REFERENCE: Final = DOCS / "reference"
NOTE: Final = "<!-- Written by docs/generate_reference.py from the code. Change the code, then run it again. -->"

_SNIPPET: Final = re.compile(
    r"(?P<mark><!-- (?P<kind>include|output): (?P<path>\S+) -->\n)```(?P<language>\w*)\n(?P<body>.*?)```\n", re.DOTALL
)


# --- Snippets of hand-written pages ---------------------------------------------------------------------------------


def hand_written() -> list[Path]:
    """The pages that people write."""
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return pages + sorted(path for path in DOCS.rglob("*.md") if REFERENCE not in path.parents)


def with_snippets(page: str) -> str:
    """A page with every snippet as its file is now."""

    def fill(match: re.Match[str]) -> str:
        path = ROOT / match["path"]
        body = path.read_text(encoding="utf-8") if match["kind"] == "include" else printed_by(path)
        language = match["language"] or {".py": "python", ".json": "json"}.get(path.suffix, "")
        return f"{match['mark']}```{'' if match['kind'] == 'output' else language}\n{body}```\n"

    return _SNIPPET.sub(fill, page)


def printed_by(script: Path) -> str:
    """What a script prints."""
    answer = subprocess.run([sys.executable, str(script)], check=True, capture_output=True, text=True)  # noqa: S603 - ours
    return answer.stdout


# --- Markdown -------------------------------------------------------------------------------------------------------


def table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table; line breaks and bars inside cells are escaped."""
    head = list(headings)
    lines = [head, ["---"] * len(head), *[list(row) for row in rows]]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def code(text: object) -> str:
    """A text as code; nothing stays nothing."""
    return f"`{text}`" if str(text) else ""


def plain(docstring: str) -> str:
    """A docstring's own marks as Markdown: double backticks, and headings of other pages."""
    return docstring.replace("``", "`")


def page(title: str, *parts: str) -> str:
    """A generated page."""
    return "\n\n".join([NOTE, f"# {title}", *(part.strip("\n") for part in parts if part)]) + "\n"


# --- Docstrings and signatures --------------------------------------------------------------------------------------

_SECTION: Final = re.compile(r"^(Args|Attributes|Raises|Returns|Yields|Example):$")


def sections(documented: object) -> dict[str, str]:
    """A Google docstring by section; the text before the first one is ``""``."""
    found: dict[str, list[str]] = {"": []}
    name = ""
    for line in inspect.cleandoc(getattr(documented, "__doc__", None) or "").splitlines():
        if match := _SECTION.match(line):
            name = match[1]
            found[name] = []
        else:
            found[name].append(line)
    return {name: textwrap.dedent("\n".join(lines)).strip() for name, lines in found.items()}


def entries(section: str) -> dict[str, str]:
    """The entries ``name: text`` of a section."""
    found: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        if line[:1].strip() and ":" in line:
            name, _, rest = line.partition(":")
            found[name] = rest.strip()
        elif name and line.strip():
            found[name] += " " + line.strip()
    return found


def summary(documented: object) -> str:
    """What a docstring says before its sections, in one paragraph per paragraph."""
    paragraphs = sections(documented)[""].split("\n\n")
    return "\n\n".join(" ".join(part.split()) for part in paragraphs if part.strip())


_FIELDS: Final = {"field(repr=False)": "required", "field(default_factory=dict)": "{}"}
"""Fields of dataclasses whose default is not what it looks like."""

_CHOICES: Final = {
    name: " | ".join(repr(choice) for choice in get_args(kind))
    for name, kind in {
        "InlineMode": contract.InlineMode,
        "PayloadAccess": contract.PayloadAccess,
        "PoisonPolicy": message_queue.PoisonPolicy,
    }.items()
}
"""Types that are one of a few words."""


class Source:
    """The syntax tree of a module, for what signatures look like in the code."""

    def __init__(self, module: ModuleType) -> None:
        """Parse it."""
        tree = ast.parse(inspect.getsource(module))
        self._classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        self._constants = {
            node.target.id: ast.unparse(node.value)
            for node in tree.body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None
        }

    @classmethod
    def of(cls, documented: type) -> "Source":
        """The module that makes a class."""
        module = inspect.getmodule(documented)
        assert module is not None, documented  # noqa: S101 - narrows the type
        return cls(module)

    def methods(self, name: str) -> dict[str, ast.FunctionDef]:
        """Methods of a class, by name, in the order of the file."""
        node = self._classes[name]
        return {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}

    def fields(self, name: str) -> Iterator[tuple[str, str, str]]:
        """Fields of a dataclass: name, type, default."""
        for item in self._classes[name].body:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                default = "required" if item.value is None else self._default(item.value)
                yield item.target.id, ast.unparse(item.annotation), default

    def arguments(self, function: ast.FunctionDef) -> Iterator[tuple[str, str, str]]:
        """Arguments of a method: name, type, default."""
        given = function.args
        positional = [*given.posonlyargs, *given.args][1:]
        defaults: list[ast.expr | None] = [None] * (len(positional) - len(given.defaults)) + list(given.defaults)
        pairs = [*zip(positional, defaults, strict=True), *zip(given.kwonlyargs, given.kw_defaults, strict=True)]
        for argument, default in pairs:
            kind = ast.unparse(argument.annotation) if argument.annotation else ""
            yield argument.arg, kind, "required" if default is None else self._default(default)

    def _default(self, value: ast.expr) -> str:
        text = ast.unparse(value)
        text = _FIELDS.get(text, self._constants.get(text, text))
        constant = text.removeprefix("contract.")
        return repr(vars(contract)[constant]) if constant in vars(contract) else text


def signature(source: Source, function: ast.FunctionDef) -> str:
    """How a method is called."""
    given = function.args
    parts = [argument.arg for argument in [*given.posonlyargs, *given.args][1:]]
    if given.kwonlyargs:
        parts += ["*", *(argument.arg for argument in given.kwonlyargs)]
    known = {name: default for name, _, default in source.arguments(function)}
    shown = [name if known.get(name, "required") == "required" else f"{name}={known[name]}" for name in parts]
    return f"{function.name}({', '.join(shown)})"


def arguments_table(rows: Iterable[tuple[str, str, str]], texts: Mapping[str, str]) -> str:
    """A table of arguments or fields."""
    lines = [
        (
            code(name),
            code(_CHOICES.get(kind, kind)),
            default if default == "required" else code(default),
            plain(texts.get(name, "")),
        )
        for name, kind, default in rows
    ]
    return table(("name", "type", "default", "what it is"), lines) if lines else ""


def described(documented: type) -> str:
    """A class: what it is, how it is made, what it has, what it can do."""
    source, name = Source.of(documented), documented.__name__
    methods = source.methods(name)
    told = sections(documented)
    parts = [f"## {name}", plain(summary(documented))]
    if "__init__" in methods:
        init = sections(documented.__init__)  # type: ignore[misc]  # only its docstring is read
        parts += [arguments_table(source.arguments(methods["__init__"]), entries(init.get("Args", "")))]
        parts += _raises(init)
    elif fields := list(source.fields(name)):
        parts += [arguments_table(fields, entries(told.get("Attributes", "")))]
    if "__init__" in methods and "Attributes" in told:
        rows = [(code(field), plain(text)) for field, text in entries(told["Attributes"]).items()]
        parts += ["**Has**", table(("attribute", "what it is"), rows)]
    parts += _methods(documented)
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _raises(told: Mapping[str, str]) -> list[str]:
    if "Raises" not in told:
        return []
    raised = entries(told["Raises"]).items()
    return ["**Raises** " + "; ".join(f"`{name}`: {plain(text).rstrip('.')}" for name, text in raised) + "."]


def _methods(documented: type) -> list[str]:
    rows: list[tuple[str, str, str]] = []
    for owner in documented.__mro__:
        if not owner.__module__.startswith("claim_check"):
            continue
        source = Source.of(owner)
        for name, node in source.methods(owner.__name__).items():
            if name.startswith("_") or any(row[0] == name for row in rows):
                continue
            member = inspect.getattr_static(owner, name)
            is_property = isinstance(member, property)
            called = name if is_property else signature(source, node)
            target = member.fget if is_property else getattr(owner, name)
            rows.append((name, code(called), plain(summary(target))))
    return [table(("member", "what it does"), [row[1:] for row in rows])] if rows else []


# --- Errors ---------------------------------------------------------------------------------------------------------


def all_codes() -> dict[str, type[errors.ConsumeError] | None]:
    """Every code, with the class that has it."""
    classes = {kind.code: kind for kind in consume_errors() if "code" in vars(kind)}
    return {name: classes.get(name) for name in sorted(contract.ERROR_CODES | {errors.LostLease.code})}


def consume_errors() -> list[type[errors.ConsumeError]]:
    """The consumer's error classes, in the order of the file."""
    found = [value for value in vars(errors).values() if isinstance(value, type)]
    return [value for value in found if issubclass(value, errors.ConsumeError)]


def other_errors() -> list[type[Exception]]:
    """Every other error class of the library, in the order of the file."""
    found = [value for value in vars(errors).values() if isinstance(value, type)]
    own = [value for value in found if issubclass(value, errors.ClaimCheckError)]
    return [value for value in own if not issubclass(value, errors.ConsumeError)]


def treatment(kind: type[errors.ConsumeError]) -> str:
    """What the consumer does about an error."""
    if kind is errors.LostLease:
        return "nothing is touched: the message belongs to another worker"
    if kind is errors.HandlerCrashed:
        return "tried again, alone; parked when the attempts are used up"
    if kind.permanent:
        return "parked at once"
    if kind.refunded:
        return "tried again without limit; the attempt does not count"
    if kind.attempt_limit is not None:
        return f"tried again shortly; parked at attempt {kind.attempt_limit}"
    return "tried again; parked when the attempts are used up"


def errors_page() -> str:
    """Every error code and class."""
    rows = []
    for name, kind in all_codes().items():
        assert kind is not None, f"no class has the code {name}"  # noqa: S101 - a mistake in the library
        link = f"[{name}](../runbook.md#{name.lower()})"
        rows.append((link, code(kind.__name__), plain(summary(kind)), treatment(kind)))
    others = [(code(kind.__name__), code(kind.__mro__[1].__name__), plain(summary(kind))) for kind in other_errors()]
    tree = inspect.cleandoc(errors.__doc__ or "").partition("::\n")[2].rpartition("\n\nError texts")[0]
    return page(
        "Errors",
        "Error texts never hold payloads, object keys or presigned URLs. Decide by type or `code`, never by the text.",
        "## Why a message was not processed",
        "The code is the same in logs (`errorCode`), metrics (its name), the inbox (`lastCode`) and the DLQ (attribute "
        "`parked`, field `errorCode`). Each links to what to do about it. Attempts are counted in the inbox; "
        f"a consumer has {contract.DEFAULT_MAX_ATTEMPTS} by default.",
        table(("code", "class", "what it means", "what the consumer does"), rows),
        "A handler adds codes of its own: a subclass of `PermanentError` with a `code` is parked at once under it. "
        "Any other exception of a handler is `HandlerFailed`.",
        "## All other errors",
        table(("class", "is a", "what it means"), others),
        "## The tree",
        f"```\n{textwrap.dedent(tree).strip()}\n```",
        "## Errors while synthesizing",
        table(
            ("class", "what it means"),
            [
                (code("InvalidSettingsError"), plain(summary(claim_check_cdk.InvalidSettingsError))),
                (code("BundlingError"), "The Lambda asset cannot be built; the text says what is missing."),
            ],
        ),
    )


# --- Settings -------------------------------------------------------------------------------------------------------


def setting_names() -> dict[str, str]:
    """Every setting: its name in the code, and the variable."""
    return {name: value for name, value in vars(Setting).items() if name.isupper()}


def readers(kind: type) -> dict[str, tuple[str, bool]]:
    """Which field of a settings class reads a setting, and whether it must be there."""
    node = Source.of(kind).methods(kind.__name__)["from_environment"]
    found = {}
    for call in (item for item in ast.walk(node) if isinstance(item, ast.Call)):
        for keyword in call.keywords:
            text = ast.unparse(keyword.value)
            if keyword.arg and (match := re.search(r"read\.(\w+)\(Setting\.(\w+)", text)):
                required = match[1] in {"text", "numbered"} or (match[1] == "integer" and "default=" not in text)
                found[match[2]] = (keyword.arg, required)
    return found


def settings_page() -> str:
    """Every environment variable."""
    roles = {
        "dead letters": archive_settings.DeadLetterSettings,
        "uploads": settings.UploadSettings,
        "producer": settings.ProducerSettings,
        "consumer": settings.ConsumerSettings,
        "consumer of foreign messages": extended_client.ForeignMessages,
        "outbox": outbox_settings.OutboxSettings,
        "relay and sweep of an outbox": outbox_settings.RelaySettings,
        "ingester": ingest_settings.IngestSettings,
        "ingest reconciliation": ingest_settings.ReconciliationSettings,
        "ingester and ingest reconciliation": ingest_settings.LedgerSettings,
        "reconciler": reconciler_settings.ReconcilerSettings,
    }
    reads = {role: readers(kind) for role, kind in roles.items()}
    rows = []
    for name, variable in setting_names().items():
        who = [role for role in roles if name in reads[role]]
        assert who, f"nobody reads {variable}"  # noqa: S101 - a mistake in the library
        field, required = reads[who[-1]][name]
        default = "required" if required else _default_of(roles[who[-1]], field)
        fields = {role: reads[role][name][0] for role in who}
        names = ", ".join(code(one) for one in dict.fromkeys(fields.values()))
        rows.append((code(variable), ", ".join(who), names, default, _meaning(roles, fields)))
    return page(
        "Settings",
        "## Environment variables",
        "The constructs write these variables; `ProducerSettings.from_environment` and "
        "`ConsumerSettings.from_environment` "
        "read them; an upload API's function reads its own and a producer's. "
        "Sizes are bytes, times are seconds. In your own process you may set them yourself, or make the "
        "settings "
        "object directly. `ClaimCheckPipeline.producer_environment()` returns those of a producer.",
        table(("variable", "read by", "field", "default", "what it is"), rows),
        "`CLAIM_CHECK_CONTENT_TYPES` is a list with commas. `CLAIM_CHECK_EVENT_TYPES` has the form "
        "`DocumentUploaded:1|2,DocumentRemoved:1`: types with their versions. `CLAIM_CHECK_DLQ_URL` is absent where "
        "nothing "
        "may be parked. A value that is wrong raises `InvalidSetting`, which names the variable and what is allowed.",
        "A handler's own variables come from `handler_environment` of the pipeline; their names must be none of these.",
        "## Context of the CDK app",
        table(
            ("key", "what it is"),
            [
                (code("claim-check:environment"), "Which of the environments to synthesize."),
                (code("claim-check:environments"), "The environments and their settings, in `cdk.json`."),
                (code(claim_check_function.BUILD_DIR_CONTEXT), _after("BUILD_DIR_CONTEXT")),
                (code(claim_check_function.LOCAL_CONTEXT), _after("LOCAL_CONTEXT")),
                (code(alarm_rules.RUNBOOK_CONTEXT), _after("RUNBOOK_CONTEXT", alarm_rules)),
            ],
        ),
        "## The embedded AWS",
        table(
            ("variable", "what it is"),
            [(code("CLAIM_CHECK_LOCAL_PYTHON"), "The Python that holds the embedded AWS. By default `.venv-local`.")],
        ),
    )


def _meaning(roles: Mapping[str, type], fields: Mapping[str, str]) -> str:
    """What a field means; for each role where the roles take it differently."""
    texts = {role: plain(entries(sections(roles[role])["Attributes"])[field]) for role, field in fields.items()}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    articles = {role: "an" if role[0] in "aeiou" else "a" for role in texts}
    return " ".join(f"For {articles[role]} {role}: {text[0].lower()}{text[1:]}" for role, text in texts.items())


def _default_of(kind: type, field: str) -> str:
    """The default as the variable has it."""
    value = vars(kind)["__dataclass_fields__"][field]
    if value.default is None or value.default == () or callable(value.default_factory):
        return "absent"
    if value.default is dataclasses.MISSING:
        return "required"
    return code(str(value.default).lower() if isinstance(value.default, bool) else value.default)


def _after(constant: str, module: ModuleType = claim_check_function) -> str:
    """The text that stands below a constant."""
    lines = inspect.getsource(module).splitlines()
    index = next(number for number, line in enumerate(lines) if line.startswith(f"{constant}:"))
    text = plain(re.sub(r"^Context key: ", "", lines[index + 1].strip('"')))
    return text[0].upper() + text[1:]


# --- Metrics and alarms ---------------------------------------------------------------------------------------------

METRICS: Final = {
    Metric.PUBLISHED: "Events published.",
    Metric.PUBLISHED_CLAIMS: "Events published whose payload went to S3.",
    Metric.PUBLISHED_BYTES: "Bytes of the payloads published, inline ones too.",
    Metric.PUBLISH_FAILED: "Events that were not published, or of which it is unknown, for no mistake of their own.",
    Metric.UPLOADS_GRANTED: "Direct uploads granted.",
    Metric.UPLOADS_CONFIRMED: "Direct uploads confirmed, and published.",
    Metric.UPLOADS_REFUSED: "Requests of an upload API that were refused, or failed.",
    Metric.NEW: "Messages received that were never in a DLQ; each receive counts.",
    Metric.PROCESSED: "Messages whose effect was committed.",
    Metric.DUPLICATE: "Messages of an event that was processed already; acknowledged without effect.",
    Metric.DEFERRED: "Messages handed back without an attempt: leased elsewhere, no time, no memory, or behind a "
    "failed message of their group.",
    Metric.RETRIED: "Messages that failed and come again.",
    Metric.PARKED: "Messages copied to the DLQ with their reason.",
    Metric.REDRIVEN: "Messages received that were sent back from the DLQ (attribute `redrive`, or still `parked`).",
    Metric.LOST_LEASE: "Messages that another worker had taken over by the time this one was done.",
    Metric.GROUP_BLOCKED: "Failed attempts at a message that holds up its FIFO group for good: nothing may be parked.",
    Metric.FOREIGN_POINTER: "Messages of Amazon's Extended Client Libraries: a pointer with the name of its class.",
    Metric.FOREIGN_OBJECT: "The same: a pointer that is a plain object.",
    Metric.FOREIGN_INLINE: "The same: a message that is its payload, with no envelope.",
    Metric.RECONCILED_OBJECTS: "Payloads that the last finished run of a reconciliation saw; emitted at every tick, as "
    "are those that follow.",
    Metric.RECONCILED_OPEN: "Payloads that a row points at whose work is not done.",
    Metric.RECONCILED_COMPLETED: "Payloads that every consumer that has seen them has completed.",
    Metric.RECONCILED_UNPUBLISHED: "Payloads that no message can ever point at.",
    Metric.RECONCILED_UNKNOWN: "Payloads past the grace age that no row knows.",
    Metric.RECONCILED_FOREIGN: "Objects below `payloads/` whose key is none of ours.",
    Metric.DEAD_POINTERS: "Rows that are not done with, and whose payload is gone; 0 is emitted, too.",
    Metric.UNKNOWN_SHARE: "Share of the unknown among all payloads past the grace age.",
    Metric.UNKNOWN_GROWTH: "By how many percentage points that share grew since the run before.",
    Metric.RECONCILIATION_AGE: "Time since a run finished; before the first one, since the first tick.",
    Metric.PAYLOADS_REMOVED: "Payloads removed, which no message could point at.",
    Metric.PAYLOADS_HELD: "Payloads that no message can point at, and that were not removed: held, or refused by S3.",
    Metric.UNVERIFIED: "Messages processed although nobody told what their payload must hash to.",
    Metric.PAYLOAD_BYTES: "Bytes of the payloads of processed messages.",
    Metric.FETCH_MILLISECONDS: "Time until S3 answered the GET of a payload.",
    Metric.PAYLOAD_LIFE_LEFT: "Days until the payload that was fetched expires: as S3 says, else by the object's age "
    "and the retention plan.",
    Metric.MESSAGE_AGE: "Age of a message when it is received: now less the time SQS took it in.",
    Metric.INGESTED_PUTS: "Created and overwritten objects whose effect was committed.",
    Metric.INGESTED_DELETES: "Removed objects whose effect was committed.",
    Metric.INGEST_STALE: "Events that are older than what the ledger says was applied; acknowledged.",
    Metric.INGEST_SUPERSEDED: "Events of an object that is not so any more; acknowledged, since its newer event brings "
    "the rest.",
    Metric.INGEST_IGNORED: "Events that change no object's content, and test events; acknowledged.",
    Metric.INGEST_UNKNOWN: "Events of a kind that is not known; acknowledged.",
    Metric.INGEST_UNDECIDED: "Events without a sequencer, or with one of another length than the ledger's: the bucket "
    "was asked.",
    Metric.INGEST_CONFLICTS: "Events that were judged anew, since another ingester had written the row, or the object "
    "had changed.",
    Metric.INGEST_LISTED: "Objects that a reconciliation of bucket and ledger looked at.",
    Metric.INGEST_DIFFERENCES: "Objects that it found new, changed or gone; zero is emitted, too.",
    Metric.DEAD_LETTERS: "Dead letters that a run of `DlqSampler` or `DlqArchive` left in the DLQ; `DeadLetters` "
    "with a code behind it counts those of one reason, `DeadLettersOther` all that have no code of the library's.",
    Metric.OLDEST_DEAD_LETTER: "Age in the DLQ of the oldest of them; 0 if there is none.",
    Metric.DEAD_LETTER_LIFE_LEFT: "Days until the first of their payloads expires, by the retention plan.",
    Metric.STUCK_WORK: "Rows of the inbox that nobody goes on with: the lease ended, or the last attempt failed, long "
    "ago.",
    Metric.ARCHIVED_LETTERS: "Dead letters archived, and deleted from the DLQ.",
    Metric.OUTBOX_LAG: "Age of the oldest outbox row that is not sent, and of each row when it is; 0 if there is none.",
    Metric.OUTBOX_PARKED: "Outbox rows that wait for a decision, as a sweep found them; 0 is emitted, too.",
    Metric.OUTBOX_SWEPT: "Rows that a sweep sent: the stream or an earlier attempt had missed them.",
    Metric.ARCHIVE_FAILED: "Dead letters that were due, but could not be archived, or not be deleted.",
}
"""What each metric counts."""


def metric_names() -> list[str]:
    """Every metric but the error codes."""
    return [value for name, value in vars(Metric).items() if name.isupper()]


def per_batch(name: str) -> str:
    """How the values of a metric within a batch become one."""
    if name in telemetry.SMALLEST_OF_BATCH:
        return "smallest"
    return "largest" if name in telemetry.LARGEST_OF_BATCH else "sum"


def alarms() -> dict[str, dict[str, Any]]:
    """Every alarm of a pipeline, as CloudFormation gets it."""
    stack = Stack()
    function = lambda_.Function.from_function_arn(stack, "F", "arn:aws:lambda:us-east-1:000000000000:function:f")
    queue = sqs.Queue.from_queue_arn(stack, "Q", "arn:aws:sqs:us-east-1:000000000000:q")
    blocking = claim_check_cdk.MessageQueue(stack, "Blocking", fifo=claim_check_cdk.FifoOptions(on_poison="block"))
    shared: dict[str, Any] = {"service": "CONSUMER", "function": function, "queue": queue}
    inbox = dynamodb.Table.from_table_name(stack, "T", "inbox")
    made = (
        claim_check_cdk.PipelineAlarms(stack, "Alarms", dead_letter_queue=queue, inbox_table=inbox, **shared),
        claim_check_cdk.PipelineAlarms(stack, "Blocks", dead_letter_queue=queue, blocking_queue=blocking, **shared),
    )
    found = {name: alarm.node.default_child for one in reversed(made) for name, alarm in one.alarms.items()}
    names = dict.fromkeys(name for one in made for name in one.alarms)
    return {name: _alarm(found[name]) for name in names}


def other_alarms() -> list[tuple[str, str, dict[str, Any]]]:
    """Alarms of what stands beside a pipeline, as the app's stacks have them: construct, id, facts."""
    sys.path.append(str(ROOT))  # a script's path has its own folder only
    stacks_of = importlib.import_module
    documents, ingest = stacks_of("stacks.documents_stack"), stacks_of("stacks.ingest_stack")
    orders = stacks_of("stacks.orders_stack")
    app = App(context=json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"])
    chosen = stacks_of("stacks.settings").Settings.from_context(app.node)
    stacks = (
        documents.DocumentsStack(app, "Documents", settings=chosen),
        orders.OrdersStack(app, "Orders", settings=chosen),
        ingest.IngestStack(app, "Ingest", settings=chosen),
    )
    resources = [one for stack in stacks for one in stack.node.find_all() if isinstance(one, cloudwatch.CfnAlarm)]
    found = {}
    for resource in resources:
        alarm, *owners = reversed(resource.node.scopes[:-1])
        owner = next(one for one in owners if type(one).__name__ in claim_check_cdk.__all__)
        found[type(owner).__name__, alarm.node.id] = _alarm(resource)
    return [(owner, name, facts) for (owner, name), facts in found.items() if owner != "PipelineAlarms"]


def _alarm(resource: Any) -> dict[str, Any]:  # noqa: ANN401 - a CfnAlarm
    period, periods = int(resource.period), int(resource.evaluation_periods)
    return {
        "metric": f"{resource.namespace}/{resource.metric_name}",
        "statistic": resource.statistic,
        "threshold": resource.threshold,
        "falling": resource.comparison_operator.startswith("Less"),
        "silence": resource.treat_missing_data == "breaching",
        "datapoints": int(resource.datapoints_to_alarm),
        "periods": periods,
        "unit": {60: "minutes", 3600: "hours"}.get(period, f"periods of {format_seconds(period)}"),
        "description": resource.alarm_description.partition(": ")[2].partition(" Runbook: ")[0],
        "section": resource.alarm_description.rpartition("#")[2],
    }


def rings_when(alarm: Mapping[str, Any]) -> str:
    """When an alarm rings, in words."""
    side = "less" if alarm["falling"] else "more"
    silence = ", or there is none" if alarm["silence"] else ""
    return (
        f"{alarm['statistic'].lower()} of `{alarm['metric']}` is {alarm['threshold']:,.10g} or {side} in "
        f"{alarm['datapoints']} of the last {alarm['periods']} {alarm['unit']}{silence}"
    )


def alarms_table() -> str:
    """Every alarm in one table: whose, when it rings, what to do."""
    rows = [("PipelineAlarms", name, facts) for name, facts in alarms().items()] + other_alarms()
    return table(
        ("construct", "alarm", "rings when", "what to do"),
        [
            (code(owner), name, rings_when(facts), f"[runbook](../runbook.md#{facts['section']})")
            for owner, name, facts in rows
        ],
    )


def metrics_page() -> str:
    """Every metric and every alarm."""
    made = alarms()
    users: dict[str, list[str]] = {}
    for name, alarm in made.items():
        users.setdefault(alarm["metric"].rpartition("/")[2], []).append(f"[{name}](#{name.lower()})")
    rows = [
        (
            code(name),
            telemetry.unit_of(name),
            per_batch(name),
            METRICS.get(name, ""),
            ", ".join(users.get(name, [])),
        )
        for name in metric_names()
    ]
    own = [
        (code(name), plain(summary(kind)), ", ".join(users.get(name, [])) or UNALARMED_CODES.get(name, ""))
        for name, kind in all_codes().items()
        if name in contract.ERROR_CODES
    ]
    parts = [
        f"### {name}\n\n{alarm['description']}\n\n"
        f"Rings when {rings_when(alarm)}. [What to do](../runbook.md#{alarm['section']})."
        for name, alarm in made.items()
    ]
    return page(
        "Metrics and alarms",
        "## Metrics of the library",
        f"Namespace `{contract.METRIC_NAMESPACE}`, one dimension: `{contract.METRIC_DIMENSION}`, which is the "
        "consumer's name, "
        "or `producer`. A batch emits one value per metric: the sum, for ages and latencies the largest, for what is "
        "left the smallest. Missing data means that nothing happened.",
        table(("metric", "unit", "per batch", "what it counts", "alarm"), rows),
        "Every error is counted under its code (unit Count, per batch the sum), a handler's own codes too:",
        table(("metric", "what it counts", "alarm, or why none"), own),
        "[Errors](errors.md) says what each code means.",
        "## Alarms",
        "All of them, as a default pipeline and the example stacks have them:",
        alarms_table(),
        "## Alarms of a pipeline",
        "`PipelineAlarms` makes them; `ClaimCheckPipeline` has one as `alarms`. Missing data is good. `WorkAge` rings "
        "at `max_age`; within a pipeline that is one hour by default, or half of a shorter retention. A FIFO queue "
        "that blocks has `GroupBlocked` and `HalfOfRetention` in place of `DeadLetters`, and its `QueueAge` rings at "
        "half of its retention.",
        *parts,
    )


# --- Messages -------------------------------------------------------------------------------------------------------

_SHA: Final = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_TIME: Final = datetime(2026, 7, 6, 10, 15, 30, tzinfo=UTC)


def sample_key() -> str:
    """The key of the sample's object."""
    return contract.object_key(
        tenant_id="t-1", event_type="DocumentUploaded", idempotency_key="doc-789-v3", sha256=_SHA
    )


def sample(payload: Claim | Inline) -> Envelope:
    """A sample envelope."""
    return Envelope(
        message_id="doc-789-v3",
        event_type="DocumentUploaded",
        tenant_id="t-1",
        idempotency_key="doc-789-v3",
        correlation_id="case-41",
        occurred_at=_TIME,
        published_at=_TIME,
        domain_ref={"documentId": "doc-789"},
        payload=payload,
    )


def messages_page() -> str:
    """Envelope, attributes, object keys."""
    claim = Claim(
        bucket="payloads", key=sample_key(), content_type="application/pdf", content_length=1_849_382, sha256=_SHA
    )
    inline = Inline(content_type="application/json", body='{"any":"JSON"}')
    envelope = encode(sample(claim))
    delivery = Delivery(
        sqs_message_id="b3a8c2de-0000-4000-8000-000000000000",
        receipt_handle="-",
        body=envelope,
        queue="documents",
        attributes={"eventType": MessageAttribute(data_type="String", value="DocumentUploaded")},
    )
    copy = parked_copy(delivery, code=ErrorCode.MISSING_PAYLOAD, attempts=5, now=_TIME.timestamp(), fifo=False)
    parked = json.loads(str(copy.attributes[contract.ATTRIBUTE_PARKED].value))
    dead = replace(delivery, attributes=copy.attributes, sqs_message_id="f0b4c1aa-0000-4000-8000-000000000000")
    back = redriven_copy(dead, reason=ErrorCode.MISSING_PAYLOAD, run="9f86d081884c", now=_TIME.timestamp(), fifo=False)
    redrive = json.loads(str(back.attributes[contract.ATTRIBUTE_REDRIVE].value))
    pointer, _ = extended_client.encode(sample(claim), "extended-client")
    schema = envelope_schema()
    required = set(schema["required"])
    return page(
        "Message format",
        "## Envelope",
        f"The body of a message: compact JSON in UTF-8, version {contract.ENVELOPE_VERSION}. This one has a claim:",
        f"```json\n{json.dumps(json.loads(envelope), indent=2)}\n```",
        "A small JSON payload travels inside, in place of `payloadRef`:",
        f"```json\n{json.dumps({'inline': json.loads(encode(sample(inline)))['inline']}, indent=2)}\n```",
        "The same as a JSON Schema, for other languages: "
        "[envelope-v1.json](../../lambda_src/claim_check/schema/envelope-v1.json).",
        table(("field", "required", "what it is"), _fields(schema["properties"], required)),
        "Exactly one of `inline` and `payloadRef` is there. Fields that are not named here are ignored.",
        "### payloadRef",
        table(("field", "required", "what it is"), _ref_fields(schema["properties"]["payloadRef"])),
        "### inline",
        table(("field", "required", "what it is"), _ref_fields(schema["properties"]["inline"])),
        "## Message attributes",
        f"SQS takes {contract.SQS_MAX_ATTRIBUTES}. Yours may be up to {contract.USER_ATTRIBUTES_MAX}; these names are "
        "taken:",
        table(("attribute", "who sets it", "what it is"), ATTRIBUTES),
        "`parked` looks like this:",
        f"```json\n{json.dumps(parked, indent=2)}\n```",
        "`originalMessageId` is SQS's id of the message that was parked; the copy has another. A foreign message that "
        "already "
        f"had {contract.SQS_MAX_ATTRIBUTES} attributes loses its last one by name, and `droppedAttributes` names it. "
        f"`{contract.FIRST_MESSAGE_ID}` is there from the second parking on: the id of the message's first life.",
        "`redrive` takes its place when `claim-check dlq redrive` sends the message back:",
        f"```json\n{json.dumps(redrive, indent=2)}\n```",
        f"`{contract.REDRIVE_ROUND}` counts how often it was sent back, `{contract.REDRIVE_RUN}` names the redrive. On "
        "FIFO the deduplication id is SQS's id of the message in the DLQ, `#` and the round.",
        "## The Extended Client's format",
        "In the wire format `extended-client` a producer writes what Amazon's Extended Client Libraries read, with the "
        "envelope in fields that they ignore:",
        f"```json\n{json.dumps(json.loads(pointer), indent=2)}\n```",
        "The attribute `ExtendedPayloadSize` has the payload's bytes. A small payload is the body as it is, and the "
        "attribute `claimCheck` has the envelope. [Work with the Extended "
        "Client](../how-to/interoperate-with-the-extended-client.md) says what a consumer takes.",
        "## Sizes",
        table(("what", "bytes"), SIZES),
        "A message's size is its body, and for every attribute name, data type and value.",
        "## Object keys",
        f"```\n{contract.PAYLOAD_PREFIX}tenants/{{tenantId}}/{{eventType}}/{{idHash}}/{{sha256}}\n{sample_key()}\n```",
        f"`idHash` is the first {contract.ID_HASH_LENGTH} hexadecimal digits of the SHA-256 of the idempotency key; "
        "the inbox row "
        "has the same. An event that is published again when its object is about to expire gets a new object, with "
        "`.1`, `.2` "
        "… at the end. Tenant ids, event types and consumer names are 1 to "
        f"{contract.NAME_MAX_LENGTH} of `A-Z a-z 0-9 . _ -`, never `.` or `..`.",
        "Every object has its content type and the metadata "
        f"`{contract.METADATA_TENANT_ID}`, `{contract.METADATA_EVENT_ID}` and `{contract.METADATA_SHA256}`.",
        "## FIFO",
        "The deduplication id of an event is the SHA-256 of `{tenantId}#{idempotencyKey}`, such as "
        f"`{deduplication_id('t-1', 'doc-789-v3')}`. The message group id is the event's `group_id`.",
    )


ATTRIBUTES: Final = (
    (code(contract.ATTRIBUTE_EVENT_TYPE), "producer", "Event type, for filters."),
    (code(contract.ATTRIBUTE_TENANT_ID), "producer", "Tenant, for filters."),
    (code(contract.ATTRIBUTE_PARKED), "consumer", "On a copy in the DLQ: why it is there, as JSON."),
    (code(contract.ATTRIBUTE_REDRIVE), "`claim-check dlq redrive`", "Tells replayed work from new work, as JSON."),
    (
        code(contract.ATTRIBUTE_CLAIM_CHECK),
        "producer",
        "In the Extended Client's format: the envelope of an inline payload, as JSON.",
    ),
    (
        code(contract.ATTRIBUTE_PAYLOAD_SIZE),
        "producer",
        "In the Extended Client's format: the body is a pointer, to a payload of so many bytes. Refused from you.",
    ),
    (code(contract.ATTRIBUTE_LEGACY_PAYLOAD_SIZE), "producer", "The same, for Java clients before 1.1."),
)
SIZES: Final = (
    ("largest message and largest batch of SQS", f"{contract.SQS_MAX_MESSAGE_BYTES:,}"),
    ("largest message that travels inline, by default", f"{contract.DEFAULT_INLINE_LIMIT_BYTES:,}"),
    ("room kept in every message for a tracer's attributes", f"{contract.DEFAULT_RESERVE_BYTES:,}"),
    ("largest payload, by default", f"{contract.DEFAULT_MAX_PAYLOAD_BYTES:,}"),
    ("payload above which it is uploaded in parts, by default", f"{contract.DEFAULT_MULTIPART_THRESHOLD_BYTES:,}"),
    ("largest object of S3", f"{contract.S3_MAX_OBJECT_BYTES:,}"),
)


def _fields(properties: Mapping[str, Any], required: set[str]) -> list[tuple[str, ...]]:
    return [
        (code(name), "yes" if name in required else "", str(of.get("description", "")))
        for name, of in properties.items()
    ]


def _ref_fields(schema: Mapping[str, Any]) -> list[tuple[str, ...]]:
    return _fields(schema["properties"], set(schema["required"]))


# --- Inbox ----------------------------------------------------------------------------------------------------------

ROW: Final = {
    InboxAttribute.KEY: "Key: `{consumer}#{tenantId}#{idHash}`, or `park#{SQS message id}`.",
    InboxAttribute.STATE: "See below.",
    InboxAttribute.CONSUMER: "Name of the consumer.",
    InboxAttribute.TENANT_ID: "Tenant.",
    InboxAttribute.EVENT_TYPE: "Event type.",
    InboxAttribute.MESSAGE_ID: "Identity of the event, given by its producer.",
    InboxAttribute.SQS_MESSAGE_ID: "SQS's id of the message that opened this life of the row.",
    InboxAttribute.CORRELATION_ID: "Correlation id, if there is one.",
    InboxAttribute.FINGERPRINT: "SHA-256 of the payload, event type and version: what the identity is bound to.",
    InboxAttribute.OWNER: "Token of the worker that wrote last. Every later write names it, or is refused.",
    InboxAttribute.LEASE_UNTIL: "End of the lease, epoch seconds; 0 when nobody holds one.",
    InboxAttribute.ATTEMPTS: "Attempts in this life of the message.",
    InboxAttribute.ATTEMPTS_SPENT: "Attempts it had when it was parked.",
    InboxAttribute.REDRIVEN: "Which redrive of it was received last, from 1; absent if none was.",
    InboxAttribute.LAST_CODE: "Code of the last failure.",
    InboxAttribute.LAST_MESSAGE: "Its text; for a handler's own errors their type and place only.",
    InboxAttribute.PAYLOAD_BUCKET: "Bucket of the claim.",
    InboxAttribute.PAYLOAD_KEY: "Object key of the claim.",
    InboxAttribute.PAYLOAD_VERSION: "Object version of the claim, if it names one.",
    InboxAttribute.PAYLOAD_BYTES: "Bytes of the payload.",
    InboxAttribute.FIRST_SEEN_AT: "When the event was first seen, epoch seconds.",
    InboxAttribute.UPDATED_AT: "Last change, epoch seconds.",
    InboxAttribute.TTL: "When DynamoDB may remove the row, epoch seconds: last change plus the retention plan.",
    InboxAttribute.OPEN_SHARD: "Partition of the index of open work: `{consumer}#{0 to 7}`. Not on completed rows.",
    InboxAttribute.OPEN_SINCE: "Sort key of that index: `{state}#{ISO 8601 time}`. Not on completed rows.",
}
"""What each attribute of an inbox row holds."""

STATES: Final = {
    "IN_PROGRESS": "A worker has the lease, until it ends.",
    "COMPLETED": "The effect is committed. Final.",
    "FAILED": "The last attempt failed; the message comes again.",
    "PARKING": "A copy is on its way to the DLQ.",
    "PARKED": "The copy is in the DLQ. The same event sent back opens a new life.",
}
"""What each state of an inbox row means."""


def inbox_page() -> str:
    """Rows of the inbox."""
    names = {name: value for name, value in vars(InboxAttribute).items() if name.isupper()}
    shards = contract.inbox_open_shards("documents")
    return page(
        "Inbox rows",
        "One row per consumer and event; one of its own for a message that has no claim on any event.",
        "## States",
        table(("state", "what it means"), [(code(name), text) for name, text in STATES.items()]),
        "[The protocol](../explanation/protocol.md) shows how a row goes from one to the other.",
        "## Attributes",
        table(("attribute", "what it holds"), [(code(value), ROW.get(value, "")) for value in names.values()]),
        "## Keys",
        table(
            ("what", "key"),
            [
                (
                    "event `doc-789-v3` of tenant `t-1`, for the consumer `documents`",
                    code(contract.inbox_key(consumer="documents", tenant_id="t-1", idempotency_key="doc-789-v3")),
                ),
                ("a message that is no envelope", code(contract.park_key("b3a8c2de-0000-4000-8000-000000000000"))),
            ],
        ),
        f"## The index `{contract.INBOX_OPEN_INDEX}`",
        "It holds the rows that are not completed. Its partitions are "
        f"`{shards[0]}` to `{shards[-1]}` for a consumer named `documents`: query each. "
        "[The runbook](../runbook.md#list-what-is-not-completed) has the command.",
    )


# --- Ingestion ------------------------------------------------------------------------------------------------------

LEDGER: Final = {
    LedgerAttribute.SHARD: "Partition key: `{bucket}#{00 to 15}`, by a hash of the key.",
    LedgerAttribute.KEY: "Sort key: the object's key, up to 1,024 bytes.",
    LedgerAttribute.STATE: "`PRESENT`, or `DELETED` for a tombstone.",
    LedgerAttribute.REVISION: "Changes with every write; what every write is conditional on.",
    LedgerAttribute.SEQUENCER: "No event up to this one is applied any more.",
    LedgerAttribute.EXACT: "Whether the state is that of `sequencer`. Otherwise the bucket was looked at, later than "
    "that, and is asked again at the next event.",
    LedgerAttribute.KIND: "Name of the event that led to the state.",
    LedgerAttribute.VERSION_ID: "Version that was applied, or the delete marker's, where the bucket keeps versions.",
    LedgerAttribute.ETAG: "Entity tag that was applied.",
    LedgerAttribute.SIZE: "Bytes.",
    LedgerAttribute.MODIFIED_AT: "When the object was written, as S3 tells, epoch seconds.",
    LedgerAttribute.APPLIED_AT: "When it was applied, epoch seconds.",
    LedgerAttribute.TTL: "When DynamoDB may delete the row, epoch seconds; tombstones and counts of failures only.",
    LedgerAttribute.FAILURES: "Of the row `failures#{SQS message id}`: how often the handler failed.",
    LedgerAttribute.CHECKPOINT: "Of the row `checkpoint#{ingest}#{bucket}`: how far the reconciliation has come, JSON.",
}
"""What each attribute of the ledger holds."""

_MEANINGS: Final = {
    "put": "applied as a written object: that very version or, without versions, only if its entity tag is still "
    "the same",
    "delete": "applied as a removed object; a tombstone stays",
    "look": "the bucket is asked, and what it says is applied if the ledger says otherwise",
}
_KINDS: Final[tuple[tuple[str, str, dict[str, str]], ...]] = (
    ("ObjectCreated:Put", "Object Created", {}),
    ("ObjectCreated:Post", "Object Created", {}),
    ("ObjectCreated:Copy", "Object Created", {}),
    ("ObjectCreated:CompleteMultipartUpload", "Object Created", {}),
    ("ObjectRemoved:Delete", "Object Deleted", {}),
    ("ObjectRemoved:DeleteMarkerCreated", "Object Deleted", {"deletion-type": "Delete Marker Created"}),
    ("ObjectRemoved:Delete", "Object Deleted", {"version": "v1"}),
    ("LifecycleExpiration:Delete", "Object Deleted", {}),
    ("LifecycleExpiration:DeleteMarkerCreated", "Object Deleted", {"deletion-type": "Delete Marker Created"}),
    ("LifecycleExpiration:Delete", "Object Deleted", {"version": "v1"}),
    ("ObjectRestore:Completed", "Object Restore Completed", {}),
    ("ObjectRestore:Post", "Object Restore Initiated", {}),
    ("ObjectRestore:Delete", "Object Restore Expired", {}),
    ("LifecycleTransition", "Object Storage Class Changed", {}),
    ("IntelligentTiering", "Object Access Tier Changed", {}),
    ("ObjectTagging:Put", "Object Tags Added", {}),
    ("ObjectTagging:Delete", "Object Tags Deleted", {}),
    ("ObjectAcl:Put", "Object ACL Updated", {}),
    ("Replication:OperationFailedReplication", "", {}),
    ("ReducedRedundancyLostObject", "", {}),
)
"""Kinds of events: S3's name, EventBridge's detail-type, and what else tells them apart."""


def event_kinds() -> list[tuple[str, str, str]]:
    """What becomes of each kind of event, as the parser says."""
    rows = []
    for name, detail, more in _KINDS:
        fields = {"key": "k"} | ({"versionId": more["version"]} if "version" in more else {})
        record = {"eventName": name, "s3": {"bucket": {"name": "b"}, "object": fields}}
        bodies: list[dict[str, Any]] = [{"Records": [record]}]
        if detail:
            place = {"key": "k"} | ({"version-id": more["version"]} if "version" in more else {})
            told = {"bucket": {"name": "b"}, "object": place, **more}
            bodies.append({"source": "aws.s3", "detail-type": detail, "detail": told})
        meanings = {_meaning_of(parse(json.dumps(body))[0]) for body in bodies}
        assert len(meanings) == 1, name  # noqa: S101 - the two forms must agree
        suffix = ", with a version id" if "version" in more else ""
        marker = f", {more['deletion-type']}" if "deletion-type" in more else ""
        rows.append((code(name) + suffix, (code(detail) + marker + suffix) if detail else "", meanings.pop()))
    return rows


def _meaning_of(parsed: Any) -> str:  # noqa: ANN401 - what the parser makes
    return _MEANINGS[parsed.action] if isinstance(parsed, changes.ObjectEvent) else "counted, and acknowledged"


def ingest_page() -> str:
    """Events, ledger rows, classes."""
    return page(
        "S3 ingestion",
        "`claim_check.ingest` follows the objects of a bucket; `claim_check.aws_ingest.ingester(settings)` and "
        "`claim_check.aws_ingest.reconciliation(settings)` put it together.",
        "## Kinds of events",
        "The same whether S3 notifies the queue itself, or SNS (raw or not), or EventBridge brings the event. Whatever "
        "else begins with `ObjectCreated` is a written object, whatever else begins with `ObjectRemoved` or "
        "`LifecycleExpiration` is looked at. A test event is acknowledged, an unknown kind counted and acknowledged, "
        "anything else parked as `InvalidNotification`.",
        table(("S3's name", "EventBridge's `detail-type`", "what becomes of it"), event_kinds()),
        "## Ledger rows",
        "One row per bucket and key, in a table that may serve several buckets.",
        table(("attribute", "what it holds"), [(code(name), text) for name, text in LEDGER.items()]),
        "The partitions of a bucket, merged, hold its rows in the order in which S3 lists: "
        f"`{contract.ledger_shards('bucket')[0]}` to `{contract.ledger_shards('bucket')[-1]}`. "
        "`claim-check ingest show KEY` prints a row.",
        *[
            described(kind)
            for kind in (
                changes.ObjectChange,
                changes.ObjectKey,
                ingester.S3Ingester,
                applying.IngestRules,
                reconciliation.LedgerReconciliation,
                reconciliation.ReconciliationReport,
                ingest_settings.IngestSettings,
                ingest_settings.ReconciliationSettings,
            )
        ],
    )


# --- Outbox ---------------------------------------------------------------------------------------------------------


def outbox_page() -> str:
    """Staging, rows, settings."""
    return page(
        "Outbox",
        "`claim_check.outbox` commits messages together with domain writes; `claim_check.aws_outbox.outbox(settings)` "
        "puts one together for an application. [How to use it](../how-to/publish-with-an-outbox.md).",
        *[
            described(kind)
            for kind in (
                Outbox,
                Staged,
                OutboxRow,
                Swept,
                outbox_settings.OutboxSettings,
                outbox_settings.Destination,
                outbox_settings.RelaySettings,
            )
        ],
        "## Keys",
        "A row's key is `<destination>#<tenant>#<idHash>`: the same identity as in object keys and inbox rows. "
        f"The item that keeps the order of a FIFO group has a key that begins with `{contract.OUTBOX_GROUP_MARK}`. "
        f"Rows that are `PENDING` or `PARKED` are in the index `{contract.OUTBOX_OPEN_INDEX}`, in "
        f"{contract.OUTBOX_OPEN_SHARDS} shards.",
    )


# --- Constructs and library -----------------------------------------------------------------------------------------


def constructs_page() -> str:
    """Every public name of the constructs."""
    classes = [getattr(claim_check_cdk, name) for name in claim_check_cdk.__all__]
    return page(
        "Constructs",
        "All arguments after scope and id are given by name. Whatever is wrong with them is said at once, at "
        "construction.",
        *[described(item) for item in classes],
    )


FIRST: Final = ("Event", "Producer", "Published", "Unpublished", "Message", "Transaction", "Table", "Condition")
"""What a reader wants first; the other public names follow."""


def library_names() -> list[str]:
    """Public names of the library but for the errors."""
    others = [name for name in claim_check.__all__ if name not in FIRST]
    return [*FIRST, *(name for name in others if not _is_error(getattr(claim_check, name)))]


def _is_error(documented: object) -> bool:
    return isinstance(documented, type) and issubclass(documented, Exception)


def described_function(documented: Callable[..., object]) -> str:
    """A function: what it is, and what it takes."""
    told = sections(documented)
    rows = [(code(name), plain(text)) for name, text in entries(told.get("Args", "")).items()]
    parts = [f"## {documented.__name__}", plain(summary(documented))]
    parts += [table(("argument", "what it is"), rows)] if rows else []
    return "\n\n".join(part.strip() for part in [*parts, *_raises(told)])


def library_page() -> str:
    """The classes of the library."""
    found = [getattr(claim_check, name) for name in library_names()]
    parts = [described(one) if isinstance(one, type) else described_function(one) for one in found]
    parts += [
        described(kind) for kind in (settings.ProducerSettings, settings.ConsumerSettings, settings.UploadSettings)
    ]
    return page(
        "Library",
        "`claim_check.aws.producer(settings)` and `claim_check.aws.consumer(settings)` put a producer and a consumer "
        "together. "
        "[Errors](errors.md) has its exceptions.",
        *parts,
    )


# --- Commands -------------------------------------------------------------------------------------------------------


def targets() -> dict[str, str]:
    """Every documented target of the Makefile."""
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    found = (re.match(r"^([a-z-]+):.*## (.*)$", line) for line in lines)
    return {match[1]: match[2] for match in found if match}


def commands() -> Iterator[tuple[str, Any]]:
    """Every command of ``claim-check``, with its path."""

    def walk(path: str, node: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - typer may carry a click of its own
        children = getattr(node, "commands", None)
        if children is None:
            yield path, node
        for name, child in (children or {}).items():
            yield from walk(f"{path} {name}", child)

    yield from walk("claim-check", typer.main.get_command(command))


def commands_page() -> str:
    """Every target and command."""
    parts = []
    for path, node in commands():
        options = [
            (
                code(", ".join(option.opts)),
                _text(option.help),
                "" if option.default in (None, False) else code(option.default),
            )
            for option in node.params
            if getattr(option, "help", None)
        ]
        text = inspect.cleandoc(node.help or "")
        parts += [f"### {path}", text, table(("option", "what it does", "default"), options) if options else ""]
    return page(
        "Commands",
        "## make",
        table(("target", "what it does"), [(code(f"make {name}"), text) for name, text in targets().items()]),
        "## claim-check",
        "Installed by `make setup` into `.venv/bin`.",
        *parts,
    )


def _text(text: str | None) -> str:
    return (text or "").strip()


# --- Writing --------------------------------------------------------------------------------------------------------

PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "constructs.md": constructs_page,
    "library.md": library_page,
    "errors.md": errors_page,
    "settings.md": settings_page,
    "metrics.md": metrics_page,
    "messages.md": messages_page,
    "inbox.md": inbox_page,
    "ingest.md": ingest_page,
    "outbox.md": outbox_page,
    "commands.md": commands_page,
}


def current() -> dict[Path, str]:
    """Every page as it should be."""
    wanted = {REFERENCE / name: make() for name, make in PAGES.items()}
    return wanted | {path: with_snippets(path.read_text(encoding="utf-8")) for path in hand_written() if path.exists()}


def main() -> int:
    """Write, or check."""
    stale = []
    for path, text in current().items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(path.relative_to(ROOT))
        if "--check" not in sys.argv[1:]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for name in stale:
        sys.stdout.write(f"{'not current' if '--check' in sys.argv[1:] else 'written'}: {name}\n")
    return int(bool(stale) and "--check" in sys.argv[1:])


if __name__ == "__main__":
    raise SystemExit(main())
