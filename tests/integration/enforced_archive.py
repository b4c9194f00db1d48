"""The function that looks after a DLQ, where IAM is enforced: what it is for, and what it may not do."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from claim_check.adapters.archive import S3DeadLetterArchive
from claim_check.adapters.sqs import SqsQueue
from claim_check.archive import ArchivedLetter
from claim_check.contract import ARCHIVE_PREFIX, INBOX_OPEN_INDEX, PAYLOAD_PREFIX, Setting
from claim_check.delivery import Delivery
from tests.integration.enforced import CaseFailed, Function, invoke, message_for
from tests.integration.enforced_denials import OUTSIDE, Call, Calls, _every_call_on, key_of

LETTER: Final = f"{ARCHIVE_PREFIX}a-queue/letter.json"
_GRANTED: Final = ("get", "look", "put")


# --- Cases ----------------------------------------------------------------------------------------------------------


def sample(function: Function) -> None:
    """A dead letter that is not due: seen, and receivable again."""
    identity = _bury(function)
    if invoke(function, {})["seen"] < 1:
        raise CaseFailed("nothing was seen")
    if function.aws.hidden_until(function.queue_url).get(identity, 0) > time.time():
        raise CaseFailed("it stays hidden")


def archive(function: Function) -> None:
    """A dead letter that is due: stored, and gone from the DLQ."""
    _archived(function, _bury(function))


def archive_again(function: Function) -> None:
    """A dead letter that is stored already."""
    identity = _bury(function)
    delivery = _received(function, identity)
    _letters(function).put(ArchivedLetter.of(delivery, now=time.time()))
    _archived(function, identity)


def count_stuck_work(function: Function) -> None:
    """The open rows are looked at."""
    if invoke(function, {})["stuck"] is None:
        raise CaseFailed("the inbox was not looked at")


def _bury(function: Function) -> str:
    url = function.queue_url
    sent: str = function.aws.sqs.send_message(QueueUrl=url, **message_for(url, "dead"))["MessageId"]
    return sent


def _received(function: Function, identity: str) -> Delivery:
    """A message as it lies in the DLQ, and can be received by others at once."""
    for _ in range(20):
        found = SqsQueue(function.aws.sqs).receive_batch(
            function.queue_url, count=10, wait_seconds=1, visibility_seconds=0, attempt_id=None
        )
        for one in found:
            if one.sqs_message_id == identity:
                return one
    raise CaseFailed("the message cannot be received")


def _archived(function: Function, identity: str) -> None:
    with _everything_is_due(function):
        report = invoke(function, {})
    if report["failed"] or not report["archived"]:
        raise CaseFailed(str(report))
    if _letters(function).get(function.queue_url.rpartition("/")[2], identity) is None:
        raise CaseFailed("it is not stored")


@contextmanager
def _everything_is_due(function: Function) -> Iterator[None]:
    """Whatever lies in the DLQ is old enough."""
    configure: Any = function.aws.lambda_.update_function_configuration
    due = {**function.variables, Setting.ARCHIVE_AFTER: "0"}
    configure(FunctionName=function.name, Environment={"Variables": due})
    try:
        yield
    finally:
        configure(FunctionName=function.name, Environment={"Variables": dict(function.variables)})


def _letters(function: Function) -> S3DeadLetterArchive:
    return S3DeadLetterArchive(function.aws.s3, function.bucket)


# --- Denials --------------------------------------------------------------------------------------------------------


class ArchiveCalls(Calls):
    """Calls of the function: its queue is the DLQ, its bucket is the archive."""

    def allowed(self) -> dict[str, Call]:
        """What stands beside the denials: the same calls where the function may make them."""
        dlq, table = self.own.queue_url, self.own.variables[Setting.INBOX_TABLE]
        letters = self._objects("its letters", self.own.bucket, LETTER)
        return {
            "receive from its DLQ": lambda it: it.sqs.receive_message(
                QueueUrl=dlq, WaitTimeSeconds=0, VisibilityTimeout=0
            ),
            "delete from its DLQ": lambda it: it.sqs.delete_message(QueueUrl=dlq, ReceiptHandle="none"),
            "query the open rows": lambda it: it.dynamodb.query(
                TableName=table,
                IndexName=INBOX_OPEN_INDEX,
                KeyConditionExpression="openShard = :shard",
                ExpressionAttributeValues={":shard": {"S": "none"}},
            ),
            **{name: call for name, call in letters.items() if name.startswith(_GRANTED)},
        }

    def denied(self) -> dict[str, Call]:
        """Everything that must not be let through."""
        return {
            **self._foreign_queue("its consumer's queue", self.consumer.queue_url),
            **self._foreign_queue("another queue", self.other.queue_url),
            **self._dlq(),
            **self._objects(
                "its consumer's payloads", self.consumer.bucket, key_of(event_type=self.consumer.event_type)
            ),
            **self._objects("another bucket", self.other.bucket, key_of(event_type=self.other.event_type)),
            **self._objects("the archive outside the prefix", self.own.bucket, OUTSIDE),
            **self._own_letters(),
            **self._no_lists(),
            **_every_call_on("the inbox", self.own.variables[Setting.INBOX_TABLE]),
            **self._account(),
        }

    def _dlq(self) -> dict[str, Call]:
        dlq = self.own.queue_url
        calls = self._foreign_queue("its DLQ", dlq)
        return {name: call for name, call in calls.items() if name.startswith(("send", "look"))} | {
            "purge its DLQ": lambda it: it.sqs.purge_queue(QueueUrl=dlq),
            "set attributes of its DLQ": lambda it: it.sqs.set_queue_attributes(QueueUrl=dlq, Attributes={}),
        }

    def _own_letters(self) -> Mapping[str, Call]:
        calls = self._objects("its letters", self.own.bucket, LETTER)
        return {name: call for name, call in calls.items() if not name.startswith(_GRANTED)}

    def _no_lists(self) -> dict[str, Call]:
        own, payloads = self.own.bucket, self.consumer.bucket
        return {
            "list the archive": lambda it: it.s3.list_objects_v2(Bucket=own),
            "list its letters": lambda it: it.s3.list_objects_v2(Bucket=own, Prefix=ARCHIVE_PREFIX),
            "list versions of letters": lambda it: it.s3.list_object_versions(Bucket=own, Prefix=ARCHIVE_PREFIX),
            "list the payloads": lambda it: it.s3.list_objects_v2(Bucket=payloads, Prefix=PAYLOAD_PREFIX),
            "list the buckets": lambda it: it.s3.list_buckets(),
            "read the archive's policy": lambda it: it.s3.get_bucket_policy(Bucket=own),
        }
