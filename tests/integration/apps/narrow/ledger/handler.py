"""Handlers that use every right that a pipeline can give them on a table of their own, and none."""

from __future__ import annotations

import os

from claim_check import Condition, Message, Table, Transaction
from claim_check.adapters.session import shared


def book(message: Message, tx: Transaction) -> None:
    """Read the payload; read, put, update, delete and check a row each."""
    table = Table(os.environ["LEDGER_TABLE"], partition_key="pk")
    shared().dynamodb.get_item(TableName=table.name, Key={"pk": {"S": message.message_id}})
    size = len(message.read())
    tx.put(table, {"pk": f"{message.message_id}#put", "size": size})
    tx.update(table, {"pk": f"{message.message_id}#update"}, "SET bytes = :bytes", values={":bytes": size})
    tx.delete(table, {"pk": f"{message.message_id}#delete"})
    absent = Condition(expression="attribute_not_exists(pk)")
    tx.check(table, {"pk": f"{message.message_id}#check"}, condition=absent)


def note(message: Message, tx: Transaction) -> None:
    """Be content with the message itself."""
