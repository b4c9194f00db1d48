"""What every `DeadLetterArchive` does (R6.5)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

import pytest

from claim_check.adapters.archive import S3DeadLetterArchive
from claim_check.adapters.session import Clients
from claim_check.archive import ArchivedLetter, DeadLetterArchive, letter_key
from claim_check.delivery import Delivery
from claim_check.errors import ArchiveRefused, InvalidLetter
from claim_check.ports import MessageAttribute
from tests.fakes.archive import FakeArchive
from tests.fakes.clock import START

QUEUE = "documents-dlq"


@dataclass
class Case:
    """An archive, and what a stranger may write into it."""

    archive: DeadLetterArchive
    clients: Clients | None = None
    bucket: str = ""

    def spoil(self, letter: ArchivedLetter, content: bytes) -> None:
        """Overwrite what is stored of a letter."""
        key = letter_key(letter.delivery)
        if self.clients is None:
            self.archive.objects[key] = content  # type: ignore[attr-defined]  # the fake
        else:
            self.clients.s3.put_object(Bucket=self.bucket, Key=key, Body=content)


@pytest.fixture(params=["fake", pytest.param("s3", marks=pytest.mark.integration)])
def case(request: pytest.FixtureRequest) -> Case:
    """An archive on one side."""
    if request.param == "fake":
        return Case(FakeArchive())
    clients: Clients = request.getfixturevalue("clients")
    bucket = f"archive-{uuid.uuid4()}"
    clients.s3.create_bucket(Bucket=bucket)
    return Case(S3DeadLetterArchive(clients.s3, bucket), clients, bucket)


def letter(body: str = "{}", *, sent: float = 0.0, **fields: Any) -> ArchivedLetter:  # noqa: ANN401 - fields of a delivery
    """A letter sent so many seconds after the start."""
    delivery = Delivery(
        sqs_message_id=fields.pop("sqs_message_id", None) or str(uuid.uuid4()),
        receipt_handle="handle",
        body=body,
        queue=fields.pop("queue", QUEUE),
        sent_at=START + sent,
        **fields,
    )
    return ArchivedLetter.of(delivery, now=START + 100_000)


def bodies(case: Case, queue: str = QUEUE) -> list[str]:
    """Bodies of the letters of a queue, in order."""
    return [each.delivery.body for each in case.archive.letters(queue)]


def test_a_letter_is_read_as_it_was_stored(case: Case) -> None:
    stored = letter(
        '{"ü":"€\\u0000"}',
        attributes={
            "text": MessageAttribute(data_type="String", value="ü€"),
            "number": MessageAttribute(data_type="Number.int", value="12"),
            "raw": MessageAttribute(data_type="Binary.gif", value=bytes(range(256))),
        },
        group_id="tenant-1",
        trace_header="Root=1-2-3",
        receive_count=7,
        dead_letter_source="arn:aws:sqs:us-east-1:000000000000:documents",
        sequence_number="18849496460467696128",
    )
    assert case.archive.put(stored) is True
    assert list(case.archive.letters(QUEUE)) == [stored]
    assert case.archive.get(QUEUE, stored.id) == stored


def test_a_letter_that_is_there_is_not_stored_again(case: Case) -> None:
    first = letter("first")
    again = ArchivedLetter(delivery=first.delivery, archived_at=first.archived_at + 60)
    assert case.archive.stored(first.delivery) is None
    assert case.archive.put(first) is True
    assert case.archive.stored(first.delivery) == first
    assert case.archive.put(again) is False
    assert case.archive.get(QUEUE, first.id) == first


def test_letters_come_in_the_order_in_which_sqs_took_them_in(case: Case) -> None:
    for sent in (30, 10, 20):
        case.archive.put(letter(f"{sent}", sent=sent))
    assert bodies(case) == ["10", "20", "30"]


def test_within_a_millisecond_the_sequence_number_decides(case: Case) -> None:
    for number in ("18849496460467696129", "9", "18849496460467696128"):
        case.archive.put(letter(number, sequence_number=number, group_id="g"))
    assert bodies(case) == ["9", "18849496460467696128", "18849496460467696129"]


def test_queues_are_apart_even_where_one_name_begins_the_other(case: Case) -> None:
    case.archive.put(letter("one", queue="documents-dlq"))
    case.archive.put(letter("other", queue="documents-dlq-2"))
    assert bodies(case, "documents-dlq") == ["one"]
    assert (case.archive.count("documents-dlq"), case.archive.count("none")) == (1, 0)


def test_a_letter_of_another_queue_or_none_at_all_is_not_there(case: Case) -> None:
    stored = letter()
    case.archive.put(stored)
    assert case.archive.get("another-dlq", stored.id) is None
    assert case.archive.get(QUEUE, str(uuid.uuid4())) is None


def test_an_id_that_ends_like_another_is_another(case: Case) -> None:
    stored = letter(sqs_message_id="1-abc")
    case.archive.put(stored)
    assert case.archive.get(QUEUE, "abc") is None
    assert case.archive.get(QUEUE, "1-abc") == stored


def test_an_id_that_no_key_may_hold_is_found_all_the_same(case: Case) -> None:
    stored = letter(sqs_message_id="a/../ü" * 50)
    case.archive.put(stored)
    assert case.archive.get(QUEUE, stored.id) == stored


def test_what_is_removed_is_gone_and_removing_it_again_is_a_success(case: Case) -> None:
    stored = [letter(f"{number}", sent=number) for number in range(3)]
    for each in stored:
        case.archive.put(each)
    assert list(case.archive.remove(stored[:2])) == []
    assert bodies(case) == ["2"]
    assert list(case.archive.remove(stored[:2])) == []
    assert list(case.archive.remove([])) == []


def test_more_letters_than_are_read_at_once(case: Case) -> None:
    for number in range(40):
        case.archive.put(letter(f"{number}", sent=number))
    assert bodies(case) == [f"{number}" for number in range(40)]
    assert case.archive.count(QUEUE) == 40


def test_what_is_no_letter_is_told(case: Case) -> None:
    stored = letter()
    case.archive.put(stored)
    case.spoil(stored, b"secret content")
    with pytest.raises(InvalidLetter, match="no JSON") as told:
        list(case.archive.letters(QUEUE))
    assert "secret" not in str(told.value)


@pytest.mark.integration
def test_a_bucket_that_is_not_there_is_told(clients: Clients) -> None:
    archive = S3DeadLetterArchive(clients.s3, f"none-{uuid.uuid4()}")
    with pytest.raises(ArchiveRefused):
        archive.put(letter())
    with pytest.raises(ArchiveRefused):
        list(archive.letters(QUEUE))
    stored = letter()
    assert archive.remove([stored]) == [stored]
