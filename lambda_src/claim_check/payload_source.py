"""The bytes of an event, wherever they are, behind one face: length, SHA-256, and a body that can be sent again.

Bytes are hashed where they lie. Files are hashed in one streaming pass and then sent from the same open handle, so that
memory stays flat whatever their size (R2.4); the store's own check of the SHA-256 finds a file that changed in between.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, Final

from claim_check.errors import ClaimCheckError, EventTooLarge, InvalidPayload, PublishError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK_BYTES: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class PayloadSource:
    """An event's content, ready to be sent.

    Attributes:
        content_length: Bytes.
        sha256: SHA-256 of them, hexadecimal.
        content: The bytes themselves, if they are in memory.
        section: Otherwise the part of the file that holds them.
    """

    content_length: int
    sha256: str
    content: bytes | None = None
    section: Section | None = None

    def body(self) -> bytes | IO[bytes]:
        """What a request sends, from the start."""
        if self.section is None:
            return self.content or b""
        self.section.seek(0)
        return self.section  # type: ignore[return-value]  # a RawIOBase lacks `IO`'s nominal base

    def read(self) -> bytes:
        """All of it, in memory."""
        body = self.body()
        return body if isinstance(body, bytes) else body.read()


class Section(io.RawIOBase):
    """Exactly ``length`` bytes of a file from ``start`` on, as a seekable file of its own.

    A file that grows is cut there; one that shrank raises instead of sending less than was announced.
    """

    def __init__(self, file: BinaryIO, start: int, length: int) -> None:
        """Start at the section's beginning."""
        super().__init__()
        self._file, self._start, self._length, self._at = file, start, length, 0
        self._moved = True

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes: a request that failed is sent again."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Move within the section."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._length}[whence]
        self._at, self._moved = max(0, base + offset), True
        return self._at

    def tell(self) -> int:
        """Bytes from the section's beginning."""
        return self._at

    def read(self, size: int = -1, /) -> bytes:
        """Read up to ``size`` bytes, all that is left if it is negative; handed on as the file gives them, not copied.

        Raises:
            PublishError: The file became shorter while it was published.
        """
        if size < 0:
            return self.readall()
        wanted = min(size, self._length - self._at, CHUNK_BYTES)
        if wanted <= 0:
            return b""
        if self._moved:
            self._file.seek(self._start + self._at)
            self._moved = False
        piece = self._file.read(wanted)
        if not piece:
            raise PublishError("payload: the file became shorter while it was published; publish it again")
        self._at += len(piece)
        return piece

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill the buffer as far as one `read` does."""
        view = memoryview(buffer).cast("B")
        piece = self.read(len(view))
        view[: len(piece)] = piece
        return len(piece)


@contextmanager
def opened(payload: bytes | Path | BinaryIO, *, max_bytes: int) -> Iterator[PayloadSource]:
    """Open and hash an event's payload; nothing is written but, for a source that cannot seek, a temporary file.

    Args:
        payload: As `claim_check.event.Event` has it.
        max_bytes: Most it may have.

    Raises:
        EventTooLarge: It has more; found before anything is hashed where the size can be told.
        InvalidPayload: It cannot be read.
    """
    if isinstance(payload, bytes):
        check_size(len(payload), max_bytes)
        yield PayloadSource(len(payload), hashlib.sha256(payload).hexdigest(), content=payload)
        return
    with ExitStack() as stack:
        try:
            section = _section(payload, max_bytes, stack)
            digest = _hash(section)
        except ClaimCheckError:
            raise
        except (OSError, ValueError) as error:
            raise _unreadable(error) from error
        yield PayloadSource(section.seek(0, os.SEEK_END), digest, section=section)


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


def _hash(section: Section) -> str:
    digest = hashlib.sha256()
    while piece := section.read(CHUNK_BYTES):
        digest.update(piece)
    return digest.hexdigest()
