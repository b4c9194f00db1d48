"""What `claim-check dlq redrive` does with each dead letter (R9.1, R9.2, R5.3), on fakes beside the real consumer.

Our own port, with a fake of its own: emulators have no move task (getmoto/moto#10265).
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from claim_check import contract
from claim_check.archive import ArchivedLetter, decode_letter
from claim_check.contract import ErrorCode, Metric
from claim_check.dead_letters import redrive_deduplication_id
from claim_check.envelope import Claim, encode
from claim_check.errors import AccessDenied, Unavailable
from claim_check.message import Message
from claim_check.ports import MessageAttribute
from claim_check.sizes import message_bytes
from claim_check.transaction import Transaction
from claim_check_ops.dlq.archive_source import ArchiveSource
from claim_check_ops.dlq.journal import FileJournal, JournalInUse, JournalMismatch, JournalUnusable, MemoryJournal
from claim_check_ops.dlq.pace import Limit
from claim_check_ops.dlq.ports import QueueFacts
from claim_check_ops.dlq.report import Report
from claim_check_ops.dlq.selecting import Selection
from tests.dlq_world import ARN, DAY, DLQ_SECONDS, SOURCE_SECONDS, DlqWorld, broken
from tests.fakes.archive import FakeArchive
from tests.harness import BUCKET, TTL_SECONDS, documents


def text(value: str) -> MessageAttribute:
    """A message attribute."""
    return MessageAttribute(data_type="String", value=value)


@pytest.fixture
def world() -> DlqWorld:
    """A standard queue and its DLQ."""
    return DlqWorld()


@pytest.fixture
def fifo() -> DlqWorld:
    """A FIFO queue and its DLQ."""
    return DlqWorld(fifo=True)


# --- The copy -------------------------------------------------------------------------------------------------------


def test_what_was_parked_is_processed_once_and_gone(world: DlqWorld) -> None:
    sent = world.dead(25)
    report = world.redrive_with()
    assert report.succeeded
    assert len(report.moved) == 25
    assert report.fates() == {"completed": 25}
    assert [world.effects(one) for one in sent] == [1] * 25
    assert world.dead_ids() == []
    assert (world.told.messages, world.told.payload_bytes) == (25, report.payload_bytes)


def test_a_copy_keeps_everything_and_swaps_parked_for_redrive(world: DlqWorld) -> None:
    attributes = {f"mine{number}": text(str(number)) for number in range(5)} | {"tenantId": text("t-1")}
    sent = world.send(attributes=attributes, group="tenant", trace_header="Root=1-abc")
    world.die(sent)
    (dead,) = world.queue.messages(world.dlq_url)
    report = world.redriver(canary_seconds=None, settle_seconds=0.0).run()
    (copy,) = world.queued()
    assert copy.message.body == dead.message.body
    assert copy.message.group_id == "tenant"
    assert copy.message.trace_header == "Root=1-abc"
    kept = {name: value for name, value in copy.message.attributes.items() if name != contract.ATTRIBUTE_REDRIVE}
    assert kept == attributes
    noted = json.loads(str(copy.message.attributes[contract.ATTRIBUTE_REDRIVE].value))
    assert noted == {
        "round": 1,
        "run": report.run,
        "at": "2026-07-06T10:15:30Z",
        "reason": ErrorCode.HANDLER_FAILED,
        "originalMessageId": sent.sqs_message_id,
        "firstMessageId": sent.sqs_message_id,
    }


def test_a_message_with_ten_attributes_that_sqs_moved_gives_one_up(world: DlqWorld) -> None:
    attributes = {f"a{number}": text("x") for number in range(9)} | {contract.ATTRIBUTE_PAYLOAD_SIZE: text("1")}
    sent = world.send(attributes=attributes)
    world.moved_by_sqs(sent)
    world.redriver(canary_seconds=None, settle_seconds=0.0, named=world.directory.facts(world.queue_url)).run()
    (copy,) = world.queued()
    assert len(copy.message.attributes) == 10
    assert contract.ATTRIBUTE_PAYLOAD_SIZE in copy.message.attributes
    assert json.loads(str(copy.message.attributes["redrive"].value))["droppedAttributes"] == ["a8"]


def test_a_copy_that_sqs_would_not_take_stays_and_holds_up_no_other(world: DlqWorld) -> None:
    """The note of a redrive is longer than the reason that it replaces; SQS refuses a whole call that is too large."""
    world.dead(3)
    full = world.queue.messages(world.dlq_url)[0]
    body = json.loads(full.message.body)
    body["unknown"] = ""
    room = contract.SQS_MAX_MESSAGE_BYTES - message_bytes(replace(full.message, body=json.dumps(body)))
    full.message = replace(full.message, body=json.dumps(body | {"unknown": "x" * room}))
    report = world.redriver(settle_seconds=0.0, canary_seconds=None).run()
    assert report.stopped is None
    assert [(one.letter_id, one.code) for one in report.stayed] == [(full.sqs_message_id, "SendRefused")]
    assert len(report.moved) == 2
    assert world.dead_ids() == [full.sqs_message_id]


def test_the_first_life_is_remembered_over_rounds_and_the_row_counts_them(world: DlqWorld) -> None:
    """The inbox marks redriven work, and what consumes it can tell (R9.1)."""
    (sent,) = world.dead()
    world.redrive_with(broken, max_attempts=1, canary_seconds=None, settle_seconds=0.0)
    world.settle(lambda: world.consumer(broken, max_attempts=1))
    assert world.row(sent).redriven == 1
    told: list[bool] = []

    def handler(message: Message, tx: Transaction) -> None:
        told.append(message.redriven)
        documents(message, tx)

    world.redrive_with(handler)
    row = world.row(sent)
    assert (row.state, row.redriven) == ("COMPLETED", 2)
    assert told == [True]
    assert world.telemetry.counts[Metric.REDRIVEN] == 2
    assert world.telemetry.counts[Metric.NEW] == 1


def test_a_row_stays_marked_when_something_else_takes_it() -> None:
    world = DlqWorld()
    (sent,) = world.dead()
    world.redrive_with(broken, max_attempts=5, canary_seconds=None, settle_seconds=0.0)
    world.pass_time()
    world.deliver(world.consumer(broken))
    world.send(sent.envelope)
    world.settle()
    assert world.row(sent).redriven == 1


def test_a_fifo_copy_has_a_fresh_deduplication_id_and_its_group(fifo: DlqWorld) -> None:
    """Redriven within five minutes, the same id would be swallowed (ruby-shoryuken/shoryuken#473)."""
    (sent,) = fifo.dead()
    (dead,) = fifo.queue.messages(fifo.dlq_url)
    assert fifo.redrive_with().succeeded
    assert fifo.effects(sent) == 1
    ids = [one.deduplication_id for batch in fifo.queue.batches for one in batch]
    assert ids == [sent.sqs_message_id, f"{dead.sqs_message_id}#1"]
    assert [one.group_id for batch in fifo.queue.batches for one in batch] == ["g-0", "g-0"]


def test_the_deduplication_id_of_a_dlq_is_not_the_events(fifo: DlqWorld) -> None:
    """SQS puts its own id there (awsdocs/amazon-sqs-developer-guide#54): the inbox's identity comes of the envelope."""
    (sent,) = fifo.dead()
    report = fifo.redrive_with()
    assert report.moved[0].message_id == sent.envelope.message_id


@pytest.mark.parametrize("identity", ["x" * 200, "ü", "a b"], ids=["long", "no ASCII", "a space"])
def test_what_is_no_deduplication_id_is_hashed(identity: str) -> None:
    assert len(redrive_deduplication_id(identity, 1)) == 64
    assert redrive_deduplication_id(identity, 1) != redrive_deduplication_id(identity, 2)


def test_each_round_has_an_id_of_its_own() -> None:
    assert redrive_deduplication_id("m", 1) == "m#1"
    assert redrive_deduplication_id("m", 2) == "m#2"


# --- What stays -----------------------------------------------------------------------------------------------------


def test_a_payload_that_is_gone_stays_with_its_reason_and_the_rest_goes(world: DlqWorld) -> None:
    """A retry after the blob's life asks for a check (Particular/ServiceControl#608)."""
    sent = world.dead(3)
    world.lose_payload(sent[1])
    report = world.redrive_with()
    assert [one.code for one in report.stayed] == [ErrorCode.MISSING_PAYLOAD]
    assert not report.succeeded
    assert [world.effects(one) for one in sent] == [1, 0, 1]
    assert len(world.dead_ids()) == 1
    assert world.all_visible()


def test_a_payload_that_may_not_be_looked_at_stays(world: DlqWorld) -> None:
    world.dead()
    world.faults.fail("head", AccessDenied("no"), times=9)
    report = world.redrive_with()
    assert [one.code for one in report.stayed] == [ErrorCode.ACCESS_DENIED]


def test_a_payload_of_another_size_or_hash_stays(world: DlqWorld) -> None:
    larger, other = world.dead(2)
    for one, content in ((larger, b"x"), (other, b"A payload of some length, read in several pieces")):
        claim = one.envelope.payload
        assert isinstance(claim, Claim)
        world.objects.tamper(BUCKET, claim.key, content)
    report = world.redrive_with()
    assert sorted(one.code for one in report.stayed) == [ErrorCode.CHECKSUM_MISMATCH, "SizeDiffers"]


@pytest.mark.parametrize("left", [-1.0, 0.0], ids=["a second too little", "just enough"])
def test_a_payload_needs_as_much_life_as_its_queue_and_the_dlq_keep_a_copy(left: float) -> None:
    world = DlqWorld()
    (sent,) = world.dead()
    written = world.objects._current(BUCKET, getattr(sent.envelope.payload, "key", ""))
    assert written is not None
    assert written.info.last_modified is not None
    ends = written.info.last_modified.timestamp() + TTL_SECONDS
    world.clock.advance(ends - world.clock.now() - SOURCE_SECONDS - DLQ_SECONDS - left)
    report = world.redriver(canary_seconds=None, settle_seconds=0.0).run()
    assert [one.code for one in report.stayed] == (["ShortLived"] if left < 0 else [])


def test_what_its_consumer_would_park_again_stays(world: DlqWorld) -> None:
    world.send_body("{")
    forged = world.envelope()
    assert isinstance(forged.payload, Claim)
    world.send_body(encode(replace(forged, payload=replace(forged.payload, bucket="somebody-elses"))))
    world.settle()
    report = world.redrive_with()
    assert sorted(one.code for one in report.stayed) == [ErrorCode.INVALID_ENVELOPE, ErrorCode.UNTRUSTED_REFERENCE]
    assert world.faults.count("head") == 0, "nobody looks where a forged reference points"


def test_what_the_inbox_has_completed_is_skipped_and_deleted_only_when_told_so(world: DlqWorld) -> None:
    """R9.2."""
    sent = world.dead(2)
    world.send(sent[0].envelope)
    world.settle()
    assert world.effects(sent[0]) == 1
    report = world.redrive_with(settle_seconds=0.0)
    assert [one.code for one in report.stayed] == ["AlreadyCompleted"]
    assert report.succeeded, "what is done already is no failure"
    assert len(world.dead_ids()) == 1
    again = world.redrive_with(delete_completed=True)
    assert len(again.completed) == 1
    assert world.dead_ids() == []
    assert world.effects(sent[0]) == 1


def test_another_content_under_a_known_identity_stays(world: DlqWorld) -> None:
    sent = world.send()
    world.settle()
    world.send(world.envelope(b"other", identity=sent.envelope.message_id))
    world.settle()
    assert [one.code for one in world.redrive_with().stayed] == [ErrorCode.CONFLICT]


def test_what_is_parked_while_it_runs_stays(world: DlqWorld) -> None:
    world.dead(2)
    redriver = world.redriver(canary_seconds=None, settle_seconds=0.0)
    world.clock.advance(5)
    late = world.dead()
    report = redriver.run()
    assert [one.code for one in report.stayed] == ["ParkedMeanwhile"]
    assert [world.effects(one) for one in late] == [0]


# --- Destinations ---------------------------------------------------------------------------------------------------


def test_where_it_came_from_is_not_known_stays_until_it_is_named(world: DlqWorld) -> None:
    world.put_dead(encode(world.envelope()))
    report = world.redriver(canary_seconds=None, settle_seconds=0.0).run()
    assert [one.code for one in report.stayed] == ["NoDestination"]
    named = world.directory.facts(world.queue_url)
    assert len(world.redriver(canary_seconds=None, settle_seconds=0.0, named=named).run().moved) == 1


def test_a_forged_source_queue_is_not_believed(world: DlqWorld) -> None:
    stranger = QueueFacts(
        url="https://sqs/000000000000/payroll", arn=f"{ARN}payroll", retention_seconds=1, visible=0, in_flight=0
    )
    world.directory.strangers["payroll"] = stranger
    noted = {
        "errorCode": "HandlerFailed",
        "sourceQueue": "payroll",
        "originalMessageId": "m",
        "at": "2026-07-06T10:00:00Z",
    }
    world.put_dead(encode(world.envelope()), parked=json.dumps(noted))
    report = world.redriver(canary_seconds=None, settle_seconds=0.0).run()
    assert [one.code for one in report.stayed] == ["NoDestination"]
    assert world.queue.messages(stranger.url) == []


# --- Selection ------------------------------------------------------------------------------------------------------


def test_only_what_is_meant_goes(world: DlqWorld) -> None:
    sent = world.dead(3)
    chosen = Selection(ids={sent[1].envelope.message_id})
    report = world.redrive_with(selection=chosen)
    assert [one.message_id for one in report.moved] == [sent[1].envelope.message_id]
    assert report.not_meant == 2
    assert world.all_visible()


@pytest.mark.parametrize(
    "selection, count",
    [
        pytest.param(Selection(reasons={ErrorCode.HANDLER_FAILED}), 2, id="reason"),
        pytest.param(Selection(reasons={ErrorCode.CONFLICT}), 0, id="another reason"),
        pytest.param(Selection(tenants={"t-2"}), 0, id="tenant"),
        pytest.param(Selection(types={"DocumentUploaded"}), 2, id="type"),
        pytest.param(Selection(older_than=1000), 1, id="older"),
        pytest.param(Selection(newer_than=1000), 1, id="newer"),
    ],
)
def test_selected_by(selection: Selection, count: int) -> None:
    world = DlqWorld()
    world.dead()
    world.clock.advance(2000)
    world.dead()
    report = world.redriver(selection=selection, canary_seconds=None, settle_seconds=0.0).run()
    assert len(report.moved) == count


# --- Canary, errors that return -------------------------------------------------------------------------------------


def test_nothing_follows_a_canary_that_fails(world: DlqWorld) -> None:
    world.dead(5)
    report = world.redrive_with(broken, max_attempts=1)
    assert len(report.moved) == 1
    assert report.stopped is not None
    assert "failed: HandlerFailed" in report.stopped
    assert len(world.dead_ids()) == 5, "the copy is back, the others never left"
    assert world.all_visible()


def test_nothing_follows_a_canary_that_nobody_works_on(world: DlqWorld) -> None:
    world.dead(3)
    report = world.redriver(canary_seconds=60.0).run()
    assert len(report.moved) == 1
    assert report.stopped is not None
    assert "not completed within 60 s" in report.stopped


def test_it_stops_when_errors_return(world: DlqWorld) -> None:
    world.dead(200)
    report = world.redrive_with(
        broken, max_attempts=1, canary_seconds=None, limit=Limit(rate=5.0), max_failures=3, settle_seconds=5.0
    )
    assert report.stopped is not None
    assert "errors return" in report.stopped
    assert 3 < len(report.moved) < 50


def test_copies_that_came_back_are_counted_and_not_sent_again(world: DlqWorld) -> None:
    """The DLQ refills."""
    world.dead(30)
    report = world.redrive_with(
        broken, max_attempts=1, canary_seconds=None, limit=Limit(rate=10.0), max_failures=10**6, settle_seconds=0.0
    )
    assert len(report.moved) == 30
    codes = {one.code for one in report.stayed}
    assert codes <= {"CameBack"}
    assert len(world.dead_ids()) + len(world.queued()) == 30


def test_after_a_stop_the_same_call_sends_what_came_back_too(world: DlqWorld) -> None:
    sent = world.dead(5)
    journal = MemoryJournal("run-1")
    assert world.redrive_with(broken, max_attempts=1, journal=journal).stopped
    report = world.redrive_with(journal=journal)
    assert report.succeeded
    assert [world.effects(one) for one in sent] == [1] * 5
    assert world.dead_ids() == []


@pytest.mark.parametrize("most, left", [(1, 24), (7, 18), (10, 15), (25, 0), (99, 0)])
def test_a_small_batch_first(most: int, left: int) -> None:
    """R9.3, step 6; the rest stays as it is, and goes with the next call."""
    world = DlqWorld()
    sent = world.dead(25)
    report = world.redrive_with(most=most)
    assert report.succeeded
    assert len(report.moved) == 25 - left
    assert len(world.dead_ids()) == left
    assert world.all_visible()
    world.redrive_with()
    assert [world.effects(one) for one in sent] == [1] * 25


# --- Limits ---------------------------------------------------------------------------------------------------------


def sends(world: DlqWorld, sizes: list[int]) -> list[tuple[float, int, int]]:
    """When each call was made, with its messages and payload bytes."""
    made: list[tuple[float, int, int]] = []
    original = world.queue.send_batch

    def send_batch(url: str, messages: object) -> object:
        batch = list(messages)  # type: ignore[call-overload]
        loads = [json.loads(one.body)["payloadRef"]["contentLength"] for one in batch]
        made.append((world.clock.monotonic(), len(batch), sum(loads)))
        return original(url, batch)

    for number, size in enumerate(sizes):
        world.send(world.envelope(bytes(size), identity=f"e-{number}"))
    world.die()
    world.queue.send_batch = send_batch  # type: ignore[method-assign,assignment]
    return made


def test_messages_go_at_their_rate(world: DlqWorld) -> None:
    made = sends(world, [10] * 100)
    began = world.clock.monotonic()
    report = world.redriver(limit=Limit(rate=20.0), canary_seconds=None, settle_seconds=0.0).run()
    assert len(report.moved) == 100
    for at, _, _ in made:
        gone = sum(count for moment, count, _ in made if moment <= at)
        assert gone <= 4 + 20.0 * (at - began) + 1e-6
    assert made[-1][0] - began == pytest.approx(5.0, rel=0.1)


def test_bytes_go_at_their_rate_and_a_large_payload_alone(world: DlqWorld) -> None:
    """A redrive of large payloads is no read storm (R9.2)."""
    made = sends(world, [1000, 5000, 400, 400, 400])
    began = world.clock.monotonic()
    limit = Limit(rate=1000.0, bytes_per_second=1000.0)
    world.redriver(limit=limit, canary_seconds=None, settle_seconds=0.0).run()
    assert [count for _, count, _ in made] == [1, 1, 2, 1]
    assert made[-1][0] - began >= 5.9


# --- FIFO -----------------------------------------------------------------------------------------------------------


def test_order_within_a_group_holds_and_no_call_has_two_of_one(fifo: DlqWorld) -> None:
    """More than ten of a group come only as the ones before them are deleted."""
    sent = fifo.dead(40, groups=3)
    fifo.queue.batches.clear()
    report = fifo.redriver(canary_seconds=None, settle_seconds=0.0).run()
    assert len(report.moved) == 40
    for batch in fifo.queue.batches:
        groups = [one.group_id for one in batch]
        assert len(groups) == len(set(groups))
    for number in range(3):
        arrived = [one for one in fifo.queued() if one.message.group_id == f"g-{number}"]
        assert [json.loads(one.message.body)["messageId"] for one in arrived] == [
            one.envelope.message_id for one in sent[number::3]
        ]


def test_nothing_of_a_group_passes_a_message_that_the_queue_did_not_take(fifo: DlqWorld) -> None:
    sent = fifo.dead(6, groups=2)
    refused = encode(sent[2].envelope)
    fifo.queue.refuse_entries[refused] = (100, True)
    report = fifo.redriver(canary_seconds=None, settle_seconds=0.0).run()
    assert [one.code for one in report.stayed] == ["SendRefused", "GroupWaits"]
    assert len(report.moved) == 4
    assert fifo.all_visible()


def test_a_group_waits_behind_a_payload_that_cannot_be_looked_at_now_but_not_behind_one_that_is_gone(
    fifo: DlqWorld,
) -> None:
    sent = fifo.dead(3)
    fifo.lose_payload(sent[0])
    fifo.faults.fail("head", AccessDenied("no"), skip=1)
    report = fifo.redriver(canary_seconds=None, settle_seconds=0.0).run()
    assert [one.code for one in report.stayed] == [ErrorCode.MISSING_PAYLOAD, ErrorCode.ACCESS_DENIED, "GroupWaits"]


def test_a_group_waits_in_the_queue_behind_what_stays_of_it_in_the_archive(fifo: DlqWorld) -> None:
    fifo.dead(3, groups=2)
    archive = FakeArchive(faults=fifo.faults)
    dlq = fifo.queue._queue(fifo.dlq_url)
    source = fifo.source()
    archive.put(ArchivedLetter.of(source.take(1)[0], now=fifo.clock.now()))
    source.give_back()
    del dlq.messages[0]
    fifo.faults.fail("head", AccessDenied("no"))
    first = ArchiveSource(archive, fifo.dlq_url.rpartition("/")[2])
    report = fifo.redriver(sources=[first, fifo.source()], canary_seconds=None, settle_seconds=0.0).run()
    assert [one.code for one in report.stayed] == [ErrorCode.ACCESS_DENIED, "GroupWaits"]
    assert [one.message.group_id for one in fifo.queued()] == ["g-1"]


def test_what_stands_behind_ten_that_stay_is_said_to_be_unseen(fifo: DlqWorld) -> None:
    sent = fifo.dead(15)
    for one in sent[:10]:
        fifo.lose_payload(one)
    report = fifo.redriver(canary_seconds=None, settle_seconds=0.0).run()
    assert report.moved == []
    assert report.unseen == 5


# --- Failures on the way --------------------------------------------------------------------------------------------


def test_a_dead_letter_is_deleted_only_after_its_copy_was_confirmed(world: DlqWorld) -> None:
    world.dead(3)
    world.faults.fail("send_batch", Unavailable("lost"), times=99)
    report = world.redriver(canary_seconds=None).run()
    assert report.moved == []
    assert report.stopped is not None
    assert len(world.dead_ids()) == 3
    assert world.faults.count("delete_batch") == 0
    assert world.all_visible()


def test_a_lost_answer_to_a_send_is_absorbed_by_the_inbox(world: DlqWorld) -> None:
    sent = world.dead(4)
    world.faults.fail("send_batch", Unavailable("lost"), when="after")
    report = world.redrive_with(canary_seconds=None)
    assert len(report.moved) == 4
    assert len(world.queued()) + len(world.table.applied) >= 4
    world.settle()
    assert [world.effects(one) for one in sent] == [1] * 4


def test_an_entry_that_was_not_taken_is_sent_again_alone(world: DlqWorld) -> None:
    sent = world.dead(3)
    world.queue.refuse_entries[encode(sent[1].envelope)] = (1, False)
    world.queue.batches.clear()
    report = world.redriver(canary_seconds=None, settle_seconds=0.0).run()
    assert [len(batch) for batch in world.queue.batches] == [3, 1]
    assert len(report.moved) == 3


def run_with_file(world: DlqWorld, path: Path) -> Report:
    """A call of the command: it opens the journal, and closes it."""
    journal = FileJournal(path, run="r", about={}, now=world.clock.now())
    try:
        return world.redriver(journal=journal, canary_seconds=None, settle_seconds=0.0).run()
    finally:
        journal.close()


def test_a_dead_letter_that_could_not_be_deleted_is_deleted_by_the_next_call_and_not_sent_again(
    world: DlqWorld, tmp_path: Path
) -> None:
    sent = world.dead(3)
    world.queue.refuse_deletes[encode(sent[1].envelope)] = 2
    first = run_with_file(world, tmp_path / "j.jsonl")
    assert len(first.still_there) == 1
    assert not first.succeeded
    second = run_with_file(world, tmp_path / "j.jsonl")
    assert second.moved == []
    assert second.caught_up == sorted(first.still_there)
    assert world.dead_ids() == []
    assert len(world.queued()) == 3


def test_an_interrupt_gives_back_what_is_held(world: DlqWorld) -> None:
    world.dead(30)
    world.faults.fail("send_batch", KeyboardInterrupt(), skip=1)
    report = world.redriver(canary_seconds=None, limit=Limit(rate=50.0)).run()
    assert report.interrupted
    assert len(report.moved) == 10
    assert len(world.dead_ids()) == 20
    assert world.all_visible()


def test_what_is_held_stays_hidden_however_slowly_it_goes(world: DlqWorld) -> None:
    """A window is worked on for longer than it is hidden at first."""
    world.dead(30)
    hidden: list[bool] = []
    world.busy.meanwhile = lambda: hidden.append(
        all(one.visible_at > world.clock.now() for one in world.queue.messages(world.dlq_url))
    )
    report = world.redriver(canary_seconds=None, limit=Limit(rate=0.02), settle_seconds=0.0).run()
    assert len(report.moved) == 30
    assert report.seconds > 1400
    assert all(hidden)


def test_the_report_of_what_was_asked_for_is_whole(world: DlqWorld) -> None:
    sent = world.dead(4)
    world.lose_payload(sent[0])
    document = world.redrive_with().document()
    assert document["outcomes"] == {"completed": 3}
    assert [one["why"] for one in document["stayed"]] == ["MissingPayload"]
    assert {one["messageId"] for one in document["moved"]} == {one.envelope.message_id for one in sent[1:]}
    assert json.loads(json.dumps(document)) == document


# --- Journal --------------------------------------------------------------------------------------------------------


def test_a_journal_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "state" / "j.jsonl"
    journal = FileJournal(path, run="r-1", about={"dlq": "d"}, now=1.0)
    journal.note("sent", copies={"a": "copy"})
    with pytest.raises(JournalInUse, match="--journal"):
        FileJournal(path, run="r-2", about={"dlq": "d"}, now=2.0)
    journal.close()
    with path.open("a") as file:
        file.write('{"event":"removed","ids":["a"')  # the process died while it wrote
    again = FileJournal(path, run="r-2", about={"dlq": "d"}, now=2.0)
    assert (again.run, again.resumed, again.sent, again.removed) == ("r-1", True, {"a": "copy"}, set())
    again.note("finished")
    again.close()
    new = FileJournal(path, run="r-3", about={"dlq": "d"}, now=3.0)
    assert (new.run, new.resumed, new.sent) == ("r-3", False, {})
    new.close()
    assert (tmp_path / "state" / "j.jsonl.r-1").exists()


def test_what_a_dead_process_sent_and_still_hides_is_not_sent_again_when_it_can_be_seen(
    world: DlqWorld, tmp_path: Path
) -> None:
    world.dead(3)
    dead = world.source()
    held = dead.take(10)
    journal = FileJournal(tmp_path / "j.jsonl", run="r", about={}, now=world.clock.now())
    journal.note("sent", copies={held[0].sqs_message_id: "copy"})
    journal.close()
    first = run_with_file(world, tmp_path / "j.jsonl")
    assert (first.unseen, first.saw_nothing, first.succeeded) == (3, True, False)
    dead.give_back()
    second = run_with_file(world, tmp_path / "j.jsonl")
    assert second.caught_up == [held[0].sqs_message_id]
    assert len(second.moved) == 2
    assert second.succeeded
    assert run_with_file(world, tmp_path / "j.jsonl").succeeded, "an empty DLQ"


def test_a_journal_of_another_redrive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    FileJournal(path, run="r-1", about={"dlq": "d", "types": ["a"]}, now=1.0).close()
    with pytest.raises(JournalMismatch, match=r"other options \(types\)"):
        FileJournal(path, run="r-2", about={"dlq": "d", "types": ["b"]}, now=1.0)


@pytest.mark.parametrize(
    "content", ["hello", "hello\n", "[1]\n", '{"event":"sent"}\n', '{"event":"began","run":"r"}\nhello\n']
)
def test_another_file_is_never_taken_for_a_journal(tmp_path: Path, content: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(content)
    with pytest.raises(JournalUnusable, match="no journal"):
        FileJournal(path, run="r-1", about={}, now=1.0)
    assert path.read_text() == content


def test_a_journal_whose_first_line_was_cut_short_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text('{"event":"beg')
    journal = FileJournal(path, run="r-1", about={}, now=1.0)
    assert not journal.resumed
    journal.close()
    assert path.read_text().count("began") == 1


def test_a_journal_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalUnusable, match="--journal"):
        FileJournal(tmp_path / "file" / "j.jsonl", run="r-1", about={}, now=1.0)


# --- The archive ----------------------------------------------------------------------------------------------------


def archived(world: DlqWorld) -> tuple[FakeArchive, ArchiveSource]:
    """Everything of the DLQ, archived but not yet deleted there."""
    archive = FakeArchive(faults=world.faults)
    source = world.source()
    for delivery in source.take(100):
        archive.put(ArchivedLetter.of(delivery, now=world.clock.now()))
    source.give_back()
    return archive, ArchiveSource(archive, world.dlq_url.rpartition("/")[2])


def test_what_is_archived_goes_back_to_work_and_leaves_the_archive(world: DlqWorld) -> None:
    sent = world.dead(12)
    archive, source = archived(world)
    world.queue._queue(world.dlq_url).messages.clear()
    report = world.redrive_with(sources=[source, world.source()])
    assert report.succeeded
    assert [world.effects(one) for one in sent] == [1] * 12
    assert archive.objects == {}


def test_what_lies_in_both_places_is_sent_once(world: DlqWorld) -> None:
    """A letter is stored before it is deleted from the DLQ: it is one letter."""
    sent = world.dead(3)
    archive, source = archived(world)
    report = world.redriver(sources=[source, world.source()], canary_seconds=None, settle_seconds=0.0).run()
    assert (len(report.moved), len(report.caught_up)) == (3, 3)
    assert len(world.queued()) == len(sent)
    assert archive.objects == {}
    assert world.dead_ids() == []


def test_a_letter_that_the_archive_does_not_remove_is_not_sent_again(world: DlqWorld) -> None:
    world.dead()
    archive, source = archived(world)
    world.queue._queue(world.dlq_url).messages.clear()
    archive.refuse_removal.update(decode_letter(one).id for one in archive.objects.values())
    journal = MemoryJournal("r")
    first = world.redriver(journal=journal, sources=[source], canary_seconds=None, settle_seconds=0.0).run()
    assert len(first.still_there) == 1
    archive.refuse_removal.clear()
    again = ArchiveSource(archive, world.dlq_url.rpartition("/")[2])
    second = world.redriver(journal=journal, sources=[again], canary_seconds=None, settle_seconds=0.0).run()
    assert (second.moved, len(second.caught_up)) == ([], 1)


def test_a_replay_after_thirty_days(world: DlqWorld) -> None:
    """R6.5: the plan counts the archive, so that payload and inbox live as long; here the plan is 90 days."""
    sent = world.dead(2)
    _, source = archived(world)
    world.queue._queue(world.dlq_url).messages.clear()
    world.clock.advance(30 * DAY)
    world.life_seconds = 90 * DAY
    report = world.redriver(sources=[source], canary_seconds=None, settle_seconds=0.0).run()
    assert len(report.moved) == len(sent)
