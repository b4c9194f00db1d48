"""The CPU of a verified PUT: one hash pass where the usual way has two."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import boto3

from benchmarks import child
from benchmarks.figure import Figure
from benchmarks.figures.peak_memory import write
from claim_check import payload_source
from claim_check.adapters.clock import SystemClock
from claim_check.adapters.s3 import S3ObjectStore
from claim_check.adapters.session import Clients
from claim_check.contract import MIB
from claim_check.payload_store import PayloadStore

if TYPE_CHECKING:
    from benchmarks.stand import Stand

FILE_BYTES: Final = 16 * MIB
ROUNDS: Final = 15
LIMIT: Final = 0.65

OURS: Final = "ours"
ASKED: Final = "hash, put_object(ChecksumAlgorithm)"
GIVEN: Final = "hash, put_object(ChecksumSHA256)"
UNVERIFIED: Final = "hash, put_object()"
_BUCKET: Final = "bench-put"
_TYPE: Final = "application/octet-stream"


def measure(stand: Stand) -> Iterator[Figure]:
    """Our way against the usual ones, over TLS."""
    file = stand.folder / "put"
    write(file, FILE_BYTES)
    environment = stand.bare_environment() | stand.s3.environment()
    stand.say("putting a file in each way in turn")
    spent: dict[str, float] = child.run(f"{__name__}:ways", environment=environment, file=str(file), rounds=ROUNDS)
    ours, unit = spent[OURS], "x"
    how = (
        f"user and system CPU of the client to hash and put a file of {FILE_BYTES // MIB} MiB over TLS to a real S3 "
        f"server, the least of {ROUNDS} rounds in turn: {ours * 1000:.0f} ms"
    )

    def compared(peer: str) -> tuple[float, str]:
        return round(ours / spent[peer], 2), f"{how} : {spent[peer] * 1000:.0f} ms"

    ratio, text = compared(ASKED)
    yield Figure.at_most(
        f"CPU of a verified PUT : {ASKED}",
        ratio,
        LIMIT,
        unit=unit,
        how=f"{text}; boto3's own way to have S3 verify a SHA-256",
    )
    ratio, text = compared(GIVEN)
    yield Figure.noted(f"CPU of a verified PUT : {GIVEN}", ratio, unit=unit, how=f"{text}; boto3 hashes it once more")
    ratio, text = compared(UNVERIFIED)
    yield Figure.noted(f"CPU of a verified PUT : {UNVERIFIED}", ratio, unit=unit, how=f"{text}; S3 verifies a CRC only")


def ways(file: str, rounds: int) -> dict[str, float]:
    """Put a file in every way in turn, in a process of its own; returns the least CPU seconds of each."""
    path, clients = Path(file), Clients()
    clients.s3.create_bucket(Bucket=_BUCKET)
    store = PayloadStore(
        S3ObjectStore(clients.s3), bucket=_BUCKET, before_send_seconds=86_400, clock=SystemClock(), random=lambda: 0.5
    )
    usual = boto3.Session().client("s3")

    def digest() -> bytes:
        with path.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").digest()

    def ours(key: str) -> None:
        with payload_source.opened(path, max_bytes=FILE_BYTES) as source:
            store.put(
                source,
                tenant_id="bench",
                event_type="Measured",
                idempotency_key=key,
                message_id=key,
                content_type=_TYPE,
            )

    def asked(key: str) -> None:
        metadata = {"sha256": digest().hex()}
        with path.open("rb") as body:
            usual.put_object(Bucket=_BUCKET, Key=key, Body=body, Metadata=metadata, ChecksumAlgorithm="SHA256")

    def given(key: str) -> None:
        checksum = base64.b64encode(digest()).decode()
        with path.open("rb") as body:
            usual.put_object(Bucket=_BUCKET, Key=key, Body=body, ChecksumSHA256=checksum)

    def unverified(key: str) -> None:
        metadata = {"sha256": digest().hex()}
        with path.open("rb") as body:
            usual.put_object(Bucket=_BUCKET, Key=key, Body=body, Metadata=metadata)

    compared: dict[str, Callable[[str], None]] = {
        OURS: ours,
        ASKED: asked,
        GIVEN: given,
        UNVERIFIED: unverified,
    }
    spent = {name: list[float]() for name in compared}
    for number in range(rounds):
        for name, way in compared.items():
            began = time.process_time()
            way(f"{number}")
            spent[name].append(time.process_time() - began)
    return {name: min(seconds) for name, seconds in spent.items()}
