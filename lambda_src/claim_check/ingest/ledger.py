"""The rules of the ledger: what an event means for the row that is there (R10.2). Pure.

A row never goes back. Its state is one that the bucket had at or after the event of its sequencer. Where the state is
that very event's (`LedgerRow.exact`), a later event may be applied as it is. Where the bucket itself was looked at, the
state may be later than any event so far, so that the bucket is asked again.
"""

from __future__ import annotations

import hashlib
from enum import Enum
from typing import TYPE_CHECKING

from claim_check.ingest.changes import ObjectEvent, ObjectState
from claim_check.ingest.ports import LedgerRow
from claim_check.ingest.sequencer import latest, order

if TYPE_CHECKING:
    from claim_check.contract import SequencerPad


class Verdict(Enum):
    """What is to be done about an event."""

    APPLY = "apply"
    """Apply it: it is later than all that was applied."""

    ASK = "ask"
    """Ask the bucket: the event does not tell enough."""

    UNDECIDED = "undecided"
    """Ask the bucket: the sequencers do not compare."""

    DUPLICATE = "duplicate"
    STALE = "stale"
    MOVED_ON = "moved on"
    """A synthetic event whose ledger row has changed since."""


def judge(row: LedgerRow | None, event: ObjectEvent, *, now: float, tombstone_seconds: int) -> Verdict:  # noqa: PLR0911 - one rule each
    """What an event means for a row.

    Args:
        row: The row as it is now.
        event: The event.
        now: Epoch seconds.
        tombstone_seconds: Life of a tombstone: for an older event, no row proves nothing.
    """
    if event.seen is not None:
        same = event.seen.revision == (None if row is None else row.revision)
        return Verdict.ASK if same else Verdict.MOVED_ON
    place = None if row is None else order(event.sequencer, row.sequencer)
    if place is not None and place <= 0:
        return Verdict.STALE if place < 0 else Verdict.DUPLICATE
    if event.sequencer is None:
        return Verdict.UNDECIDED
    if row is not None and row.sequencer is not None and place is None:
        return Verdict.UNDECIDED
    if event.action == "look" or (event.action == "put" and event.version_id is None and event.etag is None):
        return Verdict.ASK
    if row is None:
        known = event.occurred_at is not None and now - event.occurred_at <= tombstone_seconds
        return Verdict.APPLY if known else Verdict.ASK
    return Verdict.APPLY if row.exact and row.sequencer is not None else Verdict.ASK


def confirms(current: ObjectState | None, event: ObjectEvent) -> bool:
    """Whether the bucket, as it is now, is what an event says.

    Args:
        current: The object as it is; None if there is none.
        event: The event.
    """
    if event.seen is not None:
        return event.seen.etag == (None if current is None else current.etag)
    match event.action:
        case "look":
            return True
        case "delete":
            return current is None
        case "put":
            told = event.version_id is not None or event.etag is not None
            return current is not None and (not told or current.same_as(event.state))


def settled(row: LedgerRow | None, current: ObjectState | None) -> bool:
    """Whether the ledger says already what the bucket says."""
    if row is None:
        return False
    applied = row.object
    return applied is None if current is None else applied is not None and applied.same_as(current)


def row_after(
    row: LedgerRow | None,
    event: ObjectEvent,
    current: ObjectState | None,
    *,
    exact: bool,
    revision: str,
    now: float,
    tombstone_seconds: int,
    pad: SequencerPad,
) -> LedgerRow:
    """The row once a state was applied.

    Args:
        row: The row as it is.
        event: The event that led here.
        current: What was applied; None for the object's absence.
        exact: Whether that is the event's own state, rather than what the bucket said.
        revision: Of the new row.
        now: Epoch seconds.
        tombstone_seconds: Life of a tombstone.
        pad: Side on which sequencers are padded.
    """
    before = None if row is None else row.sequencer
    gone = current is None
    return LedgerRow(
        bucket=event.bucket,
        key=event.key.text,
        state="DELETED" if gone else "PRESENT",
        revision=revision,
        sequencer=event.sequencer if exact else latest(event.sequencer, before, pad),
        exact=exact,
        kind=event.kind,
        version_id=(event.version_id if exact else None) if current is None else current.version_id,
        etag=None if current is None else current.etag,
        size=None if current is None else current.size,
        modified_at=None if current is None else current.modified_at,
        applied_at=now,
        ttl=int(now) + tombstone_seconds if gone else None,
    )


def effect_token(row: LedgerRow | None, event: ObjectEvent) -> str:
    """Names an effect: the same whenever it is tried again, and never that of another one."""
    told = event.sequencer or f"after {None if row is None else row.revision}"
    return hashlib.sha256(f"{event.bucket}/{event.key.text}/{told}".encode()).hexdigest()
