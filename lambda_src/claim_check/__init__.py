"""Claim checks over SQS and S3: the runtime library.

Importing it imports neither boto3 nor Powertools; the adapters in `claim_check.adapters` do that when they are used.
"""

from __future__ import annotations

from claim_check.envelope import Claim, Envelope, Inline
from claim_check.errors import (
    ClaimCheckError,
    EmptyField,
    EventTooLarge,
    InvalidDomainRef,
    InvalidEvent,
    InvalidEventVersion,
    InvalidName,
    InvalidPayload,
    InvalidSetting,
    InvalidText,
    MessageTooLarge,
    NaiveTimestamp,
    Overtaken,
    PayloadConflict,
    PublishError,
    ReservedAttribute,
    TooManyAttributes,
    UnknownField,
)
from claim_check.event import Event
from claim_check.payload_store import PayloadStore
from claim_check.producer import Producer, Published, Unpublished
from claim_check.verified_stream import VerifiedStream

__all__ = [
    "Claim",
    "ClaimCheckError",
    "EmptyField",
    "Envelope",
    "Event",
    "EventTooLarge",
    "Inline",
    "InvalidDomainRef",
    "InvalidEvent",
    "InvalidEventVersion",
    "InvalidName",
    "InvalidPayload",
    "InvalidSetting",
    "InvalidText",
    "MessageTooLarge",
    "NaiveTimestamp",
    "Overtaken",
    "PayloadConflict",
    "PayloadStore",
    "Producer",
    "PublishError",
    "Published",
    "ReservedAttribute",
    "TooManyAttributes",
    "UnknownField",
    "Unpublished",
    "VerifiedStream",
]
