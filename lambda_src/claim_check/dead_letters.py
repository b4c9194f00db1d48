"""What a message in a dead-letter queue says of why it is there (R4.6, R9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from claim_check import contract

if TYPE_CHECKING:
    from claim_check.delivery import Delivery


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
