"""A whole consumer: bucket, queues, inbox, function and alarms, with one handler."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from aws_cdk import Duration, RemovalPolicy, Size
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from constructs import Construct

from claim_check.contract import (
    DEFAULT_INLINE_LIMIT_BYTES,
    DEFAULT_MAX_ATTEMPTS,
    DEFAULT_MAX_PAYLOAD_BYTES,
    FUNCTION_BASE_MEMORY_MIB,
    MIB,
    SQS_MAX_BATCH_ENTRIES,
    SQS_MAX_MESSAGE_BYTES,
    Backoff,
    InlineMode,
    PayloadAccess,
    Setting,
    WireFormat,
    receive_count_for,
)
from claim_check_cdk.claim_check_function import ClaimCheckFunction
from claim_check_cdk.extended_client import ForeignMessages, check_foreign
from claim_check_cdk.handler_tables import TableAction, grant_table
from claim_check_cdk.inbox_table import InboxTable
from claim_check_cdk.message_queue import FifoOptions, MessageQueue
from claim_check_cdk.payload_bucket import PayloadBucket
from claim_check_cdk.pipeline_alarms import PipelineAlarms
from claim_check_cdk.pipeline_parts import PipelineBucket, PipelineInbox, PipelineQueue, WritableTable
from claim_check_cdk.pipeline_settings import (
    Batching,
    check_attempts,
    check_filters,
    check_given_queue,
    check_handler,
    check_inline,
    check_known,
    check_names_of,
    check_sizes,
    check_tracer,
    check_unused,
)
from claim_check_cdk.pointer_life import RetentionTerms
from claim_check_cdk.retention import DAY, HOUR
from claim_check_cdk.sizing import Sizing
from claim_check_cdk.validation import Mistakes, describe, known_bytes, known_seconds

_DEFAULT_TIMEOUT_MINUTES: Final = 3
_DEFAULT_CONCURRENCY: Final = 10


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
        retention_terms: Terms of its retention plan that no queue knows of itself.
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
        fair_queues: bool = False,
        foreign: ForeignMessages | None = None,
        max_age: Duration | None = None,
        alarm_topic: sns.ITopic | None = None,
        access_logs_bucket: s3.IBucket | None = None,
        encryption_key: kms.IKey | None = None,
        tracing: bool = True,
        tracer: bool = False,
        log_retention: logs.RetentionDays = logs.RetentionDays.ONE_MONTH,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Make the pipeline.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            handler: The handler, ``package.module:function``.
            handler_package: Folder of the package that holds it; needed unless ``requirements_lock`` brings it.
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
            fair_queues: Whether producers make the tenant the message group of events that have none, so that a
                standard queue shares the consumers fairly between tenants (R5.2); it gives no order. By default they do
                not.
            foreign: What it takes of messages that Amazon's Extended Clients sent. By default none: they are parked.
            max_age: Age of a received message that rings an alarm. By default one hour.
            alarm_topic: Told when an alarm rings and when it is over. By default nobody is told.
            access_logs_bucket: Receives the access logs of the pipeline's own bucket. By default there are none.
            encryption_key: Customer key for whatever the pipeline makes. By default the services' own keys.
            tracing: Whether X-Ray samples invocations. By default it does; that costs no import.
            tracer: Whether the library traces its own steps too; needs ``tracing``, and aws-xray-sdk in
                ``requirements_lock``. By default it does not: importing the tracer takes 0.4 s.
            log_retention: How long logs are kept. By default one month.
            removal_policy: What happens to bucket, queues, table and logs when they leave the stack. By default they
                stay.

        Raises:
            InvalidSettingsError: Settings are wrong; the message lists all of them.
            BundlingError: The function's asset cannot be built.
        """
        super().__init__(scope, construct_id)
        self.consumer_name = consumer_name or construct_id
        self.retention_terms = self._terms = retention_terms or RetentionTerms()
        self._inline = inline
        self._inline_limit = _bytes_or(inline_limit, DEFAULT_INLINE_LIMIT_BYTES)
        self._fair_queues = fair_queues
        self._tracer = tracer
        self._event_types = event_types
        self._content_types = content_types
        self._max_attempts = max_attempts
        self._foreign = foreign
        self._sizing = Sizing(
            access=payload_access,
            max_payload=_bytes_or(max_payload, DEFAULT_MAX_PAYLOAD_BYTES),
            concurrent_records=(
                min(batch_size, SQS_MAX_BATCH_ENTRIES) if concurrent_records is None else concurrent_records
            ),
            expansion=expansion_factor,
        )
        timeout = timeout or Duration.minutes(_DEFAULT_TIMEOUT_MINUTES)
        batching = Batching(size=batch_size, window=max_batching_window, max_concurrency=max_concurrency)

        mistakes = Mistakes(describe(self))
        check_handler(mistakes, handler, handler_package=handler_package, requirements_lock=requirements_lock)
        check_names_of(mistakes, self.consumer_name, handler_environment or {})
        check_filters(mistakes, event_types=event_types, tenants=tenants, content_types=content_types)
        summed = {
            "max_payload": max_payload,
            "concurrent_records": concurrent_records,
            "memory_size_mib": memory_size_mib,
            "ephemeral_storage": ephemeral_storage,
            "inline_limit": inline_limit,
        }
        if check_known(mistakes, summed):
            check_sizes(
                mistakes, self._sizing, batch_size=batch_size, memory_mib=memory_size_mib, storage=ephemeral_storage
            )
        is_fifo = queue.queue.fifo if queue else fifo is not None
        batching.check(mistakes, fifo=is_fifo)
        mistakes.require(
            not (fair_queues and is_fifo), "fair_queues", fair_queues, "is for standard queues only", "leave it out"
        )
        check_inline(
            mistakes, self._inline_limit, max_message=queue.max_message_bytes if queue else SQS_MAX_MESSAGE_BYTES
        )
        # On FIFO a message is received with every attempt at those ahead of it, so the queue's backstop follows.
        attempts_ahead = max(max_attempts, DEFAULT_MAX_ATTEMPTS) if fifo else 0
        own_receive_count = receive_count_for(Backoff(), attempts_ahead=attempts_ahead)
        check_attempts(
            mistakes,
            max_attempts,
            max_receive_count=queue.max_receive_count if queue else own_receive_count,
            fifo=is_fifo,
        )
        if queue is not None:
            own = {"fifo": fifo, "retention": retention, "dead_letter_retention": dead_letter_retention}
            check_given_queue(mistakes, queue, timeout=timeout, window=max_batching_window, settings=own)
        check_foreign(mistakes, foreign, event_types)
        check_tracer(mistakes, tracer=tracer, tracing=tracing, requirements_lock=requirements_lock)
        if bucket is not None:
            check_unused(mistakes, "bucket", {"access_logs_bucket": access_logs_bucket})
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
            max_receive_count=own_receive_count,
            encryption_key=encryption_key,
            fifo=fifo,
            removal_policy=removal_policy,
        )
        self.inbox: PipelineInbox = inbox or InboxTable(
            self, "Inbox", encryption_key=encryption_key, removal_policy=removal_policy
        )
        self._retain()
        self._memory_mib = memory_size_mib or self._sizing.computed_memory_mib
        self._temp_mib = _bytes_or(ephemeral_storage, self._sizing.temp_mib * MIB) // MIB
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
            "SQS invokes it synchronously: what fails stays in the queue, or goes to the queue's dead-letter queue."
        )
        self.function: lambda_.Function = self.consumer.function
        grant = self._grant_consumer(tenants)
        self.event_source = batching.connect(self, self.queue.queue, self.function)
        grant.apply_before(self.event_source)
        self.alarms = PipelineAlarms(
            self,
            "Alarms",
            service=self.consumer_name,
            function=self.function,
            dead_letter_queue=self.queue.dead_letter_queue,
            queue=self.queue.queue,
            blocking_queue=self.queue if is_fifo and self.queue.dead_letter_queue is None else None,
            inbox_table=self.inbox.table,
            max_age=max_age or self._default_max_age(),
            least_payload_life=self._least_payload_life(),
            topic=alarm_topic,
        )

    # --- Making -----------------------------------------------------------------------------------------------------

    def _retain(self) -> None:
        self.bucket.retain_for(self.queue, terms=self._terms)
        self.inbox.retain_for(self.queue, terms=self._terms)
        for one in self._foreign.buckets if self._foreign else ():
            one.retain_for(self.queue, terms=self._terms)

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
            Setting.VISIBILITY: str(self.queue.visibility_timeout.to_seconds()),
            Setting.TRACING: str(self._tracer).lower(),
        }
        if self.queue.dead_letter_queue is not None:
            environment[Setting.DLQ_URL] = self.queue.dead_letter_queue.queue_url
        if self._content_types:
            environment[Setting.CONTENT_TYPES] = ",".join(sorted(self._content_types))
        if self._event_types:
            environment[Setting.EVENT_TYPES] = ",".join(
                f"{name}:{'|'.join(str(version) for version in sorted(versions))}"
                for name, versions in sorted(self._event_types.items())
            )
        return {**environment, **(self._foreign.environment() if self._foreign else {})}

    def _shared_environment(self) -> dict[str, str]:
        return {
            Setting.BUCKET: self.bucket.bucket.bucket_name,
            Setting.QUEUE_URL: self.queue.queue.queue_url,
            Setting.MAX_MESSAGE: str(self.queue.max_message_bytes),
            Setting.MAX_PAYLOAD: str(self._sizing.max_payload),
        }

    def _grant_consumer(self, tenants: Collection[str] | None) -> iam.Grant:
        event_types = sorted(self._event_types) if self._event_types else None
        grant = self.queue.grant_consume(self.consumer)
        grant = grant.combine(self.inbox.grant_consumer(self.consumer))
        if self._sizing.access == "none":
            return grant
        for one in self._foreign.buckets if self._foreign else ():
            grant = grant.combine(one.grant_read(self.consumer))
        return grant.combine(self.bucket.grant_read(self.consumer, event_types=event_types, tenants=tenants))

    def _default_max_age(self) -> Duration:
        """An hour, or half of a shorter retention: time left to act before a message expires."""
        return Duration.seconds(min(HOUR, self.queue.retention_plan(self._terms).source // 2))

    def _least_payload_life(self) -> Duration:
        """What a payload has left, by the plan, when it is fetched as late as can be: its message may yet be parked."""
        plan = self.queue.retention_plan(self._terms)
        return Duration.seconds(max(DAY, plan.life - plan.delivery - plan.source))

    # --- Using ------------------------------------------------------------------------------------------------------

    def producer_environment(self, *, tracer: bool = False, wire_format: WireFormat = "claim-check") -> dict[str, str]:
        """Environment variables by which the library, or the producer function, publishes into this pipeline.

        Args:
            tracer: Whether the library traces its own steps; needs aws-xray-sdk beside it.
            wire_format: ``extended-client`` writes what Amazon's Extended Clients read; the pipeline's own consumer
                reads it if it has ``foreign``.
        """
        before_send = known_seconds(self._terms.before_send) or 0
        return {
            **self._shared_environment(),
            Setting.INLINE: self._inline,
            Setting.INLINE_LIMIT: str(self._inline_limit),
            Setting.BEFORE_SEND: str(before_send),
            Setting.FAIR_QUEUES: str(self._fair_queues).lower(),
            Setting.PIPELINE: self.consumer_name,
            Setting.TRACING: str(tracer).lower(),
            **({} if wire_format == "claim-check" else {Setting.WIRE_FORMAT: wire_format}),
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
        return grant_table(f"{describe(self)} grant_handler_table()", self.consumer, table, actions)


def _bytes_or(size: Size | None, otherwise: int) -> int:
    """A size in bytes; ``otherwise`` if there is none, or if it is a token (which `check_known` refuses)."""
    known = known_bytes(size)
    return otherwise if known is None else known
