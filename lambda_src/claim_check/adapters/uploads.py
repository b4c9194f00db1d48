"""Direct uploads on S3: SigV4 presigned PUTs, and a look at what came of them.

A signature pins only what is among its *signed headers*. botocore signs by SigV2 by default, which drops If-None-Match,
and some clients move the checksum into the query, where S3 does not compare it (boto/boto3#4367, aws/aws-sdk#480). So
what was signed is read back from the URL, and a grant that pins less than all is never given.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

from botocore.exceptions import BotoCoreError, ClientError

from claim_check.adapters.failures import code_of, kind_of
from claim_check.adapters.s3 import S3ObjectStore
from claim_check.errors import AccessDenied, ConsumeError, InvalidSetting, MissingPayload, Unavailable
from claim_check.ports import SignedPut, StoredObject

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_UNSENT: Final = "host"
_HARMLESS: Final = {"x-amz-sdk-checksum-algorithm": "SHA256"}
"""Headers that other versions of botocore sign besides."""


class S3UploadStore:
    """`claim_check.ports.UploadStore` on S3."""

    def __init__(self, client: S3Client, *, signer: S3Client | None = None, expected_owner: str | None = None) -> None:
        """Use a client.

        Args:
            client: S3 client (`claim_check.adapters.session`).
            signer: The client that signs, whose addresses others must be able to reach; by default the same.
            expected_owner: Account that must own the bucket: S3 refuses uploads and looks otherwise.
        """
        self._client = client
        self._signer = signer or client
        self._owner: dict[str, Any] = {} if expected_owner is None else {"ExpectedBucketOwner": expected_owner}
        self._objects = S3ObjectStore(client, expected_owner=expected_owner)

    def sign_put(
        self,
        *,
        bucket: str,
        key: str,
        content_length: int,
        content_type: str,
        sha256: str,
        metadata: Mapping[str, str],
        tags: Mapping[str, str],
        expires_seconds: int,
    ) -> SignedPut:
        """See `claim_check.ports.UploadStore.sign_put`."""
        checksum = base64.b64encode(bytes.fromhex(sha256)).decode()
        headers = {
            "content-length": str(content_length),
            "content-type": content_type,
            "if-none-match": "*",
            "x-amz-checksum-sha256": checksum,
            "x-amz-tagging": urlencode(tags),
            **{f"x-amz-meta-{name}": value for name, value in metadata.items()},
        }
        if self._owner:
            headers["x-amz-expected-bucket-owner"] = self._owner["ExpectedBucketOwner"]
        parameters = {
            "Bucket": bucket,
            "Key": key,
            "ContentLength": content_length,
            "ContentType": content_type,
            "IfNoneMatch": "*",
            "ChecksumSHA256": checksum,
            "Tagging": urlencode(tags),
            "Metadata": dict(metadata),
            **self._owner,
        }
        try:
            url = self._signer.generate_presigned_url("put_object", Params=parameters, ExpiresIn=expires_seconds)
        except BotoCoreError as error:
            raise Unavailable(f"no upload could be signed ({type(error).__name__})") from error
        return SignedPut(url=url, headers=_only_signed(url, headers))

    def head(self, *, bucket: str, key: str) -> StoredObject | None:
        """See `claim_check.ports.UploadStore.head`."""
        return self._objects.head(bucket=bucket, key=key)

    def tags(self, *, bucket: str, key: str, version_id: str | None) -> Mapping[str, str]:
        """See `claim_check.ports.UploadStore.tags`."""
        try:
            answer = self._client.get_object_tagging(Bucket=bucket, Key=key, **_version(version_id), **self._owner)
        except (ClientError, BotoCoreError) as error:
            raise _tag_error(error) from error
        return {tag["Key"]: tag["Value"] for tag in answer["TagSet"]}

    def replace_tags(self, *, bucket: str, key: str, version_id: str | None, tags: Mapping[str, str]) -> None:
        """See `claim_check.ports.UploadStore.replace_tags`."""
        place: dict[str, Any] = {"Bucket": bucket, "Key": key, **_version(version_id), **self._owner}
        try:
            if tags:
                tag_set: Any = [{"Key": name, "Value": value} for name, value in tags.items()]
                self._client.put_object_tagging(**place, Tagging={"TagSet": tag_set})
            else:
                self._client.delete_object_tagging(**place)
        except (ClientError, BotoCoreError) as error:
            raise _tag_error(error) from error


def signed_headers(url: str) -> set[str]:
    """Names of the headers that a presigned URL's signature covers; none if it is no SigV4 signature."""
    names = parse_qs(urlsplit(url).query).get("X-Amz-SignedHeaders", [""])[0]
    return set(names.split(";")) - {""}


def _only_signed(url: str, headers: dict[str, str]) -> dict[str, str]:
    """The headers to be sent, if the signature covers all of them and no others.

    Raises:
        InvalidSetting: It does not.
    """
    signed = signed_headers(url) - {_UNSENT}
    headers = headers | {name: value for name, value in _HARMLESS.items() if name in signed}
    if signed != set(headers):
        problem = ", ".join(sorted(signed ^ set(headers)))
        raise InvalidSetting(
            f"the S3 client's presigned URLs do not sign exactly what a grant pins (differs: {problem}); "
            'use Config(signature_version="s3v4"), as claim_check.adapters.session does'
        )
    return headers


def _version(version_id: str | None) -> dict[str, Any]:
    return {} if version_id is None else {"VersionId": version_id}


def _tag_error(error: ClientError | BotoCoreError) -> ConsumeError:
    kind, code = kind_of(error), code_of(error)
    if kind == "missing":
        return MissingPayload(f"S3 has no such object or version ({code})")
    if kind == "refused":
        return AccessDenied(
            f"S3 refused to read or change the tags of an upload ({code}); check s3:GetObjectTagging, "
            "s3:PutObjectTagging and s3:DeleteObjectTagging on the payload prefix"
        )
    return Unavailable(f"S3 did not answer a call on tags ({code})")
