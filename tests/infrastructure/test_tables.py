"""`InboxTable` and `DomainTable`: keys, index, life of a row, grants."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Template

import claim_check
from claim_check.contract import INBOX_OPEN_INDEX, InboxAttribute, Setting
from claim_check_cdk import DomainTable, InboxTable, InvalidSettingsError, MessageQueue, RetentionTerms
from claim_check_cdk.inbox_table import CONSUMER_ACTIONS
from claim_check_cdk.retention import DAY
from tests.infrastructure.kit import findings, imported_queue, make_function, make_stack, resources, statements


class Sample:
    """An inbox with a function that knows its TTL, and a table of the domain."""

    def __init__(self) -> None:
        """Synthesize."""
        self.stack = make_stack()
        self.inbox = InboxTable(self.stack, "Inbox")
        self.function = make_function(self.stack)
        self.function.add_environment(Setting.INBOX_TTL, self.inbox.ttl_text)
        self.inbox.retain_for(MessageQueue(self.stack, "Queue"), terms=RetentionTerms(redrive_rounds=2))
        self.key = kms.Key(self.stack, "Key", enable_key_rotation=True)
        self.keyed = InboxTable(
            self.stack,
            "Keyed",
            time_to_live=cdk.Duration.days(400),
            encryption_key=self.key,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        self.domain = DomainTable(self.stack, "Documents", sort_key="sk")
        self.keyed_domain = DomainTable(
            self.stack,
            "Secrets",
            partition_key="id",
            encryption_key=self.key,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        self.roles = {
            name: iam.Role(self.stack, name, assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
            for name in ("Consumer", "Operator", "Keyholder")
        }
        self.inbox.grant_consumer(self.roles["Consumer"])
        self.inbox.grant_operator(self.roles["Operator"])
        self.keyed.grant_consumer(self.roles["Keyholder"])
        self.findings = [found for found in findings(self.stack) if "/Function/" not in found[1]]
        self.template = Template.from_stack(self.stack)

    def table(self, path: str) -> dict[str, Any]:
        """A table with its policies."""
        return dict(self.template.find_resources("AWS::DynamoDB::Table")[self.logical_id(path)])

    def logical_id(self, path: str) -> str:
        """Logical id of a table by the id of its construct."""
        child = self.stack.node.find_child(path).node.find_child("Table").node.default_child
        assert isinstance(child, cdk.CfnResource)
        return str(self.stack.get_logical_id(child))

    def policy(self, role: str) -> list[Any]:
        """Statements of a role's default policy."""
        child = self.roles[role].node.find_child("DefaultPolicy").node.default_child
        assert isinstance(child, iam.CfnPolicy)
        return list(statements(resources(self.template, "AWS::IAM::Policy")[self.stack.get_logical_id(child)]))


@pytest.fixture(scope="module")
def sample() -> Sample:
    """One synth for the module."""
    return Sample()


def test_the_inbox_table(sample: Sample) -> None:  # R4.3
    table = sample.table("Inbox")
    assert table["Properties"] == {
        "AttributeDefinitions": [
            {"AttributeName": InboxAttribute.KEY, "AttributeType": "S"},
            {"AttributeName": InboxAttribute.OPEN_SHARD, "AttributeType": "S"},
            {"AttributeName": InboxAttribute.OPEN_SINCE, "AttributeType": "S"},
        ],
        "BillingMode": "PAY_PER_REQUEST",
        "DeletionProtectionEnabled": True,
        "GlobalSecondaryIndexes": [
            {
                "IndexName": INBOX_OPEN_INDEX,
                "KeySchema": [
                    {"AttributeName": InboxAttribute.OPEN_SHARD, "KeyType": "HASH"},
                    {"AttributeName": InboxAttribute.OPEN_SINCE, "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        "KeySchema": [{"AttributeName": InboxAttribute.KEY, "KeyType": "HASH"}],
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        "TimeToLiveSpecification": {"AttributeName": InboxAttribute.TTL, "Enabled": True},
    }
    assert (table["DeletionPolicy"], table["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_the_domain_table(sample: Sample) -> None:
    table = sample.table("Documents")
    assert table["Properties"]["KeySchema"] == [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ]
    assert table["Properties"]["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["Properties"]["BillingMode"] == "PAY_PER_REQUEST"
    assert table["Properties"]["DeletionProtectionEnabled"] is True
    assert (table["DeletionPolicy"], table["UpdateReplacePolicy"]) == ("Retain", "Retain")


@pytest.mark.parametrize("path", ["Keyed", "Secrets"])
def test_a_table_of_which_nothing_shall_stay(sample: Sample, path: str) -> None:
    table = sample.table(path)
    assert table["DeletionPolicy"] == "Delete"
    assert table["Properties"]["DeletionProtectionEnabled"] is False
    assert table["Properties"]["SSESpecification"]["SSEType"] == "KMS"


# --- Life of a row --------------------------------------------------------------------------------------------------


def test_the_ttl_is_the_plan_although_the_queue_came_later(sample: Sample) -> None:  # R6.2
    plan = sample.inbox.retention_plan()
    assert plan is not None
    assert plan.days == 57
    environment = resources(sample.template, "AWS::Lambda::Function").values()
    (variables,) = [properties["Environment"]["Variables"] for properties in environment]
    assert variables == {Setting.INBOX_TTL: str(57 * DAY)}
    assert sample.stack.resolve(sample.inbox.ttl_seconds) == 57 * DAY
    assert sample.stack.resolve(sample.keyed.ttl_seconds) == 400 * DAY


def _synth_error(stack: cdk.Stack) -> str:
    with pytest.raises(RuntimeError) as raised:
        Template.from_stack(stack)
    return str(raised.value)


def test_a_ttl_below_the_plan_fails_the_synthesis_and_prints_the_terms() -> None:
    stack = make_stack()
    queue = MessageQueue(stack, "Queue")
    InboxTable(stack, "Inbox", time_to_live=cdk.Duration.days(38)).retain_for(queue)
    error = _synth_error(stack)
    assert "[Stack/Inbox] time_to_live = 38 d: must be at least 39 d" in error
    assert queue.retention_plan().table().splitlines()[1] in error


def test_an_inbox_that_no_queue_was_told_of_fails_the_synthesis() -> None:
    stack = make_stack()
    InboxTable(stack, "Inbox")
    assert "time_to_live = None: there is no queue to compute it from" in _synth_error(stack)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InvalidSettingsError, match=r"time_to_live = 3600 s: must be from 86400"):
        InboxTable(make_stack(), "Inbox", time_to_live=cdk.Duration.hours(1))
    stack = make_stack()
    with pytest.raises(InvalidSettingsError, match="must be told"):
        InboxTable(stack, "Inbox").retain_for(imported_queue(stack))


# --- Grants ---------------------------------------------------------------------------------------------------------


def test_a_consumer_may_write_rows_by_key_only(sample: Sample) -> None:  # R11.2
    assert sample.policy("Consumer") == [
        {
            "Action": ["dynamodb:PutItem", "dynamodb:UpdateItem"],
            "Effect": "Allow",
            "Resource": {"Fn::GetAtt": [sample.logical_id("Inbox"), "Arn"]},
        }
    ]


def test_an_operator_may_look_up_and_list_but_not_scan(sample: Sample) -> None:
    arn = {"Fn::GetAtt": [sample.logical_id("Inbox"), "Arn"]}
    assert sample.policy("Operator") == [
        {"Action": ["dynamodb:BatchGetItem", "dynamodb:GetItem"], "Effect": "Allow", "Resource": arn},
        {
            "Action": "dynamodb:Query",
            "Effect": "Allow",
            "Resource": {"Fn::Join": ["", [arn, f"/index/{INBOX_OPEN_INDEX}"]]},
        },
    ]


def test_a_customer_key_comes_with_the_grants(sample: Sample) -> None:
    _, key = sample.policy("Keyholder")
    assert key["Action"] == ["kms:Decrypt", "kms:DescribeKey"]


def test_the_actions_are_exactly_what_the_runtime_calls() -> None:
    """`CONSUMER_ACTIONS` is what the adapter's source calls; TransactWriteItems acts as the items inside it."""
    source = (Path(claim_check.__file__).parent / "adapters" / "dynamodb.py").read_text(encoding="utf-8")
    called = set(re.findall(r"self\._client\.(\w+)\(", source))
    assert called == {"update_item", "put_item", "transact_write_items"}
    assert re.findall(r"\{\"(\w+)\": self\._guarded_put", source) == ["Put"]
    assert set(CONSUMER_ACTIONS) == {"dynamodb:UpdateItem", "dynamodb:PutItem"}


def test_cdk_nag_finds_nothing(sample: Sample) -> None:
    assert sample.findings == []
