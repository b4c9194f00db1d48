"""Opens the payload of a message: size and type first, then one request, then a stream that verifies itself (R4.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from claim_check.contract import DAY_SECONDS, Metric, PayloadAccess
from claim_check.envelope import Claim, Inline, Payload, UnverifiedClaim
from claim_check.errors import ChecksumMismatch, PayloadTooLarge, PermanentError
from claim_check.verified_stream import VerifiedStream

if TYPE_CHECKING:
    from claim_check.consumer_rules import ConsumerRules
    from claim_check.deadline import Deadline
    from claim_check.ports import ByteStream, Clock, ObjectStore, OpenedObject, StoredObject, Telemetry


class PayloadReader:
    """Opens payloads for one consumer."""

    def __init__(
        self,
        rules: ConsumerRules,
        objects: ObjectStore,
        *,
        access: PayloadAccess,
        life_seconds: float,
        clock: Clock,
        telemetry: Telemetry,
    ) -> None:
        """Set up.

        Args:
            rules: What the consumer accepts.
            objects: Where payloads are.
            access: How the handler uses them; ``none`` opens nothing.
            life_seconds: How long the retention plan lets a payload live.
            clock: Times the fetch.
            telemetry: Measures and traces it.
        """
        self._rules = rules
        self._objects = objects
        self._access = access
        self._life_seconds = life_seconds
        self._clock = clock
        self._telemetry = telemetry

    def open(self, payload: Payload, deadline: Deadline) -> VerifiedStream | None:
        """Open a payload: one GET for a claim. None for a consumer that never opens payloads.

        Raises:
            PayloadTooLarge, UnsupportedContentType: It is none that this consumer takes.
            ChecksumMismatch: Its length is not the claim's.
            MissingPayload, AccessDenied, Unavailable: S3 did not hand it out.
        """
        if payload.content_length > self._rules.max_payload_bytes:
            raise PayloadTooLarge(
                f"contentLength: {payload.content_length} bytes; this consumer takes {self._rules.max_payload_bytes}"
            )
        self._rules.check_content_type(payload.content_type)
        if self._access == "none":
            return None
        if isinstance(payload, Inline):
            body: ByteStream = _Memory(payload.content)
        else:
            opened = self._fetch(payload)
            body = opened.body
        if isinstance(payload, UnverifiedClaim):
            return VerifiedStream(
                body,
                content_length=payload.content_length,
                sha256=None,
                checksum=opened.info.checksum,
                checkpoint=deadline.check,
            )
        return VerifiedStream(
            body, content_length=payload.content_length, sha256=payload.sha256, checkpoint=deadline.check
        )

    def _fetch(self, claim: Claim | UnverifiedClaim) -> OpenedObject:
        """One GET; length and type are judged by the answer's headers before anything is read.

        Extended Clients give their objects no type, so what the header says there means nothing.
        """
        began = self._clock.monotonic()
        try:
            with self._telemetry.span("fetch"):
                opened = self._get(claim)
        finally:  # what S3 takes long to refuse is slow, too
            self._telemetry.count(Metric.FETCH_MILLISECONDS, (self._clock.monotonic() - began) * 1000)
        self._measure_life(opened.info)
        try:
            length = opened.info.content_length
            if length != claim.content_length:
                raise ChecksumMismatch(
                    f"contentLength: the object has {length} bytes, the claim says {claim.content_length}"
                )
            if isinstance(claim, Claim):
                self._rules.check_content_type(opened.info.content_type)
        except PermanentError:
            opened.body.close()
            raise
        return opened

    def _measure_life(self, info: StoredObject) -> None:
        """How long the object will still be there: as S3 itself says, else by its age and the plan."""
        if info.expires_at is not None:
            left = info.expires_at.timestamp() - self._clock.now()
        elif info.last_modified is not None:
            left = info.last_modified.timestamp() + self._life_seconds - self._clock.now()
        else:
            return
        self._telemetry.count(Metric.PAYLOAD_LIFE_LEFT, left / DAY_SECONDS)

    def _get(self, claim: Claim | UnverifiedClaim) -> OpenedObject:
        if isinstance(claim, UnverifiedClaim):
            return self._objects.open(bucket=claim.bucket, key=claim.key, version_id=None, checksum=True)
        return self._objects.open(bucket=claim.bucket, key=claim.key, version_id=claim.version_id)


class _Memory:
    """An inline payload as a byte stream."""

    def __init__(self, content: bytes) -> None:
        self._content = memoryview(content)

    def read(self, size: int, /) -> bytes:
        chunk, self._content = self._content[:size], self._content[size:]
        return bytes(chunk)

    def close(self) -> None:
        self._content = memoryview(b"")
