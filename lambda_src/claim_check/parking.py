"""Parking: a copy of the message in the DLQ, with its reason (DESIGN section 3)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from claim_check import contract
from claim_check.envelope import format_time
from claim_check.errors import PublishError, Unavailable
from claim_check.ports import MessageAttribute, OutgoingMessage

if TYPE_CHECKING:
    from claim_check.delivery import Delivery
    from claim_check.ports import MessageQueue


NEVER_DROPPED: Final = contract.RESERVED_ATTRIBUTES | contract.FOREIGN_ATTRIBUTES
"""Without these a copy that is sent back could not be read as what it was."""


def parked_copy(delivery: Delivery, *, code: str, attempts: int, now: float, fifo: bool) -> OutgoingMessage:
    """The copy of a message that goes to the DLQ.

    Body, attributes, trace header and group are the original's. On FIFO the deduplication id is the source's SQS
    message id: an id of the event's would be swallowed the second time.

    Args:
        delivery: The message.
        code: Reason.
        attempts: Attempts it had.
        now: Epoch seconds.
        fifo: Whether the DLQ is a FIFO queue.
    """
    reason = {
        "errorCode": code,
        "at": format_time(datetime.fromtimestamp(now, UTC)),
        "sourceQueue": delivery.queue,
        contract.ORIGINAL_MESSAGE_ID: delivery.sqs_message_id,
        "attempts": attempts,
    }
    if delivery.first_message_id != delivery.sqs_message_id:
        reason[contract.FIRST_MESSAGE_ID] = delivery.first_message_id
    kept = {name: value for name, value in delivery.attributes.items() if name != contract.ATTRIBUTE_PARKED}
    excess = max(0, len(kept) - contract.SQS_MAX_ATTRIBUTES + 1)
    dropped = sorted(kept.keys() - NEVER_DROPPED)[::-1][:excess]
    if dropped:  # a foreign message with ten attributes: the reason takes the place of the last by name
        reason["droppedAttributes"] = dropped
    attributes = {name: value for name, value in kept.items() if name not in dropped}
    attributes[contract.ATTRIBUTE_PARKED] = MessageAttribute(
        data_type="String", value=json.dumps(reason, separators=(",", ":"))
    )
    return OutgoingMessage(
        body=delivery.body,
        attributes=attributes,
        group_id=delivery.group_id,
        deduplication_id=delivery.sqs_message_id if fifo else None,
        trace_header=delivery.trace_header,
    )


class ParkingLot:
    """Sends copies to one DLQ."""

    def __init__(self, queue: MessageQueue, dlq_url: str) -> None:
        """Name the DLQ.

        Args:
            queue: Sends.
            dlq_url: URL of the DLQ.
        """
        self._queue = queue
        self._dlq_url = dlq_url

    def send(self, delivery: Delivery, *, code: str, attempts: int, now: float) -> None:
        """Send the copy; when this returns, SQS holds it.

        Raises:
            Unavailable: It is not certain that SQS holds it; the parking is finished on the next delivery.
            PublishError: SQS refuses the copy.
        """
        fifo = self._dlq_url.endswith(".fifo")
        copy = parked_copy(delivery, code=code, attempts=attempts, now=now, fifo=fifo)
        (result,) = self._queue.send_batch(self._dlq_url, [copy])
        if result.sender_fault:
            raise PublishError(f"the DLQ refused the copy: {result.error_code}")
        if result.sqs_message_id is None:
            raise Unavailable(f"the DLQ did not take the copy: {result.error_code}")
