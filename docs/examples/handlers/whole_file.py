"""Three ways to have a whole payload, and one to have none."""

import tempfile
import zipfile
from pathlib import Path

from claim_check import Message, Table, Transaction

ARCHIVES = Table("archives", partition_key="id")


def in_memory(message: Message, tx: Transaction) -> None:
    """Payload access `memory`: `read`, `text` or `json`."""
    tx.put(ARCHIVES, {"id": message.message_id, "first": message.text()[:10]})


def as_file(message: Message, tx: Transaction) -> None:
    """Payload access `file`: for a library that needs a path. The file is verified when `download` returns."""
    with tempfile.TemporaryDirectory() as folder:
        path = message.download(Path(folder) / "payload.zip")
        with zipfile.ZipFile(path) as archive:
            tx.put(ARCHIVES, {"id": message.message_id, "files": len(archive.namelist())})


def not_at_all(message: Message, tx: Transaction) -> None:
    """Payload access `none`: an audit needs only what the message says. Nothing is fetched."""
    tx.put(ARCHIVES, {"id": message.message_id, "size": message.content_length, "sha256": message.sha256})
