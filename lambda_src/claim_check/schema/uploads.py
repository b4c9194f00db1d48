"""The upload API as an OpenAPI 3.1 document, for clients in any language.

``uploads-openapi.json`` beside this file is what ``python -m claim_check.schema uploads`` prints; tests hold it against
what the code accepts and answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from claim_check import contract, event, upload_api, uploads

_NAME: Final = f"^(?!\\.{{1,2}}$){contract.NAME_PATTERN.pattern}$"
_PROBLEM: Final = {"$ref": "#/components/schemas/Problem"}
_EXAMPLE: Final[Mapping[str, Any]] = {
    "tenantId": "t-1",
    "eventType": "DocumentUploaded",
    "messageId": "doc-789-v3",
    "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "contentLength": 0,
    "contentType": "application/pdf",
    "domainRef": {"documentId": "doc-789"},
}
_EXAMPLE_GRANT: Final = {
    "upload": {
        "method": "PUT",
        "url": "https://payloads.s3.eu-west-1.amazonaws.com/payloads/…?X-Amz-Algorithm=AWS4-HMAC-SHA256&…",
        "headers": {
            "content-length": "0",
            "content-type": "application/pdf",
            "if-none-match": "*",
            "x-amz-checksum-sha256": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
            "x-amz-tagging": "state=unconfirmed",
            "x-amz-meta-tenant-id": "t-1",
            "x-amz-meta-event-id": "doc-789-v3",
            "x-amz-meta-sha256": _EXAMPLE["sha256"],
            "x-amz-meta-upload": "direct",
        },
        "expiresAt": "2026-07-06T10:30:30+00:00",
    },
    "confirmWithinSeconds": contract.UPLOAD_CONFIRM_SECONDS,
}
_EXAMPLE_CONFIRMED: Final = {
    "messageId": "doc-789-v3",
    "idempotencyKey": "doc-789-v3",
    "delivery": "claim",
    "contentLength": 0,
    "sha256": _EXAMPLE["sha256"],
}
_REFUSALS: Final[Mapping[str, tuple[int, ...]]] = {
    "grantUpload": (400, 403, 410, 413, 500, 503),
    "confirmUpload": (400, 403, 404, 409, 410, 413, 500, 503),
}
"""What each operation may be refused with, by the function itself."""


def uploads_openapi() -> dict[str, Any]:
    """The document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Direct uploads",
            "version": "1",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            "description": "Upload a payload straight to S3, and publish its event. Declare it with POST /uploads; PUT "
            "the bytes to the address that is answered, with exactly the headers that are answered (412 means that an "
            "earlier attempt has uploaded them: go on); confirm with POST /events and the same declaration. Every step "
            "may be repeated, and after a failure all of them together.",
        },
        "servers": [
            {
                "url": "https://{apiId}.execute-api.{region}.amazonaws.com",
                "variables": {"apiId": {"default": "API"}, "region": {"default": "eu-west-1"}},
            }
        ],
        "security": [{"iam": []}],
        "paths": {
            "/uploads": {
                "post": _operation(
                    "grantUpload",
                    "Grant an upload",
                    "A grant may be asked for again. What was granted expires; an upload that began before may go on.",
                    {
                        "201": _answer(
                            "Granted. The URL is a secret: whoever has it may upload.", "Grant", _EXAMPLE_GRANT
                        )
                    },
                )
            },
            "/events": {
                "post": _operation(
                    "confirmUpload",
                    "Confirm an upload, and publish its event",
                    "S3's own SHA-256 and length decide whether the upload is what was declared.",
                    {"200": _answer("Published.", "Confirmed", _EXAMPLE_CONFIRMED)},
                )
            },
        },
        "components": {
            "securitySchemes": {
                "iam": {
                    "type": "apiKey",
                    "name": "Authorization",
                    "in": "header",
                    "description": "AWS Signature Version 4 for the service execute-api, unless the API was made with "
                    "another authorizer.",
                }
            },
            "schemas": _schemas(),
        },
    }


def text() -> str:
    """The document as the committed file has it."""
    return json.dumps(uploads_openapi(), indent=2, ensure_ascii=False) + "\n"


def _operation(name: str, summary: str, description: str, answers: dict[str, Any]) -> dict[str, Any]:
    refusals = {str(status): _refusal(status) for status in _REFUSALS[name]}
    by_api = "Answered by API Gateway itself: too many requests. Wait, and repeat."
    return {
        "operationId": name,
        "summary": summary,
        "description": description,
        "requestBody": {
            "required": True,
            "description": f"Up to {upload_api.MAX_BODY_BYTES} bytes.",
            "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/Declaration"}, "example": dict(_EXAMPLE)}
            },
        },
        "responses": answers | refusals | {"429": {"description": by_api}},
    }


def _answer(description: str, schema: str, example: Mapping[str, Any]) -> dict[str, Any]:
    content = {"schema": {"$ref": f"#/components/schemas/{schema}"}, "example": dict(example)}
    return {"description": description, "content": {"application/json": content}}


def _refusal(status: int) -> dict[str, Any]:
    codes = sorted(kind.__name__ for kind, given in upload_api.STATUSES.items() if given == status)
    title = next(title for given, title in upload_api.TITLES.items() if given == status)
    extra = " API Gateway's own answer to a caller without the right has no problem details." if status == 403 else ""  # noqa: PLR2004 - as it reads
    refusal: dict[str, Any] = {
        "description": f"{title} ({', '.join(codes)}, or a subclass).{extra}",
        "content": {upload_api.PROBLEM_TYPE: {"schema": _PROBLEM}},
    }
    if status == 503:  # noqa: PLR2004 - as it reads
        header = {
            "description": "Seconds to wait before repeating.",
            "schema": {"type": "string", "pattern": "^[0-9]+$"},
        }
        refusal["headers"] = {"Retry-After": header}
    return refusal


# --- Schemas --------------------------------------------------------------------------------------------------------


def _schemas() -> dict[str, Any]:
    return {
        "Declaration": _object(
            "An event, and the payload that is to be uploaded for it.", _declaration(), required=uploads.REQUIRED
        ),
        "Grant": _object("A presigned request.", _grant()),
        "Confirmed": _object("What was published.", _confirmed()),
        "Problem": _problem(),
    }


def _object(description: str, properties: dict[str, Any], *, required: tuple[str, ...] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "additionalProperties": False,
        "required": list(properties if required is None else required),
        "properties": properties,
    }


def _declaration() -> dict[str, Any]:
    return {
        "tenantId": _name("Tenant."),
        "eventType": _name("Kind of event."),
        "contentType": _text("Media type.", event.CONTENT_TYPE_MAX_LENGTH),
        "messageId": _text("Identity of the event. The same for every repetition.", event.MESSAGE_ID_MAX_LENGTH),
        "eventVersion": {
            "type": "integer",
            "minimum": 1,
            "maximum": event.EVENT_VERSION_MAX,
            "default": 1,
            "description": "Version of the event's own schema.",
        },
        "correlationId": _text("Ties messages of one business transaction together.", event.KEY_MAX_LENGTH),
        "idempotencyKey": _text(
            "What makes two events the same work; the message id if there is none.", event.KEY_MAX_LENGTH
        ),
        "domainRef": {
            "type": "object",
            "additionalProperties": {"type": ["string", "integer"]},
            "description": "A few ids of domain objects. They are logged, so never personal data.",
        },
        "attributes": {
            "type": "object",
            "additionalProperties": {"type": "string", "minLength": 1},
            "maxProperties": contract.USER_ATTRIBUTES_MAX,
            "description": "Message attributes of one's own, for filters.",
        },
        "groupId": _text("Message group; required where the queue is FIFO.", event.GROUP_ID_MAX_LENGTH),
        "occurredAt": {"type": "string", "format": "date-time", "description": "When it happened, with a time zone."},
        "sha256": _sha256(),
        "contentLength": {
            "type": "integer",
            "minimum": 0,
            "maximum": contract.S3_MAX_SINGLE_PUT_BYTES,
            "description": "Bytes of the payload: up to 5 GiB, and up to the pipeline's largest payload. Grants for "
            "uploads in parts do not exist: larger files go through the library.",
        },
    }


def _grant() -> dict[str, Any]:
    upload = {
        "method": {"const": "PUT"},
        "url": {"type": "string", "description": "Where to. Never log it."},
        "headers": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "To be sent as they are; all of them are signed, so others or none are refused.",
        },
        "expiresAt": {"type": "string", "format": "date-time", "description": "The upload must begin before."},
    }
    return {
        "upload": _object("The request that uploads.", upload),
        "confirmWithinSeconds": {"type": "integer", "description": "How long after its upload it can be confirmed."},
    }


def _confirmed() -> dict[str, Any]:
    return {
        "messageId": _text("Identity of the event.", event.MESSAGE_ID_MAX_LENGTH),
        "idempotencyKey": _text("What makes two events the same work.", event.KEY_MAX_LENGTH),
        "delivery": {"const": "claim"},
        "contentLength": {"type": "integer", "minimum": 0, "description": "Bytes of the payload."},
        "sha256": _sha256(),
    }


def _problem() -> dict[str, Any]:
    properties = {
        "type": {"type": "string", "description": "urn:claim-check:problem: and the code."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string", "description": "Class of the error, for programs."},
        "detail": {"type": "string", "description": "For people."},
        "field": {"type": "string", "description": "The field at fault."},
        "limit": {"type": "string", "description": "What is allowed."},
        "wayOut": {"type": "string", "description": "What to do."},
    }
    required = ("type", "title", "status", "code", "detail")
    return _object("What is wrong (RFC 9457).", properties, required=required)


def _text(description: str, max_length: int) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": max_length, "description": description}


def _name(description: str) -> dict[str, Any]:
    return {"type": "string", "pattern": _NAME, "description": description}


def _sha256() -> dict[str, Any]:
    return {
        "type": "string",
        "pattern": f"^{uploads.SHA256_PATTERN}$",
        "description": "SHA-256 of the whole payload, hexadecimal.",
    }
