"""What an operator does with rows that were parked: send them again, or give them up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final, Literal, Protocol

from claim_check import contract
from claim_check.contract import OutboxAttribute, OutboxState
from claim_check.deadline import Deadline
from claim_check.errors import Unavailable
from claim_check.outbox.items import plain_item
from claim_check.outbox.ports import OutboxReader, Transactions
from claim_check.outbox.rows import OutboxRow
from claim_check.ports import Clock, StoredObject
from claim_check.retries import Retry
from claim_check.transaction import Condition, Table, Transaction

Decided = Literal["retried", "discarded", "not parked", "too old", "payload gone"]
"""What became of a row: the first two are what was asked for; the others tell why it was left as it is."""

_STILL_PARKED: Final = Condition(
    expression="#state = :parked", names={"#state": OutboxAttribute.STATE}, values={":parked": "PARKED"}
)
_SECONDS: Final = 60.0
_RETRY: Final = Retry(attempts=6, base=0.1, cap=1.0, budget=20.0)


class Payloads(Protocol):
    """Looks at payloads."""

    def head(self, *, bucket: str, key: str) -> StoredObject | None:
        """See `claim_check.ports.ObjectStore.head`."""


class ParkedRows:
    """The rows of one outbox that wait for an operator."""

    def __init__(
        self,
        reader: OutboxReader,
        transactions: Transactions,
        payloads: Payloads,
        *,
        table: str,
        before_send_seconds: float,
        ttl_seconds: int,
        clock: Clock,
        new_token: Callable[[], str],
        random: Callable[[], float],
    ) -> None:
        """Open them.

        Args:
            reader: Reads the outbox.
            transactions: Commits what is decided.
            payloads: Tells whether a payload is still there.
            table: Table of the outbox.
            before_send_seconds: How old a row may be when it is sent.
            ttl_seconds: How long a discarded row is remembered.
            clock: Time.
            new_token: Makes client tokens, up to 36 characters, never the same twice.
            random: Draws from [0, 1) for the jitter.
        """
        self._reader = reader
        self._transactions = transactions
        self._payloads = payloads
        self._table = Table(table, partition_key=OutboxAttribute.KEY)
        self._before_send = before_send_seconds
        self._ttl = ttl_seconds
        self._clock = clock
        self._new_token = new_token
        self._random = random

    def rows(self, state: OutboxState = "PARKED") -> Iterator[OutboxRow]:
        """Rows of a state, oldest first within each shard."""
        return self._reader.open_rows(state)

    def retry(self, key: str) -> Decided:
        """Have a row sent by the next sweep: its attempts start anew, its age goes on.

        On FIFO it stands where it stood; a row that was set aside goes to the end of its group.

        Raises:
            AccessDenied: The payload may not be looked at.
            Unavailable: A service did not answer.
        """
        row = self._reader.rows([key]).get(key)
        if row is None or row.state != "PARKED":
            return "not parked"
        if self._clock.now() - row.staged_at > self._before_send:
            return "too old"
        if self._is_gone(row):
            return "payload gone"
        pending = replace(row, state="PENDING", attempts=0, due_at=0.0, updated_at=self._clock.now())
        return "retried" if self._put_back(pending) else "not parked"

    def discard(self, key: str) -> Decided:
        """Give a row up for good: it is never sent, and its FIFO group goes on without it.

        Raises:
            Unavailable: The table did not answer.
        """
        row = self._reader.rows([key]).get(key)
        if row is None or row.state != "PARKED":
            return "not parked"
        now = self._clock.now()
        discarded = replace(row, state="DISCARDED", body=None, attributes={}, updated_at=now, ttl=int(now) + self._ttl)
        return "discarded" if self._commit(self._replacing(discarded)) is None else "not parked"

    def _is_gone(self, row: OutboxRow) -> bool:
        if row.payload_bucket is None or row.payload_key is None:
            return False
        return self._payloads.head(bucket=row.payload_bucket, key=row.payload_key) is None

    def _put_back(self, row: OutboxRow) -> bool:
        tx = self._replacing(row)
        if row.group_key is None:
            return self._commit(tx) is None
        group = {OutboxAttribute.KEY: row.group_key}
        tx.check(
            self._table,
            group,
            condition=Condition(
                expression="contains(#pending, :place)",
                names={"#pending": OutboxAttribute.PENDING},
                values={":place": row.place},
            ),
        )
        refused = self._commit(tx)
        if refused != 1:
            return refused is None
        tx = self._replacing(row)  # it was set aside: the group went on, and it comes last now
        most = contract.OUTBOX_GROUP_MAX_PENDING
        tx.append(self._table, group, OutboxAttribute.PENDING, [row.place], most=most, remove=[OutboxAttribute.TTL])
        return self._commit(tx) is None

    def _replacing(self, row: OutboxRow) -> Transaction:
        tx = Transaction(Deadline(self._clock, _SECONDS))
        tx.put(self._table, plain_item(row), condition=_STILL_PARKED)
        return tx

    def _commit(self, tx: Transaction) -> int | None:
        token, problem = self._new_token(), Unavailable("no time was left")
        for _ in _RETRY.tries(self._clock, self._random):
            try:
                return self._transactions.commit(tx.writes, token=token)
            except Unavailable as error:
                problem = error
        raise problem
