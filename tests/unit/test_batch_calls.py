"""Batch calls of SQS where an embedded AWS asks for actions that AWS does not have."""

from __future__ import annotations

from typing import Any

import pytest

from claim_check_ops.local.batch_calls import with_batch_calls

CONDITION = {"StringEquals": {"aws:SourceAccount": "111122223333"}}


def document(action: object, **more: object) -> dict[str, Any]:
    """A policy of one statement."""
    return {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": action, "Resource": "arn", **more}]}


@pytest.mark.parametrize(
    "action,wanted",
    [
        ("sqs:SendMessage", ["sqs:SendMessage", "sqs:SendMessageBatch"]),
        (
            ["sqs:ReceiveMessage", "sqs:DeleteMessage"],
            ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:DeleteMessageBatch"],
        ),
        ("sqs:ChangeMessageVisibility", ["sqs:ChangeMessageVisibility", "sqs:ChangeMessageVisibilityBatch"]),
        ("s3:GetObject", "s3:GetObject"),
        (["sqs:ReceiveMessage"], ["sqs:ReceiveMessage"]),
    ],
)
def test_an_action_on_single_messages_allows_its_batch_call(action: object, wanted: object) -> None:
    widened = with_batch_calls(document(action))
    assert widened == document(wanted)
    assert with_batch_calls(widened) == widened


def test_effect_resource_and_condition_stay() -> None:
    widened = with_batch_calls(document("sqs:SendMessage", Effect="Deny", Resource=["a", "b"], Condition=CONDITION))
    (statement,) = widened["Statement"]
    assert statement.pop("Action") == ["sqs:SendMessage", "sqs:SendMessageBatch"]
    assert statement == {"Effect": "Deny", "Resource": ["a", "b"], "Condition": CONDITION}


def test_a_single_statement_may_stand_alone() -> None:
    alone = {"Statement": document("sqs:SendMessage")["Statement"][0]}
    assert with_batch_calls(alone) == {"Statement": with_batch_calls(document("sqs:SendMessage"))["Statement"]}
