"""Payloads in S3: conditional, checksummed writes under deterministic keys (R2.2, R2.3), and reads by claim."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from claim_check import contract
from claim_check.envelope import Claim
from claim_check.errors import ConsumeError, PayloadConflict, PublishError, Unavailable
from claim_check.multipart import PARALLEL_PARTS, MultipartUploads
from claim_check.payload_source import PayloadSource
from claim_check.ports import Clock, ObjectExists, ObjectStore, OpenedObject, StoredObject, WriteConflict
from claim_check.retries import Retry

MAX_GENERATIONS: Final = 32
"""An event published anew so often that this many objects of it are about to expire is a mistake somewhere."""

KEPT: Final = "outbox"
"""Value of `contract.METADATA_STAGED`."""

_WRITE_RETRY: Final = Retry(attempts=4)


class PayloadStore:
    """Puts and opens payloads."""

    def __init__(
        self,
        objects: ObjectStore,
        *,
        bucket: str,
        before_send_seconds: float,
        clock: Clock,
        random: Callable[[], float],
        retry: Retry = _WRITE_RETRY,
        multipart_threshold: int = contract.DEFAULT_MULTIPART_THRESHOLD_BYTES,
        part_bytes: int = contract.DEFAULT_PART_BYTES,
        parallel_parts: int = PARALLEL_PARTS,
    ) -> None:
        """Make a store in one bucket.

        Args:
            objects: The object store.
            bucket: Bucket of the payloads.
            before_send_seconds: How old an object may be when its pointer is sent: the term of that name in the
                bucket's retention plan. An older one is about to expire, so the event gets an object of its own.
            clock: Time.
            random: Draws from [0, 1) for the jitter.
            retry: How conflicts and outages are retried.
            multipart_threshold: Payloads above this size are uploaded in parts; up to 5 GiB, what one PUT takes.
            part_bytes: Size of a part, from 5 MiB; more where S3's 10,000 parts would not suffice.
            parallel_parts: Parts of one payload that are on their way at once; 1 uses no threads.
        """
        self.bucket = bucket
        self._objects = objects
        self._before_send = before_send_seconds
        self._clock = clock
        self._random = random
        self._retry = retry
        self._threshold = min(multipart_threshold, contract.S3_MAX_SINGLE_PUT_BYTES)
        self._part_bytes = part_bytes
        self._uploads = MultipartUploads(
            objects,
            bucket=bucket,
            before_send_seconds=before_send_seconds,
            clock=clock,
            random=random,
            retry=retry,
            parallel=parallel_parts,
        )

    def part_size(self, content_length: int) -> int | None:
        """Size of the parts of a payload of this length; None if one PUT takes it whole."""
        if content_length <= self._threshold:
            return None
        return contract.part_bytes(content_length, at_least=self._part_bytes)

    def put(
        self,
        source: PayloadSource,
        *,
        tenant_id: str,
        event_type: str,
        idempotency_key: str,
        message_id: str,
        content_type: str,
        kept: bool = False,
    ) -> Claim:
        """Write a payload, or find the one that an earlier attempt wrote. Repeating it is safe.

        With ``kept``, its message is kept and sent later: then nobody who publishes directly relies on the object.

        Costs one PUT; only when the key exists already also a HEAD. In parts it costs a HEAD first, which spares the
        upload where an earlier attempt completed it, and one PUT for each part.

        Raises:
            PayloadConflict: The key holds other content.
            PublishError: The write was refused, or did not succeed within the retries.
        """
        metadata = {
            contract.METADATA_TENANT_ID: tenant_id,
            contract.METADATA_EVENT_ID: header_text(message_id),
            contract.METADATA_SHA256: source.sha256,
        }
        if kept:
            metadata[contract.METADATA_STAGED] = KEPT
        for generation in range(MAX_GENERATIONS):
            key = contract.object_key(
                tenant_id=tenant_id,
                event_type=event_type,
                idempotency_key=idempotency_key,
                sha256=source.sha256,
                generation=generation,
            )
            found = self._put(source, key, content_type, metadata)
            if isinstance(found, StoredObject) and (self._expires_soon(found) or _is_others(found, kept=kept)):
                continue
            return Claim(
                bucket=self.bucket,
                key=key,
                version_id=found.version_id if isinstance(found, StoredObject) else found,
                content_type=content_type,
                content_length=source.content_length,
                sha256=source.sha256,
            )
        raise PublishError(
            f"payload: {MAX_GENERATIONS} objects of this event exist and are all older than {self._before_send:.0f} s; "
            "publish it under a new idempotency key, or raise before_send"
        )

    def open(self, claim: Claim) -> OpenedObject:
        """Start reading the payload of a claim: exactly one request. Its content is yet to be verified.

        Raises:
            MissingPayload: There is no such object or version.
            AccessDenied: S3 refuses.
            Unavailable: Throttled, failed, or no answer.
        """
        return self._objects.open(bucket=claim.bucket, key=claim.key, version_id=claim.version_id)

    def _put(
        self, source: PayloadSource, key: str, content_type: str, metadata: dict[str, str]
    ) -> StoredObject | str | None:
        """The version id of a new object, or what was there already with the same content."""
        if source.parts:
            return self._put_parts(source, key, content_type, metadata)
        problem = "conflicting writes of the same key"
        for _ in self._retry.tries(self._clock, self._random):
            try:
                return self._objects.put_if_absent(
                    bucket=self.bucket,
                    key=key,
                    body=source.body(),
                    content_length=source.content_length,
                    sha256=source.sha256,
                    content_type=content_type,
                    metadata=metadata,
                )
            except ObjectExists:
                if (found := self._look(key)) is not None:
                    return _same(found, source)
                problem = "the object of this key came and went"
            except WriteConflict:
                problem = "conflicting writes of the same key"
            except Unavailable as error:
                problem = str(error)
        if (found := self._look(key)) is not None:
            return _same(found, source)
        raise self._not_written(problem)

    def _put_parts(
        self, source: PayloadSource, key: str, content_type: str, metadata: dict[str, str]
    ) -> StoredObject | str | None:
        """The same in parts: every attempt uploads all of them, so each looks first whether that is needed at all."""
        problem = "conflicting writes of the same key"
        for _ in replace(self._retry, budget=math.inf).tries(self._clock, self._random):
            if (found := self._glance(key)) is not None:
                return _same(found, source)
            try:
                return self._uploads.put_if_absent(source, key=key, content_type=content_type, metadata=metadata)
            except ObjectExists:
                if (found := self._look(key)) is not None:
                    return _same(found, source)
                problem = "the object of this key came and went"
            except WriteConflict:
                problem = "conflicting writes of the same key"
            except Unavailable as error:  # every call was repeated already
                problem = str(error)
                break
        if (found := self._glance(key)) is not None:
            return _same(found, source)
        raise self._not_written(problem)

    def _not_written(self, problem: str) -> PublishError:
        return PublishError(f"payload: not written after {self._retry.attempts} attempts: {problem}; publish it again")

    def _glance(self, key: str) -> StoredObject | None:
        """What is at a key, as far as can be told: without s3:ListBucket S3 denies a look at nothing."""
        try:
            return self._objects.head(bucket=self.bucket, key=key)
        except ConsumeError:
            return None

    def _look(self, key: str) -> StoredObject | None:
        try:
            return self._objects.head(bucket=self.bucket, key=key)
        except ConsumeError as error:
            raise PublishError(
                f"payload: written or not is unknown, looking at the object failed ({error.code}: {error}); "
                "publish it again, and allow the producer s3:GetObject on the payload prefix"
            ) from error

    def _expires_soon(self, found: StoredObject) -> bool:
        return found.last_modified is None or self._clock.now() - found.last_modified.timestamp() > self._before_send


def _is_others(found: StoredObject, *, kept: bool) -> bool:
    """Whether the object may go when its own message is never sent, so that no other message may point at it.

    That is what a client uploaded by grant, unless it is confirmed; and what was put for an outbox row, which only
    another row of the same identity may share.
    """
    return contract.METADATA_UPLOAD in found.metadata or (contract.METADATA_STAGED in found.metadata and not kept)


def _same(found: StoredObject, source: PayloadSource) -> StoredObject:
    """The found object, if it is the source's content.

    The store's own SHA-256 decides; where it keeps none of the whole object (multipart), the one we wrote beside it.
    """
    sha256 = found.sha256 or found.metadata.get(contract.METADATA_SHA256)
    if found.content_length == source.content_length and sha256 == source.sha256:
        return found
    raise PayloadConflict(
        f"payload: the object of this event holds other content ({found.content_length} bytes instead of "
        f"{source.content_length}); find out who writes into the payload prefix, or publish under a new idempotency key"
    )


def header_text(text: str) -> str:
    """A text as S3 metadata takes it: printable ASCII as it is, anything else and ``%`` percent-encoded."""
    return "".join(
        char if "!" <= char <= "~" and char != "%" else "".join(f"%{byte:02X}" for byte in char.encode())
        for char in text
    )
