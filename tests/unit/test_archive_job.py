"""Looking after a DLQ: what is archived and when, what is measured, and what is left as it was (R6.5, R12.1)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from claim_check.archive import ArchivedLetter, decode_letter, encode_letter, letter_key
from claim_check.archive_settings import DeadLetterSettings
from claim_check.contract import ErrorCode, Metric
from claim_check.delivery import Delivery
from claim_check.envelope import encode
from claim_check.errors import ArchiveRefused, InvalidLetter, InvalidSetting, ReadRefused, ReceiveRefused, Unavailable
from claim_check.ports import MessageAttribute, WriteConflict
from tests.archive_world import AFTER, DAY, REMAINING, ArchiveWorld
from tests.fakes.clock import START
from tests.harness import TTL_SECONDS

# --- What is archived -----------------------------------------------------------------------------------------------


def test_what_comes_near_its_retention_is_archived_and_the_rest_can_be_received_again() -> None:
    world = ArchiveWorld()
    old = [world.bury(f"{number}") for number in range(25)]
    world.clock.advance(AFTER)
    young = [world.bury(f"{number}") for number in range(25)]
    report = world.job().run(remaining_seconds=REMAINING)
    assert (report.seen, report.archived, report.failed, report.finished) == (50, 25, 0, True)
    assert sorted(world.archived()) == sorted(old)
    assert sorted(world.receivable()) == sorted(young)


def test_a_second_too_young_stays() -> None:
    world = ArchiveWorld()
    world.bury()
    world.clock.advance(AFTER - 1)
    assert world.job().run(remaining_seconds=REMAINING).archived == 0
    world.clock.advance(1)
    assert world.job().run(remaining_seconds=REMAINING).archived == 1


def test_the_letter_holds_all_of_the_message() -> None:
    world = ArchiveWorld(fifo=True)
    identity = world.bury('{"a":1}', code="MissingPayload", group="tenant-7")
    (in_queue,) = world.queue.messages(world.dlq_url)
    world.clock.advance(AFTER)
    world.job().run(remaining_seconds=REMAINING)
    (letter,) = world.letters()
    assert letter.id == identity
    assert letter.delivery.attributes == in_queue.message.attributes
    assert (letter.delivery.body, letter.delivery.group_id, letter.delivery.sent_at) == ('{"a":1}', "tenant-7", START)
    assert (letter.queue, letter.archived_at, letter.delivery.receipt_handle) == (
        "documents-dlq.fifo",
        START + AFTER,
        "",
    )
    assert letter.delivery.first_message_id == "first-1"


def test_age_counts_in_this_queue_also_where_sqs_moved_the_message() -> None:
    # A standard queue's message keeps the time of its first enqueue, and its retention ends by it.
    world = ArchiveWorld()
    world.queue.create(world.queue_url, visibility_timeout=1, dlq=world.dlq_url, max_receive_count=1)
    world.send_body("{}")
    world.queue.receive(world.queue_url)
    world.clock.advance(AFTER)
    world.queue.receive(world.queue_url)
    assert world.job().run(remaining_seconds=REMAINING).archived == 1


def test_without_an_archive_it_only_looks() -> None:
    world = ArchiveWorld()
    identity = world.bury()
    world.clock.advance(AFTER)
    report = world.job(archive=None).run(remaining_seconds=REMAINING)
    assert (report.seen, report.archived) == (1, 0)
    assert world.receivable() == [identity]
    assert Metric.ARCHIVED_LETTERS not in world.telemetry.counts


def test_ten_thousand_are_archived_in_one_run() -> None:
    world = ArchiveWorld()
    for number in range(10_000):
        world.bury(f"{number}")
    world.clock.advance(AFTER)
    report = world.job(parallel=8).run(remaining_seconds=REMAINING)
    assert (report.archived, report.finished) == (10_000, True)
    assert world.dead() == []
    assert world.archive.count("documents-dlq") == 10_000


def test_a_run_that_has_no_more_time_releases_what_it_holds_and_the_next_one_goes_on() -> None:
    world = ArchiveWorld()
    for number in range(100):
        world.bury(f"{number}")
    world.clock.advance(AFTER)
    world.faults.on("archive_put", lambda: world.clock.advance(20), times=1000)
    first = world.job().run(remaining_seconds=REMAINING)
    assert not first.finished
    assert 0 < first.archived < 100
    assert len(world.receivable()) == 100 - first.archived
    assert world.clock.now() < START + AFTER + REMAINING
    world.faults.clear()
    second = world.job().run(remaining_seconds=REMAINING)
    assert (first.archived + second.archived, second.finished) == (100, True)


def test_a_run_without_time_does_nothing() -> None:
    world = ArchiveWorld()
    identity = world.bury()
    world.clock.advance(AFTER)
    assert not world.job().run(remaining_seconds=30).finished
    assert world.receivable() == [identity]
    assert world.queue.receives == []


def test_what_is_held_is_hidden_until_the_function_is_surely_over_and_no_longer() -> None:
    world = ArchiveWorld()
    world.bury()
    world.job().run(remaining_seconds=REMAINING)
    assert all(REMAINING < seconds <= REMAINING + 10 for _, _, seconds, _ in world.queue.receives)


# --- What is there already ------------------------------------------------------------------------------------------


def test_a_letter_that_is_there_already_is_a_success() -> None:
    world = ArchiveWorld()
    world.bury("kept")
    world.clock.advance(AFTER)
    world.queue.refuse_deletes["kept"] = 2
    assert world.job().run(remaining_seconds=REMAINING).failed == 1
    world.clock.advance(DAY)
    before = world.letters()
    assert world.job().run(remaining_seconds=REMAINING).archived == 1
    assert (world.letters(), world.dead()) == (before, [])


def test_another_letter_under_its_key_keeps_the_message_in_the_dlq() -> None:
    world = ArchiveWorld()
    identity = world.bury("mine")
    world.clock.advance(AFTER)
    (delivery,) = world.everywhere().values()
    other = ArchivedLetter.of(replace(delivery, body="another"), now=START)
    world.archive.objects[letter_key(delivery)] = encode_letter(other)
    report = world.job().run(remaining_seconds=REMAINING)
    assert (report.archived, report.failed) == (0, 1)
    assert world.receivable() == [identity]
    assert "another one is there" in world.telemetry.events("error")[0]


def test_what_is_no_letter_under_its_key_keeps_the_message_in_the_dlq() -> None:
    world = ArchiveWorld()
    identity = world.bury()
    world.clock.advance(AFTER)
    (delivery,) = world.everywhere().values()
    world.archive.objects[letter_key(delivery)] = b"no letter"
    assert world.job().run(remaining_seconds=REMAINING).failed == 1
    assert world.receivable() == [identity]


# --- Failures -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [Unavailable("S3 is down"), WriteConflict()], ids=["outage", "conflict"])
def test_what_could_not_be_stored_stays_and_the_others_are_archived(error: Exception) -> None:
    world = ArchiveWorld()
    for number in range(3):
        world.bury(f"{number}")
    world.clock.advance(AFTER)
    world.faults.fail("archive_put", error, skip=1)
    report = world.job().run(remaining_seconds=REMAINING)
    assert (report.archived, report.failed) == (2, 1)
    assert len(world.receivable()) == 1
    assert world.telemetry.counts[Metric.ARCHIVE_FAILED] == 1
    assert world.job().run(remaining_seconds=REMAINING).archived == 1


def test_a_lost_answer_of_the_archive_costs_nothing() -> None:
    world = ArchiveWorld()
    world.bury()
    world.clock.advance(AFTER)
    world.faults.fail("archive_put", Unavailable("no answer"), when="after")
    assert world.job().run(remaining_seconds=REMAINING).failed == 1
    assert world.job().run(remaining_seconds=REMAINING).archived == 1
    assert len(world.archived()) == 1


def test_an_archive_that_refuses_fails_the_run_once_all_is_released() -> None:
    world = ArchiveWorld()
    identities = [world.bury(f"{number}") for number in range(30)]
    world.clock.advance(AFTER)
    world.faults.fail("archive_put", ArchiveRefused("denied"), times=100)
    with pytest.raises(ArchiveRefused):
        world.job().run(remaining_seconds=REMAINING)
    assert sorted(world.receivable()) == sorted(identities)
    assert world.telemetry.flushed[-1][Metric.DEAD_LETTERS] > 0


def test_a_dlq_that_refuses_fails_the_run() -> None:
    world = ArchiveWorld()
    world.faults.fail("receive_batch", ReceiveRefused("denied"))
    with pytest.raises(ReceiveRefused):
        world.job().run(remaining_seconds=REMAINING)


def test_a_receive_that_fails_is_repeated_with_the_same_attempt_on_fifo() -> None:
    world = ArchiveWorld(fifo=True)
    world.bury()
    world.clock.advance(AFTER)
    world.faults.fail("receive_batch", Unavailable("lost"), when="after")
    assert world.job().run(remaining_seconds=REMAINING).archived == 1
    attempts = [attempt for _, _, _, attempt in world.queue.receives]
    assert attempts[0] == attempts[1] != attempts[2]


def test_a_delete_that_is_refused_leaves_the_message_and_counts_as_failed() -> None:
    world = ArchiveWorld()
    world.bury("kept")
    world.clock.advance(AFTER)
    world.queue.refuse_deletes["kept"] = 2
    report = world.job().run(remaining_seconds=REMAINING)
    assert (report.archived, report.failed) == (0, 1)
    assert len(world.receivable()) == 1
    assert world.job().run(remaining_seconds=REMAINING).archived == 1


def test_a_release_that_is_refused_is_told() -> None:
    world = ArchiveWorld()
    world.bury()
    world.queue.refuse_handles = _Refusing()
    world.job().run(remaining_seconds=REMAINING)
    assert any("stay hidden" in event for event in world.telemetry.events("warning"))
    assert world.receivable() == []
    world.clock.advance(REMAINING + 10)
    assert len(world.receivable()) == 1


class _Refusing(dict[str, int]):
    def get(self, key: str, default: int = 0) -> int:  # type: ignore[override]  # noqa: ARG002 - refuses every handle
        return 1


# --- FIFO -----------------------------------------------------------------------------------------------------------


def test_a_groups_letters_are_archived_oldest_first_and_ten_are_no_limit() -> None:
    world = ArchiveWorld(fifo=True)
    first = [world.bury(f"{number}", group="a") for number in range(25)]
    world.clock.advance(AFTER)
    young = world.bury("young", group="a")
    assert world.job().run(remaining_seconds=REMAINING).archived == 25
    assert world.archived() == first
    assert world.receivable() == [young]


def test_what_stands_behind_a_failure_in_its_group_does_not_overtake_it() -> None:
    world = ArchiveWorld(fifo=True)
    first = [world.bury(f"{number}", group="a") for number in range(3)]
    other = [world.bury(f"b{number}", group="b") for number in range(2)]
    world.clock.advance(AFTER)
    world.faults.fail("archive_put", Unavailable("down"), skip=1)  # the second of group a
    world.job().run(remaining_seconds=REMAINING)
    assert world.archived() == [first[0], *other]
    assert world.dead() == first[1:]
    world.job().run(remaining_seconds=REMAINING)
    assert (world.archived(), world.dead()) == ([*first, *other], [])


def test_a_group_that_is_released_comes_again_in_order() -> None:
    world = ArchiveWorld(fifo=True)
    for number in range(5):
        world.bury(f"{number}", group="a")
    world.job().run(remaining_seconds=REMAINING)
    held = [one.receipt_handle for one in world.queue.messages(world.dlq_url)]
    released = [change.receipt_handle for change in world.queue.visibility_changes]
    assert released == held[::-1], "nobody else can receive what stands behind before its head is free"
    assert [one.message.body for one in world.queue.receive(world.dlq_url)] == [f"{number}" for number in range(5)]


# --- What is measured -----------------------------------------------------------------------------------------------


def test_an_empty_dlq_emits_zeros() -> None:
    world = ArchiveWorld()
    world.job(archive=None).run(remaining_seconds=REMAINING)
    assert world.telemetry.flushed == [
        {
            Metric.DEAD_LETTERS: 0,
            Metric.OLDEST_DEAD_LETTER: 0,
            Metric.STUCK_WORK: 0,
        }
    ]


def test_ages_reasons_and_the_life_left_of_what_stays_are_measured() -> None:
    world = ArchiveWorld()
    published, earlier = (datetime.fromtimestamp(START - days * DAY, UTC) for days in (1, 2))
    claim = encode(replace(world.envelope(), published_at=published))
    world.bury(claim, code=ErrorCode.MISSING_PAYLOAD)
    world.clock.advance(5 * DAY)
    world.bury(encode(replace(world.envelope(b"{}", inline=True), published_at=earlier)), code="TheirOwnCode")
    world.bury("no envelope", code=ErrorCode.INVALID_ENVELOPE)
    world.job().run(remaining_seconds=REMAINING)
    counts = world.telemetry.counts
    assert counts[Metric.DEAD_LETTERS] == 3
    assert counts[Metric.OLDEST_DEAD_LETTER] == 5 * DAY
    assert (counts["DeadLettersMissingPayload"], counts["DeadLettersInvalidEnvelope"], counts["DeadLettersOther"]) == (
        1,
        1,
        1,
    )
    assert counts[Metric.DEAD_LETTER_LIFE_LEFT] == TTL_SECONDS / DAY - 7


def test_what_was_archived_is_no_longer_measured_as_dead() -> None:
    world = ArchiveWorld()
    world.bury()
    world.clock.advance(AFTER)
    world.job().run(remaining_seconds=REMAINING)
    counts = world.telemetry.counts
    assert (counts[Metric.DEAD_LETTERS], counts[Metric.OLDEST_DEAD_LETTER], counts[Metric.ARCHIVED_LETTERS]) == (
        0,
        0,
        1,
    )


def test_rows_whose_lease_ended_or_that_failed_long_ago_are_stuck() -> None:
    world = ArchiveWorld()
    world.clock.advance(10_000)
    now = world.clock.now()
    world.seed_row(world.send(), "IN_PROGRESS", lease_until=now - 3601)
    world.seed_row(world.send(), "IN_PROGRESS", lease_until=now - 3599)
    world.seed_row(world.send(), "PARKING", lease_until=now - 3601)
    world.seed_row(world.send(), "FAILED", updated_at=now - 3601)
    world.seed_row(world.send(), "FAILED", updated_at=now - 3599)
    world.seed_row(world.send(), "PARKED", updated_at=now - 9000)
    world.seed_row(world.send(), "COMPLETED", updated_at=now - 9000)
    assert world.job().run(remaining_seconds=REMAINING).stuck == 3
    assert world.telemetry.counts[Metric.STUCK_WORK] == 3


def test_a_queue_without_a_dlq_still_has_stuck_work() -> None:
    world = ArchiveWorld()
    world.seed_row(world.send(), "FAILED", updated_at=START - 4000)
    report = world.job(dlq_url=None, archive=None).run(remaining_seconds=REMAINING)
    assert (report.seen, world.telemetry.flushed) == (0, [{Metric.STUCK_WORK: 1}])


def test_an_inbox_that_cannot_be_read_is_told_and_costs_the_dlq_nothing() -> None:
    world = ArchiveWorld()
    world.bury()
    world.clock.advance(AFTER)
    world.faults.fail("query", ReadRefused("denied"))
    report = world.job().run(remaining_seconds=REMAINING)
    assert (report.archived, report.stuck) == (1, None)
    assert "denied" in world.telemetry.events("error")
    assert Metric.STUCK_WORK not in world.telemetry.counts


# --- The letter itself ----------------------------------------------------------------------------------------------


def letter(**fields: object) -> ArchivedLetter:
    """A letter with an attribute of each kind."""
    known = {
        "sqs_message_id": "id-1",
        "receipt_handle": "",
        "body": "{}",
        "queue": "dlq",
        "sent_at": START,
        "attributes": {
            "text": MessageAttribute(data_type="String", value="x"),
            "raw": MessageAttribute(data_type="Binary", value=b"\0"),
        },
    }
    return ArchivedLetter(delivery=Delivery(**{**known, **fields}), archived_at=START)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "old, new, field",
    [
        (b'"v":1', b'"v":2', "v"),
        (b'"v":1', b'"v":true', "v"),
        (b'"v":1,', b"", "v"),
        (b'"body":"{}"', b'"body":7', "body"),
        (b'"queue":"dlq",', b"", "queue"),
        (b'"sqsMessageId":"id-1"', b'"sqsMessageId":null', "sqsMessageId"),
        (b'"sentAt":', b'"sentAt":-', "sentAt"),
        (b'"receiveCount":1', b'"receiveCount":"1"', "receiveCount"),
        (b'"archivedAt":"2026', b'"archivedAt":"x026', "archivedAt"),
        (b'"type":"String"', b'"type":1', "attributes.text.type"),
        (b'"text":"x"', b'"text":1', "attributes.text.text"),
        (b'"base64":"AA=="', b'"base64":"A"', "attributes.raw.base64"),
        (b'"attributes":{', b'"attributes":[],"_":{', "attributes"),
        (b'"text":{', b'"text":[],"_":{', "attributes.text"),
    ],
)
def test_a_letter_with_a_wrong_field_is_refused_by_its_name(old: bytes, new: bytes, field: str) -> None:
    good = encode_letter(letter())
    assert old in good
    with pytest.raises(InvalidLetter) as told:
        decode_letter(good.replace(old, new, 1))
    assert told.value.field == field
    assert told.value.way_out in str(told.value)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"\xff", b"[" * 100_000, b"null"], ids=["nothing", "a list", "no text", "too deep", "null"]
)
def test_what_is_no_letter_at_all_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidLetter):
        decode_letter(content)


def test_unknown_fields_of_a_letter_are_ignored() -> None:
    good = encode_letter(letter())
    assert decode_letter(good.replace(b'{"v":1', b'{"new":{"a":[1]},"v":1')) == letter()


# --- Settings -------------------------------------------------------------------------------------------------------


def test_settings_are_read_with_their_defaults() -> None:
    settings = DeadLetterSettings.from_environment({"CLAIM_CHECK_CONSUMER": "documents"})
    assert settings == DeadLetterSettings(consumer="documents")


def test_an_archive_needs_a_dlq_and_an_age() -> None:
    variables = {"CLAIM_CHECK_CONSUMER": "documents", "CLAIM_CHECK_ARCHIVE_BUCKET": "letters"}
    with pytest.raises(InvalidSetting, match="CLAIM_CHECK_ARCHIVE_AFTER_SECONDS"):
        DeadLetterSettings.from_environment(variables)
    variables["CLAIM_CHECK_ARCHIVE_AFTER_SECONDS"] = "1036800"
    with pytest.raises(InvalidSetting, match="CLAIM_CHECK_DLQ_URL"):
        DeadLetterSettings.from_environment(variables)
    variables["CLAIM_CHECK_DLQ_URL"] = "https://sqs/dlq"
    assert DeadLetterSettings.from_environment(variables).archive_after_seconds == AFTER
