"""One received SQS message, whatever shape it came in."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from claim_check import contract
from claim_check.ports import MessageAttribute

_TRACE_ROOT: Final = re.compile(r"(?:^|;)Root=(1-[0-9a-f]{8}-[0-9a-f]{24})(?:;|$)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A received message.

    Attributes:
        sqs_message_id: SQS's id of this message; a redriven copy has another.
        receipt_handle: As SQS gave it, never taken apart.
        body: The body.
        attributes: Message attributes.
        queue: Name of the queue it came from.
        sent_at: When SQS took it in, epoch seconds.
        receive_count: How often it was received, this time included.
        group_id: Message group.
        trace_header: AWSTraceHeader.
        dead_letter_source: ARN of the queue that SQS itself moved it from, on messages received from a DLQ.
        sequence_number: FIFO only: SQS's number of the message in its queue, twenty digits, growing within its group.
    """

    sqs_message_id: str
    receipt_handle: str
    body: str
    attributes: Mapping[str, MessageAttribute] = field(default_factory=dict)
    queue: str = ""
    sent_at: float = 0.0
    receive_count: int = 1
    group_id: str | None = None
    trace_header: str | None = None
    dead_letter_source: str | None = None
    sequence_number: str | None = None

    @property
    def trace_id(self) -> str | None:
        """Id of the trace that the message was sent in: its producer's, not that of whoever received it (R12.2)."""
        root = _TRACE_ROOT.search(self.trace_header or "")
        return root[1] if root else None

    @property
    def redriven(self) -> bool:
        """Whether the redrive command sent it."""
        return contract.ATTRIBUTE_REDRIVE in self.attributes

    @property
    def redrive_round(self) -> int:
        """How often the redrive command sent it back; 0 for a message that it never touched."""
        if not self.redriven:
            return 0
        number = self.noted(contract.ATTRIBUTE_REDRIVE).get(contract.REDRIVE_ROUND)
        return number if isinstance(number, int) and not isinstance(number, bool) and 0 < number < 10**6 else 1

    @property
    def sent_back(self) -> bool:
        """Whether it has been in a DLQ: the redrive command sent it, or SQS moved a parked copy as it is."""
        return self.redriven or contract.ATTRIBUTE_PARKED in self.attributes

    @property
    def first_message_id(self) -> str:
        """SQS's id of this message in its first life: what parked it, and what sent it back, wrote that down."""
        for name in (contract.ATTRIBUTE_PARKED, contract.ATTRIBUTE_REDRIVE):
            noted = self.noted(name)
            found = noted.get(contract.FIRST_MESSAGE_ID) or noted.get(contract.ORIGINAL_MESSAGE_ID)
            if isinstance(found, str):
                return found
        return self.sqs_message_id

    def noted(self, name: str) -> Mapping[str, Any]:
        """The JSON object that an attribute of ours holds; empty if it is none."""
        attribute = self.attributes.get(name)
        try:
            noted = json.loads(attribute.value) if attribute is not None else None
        except (ValueError, RecursionError):
            return {}
        return noted if isinstance(noted, dict) else {}


def from_lambda(record: Any) -> Delivery | None:  # noqa: ANN401 - whatever the invocation held
    """Read a record of Lambda's SQS event; None if it is no SQS record.

    Attributes of unknown types are left out; nothing about them is an error.
    """
    if not isinstance(record, Mapping) or record.get("eventSource") != "aws:sqs":
        return None
    identity, handle, body = (record.get(name) for name in ("messageId", "receiptHandle", "body"))
    if not (isinstance(identity, str) and identity and isinstance(handle, str) and handle and isinstance(body, str)):
        return None
    system = record.get("attributes")
    system = system if isinstance(system, Mapping) else {}
    arn = record.get("eventSourceARN")
    return Delivery(
        sqs_message_id=identity,
        receipt_handle=handle,
        body=body,
        attributes=_attributes(record.get("messageAttributes")),
        queue=arn.rpartition(":")[2] if isinstance(arn, str) else "",
        sent_at=_number(system.get("SentTimestamp")) / 1000,
        receive_count=max(1, _number(system.get("ApproximateReceiveCount"))),
        group_id=_text(system.get("MessageGroupId")),
        trace_header=_text(system.get("AWSTraceHeader")),
    )


def from_api(message: Mapping[str, Any], *, queue: str) -> Delivery:
    """Read a message as ReceiveMessage answers it.

    Args:
        message: One of the answer's ``Messages``, received with all of its attributes.
        queue: Name of the queue.
    """
    system = message.get("Attributes", {})
    return Delivery(
        sqs_message_id=message["MessageId"],
        receipt_handle=message["ReceiptHandle"],
        body=message.get("Body", ""),
        attributes={name: _api_attribute(value) for name, value in message.get("MessageAttributes", {}).items()},
        queue=queue,
        sent_at=_number(system.get("SentTimestamp")) / 1000,
        receive_count=max(1, _number(system.get("ApproximateReceiveCount"))),
        group_id=_text(system.get("MessageGroupId")),
        trace_header=_text(system.get("AWSTraceHeader")),
        dead_letter_source=_text(system.get("DeadLetterQueueSourceArn")),
        sequence_number=_text(system.get("SequenceNumber")),
    )


def _api_attribute(raw: Mapping[str, Any]) -> MessageAttribute:
    binary = raw["DataType"].startswith("Binary")
    return MessageAttribute(data_type=raw["DataType"], value=raw["BinaryValue" if binary else "StringValue"])


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _number(value: object) -> int:
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20 else 0  # noqa: PLR2004 - fits 64 bits


def _attributes(raw: object) -> dict[str, MessageAttribute]:
    if not isinstance(raw, Mapping):
        return {}
    pairs = ((name, _attribute(value)) for name, value in raw.items() if isinstance(name, str))
    return {name: attribute for name, attribute in pairs if attribute is not None}


def _attribute(raw: object) -> MessageAttribute | None:
    if not isinstance(raw, Mapping) or not isinstance(data_type := raw.get("dataType"), str):
        return None
    value = _binary(raw.get("binaryValue")) if data_type.startswith("Binary") else _text(raw.get("stringValue"))
    return None if value is None else MessageAttribute(data_type=data_type, value=value)


def _binary(encoded: object) -> bytes | None:
    if not isinstance(encoded, str):
        return None
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None
