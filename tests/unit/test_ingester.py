"""What an ingester makes of each event: the ledger's rules, one arrow each, and the ends of a message (R10)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from claim_check.contract import ErrorCode, Metric
from claim_check.dead_letters import parked_reason
from claim_check.errors import (
    AccessDenied,
    CommitFailed,
    InfrastructureUnavailable,
    PermanentError,
    Unavailable,
)
from claim_check.ingest import ObjectChange
from claim_check.ingest.changes import Seen
from claim_check.ingest.notifications import synthetic
from claim_check.ingest.ports import LedgerRow
from claim_check.processor import Outcome
from claim_check.transaction import Condition, Transaction
from claim_check.verified_stream import VerifiedStream
from tests.fakes.faults import Crash, When
from tests.fakes.ingest import BUCKET, FakeBucket, etag_of
from tests.ingest_world import DLQ, QUEUE, TARGET, TOMBSTONE_SECONDS, IngestWorld, apply_put

KEY = "in/a b+é.txt"
Record = dict[str, Any]


@pytest.fixture(params=[False, True], ids=["unversioned", "versioned"])
def world(request: pytest.FixtureRequest) -> IngestWorld:
    """Everything, on a bucket with and without versions."""
    return IngestWorld(versioned=request.param)


def row_of(world: IngestWorld) -> LedgerRow:
    """The object's ledger row."""
    return world.ledger.stored[BUCKET, KEY]


def counted(world: IngestWorld, metric: str) -> float:
    """How often something was counted."""
    return world.telemetry.counts.get(metric, 0)


def effects(world: IngestWorld) -> list[bytes | None]:
    """Contents that were applied, in order; None is a removal."""
    return [None if write.item is None else write.item["content"] for write in world.ledger.applied]


def synthetic_for(world: IngestWorld, etag: str | None) -> str:
    """The event of a reconciliation that saw this tag, and the row as it is."""
    row = world.ledger.stored.get((BUCKET, KEY))
    return synthetic(bucket=BUCKET, key=KEY, seen=Seen(etag, row.revision if row else None))


# --- The example of the docs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["012", "021", "102", "120", "201", "210", "2101", "0012122"])
def test_three_events_end_as_the_bucket_does_in_whatever_order_they_arrive(world: IngestWorld, order: str) -> None:
    """R10.1, R10.2: written, removed, written anew."""
    bucket = world.bucket
    events = [bucket.put(KEY, b"old"), bucket.delete(KEY), bucket.put(KEY, b"new")]
    for number in order:
        assert world.handle(events[int(number)]).acknowledged
    assert world.target() == world.truth()
    assert effects(world)[-1] == b"new"
    assert row_of(world).sequencer == events[2]["s3"]["object"]["sequencer"]


def test_in_the_order_of_events_each_version_is_applied() -> None:
    world = IngestWorld(versioned=True)
    events = [world.bucket.put(KEY, b"old"), world.bucket.delete(KEY), world.bucket.put(KEY, b"new")]
    for event in events:
        world.handle(event)
    assert effects(world) == [b"old", None, b"new"]


# --- Puts -----------------------------------------------------------------------------------------------------------


def test_a_put_is_applied_and_recorded_with_its_effect(world: IngestWorld) -> None:
    told: list[ObjectChange] = []

    def put(change: ObjectChange, stream: VerifiedStream | None, tx: Transaction) -> None:
        told.append(change)
        apply_put(change, stream, tx)

    record = world.bucket.put(KEY, b"content")
    assert world.handle(record, ingester=world.ingester(put)) == Outcome(Metric.PROCESSED, acknowledged=True)
    (change,) = told
    state = world.bucket.current(KEY)
    assert state is not None
    assert (change.bucket, change.key.text, change.kind) == (BUCKET, KEY, "ObjectCreated:Put")
    assert (change.version_id, change.etag, change.size) == (state.version_id, etag_of(b"content"), 7)
    assert (change.content_type, change.metadata) == ("text/plain", {"origin": "here"})
    assert change.occurred_at == int(world.clock.now())
    assert effects(world) == [b"content"]
    row = row_of(world)
    assert (row.state, row.sequencer, row.exact) == ("PRESENT", record["s3"]["object"]["sequencer"], True)
    assert (row.version_id, row.etag, row.size, row.ttl) == (state.version_id, state.etag, 7, None)
    assert row.applied_at == world.clock.now()
    assert counted(world, Metric.INGESTED_PUTS) == 1
    assert counted(world, Metric.PAYLOAD_BYTES) == 7
    assert all(body.closed for body in world.bucket.bodies)


def test_a_duplicate_is_acknowledged_without_effect(world: IngestWorld) -> None:
    record = world.bucket.put(KEY, b"content")
    for _ in range(3):
        assert world.handle(record).acknowledged
    assert effects(world) == [b"content"]
    assert counted(world, Metric.DUPLICATE) == 2
    assert world.faults.count("open") == 1


def test_an_older_event_is_stale_and_reads_nothing(world: IngestWorld) -> None:
    old, new = world.bucket.put(KEY, b"old"), world.bucket.put(KEY, b"new")
    world.handle(new)
    assert world.handle(old) == Outcome(None, acknowledged=True)
    assert effects(world) == [b"new"]
    assert counted(world, Metric.INGEST_STALE) == 1
    assert world.faults.count("open") == 1


def test_new_bytes_are_never_applied_under_an_old_sequencer() -> None:
    """R10.2: what was overwritten is skipped where the bucket keeps no versions."""
    world = IngestWorld()
    old = world.bucket.put(KEY, b"old")
    world.bucket.put(KEY, b"new")
    assert world.handle(old).acknowledged
    assert effects(world) == []
    assert counted(world, Metric.INGEST_SUPERSEDED) == 1
    assert world.ledger.stored == {}


def test_the_very_version_is_applied_where_the_bucket_keeps_it() -> None:
    """R10.2."""
    world = IngestWorld(versioned=True)
    old = world.bucket.put(KEY, b"old")
    world.bucket.put(KEY, b"new")
    world.bucket.delete(KEY)
    world.handle(old)
    assert effects(world) == [b"old"]


def test_an_object_that_is_gone_is_superseded(world: IngestWorld) -> None:
    record = world.bucket.put(KEY, b"old")
    world.bucket.versions.clear()
    assert world.handle(record).acknowledged
    assert (effects(world), counted(world, Metric.INGEST_SUPERSEDED)) == ([], 1)


def test_an_empty_object_is_one(world: IngestWorld) -> None:
    """aws-powertools/powertools-lambda-python#372: 0 is a size."""
    world.handle(world.bucket.put(KEY, b""))
    assert effects(world) == [b""]
    assert row_of(world).size == 0


def test_an_event_without_a_size_is_read_all_the_same(world: IngestWorld) -> None:
    record = world.bucket.put(KEY, b"content")
    del record["s3"]["object"]["size"]
    world.handle(record)
    assert effects(world) == [b"content"]


def test_a_handler_that_reads_no_content_costs_no_read_of_it(world: IngestWorld) -> None:
    seen: list[VerifiedStream | None] = []

    def put(_: ObjectChange, stream: VerifiedStream | None, __: Transaction) -> None:
        seen.append(stream)

    world.handle(world.bucket.put(KEY, b"content"), ingester=world.ingester(put, rules={"access": "none"}))
    assert seen == [None]
    assert (world.faults.count("open"), world.faults.count("head")) == (0, 1)
    assert row_of(world).etag == etag_of(b"content")


def test_content_left_unread_is_verified_before_anything_is_recorded(world: IngestWorld) -> None:
    record = world.bucket.put(KEY, b"content")
    world.handle(record, ingester=world.ingester(lambda *_: None))
    assert world.faults.count("read") > 0
    assert row_of(world).state == "PRESENT"


# --- Removals -------------------------------------------------------------------------------------------------------


def test_a_removal_leaves_a_tombstone(world: IngestWorld) -> None:
    """A delete marker is a delete: aws-solutions-library-samples/data-lakes-on-aws#24."""
    world.handle(world.bucket.put(KEY, b"content"))
    record = world.bucket.delete(KEY)
    assert world.handle(record).acknowledged
    row = row_of(world)
    assert (row.state, row.etag, row.size, row.exact) == ("DELETED", None, None, True)
    assert row.sequencer == record["s3"]["object"]["sequencer"]
    assert row.version_id == record["s3"]["object"].get("versionId")
    assert row.ttl == int(world.clock.now()) + TOMBSTONE_SECONDS
    assert (world.target(), counted(world, Metric.INGESTED_DELETES)) == ({}, 1)


def test_an_object_may_be_removed_that_was_never_applied(world: IngestWorld) -> None:
    put = world.bucket.put(KEY, b"content")
    world.handle(world.bucket.delete(KEY))
    assert effects(world) == [None]
    world.handle(put)
    assert effects(world) == [None]
    assert counted(world, Metric.INGEST_STALE) == 1


def test_a_tombstone_ends_when_the_object_comes_back(world: IngestWorld) -> None:
    world.handle(world.bucket.delete(KEY))
    world.handle(world.bucket.put(KEY, b"new"))
    assert (row_of(world).state, row_of(world).ttl) == ("PRESENT", None)


def test_the_removal_of_an_old_version_changes_nothing() -> None:
    world = IngestWorld(versioned=True)
    first, second = world.bucket.put(KEY, b"old"), world.bucket.put(KEY, b"new")
    world.handle(first)
    world.handle(second)
    removed = world.bucket.remove_version(KEY, world.bucket.versions[KEY][0])
    assert world.handle(removed).acknowledged
    assert effects(world) == [b"old", b"new"]
    assert row_of(world).sequencer == removed["s3"]["object"]["sequencer"]
    assert not row_of(world).exact


@pytest.mark.parametrize("removed", ["the current version", "the delete marker"])
def test_an_older_version_that_becomes_current_is_applied(removed: str) -> None:
    """awsdocs/amazon-s3-userguide#44: no event says so, but the bucket does."""
    world = IngestWorld(versioned=True)
    world.handle(world.bucket.put(KEY, b"old"))
    after = world.bucket.delete(KEY) if removed == "the delete marker" else world.bucket.put(KEY, b"new")
    world.handle(after)
    restored = world.bucket.remove_version(KEY, world.bucket.versions[KEY][-1])
    world.handle(restored)
    assert effects(world)[-1] == b"old"
    assert world.target() == world.truth()
    world.handle(after)  # comes again: older than the look
    assert world.target() == world.truth()
    assert counted(world, Metric.INGEST_STALE) == 1


def test_the_last_version_removed_is_the_object_removed() -> None:
    world = IngestWorld(versioned=True)
    world.handle(world.bucket.put(KEY, b"only"))
    world.handle(world.bucket.remove_version(KEY, world.bucket.versions[KEY][0]))
    assert (world.target(), row_of(world).state) == ({}, "DELETED")


# --- What sequencers do not decide ----------------------------------------------------------------------------------


def _shortened(record: Record) -> Record:
    record["s3"]["object"]["sequencer"] = record["s3"]["object"]["sequencer"][:-2]
    return record


def _without(record: Record) -> Record:
    del record["s3"]["object"]["sequencer"]
    return record


UNDECIDED = pytest.mark.parametrize("spoil", [_shortened, _without], ids=["unequal length", "missing"])


@UNDECIDED
def test_where_sequencers_do_not_decide_the_bucket_does(world: IngestWorld, spoil: Any) -> None:  # noqa: ANN401 - one of two functions
    """minio/minio#18272, aws/aws-sdk-net#1119: a removal wins only if the object is not there."""
    world.handle(world.bucket.put(KEY, b"old"))
    removal = spoil(world.bucket.delete(KEY))
    world.handle(removal)
    assert (world.target(), counted(world, Metric.INGEST_UNDECIDED)) == ({}, 1)
    assert not row_of(world).exact
    world.bucket.put(KEY, b"new")
    world.handle(spoil(world.bucket.put(KEY, b"newest")))
    assert world.target() == world.truth()
    world.handle(removal | {"eventTime": "2026-07-06T10:15:31.000Z"})
    assert world.target() == world.truth()
    assert counted(world, Metric.INGEST_SUPERSEDED) + counted(world, Metric.DUPLICATE) >= 1


@UNDECIDED
def test_an_overwritten_put_is_superseded_where_the_bucket_decides(world: IngestWorld, spoil: Any) -> None:  # noqa: ANN401 - one of two functions
    world.handle(world.bucket.put(KEY, b"first"))
    old = spoil(world.bucket.put(KEY, b"old"))
    world.bucket.put(KEY, b"new")
    world.handle(old)
    assert effects(world) == [b"first"]
    assert counted(world, Metric.INGEST_SUPERSEDED) == 1


@UNDECIDED
def test_a_removal_is_superseded_where_the_object_is_there_again(world: IngestWorld, spoil: Any) -> None:  # noqa: ANN401 - one of two functions
    world.handle(world.bucket.put(KEY, b"first"))
    removal = spoil(world.bucket.delete(KEY))
    world.bucket.put(KEY, b"again")
    assert world.handle(removal) == Outcome(None, acknowledged=True)
    assert effects(world) == [b"first"]
    assert counted(world, Metric.INGEST_SUPERSEDED) == 1


def test_what_the_bucket_said_once_is_not_undone_by_an_event_in_between(world: IngestWorld) -> None:
    """The bucket may have been ahead of the event that made it be asked."""
    first = _without(world.bucket.put(KEY, b"same"))
    removal = world.bucket.delete(KEY)
    last = world.bucket.put(KEY, b"same")
    if world.versioned:
        first["s3"]["object"].pop("versionId")
    world.handle(first)
    assert effects(world) == [b"same"]
    world.handle(removal)
    assert effects(world) == [b"same"]
    world.handle(last)
    assert world.target() == world.truth()


def test_without_a_row_an_event_older_than_any_tombstone_proves_nothing(world: IngestWorld) -> None:
    put = world.bucket.put(KEY, b"content")
    world.bucket.delete(KEY)
    world.clock.advance(TOMBSTONE_SECONDS + 1)
    assert world.handle(put).acknowledged
    assert effects(world) == []
    assert counted(world, Metric.INGEST_SUPERSEDED) == 1


def test_an_event_without_a_time_is_confirmed_by_the_bucket(world: IngestWorld) -> None:
    put = world.bucket.put(KEY, b"content")
    del put["eventTime"]
    world.handle(put)
    assert effects(world) == [b"content"]
    assert world.faults.count("head") == 1


def test_a_put_that_tells_neither_version_nor_tag_takes_what_is_there(world: IngestWorld) -> None:
    put = world.bucket.put(KEY, b"content")
    for name in ("eTag", "versionId"):
        put["s3"]["object"].pop(name, None)
    world.handle(put)
    assert effects(world) == [b"content"]
    assert not row_of(world).exact


def test_an_object_that_was_restored_from_an_archive_is_applied_if_it_was_not(world: IngestWorld) -> None:
    put = world.bucket.put(KEY, b"content")
    restored = put | {"eventName": "ObjectRestore:Completed"}
    world.handle(restored)
    assert effects(world) == [b"content"]
    world.handle(restored)
    assert effects(world) == [b"content"]


# --- Synthetic events -----------------------------------------------------------------------------------------------


def test_a_synthetic_event_brings_what_was_never_told(world: IngestWorld) -> None:
    put = world.bucket.put(KEY, b"content")
    world.process(world.ingester(), world.delivery(body=synthetic_for(world, etag_of(b"content"))))
    assert effects(world) == [b"content"]
    assert (row_of(world).sequencer, row_of(world).exact) == (None, False)
    world.handle(put)  # the late event of the same version: nothing new
    assert effects(world) == [b"content"]
    assert row_of(world).sequencer == put["s3"]["object"]["sequencer"]


def test_a_synthetic_removal_is_one(world: IngestWorld) -> None:
    world.handle(world.bucket.put(KEY, b"content"))
    removal = world.bucket.delete(KEY)
    world.process(world.ingester(), world.delivery(body=synthetic_for(world, None)))
    assert world.target() == {}
    assert row_of(world).ttl is not None
    world.handle(removal)
    assert effects(world) == [b"content", None]


def test_a_synthetic_event_never_overtakes_a_real_one(world: IngestWorld) -> None:
    """R10.3: it is good only for the row that was seen."""
    world.handle(world.bucket.put(KEY, b"old"))
    body = synthetic_for(world, None)
    world.handle(world.bucket.put(KEY, b"new"))
    world.bucket.delete(KEY)
    assert world.process(world.ingester(), world.delivery(body=body)).acknowledged
    assert effects(world) == [b"old", b"new"]
    assert counted(world, Metric.INGEST_SUPERSEDED) == 1


@pytest.mark.parametrize("seen", [None, etag_of(b"other")], ids=["nothing", "another"])
def test_a_synthetic_event_is_confirmed_by_the_bucket(world: IngestWorld, seen: str | None) -> None:
    world.handle(world.bucket.put(KEY, b"old"))
    world.bucket.put(KEY, b"new")
    assert world.process(world.ingester(), world.delivery(body=synthetic_for(world, seen))).acknowledged
    assert effects(world) == [b"old"]


def test_a_synthetic_event_that_tells_nothing_new_writes_nothing(world: IngestWorld) -> None:
    world.handle(world.bucket.put(KEY, b"content"))
    before = row_of(world)
    assert world.process(world.ingester(), world.delivery(body=synthetic_for(world, etag_of(b"content")))).acknowledged
    assert row_of(world) == before
    assert counted(world, Metric.DUPLICATE) == 1


# --- Races ----------------------------------------------------------------------------------------------------------


def test_an_ingester_that_was_overtaken_decides_anew(world: IngestWorld) -> None:
    old, new = world.bucket.put(KEY, b"old"), world.bucket.put(KEY, b"new")
    world.faults.on("write_row", lambda: world.handle(new))
    assert world.handle(old if world.versioned else new).acknowledged
    assert effects(world) == [b"new"]
    assert counted(world, Metric.INGEST_CONFLICTS) == 1


def test_an_object_that_changes_while_it_is_looked_at_is_looked_at_again(world: IngestWorld) -> None:
    put = _without(world.bucket.put(KEY, b"content"))
    for name in ("eTag", "versionId"):
        put["s3"]["object"].pop(name, None)
    world.faults.on("open", world.bucket.versions.clear)
    world.faults.on("head", lambda: world.bucket.put(KEY, b"again"), skip=1)
    world.handle(put)
    assert effects(world) == [b"again"]


def test_a_row_that_changes_all_the_time_is_left_for_later(world: IngestWorld) -> None:
    record = world.bucket.put(KEY, b"content")
    other = LedgerRow(bucket=BUCKET, key=KEY, state="DELETED", revision="x", sequencer="0", exact=True)

    def meddle() -> None:
        revision = f"x-{next(world.ids)}"
        world.ledger.stored[BUCKET, KEY] = LedgerRow(
            bucket=BUCKET, key=KEY, state=other.state, revision=revision, sequencer="0" * 18, exact=True
        )

    world.faults.on("write_row", meddle, times=100)
    outcome = world.handle(record)
    assert (outcome.acknowledged, outcome.infrastructure) == (False, True)
    assert effects(world) == []


def test_a_lost_answer_of_the_commit_is_recognised(world: IngestWorld) -> None:
    record = world.bucket.put(KEY, b"content")
    world.faults.fail("write_row", Unavailable("no answer"), when="after")
    assert world.handle(record) == Outcome(Metric.PROCESSED, acknowledged=True)
    assert effects(world) == [b"content"]
    assert counted(world, Metric.INGEST_CONFLICTS) == 0


def test_a_lost_answer_without_an_effect_is_recognised_by_its_revision(world: IngestWorld) -> None:
    record = world.bucket.put(KEY, b"content")
    world.faults.fail("write_row", Unavailable("no answer"), when="after")
    assert world.handle(record, ingester=world.ingester(lambda *_: None)).acknowledged
    assert counted(world, Metric.INGESTED_PUTS) == 1


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["put", "delete", "look", "synthetic"])
def test_a_death_at_any_call_costs_nothing_but_a_repetition(world: IngestWorld, kind: str, when: When) -> None:
    """R10.2: the effect is there once, whatever the boundary; the next delivery finishes it."""
    boundary = 0
    while True:
        here = IngestWorld(versioned=world.versioned)
        here.handle(here.bucket.put(KEY, b"first"))
        if kind == "put":
            record = here.bucket.put(KEY, b"second")
        else:
            record = here.bucket.delete(KEY)
            if kind == "look":
                record["s3"]["object"].pop("sequencer")
        delivery = here.delivery(record)
        if kind == "synthetic":
            delivery = here.delivery(body=synthetic_for(here, None))
        here.faults.clear()
        here.faults.crash_at(boundary, when)
        try:
            here.process(here.ingester(), delivery)
        except Crash:
            boundary += 1
        else:
            break
        here.faults.clear()
        assert here.process(here.ingester(), delivery).acknowledged
        assert effects(here) == [b"first", b"second" if kind == "put" else None]
        assert here.target() == here.truth()
    assert boundary >= 2


# --- Failures -------------------------------------------------------------------------------------------------------


class Unreadable(PermanentError):
    """A reason of the handler's own."""

    code = "Unreadable"


def parked(world: IngestWorld) -> list[tuple[str, str]]:
    """Codes and messages in the DLQ."""
    found = []
    for one in world.queue.messages(DLQ):
        delivery = world.delivery(body=one.message.body, attributes=one.message.attributes)
        reason = parked_reason(delivery)
        assert reason is not None
        found.append((reason.error_code, reason.original_message_id))
    return found


def _raise(error: Exception) -> Any:  # noqa: ANN401 - a handler
    def handler(*_: object) -> None:
        raise error

    return handler


def test_a_failed_handler_leaves_no_trace_and_is_retried_with_growing_delays(world: IngestWorld) -> None:
    ingester = world.ingester(_raise(RuntimeError("secret text")))
    delivery = world.delivery(world.bucket.put(KEY, b"content"))
    delays = [world.process(ingester, delivery).hide_seconds for _ in range(4)]
    assert delays == [2, 3, 6, 12]
    assert world.ledger.stored == {}
    assert effects(world) == []
    assert counted(world, ErrorCode.HANDLER_FAILED) == 4
    assert all(body.closed for body in world.bucket.bodies)


def test_a_message_that_failed_often_enough_is_parked_with_its_reason(world: IngestWorld) -> None:
    ingester = world.ingester(_raise(RuntimeError()), max_attempts=3)
    delivery = world.delivery(world.bucket.put(KEY, b"content"), receive_count=40)
    outcomes = [world.process(ingester, delivery) for _ in range(3)]
    assert [outcome.acknowledged for outcome in outcomes] == [False, False, True]
    assert parked(world) == [(ErrorCode.HANDLER_FAILED, delivery.sqs_message_id)]
    assert outcomes[-1].name == Metric.PARKED


def test_outages_cost_no_attempt(world: IngestWorld) -> None:
    delivery = world.delivery(world.bucket.put(KEY, b"content"))
    world.faults.fail("open", Unavailable("no answer"), times=20)
    for _ in range(20):
        outcome = world.process(world.ingester(), delivery)
        assert (outcome.acknowledged, outcome.infrastructure) == (False, True)
    assert world.ledger.failures == {}
    assert world.process(world.ingester(), delivery).acknowledged


def test_a_permanent_error_is_parked_at_once(world: IngestWorld) -> None:
    delivery = world.delivery(world.bucket.put(KEY, b"content"))
    assert world.process(world.ingester(_raise(Unreadable())), delivery).acknowledged
    assert parked(world) == [("Unreadable", delivery.sqs_message_id)]
    assert world.ledger.stored == {}


def test_denied_access_is_tried_twice(world: IngestWorld) -> None:
    delivery = world.delivery(world.bucket.put(KEY, b"content"))
    world.faults.fail("open", AccessDenied("no"), times=9)
    outcomes = [world.process(world.ingester(), delivery) for _ in range(2)]
    assert [outcome.acknowledged for outcome in outcomes] == [False, True]
    assert [code for code, _ in parked(world)] == [ErrorCode.ACCESS_DENIED]


def test_where_nothing_may_be_parked_the_group_waits(world: IngestWorld) -> None:
    ingester = world.ingester(_raise(Unreadable()), parking=False)
    assert not world.handle(world.bucket.put(KEY, b"content"), ingester=ingester).acknowledged
    assert counted(world, Metric.GROUP_BLOCKED) == 1


def test_a_copy_that_the_dlq_did_not_take_is_sent_again(world: IngestWorld) -> None:
    delivery = world.delivery(world.bucket.put(KEY, b"content"))
    ingester = world.ingester(_raise(Unreadable()))
    world.faults.fail("send_batch", Unavailable("no answer"))
    assert world.process(ingester, delivery).infrastructure
    assert world.process(ingester, delivery).acknowledged
    assert len(parked(world)) == 1


def test_a_count_that_was_not_taken_is_no_reason_to_park(world: IngestWorld) -> None:
    world.faults.fail("failed", Unavailable("no answer"))
    ingester = world.ingester(_raise(RuntimeError()), max_attempts=1)
    outcome = world.handle(world.bucket.put(KEY, b"content"), ingester=ingester)
    assert (outcome.acknowledged, outcome.infrastructure) == (False, True)


def test_content_that_is_not_what_the_store_keeps_of_it_is_parked(world: IngestWorld) -> None:
    record = world.bucket.put(KEY, b"content")
    opened = world.bucket.open

    def corrupted(**place: Any) -> Any:  # noqa: ANN401 - the port's
        found = opened(**place)
        assert found is not None
        found.body._stream.getbuffer()[0] = 0  # type: ignore[attr-defined]
        return found

    world.bucket.open = corrupted  # type: ignore[method-assign]
    assert world.handle(record).acknowledged
    assert [code for code, _ in parked(world)] == [ErrorCode.CHECKSUM_MISMATCH]
    assert effects(world) == []


def test_a_size_that_is_not_the_events_is_parked(world: IngestWorld) -> None:
    record = world.bucket.put(KEY, b"content")
    record["s3"]["object"]["size"] = 8
    assert world.handle(record).acknowledged
    assert [code for code, _ in parked(world)] == [ErrorCode.CHECKSUM_MISMATCH]
    assert all(body.closed for body in world.bucket.bodies)


@pytest.mark.parametrize("told", [True, False])
def test_an_object_over_the_maximum_is_parked(world: IngestWorld, told: bool) -> None:  # noqa: FBT001 - a parameter
    record = world.bucket.put(KEY, b"content")
    if not told:
        del record["s3"]["object"]["size"]
    assert world.handle(record, ingester=world.ingester(rules={"max_object_bytes": 6})).acknowledged
    assert [code for code, _ in parked(world)] == [ErrorCode.PAYLOAD_TOO_LARGE]
    assert all(body.closed for body in world.bucket.bodies)


def test_a_verdict_on_bytes_that_were_not_verified_is_none(world: IngestWorld) -> None:
    world.faults.fail("read", Unavailable("broke off"))
    record = world.bucket.put(KEY, b"content")
    outcome = world.handle(record, ingester=world.ingester(_raise(Unreadable())))
    assert (outcome.acknowledged, outcome.infrastructure) == (False, True)
    assert parked(world) == []


def test_a_write_of_the_handlers_that_is_refused_means_what_it_declared(world: IngestWorld) -> None:
    def put(change: ObjectChange, _: VerifiedStream | None, tx: Transaction) -> None:
        condition = Condition(expression="attribute_not_exists(#k)", names={"#k": "key"})
        tx.put(TARGET, {"key": change.key.text}, condition=condition, if_condition_fails=Unreadable())

    world.ledger.refuse_write = 0
    assert world.handle(world.bucket.put(KEY, b"content"), ingester=world.ingester(put)).acknowledged
    assert [code for code, _ in parked(world)] == ["Unreadable"]
    assert world.ledger.stored == {}


def test_a_commit_that_the_table_refuses_for_good_is_a_failure(world: IngestWorld) -> None:
    world.faults.fail("write_row", CommitFailed("validation"))
    outcome = world.handle(world.bucket.put(KEY, b"content"))
    assert not outcome.acknowledged
    assert counted(world, ErrorCode.COMMIT_FAILED) == 1
    assert list(world.ledger.failures.values()) == [1]


def test_a_commit_through_an_outage_is_the_infrastructures(world: IngestWorld) -> None:
    world.faults.fail("write_row", Unavailable("throttled"), times=10_000)
    outcome = world.handle(world.bucket.put(KEY, b"content"))
    assert outcome.infrastructure
    assert world.ledger.failures == {}


def test_past_the_deadline_nothing_is_committed(world: IngestWorld) -> None:
    def slow(change: ObjectChange, stream: VerifiedStream | None, tx: Transaction) -> None:
        apply_put(change, stream, tx)
        world.clock.advance(100)

    outcome = world.handle(world.bucket.put(KEY, b"content"), ingester=world.ingester(slow))
    assert not outcome.acknowledged
    assert (effects(world), counted(world, ErrorCode.DEADLINE_EXCEEDED)) == ([], 1)


def test_past_the_deadline_no_removal_is_committed_either(world: IngestWorld) -> None:
    world.handle(world.bucket.put(KEY, b"content"))
    removal = world.bucket.delete(KEY)
    outcome = world.handle(removal, ingester=world.ingester(delete=lambda *_: world.clock.advance(100)))
    assert not outcome.acknowledged
    assert row_of(world).state == "PRESENT"


def test_without_time_nothing_is_begun(world: IngestWorld) -> None:
    delivery = world.delivery(world.bucket.put(KEY, b"content"))
    outcome = world.process(world.ingester(), delivery, seconds=0.5)
    assert outcome == Outcome(Metric.DEFERRED, hide_seconds=1)
    assert world.faults.count("read_row") == 0


# --- Messages -------------------------------------------------------------------------------------------------------


def test_one_message_may_tell_of_several_objects(world: IngestWorld) -> None:
    records = [world.bucket.put(key, key.encode()) for key in ("a", "b", "c")]
    assert world.handle(*records).acknowledged
    assert world.target() == world.truth()


def test_what_fails_does_not_keep_its_neighbours_from_being_applied(world: IngestWorld) -> None:
    def put(change: ObjectChange, stream: VerifiedStream | None, tx: Transaction) -> None:
        if change.key.text == "b":
            raise RuntimeError
        apply_put(change, stream, tx)

    records = [world.bucket.put(key, key.encode()) for key in ("a", "b", "c")]
    delivery = world.delivery(*records)
    assert not world.process(world.ingester(put), delivery).acknowledged
    assert world.target().keys() == {"a", "c"}
    assert world.process(world.ingester(), delivery).acknowledged
    assert [write.key["key"] for write in world.ledger.applied] == ["a", "c", "b"]


def test_a_malformed_record_is_parked_once_its_neighbours_are_applied(world: IngestWorld) -> None:
    delivery = world.delivery({"eventName": "ObjectCreated:Put"}, world.bucket.put(KEY, b"content"))
    assert world.process(world.ingester(), delivery).acknowledged
    assert effects(world) == [b"content"]
    assert parked(world) == [(ErrorCode.INVALID_NOTIFICATION, delivery.sqs_message_id)]


def test_what_may_pass_is_tried_again_before_anything_is_parked(world: IngestWorld) -> None:
    delivery = world.delivery({"eventName": "ObjectCreated:Put"}, world.bucket.put(KEY, b"content"))
    world.faults.fail("open", Unavailable("no answer"))
    outcome = world.process(world.ingester(), delivery)
    assert (outcome.acknowledged, outcome.infrastructure) == (False, False)
    assert parked(world) == []
    assert world.process(world.ingester(), delivery).acknowledged
    assert len(parked(world)) == 1


@pytest.mark.parametrize("body", ["no JSON", "{}", '{"Records":[]}'])
def test_what_is_no_notification_is_parked(world: IngestWorld, body: str) -> None:
    assert world.process(world.ingester(), world.delivery(body=body)).acknowledged
    assert [code for code, _ in parked(world)] == [ErrorCode.INVALID_NOTIFICATION]


def test_an_unknown_kind_is_counted_and_acknowledged(world: IngestWorld) -> None:
    record = {"eventName": "ObjectTeleported:Beam"}
    assert world.handle(record).acknowledged
    assert counted(world, Metric.INGEST_UNKNOWN) == 1
    assert world.telemetry.events("warning") == ["an event of an unknown kind was acknowledged"]


@pytest.mark.parametrize(
    "body",
    [
        '{"Service":"Amazon S3","Event":"s3:TestEvent","Bucket":"ingest"}',
        '{"Records":[{"eventName":"ObjectTagging:Put"}]}',
    ],
)
def test_what_changes_no_object_is_acknowledged(world: IngestWorld, body: str) -> None:
    assert world.process(world.ingester(), world.delivery(body=body)) == Outcome(None, acknowledged=True)
    assert counted(world, Metric.INGEST_IGNORED) == 1
    assert world.faults.calls == []


def test_events_of_another_bucket_are_not_followed(world: IngestWorld) -> None:
    """R11.3."""
    record = world.bucket.put(KEY, b"content")
    record["s3"]["bucket"]["name"] = "another"
    assert world.handle(record).acknowledged
    assert [code for code, _ in parked(world)] == [ErrorCode.UNTRUSTED_REFERENCE]
    assert world.faults.count("open") == 0


def test_no_log_line_holds_a_key_or_what_a_handler_said(world: IngestWorld) -> None:
    """R11.4."""
    world.handle(world.bucket.put(KEY, b"content"), ingester=world.ingester(_raise(RuntimeError(f"about {KEY}"))))
    (line,) = world.telemetry.lines
    assert line.fields["payloadKeyHash"]
    assert line.fields["payloadBucket"] == BUCKET
    assert line.fields["errorCode"] == ErrorCode.HANDLER_FAILED
    assert KEY not in json.dumps([line.event, line.fields], ensure_ascii=False)


def test_the_token_of_an_effect_stays_the_same_and_is_no_others(world: IngestWorld) -> None:
    tokens: list[str] = []

    def failing(change: ObjectChange, *_: object) -> None:
        tokens.append(change.effect_token)
        raise RuntimeError

    records = [world.bucket.put(KEY, b"one"), world.bucket.put(KEY, b"two")]
    for record in [records[1], records[1]]:
        world.handle(record, ingester=world.ingester(failing, failing))
    body = synthetic_for(world, etag_of(b"two"))
    for _ in range(2):
        world.process(world.ingester(failing, failing), world.delivery(body=body))
    assert (tokens[0] == tokens[1], tokens[2] == tokens[3], len(set(tokens))) == (True, True, 2)


# --- Batches --------------------------------------------------------------------------------------------------------


def lambda_record(world: IngestWorld, record: Mapping[str, Any], **system: str) -> Record:
    """A record of Lambda's SQS event."""
    number = next(world.ids)
    return {
        "messageId": f"m-{number}",
        "receiptHandle": f"r-{number}",
        "body": json.dumps({"Records": [record]}),
        "attributes": {"ApproximateReceiveCount": "1", "SentTimestamp": "0", **system},
        "messageAttributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:eu-central-1:1:ingest",
    }


def answered(answer: Mapping[str, Any]) -> list[str]:
    """Ids that are to be delivered again."""
    return [item["itemIdentifier"] for item in answer["batchItemFailures"]]


def test_the_answer_names_what_is_to_come_again(world: IngestWorld) -> None:
    def put(change: ObjectChange, stream: VerifiedStream | None, tx: Transaction) -> None:
        if change.key.text == "b":
            raise RuntimeError
        apply_put(change, stream, tx)

    records = [lambda_record(world, world.bucket.put(key, b"x")) for key in ("a", "b", "c")]
    answer = world.ingester(put).handle_lambda({"Records": records}, remaining_seconds=60)
    assert answered(answer) == [records[1]["messageId"]]
    assert world.telemetry.flushed


def test_a_whole_batch_that_failed_for_the_infrastructure_raises(world: IngestWorld) -> None:
    records = [lambda_record(world, world.bucket.put(key, b"x")) for key in ("a", "b")]
    world.faults.fail("read_row", Unavailable("no answer"), times=10)
    with pytest.raises(InfrastructureUnavailable):
        world.ingester().handle_lambda({"Records": records}, remaining_seconds=60)


def test_events_of_one_object_in_one_batch_do_not_race(world: IngestWorld) -> None:
    records = [lambda_record(world, world.bucket.put(KEY, bytes([number]))) for number in range(6)]
    assert answered(world.ingester().handle_lambda({"Records": records}, remaining_seconds=60)) == []
    assert counted(world, Metric.INGEST_CONFLICTS) == 0
    assert world.target() == world.truth()


def test_a_group_stops_behind_a_failure_and_others_go_on(world: IngestWorld) -> None:
    """R4.7, R10.4: on FIFO the order within an object's group is kept."""

    def put(change: ObjectChange, stream: VerifiedStream | None, tx: Transaction) -> None:
        if change.etag == etag_of(b"bad"):
            raise RuntimeError
        apply_put(change, stream, tx)

    bucket = FakeBucket(world.clock, world.faults, versioned=True)
    events = [bucket.put("a", b"bad"), bucket.put("a", b"good"), bucket.put("b", b"good")]
    records = [lambda_record(world, event, MessageGroupId=event["s3"]["object"]["key"]) for event in events]
    ingester = world.ingester(put, objects=bucket, queue_url=f"{QUEUE}.fifo")
    answer = ingester.handle_lambda({"Records": records}, remaining_seconds=60)
    assert answered(answer) == [records[0]["messageId"], records[1]["messageId"]]
    assert world.target().keys() == {"b"}


def test_a_message_that_came_often_runs_alone_after_the_others(world: IngestWorld) -> None:
    order: list[str] = []

    def put(change: ObjectChange, stream: VerifiedStream | None, tx: Transaction) -> None:
        order.append(change.key.text)
        apply_put(change, stream, tx)

    records = [
        lambda_record(world, world.bucket.put("often", b"x"), ApproximateReceiveCount="4"),
        lambda_record(world, world.bucket.put("once", b"x")),
    ]
    assert answered(world.ingester(put).handle_lambda({"Records": records}, remaining_seconds=60)) == []
    assert order == ["once", "often"]


def test_what_waits_for_memory_in_vain_is_the_infrastructures_fault(world: IngestWorld) -> None:
    ingester = world.ingester()
    permits = ingester._processor._permits  # type: ignore[attr-defined]
    permits._free = 0
    permits._changed.wait_for = lambda *_, **__: False
    assert world.handle(world.bucket.put(KEY, b"x"), ingester=ingester).infrastructure
