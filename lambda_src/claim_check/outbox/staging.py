"""The outbox as an application sees it: messages that commit together with its own writes, or not at all (R3.1).

Order within a FIFO group comes from the group's own item: every transaction that stages for the group appends to its
list, and DynamoDB puts the transactions that write one item into one order. Nothing is read for that, so that writers
of one group only wait for each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from claim_check import contract
from claim_check.contract import OutboxAttribute
from claim_check.deadline import Deadline
from claim_check.envelope import Claim, Inline
from claim_check.errors import AlreadyStaged, CommitFailed, Conflict, InvalidName, OutboxFull, Unavailable
from claim_check.event import Event
from claim_check.outbox.items import plain_item
from claim_check.outbox.ports import OutboxReader, Transactions
from claim_check.outbox.rows import OutboxRow
from claim_check.ports import Clock, Telemetry
from claim_check.producer import Prepared, Producer
from claim_check.retries import Retry
from claim_check.transaction import Condition, Table, Transaction

_ABSENT: Final = Condition(expression=f"attribute_not_exists({OutboxAttribute.KEY})")
_MOST_BEFORE: Final = contract.OUTBOX_GROUP_MAX_PENDING - contract.TRANSACTION_MAX_ITEMS
_COMMIT_RETRY: Final = Retry(attempts=8, base=0.05, cap=1.0, budget=20.0)
"""Conflicts of writers of one group pass in milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """An event whose payload is in place, and whose row is part of a transaction.

    Attributes:
        message_id: The event's identity.
        idempotency_key: What makes two messages the same work.
        destination: Where it will be sent.
        payload: Where the content went: into the message, or to S3. A domain row can keep the claim (R3.3).
    """

    message_id: str
    idempotency_key: str
    destination: str
    payload: Inline | Claim = field(repr=False)

    @property
    def claim(self) -> Claim | None:
        """Where the payload lies in S3; None if it travels in the message."""
        return self.payload if isinstance(self.payload, Claim) else None


class Outbox:
    """Stages events. Safe to share between threads."""

    def __init__(
        self,
        producers: Mapping[str, Producer],
        *,
        table: str,
        reader: OutboxReader,
        transactions: Transactions,
        clock: Clock,
        new_token: Callable[[], str],
        random: Callable[[], float],
        telemetry: Telemetry,
        retry: Retry = _COMMIT_RETRY,
    ) -> None:
        """Make an outbox.

        Args:
            producers: By the name of the destination: how its messages are made; they send nothing here.
            table: Table of the rows.
            reader: Reads them.
            transactions: Commits what `transaction` collects.
            clock: Time.
            new_token: Makes client tokens, up to 36 characters, never the same twice.
            random: Draws from [0, 1) for the jitter.
            telemetry: Logs and metrics.
            retry: How conflicts and throttles of a commit are retried.
        """
        self._producers = dict(producers)
        self._table = Table(table, partition_key=OutboxAttribute.KEY)
        self._reader = reader
        self._transactions = transactions
        self._clock = clock
        self._new_token = new_token
        self._random = random
        self._telemetry = telemetry
        self._retry = retry

    def stage(
        self, event: Event, tx: Transaction, *, destination: str | None = None, trace_header: str | None = None
    ) -> Staged:
        """Put an event's payload into S3, and add its row to a transaction: it is published if that commits.

        Args:
            event: What is to be published. Without an id or an idempotency key, staging it again is new work.
            tx: What it commits with: a handler's transaction, or one of `transaction`.
            destination: Where to; may be left out if the outbox has only one.
            trace_header: Value of ``_X_AMZN_TRACE_ID``, if the caller is traced.

        Raises:
            AlreadyStaged: The same event was committed before, and with it the writes it belonged to: all is done.
            Conflict: The same identity was committed with other content.
            InvalidEvent: Refused before anything was written.
            PublishError: The payload was not written, or unknown; staging it again is safe.
            TransactionLimit: The row does not fit into the transaction.
            Unavailable: The table did not answer.
        """
        name = self._destination(destination)
        producer = self._producers[name]
        identity = event.idempotency_key or event.message_id
        if identity is not None:
            self._check_new(self._key(name, event.tenant_id, identity), lambda: producer.fingerprint(event))
        prepared = producer.prepare(event, trace_header=trace_header)
        self._add(self._row(name, event, prepared), tx)
        return Staged(
            message_id=prepared.message_id,
            idempotency_key=prepared.idempotency_key,
            destination=name,
            payload=prepared.payload,
        )

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction of one's own: committed when the block ends, and only if nothing was raised in it.

        Raises:
            AlreadyStaged: The same event was committed before: nothing was written, all is done.
            Conflict: The same identity was committed with other content; nothing was written.
            Unavailable: Conflicts, throttles or no answer until the retries were used up: it is unknown whether it was
                committed. Repeat the whole block: `AlreadyStaged` tells that it was.
            ConsumeError: What a write declared for its own condition; nothing was written.
        """
        tx = Transaction(Deadline(self._clock, math.inf))
        yield tx
        if tx.writes:
            self._commit(tx)

    # --- Staging ----------------------------------------------------------------------------------------------------

    def _destination(self, name: str | None) -> str:
        if name is None and len(self._producers) == 1:
            return next(iter(self._producers))
        if name in self._producers:
            return name or ""
        raise InvalidName(
            "destination",
            f"{name!r} is none of this outbox",
            limit=", ".join(sorted(self._producers)) or "none: it has no destination",
            way_out="name one of them, or add it to the outbox",
        )

    @staticmethod
    def _key(destination: str, tenant_id: str, identity: str) -> str:
        return contract.outbox_key(destination=destination, tenant_id=tenant_id, id_hash=contract.id_hash(identity))

    def _check_new(self, key: str, fingerprint: Callable[[], str]) -> None:
        row = self._reader.rows([key]).get(key)
        if row is None:
            return
        if row.fingerprint == fingerprint():
            raise AlreadyStaged(
                f"message {row.message_id}: is in the outbox already, {row.state}, as is what it was committed with; "
                "treat it as done"
            )
        raise Conflict(f"message {row.message_id}: is in the outbox with other content, event type or event version")

    def _row(self, destination: str, event: Event, prepared: Prepared) -> OutboxRow:
        now, claim = self._clock.now(), prepared.payload if isinstance(prepared.payload, Claim) else None
        return OutboxRow(
            key=self._key(destination, event.tenant_id, prepared.idempotency_key),
            state="PENDING",
            destination=destination,
            tenant_id=event.tenant_id,
            event_type=event.event_type,
            message_id=prepared.message_id,
            correlation_id=event.correlation_id,
            fingerprint=prepared.fingerprint,
            body=prepared.message.body,
            attributes=prepared.message.attributes,
            group_id=prepared.message.group_id,
            deduplication_id=prepared.message.deduplication_id,
            trace_header=prepared.message.trace_header,
            payload_bucket=claim.bucket if claim else None,
            payload_key=claim.key if claim else None,
            payload_version=claim.version_id if claim else None,
            payload_bytes=prepared.payload.content_length,
            staged_at=now,
            updated_at=now,
        )

    def _add(self, row: OutboxRow, tx: Transaction) -> None:
        if row.group_key is not None:  # first: a name without a row does no harm, a row without its name is never sent
            tx.append(
                self._table,
                {OutboxAttribute.KEY: row.group_key},
                OutboxAttribute.PENDING,
                [row.place],
                most=_MOST_BEFORE,
                remove=[OutboxAttribute.TTL],
                if_full=OutboxFull(
                    f"destination {row.destination}: more than {_MOST_BEFORE} messages of one group are not sent yet; "
                    "see the runbook, alarm OutboxLag"
                ),
            )
        meanwhile = CommitFailed(f"message {row.message_id}: was staged by somebody else meanwhile; repeat it")
        tx.put(self._table, plain_item(row), condition=_ABSENT, if_condition_fails=meanwhile)
        self._telemetry.log("info", "staged", **row.log_fields)

    # --- Committing -------------------------------------------------------------------------------------------------

    def _commit(self, tx: Transaction) -> None:
        """Commit, repeating the same request through conflicts and throttles."""
        token, problem = self._new_token(), "no time was left"
        for _ in self._retry.tries(self._clock, self._random):
            try:
                refused = self._transactions.commit(tx.writes, token=token)
            except Unavailable as error:
                problem = str(error)
                continue
            if refused is None:
                return
            self._explain(tx, refused)
            raise tx.refusal(refused)
        raise Unavailable(f"the transaction may or may not have been committed: {problem}; repeat the whole of it")

    def _explain(self, tx: Transaction, refused: int) -> None:
        """Say more of a refused row of our own: somebody else staged it between our look and our commit."""
        item = tx.writes[refused].item
        if item is not None and tx.writes[refused].table == self._table.name:
            self._check_new(str(item[OutboxAttribute.KEY]), lambda: str(item[OutboxAttribute.FINGERPRINT]))
