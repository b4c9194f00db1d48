"""The HTTP side of direct uploads: requests of an HTTP API (payload format 2.0) in, JSON and problem details out.

``POST /uploads`` grants, ``POST /events`` confirms; both take the same declaration. What goes wrong is told as
``application/problem+json`` (RFC 9457) with the field, what is allowed, and the way out. Neither answers nor logs hold
payloads or object keys; the presigned URL is in the one answer that is for it, which must not be cached.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Final

from claim_check.contract import KIB, Metric
from claim_check.errors import (
    AccessDenied,
    ClaimCheckError,
    ConsumeError,
    EventTooLarge,
    ForeignTenant,
    InvalidEvent,
    InvalidSetting,
    InvalidText,
    NotUploaded,
    PublishError,
    UploadExpired,
    UploadMismatch,
    UploadTampered,
)
from claim_check.invocation import FIELDS
from claim_check.ports import Telemetry
from claim_check.producer import Published
from claim_check.uploads import Grant, Uploads

GRANT_ROUTE: Final = "POST /uploads"
CONFIRM_ROUTE: Final = "POST /events"
MAX_BODY_BYTES: Final = 64 * KIB
"""Largest declaration."""

RETRY_AFTER_SECONDS: Final = 5
PROBLEM_TYPE: Final = "application/problem+json"

STATUSES: Final[Mapping[type[ClaimCheckError], HTTPStatus]] = {
    ForeignTenant: HTTPStatus.FORBIDDEN,
    NotUploaded: HTTPStatus.NOT_FOUND,
    UploadMismatch: HTTPStatus.CONFLICT,
    UploadTampered: HTTPStatus.CONFLICT,
    UploadExpired: HTTPStatus.GONE,
    EventTooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    InvalidEvent: HTTPStatus.BAD_REQUEST,
    AccessDenied: HTTPStatus.INTERNAL_SERVER_ERROR,
    PublishError: HTTPStatus.SERVICE_UNAVAILABLE,
    ConsumeError: HTTPStatus.SERVICE_UNAVAILABLE,
    InvalidSetting: HTTPStatus.INTERNAL_SERVER_ERROR,
}
"""Status of each error; the first that matches."""

TITLES: Final[Mapping[HTTPStatus, str]] = {
    HTTPStatus.BAD_REQUEST: "The declaration cannot be",
    HTTPStatus.FORBIDDEN: "The tenant is not the caller's",
    HTTPStatus.NOT_FOUND: "Nothing was uploaded",
    HTTPStatus.CONFLICT: "Something else was uploaded",
    HTTPStatus.GONE: "The upload is too old",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Too large",
    HTTPStatus.INTERNAL_SERVER_ERROR: "The service is not set up rightly",
    HTTPStatus.SERVICE_UNAVAILABLE: "Try again: it is safe",
}
"""Title of each status."""

_JSON_NAMES: Final = {ours: theirs for theirs, ours in FIELDS.items()} | {
    "occurred_at": "occurredAt",
    "attributes, domain_ref": "attributes, domainRef",
}

Response = dict[str, Any]


class UploadApi:
    """Answers requests."""

    def __init__(self, uploads: Uploads, *, telemetry: Telemetry, tenant_claim: str | None = None) -> None:
        """Make it.

        Args:
            uploads: Grants and confirms.
            telemetry: Logs and metrics.
            tenant_claim: Claim of the caller's token (or of a Lambda authorizer's context) that names its tenant.
        """
        self._uploads = uploads
        self._telemetry = telemetry
        self._tenant_claim = tenant_claim

    def handle(self, request: Mapping[str, Any], *, trace_header: str | None = None) -> Response:
        """Answer one request; flushes the metrics.

        Args:
            request: What the HTTP API handed over, payload format 2.0.
            trace_header: Value of ``_X_AMZN_TRACE_ID``, if the request is traced.
        """
        try:
            return self._answer(request, trace_header)
        except ClaimCheckError as error:
            return self._refusal(error, str(request.get("routeKey")))
        finally:
            self._telemetry.flush()

    def _answer(self, request: Mapping[str, Any], trace_header: str | None) -> Response:
        routes: dict[Any, Callable[[], Response]] = {
            GRANT_ROUTE: lambda: _granted(self._uploads.grant(document, tenant_id=tenant)),
            CONFIRM_ROUTE: lambda: _confirmed(
                self._uploads.confirm(document, tenant_id=tenant, trace_header=trace_header)
            ),
        }
        route = routes.get(request.get("routeKey"))
        if route is None:
            raise InvalidSetting(
                f"this function answers {GRANT_ROUTE} and {CONFIRM_ROUTE} only; check the API's routes"
            )
        tenant = self._tenant(request)
        document = _document(request)
        return route()

    def _tenant(self, request: Mapping[str, Any]) -> str | None:
        """The only tenant that the caller may act for."""
        if self._tenant_claim is None:
            return None
        authorizer = request.get("requestContext", {}).get("authorizer") or {}
        claims = {**(authorizer.get("lambda") or {}), **((authorizer.get("jwt") or {}).get("claims") or {})}
        tenant = claims.get(self._tenant_claim)
        if not isinstance(tenant, str) or not tenant:
            raise ForeignTenant(
                "tenantId",
                "the caller's credentials name no tenant",
                limit=f"credentials with the claim {self._tenant_claim}",
                way_out="sign in with an account that belongs to a tenant",
            )
        return tenant

    def _refusal(self, error: ClaimCheckError, route: str) -> Response:
        status = next(status for kind, status in STATUSES.items() if isinstance(error, kind))
        code = type(error).__name__
        field = _JSON_NAMES.get(error.field, error.field) if isinstance(error, InvalidEvent) else None
        self._telemetry.count(Metric.UPLOADS_REFUSED)
        server = status >= HTTPStatus.INTERNAL_SERVER_ERROR
        self._telemetry.log("error" if server else "warning", "upload refused", errorCode=code, call=route, field=field)
        problem: dict[str, Any] = {
            "type": f"urn:claim-check:problem:{code}",
            "title": TITLES[status],
            "status": int(status),
            "code": code,
            # Texts of the service's own trouble may name what is none of the caller's business.
            "detail": TITLES[status] if server else str(error),
        }
        if isinstance(error, InvalidEvent):
            problem |= {"field": field, "limit": error.limit, "wayOut": error.way_out}
        headers = {"retry-after": str(RETRY_AFTER_SECONDS)} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
        return _response(status, problem, content_type=PROBLEM_TYPE, headers=headers)


def _document(request: Mapping[str, Any]) -> object:
    body = request.get("body") or ""
    try:
        text = base64.b64decode(body, validate=True) if request.get("isBase64Encoded") else str(body).encode()
        if len(text) > MAX_BODY_BYTES:
            raise EventTooLarge(
                "body",
                f"{len(text)} bytes",
                limit=f"up to {MAX_BODY_BYTES} bytes",
                way_out="declare the payload here, and put it where the grant says",
            )
        return json.loads(text)
    except (binascii.Error, ValueError, RecursionError) as error:
        if isinstance(error, ClaimCheckError):
            raise
        raise InvalidText(
            "body", "no JSON", limit="a JSON object in UTF-8", way_out="see the API's description"
        ) from None


def _granted(grant: Grant) -> Response:
    document = {
        "upload": {
            "method": "PUT",
            "url": grant.put.url,
            "headers": dict(grant.put.headers),
            "expiresAt": datetime.fromtimestamp(grant.expires_at, UTC).isoformat(timespec="seconds"),
        },
        "confirmWithinSeconds": grant.confirm_within_seconds,
    }
    return _response(HTTPStatus.CREATED, document)


def _confirmed(published: Published) -> Response:
    document = {
        "messageId": published.message_id,
        "idempotencyKey": published.idempotency_key,
        "delivery": "claim",
        "contentLength": published.content_length,
        "sha256": published.sha256,
    }
    return _response(HTTPStatus.OK, document)


def _response(
    status: HTTPStatus,
    document: Mapping[str, Any],
    *,
    content_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
) -> Response:
    return {
        "statusCode": int(status),
        "headers": {"content-type": content_type, "cache-control": "no-store", **(headers or {})},
        "body": json.dumps(document, ensure_ascii=False, separators=(",", ":")),
        "isBase64Encoded": False,
    }
