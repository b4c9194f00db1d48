"""An order and its message: committed together, or not at all."""

from claim_check import AlreadyStaged, Condition, Conflict, Event, Table
from claim_check.outbox import Outbox


def place(outbox: Outbox, orders: Table, order_id: str, lines: list[str]) -> str:
    """Place an order. Placing it again is safe."""
    event = Event.json(
        {"orderId": order_id, "lines": lines},
        tenant_id="shop-1",
        event_type="OrderPlaced",
        message_id=f"OrderPlaced-{order_id}",  # the same whenever it is placed again
        group_id=order_id,
    )
    try:
        with outbox.transaction() as tx:
            staged = outbox.stage(event, tx)
            tx.put(
                orders,
                {"pk": order_id, "lines": lines, "sha256": staged.payload.sha256},
                condition=Condition(expression="attribute_not_exists(pk)"),
            )
    except AlreadyStaged:
        return "placed before"
    except Conflict:
        return "another order has this id"
    return "placed"
