"""A batch of claims takes hardly longer than one of them: payloads are fetched side by side."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from benchmarks import child
from benchmarks.far_services import DYNAMODB_SECONDS, S3_SECONDS, far_services
from benchmarks.figure import Figure
from benchmarks.pipeline import Pipeline, handle, record
from claim_check import Claim, Envelope
from claim_check.adapters.session import Clients
from claim_check.contract import MIB, SQS_MAX_BATCH_ENTRIES, object_key
from claim_check.envelope import encode

if TYPE_CHECKING:
    from benchmarks.stand import Stand

LIMIT: Final = 2.0
ROUNDS: Final = 30
WARM_UP: Final = 3
_QUEUE: Final = "https://sqs.us-east-1.amazonaws.com/000000000000/bench"


def measure(stand: Stand) -> Iterator[Figure]:
    """Ten claims in one batch against one claim, with services that are far away."""
    stand.say("batches of one and of ten claims in turn")
    with far_services(MIB) as endpoint:
        environment = stand.bare_environment() | {"AWS_ENDPOINT_URL": endpoint}
        one, ten = child.run(f"{__name__}:batches", environment=environment, rounds=ROUNDS + WARM_UP)
    best_one, best_ten = min(one[WARM_UP:]), min(ten[WARM_UP:])
    yield Figure.at_most(
        "ten claims of 1 MiB in a batch : one",
        round(best_ten / best_one, 2),
        LIMIT,
        unit="x",
        how=f"wall time of the consumer with a stand-in that answers in {S3_SECONDS * 1000:.0f} ms for S3 and "
        f"{DYNAMODB_SECONDS * 1000:.0f} ms for DynamoDB, any number side by side; the least disturbed of {ROUNDS} "
        f"rounds in turn: {best_ten * 1000:.0f} ms : {best_one * 1000:.0f} ms",
    )


def batches(rounds: int) -> list[list[float]]:
    """Handle a batch of one and a batch of ten in turn, in a process of its own; returns the seconds of each."""
    pipeline = Pipeline(Clients(), "latency", _QUEUE, f"{_QUEUE}-dlq")
    consumer, sha256 = pipeline.consumer(), hashlib.sha256(bytes(MIB)).hexdigest()

    def timed(size: int, number: int) -> float:
        names = [f"{number}-{size}-{place}" for place in range(size)]
        records = [claim_record(pipeline.bucket, name, sha256) for name in names]
        began = time.perf_counter()
        handle(consumer, records)
        return time.perf_counter() - began

    pairs = [(timed(1, number), timed(SQS_MAX_BATCH_ENTRIES, number)) for number in range(rounds)]
    return [[one for one, _ in pairs], [ten for _, ten in pairs]]


def claim_record(bucket: str, name: str, sha256: str) -> dict[str, Any]:
    """A message with a claim, as Lambda hands it over."""
    key = object_key(tenant_id="bench", event_type="Measured", idempotency_key=name, sha256=sha256)
    claim = Claim(bucket=bucket, key=key, content_type="binary/octet-stream", content_length=MIB, sha256=sha256)
    now = datetime.now(UTC)
    envelope = Envelope(
        message_id=name,
        event_type="Measured",
        event_version=1,
        occurred_at=now,
        published_at=now,
        tenant_id="bench",
        correlation_id=None,
        idempotency_key=name,
        domain_ref={},
        payload=claim,
    )
    return record(encode(envelope), name)
