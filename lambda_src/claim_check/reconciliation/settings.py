"""Settings of a reconciliation, as its construct writes them."""

from __future__ import annotations

from collections.abc import Mapping
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
        plan: What it does.
        inboxes: Consumers by table of their inboxes.
        outboxes: Destinations by table of their outbox.
        table: Table of its checkpoint; None keeps none.
        tracing: Trace with X-Ray.
    """

    plan: Plan
    inboxes: Mapping[str, tuple[str, ...]]
    outboxes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    table: str | None = None
    tracing: bool = False

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> ReconcilerSettings:
        """Read them.

        Raises:
            InvalidSetting: A variable is missing or malformed.
        """
        read = Environment(variables)
        inboxes = _tables(read, Setting.RECONCILER_INBOXES)
        if not inboxes:
            raise InvalidSetting(f"{Setting.RECONCILER_INBOXES} is not set; the construct Reconciler sets it")
        return cls(
            plan=_plan(read),
            inboxes=inboxes,
            outboxes=_tables(read, Setting.RECONCILER_OUTBOXES),
            table=read.optional(Setting.RECONCILER_TABLE),
            tracing=read.choice(Setting.TRACING, ("false", "true"), default="false") == "true",
        )


def _plan(read: Environment) -> Plan:
    return Plan(
        name=read.text(Setting.RECONCILER),
        bucket=read.text(Setting.BUCKET),
        times=Times(
            grace=read.integer(Setting.RECONCILER_GRACE, default=contract.RECONCILE_GRACE_SECONDS),
            before_send=read.integer(Setting.BEFORE_SEND),
            unconfirmed=read.integer(Setting.RECONCILER_UNCONFIRMED, default=contract.UNCONFIRMED_SECONDS),
        ),
        prefix=checked_prefix(read.optional(Setting.RECONCILER_PREFIX) or contract.PAYLOAD_PREFIX),
        delete=read.choice(Setting.RECONCILER_DELETE, ("false", "true"), default="false") == "true",
        rate=read.number(Setting.RECONCILER_RATE, default=contract.RECONCILE_RATE),
        looks=read.integer(Setting.RECONCILER_LOOKS, default=contract.RECONCILE_LOOKS),
        every_seconds=read.integer(Setting.RECONCILER_EVERY, default=contract.DAY_SECONDS, minimum=1),
    )


def checked_prefix(prefix: str) -> str:
    """A prefix within the payloads.

    Raises:
        InvalidSetting: It is not: nothing else is looked at.
    """
    if not prefix.startswith(contract.PAYLOAD_PREFIX):
        raise InvalidSetting(f"prefix {prefix!r}: must begin with {contract.PAYLOAD_PREFIX}; nothing else is looked at")
    return prefix


def _tables(read: Environment, name: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for word in read.words(name):
        owner, _, table = word.partition("=")
        if not contract.is_name(owner) or not table:
            raise InvalidSetting(f"{name}: {word!r} is not of the form consumer=Table")
        found[table] = (*found.get(table, ()), owner)
    return found
