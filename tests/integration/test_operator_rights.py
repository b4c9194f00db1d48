"""What `InboxTable.grant_operator` allows, where IAM is enforced: exactly what looking needs (R4.3, R11.2)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from aws_cdk import App, CfnOutput, Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template
from botocore.exceptions import ClientError

from claim_check import contract
from claim_check.adapters.inbox_items import to_item
from claim_check.adapters.inbox_reader import DynamoDbInboxReader
from claim_check.errors import ReadRefused
from claim_check_cdk import InboxTable
from claim_check_ops.local import EmbeddedAws, wait_until
from claim_check_ops.local.embedded_aws import ACCOUNT_ID
from tests.contracts.test_inbox_table import row_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed"),
]

CONSUMER = "documents"
DENIED = {"AccessDenied", "AccessDeniedException"}


@dataclass
class Looked:
    """A table, and a role that may look at it.

    Attributes:
        aws: Where they are.
        table: Name of the table.
        role: Name of the role.
    """

    aws: EmbeddedAws
    table: str
    role: str

    @property
    def client(self) -> DynamoDBClient:
        """DynamoDB in the role."""
        client: DynamoDBClient = self.aws.session_as(self.role).client("dynamodb")
        return client

    @property
    def reader(self) -> DynamoDbInboxReader:
        """What the commands read with, in the role."""
        return DynamoDbInboxReader(self.client, self.table, sleep=lambda _: None)


def template() -> dict[str, Any]:
    """A table, and an operator's role."""
    stack = Stack(App(), "Inbox")
    inbox = InboxTable(stack, "Inbox", time_to_live=Duration.days(30), removal_policy=RemovalPolicy.DESTROY)
    role = iam.Role(stack, "Operator", role_name="operator", assumed_by=iam.AccountPrincipal(ACCOUNT_ID))
    inbox.grant_operator(role)
    CfnOutput(stack, "Name", value=inbox.table.table_name)
    found = dict(Template.from_stack(stack).to_json())
    found.pop("Parameters", None)  # the CDK's version of the bootstrap, and the rule that reads it
    found.pop("Rules", None)
    return found


@pytest.fixture(scope="module")
def looked() -> Iterator[Looked]:
    """Deployed where IAM is enforced, with a row in every state."""
    with EmbeddedAws(enforce_iam=True) as aws:
        aws.cloudformation.create_stack(
            StackName="inbox", TemplateBody=json.dumps(template()), Capabilities=["CAPABILITY_NAMED_IAM"]
        )

        def created() -> str | None:
            (stack,) = aws.cloudformation.describe_stacks(StackName="inbox")["Stacks"]
            return stack["Outputs"][0]["OutputValue"] if stack["StackStatus"] == "CREATE_COMPLETE" else None

        table = wait_until(created, what="the stack")
        for state in ("COMPLETED", "FAILED", "PARKED"):
            row = row_of(state, key=f"{CONSUMER}#t-1#{state}", consumer=CONSUMER)
            aws.dynamodb.put_item(TableName=table, Item=to_item(row))
        yield Looked(aws, table, "operator")


def test_the_commands_work(looked: Looked) -> None:
    key = f"{CONSUMER}#t-1#COMPLETED"
    assert looked.reader.rows([key]).keys() == {key}
    assert sorted(row.state for row in looked.reader.open_rows(CONSUMER)) == ["FAILED", "PARKED"]
    assert looked.client.get_item(TableName=looked.table, Key={"pk": {"S": key}})["Item"]


def rows_by_key(looked: Looked) -> object:
    return looked.reader.rows([f"{CONSUMER}#t-1#FAILED"])


def open_rows(looked: Looked) -> object:
    return list(looked.reader.open_rows(CONSUMER))


@pytest.mark.parametrize(
    "action,call",
    [("dynamodb:BatchGetItem", rows_by_key), ("dynamodb:Query", open_rows)],
    ids=["BatchGetItem", "Query"],
)
def test_each_right_is_needed(looked: Looked, action: str, call: Callable[[Looked], object]) -> None:
    role = looked.aws.client("iam")
    (name,) = role.list_role_policies(RoleName=looked.role)["PolicyNames"]
    before = role.get_role_policy(RoleName=looked.role, PolicyName=name)["PolicyDocument"]
    put = {"RoleName": looked.role, "PolicyName": name}
    role.put_role_policy(**put, PolicyDocument=json.dumps(without(before, action)))
    try:
        with pytest.raises(ReadRefused, match="AccessDenied"):
            call(looked)
    finally:
        role.put_role_policy(**put, PolicyDocument=json.dumps(before))
    assert call(looked)


def without(policy: dict[str, Any], action: str) -> dict[str, Any]:
    """A policy without one action."""
    statements = []
    for statement in policy["Statement"]:
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        if kept := [one for one in actions if one != action]:
            statements.append({**statement, "Action": kept})
    assert json.dumps(statements) != json.dumps(policy["Statement"])
    return {**policy, "Statement": statements}


def test_nothing_else_is_allowed(looked: Looked) -> None:
    key, item = {"pk": {"S": f"{CONSUMER}#t-1#FAILED"}}, {"pk": {"S": "new"}}
    client, table = looked.client, looked.table
    values = {":key": key["pk"]}
    calls: dict[str, Callable[[], object]] = {
        "scan": lambda: client.scan(TableName=table),
        "scan of the index": lambda: client.scan(TableName=table, IndexName=contract.INBOX_OPEN_INDEX),
        "query of the table": lambda: client.query(
            TableName=table, KeyConditionExpression="pk = :key", ExpressionAttributeValues=values
        ),
        "put": lambda: client.put_item(TableName=table, Item=item),
        "update": lambda: client.update_item(TableName=table, Key=key),
        "delete": lambda: client.delete_item(TableName=table, Key=key),
        "write in a batch": lambda: client.batch_write_item(RequestItems={table: [{"DeleteRequest": {"Key": key}}]}),
        "write in a transaction": lambda: client.transact_write_items(
            TransactItems=[{"Delete": {"TableName": table, "Key": key}}]
        ),
        "delete of the table": lambda: client.delete_table(TableName=table),
    }
    assert {name: refused(call) for name, call in calls.items()} == dict.fromkeys(calls, True)


def refused(call: Callable[[], object]) -> bool:
    """Whether IAM refuses it."""
    try:
        call()
    except ClientError as error:
        return error.response["Error"]["Code"] in DENIED
    return False
