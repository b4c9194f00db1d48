"""The table whose rows commit together with domain writes, and become messages."""

from __future__ import annotations

from typing import Final

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from claim_check.contract import OUTBOX_OPEN_INDEX, OutboxAttribute
from claim_check_cdk.acknowledgements import acknowledge
from claim_check_cdk.kept_table import add_open_index, grant_actions, make_table
from claim_check_cdk.pointer_life import KeepsForPointers, lazy_text
from claim_check_cdk.retention import DAY
from claim_check_cdk.validation import Mistakes, describe, known_seconds

STAGE_ACTIONS: Final = ("dynamodb:BatchGetItem", "dynamodb:PutItem", "dynamodb:UpdateItem")
"""What an application does: a look at the event's row, then its row and its group's item within TransactWriteItems."""

RELAY_ACTIONS: Final = (
    "dynamodb:BatchGetItem",
    "dynamodb:ConditionCheckItem",
    "dynamodb:PutItem",
    "dynamodb:UpdateItem",
)
OPERATOR_ACTIONS: Final = ("dynamodb:BatchGetItem", "dynamodb:PutItem", "dynamodb:UpdateItem")
"""Reading rows, and sending parked ones again."""

_STREAM_ACTIONS: Final = ("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator")


class OutboxTable(KeepsForPointers):
    """A DynamoDB table of outbox rows, with a stream of the keys of what changed (R3.1).

    Billed per request, with point-in-time recovery; it stays when it leaves the stack. The stream holds keys alone, so
    that no message passes through it. Rows that were sent expire by the same sum as the inbox rows of their consumers,
    so that an event staged again is known for as long; rows that were not sent never do. A sparse, sharded index holds
    the rows that are not sent.

    Attributes:
        table: The table.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        time_to_live: Duration | None = None,
        encryption_key: kms.IKey | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Make the table; tell it with `retain_for` which queues its rows go to.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            time_to_live: Life of a row once it was sent; never shorter than the plan of any queue (the synthesis fails
                and prints it). By default exactly that plan.
            encryption_key: Customer key. By default DynamoDB encrypts with a key of its own.
            removal_policy: What happens to the table when it leaves the stack. By default it stays, and is protected
                from deletion.

        Raises:
            InvalidSettingsError: A setting is wrong.
        """
        super().__init__(scope, construct_id, argument="time_to_live", told=time_to_live)
        mistakes = Mistakes(describe(self))
        mistakes.require_range(
            "time_to_live", known_seconds(time_to_live), low=DAY, high=36_500 * DAY, unit="s", way_out="leave it out"
        )
        mistakes.raise_all()
        self._encryption_key = encryption_key
        self.table = make_table(
            self,
            partition_key=OutboxAttribute.KEY,
            stream=dynamodb.StreamViewType.KEYS_ONLY,
            ttl_attribute=OutboxAttribute.TTL,
            encryption_key=encryption_key,
            removal_policy=removal_policy,
        )
        add_open_index(
            self.table,
            name=OUTBOX_OPEN_INDEX,
            shard=OutboxAttribute.OPEN_SHARD,
            since=OutboxAttribute.OPEN_SINCE,
        )

    @property
    def ttl_text(self) -> str:
        """Life of a row once it was sent, seconds, as text for an environment variable."""
        return lazy_text(self._life_seconds)

    def grant_stage(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow adding rows within transactions, and looking whether an event is there already."""
        return self._grant(grantee, [self.table.table_arn], *STAGE_ACTIONS)

    def grant_relay(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow what a relay does: claims, and what became of rows; no query, no deletion."""
        return self._grant(grantee, [self.table.table_arn], *RELAY_ACTIONS)

    def grant_sweep(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow what a sweep does: what a relay does, and the index of unsent rows."""
        return self.grant_relay(grantee).combine(self._grant_index(grantee))

    def grant_operator(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow listing what is not sent, and sending parked rows again, or discarding them."""
        return self._grant(grantee, [self.table.table_arn], *OPERATOR_ACTIONS).combine(self._grant_index(grantee))

    def grant_stream(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow a mapping to read the stream."""
        grant = self._grant(grantee, [str(self.table.table_stream_arn)], *_STREAM_ACTIONS)
        listing = iam.Grant.add_to_principal(grantee=grantee, actions=["dynamodb:ListStreams"], resource_arns=["*"])
        principal = grantee.grant_principal
        policy = principal.node.try_find_child("DefaultPolicy") if isinstance(principal, Construct) else None
        if policy is not None:
            for finding in ("AwsSolutions-IAM5[Resource::*]", "Serverless-LambdaStarPermissions"):
                acknowledge(
                    policy,
                    finding,
                    "ListStreams, which a mapping of a stream wants, knows no resources: IAM accepts only * for it.",
                )
        return grant.combine(listing)

    def _grant_index(self, grantee: iam.IGrantable) -> iam.Grant:
        return self._grant(grantee, [f"{self.table.table_arn}/index/{OUTBOX_OPEN_INDEX}"], "dynamodb:Query")

    def _grant(self, grantee: iam.IGrantable, resources: list[str], *actions: str) -> iam.Grant:
        return grant_actions(grantee, resources, actions, key=self._encryption_key)
