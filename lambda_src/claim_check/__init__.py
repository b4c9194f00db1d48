"""Claim checks over SQS and S3: the runtime library.

Importing it imports neither boto3 nor Powertools; the adapters in `claim_check.adapters` do that when they are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from claim_check.consumer import Consumer
from claim_check.envelope import Claim, Envelope, Inline, UnverifiedClaim, UnverifiedInline
from claim_check.errors import (
    AccessDenied,
    AlreadyStaged,
    ChecksumMismatch,
    ClaimCheckError,
    ClaimMismatch,
    CommitFailed,
    Conflict,
    ConsumeError,
    DeadlineExceeded,
    EmptyField,
    EventTooLarge,
    ForeignTenant,
    HandlerCrashed,
    HandlerFailed,
    InfrastructureUnavailable,
    InvalidDomainRef,
    InvalidEnvelope,
    InvalidEvent,
    InvalidEventVersion,
    InvalidName,
    InvalidNotification,
    InvalidPayload,
    InvalidSetting,
    InvalidText,
    LostLease,
    MalformedBatch,
    MessageTooLarge,
    MissingPayload,
    NaiveTimestamp,
    NotUploaded,
    OutboxFull,
    Overtaken,
    PayloadConflict,
    PayloadTooLarge,
    PermanentError,
    PublishError,
    ReceiveRefused,
    ReservedAttribute,
    Stale,
    TooManyAttributes,
    TransactionLimit,
    Unavailable,
    UnknownField,
    UnsupportedContentType,
    UnsupportedVersion,
    UntrustedReference,
    UnverifiedPayload,
    UploadExpired,
    UploadMismatch,
    UploadRefused,
    UploadTampered,
    WorkerStopped,
)
from claim_check.event import Event
from claim_check.expectation import expecting
from claim_check.extended_client import ForeignMessages
from claim_check.message import Message
from claim_check.payload_store import PayloadStore
from claim_check.producer import Producer, Published, Unpublished
from claim_check.transaction import Condition, Table, Transaction
from claim_check.verified_stream import VerifiedStream

if TYPE_CHECKING:
    from claim_check.worker import Worker

__all__ = [
    "AccessDenied",
    "AlreadyStaged",
    "ChecksumMismatch",
    "Claim",
    "ClaimCheckError",
    "ClaimMismatch",
    "CommitFailed",
    "Condition",
    "Conflict",
    "ConsumeError",
    "Consumer",
    "DeadlineExceeded",
    "EmptyField",
    "Envelope",
    "Event",
    "EventTooLarge",
    "ForeignMessages",
    "ForeignTenant",
    "HandlerCrashed",
    "HandlerFailed",
    "InfrastructureUnavailable",
    "Inline",
    "InvalidDomainRef",
    "InvalidEnvelope",
    "InvalidEvent",
    "InvalidEventVersion",
    "InvalidName",
    "InvalidNotification",
    "InvalidPayload",
    "InvalidSetting",
    "InvalidText",
    "LostLease",
    "MalformedBatch",
    "Message",
    "MessageTooLarge",
    "MissingPayload",
    "NaiveTimestamp",
    "NotUploaded",
    "OutboxFull",
    "Overtaken",
    "PayloadConflict",
    "PayloadStore",
    "PayloadTooLarge",
    "PermanentError",
    "Producer",
    "PublishError",
    "Published",
    "ReceiveRefused",
    "ReservedAttribute",
    "Stale",
    "Table",
    "TooManyAttributes",
    "Transaction",
    "TransactionLimit",
    "Unavailable",
    "UnknownField",
    "Unpublished",
    "UnsupportedContentType",
    "UnsupportedVersion",
    "UntrustedReference",
    "UnverifiedClaim",
    "UnverifiedInline",
    "UnverifiedPayload",
    "UploadExpired",
    "UploadMismatch",
    "UploadRefused",
    "UploadTampered",
    "VerifiedStream",
    "Worker",
    "WorkerStopped",
    "expecting",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module's attribute
    """`Worker`, imported when it is first asked for: Lambda's cold starts need none of it."""
    if name != "Worker":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from claim_check.worker import Worker  # noqa: PLC0415 - see above

    return Worker
