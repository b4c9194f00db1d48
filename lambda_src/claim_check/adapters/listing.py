"""Lists a bucket, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from claim_check.adapters.failures import code_of, kind_of
from claim_check.errors import ReadRefused, Unavailable
from claim_check.ports import ListedObject, ListingPage

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


class S3Listing:
    """`claim_check.ports.ObjectListing` on S3."""

    def __init__(self, client: S3Client) -> None:
        """Use a client."""
        self._client = client

    def page(self, *, bucket: str, prefix: str, start_after: str) -> ListingPage:
        """See `claim_check.ports.ObjectListing.page`."""
        after: Any = {"StartAfter": start_after} if start_after else {}
        try:
            answer = self._client.list_objects_v2(Bucket=bucket, Prefix=prefix, **after)
        except (ClientError, BotoCoreError) as error:
            if kind_of(error) == "transient":
                raise Unavailable(f"S3: {code_of(error)}") from None
            raise ReadRefused(f"S3 refuses to list bucket {bucket}: {code_of(error)}") from None
        objects = [
            ListedObject(
                key=found["Key"],
                content_length=found["Size"],
                etag=found["ETag"].strip('"'),
                last_modified=found["LastModified"],
            )
            for found in answer.get("Contents", [])
        ]
        return ListingPage(objects, more=answer["IsTruncated"])
