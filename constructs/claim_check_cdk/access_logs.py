"""Server access logs of a bucket, delivered into another one (R11.1)."""

from __future__ import annotations

from aws_cdk import Annotations, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct


def log_access(scope: Construct, bucket: s3.Bucket, target: s3.IBucket, prefix: str) -> None:
    """Let S3 write who asked for which object of a bucket.

    Args:
        scope: The construct that makes the bucket; warned if the target's policy could not be changed.
        bucket: The bucket.
        target: Receives the logs, such as ``AccessLogBucket(...).bucket``.
        prefix: Where in it.
    """
    cfn = bucket.node.default_child
    assert isinstance(cfn, s3.CfnBucket)  # noqa: S101 - narrows jsii's type
    # Not by the L2's property: without a feature flag it would set an ACL, which the target refuses.
    cfn.logging_configuration = s3.CfnBucket.LoggingConfigurationProperty(
        destination_bucket_name=target.bucket_name, log_file_prefix=prefix
    )
    conditions: dict[str, dict[str, str]] = {"StringEquals": {"aws:SourceAccount": Stack.of(scope).account}}
    if Stack.of(target) is Stack.of(scope):
        # From another stack it would be a cycle: this bucket names that one already.
        conditions["ArnLike"] = {"aws:SourceArn": bucket.bucket_arn}
    result = target.add_to_resource_policy(
        iam.PolicyStatement(
            actions=["s3:PutObject"],
            principals=[iam.ServicePrincipal("logging.s3.amazonaws.com")],
            resources=[target.arn_for_objects(f"{prefix}*")],
            conditions=conditions,
        )
    )
    if not result.statement_added:
        Annotations.of(scope).add_warning_v2(
            "claim-check:access-logs",
            f"access_logs_bucket '{target.node.path}' is imported, so its policy could not be changed here. It "
            f"must allow logging.s3.amazonaws.com to s3:PutObject on {prefix}*, or no access log is delivered.",
        )
