"""A handler that is only shown the payload that the domain has on record."""

from claim_check import Claim, Envelope, Message, Table, Transaction, expecting

RECORDS: dict[str, Claim] = {}
"""Stands for a table: the claim of each document, kept when it was staged."""

INVOICES = Table("invoices", partition_key="pk")


def recorded(envelope: Envelope) -> Claim | None:
    """The claim on record; None if there is none, then nothing is compared."""
    return RECORDS.get(str(envelope.domain_ref["documentId"]))


@expecting(recorded)
def handle(message: Message, tx: Transaction) -> None:
    """Called only if the message's claim is the recorded one."""
    tx.put(INVOICES, {"pk": message.message_id, "bytes": len(message.read())})
