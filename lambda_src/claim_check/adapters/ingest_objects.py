"""Objects by version or entity tag, on S3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from claim_check.adapters.failures import code_of, kind_of
from claim_check.adapters.s3 import S3Body, whole_checksum
from claim_check.errors import AccessDenied, ConsumeError, Unavailable
from claim_check.ingest.changes import ObjectState
from claim_check.ingest.ports import FoundObject, OpenedVersion

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


class S3ObjectSource:
    """`claim_check.ingest.ports.ObjectSource` on S3."""

    def __init__(self, client: S3Client) -> None:
        """Use a client."""
        self._client = client

    def head(
        self, *, bucket: str, key: str, version_id: str | None = None, etag: str | None = None
    ) -> FoundObject | None:
        """See `claim_check.ingest.ports.ObjectSource.head`."""
        try:
            return _found(self._client.head_object(**_place(bucket, key, version_id, etag)))
        except (ClientError, BotoCoreError) as error:
            _raise_unless_gone(error)
            return None

    def open(self, *, bucket: str, key: str, version_id: str | None, etag: str | None) -> OpenedVersion | None:
        """See `claim_check.ingest.ports.ObjectSource.open`: one GET."""
        try:
            answer = self._client.get_object(**_place(bucket, key, version_id, etag))
        except (ClientError, BotoCoreError) as error:
            _raise_unless_gone(error)
            return None
        return OpenedVersion(_found(answer), S3Body(answer["Body"]))


def _place(bucket: str, key: str, version_id: str | None, etag: str | None) -> dict[str, Any]:
    place = {"Bucket": bucket, "Key": key, "ChecksumMode": "ENABLED"}
    if version_id is not None:
        place["VersionId"] = version_id
    if etag is not None:
        place["IfMatch"] = f'"{etag}"'
    return place


def _found(answer: Mapping[str, Any]) -> FoundObject:
    version, modified = answer.get("VersionId"), answer.get("LastModified")
    return FoundObject(
        state=ObjectState(
            version_id=None if version in {None, "null"} else version,
            etag=answer.get("ETag", "").strip('"') or None,
            size=answer["ContentLength"],
            modified_at=None if modified is None else modified.timestamp(),
        ),
        content_type=answer.get("ContentType", ""),
        metadata=dict(answer.get("Metadata", {})),
        checksum=whole_checksum(answer),
    )


def _raise_unless_gone(error: ClientError | BotoCoreError) -> None:
    """Let pass what says that the object is not, or no more, what was asked for: 404, 405 (a delete marker), 412.

    Raises:
        AccessDenied: S3 refuses.
        Unavailable: It did not answer.
    """
    kind, code = kind_of(error), code_of(error)
    if kind not in {"missing", "exists"} and code != "InvalidArgument":  # the last for a version id of another bucket's
        raise _read_error(kind, code) from error


def _read_error(kind: str, code: str) -> ConsumeError:
    if code == "InvalidObjectState":
        return AccessDenied("S3 has archived the object; restore it: the event of that brings it back here")
    if kind == "refused":
        return AccessDenied(
            f"S3 refused to show the object ({code}); check s3:GetObject, s3:GetObjectVersion, s3:ListBucket and the "
            "KMS key"
        )
    return Unavailable(f"S3 did not answer the read ({code})")
