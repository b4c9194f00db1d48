"""A bucket that receives the server access logs of other buckets."""

from __future__ import annotations

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_s3 as s3
from constructs import Construct

from claim_check_cdk.acknowledgements import acknowledge


class AccessLogBucket(Construct):
    """Where S3 writes who asked for which object (R11.1).

    Encrypted with S3's own keys, the only ones the log service may use unasked; no public access, TLS only. Delivery is
    allowed by the policy statement that `PayloadBucket` adds for itself; no ACL is involved.

    Attributes:
        bucket: The bucket.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        expiration: Duration | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Make the bucket.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            expiration: Life of a log file. By default 90 days.
            removal_policy: What happens to the bucket when it leaves the stack. By default it stays.
        """
        super().__init__(scope, construct_id)
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            removal_policy=removal_policy,
            lifecycle_rules=[
                s3.LifecycleRule(id="expire-logs", expiration=expiration or Duration.days(90)),
                s3.LifecycleRule(
                    id="abort-incomplete-uploads", abort_incomplete_multipart_upload_after=Duration.days(1)
                ),
            ],
        )
        acknowledge(
            self.bucket, "AwsSolutions-S1", "This bucket holds access logs; logging it into itself would never end."
        )
