"""Books amounts to accounts; one that nobody opened yet parks its bookings until a person opens it."""

import os

from claim_check import Condition, Message, PermanentError, Table, Transaction


class NoSuchAccount(PermanentError):
    """Trying again cannot help: a person must open the account."""

    code = "NoSuchAccount"


def handle(message: Message, tx: Transaction) -> None:
    """Book once, if the account is open; the table itself says so, in the commit."""
    booking = message.json()
    table = Table(os.environ["BOOKINGS_TABLE"], partition_key="pk")
    tx.update(
        table,
        {"pk": booking["account"]},
        "ADD booked :once, cents :cents",
        condition=Condition(expression="attribute_exists(pk)"),
        values={":once": 1, ":cents": booking["cents"]},
        if_condition_fails=NoSuchAccount("there is no such account"),
    )
