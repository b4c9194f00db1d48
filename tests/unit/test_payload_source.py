"""R2.4: one face for bytes, paths and files; flat memory; the caller's file is left where it stood."""

from __future__ import annotations

import hashlib
import io
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check.errors import EventTooLarge, InvalidPayload, PublishError
from claim_check.payload_source import CHUNK_BYTES, PayloadSource, Section, opened

MAX = 10_000_000


class OneWay(io.RawIOBase):
    """A pipe: it cannot seek."""

    def __init__(self, content: bytes) -> None:
        """Serve ``content`` once."""
        super().__init__()
        self._left = io.BytesIO(content)

    def readable(self) -> bool:
        """Yes."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """Read a little less than asked."""
        return self._left.read(min(size, 1000) if size >= 0 else size)


def sent(source: PayloadSource) -> bytes:
    body = source.body()
    return body if isinstance(body, bytes) else body.read()


@pytest.mark.parametrize("content", [b"", b"x", os.urandom(3 * CHUNK_BYTES + 1)])
def test_every_kind_of_payload_gives_the_same(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with path.open("rb") as file:
        for payload in (content, path, file, io.BytesIO(content), OneWay(content)):
            with opened(payload, max_bytes=MAX) as source:  # type: ignore[arg-type]  # `BinaryIO` is nominal
                assert source.content_length == len(content)
                assert source.sha256 == hashlib.sha256(content).hexdigest()
                assert sent(source) == content
                assert sent(source) == content, "a retry sends it again from the start"
                assert source.read() == content


@given(before=st.binary(max_size=50), content=st.binary(max_size=50))
def test_a_file_is_read_from_where_it_stands_and_put_back_there(before: bytes, content: bytes) -> None:
    file = io.BytesIO(before + content)
    file.seek(len(before))
    for _ in range(2):
        with opened(file, max_bytes=MAX) as source:
            assert sent(source) == content
        assert file.tell() == len(before)


def test_a_file_is_put_back_even_when_the_publish_fails() -> None:
    file = io.BytesIO(b"abc")

    def publish() -> None:
        with opened(file, max_bytes=MAX) as source:
            sent(source)
            raise KeyError

    with pytest.raises(KeyError):
        publish()
    assert file.tell() == 0


@pytest.mark.parametrize("make", [bytes, io.BytesIO, OneWay])
def test_the_maximum_is_accepted_and_one_byte_more_is_not(make: type) -> None:
    with opened(make(b"12345"), max_bytes=5) as source:
        assert source.content_length == 5
    with (
        pytest.raises(EventTooLarge, match=r"payload: 6 bytes; allowed: up to 5 bytes; "),
        opened(make(b"123456"), max_bytes=5),
    ):
        pass


def test_a_source_without_end_is_refused_as_soon_as_it_is_too_large() -> None:
    class Endless(OneWay):
        """It never ends."""

        def read(self, size: int = -1, /) -> bytes:
            """Read zeros."""
            return bytes(size)

    with pytest.raises(EventTooLarge), opened(Endless(b""), max_bytes=10 * CHUNK_BYTES):  # type: ignore[arg-type]
        pass


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    closed = io.BytesIO(b"x")
    closed.close()
    for payload in (tmp_path / "missing", tmp_path, closed):
        with pytest.raises(InvalidPayload, match="cannot be read"), opened(payload, max_bytes=MAX):
            pass


def test_error_of_a_missing_file_does_not_tell_its_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidPayload) as caught, opened(tmp_path / "passport-miller.pdf", max_bytes=MAX):
        pass
    assert "miller" not in str(caught.value)


def test_a_file_that_grows_is_cut_and_one_that_shrinks_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 1000)
    with opened(path, max_bytes=MAX) as source:
        path.write_bytes(b"x" * 2000)
        assert len(sent(source)) == 1000
        path.write_bytes(b"x" * 500)
        with pytest.raises(PublishError, match="shorter"):
            sent(source)


@given(
    content=st.binary(max_size=100),
    start=st.integers(0, 20),
    steps=st.lists(st.tuples(st.integers(0, 120), st.integers(0, 60)), max_size=10),
)
def test_a_section_behaves_like_a_file_of_its_own(content: bytes, start: int, steps: list[tuple[int, int]]) -> None:
    section = Section(io.BytesIO(bytes(start) + content + b"behind"), start, len(content))
    model = io.BytesIO(content)
    for position, size in steps:
        assert section.seek(position) == model.seek(position)
        assert section.read(size) == model.read(size)
        assert section.tell() == model.tell()
    assert section.seek(0, os.SEEK_END) == len(content)


def test_memory_stays_flat(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(64 * 1024 * 1024)
    tracemalloc.start()
    with opened(path, max_bytes=10**9) as source:
        body = source.body()
        assert not isinstance(body, bytes)
        assert sum(len(piece) for piece in iter(lambda: body.read(CHUNK_BYTES), b"")) == 64 * 1024 * 1024
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * CHUNK_BYTES
