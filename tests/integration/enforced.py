"""The deployed functions where IAM is enforced: what each is for, done in its own role; and its policies, changed."""

from __future__ import annotations

import hashlib
import json
import ssl
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from http import HTTPStatus
from typing import Any, Final

from claim_check import Claim, Envelope
from claim_check.adapters.s3 import S3ObjectStore
from claim_check.adapters.session import Clients
from claim_check.adapters.sqs import SqsQueue
from claim_check.contract import ATTRIBUTE_PAYLOAD_SIZE, InboxAttribute, inbox_key, object_key
from claim_check.envelope import encode
from claim_check.extended_client import POINTER_CLASS
from claim_check.settings import ConsumerSettings
from claim_check_ops.local import DeployedStack, EmbeddedAws
from claim_check_ops.local.batch_calls import BATCH_CALLS
from claim_check_ops.local.embedded_aws import ACCOUNT_ID, REGION

TENANT: Final = "tenant-1"
EVENT_TYPES: Final = {
    "Documents": "DocumentUploaded",
    "Wallet": "MoneyMoved",
    "Narrow": "ScanArrived",
    "Orders": "OrderPlaced",
}
UPLOADED: Final = b"uploaded"
HIDDEN_SECONDS: Final = 600
"""How long a message is hidden before a function hides it anew."""


class CaseFailed(Exception):
    """A function did not do what it is for."""


@dataclass(frozen=True)
class Function:
    """A deployed function.

    Attributes:
        aws: Where it stands.
        stack: Name of its stack in the app.
        kind: ``producer``, ``consumer`` or ``uploads``.
        name: Its physical name.
        role: Name of its role.
        variables: Its environment.
    """

    aws: EmbeddedAws
    stack: str
    kind: str
    name: str
    role: str
    variables: Mapping[str, str]

    @classmethod
    def find(cls, aws: EmbeddedAws, deployed: DeployedStack, *, stack: str, kind: str, function: str) -> Function:
        """Find a function of a deployed stack.

        Args:
            aws: Where it stands.
            deployed: The stack.
            stack: Its name in the app.
            kind: ``producer``, ``consumer`` or ``uploads``.
            function: Logical id of the function.
        """
        name = deployed.resources[function]
        configuration = aws.lambda_.get_function_configuration(FunctionName=name)
        variables = with_destination(configuration["Environment"]["Variables"])
        return cls(aws, stack, kind, name, configuration["Role"].rpartition("/")[2], variables)

    @property
    def event_type(self) -> str:
        """The events it is for."""
        return EVENT_TYPES[self.stack]

    @cached_property
    def consumer(self) -> ConsumerSettings:
        """Settings of a consumer."""
        return ConsumerSettings.from_environment(self.variables)

    @property
    def bucket(self) -> str:
        """Its bucket: of payloads, of archived dead letters, or the one it follows."""
        settings = ("CLAIM_CHECK_BUCKET", "CLAIM_CHECK_ARCHIVE_BUCKET", "CLAIM_CHECK_INGEST_BUCKET")
        return next(self.variables[name] for name in settings if name in self.variables)

    @property
    def foreign(self) -> tuple[str, str] | None:
        """The bucket of Extended Clients that it reads, and how keys begin there."""
        bucket, slash, prefix = self.variables.get("CLAIM_CHECK_FOREIGN_BUCKETS", "").partition("/")
        return (bucket, prefix) if slash else None

    @property
    def queue_url(self) -> str:
        """Its queue; that of a function which looks after dead letters is the DLQ."""
        settings = ("CLAIM_CHECK_QUEUE_URL", "CLAIM_CHECK_INGEST_QUEUE_URL", "CLAIM_CHECK_DLQ_URL")
        return next(self.variables[name] for name in settings if name in self.variables)

    @cached_property
    def session(self) -> Any:  # noqa: ANN401 - boto3's session, whose overloads know literals only
        """A session in its role."""
        return self.aws.session_as(self.role)

    @cached_property
    def clients(self) -> Clients:
        """The library's clients, in its role."""
        return Clients(self.session)

    # --- Policies ---------------------------------------------------------------------------------------------------

    def policies(self) -> dict[str, Any]:
        """Its role's policies, by name."""
        iam = self.aws.client("iam")
        names = iam.list_role_policies(RoleName=self.role)["PolicyNames"]
        found = {name: iam.get_role_policy(RoleName=self.role, PolicyName=name)["PolicyDocument"] for name in names}
        iam.close()
        return found

    @contextmanager
    def without(self, policy: str, statement: int, action: str, place: int) -> Iterator[None]:
        """Take one right away, until the block ends.

        Args:
            policy: Name of the policy.
            statement: Place of the statement in it.
            action: The action.
            place: Place of the resource in the statement.
        """
        iam = self.aws.client("iam")
        before = iam.get_role_policy(RoleName=self.role, PolicyName=policy)["PolicyDocument"]
        after = {**before, "Statement": list(narrowed(before["Statement"], statement, action, place))}
        iam.put_role_policy(RoleName=self.role, PolicyName=policy, PolicyDocument=json.dumps(after))
        try:
            yield
        finally:
            iam.put_role_policy(RoleName=self.role, PolicyName=policy, PolicyDocument=json.dumps(before))
            iam.close()


def with_destination(variables: Mapping[str, str]) -> Mapping[str, str]:
    """Variables, with those of the pipeline that an outbox publishes to as if they were its own."""
    settings = json.loads(variables.get("CLAIM_CHECK_OUTBOX_DESTINATION_1", "{}"))
    return {**{f"CLAIM_CHECK_{name}": value for name, value in settings.items()}, **variables}


def narrowed(statements: list[Any], number: int, action: str, place: int) -> Iterator[dict[str, Any]]:
    """Statements without one action on one resource; its batch call goes with it."""
    gone = {action, BATCH_CALLS.get(action, action)}
    for at, statement in enumerate(statements):
        actions, resources = _listed(statement["Action"]), _listed(statement["Resource"])
        if at != number:
            yield statement
            continue
        assert gone <= set(actions), f"{action} is not in statement {number}"
        kept = [one for one in actions if one not in gone]
        others = [one for index, one in enumerate(resources) if index != place]
        if kept:
            yield {**statement, "Action": kept}
        if others:
            yield {**statement, "Action": sorted(gone), "Resource": others}


def _listed(value: Any) -> list[Any]:  # noqa: ANN401 - a policy holds one of something, or a list
    return value if isinstance(value, list) else [value]


# --- Cases ----------------------------------------------------------------------------------------------------------


def invoke(function: Function, event: Mapping[str, Any]) -> dict[str, Any]:
    """Invoke a function; its answer.

    Raises:
        CaseFailed: It ended with an error.
    """
    answer = function.aws.lambda_.invoke(FunctionName=function.name, Payload=json.dumps(event).encode())
    body: dict[str, Any] = json.loads(answer["Payload"].read())
    if answer.get("FunctionError"):
        raise CaseFailed(str(body.get("errorMessage")))
    return body


def request(function: Function) -> dict[str, Any]:
    """An event for a producer function whose payload does not travel inline."""
    return {
        "tenantId": TENANT,
        "eventType": function.event_type,
        "messageId": f"enforced-{uuid.uuid4().hex}",
        "groupId": "enforced",
        "contentType": "application/octet-stream",
        "payloadBase64": "AAEC",
    }


def publish(function: Function) -> None:
    """See `CASES` of `docs/generate_roles.py`, here and below."""
    if invoke(function, request(function))["delivery"] != "claim":
        raise CaseFailed("the payload travelled inline")


def publish_again(function: Function) -> None:
    """The second time S3 says that the object is there."""
    event = request(function)
    first, second = invoke(function, event), invoke(function, event)
    if first["sha256"] != second["sha256"]:
        raise CaseFailed("the second payload is another")


def abort(function: Function) -> None:
    """The calls of `claim_check.multipart`, which a producer function's own payloads are too small for."""
    store, payload = S3ObjectStore(function.clients.s3), b"part"
    key = claim_of(function, f"enforced-{uuid.uuid4().hex}", payload).key
    upload = store.start_upload(bucket=function.bucket, key=key, content_type="text/plain", metadata={})
    store.abort_upload(bucket=function.bucket, key=key, upload_id=upload)
    if any(
        one["Key"] == key for one in function.aws.s3.list_multipart_uploads(Bucket=function.bucket).get("Uploads", [])
    ):
        raise CaseFailed("the upload is still there")


def content(function: Function) -> bytes:
    """A payload that the function's handler understands."""
    if function.stack == "Orders":
        lines = [{"sku": "tea", "count": 1, "cents": 1}]
        order = {"tenantId": TENANT, "orderId": f"enforced-{uuid.uuid4().hex}", "customer": "c", "lines": lines}
        return json.dumps(order | {"note": ""}).encode()
    movement = {"account": f"enforced-{uuid.uuid4().hex}", "cents": 1}
    return json.dumps(movement).encode() if function.stack == "Wallet" else b"content"


def claim_of(function: Function, message_id: str, payload: bytes) -> Claim:
    """The claim of a payload that is not in S3."""
    sha256 = hashlib.sha256(payload).hexdigest()
    key = object_key(tenant_id=TENANT, event_type=function.event_type, idempotency_key=message_id, sha256=sha256)
    return Claim(
        bucket=function.bucket, key=key, content_type="application/json", content_length=len(payload), sha256=sha256
    )


def envelope_of(function: Function, message_id: str, claim: Claim) -> str:
    """A message body."""
    envelope = Envelope(
        message_id=message_id,
        event_type=function.event_type,
        tenant_id=TENANT,
        idempotency_key=message_id,
        published_at=datetime.now(UTC),
        payload=claim,
        domain_ref={"orderId": message_id} if function.stack == "Orders" else {},
    )
    return encode(envelope)


def record_of(function: Function, body: str, *, message_id: str = "", receipt_handle: str = "none") -> dict[str, Any]:
    """A record as Lambda hands it over."""
    name = function.queue_url.rpartition("/")[2]
    return {
        "messageId": message_id or str(uuid.uuid4()),
        "receiptHandle": receipt_handle,
        "body": body,
        "attributes": {"ApproximateReceiveCount": "1", "SentTimestamp": "0", "MessageGroupId": "enforced"},
        "messageAttributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:{REGION}:{ACCOUNT_ID}:{name}",
        "awsRegion": REGION,
    }


def process(function: Function, *, with_version: bool = True) -> None:
    """Hand a consumer one message and look for its completed row. A claim names the version, if there is one."""
    message_id, payload = f"enforced-{uuid.uuid4().hex}", content(function)
    claim = claim_of(function, message_id, payload)
    put = function.aws.s3.put_object(
        Bucket=claim.bucket, Key=claim.key, Body=payload, ContentType=claim.content_type, IfNoneMatch="*"
    )
    if with_version:
        claim = replace(claim, version_id=put.get("VersionId"))
    answer = invoke(function, {"Records": [record_of(function, envelope_of(function, message_id, claim))]})
    key = inbox_key(consumer=function.consumer.consumer, tenant_id=TENANT, idempotency_key=message_id)
    row = function.aws.dynamodb.get_item(
        TableName=function.consumer.inbox_table, Key={InboxAttribute.KEY: {"S": key}}, ConsistentRead=True
    ).get("Item", {})
    if answer["batchItemFailures"] or row.get(InboxAttribute.STATE) != {"S": "COMPLETED"}:
        raise CaseFailed(f"{answer}, {row.get(InboxAttribute.LAST_CODE)}")


def process_foreign(function: Function) -> None:
    """A pointer as Extended Clients write it."""
    assert function.foreign is not None
    bucket, prefix = function.foreign
    payload, key, message_id = content(function), f"{prefix}{uuid.uuid4()}", str(uuid.uuid4())
    function.aws.s3.put_object(Bucket=bucket, Key=key, Body=payload)
    body = json.dumps([POINTER_CLASS, {"s3BucketName": bucket, "s3Key": key}])
    record = record_of(function, body, message_id=message_id)
    record["messageAttributes"] = {
        ATTRIBUTE_PAYLOAD_SIZE: {"stringValue": str(len(payload)), "dataType": "Number"},
    }
    answer = invoke(function, {"Records": [record]})
    rows = function.aws.dynamodb.scan(
        TableName=function.consumer.inbox_table,
        FilterExpression="sqsMessageId = :id",
        ExpressionAttributeValues={":id": {"S": message_id}},
    )["Items"]
    if answer["batchItemFailures"] or [row[InboxAttribute.STATE] for row in rows] != [{"S": "COMPLETED"}]:
        raise CaseFailed(f"{answer}, {rows}")


def park(function: Function) -> None:
    """A message of a version that nobody can read."""
    message_id = f"enforced-{uuid.uuid4().hex}"
    envelope = json.loads(envelope_of(function, message_id, claim_of(function, message_id, b"")))
    answer = invoke(function, {"Records": [record_of(function, json.dumps(envelope | {"v": 99}))]})
    if answer["batchItemFailures"]:
        raise CaseFailed("it was not parked")


def message_for(queue_url: str, body: str) -> Any:  # noqa: ANN401 - parameters of several calls
    """Parameters of a message that a queue takes, standard or FIFO."""
    fifo = {"MessageGroupId": uuid.uuid4().hex, "MessageDeduplicationId": uuid.uuid4().hex}
    return {"MessageBody": body, **(fifo if queue_url.endswith(".fifo") else {})}


def received(function: Function, body: str) -> dict[str, Any]:
    """Send a message to a consumer's queue and receive it, hidden for long; nobody else reads that queue now."""
    sqs, queue = function.aws.sqs, function.queue_url
    sent = sqs.send_message(QueueUrl=queue, **message_for(queue, body))["MessageId"]
    answer = sqs.receive_message(
        QueueUrl=queue, MaxNumberOfMessages=10, VisibilityTimeout=HIDDEN_SECONDS, WaitTimeSeconds=2
    )
    (message,) = (one for one in answer["Messages"] if one["MessageId"] == sent)
    return dict(message)


def hide(function: Function) -> None:
    """A message that fails: its payload is gone, or, where it is not asked for and may not be parked, unreadable."""
    message_id = f"enforced-{uuid.uuid4().hex}"
    body = envelope_of(function, message_id, claim_of(function, message_id, b"gone"))
    if function.consumer.dlq_url is None:
        body = "no envelope"
    message = received(function, body)
    record = record_of(function, body, message_id=message["MessageId"], receipt_handle=message["ReceiptHandle"])
    try:
        if not invoke(function, {"Records": [record]})["batchItemFailures"]:
            raise CaseFailed("the message did not fail")
        left = function.aws.hidden_until(function.queue_url)[message["MessageId"]] - time.time()
        if left > HIDDEN_SECONDS / 2:
            raise CaseFailed(f"it stays hidden for {left:.0f} s")
    finally:
        function.aws.sqs.delete_message(QueueUrl=function.queue_url, ReceiptHandle=message["ReceiptHandle"])


def poll(function: Function) -> None:
    """The calls of `claim_check.Worker`."""
    sqs, url = function.aws.sqs, function.queue_url
    sqs.send_message(QueueUrl=url, **message_for(url, "polled"))
    queue = SqsQueue(function.clients.sqs)
    try:
        (delivery,) = queue.receive_batch(
            url, count=1, wait_seconds=2, visibility_seconds=HIDDEN_SECONDS, attempt_id=None
        )
        if queue.delete_batch(url, [delivery.receipt_handle]):
            raise CaseFailed("it was not deleted")
    finally:
        sqs.purge_queue(QueueUrl=url)


def upload(function: Function, *, with_version: bool = True, tagged: bool = False) -> None:
    """What a client does. A bucket that keeps versions may do so only afterwards; somebody else may add a tag."""
    declared, s3, bucket = declaration(function), function.aws.s3, function.bucket
    suspended = not with_version and s3.get_bucket_versioning(Bucket=bucket).get("Status") == "Enabled"
    if suspended:
        s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Suspended"})
    try:
        put(function, ask(function, "POST /uploads", declared)["upload"])
    finally:
        if suspended:
            s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    key = object_key(
        tenant_id=TENANT,
        event_type=function.event_type,
        idempotency_key=declared["messageId"],
        sha256=declared["sha256"],
    )
    scanned: list[Any] = [{"Key": "scanned", "Value": "clean"}] if tagged else []
    tags = s3.get_object_tagging(Bucket=bucket, Key=key)["TagSet"]
    s3.put_object_tagging(Bucket=bucket, Key=key, Tagging={"TagSet": [*tags, *scanned]})
    ask(function, "POST /events", declared)
    if s3.get_object_tagging(Bucket=bucket, Key=key)["TagSet"] != scanned:
        raise CaseFailed("the tags are others")


def declaration(function: Function) -> dict[str, Any]:
    """What a client declares."""
    return {
        "tenantId": TENANT,
        "eventType": function.event_type,
        "messageId": f"enforced-{uuid.uuid4().hex}",
        "sha256": hashlib.sha256(UPLOADED).hexdigest(),
        "contentLength": len(UPLOADED),
        "contentType": "text/plain",
    }


def ask(function: Function, route: str, declared: Mapping[str, Any]) -> dict[str, Any]:
    """Ask an upload function as its HTTP API does."""
    answer = invoke(function, {"routeKey": route, "body": json.dumps(declared), "requestContext": {}})
    body: dict[str, Any] = json.loads(answer["body"])
    if answer["statusCode"] not in {HTTPStatus.OK, HTTPStatus.CREATED}:
        raise CaseFailed(f"{route}: {body}")
    return body


def put(function: Function, granted: Mapping[str, Any]) -> None:
    """Upload what was granted, with no credentials but the grant."""
    sent = urllib.request.Request(granted["url"], data=UPLOADED, headers=granted["headers"], method="PUT")  # noqa: S310 - loopback
    context = ssl.create_default_context(cafile=str(function.aws.ca_bundle))
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        opener.open(sent, timeout=30).close()
    except urllib.error.HTTPError as error:
        with error:
            raise CaseFailed(f"the upload was answered with {error.code}: {error.read()!r}") from error


CASES: Final[Mapping[str, Callable[[Function], None]]] = {
    "publish": publish,
    "publish again": publish_again,
    "abort": abort,
    "process": process,
    "process without version": partial(process, with_version=False),
    "process foreign": process_foreign,
    "hide": hide,
    "park": park,
    "poll": poll,
    "upload": upload,
    "upload without version": partial(upload, with_version=False),
    "upload tagged by others": partial(upload, tagged=True),
    "upload without version, tagged by others": partial(upload, with_version=False, tagged=True),
}
"""The cases of `docs/generate_roles.py`, by name."""
