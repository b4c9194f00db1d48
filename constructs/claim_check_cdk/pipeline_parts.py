"""What a pipeline needs of its parts: a forked construct type-checks as long as it has these members."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from aws_cdk import Duration
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs

from claim_check_cdk.pointer_life import PlannedQueue, RetentionTerms
from claim_check_cdk.retention import RetentionPlan


class PipelineBucket(Protocol):
    """A bucket of payloads that a pipeline can use, such as `PayloadBucket`."""

    @property
    def bucket(self) -> s3.IBucket:
        """The bucket itself."""

    @property
    def versioned(self) -> bool:
        """Whether it keeps versions."""

    def retain_for(self, queue: PlannedQueue, *, terms: RetentionTerms | None = None) -> None:
        """Keep payloads for as long as this queue could hold a pointer to them."""

    def grant_put(
        self,
        grantee: iam.IGrantable,
        *,
        event_types: Collection[str] | None = None,
        tenants: Collection[str] | None = None,
    ) -> iam.Grant:
        """Allow writing payloads."""

    def grant_upload(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow granting direct uploads to others, and confirming them."""

    def grant_read(
        self,
        grantee: iam.IGrantable,
        *,
        event_types: Collection[str] | None = None,
        tenants: Collection[str] | None = None,
    ) -> iam.Grant:
        """Allow reading payloads."""


class PipelineQueue(Protocol):
    """A queue with its DLQ that a pipeline can use, such as `MessageQueue`."""

    @property
    def queue(self) -> sqs.IQueue:
        """The source queue."""

    @property
    def dead_letter_queue(self) -> sqs.IQueue | None:
        """Its DLQ, if it has one."""

    @property
    def visibility_timeout(self) -> Duration:
        """How long a received message is hidden."""

    @property
    def max_message_bytes(self) -> int:
        """Largest message, bytes."""

    @property
    def max_receive_count(self) -> int:
        """Receives after which SQS itself moves a message to the DLQ."""

    def retention_plan(self, terms: RetentionTerms | None = None) -> RetentionPlan:
        """How long a payload must live whose pointer goes through this queue."""

    def grant_publish(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow sending."""

    def grant_consume(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow receiving and parking."""


class PipelineInbox(Protocol):
    """An inbox that a pipeline can use, such as `InboxTable`."""

    @property
    def table(self) -> dynamodb.ITable:
        """The table."""

    @property
    def ttl_text(self) -> str:
        """Life of a row, seconds, as text."""

    def retain_for(self, queue: PlannedQueue, *, terms: RetentionTerms | None = None) -> None:
        """Remember what came through this queue for as long as it could come again."""

    def grant_consumer(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow what a consumer does with inbox rows."""


class IngestLedger(Protocol):
    """A ledger that an ingest can use, such as `LedgerTable`."""

    @property
    def table(self) -> dynamodb.ITable:
        """The table."""

    @property
    def ttl_text(self) -> str:
        """Life of a tombstone, seconds, as text."""

    def retain_for(self, queue: PlannedQueue, *, terms: RetentionTerms | None = None) -> None:
        """Keep tombstones for as long as this queue could bring an event of theirs."""

    def grant_ingester(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow what an ingester does with ledger rows."""

    def grant_reconciler(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow what a reconciliation does with ledger rows."""


class WritableTable(Protocol):
    """A table of the domain: any ``dynamodb.ITable`` or ``ITableV2``."""

    @property
    def table_arn(self) -> str:
        """Its ARN."""

    @property
    def encryption_key(self) -> kms.IKey | None:
        """Its customer key, if it has one."""
