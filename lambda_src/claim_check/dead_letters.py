"""What a message in a dead-letter queue says of why it is there, and the copy that goes back to work (R4.6, R9)."""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from claim_check import contract
from claim_check.envelope import format_time
from claim_check.parking import NEVER_DROPPED
from claim_check.ports import MessageAttribute, OutgoingMessage

if TYPE_CHECKING:
    from claim_check.delivery import Delivery

_DEDUPLICATION_ID: Final = re.compile("[!-~]{1,128}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParkedReason:
    """The attribute `parked`, as the consumer wrote it.

    Attributes:
        error_code: Code of R4.5.
        at: When it was parked, ISO 8601.
        source_queue: Name of the queue that it came from.
        original_message_id: SQS's id of the message that was parked.
        attempts: Attempts it had.
    """

    error_code: str
    at: str
    source_queue: str
    original_message_id: str
    attempts: int


def parked_reason(delivery: Delivery) -> ParkedReason | None:
    """Why a message was parked; None for one that SQS itself moved, or whose attribute is not ours."""
    noted = delivery.noted(contract.ATTRIBUTE_PARKED)
    code, queue, identity = (noted.get(name) for name in ("errorCode", "sourceQueue", contract.ORIGINAL_MESSAGE_ID))
    if not (isinstance(code, str) and isinstance(queue, str) and isinstance(identity, str)):
        return None
    attempts = noted.get("attempts")
    return ParkedReason(
        error_code=code,
        at=str(noted.get("at", "")),
        source_queue=queue,
        original_message_id=identity,
        attempts=attempts if isinstance(attempts, int) else 0,
    )


def died_at(delivery: Delivery) -> float:
    """When a message came into the DLQ, epoch seconds: as its reason says, else when SQS took it in.

    A standard queue's DLQ keeps the time at which SQS first took the message in.
    """
    reason = parked_reason(delivery)
    if reason is not None:
        with suppress(ValueError):
            moment = datetime.fromisoformat(reason.at)
            return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
    return delivery.sent_at


def copy_behind(delivery: Delivery) -> str | None:
    """SQS's id of the copy of a redrive that a dead message was; None if no redrive sent it."""
    if not delivery.redriven:
        return None
    parked = parked_reason(delivery)
    return delivery.sqs_message_id if parked is None else parked.original_message_id


def redriven_copy(delivery: Delivery, *, reason: str, run: str, now: float, fifo: bool) -> OutgoingMessage:
    """The copy of a dead message that goes back to work.

    Body, attributes, trace header and group are the original's; the attribute `redrive` takes the place of `parked`, so
    that there are never more attributes than before.

    Args:
        delivery: The message in the DLQ.
        reason: Why it was there.
        run: Name of this redrive.
        now: Epoch seconds.
        fifo: Whether it goes to a FIFO queue.
    """
    number = delivery.redrive_round + 1
    parked = parked_reason(delivery)
    noted: dict[str, str | int | list[str]] = {
        contract.REDRIVE_ROUND: number,
        contract.REDRIVE_RUN: run,
        "at": format_time(datetime.fromtimestamp(now, UTC)),
        "reason": reason,
        contract.ORIGINAL_MESSAGE_ID: delivery.sqs_message_id if parked is None else parked.original_message_id,
        contract.FIRST_MESSAGE_ID: delivery.first_message_id,
    }
    ours = {contract.ATTRIBUTE_PARKED, contract.ATTRIBUTE_REDRIVE}
    kept = {name: value for name, value in delivery.attributes.items() if name not in ours}
    excess = max(0, len(kept) - contract.SQS_MAX_ATTRIBUTES + 1)
    dropped = sorted(kept.keys() - NEVER_DROPPED)[::-1][:excess]
    if dropped:  # a foreign message with ten attributes, which SQS itself moved
        noted["droppedAttributes"] = dropped
    attributes = {name: value for name, value in kept.items() if name not in dropped}
    attributes[contract.ATTRIBUTE_REDRIVE] = MessageAttribute(
        data_type="String", value=json.dumps(noted, separators=(",", ":"))
    )
    return OutgoingMessage(
        body=delivery.body,
        attributes=attributes,
        group_id=delivery.group_id,
        deduplication_id=redrive_deduplication_id(delivery.sqs_message_id, number) if fifo else None,
        trace_header=delivery.trace_header,
    )


def redrive_deduplication_id(sqs_message_id: str, number: int) -> str:
    """The id by which a FIFO queue tells a copy from the original and from earlier copies, but not from itself.

    It is made of the dead message's own SQS id: nobody can forge it, so no other message is ever swallowed by it.

    Args:
        sqs_message_id: SQS's id of the message in the DLQ.
        number: Which redrive of the message this is, from 1.
    """
    wanted = f"{sqs_message_id}#{number}"
    if _DEDUPLICATION_ID.fullmatch(wanted):
        return wanted
    return hashlib.sha256(wanted.encode()).hexdigest()
