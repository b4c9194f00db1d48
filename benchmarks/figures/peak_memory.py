"""Peak memory: a payload of 1 GiB costs no more than one of 1 MiB, both ways."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks import child
from benchmarks.figure import Figure
from benchmarks.pipeline import Pipeline, event, handle
from claim_check.adapters.session import Clients
from claim_check.contract import GIB, MIB

if TYPE_CHECKING:
    from benchmarks.stand import Stand

SMALL_BYTES: Final = 1 * MIB
LARGE_BYTES: Final = 1 * GIB
LIMIT_MIB: Final = 4.0
HOW: Final = "peak resident memory of a fresh process after 1 GiB, less its peak after 1 MiB; real S3 server, TLS"


def measure(stand: Stand) -> Iterator[Figure]:
    """What 1 GiB adds to the peak of a producer, then of a consumer."""
    environment = stand.environment_with_s3()
    small, large = stand.folder / "small", stand.folder / "large"
    stand.say("writing a file of 1 GiB")
    write(small, SMALL_BYTES)
    write(large, LARGE_BYTES)
    stand.say("publishing it (about half a minute)")
    before, after = child.run(f"{__name__}:publish", environment=environment, files=[str(small), str(large)])
    large.unlink()
    yield _figure("publish 1 GiB adds to peak memory", before, after)
    stand.say("receiving and verifying it")
    before, after = child.run(f"{__name__}:receive", environment=environment, count=2)
    yield _figure("receive and verify 1 GiB adds to peak memory", before, after)


def publish(files: list[str]) -> list[int]:
    """Publish files one after the other, in a process of its own; returns the peak after each, bytes."""
    pipeline = Pipeline.make(Clients(), "memory")
    publisher, peaks = pipeline.producer(), []
    for name in files:
        publisher.publish(event(Path(name), Path(name).name))
        peaks.append(peak_bytes())
    return peaks


def receive(count: int) -> list[int]:
    """Handle what was published, the smallest first, in a process of its own; returns the peak after each, bytes."""
    pipeline = Pipeline.find(Clients(), "memory")
    consumer, peaks = pipeline.consumer(), []
    records = pipeline.receive(count)
    for record in sorted(records, key=lambda record: "large" in record["body"]):
        handle(consumer, [record])
        peaks.append(peak_bytes())
    return peaks


def peak_bytes() -> int:
    """Peak of this process's resident memory.

    On Linux from its own memory map: what getrusage tells of a child begins at its parent's peak, and could hide a
    growth below it.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def write(path: Path, size: int) -> None:
    """A file of random blocks, too long for anything but its hash to repeat."""
    block = os.urandom(MIB)
    with path.open("wb") as file:
        for _ in range(size // MIB):
            file.write(block)


def _figure(name: str, before: int, after: int) -> Figure:
    how = f"{HOW}; {before / MIB:.1f} MiB before"
    return Figure.at_most(name, round((after - before) / MIB, 2), LIMIT_MIB, unit="MiB", how=how)
