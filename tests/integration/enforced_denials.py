"""What no function may do, as calls: each is denied to the function's role, and works for the account's root."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from botocore.exceptions import ClientError

from claim_check.contract import PAYLOAD_PREFIX, InboxAttribute
from claim_check_ops.local import EmbeddedAws
from claim_check_ops.local.embedded_aws import ACCOUNT_ID
from tests.integration.enforced import TENANT, Function, message_for

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sts import STSClient

DENIED: Final = frozenset({"AccessDenied", "AccessDeniedException", "403"})
OUTSIDE: Final = "elsewhere/object"
_GRANTED: Final = {
    "producer": ("get", "look", "put", "abort"),
    "consumer": ("get", "look"),
    "uploads": ("get", "look", "put", "tag", "read tags", "untag"),
}
"""How the names of calls begin that a kind of function may make on its own payloads."""


class Caller:
    """Clients of one session, made once."""

    def __init__(self, session: Any) -> None:  # noqa: ANN401 - boto3's session, whose overloads know literals only
        """Make them."""
        self.s3: S3Client = session.client("s3")
        self.sqs: SQSClient = session.client("sqs")
        self.dynamodb: DynamoDBClient = session.client("dynamodb")
        self.lambda_: LambdaClient = session.client("lambda")
        self.sts: STSClient = session.client("sts")
        self.iam: Any = session.client("iam")


Call: TypeAlias = Callable[[Caller], object]


def is_denied(call: Call, caller: Caller) -> bool:
    """Whether IAM refuses a call; any other error means that it was let through."""
    try:
        call(caller)
    except ClientError as error:
        return error.response["Error"]["Code"] in DENIED
    return False


def key_of(*, tenant: str = TENANT, event_type: str) -> str:
    """Key of an object below a tenant's and a type's prefix."""
    return f"{PAYLOAD_PREFIX}tenants/{tenant}/{event_type}/object"


def furnish(aws: EmbeddedAws, functions: Mapping[str, Function]) -> None:
    """Put an object at every place that a call below reads, so that root can read it."""
    for function in functions.values():
        keys = [
            OUTSIDE,
            key_of(event_type=function.event_type),
            key_of(event_type="Other"),
            key_of(tenant="tenant-2", event_type=function.event_type),
        ]
        places = [(function.bucket, key) for key in keys]
        if function.foreign is not None:
            bucket, prefix = function.foreign
            places += [(bucket, f"{prefix}object"), (bucket, OUTSIDE)]
        for bucket, key in places:
            aws.s3.put_object(Bucket=bucket, Key=key, Body=b"")


@dataclass(frozen=True)
class Calls:
    """Calls of a function, on its own resources and on another's.

    Attributes:
        own: The function.
        consumer: The consumer of its pipeline, which may be itself.
        other: A consumer of another pipeline, with a bucket of its own.
        siblings: Other consumers that share its bucket.
        narrow: Whether its rights are limited to a tenant and an event type.
    """

    own: Function
    consumer: Function
    other: Function
    siblings: Sequence[Function]
    narrow: bool

    @property
    def consumes(self) -> bool:
        """Whether it is a consumer."""
        return self.own.kind == "consumer"

    # --- Allowed --------------------------------------------------------------------------------------------------

    def allowed(self) -> dict[str, Call]:
        """What stands beside the denials: the same calls where the function may make them."""
        queue, bucket = self.own.queue_url, self.own.bucket
        key = key_of(event_type=self.own.event_type)
        if not self.consumes:
            objects = self._objects("its own payloads", bucket, key)
            return {
                "send to its queue": lambda it: it.sqs.send_message(QueueUrl=queue, **message_for(queue, "denied")),
                **{name: call for name, call in objects.items() if name.startswith(_GRANTED[self.own.kind])},
            }
        table = self.own.consumer.inbox_table
        calls: dict[str, Call] = {
            "receive from its queue": lambda it: it.sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=0),
            "delete from its queue": lambda it: it.sqs.delete_message(QueueUrl=queue, ReceiptHandle="none"),
            "put an inbox row": lambda it: it.dynamodb.put_item(TableName=table, Item=_row()),
            "update an inbox row": lambda it: it.dynamodb.update_item(TableName=table, Key=_row()),
        }
        if (dlq := self.own.consumer.dlq_url) is not None:
            calls["send to its dead-letter queue"] = lambda it: it.sqs.send_message(
                QueueUrl=dlq, **message_for(dlq, "denied")
            )
        if self.own.consumer.payload_access != "none":
            prefix = key.removesuffix("object")
            calls["get a payload"] = lambda it: it.s3.get_object(Bucket=bucket, Key=key)
            calls["list its payloads"] = lambda it: it.s3.list_objects_v2(Bucket=bucket, Prefix=prefix)
            calls["list by a payload's key"] = lambda it: it.s3.list_objects_v2(Bucket=bucket, Prefix=key)
        return calls

    # --- Denied ---------------------------------------------------------------------------------------------------

    def denied(self) -> dict[str, Call]:
        """Everything that must not be let through."""
        return {
            **self._foreign_queue("another queue", self.other.queue_url),
            **self._siblings(),
            **self._own_queue(),
            **self._objects("another bucket", self.other.bucket, key_of(event_type=self.other.event_type)),
            **self._objects("outside the prefix", self.own.bucket, OUTSIDE),
            **self._other_names(),
            **self._other_direction(),
            **self._lists(),
            **self._tables(),
            **self._account(),
        }

    @staticmethod
    def _foreign_queue(what: str, queue: str) -> dict[str, Call]:
        entry: Any = {"Id": "0", **message_for(queue, "denied")}
        return {
            f"send to {what}": lambda it: it.sqs.send_message(QueueUrl=queue, **message_for(queue, "denied")),
            f"send a batch to {what}": lambda it: it.sqs.send_message_batch(QueueUrl=queue, Entries=[entry]),
            f"receive from {what}": lambda it: it.sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=0),
            f"acknowledge in {what}": lambda it: it.sqs.delete_message(QueueUrl=queue, ReceiptHandle="none"),
            f"hide in {what}": lambda it: it.sqs.change_message_visibility(
                QueueUrl=queue, ReceiptHandle="none", VisibilityTimeout=0
            ),
            f"look at {what}": lambda it: it.sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"]),
        }

    def _siblings(self) -> dict[str, Call]:
        calls: dict[str, Call] = {}
        for sibling in self.siblings:
            calls |= self._foreign_queue("a sibling's queue", sibling.queue_url)
            calls |= _every_call_on("a sibling's inbox", sibling.consumer.inbox_table)
        return calls

    def _own_queue(self) -> dict[str, Call]:
        """The other direction on its own queues, and what neither direction needs."""
        queue = self.own.queue_url
        calls = self._foreign_queue("its own queue", queue)
        send = ("send to its own queue", "send a batch to its own queue")
        names = send if self.consumes else [name for name in calls if name not in send]
        found: dict[str, Call] = {name: calls[name] for name in names} | {
            "purge its own queue": lambda it: it.sqs.purge_queue(QueueUrl=queue),
            "set attributes of its own queue": lambda it: it.sqs.set_queue_attributes(QueueUrl=queue, Attributes={}),
        }
        if (dlq := self.consumer.consumer.dlq_url) is not None:
            of_dlq = self._foreign_queue("its dead-letter queue", dlq)
            sends = {name for name in of_dlq if name.startswith("send")} if self.consumes else set()
            found |= {name: call for name, call in of_dlq.items() if name not in sends}
        return found

    @staticmethod
    def _objects(what: str, bucket: str, key: str) -> dict[str, Call]:
        fresh = f"{key}-{uuid.uuid4().hex}"
        return {
            f"get an object of {what}": lambda it: it.s3.get_object(Bucket=bucket, Key=key),
            f"look at an object of {what}": lambda it: it.s3.head_object(Bucket=bucket, Key=key),
            f"put an object of {what}": lambda it: it.s3.put_object(Bucket=bucket, Key=fresh, Body=b""),
            f"delete an object of {what}": lambda it: it.s3.delete_object(Bucket=bucket, Key=fresh),
            f"tag an object of {what}": lambda it: it.s3.put_object_tagging(
                Bucket=bucket, Key=key, Tagging={"TagSet": []}
            ),
            f"read tags of {what}": lambda it: it.s3.get_object_tagging(Bucket=bucket, Key=key),
            f"untag an object of {what}": lambda it: it.s3.delete_object_tagging(Bucket=bucket, Key=key),
            f"abort an upload of {what}": lambda it: it.s3.abort_multipart_upload(
                Bucket=bucket, Key=key, UploadId="none"
            ),
        }

    def _other_names(self) -> dict[str, Call]:
        if not self.narrow:
            return {}
        bucket, mine = self.own.bucket, self.own.event_type
        return {
            **self._objects("another tenant", bucket, key_of(tenant="tenant-2", event_type=mine)),
            **self._objects("another event type", bucket, key_of(event_type="Other")),
            **self._objects("a type that begins alike", bucket, key_of(event_type=f"{mine}2")),
        }

    def _other_direction(self) -> dict[str, Call]:
        """On payloads of its own: nobody deletes, consumers do not write, and who needs none reads none."""
        bucket, key = self.own.bucket, key_of(event_type=self.own.event_type)
        reads_none = self.consumes and self.own.consumer.payload_access == "none"
        granted = () if reads_none else _GRANTED[self.own.kind]
        calls: dict[str, Call] = self._objects("its own payloads", bucket, key)
        if self.own.foreign is not None:
            theirs, prefix = self.own.foreign
            calls |= self._objects("its Extended Clients' payloads", theirs, f"{prefix}object")
        return {name: call for name, call in calls.items() if not name.startswith(granted)} | {
            "start a multipart upload": lambda it: it.s3.create_multipart_upload(Bucket=bucket, Key=OUTSIDE),
            "read the bucket's policy": lambda it: it.s3.get_bucket_policy(Bucket=bucket),
        }

    def _lists(self) -> dict[str, Call]:
        bucket, other = self.own.bucket, self.other.bucket
        calls: dict[str, Call] = {
            "list the bucket": lambda it: it.s3.list_objects_v2(Bucket=bucket),
            "list with an empty prefix": lambda it: it.s3.list_objects_v2(Bucket=bucket, Prefix=""),
            "list with a shorter prefix": lambda it: it.s3.list_objects_v2(Bucket=bucket, Prefix="payloads"),
            "list outside the prefix": lambda it: it.s3.list_objects_v2(Bucket=bucket, Prefix=OUTSIDE),
            "list another bucket": lambda it: it.s3.list_objects_v2(Bucket=other, Prefix=PAYLOAD_PREFIX),
            "list versions": lambda it: it.s3.list_object_versions(Bucket=bucket, Prefix=PAYLOAD_PREFIX),
            "list the buckets": lambda it: it.s3.list_buckets(),
        }
        if self.narrow or self.own.kind == "producer":
            calls["list all payloads"] = lambda it: it.s3.list_objects_v2(Bucket=bucket, Prefix=PAYLOAD_PREFIX)
        return calls

    def _tables(self) -> dict[str, Call]:
        inbox = self.consumer.consumer.inbox_table
        calls = _every_call_on("its pipeline's inbox", inbox)
        if self.consumes:
            granted = ("put", "update", "write a transaction")
            calls = {name: call for name, call in calls.items() if not name.startswith(granted)}
        for name, table in self.other.variables.items():
            if name.endswith("_TABLE"):
                calls |= _every_call_on(f"another pipeline's {name}", table)
        return calls

    def _account(self) -> dict[str, Call]:
        role, other = self.own.role, f"arn:aws:iam::{ACCOUNT_ID}:role/{self.other.role}"
        policy = f"arn:aws:iam::{ACCOUNT_ID}:policy/none"
        names = [self.own.name, self.other.name]
        return {
            "become another function": lambda it: it.sts.assume_role(RoleArn=other, RoleSessionName="another"),
            "widen its own role": lambda it: it.iam.attach_role_policy(RoleName=role, PolicyArn=policy),
            "read its own role": lambda it: it.iam.get_role(RoleName=role),
            "list the roles": lambda it: it.iam.list_roles(),
            "read its own settings": lambda it: it.lambda_.get_function(FunctionName=names[0]),
            "read another's settings": lambda it: it.lambda_.get_function(FunctionName=names[1]),
            "invoke another": lambda it: it.lambda_.invoke(FunctionName=names[1], InvocationType="DryRun"),
        }


def _every_call_on(what: str, table: str) -> dict[str, Call]:
    write: Any = {table: [{"PutRequest": {"Item": _row()}}]}
    put: Any = [{"Put": {"TableName": table, "Item": _row()}}]
    return {
        f"get a row of {what}": lambda it: it.dynamodb.get_item(TableName=table, Key=_row()),
        f"put a row of {what}": lambda it: it.dynamodb.put_item(TableName=table, Item=_row()),
        f"update a row of {what}": lambda it: it.dynamodb.update_item(TableName=table, Key=_row()),
        f"delete a row of {what}": lambda it: it.dynamodb.delete_item(TableName=table, Key=_row()),
        f"scan {what}": lambda it: it.dynamodb.scan(TableName=table, Limit=1),
        f"query {what}": lambda it: it.dynamodb.query(
            TableName=table, KeyConditionExpression="pk = :pk", ExpressionAttributeValues={":pk": {"S": "none"}}
        ),
        f"write a batch to {what}": lambda it: it.dynamodb.batch_write_item(RequestItems=write),
        f"write a transaction to {what}": lambda it: it.dynamodb.transact_write_items(TransactItems=put),
        f"describe {what}": lambda it: it.dynamodb.describe_table(TableName=table),
    }


def _row() -> dict[str, Any]:
    """Key of a row that nobody else has; a table with a sort key, too, refuses it after IAM let it through."""
    return {InboxAttribute.KEY: {"S": f"denied#{uuid.uuid4().hex}"}}
