"""A client of a deployment's upload API, as far as a run needs one."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.httpsession import URLLib3Session

from claim_check_ops.local.embedded_aws import REGION, EmbeddedAws

OUTPUT: Final = "UploadApiUrl"
FUNCTION_OUTPUT: Final = "UploadFunctionName"


class DirectUploads:
    """Declares, uploads, confirms.

    Attributes:
        url: Address of the API, without a slash at the end.
    """

    def __init__(self, aws: EmbeddedAws, url: str) -> None:
        """Make a client.

        Args:
            aws: Where the API stands.
            url: What the stack's output says.
        """
        self._aws = aws
        verify: Any = str(aws.ca_bundle) if aws.ca_bundle else True
        self._http = URLLib3Session(verify=verify)
        # Its host name holds the API's id, and resolves nowhere; this is the same API by path.
        api_id = url.partition("://")[2].partition(".")[0]
        self.url: Final = f"{aws.endpoint_url}/_aws/execute-api/{api_id}/$default"

    def call(self, path: str, document: object) -> tuple[int, Any]:
        """Send one signed request; its status and document."""
        body = document if isinstance(document, str) else json.dumps(document)
        request = AWSRequest("POST", f"{self.url}{path}", data=body, headers={"content-type": "application/json"})
        credentials: Any = self._aws.session.get_credentials()
        SigV4Auth(credentials, "execute-api", REGION).add_auth(request)
        answer = self._http.send(request.prepare())
        return answer.status_code, json.loads(answer.content)

    def put(self, upload: Mapping[str, Any], content: bytes, **changed: str | None) -> int:
        """Upload, perhaps with other headers (``_`` for ``-``, None for none) than were granted; the status."""
        headers = {**upload["headers"], **{name.replace("_", "-"): value for name, value in changed.items()}}
        sent = {name: value for name, value in headers.items() if value is not None}
        return self._http.send(AWSRequest("PUT", upload["url"], data=content, headers=sent).prepare()).status_code


def declaration(
    content: bytes, *, tenant_id: str, event_type: str, message_id: str, content_type: str
) -> dict[str, Any]:
    """What is declared of a payload, and of the event it is of."""
    return {
        "tenantId": tenant_id,
        "eventType": event_type,
        "messageId": message_id,
        "sha256": hashlib.sha256(content).hexdigest(),
        "contentLength": len(content),
        "contentType": content_type,
    }
