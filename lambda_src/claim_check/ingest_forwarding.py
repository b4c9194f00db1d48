"""S3's events on their way from EventBridge into a FIFO queue, each in the message group of its object (R10.4).

S3 cannot notify a FIFO queue, and an EventBridge rule has one fixed message group for all that it sends. So a function
stands between, which derives the group of the object's bucket and key: a hash, since a key may be longer than a group's
name and hold characters that it may not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from claim_check.contract import ingest_group
from claim_check.errors import InvalidNotification, PublishError
from claim_check.ports import OutgoingMessage, SendResult


class EventSink(Protocol):
    """A queue as the forwarder needs it: a part of `claim_check.ports.MessageQueue`."""

    def send_batch(self, queue_url: str, messages: Sequence[OutgoingMessage]) -> list[SendResult]:
        """Send up to ten messages; the answers are in their order."""


class EventForwarder:
    """Sends every event on, unchanged."""

    def __init__(self, queue: EventSink, *, queue_url: str) -> None:
        """Use a queue.

        Args:
            queue: SQS, or a fake of it.
            queue_url: The FIFO queue.
        """
        self._queue = queue
        self._queue_url = queue_url

    def forward(self, event: Mapping[str, Any]) -> str:
        """Send an event; return the id that SQS gave it.

        An event that is delivered again within five minutes is the same message: its own id is the deduplication id.

        Args:
            event: As EventBridge delivers it.

        Raises:
            InvalidNotification: It is no event of an object of S3's.
            PublishError: SQS did not take it; the function's invocation fails and is repeated.
        """
        (result,) = self._queue.send_batch(self._queue_url, [to_message(event)])
        if result.sqs_message_id is None:
            raise PublishError(f"SQS did not take an event of S3's: {result.error_code}")
        return result.sqs_message_id


def to_message(event: Mapping[str, Any]) -> OutgoingMessage:
    """The message that carries an event.

    Args:
        event: As EventBridge delivers it: its key is not URL-encoded.

    Raises:
        InvalidNotification: It is no event of an object of S3's.
    """
    match event:
        case {"id": str(event_id), "detail": {"bucket": {"name": str(bucket)}, "object": {"key": str(key)}}}:
            return OutgoingMessage(
                body=json.dumps(event, ensure_ascii=True, separators=(",", ":")),
                attributes={},
                group_id=ingest_group(bucket=bucket, key=key),
                deduplication_id=event_id,
            )
    raise InvalidNotification(
        "The event has no id, detail.bucket.name or detail.object.key: it is none of S3's objects"
    )
