"""The table that remembers which event of each object was applied last."""

from __future__ import annotations

from typing import Final

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from claim_check.contract import LedgerAttribute
from claim_check_cdk.kept_table import grant_actions, make_table
from claim_check_cdk.pointer_life import KeepsForPointers, lazy_text
from claim_check_cdk.retention import DAY
from claim_check_cdk.validation import Mistakes, describe, known_seconds

INGESTER_ACTIONS: Final = ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem")
"""What an ingester does, single and inside TransactWriteItems (which has no action of its own)."""

RECONCILER_ACTIONS: Final = ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query")
"""What a reconciliation does: it reads the ledger in the order of keys, and keeps its own checkpoint."""


class LedgerTable(KeepsForPointers):
    """A DynamoDB table with one row per bucket and key: the ledger of an ingest (R10.1).

    Billed per request, with point-in-time recovery; it stays when it leaves the stack. Rows of objects that are there
    stay as long as the objects; the tombstone of one that is gone lives longer than any of its events could be
    delivered or replayed (R10.2), computed from every queue that is told with `retain_for`.

    Attributes:
        table: The table.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        tombstone_life: Duration | None = None,
        encryption_key: kms.IKey | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Make the table; tell it with `retain_for` which queues bring events.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            tombstone_life: Life of the row of a deleted object; never shorter than the plan of any queue (the synthesis
                fails and prints it). By default exactly that plan.
            encryption_key: Customer key. By default DynamoDB encrypts with a key of its own.
            removal_policy: What happens to the table when it leaves the stack. By default it stays, and is protected
                from deletion.

        Raises:
            InvalidSettingsError: A setting is wrong.
        """
        super().__init__(scope, construct_id, argument="tombstone_life", told=tombstone_life)
        mistakes = Mistakes(describe(self))
        mistakes.require_range(
            "tombstone_life",
            known_seconds(tombstone_life),
            low=DAY,
            high=36_500 * DAY,
            unit="s",
            way_out="leave it out",
        )
        mistakes.raise_all()
        self._encryption_key = encryption_key
        self.table = make_table(
            self,
            partition_key=LedgerAttribute.SHARD,
            sort_key=LedgerAttribute.KEY,
            ttl_attribute=LedgerAttribute.TTL,
            encryption_key=encryption_key,
            removal_policy=removal_policy,
        )

    @property
    def ttl_text(self) -> str:
        """Life of a tombstone, seconds, as text for an environment variable."""
        return lazy_text(self._life_seconds)

    def grant_ingester(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow what an ingester does: reads and conditional writes by key; no query, no scan, no deletion."""
        return self._grant(grantee, INGESTER_ACTIONS)

    def grant_reconciler(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow what a reconciliation does: reading by key and in order, and its checkpoint; no scan, no deletion."""
        return self._grant(grantee, RECONCILER_ACTIONS)

    def _grant(self, grantee: iam.IGrantable, actions: tuple[str, ...]) -> iam.Grant:
        return grant_actions(grantee, [self.table.table_arn], actions, key=self._encryption_key)
