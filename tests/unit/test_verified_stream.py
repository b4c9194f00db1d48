"""R4.4: bytes that were never fully verified cannot lead to a commit."""

from __future__ import annotations

import hashlib
import io
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check.errors import ChecksumMismatch, DeadlineExceeded, Unavailable
from claim_check.verified_stream import CHUNK_BYTES, VerifiedStream


@dataclass
class Body:
    """A body that hands out its content in pieces of given sizes, then breaks if it shall."""

    content: bytes
    pieces: list[int] = field(default_factory=list)
    breaks: bool = False
    closed: int = 0
    largest: int = 0

    def read(self, size: int, /) -> bytes:
        """Hand out the next piece."""
        assert not self.closed, "read after close"
        self.largest = max(self.largest, size)
        size = min(size, self.pieces.pop(0)) if self.pieces else size
        piece, self.content = self.content[:size], self.content[size:]
        if self.breaks and size and not piece:
            raise Unavailable("the connection broke")
        return piece

    def close(self) -> None:
        """Count it."""
        self.closed += 1


def stream_of(
    content: bytes, *, claimed: bytes | None = None, checkpoint: Callable[[], None] = lambda: None, **body: object
) -> tuple[VerifiedStream, Body]:
    claimed = content if claimed is None else claimed
    source = Body(content, **body)  # type: ignore[arg-type]
    sha256 = hashlib.sha256(claimed).hexdigest()
    return VerifiedStream(source, content_length=len(claimed), sha256=sha256, checkpoint=checkpoint), source


@given(
    content=st.binary(max_size=300),
    pieces=st.lists(st.integers(1, 50)),
    reads=st.lists(st.one_of(st.integers(-1, 60), st.none()), max_size=40),
)
def test_any_chunking_gives_the_content_and_verifies_it(
    content: bytes, pieces: list[int], reads: list[int | None]
) -> None:
    stream, source = stream_of(content, pieces=list(pieces))
    got = b""
    for size in reads:
        piece = stream.read(size)
        left = len(content) - len(got)
        assert len(piece) == (left if size is None or size < 0 else min(size, left))
        got += piece
    got += stream.read()
    assert got == content
    assert stream.verified
    assert stream.failure is None
    assert source.closed == 1
    assert stream.read(10) == b""


@given(content=st.binary(max_size=300), pieces=st.lists(st.integers(1, 50)), sizes=st.lists(st.integers(0, 60)))
def test_readinto_any_buffers(content: bytes, pieces: list[int], sizes: list[int]) -> None:
    stream, _ = stream_of(content, pieces=list(pieces))
    got = b""
    for size in [*sizes, *[7] * 400]:
        buffer = bytearray(size)
        count = stream.readinto(buffer)
        assert bytes(buffer[count:]) == bytes(size - count)
        got += bytes(buffer[:count])
    assert got == content
    assert stream.verified


@given(
    content=st.binary(min_size=1, max_size=200),
    index=st.integers(0),
    flip=st.integers(1, 255),
    size=st.integers(1, 250),
)
def test_one_changed_byte_is_never_handed_out_to_the_end(content: bytes, index: int, flip: int, size: int) -> None:
    index %= len(content)
    changed = content[:index] + bytes([content[index] ^ flip]) + content[index + 1 :]
    stream, source = stream_of(changed, claimed=content)
    got: list[bytes] = []
    with pytest.raises(ChecksumMismatch):
        got.extend(iter(lambda: stream.read(size), b""))
    assert len(b"".join(got)) < len(content)
    assert not stream.verified
    assert source.closed


@given(content=st.binary(max_size=200), extra=st.binary(min_size=1, max_size=20), size=st.integers(1, 250))
def test_longer_or_shorter_content_is_a_mismatch(content: bytes, extra: bytes, size: int) -> None:
    for actual, claimed in ((content + extra, content), (content, content + extra)):
        stream, _ = stream_of(actual, claimed=claimed)
        with pytest.raises(ChecksumMismatch, match=r"longer|shorter"):
            list(iter(partial(stream.read, size), b""))
        assert not stream.verified


@pytest.mark.parametrize("drain", [lambda s: s.read(), lambda s: s.finish(), lambda s: s.read(1)])
def test_empty_payload(drain: Callable[[VerifiedStream], object]) -> None:
    stream, _ = stream_of(b"")
    assert not stream.verified
    drain(stream)
    assert stream.verified


def test_empty_payload_with_content_behind_it_is_a_mismatch() -> None:
    stream, _ = stream_of(b"x", claimed=b"")
    with pytest.raises(ChecksumMismatch):
        stream.finish()


def test_a_broken_connection_is_unavailable_and_final() -> None:
    stream, source = stream_of(b"abc", claimed=b"abcdef", breaks=True)
    assert stream.read(3) == b"abc"
    with pytest.raises(Unavailable) as first:
        stream.read(1)
    assert stream.failure is first.value
    for again in (stream.read, stream.finish, lambda: stream.readinto(bytearray(1))):
        with pytest.raises(Unavailable):
            again()
    assert source.closed == 1


def test_a_swallowed_failure_still_shows() -> None:
    stream, _ = stream_of(b"abc", claimed=b"abd")
    with pytest.raises(ChecksumMismatch):
        stream.read()
    assert isinstance(stream.failure, ChecksumMismatch)
    assert not stream.verified


def test_checkpoint_runs_before_each_request_and_its_error_is_final() -> None:
    calls: list[int] = []

    def checkpoint() -> None:
        calls.append(1)
        if len(calls) > 2:
            raise DeadlineExceeded("no time is left")

    stream, source = stream_of(b"abcdef", checkpoint=checkpoint)
    assert stream.read(2) == b"ab"
    assert stream.read(2) == b"cd"
    with pytest.raises(DeadlineExceeded):
        stream.read(2)
    assert source.content == b"ef"
    assert isinstance(stream.failure, DeadlineExceeded)
    with pytest.raises(DeadlineExceeded):
        stream.finish()
    assert len(calls) == 3


def test_closing_early_is_not_verified_and_finish_still_drains() -> None:
    stream, source = stream_of(b"abcdef")
    with stream:
        assert stream.read(1) == b"a"
    assert stream.closed
    early = stream.verified
    assert source.content == b"bcdef"
    with pytest.raises(ValueError, match="closed"):
        stream.read(1)
    with pytest.raises(ValueError, match="closed"):
        stream.readinto(bytearray(1))
    stream.finish()
    assert (early, stream.verified, source.closed) == (False, True, 1)


def test_finish_after_an_early_close_finds_tampering() -> None:
    stream, _ = stream_of(b"abcdeX", claimed=b"abcdef")
    with stream:
        stream.read(1)
    with pytest.raises(ChecksumMismatch):
        stream.finish()


def test_finish_closes_and_is_repeatable() -> None:
    stream, _ = stream_of(b"abc")
    stream.finish()
    stream.finish()
    assert stream.verified
    assert stream.closed


def test_abandon_gives_the_connection_back() -> None:
    stream, source = stream_of(b"abcdef")
    stream.read(1)
    stream.abandon()
    assert source.closed
    assert not stream.verified


# FIELD: boto/botocore#1245
def test_read_0_first() -> None:
    stream, source = stream_of(b"abc")
    assert stream.read(0) == b""
    assert source.content == b"abc"
    assert stream.read(-1) == b"abc"
    assert stream.read(0) == b""


def test_never_asks_for_more_than_a_chunk() -> None:
    content = bytes(CHUNK_BYTES * 3 + 5)
    stream, source = stream_of(content)
    assert stream.read(len(content) * 2) == content
    assert source.largest <= CHUNK_BYTES


def test_standard_library_readers_work_on_it() -> None:
    content = b"one,1\r\ntwo,2\r\n" * 5000
    stream, _ = stream_of(content, pieces=[3, 1000, 7])
    assert list(io.TextIOWrapper(io.BufferedReader(stream), newline=""))[1] == "two,2\r\n"
    assert stream.verified

    stream, _ = stream_of(content)
    target = io.BytesIO()
    shutil.copyfileobj(stream, target)
    assert target.getvalue() == content
    assert stream.verified
