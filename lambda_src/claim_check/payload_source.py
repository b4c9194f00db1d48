"""The bytes of an event, wherever they are, behind one face: length, SHA-256, and a body that can be sent again.

Bytes are hashed where they lie. Files are hashed in one streaming pass and then sent from the same open handle, so that
memory stays flat whatever their size (R2.4); the store's own check of the SHA-256 finds a file that changed in between.
The same pass hashes the parts of a payload that will be uploaded in parts, so that its content is read twice in all.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, Final, Literal, TypeAlias

from claim_check.errors import ClaimCheckError, EventTooLarge, InvalidPayload, PublishError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK_BYTES: Final = 256 * 1024

Step: TypeAlias = Literal["hash", "upload"]
OnProgress: TypeAlias = Callable[[Step, int, int], object]
"""Told how far a payload is: the step, bytes done, bytes in all. Called from any thread; it must not raise."""

PartSize: TypeAlias = Callable[[int], int | None]
"""From a payload's length to the size of its parts, bytes; None if it is sent whole."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a payload that is uploaded in parts.

    Attributes:
        number: Its place, from 1.
        start: Where it begins within the payload.
        content_length: Bytes.
        sha256: SHA-256 of them, hexadecimal.
    """

    number: int
    start: int
    content_length: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PayloadSource:
    """An event's content, ready to be sent.

    Attributes:
        content_length: Bytes.
        sha256: SHA-256 of them, hexadecimal.
        content: The bytes themselves, if they are in memory and sent whole.
        section: Otherwise the part of the file that holds them.
        parts: How they are sent in parts; empty if they are sent whole.
    """

    content_length: int
    sha256: str
    content: bytes | None = None
    section: Section | None = None
    parts: tuple[Part, ...] = ()

    def body(self) -> bytes | IO[bytes]:
        """What a request sends, from the start."""
        if self.section is None:
            return self.content or b""
        self.section.seek(0)
        return self.section  # type: ignore[return-value]  # a RawIOBase lacks `IO`'s nominal base

    def part_body(self, part: Part, *, stopped: threading.Event) -> IO[bytes]:
        """What the request for a part sends; parts may be read side by side.

        Args:
            part: One of `parts`.
            stopped: Once it is set, reading fails, so that what is on its way ends soon.
        """
        assert self.section is not None  # noqa: S101 - what has parts is a section
        return self.section.section(part, stopped)  # type: ignore[return-value]  # as above

    @property
    def side_by_side(self) -> bool:
        """Whether its parts may be read in turns: where going back is dear (a compressed file), they may not."""
        return self.section is not None and self.section.random_access

    def read(self) -> bytes:
        """All of it, in memory."""
        body = self.body()
        return body if isinstance(body, bytes) else body.read()


class _SharedFile:
    """A file that several sections read in turns, from any thread."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._at: int | None = None
        self._lock = threading.Lock()

    @property
    def random_access(self) -> bool:
        """Whether going back and forth costs nothing: true of plain files and of memory, not of decompression."""
        return isinstance(getattr(self._file, "raw", self._file), io.FileIO | io.BytesIO)

    def read_at(self, position: int, size: int) -> bytes:
        with self._lock:
            if self._at != position:
                self._at = None
                self._file.seek(position)
            piece = self._file.read(size)
            self._at = position + len(piece)
        return piece


class _Sent:
    """Adds up what all sections of a payload have handed out, for a listener."""

    def __init__(self, on_progress: OnProgress, total: int) -> None:
        self._on_progress, self._total, self._done = on_progress, total, 0
        self._lock = threading.Lock()

    def moved(self, by: int) -> None:
        with self._lock:
            self._done += by
            self._on_progress("upload", self._done, self._total)


class Section(io.RawIOBase):
    """Exactly ``length`` bytes of a file from ``start`` on, as a seekable file of its own.

    A file that grows is cut there; one that shrank raises instead of sending less than was announced.

    Attributes:
        sent: Told what is read, if anybody listens.
    """

    def __init__(
        self, file: BinaryIO | _SharedFile, start: int, length: int, *, stopped: threading.Event | None = None
    ) -> None:
        """Start at the section's beginning.

        Args:
            file: The file; sections of one `_SharedFile` may be read side by side.
            start: Where in it the section begins.
            length: Bytes of the section.
            stopped: Once it is set, reading fails.
        """
        super().__init__()
        self._file = file if isinstance(file, _SharedFile) else _SharedFile(file)
        self._start, self._length, self._at, self._told = start, length, 0, 0
        self._stopped = stopped
        self.sent: _Sent | None = None

    @property
    def random_access(self) -> bool:
        """Whether sections of it may be read in turns."""
        return self._file.random_access

    def section(self, part: Part, stopped: threading.Event) -> Section:
        """A part of it, which reads beside others."""
        made = Section(self._file, self._start + part.start, part.content_length, stopped=stopped)
        made.sent = self.sent
        return made

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes: a request that failed is sent again."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Move within the section."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._length}[whence]
        self._at = max(0, base + offset)
        return self._at

    def tell(self) -> int:
        """Bytes from the section's beginning."""
        return self._at

    def read(self, size: int = -1, /) -> bytes:
        """Read up to ``size`` bytes, all that is left if it is negative; handed on as the file gives them, not copied.

        Raises:
            PublishError: The file became shorter while it was published, or the upload was stopped.
        """
        if size < 0:
            return self.readall()
        wanted = min(size, self._length - self._at, CHUNK_BYTES)
        if wanted <= 0:
            return b""
        if self._stopped is not None and self._stopped.is_set():
            raise PublishError("payload: the upload was stopped; publish it again")
        piece = self._file.read_at(self._start + self._at, wanted)
        if not piece:
            raise PublishError("payload: the file became shorter while it was published; publish it again")
        self._at += len(piece)
        if self.sent is not None:  # a request that is sent again begins again
            self._told, by = self._at, self._at - self._told
            self.sent.moved(by)
        return piece

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill the buffer as far as one `read` does."""
        view = memoryview(buffer).cast("B")
        piece = self.read(len(view))
        view[: len(piece)] = piece
        return len(piece)


@contextmanager
def opened(
    payload: bytes | Path | BinaryIO,
    *,
    max_bytes: int,
    part_size: PartSize = lambda _: None,
    on_progress: OnProgress | None = None,
) -> Iterator[PayloadSource]:
    """Open and hash an event's payload; nothing is written but, for a source that cannot seek, a temporary file.

    Args:
        payload: As `claim_check.event.Event` has it.
        max_bytes: Most it may have.
        part_size: Whether, and how, it is sent in parts; whole by default.
        on_progress: Told how far the hash is, and what is read to be sent after it.

    Raises:
        EventTooLarge: It has more; found before anything is hashed where the size can be told.
        InvalidPayload: It cannot be read.
    """
    if isinstance(payload, bytes):
        check_size(len(payload), max_bytes)
        if part_size(len(payload)) is None:
            yield of_bytes(payload)
            return
        payload = io.BytesIO(payload)  # shares the bytes
    with ExitStack() as stack:
        try:
            section = _section(payload, max_bytes, stack)
            length = section.seek(0, os.SEEK_END)
            digest, parts = _hash(section, length, part_size(length), on_progress)
        except ClaimCheckError:
            raise
        except (OSError, ValueError) as error:
            raise _unreadable(error) from None  # its text names the file
        section.sent = None if on_progress is None else _Sent(on_progress, length)
        yield PayloadSource(length, digest, section=section, parts=parts)


def of_bytes(content: bytes) -> PayloadSource:
    """A payload in memory that is sent whole."""
    return PayloadSource(len(content), hashlib.sha256(content).hexdigest(), content=content)


def check_size(size: int, max_bytes: int) -> None:
    """Refuse a payload over the maximum.

    Raises:
        EventTooLarge: It is.
    """
    if size > max_bytes:
        raise EventTooLarge(
            "payload",
            f"{size} bytes",
            limit=f"up to {max_bytes} bytes",
            way_out="raise max_payload_bytes of producer and consumers, or split the payload",
        )


def _unreadable(error: Exception) -> InvalidPayload:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    return InvalidPayload(
        "payload", f"cannot be read ({reason})", limit="a readable file", way_out="check that it exists and is open"
    )


def _section(payload: Path | BinaryIO, max_bytes: int, stack: ExitStack) -> Section:
    file: BinaryIO
    if isinstance(payload, Path):
        file = stack.enter_context(payload.open("rb", buffering=0))
        start = 0
    elif payload.seekable():
        file, start = payload, payload.tell()
        stack.callback(payload.seek, start)
    else:
        file, start = _spool(payload, max_bytes, stack), 0
    length = max(0, file.seek(0, os.SEEK_END) - start)
    check_size(length, max_bytes)
    return Section(file, start, length)


def _spool(payload: BinaryIO, max_bytes: int, stack: ExitStack) -> BinaryIO:
    copy = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
    while piece := payload.read(CHUNK_BYTES):
        copy.write(piece)
        check_size(copy.tell(), max_bytes)
    return copy


def _hash(
    section: Section, length: int, part_size: int | None, on_progress: OnProgress | None
) -> tuple[str, tuple[Part, ...]]:
    """SHA-256 of all, and the parts with theirs, in one pass."""
    section.seek(0)
    whole, parts = hashlib.sha256(), list[Part]()
    for start in range(0, length, part_size or max(1, length)):
        end = min(length, start + part_size) if part_size else length
        digest = hashlib.sha256()
        while section.tell() < end:
            piece = section.read(min(CHUNK_BYTES, end - section.tell()))
            whole.update(piece)
            if part_size:
                digest.update(piece)
            if on_progress is not None:
                on_progress("hash", section.tell(), length)
        if part_size:
            parts.append(Part(len(parts) + 1, start, end - start, digest.hexdigest()))
    return whole.hexdigest(), tuple(parts)
