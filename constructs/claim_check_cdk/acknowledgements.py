"""Tells policy checkers (cdk-nag) why a finding on one construct is right; harmless where none is used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from aws_cdk import Acknowledgment, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct, IConstruct

_REFERENCE_STRENGTH: Final = "@aws-cdk/core:defaultCrossStackReferences"


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
    policy = principal.node.try_find_child("DefaultPolicy") if isinstance(principal, Construct) else None
    if policy is None:
        return
    for name in _names_of(bucket, Stack.of(policy)):
        acknowledge(policy, f"AwsSolutions-IAM5[Resource::{name}/{pattern}]", reason)


def _names_of(bucket: s3.IBucket, stack: Stack) -> Iterable[str]:
    """How cdk-nag writes a bucket's ARN in a stack: by logical id, by export if another stack makes it, or as it is."""
    resource, home = bucket.node.default_child, Stack.of(bucket)
    if not isinstance(resource, s3.CfnBucket):
        yield _flat(stack.resolve(bucket.bucket_arn))
        return
    yield f"<{home.get_logical_id(resource)}.Arn>"
    strong = stack.node.try_get_context(_REFERENCE_STRENGTH) in {None, "strong", "both"}
    if home is not stack and home.nested_stack_parent is None and strong:
        # The grant itself refers to this export; asking for it early does not add another one.
        imported = stack.resolve(home.export_value(bucket.bucket_arn))
        yield str(imported["Fn::ImportValue"])


def _flat(value: Any) -> str:  # noqa: ANN401 - what a template holds
    """How cdk-nag writes a text of a template: references in angle brackets."""
    match value:
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(_flat(part) for part in parts)
    return str(value)
