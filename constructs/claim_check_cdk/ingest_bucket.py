"""A bucket of an ingest's own, whose name is known before it is made."""

from __future__ import annotations

import re
from typing import Final

from aws_cdk import Duration, Names, RemovalPolicy, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from claim_check_cdk.access_logs import log_access
from claim_check_cdk.validation import Mistakes, describe, known

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_MAX_OWN_PART: Final = 32
"""Of a name with account (12) and Region (14 at most so far), dashes between, 63 in all; some room is left."""


class IngestBucket(Construct):
    """A bucket that others drop objects into: no public access, TLS only, encrypted (R11.1).

    Its name follows from its place in the app, account and Region: the queue's policy must name the bucket exactly, and
    the bucket can be made only after that policy. A bucket that was kept must be imported, or deleted, before the same
    app can create it anew.

    Attributes:
        bucket: The bucket.
        versioned: Whether it keeps versions.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        bucket_name: str | None = None,
        versioned: bool = False,
        noncurrent_life: Duration | None = None,
        encryption_key: kms.IKey | None = None,
        access_logs_bucket: s3.IBucket | None = None,
        access_logs_prefix: str = "ingest-bucket/",
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Make the bucket.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            bucket_name: Its name, 3 to 63 of a-z, 0-9, dot and dash. By default it follows from stack name and path,
                account and Region.
            versioned: Keeps versions, so that a notification finds the very bytes it tells of. By default it does not.
            noncurrent_life: Life of a noncurrent version; needs ``versioned``. By default they stay.
            encryption_key: Customer key. By default S3 encrypts with keys of its own.
            access_logs_bucket: Receives server access logs. By default there are none.
            access_logs_prefix: Where in that bucket.
            removal_policy: What happens to the bucket when it leaves the stack. By default it stays.

        Raises:
            InvalidSettingsError: Settings are wrong; the message lists all of them.
        """
        super().__init__(scope, construct_id)
        mistakes = Mistakes(describe(self))
        mistakes.require(
            known(bucket_name) is None or _NAME.fullmatch(bucket_name or "") is not None,
            "bucket_name",
            bucket_name,
            "must be 3 to 63 of a-z, 0-9, dot and dash",
            "leave it out",
        )
        mistakes.require(
            versioned or noncurrent_life is None,
            "noncurrent_life",
            noncurrent_life,
            "needs versioned",
            "set versioned=True",
        )
        mistakes.raise_all()
        self.versioned = versioned
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            bucket_name=bucket_name or self._default_name(),
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            encryption=s3.BucketEncryption.KMS if encryption_key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=encryption_key,
            bucket_key_enabled=True if encryption_key else None,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            versioned=versioned,
            lifecycle_rules=_rules(noncurrent_life, versioned=versioned),
            removal_policy=removal_policy,
        )
        if access_logs_bucket is not None:
            log_access(self, self.bucket, access_logs_bucket, access_logs_prefix)

    def _default_name(self) -> str:
        own = Names.unique_resource_name(self, max_length=_MAX_OWN_PART, separator="-", allowed_special_characters="-")
        stack = Stack.of(self)
        return f"{own.lower()}-{stack.account}-{stack.region}"


def _rules(noncurrent_life: Duration | None, *, versioned: bool) -> list[s3.LifecycleRule]:
    rules = [s3.LifecycleRule(id="abort-incomplete-uploads", abort_incomplete_multipart_upload_after=Duration.days(1))]
    if noncurrent_life is not None:
        rules.append(s3.LifecycleRule(id="expire-noncurrent", noncurrent_version_expiration=noncurrent_life))
    if versioned:
        # On its own: S3 refuses it together with an expiration in days.
        rules.append(s3.LifecycleRule(id="remove-expired-delete-markers", expired_object_delete_marker=True))
    return rules
