"""What a service of AWS needs to send to a queue: a statement in the queue's policy, and one in its key's (R11.2)."""

from __future__ import annotations

from typing import Final

from aws_cdk import Annotations, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sqs as sqs
from constructs import Construct

AWS_MANAGED_SQS_KEY: Final = "alias/aws/sqs"
"""The AWS-managed key of SQS: its policy cannot be changed, so no service can send to a queue that it encrypts."""


def let_service_send(queue: sqs.IQueue, *, service: str, source_arn: str, account: str) -> None:
    """Let a service send to a queue on behalf of one source of one account.

    Args:
        queue: The queue.
        service: Principal, such as ``s3.amazonaws.com``.
        source_arn: ARN of the source, or a pattern of it.
        account: Account of the source.
    """
    queue.add_to_resource_policy(
        iam.PolicyStatement(
            actions=["sqs:SendMessage"],
            principals=[iam.ServicePrincipal(service)],
            resources=[queue.queue_arn],
            conditions=_only(source_arn, account),
        )
    )


def let_service_encrypt(scope: Construct, key: kms.IKey, *, service: str, source_arn: str, account: str) -> None:
    """Let a service encrypt what it sends to a queue; warns where the key's policy cannot be changed here.

    Args:
        scope: The construct that wires them; warned.
        key: The queue's customer key, perhaps of another stack: so ``source_arn`` must not refer to a resource, or the
            stacks would depend on each other in a circle (aws/aws-cdk#3067).
        service: Principal, such as ``s3.amazonaws.com``.
        source_arn: ARN of the source, or a pattern of it.
        account: Account of the source.
    """
    statement = iam.PolicyStatement(
        sid=f"SendFrom{service.partition('.')[0].capitalize()}{scope.node.addr[-8:]}",
        actions=["kms:Decrypt", "kms:GenerateDataKey"],
        principals=[iam.ServicePrincipal(service)],
        resources=["*"],  # in a key's policy this is the key itself
        conditions=_only(source_arn, account),
    )
    if not key.add_to_resource_policy(statement).statement_added:
        Annotations.of(scope).add_warning_v2(
            f"claim-check:key-policy:{service}",
            f"encryption_key '{key.node.path}' is imported, so its policy could not be changed here. It must allow "
            f"{service} to kms:Decrypt and kms:GenerateDataKey, or nothing arrives: "
            f"{Stack.of(scope).to_json_string(statement.to_statement_json())}",
        )


def _only(source_arn: str, account: str) -> dict[str, dict[str, str]]:
    return {"ArnLike": {"aws:SourceArn": source_arn}, "StringEquals": {"aws:SourceAccount": account}}
