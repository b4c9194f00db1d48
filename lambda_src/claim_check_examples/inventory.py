"""The *inventory* ingest: a row about every object in a bucket, in the transaction that moves the ledger on."""

from __future__ import annotations

import csv
import os
from functools import cache
from typing import Final

from claim_check import PermanentError, Table, Transaction
from claim_check.ingest import ObjectChange
from claim_check.verified_stream import VerifiedStream
from claim_check_examples.file_facts import examine

INVENTORY_TABLE: Final = "INVENTORY_TABLE"
"""Environment variable: name of the table of the inventory."""


class UnreadableObject(PermanentError):
    """The object is not what its content type says; trying again cannot help."""

    code = "UnreadableObject"


def add(change: ObjectChange, stream: VerifiedStream | None, tx: Transaction) -> None:
    """Stream the object once and write its row: size, type by its first bytes, rows of a CSV."""
    if stream is None:
        raise PermanentError("the inventory reads every object, so payload_access must not be 'none'")
    try:
        facts = examine(stream, content_type=change.content_type or "")
    except (UnicodeDecodeError, csv.Error) as error:
        raise UnreadableObject("a text/csv object cannot be parsed as UTF-8 CSV") from error
    tx.put(
        _inventory(),
        {
            "pk": change.key.text,
            "kind": change.kind,
            "size": facts.size,
            "etag": change.etag,
            "versionId": change.version_id or "",
            "detectedType": facts.detected_type,
            **({} if facts.rows is None else {"rows": facts.rows}),
        },
    )


def remove(change: ObjectChange, tx: Transaction) -> None:
    """Remove the row of an object that is gone; there may be none."""
    tx.delete(_inventory(), {"pk": change.key.text})


@cache
def _inventory() -> Table:
    return Table(os.environ[INVENTORY_TABLE], partition_key="pk")
