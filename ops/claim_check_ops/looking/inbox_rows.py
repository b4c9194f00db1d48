"""Finding rows of the inbox by what an operator has in hand; never by a scan. Pure, but for the reader it asks."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from claim_check import contract
from claim_check.telemetry import key_hash
from claim_check_ops.looking.status import MAX_ROWS, is_overdue

if TYPE_CHECKING:
    from claim_check.contract import InboxState
    from claim_check.ports import InboxReader, InboxRow

_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
_PAYLOAD_KEY: Final = re.compile(re.escape(contract.PAYLOAD_PREFIX) + r"\S+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which rows are wanted; what is None does not matter.

    Attributes:
        state: The row's state.
        code: Code of its last failure.
        tenant: Its tenant.
        overdue: Only those whose lease has ended without their work.
    """

    state: InboxState | None = None
    code: str | None = None
    tenant: str | None = None
    overdue: bool = False

    def matches(self, row: InboxRow, now: float) -> bool:
        """Whether a row is wanted."""
        return (
            self.code in {None, row.last_code}
            and self.tenant in {None, row.tenant_id}
            and (not self.overdue or is_overdue(row, now))
        )


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows, longest unchanged first.

    Attributes:
        rows: As many as were asked for.
        matching: How many there are.
        complete: Whether all open rows were looked at.
    """

    rows: list[InboxRow]
    matching: int
    complete: bool


def listing(
    reader: InboxReader, consumer: str, wanted: Wanted, *, now: float, limit: int, max_rows: int = MAX_ROWS
) -> Listing:
    """List rows that are not completed.

    Args:
        reader: Reads the inbox.
        consumer: Name of the consumer.
        wanted: Which rows.
        now: Epoch seconds.
        limit: Rows that are wanted.
        max_rows: Rows that are looked at.

    Raises:
        ReadRefused: The table refuses.
        Unavailable: It did not answer.
    """
    looked_at = list(islice(reader.open_rows(consumer, state=wanted.state), max_rows + 1))
    found = [row for row in looked_at[:max_rows] if wanted.matches(row, now)]
    oldest = heapq.nsmallest(limit, found, key=lambda row: (row.updated_at, row.key))
    return Listing(oldest, len(found), complete=len(looked_at) <= max_rows)


def keys_of(identity: str, *, consumer: str, tenant: str | None) -> list[str]:
    """Keys under which the row of an identity may be.

    Args:
        identity: A row's key; an event's idempotency key, or its id, which is the same unless the producer gave
            another; or SQS's id of a message.
        consumer: Name of the consumer.
        tenant: The event's tenant, if it is known.
    """
    keys = [identity] if "#" in identity else []
    if tenant is not None:
        keys.append(contract.inbox_key(consumer=consumer, tenant_id=tenant, idempotency_key=identity))
    return [*keys, contract.park_key(identity)]


def find(
    reader: InboxReader, identity: str, *, consumer: str, tenant: str | None, max_rows: int = MAX_ROWS
) -> list[InboxRow]:
    """Find rows: by their keys, else among those that are not completed, by the event's or SQS's id.

    Args:
        reader: Reads the inbox.
        identity: See `keys_of`.
        consumer: Name of the consumer.
        tenant: The event's tenant, if it is known.
        max_rows: Open rows that are looked at.

    Raises:
        ReadRefused: The table refuses.
        Unavailable: It did not answer.
    """
    found = reader.rows(keys_of(identity, consumer=consumer, tenant=tenant))
    if found:
        return list(found.values())
    open_rows: Iterator[InboxRow] = islice(reader.open_rows(consumer), max_rows)
    return list(_with_id(open_rows, identity, tenant))


def _with_id(rows: Iterable[InboxRow], identity: str, tenant: str | None) -> Iterator[InboxRow]:
    for row in rows:
        if identity in {row.message_id, row.sqs_message_id} and tenant in {None, row.tenant_id}:
            yield row


def redacted(row: InboxRow) -> str | None:
    """The row's last text without object keys and addresses, whoever wrote it (R11.4)."""
    text = row.last_message
    if text is None:
        return None
    if row.payload_key:
        text = text.replace(row.payload_key, f"key {key_hash(row.payload_key)}")
    return _PAYLOAD_KEY.sub("(key)", _URL.sub("(address)", text))
