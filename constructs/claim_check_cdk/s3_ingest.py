"""Everything that one pair of handlers needs to follow the objects of a bucket (R10)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from aws_cdk import Duration, RemovalPolicy, Size
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from constructs import Construct

from claim_check.contract import (
    DAY_SECONDS,
    DEFAULT_MAX_ATTEMPTS,
    DEFAULT_MAX_PAYLOAD_BYTES,
    FUNCTION_BASE_MEMORY_MIB,
    INGEST_GRACE_SECONDS,
    INGEST_RECONCILE_RATE,
    MIB,
    SQS_MAX_BATCH_ENTRIES,
    Backoff,
    PayloadAccess,
    SequencerPad,
    Setting,
    receive_count_for,
)
from claim_check_cdk.acknowledgements import acknowledge_objects
from claim_check_cdk.claim_check_function import ClaimCheckFunction
from claim_check_cdk.event_rule import let_rules_encrypt
from claim_check_cdk.handler_tables import TableAction, grant_table
from claim_check_cdk.ingest_alarms import IngestAlarms
from claim_check_cdk.ingest_bucket import IngestBucket
from claim_check_cdk.ingest_filters import ALL_KEYS, KeyFilter
from claim_check_cdk.ingest_reconciler import IngestReconciler
from claim_check_cdk.ingest_route import EventRoute
from claim_check_cdk.ingest_settings import (
    Through,
    Work,
    check_handlers,
    check_queue,
    check_schedule,
    check_source,
    check_way,
    loops,
    mixed,
)
from claim_check_cdk.ingest_source import (
    SourceBucket,
    event_pattern,
    notify_event_bridge,
    notify_queue,
    source_bucket,
    to_put,
)
from claim_check_cdk.ledger_table import LedgerTable
from claim_check_cdk.message_queue import FifoOptions, MessageQueue
from claim_check_cdk.pipeline_parts import IngestLedger, PipelineQueue, WritableTable
from claim_check_cdk.pipeline_settings import (
    Batching,
    check_names_of,
    check_unused,
)
from claim_check_cdk.pointer_life import RetentionTerms
from claim_check_cdk.retention import DAY, EVENTBRIDGE_DELIVERY_SECONDS, HOUR
from claim_check_cdk.service_access import let_service_encrypt, let_service_send
from claim_check_cdk.sizing import Sizing
from claim_check_cdk.validation import Mistakes, describe, known_bytes, known_seconds, validate_at_synth

INGEST_HANDLER: Final = "claim_check.handlers.ingest.handler"
S3_SERVICE: Final = "s3.amazonaws.com"

_DEFAULT_TIMEOUT_MINUTES: Final = 3
_DEFAULT_CONCURRENCY: Final = 10
_UNDELIVERED_DAYS: Final = 14


class S3Ingest(Construct):
    """Bucket, notifications, queue with DLQ, ingester, ledger and reconciliation: give it two handlers.

    S3's notifications arrive at least once, out of order, or never (R10.1). The ledger lets nothing old overtake what
    is newer, and the reconciliation finds what never arrived.

    Attributes:
        bucket: The bucket.
        source_bucket: The construct of the bucket, if the ingest made it.
        queue: The construct of queue and DLQ.
        ledger: The construct of the ledger.
        ingester: The function construct that runs the handlers.
        function: Its Lambda function.
        event_source: The mapping from queue to function.
        route: The way through EventBridge; None where S3 itself notifies the queue.
        reconciler: The reconciliation; None if it is switched off.
        alarms: The alarms.
        ingest_name: The dimension of the metrics.
        notification_configuration: What the bucket has to be told, as S3's PutBucketNotificationConfiguration takes it;
            for a bucket whose notifications are not managed here.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        apply_put: str,
        apply_delete: str,
        handler_package: Path | None = None,
        handler_environment: Mapping[str, str] | None = None,
        requirements_lock: Path | None = None,
        ingest_name: str | None = None,
        bucket: s3.IBucket | None = None,
        bucket_name: str | None = None,
        versioned: bool = False,
        filters: Sequence[KeyFilter] = (ALL_KEYS,),
        through: Through = "notification",
        manage_notifications: bool = True,
        queue: PipelineQueue | None = None,
        ledger: IngestLedger | None = None,
        fifo: FifoOptions | None = None,
        retention: Duration | None = None,
        dead_letter_retention: Duration | None = None,
        max_message_size: Size | None = None,
        retention_terms: RetentionTerms | None = None,
        sequencer_pad: SequencerPad = "right",
        payload_access: PayloadAccess = "stream",
        max_object: Size | None = None,
        expansion_factor: float = 1.0,
        concurrent_records: int | None = None,
        memory_size_mib: int | None = None,
        ephemeral_storage: Size | None = None,
        timeout: Duration | None = None,
        batch_size: int = SQS_MAX_BATCH_ENTRIES,
        max_batching_window: Duration | None = None,
        max_concurrency: int = _DEFAULT_CONCURRENCY,
        max_attempts: int = DEFAULT_MAX_ATTEMPTS,
        reconcile: bool = True,
        reconcile_every: Duration | None = None,
        reconcile_grace: Duration | None = None,
        reconcile_rate: int = INGEST_RECONCILE_RATE,
        max_age: Duration | None = None,
        alarm_topic: sns.ITopic | None = None,
        access_logs_bucket: s3.IBucket | None = None,
        encryption_key: kms.IKey | None = None,
        tracing: bool = True,
        log_retention: logs.RetentionDays = logs.RetentionDays.ONE_MONTH,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Make the ingest.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            apply_put: Handler of created and overwritten objects, ``package.module:function``.
            apply_delete: Handler of removed objects, likewise.
            handler_package: Folder of the package that holds them; needed unless ``requirements_lock`` brings it.
            handler_environment: Environment variables for them; names must not begin with ``CLAIM_CHECK_``.
            requirements_lock: Requirements file with hashes that ``handler_package`` needs. By default nothing.
            ingest_name: The dimension of its metrics; do not change it later. By default the construct id.
            bucket: Bucket to follow, made here or elsewhere. By default the ingest makes its own.
            bucket_name: Name of its own bucket. By default it follows from stack name and path, account and Region.
            versioned: Its own bucket keeps versions, or the given one does. By default not.
            filters: Which keys; no key may match two of them. By default all.
            through: ``notification``: S3 notifies the queue. ``eventbridge``: S3 tells EventBridge, and a rule sends to
                the queue; needed for a FIFO queue (R10.4), and where several parties follow one bucket.
            manage_notifications: Whether the bucket's notifications are set here. If not, its owner sets
                ``notification_configuration`` once the queue is there.
            queue: Queue to read. By default the ingest makes its own.
            ledger: Ledger to share with other ingests of other buckets. By default the ingest makes its own.
            fifo: Makes its own queue a FIFO queue in which the events of one object stand in one group, so that they
                are worked on one after the other. By default it is a standard queue.
            retention: How long its own queue keeps a message. By default 4 days.
            dead_letter_retention: The same of the DLQ. By default 14 days.
            max_message_size: Largest message of its own queue, 64 KiB to 1 MiB. By default 1 MiB.
            retention_terms: The other terms of the time in which an event may come again (R10.2); decides the life of
                tombstones. By default `RetentionTerms()`, and through EventBridge also what it retries and keeps.
            sequencer_pad: Side on which the shorter of two sequencers is padded; fixed when a ledger is created.
            payload_access: What ``apply_put`` does with objects; decides memory and temporary storage (R4.4). By
                default it streams them; with ``none`` their content is not read.
            max_object: Largest object. By default 512 MiB.
            expansion_factor: How much larger an object becomes in the handler's hands, for ``memory`` and ``file``.
            concurrent_records: Notifications that one invocation handles side by side. By default the batch size, at
                most 10.
            memory_size_mib: Memory, MiB; too little fails and shows the sum. By default what is needed, at least 512.
            ephemeral_storage: Size of ``/tmp``; too little fails and shows the sum. By default what is needed.
            timeout: Timeout of the function. By default 3 minutes.
            batch_size: Messages in one invocation, up to 10; more, up to 10,000, on a standard queue with
                ``max_batching_window``.
            max_batching_window: How long Lambda gathers a batch, up to 5 minutes; standard queues only.
            max_concurrency: Invocations side by side, 2 to 1,000. By default 10.
            max_attempts: Attempts at one message before it is parked. By default 5.
            reconcile: Whether a scheduled function compares bucket and ledger. By default it does.
            reconcile_every: Time from one run to the next, 15 minutes to 31 days. By default a day.
            reconcile_grace: Objects younger than this are left alone by it. By default 15 minutes.
            reconcile_rate: Synthetic events that it queues, a second. By default 200.
            max_age: Age of a received notification that rings an alarm. By default one hour.
            alarm_topic: Told when an alarm rings and when it is over. By default nobody is told.
            access_logs_bucket: Receives the access logs of its own bucket. By default there are none.
            encryption_key: Customer key for whatever the ingest makes; S3 is allowed to use it. By default the
                services' own keys.
            tracing: Whether X-Ray samples invocations. By default it does; that costs no import.
            log_retention: How long logs are kept. By default one month.
            removal_policy: What happens to bucket, queues, table and logs when they leave the stack. By default they
                stay.

        Raises:
            InvalidSettingsError: Settings are wrong; the message lists all of them.
            BundlingError: A function's asset cannot be built.
        """
        super().__init__(scope, construct_id)
        self.ingest_name = ingest_name or construct_id
        self._filters = tuple(filters)
        self._through: Through = through
        self._fifo = queue.queue.fifo if queue else fifo is not None
        self._pad = sequencer_pad
        self._max_attempts = max_attempts
        self._sizing = Sizing(
            access=payload_access,
            max_payload=known_bytes(max_object) or DEFAULT_MAX_PAYLOAD_BYTES,
            concurrent_records=concurrent_records or min(batch_size, SQS_MAX_BATCH_ENTRIES),
            expansion=expansion_factor,
        )
        timeout = timeout or Duration.minutes(_DEFAULT_TIMEOUT_MINUTES)
        batching = Batching(size=batch_size, window=max_batching_window, max_concurrency=max_concurrency)
        given = source_bucket(self, bucket) if bucket is not None else None

        mistakes = Mistakes(describe(self))
        handlers = {"apply_put": apply_put, "apply_delete": apply_delete}
        check_handlers(mistakes, handlers, handler_package=handler_package, requirements_lock=requirements_lock)
        check_names_of(mistakes, self.ingest_name, handler_environment or {}, argument="ingest_name")
        check_way(mistakes, through, self._filters, fifo=self._fifo)
        size = queue.max_message_bytes if queue else known_bytes(max_message_size)
        check_queue(mistakes, queue, max_message=size, key=encryption_key)
        check_schedule(mistakes, reconcile_every, reconcile_grace, reconcile_rate)
        own = {
            "fifo": fifo,
            "retention": retention,
            "dead_letter_retention": dead_letter_retention,
            "max_message_size": max_message_size,
        }
        work = Work(sizing=self._sizing, batching=batching, timeout=timeout, max_attempts=max_attempts)
        work.check(
            mistakes,
            memory={
                "max_object": max_object,
                "concurrent_records": concurrent_records,
                "memory_size_mib": memory_size_mib,
                "ephemeral_storage": ephemeral_storage,
            },
            queue=queue,
            own_queue=own,
            receives=self._receives(queue, fifo),
            fifo=self._fifo,
        )
        if given is not None:
            check_unused(mistakes, "bucket", {"access_logs_bucket": access_logs_bucket, "bucket_name": bucket_name})
            check_source(mistakes, given, self._filters, through=through, managed=manage_notifications)
        mistakes.raise_all()

        self.queue: PipelineQueue = queue or MessageQueue(
            self,
            "Queue",
            function_timeout=timeout,
            max_batching_window=max_batching_window,
            retention=retention,
            dead_letter_retention=dead_letter_retention,
            max_receive_count=self._receives(None, fifo),
            max_message_size=max_message_size,
            encryption_key=encryption_key,
            fifo=fifo,
            removal_policy=removal_policy,
        )
        self.retention_terms = self._terms = retention_terms or self._default_terms()
        self.source_bucket: IngestBucket | None = None
        if given is None:
            self.source_bucket = IngestBucket(
                self,
                "Bucket",
                bucket_name=bucket_name,
                versioned=versioned,
                noncurrent_life=self._plan_life() if versioned else None,
                encryption_key=encryption_key,
                access_logs_bucket=access_logs_bucket,
                removal_policy=removal_policy,
            )
            given = source_bucket(self, self.source_bucket.bucket)
        self._source: SourceBucket = given
        self.bucket: s3.IBucket = self._source.bucket
        self._versioned = versioned
        self.ledger: IngestLedger = ledger or LedgerTable(
            self, "Ledger", encryption_key=encryption_key, removal_policy=removal_policy
        )
        self.ledger.retain_for(self.queue, terms=self._terms)
        self._memory_mib = memory_size_mib or self._sizing.computed_memory_mib
        self._temp_mib = (known_bytes(ephemeral_storage) or self._sizing.temp_mib * MIB) // MIB
        shared: dict[str, Any] = {
            "handler_package": handler_package,
            "requirements_lock": requirements_lock,
            "tracing": tracing,
            "log_retention": log_retention,
            "removal_policy": removal_policy,
        }
        self.ingester = ClaimCheckFunction(
            self,
            "Ingester",
            handler=INGEST_HANDLER,
            environment={**(handler_environment or {}), **self._ingester_environment(apply_put, apply_delete)},
            timeout=timeout,
            memory_size_mib=self._memory_mib,
            ephemeral_storage=Size.mebibytes(self._temp_mib),
            **shared,
        )
        self.function: lambda_.Function = self.ingester.function
        self.event_source = self._connect(batching)
        schedule = self._reconciler_environment(reconcile_every, reconcile_grace, reconcile_rate)
        self.reconciler = self._make_reconciler(schedule, encryption_key, shared) if reconcile else None
        self.route = self._make_route(encryption_key, shared)
        self.notification_configuration: Mapping[str, Any] = to_put(
            self.queue.queue.queue_arn, self._filters, through_events=self.route is not None
        )
        self._manage_notifications(managed=manage_notifications)
        self.alarms = self._make_alarms(max_age, alarm_topic)

    # --- Making -----------------------------------------------------------------------------------------------------

    def _default_terms(self) -> RetentionTerms:
        """An event that EventBridge could not deliver is retried, and may then be sent again from where it is kept."""
        if self._through == "notification":
            return RetentionTerms()
        kept = EVENTBRIDGE_DELIVERY_SECONDS + _UNDELIVERED_DAYS * DAY
        return RetentionTerms(delivery=Duration.seconds(kept))

    def _receives(self, queue: PipelineQueue | None, fifo: FifoOptions | None) -> int:
        """On FIFO a message is received with every attempt at those ahead of it, so the backstop follows."""
        if queue is not None:
            return queue.max_receive_count
        attempts_ahead = max(self._max_attempts, DEFAULT_MAX_ATTEMPTS) if fifo else 0
        return receive_count_for(Backoff(), attempts_ahead=attempts_ahead)

    def _plan_life(self) -> Duration:
        """A noncurrent version stays as long as its notification could come again."""
        return Duration.days(self.queue.retention_plan(self._terms).days)

    def _shared_environment(self) -> dict[str, str]:
        return {
            Setting.INGEST: self.ingest_name,
            Setting.INGEST_BUCKET: self._source.seen.bucket_name,
            Setting.INGEST_QUEUE_URL: self.queue.queue.queue_url,
            Setting.LEDGER_TABLE: self.ledger.table.table_name,
            Setting.LEDGER_TTL: self.ledger.ttl_text,
            Setting.LEDGER_PAD: self._pad,
        }

    def _ingester_environment(self, apply_put: str, apply_delete: str) -> dict[str, str]:
        environment = {
            **self._shared_environment(),
            Setting.INGEST_PUT: apply_put,
            Setting.INGEST_DELETE: apply_delete,
            Setting.PAYLOAD_ACCESS: self._sizing.access,
            Setting.MEMORY_BUDGET: str((self._memory_mib - FUNCTION_BASE_MEMORY_MIB) * MIB),
            Setting.TEMP_BUDGET: str(self._temp_mib * MIB),
            Setting.EXPANSION: f"{self._sizing.expansion:g}",
            Setting.CONCURRENCY: str(self._sizing.concurrent_records),
            Setting.MAX_ATTEMPTS: str(self._max_attempts),
            Setting.MAX_PAYLOAD: str(self._sizing.max_payload),
            Setting.VISIBILITY: str(self.queue.visibility_timeout.to_seconds()),
        }
        if self.queue.dead_letter_queue is not None:
            environment[Setting.DLQ_URL] = self.queue.dead_letter_queue.queue_url
        return environment

    def _reconciler_environment(self, every: Duration | None, grace: Duration | None, rate: int) -> dict[str, str]:
        environment = {
            **self._shared_environment(),
            Setting.INGEST_RECONCILE_EVERY: str(known_seconds(every) or DAY_SECONDS),
            Setting.INGEST_GRACE: str(INGEST_GRACE_SECONDS if grace is None else known_seconds(grace)),
            Setting.INGEST_RECONCILE_RATE: str(rate),
        }
        if self._filters != (ALL_KEYS,):
            filters = [{"prefix": one.prefix, "suffix": one.suffix} for one in self._filters]
            environment[Setting.INGEST_FILTERS] = json.dumps(filters, separators=(",", ":"))
        return environment

    def _connect(self, batching: Batching) -> lambda_.EventSourceMapping:
        self.ingester.acknowledge_no_dead_letter_queue(
            "SQS invokes it synchronously: what fails stays in the queue, or goes to the queue's dead-letter queue."
        )
        grant = self._grant_ingester()
        mapping = batching.connect(self, self.queue.queue, self.function)
        grant.apply_before(mapping)
        return mapping

    def _make_reconciler(
        self, environment: Mapping[str, str], key: kms.IKey | None, shared: Mapping[str, Any]
    ) -> IngestReconciler:
        made = IngestReconciler(self, "Reconciler", environment=environment, encryption_key=key, **shared)
        self.ledger.grant_reconciler(made.function)
        self.queue.grant_publish(made.function)
        # It asks for the state of an object before it calls it gone or changed.
        self._grant_objects(made.function, ["s3:GetObject"])
        self._grant_listing(made.function)
        self._grant_key(made.function)
        return made

    def _make_route(self, key: kms.IKey | None, shared: Mapping[str, Any]) -> EventRoute | None:
        if self._through == "notification":
            self._allow_s3()
            return None
        route = EventRoute(
            self,
            "Route",
            pattern=event_pattern(self._source.seen.bucket_name, self._filters),
            queue=self.queue,
            fifo=self._fifo,
            encryption_key=key,
            **shared,
        )
        queue_key = self._key_of_queue()
        if queue_key is not None and queue_key is not key and not self._fifo:
            let_rules_encrypt(self, queue_key)
        return route

    def _key_of_queue(self) -> kms.IKey | None:
        return self.queue.queue.encryption_master_key

    def _allow_s3(self) -> None:
        source, account, key = self._source.arn_pattern, self._source.account, self._key_of_queue()
        let_service_send(self.queue.queue, service=S3_SERVICE, source_arn=source, account=account)
        if key is not None:
            let_service_encrypt(self, key, service=S3_SERVICE, source_arn=source, account=account)

    def _manage_notifications(self, *, managed: bool) -> None:
        source = self._source
        if source.cfn is None or not managed:
            return
        if self._through == "eventbridge":
            notify_event_bridge(source.cfn)
        else:
            notify_queue(source.cfn, self.queue.queue, self._filters)
        validate_at_synth(self, lambda: [*loops(source, self._filters), *mixed(source)])

    def _make_alarms(self, max_age: Duration | None, topic: sns.ITopic | None) -> IngestAlarms:
        age = min(HOUR, self.queue.retention_plan(self._terms).source // 2)
        return IngestAlarms(
            self,
            "Alarms",
            service=self.ingest_name,
            function=self.function,
            ledger_table=self.ledger.table,
            dead_letter_queue=self.queue.dead_letter_queue,
            reconciler=self.reconciler.function.function if self.reconciler else None,
            reconciler_failures=self.reconciler.undelivered if self.reconciler else None,
            forwarder=self.route.forwarder.function if self.route and self.route.forwarder else None,
            undelivered=self.route.undelivered if self.route else None,
            max_age=max_age or Duration.seconds(age),
            topic=topic,
        )

    # --- Rights -----------------------------------------------------------------------------------------------------

    def _grant_ingester(self) -> iam.Grant:
        grant = self.queue.grant_consume(self.ingester).combine(self.ledger.grant_ingester(self.ingester))
        # GetObject is HeadObject's permission, too: the bucket's state decides where sequencers do not.
        actions = ["s3:GetObject", "s3:GetObjectVersion"] if self._versioned else ["s3:GetObject"]
        grant = grant.combine(self._grant_objects(self.ingester, actions))
        return grant.combine(self._grant_listing(self.ingester)).combine(self._grant_key(self.ingester))

    def _grant_objects(self, grantee: iam.IGrantable, actions: list[str]) -> iam.Grant:
        arns = [self._source.seen.arn_for_objects(one.pattern) for one in self._filters]
        grant = iam.Grant.add_to_principal(grantee=grantee, actions=actions, resource_arns=arns)
        for one in self._filters:
            acknowledge_objects(
                grantee,
                self._source.seen,
                one.pattern,
                "The ingest follows every object that its notifications tell of, and exactly those are named, by "
                "prefix and suffix.",
            )
        return grant

    def _grant_listing(self, grantee: iam.IGrantable) -> iam.Grant:
        """Without it a missing key answers 403 and cannot be told from a denied one; S3 tests the key as the prefix."""
        prefixes = sorted({f"{one.prefix}*" for one in self._filters})
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["s3:ListBucket"],
            resource_arns=[self._source.seen.bucket_arn],
            conditions={"StringLike": {"s3:prefix": prefixes}},
        )

    def _grant_key(self, grantee: iam.IGrantable) -> iam.Grant:
        key = self.bucket.encryption_key
        return iam.Grant.drop(grantee, "S3 uses a key of its own") if key is None else key.grant(grantee, "kms:Decrypt")

    def grant_handler_table(self, table: WritableTable, actions: Collection[TableAction]) -> iam.Grant:
        """Allow the handlers exactly these actions on a table of the domain, in the ledger's transaction too.

        Args:
            table: The table.
            actions: ``put``, ``update``, ``delete`` and ``check`` are what ``tx`` writes; ``get`` reads by key.

        Raises:
            InvalidSettingsError: No action, or one that does not exist.
        """
        return grant_table(f"{describe(self)} grant_handler_table()", self.ingester, table, actions)

    def grant_handler_objects(self, bucket: s3.IBucket, *, prefix: str) -> iam.Grant:
        """Allow the handlers to put derived objects below a prefix.

        Args:
            bucket: Where to.
            prefix: Beginning of the keys, such as ``thumbnails/``.

        Raises:
            InvalidSettingsError: What is put there would itself be ingested, for ever.
        """
        mistakes = Mistakes(f"{describe(self)} grant_handler_objects()")
        same = bucket.node.path == self.bucket.node.path
        for one in self._filters if same else ():
            mistakes.require(
                not one.overlaps(KeyFilter(prefix=prefix)),
                "prefix",
                repr(prefix),
                f"lies within what this ingest follows ({one}): every object put there would be ingested in turn",
                "put derived objects into another bucket, or beside the filters' prefixes",
            )
        mistakes.raise_all()
        grant = iam.Grant.add_to_principal(
            grantee=self.ingester, actions=["s3:PutObject"], resource_arns=[bucket.arn_for_objects(f"{prefix}*")]
        )
        acknowledge_objects(self.ingester, bucket, f"{prefix}*", "Derived objects are put below this prefix only.")
        if bucket.encryption_key is None:
            return grant
        return grant.combine(bucket.encryption_key.grant(self.ingester, "kms:Decrypt", "kms:GenerateDataKey"))
