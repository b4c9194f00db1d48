"""``claim-check status`` and ``inbox``: what is seen, whether a person is needed, what is never shown (R4.3, R12)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from typer.testing import CliRunner

from claim_check import contract
from claim_check.contract import ErrorCode, InboxState, Setting
from claim_check.errors import ReadRefused, Unavailable
from claim_check.ports import InboxRow
from claim_check.settings import ConsumerSettings
from claim_check.telemetry import key_hash
from claim_check_ops.cli import app
from claim_check_ops.looking import aws
from claim_check_ops.looking.inbox_rows import Wanted, find, listing, redacted
from claim_check_ops.looking.ports import Depth
from claim_check_ops.looking.status import Status, status_of
from claim_check_ops.looking.views import row_document, status_document
from claim_check_ops.pipelines import FoundConsumer, PipelineNotFound, consumer_settings, consumers
from tests.fakes.clock import START
from tests.fakes.inbox_reader import FakeInboxReader

QUEUE = "https://sqs/0/documents"
DLQ = "https://sqs/0/documents-dlq"
KEY = "payloads/tenants/t-1/DocumentUploaded/0123/secret"
VARIABLES = {
    Setting.CONSUMER: "documents",
    Setting.BUCKET: "bucket",
    Setting.QUEUE_URL: QUEUE,
    Setting.DLQ_URL: DLQ,
    Setting.INBOX_TABLE: "inbox",
    Setting.INBOX_TTL: "2592000",
    Setting.HANDLER: "handlers:handle",
}


def row(state: InboxState, identity: str, **fields: Any) -> InboxRow:  # noqa: ANN401 - fields of InboxRow
    """A row of an event, worked on a minute ago."""
    known: dict[str, Any] = {
        "key": contract.inbox_key(consumer="documents", tenant_id="t-1", idempotency_key=identity),
        "consumer": "documents",
        "sqs_message_id": f"sqs-{identity}",
        "message_id": identity,
        "tenant_id": "t-1",
        "event_type": "DocumentUploaded",
        "payload_bucket": "bucket",
        "payload_key": KEY,
        "fingerprint": "f" * 64,
        "owner": "token",
        "attempts": 1,
        "lease_until": START + 60 if state in {"IN_PROGRESS", "PARKING"} else 0.0,
        "first_seen_at": START - 120,
        "updated_at": START - 60,
        "ttl": int(START) + 86_400,
    }
    return InboxRow(state=state, **{**known, **fields})


def reader(*rows: InboxRow) -> FakeInboxReader:
    return FakeInboxReader({one.key: one for one in rows})


@dataclass
class Services:
    """Queues and what polls them, as they are told to be."""

    depths: dict[str, Depth] = field(default_factory=dict)
    ages: dict[str, float] = field(default_factory=dict)
    polling: list[str] = field(default_factory=lambda: ["Enabled"])
    error: Exception | None = None

    def depth(self, queue_url: str) -> Depth:
        """Empty, unless told otherwise."""
        if self.error is not None:
            raise self.error
        return self.depths.get(queue_url, Depth(visible=0, in_flight=0, delayed=0))

    def oldest_seconds(self, queue_url: str) -> float | None:
        """Unknown, unless told otherwise."""
        return self.ages.get(queue_url)

    def states(self, function: str, queue_url: str) -> list[str]:
        """One mapping."""
        assert (function, queue_url) == ("function", QUEUE)
        return self.polling


def seen(
    *rows: InboxRow,
    services: Services | None = None,
    function: str | None = "function",
    variables: dict[str, str] | None = None,
    **how: Any,  # noqa: ANN401 - arguments of status_of
) -> Status:
    services = services or Services()
    settings = ConsumerSettings.from_environment(VARIABLES | (variables or {}))
    found = FoundConsumer(settings, function)
    return status_of(found, queues=services, pollers=services, inbox=reader(*rows), now=START, **how)


# --- Status ---------------------------------------------------------------------------------------------------------


def test_work_under_way_needs_nobody() -> None:
    services = Services({QUEUE: Depth(visible=5, in_flight=1, delayed=2)}, {QUEUE: 12.0})
    status = seen(
        row("IN_PROGRESS", "a"),
        row("FAILED", "b", last_code=ErrorCode.HANDLER_FAILED),
        row("COMPLETED", "c"),
        row("PARKED", "d", last_code=ErrorCode.CONFLICT),  # and nobody left it in the DLQ
        services=services,
    )
    assert status.problems == []
    assert (status.queue.total, status.queue_oldest_seconds, status.dlq_oldest_seconds) == (8, 12.0, None)
    work = status.work
    assert (work.in_progress, work.overdue, work.stuck, work.parking) == (1, 0, 0, 0)
    assert (work.failed, work.parked) == ({"HandlerFailed": 1}, {"Conflict": 1})
    assert work.oldest_seconds == 120
    assert work.complete


@pytest.mark.parametrize(
    "depth",
    [
        Depth(visible=1, in_flight=0, delayed=0),
        Depth(visible=0, in_flight=1, delayed=0),
        Depth(visible=0, in_flight=0, delayed=1),
    ],
    ids=["visible", "in flight", "delayed"],
)
def test_a_dead_letter_needs_a_person(depth: Depth) -> None:
    assert seen(services=Services({DLQ: depth})).problems == ["dead letters"]
    assert seen(services=Services({QUEUE: depth})).problems == []


@pytest.mark.parametrize(
    "stuck,state,fields",
    [
        (0, "IN_PROGRESS", {"lease_until": START - 3600}),
        (1, "IN_PROGRESS", {"lease_until": START - 3601}),
        (1, "PARKING", {"lease_until": START - 3601}),
        (0, "FAILED", {"updated_at": START - 3600}),
        (1, "FAILED", {"updated_at": START - 3601}),
        (0, "PARKED", {"updated_at": START - 86_400}),
    ],
    ids=["lease just ended", "lease ended", "parking left", "just failed", "failed long ago", "parked"],
)
def test_work_that_nobody_has_touched_for_an_hour_is_stuck(
    stuck: int, state: InboxState, fields: dict[str, float]
) -> None:
    status = seen(row(state, "a", **fields))
    assert status.work.stuck == stuck
    assert status.problems == ["stuck work"] * stuck
    assert seen(row(state, "a", **fields), stuck_after=7200).problems == []


def test_a_lease_that_has_just_ended_is_told_but_needs_nobody() -> None:
    """The next delivery takes it over."""
    status = seen(row("IN_PROGRESS", "a", lease_until=START), row("IN_PROGRESS", "b", lease_until=START + 0.5))
    assert (status.work.overdue, status.problems) == (1, [])


def test_used_up_attempts_block_a_group_only_where_nothing_may_be_parked() -> None:
    used_up, not_yet = row("FAILED", "a", attempts=5), row("FAILED", "b", attempts=4)
    blocking = seen(used_up, not_yet, variables={Setting.DLQ_URL: ""})
    assert (blocking.work.blocked, blocking.problems, blocking.dlq) == (1, ["blocked groups"], None)
    assert seen(used_up, not_yet).problems == []


@pytest.mark.parametrize(
    "states,problems",
    [
        (["Enabled"], []),
        (["Creating"], []),
        (["Updating", "Disabled"], []),
        (["Disabled"], ["not polling"]),
        (["Disabling"], ["not polling"]),
        ([], ["not polling"]),
    ],
    ids=str,
)
def test_a_queue_that_nothing_polls_needs_a_person(states: list[str], problems: list[str]) -> None:
    assert seen(services=Services(polling=states)).problems == problems


def test_a_worker_has_no_mapping() -> None:
    status = seen(services=Services(polling=["Disabled"]), function=None)
    assert (status.polling, status.problems) == (None, [])


def test_rows_beyond_the_limit_are_not_read() -> None:
    rows = [row("FAILED", f"e{number}", last_code="HandlerFailed") for number in range(5)]
    status = seen(*rows, max_rows=4)
    assert (status.work.failed, status.work.complete) == ({"HandlerFailed": 4}, False)
    assert seen(*rows, max_rows=5).work.complete


# --- Finding rows ---------------------------------------------------------------------------------------------------


def found(identity: str, *rows: InboxRow, tenant: str | None = None) -> list[str | None]:
    return [one.message_id or one.key for one in find(reader(*rows), identity, consumer="documents", tenant=tenant)]


PARKED = InboxRow(key="park#sqs-9", state="PARKED", consumer="documents", sqs_message_id="sqs-9")


def test_an_event_is_found_by_each_of_its_names() -> None:
    rows = (row("COMPLETED", "a"), row("FAILED", "b"), PARKED)
    assert found("a", *rows, tenant="t-1") == ["a"]
    assert found(rows[0].key, *rows) == ["a"]
    assert found("b", *rows) == ["b"]
    assert found("sqs-b", *rows) == ["b"]
    assert found("sqs-9", *rows) == ["park#sqs-9"]
    assert found("park#sqs-9", *rows) == ["park#sqs-9"]


def test_an_event_with_a_key_of_its_own_is_found_by_either() -> None:
    own = replace(row("FAILED", "doc:1:v2"), message_id="m-7")
    assert found("doc:1:v2", own, tenant="t-1") == found("m-7", own) == found("m-7", own, tenant="t-1") == ["m-7"]


def test_another_tenants_event_is_not_found() -> None:
    assert found("a", row("FAILED", "a"), tenant="t-2") == []
    assert found("a", row("COMPLETED", "a")) == []


def test_no_more_is_read_than_keys_when_a_key_is_known() -> None:
    inbox = reader(row("COMPLETED", "a"))
    find(inbox, "a", consumer="documents", tenant="t-1")
    assert inbox.faults.calls == ["get_rows"]


def names(rows: FakeInboxReader, limit: int = 50, **wanted: Any) -> list[str | None]:  # noqa: ANN401 - fields of Wanted
    return [one.message_id for one in listing(rows, "documents", Wanted(**wanted), now=START, limit=limit).rows]


def test_rows_are_listed_by_what_is_wanted_longest_unchanged_first() -> None:
    rows = reader(
        row("FAILED", "a", last_code="MissingPayload", updated_at=START - 1),
        row("FAILED", "b", last_code="AccessDenied", updated_at=START - 3, tenant_id="t-2"),
        row("IN_PROGRESS", "c", lease_until=START, updated_at=START - 2),
        row("IN_PROGRESS", "d", updated_at=START - 4),
        row("COMPLETED", "e"),
    )
    assert names(rows) == ["d", "b", "c", "a"]
    assert names(rows, limit=2) == ["d", "b"]
    assert names(rows, state="FAILED") == ["b", "a"]
    assert names(rows, code="MissingPayload") == ["a"]
    assert names(rows, tenant="t-2") == ["b"]
    assert names(rows, overdue=True) == ["c"]


def test_a_listing_says_how_many_there_are_and_whether_it_saw_all() -> None:
    rows = reader(*(row("FAILED", f"e{number}") for number in range(7)))
    all_seen = listing(rows, "documents", Wanted(), now=START, limit=3, max_rows=7)
    assert (len(all_seen.rows), all_seen.matching, all_seen.complete) == (3, 7, True)
    some = listing(rows, "documents", Wanted(), now=START, limit=3, max_rows=6)
    assert (some.matching, some.complete) == (6, False)


# --- What is shown --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text,shown",
    [
        (None, None),
        ("S3 has no such object", "S3 has no such object"),
        (f"GET {KEY} failed", f"GET key {key_hash(KEY)} failed"),
        ("GET payloads/tenants/t-9/other, twice", "GET (key) twice"),
        ("https://bucket.s3/a?X-Amz-Signature=1 refused", "(address) refused"),
    ],
    ids=["nothing", "our own words", "its own key", "another key", "an address"],
)
def test_a_text_is_shown_without_keys_and_addresses(text: str | None, shown: str | None) -> None:
    assert redacted(row("FAILED", "a", last_message=text)) == shown


def test_a_row_is_shown_without_key_hash_of_content_and_token() -> None:
    one = row("FAILED", "a", last_message=f"no {KEY}", last_code="MissingPayload", redriven=2)
    shown = row_document(one, now=START)
    text = json.dumps(shown)
    assert not [secret for secret in (KEY, one.fingerprint, one.owner) if secret in text]
    assert shown["payloadKeyHash"] == key_hash(KEY)
    assert (shown["state"], shown["overdue"], shown["redriven"]) == ("FAILED", False, 2)
    assert shown["updatedAt"] == "2026-07-06T10:14:30Z"
    assert shown["leaseUntil"] is None
    assert shown["forgottenAt"] == "2026-07-07T10:15:30Z"


def test_a_status_is_a_document() -> None:
    document = status_document([seen(row("FAILED", "a", last_code="HandlerFailed"))])
    assert document["healthy"] is True
    (one,) = document["consumers"]
    assert one["queue"] == {"visible": 0, "inFlight": 0, "delayed": 0, "oldestSeconds": None}
    assert one["inbox"]["failed"] == {"HandlerFailed": 1}
    json.dumps(document)


# --- The commands ---------------------------------------------------------------------------------------------------


@dataclass
class Command:
    """The command with everything around it replaced by fakes."""

    services: Services = field(default_factory=Services)
    inbox: FakeInboxReader = field(default_factory=reader)

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code and outputs."""
        result = CliRunner().invoke(app, list(arguments))
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result.exit_code, result.stdout, result.stderr

    def rows(self, *rows: InboxRow) -> None:
        """Let these be all rows."""
        self.inbox = reader(*rows)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Command:
    made = Command()
    for name in [name for name in vars(Setting).values() if isinstance(name, str) and name.startswith("CLAIM_CHECK_")]:
        monkeypatch.delenv(name, raising=False)
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(aws, "queues", lambda: made.services)
    monkeypatch.setattr(aws, "pollers", lambda: made.services)
    monkeypatch.setattr(aws, "inbox_reader", lambda _: made.inbox)
    monkeypatch.setattr("claim_check_ops.looking.commands.time.time", lambda: START)
    monkeypatch.setenv("COLUMNS", "200")
    return made


def test_status_of_a_healthy_consumer(command: Command) -> None:
    command.rows(row("IN_PROGRESS", "a"))
    code, out, _ = command.run("status")
    assert code == 0
    assert "documents: healthy" in out
    assert "unknown" in out  # nobody told the age of the oldest message
    assert "1, 0 past the end of their lease" in out


def test_status_of_one_that_needs_a_person(command: Command) -> None:
    command.services.depths[DLQ] = Depth(visible=3, in_flight=0, delayed=0)
    command.rows(row("PARKED", "a", last_code="MissingPayload"), row("PARKED", "b", last_code="MissingPayload"))
    code, out, _ = command.run("status")
    assert code == 1
    assert "documents: needs a person: dead letters" in out
    assert "2 (MissingPayload 2)" in out
    code, out, _ = command.run("status", "--json")
    assert (code, json.loads(out)["healthy"]) == (1, False)


@pytest.mark.parametrize("error", [ReadRefused("SQS: AccessDenied"), Unavailable("SQS: Throttling")], ids=["no", "?"])
def test_what_refuses_to_be_looked_at_is_told(command: Command, error: Exception) -> None:
    command.services.error = error
    assert command.run("status") == (2, "", f"documents: {error}\n")


@pytest.mark.parametrize("arguments", [("inbox", "list"), ("inbox", "show", "a")], ids=["list", "show"])
def test_a_table_that_refuses_is_told(command: Command, arguments: tuple[str, ...]) -> None:
    error = ReadRefused("DynamoDB refuses to show the table: AccessDeniedException")
    command.inbox.faults.fail("query", error)
    command.inbox.faults.fail("get_rows", error)
    assert command.run(*arguments) == (2, "", f"{error}\n")


def test_one_row_is_shown(command: Command) -> None:
    command.rows(row("FAILED", "a", last_code="MissingPayload", last_message="S3 has no such object"))
    code, out, _ = command.run("inbox", "show", "a", "--tenant", "t-1")
    assert code == 0
    assert all(word in out for word in ("MissingPayload", "S3 has no such object", key_hash(KEY)))
    assert KEY not in out
    code, out, _ = command.run("inbox", "show", "a", "--json")
    assert [one["messageId"] for one in json.loads(out)["rows"]] == ["a"]
    assert KEY not in out


def test_a_row_that_is_not_there_is_told(command: Command) -> None:
    code, _, err = command.run("inbox", "show", "nobody")
    assert code == 1
    assert "Completed work is found by --tenant" in err
    code, out, err = command.run("inbox", "show", "nobody", "--tenant", "t-1", "--json")
    assert (code, json.loads(out)) == (1, {"rows": []})
    assert "--tenant" not in err


def test_rows_are_listed(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    long = "a" * 36
    command.rows(row("FAILED", long, last_code="MissingPayload"), row("IN_PROGRESS", "b", lease_until=START - 1))
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = command.run("inbox", "list")
    assert code == 0
    assert "IN_PROGRESS (overdue)" in out
    assert long in out, "an id is whole, so that it can be copied"
    assert err == "2 of 2 rows\n"
    _, out, _ = command.run("inbox", "list", "--stuck", "--json")
    document = json.loads(out)
    assert ([one["messageId"] for one in document["rows"]], document["matching"]) == (["b"], 1)
    _, _, err = command.run("inbox", "list", "--max-rows", "1")
    assert err == "1 of 1 rows among the first 1 open rows; there are more\n"


def test_completed_rows_cannot_be_listed(command: Command) -> None:
    code, _, err = command.run("inbox", "list", "--state", "COMPLETED")
    assert code == 2
    assert "PARKING" in err


# --- Which consumers ------------------------------------------------------------------------------------------------


class Functions:
    """Lambda, as far as it is asked: functions by name, with their variables."""

    def __init__(self, **functions: dict[str, str]) -> None:
        """Hold them."""
        self._functions = functions

    def get_function_configuration(self, *, FunctionName: str) -> dict[str, Any]:  # noqa: N803 - boto3's
        """One."""
        return {"Environment": {"Variables": self._functions[FunctionName]}}

    def get_paginator(self, _: str) -> Functions:
        """All."""
        return self

    def paginate(self) -> list[dict[str, Any]]:
        """All, in one page."""
        listed = [{"FunctionName": name, "Environment": {"Variables": one}} for name, one in self._functions.items()]
        return [{"Functions": listed}]


OTHER = {**VARIABLES, Setting.CONSUMER: "audit"}
SAMPLER = {name: value for name, value in VARIABLES.items() if name != Setting.HANDLER}
PRODUCER = {Setting.BUCKET: "bucket", Setting.QUEUE_URL: QUEUE}


def every(functions: Functions, environment: dict[str, str] | None = None, **named: str) -> list[tuple[str, Any]]:
    made = consumers(environment or {}, functions=functions, **named)  # type: ignore[arg-type]  # a fake
    return [(one.settings.consumer, one.function) for one in made]


def test_all_consumers_are_found_and_nothing_else() -> None:
    functions = Functions(one=VARIABLES, producer=PRODUCER, sampler=SAMPLER, two=OTHER)
    assert every(functions) == [("audit", "two"), ("documents", "one")]
    assert every(functions, consumer="documents") == [("documents", "one")]
    assert every(functions, function="two") == [("audit", "two")]
    assert every(functions, VARIABLES) == [("documents", None)]
    assert every(functions, VARIABLES, consumer="audit") == [("audit", "two")]


def test_one_of_several_consumers_must_be_named() -> None:
    functions: Any = Functions(one=VARIABLES, two=OTHER, sampler=SAMPLER)
    assert consumer_settings({}, consumer="audit", functions=functions).consumer == "audit"
    with pytest.raises(PipelineNotFound, match=r"2 consumers .* There are: audit, documents"):
        consumer_settings({}, functions=functions)
    with pytest.raises(PipelineNotFound, match=r"No consumer has the name nobody\. There are: audit, documents"):
        consumer_settings({}, consumer="nobody", functions=functions)


def test_no_consumer_is_told() -> None:
    with pytest.raises(PipelineNotFound, match="of the name invoices: audit"):
        every(Functions(two=OTHER), consumer="invoices")
    with pytest.raises(PipelineNotFound, match="a consumer: none"):
        every(Functions(producer=PRODUCER))
