"""The wallet pipeline put to use: movements of several accounts, in order, a retried send, an overdraft, a poison."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from rich.box import SIMPLE_HEAD
from rich.table import Table

from claim_check import Event
from claim_check.adapters.inbox_items import deserialize
from claim_check.aws import producer
from claim_check_examples.wallet import BALANCE, Balance, Movement, Result, UnreadableMovement, account_key, apply
from claim_check_ops.local.deployment import Deployment
from claim_check_ops.local.progress import ProgressBar
from claim_check_ops.local.queues import Queues
from claim_check_ops.local.waiting import wait_until
from claim_check_ops.telemetry import SilentTelemetry

TENANT: Final = "tenant-1"
EVENT_TYPE: Final = "MoneyMoved"
SETTLE_SECONDS: Final = 90.0

_POISON: Final = "lots"
_SENT_TWICE: Final = ("savings", 1)
_MOVEMENTS: Final[dict[str, list[int | str]]] = {
    "salary": [250_000, -30_000, -12_550, 7_000],
    "savings": [10_000, 5_000, -15_001, -15_000],  # the third would overdraw
    "broken": [1_000, _POISON, 2_000, -500],
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A movement's row, as it must be.

    Attributes:
        message_id: The event's identity.
        cents: Its amount.
        result: What became of it.
    """

    message_id: str
    cents: int
    result: Result


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountSeen:
    """What became of an account.

    Attributes:
        name: The account.
        sent: Messages sent for it.
        parked: Messages of it that were parked.
        entries: Its movements, in the order in which they were applied.
        balance: Its balance.
        problems: What is not as it must be.
    """

    name: str
    sent: int
    parked: int
    entries: list[Entry]
    balance: Balance
    problems: tuple[str, ...]


class WalletRun:
    """One run of all movements.

    Attributes:
        seen: What became of each account.
        problems: What is wrong with the run as a whole.
    """

    def __init__(self, deployment: Deployment) -> None:
        """Prepare a run against a deployment."""
        self._deployment = deployment
        self._queues = Queues(deployment)
        self._run_id = f"run-{secrets.token_hex(4)}"
        self._sent: dict[str, list[str]] = {name: [] for name in _MOVEMENTS}
        self._poison = ""
        self.seen: list[AccountSeen] = []
        self.problems: list[str] = []

    @property
    def succeeded(self) -> bool:
        """Whether every account ended as it must."""
        return bool(self.seen) and not self.problems and not any(account.problems for account in self.seen)

    def execute(self, bar: ProgressBar) -> None:
        """Send, watch, judge."""
        publisher = producer(self._deployment.producer, clients=self._deployment.clients, telemetry=SilentTelemetry())
        steps = list(self._steps())
        for number, (account, place, amount) in enumerate(steps):
            bar.show(f"sending: {account} {amount}", number, len(steps))
            event = Event.json(
                {"account": self._account_name(account), "cents": amount},
                tenant_id=TENANT,
                event_type=EVENT_TYPE,
                message_id=self._message_id(account, place),
                group_id=self._account_name(account),
            )
            published = publisher.publish(event)
            self._sent[account].append(published.sqs_message_id)
            if amount == _POISON:
                self._poison = published.sqs_message_id
        self._watch(bar, len(steps))
        self.seen = [self._account(name) for name in _MOVEMENTS]

    def table(self) -> Table:
        """One row per account."""
        table = Table(title="Wallet: what became of every account", box=SIMPLE_HEAD, title_justify="left")
        for heading in ("account", "sent", "in order", "overdrafts", "parked", "balance", "right"):
            table.add_column(heading, justify="left" if heading in {"account", "right"} else "right")
        for account in self.seen:
            overdrafts = sum(1 for entry in account.entries if entry.result == "overdraft")
            verdict = f"[red]{'; '.join(account.problems)}[/red]" if account.problems else "[green]yes[/green]"
            counts = (account.sent, len(account.entries), overdrafts, account.parked)
            table.add_row(account.name, *map(str, counts), f"{account.balance.cents / 100:,.2f}", verdict)
        return table

    def document(self) -> dict[str, object]:
        """The same for machines."""
        accounts = [
            {
                "account": account.name,
                "sent": account.sent,
                "inOrder": len(account.entries),
                "parked": account.parked,
                "cents": account.balance.cents,
                "problems": list(account.problems),
            }
            for account in self.seen
        ]
        return {"succeeded": self.succeeded, "problems": self.problems, "accounts": accounts}

    def _steps(self) -> Iterator[tuple[str, int, int | str]]:
        """All sends, account by account in turn; one of them twice, as a producer does that saw no answer."""
        for place in range(max(map(len, _MOVEMENTS.values()))):
            for account, amounts in _MOVEMENTS.items():
                if place < len(amounts):
                    yield account, place, amounts[place]
                    if (account, place) == _SENT_TWICE:
                        yield account, place, amounts[place]

    def _watch(self, bar: ProgressBar, total: int) -> None:
        def settled() -> bool:
            self._queues.look()
            empty = self._queues.source_is_empty()
            bar.show("waiting for the queue to be empty" if not empty else "settled", total if empty else 0, total)
            return empty and self._poison in self._queues.parked

        try:
            wait_until(settled, what="every movement to be settled", timeout=SETTLE_SECONDS)
        except TimeoutError as error:
            self.problems.append(str(error))

    def _account(self, name: str) -> AccountSeen:
        expected, balance = self._expected(name)
        rows = self._rows(name)
        last = rows.pop(BALANCE, {})
        found = Balance(int(last.get("cents", 0)), int(last.get("movements", 0)))
        entries = [Entry(row["messageId"], int(row["cents"]), row["result"]) for _, row in sorted(rows.items())]
        codes = [self._queues.parked[one]["errorCode"] for one in set(self._sent[name]) if one in self._queues.parked]
        problems = []
        if entries != expected:
            problems.append("movements lost, repeated or out of order")
        if found != balance:
            problems.append(f"balance {found.cents}, expected {balance.cents}")
        if codes != [UnreadableMovement.code] * _MOVEMENTS[name].count(_POISON):
            problems.append(f"parked: {codes}")
        return AccountSeen(
            name=name,
            sent=len(self._sent[name]),
            parked=len(codes),
            entries=entries,
            balance=found,
            problems=tuple(problems),
        )

    def _expected(self, name: str) -> tuple[list[Entry], Balance]:
        """What the pure rule says of an account's movements in the order sent."""
        balance, entries = Balance(), list[Entry]()
        for place, amount in enumerate(_MOVEMENTS[name]):
            if isinstance(amount, int):
                balance, result = apply(balance, Movement(name, amount))
                entries.append(Entry(self._message_id(name, place), amount, result))
        return entries, balance

    def _rows(self, name: str) -> dict[str, dict[str, Any]]:
        """The rows of an account by their sort key."""
        answer = self._deployment.aws.dynamodb.query(
            TableName=self._deployment.table,
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": account_key(TENANT, self._account_name(name))}},
            ConsistentRead=True,
        )
        items = ({key: deserialize(value) for key, value in item.items()} for item in answer["Items"])
        return {item["sk"]: item for item in items}

    def _account_name(self, account: str) -> str:
        return f"{self._run_id}-{account}"

    def _message_id(self, account: str, place: int) -> str:
        return f"{self._account_name(account)}-{place}"
