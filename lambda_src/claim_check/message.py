"""What a handler gets: the envelope's fields, and the payload as a verified stream."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from claim_check import contract
from claim_check.envelope import UnverifiedClaim
from claim_check.errors import PayloadTooLarge

if TYPE_CHECKING:
    from claim_check.deadline import Deadline
    from claim_check.envelope import Envelope, Payload
    from claim_check.verified_stream import VerifiedStream

CHUNK_BYTES: Final = 256 * contract.KIB


class Message:
    """One message to be handled.

    Its payload is read once, by `open`, `read`, `text`, `json` or `download`. What a handler leaves unread is read and
    verified before anything is committed: bytes that do not match the claim never lead to an effect (R4.4).
    """

    def __init__(
        self,
        envelope: Envelope,
        *,
        stream: VerifiedStream | None,
        deadline: Deadline,
        attempt: int,
        effect_token: str,
        redriven: bool,
        read_limit: int,
    ) -> None:
        """Made by the consumer.

        Args:
            envelope: The decoded message.
            stream: Its payload; None for a consumer that never opens payloads.
            deadline: The handler's time.
            attempt: 1 for the first attempt of this life of the message.
            effect_token: Stable over every delivery of this message to this consumer.
            redriven: Whether it was replayed from a DLQ.
            read_limit: Bytes that `read` returns at most.
        """
        self._envelope = envelope
        self._stream = stream
        self._deadline = deadline
        self._read_limit = read_limit
        self._opened = False
        self.attempt = attempt
        self.effect_token = effect_token
        """Pass it to systems outside the transaction, whose effects are at-least-once (R4.9)."""
        self.redriven = redriven

    @property
    def message_id(self) -> str:
        """Identity of the event."""
        return self._envelope.message_id

    @property
    def event_type(self) -> str:
        """Kind of event."""
        return self._envelope.event_type

    @property
    def event_version(self) -> int:
        """Version of the event's schema."""
        return self._envelope.event_version

    @property
    def tenant_id(self) -> str:
        """Tenant."""
        return self._envelope.tenant_id

    @property
    def correlation_id(self) -> str | None:
        """Ties messages of one business transaction together."""
        return self._envelope.correlation_id

    @property
    def idempotency_key(self) -> str:
        """What makes two messages the same work."""
        return self._envelope.idempotency_key

    @property
    def occurred_at(self) -> datetime | None:
        """When it happened."""
        return self._envelope.occurred_at

    @property
    def published_at(self) -> datetime | None:
        """When it was published."""
        return self._envelope.published_at

    @property
    def domain_ref(self) -> Mapping[str, str | int]:
        """References to domain objects."""
        return self._envelope.domain_ref

    @property
    def payload(self) -> Payload:
        """How the payload travelled: the discriminated union (R1.3)."""
        return self._envelope.payload

    @property
    def content_type(self) -> str:
        """Media type of the payload."""
        return self._envelope.payload.content_type

    @property
    def content_length(self) -> int:
        """Bytes of the payload."""
        return self._envelope.payload.content_length

    @property
    def sha256(self) -> str:
        """SHA-256 of the payload, hexadecimal.

        Nobody told that of an Extended Client's payload: there it is the one of the bytes as they were read.

        Raises:
            ValueError: That payload was not read to its end yet, or this consumer opens no payloads.
        """
        payload = self._envelope.payload
        found = self._read_sha256() if isinstance(payload, UnverifiedClaim) else payload.sha256
        if found is None:
            raise ValueError("the SHA-256 of an unverified payload is known once it was read to its end")
        return found

    @property
    def verified(self) -> bool:
        """Whether the payload is held to what its producer told of it.

        False for an Extended Client's message (`claim_check.ForeignMessages`): of a payload in S3 only the length, and
        S3's own checksum where it has one, are compared.
        """
        return self._envelope.payload.verified

    def _read_sha256(self) -> str | None:
        return None if self._stream is None else self._stream.sha256

    def remaining_seconds(self) -> float:
        """Time left before streams and transaction refuse further work (R4.8)."""
        return self._deadline.remaining()

    def open(self) -> VerifiedStream:
        """The payload as a binary stream, flat in memory; reading its last byte verifies it.

        Wrap it in `io.TextIOWrapper` for lines of text.

        Raises:
            ValueError: It was opened before, or this consumer opens no payloads.
        """
        if self._stream is None:
            raise ValueError("this consumer is set to payload access 'none'; choose 'stream', 'memory' or 'file'")
        if self._opened:
            raise ValueError("the payload was opened already; it can be read once")
        self._opened = True
        return self._stream

    def read(self, limit: int | None = None) -> bytes:
        """The whole payload, verified.

        Args:
            limit: Bytes to accept at most; by default what this function's memory was sized for.

        Raises:
            PayloadTooLarge: The payload is longer.
            ChecksumMismatch: The bytes are not those of the claim.
        """
        allowed = self._read_limit if limit is None else limit
        if self.content_length > allowed:
            raise PayloadTooLarge(
                f"payload: {self.content_length} bytes exceed the {allowed} that may be read into memory; "
                "stream it with open(), or set payload access 'memory'"
            )
        stream = self.open()
        content = stream.read()
        stream.finish()
        return content or b""

    def text(self, encoding: str = "utf-8") -> str:
        """The whole payload as text; limits and errors like `read`."""
        return self.read().decode(encoding)

    def json(self) -> Any:  # noqa: ANN401 - any JSON
        """The whole payload as JSON; limits and errors like `read`."""
        return json.loads(self.read())

    def download(self, path: Path) -> Path:
        """Write the payload to a file; when this returns, the file's bytes are verified.

        Args:
            path: File to be written, in temporary storage that was sized for it (payload access ``file``).

        Raises:
            ChecksumMismatch: The bytes are not those of the claim; the file is removed.
        """
        stream = self.open()
        try:
            with path.open("wb") as file:
                shutil.copyfileobj(stream, file, CHUNK_BYTES)
            stream.finish()
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path
