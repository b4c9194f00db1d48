"""What a failed AWS call means: the error code decides first, the HTTP status second, never the text."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final, Literal

from botocore.exceptions import BotoCoreError, ClientError, ConnectionError, HTTPClientError  # noqa: A004 - botocore's

from claim_check.errors import PublishError

Kind = Literal["exists", "conflict", "missing", "upload gone", "transient", "refused"]

_KINDS: Final[dict[str, Kind]] = {
    "PreconditionFailed": "exists",
    "ConditionalRequestConflict": "conflict",
    "OperationAborted": "conflict",
    "NoSuchUpload": "upload gone",
    "NoSuchKey": "missing",
    "NoSuchVersion": "missing",
    "NoSuchBucket": "missing",
    "NotFound": "missing",
    "MethodNotAllowed": "missing",
    "AccessDenied": "refused",
    "InternalError": "transient",
    "KMS.ThrottlingException": "transient",
    "KmsThrottled": "transient",
    "OverLimit": "transient",
    "RequestLimitExceeded": "transient",
    "RequestThrottled": "transient",
    "RequestTimeout": "transient",
    "RequestTimeoutException": "transient",
    "ServiceUnavailable": "transient",
    "SlowDown": "transient",
    "Throttling": "transient",
    "ThrottlingException": "transient",
    "TooManyRequestsException": "transient",
}

_STATUS_KINDS: Final[dict[int, Kind]] = {
    HTTPStatus.NOT_MODIFIED: "exists",  # what some stores answer to a conditional write in place of 412
    HTTPStatus.PRECONDITION_FAILED: "exists",
    HTTPStatus.CONFLICT: "conflict",
    HTTPStatus.NOT_FOUND: "missing",
    HTTPStatus.METHOD_NOT_ALLOWED: "missing",
    HTTPStatus.REQUEST_TIMEOUT: "transient",
    HTTPStatus.TOO_MANY_REQUESTS: "transient",
}


def code_of(error: ClientError | BotoCoreError) -> str:
    """The service's error code without its namespace, or the name of the client's own error."""
    if not isinstance(error, ClientError):
        return type(error).__name__
    code = str(error.response.get("Error", {}).get("Code") or status_of(error))
    return code.removeprefix("AWS.SimpleQueueService.")


def status_of(error: ClientError) -> int:
    """The HTTP status; 0 if it is not known."""
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode") or 0)


def kind_of(error: ClientError | BotoCoreError) -> Kind:
    """What a failure means for the caller; ``refused`` is everything that neither time nor repeating mends."""
    if not isinstance(error, ClientError):
        return "transient" if isinstance(error, HTTPClientError | ConnectionError) else "refused"
    code, status = code_of(error), status_of(error)
    if code in _KINDS:
        return _KINDS[code]
    if code.isdigit():  # an answer without a body has only its status
        status = status or int(code)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "transient"
    return _STATUS_KINDS.get(status, "refused")


def own_error_behind(error: BaseException) -> PublishError | None:
    """An error that our own body raised while botocore read it, which botocore wraps in one of its own."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, PublishError):
            return seen
        seen = seen.__cause__ or seen.__context__
    return None
