"""Settings of an ingester and of its reconciliation, read once from the variables that `S3Ingest` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from claim_check import contract
from claim_check.contract import PayloadAccess, SequencerPad, Setting
from claim_check.errors import InvalidSetting
from claim_check.settings import Environment


@dataclass(frozen=True, slots=True)
class KeyFilter:
    """A filter of the bucket's notifications.

    Attributes:
        prefix: How a key begins.
        suffix: How it ends.
    """

    prefix: str = ""
    suffix: str = ""

    def matches(self, key: str) -> bool:
        """Whether the bucket notifies of this key."""
        return key.startswith(self.prefix) and key.endswith(self.suffix)


@dataclass(frozen=True, kw_only=True)
class LedgerSettings:
    """Settings that an ingester and its reconciliation share.

    Attributes:
        name: Name of the ingester.
        bucket: The only bucket whose events it follows.
        queue_url: Queue of the notifications.
        ledger_table: Table of the ledger.
        tombstone_seconds: Life of a tombstone.
        pad: Side on which the shorter of two sequencers is padded.
        tracing: Trace with X-Ray.
    """

    name: str
    bucket: str
    queue_url: str
    ledger_table: str
    tombstone_seconds: int = contract.LEDGER_TTL_SECONDS
    pad: SequencerPad = "right"
    tracing: bool = False

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> LedgerSettings:
        """Read them.

        Raises:
            InvalidSetting: A variable is missing or malformed.
        """
        read = Environment(variables)
        return LedgerSettings(
            name=read.text(Setting.INGEST),
            bucket=read.text(Setting.INGEST_BUCKET),
            queue_url=read.text(Setting.INGEST_QUEUE_URL),
            ledger_table=read.text(Setting.LEDGER_TABLE),
            tombstone_seconds=read.integer(Setting.LEDGER_TTL, default=contract.LEDGER_TTL_SECONDS, minimum=1),
            pad=read.choice(Setting.LEDGER_PAD, get_args(SequencerPad), default="right"),
            tracing=read.flag(Setting.TRACING),
        )


@dataclass(frozen=True, kw_only=True)
class IngestSettings(LedgerSettings):
    """Settings of an ingester.

    Attributes:
        apply_put: ``package.module:function`` for created and overwritten objects.
        apply_delete: ``package.module:function`` for removed objects.
        dlq_url: Where messages are parked; None where nothing may be parked.
        payload_access: How ``apply_put`` uses the content; ``none`` reads no object.
        memory_budget_bytes: Memory for content.
        temp_budget_bytes: Temporary storage for content.
        expansion: Bytes needed for each byte of content.
        concurrency: Messages side by side.
        max_attempts: Failures of a handler before its message is parked.
        visibility_seconds: The queue's visibility timeout; 0 if it is not known.
        max_object_bytes: Largest object.
    """

    apply_put: str
    apply_delete: str
    dlq_url: str | None = None
    payload_access: PayloadAccess = "stream"
    memory_budget_bytes: int = 64 * contract.MIB
    temp_budget_bytes: int = contract.LAMBDA_MIN_TEMP_MIB * contract.MIB
    expansion: float = 1.0
    concurrency: int = contract.SQS_MAX_BATCH_ENTRIES
    max_attempts: int = contract.DEFAULT_MAX_ATTEMPTS
    visibility_seconds: int = 0
    max_object_bytes: int = contract.DEFAULT_MAX_PAYLOAD_BYTES

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> IngestSettings:
        """Read them.

        Raises:
            InvalidSetting: A variable is missing or malformed.
        """
        read = Environment(variables)
        return cls(
            **vars(LedgerSettings.from_environment(variables)),
            apply_put=read.text(Setting.INGEST_PUT),
            apply_delete=read.text(Setting.INGEST_DELETE),
            dlq_url=read.optional(Setting.DLQ_URL),
            payload_access=read.choice(Setting.PAYLOAD_ACCESS, get_args(PayloadAccess), default="stream"),
            memory_budget_bytes=read.integer(Setting.MEMORY_BUDGET, default=64 * contract.MIB),
            temp_budget_bytes=read.integer(Setting.TEMP_BUDGET, default=contract.LAMBDA_MIN_TEMP_MIB * contract.MIB),
            expansion=read.number(Setting.EXPANSION, default=1.0),
            concurrency=read.integer(Setting.CONCURRENCY, default=contract.SQS_MAX_BATCH_ENTRIES, minimum=1),
            max_attempts=read.integer(Setting.MAX_ATTEMPTS, default=contract.DEFAULT_MAX_ATTEMPTS, minimum=1),
            visibility_seconds=read.integer(Setting.VISIBILITY, default=0),
            max_object_bytes=read.integer(Setting.MAX_PAYLOAD, default=contract.DEFAULT_MAX_PAYLOAD_BYTES),
        )


@dataclass(frozen=True, kw_only=True)
class ReconciliationSettings(LedgerSettings):
    """Settings of a reconciliation of bucket and ledger.

    Attributes:
        filters: What the bucket notifies of; empty means every object.
        grace_seconds: Objects younger than this are left alone.
        rate: Synthetic events a second.
        every_seconds: How long after a finished run the next one is due.
    """

    filters: Sequence[KeyFilter] = ()
    grace_seconds: int = contract.INGEST_GRACE_SECONDS
    rate: int = contract.INGEST_RECONCILE_RATE
    every_seconds: int = contract.DAY_SECONDS

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> ReconciliationSettings:
        """Read them.

        Raises:
            InvalidSetting: A variable is missing or malformed.
        """
        read = Environment(variables)
        return cls(
            **vars(LedgerSettings.from_environment(variables)),
            filters=_filters(read.optional(Setting.INGEST_FILTERS)),
            grace_seconds=read.integer(Setting.INGEST_GRACE, default=contract.INGEST_GRACE_SECONDS),
            rate=read.integer(Setting.INGEST_RECONCILE_RATE, default=contract.INGEST_RECONCILE_RATE, minimum=1),
            every_seconds=read.integer(Setting.INGEST_RECONCILE_EVERY, default=contract.DAY_SECONDS),
        )


def _filters(text: str | None) -> tuple[KeyFilter, ...]:
    if text is None:
        return ()
    try:
        return tuple(
            KeyFilter(str(entry.get("prefix", "")), str(entry.get("suffix", ""))) for entry in json.loads(text)
        )
    except (ValueError, AttributeError, TypeError):
        raise InvalidSetting(
            f'{Setting.INGEST_FILTERS} = {text!r}: a list such as [{{"prefix":"in/","suffix":".csv"}}] is needed'
        ) from None
