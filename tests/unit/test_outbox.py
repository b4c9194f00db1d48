"""The outbox: staging with a domain write, the relay's claims and failures, the sweep, the stream (R3.1, R3.2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from claim_check import contract
from claim_check.contract import Metric, OnPoison, OutboxState
from claim_check.deadline import Deadline
from claim_check.envelope import Claim, Inline
from claim_check.errors import (
    AlreadyStaged,
    CommitFailed,
    Conflict,
    EmptyField,
    HandlerFailed,
    InfrastructureUnavailable,
    InvalidName,
    MalformedBatch,
    OutboxFull,
    PublishError,
    TransactionLimit,
    Unavailable,
)
from claim_check.outbox.relay import REFUSED, TOO_OLD, UNKNOWN_DESTINATION
from claim_check.outbox.rows import OutboxRow
from claim_check.outbox.stream import StreamRelay
from claim_check.transaction import Condition, Table, Transaction
from tests.fakes.clock import FakeClock
from tests.outbox_world import (
    BEFORE_SEND_SECONDS,
    BUCKET,
    DESTINATION,
    EVENT_TYPE,
    ORDERS,
    REMAINING_SECONDS,
    TENANT,
    TTL_SECONDS,
    OutboxWorld,
    event_of,
    place_order,
    stream_event,
)

GROUP = "order-1"


@pytest.fixture
def world() -> OutboxWorld:
    """An outbox for a standard queue."""
    return OutboxWorld()


@pytest.fixture
def fifo() -> OutboxWorld:
    """An outbox for a FIFO queue, where what cannot be sent stops its group."""
    return OutboxWorld(fifo=True)


# --- Staging --------------------------------------------------------------------------------------------------------


def test_a_domain_write_and_its_message_commit_together(world: OutboxWorld) -> None:
    world.stage("o-1")
    assert world.ordered() == ["o-1"]
    assert world.row("o-1").state == "PENDING"
    assert world.sent() == []  # nothing is sent before it is committed, nor by who stages


def test_nothing_of_a_refused_transaction_is_committed(world: OutboxWorld) -> None:
    world.table.refuse_write = 0
    outbox = world.outbox()
    with pytest.raises(HandlerFailed), outbox.transaction() as tx:  # noqa: PT012 - the block is what is committed
        tx.put(ORDERS, {"pk": "o-1"}, condition=Condition(expression="x"), if_condition_fails=HandlerFailed("sold out"))
        outbox.stage(event_of("o-1"), tx)
    assert (world.ordered(), world.states()) == ([], [])


def test_nothing_is_committed_when_the_block_raises(world: OutboxWorld) -> None:
    outbox = world.outbox()
    with pytest.raises(ValueError, match="no stock"), outbox.transaction() as tx:  # noqa: PT012 - the whole block is the call
        place_order(outbox, tx, "o-1")
        raise ValueError("no stock")
    assert world.faults.count("commit") == 0


def test_a_transaction_without_writes_asks_nothing(world: OutboxWorld) -> None:
    with world.outbox().transaction():
        pass
    assert world.faults.calls == []


def test_the_payload_is_in_place_before_the_transaction(world: OutboxWorld) -> None:
    world.stage("o-1", content=b"x" * 100_000, content_type="application/pdf")
    assert world.faults.calls.index("put_if_absent") < world.faults.calls.index("commit")
    row = world.row("o-1")
    assert (row.payload_bucket, row.payload_bytes, row.body is not None) == (BUCKET, 100_000, True)


def test_what_is_staged_tells_its_claim_for_the_domain_row(world: OutboxWorld) -> None:
    outbox = world.outbox()
    with outbox.transaction() as tx:
        large = outbox.stage(event_of("o-1", payload=b"x", content_type="text/plain"), tx)
        small = outbox.stage(event_of("o-2"), tx)
    assert isinstance(large.claim, Claim)  # R3.3
    assert large.claim.key == world.row("o-1").payload_key
    assert isinstance(small.payload, Inline)
    assert small.claim is None
    assert (large.message_id, large.idempotency_key, large.destination) == ("o-1", "o-1", DESTINATION)


def test_staging_the_same_event_again_says_that_all_is_done(world: OutboxWorld) -> None:
    world.stage("o-1")
    with pytest.raises(AlreadyStaged):
        world.stage("o-1")
    assert world.ordered() == ["o-1"]


def test_staging_it_again_writes_no_second_payload(world: OutboxWorld) -> None:
    world.stage("o-1", content=b"x", content_type="text/plain")
    with pytest.raises(AlreadyStaged):
        world.stage("o-1", content=b"x", content_type="text/plain")
    assert world.faults.count("put_if_absent") == 1


def test_it_says_so_of_an_event_that_was_sent_long_ago(world: OutboxWorld) -> None:
    world.stage("o-1")
    world.deliver()
    with pytest.raises(AlreadyStaged):
        world.stage("o-1")


@pytest.mark.parametrize("change", [{"content": b"[]"}, {"event_version": 2}], ids=["content", "version"])
def test_the_same_identity_with_other_content_is_a_conflict(world: OutboxWorld, change: dict[str, Any]) -> None:
    world.stage("o-1")
    with pytest.raises(Conflict):
        world.stage("o-1", **change)
    assert world.ordered() == ["o-1"]


@pytest.mark.parametrize("content, error", [(b"{}", AlreadyStaged), (b"[]", Conflict)], ids=["same", "other"])
def test_a_race_for_one_identity_is_told_apart(world: OutboxWorld, content: bytes, error: type[Exception]) -> None:
    world.faults.on("commit", lambda: world.stage("o-1", content=content))
    with pytest.raises(error):
        world.stage("o-1")
    assert world.ordered() == ["o-1"]


def test_in_a_consumer_a_race_is_retried(world: OutboxWorld) -> None:
    tx = Transaction(Deadline(world.clock, 60))
    world.outbox().stage(event_of("o-1"), tx)
    assert isinstance(tx.refusal(0), CommitFailed)  # and the next attempt meets the row
    assert not tx.refusal(0).permanent


def test_events_without_an_identity_are_new_work_each_time(world: OutboxWorld) -> None:
    outbox = world.outbox()
    for _ in range(2):
        with outbox.transaction() as tx:
            outbox.stage(event_of(None), tx)
    assert world.states() == ["PENDING", "PENDING"]
    assert world.faults.count("rows") == 0


def test_a_commit_whose_answer_was_lost_is_the_same_commit(world: OutboxWorld) -> None:
    world.faults.fail("commit", Unavailable("no answer"), when="after")
    world.stage("o-1")
    assert (world.ordered(), world.states()) == (["o-1"], ["PENDING"])


def test_conflicts_are_retried_and_then_told(world: OutboxWorld) -> None:
    world.faults.fail("commit", Unavailable("TransactionConflict"), times=3)
    world.stage("o-1")
    assert world.faults.count("commit") == 4
    world.faults.fail("commit", Unavailable("TransactionConflict"), times=99)
    with pytest.raises(Unavailable, match="repeat the whole"):
        world.stage("o-2")


def test_a_payload_that_cannot_be_written_commits_nothing(world: OutboxWorld) -> None:
    world.faults.fail("put_if_absent", PublishError("denied"))
    with pytest.raises(PublishError):
        world.stage("o-1", content=b"x", content_type="text/plain")
    assert world.states() == []


def test_a_fifo_destination_needs_a_group(fifo: OutboxWorld) -> None:
    with pytest.raises(EmptyField):
        fifo.stage("o-1")


def test_several_events_of_a_group_in_one_transaction_keep_their_order(fifo: OutboxWorld) -> None:
    outbox = fifo.outbox()
    with outbox.transaction() as tx:
        for number in range(5):
            place_order(outbox, tx, f"o-{number}", group=GROUP)
    assert len([write for write in tx.writes if write.action == "Update"]) == 1
    fifo.deliver()
    assert fifo.sent() == [f"o-{number}" for number in range(5)]


def test_a_group_with_too_much_unsent_refuses_more(fifo: OutboxWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("claim_check.outbox.staging._MOST_BEFORE", 1)
    fifo.stage("o-1", group=GROUP)
    fifo.stage("o-2", group=GROUP)
    with pytest.raises(OutboxFull, match="OutboxLag"):
        fifo.stage("o-3", group=GROUP)
    fifo.stage("o-4", group="another")


def test_a_row_is_never_part_of_a_transaction_without_its_place_in_the_group(fifo: OutboxWorld) -> None:
    tx = Transaction(Deadline(fifo.clock, 60))
    for number in range(98):
        tx.put(ORDERS, {"pk": f"o-{number}"})
    with pytest.raises(TransactionLimit):
        fifo.outbox().stage(event_of("o-x", group=GROUP), tx)
    assert fifo.table.commit(tx.writes, token="t") is None  # who ignores the error loses nothing, and sends nothing
    fifo.stage("o-y", group=GROUP)
    fifo.deliver()
    assert fifo.sent() == ["o-y"]


def test_a_destination_is_named_where_there_are_several(world: OutboxWorld) -> None:
    outbox = world.outbox(destinations=(DESTINATION, "audit"))
    tx = Transaction(Deadline(world.clock, 60))
    with pytest.raises(InvalidName, match="audit, invoices"):
        outbox.stage(event_of("o-1"), tx)
    with pytest.raises(InvalidName):
        outbox.stage(event_of("o-1"), tx, destination="invoice")
    outbox.stage(event_of("o-1"), tx, destination="audit")
    outbox.stage(event_of("o-1"), tx, destination=DESTINATION)  # the same event, for both
    world.table.apply(tx.writes)
    world.relay(routes=(DESTINATION, "audit")).run(list(world.table.items), remaining_seconds=60)
    assert [len(world.queue.messages(url)) for url in (world.queue_url, world.other_url)] == [1, 1]


def test_a_payload_of_a_file_is_staged(world: OutboxWorld, tmp_path: Path) -> None:
    path = tmp_path / "scan.pdf"
    path.write_bytes(b"%PDF" * 1000)
    outbox = world.outbox()
    for again in (False, True):
        with outbox.transaction() as tx:
            if again:
                with pytest.raises(AlreadyStaged):
                    outbox.stage(event_of("o-1", payload=path, content_type="application/pdf"), tx)
            else:
                outbox.stage(event_of("o-1", payload=path, content_type="application/pdf"), tx)


def test_no_log_line_tells_a_key_or_a_payload(world: OutboxWorld) -> None:
    world.stage("o-1", content=b"very secret", content_type="text/plain")
    world.queue.refuse_entries[world.row("o-1").body or ""] = (1, True)
    world.deliver()
    world.clock.advance(60)
    world.sweep()
    text = json.dumps([[line.event, line.fields] for line in world.telemetry.lines])
    assert "published" in text
    assert not any(word in text for word in ("very secret", str(world.row("o-1").payload_key), "payloads/"))  # R11.4
    assert "very secret" not in repr(world.row("o-1"))


# --- The relay ------------------------------------------------------------------------------------------------------


def test_what_was_committed_is_sent_and_marked(world: OutboxWorld) -> None:
    world.stage("o-1", content=b"x", content_type="text/plain")
    world.clock.advance(3)
    world.deliver()
    (envelope,) = world.envelopes()
    assert isinstance(envelope.payload, Claim)
    row = world.row("o-1")
    assert (row.state, row.body, row.attributes, row.owner) == ("SENT", None, {}, None)
    assert row.ttl == int(world.clock.now()) + TTL_SECONDS
    assert row.sqs_message_id == world.queue.messages(world.queue_url)[0].sqs_message_id
    assert world.telemetry.counts[Metric.OUTBOX_LAG] == 3  # R3.2
    assert world.telemetry.counts[Metric.PUBLISHED] == world.telemetry.counts[Metric.PUBLISHED_CLAIMS] == 1


def test_a_message_is_what_a_producer_would_have_sent(world: OutboxWorld) -> None:
    world.stage("o-1", attributes={"kind": "b2b"}, domain_ref={"orderId": "o-1"}, correlation_id="c-1")
    world.clock.advance(1000)
    world.sweep()
    (stored,) = world.queue.messages(world.queue_url)
    assert set(stored.message.attributes) == {"eventType", "tenantId", "kind"}
    (envelope,) = world.envelopes()
    assert (envelope.correlation_id, dict(envelope.domain_ref)) == ("c-1", {"orderId": "o-1"})
    assert envelope.published_at is not None
    assert envelope.published_at.timestamp() == world.row("o-1").staged_at  # the body is the same at every attempt


def test_ten_rows_take_one_call(world: OutboxWorld) -> None:
    for number in range(25):
        world.stage(f"o-{number}")
    world.deliver()
    assert [len(batch) for batch in world.queue.batches] == [10, 10, 5]  # R2.7
    assert len(world.sent()) == 25


def test_calls_hold_no_more_bytes_than_sqs_takes(world: OutboxWorld) -> None:
    big = json.dumps("x" * 200_000).encode()
    outbox = world.outbox(inline_limit=contract.OUTBOX_MAX_INLINE_BYTES)
    for number in range(8):
        world.stage(f"o-{number}", outbox=outbox, content=big)
    world.deliver()
    assert [len(batch) for batch in world.queue.batches] == [5, 3]


def test_no_call_holds_two_of_a_group(fifo: OutboxWorld) -> None:
    for number in range(9):
        fifo.stage(f"o-{number}", group=f"g-{number % 3}")
    fifo.deliver()
    assert [len(batch) for batch in fifo.queue.batches] == [3, 3, 3]
    for group in range(3):
        assert [one for one in fifo.sent() if int(one[2:]) % 3 == group] == [
            f"o-{group}",
            f"o-{group + 3}",
            f"o-{group + 6}",
        ]


def test_a_long_group_goes_out_in_one_run(fifo: OutboxWorld) -> None:
    for number in range(25):
        fifo.stage(f"o-{number}", group=GROUP)
    fifo.faults.clear()
    fifo.deliver(count=1)
    fifo.deliver(count=1)  # the first record is the group's own item
    assert fifo.sent() == [f"o-{number}" for number in range(25)]
    assert fifo.faults.count("rows") < 10


def test_a_row_that_was_sent_already_is_passed_over(world: OutboxWorld) -> None:
    key = world.stage("o-1")
    for _ in range(2):  # a stream shows a record twice now and then
        world.relay().run([key, key], remaining_seconds=REMAINING_SECONDS)
    assert world.sent() == ["o-1"]


def test_a_row_that_is_gone_is_passed_over(world: OutboxWorld) -> None:
    assert world.relay().run(["invoices#t-1#gone"], remaining_seconds=60).failed == frozenset()


def test_two_relays_do_not_send_one_row_twice(world: OutboxWorld) -> None:
    key = world.stage("o-1")
    world.faults.on("send_batch", lambda: world.relay().run([key], remaining_seconds=60))
    world.relay().run([key], remaining_seconds=60)
    assert world.sent() == ["o-1"]


def test_two_relays_do_not_share_a_group(fifo: OutboxWorld) -> None:
    keys = [fifo.stage(f"o-{number}", group=GROUP) for number in range(3)]
    fifo.faults.on("send_batch", lambda: fifo.relay().run(keys, remaining_seconds=60), times=5)
    fifo.relay().run(keys[2:], remaining_seconds=60)
    assert fifo.sent() == ["o-0", "o-1", "o-2"]


def test_a_relay_that_stalls_before_it_sends_moves_no_group_on(fifo: OutboxWorld) -> None:
    """Relay without row claim, lost lease overwrites (FIELD_REPORTS: xavierjohn/Trellis#644)."""
    keys = [fifo.stage(f"o-{number}", group=GROUP) for number in range(3)]

    def stall() -> None:
        fifo.clock.advance(REMAINING_SECONDS + 10)
        assert fifo.relay().run(keys, remaining_seconds=60).sent == 3

    fifo.faults.on("send_batch", stall)
    assert fifo.relay().run(keys, remaining_seconds=REMAINING_SECONDS).sent <= 1
    assert fifo.sent() == ["o-0", "o-1", "o-2"]  # the late send of o-0 was a duplicate by its deduplication id
    assert fifo.states() == ["SENT"] * 3


def test_a_relay_whose_row_was_taken_over_writes_nothing(world: OutboxWorld) -> None:
    key = world.stage("o-1")

    def stall() -> None:
        world.clock.advance(REMAINING_SECONDS + 10)
        world.relay().run([key], remaining_seconds=60)

    world.faults.on("send_batch", stall)
    world.relay().run([key], remaining_seconds=REMAINING_SECONDS)
    first, second = world.envelopes()
    assert first == second  # on a standard queue both arrive: the inbox knows them by their identity
    assert world.row("o-1").sqs_message_id == world.queue.messages(world.queue_url)[0].sqs_message_id


def test_what_is_staged_while_a_group_is_drained_is_not_left_behind(fifo: OutboxWorld) -> None:
    """The stream's relay for it finds the group taken: nobody else would come before the sweep."""
    key = fifo.stage("o-0", group=GROUP)
    fifo.faults.on("release_group", lambda: fifo.stage("o-1", group=GROUP))
    fifo.relay().run([key], remaining_seconds=60)
    assert fifo.sent() == ["o-0", "o-1"]


def test_a_late_relay_of_an_old_record_sends_its_group_in_order(fifo: OutboxWorld) -> None:
    for number in range(3):
        fifo.stage(f"o-{number}", group=GROUP)
    fifo.relay().run([fifo.key("o-2")], remaining_seconds=60)  # records of one group come from several shards
    assert fifo.sent() == ["o-0", "o-1", "o-2"]


def test_no_send_begins_without_time(world: OutboxWorld) -> None:
    key = world.stage("o-1")
    assert world.relay().run([key], remaining_seconds=2).sent == 0
    assert world.sent() == []
    world.clock.advance(60)
    assert world.sweep().sent == 1


# --- Failures -------------------------------------------------------------------------------------------------------


def test_an_outage_of_the_queue_costs_no_attempt(world: OutboxWorld) -> None:
    world.stage("o-1")
    world.faults.fail("send_batch", Unavailable("down"), times=30)
    world.deliver()
    row = world.row("o-1")
    assert (row.state, row.attempts, row.last_code) == ("PENDING", 0, "Unavailable")
    assert row.due_at > world.clock.now()
    for _ in range(40):
        world.clock.advance(60)
        world.sweep()
    assert world.sent() == ["o-1"]


def test_a_refused_row_backs_off_and_is_parked_after_its_attempts(world: OutboxWorld) -> None:
    """A poison row is capped and parked, and blocks no other (FIELD_REPORTS: watt-mind/factory#1496)."""
    world.stage("poison")
    world.queue.refuse_entries[world.row("poison").body or ""] = (99, True)
    world.stage("good")
    world.deliver()
    assert world.sent() == ["good"]
    waits = []
    while world.row("poison").state == "PENDING":
        waits.append(round(world.row("poison").due_at - world.clock.now()))
        world.clock.advance(waits[-1] + 20)
        world.sweep()
    row = world.row("poison")
    assert (row.state, row.attempts, row.last_code, row.ttl) == ("PARKED", 10, REFUSED, 0)
    assert row.body  # it can be sent yet
    assert waits == sorted(waits)
    assert waits[0] < 10
    assert waits[-1] > 300
    assert world.telemetry.counts[Metric.PARKED] == 1


def test_a_call_that_is_refused_as_a_whole_is_repeated_message_by_message(world: OutboxWorld) -> None:
    for number in range(3):
        world.stage(f"o-{number}")
    world.faults.fail("send_batch", PublishError("BatchRequestTooLong"))
    world.deliver()
    assert sorted(world.sent()) == ["o-0", "o-1", "o-2"]


def test_a_refused_row_is_not_overtaken_in_its_group(fifo: OutboxWorld) -> None:
    for number in range(3):
        fifo.stage(f"o-{number}", group=GROUP)
    fifo.stage("other", group="other")
    fifo.queue.refuse_entries[fifo.row("o-1").body or ""] = (2, True)
    fifo.deliver()
    assert fifo.sent() == ["o-0", "other"]  # only that group waits
    for _ in range(5):
        fifo.clock.advance(60)
        fifo.sweep()
    assert [one for one in fifo.sent() if one != "other"] == ["o-0", "o-1", "o-2"]


@pytest.mark.parametrize(
    "on_poison, sent, states",
    [("block", ["o-0"], ["SENT", "PARKED", "PENDING"]), ("park", ["o-0", "o-2"], ["SENT", "PARKED", "SENT"])],
)
def test_a_parked_row_stops_its_group_or_is_set_aside(on_poison: OnPoison, sent: list[str], states: list[str]) -> None:
    fifo = OutboxWorld(fifo=True, on_poison=on_poison)
    for number in range(3):
        fifo.stage(f"o-{number}", group=GROUP)
    fifo.queue.refuse_entries[fifo.row("o-1").body or ""] = (99, True)
    fifo.deliver()
    for _ in range(40):
        fifo.clock.advance(300)
        fifo.sweep()
    assert fifo.sent() == sent
    assert fifo.states() == states


def test_a_row_older_than_before_send_is_parked_at_once_and_blocks_no_other(world: OutboxWorld) -> None:
    world.stage("old")
    world.clock.advance(BEFORE_SEND_SECONDS + 1)
    world.stage("new")
    world.sweep()
    world.deliver()
    assert world.sent() == ["new"]  # R3.2: its payload may be gone before its message
    assert (world.row("old").state, world.row("old").last_code) == ("PARKED", TOO_OLD)


def test_a_row_just_young_enough_is_sent(world: OutboxWorld) -> None:
    world.stage("o-1")
    world.clock.advance(BEFORE_SEND_SECONDS)
    world.sweep()
    assert world.sent() == ["o-1"]


@pytest.mark.parametrize("on_poison, sent", [("block", []), ("park", ["young"])])
def test_an_old_row_at_the_head_of_a_group(on_poison: OnPoison, sent: list[str]) -> None:
    fifo = OutboxWorld(fifo=True, on_poison=on_poison)
    fifo.stage("old", group=GROUP)
    fifo.clock.advance(BEFORE_SEND_SECONDS + 1)
    fifo.stage("young", group=GROUP)
    fifo.sweep()
    fifo.deliver()
    assert fifo.row("old").state == "PARKED"
    assert fifo.sent() == sent


def test_a_row_for_a_destination_that_is_gone_is_parked(world: OutboxWorld) -> None:
    world.stage("o-1")
    world.deliver(world.relay(routes=()))
    assert (world.row("o-1").state, world.row("o-1").last_code) == ("PARKED", UNKNOWN_DESTINATION)


def test_conflicts_with_who_stages_are_waited_out(fifo: OutboxWorld) -> None:
    fifo.stage("o-1", group=GROUP)
    fifo.faults.fail("settle_head", Unavailable("TransactionConflict"), times=3)
    fifo.deliver()
    assert (fifo.sent(), fifo.states()) == (["o-1"], ["SENT"])


def test_a_row_that_cannot_be_marked_is_reported_and_does_no_harm(world: OutboxWorld) -> None:
    keys = [world.stage(f"o-{number}") for number in range(3)]
    world.faults.fail("settle_row", Unavailable("down"), times=6)
    relayed = world.relay().run(keys, remaining_seconds=60)
    assert relayed.failed == {keys[0]}
    world.clock.advance(100)
    world.sweep()
    assert world.states() == ["SENT"] * 3
    assert sorted(world.sent()) == ["o-0", "o-0", "o-1", "o-2"]


# --- The stream -----------------------------------------------------------------------------------------------------


def stream_relay(world: OutboxWorld) -> StreamRelay:
    """The function behind the stream."""
    return StreamRelay(world.relay(), telemetry=world.telemetry)


def test_only_the_first_failed_record_is_reported(world: OutboxWorld) -> None:
    """Lambda repeats everything from the lowest one on (FIELD_REPORTS: floci-io/floci#3262)."""
    keys = [world.stage(f"o-{number}") for number in range(5)]
    for skip in (1, 2):  # the leases of records 2 and 4 are not answered
        world.faults.fail("lease_row", Unavailable("down"), skip=skip, times=6)
    answer = stream_relay(world).handle(stream_event(keys, start=100), remaining_seconds=60)
    assert answer == {"batchItemFailures": [{"itemIdentifier": "101"}]}
    assert stream_relay(world).handle(stream_event(keys, start=100), remaining_seconds=60) == {"batchItemFailures": []}
    assert sorted(world.sent()) == [f"o-{number}" for number in range(5)]


def test_a_poison_row_does_not_hold_up_its_shard(world: OutboxWorld) -> None:
    key = world.stage("poison")
    world.queue.refuse_entries[world.row("poison").body or ""] = (99, True)
    assert stream_relay(world).handle(stream_event([key]), remaining_seconds=60) == {"batchItemFailures": []}


@pytest.mark.parametrize("name", ["REMOVE", "MODIFY"])
def test_only_inserts_count(world: OutboxWorld, name: str) -> None:
    """What a time to live removes comes through the stream, too (FIELD_REPORTS: jgilbert01/aws-lambda-stream#426)."""
    key = world.stage("o-1")
    assert stream_relay(world).handle(stream_event([key], name=name), remaining_seconds=60) == {"batchItemFailures": []}
    assert world.sent() == []


def test_the_same_record_twice_sends_once(world: OutboxWorld) -> None:
    """FIELD_REPORTS: awsdocs/amazon-dynamodb-developer-guide#249."""
    key = world.stage("o-1")
    for _ in range(2):
        stream_relay(world).handle(stream_event([key, key]), remaining_seconds=60)
    assert world.sent() == ["o-1"]


def test_items_of_groups_are_passed_over(fifo: OutboxWorld) -> None:
    fifo.stage("o-1", group=GROUP)
    assert fifo.table.stream[0].startswith("@")
    assert fifo.deliver(count=1) == fifo.table.stream[:1]
    assert fifo.sent() == []
    fifo.deliver()
    assert fifo.sent() == ["o-1"]


def test_a_table_that_does_not_answer_lets_lambda_back_off(world: OutboxWorld) -> None:
    key = world.stage("o-1")
    world.faults.fail("rows", Unavailable("down"))
    with pytest.raises(InfrastructureUnavailable):
        stream_relay(world).handle(stream_event([key]), remaining_seconds=60)


def broken(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """An event with a broken record."""
    event = stream_event(["invoices#t-1#a", "invoices#t-1#b"])
    change(event["Records"][1])
    return event


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"Records": []},
        {"Records": ["text"]},
        broken(lambda record: record.update(eventSource="aws:sqs")),
        broken(lambda record: record.pop("dynamodb")),
        broken(lambda record: record["dynamodb"].pop("SequenceNumber")),
        broken(lambda record: record["dynamodb"].update(Keys={"id": {"S": "a"}})),
    ],
    ids=["nothing", "no-records", "text", "another-source", "no-item", "no-number", "another-table"],
)
def test_a_foreign_event_is_refused_before_anything_is_done(world: OutboxWorld, event: dict[str, Any]) -> None:
    with pytest.raises(MalformedBatch):
        stream_relay(world).handle(event, remaining_seconds=60)
    assert world.faults.calls == []


# --- The sweep ------------------------------------------------------------------------------------------------------


def test_a_sweep_sends_what_the_stream_missed(world: OutboxWorld) -> None:
    world.stage("o-1")
    world.clock.advance(30)
    swept = world.sweep()
    assert (swept.pending, swept.sent, swept.parked, swept.lag_seconds) == (1, 1, 0, 30)
    assert world.sent() == ["o-1"]
    assert world.telemetry.flushed[-1] == {
        Metric.OUTBOX_LAG: 30,
        Metric.OUTBOX_PARKED: 0,
        Metric.OUTBOX_SWEPT: 1,
        Metric.PUBLISHED: 1,
        Metric.PUBLISHED_BYTES: 2,
    }


def test_a_sweep_leaves_young_rows_to_the_stream(world: OutboxWorld) -> None:
    world.stage("o-1")
    world.clock.advance(5)
    swept = world.sweep()
    assert (swept.pending, swept.sent, swept.lag_seconds) == (1, 0, 5)


def test_a_sweep_tells_in_time_though_more_rows_wait_than_it_can_look_at(
    world: OutboxWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an outage of the queue no row is due yet, so that none ends the look; a killed sweep measures nothing."""
    for number in range(100):
        key = world.stage(f"e-{number}")
        world.table.items[key] = replace(world.table.items[key], due_at=world.clock.now() + 3600)
    open_rows = world.table.open_rows

    def slowly(state: OutboxState) -> Iterator[OutboxRow]:
        for row in open_rows(state):
            world.clock.advance(1.0)
            yield row

    monkeypatch.setattr(world.table, "open_rows", slowly)
    began = world.clock.monotonic()
    swept = world.sweep()
    assert world.clock.monotonic() - began < REMAINING_SECONDS
    assert 0 < swept.pending < 100
    assert Metric.OUTBOX_LAG in world.telemetry.counts


def test_a_sweep_of_nothing_says_so(world: OutboxWorld) -> None:
    world.sweep()
    assert world.telemetry.flushed[-1] == {Metric.OUTBOX_LAG: 0, Metric.OUTBOX_PARKED: 0, Metric.OUTBOX_SWEPT: 0}


def test_a_sweep_counts_what_is_parked(world: OutboxWorld) -> None:
    world.stage("o-1")
    world.clock.advance(BEFORE_SEND_SECONDS + 1)
    assert world.sweep().parked == 1
    assert world.sweep().parked == 1
    assert world.sweep().lag_seconds == 0  # R3.2: a parked row is another metric's


def test_a_sweep_goes_through_many_rows(world: OutboxWorld) -> None:
    for number in range(250):
        world.stage(f"o-{number}")
    world.clock.advance(30)
    assert world.sweep().sent == 250


def test_a_sweep_stops_in_time(world: OutboxWorld) -> None:
    for number in range(250):
        world.stage(f"o-{number}")
    world.clock.advance(30)
    world.faults.on("send_batch", lambda: world.clock.advance(10), times=999)
    swept = world.sweep()
    assert 0 < swept.sent < 250
    assert swept.lag_seconds == 30


def test_an_index_that_is_behind_does_no_harm(world: OutboxWorld) -> None:
    world.stage("o-1")
    stale = world.row("o-1")
    world.deliver()
    world.clock.advance(30)
    world.table.items[stale.key] = stale
    rows = list(world.table.open_rows("PENDING"))
    world.table.items[stale.key] = replace(stale, state="SENT")
    world.relay().run([row.key for row in rows], remaining_seconds=60)
    assert world.sent() == ["o-1"]


# --- Transactions that append ---------------------------------------------------------------------------------------


def test_appends_to_one_list_are_one_write() -> None:
    tx, table = Transaction(Deadline(FakeClock(), 60)), Table("t", partition_key="pk")
    tx.append(table, {"pk": "a"}, "names", ["x"], most=5)
    tx.append(table, {"pk": "b"}, "names", ["y"], most=5)
    tx.append(table, {"pk": "a"}, "names", ["z"], most=5)
    assert [write.values[":more"] for write in tx.writes] == [["x", "z"], ["y"]]
    with pytest.raises(TransactionLimit, match="one item twice"):
        tx.put(table, {"pk": "a"})


def test_appends_count_towards_the_limit() -> None:
    tx, table = Transaction(Deadline(FakeClock(), 60)), Table("t", partition_key="pk")
    for _ in range(39):
        tx.append(table, {"pk": "a"}, "names", ["x" * 100_000], most=5)
    with pytest.raises(TransactionLimit, match="bytes in one transaction"):
        tx.append(table, {"pk": "a"}, "names", ["x" * 100_000], most=5)


def test_the_key_of_a_row_is_that_of_its_identity() -> None:
    key = contract.outbox_key(destination=DESTINATION, tenant_id=TENANT, id_hash=contract.id_hash("o-1"))
    world = OutboxWorld()
    assert world.stage("o-1") == key
    assert world.row("o-1").event_type == EVENT_TYPE
    assert not contract.is_name(contract.outbox_group_key(destination="a", group_id="g").partition("#")[0])
