"""What was seen, for people as tables and for programs as documents. Keys of payloads appear only as hashes. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from rich.box import SIMPLE_HEAD
from rich.console import JustifyMethod
from rich.table import Table

from claim_check.telemetry import key_hash
from claim_check_ops.dlq.times import iso, span
from claim_check_ops.looking.inbox_rows import redacted
from claim_check_ops.looking.status import is_overdue

if TYPE_CHECKING:
    from claim_check.ports import InboxRow
    from claim_check_ops.looking.inbox_rows import Listing
    from claim_check_ops.looking.ports import Depth
    from claim_check_ops.looking.status import Status

_NOTHING: Final = "-"
_UNKNOWN: Final = "unknown"
_NUMBERS: Final = frozenset({"attempts", "idle", "bytes"})


# --- status ---------------------------------------------------------------------------------------------------------


def status_table(status: Status) -> Table:
    """All about one consumer, a line each."""
    work, more = status.work, "" if status.work.complete else " or more"
    table = Table(box=None, show_header=False, title=_heading(status), title_justify="left", pad_edge=False)
    lines = {
        "polling": _NOTHING if status.polling is None else ", ".join(status.polling) or "nothing polls",
        "queue": _depth(status.queue),
        "oldest message": _age(status.queue_oldest_seconds),
        "dead letters": _NOTHING if status.dlq is None else _depth(status.dlq),
        "oldest dead letter": _NOTHING if status.dlq is None else _age(status.dlq_oldest_seconds),
        "in progress": f"{work.in_progress}{more}, {work.overdue} past the end of their lease",
        "waiting to retry": f"{_counted(work.failed)}{more}",
        "being parked": f"{work.parking}{more}",
        "parked": f"{_counted(work.parked)}{more}",
        "oldest open work": _NOTHING if work.oldest_seconds is None else span(work.oldest_seconds),
        "stuck": f"{work.stuck}{more}",
    }
    if status.dlq is None:
        lines["blocked groups"] = f"{work.blocked}{more}"
    for name, value in lines.items():
        table.add_row(f"  {name}", value)
    return table


def status_document(statuses: Sequence[Status]) -> dict[str, Any]:
    """All consumers, for programs."""
    return {"healthy": not any(one.problems for one in statuses), "consumers": [_status(one) for one in statuses]}


def _status(status: Status) -> dict[str, Any]:
    work = status.work
    return {
        "consumer": status.consumer,
        "function": status.function,
        "problems": status.problems,
        "polling": status.polling,
        "queue": _depth_document(status.queue, status.queue_oldest_seconds),
        "dlq": None if status.dlq is None else _depth_document(status.dlq, status.dlq_oldest_seconds),
        "inbox": {
            "inProgress": work.in_progress,
            "overdue": work.overdue,
            "stuck": work.stuck,
            "blocked": work.blocked,
            "failed": dict(work.failed),
            "parking": work.parking,
            "parked": dict(work.parked),
            "oldestSeconds": work.oldest_seconds,
            "complete": work.complete,
        },
    }


def _depth_document(depth: Depth, oldest: float | None) -> dict[str, Any]:
    return {
        "visible": depth.visible,
        "inFlight": depth.in_flight,
        "delayed": depth.delayed,
        "oldestSeconds": oldest,
    }


def _heading(status: Status) -> str:
    verdict = f"needs a person: {', '.join(status.problems)}" if status.problems else "healthy"
    return f"{status.consumer}: {verdict}"


def _depth(depth: Depth) -> str:
    return f"{depth.visible} visible, {depth.in_flight} in flight, {depth.delayed} delayed"


def _age(seconds: float | None) -> str:
    return _UNKNOWN if seconds is None else span(seconds)


def _counted(codes: Mapping[str, int]) -> str:
    total = sum(codes.values())
    each = ", ".join(f"{code} {count}" for code, count in codes.items())
    return f"{total} ({each})" if codes else "0"


# --- inbox ----------------------------------------------------------------------------------------------------------


def rows_table(rows: Sequence[InboxRow], *, now: float) -> Table:
    """A line for each row."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("event", "tenant", "type", "state", "code", "attempts", "idle", "SQS message"):
        justify: JustifyMethod = "right" if heading in _NUMBERS else "left"
        table.add_column(heading, justify=justify, overflow="fold", no_wrap=heading == "event")  # to be copied
    for row in rows:
        state = f"{row.state} (overdue)" if is_overdue(row, now) else row.state
        table.add_row(
            row.message_id or _NOTHING,
            row.tenant_id or _NOTHING,
            row.event_type or _NOTHING,
            state,
            row.last_code or _NOTHING,
            str(row.attempts),
            span(now - row.updated_at),
            row.sqs_message_id,
        )
    return table


def row_table(row: InboxRow, *, now: float) -> Table:
    """Everything that may be shown of one row."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(overflow="fold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in row_document(row, now=now).items():
        if value not in {None, ""}:
            table.add_row(name, str(value))
    return table


def listing_document(listing: Listing, *, now: float) -> dict[str, Any]:
    """A listing, for programs."""
    rows = [row_document(row, now=now) for row in listing.rows]
    return {"matching": listing.matching, "complete": listing.complete, "rows": rows}


def row_document(row: InboxRow, *, now: float) -> dict[str, Any]:
    """Everything that may be shown of one row: neither object key nor content hash, nor the owner's token."""
    facts = asdict(row)
    left_out = {"payload_key", "fingerprint", "owner", "last_message", "ttl", *_TIMES}
    shown = {_camel(name): value for name, value in facts.items() if name not in left_out}
    times = {_camel(name): iso(facts[name]) if facts[name] else None for name in _TIMES}
    return {
        **shown,
        "overdue": is_overdue(row, now),
        "lastMessage": redacted(row),
        "payloadKeyHash": key_hash(row.payload_key) if row.payload_key else None,
        **times,
        "forgottenAt": iso(row.ttl) if row.ttl else None,
    }


_TIMES: Final = ("first_seen_at", "updated_at", "lease_until")


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)
