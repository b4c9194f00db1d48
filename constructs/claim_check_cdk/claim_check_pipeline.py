"""A whole consumer: bucket, queues, inbox, function and alarms, with one handler."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final, Literal, Protocol

from aws_cdk import Duration, RemovalPolicy, Size
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from claim_check.contract import (
    DEFAULT_INLINE_LIMIT_BYTES,
    DEFAULT_MAX_ATTEMPTS,
    DEFAULT_MAX_PAYLOAD_BYTES,
    FUNCTION_BASE_MEMORY_MIB,
    MIB,
    SQS_MAX_BATCH_ENTRIES,
    InlineMode,
    PayloadAccess,
    Setting,
    is_name,
)
from claim_check_cdk.acknowledgements import acknowledge
from claim_check_cdk.claim_check_function import ClaimCheckFunction
from claim_check_cdk.inbox_table import InboxTable
from claim_check_cdk.message_queue import VISIBILITY_FACTOR, FifoOptions, MessageQueue
from claim_check_cdk.payload_bucket import PayloadBucket
from claim_check_cdk.pipeline_alarms import PipelineAlarms
from claim_check_cdk.pointer_life import PlannedQueue, RetentionTerms
from claim_check_cdk.retention import RetentionPlan
from claim_check_cdk.sizing import Sizing
from claim_check_cdk.validation import Mistakes, describe, known_bytes, known_seconds

_HANDLER: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
_CONTENT_TYPE: Final = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+", re.ASCII)
_OWN_VARIABLES: Final = "CLAIM_CHECK_"
_MAX_BATCH: Final = 10_000
_MAX_CONCURRENCY: Final = 1000
_DEFAULT_CONCURRENCY: Final = 10

TableAction = Literal["get", "put", "update", "delete", "check"]

_TABLE_ACTIONS: Final[Mapping[TableAction, str]] = {
    "get": "dynamodb:GetItem",
    "put": "dynamodb:PutItem",
    "update": "dynamodb:UpdateItem",
    "delete": "dynamodb:DeleteItem",
    "check": "dynamodb:ConditionCheckItem",
}


class PipelineBucket(Protocol):
    """A bucket of payloads that a pipeline can use, such as `PayloadBucket`."""

    @property
    def bucket(self) -> s3.IBucket:
        """The bucket itself."""

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


class WritableTable(Protocol):
    """A table of the domain: any ``dynamodb.ITable`` or ``ITableV2``."""

    @property
    def table_arn(self) -> str:
        """Its ARN."""

    @property
    def encryption_key(self) -> kms.IKey | None:
        """Its customer key, if it has one."""


class ClaimCheckPipeline(Construct):
    """Everything that one handler needs to work on events: give it the handler, and publish.

    Attributes:
        bucket: The bucket construct.
        queue: The construct of queue and DLQ.
        inbox: The inbox construct.
        consumer: The function construct that runs the handler.
        function: Its Lambda function.
        event_source: The mapping from queue to function.
        alarms: The alarms.
        consumer_name: In inbox rows, and the dimension of the metrics.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        handler: str,
        handler_package: Path | None = None,
        handler_environment: Mapping[str, str] | None = None,
        requirements_lock: Path | None = None,
        consumer_name: str | None = None,
        bucket: PipelineBucket | None = None,
        queue: PipelineQueue | None = None,
        inbox: PipelineInbox | None = None,
        fifo: FifoOptions | None = None,
        retention: Duration | None = None,
        dead_letter_retention: Duration | None = None,
        retention_terms: RetentionTerms | None = None,
        event_types: Mapping[str, Collection[int]] | None = None,
        tenants: Collection[str] | None = None,
        content_types: Collection[str] | None = None,
        payload_access: PayloadAccess = "stream",
        max_payload: Size | None = None,
        expansion_factor: float = 1.0,
        concurrent_records: int | None = None,
        memory_size_mib: int | None = None,
        ephemeral_storage: Size | None = None,
        timeout: Duration | None = None,
        batch_size: int = SQS_MAX_BATCH_ENTRIES,
        max_batching_window: Duration | None = None,
        max_concurrency: int = _DEFAULT_CONCURRENCY,
        max_attempts: int = DEFAULT_MAX_ATTEMPTS,
        inline: InlineMode = "auto",
        inline_limit: Size | None = None,
        max_age: Duration | None = None,
        alarm_topic: sns.ITopic | None = None,
        access_logs_bucket: s3.IBucket | None = None,
        encryption_key: kms.IKey | None = None,
        tracing: bool = True,
        log_retention: logs.RetentionDays = logs.RetentionDays.ONE_MONTH,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Make the pipeline.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            handler: The handler, ``package.module:function``.
            handler_package: Folder of the package that holds it. By default it is part of ``claim_check``'s asset.
            handler_environment: Environment variables for the handler; names must not begin with ``CLAIM_CHECK_``.
            requirements_lock: Requirements file with hashes that ``handler_package`` needs. By default nothing.
            consumer_name: Whose inbox rows and metrics these are; do not change it later. By default the construct id.
            bucket: Bucket to share with other pipelines. By default the pipeline makes its own.
            queue: Queue to read. By default the pipeline makes its own.
            inbox: Inbox to share. By default the pipeline makes its own.
            fifo: Makes its own queue a FIFO queue. By default it is a standard queue.
            retention: How long its own queue keeps a message. By default 4 days.
            dead_letter_retention: The same of the DLQ. By default 14 days.
            retention_terms: The other terms of the retention plan (R6.1). By default `RetentionTerms()`.
            event_types: Accepted event types with their versions; other events are parked, and other types' payloads
                cannot be read. By default all.
            tenants: Tenants whose payloads the function may read. By default all.
            content_types: Accepted content types, lower case. By default all.
            payload_access: What the handler does with payloads; decides memory and temporary storage (R4.4). By default
                it streams them.
            max_payload: Largest payload. By default 512 MiB.
            expansion_factor: How much larger a payload becomes in the handler's hands, for ``memory`` and ``file``. By
                default 1.
            concurrent_records: Records that one invocation handles side by side. By default the batch size, at most 10.
            memory_size_mib: Memory, MiB; too little fails and shows the sum. By default what is needed, at least 512.
            ephemeral_storage: Size of ``/tmp``; too little fails and shows the sum. By default what is needed.
            timeout: Timeout of the function. By default 3 minutes.
            batch_size: Messages in one invocation, up to 10; more, up to 10,000, on a standard queue with
                ``max_batching_window``.
            max_batching_window: How long Lambda gathers a batch, up to 5 minutes; standard queues only.
            max_concurrency: Invocations side by side, 2 to 1,000. By default 10.
            max_attempts: Attempts at one message before it is parked, counted in the inbox. By default 5.
            inline: Whether producers may put small payloads into the message; ``never`` forces claims. By default
                ``auto``.
            inline_limit: Largest message that travels inline. By default 64 KiB.
            max_age: Age of a received message that rings an alarm. By default one hour.
            alarm_topic: Told when an alarm rings and when it is over. By default nobody is told.
            access_logs_bucket: Receives the access logs of the pipeline's own bucket. By default there are none.
            encryption_key: Customer key for whatever the pipeline makes. By default the services' own keys.
            tracing: Whether X-Ray samples invocations. By default it does.
            log_retention: How long logs are kept. By default one month.
            removal_policy: What happens to bucket, queues, table and logs when they leave the stack. By default they
                stay.

        Raises:
            InvalidSettingsError: Settings are wrong; the message lists all of them.
            BundlingError: The function's asset cannot be built.
        """
        super().__init__(scope, construct_id)
        self.consumer_name = consumer_name or construct_id
        self._terms = retention_terms or RetentionTerms()
        self._inline = inline
        self._tracing = tracing
        self._content_types = sorted(content_types) if content_types else []
        self._event_types = event_types
        self._max_attempts = max_attempts
        timeout = timeout or Duration.minutes(3)
        self._sizing = Sizing(
            access=payload_access,
            max_payload=known_bytes(max_payload) or DEFAULT_MAX_PAYLOAD_BYTES,
            concurrent_records=concurrent_records or min(batch_size, SQS_MAX_BATCH_ENTRIES),
            expansion=expansion_factor,
        )
        self._inline_limit = known_bytes(inline_limit) or DEFAULT_INLINE_LIMIT_BYTES
        temp_mib = int(ephemeral_storage.to_mebibytes()) if ephemeral_storage else None

        mistakes = Mistakes(describe(self))
        _check_names(mistakes, handler, self.consumer_name, handler_environment or {}, self._content_types)
        for argument, value, limit in self._sizing.refusals(memory_mib=memory_size_mib, temp_mib=temp_mib):
            mistakes.add(
                argument, value, limit, "give it more, or lower max_payload, concurrent_records or expansion_factor"
            )
        is_fifo = fifo is not None or (queue is not None and queue.queue.fifo)
        _check_batching(mistakes, batch_size, max_batching_window, max_concurrency, fifo=is_fifo)
        if queue is not None:
            _check_queue(mistakes, queue, timeout, max_batching_window, retention, dead_letter_retention, fifo)
        mistakes.require_range(
            "max_attempts", max_attempts, low=1, high=40, way_out="the backstop of the queue begins at 50"
        )
        mistakes.raise_all()

        self.bucket: PipelineBucket = bucket or PayloadBucket(
            self,
            "Bucket",
            encryption_key=encryption_key,
            access_logs_bucket=access_logs_bucket,
            removal_policy=removal_policy,
        )
        self.queue: PipelineQueue = queue or MessageQueue(
            self,
            "Queue",
            function_timeout=timeout,
            max_batching_window=max_batching_window,
            retention=retention,
            dead_letter_retention=dead_letter_retention,
            encryption_key=encryption_key,
            fifo=fifo,
            removal_policy=removal_policy,
        )
        self.inbox: PipelineInbox = inbox or InboxTable(
            self, "Inbox", encryption_key=encryption_key, removal_policy=removal_policy
        )
        self.bucket.retain_for(self.queue, terms=self._terms)
        self.inbox.retain_for(self.queue, terms=self._terms)
        self._memory_mib = memory_size_mib or self._sizing.computed_memory_mib
        self._temp_mib = temp_mib or self._sizing.temp_mib
        self.consumer = ClaimCheckFunction(
            self,
            "Consumer",
            handler_package=handler_package,
            requirements_lock=requirements_lock,
            environment={**(handler_environment or {}), **self._consumer_environment(handler)},
            timeout=timeout,
            memory_size_mib=self._memory_mib,
            ephemeral_storage=Size.mebibytes(self._temp_mib),
            tracing=tracing,
            log_retention=log_retention,
            removal_policy=removal_policy,
        )
        self.consumer.acknowledge_no_dead_letter_queue(
            "SQS invokes it synchronously: the queue has a dead-letter queue."
        )
        self.function: lambda_.Function = self.consumer.function
        grant = self._grant_consumer(tenants)
        self.event_source = self._connect(batch_size, max_batching_window, max_concurrency)
        grant.apply_before(self.event_source)
        self.alarms = PipelineAlarms(
            self,
            "Alarms",
            service=self.consumer_name,
            function=self.function,
            dead_letter_queue=self.queue.dead_letter_queue,
            max_age=max_age,
            topic=alarm_topic,
        )

    # --- Making -----------------------------------------------------------------------------------------------------

    def _consumer_environment(self, handler: str) -> dict[str, str]:
        environment = {
            **self._shared_environment(),
            Setting.INBOX_TABLE: self.inbox.table.table_name,
            Setting.INBOX_TTL: self.inbox.ttl_text,
            Setting.CONSUMER: self.consumer_name,
            Setting.HANDLER: handler,
            Setting.PAYLOAD_ACCESS: self._sizing.access,
            Setting.MEMORY_BUDGET: str((self._memory_mib - FUNCTION_BASE_MEMORY_MIB) * MIB),
            Setting.TEMP_BUDGET: str(self._temp_mib * MIB),
            Setting.EXPANSION: f"{self._sizing.expansion:g}",
            Setting.CONCURRENCY: str(self._sizing.concurrent_records),
            Setting.MAX_ATTEMPTS: str(self._max_attempts),
        }
        if self.queue.dead_letter_queue is not None:
            environment[Setting.DLQ_URL] = self.queue.dead_letter_queue.queue_url
        if self._content_types:
            environment[Setting.CONTENT_TYPES] = ",".join(self._content_types)
        if self._event_types:
            environment[Setting.EVENT_TYPES] = ",".join(
                f"{name}:{'|'.join(str(version) for version in sorted(versions))}"
                for name, versions in sorted(self._event_types.items())
            )
        return environment

    def _shared_environment(self) -> dict[str, str]:
        return {
            Setting.BUCKET: self.bucket.bucket.bucket_name,
            Setting.QUEUE_URL: self.queue.queue.queue_url,
            Setting.MAX_MESSAGE: str(self.queue.max_message_bytes),
            Setting.MAX_PAYLOAD: str(self._sizing.max_payload),
            Setting.TRACING: str(self._tracing).lower(),
        }

    def _grant_consumer(self, tenants: Collection[str] | None) -> iam.Grant:
        event_types = sorted(self._event_types) if self._event_types else None
        grant = self.queue.grant_consume(self.consumer)
        grant = grant.combine(self.inbox.grant_consumer(self.consumer))
        if self._sizing.access == "none":
            return grant
        return grant.combine(self.bucket.grant_read(self.consumer, event_types=event_types, tenants=tenants))

    def _connect(self, batch_size: int, window: Duration | None, max_concurrency: int) -> lambda_.EventSourceMapping:
        mapping = lambda_.EventSourceMapping(
            self,
            "EventSource",
            target=self.function,
            event_source_arn=self.queue.queue.queue_arn,
            batch_size=batch_size,
            max_batching_window=window,
            max_concurrency=max_concurrency,
            report_batch_item_failures=True,
        )
        acknowledge(
            mapping,
            "Serverless-LambdaEventSourceMappingDestination",
            "Mappings of SQS queues have no on-failure destination: failed messages stay in the queue, then go to its DLQ.",
        )
        return mapping

    # --- Using ------------------------------------------------------------------------------------------------------

    def producer_environment(self) -> dict[str, str]:
        """Environment variables by which the library, or the producer function, publishes into this pipeline."""
        before_send = known_seconds(self._terms.before_send) or 0
        return {
            **self._shared_environment(),
            Setting.INLINE: self._inline,
            Setting.INLINE_LIMIT: str(self._inline_limit),
            Setting.BEFORE_SEND: str(before_send),
        }

    def grant_publish(
        self,
        grantee: iam.IGrantable,
        *,
        event_types: Collection[str] | None = None,
        tenants: Collection[str] | None = None,
    ) -> iam.Grant:
        """Allow publishing into this pipeline: payload first, then the pointer.

        Args:
            grantee: Who.
            event_types: Payloads of these event types only. By default of all.
            tenants: Payloads of these tenants only. By default of all.

        Raises:
            InvalidSettingsError: A name that no event could have.
        """
        put = self.bucket.grant_put(grantee, event_types=event_types, tenants=tenants)
        return put.combine(self.queue.grant_publish(grantee))

    def grant_handler_table(self, table: WritableTable, actions: Collection[TableAction]) -> iam.Grant:
        """Allow the handler exactly these actions on a table of the domain, in the consumer's transaction too.

        Args:
            table: The table.
            actions: ``put``, ``update``, ``delete`` and ``check`` are what ``tx`` writes; ``get`` reads by key.

        Raises:
            InvalidSettingsError: No action, or one that does not exist.
        """
        mistakes = Mistakes(f"{describe(self)} grant_handler_table()")
        known_actions = ", ".join(_TABLE_ACTIONS)
        mistakes.require(
            len(actions) > 0 and not isinstance(actions, str) and set(actions) <= set(_TABLE_ACTIONS),
            "actions",
            repr(actions),
            f"must be a collection of {known_actions}",
            "name what the handler does",
        )
        mistakes.raise_all()
        grant = iam.Grant.add_to_principal(
            grantee=self.consumer,
            actions=[_TABLE_ACTIONS[action] for action in sorted(set(actions))],
            resource_arns=[table.table_arn],
        )
        if table.encryption_key is not None:
            grant = grant.combine(table.encryption_key.grant(self.consumer, "kms:Decrypt", "kms:DescribeKey"))
        return grant


# --- Checks ---------------------------------------------------------------------------------------------------------


def _check_names(
    mistakes: Mistakes, handler: str, consumer: str, environment: Mapping[str, str], content_types: Collection[str]
) -> None:
    mistakes.require(
        _HANDLER.fullmatch(handler) is not None,
        "handler",
        repr(handler),
        "must be package.module:function",
        "name one, e.g. orders.events:handle",
    )
    mistakes.require(
        is_name(consumer),
        "consumer_name",
        repr(consumer),
        "must be 1 to 128 of A-Z a-z 0-9 . _ -, and not . or ..",
        "pass consumer_name; by default it is the construct id",
    )
    for name in environment:
        mistakes.require(
            not name.startswith(_OWN_VARIABLES),
            "handler_environment",
            repr(name),
            f"must not begin with {_OWN_VARIABLES}",
            "rename it; settings of the library are arguments of this construct",
        )
    for content_type in content_types:
        mistakes.require(
            _CONTENT_TYPE.fullmatch(content_type) is not None,
            "content_types",
            repr(content_type),
            "must be type/subtype in lower case, without parameters",
            "name it like application/pdf",
        )


def _check_batching(
    mistakes: Mistakes, batch_size: int, window: Duration | None, max_concurrency: int, *, fifo: bool
) -> None:
    seconds = known_seconds(window) or 0
    mistakes.require(
        not (fifo and seconds), "max_batching_window", f"{seconds} s", "is for standard queues only", "leave it out"
    )
    most = _MAX_BATCH if seconds and not fifo else SQS_MAX_BATCH_ENTRIES
    mistakes.require_range(
        "batch_size",
        batch_size,
        low=1,
        high=most,
        way_out="more than 10 needs a standard queue and max_batching_window of at least 1 s",
    )
    mistakes.require_range(
        "max_concurrency",
        max_concurrency,
        low=2,
        high=_MAX_CONCURRENCY,
        way_out="take 2; for one at a time use FIFO with one message group, never reserved concurrency",
    )


def _check_queue(
    mistakes: Mistakes,
    queue: PipelineQueue,
    timeout: Duration,
    window: Duration | None,
    retention: Duration | None,
    dead_letter_retention: Duration | None,
    fifo: FifoOptions | None,
) -> None:
    for argument, value in (
        ("retention", retention),
        ("dead_letter_retention", dead_letter_retention),
        ("fifo", fifo),
    ):
        mistakes.require(
            value is None, argument, value, "is a setting of the queue that the pipeline makes", "set it on your queue"
        )
    visibility, seconds = known_seconds(queue.visibility_timeout), known_seconds(timeout)
    if visibility is None or seconds is None:
        return
    least = VISIBILITY_FACTOR * seconds + (known_seconds(window) or 0)
    mistakes.require(
        visibility >= least,
        "queue",
        f"visibility timeout {visibility} s",
        f"must be at least 6 x timeout + max_batching_window = {least} s",
        "pass function_timeout and max_batching_window to the MessageQueue, or shorten timeout",
    )
