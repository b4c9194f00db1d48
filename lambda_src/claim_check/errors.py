"""Errors of the library, and how the consumer treats each.

::

    ClaimCheckError
    ├── PublishError                    the producer could not publish; safe to repeat
    │   ├── PayloadConflict             the event's key holds other content: repeating cannot help
    │   └── Overtaken                   not sent, since an earlier event of its group was not
    ├── InvalidEvent                    the caller's event was refused before anything was written
    │   ├── InvalidName                 tenant, event type or consumer outside the alphabet
    │   ├── EmptyField                  an id or content type is missing
    │   ├── InvalidText                 characters that SQS or S3 would refuse, or too long
    │   ├── NaiveTimestamp              a timestamp without a time zone
    │   ├── InvalidEventVersion         not a whole number from 1
    │   ├── TooManyAttributes
    │   ├── ReservedAttribute
    │   ├── InvalidDomainRef            not small, flat JSON
    │   ├── InvalidPayload              not bytes, a path or a readable binary file
    │   ├── UnknownField                a field of an invocation that is not known
    │   ├── EventTooLarge               payload over the configured maximum
    │   ├── MessageTooLarge             the message without its payload exceeds what the queue takes
    │   └── UploadRefused               a direct upload was refused; nothing was published
    │       ├── ForeignTenant           the caller may not act for this tenant
    │       ├── NotUploaded             confirmed before it was uploaded
    │       ├── UploadMismatch          what was uploaded is not what was declared
    │       ├── UploadTampered          its tag is not the one that was granted
    │       └── UploadExpired           it is about to be deleted, since nobody confirmed it
    ├── InvalidSetting                  a setting (environment variable) is missing or malformed
    ├── MalformedBatch                  the invocation is no batch of SQS records
    ├── ReceiveRefused                  the queue refuses to hand messages to a worker
    ├── ReadRefused                     a table or bucket refuses to be looked at, or is not there
    ├── ArchiveRefused                  the archive of dead letters refuses to be written or read
    ├── InvalidLetter                   an archived dead letter that cannot be understood
    ├── InfrastructureUnavailable       every record of a batch failed for the infrastructure: let the poller back off
    ├── TransactionLimit                a write does not fit into the transaction
    └── ConsumeError                    why one message was not processed; `code` names the class of R4.5
        ├── PermanentError              parked at once; handlers raise it (or a subclass) themselves
        │   ├── InvalidNotification
        │   ├── InvalidEnvelope, UnsupportedVersion, UntrustedReference, UnverifiedPayload, Conflict, Stale
        │   ├── AlreadyStaged, ClaimMismatch
        │   └── ChecksumMismatch, PayloadTooLarge, UnsupportedContentType
        ├── MissingPayload              retried, then parked
        ├── AccessDenied                one short retry, then parked
        ├── DeadlineExceeded            retried
        │   └── WorkerStopped           the worker was asked to stop: retried, the attempt is refunded
        ├── HandlerFailed, HandlerCrashed, CommitFailed, OutboxFull
        ├── Unavailable                 the infrastructure's fault: retried, the attempt is refunded
        └── LostLease                   another worker owns the row: nothing more is touched

Error texts never hold payloads, object keys or presigned URLs (R11.4).
"""

from __future__ import annotations

from typing import ClassVar

from claim_check.contract import ErrorCode


class ClaimCheckError(Exception):
    """Base of everything this library raises on purpose."""


class PublishError(ClaimCheckError):
    """The event was not published, or it is unknown whether it was; publishing it again is safe."""


class PayloadConflict(PublishError):
    """The object at the event's key has other content: publishing it again cannot help."""


class Overtaken(PublishError):
    """Not sent: an earlier event of the same group in the batch was not, and order must not break."""


class InvalidEvent(ClaimCheckError, ValueError):
    """An event was refused before anything was written.

    Attributes:
        field: The field at fault.
        limit: What is allowed.
        way_out: What to do.
    """

    def __init__(self, field: str, problem: str, *, limit: str, way_out: str) -> None:
        """Say what is wrong.

        Args:
            field: The field at fault.
            problem: What is wrong with it; its value, unless that is a payload.
            limit: What is allowed.
            way_out: What to do.
        """
        super().__init__(f"{field}: {problem}; allowed: {limit}; {way_out}")
        self.field = field
        self.limit = limit
        self.way_out = way_out


class InvalidName(InvalidEvent):
    """A tenant id, event type or consumer name outside ``[A-Za-z0-9._-]``, 1 to 128 characters."""


class EmptyField(InvalidEvent):
    """A required field is empty."""


class InvalidText(InvalidEvent):
    """A text holds characters that cannot travel, or is too long."""


class NaiveTimestamp(InvalidEvent):
    """A timestamp has no time zone."""


class InvalidEventVersion(InvalidEvent):
    """The event's version is not a whole number from 1 to 2,147,483,647."""


class TooManyAttributes(InvalidEvent):
    """More message attributes than a caller may set."""


class ReservedAttribute(InvalidEvent):
    """A message attribute has a name that the library uses itself."""


class InvalidDomainRef(InvalidEvent):
    """The domain reference is not a small flat JSON object."""


class InvalidPayload(InvalidEvent):
    """The payload is of a type that cannot be published."""


class UnknownField(InvalidEvent):
    """An invocation has a field that is not known: a misspelt one must not be ignored silently."""


class EventTooLarge(InvalidEvent):
    """The payload exceeds the configured maximum."""


class MessageTooLarge(InvalidEvent):
    """The message, even with its payload in S3, exceeds what the queue takes."""


class UploadRefused(InvalidEvent):
    """A direct upload was refused; nothing was published."""


class ForeignTenant(UploadRefused):
    """The caller may not act for this tenant."""


class NotUploaded(UploadRefused):
    """There is no such object: confirmed before it was uploaded, or the upload failed."""


class UploadMismatch(UploadRefused):
    """The object that was uploaded is not the one that was declared."""


class UploadTampered(UploadRefused):
    """The object's tag is neither the one that was granted nor gone."""


class UploadExpired(UploadRefused):
    """The object was not confirmed in time, and is about to be deleted."""


class InvalidSetting(ClaimCheckError, ValueError):
    """A setting is missing or malformed; the text names the environment variable, the value and what is allowed."""


class MalformedBatch(ClaimCheckError, ValueError):
    """The invocation's event is not a batch of SQS records; raised before any side effect."""


class ReceiveRefused(ClaimCheckError):
    """The queue refuses to hand messages over: its URL or a permission is wrong; waiting does not mend it."""


class ReadRefused(ClaimCheckError):
    """A table or a bucket refuses to be looked at, or is not there: a misconfiguration, for a person to mend."""


class ArchiveRefused(ClaimCheckError):
    """The archive of dead letters refuses to be written or read: a misconfiguration, for a person to mend."""


class InvalidLetter(ClaimCheckError, ValueError):
    """An archived dead letter cannot be understood.

    Attributes:
        field: The field at fault.
        limit: What is allowed.
        way_out: What to do.
    """

    def __init__(self, field: str, problem: str, *, limit: str, way_out: str) -> None:
        """Say what is wrong.

        Args:
            field: The field at fault.
            problem: What is wrong with it; never its content.
            limit: What is allowed.
            way_out: What to do.
        """
        super().__init__(f"archived letter: {field}: {problem}; allowed: {limit}; {way_out}")
        self.field = field
        self.limit = limit
        self.way_out = way_out


class InfrastructureUnavailable(ClaimCheckError):
    """All records of a batch failed for the infrastructure; raised so that Lambda's poller backs off."""


class TransactionLimit(ClaimCheckError, ValueError):
    """A write was refused when it was added to the transaction; the text names the limit and the way out."""


class ConsumeError(ClaimCheckError):
    """Why one message was not processed.

    Attributes:
        code: The class of R4.5, as it appears in logs, metrics, the inbox and the DLQ.
        permanent: Parked at once instead of retried.
        refunded: The infrastructure's fault: the attempt does not count.
        attempt_limit: Attempts after which this error is parked, if fewer than the consumer's own maximum.
    """

    code: ClassVar[str] = ErrorCode.HANDLER_FAILED
    permanent: ClassVar[bool] = False
    refunded: ClassVar[bool] = False
    attempt_limit: ClassVar[int | None] = None


class PermanentError(ConsumeError):
    """Retrying cannot help: the message is parked at once with its reason.

    Handlers raise it, or a subclass with a `code` of their own.
    """

    permanent = True


class InvalidEnvelope(PermanentError):
    """The body is not an envelope."""

    code = ErrorCode.INVALID_ENVELOPE


class InvalidNotification(PermanentError):
    """The body is no notification of S3's, or one that cannot be understood."""

    code = ErrorCode.INVALID_NOTIFICATION


class UnsupportedVersion(PermanentError):
    """The envelope's version, or the event's, is unknown to this consumer."""

    code = ErrorCode.UNSUPPORTED_VERSION


class UntrustedReference(PermanentError):
    """The claim points outside this consumer's bucket, prefix or tenant."""

    code = ErrorCode.UNTRUSTED_REFERENCE


class UnverifiedPayload(PermanentError):
    """An Extended Client's message tells no identity and no hash, and this consumer does not allow that."""

    code = ErrorCode.UNVERIFIED_PAYLOAD


class Conflict(PermanentError):
    """The same identity arrived with other content."""

    code = ErrorCode.CONFLICT


class AlreadyStaged(PermanentError):
    """The same event with the same content is in the outbox already: the transaction it belongs to was committed."""

    code = ErrorCode.ALREADY_STAGED


class ClaimMismatch(PermanentError):
    """The claim is not the one that the domain's own record has (R3.3)."""

    code = ErrorCode.CLAIM_MISMATCH


class Stale(PermanentError):
    """The message is older than the inbox remembers: a duplicate could no longer be told."""

    code = ErrorCode.STALE


class ChecksumMismatch(PermanentError):
    """Length or SHA-256 of the payload differ from the claim's."""

    code = ErrorCode.CHECKSUM_MISMATCH


class PayloadTooLarge(PermanentError):
    """The payload exceeds this consumer's maximum."""

    code = ErrorCode.PAYLOAD_TOO_LARGE


class UnsupportedContentType(PermanentError):
    """The payload's content type is not among this consumer's."""

    code = ErrorCode.UNSUPPORTED_CONTENT_TYPE


class MissingPayload(ConsumeError):
    """S3 says there is no such object (404, or 405 for a delete marker)."""

    code = ErrorCode.MISSING_PAYLOAD


class AccessDenied(ConsumeError):
    """S3 denied the read: a misconfiguration, so one short retry, then parked."""

    code = ErrorCode.ACCESS_DENIED
    attempt_limit = 2


class HandlerFailed(ConsumeError):
    """The handler raised something that it did not declare permanent."""

    code = ErrorCode.HANDLER_FAILED


class HandlerCrashed(ConsumeError):
    """An earlier attempt was never closed: the process died or ran out of time."""

    code = ErrorCode.HANDLER_CRASHED


class CommitFailed(ConsumeError):
    """The transaction was refused for a reason the handler did not declare."""

    code = ErrorCode.COMMIT_FAILED


class OutboxFull(ConsumeError):
    """Too many rows of one FIFO group wait in the outbox: nothing was committed."""

    code = ErrorCode.OUTBOX_FULL


class DeadlineExceeded(ConsumeError):
    """The function's time is used up: streams and transaction refuse further work."""

    code = ErrorCode.DEADLINE_EXCEEDED


class WorkerStopped(DeadlineExceeded):
    """The worker was asked to stop before this message was done: it goes on elsewhere."""

    refunded = True


class Unavailable(ConsumeError):
    """S3, SQS or DynamoDB throttled, failed or did not answer."""

    code = ErrorCode.UNAVAILABLE
    refunded = True


class LostLease(ConsumeError):
    """Another worker has taken the row over; this one may change nothing any more."""

    code = "LostLease"
