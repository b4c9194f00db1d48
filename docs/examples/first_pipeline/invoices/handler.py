"""Writes one row about every file of invoices."""

import io
import os

from claim_check import Message, PermanentError, Table, Transaction


class NotText(PermanentError):
    """The file is not UTF-8; trying again cannot help."""

    code = "NotText"


def handle(message: Message, tx: Transaction) -> None:
    """Count the lines of a file, however large it is."""
    try:
        with io.TextIOWrapper(io.BufferedReader(message.open()), encoding="utf-8") as text:
            lines = sum(1 for _ in text)
    except UnicodeDecodeError as error:
        raise NotText("the file is not UTF-8") from error
    row = {"pk": f"{message.tenant_id}#{message.message_id}", "lines": lines, "sha256": message.sha256}
    tx.put(Table(os.environ["INVOICES_TABLE"], partition_key="pk"), row)
