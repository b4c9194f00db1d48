"""What the real clients get wrong, shown on them where that is quick, and that none of it is ours.

Each test names the report it comes from.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from claim_check import Event
from claim_check.adapters.s3 import S3ObjectStore
from claim_check.contract import ErrorCode, Metric
from claim_check.delivery import from_api
from claim_check.ports import VisibilityChange
from tests.foreign_world import ForeignWorld
from tests.interop.kit import EVENT_TYPE, LARGE, SMALL, TENANT, Pipeline

pytestmark = pytest.mark.integration


def event(payload: bytes, **fields: Any) -> Event:  # noqa: ANN401 - fields of Event
    return Event(tenant_id=TENANT, event_type=EVENT_TYPE, payload=payload, content_type="text/plain", **fields)


def test_receipt_handles_with_hyphens_stay_whole() -> None:
    """awslabs/amazon-sqs-python-extended-client-lib#28: only what follows the last '-' is left of a handle."""
    handle = "AQEB-..s3Key..-abc-def"
    delivery = from_api({"MessageId": "m", "ReceiptHandle": handle, "Body": "x"}, queue="q")
    assert delivery.receipt_handle == handle
    world = ForeignWorld()
    world.offload()

    def failing(*_: object) -> None:
        raise RuntimeError

    records = world.queue.lambda_event(world.queue_url, 10)
    records["Records"][0]["receiptHandle"] = handle
    world.consumer(failing).handle_lambda(records, remaining_seconds=60.0)
    assert [change.receipt_handle for change in world.queue.visibility_changes] == [handle]


def test_their_handles_are_broken_by_hyphens_and_ours_work_on_the_real_queue(pipeline: Pipeline) -> None:
    """The same on the queue: theirs cannot delete what it received, since the queue's handles have hyphens."""
    peer = pipeline.sqs(always=True)
    peer.send_message(QueueUrl=pipeline.queue_url, MessageBody=SMALL)
    asked: Any = {"WaitTimeSeconds": 2, "MessageAttributeNames": ["All"], "VisibilityTimeout": 0}
    (message,) = peer.receive_message(QueueUrl=pipeline.queue_url, **asked)["Messages"]
    with pytest.raises(ClientError):
        peer.delete_message(QueueUrl=pipeline.queue_url, ReceiptHandle=message["ReceiptHandle"])
    assert pipeline.deliver() == []
    assert pipeline.deliver(wait=0) == []
    assert [one.content for one in pipeline.seen] == [SMALL]


def test_visibility_changes_get_the_original_handle(pipeline: Pipeline) -> None:
    """awslabs/amazon-sqs-java-extended-client-lib#9: there the embedded handle is sent to SQS."""
    pipeline.sqs(always=True).send_message(QueueUrl=pipeline.queue_url, MessageBody=SMALL)
    asked: Any = {"WaitTimeSeconds": 2, "MessageAttributeNames": ["All"], "MessageSystemAttributeNames": ["All"]}
    (message,) = pipeline.aws.sqs.receive_message(QueueUrl=pipeline.queue_url, **asked)["Messages"]
    delivery = from_api(message, queue="q")
    consumer = pipeline.consumer()
    change = VisibilityChange(delivery.receipt_handle, 30)
    assert consumer._queue.change_visibility(pipeline.queue_url, [change]) == []


def test_arguments_are_not_mutated(pipeline: Pipeline) -> None:
    """timothymugayi/boto3-sqs-extended-client-lib#8: the second send with the same attributes is refused there."""
    attributes: Any = {"colour": {"DataType": "String", "StringValue": "red"}}
    peer = pipeline.sqs(always=True)
    peer.send_message(QueueUrl=pipeline.queue_url, MessageBody=SMALL, MessageAttributes=attributes)
    assert "ExtendedPayloadSize" in attributes, "theirs writes into the caller's dictionary"
    with pytest.raises(Exception, match="reserved"):
        peer.send_message(QueueUrl=pipeline.queue_url, MessageBody=SMALL, MessageAttributes=attributes)
    ours = {"colour": "red"}
    for number in range(2):
        pipeline.producer().publish(event(LARGE.encode(), attributes=ours, message_id=f"e-{number}"))
    assert ours == {"colour": "red"}


def test_one_missing_payload_fails_one_message_of_the_batch(pipeline: Pipeline) -> None:
    """awslabs/amazon-sqs-java-extended-client-lib#30: there one missing object hides the whole receive."""
    peer = pipeline.sqs(always=True)
    for number in range(3):
        peer.send_message(QueueUrl=pipeline.queue_url, MessageBody=f"order {number}")
    gone = pipeline.keys(pipeline.theirs)[0]
    pipeline.aws.s3.delete_object(Bucket=pipeline.theirs, Key=gone)
    asked: Any = {"MaxNumberOfMessages": 10, "MessageAttributeNames": ["All"], "VisibilityTimeout": 0}
    with pytest.raises(ClientError):
        peer.receive_message(QueueUrl=pipeline.queue_url, **asked)
    assert len(pipeline.deliver()) == 1
    assert len(pipeline.seen) == 2
    assert pipeline.telemetry.counts[ErrorCode.MISSING_PAYLOAD] == 1


def test_foreign_buckets_are_not_followed(pipeline: Pipeline) -> None:
    """amazon-sqs-extended-client 1.0.1: it reads, and can delete, whatever bucket a message names."""
    secret = f"{pipeline.name}-secret"
    pipeline.aws.s3.create_bucket(Bucket=secret)
    pipeline.aws.s3.put_object(Bucket=secret, Key="salaries", Body=b"secret")
    body = json.dumps(
        ["software.amazon.payloadoffloading.PayloadS3Pointer", {"s3BucketName": secret, "s3Key": "salaries"}]
    )
    mark: Any = {"ExtendedPayloadSize": {"DataType": "Number", "StringValue": "6"}}
    pipeline.aws.sqs.send_message(QueueUrl=pipeline.queue_url, MessageBody=body, MessageAttributes=mark)
    asked: Any = {"WaitTimeSeconds": 2, "MessageAttributeNames": ["All"], "VisibilityTimeout": 0}
    (theirs,) = pipeline.sqs().receive_message(QueueUrl=pipeline.queue_url, **asked)["Messages"]
    assert theirs["Body"] == "secret", "theirs follows it"
    pipeline.deliver()
    assert pipeline.seen == []
    assert pipeline.reasons() == [ErrorCode.UNTRUSTED_REFERENCE]


def test_random_pointers_do_not_break_deduplication(fifo: Pipeline) -> None:
    """amazon-sqs-extended-client 1.0.1: the same body twice is two messages and two objects."""
    for _ in range(2):
        fifo.sqs(always=True).send_message(QueueUrl=fifo.queue_url, MessageBody=SMALL, MessageGroupId="theirs")
    assert len(fifo.keys(fifo.theirs)) == 2
    for _ in range(2):
        fifo.producer().publish(event(LARGE.encode(), message_id="e-1", group_id="ours"))
    assert len(fifo.keys(fifo.own)) == 1
    while fifo.deliver() == [] and len(fifo.seen) < 3:
        pass
    assert sorted(one.verified for one in fifo.seen) == [False, False, True]


def test_a_redelivery_of_theirs_is_one_work(pipeline: Pipeline) -> None:
    """The same message again (here: copied by hand) has the same pointer, so it is the same work."""
    pipeline.sqs(always=True).send_message(QueueUrl=pipeline.queue_url, MessageBody=SMALL)
    asked: Any = {"WaitTimeSeconds": 2, "MessageAttributeNames": ["All"], "VisibilityTimeout": 0}
    (message,) = pipeline.aws.sqs.receive_message(QueueUrl=pipeline.queue_url, **asked)["Messages"]
    again: Any = message["MessageAttributes"]
    pipeline.aws.sqs.send_message(QueueUrl=pipeline.queue_url, MessageBody=message["Body"], MessageAttributes=again)
    for _ in range(2):
        pipeline.deliver()
    assert len(pipeline.seen) == 1
    assert pipeline.telemetry.counts[Metric.DUPLICATE] == 1


@pytest.mark.parametrize("raw", [True, False])
def test_sns_attributes_are_not_lost_and_filters_work(raw: bool, pipeline: Pipeline) -> None:  # noqa: FBT001 - a parameter of the test
    """aspecto-io/sns-sqs-big-payload#46: there a filter policy finds no attributes once the payload is large."""
    topic = pipeline.topic(raw=raw, policy={"eventType": ["OrderCancelled"]})
    for kind in ("OrderPlaced", "OrderCancelled"):
        attributes = {"eventType": {"DataType": "String", "StringValue": kind}}
        pipeline.sns().publish(TopicArn=topic, Message=LARGE, MessageAttributes=attributes)
    pipeline.deliver()
    assert [(one.event_type, one.content == LARGE) for one in pipeline.seen] == [("OrderCancelled", True)]


def test_ten_attributes_are_never_exceeded(pipeline: Pipeline) -> None:
    """raol/amazon-sqs-net-extended-client-lib#39: what fits inline is refused there once it is offloaded."""
    full = {f"mine{number}": "x" for number in range(5)}
    pipeline.producer().publish(event(LARGE.encode(), attributes=full))
    (message,) = pipeline.sqs().receive_message(
        QueueUrl=pipeline.queue_url, WaitTimeSeconds=2, MessageAttributeNames=["All"]
    )["Messages"]
    assert len(message["MessageAttributes"]) == 7, "the mark is theirs to remove"


def test_s3s_own_checksum_is_compared(pipeline: Pipeline) -> None:
    """Their payloads have no hash in the message: boto3's CRC-32 beside the object is what there is."""
    peer = pipeline.sqs(always=True)
    peer.send_message(QueueUrl=pipeline.queue_url, MessageBody=SMALL)
    (key,) = pipeline.keys(pipeline.theirs)
    store = S3ObjectStore(pipeline.clients.s3)
    opened = store.open(bucket=pipeline.theirs, key=key, version_id=None, checksum=True)
    opened.body.close()
    assert opened.info.checksum is not None
    assert opened.info.checksum.algorithm == "CRC32"


def test_multipart_checksums_are_compared_with_nothing(pipeline: Pipeline) -> None:
    """floci-io/floci#3083: the SHA-256 of a multipart object is one of parts, not of the content."""
    s3, bucket, key = pipeline.aws.s3, pipeline.theirs, "large"
    parts = [b"x" * 5 * 2**20, b"the rest"]
    upload = s3.create_multipart_upload(Bucket=bucket, Key=key, ChecksumAlgorithm="SHA256")["UploadId"]
    done: Any = []
    for number, part in enumerate(parts, 1):
        answer = s3.upload_part(
            Bucket=bucket, Key=key, UploadId=upload, PartNumber=number, Body=part, ChecksumAlgorithm="SHA256"
        )
        done.append({"PartNumber": number, "ETag": answer["ETag"], "ChecksumSHA256": answer["ChecksumSHA256"]})
    s3.complete_multipart_upload(Bucket=bucket, Key=key, UploadId=upload, MultipartUpload={"Parts": done})
    body = json.dumps(["software.amazon.payloadoffloading.PayloadS3Pointer", {"s3BucketName": bucket, "s3Key": key}])
    mark: Any = {"ExtendedPayloadSize": {"DataType": "Number", "StringValue": str(sum(map(len, parts)))}}
    pipeline.aws.sqs.send_message(QueueUrl=pipeline.queue_url, MessageBody=body, MessageAttributes=mark)
    assert pipeline.deliver() == []
    (seen,) = pipeline.seen
    assert hashlib.sha256(seen.content.encode()).digest() == hashlib.sha256(b"".join(parts)).digest()


def test_nothing_of_them_is_logged(pipeline: Pipeline) -> None:
    """R11.4: neither their payloads nor the keys they chose."""
    pipeline.sqs(always=True).send_message(QueueUrl=pipeline.queue_url, MessageBody=SMALL)
    pipeline.deliver()
    (key,) = pipeline.keys(pipeline.theirs)
    lines = str(pipeline.telemetry.lines)
    assert "processed, unverified" in lines
    assert key not in lines
    assert SMALL not in lines
