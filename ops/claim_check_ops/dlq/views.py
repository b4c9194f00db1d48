"""Dead letters for people, as tables, and for programs, as documents. Keys of payloads appear only as hashes. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from rich.box import SIMPLE_HEAD
from rich.console import JustifyMethod
from rich.filesize import decimal
from rich.table import Table

from claim_check.contract import DAY_SECONDS
from claim_check.envelope import Claim, Inline, UnverifiedClaim, format_time
from claim_check.ports import InboxRow
from claim_check.telemetry import key_hash
from claim_check_ops.dlq.assessing import Assessed
from claim_check_ops.dlq.letters import DeadLetter, Group
from claim_check_ops.dlq.pace import Limit
from claim_check_ops.dlq.payloads import PayloadCheck
from claim_check_ops.dlq.redriving import total_of
from claim_check_ops.dlq.report import Report, Stayed, event_id
from claim_check_ops.dlq.surveying import Sample
from claim_check_ops.dlq.times import iso, span

WHY_UNSEEN: Final = (
    "hidden by another command or by the archive's function (for minutes yet, if it died), "
    "or behind others of their groups"
)
_NOTHING: Final = "-"


# --- list -----------------------------------------------------------------------------------------------------------


def groups_table(groups: Sequence[Group], *, now: float, life_seconds: float) -> Table:
    """One row per reason, tenant and type."""
    table = _table("Dead letters")
    for heading in ("reason", "tenant", "type", "in", "messages", "by SQS", "payload", "oldest", "life left"):
        table.add_column(heading, justify="right" if heading in _NUMBERS else "left", overflow="fold")
    for group in groups:
        left = group.life_left(now, life_seconds)
        table.add_row(
            group.reason,
            group.tenant_id,
            group.event_type,
            group.source,
            str(len(group.letters)),
            str(group.moved_by_sqs or ""),
            decimal(group.payload_bytes),
            span(group.oldest(now)),
            _NOTHING if left is None else _life(left),
        )
    return table


def letters_table(letters: Sequence[DeadLetter], *, now: float, life_seconds: float) -> Table:
    """One row per dead letter."""
    table = _table("Dead letters, one by one")
    for heading in ("id", "event", "reason", "tenant", "type", "attempts", "payload", "age", "life left"):
        justify: JustifyMethod = "right" if heading in _NUMBERS else "left"
        table.add_column(heading, justify=justify, overflow="fold", no_wrap=heading == "id")  # to be copied
    for letter in letters:
        ends = letter.life_ends(life_seconds)
        table.add_row(
            letter.id,
            event_id(letter) or _NOTHING,
            letter.reason,
            letter.tenant_id,
            letter.event_type,
            _NOTHING if letter.attempts is None else str(letter.attempts),
            decimal(letter.payload_bytes),
            span(now - letter.died_at),
            _NOTHING if ends is None else _life(ends - now),
        )
    return table


def sample_document(sample: Sample, groups: Sequence[Group], *, now: float, life_seconds: float) -> dict[str, Any]:
    """All of it, for programs."""
    return {
        "seen": len(sample.letters),
        "about": sample.totals,
        "complete": sample.complete,
        "hiddenUntilTheirTimeIsUp": sorted(sample.not_given_back),
        "groups": [_group(group, now, life_seconds) for group in groups],
        "messages": [letter_document(letter, now=now, life_seconds=life_seconds) for letter in sample.letters],
    }


def _group(group: Group, now: float, life_seconds: float) -> dict[str, Any]:
    left = group.life_left(now, life_seconds)
    return {
        "reason": group.reason,
        "tenantId": group.tenant_id,
        "eventType": group.event_type,
        "source": group.source,
        "messages": len(group.letters),
        "movedBySqs": group.moved_by_sqs,
        "payloadBytes": group.payload_bytes,
        "oldestSeconds": round(group.oldest(now), 3),
        "lifeLeftDays": None if left is None else round(left / DAY_SECONDS, 3),
    }


def letter_document(letter: DeadLetter, *, now: float, life_seconds: float) -> dict[str, Any]:
    """One dead letter in short."""
    ends = letter.life_ends(life_seconds)
    return {
        "sqsMessageId": letter.id,
        "messageId": event_id(letter),
        "source": letter.source,
        "reason": letter.reason,
        "attempts": letter.attempts,
        "tenantId": letter.tenant_id,
        "eventType": letter.event_type,
        "movedBySqs": letter.parked is None,
        "redriveRound": letter.delivery.redrive_round,
        "payloadBytes": letter.payload_bytes,
        "ageSeconds": round(now - letter.died_at, 3),
        "lifeLeftDays": None if ends is None else round((ends - now) / DAY_SECONDS, 3),
    }


# --- show -----------------------------------------------------------------------------------------------------------


def details(letter: DeadLetter, *, now: float, life_seconds: float, reveal_key: bool) -> dict[str, Any]:
    """Everything about one dead letter but its payload.

    Args:
        letter: The dead letter.
        now: Epoch seconds.
        life_seconds: The retention plan's sum.
        reveal_key: Show the key of the payload itself.
    """
    delivery = letter.delivery
    return {
        **letter_document(letter, now=now, life_seconds=life_seconds),
        "sentAt": iso(delivery.sent_at),
        "receiveCount": delivery.receive_count,
        "groupId": delivery.group_id,
        "traceHeader": delivery.trace_header,
        "deadLetterSource": delivery.dead_letter_source,
        "attributes": {
            name: value.value if isinstance(value.value, str) else f"{len(value.value)} bytes"
            for name, value in sorted(delivery.attributes.items())
        },
        "refusal": None if letter.refusal is None else {"code": letter.refusal.code, "text": str(letter.refusal)},
        "envelope": _envelope(letter, reveal_key=reveal_key),
        "inbox": None if letter.row is None else _row(letter.row),
    }


def details_table(document: dict[str, Any]) -> Table:
    """The same for people: a line per field that says something."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in _flat(document):
        table.add_row(name, str(value))
    return table


def _flat(document: dict[str, Any], before: str = "") -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for name, value in document.items():
        if isinstance(value, dict):
            found += _flat(value, f"{before}{name}.")
        elif value is not None:
            found.append((f"{before}{name}", value))
    return found


def _envelope(letter: DeadLetter, *, reveal_key: bool) -> dict[str, Any] | None:
    envelope = letter.envelope
    if envelope is None:
        return None
    return {
        "messageId": envelope.message_id,
        "eventType": envelope.event_type,
        "eventVersion": envelope.event_version,
        "tenantId": envelope.tenant_id,
        "idempotencyKey": envelope.idempotency_key,
        "correlationId": envelope.correlation_id,
        "occurredAt": None if envelope.occurred_at is None else format_time(envelope.occurred_at),
        "publishedAt": None if envelope.published_at is None else format_time(envelope.published_at),
        "domainRef": dict(envelope.domain_ref),
        "payload": _payload(envelope.payload, reveal_key=reveal_key),
    }


def _payload(payload: Inline | Claim | UnverifiedClaim, *, reveal_key: bool) -> dict[str, Any]:
    common = {"contentType": payload.content_type, "contentLength": payload.content_length}
    if isinstance(payload, Inline):
        return {"delivery": "inline", **common}
    return {
        "delivery": "claim",
        **common,
        "bucket": payload.bucket,
        "keyHash": key_hash(payload.key),
        "key": payload.key if reveal_key else None,
        "versionId": payload.version_id,
        "sha256": payload.sha256 if isinstance(payload, Claim) and reveal_key else None,
    }


def _row(row: InboxRow) -> dict[str, Any]:
    return {
        "state": row.state,
        "attempts": row.attempts,
        "attemptsSpent": row.attempts_spent,
        "redriven": row.redriven,
        "lastCode": row.last_code,
        "lastMessage": row.last_message,
        "sqsMessageId": row.sqs_message_id,
        "leaseUntil": iso(row.lease_until) if row.lease_until else None,
        "firstSeenAt": iso(row.first_seen_at),
        "updatedAt": iso(row.updated_at),
    }


# --- check ----------------------------------------------------------------------------------------------------------


def checks_table(letters: Sequence[DeadLetter], checks: Sequence[PayloadCheck]) -> Table:
    """How many payloads are in which state."""
    table = _table("Payloads of dead letters")
    for heading in ("payload", "messages", "bytes"):
        table.add_column(heading, justify="right" if heading in _NUMBERS else "left")
    counts = Counter(check.state for check in checks)
    for state, count in counts.most_common():
        size = sum(letter.payload_bytes for letter, check in zip(letters, checks, strict=True) if check.state == state)
        table.add_row(state, str(count), decimal(size))
    return table


def checks_document(
    letters: Sequence[DeadLetter], checks: Sequence[PayloadCheck], *, now: float, life_seconds: float
) -> dict[str, Any]:
    """The state of each payload, for programs."""
    rows = []
    for letter, check in zip(letters, checks, strict=True):
        ends = check.life_ends(life_seconds)
        rows.append(
            {
                "sqsMessageId": letter.id,
                "messageId": event_id(letter),
                "reason": letter.reason,
                "payload": check.state,
                "claimedBytes": letter.payload_bytes,
                "bytes": check.size,
                "lifeLeftDays": None if ends is None else round((ends - now) / DAY_SECONDS, 3),
            }
        )
    return {"counts": dict(Counter(check.state for check in checks)), "messages": rows}


# --- redrive --------------------------------------------------------------------------------------------------------


def plan_table(assessed: Sequence[Assessed]) -> Table:
    """What a redrive would do, by action and reason."""
    table = _table("What a redrive does")
    for heading in ("does", "why", "to", "messages", "payload"):
        table.add_column(heading, justify="right" if heading in _NUMBERS else "left", overflow="fold")
    found: dict[tuple[str, str, str], list[Assessed]] = {}
    for one in assessed:
        to = one.destination.name if one.destination is not None and one.verdict.action == "send" else _NOTHING
        found.setdefault((_ACTIONS[one.verdict.action], one.verdict.code or _NOTHING, to), []).append(one)
    for (action, code, to), ones in sorted(found.items(), key=lambda item: -len(item[1])):
        table.add_row(action, code, to, str(len(ones)), decimal(sum(one.letter.payload_bytes for one in ones)))
    return table


def plan_document(assessed: Sequence[Assessed], limit: Limit) -> dict[str, Any]:
    """The same for programs."""
    messages, payload_bytes = total_of(assessed)
    return {
        "messages": messages,
        "payloadBytes": payload_bytes,
        "seconds": round(limit.seconds(messages=messages, payload_bytes=payload_bytes), 3),
        "rate": limit.rate,
        "maxBytesPerSecond": limit.bytes_per_second,
        "plan": [
            {
                "sqsMessageId": one.letter.id,
                "messageId": event_id(one.letter),
                "reason": one.letter.reason,
                "does": one.verdict.action,
                "why": one.verdict.code or None,
                "text": one.verdict.text or None,
                "queue": None if one.destination is None else one.destination.name,
                "payloadBytes": one.letter.payload_bytes,
            }
            for one in assessed
        ],
    }


def estimate(assessed: Sequence[Assessed], limit: Limit) -> str:
    """One sentence on how much it is and how long it takes."""
    messages, payload_bytes = total_of(assessed)
    takes = span(limit.seconds(messages=messages, payload_bytes=payload_bytes))
    limits = f"{limit.rate:g} messages/s"
    if limit.bytes_per_second is not None:
        limits += f" and {decimal(int(limit.bytes_per_second))}/s"
    return f"{messages} messages with {decimal(payload_bytes)} of payload; at {limits} that takes at least {takes}."


def stayed_table(stayed: Sequence[Stayed]) -> Table:
    """Why dead letters stay, and which."""
    table = _table("What stays")
    for heading in ("why", "messages", "in words", "the first of them"):
        table.add_column(heading, justify="right" if heading in _NUMBERS else "left", overflow="fold")
    found: dict[str, list[Stayed]] = {}
    for one in stayed:
        found.setdefault(one.code, []).append(one)
    for code, ones in sorted(found.items(), key=lambda item: -len(item[1])):
        table.add_row(code, str(len(ones)), ones[0].text, ", ".join(one.letter_id for one in ones[:3]))
    return table


def report_lines(report: Report) -> list[str]:
    """What happened, in sentences."""
    rate = f" in {span(report.seconds)}" if report.seconds else ""
    lines = [f"Redrive {report.run}: {len(report.moved)} moved with {decimal(report.payload_bytes)} of payload{rate}."]
    if fates := report.fates():
        lines.append("Their copies: " + ", ".join(f"{number} {name}" for name, number in fates.items()) + ".")
    facts = {
        "removed, whose copies an earlier run had sent": len(report.caught_up),
        "acknowledged, since the inbox has them as completed": len(report.completed),
        "sent, but still in the DLQ; run the same command again to remove them": len(report.still_there),
        "not meant": report.not_meant,
        "hidden until their time is up, since they could not be given back": len(report.not_given_back),
        f"or so more were never seen: {WHY_UNSEEN}, or new; run it again": report.unseen,
    }
    lines += [f"{number} {text}." for text, number in facts.items() if number]
    if report.stopped is not None:
        lines.append(f"Stopped: {report.stopped}.")
    return lines


_ACTIONS: Final = {"send": "sends", "stay": "leaves", "done": "skips"}
_NUMBERS: Final = frozenset({"messages", "by SQS", "payload", "oldest", "life left", "attempts", "age", "bytes"})


def _table(title: str) -> Table:
    return Table(title=title, box=SIMPLE_HEAD, title_justify="left")


def _life(seconds: float) -> str:
    days = seconds / DAY_SECONDS
    return f"[red]{days:.1f} d[/red]" if days < 1 else f"{days:.1f} d"
