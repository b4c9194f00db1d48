"""The inbox: who may work on a message, and what became of it (DESIGN section 3).

`may_take` and `judge` are the gate's rule, pure. `Inbox` applies it through conditional writes of an `InboxTable`.
Every write after the gate is guarded by the owner's token (fencing): a worker that lost its lease changes nothing.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Final

from claim_check import contract
from claim_check.contract import ErrorCode
from claim_check.envelope import Inline
from claim_check.errors import ConsumeError, LostLease, Unavailable
from claim_check.ports import Guard, InboxRow, Refused, TableWrite, Taken, WriteRefused

if TYPE_CHECKING:
    from claim_check.delivery import Delivery
    from claim_check.envelope import Envelope
    from claim_check.ports import Clock, InboxTable

UNLIMITED_ATTEMPTS: Final = 1_000_000_000


class Verdict(Enum):
    """What to do about a row that the gate did not take."""

    DONE = auto()
    """It is completed by our own token: the answer to our own commit was lost."""

    DUPLICATE = auto()
    """It is completed: acknowledge."""

    CONFLICT = auto()
    """The same identity with other content."""

    WAIT = auto()
    """Another worker is at it: hand back."""

    PARKED = auto()
    """This very message was parked: acknowledge."""

    FINISH_PARKING = auto()
    """This very message was being parked when its worker vanished."""

    EXHAUSTED = auto()
    """Its attempts are used up: park it with the last reason."""


def may_take(  # noqa: PLR0911 - one arrow of the protocol each
    row: InboxRow | None, wanted: InboxRow, *, now: float, max_attempts: int
) -> bool:
    """Whether the gate takes a row: absent, failed, lease ended, or the end of another message's life.

    The DynamoDB adapter spells this as a condition expression; the contract suite holds the two together.
    """
    if row is None:
        return True
    if row.fingerprint != wanted.fingerprint or row.attempts >= max_attempts:
        return False
    another_life = row.sqs_message_id != wanted.sqs_message_id
    lease_ended = row.lease_until <= now
    match row.state:
        case "FAILED":
            return True
        case "IN_PROGRESS":
            return lease_ended
        case "PARKED":
            return another_life
        case "PARKING":  # its worker is gone for good: native moves and redrives may outlive an unfinished parking
            return another_life and lease_ended
        case "COMPLETED":
            return False


def taken(wanted: InboxRow, before: InboxRow | None) -> InboxRow:
    """The row as the gate leaves it: one attempt more, the history of the present row kept.

    A row that was redriven once stays marked, whatever takes it later.
    """
    if before is None:
        return dataclasses.replace(wanted, attempts=1)
    return dataclasses.replace(
        wanted,
        attempts=before.attempts + 1,
        attempts_spent=before.attempts_spent,
        redriven=wanted.redriven or before.redriven,
        last_code=before.last_code,
        last_message=before.last_message,
        first_seen_at=before.first_seen_at,
    )


def judge(row: InboxRow, wanted: InboxRow, *, now: float, max_attempts: int) -> Verdict:
    """What a row that refused the gate means for this delivery."""
    if row.fingerprint != wanted.fingerprint:
        return Verdict.CONFLICT
    if row.state == "COMPLETED":
        return Verdict.DONE if row.owner == wanted.owner else Verdict.DUPLICATE
    same_life = row.sqs_message_id == wanted.sqs_message_id
    if row.state == "PARKED" and same_life:
        return Verdict.PARKED
    if row.state == "PARKING" and same_life:
        return Verdict.FINISH_PARKING
    alive = row.state == "IN_PROGRESS" and row.lease_until > now
    if row.attempts >= max_attempts and not alive:
        return Verdict.EXHAUSTED
    return Verdict.WAIT


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a message.

    Attributes:
        row: The row as we hold it.
        suspect: An earlier attempt was never closed: a process may have died of this very message.
    """

    row: InboxRow
    suspect: bool


class Hold:
    """A lease that is being worked under; a heartbeat may extend it from another thread until it is let go."""

    def __init__(self, inbox: Inbox, lease: Lease) -> None:
        """Hold a lease."""
        self._inbox = inbox
        self._lease = lease
        self._let_go = False
        self._lock = threading.Lock()

    @property
    def until(self) -> float:
        """When the lease ends, epoch seconds."""
        return self._lease.row.lease_until

    def extend(self, seconds: float) -> None:
        """Let the lease last so many seconds from now, unless it was let go.

        Raises:
            LostLease: Another worker owns the row.
            Unavailable: The table did not answer.
        """
        with self._lock:
            if not self._let_go:
                self._lease = self._inbox.extend(self._lease, seconds=seconds)

    def let_go(self) -> Lease:
        """End the extensions; returns the lease as it was last written, which later writes compare."""
        with self._lock:
            self._let_go = True
            return self._lease

    def hand_back(self, error: ConsumeError) -> bool:
        """Give the unfinished message up without the cost of an attempt. Whether it was committed after all.

        Raises:
            LostLease: Another worker owns the row.
            Unavailable: The table did not answer.
        """
        return self._inbox.fail(self.let_go(), code=error.code, message=str(error), refund=True)


@dataclass(frozen=True, slots=True)
class Standing:
    """The gate did not take the row: what it means, and the row that says so."""

    verdict: Verdict
    row: InboxRow


class Inbox:
    """The gate, the lease and the record of one consumer."""

    def __init__(
        self,
        table: InboxTable,
        *,
        consumer: str,
        ttl_seconds: int,
        clock: Clock,
        new_token: Callable[[], str],
        max_attempts: int = contract.DEFAULT_MAX_ATTEMPTS,
    ) -> None:
        """Open an inbox.

        Args:
            table: Where the rows are.
            consumer: Name of the consumer.
            ttl_seconds: How long a row is remembered after its last change; from the retention plan (R6.2).
            clock: Time.
            new_token: Makes owner tokens, up to 36 characters, never the same twice.
            max_attempts: Attempts before a message is parked; `UNLIMITED_ATTEMPTS` where nothing may be parked.
        """
        self._table = table
        self._consumer = consumer
        self._clock = clock
        self._new_token = new_token
        self.ttl_seconds = ttl_seconds
        self.max_attempts = max_attempts

    def gate(self, envelope: Envelope, delivery: Delivery, *, lease_seconds: float) -> Lease | Standing:
        """Take the lease on a message's identity with one conditional write, or say what stands in the way.

        Raises:
            Unavailable: The table did not answer.
        """
        now = self._clock.now()
        wanted = self._wanted(envelope, delivery, now=now, lease_until=now + lease_seconds)
        reply = self._table.take(wanted, now=now, max_attempts=self.max_attempts)
        if isinstance(reply, Taken):
            return Lease(reply.row, suspect=_left_open(reply.before))
        if reply.row is None:
            raise Unavailable("the inbox row vanished while the gate looked at it")
        if _is(reply.row, wanted.owner, "IN_PROGRESS"):  # the answer to our own gate was lost: the lease is ours
            return Lease(reply.row, suspect=reply.row.attempts > 1)  # what was there before is unknown
        return Standing(judge(reply.row, wanted, now=now, max_attempts=self.max_attempts), reply.row)

    def complete(self, lease: Lease, writes: Sequence[TableWrite], *, at: float) -> int | None:
        """Commit the effect and the record together. None when committed, else the number of the refused write.

        Args:
            lease: Ours.
            writes: The handler's.
            at: Time of completion: the same whenever this is repeated, since one client token means one request.

        Raises:
            LostLease: Another worker owns the row.
            CommitFailed: Refused for good.
            Unavailable: Conflict, throttle or no answer; repeating is safe.
        """
        row = self._changed(lease.row, at=at, state="COMPLETED", lease_until=0.0, last_code=None, last_message=None)
        guard = Guard(owner=row.owner, state="IN_PROGRESS")
        reply = self._table.complete(row, guard=guard, writes=writes, token=row.owner)
        if reply is None or (isinstance(reply, Refused) and _is(reply.row, row.owner, "COMPLETED")):
            return None
        if isinstance(reply, WriteRefused):
            return reply.index
        raise LostLease("another worker has taken this message over; nothing was committed")

    def fail(self, lease: Lease, *, code: str, message: str, refund: bool) -> bool:
        """Record a failed attempt and give the lease back. Whether it turned out to be committed after all.

        Args:
            lease: Ours.
            code: Error code.
            message: Redacted text.
            refund: The attempt does not count.

        Raises:
            LostLease: Another worker owns the row.
            Unavailable: The table did not answer.
        """
        attempts = max(0, lease.row.attempts - 1) if refund else lease.row.attempts
        row = self._changed(
            lease.row, state="FAILED", lease_until=0.0, attempts=attempts, last_code=code, last_message=message
        )
        reply = self._table.replace(row, guard=Guard(owner=row.owner, state="IN_PROGRESS"))
        if reply is None or _is(reply.row, row.owner, "FAILED"):
            return False
        if _is(reply.row, row.owner, "COMPLETED"):
            return True
        raise LostLease("another worker has taken this message over; the failure was not recorded")

    def extend(self, lease: Lease, *, seconds: float) -> Lease:
        """Let a lease last longer, from now on.

        Args:
            lease: Ours.
            seconds: From now.

        Raises:
            LostLease: Another worker owns the row.
            Unavailable: The table did not answer.
        """
        row = dataclasses.replace(lease.row, lease_until=self._clock.now() + seconds)
        reply = self._table.replace(row, guard=Guard(owner=row.owner, state="IN_PROGRESS"))
        if reply is None:
            return dataclasses.replace(lease, row=row)
        if reply.row is not None and reply.row.owner == row.owner:  # our own handler was faster: it is closed
            return lease
        raise LostLease("another worker has taken this message over; its lease cannot be extended")

    def start_parking(
        self, row: InboxRow, delivery: Delivery, *, code: str, message: str, lease_seconds: float
    ) -> InboxRow:
        """Mark a row as being parked; its attempts start from zero in its next life.

        Args:
            row: The row as it was last seen: ours, or one whose attempts are used up, or whose parking was left.
            delivery: The message to be parked.
            code: Reason.
            message: Redacted text.
            lease_seconds: Time this worker has to finish.

        Raises:
            LostLease: The row is not as it was last seen.
            Unavailable: The table did not answer.
        """
        spent = row.attempts_spent if row.state == "PARKING" else row.attempts
        parking = self._changed(
            row,
            state="PARKING",
            owner=self._new_token(),
            sqs_message_id=delivery.sqs_message_id,
            lease_until=self._clock.now() + lease_seconds,
            attempts=0,
            attempts_spent=spent,
            last_code=code,
            last_message=message,
        )
        guard = Guard(owner=row.owner, state=row.state, lease_until=row.lease_until)
        self._replace(parking, guard)
        return parking

    def start_parking_unclaimed(
        self, delivery: Delivery, *, code: str, message: str, lease_seconds: float
    ) -> InboxRow | None:
        """Record a message that has no claim on any identity under a row of its own; None if it is parked already.

        Raises:
            LostLease: Another worker is parking it.
            Unavailable: The table did not answer.
        """
        now = self._clock.now()
        parking = self._changed(
            InboxRow(
                key=contract.park_key(delivery.sqs_message_id),
                state="PARKING",
                consumer=self._consumer,
                sqs_message_id=delivery.sqs_message_id,
                owner=self._new_token(),
                first_seen_at=now,
            ),
            lease_until=now + lease_seconds,
            last_code=code,
            last_message=message,
        )
        reply = self._table.replace(parking, guard=None)
        if reply is None or reply.row is None:
            return parking
        if reply.row.state == "PARKED":
            return None
        if reply.row.owner != parking.owner:
            self._replace(parking, Guard(owner=reply.row.owner, state="PARKING"))
        return parking

    def finish_parking(self, row: InboxRow) -> None:
        """Mark a row as parked: its copy lies in the DLQ.

        Raises:
            LostLease: The parking was taken over.
            Unavailable: The table did not answer.
        """
        parked = self._changed(row, state="PARKED", lease_until=0.0)
        self._replace(parked, Guard(owner=row.owner, state="PARKING"))

    def reopen(self, row: InboxRow) -> None:
        """Let a row whose parking was left be worked on again, where nothing may be parked any more.

        Raises:
            LostLease: The row is not as it was last seen.
            Unavailable: The table did not answer.
        """
        failed = self._changed(row, state="FAILED", lease_until=0.0)
        self._replace(failed, Guard(owner=row.owner, state="PARKING", lease_until=row.lease_until))

    def _replace(self, row: InboxRow, guard: Guard) -> None:
        reply = self._table.replace(row, guard=guard)
        if reply is not None and not _is(reply.row, row.owner, row.state):
            raise LostLease("another worker has taken this message over")

    def _wanted(self, envelope: Envelope, delivery: Delivery, *, now: float, lease_until: float) -> InboxRow:
        payload = envelope.payload
        claim = None if isinstance(payload, Inline) else payload
        return InboxRow(
            key=contract.inbox_key(
                consumer=self._consumer, tenant_id=envelope.tenant_id, idempotency_key=envelope.idempotency_key
            ),
            state="IN_PROGRESS",
            consumer=self._consumer,
            sqs_message_id=delivery.sqs_message_id,
            fingerprint=envelope.fingerprint,
            owner=self._new_token(),
            lease_until=lease_until,
            redriven=delivery.redrive_round,
            tenant_id=envelope.tenant_id,
            event_type=envelope.event_type,
            message_id=envelope.message_id,
            correlation_id=envelope.correlation_id,
            payload_bucket=claim.bucket if claim else None,
            payload_key=claim.key if claim else None,
            payload_version=claim.version_id if claim else None,
            payload_bytes=payload.content_length,
            first_seen_at=now,
            updated_at=now,
            ttl=self._expiry(now),
        )

    def _changed(self, row: InboxRow, *, at: float | None = None, **changes: object) -> InboxRow:
        now = self._clock.now() if at is None else at
        return dataclasses.replace(row, updated_at=now, ttl=self._expiry(now), **changes)  # type: ignore[arg-type]

    def _expiry(self, now: float) -> int:
        return int(now) + self.ttl_seconds


def last_reason(row: InboxRow) -> tuple[str, str]:
    """Code and text of the last reason of a row whose attempts are used up."""
    if row.state == "IN_PROGRESS" or row.last_code is None:
        return ErrorCode.HANDLER_CRASHED, "an attempt was never closed: the process died or ran out of time"
    return row.last_code, row.last_message or ""


def _left_open(before: InboxRow | None) -> bool:
    return before is not None and (before.state == "IN_PROGRESS" or before.last_code == ErrorCode.HANDLER_CRASHED)


def _is(row: InboxRow | None, owner: str, state: str) -> bool:
    return row is not None and row.owner == owner and row.state == state
