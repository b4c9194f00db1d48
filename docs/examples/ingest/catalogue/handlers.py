"""One row about every object that is in the bucket."""

import os

from claim_check import Table, Transaction
from claim_check.ingest import ObjectChange
from claim_check.verified_stream import VerifiedStream


def catalogue() -> Table:
    """The team's own table."""
    return Table(os.environ["CATALOGUE_TABLE"], partition_key="key")


def add(change: ObjectChange, stream: VerifiedStream | None, tx: Transaction) -> None:
    """An object is there, new or overwritten: read it as it streams, and write its row."""
    chunks = iter(lambda: stream.read(65_536), b"") if stream else ()
    lines = sum(chunk.count(b"\n") for chunk in chunks)
    tx.put(catalogue(), {"key": change.key.text, "lines": lines, "version": change.version_id or ""})


def remove(change: ObjectChange, tx: Transaction) -> None:
    """The object is gone, or was never seen."""
    tx.delete(catalogue(), {"key": change.key.text})
