"""What may be logged, how it is named, and how metrics add up: the rules behind the `Telemetry` port (R11.4, R12).

Pure: the adapter `claim_check.adapters.powertools` and the fake of the tests both follow it.
"""

from __future__ import annotations

import hashlib
import json
from typing import Final

from claim_check.contract import Metric
from claim_check.envelope import Envelope, Inline

ALLOWED_FIELDS: Final = frozenset(
    {
        "attempt",
        "attempts",
        "batchSize",
        "bucket",
        "call",
        "consumer",
        "contentLength",
        "contentType",
        "correlationId",
        "delaySeconds",
        "domainRef",
        "errorCode",
        "errorType",
        "eventType",
        "eventVersion",
        "failed",
        "field",
        "messageId",
        "payloadBucket",
        "payloadKeyHash",
        "payloadSizeBytes",
        "queue",
        "reason",
        "receiveCount",
        "remainingSeconds",
        "sqsMessageId",
        "state",
        "tenantId",
        "traceId",
    }
)
"""Fields a log line may have. None can hold a payload, an object key or a URL; anything else is dropped."""

MAX_FIELD_LENGTH: Final = 1024
"""Longer texts are cut."""

LARGEST_OF_BATCH: Final = frozenset(
    {Metric.MESSAGE_AGE, Metric.FETCH_MILLISECONDS, Metric.OLDEST_DEAD_LETTER, Metric.OUTBOX_LAG, Metric.OUTBOX_PARKED}
)
"""Metrics whose value of a batch is its largest."""

SMALLEST_OF_BATCH: Final = frozenset({Metric.PAYLOAD_LIFE_LEFT, Metric.DEAD_LETTER_LIFE_LEFT})
"""Metrics whose value of a batch is its smallest; all others are added up."""


def key_hash(key: str) -> str:
    """What stands in for an object key in logs: the first 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def combine(metric: str, present: float | None, value: float) -> float:
    """The value of a metric after one more observation."""
    if present is None:
        return value
    if metric in SMALLEST_OF_BATCH:
        return min(present, value)
    return max(present, value) if metric in LARGEST_OF_BATCH else present + value


def unit_of(metric: str) -> str:
    """CloudWatch unit of a metric, read off its name."""
    endings = {"Bytes": "Bytes", "Milliseconds": "Milliseconds", "Seconds": "Seconds", "Percent": "Percent"}
    return next((unit for ending, unit in endings.items() if metric.endswith(ending)), "Count")


def allowed(fields: dict[str, str | float | None]) -> dict[str, str | float]:
    """The fields that may be logged, texts cut to `MAX_FIELD_LENGTH`, without the empty ones."""
    return {
        name: value[:MAX_FIELD_LENGTH] if isinstance(value, str) else value
        for name, value in fields.items()
        if name in ALLOWED_FIELDS and value is not None
    }


def message_fields(envelope: Envelope) -> dict[str, str | float | None]:
    """The fields every log line about a message has (R11.4)."""
    payload = envelope.payload
    claim = None if isinstance(payload, Inline) else payload
    return {
        "messageId": envelope.message_id,
        "eventType": envelope.event_type,
        "tenantId": envelope.tenant_id,
        "correlationId": envelope.correlation_id,
        "domainRef": json.dumps(dict(envelope.domain_ref), separators=(",", ":")) if envelope.domain_ref else None,
        "payloadBucket": claim.bucket if claim else None,
        "payloadKeyHash": key_hash(claim.key) if claim else None,
        "payloadSizeBytes": payload.content_length,
    }
