"""The orders put to use: each is placed together with its message, by the outbox, and ends as an invoice."""

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from rich.box import SIMPLE_HEAD
from rich.filesize import decimal
from rich.table import Table

from claim_check import contract
from claim_check.adapters.inbox_items import deserialize
from claim_check.adapters.outbox_items import to_row
from claim_check.contract import OutboxState
from claim_check_examples.orders import INVOICE, MAX_CENTS, ORDER, ORDER_PLACED, Order, order_key, total
from claim_check_ops.local.embedded_aws import EmbeddedAws
from claim_check_ops.local.progress import ProgressBar
from claim_check_ops.local.waiting import wait_until

ORDERS_TABLE: Final = "OrdersTableName"
"""Output that names the table of orders, and with it the stack."""

TENANT: Final = "tenant-1"
CUSTOMER: Final = "customer-7"
DESTINATION: Final = "invoices"
SETTLE_SECONDS: Final = 90.0
POLL_SECONDS: Final = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersDeployment:
    """The orders as they stand.

    Attributes:
        aws: Where they stand.
        place_function: Function that places an order.
        sweep_function: Function that sweeps the outbox.
        orders: Table of orders and invoices.
        outbox: Table of the outbox.
    """

    aws: EmbeddedAws
    place_function: str
    sweep_function: str
    orders: str
    outbox: str


def find_orders(aws: EmbeddedAws, outputs: Iterable[Mapping[str, str]]) -> OrdersDeployment:
    """Find the orders among the deployed stacks.

    Args:
        aws: Where they stand.
        outputs: Outputs of each stack.

    Raises:
        LookupError: No stack has them.
    """
    for one in outputs:
        if ORDERS_TABLE in one and "PlaceOrderFunctionName" in one:
            return OrdersDeployment(
                aws=aws,
                place_function=one["PlaceOrderFunctionName"],
                sweep_function=one["SweepFunctionName"],
                orders=one[ORDERS_TABLE],
                outbox=one["OutboxTableName"],
            )
    raise LookupError(f"No deployed stack has the output {ORDERS_TABLE}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An order, and how it must end.

    Attributes:
        name: For the table.
        order: What is placed.
        times: How often it is placed.
        answers: What its placing answers, each time.
        invoiced: Whether there must be an invoice, and a row of the outbox that was sent; else there is neither.
    """

    name: str
    order: Order
    times: int = 1
    answers: tuple[str, ...] = ("placed now",)
    invoiced: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSeen:
    """What became of an order.

    Attributes:
        case: The order.
        answers: What placing it answered.
        row: State of its row in the outbox; None if there is none.
        travelled: How its document travelled.
        seconds: From its staging until it was sent.
        cents: Of its invoice; None if there is none.
        problems: What is not as it must be.
    """

    case: Case
    answers: tuple[str, ...] = ()
    row: OutboxState | None = None
    travelled: str = "-"
    seconds: float | None = None
    cents: int | None = None
    problems: tuple[str, ...] = ()


class OrdersRun:
    """One run of all orders.

    Attributes:
        seen: What became of each order.
        problems: What is wrong with the run as a whole.
    """

    def __init__(self, deployment: OrdersDeployment) -> None:
        """Prepare a run against a deployment."""
        self._deployment = deployment
        self._run_id = f"run-{secrets.token_hex(4)}"
        self.seen: list[OrderSeen] = []
        self.problems: list[str] = []

    @property
    def succeeded(self) -> bool:
        """Whether every order ended as it must."""
        return bool(self.seen) and not self.problems and not any(one.problems for one in self.seen)

    def execute(self, bar: ProgressBar) -> None:
        """Place, watch, judge."""
        cases = self._cases()
        placed = []
        for number, case in enumerate(cases):
            bar.show(f"placing: {case.name}", number, len(cases))
            placed.append(OrderSeen(case=case, answers=tuple(self._place(case.order) for _ in range(case.times))))

        def settled() -> bool:
            self.seen = [self._look(one) for one in placed]
            waiting = [one.case.name for one in self.seen if one.case.invoiced and one.cents is None]
            bar.show(
                f"waiting for: {', '.join(waiting)}" if waiting else "settled", len(cases) - len(waiting), len(cases)
            )
            return not waiting

        try:
            wait_until(settled, what="every invoice", timeout=SETTLE_SECONDS, interval=POLL_SECONDS)
        except TimeoutError as error:
            self.problems.append(str(error))
        self._sweep()
        self.seen = [self._judged(self._look(one)) for one in placed]

    def table(self) -> Table:
        """One row per order."""
        table = Table(title="Orders: what became of every order", box=SIMPLE_HEAD, title_justify="left")
        for heading in ("order", "placed", "document", "size", "outbox row", "seconds", "invoice", "right"):
            table.add_column(heading, justify="right" if heading in {"size", "seconds", "invoice"} else "left")
        for one in self.seen:
            table.add_row(
                one.case.name,
                ", ".join(one.answers),
                one.travelled,
                decimal(len(json.dumps(one.case.order))),
                one.row or "none",
                "" if one.seconds is None else f"{one.seconds:.1f}",
                "none" if one.cents is None else f"{one.cents / 100:,.2f}",
                f"[red]{'; '.join(one.problems)}[/red]" if one.problems else "[green]yes[/green]",
            )
        return table

    def document(self) -> dict[str, object]:
        """The same for machines."""
        orders = [
            {
                "order": one.case.name,
                "answers": list(one.answers),
                "outboxRow": one.row,
                "travelled": one.travelled,
                "cents": one.cents,
                "problems": list(one.problems),
            }
            for one in self.seen
        ]
        return {"succeeded": self.succeeded, "problems": self.problems, "orders": orders}

    def _cases(self) -> list[Case]:
        small = self._order("small", cents=1_250)
        return [
            Case(name="small order", order=small),
            Case(name="long order", order={**self._order("long", cents=99), "note": "wrap it. " * 20_000}),
            Case(
                name="placed twice",
                order=self._order("twice", cents=700),
                times=2,
                answers=("placed now", "placed before"),
            ),
            Case(
                name="refused order",
                order=self._order("refused", cents=MAX_CENTS + 1),
                answers=("refused",),
                invoiced=False,
            ),
        ]

    def _order(self, name: str, *, cents: int) -> Order:
        return Order(
            tenantId=TENANT,
            orderId=f"{self._run_id}-{name}",
            customer=f"{self._run_id}-{CUSTOMER}",
            lines=[{"sku": "tea", "count": 1, "cents": cents}],
            note="",
        )

    def _place(self, order: Order) -> str:
        answer = self._deployment.aws.lambda_.invoke(
            FunctionName=self._deployment.place_function, Payload=json.dumps(order).encode()
        )
        document = json.loads(answer["Payload"].read())
        if answer.get("FunctionError"):
            return "refused"
        return f"placed {document['placed']}"

    def _look(self, seen: OrderSeen) -> OrderSeen:
        order = seen.case.order
        id_hash = contract.id_hash(f"{ORDER_PLACED}-{order['orderId']}")
        key = contract.outbox_key(destination=DESTINATION, tenant_id=TENANT, id_hash=id_hash)
        item = self._item(self._deployment.outbox, {"pk": {"S": key}})
        invoice = self._item(self._deployment.orders, self._key(order, INVOICE))
        if item is None:
            return replace(seen, cents=_cents(invoice))
        row = to_row(item)
        return replace(
            seen,
            row=row.state,
            travelled="inline" if row.payload_key is None else "claim",
            seconds=row.updated_at - row.staged_at if row.state == "SENT" else None,
            cents=_cents(invoice),
        )

    def _judged(self, seen: OrderSeen) -> OrderSeen:
        case, problems = seen.case, list[str]()
        if seen.answers != case.answers:
            problems.append(f"answered: {', '.join(seen.answers)}")
        ordered = self._item(self._deployment.orders, self._key(case.order, ORDER)) is not None
        if ordered is not case.invoiced or (seen.row is not None) is not ordered:
            problems.append("order and message are not together")
        if seen.row not in {None, "SENT"}:
            problems.append("not sent")
        expected = total(case.order) if case.invoiced else None
        if seen.cents != expected:
            problems.append(f"invoice {seen.cents}, expected {expected}")
        return replace(seen, problems=tuple(problems))

    def _sweep(self) -> None:
        """Invoke the sweep as its schedule does: it must find nothing left, and must not fail."""
        answer = self._deployment.aws.lambda_.invoke(FunctionName=self._deployment.sweep_function, Payload=b"{}")
        swept = json.loads(answer["Payload"].read())
        if answer.get("FunctionError") or swept["pending"] or swept["parked"]:
            self.problems.append(f"the sweep found: {swept}")

    @staticmethod
    def _key(order: Order, sort_key: str) -> dict[str, Any]:
        return {"pk": {"S": order_key(TENANT, order["orderId"])}, "sk": {"S": sort_key}}

    def _item(self, table: str, key: dict[str, Any]) -> dict[str, Any] | None:
        return self._deployment.aws.dynamodb.get_item(TableName=table, Key=key, ConsistentRead=True).get("Item")


def _cents(item: Mapping[str, Any] | None) -> int | None:
    return None if item is None else int(deserialize(item["cents"]))
