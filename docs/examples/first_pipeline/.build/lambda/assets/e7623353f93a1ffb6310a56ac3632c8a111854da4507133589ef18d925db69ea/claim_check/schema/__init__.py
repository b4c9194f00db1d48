"""The wire format as a JSON Schema, for producers and consumers in other languages.

``envelope-v1.json`` beside this file is what ``python -m claim_check.schema`` prints; a test holds the two together.
"""

from __future__ import annotations

import json
from typing import Any, Final

from claim_check import contract, event

_SHA256: Final = "^[0-9a-fA-F]{64}$"
_NAME: Final = f"^(?!\\.{{1,2}}$){contract.NAME_PATTERN.pattern}$"


def envelope_schema() -> dict[str, Any]:
    """The schema of envelope version 1: what a producer must write. Consumers ignore fields that it does not name."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Claim check envelope, version 1",
        "description": "Body of an SQS message: an event without its bytes, with either an inline payload or a claim. "
        "UTF-8, characters that SQS refuses are escaped. Fields that are not named here are ignored.",
        "type": "object",
        "required": ["messageId", "eventType", "tenantId"],
        "properties": _properties(),
        "oneOf": [{"required": ["inline"]}, {"required": ["payloadRef"]}],
    }


def text() -> str:
    """The schema as the committed file has it."""
    return json.dumps(envelope_schema(), indent=2) + "\n"


def _properties() -> dict[str, Any]:
    return {
        "v": {"const": contract.ENVELOPE_VERSION, "description": "Version of the envelope; 1 where it is missing."},
        "messageId": _text("Identity of the event, given by its producer.", event.MESSAGE_ID_MAX_LENGTH),
        "eventType": _name("Kind of event."),
        "eventVersion": {
            "type": "integer",
            "minimum": 1,
            "maximum": event.EVENT_VERSION_MAX,
            "default": 1,
            "description": "Version of the event's own schema.",
        },
        "occurredAt": _time("When it happened."),
        "publishedAt": _time("When it was published. A consumer refuses what is older than its inbox remembers."),
        "tenantId": _name("Tenant."),
        "correlationId": _text("Ties messages of one business transaction together.", event.KEY_MAX_LENGTH),
        "idempotencyKey": _text(
            "What makes two messages the same work; the message id where it is missing.", event.KEY_MAX_LENGTH
        ),
        "domainRef": {
            "type": "object",
            "additionalProperties": {"type": ["string", "integer"]},
            "description": "A few ids of domain objects. They are logged, so never personal data.",
        },
        "inline": {
            "type": "object",
            "required": ["contentType", "body"],
            "properties": {
                "contentType": _content_type(),
                "body": {"type": "string", "description": "The exact text of the payload."},
            },
            "description": "A small JSON payload.",
        },
        "payloadRef": _payload_ref(),
    }


def _payload_ref() -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["bucket", "key", "contentType", "contentLength", "sha256"],
        "properties": {
            "bucket": _text("Bucket.", 63),
            "key": _text("Object key: payloads/tenants/{tenantId}/{eventType}/{idHash}/{sha256}.", 1024),
            "versionId": _text("Version of the object, if the bucket keeps versions.", 1024),
            "contentType": _content_type(),
            "contentLength": {"type": "integer", "minimum": 0, "description": "Bytes."},
            "sha256": {"type": "string", "pattern": _SHA256, "description": "SHA-256 of the whole content."},
        },
        "description": "A claim: where the payload lies in S3, and what it must be.",
    }


def _text(description: str, max_length: int) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": max_length, "description": description}


def _name(description: str) -> dict[str, Any]:
    return {"type": "string", "pattern": _NAME, "description": description}


def _content_type() -> dict[str, Any]:
    return _text("Media type.", event.CONTENT_TYPE_MAX_LENGTH)


def _time(description: str) -> dict[str, Any]:
    return {"type": "string", "format": "date-time", "description": description}
