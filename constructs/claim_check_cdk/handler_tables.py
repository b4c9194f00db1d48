"""What a handler may do with a table of the domain, action by action (R11.2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, Literal

from aws_cdk import aws_iam as iam

from claim_check_cdk.pipeline_parts import WritableTable
from claim_check_cdk.validation import Mistakes

TableAction = Literal["get", "put", "update", "delete", "check"]

_ACTIONS: Final[Mapping[TableAction, str]] = {
    "get": "dynamodb:GetItem",
    "put": "dynamodb:PutItem",
    "update": "dynamodb:UpdateItem",
    "delete": "dynamodb:DeleteItem",
    "check": "dynamodb:ConditionCheckItem",
}


def grant_table(
    where: str, grantee: iam.IGrantable, table: WritableTable, actions: Collection[TableAction]
) -> iam.Grant:
    """Allow exactly these actions on a table, single and inside a transaction.

    Args:
        where: How an error names the caller.
        grantee: Who.
        table: The table.
        actions: ``put``, ``update``, ``delete`` and ``check`` are what ``tx`` writes; ``get`` reads by key.

    Raises:
        InvalidSettingsError: No action, or one that does not exist.
    """
    mistakes = Mistakes(where)
    mistakes.require(
        len(actions) > 0 and not isinstance(actions, str) and set(actions) <= set(_ACTIONS),
        "actions",
        repr(actions),
        f"must be a collection of {', '.join(_ACTIONS)}",
        "name what the handler does",
    )
    mistakes.raise_all()
    grant = iam.Grant.add_to_principal(
        grantee=grantee,
        actions=[_ACTIONS[action] for action in sorted(set(actions))],
        resource_arns=[table.table_arn],
    )
    if table.encryption_key is None:
        return grant
    return grant.combine(table.encryption_key.grant(grantee, "kms:Decrypt", "kms:DescribeKey"))
