"""A payload being read, checked against its claim while it streams (R4.4)."""

from __future__ import annotations

import hashlib
import io
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from claim_check import checksums
from claim_check.errors import ChecksumMismatch
from claim_check.ports import ByteStream

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from claim_check.checksums import Checksum

CHUNK_BYTES: Final = 256 * 1024
"""Most that is asked of the body at once: memory stays flat whatever a reader asks for."""


class VerifiedStream(io.RawIOBase):
    """A read-once stream that compares length and SHA-256 when the last byte is read.

    The read that reaches the end raises instead of returning if the content is not the claim's, so its last bytes are
    never handed out unverified. A failure is final: every later read raises it again.

    The connection is given back once the content is verified or failed. Closing early does not count as verified, and
    leaves the connection open so that `finish` can still drain and check what was left unread; `abandon` gives it up.
    """

    def __init__(
        self,
        body: ByteStream,
        *,
        content_length: int,
        sha256: str | None,
        checksum: Checksum | None = None,
        checkpoint: Callable[[], None] = lambda: None,
    ) -> None:
        """Wrap a body that was not read yet.

        Args:
            body: Where the bytes come from.
            content_length: Bytes there must be.
            sha256: What they must hash to, hexadecimal; None only for a payload whose producer told nothing.
            checksum: The store's own checksum, to be compared where there is no ``sha256``.
            checkpoint: Called before each request to the body; raises once nothing more may be read.
        """
        super().__init__()
        self._body = body
        self._left = content_length
        self._expected = sha256
        self._checkpoint = checkpoint
        self._hash = hashlib.sha256()
        self._checksum = checksum
        self._running = None if checksum is None else checksums.running(checksum.algorithm)
        self._verified = False
        self._failure: BaseException | None = None
        self._lock = threading.Lock()

    @property
    def verified(self) -> bool:
        """Whether every byte was read and is what was told of it: length, and SHA-256 or the store's checksum."""
        return self._verified

    @property
    def sha256(self) -> str | None:
        """SHA-256 of the content as it was read, once all of it was."""
        return self._hash.hexdigest() if self._verified else None

    @property
    def failure(self) -> BaseException | None:
        """What ended the stream for good, if anything did."""
        return self._failure

    def readable(self) -> bool:
        """Yes."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Read exactly ``size`` bytes, fewer only at the end; all that is left if it is negative or None.

        Raises:
            ChecksumMismatch: The content is not the claim's.
            Unavailable: The connection broke.
            DeadlineExceeded: Nothing more may be read.
        """
        self._refuse_closed()
        wanted = self._left if size is None or size < 0 else size
        piece = self._step(wanted) if size != 0 else b""
        if not piece or len(piece) == wanted:
            return piece
        whole = io.BytesIO()  # hands its buffer over without a copy
        while piece:
            whole.write(piece)
            piece = self._step(wanted - whole.tell()) if whole.tell() < wanted else b""
        return whole.getvalue()

    def readall(self) -> bytes:
        """Read all that is left."""
        return self.read(-1)

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill a buffer as far as one request to the body does; 0 at the end."""
        self._refuse_closed()
        view = memoryview(buffer).cast("B")
        if not view:
            return 0
        piece = self._step(len(view))
        view[: len(piece)] = piece
        return len(piece)

    def finish(self) -> None:
        """Read what was left unread, check it, and close; does so even after `close`.

        Raises:
            ChecksumMismatch: The content is not the claim's.
            Unavailable: The connection broke.
            DeadlineExceeded: Nothing more may be read.
        """
        while not self._verified:
            self._step(CHUNK_BYTES)
        super().close()

    def abandon(self) -> None:
        """Close, and give the connection back, whatever was left unread."""
        super().close()
        self._body.close()

    def _refuse_closed(self) -> None:
        if self.closed:
            raise ValueError("the payload's stream is closed")

    def _step(self, size: int) -> bytes:
        """One request to the body; empty at the verified end."""
        with self._lock:
            if self._failure is not None:
                raise self._failure
            if self._verified:
                return b""
            try:
                return self._advance(min(size, CHUNK_BYTES))
            except BaseException as error:
                self._failure = error
                self._body.close()
                raise

    def _advance(self, size: int) -> bytes:
        self._checkpoint()
        piece = self._body.read(min(size, self._left)) if self._left else b""
        self._hash.update(piece)
        if self._running is not None:
            self._running.update(piece)
        if self._left and not piece:
            raise ChecksumMismatch(f"payload: {self._left} bytes shorter than its claim")
        self._left -= len(piece)
        if self._left < 0:
            raise ChecksumMismatch("payload: longer than its claim")
        if self._left == 0:
            self._verify()
        return piece

    def _verify(self) -> None:
        if self._body.read(1):
            raise ChecksumMismatch("payload: longer than its claim")
        if self._expected is not None and self._hash.hexdigest() != self._expected:
            raise ChecksumMismatch("payload: its SHA-256 is not the claim's")
        if self._checksum is not None and self._running is not None and self._running.digest() != self._checksum.value:
            raise ChecksumMismatch(f"payload: its {self._checksum.algorithm} is not the one that S3 keeps of it")
        self._verified = True
        self._body.close()
