"""What all tables of this library are alike in: billing, recovery, protection, encryption, and grants with the key."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct


def make_table(
    scope: Construct,
    *,
    partition_key: str,
    sort_key: str | None = None,
    ttl_attribute: str | None = None,
    stream: dynamodb.StreamViewType | None = None,
    encryption_key: kms.IKey | None,
    removal_policy: RemovalPolicy,
) -> dynamodb.Table:
    """A table, billed per request, with point-in-time recovery; one that stays is protected from deletion.

    Args:
        scope: Parent construct, whose child ``Table`` it becomes.
        partition_key: Name of the partition key, a string.
        sort_key: Name of the sort key, a string. By default there is none.
        ttl_attribute: When a row expires. By default none does.
        stream: What its stream shows. By default there is none.
        encryption_key: Customer key; without one DynamoDB encrypts with a key of its own.
        removal_policy: What happens to the table when it leaves the stack.
    """
    return dynamodb.Table(
        scope,
        "Table",
        partition_key=text(partition_key),
        sort_key=None if sort_key is None else text(sort_key),
        billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
        stream=stream,
        time_to_live_attribute=ttl_attribute,
        point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
            point_in_time_recovery_enabled=True
        ),
        encryption=dynamodb.TableEncryption.CUSTOMER_MANAGED if encryption_key else None,
        encryption_key=encryption_key,
        deletion_protection=removal_policy == RemovalPolicy.RETAIN,
        removal_policy=removal_policy,
    )


def text(name: str) -> dynamodb.Attribute:
    """A key attribute that holds a string."""
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)


def add_open_index(table: dynamodb.Table, *, name: str, shard: str, since: str) -> None:
    """Give a table the index of rows that are not finished, whole, sharded, oldest first.

    Args:
        table: The table.
        name: Name of the index.
        shard: Its partition key, a string.
        since: Its sort key, a string.
    """
    table.add_global_secondary_index(
        index_name=name,
        partition_key=text(shard),
        sort_key=text(since),
        projection_type=dynamodb.ProjectionType.ALL,
    )


def grant_actions(
    grantee: iam.IGrantable, resources: Sequence[str], actions: Sequence[str], *, key: kms.IKey | None
) -> iam.Grant:
    """Allow actions on a table or what belongs to it, and the use of its customer key.

    Args:
        grantee: Who.
        resources: ARNs of the table, its index or its stream.
        actions: The actions.
        key: The table's customer key, if it has one.
    """
    grant = iam.Grant.add_to_principal(grantee=grantee, actions=list(actions), resource_arns=list(resources))
    return grant if key is None else grant.combine(key.grant(grantee, "kms:Decrypt", "kms:DescribeKey"))
