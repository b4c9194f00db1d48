"""What can be said of a file by reading it once, in chunks. Pure."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from claim_check import contract

CHUNK_BYTES: Final = 256 * contract.KIB
HEAD_BYTES: Final = 512

_SIGNATURES: Final = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Facts of a file.

    Attributes:
        size: Bytes.
        detected_type: Media type as the first bytes tell it.
        rows: Number of CSV records, its header line not counted; None if it is no CSV.
    """

    size: int
    detected_type: str
    rows: int | None


class Readable(Protocol):
    """A binary stream."""

    def read(self, size: int, /) -> bytes:
        """Read up to ``size`` bytes; empty at the end."""


def examine(stream: Readable, *, content_type: str) -> FileFacts:
    """Read a stream to its end, in flat memory.

    Args:
        stream: The file.
        content_type: What its producer says it is: CSV cannot be told from its first bytes.

    Raises:
        UnicodeDecodeError: A CSV is not UTF-8.
        csv.Error: A CSV cannot be parsed.
    """
    counter = _Counter(stream)
    media_type = content_type.partition(";")[0].strip().lower()
    head = counter.head()
    if media_type != "text/csv":
        for _ in counter.chunks():
            pass
        return FileFacts(counter.size, detect(head), None)
    records = sum(1 for record in csv.reader(_lines(counter.chunks())) if record)
    return FileFacts(counter.size, "text/csv", max(0, records - 1))


def detect(head: bytes) -> str:
    """The media type that a file's first bytes tell, ``application/octet-stream`` if they tell none."""
    for signature, media_type in _SIGNATURES:
        if head.startswith(signature):
            return media_type
    if head.lstrip()[:1] in {b"{", b"["}:
        return "application/json"
    return "application/octet-stream"


class _Counter:
    """Counts what it reads, and remembers the first bytes."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._first = b""
        self.size = 0

    def head(self) -> bytes:
        self._first = self._stream.read(HEAD_BYTES)
        self.size = len(self._first)
        return self._first

    def chunks(self) -> Iterator[bytes]:
        if self._first:
            yield self._first
        while chunk := self._stream.read(CHUNK_BYTES):
            self.size += len(chunk)
            yield chunk


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """Lines of text with their ends, as `csv.reader` wants them; a byte order mark is dropped."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    rest = ""
    for chunk in chunks:
        *lines, rest = (rest + decoder.decode(chunk)).split("\n")
        yield from (line + "\n" for line in lines)
    rest += decoder.decode(b"", final=True)
    if rest:
        yield rest
