"""The object store on S3."""

from __future__ import annotations

import base64
import logging
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import IO, TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError, FlexibleChecksumError
from urllib3.exceptions import HTTPError

from claim_check.adapters.failures import code_of, kind_of, own_error_behind
from claim_check.checksums import ALGORITHMS, Checksum
from claim_check.errors import AccessDenied, ChecksumMismatch, ConsumeError, MissingPayload, PublishError, Unavailable
from claim_check.ports import ObjectExists, OpenedObject, StoredObject, UploadedPart, UploadGone, WriteConflict

if TYPE_CHECKING:
    from botocore.response import StreamingBody
    from mypy_boto3_s3 import S3Client

_LOG: Final = logging.getLogger(__name__)
_EXPIRY_DATE: Final = re.compile(r'expiry-date="([^"]+)"')
_WAYS_OUT: Final = {
    "AccessDenied": "allow s3:PutObject on the payload prefix and the use of its KMS key; see the bucket policy, too",
    "BadDigest": "the content changed while it was published; publish it again",
    "EntityTooLarge": "one PUT takes up to 5 GiB: lower CLAIM_CHECK_MULTIPART_THRESHOLD_BYTES",
    "NoSuchBucket": "check the bucket's name and Region",
}


class S3Body:
    """The body of an answer, whose failures are told apart from its end."""

    def __init__(self, body: StreamingBody) -> None:
        """Wrap botocore's stream."""
        self._body = body

    def read(self, size: int, /) -> bytes:
        """Read up to ``size`` bytes; empty at the end.

        Raises:
            Unavailable: The connection broke, or the body was cut short.
            ChecksumMismatch: The bytes are not those of S3's own checksum, where botocore compares it.
        """
        if size == 0:
            return b""
        try:
            return self._body.read(size)
        except FlexibleChecksumError as error:
            raise ChecksumMismatch("payload: its bytes are not those of S3's own checksum") from error
        except (BotoCoreError, HTTPError, OSError) as error:
            raise Unavailable(f"S3 broke off while the payload was read ({type(error).__name__})") from error

    def close(self) -> None:
        """Give the connection back."""
        self._body.close()


class S3ObjectStore:
    """`claim_check.ports.ObjectStore` on S3."""

    def __init__(
        self, client: S3Client, *, expected_owner: str | None = None, encryption: Mapping[str, str] | None = None
    ) -> None:
        """Use a client.

        Args:
            client: S3 client (`claim_check.adapters.session`), perhaps of another Region or account.
            expected_owner: Account that must own the bucket: S3 refuses the call otherwise.
            encryption: ``ServerSideEncryption`` and ``SSEKMSKeyId`` for buckets whose policy demands the headers; the
                bucket's own default encryption needs none.
        """
        self._client = client
        self._owner: dict[str, Any] = {} if expected_owner is None else {"ExpectedBucketOwner": expected_owner}
        self._encryption: dict[str, Any] = dict(encryption or {})

    def put_if_absent(
        self,
        *,
        bucket: str,
        key: str,
        body: bytes | IO[bytes],
        content_length: int,
        sha256: str,
        content_type: str,
        metadata: Mapping[str, str],
    ) -> str | None:
        """See `claim_check.ports.ObjectStore.put_if_absent`: one conditional PUT whose SHA-256 S3 verifies."""
        try:
            answer = self._client.put_object(
                Bucket=bucket,
                Key=key,
                Body=body,
                ContentLength=content_length,
                ContentType=content_type,
                ChecksumSHA256=_base64(sha256),
                IfNoneMatch="*",
                Metadata=dict(metadata),
                **self._encryption,
                **self._owner,
            )
        except (ClientError, BotoCoreError) as error:
            raise _put_error(error) from error
        return _version(answer.get("VersionId"))

    def start_upload(self, *, bucket: str, key: str, content_type: str, metadata: Mapping[str, str]) -> str:
        """See `claim_check.ports.ObjectStore.start_upload`."""
        try:
            answer = self._client.create_multipart_upload(
                Bucket=bucket,
                Key=key,
                ContentType=content_type,
                ChecksumAlgorithm="SHA256",
                Metadata=dict(metadata),
                **self._encryption,
                **self._owner,
            )
        except (ClientError, BotoCoreError) as error:
            raise _put_error(error) from error
        return answer["UploadId"]

    def upload_part(
        self,
        *,
        bucket: str,
        key: str,
        upload_id: str,
        number: int,
        body: IO[bytes],
        content_length: int,
        sha256: str,
    ) -> UploadedPart:
        """See `claim_check.ports.ObjectStore.upload_part`: one UploadPart whose SHA-256 S3 verifies."""
        try:
            answer = self._client.upload_part(
                Bucket=bucket,
                Key=key,
                UploadId=upload_id,
                PartNumber=number,
                Body=body,
                ContentLength=content_length,
                ChecksumSHA256=_base64(sha256),
                **self._owner,
            )
        except (ClientError, BotoCoreError) as error:
            raise _put_error(error) from error
        return UploadedPart(number=number, tag=answer["ETag"], sha256=sha256)

    def complete_upload_if_absent(
        self, *, bucket: str, key: str, upload_id: str, parts: Sequence[UploadedPart], content_length: int
    ) -> str | None:
        """See `claim_check.ports.ObjectStore.complete_upload_if_absent`: one conditional completion."""
        listed: list[Any] = [
            {"PartNumber": part.number, "ETag": part.tag, "ChecksumSHA256": _base64(part.sha256)} for part in parts
        ]
        try:
            answer = self._client.complete_multipart_upload(
                Bucket=bucket,
                Key=key,
                UploadId=upload_id,
                MultipartUpload={"Parts": listed},
                MpuObjectSize=content_length,
                IfNoneMatch="*",
                **self._owner,
            )
        except (ClientError, BotoCoreError) as error:
            raise _put_error(error) from error
        return _version(answer.get("VersionId"))

    def abort_upload(self, *, bucket: str, key: str, upload_id: str) -> None:
        """See `claim_check.ports.ObjectStore.abort_upload`."""
        try:
            self._client.abort_multipart_upload(Bucket=bucket, Key=key, UploadId=upload_id, **self._owner)
        except (ClientError, BotoCoreError) as error:
            if kind_of(error) != "upload gone":
                raise _put_error(error) from error

    def head(self, *, bucket: str, key: str, version_id: str | None = None) -> StoredObject | None:
        """See `claim_check.ports.ObjectStore.head`."""
        options: dict[str, Any] = self._owner if version_id is None else {"VersionId": version_id, **self._owner}
        try:
            answer = self._client.head_object(Bucket=bucket, Key=key, ChecksumMode="ENABLED", **options)
        except (ClientError, BotoCoreError) as error:
            if kind_of(error) == "missing":
                return None
            raise _read_error(error) from error
        return _stored(answer)

    def open(self, *, bucket: str, key: str, version_id: str | None, checksum: bool = False) -> OpenedObject:
        """See `claim_check.ports.ObjectStore.open`: one GET."""
        options: dict[str, Any] = {} if version_id is None else {"VersionId": version_id}
        if checksum:
            options["ChecksumMode"] = "ENABLED"
        try:
            answer = self._client.get_object(Bucket=bucket, Key=key, **options, **self._owner)
        except (ClientError, BotoCoreError) as error:
            raise _read_error(error, version_id) from error
        return OpenedObject(_stored(answer), S3Body(answer["Body"]))


def _stored(answer: Mapping[str, Any]) -> StoredObject:
    return StoredObject(
        content_length=answer["ContentLength"],
        content_type=answer.get("ContentType", ""),
        version_id=_version(answer.get("VersionId")),
        last_modified=answer.get("LastModified"),
        sha256=_whole_sha256(answer),
        metadata=dict(answer.get("Metadata", {})),
        checksum=whole_checksum(answer),
        expires_at=_expiry(answer.get("Expiration")),
    )


def _base64(sha256: str) -> str:
    return base64.b64encode(bytes.fromhex(sha256)).decode()


def _version(version_id: str | None) -> str | None:
    """The version; a bucket whose versioning was suspended says ``null``, which names no version for good."""
    return None if version_id in {None, "null"} else version_id


def _expiry(header: str | None) -> datetime | None:
    """When the bucket's lifecycle deletes the object; None if the header tells no date.

    See https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html (x-amz-expiration).
    """
    found = _EXPIRY_DATE.search(header or "")
    try:
        end = parsedate_to_datetime(found[1]) if found else None
    except ValueError:
        return None
    return end and end.replace(tzinfo=end.tzinfo or UTC)


def _whole_sha256(answer: Mapping[str, Any]) -> str | None:
    """S3's SHA-256 if it is one of the whole object: that of a multipart upload is a hash of hashes."""
    checksum = str(answer.get("ChecksumSHA256") or "")
    if not checksum or "-" in checksum or answer.get("ChecksumType") == "COMPOSITE":
        return None
    return base64.b64decode(checksum).hex()


def whole_checksum(answer: Mapping[str, Any]) -> Checksum | None:
    """S3's checksum of the whole object; one of parts (composite) is no checksum of the content."""
    if answer.get("ChecksumType") == "COMPOSITE":
        return None
    found = ((algorithm, answer.get(f"Checksum{algorithm}")) for algorithm in ALGORITHMS)
    return next(
        (Checksum(algorithm, base64.b64decode(value)) for algorithm, value in found if value and "-" not in value), None
    )


def _put_error(error: ClientError | BotoCoreError) -> Exception:
    kind, code = kind_of(error), code_of(error)
    if kind == "exists":
        if code == str(HTTPStatus.NOT_MODIFIED.value):
            _LOG.warning("the object store answered 304 to a conditional PUT; taken for 412")
        return ObjectExists()
    if kind == "conflict":
        return WriteConflict()
    if kind == "upload gone":
        return UploadGone()
    if (own := own_error_behind(error)) is not None:
        return own
    if kind == "transient":
        return Unavailable(f"S3 did not take the payload ({code})")
    return PublishError(f"S3 refused the payload: {code}; {_WAYS_OUT.get(code, 'see the error code')}")


def _read_error(error: ClientError | BotoCoreError, version_id: str | None = None) -> ConsumeError:
    kind, code = kind_of(error), code_of(error)
    if kind == "missing" or (code == "InvalidArgument" and version_id is not None):
        return MissingPayload(f"S3 has no such object or version ({code})")
    if kind == "refused":
        return AccessDenied(f"S3 refused to read the payload ({code}); check s3:GetObject and the KMS key")
    return Unavailable(f"S3 did not answer the read ({code})")
