"""The CPU of a verified PUT: one hash pass where the usual way has two."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

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

LIMIT: Final = 0.65

MEMORY_BYTES: Final = 2 * MIB
MEMORY_ROUNDS: Final = 40
FILE_BYTES: Final = 16 * MIB
FILE_ROUNDS: Final = 15

OURS: Final = "ours"
ASKED: Final = "hash, put_object(ChecksumAlgorithm)"
GIVEN: Final = "hash, put_object(ChecksumSHA256)"
UNVERIFIED: Final = "hash, put_object()"
_SAID: Final = {
    ASKED: "boto3 hashes it once more for S3 to verify",
    GIVEN: "boto3 hashes it once more for the signature",
    UNVERIFIED: "S3 verifies a CRC only",
}
_LIMITED: Final = {(MEMORY_BYTES, GIVEN), (MEMORY_BYTES, ASKED), (FILE_BYTES, ASKED)}
"""Like with like: S3 verifies the SHA-256. A plain PUT verifies less, and hash and TLS alone are two thirds of its CPU;
of a large file the second hash weighs less, so that the ratio lies at the limit. Both are noted."""

_TYPE: Final = "application/octet-stream"


def measure(stand: Stand) -> Iterator[Figure]:
    """Our way against the usual ones, over TLS."""
    file = stand.folder / "put"
    write(file, FILE_BYTES)
    environment = stand.bare_environment() | stand.s3.environment()
    for what, size, rounds in (
        ("2 MiB in memory", MEMORY_BYTES, MEMORY_ROUNDS),
        ("a file of 16 MiB", FILE_BYTES, FILE_ROUNDS),
    ):
        stand.say(f"putting {what} in each way in turn")
        spent: dict[str, float] = child.run(
            f"{__name__}:ways", environment=environment, file=str(file), size=size, rounds=rounds
        )
        for peer in (UNVERIFIED, GIVEN, ASKED):
            yield _compared(what, size, peer, spent, rounds)


def _compared(what: str, size: int, peer: str, spent: dict[str, float], rounds: int) -> Figure:
    name, ratio = f"CPU of a verified PUT of {what} : {peer}", round(spent[OURS] / spent[peer], 2)
    how = (
        f"user and system CPU of the client to hash and put it over TLS to a real S3 server, the least of {rounds} "
        f"rounds in turn: {spent[OURS] * 1000:.1f} ms : {spent[peer] * 1000:.1f} ms; {_SAID[peer]}"
    )
    if (size, peer) in _LIMITED:
        return Figure.at_most(name, ratio, LIMIT, unit="x", how=how)
    return Figure.noted(name, ratio, unit="x", how=how)


def ways(file: str, size: int, rounds: int) -> dict[str, float]:
    """Put a payload in every way in turn, in a process of its own; returns the least CPU seconds of each.

    Args:
        file: A file of `FILE_BYTES`.
        size: `FILE_BYTES` puts the file; a smaller size so much of it, from memory.
        rounds: How often.
    """
    path, clients, bucket = Path(file), Clients(), f"bench-put-{size}"
    payload = path if size == FILE_BYTES else path.read_bytes()[:size]
    clients.s3.create_bucket(Bucket=bucket)
    store = PayloadStore(
        S3ObjectStore(clients.s3), bucket=bucket, before_send_seconds=86_400, clock=SystemClock(), random=lambda: 0.5
    )
    usual = boto3.Session().client("s3")

    def ours(key: str) -> None:
        with payload_source.opened(payload, max_bytes=FILE_BYTES) as source:
            store.put(
                source,
                tenant_id="bench",
                event_type="Measured",
                idempotency_key=key,
                message_id=key,
                content_type=_TYPE,
            )

    def put(key: str, **checksum: Any) -> None:  # noqa: ANN401 - boto3's own arguments
        with _opened(payload) as body:
            usual.put_object(Bucket=bucket, Key=key, Body=body, **checksum)

    compared: dict[str, Callable[[str], None]] = {
        OURS: ours,
        ASKED: lambda key: put(key, Metadata={"sha256": _digest(payload).hex()}, ChecksumAlgorithm="SHA256"),
        GIVEN: lambda key: put(key, ChecksumSHA256=base64.b64encode(_digest(payload)).decode()),
        UNVERIFIED: lambda key: put(key, Metadata={"sha256": _digest(payload).hex()}),
    }
    spent = {name: list[float]() for name in compared}
    for number in range(rounds):
        for name, way in compared.items():
            began = time.process_time()
            way(f"{number}")
            spent[name].append(time.process_time() - began)
    return {name: min(seconds) for name, seconds in spent.items()}


def _opened(payload: bytes | Path) -> AbstractContextManager[bytes | BinaryIO]:
    return nullcontext(payload) if isinstance(payload, bytes) else payload.open("rb")


def _digest(payload: bytes | Path) -> bytes:
    if isinstance(payload, bytes):
        return hashlib.sha256(payload).digest()
    with payload.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").digest()
