"""Queues on SQS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from claim_check.adapters.failures import code_of, kind_of
from claim_check.contract import SQS_MAX_BATCH_ENTRIES
from claim_check.errors import PublishError, Unavailable
from claim_check.ports import MessageAttribute, OutgoingMessage, SendResult, VisibilityChange

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

NO_ANSWER: Final = "NoAnswer"
"""Code of an entry that the answer does not mention."""


class SqsQueue:
    """`claim_check.ports.MessageQueue` on SQS."""

    def __init__(self, client: SQSClient) -> None:
        """Use a client (`claim_check.adapters.session`)."""
        self._client = client

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
        refused = self._change(queue_url, changes)
        return self._change(queue_url, refused) if refused else []

    def _change(self, queue_url: str, changes: Sequence[VisibilityChange]) -> list[VisibilityChange]:
        return [change for ten in _tens(changes) for change in self._change_ten(queue_url, ten)]

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


def _tens(items: Sequence[VisibilityChange]) -> Iterator[Sequence[VisibilityChange]]:
    for start in range(0, len(items), SQS_MAX_BATCH_ENTRIES):
        yield items[start : start + SQS_MAX_BATCH_ENTRIES]


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
