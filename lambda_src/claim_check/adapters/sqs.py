"""Queues on SQS."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from claim_check.adapters.failures import code_of, kind_of
from claim_check.contract import SQS_MAX_BATCH_ENTRIES
from claim_check.delivery import Delivery, from_api
from claim_check.errors import PublishError, ReceiveRefused, Unavailable
from claim_check.ports import MessageAttribute, OutgoingMessage, SendResult, VisibilityChange

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

NO_ANSWER: Final = "NoAnswer"
"""Code of an entry that the answer does not mention."""


_Entry = TypeVar("_Entry")


class SqsQueue:
    """`claim_check.ports.MessageQueue` and `claim_check.ports.ReceivingQueue` on SQS."""

    def __init__(self, client: SQSClient, *, polling: SQSClient | None = None) -> None:
        """Use a client (`claim_check.adapters.session`).

        Args:
            client: SQS client.
            polling: Client for long polls, whose answers take longer than the other calls' may; ``client`` by default.
        """
        self._client = client
        self._polling = polling or client

    def send_batch(self, queue_url: str, messages: Sequence[OutgoingMessage]) -> list[SendResult]:
        """See `claim_check.ports.MessageQueue.send_batch`: one SendMessageBatch."""
        entries: list[Any] = [{"Id": str(index), **_entry(message)} for index, message in enumerate(messages)]
        try:
            answer = self._client.send_message_batch(QueueUrl=queue_url, Entries=entries)
        except (ClientError, BotoCoreError) as error:
            if kind_of(error) in {"transient", "conflict"}:
                raise Unavailable(f"SQS did not take the messages ({code_of(error)})") from error
            raise PublishError(
                f"SQS refused the messages: {code_of(error)}; check the queue's URL, sqs:SendMessage and the KMS key"
            ) from error
        sent = {entry["Id"]: SendResult(sqs_message_id=entry["MessageId"]) for entry in answer.get("Successful", [])}
        failed = {
            entry["Id"]: SendResult(error_code=entry["Code"], sender_fault=entry["SenderFault"])
            for entry in answer.get("Failed", [])
        }
        answers = failed | sent
        return [answers.get(str(index), SendResult(error_code=NO_ANSWER)) for index in range(len(messages))]

    def change_visibility(self, queue_url: str, changes: Sequence[VisibilityChange]) -> list[VisibilityChange]:
        """See `claim_check.ports.MessageQueue.change_visibility`: calls of ten, what fails is tried once more."""
        return _twice(lambda ten: self._change_ten(queue_url, ten), changes)

    def _change_ten(self, queue_url: str, changes: Sequence[VisibilityChange]) -> list[VisibilityChange]:
        entries: list[Any] = [
            {"Id": str(index), "ReceiptHandle": change.receipt_handle, "VisibilityTimeout": change.seconds}
            for index, change in enumerate(changes)
        ]
        try:
            answer = self._client.change_message_visibility_batch(QueueUrl=queue_url, Entries=entries)
        except (ClientError, BotoCoreError):
            return list(changes)
        done = {entry["Id"] for entry in answer.get("Successful", [])}
        return [change for index, change in enumerate(changes) if str(index) not in done]

    def receive_batch(
        self, queue_url: str, *, count: int, wait_seconds: int, visibility_seconds: int, attempt_id: str | None
    ) -> list[Delivery]:
        """See `claim_check.ports.ReceivingQueue.receive_batch`: one ReceiveMessage."""
        attempt: dict[str, Any] = {} if attempt_id is None else {"ReceiveRequestAttemptId": attempt_id}
        try:
            answer = self._polling.receive_message(
                QueueUrl=queue_url,
                MaxNumberOfMessages=count,
                WaitTimeSeconds=wait_seconds,
                VisibilityTimeout=visibility_seconds,
                MessageAttributeNames=["All"],
                MessageSystemAttributeNames=["All"],
                **attempt,
            )
        except (ClientError, BotoCoreError) as error:
            if kind_of(error) in {"transient", "conflict"}:
                raise Unavailable(f"SQS did not answer the receive ({code_of(error)})") from error
            raise ReceiveRefused(
                f"SQS refused the receive: {code_of(error)}; check the queue's URL, sqs:ReceiveMessage and the KMS key"
            ) from error
        name = queue_url.rpartition("/")[2]
        return [from_api(message, queue=name) for message in answer.get("Messages", [])]

    def delete_batch(self, queue_url: str, receipt_handles: Sequence[str]) -> list[str]:
        """See `claim_check.ports.ReceivingQueue.delete_batch`: calls of ten, what fails is tried once more."""
        return _twice(lambda ten: self._delete_ten(queue_url, ten), receipt_handles)

    def _delete_ten(self, queue_url: str, receipt_handles: Sequence[str]) -> list[str]:
        entries: list[Any] = [
            {"Id": str(index), "ReceiptHandle": handle} for index, handle in enumerate(receipt_handles)
        ]
        try:
            answer = self._client.delete_message_batch(QueueUrl=queue_url, Entries=entries)
        except (ClientError, BotoCoreError):
            return list(receipt_handles)
        done = {entry["Id"] for entry in answer.get("Successful", [])}
        return [handle for index, handle in enumerate(receipt_handles) if str(index) not in done]


def _twice(call: Callable[[Sequence[_Entry]], list[_Entry]], entries: Sequence[_Entry]) -> list[_Entry]:
    """Hand entries to a call that returns the refused ones, ten at a time; the refused ones once more."""
    refused = [entry for ten in _tens(entries) for entry in call(ten)]
    return [entry for ten in _tens(refused) for entry in call(ten)]


def _tens(entries: Sequence[_Entry]) -> Iterator[Sequence[_Entry]]:
    for start in range(0, len(entries), SQS_MAX_BATCH_ENTRIES):
        yield entries[start : start + SQS_MAX_BATCH_ENTRIES]


def _entry(message: OutgoingMessage) -> dict[str, Any]:
    entry: dict[str, Any] = {"MessageBody": message.body}
    if message.attributes:
        entry["MessageAttributes"] = {name: _attribute(value) for name, value in message.attributes.items()}
    if message.group_id is not None:
        entry["MessageGroupId"] = message.group_id
    if message.deduplication_id is not None:
        entry["MessageDeduplicationId"] = message.deduplication_id
    if message.trace_header is not None:
        entry["MessageSystemAttributes"] = {
            "AWSTraceHeader": {"DataType": "String", "StringValue": message.trace_header}
        }
    return entry


def _attribute(attribute: MessageAttribute) -> dict[str, Any]:
    kind = "BinaryValue" if isinstance(attribute.value, bytes) else "StringValue"
    return {"DataType": attribute.data_type, kind: attribute.value}
