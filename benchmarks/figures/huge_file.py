"""A file of 2 GiB: published in parts, received and verified, beside the usual ways of doing either."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import boto3

from benchmarks import child
from benchmarks.figure import Figure
from benchmarks.figures.peak_memory import peak_bytes, write
from benchmarks.pipeline import Pipeline, event, handle
from claim_check import Claim
from claim_check.adapters.session import Clients
from claim_check.contract import GIB, MIB

if TYPE_CHECKING:
    from benchmarks.stand import Stand

LARGE_BYTES: Final = 2 * GIB
SMALL_BYTES: Final = 128 * MIB
MEMORY_LIMIT_MIB: Final = 4.0
PUBLISH_CPU_LIMIT: Final = 0.9
RECEIVE_CPU_LIMIT: Final = 1.15
TIMEOUT_SECONDS: Final = 900.0
_Result = TypeVar("_Result")
_NAME: Final = "huge"
_READ_BYTES: Final = 1 * MIB


def measure(stand: Stand) -> Iterator[Figure]:
    """Peak memory and time, both ways."""
    environment = stand.environment_with_s3()
    small, large = stand.folder / "huge-small", stand.folder / "huge-large"
    stand.say("writing a file of 2 GiB")
    write(small, SMALL_BYTES)
    write(large, LARGE_BYTES)
    stand.say("publishing it, and uploading it the usual way (about two minutes)")
    sent = child.run(
        f"{__name__}:publish", environment=environment, timeout=TIMEOUT_SECONDS, files=[str(small), str(large)]
    )
    usual = child.run(f"{__name__}:upload", environment=environment, timeout=TIMEOUT_SECONDS, file=str(large))
    large.unlink()
    yield from _figures(
        "publish 2 GiB",
        sent,
        usual,
        PUBLISH_CPU_LIMIT,
        "sha256() and boto3's upload_file with ChecksumAlgorithm='SHA256'",
    )
    stand.say("receiving and verifying it, and downloading it the usual way")
    received = child.run(f"{__name__}:receive", environment=environment, timeout=TIMEOUT_SECONDS, count=2)
    usual = child.run(f"{__name__}:download", environment=environment, timeout=TIMEOUT_SECONDS, key=sent["key"])
    yield from _figures(
        "receive and verify 2 GiB", received, usual, RECEIVE_CPU_LIMIT, "a plain get_object, read and hashed"
    )


def publish(files: list[str]) -> dict[str, Any]:
    """Publish a file in parts, then the huge one, in a process of its own; peaks in bytes, seconds of the second."""
    pipeline = Pipeline.make(Clients(), _NAME)
    publisher, found = pipeline.producer(), list[dict[str, Any]]()
    for name in files:
        result, cost = costs(partial(publisher.publish, event(Path(name), Path(name).name)))
        assert isinstance(result.payload, Claim)  # noqa: S101 - narrows the type
        found.append(cost | {"key": result.payload.key})
    return found[1] | {"before": found[0]["peak"]}


def receive(count: int) -> dict[str, Any]:
    """Handle what was published, the smaller first, in a process of its own."""
    pipeline = Pipeline.find(Clients(), _NAME)
    consumer, found = pipeline.consumer(), list[dict[str, Any]]()
    records = pipeline.receive(count)
    for record in sorted(records, key=lambda record: "huge-large" in record["body"]):
        found.append(costs(partial(handle, consumer, [record]))[1])
    return found[1] | {"before": found[0]["peak"]}


def upload(file: str) -> dict[str, Any]:
    """Hash and upload a file as boto3 does by itself, in a process of its own."""
    client = boto3.Session().client("s3")

    def work() -> None:
        with Path(file).open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        extra = {"ChecksumAlgorithm": "SHA256", "Metadata": {"sha256": digest}}
        client.upload_file(file, f"bench-{_NAME}", "usual", ExtraArgs=extra)

    return costs(work)[1]


def download(key: str) -> dict[str, Any]:
    """Read and hash an object with a bare client, in a process of its own."""
    client = boto3.Session().client("s3")

    def work() -> None:
        digest, body = hashlib.sha256(), client.get_object(Bucket=f"bench-{_NAME}", Key=key)["Body"]
        while piece := body.read(_READ_BYTES):
            digest.update(piece)
        if digest.hexdigest() != key.rpartition("/")[2]:
            raise RuntimeError("what was read is not what was published")

    return costs(work)[1]


def costs(work: Callable[[], _Result]) -> tuple[_Result, dict[str, Any]]:
    """What a call returns, and what it cost: seconds on the clock and of CPU, and the process's peak so far, bytes."""
    began, worked = time.perf_counter(), time.process_time()
    result = work()
    return result, {
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - worked,
        "peak": peak_bytes(),
    }


def _figures(name: str, ours: dict[str, Any], usual: dict[str, Any], cpu_limit: float, peer: str) -> Iterator[Figure]:
    yield Figure.at_most(
        f"{name} adds to peak memory",
        round((ours["peak"] - ours["before"]) / MIB, 2),
        MEMORY_LIMIT_MIB,
        unit="MiB",
        how=f"peak resident memory of a fresh process, less its peak after 128 MiB; real S3 server, TLS; "
        f"{ours['before'] / MIB:.0f} MiB before; the usual way peaks at {usual['peak'] / MIB:.0f} MiB",
    )
    cpu, seconds = (ours[what] / usual[what] for what in ("cpu", "seconds"))
    to = f"to {name} against the same real S3 server over TLS"
    yield Figure.at_most(
        f"CPU to {name} : the usual way",
        round(cpu, 2),
        cpu_limit,
        unit="x",
        how=f"user and system CPU of the client {to}: {ours['cpu']:.1f} s : {usual['cpu']:.1f} s of {peer}",
    )
    yield Figure.noted(
        f"time to {name} : the usual way",
        round(seconds, 2),
        unit="x",
        how=f"time {to}, which takes most of this machine's processors itself: {ours['seconds']:.1f} s : "
        f"{usual['seconds']:.1f} s of {peer}",
    )
