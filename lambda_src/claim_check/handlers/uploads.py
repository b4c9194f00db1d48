"""Entry point of the function behind an upload API (see `claim_check.upload_api`)."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from claim_check.aws import upload_api
from claim_check.settings import UploadSettings
from claim_check.upload_api import Response, UploadApi

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: dict[str, Any], context: LambdaContext) -> Response:  # noqa: ARG001 - Lambda passes both
    """Answer one request of the HTTP API."""
    return _api().handle(event, trace_header=os.environ.get("_X_AMZN_TRACE_ID"))


@cache
def _api() -> UploadApi:
    return upload_api(UploadSettings.from_environment(os.environ))
