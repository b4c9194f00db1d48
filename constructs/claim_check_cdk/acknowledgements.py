"""Tells policy checkers (cdk-nag) why a finding on one construct is right; harmless where none is used."""

from __future__ import annotations

from aws_cdk import Acknowledgment, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct, IConstruct


def acknowledge(construct: IConstruct, rule: str, reason: str) -> None:
    """Acknowledge one rule on one construct.

    Args:
        construct: The construct the rule finds.
        rule: Id of the finding, such as ``AwsSolutions-SQS3``.
        reason: Why it is right here.
    """
    Validations.of(construct).acknowledge(Acknowledgment(id=rule, reason=reason))


def acknowledge_objects(grantee: iam.IGrantable, bucket: s3.IBucket, pattern: str, reason: str) -> None:
    """Acknowledge that a grantee's own policy names objects by a pattern.

    Args:
        grantee: Who was granted.
        bucket: Whose objects.
        pattern: The pattern behind the bucket's ARN, such as ``payloads/*``.
        reason: Why it is right here.
    """
    principal = grantee.grant_principal
    if not isinstance(principal, Construct):
        return
    policy = principal.node.try_find_child("DefaultPolicy")
    resource = bucket.node.default_child
    if policy is None or not isinstance(resource, s3.CfnBucket):
        return
    logical_id = Stack.of(bucket).get_logical_id(resource)
    acknowledge(policy, f"AwsSolutions-IAM5[Resource::<{logical_id}.Arn>/{pattern}]", reason)
