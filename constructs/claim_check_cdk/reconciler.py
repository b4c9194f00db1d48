"""The scheduled function that reconciles payloads with the rows that point at them (R7.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_cloudwatch as cloudwatch
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
    INBOX_OPEN_INDEX,
    OUTBOX_OPEN_INDEX,
    PAYLOAD_PREFIX,
    RECONCILE_GRACE_SECONDS,
    RECONCILE_LOOKS,
    RECONCILE_RATE,
    RECONCILE_TICK_SECONDS,
    Metric,
    ReconciliationAttribute,
    Setting,
    is_name,
)
from claim_check_cdk.acknowledgements import acknowledge_objects
from claim_check_cdk.alarm_rules import AlarmSet, Rule
from claim_check_cdk.claim_check_function import ClaimCheckFunction
from claim_check_cdk.domain_table import DomainTable
from claim_check_cdk.event_rule import EventRule, undelivered_queue
from claim_check_cdk.pointer_life import RetentionTerms
from claim_check_cdk.validation import Mistakes, describe, known, known_seconds

RECONCILER_HANDLER: Final = "claim_check.handlers.reconciler.handler"

_TIMEOUT_MINUTES: Final = 14
_RETRY_MINUTES: Final = 10
_HOUR: Final = 3600
_DAY: Final = 86_400
_OVERDUE_RUNS: Final = 2
_DEFAULT_GROWTH: Final = 10.0
_MAX_RATE: Final = 1000
_MAX_LOOKS: Final = 100_000

_DEAD_POINTERS: Final = Rule(
    threshold=1,
    datapoints=1,
    periods=3,
    period_seconds=_HOUR,
    what_to_do="Rows that are not done with point at payloads that are gone. Look at them with 'claim-check reconcile' "
    "and find out who removed the objects (lifecycle, person, other job). Restore them, or have the events published "
    "anew.",
)
_UNDELIVERED: Final = Rule(
    threshold=1,
    datapoints=2,
    periods=3,
    what_to_do="Invocations of the reconciler failed to the end. Read its log for the newest error; the next "
    "invocation goes on where the last one stopped. Then purge the queue of these invocations.",
)


class ReconciledBucket(Protocol):
    """A bucket of payloads, such as `PayloadBucket`."""

    @property
    def bucket(self) -> s3.IBucket:
        """The bucket itself."""

    @property
    def versioned(self) -> bool:
        """Whether it keeps versions."""


class ReconciledInbox(Protocol):
    """An inbox, such as `InboxTable`."""

    @property
    def table(self) -> dynamodb.ITable:
        """Its table."""


class ReconciledConsumer(Protocol):
    """A consumer of payloads of the bucket, such as `ClaimCheckPipeline`."""

    @property
    def consumer_name(self) -> str:
        """Its name, which its rows begin with."""

    @property
    def inbox(self) -> ReconciledInbox:
        """What it remembers."""

    @property
    def retention_terms(self) -> RetentionTerms:
        """Of which ``before_send`` is how old an object may be when its pointer is sent."""


class ReconciledOutbox(Protocol):
    """An outbox whose payloads are in the bucket, such as `Outbox`."""

    @property
    def table(self) -> dynamodb.ITable:
        """Its table."""

    @property
    def destination_names(self) -> Sequence[str]:
        """Its destinations, which its rows begin with."""


class Reconciler(Construct):
    """Reports, daily by default, what every payload past the grace age is to its consumers (R7.1).

    A payload is open, completed, proven unpublished, unknown or foreign; a row that is not done with and whose payload
    is gone is a dead pointer. Nothing is removed by default. With ``delete`` it removes what is proven unpublished, at
    a limited rate, and nothing else ever: no message can point at such an object any more. All else is the lifecycle's.

    The function goes off every half hour, and does something if a run is due or unfinished, so that a run of any length
    goes on where it stopped.

    Attributes:
        reconciler: The function construct.
        function: Its Lambda function.
        state: The table that keeps how far its runs have come.
        rule: Its schedule.
        undelivered: Keeps invocations that failed to the end.
        alarms: Every alarm by its id.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        bucket: ReconciledBucket,
        consumers: Sequence[ReconciledConsumer],
        outboxes: Sequence[ReconciledOutbox] = (),
        name: str | None = None,
        prefix: str = PAYLOAD_PREFIX,
        delete: bool = False,
        grace: Duration | None = None,
        unconfirmed_expiration: Duration | None = None,
        rate: float = RECONCILE_RATE,
        looks: int = RECONCILE_LOOKS,
        every: Duration | None = None,
        unknown_growth: float = _DEFAULT_GROWTH,
        alarm_topic: sns.ITopic | None = None,
        handler_package: Path | None = None,
        requirements_lock: Path | None = None,
        encryption_key: kms.IKey | None = None,
        tracing: bool = True,
        log_retention: logs.RetentionDays = logs.RetentionDays.ONE_MONTH,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Make function, schedule, state and alarms.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            bucket: The payloads.
            consumers: Every consumer that reads payloads of this bucket. One that is left out makes its payloads look
                unknown, which removes none of them.
            outboxes: Every outbox that stages payloads in this bucket, once all its destinations are added. By default
                there is none.
            name: Under which it emits its metrics. By default the construct's id.
            prefix: Only keys that begin so. By default all payloads.
            delete: Whether it removes what is proven unpublished; parked outbox rows older than ``grace`` are discarded
                for that. By default it only reports, and its role could not remove anything.
            grace: Younger objects, and outbox rows that were set aside for less, are left alone. By default 3 days.
            unconfirmed_expiration: No upload by grant is confirmed when it is older. By default the bucket's own.
            rate: Objects removed a second, at most. By default 10.
            looks: Objects of a run that no row knows and that are looked at one by one, at most. By default 10,000.
            every: How long after the start of a run the next one is due. By default one day.
            unknown_growth: By how many percentage points the share of unknown payloads must grow from one run to the
                next for an alarm. By default 10.
            alarm_topic: Told when an alarm rings and when it is over. By default nobody is told.
            handler_package: The package of the app's handlers, so that all functions share one asset. By default none.
            requirements_lock: What that package needs, likewise.
            encryption_key: Customer key of its table and its queue. By default keys of the services.
            tracing: Whether X-Ray samples its invocations. By default it does.
            log_retention: How long its logs are kept. By default one month.
            removal_policy: What happens to table, queue and logs when they leave the stack. By default they stay.

        Raises:
            InvalidSettingsError: Settings are wrong; the message lists all of them.
        """
        super().__init__(scope, construct_id)
        self._name = name or construct_id
        self._every = known_seconds(every) if every else _DAY
        confirmed = unconfirmed_expiration or getattr(bucket, "unconfirmed_expiration", None)
        mistakes = Mistakes(describe(self))
        _check_names(mistakes, self._name, prefix, consumers, outboxes)
        _check_times(mistakes, grace=grace, every=every, unconfirmed=confirmed)
        _check_numbers(mistakes, rate=rate, looks=looks, growth=unknown_growth)
        mistakes.raise_all()

        self.state = DomainTable(
            self,
            "State",
            partition_key=ReconciliationAttribute.KEY,
            encryption_key=encryption_key,
            removal_policy=removal_policy,
        )
        self.undelivered: sqs.Queue = undelivered_queue(
            self, "Undelivered", encryption_key=encryption_key, removal_policy=removal_policy
        )
        grace_seconds = known_seconds(grace) if grace else RECONCILE_GRACE_SECONDS
        self.reconciler = ClaimCheckFunction(
            self,
            "Function",
            handler=RECONCILER_HANDLER,
            handler_package=handler_package,
            requirements_lock=requirements_lock,
            environment={
                **_tables(consumers, outboxes),
                Setting.BUCKET: bucket.bucket.bucket_name,
                Setting.BEFORE_SEND: str(max(known_seconds(one.retention_terms.before_send) or 0 for one in consumers)),
                Setting.RECONCILER: self._name,
                Setting.RECONCILER_TABLE: self.state.table.table_name,
                Setting.RECONCILER_PREFIX: prefix,
                Setting.RECONCILER_GRACE: str(grace_seconds),
                Setting.RECONCILER_UNCONFIRMED: str(known_seconds(confirmed)),
                Setting.RECONCILER_DELETE: str(delete).lower(),
                Setting.RECONCILER_RATE: f"{rate:g}",
                Setting.RECONCILER_LOOKS: str(looks),
                Setting.RECONCILER_EVERY: str(self._every),
            },
            timeout=Duration.minutes(_TIMEOUT_MINUTES),
            dead_letter_queue=self.undelivered,
            tracing=tracing,
            log_retention=log_retention,
            removal_policy=removal_policy,
        )
        self.function: lambda_.Function = self.reconciler.function
        self._grant_bucket(bucket, prefix, delete=delete)
        self._grant_tables(consumers, outboxes, delete=delete)
        if encryption_key is not None:
            encryption_key.grant(self.reconciler, "kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKey")
        self.rule = EventRule(
            self,
            "Schedule",
            every=Duration.seconds(RECONCILE_TICK_SECONDS),
            function=self.function,
            dead_letter_queue=self.undelivered,
            # An older one is worth nothing: the next is due.
            retry_for=Duration.minutes(_RETRY_MINUTES),
        )
        self.alarms: Mapping[str, cloudwatch.Alarm] = self._alarms(unknown_growth, alarm_topic)

    # --- Rights -----------------------------------------------------------------------------------------------------

    def _grant_bucket(self, bucket: ReconciledBucket, prefix: str, *, delete: bool) -> None:
        """Looks need the rights of reads, though nothing is read; holds are told only to who may ask for them."""
        actions = ["s3:GetObject", "s3:GetObjectTagging"]
        if bucket.versioned:
            actions += ["s3:GetObjectVersion", "s3:GetObjectVersionTagging"]
        if delete:
            actions += ["s3:DeleteObject"]
        if delete and bucket.versioned:
            actions += ["s3:DeleteObjectVersion", "s3:GetObjectLegalHold", "s3:GetObjectRetention"]
        objects = f"{prefix}*"
        iam.Grant.add_to_principal(
            grantee=self.reconciler, actions=sorted(actions), resource_arns=[bucket.bucket.arn_for_objects(objects)]
        )
        acknowledge_objects(
            self.reconciler,
            bucket.bucket,
            objects,
            "Keys hold hashes that only an event knows, so payloads are named by prefix, within one dedicated bucket.",
        )
        iam.Grant.add_to_principal(
            grantee=self.reconciler,
            actions=["s3:ListBucket"],
            resource_arns=[bucket.bucket.bucket_arn],
            conditions={"StringLike": {"s3:prefix": [objects]}},
        )

    def _grant_tables(
        self, consumers: Sequence[ReconciledConsumer], outboxes: Sequence[ReconciledOutbox], *, delete: bool
    ) -> None:
        for table in {one.inbox.table.node.path: one.inbox.table for one in consumers}.values():
            self._grant(table, [table.table_arn], "dynamodb:BatchGetItem")
            self._grant(table, [f"{table.table_arn}/index/{INBOX_OPEN_INDEX}"], "dynamodb:Query")
        for outbox in outboxes:
            table = outbox.table
            writes = ["dynamodb:UpdateItem"] if delete else []
            self._grant(table, [table.table_arn], "dynamodb:BatchGetItem", *writes)
            self._grant(table, [f"{table.table_arn}/index/{OUTBOX_OPEN_INDEX}"], "dynamodb:Query")
        self._grant(self.state.table, [self.state.table.table_arn], "dynamodb:UpdateItem")

    def _grant(self, table: dynamodb.ITable, resources: list[str], *actions: str) -> None:
        iam.Grant.add_to_principal(grantee=self.reconciler, actions=list(actions), resource_arns=resources)
        if table.encryption_key is not None and table is not self.state.table:
            table.encryption_key.grant(self.reconciler, "kms:Decrypt", "kms:DescribeKey")

    # --- Alarms -----------------------------------------------------------------------------------------------------

    def _alarms(self, growth: float, topic: sns.ITopic | None) -> Mapping[str, cloudwatch.Alarm]:
        alarms = AlarmSet(self, service=self._name, topic=topic)
        alarms.add_own("DeadPointers", Metric.DEAD_POINTERS, "Maximum", _DEAD_POINTERS)
        alarms.add_own("UnknownPayloads", Metric.UNKNOWN_GROWTH, "Maximum", _unknown(growth))
        alarms.add_own("ReconciliationOverdue", Metric.RECONCILIATION_AGE, "Maximum", _overdue(self._every or _DAY))
        alarms.add(
            "UndeliveredRuns",
            self.undelivered.metric_approximate_number_of_messages_visible(
                period=_UNDELIVERED.period, statistic="Maximum"
            ),
            _UNDELIVERED,
        )
        return alarms.alarms


def _unknown(growth: float) -> Rule:
    return Rule(
        threshold=growth,
        datapoints=1,
        periods=3,
        period_seconds=_HOUR,
        what_to_do="Since the run before, many more payloads are known to no row: producers that stop between payload "
        "and message, messages that nobody receives, or a consumer that this reconciler was not told of. Nothing was "
        "removed. Compare publishes with receives, and look at the queues' ages.",
    )


def _overdue(every: int) -> Rule:
    return Rule(
        threshold=_OVERDUE_RUNS * every,
        datapoints=3,
        periods=3,
        period_seconds=_HOUR,
        silence_rings=True,
        what_to_do="No reconciliation has finished for two intervals, or its function does not run at all. Look "
        "whether its schedule is enabled, and at its log for the newest error; it goes on by itself where it stopped.",
    )


def _tables(consumers: Sequence[ReconciledConsumer], outboxes: Sequence[ReconciledOutbox]) -> dict[str, str]:
    inboxes = [f"{one.consumer_name}={one.inbox.table.table_name}" for one in consumers]
    rows = [f"{name}={one.table.table_name}" for one in outboxes for name in one.destination_names]
    found = {Setting.RECONCILER_INBOXES: ",".join(inboxes)}
    return found | ({Setting.RECONCILER_OUTBOXES: ",".join(rows)} if rows else {})


# --- Validation -----------------------------------------------------------------------------------------------------


def _check_names(
    mistakes: Mistakes,
    name: str,
    prefix: str,
    consumers: Sequence[ReconciledConsumer],
    outboxes: Sequence[ReconciledOutbox],
) -> None:
    mistakes.require(
        known(name) is None or is_name(name),
        "name",
        repr(name),
        "must be 1 to 128 of A-Z a-z 0-9 . _ -",
        "leave it out for the construct's id",
    )
    mistakes.require(
        known(prefix) is not None and prefix.startswith(PAYLOAD_PREFIX),
        "prefix",
        repr(prefix),
        f"must begin with {PAYLOAD_PREFIX}: nothing else is looked at",
        "leave it out for all payloads",
    )
    mistakes.require(
        len(consumers) > 0,
        "consumers",
        "none",
        "must be every consumer of the bucket: without their rows all payloads look unknown",
        "pass the pipelines that read from it",
    )
    for argument, names in (
        ("consumers", [one.consumer_name for one in consumers]),
        ("outboxes", [name for one in outboxes for name in one.destination_names]),
    ):
        twice = sorted({one for one in names if names.count(one) > 1})
        mistakes.require(
            not twice, argument, ", ".join(twice), "must be told apart by their names", "name each of them once"
        )


def _check_times(
    mistakes: Mistakes, *, grace: Duration | None, every: Duration | None, unconfirmed: Duration | None
) -> None:
    for argument, duration, low, high in (
        ("grace", grace, 0, 365 * _DAY),
        ("every", every, _HOUR, 7 * _DAY),
        ("unconfirmed_expiration", unconfirmed, _HOUR, 36_500 * _DAY),
    ):
        mistakes.require(
            duration is None or not duration.is_unresolved(),
            argument,
            "a token",
            "must be known at synth",
            "give a literal Duration, or leave it out",
        )
        mistakes.require_range(
            argument, known_seconds(duration), low=low, high=high, unit="s", way_out="leave it out for the default"
        )
    mistakes.require(
        unconfirmed is not None,
        "unconfirmed_expiration",
        None,
        "must be told: nobody here knows when that bucket deletes uploads that are not confirmed",
        "pass the age of its lifecycle rule for the tag state=unconfirmed",
    )


def _check_numbers(mistakes: Mistakes, *, rate: float, looks: int, growth: float) -> None:
    for argument, value, low, high in (
        ("rate", rate, 1, _MAX_RATE),
        ("looks", looks, 0, _MAX_LOOKS),
        ("unknown_growth", growth, 0.1, 100),
    ):
        mistakes.require_range(argument, value, low=low, high=high, way_out="leave it out for the default")
