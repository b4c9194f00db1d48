"""What the rows and the object itself say of a payload: pure rules (R7.1).

An object is named by its exact key. What points at another key of the same identity (another content, another
generation) says nothing of this one, and proves nothing, either.

================  ====================================================================================================
``young``         younger than the grace age: nobody looks
``open``          a row points at it, and its work is not done: in progress, failed, parked, or yet to be sent
``completed``     every consumer that has seen it has completed it
``unpublished``   no message can ever point at it: its outbox row was set aside before any send, or its upload by grant
                  was not confirmed in time. The only class that is ever removed
``unknown``       no row knows it: published directly and not yet seen, filtered away, or never sent
``foreign``       its key is none of ours
================  ====================================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from claim_check import contract
from claim_check.contract import KeyParts
from claim_check.outbox.rows import OutboxRow
from claim_check.ports import InboxRow, ListedObject
from claim_check.reconciliation.ports import Look

Class = Literal["young", "open", "completed", "unpublished", "unknown", "foreign"]
CLASSES: Final[tuple[Class, ...]] = get_args(Class)

SET_ASIDE: Final = frozenset({"PARKED", "DISCARDED"})
"""States of an outbox row whose message is not in its queue, as far as the relay knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Ages that decide, seconds.

    Attributes:
        grace: Younger objects, and rows set aside for less, are left alone.
        before_send: A producer that meets an older object at its key does not rely on it, and no relay sends an older
            row: what no pointer has by then, none will get.
        unconfirmed: No upload by grant is confirmed later.
    """

    grace: int
    before_send: int
    unconfirmed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What the tables know of one identity.

    Attributes:
        inbox: Its rows, of all consumers.
        outbox: Its rows, of all destinations.
    """

    inbox: Sequence[InboxRow] = ()
    outbox: Sequence[OutboxRow] = ()

    def __bool__(self) -> bool:
        """Whether any row knows it."""
        return bool(self.inbox or self.outbox)


def keys_of(parts: KeyParts, names: Sequence[str], *, outbox: bool = False) -> list[str]:
    """Keys that the rows of an object's identity would have.

    Args:
        parts: What its key says.
        names: Consumers; or destinations of an outbox.
        outbox: Which of them.
    """
    if outbox:
        return [
            contract.outbox_key(destination=name, tenant_id=parts.tenant_id, id_hash=parts.id_hash) for name in names
        ]
    return [
        contract.inbox_key_of_hash(consumer=name, tenant_id=parts.tenant_id, id_hash=parts.id_hash) for name in names
    ]


def is_young(listed: ListedObject, times: Times, *, now: float) -> bool:
    """Whether an object is left alone for now."""
    return now - listed.last_modified.timestamp() < times.grace


def by_rows(listed: ListedObject, rows: Rows, times: Times, *, bucket: str, now: float) -> Class | None:
    """What the rows say of an object past the grace age; None if they need a look at the object (`by_look`)."""
    inbox = [row for row in rows.inbox if (row.payload_bucket, row.payload_key) == (bucket, listed.key)]
    outbox = [row for row in rows.outbox if (row.payload_bucket, row.payload_key) == (bucket, listed.key)]
    if inbox:
        waits = any(row.state != "COMPLETED" for row in inbox) or any(row.state == "PENDING" for row in outbox)
        return "open" if waits else "completed"
    if any(row.state not in SET_ASIDE for row in outbox):
        return "open"
    if outbox and not rows.inbox and _all_set_aside(listed, rows, times, now=now):
        return None
    if any(row.state == "PARKED" for row in outbox):
        return "open"  # an operator may still send it, or the queue may have it
    return "unknown" if rows else None


def by_look(
    listed: ListedObject,
    rows: Rows,
    look: Look | None,
    tags: Mapping[str, str] | None,
    times: Times,
    *,
    now: float,
) -> Class:
    """What the object itself says where the rows do not decide.

    Args:
        listed: The object.
        rows: None of them, or outbox rows that were set aside: those prove something of an object that was put for
            them, and nothing of one that somebody may have published directly, too.
        look: The object, if it is there.
        tags: Its tags, if it was uploaded by grant.
        times: Ages that decide.
        now: Epoch seconds.
    """
    if rows:
        parked = any(row.state == "PARKED" for row in rows.outbox)
        return proven(listed) if look is not None and look.kept else "open" if parked else "unknown"
    if look is None or tags is None or not look.uploaded:
        return "unknown"
    age = now - look.last_modified.timestamp()
    late = age > times.unconfirmed + contract.RECONCILE_MARGIN_SECONDS
    return proven(listed) if late and tags.get(contract.TAG_STATE) == contract.TAG_UNCONFIRMED else "unknown"


def proven(listed: ListedObject) -> Class:
    """What a proof is worth: later generations of a key are left to the lifecycle, as are their siblings."""
    parts = contract.parse_object_key(listed.key)
    return "unpublished" if parts is not None and parts.generation == 0 else "unknown"


def never_sent(row: OutboxRow) -> bool:
    """Whether a row proves that its message is in no queue: no send was begun whose outcome nobody knows.

    A row bound for a FIFO queue never does: its relay holds the right to its whole group, so that the row itself does
    not tell whether a send was begun whose answer was lost.
    """
    known = not row.doubtful and row.left_by is None and row.sqs_message_id is None
    return row.state in SET_ASIDE and known and not row.ordered


def _all_set_aside(listed: ListedObject, rows: Rows, times: Times, *, now: float) -> bool:
    """Whether every row of the identity was set aside in time before any send, and no producer relies on the object."""
    age = now - listed.last_modified.timestamp()
    if age <= times.before_send + contract.RECONCILE_MARGIN_SECONDS:
        return False
    return all(never_sent(row) and _given_up(row, times, now=now) for row in rows.outbox)


def _given_up(row: OutboxRow, times: Times, *, now: float) -> bool:
    """Whether nobody will send a row any more: an operator has as long as the grace age to retry a parked one."""
    return row.state == "DISCARDED" or now - row.updated_at >= times.grace
