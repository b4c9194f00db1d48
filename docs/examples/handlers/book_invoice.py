"""Books an invoice once, for a customer that exists."""

from claim_check import Condition, ConsumeError, Message, PermanentError, Table, Transaction

INVOICES = Table("invoices", partition_key="tenant", sort_key="number")
CUSTOMERS = Table("customers", partition_key="tenant", sort_key="customer")


class BookedOtherwise(PermanentError):
    """An invoice of this number is there already: parked at once."""

    code = "BookedOtherwise"


class CustomerUnknown(ConsumeError):
    """The customer is not there yet: tried again, then parked."""

    code = "CustomerUnknown"


def handle(message: Message, tx: Transaction) -> None:
    """Three writes that commit together with the record that this message is done, or not at all."""
    invoice = message.json()
    tx.put(
        INVOICES,
        {"tenant": message.tenant_id, "number": invoice["number"], "total": invoice["total"]},
        condition=Condition(expression="attribute_not_exists(tenant)"),
        if_condition_fails=BookedOtherwise("an invoice of this number is booked already"),
    )
    tx.check(
        CUSTOMERS,
        {"tenant": message.tenant_id, "customer": invoice["customer"]},
        condition=Condition(expression="attribute_exists(tenant)"),
        if_condition_fails=CustomerUnknown("the customer is not known yet"),
    )
    tx.update(
        CUSTOMERS,
        {"tenant": message.tenant_id, "customer": f"{invoice['customer']}#count"},
        "ADD invoices :one",
        values={":one": 1},
    )
