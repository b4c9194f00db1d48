"""Judges payloads by what tables and the bucket know of them, in batched reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from claim_check.contract import KeyParts, parse_object_key
from claim_check.ports import ListedObject
from claim_check.reconciliation.judging import Class, Rows, by_look, by_rows, is_young, keys_of
from claim_check.reconciliation.ports import Look, Payloads
from claim_check.reconciliation.runs import InboxSource, OutboxSource, Plan
from claim_check.reconciliation.tally import Tally

_Row = TypeVar("_Row")

READ_KEYS: Final = 100
"""Keys of one batched read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What an object is, and what says so.

    Attributes:
        found: Its class.
        rows: What the tables know of its identity.
        look: What the bucket told, if it was asked.
    """

    found: Class
    rows: Rows = field(default_factory=Rows)
    look: Look | None = None


class Lookup:
    """Looks payloads up."""

    def __init__(
        self, plan: Plan, payloads: Payloads, inboxes: Sequence[InboxSource], outboxes: Sequence[OutboxSource]
    ) -> None:
        """Use these tables and this bucket."""
        self._plan = plan
        self._payloads = payloads
        self._inboxes = inboxes
        self._outboxes = outboxes

    def judge(self, objects: Sequence[ListedObject], tally: Tally, *, now: float) -> list[Verdict]:
        """Judge up to a hundred objects: a batched read per consumer and destination, unless all of them are young."""
        ours = {one.key: part for one in objects if (part := parse_object_key(one.key))}
        old = {one.key for one in objects if not is_young(one, self._plan.times, now=now)}
        rows = self._rows({key: part for key, part in ours.items() if key in old}, tally)
        verdicts = []
        for one in objects:
            if one.key not in ours or one.key not in old:
                verdicts.append(Verdict(found="young" if one.key in ours else "foreign"))
            else:
                verdicts.append(self._verdict(one, rows[one.key], tally, now=now))
        return verdicts

    def judge_again(self, listed: ListedObject, tally: Tally, *, now: float) -> Verdict:
        """Judge one object by what is known now."""
        part = parse_object_key(listed.key)
        look = self._payloads.look(bucket=self._plan.bucket, key=listed.key)
        tally.rechecks += 1
        if part is None or look is None:
            return Verdict(found="unknown")
        rows = self._rows({listed.key: part}, tally)[listed.key]
        found = by_rows(listed, rows, self._plan.times, bucket=self._plan.bucket, now=now)
        return Verdict(found=found or self._by_look(listed, rows, look, now=now), rows=rows, look=look)

    def _verdict(self, listed: ListedObject, rows: Rows, tally: Tally, *, now: float) -> Verdict:
        found = by_rows(listed, rows, self._plan.times, bucket=self._plan.bucket, now=now)
        if found is not None:
            return Verdict(found=found, rows=rows)
        if tally.looks >= self._plan.looks:
            tally.unlooked += 1
            return Verdict(found="unknown")
        tally.looks += 1
        look = self._payloads.look(bucket=self._plan.bucket, key=listed.key)
        return Verdict(found=self._by_look(listed, rows, look, now=now), rows=rows, look=look)

    def _by_look(self, listed: ListedObject, rows: Rows, look: Look | None, *, now: float) -> Class:
        tags: Mapping[str, str] | None = None
        if look is not None and look.uploaded and not rows:
            tags = self._payloads.tags(bucket=self._plan.bucket, key=listed.key, version_id=look.version_id)
        return by_look(listed, rows, look, tags, self._plan.times, now=now)

    def _rows(self, parts: Mapping[str, KeyParts], tally: Tally) -> dict[str, Rows]:
        """What the tables know of some identities, by object key."""
        inbox = [
            (one.consumers, one.reader.rows(_keys(parts, one.consumers, tally, outbox=False))) for one in self._inboxes
        ]
        outbox = [
            (one.destinations, one.table.rows(_keys(parts, one.destinations, tally, outbox=True)))
            for one in self._outboxes
        ]
        return {
            key: Rows(inbox=_found(part, inbox, outbox=False), outbox=_found(part, outbox, outbox=True))
            for key, part in parts.items()
        }


def _keys(parts: Mapping[str, KeyParts], names: Sequence[str], tally: Tally, *, outbox: bool) -> list[str]:
    keys = list(dict.fromkeys(key for part in parts.values() for key in keys_of(part, names, outbox=outbox)))
    tally.reads += -(-len(keys) // READ_KEYS)
    return keys


def _found(
    part: KeyParts, tables: Sequence[tuple[Sequence[str], Mapping[str, _Row]]], *, outbox: bool
) -> tuple[_Row, ...]:
    return tuple(rows[key] for names, rows in tables for key in keys_of(part, names, outbox=outbox) if key in rows)
