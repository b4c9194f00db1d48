"""Uploads a file straight to S3 and publishes it: python3 upload_file.py API_URL FILE TENANT MESSAGE_ID."""

import hashlib
import http.client
import json
import mimetypes
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest

ALREADY_UPLOADED = http.HTTPStatus.PRECONDITION_FAILED


def call(session: boto3.Session, url: str, document: dict[str, Any]) -> dict[str, Any]:
    """Send one signed request; a refusal says in JSON what is wrong, and what to do."""
    credentials, body = session.get_credentials(), json.dumps(document).encode()
    if credentials is None:
        sys.exit("No AWS credentials were found.")
    request = AWSRequest("POST", url, data=body, headers={"content-type": "application/json"})
    SigV4Auth(credentials, "execute-api", session.region_name).add_auth(request)
    sent = urllib.request.Request(url, data=body, headers=dict(request.headers), method="POST")
    with urllib.request.urlopen(sent, timeout=30) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def put(upload: dict[str, Any], path: Path) -> None:
    """Upload the file with exactly the headers that were granted; that it is there already is a success."""
    with path.open("rb") as content:
        request = urllib.request.Request(upload["url"], data=content, headers=upload["headers"], method="PUT")
        try:
            urllib.request.urlopen(request).close()
        except urllib.error.HTTPError as error:
            with error:
                if error.code != ALREADY_UPLOADED:
                    raise


def upload_file(api: str, path: Path, tenant: str, message_id: str) -> dict[str, Any]:
    """Declare, upload, confirm. After any failure, do all of it again with the same message id."""
    session = boto3.Session()
    with path.open("rb") as content:
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
    declaration = {
        "tenantId": tenant,
        "eventType": "DocumentUploaded",
        "messageId": message_id,  # no file name in it: it is logged
        "sha256": sha256,
        "contentLength": path.stat().st_size,
        "contentType": mimetypes.guess_type(path.name)[0] or "application/octet-stream",
    }
    put(call(session, f"{api}/uploads", declaration)["upload"], path)
    return call(session, f"{api}/events", declaration)


if __name__ == "__main__":
    api, file, tenant, message_id = sys.argv[1:]
    try:
        print(json.dumps(upload_file(api, Path(file), tenant, message_id)))
    except urllib.error.HTTPError as error:
        sys.exit(error.read().decode())
