"""R2.4: large payloads in parts: side by side, each checked, completed only where nothing is, aborted on failure."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import signal
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check import contract, payload_source
from claim_check.contract import GIB, MIB
from claim_check.envelope import Claim
from claim_check.errors import AccessDenied, PayloadConflict, PublishError, Unavailable
from claim_check.payload_source import CHUNK_BYTES, PayloadSource
from claim_check.payload_store import PayloadStore
from claim_check.ports import UploadedPart, WriteConflict
from tests.fakes.clock import FakeClock
from tests.fakes.object_store import FakeObjectStore

BUCKET = "bucket"
BEFORE_SEND = 3600.0
PART = 300_000
"""Smaller than S3 takes; the fake does."""

THRESHOLD = 64 * 1024
PARTS = 4
CONTENT = os.urandom(3 * PART + 12_345)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
UPLOAD = ["head", "start_upload", *["upload_part"] * PARTS, "complete_upload_if_absent"]


class Setup:
    """A payload store on a fake, for payloads of four parts."""

    def __init__(self, *, parallel: int = 1, versioned: bool = False) -> None:
        """Start empty."""
        self.clock = FakeClock()
        self.objects = FakeObjectStore(self.clock, versioned=versioned)
        self.parallel = parallel
        self.faults, self.calls = self.objects.faults, self.objects.faults.calls

    def put(self, payload: bytes | Path | BinaryIO = CONTENT, **progress: Any) -> Claim:  # noqa: ANN401 - of `opened`
        """Put one payload, in a process of its own."""
        store = PayloadStore(
            self.objects,
            bucket=BUCKET,
            before_send_seconds=BEFORE_SEND,
            clock=self.clock,
            random=lambda: 0.5,
            multipart_threshold=THRESHOLD,
            part_bytes=PART,
            parallel_parts=self.parallel,
        )
        with payload_source.opened(payload, max_bytes=GIB, part_size=store.part_size, **progress) as source:
            return store.put(
                source,
                tenant_id="t-1",
                event_type="DocumentUploaded",
                idempotency_key="k",
                message_id="m-1",
                content_type="application/pdf",
            )

    def stored(self) -> bytes | None:
        """The one object's content."""
        (key,) = self.objects.keys(BUCKET)
        return self.objects.content(BUCKET, key)

    def nothing_left(self) -> bool:
        """Whether there is neither an object nor a part of one."""
        return not self.objects.keys(BUCKET) and not self.objects.uploads


@pytest.fixture
def setup() -> Setup:
    """An empty store; parts one after the other, so that calls have an order."""
    return Setup()


# --- How it is cut --------------------------------------------------------------------------------------------------


@given(st.integers(1, contract.S3_MAX_OBJECT_BYTES), st.integers(contract.S3_MIN_PART_BYTES, GIB))
def test_parts_are_within_the_limits_of_s3(length: int, at_least: int) -> None:
    size = contract.part_bytes(length, at_least=at_least)
    assert at_least <= size <= contract.S3_MAX_PART_BYTES
    assert -(-length // size) <= contract.S3_MAX_PARTS


@pytest.mark.parametrize(
    "length, size",
    [
        (1, 16 * MIB),
        (2 * GIB, 16 * MIB),
        (10_000 * 16 * MIB, 16 * MIB),
        (10_000 * 16 * MIB + 1, 17 * MIB),
        (contract.S3_MAX_OBJECT_BYTES, 5 * GIB),
    ],
)
def test_parts_grow_only_when_ten_thousand_do_not_suffice(length: int, size: int) -> None:
    assert contract.part_bytes(length) == size


@pytest.mark.parametrize("length, in_parts", [(0, False), (THRESHOLD, False), (THRESHOLD + 1, True)])
def test_the_threshold_itself_is_one_put(setup: Setup, length: int, in_parts: bool) -> None:  # noqa: FBT001 - a parameter of the test
    setup.put(bytes(length))
    assert ("start_upload" in setup.calls) is in_parts
    assert ("put_if_absent" in setup.calls) is not in_parts


def test_a_threshold_above_what_one_put_takes_is_lowered_to_it() -> None:
    store = PayloadStore(
        FakeObjectStore(FakeClock()),
        bucket=BUCKET,
        before_send_seconds=1,
        clock=FakeClock(),
        random=lambda: 0.5,
        multipart_threshold=6 * GIB,
    )
    assert store.part_size(5 * GIB) is None
    assert store.part_size(5 * GIB + 1) == 16 * MIB


class Counting(io.BytesIO):
    """Counts what is read."""

    count = 0

    def read(self, size: int | None = -1, /) -> bytes:
        """Read and count."""
        piece = super().read(size)
        self.count += len(piece)
        return piece


@pytest.mark.parametrize("size", [1, 7, CHUNK_BYTES, CHUNK_BYTES + 1, 10**6, 10**9])
def test_one_pass_hashes_the_whole_and_its_parts(size: int) -> None:
    content = os.urandom(100) if size < 10 else os.urandom(1_000_001)
    file = Counting(content)
    with payload_source.opened(cast("BinaryIO", file), max_bytes=GIB, part_size=lambda _: size) as source:
        assert file.count == len(content), "the file is read once for all hashes"
        assert source.sha256 == hashlib.sha256(content).hexdigest()
        assert [part.number for part in source.parts] == list(range(1, len(source.parts) + 1))
        pieces = [content[part.start : part.start + part.content_length] for part in source.parts]
        assert b"".join(pieces) == content
        assert [part.sha256 for part in source.parts] == [hashlib.sha256(piece).hexdigest() for piece in pieces]
        assert all(len(piece) == size for piece in pieces[:-1])


# --- An upload ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parallel", [1, 4])
@pytest.mark.parametrize("kind", ["bytes", "path", "file", "memory", "pipe", "gzip"])
def test_every_kind_of_payload_arrives_whole(kind: str, parallel: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before" + CONTENT if kind == "file" else CONTENT)
    setup = Setup(parallel=parallel)
    if kind == "bytes":
        claim = setup.put(CONTENT)
    elif kind == "path":
        claim = setup.put(path)
    elif kind == "memory":
        claim = setup.put(io.BytesIO(CONTENT))
    elif kind == "pipe":
        claim = setup.put(cast("BinaryIO", Pipe(CONTENT)))
    elif kind == "gzip":
        (tmp_path / "file.gz").write_bytes(gzip.compress(CONTENT, 0))
        with gzip.open(tmp_path / "file.gz") as zipped:
            claim = setup.put(cast("BinaryIO", zipped))
    else:
        with path.open("rb") as file:
            file.seek(6)
            claim = setup.put(file)
            assert file.tell() == 6
    assert setup.stored() == CONTENT
    assert (claim.content_length, claim.sha256) == (len(CONTENT), SHA256)
    assert sorted(setup.calls) == sorted(UPLOAD)
    assert not setup.objects.uploads


class Pipe(io.RawIOBase):
    """It cannot seek."""

    def __init__(self, content: bytes) -> None:
        """Serve ``content`` once."""
        super().__init__()
        self._left = io.BytesIO(content)

    def readable(self) -> bool:
        """Yes."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """Read a little less than asked."""
        return self._left.read(min(size, 50_000) if size >= 0 else size)


def test_an_upload_is_a_look_a_start_its_parts_and_a_completion(setup: Setup) -> None:
    claim = setup.put()
    assert setup.calls == UPLOAD
    info = setup.objects.head(bucket=BUCKET, key=claim.key)
    assert info is not None
    assert info.content_type == "application/pdf"
    assert info.metadata == {"tenant-id": "t-1", "event-id": "m-1", "sha256": SHA256}


def test_the_version_of_a_completed_upload_is_claimed() -> None:
    setup = Setup(versioned=True)
    claim = setup.put()
    assert claim.version_id
    assert setup.put().version_id == claim.version_id


def test_parts_run_side_by_side_and_no_more_than_allowed() -> None:
    setup, lock = Setup(parallel=3), threading.Lock()
    running, most, together = 0, 0, threading.Barrier(3, timeout=10)

    def begin() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait()

    def end() -> None:
        nonlocal running
        with lock:
            running -= 1

    setup.faults.on("upload_part", begin, times=3)
    setup.faults.on("upload_part", end, when="after", times=3)
    setup.put()
    assert most == 3
    assert setup.stored() == CONTENT


def test_a_compressed_file_is_never_read_in_turns(tmp_path: Path) -> None:
    """Going back in it begins at its beginning: parts in turns would read it hundreds of times."""
    (tmp_path / "file.gz").write_bytes(gzip.compress(CONTENT, 0))
    setup = Setup(parallel=4)
    with gzip.open(tmp_path / "file.gz") as zipped:
        went: list[int] = []
        seek: Callable[[int], int] = zipped.seek

        def counted(position: int, *whence: int) -> int:
            went.append(position)
            return seek(position, *whence)

        zipped.seek = counted  # type: ignore[method-assign, assignment]
        setup.put(cast("BinaryIO", zipped))
    assert len(went) <= 6, "for its length, the hash, the upload, and to put it back"
    assert setup.stored() == CONTENT


def test_memory_stays_flat_in_parts(tmp_path: Path) -> None:
    class Draining(FakeObjectStore):
        """Reads parts as a connection does, and keeps nothing."""

        def upload_part(self, *, body: IO[bytes], number: int, sha256: str, **_: Any) -> UploadedPart:  # noqa: ANN401 - the rest of the port
            """Let the bytes go."""
            while body.read(16 * 1024):
                pass
            return UploadedPart(number=number, tag="", sha256=sha256)

        def complete_upload_if_absent(self, **_: Any) -> None:  # noqa: ANN401 - as above
            """Say yes."""

    def peak(size: int) -> int:
        path = tmp_path / str(size)
        with path.open("wb") as file:
            file.truncate(size)
        setup = Setup(parallel=4)
        setup.objects = Draining(setup.clock)
        tracemalloc.start()
        setup.put(path)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(PART)
    assert peak(200 * PART) - peak(4 * PART) < MIB


# --- What is there already ------------------------------------------------------------------------------------------


def test_the_same_event_again_uploads_nothing(setup: Setup) -> None:
    claim = setup.put()
    setup.calls.clear()
    assert setup.put() == claim
    assert setup.calls == ["head"]


def test_a_look_that_is_denied_does_not_stop_an_upload(setup: Setup) -> None:
    """Without s3:ListBucket S3 denies a look at nothing."""
    setup.faults.fail("head", AccessDenied("S3 refused"))
    setup.put()
    assert setup.calls == UPLOAD


# FIELD: floci-io/floci#3083
def test_a_composite_checksum_of_parts_is_never_compared_with_the_sha256_of_the_whole(setup: Setup) -> None:
    """412 at the completion: length, our own metadata and age decide."""
    claim = setup.put()
    info = setup.objects.head(bucket=BUCKET, key=claim.key)
    assert info is not None
    assert info.sha256 is None
    setup.calls.clear()
    setup.faults.fail("head", AccessDenied("S3 refused"))
    assert setup.put() == claim
    assert setup.calls == [*UPLOAD, "abort_upload", "head"]
    assert not setup.objects.uploads, "the second upload is removed"


@pytest.mark.parametrize("content", [b"short", bytes(len(CONTENT))])
def test_other_content_at_the_key_is_told(setup: Setup, content: bytes) -> None:
    """Length and the store's own hash betray it; so would our metadata."""
    claim = setup.put()
    setup.objects.tamper(BUCKET, claim.key, content)
    with pytest.raises(PayloadConflict) as caught:
        setup.put()
    assert claim.key not in str(caught.value)
    assert not setup.objects.uploads


def test_the_age_counts_from_the_beginning_of_the_upload(setup: Setup) -> None:
    setup.faults.on("upload_part", lambda: setup.clock.advance(BEFORE_SEND / PARTS), times=PARTS)
    first = setup.put()
    assert setup.put() == first, "exactly before_send old"
    setup.clock.advance(1)
    assert setup.put().key == first.key + ".1"


def test_an_upload_that_took_longer_than_before_send_is_no_pointer(setup: Setup) -> None:
    setup.faults.on("upload_part", lambda: setup.clock.advance(BEFORE_SEND / PARTS + 1), times=PARTS)
    with pytest.raises(PublishError, match="raise before_send"):
        setup.put()
    assert setup.calls == [*UPLOAD[:-1], "abort_upload"]
    assert setup.nothing_left()


# --- What fails -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", ["start_upload", "upload_part", "complete_upload_if_absent"])
def test_a_lost_answer_is_repeated_by_the_call(setup: Setup, name: str, when: Any) -> None:  # noqa: ANN401 - a Literal
    setup.faults.fail(name, Unavailable("no answer"), when=when, times=2)
    claim = setup.put()
    assert setup.objects.content(BUCKET, claim.key) == CONTENT
    assert setup.calls.count("upload_part") == PARTS + (2 if name == "upload_part" else 0)
    assert setup.calls.count("put_if_absent") == 0


# FIELD: apache/james-project#3152
def test_409_at_the_completion_begins_a_new_upload_with_all_parts(setup: Setup) -> None:
    setup.faults.fail("complete_upload_if_absent", WriteConflict(), times=2)
    setup.put()
    assert setup.calls == [*UPLOAD, "abort_upload", *UPLOAD, "abort_upload", *UPLOAD]
    assert setup.stored() == CONTENT
    assert not setup.objects.uploads


def test_409_to_the_end_is_bounded(setup: Setup) -> None:
    setup.faults.fail("complete_upload_if_absent", WriteConflict(), times=99)
    with pytest.raises(PublishError, match="conflict"):
        setup.put()
    assert setup.calls.count("start_upload") == 4
    assert setup.nothing_left()


def test_409_since_another_wrote_the_object_uploads_nothing_again(setup: Setup) -> None:
    other = Setup()
    other.objects, other.clock = setup.objects, setup.clock
    setup.faults.on("complete_upload_if_absent", other.put)
    setup.faults.fail("complete_upload_if_absent", WriteConflict(), skip=0)
    setup.put()
    assert setup.stored() == CONTENT
    assert setup.calls.count("start_upload") == 2
    assert setup.calls[-2:] == ["abort_upload", "head"]


@pytest.mark.parametrize("name", ["upload_part", "complete_upload_if_absent"])
def test_an_upload_that_was_aborted_elsewhere_begins_anew(setup: Setup, name: str) -> None:
    """By the bucket's lifecycle after a day, or by hand."""
    setup.faults.on(name, setup.objects.uploads.clear)
    setup.put()
    assert setup.calls.count("start_upload") == 2
    assert setup.stored() == CONTENT


def test_one_part_that_is_never_taken_aborts_the_upload(setup: Setup) -> None:
    setup.faults.fail("upload_part", Unavailable("S3 did not take the payload (SlowDown)"), skip=2, times=99)
    with pytest.raises(PublishError, match=r"part 3 of 4 not taken after 4 attempts: .*SlowDown"):
        setup.put()
    assert setup.calls == ["head", "start_upload", *["upload_part"] * 6, "abort_upload"]
    assert setup.nothing_left()


@pytest.mark.parametrize("parallel", [1, 4])
@pytest.mark.parametrize("name", ["upload_part", "complete_upload_if_absent"])
def test_a_refusal_is_not_repeated_and_leaves_nothing(name: str, parallel: int) -> None:
    setup = Setup(parallel=parallel)
    setup.faults.fail(name, PublishError("S3 refused the payload: AccessDenied"), times=99)
    with pytest.raises(PublishError, match="AccessDenied"):
        setup.put()
    assert setup.calls.count("start_upload") == 1
    assert setup.nothing_left()


def test_when_a_part_fails_the_others_end_before_the_abort() -> None:
    """What is on its way ends at its next read, and what waits never begins: no part arrives after the abort."""
    setup, running = Setup(parallel=2), threading.Barrier(2, timeout=10)
    arrived: list[int] = []

    def fail() -> None:
        running.wait()
        raise PublishError("S3 refused the payload: AccessDenied")

    def slow() -> None:
        running.wait()
        time.sleep(0.2)

    setup.faults.on("upload_part", slow)
    setup.faults.on("upload_part", fail, skip=1)
    setup.faults.on("upload_part", lambda: arrived.append(1), when="after", times=99)
    with pytest.raises(PublishError, match="AccessDenied"):
        setup.put()
    assert setup.calls[-1] == "abort_upload"
    assert setup.calls.count("upload_part") <= 3
    assert arrived == []
    assert setup.nothing_left()


def test_what_is_on_its_way_ends_at_its_next_read_once_stopped() -> None:
    with payload_source.opened(CONTENT, max_bytes=GIB, part_size=lambda _: PART) as source:
        stopped = threading.Event()
        body = source.part_body(source.parts[1], stopped=stopped)
        assert body.read(1000) == CONTENT[PART : PART + 1000]
        stopped.set()
        with pytest.raises(PublishError, match="stopped"):
            body.read(1000)


def test_an_interrupted_upload_is_aborted(setup: Setup) -> None:
    setup.faults.fail("upload_part", KeyboardInterrupt(), skip=2)
    with pytest.raises(KeyboardInterrupt):
        setup.put()
    assert setup.calls[-1] == "abort_upload"
    assert setup.nothing_left()


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGINT interrupts, even where the tests run in the background and a shell has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_parts_that_are_on_their_way() -> None:
    """The main thread waits for parts that would take minutes: an interrupt stops them, and the upload is aborted."""

    class Slow(FakeObjectStore):
        """Takes a byte now and then."""

        def upload_part(self, *, body: IO[bytes], **_: Any) -> UploadedPart:  # noqa: ANN401 - the rest of the port
            """Read for minutes."""
            begun.set()
            while True:
                body.read(1)
                time.sleep(0.01)

    def interrupt() -> None:
        begun.wait(10)
        os.kill(os.getpid(), signal.SIGINT)

    setup, begun, began = Setup(parallel=2), threading.Event(), time.monotonic()
    setup.objects = Slow(setup.clock, setup.faults)
    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        setup.put()
    assert time.monotonic() - began < 10
    assert setup.calls[-1] == "abort_upload"
    assert not setup.objects.uploads


@pytest.mark.parametrize("error", [Unavailable("no answer"), PublishError("AccessDenied"), WriteConflict()])
def test_an_abort_that_fails_hides_nothing(setup: Setup, error: Exception) -> None:
    """The reason is what is told; the bucket's rule removes the parts."""
    setup.faults.fail("upload_part", PublishError("S3 refused the payload: BadDigest"))
    setup.faults.fail("abort_upload", error, times=99)
    with pytest.raises(PublishError, match="BadDigest"):
        setup.put()
    assert setup.calls.count("abort_upload") == (4 if isinstance(error, Unavailable) else 1)


def test_an_outage_at_the_completion_is_looked_at_in_the_end(setup: Setup) -> None:
    setup.faults.fail("complete_upload_if_absent", Unavailable("S3 did not answer"), times=99)
    with pytest.raises(PublishError, match="did not answer"):
        setup.put()
    assert setup.calls[-2:] == ["abort_upload", "head"]
    assert setup.calls.count("start_upload") == 1, "all parts again would not help against an outage"


@pytest.mark.parametrize("parallel", [1, 4])
def test_a_file_that_changes_while_it_is_uploaded_is_refused(tmp_path: Path, parallel: int) -> None:
    path, setup = tmp_path / "file", Setup(parallel=parallel)
    path.write_bytes(CONTENT)

    def change() -> None:
        with path.open("r+b") as file:
            file.seek(2 * PART + 5)
            file.write(b"changed")

    setup.faults.on("start_upload", change)
    with pytest.raises(PublishError, match="BadDigest"):
        setup.put(path)
    assert setup.nothing_left()


@pytest.mark.parametrize("parallel", [1, 4])
def test_a_file_that_shrinks_while_it_is_uploaded_is_refused(tmp_path: Path, parallel: int) -> None:
    path, setup = tmp_path / "file", Setup(parallel=parallel)
    path.write_bytes(CONTENT)
    setup.faults.on("start_upload", lambda: os.truncate(path, PART + 5))
    with pytest.raises(PublishError, match="shorter"):
        setup.put(path)
    assert setup.nothing_left()


def test_a_long_upload_does_not_use_up_the_retries_of_its_calls(setup: Setup) -> None:
    """Parts of five minutes each, one of them sent twice, and a conflict in the end: no budget of minutes counts."""
    setup.faults.on("upload_part", lambda: setup.clock.advance(301), times=99)
    setup.faults.fail("upload_part", Unavailable("no answer"), skip=1)
    setup.faults.fail("complete_upload_if_absent", WriteConflict())
    setup.put()
    assert setup.stored() == CONTENT


# --- Progress -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parallel", [1, 4])
def test_progress_ends_at_the_whole_of_hash_and_upload(parallel: int) -> None:
    told: list[tuple[str, int, int]] = []
    Setup(parallel=parallel).put(CONTENT, on_progress=lambda *far: told.append(far))
    for step in ("hash", "upload"):
        done = [(at, total) for name, at, total in told if name == step]
        assert done[-1] == (len(CONTENT), len(CONTENT))
        assert [at for at, _ in done] == sorted(at for at, _ in done)


def test_what_is_sent_again_counts_once(setup: Setup) -> None:
    told: list[int] = []
    setup.faults.fail("upload_part", Unavailable("no answer"), when="after")
    setup.put(CONTENT, on_progress=lambda step, done, _: told.append(done) if step == "upload" else None)
    assert max(told) == told[-1] == len(CONTENT)
    assert told != sorted(told), "the part that is sent again is taken back first"


def test_a_body_that_begins_again_takes_back_what_it_had_told(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(3 * CHUNK_BYTES))
    told: list[int] = []
    with payload_source.opened(
        path, max_bytes=GIB, on_progress=lambda step, done, _: told.append(done) if step == "upload" else None
    ) as source:
        body = cast("IO[bytes]", source.body())
        while body.read(CHUNK_BYTES):
            pass
        body.seek(0)
        body.read(CHUNK_BYTES)
    assert told == [CHUNK_BYTES, 2 * CHUNK_BYTES, 3 * CHUNK_BYTES, CHUNK_BYTES]


def test_without_parts_nothing_changes() -> None:
    with payload_source.opened(b"abc", max_bytes=3) as source:
        assert source == PayloadSource(3, hashlib.sha256(b"abc").hexdigest(), content=b"abc")
        assert not source.side_by_side
