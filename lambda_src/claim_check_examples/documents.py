"""The *documents* pipeline: one row about every file, in the transaction that records the message as done."""

from __future__ import annotations

import csv
import os
from functools import cache
from typing import Final

from claim_check import Message, PermanentError, Table, Transaction
from claim_check_examples.file_facts import examine

DOCUMENTS_TABLE: Final = "DOCUMENTS_TABLE"
"""Environment variable: name of the table of documents."""


class UnreadableFile(PermanentError):
    """The file is not what its content type says; trying again cannot help."""

    code = "UnreadableFile"


def handle(message: Message, tx: Transaction) -> None:
    """Stream the file once and write its row: size, SHA-256, type by its first bytes, rows of a CSV."""
    try:
        facts = examine(message.open(), content_type=message.content_type)
    except (UnicodeDecodeError, csv.Error) as error:
        raise UnreadableFile("a text/csv file cannot be parsed as UTF-8 CSV") from error
    tx.put(
        _documents(),
        {
            "pk": document_key(message.tenant_id, message.message_id),
            "tenantId": message.tenant_id,
            "messageId": message.message_id,
            **{f"ref_{name}": value for name, value in message.domain_ref.items()},
            "contentType": message.content_type,
            "size": facts.size,
            "sha256": message.sha256,
            "detectedType": facts.detected_type,
            **({} if facts.rows is None else {"rows": facts.rows}),
        },
    )


def document_key(tenant_id: str, message_id: str) -> str:
    """Key of a document's row; tenant ids cannot hold the separator."""
    return f"{tenant_id}#{message_id}"


@cache
def _documents() -> Table:
    return Table(os.environ[DOCUMENTS_TABLE], partition_key="pk")
