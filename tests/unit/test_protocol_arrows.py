"""Every arrow of the consumer's protocol (DESIGN section 3), one named test each (R4.1 - R4.6)."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from claim_check import contract
from claim_check.contract import Backoff, ErrorCode, InboxState, Metric, PayloadAccess
from claim_check.deadline import Deadline
from claim_check.envelope import Inline, encode
from claim_check.errors import (
    AccessDenied,
    ChecksumMismatch,
    CommitFailed,
    ConsumeError,
    DeadlineExceeded,
    InfrastructureUnavailable,
    MalformedBatch,
    PayloadTooLarge,
    PermanentError,
    PublishError,
    TransactionLimit,
    Unavailable,
)
from claim_check.inbox import Verdict, judge
from claim_check.message import Message
from claim_check.permits import PayloadBudget, Permits
from claim_check.ports import Guard, InboxRow, MessageAttribute, Refused, TableWrite, Taken, WriteRefused
from claim_check.processor import Handler
from claim_check.transaction import Condition, Table, Transaction
from tests.fakes.faults import Crash, When
from tests.fakes.inbox_table import FakeInboxTable
from tests.harness import (
    BUCKET,
    DOCUMENTS,
    EVENT_TYPE,
    REMAINING_SECONDS,
    TENANT,
    TTL_SECONDS,
    VISIBILITY_SECONDS,
    Sent,
    World,
    documents,
    reason_of,
)

OUTAGE = Unavailable("the service did not answer")
EVER = 1_000_000


class Unreadable(PermanentError):
    """A reason of the handler's own."""

    code = "Unreadable"


@pytest.fixture
def world() -> World:
    """A pipeline on a standard queue."""
    return World()


@pytest.fixture
def fifo() -> World:
    """A pipeline on a FIFO queue."""
    return World(fifo=True)


def other_rows(world: World, sent: Sent) -> list[InboxRow]:
    """Rows that are not the identity's own."""
    own = world.key(sent.envelope)
    return [row for key, row in world.table.rows.items() if key != own]


# --- decode --bad--> park (own row) ---------------------------------------------------------------------------------

GOOD: dict[str, Any] = {
    "v": 1,
    "messageId": "m-1",
    "eventType": EVENT_TYPE,
    "tenantId": TENANT,
    "inline": {"contentType": "application/json", "body": "{}"},
}


@pytest.mark.parametrize(
    "body, code",
    [
        pytest.param("not JSON at all", ErrorCode.INVALID_ENVELOPE, id="no JSON"),
        pytest.param("[]", ErrorCode.INVALID_ENVELOPE, id="no object"),
        pytest.param(json.dumps({**GOOD, "tenantId": ".."}), ErrorCode.INVALID_ENVELOPE, id="tenant"),
        pytest.param(json.dumps({**GOOD, "v": 2}), ErrorCode.UNSUPPORTED_VERSION, id="envelope version"),
        pytest.param(json.dumps({**GOOD, "eventVersion": 3}), ErrorCode.UNSUPPORTED_VERSION, id="event version"),
        pytest.param(json.dumps({**GOOD, "eventType": "Other"}), ErrorCode.UNSUPPORTED_VERSION, id="event type"),
    ],
)
def test_a_bad_message_is_parked_under_a_row_of_its_own(world: World, body: str, code: str) -> None:
    sqs_message_id = world.send_body(body)
    assert world.deliver(world.consumer(event_types={EVENT_TYPE: {1, 2}})) == []
    assert world.parked() == [(sqs_message_id, code)]
    (row,) = world.table.rows.values()
    assert (row.key, row.state, row.last_code) == (contract.park_key(sqs_message_id), "PARKED", code)
    assert world.calls() == ["replace", "send_batch", "replace"]
    assert not world.queued()
    assert world.telemetry.counts == {
        code: 1,
        Metric.PARKED: 1,
        Metric.NEW: 1,
        Metric.MESSAGE_AGE: 0,
    }


def test_the_types_and_versions_of_a_consumer_are_accepted(world: World) -> None:
    sent = world.send(world.envelope(event_version=2))
    assert world.deliver(world.consumer(event_types={EVENT_TYPE: {1, 2}, "Other": {1}})) == []
    assert world.effects(sent) == 1


def test_a_good_message_beside_a_bad_one_is_processed(world: World) -> None:
    world.send_body("{")
    good = world.send()
    assert world.deliver() == []
    assert world.effects(good) == 1


@pytest.mark.parametrize("state, age", [("PARKED", TTL_SECONDS + 1), ("COMPLETED", TTL_SECONDS)])
def test_older_than_the_inbox_remembers_is_parked_as_stale(world: World, state: str, age: int) -> None:
    published_at = datetime.fromtimestamp(world.clock.now() - age, UTC)
    sent = world.send(replace(world.envelope(), published_at=published_at))
    world.deliver()
    (row,) = world.table.rows.values()
    assert row.state == state
    assert world.parked() == ([(sent.sqs_message_id, ErrorCode.STALE)] if state == "PARKED" else [])
    assert world.effects(sent) == (state == "COMPLETED")


def test_without_a_time_of_publishing_the_time_of_sending_tells_the_age(world: World) -> None:
    sent = world.send()
    world.clock.advance(TTL_SECONDS + 1)
    world.deliver()
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.STALE)]


def test_a_redriven_copy_is_as_old_as_its_event(world: World) -> None:
    world.send(replace(world.envelope(), published_at=datetime.fromtimestamp(world.clock.now(), UTC)))
    world.clock.advance(TTL_SECONDS + 1)
    for _ in range(2):  # the copy has another SQS message id and another SentTimestamp
        world.deliver()
        world.redrive()
    world.deliver()
    assert [code for _, code in world.parked()] == [ErrorCode.STALE]
    assert not world.calls("take")


KEY = f"payloads/tenants/{TENANT}/{EVENT_TYPE}/{'0' * 32}/{'0' * 64}"


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param({"bucket": "somebody-elses"}, id="bucket"),
        pytest.param({"key": "secrets/a"}, id="prefix"),
        pytest.param({"key": f"/{KEY}"}, id="leading slash"),
        pytest.param({"key": KEY.replace(TENANT, "..")}, id="path segment"),
        pytest.param({"key": KEY.replace(TENANT, "t-2")}, id="tenant"),
        pytest.param({"key": KEY.replace(EVENT_TYPE, "DocumentRemoved")}, id="event type"),
        pytest.param({"key": f"{KEY}.{'9' * 700}"}, id="absurd generation"),
    ],
)
def test_an_untrusted_reference_is_parked_before_any_call_of_s3(world: World, claim: dict[str, Any]) -> None:
    """R11.3: only its own bucket and prefix, only the tenant and type the message names."""
    sent = world.send(world.envelope(**claim))
    world.deliver()
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.UNTRUSTED_REFERENCE)]
    assert list(world.table.rows) == [contract.park_key(sent.sqs_message_id)]
    assert world.calls("open", "head", "read", "take") == []


def test_no_key_is_too_absurd_to_be_read() -> None:
    assert contract.parse_object_key(f"{KEY}.{'9' * 5000}") is None
    parts = contract.parse_object_key(f"{KEY}.{'9' * 9}")
    assert parts is not None
    assert parts.generation == 999_999_999


def test_a_second_delivery_of_a_message_parked_without_an_identity_is_acknowledged(world: World) -> None:
    sqs_message_id = world.send_body("{")
    world.faults.fail("replace", OUTAGE, when="after", skip=1)  # PARKED was written, its answer was lost
    with pytest.raises(InfrastructureUnavailable):
        world.deliver()
    world.settle()
    assert world.parked() == [(sqs_message_id, ErrorCode.INVALID_ENVELOPE)]


@pytest.mark.parametrize("index", range(3))
@pytest.mark.parametrize("when", ["before", "after"])
def test_parking_without_an_identity_is_finished_by_the_next_delivery(world: World, index: int, when: When) -> None:
    sqs_message_id = world.send_body("{")
    world.faults.crash_at(index, when)
    with pytest.raises(Crash):
        world.deliver()
    assert [one.sqs_message_id for one in world.queued()] == [sqs_message_id]
    world.settle()
    copies = 2 if (index, when) in {(1, "after"), (2, "before")} else 1
    assert world.parked() == [(sqs_message_id, ErrorCode.INVALID_ENVELOPE)] * copies
    assert world.table.rows[contract.park_key(sqs_message_id)].state == "PARKED"


# --- permit and time first: a record that must wait holds no lease and has cost nothing ------------------------------


class AskedPermits(Permits):
    """Tells how many records asked for a permit."""

    def __init__(self, budget: PayloadBudget, wanted: int) -> None:
        """Set `all_asked` when so many have asked."""
        super().__init__(budget)
        self.all_asked = threading.Event()
        self._missing = wanted

    @contextmanager
    def hold(self, content_length: int, deadline: Deadline) -> Iterator[bool]:
        """Hold what a payload needs."""
        self._missing -= 1
        if self._missing == 0:
            self.all_asked.set()
        with super().hold(content_length, deadline) as granted:
            yield granted


def test_a_record_that_waits_for_memory_holds_no_lease(world: World) -> None:
    """R4.3, R4.4: neither a lease nor an attempt before its memory is free."""
    first, second = world.send(), world.send()
    length = first.envelope.payload.content_length
    permits = AskedPermits(PayloadBudget(access="memory", memory_bytes=length * 2 - 1, temp_bytes=0), wanted=2)
    takes = []

    def handler(message: Message, tx: Transaction) -> None:
        assert permits.all_asked.wait(10)
        takes.append(world.faults.count("take"))
        documents(message, tx)

    assert world.deliver(world.consumer(handler, concurrency=2, permits=permits)) == []
    assert takes == [1, 2]
    assert world.effects(first) == world.effects(second) == 1


def test_a_payload_that_takes_the_whole_budget_gets_it(world: World) -> None:
    sent = world.send()
    length = sent.envelope.payload.content_length
    permits = Permits(PayloadBudget(access="memory", memory_bytes=length, temp_bytes=0))
    for _ in range(2):  # and gives it back
        assert world.deliver(world.consumer(permits=permits)) == []
        world.send()
    assert world.effects(sent) == 1


def test_a_record_whose_memory_is_not_free_in_time_is_handed_back(world: World) -> None:
    sent = world.send()
    permits = Permits(PayloadBudget(access="memory", memory_bytes=10, temp_bytes=0))
    with permits.hold(10, Deadline(world.clock, 1)):
        failed = world.deliver(world.consumer(permits=permits, start_seconds=0.01), remaining=1.02)
    assert failed == [sent.sqs_message_id]
    assert world.calls("take") == []
    assert world.hidden(sent.sqs_message_id) == 1


@pytest.mark.parametrize("remaining", [1.9, 1.0, 0.6])
def test_without_enough_time_nothing_is_started_and_nothing_costs(world: World, remaining: float) -> None:
    """R4.3: handing back for lack of time costs no attempt."""
    sent = world.send()
    assert world.deliver(remaining=remaining) == [sent.sqs_message_id]
    assert world.calls() == ["change_visibility"]
    assert world.hidden(sent.sqs_message_id) == 1
    assert world.telemetry.counts[Metric.DEFERRED] == 1


def test_no_time_at_all_is_a_value(world: World) -> None:
    sent = world.send()
    assert world.deliver(remaining=0.0) == [sent.sqs_message_id]
    assert world.calls("take") == []


def test_just_enough_time_is_enough(world: World) -> None:
    sent = world.send()
    assert world.deliver(remaining=2.0) == []
    assert world.effects(sent) == 1


# --- gate: taken ----------------------------------------------------------------------------------------------------


def test_an_absent_row_is_taken(world: World) -> None:
    sent = world.send()
    assert world.deliver() == []
    row = world.row(sent)
    assert (row.state, row.attempts, row.lease_until) == ("COMPLETED", 1, 0)
    assert (row.fingerprint, row.sqs_message_id) == (sent.envelope.fingerprint, sent.sqs_message_id)
    assert row.ttl == int(world.clock.now()) + TTL_SECONDS


def seen_attempt(world: World, sent: Sent) -> int:
    """Deliver the one message; the attempt number that its handler saw, 0 if it did not run."""
    seen: list[int] = []

    def handler(message: Message, tx: Transaction) -> None:
        seen.append(message.attempt)
        documents(message, tx)

    assert world.deliver(world.consumer(handler)) == []
    assert world.row(sent).state == "COMPLETED"
    assert world.effects(sent) == 1
    return sum(seen)


@pytest.mark.parametrize(
    "state, fields, attempt",
    [
        pytest.param("FAILED", {"attempts": 2}, 3, id="failed"),
        pytest.param("FAILED", {"attempts": 2, "sqs_message_id": "another"}, 3, id="failed under another message id"),
        pytest.param("IN_PROGRESS", {"attempts": 2, "lease_until": -1.0}, 3, id="lease ended"),
        pytest.param("IN_PROGRESS", {"attempts": 2, "lease_until": 0.0}, 3, id="lease ends now"),
        pytest.param(
            "PARKED", {"attempts": 0, "attempts_spent": 5, "sqs_message_id": "another"}, 1, id="parked, redriven"
        ),
        pytest.param(
            "PARKING",
            {"attempts": 0, "attempts_spent": 5, "sqs_message_id": "another", "lease_until": 0.0},
            1,
            id="parking of another life, abandoned",
        ),
    ],
)
def test_the_gate_takes_a_row(world: World, state: InboxState, fields: dict[str, Any], attempt: int) -> None:
    """The last one is an extension of ours: native moves and redrives may outlive a parking nobody finishes."""
    sent = world.send()
    if "lease_until" in fields:
        fields = {**fields, "lease_until": world.clock.now() + fields["lease_until"]}
    before = world.seed_row(sent, state, **fields)
    assert seen_attempt(world, sent) == attempt
    after = world.row(sent)
    assert after.sqs_message_id == sent.sqs_message_id
    assert after.first_seen_at == before.first_seen_at
    assert after.attempts_spent == before.attempts_spent


# --- gate: refused --------------------------------------------------------------------------------------------------


class LostAnswers(FakeInboxTable):
    """A table whose first answers get lost, so that the SDK sends the same request again."""

    def take(self, wanted: InboxRow, *, now: float, max_attempts: int) -> Taken | Refused:
        """Twice."""
        super().take(wanted, now=now, max_attempts=max_attempts)
        return super().take(wanted, now=now, max_attempts=max_attempts)

    def replace(self, row: InboxRow, *, guard: Guard | None) -> Refused | None:
        """Twice."""
        super().replace(row, guard=guard)
        return super().replace(row, guard=guard)

    def complete(
        self, row: InboxRow, *, guard: Guard, writes: Sequence[TableWrite], token: str
    ) -> Refused | WriteRefused | None:
        """Twice."""
        super().complete(row, guard=guard, writes=writes, token=token)
        return super().complete(row, guard=guard, writes=writes, token=token)


def with_lost_answers(world: World) -> LostAnswers:
    """The world's table, each of whose requests is sent twice."""
    return LostAnswers(faults=world.faults, rows=world.table.rows, applied=world.table.applied)


def test_refused_by_its_own_token_the_lease_is_mine(world: World) -> None:
    """The answers to gate and commit are lost: one attempt, one effect, one acknowledgement."""
    sent = world.send()
    assert world.deliver(world.consumer(table=with_lost_answers(world))) == []
    assert (world.row(sent).state, world.row(sent).attempts) == ("COMPLETED", 1)
    assert world.effects(sent) == 1


def test_a_row_completed_by_its_own_token_is_done(world: World) -> None:
    sent = world.send()
    row = world.seed_row(sent, "COMPLETED", owner="mine")
    wanted = replace(row, state="IN_PROGRESS")
    assert judge(row, wanted, now=0, max_attempts=5) is Verdict.DONE
    assert judge(row, replace(wanted, owner="another"), now=0, max_attempts=5) is Verdict.DUPLICATE


def test_failing_with_lost_answers_costs_one_attempt(world: World) -> None:
    sent = world.send()
    table = with_lost_answers(world)

    def handler(_message: Message, _tx: Transaction) -> None:
        raise RuntimeError

    assert world.deliver(world.consumer(handler, table=table)) == [sent.sqs_message_id]
    assert (world.row(sent).state, world.row(sent).attempts) == ("FAILED", 1)
    world.settle(lambda: world.consumer(handler, table=table))
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.HANDLER_FAILED)]
    assert world.row(sent).attempts_spent == 5


def test_a_duplicate_is_acknowledged_without_effect_by_one_write(world: World) -> None:
    """R4.2."""
    sent = world.send()
    world.deliver()
    world.faults.clear()
    world.send(sent.envelope)
    assert world.deliver() == []
    assert world.calls() == ["take"]
    assert world.effects(sent) == 1
    assert world.telemetry.counts[Metric.DUPLICATE] == 1
    assert world.telemetry.counts[Metric.PROCESSED] == 1


STATES: list[tuple[InboxState, float]] = [
    ("IN_PROGRESS", 30.0),
    ("IN_PROGRESS", -1.0),
    ("COMPLETED", 0.0),
    ("FAILED", 0.0),
    ("PARKING", 30.0),
    ("PARKING", -1.0),
    ("PARKED", 0.0),
]


@pytest.mark.parametrize("attempts", [1, 5])
@pytest.mark.parametrize("change", ["content", "event version"])
@pytest.mark.parametrize("state, lease", STATES)
def test_other_content_under_a_known_identity_is_a_conflict_and_touches_no_row_of_it(
    world: World, state: InboxState, lease: float, change: str, attempts: int
) -> None:
    """R4.5: the fingerprint is checked in every state, that of a forged message under a real identity too."""
    real = world.envelope(identity="event-x")
    other = {
        "content": world.envelope(b"other content", identity="event-x"),
        "event version": world.envelope(identity="event-x", event_version=2),
    }[change]
    sent = world.send(other)
    before = world.seed_row(Sent(real, "another"), state, lease_until=world.clock.now() + lease, attempts=attempts)
    assert world.deliver() == []
    assert world.row(sent) == before
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.CONFLICT)]
    assert [row.key for row in other_rows(world, sent)] == [contract.park_key(sent.sqs_message_id)]
    assert world.calls("open") == []


def test_leased_by_another_it_is_handed_back_until_that_lease_ends(world: World) -> None:
    """R4.2: without an attempt, and hidden for so long that its receive count is not burned."""
    sent = world.send()
    before = world.seed_row(sent, "IN_PROGRESS", lease_until=world.clock.now() + 200, attempts=5)
    assert world.deliver() == [sent.sqs_message_id]
    assert world.row(sent) == before
    assert world.hidden(sent.sqs_message_id) == 201
    assert world.calls() == ["take", "change_visibility"]
    assert world.telemetry.counts[Metric.DEFERRED] == 1


def test_no_message_is_hidden_for_longer_than_sqs_allows(world: World) -> None:
    sent = world.send()
    world.seed_row(sent, "IN_PROGRESS", lease_until=world.clock.now() + 10**6)
    world.deliver()
    assert world.hidden(sent.sqs_message_id) == contract.SQS_MAX_VISIBILITY_SECONDS


def test_parked_under_this_message_id_it_is_acknowledged(world: World) -> None:
    sent = world.send()
    before = world.seed_row(sent, "PARKED", attempts=0, attempts_spent=5)
    assert world.deliver() == []
    assert world.row(sent) == before
    assert world.calls() == ["take"]
    assert world.parked() == []
    assert world.telemetry.counts == {Metric.NEW: 1, Metric.MESSAGE_AGE: 0}


@pytest.mark.parametrize("lease", [30.0, -1.0])
def test_parking_under_this_message_id_is_finished(world: World, lease: float) -> None:
    sent = world.send()
    world.seed_row(
        sent,
        "PARKING",
        attempts=0,
        attempts_spent=4,
        last_code="Unreadable",
        last_message="a text",
        lease_until=world.clock.now() + lease,
    )
    assert world.deliver() == []
    row = world.row(sent)
    assert (row.state, row.attempts_spent, row.last_code, row.last_message) == ("PARKED", 4, "Unreadable", "a text")
    assert world.parked() == [(sent.sqs_message_id, "Unreadable")]
    assert reason_of(world.queue.messages(world.dlq_url)[0])["attempts"] == 4


def test_parking_under_another_message_id_is_handed_back_until_its_lease_ends(world: World) -> None:
    sent = world.send()
    before = world.seed_row(sent, "PARKING", attempts=0, sqs_message_id="another", lease_until=world.clock.now() + 40)
    assert world.deliver() == [sent.sqs_message_id]
    assert world.row(sent) == before
    assert world.hidden(sent.sqs_message_id) == 41
    assert world.parked() == []


@pytest.mark.parametrize(
    "state, code, reason",
    [
        pytest.param("FAILED", "MissingPayload", "MissingPayload", id="failed"),
        pytest.param("IN_PROGRESS", "MissingPayload", ErrorCode.HANDLER_CRASHED, id="never closed"),
        pytest.param("IN_PROGRESS", None, ErrorCode.HANDLER_CRASHED, id="never closed, first life"),
    ],
)
def test_with_its_attempts_used_up_it_is_parked_with_the_last_reason(
    world: World, state: InboxState, code: str | None, reason: str
) -> None:
    sent = world.send()
    world.seed_row(sent, state, attempts=5, last_code=code, last_message="a text", lease_until=world.clock.now())
    assert world.deliver() == []
    assert world.parked() == [(sent.sqs_message_id, reason)]
    row = world.row(sent)
    assert (row.state, row.attempts, row.attempts_spent, row.last_code) == ("PARKED", 0, 5, reason)
    assert (row.last_message == "a text") == (state == "FAILED")
    assert world.calls("open") == []


def test_a_gate_that_does_not_answer_costs_nothing(world: World) -> None:
    sent, healthy = world.send(), world.send()
    world.faults.fail("take", OUTAGE)
    assert world.deliver() == [sent.sqs_message_id]
    assert list(world.table.rows) == [world.key(healthy.envelope)]
    assert world.hidden(sent.sqs_message_id) == Backoff().delay(1, 0.5)
    assert world.telemetry.counts[ErrorCode.UNAVAILABLE] == 1
    assert world.settle() == 1
    assert world.row(sent).attempts == 1


def test_a_row_that_vanishes_while_the_gate_looks_is_the_infrastructures(world: World) -> None:
    class Vanishing(FakeInboxTable):
        def take(self, wanted: InboxRow, *, now: float, max_attempts: int) -> Taken | Refused:
            super().take(wanted, now=now, max_attempts=max_attempts)
            return Refused(None)

    world.send()
    with pytest.raises(InfrastructureUnavailable):
        world.deliver(world.consumer(table=Vanishing()))


# --- open claim -----------------------------------------------------------------------------------------------------


def test_a_claim_costs_one_gate_one_get_and_one_commit(world: World) -> None:
    """R4.1: in this order; no HEAD, no LIST, no second read of the row."""
    sent = world.send()
    world.deliver()
    assert world.calls() == ["take", "open", *["read"] * world.faults.count("read"), "complete"]
    assert world.effects(sent) == 1
    assert world.telemetry.counts[Metric.PAYLOAD_BYTES] == sent.envelope.payload.content_length
    assert world.telemetry.spans == ["fetch", "handler", "commit"]


def test_the_latency_of_the_fetch_is_measured(world: World) -> None:
    world.send()
    world.faults.on("open", lambda: world.clock.advance(1.5))
    world.deliver()
    assert world.telemetry.counts[Metric.FETCH_MILLISECONDS] == pytest.approx(1500)


def test_the_latency_of_a_fetch_that_s3_refuses_is_measured_too(world: World) -> None:  # R12.1
    world.send()
    world.faults.on("open", lambda: world.clock.advance(2))
    world.faults.fail("open", AccessDenied("S3 refused to read the payload"))
    world.deliver()
    assert world.telemetry.counts[Metric.FETCH_MILLISECONDS] == pytest.approx(2000)


def test_what_is_left_of_a_payloads_life_is_measured_at_each_fetch(world: World) -> None:
    """R12.1: by the object's age and the plan; a batch tells its smallest."""
    world.send()
    world.clock.advance(12 * 86_400)
    world.send()
    world.deliver()
    assert world.telemetry.counts[Metric.PAYLOAD_LIFE_LEFT] == pytest.approx(30 - 12)


def test_what_s3_says_about_a_payloads_end_goes_before_the_plan(world: World) -> None:  # R12.1
    sent = world.send()
    claim: Any = sent.envelope.payload
    end = datetime.fromtimestamp(world.clock.now() + 3.5 * 86_400, UTC)
    (kept,) = world.objects.objects[BUCKET, claim.key]
    assert kept is not None
    world.objects.objects[BUCKET, claim.key] = [replace(kept, info=replace(kept.info, expires_at=end))]
    world.deliver()
    assert world.telemetry.counts[Metric.PAYLOAD_LIFE_LEFT] == pytest.approx(3.5)


def test_a_life_that_cannot_be_told_is_not_measured(world: World) -> None:  # R12.1
    missing, ageless, inline = world.send(), world.send(), world.send(world.envelope(b"{}", inline=True))
    lost, claim = missing.envelope.payload, ageless.envelope.payload
    assert not isinstance(lost, Inline)
    assert not isinstance(claim, Inline)
    world.objects.delete(BUCKET, lost.key)
    (kept,) = world.objects.objects[BUCKET, claim.key]
    assert kept is not None
    world.objects.objects[BUCKET, claim.key] = [replace(kept, info=replace(kept.info, last_modified=None))]
    world.deliver()
    assert [world.effects(one) for one in (missing, ageless, inline)] == [0, 1, 1]
    assert Metric.PAYLOAD_LIFE_LEFT not in world.telemetry.counts


@pytest.mark.parametrize("attribute", [contract.ATTRIBUTE_REDRIVE, contract.ATTRIBUTE_PARKED])
def test_work_from_a_dlq_is_counted_apart_from_new_work(world: World, attribute: str) -> None:
    """R9.1: sent back by the redrive command, or moved by SQS itself, which leaves a parked copy as it is."""
    world.send(attributes={attribute: MessageAttribute(data_type="String", value="{}")})
    for _ in range(2):
        world.send()
    world.deliver()
    assert world.telemetry.counts[Metric.REDRIVEN] == 1
    assert world.telemetry.counts[Metric.NEW] == 2


def test_an_inline_payload_costs_one_gate_and_one_commit(world: World) -> None:
    sent = world.send(world.envelope(b'{"small":true}', inline=True))
    world.deliver()
    assert world.calls() == ["take", "complete"]
    assert world.effects(sent) == 1


def failing_until_parked(
    world: World,
    sent: Sent,
    **options: Any,  # noqa: ANN401 - options of World.consumer
) -> tuple[list[float], int]:
    """Deliver until the message is gone: the delays in between, and the attempts."""
    delays: list[float] = []
    while world.queued():
        world.pass_time()
        world.deliver(world.consumer(**options))
        delays += [world.hidden(sent.sqs_message_id)] if world.queued() else []
    return delays, world.row(sent).attempts_spent


@pytest.mark.parametrize("versioned", [False, True], ids=["404", "405 delete marker"])
def test_a_missing_payload_is_retried_with_growing_delays_and_then_parked(world: World, versioned: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """R4.6."""
    world.objects.versioned = versioned
    sent = world.send()
    claim: Any = sent.envelope.payload
    world.objects.delete(BUCKET, claim.key)
    delays, attempts = failing_until_parked(world, sent)
    assert delays == [Backoff().delay(failures, 0.5) for failures in (1, 2, 3, 4)]
    assert delays == sorted(delays)
    assert attempts == 5
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.MISSING_PAYLOAD)]


def test_denied_access_is_retried_once_shortly_and_then_parked(world: World) -> None:
    """R4.6: a misconfiguration. The metric of its code is what the alarm watches."""
    sent = world.send()
    world.faults.fail("open", AccessDenied("no"), times=EVER)
    delays, attempts = failing_until_parked(world, sent)
    assert delays == [Backoff().delay(1, 0.5)]
    assert attempts == 2
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.ACCESS_DENIED)]
    assert world.telemetry.counts[ErrorCode.ACCESS_DENIED] == 2


def test_a_payload_over_the_maximum_is_parked_without_a_get(world: World) -> None:
    sent = world.send()
    length = sent.envelope.payload.content_length
    assert world.deliver(world.consumer(max_payload_bytes=length - 1)) == []
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.PAYLOAD_TOO_LARGE)]
    assert world.calls("open") == []


def test_a_payload_of_the_maximum_is_taken(world: World) -> None:
    sent = world.send()
    world.deliver(world.consumer(max_payload_bytes=sent.envelope.payload.content_length))
    assert world.effects(sent) == 1


def test_a_claim_of_a_wrong_type_is_parked_without_a_get(world: World) -> None:
    sent = world.send(world.envelope(content_type="text/html"))
    world.deliver(world.consumer(content_types={"image/*", "application/octet-stream"}))
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.UNSUPPORTED_CONTENT_TYPE)]
    assert world.calls("open") == []


def test_a_wrong_type_in_the_answers_headers_is_parked_before_reading(world: World) -> None:
    sent = world.send(world.envelope(content_type="text/csv"))
    world.deliver(world.consumer(content_types={"text/csv"}))
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.UNSUPPORTED_CONTENT_TYPE)]
    assert world.calls("open", "read") == ["open"]
    assert [body.closed for body in world.objects.bodies] == [True]


@pytest.mark.parametrize("accepted", ["application/*", "application/octet-stream"])
def test_types_are_compared_without_case_and_parameters(world: World, accepted: str) -> None:
    sent = world.send(world.envelope(content_type="Application/Octet-Stream; x=1"))
    world.deliver(world.consumer(content_types={accepted}))
    assert world.effects(sent) == 1


def test_another_length_in_the_answers_headers_is_a_mismatch_before_reading(world: World) -> None:
    sent = world.send()
    claim: Any = sent.envelope.payload
    world.objects.tamper(BUCKET, claim.key, b"shorter")
    world.deliver()
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.CHECKSUM_MISMATCH)]
    assert world.calls("open", "read") == ["open"]
    assert [body.closed for body in world.objects.bodies] == [True]


def test_an_outage_of_s3_is_refunded_and_never_parks(world: World) -> None:
    sent, healthy = world.send(), world.send(world.envelope(b"{}", inline=True))
    world.faults.fail("open", OUTAGE, times=12)
    assert world.deliver() == [sent.sqs_message_id]
    assert world.effects(healthy) == 1
    row = world.row(sent)
    assert (row.state, row.attempts, row.last_code) == ("FAILED", 0, ErrorCode.UNAVAILABLE)
    for _ in range(11):
        world.pass_time()
        with pytest.raises(InfrastructureUnavailable):
            world.deliver()
    world.settle()
    assert world.parked() == []
    assert (world.effects(sent), world.row(sent).attempts) == (1, 1)


def test_the_delay_after_a_refund_grows_with_the_receives(world: World) -> None:
    sent = world.send()
    world.faults.fail("open", OUTAGE, times=6)
    delays = []
    for _ in range(6):
        world.pass_time()
        with pytest.raises(InfrastructureUnavailable):
            world.deliver()
        delays.append(world.hidden(sent.sqs_message_id))
    assert delays == [Backoff().delay(receives, 0.5) for receives in range(1, 7)]


def test_a_body_that_breaks_off_is_the_infrastructures(world: World) -> None:
    sent, _ = world.send(), world.send_body("{")
    world.objects.break_next_body(10)
    assert world.deliver() == [sent.sqs_message_id]
    assert world.row(sent).attempts == 0
    assert [body.closed for body in world.objects.bodies] == [True]
    world.settle()
    assert world.effects(sent) == 1


# --- handler --------------------------------------------------------------------------------------------------------


def tampered(world: World) -> Sent:
    """A message whose object has other bytes of the same length."""
    sent = world.send()
    claim: Any = sent.envelope.payload
    world.objects.tamper(BUCKET, claim.key, b"x" * claim.content_length)
    return sent


def ignoring(message: Message, tx: Transaction) -> None:
    """Write without reading a byte."""
    tx.put(DOCUMENTS, {"pk": f"{message.tenant_id}#{message.idempotency_key}"})


def reading_half(message: Message, tx: Transaction) -> None:
    """Write after reading half of the payload."""
    message.open().read(message.content_length // 2)
    ignoring(message, tx)


def closing_early(message: Message, tx: Transaction) -> None:
    """Write after closing the stream unread."""
    message.open().close()
    ignoring(message, tx)


def swallowing(message: Message, tx: Transaction) -> None:
    """Write whatever the stream says."""
    with suppress(ConsumeError):
        message.read()
    ignoring(message, tx)


def wrapping(message: Message, tx: Transaction) -> None:
    """Say that something else went wrong."""
    try:
        message.read()
    except ConsumeError:
        raise RuntimeError("cannot parse") from None
    ignoring(message, tx)


def declaring(message: Message, tx: Transaction) -> None:
    """Say that something else is wrong for good."""
    try:
        message.read()
    except ConsumeError:
        raise Unreadable("cannot parse") from None
    ignoring(message, tx)


@pytest.mark.parametrize("handler", [documents, ignoring, reading_half, closing_early, swallowing, wrapping, declaring])
def test_tampered_bytes_are_parked_and_never_lead_to_an_effect(world: World, handler: Handler) -> None:
    """R4.4: whatever the handler reads, ignores, swallows or makes of it."""
    sent = tampered(world)
    assert world.deliver(world.consumer(handler)) == []
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.CHECKSUM_MISMATCH)]
    assert world.effects(sent) == 0
    assert [body.closed for body in world.objects.bodies] == [True]


@pytest.mark.parametrize("handler", [ignoring, reading_half, closing_early])
def test_what_a_handler_leaves_unread_is_drained_and_verified(world: World, handler: Handler) -> None:
    sent = world.send()
    assert world.deliver(world.consumer(handler)) == []
    assert world.effects(sent) == 1
    assert world.calls("read", "complete")[-2:] == ["read", "complete"]


@pytest.mark.parametrize("handler", [swallowing, wrapping, declaring])
def test_a_connection_that_breaks_is_the_infrastructures_whatever_a_handler_makes_of_it(
    world: World, handler: Handler
) -> None:
    sent, _ = world.send(), world.send_body("{")
    world.objects.break_next_body(10)
    assert world.deliver(world.consumer(handler)) == [sent.sqs_message_id]
    row = world.row(sent)
    assert (row.state, row.attempts, row.last_code) == ("FAILED", 0, ErrorCode.UNAVAILABLE)


def judging_half(message: Message, _tx: Transaction) -> None:
    """Declare the message bad for good after half of its payload."""
    message.open().read(message.content_length // 2)
    raise Unreadable


def test_a_verdict_on_bytes_that_were_never_verified_is_none(world: World) -> None:
    """R4.4: the rest is read and verified first."""
    good, bad = world.send(), tampered(world)
    assert world.deliver(world.consumer(judging_half)) == []
    assert dict(world.parked()) == {
        good.sqs_message_id: "Unreadable",
        bad.sqs_message_id: ErrorCode.CHECKSUM_MISMATCH,
    }


def test_a_verdict_on_a_body_that_breaks_off_is_the_infrastructures(world: World) -> None:
    sent, _ = world.send(), world.send_body("{")
    world.objects.break_next_body(30)
    assert world.deliver(world.consumer(judging_half)) == [sent.sqs_message_id]
    assert (world.row(sent).state, world.row(sent).attempts) == ("FAILED", 0)


def test_a_permanent_error_of_the_handler_is_parked_at_once_under_its_own_code(world: World) -> None:
    """R4.6: no retry is burned. Its text may hold anything, so neither log nor row has it (R11.4)."""

    def handler(_message: Message, _tx: Transaction) -> None:
        raise Unreadable("the payload says: secret")

    sent = world.send()
    assert world.deliver(world.consumer(handler)) == []
    assert world.parked() == [(sent.sqs_message_id, "Unreadable")]
    row = world.row(sent)
    assert (row.state, row.attempts_spent, row.last_code) == ("PARKED", 1, "Unreadable")
    assert "secret" not in f"{row} {world.telemetry.lines} {world.queue.messages(world.dlq_url)}"
    assert world.telemetry.counts["Unreadable"] == 1


def test_any_other_error_of_the_handler_is_a_failure(world: World) -> None:
    def handler(message: Message, tx: Transaction) -> None:
        ignoring(message, tx)
        raise KeyError("secret")

    sent = world.send()
    delays, attempts = failing_until_parked(world, sent, handler=handler)
    assert delays == [Backoff().delay(failures, 0.5) for failures in (1, 2, 3, 4)]
    assert attempts == 5
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.HANDLER_FAILED)]
    row = world.row(sent)
    assert row.last_message is not None
    assert row.last_message.startswith("builtins.KeyError at test_protocol_arrows.py:")
    assert "secret" not in f"{row} {world.telemetry.lines}"
    assert world.effects(sent) == 0


def test_the_last_failed_attempt_parks_at_once(world: World) -> None:
    """An extension of ours: no further delivery is needed to find the attempts used up."""

    def handler(_message: Message, _tx: Transaction) -> None:
        raise RuntimeError

    sent = world.send()
    world.seed_row(sent, "FAILED", attempts=4)
    assert world.deliver(world.consumer(handler)) == []
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.HANDLER_FAILED)]


def test_the_connection_is_given_back_however_a_handler_ends(world: World) -> None:
    def handler(message: Message, _tx: Transaction) -> None:
        message.open().read(3)
        raise RuntimeError

    world.send()
    world.deliver(world.consumer(handler))
    assert [body.closed for body in world.objects.bodies] == [True]


def failing_late(where: str) -> Handler:
    """A handler that runs past its deadline and then goes on with one of the things it may do."""

    def handler(message: Message, tx: Transaction) -> None:
        stream = message.open()
        stream.read(3)
        if where != "stream":
            while stream.read(CHUNK):
                pass
        message._deadline._clock.sleep(message.remaining_seconds())
        if where == "stream":
            stream.read(3)
        if where == "transaction":
            ignoring(message, tx)

    return handler


CHUNK = 1024


@pytest.mark.parametrize("where", ["stream", "transaction", "commit"])
def test_past_the_deadline_stream_transaction_and_commit_refuse(world: World, where: str) -> None:
    """R4.8: a handler sees its remaining time; what it does after it raises DeadlineExceeded."""
    sent = world.send()
    assert world.deliver(world.consumer(failing_late(where))) == [sent.sqs_message_id]
    row = world.row(sent)
    assert (row.state, row.last_code, row.attempts) == ("FAILED", ErrorCode.DEADLINE_EXCEEDED, 1)
    assert world.effects(sent) == 0
    assert world.calls("complete") == []


def test_a_handler_sees_its_remaining_time(world: World) -> None:
    seen = []

    def handler(message: Message, _tx: Transaction) -> None:
        seen.append(message.remaining_seconds())

    world.send()
    world.deliver(world.consumer(handler), remaining=30)
    assert seen == [29]


def test_what_returns_after_the_deadline_finds_everything_closed(world: World) -> None:
    """Threads cannot be killed: the batch is answered without it, and its late writes go nowhere."""
    sent = world.send()
    go_on, ended = threading.Event(), threading.Event()
    errors: list[Exception] = []

    def handler(message: Message, tx: Transaction) -> None:
        assert go_on.wait(10)
        for late in (message.read, lambda: ignoring(message, tx)):
            try:
                late()
            except DeadlineExceeded as error:
                errors.append(error)
        ended.set()

    failed = world.deliver(world.consumer(handler, start_seconds=0.01), remaining=1.02)
    assert failed == [sent.sqs_message_id]
    assert world.row(sent).state == "IN_PROGRESS"
    go_on.set()
    assert ended.wait(10)
    assert len(errors) == 2
    world.settle()
    assert world.effects(sent) == 1


@pytest.mark.parametrize("suspect", [False, True])
def test_what_never_started_behind_it_comes_back_at_once(world: World, suspect: bool) -> None:  # noqa: FBT001 - a parameter
    """It holds no lease, so nothing makes it wait for the queue's own timeout."""
    slow, other = world.send(), world.send()
    go_on, set_aside = threading.Event(), threading.Event()
    if suspect:
        world.seed_row(other, "IN_PROGRESS", lease_until=world.clock.now())
        world.faults.on("replace", set_aside.set, when="after")

    def handler(message: Message, tx: Transaction) -> None:
        assert not suspect or set_aside.wait(10)
        world.clock.advance(0.5)
        assert go_on.wait(10)
        documents(message, tx)

    consumer = world.consumer(handler, start_seconds=0.01, concurrency=2 if suspect else 1)
    failed = world.deliver(consumer, remaining=1.02)
    go_on.set()
    assert failed == [slow.sqs_message_id, other.sqs_message_id]
    assert world.hidden(slow.sqs_message_id) == VISIBILITY_SECONDS - 0.5
    assert world.hidden(other.sqs_message_id) == 1
    assert world.telemetry.counts[Metric.DEFERRED] == 1


def test_a_handler_gets_what_it_needs_to_know(world: World) -> None:
    """R4.9: the token is the same at every delivery of this event to this consumer."""
    seen: list[Message] = []

    def handler(message: Message, _tx: Transaction) -> None:
        seen.append(message)
        raise RuntimeError

    redrive = {contract.ATTRIBUTE_REDRIVE: MessageAttribute(data_type="String", value="1")}
    sent = world.send(attributes=redrive)
    world.send(sent.envelope)
    for _ in range(2):
        world.deliver(world.consumer(handler))
        world.clock.advance(100)
    assert {message.effect_token for message in seen} == {world.key(sent.envelope)}
    assert [message.attempt for message in seen] == [1, 2, 3, 4]
    assert [message.redriven for message in seen] == [True, False] * 2
    message, envelope = seen[0], sent.envelope
    assert (message.message_id, message.idempotency_key) == (envelope.message_id, envelope.idempotency_key)
    assert (message.tenant_id, message.event_type, message.event_version) == (TENANT, EVENT_TYPE, 1)
    assert (message.correlation_id, message.domain_ref) == (envelope.correlation_id, envelope.domain_ref)
    assert (message.occurred_at, message.published_at) == (envelope.occurred_at, envelope.published_at)
    assert message.payload == envelope.payload
    payload: Any = envelope.payload
    assert (message.content_type, message.sha256) == (payload.content_type, payload.sha256)
    assert world.telemetry.counts[Metric.REDRIVEN] == 2


# --- commit ---------------------------------------------------------------------------------------------------------


@contextmanager
def taken_over(world: World, sent: Sent, state: InboxState) -> Iterator[None]:
    """While the handler runs, another worker takes the row over."""
    row: list[InboxRow] = []

    def take_over() -> None:
        row.append(world.seed_row(sent, state, owner="the-thief", attempts=2, lease_until=world.clock.now() + 99))

    world.faults.on("open", take_over)
    yield
    assert row == [world.row(sent)]


@pytest.mark.parametrize("ending", ["succeeds", "fails", "wants to park", "fails for the last time"])
@pytest.mark.parametrize("state", ["IN_PROGRESS", "COMPLETED", "PARKING"])
def test_a_lost_lease_touches_nothing(world: World, state: InboxState, ending: str) -> None:
    """R4.2: no commit, no failure record, no park, no visibility change."""

    def handler(message: Message, tx: Transaction) -> None:
        documents(message, tx)
        if ending == "wants to park":
            raise Unreadable
        if ending != "succeeds":
            raise RuntimeError

    sent = world.send()
    with taken_over(world, sent, state):
        failed = world.deliver(world.consumer(handler, max_attempts=1 if "last" in ending else 5))
    assert failed == [sent.sqs_message_id]
    assert world.effects(sent) == 0
    assert world.parked() == []
    assert world.calls("change_visibility") == []
    assert world.hidden(sent.sqs_message_id) == VISIBILITY_SECONDS
    assert world.telemetry.counts[Metric.LOST_LEASE] == 1


def conditional(if_condition_fails: ConsumeError | None) -> Handler:
    """A handler that writes two items; the condition of the second does not hold."""

    def handler(message: Message, tx: Transaction) -> None:
        documents(message, tx)
        tx.update(
            Table("accounts", partition_key="id"),
            {"id": "a-1"},
            "SET balance = balance - :one",
            values={":one": 1},
            condition=Condition(expression="balance > :zero", values={":zero": 0}),
            if_condition_fails=if_condition_fails,
        )

    return handler


def test_a_write_whose_condition_fails_means_the_error_its_handler_declared(world: World) -> None:
    sent = world.send()
    world.table.refuse_write = 1
    assert world.deliver(world.consumer(conditional(Unreadable("no money")))) == []
    assert world.parked() == [(sent.sqs_message_id, "Unreadable")]
    assert world.effects(sent) == 0


def test_a_write_whose_condition_fails_undeclared_is_a_failed_commit(world: World) -> None:
    sent = world.send()
    world.table.refuse_write = 1
    delays, attempts = failing_until_parked(world, sent, handler=conditional(None))
    assert (len(delays), attempts) == (4, 5)
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.COMMIT_FAILED)]
    assert world.row(sent).last_message == "the condition of write 2 (Update on accounts) does not hold"


@dataclass
class Watched(FakeInboxTable):
    """Remembers the requests of the commit."""

    requests: list[tuple[InboxRow, Guard, list[TableWrite], str]] = field(default_factory=list)

    def complete(
        self, row: InboxRow, *, guard: Guard, writes: Sequence[TableWrite], token: str
    ) -> Refused | WriteRefused | None:
        """As it is."""
        self.requests.append((row, guard, list(writes), token))
        return super().complete(row, guard=guard, writes=writes, token=token)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_commit_in_conflict_or_without_an_answer_is_repeated_as_the_very_same_request(
    world: World, when: When
) -> None:
    """One client token, one request: DynamoDB refuses another request under a token it has seen."""
    sent = world.send()
    table = Watched(faults=world.faults, rows=world.table.rows, applied=world.table.applied)
    world.faults.fail("complete", OUTAGE, when=when, times=3)
    assert world.deliver(world.consumer(table=table)) == []
    assert world.effects(sent) == 1
    assert len(table.requests) == 4
    assert all(request == table.requests[0] for request in table.requests)
    assert world.row(sent).attempts == 1
    assert world.clock.sleeps == pytest.approx([0.075, 0.15, 0.3])


def test_a_commit_that_does_not_succeed_before_the_deadline_is_refunded(world: World) -> None:
    sent, _ = world.send(), world.send_body("{")
    world.faults.fail("complete", Unavailable("DynamoDB: TransactionConflict, HTTP 400"), times=EVER)
    assert world.deliver() == [sent.sqs_message_id]
    row = world.row(sent)
    assert (row.state, row.attempts, row.last_code) == ("FAILED", 0, ErrorCode.COMMIT_FAILED)
    assert row.last_message == "DynamoDB: TransactionConflict, HTTP 400"
    assert REMAINING_SECONDS - 3 < sum(world.clock.sleeps) < REMAINING_SECONDS
    assert max(world.clock.sleeps) == pytest.approx(0.75)
    assert world.telemetry.counts[ErrorCode.COMMIT_FAILED] == 1


def test_a_commit_refused_for_good_is_a_failure_that_counts(world: World) -> None:
    sent = world.send()
    world.faults.fail("complete", CommitFailed("DynamoDB refused the commit: ValidationException"), times=EVER)
    delays, attempts = failing_until_parked(world, sent)
    assert (len(delays), attempts) == (4, 5)
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.COMMIT_FAILED)]


def test_without_writes_the_row_alone_is_completed(world: World) -> None:
    def handler(message: Message, _tx: Transaction) -> None:
        message.read()

    sent = world.send()
    table = Watched(faults=world.faults, rows=world.table.rows)
    assert world.deliver(world.consumer(handler, table=table)) == []
    assert world.row(sent).state == "COMPLETED"
    assert [writes for _, _, writes, _ in table.requests] == [[]]


def test_a_completed_row_keeps_no_trace_of_earlier_failures(world: World) -> None:
    sent = world.send()
    world.seed_row(sent, "FAILED", attempts=2, last_code="MissingPayload", last_message="gone")
    world.deliver()
    row = world.row(sent)
    assert (row.attempts, row.last_code, row.last_message) == (3, None, None)


# --- failure --------------------------------------------------------------------------------------------------------


def broken(_message: Message, _tx: Transaction) -> None:
    """Fail."""
    raise RuntimeError


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_failure_that_cannot_be_recorded_is_hidden_to_the_leases_end(world: World, when: When) -> None:
    sent, _ = world.send(), world.send_body("{")
    world.faults.fail("replace", OUTAGE, when=when)
    assert world.deliver(world.consumer(broken)) == [sent.sqs_message_id]
    assert world.row(sent).state == ("IN_PROGRESS" if when == "before" else "FAILED")
    lease_seconds = REMAINING_SECONDS + contract.LEASE_SLACK_SECONDS
    assert world.hidden(sent.sqs_message_id) == lease_seconds + 1
    assert world.settle() == 1
    assert world.effects(sent) == 1


@pytest.mark.parametrize("open_before", [False, True])
def test_when_nothing_can_be_recorded_it_is_the_infrastructures(world: World, open_before: bool) -> None:  # noqa: FBT001 - a parameter
    sent = world.send()
    if open_before:
        world.seed_row(sent, "IN_PROGRESS", lease_until=world.clock.now())
    world.faults.fail("replace", OUTAGE)
    with pytest.raises(InfrastructureUnavailable):
        world.deliver(world.consumer(broken))


def test_a_failure_that_finds_its_commit_done_after_all_is_a_success(world: World) -> None:
    """Every answer to the commit was lost; the row tells."""
    sent = world.send()
    world.faults.fail("complete", OUTAGE, when="after", times=EVER)
    world.faults.on("complete", lambda: world.clock.advance(REMAINING_SECONDS - 1))
    assert world.deliver() == []
    assert world.row(sent).state == "COMPLETED"
    assert world.effects(sent) == 1
    assert world.telemetry.counts[Metric.PROCESSED] == 1


@pytest.mark.parametrize("rand", [0.0, 0.5, 0.999])
@pytest.mark.parametrize("attempts", [1, 2, 3, 8])
def test_visibility_grows_from_the_rows_attempts_with_jitter(world: World, attempts: int, rand: float) -> None:
    """R4.6: not from the receive count, which deferrals raise as well."""
    sent = world.send()
    for _ in range(6):  # somebody else holds the lease
        world.seed_row(sent, "IN_PROGRESS", lease_until=world.clock.now() + 10)
        world.deliver()
        world.pass_time()
    world.seed_row(sent, "FAILED", attempts=attempts - 1)
    backoff = Backoff(base=3, cap=100)
    world.deliver(world.consumer(broken, max_attempts=99, random=lambda: rand, backoff=backoff))
    ceiling = min(100, 3 * 2 ** (attempts - 1))
    assert ceiling / 2 <= world.hidden(sent.sqs_message_id) <= ceiling
    assert world.hidden(sent.sqs_message_id) == backoff.delay(attempts, rand)


def test_all_visibility_changes_of_a_batch_are_one_request_of_the_port(world: World) -> None:
    """The port splits it into calls of ten (its own contract suite)."""
    for _ in range(25):
        world.send()
    world.deliver(world.consumer(broken), count=25)
    assert world.calls("change_visibility") == ["change_visibility"]
    assert len(world.queue.visibility_changes) == 25


def test_a_refused_visibility_change_leaves_the_queues_own(world: World) -> None:
    sent = world.send()
    event = world.queue.lambda_event(world.queue_url)
    world.queue.refuse_handles[event["Records"][0]["receiptHandle"]] = 2
    answer = world.consumer(broken).handle_lambda(event, remaining_seconds=REMAINING_SECONDS)
    assert answer == {"batchItemFailures": [{"itemIdentifier": sent.sqs_message_id}]}
    assert world.hidden(sent.sqs_message_id) == VISIBILITY_SECONDS


# --- park -----------------------------------------------------------------------------------------------------------


def permanent(_message: Message, _tx: Transaction) -> None:
    """Fail for good."""
    raise Unreadable


def test_parking_marks_the_row_then_copies_then_marks_it_again(world: World) -> None:
    states = []
    sent = world.send()
    world.faults.on("send_batch", lambda: states.append(world.row(sent)))
    world.deliver(world.consumer(permanent))
    assert world.calls("replace", "send_batch", "complete") == ["replace", "send_batch", "replace"]
    assert [(row.state, row.last_code, row.sqs_message_id) for row in states] == [
        ("PARKING", "Unreadable", sent.sqs_message_id)
    ]
    assert not world.queued()


PARKING_CALLS = ["take", "replace", "send_batch", "replace"]


@pytest.mark.parametrize("how", ["crash", "no answer"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", [1, 2, 3], ids=["PARKING", "copy", "PARKED"])
def test_a_parking_that_breaks_off_is_finished_by_the_next_delivery(
    world: World, step: int, when: When, how: str
) -> None:
    """Never no copy, at worst two, which have the same original message id."""
    sent = world.send(world.envelope(b"{}", inline=True))
    error = Crash() if how == "crash" else OUTAGE
    world.faults.fail(None, error, when=when, skip=step)
    if how == "crash":
        with pytest.raises(Crash):
            world.deliver(world.consumer(permanent))
    else:
        with pytest.raises(InfrastructureUnavailable):
            world.deliver(world.consumer(permanent))
    assert world.calls()[: step + 1] == PARKING_CALLS[: step + 1]
    assert [one.sqs_message_id for one in world.queued()] == [sent.sqs_message_id]
    world.settle(lambda: world.consumer(permanent))
    copies = 2 if (step, when) in {(2, "after"), (3, "before")} else 1
    assert world.parked() == [(sent.sqs_message_id, "Unreadable")] * copies
    row = world.row(sent)
    closed = (step, when) != (1, "before")
    assert (row.state, row.attempts, row.attempts_spent) == ("PARKED", 0, 1 if closed else 2)
    assert world.effects(sent) == 0


@pytest.mark.parametrize(
    "refusal",
    [
        pytest.param((1, False), id="internal error"),
        pytest.param((1, True), id="refused entry"),
        pytest.param(PublishError("AccessDenied"), id="refused call"),
        pytest.param(OUTAGE, id="no answer"),
    ],
)
def test_while_the_dlq_takes_no_copy_nothing_is_acknowledged(
    world: World, refusal: tuple[int, bool] | Exception
) -> None:
    sent, healthy = world.send(), world.send(world.envelope(b"{}", inline=True))
    if isinstance(refusal, tuple):
        world.queue.refuse_entries[encode(sent.envelope)] = refusal
    else:
        world.faults.fail("send_batch", refusal)

    def handler(message: Message, tx: Transaction) -> None:
        if message.message_id == sent.envelope.message_id:
            raise Unreadable
        documents(message, tx)

    assert world.deliver(world.consumer(handler)) == [sent.sqs_message_id]
    assert world.effects(healthy) == 1
    assert world.row(sent).state == "PARKING"
    codes = [line.fields["errorCode"] for line in world.telemetry.lines]
    assert codes[:2] in (["Unreadable", ErrorCode.UNAVAILABLE], ["Unreadable", "PublishError"])
    world.settle(lambda: world.consumer(handler))
    assert world.parked() == [(sent.sqs_message_id, "Unreadable")]


def test_a_copy_that_sqs_refuses_is_no_outage(world: World) -> None:
    """The function must not make Lambda's poller back off for a message of one sender."""
    sent = world.send()
    world.queue.refuse_entries[encode(sent.envelope)] = (EVER, True)
    assert world.deliver(world.consumer(permanent)) == [sent.sqs_message_id]


def test_the_copy_is_the_message_and_its_reason(world: World) -> None:
    attributes = {
        "mine": MessageAttribute(data_type="String", value="kept"),
        "raw": MessageAttribute(data_type="Binary", value=b"\x00\xff"),
        contract.ATTRIBUTE_PARKED: MessageAttribute(data_type="String", value="of an earlier life"),
    }
    sent = world.send(attributes=attributes, group="fair", trace_header="Root=1-2-3")
    world.seed_row(sent, "FAILED", attempts=2)
    world.deliver(world.consumer(permanent))
    (copy,) = world.queue.messages(world.dlq_url)
    assert copy.message.body == encode(sent.envelope)
    assert (copy.message.group_id, copy.message.trace_header) == ("fair", "Root=1-2-3")
    assert copy.message.deduplication_id is None
    assert {name: copy.message.attributes[name] for name in ("mine", "raw")} == {
        name: attributes[name] for name in ("mine", "raw")
    }
    assert reason_of(copy) == {
        "errorCode": "Unreadable",
        "at": "2026-07-06T10:15:30Z",
        "sourceQueue": "documents",
        "originalMessageId": sent.sqs_message_id,
        "attempts": 3,
    }


def test_a_foreign_message_with_ten_attributes_can_be_parked(world: World) -> None:
    attributes = {f"name-{n}": MessageAttribute(data_type="String", value=str(n)) for n in range(10)}
    sent = world.send(attributes=attributes)
    world.deliver(world.consumer(permanent))
    (copy,) = world.queue.messages(world.dlq_url)
    assert set(copy.message.attributes) == {*(f"name-{n}" for n in range(9)), contract.ATTRIBUTE_PARKED}
    assert reason_of(copy)["droppedAttributes"] == ["name-9"]
    assert reason_of(copy)["originalMessageId"] == sent.sqs_message_id


def test_a_parked_copy_opens_a_new_life(world: World) -> None:
    """R9: redriven under another message id its attempts begin at zero; this time the handler is mended."""
    sent = world.send()
    world.deliver(world.consumer(permanent))
    (again,) = world.redrive()
    assert again != sent.sqs_message_id
    assert world.deliver() == []
    row = world.row(sent)
    assert (row.state, row.attempts, row.attempts_spent, row.sqs_message_id) == ("COMPLETED", 1, 1, again)


def test_without_a_dlq_nothing_is_parked_and_everything_is_retried(fifo: World) -> None:
    """R5.1 `block`: order never breaks."""
    sent, bad = fifo.send(), fifo.send_body("{", group="g-2")
    for _ in range(8):
        assert fifo.deliver(fifo.consumer(permanent, park=False, max_attempts=10**9)) == [sent.sqs_message_id, bad]
        fifo.clock.advance(10_000)
    assert fifo.parked() == []
    assert (fifo.row(sent).state, fifo.row(sent).attempts) == ("FAILED", 8)
    assert fifo.deliver(fifo.consumer(park=False, max_attempts=10**9)) == [bad]
    assert fifo.effects(sent) == 1


# --- suspects: an attempt that was never closed ----------------------------------------------------------------------


def test_a_suspect_runs_alone_after_all_others(world: World) -> None:
    running: list[str] = []
    beside: dict[str, list[str]] = {}

    def handler(message: Message, tx: Transaction) -> None:
        running.append(message.message_id)
        beside[message.message_id] = list(running)
        documents(message, tx)
        running.remove(message.message_id)

    suspect, *others = [world.send() for _ in range(5)]
    world.seed_row(suspect, "IN_PROGRESS", lease_until=world.clock.now() - 1, attempts=1)
    assert world.deliver(world.consumer(handler, concurrency=4)) == []
    assert list(beside)[-1] == suspect.envelope.message_id
    assert beside[suspect.envelope.message_id] == [suspect.envelope.message_id]
    assert all(world.effects(one) == 1 for one in [suspect, *others])
    assert world.row(suspect).attempts == 2


def test_setting_a_suspect_aside_costs_no_attempt(world: World) -> None:
    sent = world.send()
    world.seed_row(sent, "IN_PROGRESS", lease_until=world.clock.now() - 1, attempts=3)
    world.faults.on("take", lambda: world.clock.advance(REMAINING_SECONDS), when="after")  # no time is left to run it
    assert world.deliver() == [sent.sqs_message_id]
    row = world.row(sent)
    assert (row.state, row.attempts, row.last_code) == ("FAILED", 3, ErrorCode.HANDLER_CRASHED)
    assert world.settle() == 1
    assert world.row(sent).attempts == 4


def test_once_it_ended_on_its_own_it_is_no_suspect_any_more(world: World) -> None:
    sent = world.send()
    world.seed_row(sent, "IN_PROGRESS", lease_until=world.clock.now() - 1)
    world.deliver(world.consumer(broken))
    world.pass_time()
    world.faults.clear()
    world.deliver()
    assert world.calls("take", "replace", "complete") == ["take", "complete"]


@pytest.mark.parametrize("failure", ["lost lease", "no answer"])
def test_a_suspect_that_cannot_be_set_aside_is_left_alone(world: World, failure: str) -> None:
    sent, _ = world.send(), world.send_body("{")
    world.seed_row(sent, "IN_PROGRESS", lease_until=world.clock.now() - 1)
    if failure == "no answer":
        world.faults.fail("replace", OUTAGE)
    else:
        world.faults.on("replace", lambda: world.seed_row(sent, "IN_PROGRESS", owner="the-thief", lease_until=1e12))
    assert world.deliver() == [sent.sqs_message_id]
    assert world.effects(sent) == 0
    expected = REMAINING_SECONDS + contract.LEASE_SLACK_SECONDS + 1 if failure == "no answer" else VISIBILITY_SECONDS
    assert world.hidden(sent.sqs_message_id) == expected
    assert [code for _, code in world.parked()] == [ErrorCode.INVALID_ENVELOPE]


# --- the batch ------------------------------------------------------------------------------------------------------


def test_one_identity_twice_in_a_batch_runs_one_after_the_other(world: World) -> None:
    sent = world.send()
    for _ in range(3):
        world.send(sent.envelope)
    another_gate = threading.Event()
    world.faults.on("take", another_gate.set, skip=1)

    def handler(message: Message, tx: Transaction) -> None:
        assert not another_gate.wait(0.2)
        documents(message, tx)

    assert world.deliver(world.consumer(handler, concurrency=4)) == []
    assert world.effects(sent) == 1
    assert world.telemetry.counts[Metric.DUPLICATE] == 3


def test_one_message_twice_in_a_batch_is_answered_once(world: World) -> None:
    sent = world.send()
    event = world.queue.lambda_event(world.queue_url)
    event["Records"] *= 2
    answer = world.consumer(broken).handle_lambda(event, remaining_seconds=REMAINING_SECONDS)
    assert answer == {"batchItemFailures": [{"itemIdentifier": sent.sqs_message_id}]}


def test_lanes_run_side_by_side(world: World) -> None:
    barrier = threading.Barrier(4, timeout=10)

    def handler(message: Message, tx: Transaction) -> None:
        barrier.wait()
        documents(message, tx)

    for _ in range(4):
        world.send()
    assert world.deliver(world.consumer(handler, concurrency=4)) == []
    assert world.telemetry.counts[Metric.PROCESSED] == 4


def test_when_every_record_fails_for_the_infrastructure_the_function_raises(world: World) -> None:
    sent = [world.send() for _ in range(3)]
    world.faults.fail("take", OUTAGE, times=3)
    with pytest.raises(InfrastructureUnavailable, match="all 3 records"):
        world.deliver()
    assert [world.hidden(one.sqs_message_id) for one in sent] == [Backoff().delay(1, 0.5)] * 3
    assert world.telemetry.flushed[-1][Metric.RETRIED] == 3


def test_when_one_record_did_not_it_answers(world: World) -> None:
    sent = [world.send() for _ in range(3)]
    world.faults.fail("take", OUTAGE, times=2)
    assert world.deliver() == [one.sqs_message_id for one in sent[:2]]


def test_an_empty_batch_is_answered_emptily(world: World) -> None:
    assert world.consumer().handle_lambda({"Records": []}, remaining_seconds=60) == {"batchItemFailures": []}
    assert world.calls() == []


def record(world: World, **changes: object) -> dict[str, Any]:
    """A record of Lambda's event, changed; None removes a field."""
    (one,) = world.queue.lambda_event(world.queue_url)["Records"]
    return {name: value for name, value in {**one, **changes}.items() if value is not None}


@pytest.mark.parametrize(
    "event",
    [
        None,
        [],
        "x",
        7,
        {},
        {"Records": None},
        {"Records": {}},
        {"records": []},
        {"Records": [None]},
        {"Records": ["x"]},
    ],
    ids=repr,
)
def test_what_is_no_batch_is_refused_before_any_side_effect(world: World, event: object) -> None:
    with pytest.raises(MalformedBatch):
        world.consumer().handle_lambda(event, remaining_seconds=60)
    assert world.calls() == []


@pytest.mark.parametrize("source", ["aws:s3", "aws:kinesis", None, 7])
def test_events_of_another_source_are_refused_and_never_answered_emptily(world: World, source: object) -> None:
    world.send()
    with pytest.raises(MalformedBatch, match="aws:sqs"):
        world.consumer().handle_lambda({"Records": [record(world, eventSource=source)]}, remaining_seconds=60)
    assert world.calls() == []


@pytest.mark.parametrize("name", [None, "", 7, ["x"]])
def test_a_record_without_an_id_is_refused_before_any_side_effect(world: World, name: object) -> None:
    world.send()
    world.send()
    good, bad = world.queue.lambda_event(world.queue_url)["Records"]
    bad["messageId"] = name
    with pytest.raises(MalformedBatch, match="record 1 has no messageId"):
        world.consumer().handle_lambda({"Records": [good, bad]}, remaining_seconds=60)
    assert world.calls() == []


@pytest.mark.parametrize(
    "changes",
    [{"body": None}, {"body": 7}, {"receiptHandle": ""}, {"receiptHandle": None}, {"eventSource": "aws:s3"}],
    ids=repr,
)
def test_a_record_that_is_no_message_fails_alone_and_is_never_acknowledged(
    world: World, changes: dict[str, Any]
) -> None:
    good = world.send()
    records = world.queue.lambda_event(world.queue_url)["Records"]
    stranger = {**records[0], "messageId": "stranger", **changes}
    answer = world.consumer().handle_lambda({"Records": [stranger, *records]}, remaining_seconds=60)
    assert answer == {"batchItemFailures": [{"itemIdentifier": "stranger"}]}
    assert world.effects(good) == 1


@pytest.mark.parametrize(
    "attributes",
    [
        None,
        7,
        [],
        {"a": None},
        {"a": {}},
        {"a": {"dataType": 7}},
        {"a": {"dataType": "Number.huge", "stringValue": "1"}},
        {"a": {"dataType": "String", "stringValue": ""}},
        {"a": {"dataType": "Binary", "binaryValue": "no base64!"}},
        {"a": {"dataType": "Binary", "stringValue": "x"}},
        {"a": {"dataType": "Map", "mapValue": {}}},
    ],
    ids=repr,
)
def test_attributes_of_unknown_types_are_no_error(world: World, attributes: object) -> None:
    good = world.send()
    event = {"Records": [record(world, messageAttributes=attributes)]}
    assert world.consumer().handle_lambda(event, remaining_seconds=60) == {"batchItemFailures": []}
    assert world.effects(good) == 1


@pytest.mark.parametrize("system", [None, [], {}, {"SentTimestamp": "x", "ApproximateReceiveCount": "-1"}], ids=repr)
def test_system_attributes_that_are_no_numbers_are_no_error(world: World, system: object) -> None:
    good = world.send()
    event = {"Records": [record(world, attributes=system, eventSourceARN=7)]}
    assert world.consumer().handle_lambda(event, remaining_seconds=60) == {"batchItemFailures": []}
    assert world.effects(good) == 1
    assert Metric.MESSAGE_AGE not in world.telemetry.counts


HUGE_NUMBER = 10**40
LONG_TEXT = "x" * 500_000


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"payloadRef": {"contentLength": HUGE_NUMBER}}, id="length no table can hold"),
        pytest.param({"payloadRef": {"contentLength": 10**400}}, id="length no float can hold"),
        pytest.param({"eventVersion": HUGE_NUMBER}, id="version"),
        pytest.param({"messageId": LONG_TEXT}, id="message id no row can hold"),
        pytest.param({"correlationId": LONG_TEXT}, id="correlation id"),
        pytest.param({"payloadRef": {"versionId": LONG_TEXT}}, id="version id"),
    ],
)
@pytest.mark.parametrize("access", ["stream", "memory"])
def test_what_no_inbox_row_can_hold_is_no_envelope(world: World, change: dict[str, Any], access: PayloadAccess) -> None:
    document = json.loads(encode(world.envelope()))
    for name, value in change.items():
        document[name] = {**document[name], **value} if isinstance(value, dict) else value
    sqs_message_id = world.send_body(json.dumps(document))
    assert world.deliver(world.consumer(access=access)) == []
    assert world.parked() == [(sqs_message_id, ErrorCode.INVALID_ENVELOPE)]
    assert world.calls("take") == []


def test_an_unexpected_failure_fails_its_record_alone(world: World) -> None:
    sent, healthy = world.send(), world.send()
    world.faults.fail("take", ZeroDivisionError())
    assert world.deliver() == [sent.sqs_message_id]
    assert world.effects(healthy) == 1
    assert "unexpected failure" in world.telemetry.events("error")


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, Crash])
def test_a_process_that_is_asked_to_end_answers_nothing(world: World, error: type[BaseException]) -> None:
    def handler(_message: Message, _tx: Transaction) -> None:
        raise error

    world.send()
    with pytest.raises(error):
        world.deliver(world.consumer(handler))
    assert len(world.queued()) == 1


def test_what_is_logged_about_an_error(world: World) -> None:
    """R11.4: the key's hash, never the key; no payload."""
    sent = world.send()
    world.deliver(world.consumer(broken))
    (line,) = world.telemetry.lines
    claim: Any = sent.envelope.payload
    assert line.level == "error"
    assert set(line.fields) >= {
        "queue",
        "messageId",
        "tenantId",
        "domainRef",
        "payloadBucket",
        "payloadKeyHash",
        "payloadSizeBytes",
        "errorCode",
        "correlationId",
    }
    assert claim.key not in str(line)


def test_the_age_of_work_is_the_time_since_it_was_sent(world: World) -> None:
    """R12.1: SQS's own metric omits what was received three times or more."""
    world.send()
    world.clock.advance(100)
    world.deliver()
    assert world.telemetry.counts[Metric.MESSAGE_AGE] == 100


# --- payload access -------------------------------------------------------------------------------------------------


def test_access_none_opens_nothing_and_says_so(world: World) -> None:
    errors = []

    def handler(message: Message, tx: Transaction) -> None:
        for attempt in (message.open, message.read, message.json):
            with pytest.raises(ValueError, match="payload access 'none'") as caught:
                attempt()
            errors.append(caught.value)
        ignoring(message, tx)

    sent = world.send()
    assert world.deliver(world.consumer(handler, access="none")) == []
    assert world.calls() == ["take", "complete"]
    assert (len(errors), world.effects(sent)) == (3, 1)


def test_a_failure_with_access_none_keeps_its_own_reason(world: World) -> None:
    sent = world.send()
    world.deliver(world.consumer(broken, access="none"))
    assert str(world.row(sent).last_message).startswith("builtins.RuntimeError at")


@pytest.mark.parametrize("access", ["stream", "memory", "file"])
def test_a_payload_is_read_once(world: World, access: PayloadAccess) -> None:
    def handler(message: Message, tx: Transaction) -> None:
        message.open()
        with pytest.raises(ValueError, match="opened already"):
            message.open()
        ignoring(message, tx)

    sent = world.send()
    assert world.deliver(world.consumer(handler, access=access)) == []
    assert world.effects(sent) == 1


def test_read_is_limited_to_what_the_function_was_sized_for(world: World) -> None:
    results: list[object] = []

    def handler(message: Message, _tx: Transaction) -> None:
        with pytest.raises(PayloadTooLarge, match="4 that may be read"):
            message.read()
        results.append(message.read(limit=message.content_length))

    world.send(world.envelope(b"12345"))
    assert world.deliver(world.consumer(handler, read_limit_bytes=4)) == []
    assert results == [b"12345"]


def test_read_text_and_json_give_the_verified_payload(world: World) -> None:
    results: list[object] = []

    def handler(message: Message, _tx: Transaction) -> None:
        results.append(message.json() if message.message_id == "as json" else message.text())

    world.send(world.envelope(b'{"a":1}', identity="as json"))
    world.send(world.envelope("häll✓".encode(), identity="as text", inline=True))
    assert world.deliver(world.consumer(handler)) == []
    assert results == [{"a": 1}, "häll✓"]


def test_a_download_is_verified_when_it_returns(world: World, tmp_path: Path) -> None:
    """R4.4: a path for libraries that need a file."""
    path = tmp_path / "payload"

    def handler(message: Message, tx: Transaction) -> None:
        assert message.download(path).read_bytes() == b"content"
        ignoring(message, tx)

    sent = world.send(world.envelope(b"content"))
    assert world.deliver(world.consumer(handler, access="file")) == []
    assert world.effects(sent) == 1


def test_a_download_that_does_not_verify_leaves_no_file(world: World, tmp_path: Path) -> None:
    path = tmp_path / "payload"
    left: list[bool] = []

    def handler(message: Message, _tx: Transaction) -> None:
        with pytest.raises(ChecksumMismatch):
            message.download(path)
        left.append(path.exists())

    sent = tampered(world)
    world.deliver(world.consumer(handler, access="file"))
    assert left == [False]
    assert world.parked() == [(sent.sqs_message_id, ErrorCode.CHECKSUM_MISMATCH)]


@pytest.mark.parametrize(
    "access, length, need",
    [("none", 50, 0), ("stream", 50, 100), ("memory", 50, 75), ("file", 50, 75), ("memory", 500, 100)],
)
def test_a_permit_is_what_the_access_needs_and_never_more_than_there_is(
    access: PayloadAccess, length: int, need: int
) -> None:
    budget = PayloadBudget(access=access, memory_bytes=100, temp_bytes=100, expansion=1.5)
    assert budget.need(length) == need


def test_an_empty_payload_is_verified_too(world: World) -> None:
    sent = world.send(world.envelope(b""))
    assert world.deliver() == []
    assert world.effects(sent) == 1
    other = world.send(world.envelope(b"", identity="forged", sha256="0" * 64))
    world.deliver()
    assert world.parked() == [(other.sqs_message_id, ErrorCode.CHECKSUM_MISMATCH)]


# --- tx -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def tx(world: World) -> Transaction:
    """A transaction with time left."""
    return Transaction(Deadline(world.clock, 10))


def test_a_transaction_takes_ninety_nine_writes(tx: Transaction) -> None:
    for number in range(99):
        tx.put(DOCUMENTS, {"pk": str(number)})
    with pytest.raises(TransactionLimit, match="more than 99 writes; stage the rest"):
        tx.put(DOCUMENTS, {"pk": "99"})
    assert len(tx.writes) == 99


def test_a_transaction_takes_four_megabytes_less_the_inbox_row(tx: Transaction) -> None:
    for number in range(9):
        tx.put(DOCUMENTS, {"pk": str(number), "v": b"x" * 399_000})
    with pytest.raises(TransactionLimit, match="more than 3983616 bytes"):
        tx.put(DOCUMENTS, {"pk": "9", "v": b"x" * 399_000})
    tx.put(DOCUMENTS, {"pk": "9", "v": b"x" * 390_000})
    assert len(tx.writes) == 10


@pytest.mark.parametrize("over", [0, 1])
def test_the_last_byte_of_a_transaction_is_taken_and_the_next_is_not(tx: Transaction, over: int) -> None:
    room = 4_000_000 - 16 * 1024
    key, update = {"pk": "1"}, "SET v = :v"  # name and value of the key, name of the placeholder
    value = b"x" * (room - len("pk") - len("1") - len(":v") + over)
    if over:
        with pytest.raises(TransactionLimit, match="bytes in one transaction"):
            tx.update(DOCUMENTS, key, update, values={":v": value})
    else:
        tx.update(DOCUMENTS, key, update, values={":v": value})
        with pytest.raises(TransactionLimit, match="bytes in one transaction"):
            tx.delete(DOCUMENTS, {"pk": "2"})


def test_a_write_is_handed_on_as_it_was_said(tx: Transaction) -> None:
    condition = Condition(expression="#a = :a", names={"#a": "a"}, values={":a": 1})
    tx.update(DOCUMENTS, {"pk": "1"}, "SET #b = :b", names={"#b": "b"}, values={":b": 2}, condition=condition)
    tx.delete(DOCUMENTS, {"pk": "2"}, condition=condition)
    tx.check(DOCUMENTS, {"pk": "3"}, condition=condition)
    tx.put(DOCUMENTS, {"pk": "4", "v": 1})
    said = {"condition": "#a = :a", "names": {"#a": "a"}, "values": {":a": 1}}
    both = {"condition": "#a = :a", "names": {"#a": "a", "#b": "b"}, "values": {":a": 1, ":b": 2}}
    assert list(tx.writes) == [
        TableWrite(action="Update", table="documents", key={"pk": "1"}, update="SET #b = :b", **both),  # type: ignore[arg-type]
        TableWrite(action="Delete", table="documents", key={"pk": "2"}, **said),  # type: ignore[arg-type]
        TableWrite(action="ConditionCheck", table="documents", key={"pk": "3"}, **said),  # type: ignore[arg-type]
        TableWrite(action="Put", table="documents", key={"pk": "4"}, item={"pk": "4", "v": 1}),
    ]


@pytest.mark.parametrize("second", ["put", "update", "delete", "check"])
def test_a_transaction_takes_no_item_twice(tx: Transaction, second: str) -> None:
    table = Table("t", partition_key="p", sort_key="s")
    key = {"p": "1", "s": 2}
    tx.put(table, {**key, "v": 1})
    tx.put(table, {**key, "s": 3})
    writes: Mapping[str, Callable[[], None]] = {
        "put": lambda: tx.put(table, {**key, "v": 2}),
        "update": lambda: tx.update(table, key, "SET v = :v", values={":v": 2}),
        "delete": lambda: tx.delete(table, key),
        "check": lambda: tx.check(table, key, condition=Condition(expression="attribute_exists(p)")),
    }
    with pytest.raises(TransactionLimit, match="one item twice"):
        writes[second]()
    assert len(tx.writes) == 2


def test_equal_numbers_are_one_key(tx: Transaction) -> None:
    table = Table("t", partition_key="p")
    tx.put(table, {"p": 1})
    with pytest.raises(TransactionLimit, match="one item twice"):
        tx.put(table, {"p": Decimal("1.0")})


@pytest.mark.parametrize(
    "value", [1.5, object(), {"a": [1.5]}, {1.5}], ids=["float", "object", "float in a list", "float in a set"]
)
def test_a_transaction_takes_no_value_that_dynamodb_does_not(tx: Transaction, value: object) -> None:
    with pytest.raises(TransactionLimit, match="is no DynamoDB type"):
        tx.put(DOCUMENTS, {"pk": "1", "v": value})
    with pytest.raises(TransactionLimit, match="is no DynamoDB type"):
        tx.update(DOCUMENTS, {"pk": "1"}, "SET v = :v", values={":v": value})
    assert tx.writes == ()


def test_a_transaction_takes_every_value_that_dynamodb_does(tx: Transaction) -> None:
    values = [None, True, "text", 1, Decimal("1.5"), b"bytes", [1, "a"], {"a": {"b": None}}, {1, 2}, {"x"}, {b"y"}]
    for number, value in enumerate(values):
        tx.put(DOCUMENTS, {"pk": str(number), "v": value})
    assert [write.item["v"] for write in tx.writes if write.item] == values


def test_a_write_names_its_whole_key(tx: Transaction) -> None:
    with pytest.raises(TransactionLimit, match="key attribute s is missing"):
        tx.put(Table("t", partition_key="p", sort_key="s"), {"p": 1})


def test_one_placeholder_means_one_thing(tx: Transaction) -> None:
    condition = Condition(expression="v < :v", values={":v": 2})
    with pytest.raises(TransactionLimit, match="placeholder :v means two things"):
        tx.update(DOCUMENTS, {"pk": "1"}, "SET v = :v", values={":v": 1}, condition=condition)


def test_what_was_handed_over_may_change_afterwards(tx: Transaction) -> None:
    item = {"pk": "1", "v": 1}
    tx.put(DOCUMENTS, item)
    item["v"] = 2
    assert tx.writes[0].item == {"pk": "1", "v": 1}


def test_a_handlers_mistake_in_a_write_is_its_failure(world: World) -> None:
    def handler(_message: Message, tx: Transaction) -> None:
        tx.put(DOCUMENTS, {"pk": "1", "v": 1.5})

    sent = world.send()
    assert world.deliver(world.consumer(handler)) == [sent.sqs_message_id]
    row = world.row(sent)
    assert row.last_code == ErrorCode.HANDLER_FAILED
    assert row.last_message == "table documents: float is no DynamoDB type; numbers are int or Decimal, and finite"


# --- FIFO -----------------------------------------------------------------------------------------------------------


def failing_on(*failing: Sent, error: Exception | None = None) -> Handler:
    """A handler that fails on some messages."""
    names = {one.envelope.message_id for one in failing}

    def handler(message: Message, tx: Transaction) -> None:
        if message.message_id in names:
            raise error or RuntimeError
        documents(message, tx)

    return handler


def test_after_a_failure_the_group_stops_and_comes_back_as_one(fifo: World) -> None:
    """R4.7: head and tail are hidden for the same time; other groups go on."""
    first, head, tail = (fifo.send(group="g-1") for _ in range(3))
    other = fifo.send(group="g-2")
    assert fifo.deliver(fifo.consumer(failing_on(head))) == [head.sqs_message_id, tail.sqs_message_id]
    assert (fifo.effects(first), fifo.effects(tail), fifo.effects(other)) == (1, 0, 1)
    assert fifo.hidden(head.sqs_message_id) == fifo.hidden(tail.sqs_message_id) == Backoff().delay(1, 0.5)
    assert fifo.key(tail.envelope) not in fifo.table.rows, "what never started has cost nothing"
    order: list[str] = []
    fifo.pass_time()
    assert fifo.deliver(fifo.consumer(lambda message, _: order.append(message.message_id))) == []
    assert order == [head.envelope.message_id, tail.envelope.message_id]


@pytest.mark.parametrize(
    "why", ["deferred", "out of time", "not parkable", "lost lease", "no answer of the gate", "unexpected"]
)
def test_whatever_stops_the_head_stops_its_group(fifo: World, why: str) -> None:
    head, tail = fifo.send(group="g-1"), fifo.send(group="g-1")
    other = fifo.send(fifo.envelope(b"{}", inline=True), group="g-2")
    handler: Handler = documents
    if why == "deferred":
        fifo.seed_row(head, "IN_PROGRESS", lease_until=fifo.clock.now() + 77)
    elif why == "out of time":
        handler = failing_late("commit")
    elif why == "not parkable":
        handler = failing_on(head, error=Unreadable())
        fifo.faults.fail("send_batch", PublishError("no"))
    elif why == "lost lease":
        fifo.faults.on("open", lambda: fifo.seed_row(head, "IN_PROGRESS", owner="thief", lease_until=1e12))
    else:
        fifo.faults.fail("take", OUTAGE if "gate" in why else ZeroDivisionError())
    failed = fifo.deliver(fifo.consumer(handler))
    assert failed[:2] == [head.sqs_message_id, tail.sqs_message_id]
    assert fifo.hidden(head.sqs_message_id) == fifo.hidden(tail.sqs_message_id)
    assert fifo.effects(tail) == 0
    assert fifo.key(tail.envelope) not in fifo.table.rows
    assert fifo.effects(other) == (why != "out of time")


def test_a_parked_head_lets_its_group_go_on(fifo: World) -> None:
    """R5.1 `park`: the copy's deduplication id is the source's message id, so that a second parking is no duplicate."""
    head, tail = fifo.send(group="g-1"), fifo.send(group="g-1")
    for parked in (1, 2):
        assert fifo.deliver(fifo.consumer(failing_on(head, error=Unreadable()))) == []
        assert fifo.effects(tail) == 1
        copies = fifo.queue.messages(fifo.dlq_url)
        assert [copy.message.deduplication_id for copy in copies] == [
            reason_of(copy)["originalMessageId"] for copy in copies
        ]
        assert [copy.message.group_id for copy in copies] == ["g-1"]
        if parked == 1:
            fifo.redrive()


def test_groups_are_worked_on_side_by_side(fifo: World) -> None:
    barrier = threading.Barrier(3, timeout=10)

    def handler(message: Message, tx: Transaction) -> None:
        if message.message_id.startswith("first"):
            barrier.wait()
        documents(message, tx)

    for group in ("g-1", "g-2", "g-3"):
        fifo.send(fifo.envelope(identity=f"first-{group}"), group=group)
        fifo.send(group=group)
    assert fifo.deliver(fifo.consumer(handler, concurrency=3)) == []
    assert fifo.telemetry.counts[Metric.PROCESSED] == 6


def test_a_suspect_head_takes_its_group_with_it_to_the_end(fifo: World) -> None:
    order: list[str] = []

    def handler(message: Message, _tx: Transaction) -> None:
        order.append(message.message_id)

    head, tail = fifo.send(group="g-1"), fifo.send(group="g-1")
    other = fifo.send(group="g-2")
    fifo.seed_row(head, "IN_PROGRESS", lease_until=fifo.clock.now() - 1)
    assert fifo.deliver(fifo.consumer(handler)) == []
    assert order == [one.envelope.message_id for one in (other, head, tail)]


def test_when_every_group_is_stopped_by_the_infrastructure_the_function_raises(fifo: World) -> None:
    for group in ("g-1", "g-1", "g-2"):
        fifo.send(group=group)
    fifo.faults.fail("take", OUTAGE, times=2)
    with pytest.raises(InfrastructureUnavailable, match="all 3 records"):
        fifo.deliver()
