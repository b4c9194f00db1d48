"""Files as events: everything is checked before anything is sent; what became of each is known, in order."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from claim_check.contract import MIB
from claim_check.envelope import Claim
from claim_check.errors import EventTooLarge, InvalidEvent, InvalidName, InvalidPayload, Overtaken, PublishError
from claim_check.payload_store import PayloadStore
from claim_check.producer import Producer, Published, Unpublished
from claim_check_ops.sending import BATCHED_BYTES, File, Sender, checked_files
from tests.fakes.clock import FakeClock
from tests.fakes.faults import Faults
from tests.fakes.object_store import FakeObjectStore
from tests.fakes.queue import FakeQueue
from tests.fakes.telemetry import FakeTelemetry

STANDARD, FIFO = "https://sqs/0/documents", "https://sqs/0/documents.fifo"
BUCKET = "bucket"


class World:
    """A sender on fakes."""

    def __init__(self, queue_url: str = STANDARD) -> None:
        """Start empty."""
        clock, self.faults = FakeClock(), Faults()
        self.objects, self.queue = FakeObjectStore(clock, self.faults), FakeQueue(clock, self.faults)
        store = PayloadStore(
            self.objects, bucket=BUCKET, before_send_seconds=3600, clock=clock, random=lambda: 0.5, parallel_parts=1
        )
        self.url = queue_url
        self.producer = Producer(
            store,
            self.queue,
            queue_url=queue_url,
            clock=clock,
            new_id=lambda: "never drawn",
            random=lambda: 0.5,
            telemetry=FakeTelemetry(),
            parallel=1,
        )
        self.sender = Sender(self.producer, queue_url=queue_url)

    def send(self, files: Sequence[File]) -> list[Published | Unpublished]:
        """Send all."""
        return [sent.result for sent in self.sender.send(files)]


def checked(*names: Path | str, **fields: Any) -> list[File]:  # noqa: ANN401 - of an event
    base: dict[str, Any] = {"tenant_id": "t-1", "event_type": "DocumentUploaded", "max_bytes": 100 * MIB}
    return checked_files([str(name) for name in names], **(base | {"content_type": None, "message_id": None} | fields))


def file(folder: Path, name: str, size: int = 10) -> Path:
    path = folder / name
    with path.open("wb") as made:
        made.truncate(size)
    return path


# --- Before anything is sent ----------------------------------------------------------------------------------------


def test_a_file_becomes_an_event_of_its_own(tmp_path: Path) -> None:
    first, second = checked(file(tmp_path, "a.pdf"), file(tmp_path, "b.json"), group_id="g")
    assert (first.event.content_type, second.event.content_type) == ("application/pdf", "application/json")
    assert first.event.message_id != second.event.message_id
    assert first.event.payload == tmp_path / "a.pdf"
    assert first.size == 10
    assert "a.pdf" not in str(first.event.message_id), "no file name in an id: it is logged"


def test_a_name_that_says_nothing_is_bytes(tmp_path: Path) -> None:
    (made,) = checked(file(tmp_path, "a"))
    assert made.event.content_type == "application/octet-stream"
    (made,) = checked(file(tmp_path, "a"), content_type="text/csv")
    assert made.event.content_type == "text/csv"


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    good = file(tmp_path, "good")
    for bad in (tmp_path / "missing.pdf", tmp_path):
        with pytest.raises(InvalidPayload) as caught:
            checked(good, bad)
        assert str(bad) in str(caught.value)


def test_a_file_that_is_too_large_is_found_before_any_is_sent(tmp_path: Path) -> None:
    with pytest.raises(EventTooLarge):
        checked(file(tmp_path, "small"), file(tmp_path, "large", 101), max_bytes=100)


@pytest.mark.parametrize("fields, error", [({"tenant_id": "a/b"}, InvalidName), ({"group_id": "ü"}, InvalidEvent)])
def test_a_wrong_field_is_found_before_any_is_sent(tmp_path: Path, fields: dict[str, str], error: type) -> None:
    with pytest.raises(error):
        checked(file(tmp_path, "a"), **fields)


# --- Sending --------------------------------------------------------------------------------------------------------


def test_small_files_share_calls_and_large_ones_go_alone(tmp_path: Path) -> None:
    world = World()
    names = [file(tmp_path, f"{number}.json") for number in range(10)]
    large = file(tmp_path, "large", BATCHED_BYTES + 1)
    results = world.send(checked(*names, large, *names))
    assert all(isinstance(result, Published) for result in results)
    assert world.faults.calls.count("send_batch") == 3
    assert [len(call.message.body) > 0 for call in world.queue.messages(world.url)] == [True] * 21


def test_results_keep_the_order_of_the_files(tmp_path: Path) -> None:
    world = World()
    files = checked(*(file(tmp_path, name, size) for name, size in [("a", 1), ("b", BATCHED_BYTES + 1), ("c", 2)]))
    results = world.send(files)
    assert [result.message_id for result in results] == [made.event.message_id for made in files]
    assert [sent.file for sent in world.sender.sent] == files


def test_the_standard_input_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"piped")))
    world = World()
    (result,) = world.send(checked("-"))
    assert isinstance(result, Published)
    assert isinstance(result.payload, Claim)
    assert world.objects.content(BUCKET, result.payload.key) == b"piped"


def test_a_pipe_with_a_name_is_read_to_its_end() -> None:
    """What a shell makes of ``<(command)``."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(b"made by a command")
    world = World()
    (made,) = checked(f"/dev/fd/{reading}")
    os.close(reading)
    (result,) = world.send([made])
    assert isinstance(result, Published)
    assert isinstance(result.payload, Claim)
    assert world.objects.content(BUCKET, result.payload.key) == b"made by a command"
    made.event.payload.close()  # type: ignore[union-attr]


def test_one_that_fails_hides_no_other(tmp_path: Path) -> None:
    world = World()
    world.faults.fail("put_if_absent", PublishError("S3 refused the payload: AccessDenied"), skip=1)
    results = world.send(checked(*(file(tmp_path, name) for name in "abc")))
    assert [isinstance(result, Published) for result in results] == [True, False, True]


@pytest.mark.parametrize(
    "queue_url, sent", [(STANDARD, [True, False, True, True]), (FIFO, [True, False, False, False])]
)
def test_on_fifo_nothing_overtakes_a_file_that_was_not_sent(tmp_path: Path, queue_url: str, sent: list[bool]) -> None:
    """Across batches and large files, too."""
    world = World(queue_url)
    world.faults.fail("put_if_absent", PublishError("S3 refused the payload: AccessDenied"), skip=1)
    sizes = [1, BATCHED_BYTES + 1, 1, BATCHED_BYTES + 1]
    names = [file(tmp_path, f"{number}", size) for number, size in enumerate(sizes)]
    results = world.send(checked(*names, group_id="g"))
    assert [isinstance(result, Published) for result in results] == sent
    if queue_url == FIFO:
        last = results[-1]
        assert isinstance(last, Unpublished)
        assert isinstance(last.error, Overtaken)
        assert len(world.queue.messages(world.url)) == 1


def test_a_file_that_vanishes_before_its_turn_fails_alone(tmp_path: Path) -> None:
    world = World()
    files = checked(file(tmp_path, "a"), file(tmp_path, "b"))
    (tmp_path / "a").unlink()
    first, second = world.send(files)
    assert isinstance(first, Unpublished)
    assert isinstance(second, Published)


def test_progress_is_told_by_place(tmp_path: Path) -> None:
    world = World()
    sizes = [5, BATCHED_BYTES + 1, 7]
    files = checked(*(file(tmp_path, f"{number}", size) for number, size in enumerate(sizes)))
    last: dict[tuple[int, str], tuple[int, int]] = {}
    for _ in world.sender.send(files, lambda place, step, done, total: last.update({(place, step): (done, total)})):
        pass
    for place, size in enumerate(sizes):
        assert last[place, "hash"] == last[place, "upload"] == (size, size)


def test_what_was_sent_is_known_when_it_is_interrupted(tmp_path: Path) -> None:
    world = World()
    files = checked(*(file(tmp_path, f"{number}", BATCHED_BYTES + 1) for number in range(3)))
    world.faults.fail("put_if_absent", KeyboardInterrupt(), skip=1)
    with pytest.raises(KeyboardInterrupt):
        world.send(files)
    assert [sent.file for sent in world.sender.sent] == files[:1]
