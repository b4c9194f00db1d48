"""Direct uploads: clients put large files straight into S3, and nothing large passes through an API or Lambda (R2.8).

A client declares an event and its payload, gets a grant (a presigned PUT that S3 accepts for exactly this content,
once, under the event's own key), uploads, and confirms with the same declaration. Only then is the event published.

What is uploaded carries the tag ``state=unconfirmed``, which a lifecycle rule of its own expires. Confirming takes this
order, since of its steps only the last one makes the payload matter to anybody::

    verify the object  ▶  remove the tag  ▶  publish the pointer

A death in between leaves an object without a pointer, which lives as long as any payload, and a repeated confirm
publishes it. The other way round, a death would leave a pointer to an object that the tag's rule deletes. For the same
reason a confirm is refused when that rule is about to strike: S3 deletes some time after it decided to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from claim_check import contract, invocation
from claim_check.contract import Metric
from claim_check.envelope import Claim
from claim_check.errors import (
    EmptyField,
    EventTooLarge,
    ForeignTenant,
    InvalidText,
    MissingPayload,
    NotUploaded,
    UnknownField,
    UploadExpired,
    UploadMismatch,
    UploadTampered,
)
from claim_check.event import Event, shown
from claim_check.payload_store import header_text
from claim_check.ports import Clock, SignedPut, StoredObject, Telemetry, UploadStore
from claim_check.producer import Producer, Published
from claim_check.telemetry import key_hash

MAX_GENERATIONS: Final = 8
"""Objects of one event that may exist side by side, each granted when the one before was too old to be confirmed."""

UPLOADED_DIRECTLY: Final = "direct"
"""Value of `contract.METADATA_UPLOAD`."""

_OWN_FIELDS: Final = ("sha256", "contentLength")
FIELDS: Final = (*invocation.FIELDS, "occurredAt", *_OWN_FIELDS)
"""Fields of a declaration."""

REQUIRED: Final = ("tenantId", "eventType", "messageId", "sha256", "contentLength", "contentType")
SHA256_PATTERN: Final = "[0-9a-f]{64}"
_SHA256: Final = re.compile(SHA256_PATTERN, re.ASCII)
_PARTS_WAY_OUT: Final = (
    "publish it with claim_check.Producer, which uploads in parts; grants for uploads in parts do not exist"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What a client says it uploads, and the event that it means.

    Attributes:
        event: The event; its payload is elsewhere, so that field is empty.
        message_id: Identity of the event.
        idempotency_key: What makes two events the same work.
        sha256: SHA-256 of the whole content, hexadecimal.
        content_length: Bytes of the content.
    """

    event: Event
    message_id: str
    idempotency_key: str
    sha256: str
    content_length: int

    def object_keys(self) -> Iterator[str]:
        """Keys that its object may have, in the order in which they are taken."""
        for generation in range(MAX_GENERATIONS):
            yield contract.object_key(
                tenant_id=self.event.tenant_id,
                event_type=self.event.event_type,
                idempotency_key=self.idempotency_key,
                sha256=self.sha256,
                generation=generation,
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A presigned PUT.

    Attributes:
        put: The request; its URL is a secret.
        expires_at: The upload must have begun before, epoch seconds.
        confirm_within_seconds: How long after its upload the object can be confirmed.
    """

    put: SignedPut = field(repr=False)
    expires_at: float
    confirm_within_seconds: int


def to_declaration(document: object, *, max_bytes: int) -> Declaration:
    """Read what a client declares; a field that is not known is refused.

    Args:
        document: The JSON document.
        max_bytes: Largest payload that events may have; what one PUT takes limits it, too.

    Raises:
        InvalidEvent: A subclass per cause.
    """
    if not isinstance(document, Mapping):
        problem = f"of type {type(document).__name__}"
        raise UnknownField("body", problem, limit="a JSON object", way_out="send the declaration as one object")
    for name in sorted(str(name) for name in document.keys() - set(FIELDS)):
        raise UnknownField(shown(name), "no known field", limit=", ".join(FIELDS), way_out="correct or remove it")
    for name in REQUIRED:
        if document.get(name) is None or document[name] == "":
            raise EmptyField(name, "missing", limit=", ".join(REQUIRED), way_out="declare all of them")
    given = {name: document[key] for key, name in invocation.FIELDS.items() if document.get(key) is not None}
    event = Event(**given, payload=b"", occurred_at=invocation.to_time(document.get("occurredAt")))
    message_id = str(event.message_id)
    return Declaration(
        event=event,
        message_id=message_id,
        idempotency_key=event.idempotency_key or message_id,
        sha256=_sha256(document["sha256"]),
        content_length=_content_length(document["contentLength"], max_bytes),
    )


def _sha256(value: object) -> str:
    if isinstance(value, str) and _SHA256.fullmatch(value):
        return value
    raise InvalidText(
        "sha256",
        f"{shown(value)} is no SHA-256",
        limit="64 lower-case hexadecimal digits",
        way_out="hash the whole content: sha256sum FILE",
    )


def _content_length(value: object, max_bytes: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidText(
            "contentLength", f"{shown(value)} is no length", limit="a whole number of bytes", way_out="count them"
        )
    if value > contract.S3_MAX_SINGLE_PUT_BYTES:
        limit = f"up to {contract.S3_MAX_SINGLE_PUT_BYTES} bytes (5 GiB), which is what one PUT of S3 takes"
        raise EventTooLarge("contentLength", f"{value} bytes", limit=limit, way_out=_PARTS_WAY_OUT)
    if value > max_bytes:
        limit = f"up to {max_bytes} bytes, the largest payload of this pipeline"
        raise EventTooLarge(
            "contentLength", f"{value} bytes", limit=limit, way_out="raise its max_payload, or split it"
        )
    return value


class Uploads:
    """Grants and confirms direct uploads. Safe to share between threads."""

    def __init__(
        self,
        store: UploadStore,
        producer: Producer,
        *,
        bucket: str,
        clock: Clock,
        telemetry: Telemetry,
        max_payload_bytes: int = contract.DEFAULT_MAX_PAYLOAD_BYTES,
        grant_seconds: int = contract.UPLOAD_GRANT_SECONDS,
        confirm_seconds: int = contract.UPLOAD_CONFIRM_SECONDS,
    ) -> None:
        """Make it.

        Args:
            store: Where payloads are uploaded to.
            producer: Publishes what is confirmed.
            bucket: Bucket of the payloads.
            clock: Time.
            telemetry: Logs and metrics.
            max_payload_bytes: Largest payload.
            grant_seconds: How long after its grant an upload may begin.
            confirm_seconds: How old an object may be when it is confirmed; well below the life of unconfirmed ones.
        """
        self._store = store
        self._producer = producer
        self._bucket = bucket
        self._clock = clock
        self._telemetry = telemetry
        self._max_payload = max_payload_bytes
        self._grant_seconds = grant_seconds
        self._confirm_seconds = confirm_seconds

    def grant(self, document: object, *, tenant_id: str | None = None) -> Grant:
        """Grant an upload. Repeating it is safe: the key is the same until its object is too old to be confirmed.

        Args:
            document: What the client declares.
            tenant_id: The only tenant that the caller may act for; None if it may act for all.

        Raises:
            InvalidEvent: Refused; a subclass per cause.
            AccessDenied: S3 refuses the look at what may be there already.
            Unavailable: S3 throttled, failed, or did not answer.
        """
        declared = self._declared(document, tenant_id)
        key = self._free_key(declared)
        metadata = {
            contract.METADATA_TENANT_ID: declared.event.tenant_id,
            contract.METADATA_EVENT_ID: header_text(declared.message_id),
            contract.METADATA_SHA256: declared.sha256,
            contract.METADATA_UPLOAD: UPLOADED_DIRECTLY,
        }
        put = self._store.sign_put(
            bucket=self._bucket,
            key=key,
            content_length=declared.content_length,
            content_type=declared.event.content_type,
            sha256=declared.sha256,
            metadata=metadata,
            tags={contract.TAG_STATE: contract.TAG_UNCONFIRMED},
            expires_seconds=self._grant_seconds,
        )
        self._telemetry.count(Metric.UPLOADS_GRANTED)
        self._log("upload granted", declared, key)
        return Grant(
            put=put,
            expires_at=self._clock.now() + self._grant_seconds,
            confirm_within_seconds=self._confirm_seconds,
        )

    def confirm(self, document: object, *, tenant_id: str | None = None, trace_header: str | None = None) -> Published:
        """Publish what was uploaded. Repeating it is safe: a second message is a duplicate to every consumer.

        Args:
            document: What the client declared.
            tenant_id: The only tenant that the caller may act for; None if it may act for all.
            trace_header: Value of ``_X_AMZN_TRACE_ID``, if the caller is traced.

        Raises:
            InvalidEvent: Refused; a subclass per cause. Nothing was published.
            AccessDenied: S3 refuses to tell about the object.
            Unavailable: S3 throttled, failed, or did not answer.
            PublishError: Not published, or unknown; confirming again is safe.
        """
        declared = self._declared(document, tenant_id)
        key, found = self._uploaded(declared)
        _verify(declared, found)
        try:
            self._release(key, found.version_id)
        except MissingPayload as error:
            raise _not_uploaded() from error
        published = self._producer.publish_claim(
            declared.event, self._claim(declared, key, found.version_id), trace_header=trace_header
        )
        self._telemetry.count(Metric.UPLOADS_CONFIRMED)
        return published

    # --- Steps ------------------------------------------------------------------------------------------------------

    def _declared(self, document: object, tenant_id: str | None) -> Declaration:
        declared = to_declaration(document, max_bytes=self._max_payload)
        if tenant_id is not None and declared.event.tenant_id != tenant_id:
            raise ForeignTenant(
                "tenantId",
                f"{shown(declared.event.tenant_id)} is not the caller's",
                limit="the tenant that the caller's credentials name",
                way_out="declare that one, or sign in as the other tenant",
            )
        key = next(declared.object_keys())
        self._producer.check_claim(declared.event, self._claim(declared, key, None))  # before anything is changed
        return declared

    def _free_key(self, declared: Declaration) -> str:
        """The first key whose object is missing, or young enough to be confirmed."""
        for key in declared.object_keys():
            found = self._store.head(bucket=self._bucket, key=key)
            if found is None or not self._is_old(found):
                return key
        raise UploadExpired(
            "idempotencyKey",
            f"{MAX_GENERATIONS} uploads of this event exist, and all of them are too old to be confirmed",
            limit=f"uploads of the last {self._confirm_seconds} s",
            way_out="publish it under a new idempotency key",
        )

    def _uploaded(self, declared: Declaration) -> tuple[str, StoredObject]:
        old = False
        for key in declared.object_keys():
            found = self._store.head(bucket=self._bucket, key=key)
            if found is not None and not self._is_old(found):
                return key, found
            old = old or found is not None
        if old:
            raise UploadExpired(
                "sha256",
                "its upload is too old: what is not confirmed is about to be deleted",
                limit=f"a confirm within {self._confirm_seconds} s after the upload",
                way_out="ask for a new grant, upload again, and confirm",
            )
        raise _not_uploaded()

    def _release(self, key: str, version_id: str | None) -> None:
        """Take the object out of the rule that deletes what is not confirmed."""
        tags = self._store.tags(bucket=self._bucket, key=key, version_id=version_id)
        state = tags.get(contract.TAG_STATE)
        if state is None:
            return  # an earlier confirm did
        if state != contract.TAG_UNCONFIRMED:
            raise UploadTampered(
                "sha256",
                f"the tag {contract.TAG_STATE} of the object is not the one that was granted",
                limit=contract.TAG_UNCONFIRMED,
                way_out="find out who tags objects below the payload prefix; upload under a new idempotency key",
            )
        kept = {name: value for name, value in tags.items() if name != contract.TAG_STATE}
        self._store.replace_tags(bucket=self._bucket, key=key, version_id=version_id, tags=kept)

    def _is_old(self, found: StoredObject) -> bool:
        return (
            found.last_modified is None or self._clock.now() - found.last_modified.timestamp() > self._confirm_seconds
        )

    def _claim(self, declared: Declaration, key: str, version_id: str | None) -> Claim:
        return Claim(
            bucket=self._bucket,
            key=key,
            version_id=version_id,
            content_type=declared.event.content_type,
            content_length=declared.content_length,
            sha256=declared.sha256,
        )

    def _log(self, event: str, declared: Declaration, key: str) -> None:
        self._telemetry.log(
            "info",
            event,
            tenantId=declared.event.tenant_id,
            eventType=declared.event.event_type,
            messageId=declared.message_id,
            correlationId=declared.event.correlation_id,
            payloadBucket=self._bucket,
            payloadKeyHash=key_hash(key),
            payloadSizeBytes=declared.content_length,
        )


def _not_uploaded() -> NotUploaded:
    return NotUploaded(
        "sha256",
        "no object with this content was uploaded for this tenant, event type and identity",
        limit="a confirm after the upload succeeded, with the same declaration",
        way_out="upload it first; if the grant has expired, ask for a new one",
    )


def _verify(declared: Declaration, found: StoredObject) -> None:
    """Compare the object with what was declared; S3's own SHA-256 decides about its content.

    Raises:
        UploadMismatch: It is something else.
    """
    checks: tuple[tuple[str, Any, Any], ...] = (
        ("contentLength", found.content_length, declared.content_length),
        ("sha256", found.sha256, declared.sha256),
        ("contentType", found.content_type, declared.event.content_type),
        ("tenantId", found.metadata.get(contract.METADATA_TENANT_ID), declared.event.tenant_id),
    )
    for name, present, wanted in checks:
        if present != wanted:
            raise UploadMismatch(
                name,
                "the object that was uploaded has another",
                limit="what was declared when the upload was granted, and S3's own SHA-256 of the whole object",
                way_out="declare what was uploaded, or upload under a new idempotency key",
            )
