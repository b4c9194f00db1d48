"""A table of the domain whose rows commit together with the inbox."""

from __future__ import annotations

from aws_cdk import RemovalPolicy
from aws_cdk import aws_kms as kms
from constructs import Construct

from claim_check_cdk.kept_table import make_table


class DomainTable(Construct):
    """A DynamoDB table for what handlers write in the consumer's transaction.

    Billed per request, with point-in-time recovery; it stays when it leaves the stack. Any other table serves as well:
    `ClaimCheckPipeline.grant_handler_table` takes every ``ITable``.

    Attributes:
        table: The table.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        partition_key: str = "pk",
        sort_key: str | None = None,
        encryption_key: kms.IKey | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Make the table.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            partition_key: Name of the partition key, a string.
            sort_key: Name of the sort key, a string. By default there is none.
            encryption_key: Customer key. By default DynamoDB encrypts with a key of its own.
            removal_policy: What happens to the table when it leaves the stack. By default it stays, and is protected
                from deletion.
        """
        super().__init__(scope, construct_id)
        self.table = make_table(
            self,
            partition_key=partition_key,
            sort_key=sort_key or None,
            encryption_key=encryption_key,
            removal_policy=removal_policy,
        )
