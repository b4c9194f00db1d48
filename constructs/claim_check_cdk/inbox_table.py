"""The table that remembers what each consumer did with each event."""

from __future__ import annotations

from typing import Final

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from claim_check.contract import INBOX_OPEN_INDEX, InboxAttribute
from claim_check_cdk.kept_table import add_open_index, grant_actions, make_table
from claim_check_cdk.pointer_life import KeepsForPointers, lazy_number, lazy_text
from claim_check_cdk.retention import DAY
from claim_check_cdk.validation import Mistakes, describe, known_seconds

CONSUMER_ACTIONS: Final = ("dynamodb:PutItem", "dynamodb:UpdateItem")
"""What the runtime's inbox does, single and inside TransactWriteItems (which has no action of its own)."""

OPERATOR_ACTIONS: Final = ("dynamodb:BatchGetItem", "dynamodb:GetItem")
"""What ``claim-check`` does with rows by key, and what a person does with the AWS CLI."""


class InboxTable(KeepsForPointers):
    """A DynamoDB table of inbox rows: gate, lease, completion and failure record of each event (R4.3).

    Billed per request, with point-in-time recovery; it stays when it leaves the stack. Rows expire by the same sum as
    the payloads (R6.2), since a redrive after that would apply its effect twice. A sparse, sharded index holds the rows
    that are not completed, so that failed and stuck work is listed without a scan.

    Attributes:
        table: The table.
        ttl_seconds: Life of a row, seconds: a number that is known at synth.
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
        """Make the table; tell it with `retain_for` which queues it remembers.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            time_to_live: Life of a row; never shorter than the plan of any queue (the synthesis fails and prints it).
                By default exactly that plan.
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
            partition_key=InboxAttribute.KEY,
            ttl_attribute=InboxAttribute.TTL,
            encryption_key=encryption_key,
            removal_policy=removal_policy,
        )
        add_open_index(
            self.table,
            name=INBOX_OPEN_INDEX,
            shard=InboxAttribute.OPEN_SHARD,
            since=InboxAttribute.OPEN_SINCE,
        )
        self.ttl_seconds: float = lazy_number(self._life_seconds)

    @property
    def ttl_text(self) -> str:
        """`ttl_seconds` as text, for an environment variable."""
        return lazy_text(self._life_seconds)

    def grant_consumer(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow what a consumer does with inbox rows: conditional writes by key; no query, no scan, no deletion."""
        return self._grant(grantee, [self.table.table_arn], *CONSUMER_ACTIONS)

    def grant_operator(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow reading rows by key, and listing what is not completed through the index; no scan, no write."""
        return self._grant(grantee, [self.table.table_arn], *OPERATOR_ACTIONS).combine(
            self._grant(grantee, [f"{self.table.table_arn}/index/{INBOX_OPEN_INDEX}"], "dynamodb:Query")
        )

    def _grant(self, grantee: iam.IGrantable, resources: list[str], *actions: str) -> iam.Grant:
        return grant_actions(grantee, resources, actions, key=self._encryption_key)
