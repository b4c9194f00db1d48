"""Settings of a reconciliation of payloads, as its construct writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from claim_check import contract
from claim_check.contract import Setting
from claim_check.errors import InvalidSetting
from claim_check.reconciliation.judging import Times
from claim_check.reconciliation.runs import Plan
from claim_check.settings import Environment


@dataclass(frozen=True, kw_only=True)
class ReconcilerSettings:
    """Settings of a reconciliation.

    Attributes:
        name: Its name: the dimension of its metrics, and the key of its checkpoint.
        bucket: Bucket of the payloads.
        before_send_seconds: How old an object may be when its pointer is sent, by any producer.
        inboxes: Every consumer by the table of its inbox: ``documents=TableA,search=TableB``.
        outboxes: Every destination by the table of its outbox, in the same form.
        table: Table of its checkpoint; absent keeps none.
        prefix: Only keys that begin so.
        grace_seconds: Younger objects, and outbox rows that were set aside for less, are left alone.
        unconfirmed_seconds: No upload by grant is confirmed when it is older.
        delete: Whether it removes what is proven unpublished.
        rate: Objects removed a second, at most.
        looks: Objects of a run that no row knows and that are looked at one by one, at most.
        every_seconds: How long after the start of a run the next one is due.
        tracing: Trace with X-Ray.
    """

    name: str
    bucket: str
    before_send_seconds: int
    inboxes: Mapping[str, tuple[str, ...]]
    outboxes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    table: str | None = None
    prefix: str = contract.PAYLOAD_PREFIX
    grace_seconds: int = contract.RECONCILE_GRACE_SECONDS
    unconfirmed_seconds: int = contract.UNCONFIRMED_SECONDS
    delete: bool = False
    rate: float = contract.RECONCILE_RATE
    looks: int = contract.RECONCILE_LOOKS
    every_seconds: int = contract.DAY_SECONDS
    tracing: bool = False

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> ReconcilerSettings:
        """Read them.

        Raises:
            InvalidSetting: A variable is missing or malformed.
        """
        read = Environment(variables)
        read.text(Setting.RECONCILER_INBOXES)
        return cls(
            name=read.text(Setting.RECONCILER),
            bucket=read.text(Setting.BUCKET),
            before_send_seconds=read.integer(Setting.BEFORE_SEND),
            inboxes=_tables(read.words(Setting.RECONCILER_INBOXES), Setting.RECONCILER_INBOXES),
            outboxes=_tables(read.words(Setting.RECONCILER_OUTBOXES), Setting.RECONCILER_OUTBOXES),
            table=read.optional(Setting.RECONCILER_TABLE),
            prefix=_within(read.optional(Setting.RECONCILER_PREFIX) or cls.prefix),
            grace_seconds=read.integer(Setting.RECONCILER_GRACE, default=cls.grace_seconds),
            unconfirmed_seconds=read.integer(Setting.RECONCILER_UNCONFIRMED, default=cls.unconfirmed_seconds),
            delete=read.flag(Setting.RECONCILER_DELETE),
            rate=read.number(Setting.RECONCILER_RATE, default=cls.rate),
            looks=read.integer(Setting.RECONCILER_LOOKS, default=cls.looks),
            every_seconds=read.integer(Setting.RECONCILER_EVERY, default=cls.every_seconds, minimum=1),
            tracing=read.flag(Setting.TRACING),
        )

    @property
    def plan(self) -> Plan:
        """What a run does."""
        return Plan(
            name=self.name,
            bucket=self.bucket,
            times=Times(
                grace=self.grace_seconds, before_send=self.before_send_seconds, unconfirmed=self.unconfirmed_seconds
            ),
            prefix=self.prefix,
            delete=self.delete,
            rate=self.rate,
            looks=self.looks,
            every_seconds=self.every_seconds,
        )


def _within(prefix: str) -> str:
    if not prefix.startswith(contract.PAYLOAD_PREFIX):
        raise InvalidSetting(f"prefix {prefix!r}: must begin with {contract.PAYLOAD_PREFIX}; nothing else is looked at")
    return prefix


def _tables(words: Sequence[str], name: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for word in words:
        owner, _, table = word.partition("=")
        if not contract.is_name(owner) or not table:
            raise InvalidSetting(f"{name}: {word!r} is not of the form consumer=Table")
        found[table] = (*found.get(table, ()), owner)
    return found
