"""Settings of the function that looks after a DLQ, read once from the variables that the constructs write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from claim_check import contract
from claim_check.contract import Setting
from claim_check.settings import Environment


@dataclass(frozen=True, kw_only=True)
class DeadLetterSettings:
    """Settings of the function that samples, and perhaps archives, the dead letters of one consumer.

    Attributes:
        consumer: Its name.
        dlq_url: Where messages are parked; None where nothing may be parked.
        inbox_table: Table of the inbox.
        inbox_ttl_seconds: How long the inbox remembers.
        stuck_after_seconds: How long ago a lease ended, or an attempt failed, for a row to count as stuck.
        archive_bucket: Bucket of the archive; None archives nothing.
        archive_after_seconds: Age in the DLQ from which a dead letter is archived.
        tracing: Trace with X-Ray.
    """

    consumer: str
    dlq_url: str | None = None
    inbox_table: str | None = None
    inbox_ttl_seconds: int | None = None
    stuck_after_seconds: int = contract.DEFAULT_STUCK_SECONDS
    archive_bucket: str | None = None
    archive_after_seconds: int = contract.SQS_MAX_RETENTION_SECONDS
    tracing: bool = False

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> DeadLetterSettings:
        """Read them.

        Raises:
            InvalidSetting: A variable is missing or malformed.
        """
        read = Environment(variables)
        settings = cls(
            consumer=read.text(Setting.CONSUMER),
            dlq_url=read.optional(Setting.DLQ_URL),
            inbox_table=read.optional(Setting.INBOX_TABLE),
            inbox_ttl_seconds=read.integer(Setting.INBOX_TTL, default=0) or None,
            stuck_after_seconds=read.integer(Setting.STUCK_AFTER, default=cls.stuck_after_seconds),
            archive_bucket=read.optional(Setting.ARCHIVE_BUCKET),
            archive_after_seconds=read.integer(
                Setting.ARCHIVE_AFTER,
                default=cls.archive_after_seconds,
                maximum=contract.SQS_MAX_RETENTION_SECONDS,
            ),
            tracing=read.flag(Setting.TRACING),
        )
        if settings.archive_bucket is not None:  # with nothing to archive, or never, it would be lost in silence
            for needed in (Setting.ARCHIVE_AFTER, Setting.DLQ_URL):
                read.text(needed)
        return settings
