"""The size of a message as SQS counts it (R1.2): the body, and every attribute's name, data type and value.

The AWSTraceHeader system attribute does not count, and neither do group and deduplication ids.
"""

from __future__ import annotations

from collections.abc import Mapping

from claim_check.ports import MessageAttribute, OutgoingMessage


def attribute_bytes(name: str, attribute: MessageAttribute) -> int:
    """Bytes of one attribute: texts in UTF-8, binary values as they are."""
    value = attribute.value if isinstance(attribute.value, bytes) else attribute.value.encode()
    return len(name.encode()) + len(attribute.data_type.encode()) + len(value)


def attributes_bytes(attributes: Mapping[str, MessageAttribute]) -> int:
    """Bytes of all attributes."""
    return sum(attribute_bytes(name, attribute) for name, attribute in attributes.items())


def message_bytes(message: OutgoingMessage) -> int:
    """Bytes of a whole message."""
    return len(message.body.encode()) + attributes_bytes(message.attributes)
