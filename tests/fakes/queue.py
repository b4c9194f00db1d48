"""An SQS in memory: the `MessageQueue` port, and the receiving side that tests play.

It refuses what SQS refuses (sizes, characters, ids), counted here anew rather than with the library's own code.
"""

from __future__ import annotations

import base64
import re
import threading
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from claim_check.contract import SQS_MAX_VISIBILITY_SECONDS
from claim_check.delivery import Delivery, from_api
from claim_check.errors import PublishError, ReceiveRefused
from claim_check.ports import Clock, MessageAttribute, OutgoingMessage, SendResult, VisibilityChange
from tests.fakes.faults import Faults

DEDUPLICATION_SECONDS = 300
ATTEMPT_SECONDS = 300
_BODY = re.compile("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+")
_ID = re.compile("[!-~]{1,128}")
_ATTRIBUTE_NAME = re.compile("[A-Za-z0-9_.-]{1,256}")


@dataclass
class StoredMessage:
    """A message in a queue.

    Attributes:
        sqs_message_id: SQS's id.
        message: What was sent.
        sent_at: When it was enqueued, epoch seconds.
        receive_count: Times it was received.
        received_at: When it was received last.
        visible_at: Hidden until then.
        receipt_handle: Of the last receive.
        sequence_number: On FIFO, its place among all messages of the queue.
        dead_letter_source: ARN of the queue that SQS itself moved it from.
    """

    sqs_message_id: str
    message: OutgoingMessage
    sent_at: float
    receive_count: int = 0
    received_at: float = 0.0
    visible_at: float = 0.0
    receipt_handle: str = ""
    sequence_number: str | None = None
    dead_letter_source: str | None = None


@dataclass
class _Queue:
    fifo: bool
    visibility_timeout: float
    max_message_bytes: int
    dlq: str | None
    max_receive_count: int
    messages: list[StoredMessage] = field(default_factory=list)
    seen: dict[str, tuple[float, str]] = field(default_factory=dict)
    attempts: dict[str, tuple[float, list[tuple[StoredMessage, str, float]]]] = field(default_factory=dict)
    numbered: int = 0

    def next_number(self) -> str | None:
        """The sequence number of the next message; None on a standard queue."""
        if not self.fifo:
            return None
        self.numbered += 1
        return f"{self.numbered:020d}"


@dataclass
class FakeQueue:
    """All queues there are; a queue exists once it is used.

    Calls: ``send_batch``, ``change_visibility``, ``receive_batch``, ``delete_batch``.

    Attributes:
        clock: Time.
        faults: Failures to come.
        batches: Every batch that arrived, refused ones too.
        visibility_changes: Every change that was asked for.
        refuse_entries: How often the entry with this body is yet refused, and whether the sender is at fault.
        refuse_handles: How often a visibility change of this handle is yet refused.
        refuse_deletes: How often the delete of a message with this body is yet refused.
        receives: Every receive that was asked for: count, wait, visibility, attempt id.
        deletes: Sizes of the calls that deleted.
    """

    clock: Clock
    faults: Faults = field(default_factory=Faults)
    batches: list[tuple[OutgoingMessage, ...]] = field(default_factory=list)
    visibility_changes: list[VisibilityChange] = field(default_factory=list)
    refuse_entries: dict[str, tuple[int, bool]] = field(default_factory=dict)
    refuse_handles: dict[str, int] = field(default_factory=dict)
    refuse_deletes: dict[str, int] = field(default_factory=dict)
    receives: list[tuple[int, int, int, str | None]] = field(default_factory=list)
    deletes: list[int] = field(default_factory=list)
    _queues: dict[str, _Queue] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    # --- The port ---------------------------------------------------------------------------------------------------

    def send_batch(self, queue_url: str, messages: Sequence[OutgoingMessage]) -> list[SendResult]:
        """Send up to ten messages."""
        with self.faults.around("send_batch"), self._lock:
            self.batches.append(tuple(messages))
            queue = self._queue(queue_url)
            if not 1 <= len(messages) <= 10:
                raise PublishError("the queue refused the call: TooManyEntriesInBatchRequest")
            if sum(size_of(message) for message in messages) > 1_048_576:
                raise PublishError("the queue refused the call: BatchRequestTooLong")
            return [self._send(queue, message) for message in messages]

    def change_visibility(self, queue_url: str, changes: Sequence[VisibilityChange]) -> list[VisibilityChange]:
        """Hide messages; a handle that was refused once is tried once more."""
        with self.faults.around("change_visibility"), self._lock:
            self.visibility_changes.extend(changes)
            refused = [change for change in changes if not self._hide(queue_url, change)]
            return [change for change in refused if not self._hide(queue_url, change)]

    def receive_batch(
        self, queue_url: str, *, count: int, wait_seconds: int, visibility_seconds: int, attempt_id: str | None
    ) -> list[Delivery]:
        """Receive visible messages; it never waits. An attempt id that is known brings the same messages again."""
        with self.faults.around("receive_batch"), self._lock:
            self.receives.append((count, wait_seconds, visibility_seconds, attempt_id))
            queue = self._queue(queue_url)
            if not 1 <= count <= 10 or not 0 <= wait_seconds <= 20 or (attempt_id is not None and not queue.fifo):
                raise ReceiveRefused("the queue refused the call: InvalidParameterValue")
            taken = self._again(queue, attempt_id) or self.receive(queue_url, count)
            for one in taken:
                one.visible_at = self.clock.now() + visibility_seconds
            if attempt_id is not None:
                handles = [(one, one.receipt_handle, one.visible_at) for one in taken]
                queue.attempts[attempt_id] = (self.clock.now(), handles)
            return [from_api(_api_message(one), queue=queue_url.rpartition("/")[2]) for one in taken]

    def delete_batch(self, queue_url: str, receipt_handles: Sequence[str]) -> list[str]:
        """Delete messages; what was refused once is tried once more."""
        with self.faults.around("delete_batch"), self._lock:
            self.deletes.extend(
                len(receipt_handles[start : start + 10]) for start in range(0, len(receipt_handles), 10)
            )
            refused = [handle for handle in receipt_handles if not self._delete(queue_url, handle)]
            return [handle for handle in refused if not self._delete(queue_url, handle)]

    # --- What tests do ----------------------------------------------------------------------------------------------

    def create(
        self,
        queue_url: str,
        *,
        visibility_timeout: float = 30,
        max_message_bytes: int = 1_048_576,
        dlq: str | None = None,
        max_receive_count: int = 50,
    ) -> None:
        """Make a queue with other than the default attributes; FIFO if its URL says so."""
        fifo = queue_url.endswith(".fifo")
        self._queues[queue_url] = _Queue(fifo, visibility_timeout, max_message_bytes, dlq, max_receive_count)

    def messages(self, queue_url: str) -> list[StoredMessage]:
        """What is in a queue, hidden messages too."""
        with self._lock:
            return list(self._queue(queue_url).messages)

    def receive(self, queue_url: str, count: int = 10) -> list[StoredMessage]:
        """Receive visible messages: in order per group on FIFO, a group with hidden messages waits."""
        with self._lock:
            queue, taken, now = self._queue(queue_url), list[StoredMessage](), self.clock.now()
            blocked = {one.message.group_id for one in queue.messages if one.visible_at > now} if queue.fifo else set()
            for one in list(queue.messages):
                if len(taken) == count:
                    break
                if one.visible_at > now or one.message.group_id in blocked:
                    continue
                if queue.dlq is not None and one.receive_count >= queue.max_receive_count:
                    self._move(queue, one, queue.dlq)
                    continue
                one.receive_count += 1
                one.received_at = now
                one.visible_at = now + queue.visibility_timeout
                one.receipt_handle = f"handle-{uuid.uuid4()}"
                taken.append(one)
            return taken

    def delete(self, queue_url: str, receipt_handle: str) -> None:
        """Delete a message; an old receipt handle deletes nothing."""
        with self._lock:
            queue = self._queue(queue_url)
            queue.messages = [one for one in queue.messages if one.receipt_handle != receipt_handle]

    def lambda_event(self, queue_url: str, count: int = 10) -> dict[str, Any]:
        """Receive messages in the shape Lambda hands over."""
        return {"Records": [_record(queue_url, one) for one in self.receive(queue_url, count)]}

    def apply(self, queue_url: str, event: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Do what Lambda's poller does with a partial batch response: delete what is not in it."""
        failed = {item["itemIdentifier"] for item in answer["batchItemFailures"]}
        for record in event["Records"]:
            if record["messageId"] not in failed:
                self.delete(queue_url, record["receiptHandle"])

    # --- Inside -----------------------------------------------------------------------------------------------------

    def _queue(self, queue_url: str) -> _Queue:
        if queue_url not in self._queues:
            self.create(queue_url)
        return self._queues[queue_url]

    def _send(self, queue: _Queue, message: OutgoingMessage) -> SendResult:
        left, at_fault = self.refuse_entries.get(message.body, (0, False))
        if left > 0:
            self.refuse_entries[message.body] = (left - 1, at_fault)
            return SendResult(error_code="InvalidMessage" if at_fault else "InternalError", sender_fault=at_fault)
        if problem := _problem(queue, message):
            return SendResult(error_code=problem, sender_fault=True)
        now = self.clock.now()
        if queue.fifo:
            at, sqs_message_id = queue.seen.get(message.deduplication_id or "", (-1e18, ""))
            if now - at < DEDUPLICATION_SECONDS:
                return SendResult(sqs_message_id=sqs_message_id)
        stored = StoredMessage(str(uuid.uuid4()), message, now, sequence_number=queue.next_number())
        queue.messages.append(stored)
        if message.deduplication_id is not None:
            queue.seen[message.deduplication_id] = (now, stored.sqs_message_id)
        return SendResult(sqs_message_id=stored.sqs_message_id)

    def _hide(self, queue_url: str, change: VisibilityChange) -> bool:
        left = self.refuse_handles.get(change.receipt_handle, 0)
        if left > 0:
            self.refuse_handles[change.receipt_handle] = left - 1
            return False
        now = self.clock.now()
        for one in self._queue(queue_url).messages:
            if one.receipt_handle != change.receipt_handle or one.visible_at <= now:
                continue
            if now + change.seconds <= one.received_at + SQS_MAX_VISIBILITY_SECONDS:
                one.visible_at = now + change.seconds
                return True
        return False

    def _delete(self, queue_url: str, receipt_handle: str) -> bool:
        queue = self._queue(queue_url)
        found = [one for one in queue.messages if one.receipt_handle == receipt_handle]
        for one in found:
            left = self.refuse_deletes.get(one.message.body, 0)
            if left > 0:
                self.refuse_deletes[one.message.body] = left - 1
                return False
            queue.messages.remove(one)
        return bool(found)

    def _again(self, queue: _Queue, attempt_id: str | None) -> list[StoredMessage]:
        """What an earlier receive of this attempt brought, if none of it was touched since."""
        at, handles = queue.attempts.get(attempt_id or "", (-1e18, []))
        if self.clock.now() - at > ATTEMPT_SECONDS:
            return []
        untouched = all(
            one in queue.messages and one.receipt_handle == handle and one.visible_at == visible_at
            for one, handle, visible_at in handles
        )
        return [one for one, _, _ in handles] if untouched else []

    def _move(self, queue: _Queue, one: StoredMessage, dlq: str) -> None:
        queue.messages.remove(one)
        sent_at = self.clock.now() if queue.fifo else one.sent_at
        target = self._queue(dlq)
        number = target.next_number()
        moved = StoredMessage(one.sqs_message_id, one.message, sent_at, sequence_number=number)
        moved.dead_letter_source = _arn(next(url for url, known in self._queues.items() if known is queue))
        target.messages.append(moved)


def size_of(message: OutgoingMessage) -> int:
    """Bytes of a message as SQS counts them."""
    size = _bytes(message.body)
    for name, attribute in message.attributes.items():
        value = attribute.value
        size += _bytes(name) + _bytes(attribute.data_type)
        size += len(value) if isinstance(value, bytes) else _bytes(value)
    return size


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))  # what is no Unicode is refused for that, not for its size


def _problem(queue: _Queue, message: OutgoingMessage) -> str | None:
    texts = [message.body, *(one.value for one in message.attributes.values() if isinstance(one.value, str))]
    checks = {
        "InvalidMessageContents": all(_BODY.fullmatch(text) for text in texts),
        "InvalidParameterValue: size": size_of(message) <= queue.max_message_bytes,
        "InvalidParameterValue: attributes": len(message.attributes) <= 10,
        "InvalidParameterValue: attribute": all(_attribute_is_good(*item) for item in message.attributes.items()),
        "InvalidParameterValue: group": message.group_id is None or _ID.fullmatch(message.group_id) is not None,
        "MissingParameter": not queue.fifo or bool(message.group_id and message.deduplication_id),
        "InvalidParameterValue: deduplication": (
            _ID.fullmatch(message.deduplication_id or "") is not None
            if queue.fifo
            else message.deduplication_id is None
        ),
    }
    return next((problem for problem, good in checks.items() if not good), None)


def _attribute_is_good(name: str, attribute: MessageAttribute) -> bool:
    return (
        _ATTRIBUTE_NAME.fullmatch(name) is not None
        and not name.lower().startswith(("aws.", "amazon."))
        and not name.startswith(".")
        and not name.endswith(".")
        and ".." not in name
        and attribute.data_type.partition(".")[0] in {"String", "Number", "Binary"}
        and len(attribute.value) > 0
    )


def _record(queue_url: str, one: StoredMessage) -> dict[str, Any]:
    system = {
        "ApproximateReceiveCount": str(one.receive_count),
        "SentTimestamp": str(int(one.sent_at * 1000)),
        "SenderId": "AIDAEXAMPLE",
        "ApproximateFirstReceiveTimestamp": str(int(one.sent_at * 1000)),
    }
    optional = {
        "MessageGroupId": one.message.group_id,
        "MessageDeduplicationId": one.message.deduplication_id,
        "AWSTraceHeader": one.message.trace_header,
        "DeadLetterQueueSourceArn": one.dead_letter_source,
        "SequenceNumber": one.sequence_number,
    }
    system |= {name: value for name, value in optional.items() if value is not None}
    return {
        "messageId": one.sqs_message_id,
        "receiptHandle": one.receipt_handle,
        "body": one.message.body,
        "attributes": system,
        "messageAttributes": {name: _lambda_attribute(value) for name, value in one.message.attributes.items()},
        "md5OfBody": "0" * 32,
        "eventSource": "aws:sqs",
        "eventSourceARN": _arn(queue_url),
        "awsRegion": "us-east-1",
    }


def _arn(queue_url: str) -> str:
    return f"arn:aws:sqs:us-east-1:000000000000:{queue_url.rpartition('/')[2]}"


def _api_message(one: StoredMessage) -> dict[str, Any]:
    """A message in the shape of ReceiveMessage's answer."""
    record = _record("", one)
    attributes = {
        name: {
            "DataType": value.data_type,
            "BinaryValue" if isinstance(value.value, bytes) else "StringValue": value.value,
        }
        for name, value in one.message.attributes.items()
    }
    return {
        "MessageId": one.sqs_message_id,
        "ReceiptHandle": one.receipt_handle,
        "Body": one.message.body,
        "Attributes": record["attributes"],
        "MessageAttributes": attributes,
    }


def _lambda_attribute(attribute: MessageAttribute) -> dict[str, Any]:
    lists = {"stringListValues": [], "binaryListValues": [], "dataType": attribute.data_type}
    if isinstance(attribute.value, bytes):
        return lists | {"binaryValue": base64.b64encode(attribute.value).decode()}
    return lists | {"stringValue": attribute.value}
