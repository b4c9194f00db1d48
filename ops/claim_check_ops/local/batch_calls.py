"""Lets roles make batch calls of SQS in an embedded AWS that enforces IAM.

AWS checks ``SendMessageBatch`` as ``sqs:SendMessage``, and the other batch calls likewise: they have no actions of
their own (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-api-permissions-reference.html).
MiniStack checks each by its own name, which no policy that is right for AWS holds. So after a deployment every role's
policies get these names beside the real ones, here and nowhere else: same effect, same resources, same conditions.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from claim_check_ops.local.embedded_aws import EmbeddedAws

BATCH_CALLS: Final = {
    "sqs:SendMessage": "sqs:SendMessageBatch",
    "sqs:DeleteMessage": "sqs:DeleteMessageBatch",
    "sqs:ChangeMessageVisibility": "sqs:ChangeMessageVisibilityBatch",
}
"""What a batch call is called, by the action that AWS checks."""


def with_batch_calls(document: Mapping[str, Any]) -> dict[str, Any]:
    """A policy document in which each action on single messages stands for its batch call, too."""
    return {**document, "Statement": [_widened(statement) for statement in _listed(document["Statement"])]}


def allow_batch_calls(aws: EmbeddedAws) -> None:
    """Rewrite the inline policies of all roles; repeat it after each deployment. Does nothing without enforcement."""
    if not aws.enforce_iam:
        return
    iam = aws.client("iam")
    for page in iam.get_paginator("list_roles").paginate():
        for role in (one["RoleName"] for one in page["Roles"]):
            for name in iam.list_role_policies(RoleName=role)["PolicyNames"]:
                document = iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
                wanted = with_batch_calls(document)
                if wanted != document:
                    iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=json.dumps(wanted))
    iam.close()


def _widened(statement: Mapping[str, Any]) -> dict[str, Any]:
    actions = _listed(statement.get("Action", []))
    batches = [BATCH_CALLS[action] for action in actions if action in BATCH_CALLS]
    return {**statement, "Action": list(dict.fromkeys([*actions, *batches]))} if batches else dict(statement)


def _listed(value: Any) -> list[Any]:  # noqa: ANN401 - a policy holds one of something, or a list
    return value if isinstance(value, list) else [value]
