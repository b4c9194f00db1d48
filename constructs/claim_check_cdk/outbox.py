"""An outbox: messages that commit together with domain writes, and what publishes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol, get_args

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from claim_check.contract import (
    DEFAULT_OUTBOX_ATTEMPTS,
    DEFAULT_OUTBOX_SECONDS,
    SETTING_PREFIX,
    Metric,
    OnPoison,
    Setting,
    is_name,
)
from claim_check_cdk.alarm_rules import AlarmSet, Rule
from claim_check_cdk.claim_check_function import ClaimCheckFunction
from claim_check_cdk.event_rule import EventRule, undelivered_queue
from claim_check_cdk.outbox_table import OutboxTable
from claim_check_cdk.pointer_life import PlannedQueue, RetentionTerms
from claim_check_cdk.validation import Mistakes, describe, known, known_seconds, validate_at_synth

RELAY_HANDLER: Final = "claim_check.handlers.outbox_relay.handler"
SWEEP_HANDLER: Final = "claim_check.handlers.outbox_sweep.handler"

_TIMEOUT: Final = Duration.seconds(60)
_STREAM_BATCH: Final = 100
_MAX_RECORD_AGE_MINUTES: Final = 60
"""Older records are given up: the sweep sent their rows long ago."""

_RETRIES: Final = 10
_MAX_DESTINATIONS: Final = 8
_MAX_ATTEMPTS: Final = 100
_DEFAULT_MAX_LAG_SECONDS: Final = 300
_MINUTE: Final = 60
_DAY: Final = 86_400

_PARKED: Final = (
    "Committed messages wait in the outbox for a decision: their queue refuses them, or they are older than "
    "before_send. On FIFO their groups may stand behind them. List them with 'claim-check outbox list'."
)
_ITERATOR_AGE: Final = Rule(
    threshold=120_000,
    datapoints=3,
    periods=5,
    what_to_do="The relay is minutes behind the outbox's stream (the age is in milliseconds). Read its log; the sweep "
    "sends meanwhile.",
)
_UNDELIVERED: Final = Rule(
    threshold=1,
    datapoints=1,
    periods=1,
    period_seconds=300,
    what_to_do="Lambda gave up a batch of the outbox's stream, or a run of the sweep. No message is lost: the next "
    "sweep finds the rows. Read the log for the cause, then purge the queue of undelivered runs.",
)


class StagedBucket(Protocol):
    """A bucket that payloads are staged in, such as `PayloadBucket`."""

    def retain_for(self, queue: PlannedQueue, *, terms: RetentionTerms | None = None) -> None:
        """Keep payloads for as long as this queue could hold a pointer to them."""

    def grant_put(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow writing payloads."""


class RelayedQueue(PlannedQueue, Protocol):
    """A queue that rows are published to, such as `MessageQueue`."""

    @property
    def queue(self) -> sqs.IQueue:
        """The queue itself."""

    def grant_publish(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow sending."""


class RememberingInbox(Protocol):
    """An inbox that remembers what was published, such as `InboxTable`."""

    def retain_for(self, queue: PlannedQueue, *, terms: RetentionTerms | None = None) -> None:
        """Remember what came through this queue for as long as it could come again."""


class RelaysTo(Protocol):
    """What an outbox publishes to, such as `ClaimCheckPipeline`."""

    @property
    def bucket(self) -> StagedBucket:
        """Where payloads go."""

    @property
    def queue(self) -> RelayedQueue:
        """Where messages go."""

    @property
    def inbox(self) -> RememberingInbox:
        """What the consumer remembers."""

    @property
    def retention_terms(self) -> RetentionTerms:
        """Terms of the retention plan."""

    def producer_environment(self) -> Mapping[str, str]:
        """The settings a producer needs."""


class Outbox(Construct):
    """Publishes what was committed together with domain writes, and nothing else (R3).

    An application adds rows in its own DynamoDB transactions (`claim_check.outbox`). A relay on the table's stream
    sends them within a second or so, in order within each FIFO group; a sweep sends what the stream missed, and
    measures how far behind the outbox is. A row that its queue refuses again and again, or that is older than
    ``before_send``, is parked for an operator.

    Attributes:
        name: Name of the outbox: the dimension of its metrics.
        outbox_table: The construct of the table.
        table: The table.
        relay: The function construct on the stream.
        sweep: The function construct on the schedule.
        event_source: The mapping from the stream to the relay.
        schedule: What invokes the sweep.
        undelivered: Keeps where in the stream the batches are that Lambda gave up, and the sweep's runs that it did.
        alarms: Every alarm by its id.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        destinations: Mapping[str, RelaysTo] | None = None,
        name: str | None = None,
        before_send: Duration | None = None,
        max_attempts: int = DEFAULT_OUTBOX_ATTEMPTS,
        sweep_every: Duration | None = None,
        max_lag: Duration | None = None,
        handler_package: Path | None = None,
        encryption_key: kms.IKey | None = None,
        alarm_topic: sns.ITopic | None = None,
        tracing: bool = True,
        log_retention: logs.RetentionDays = logs.RetentionDays.ONE_MONTH,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Make table, relay and sweep.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            destinations: Pipelines to publish to, by a name that does not change later: rows are kept under it. By
                default none; see `add_destination`.
            name: Name of the outbox, in its metrics. By default the construct id.
            before_send: How old a row may be when it is sent, the pipelines' retention plans count it; an older one is
                parked. By default one day.
            max_attempts: Refusals by the queue after which a row is parked. By default 10, over half an hour or so.
                Outages do not count.
            sweep_every: How often the sweep runs, whole minutes. By default every minute.
            max_lag: Age of the oldest unsent row that rings the alarm. By default 5 minutes.
            handler_package: The package of a pipeline's handler, so that the functions share one asset. By default the
                asset holds the library alone.
            encryption_key: Customer key of the table and the queue of undelivered runs. By default the services' own.
            alarm_topic: Told when an alarm rings and when it is over. By default nobody is told.
            tracing: Whether X-Ray samples invocations. By default it does.
            log_retention: How long logs are kept. By default one month.
            removal_policy: What happens to table, queue and logs when they leave the stack. By default they stay.

        Raises:
            InvalidSettingsError: Settings are wrong; the message lists all of them.
        """
        super().__init__(scope, construct_id)
        self.name = name or construct_id
        self._before_send = DEFAULT_OUTBOX_SECONDS if before_send is None else known_seconds(before_send)
        sweep_seconds = _MINUTE if sweep_every is None else known_seconds(sweep_every)
        lag_seconds = _DEFAULT_MAX_LAG_SECONDS if max_lag is None else known_seconds(max_lag)
        mistakes = Mistakes(describe(self))
        mistakes.require(
            known(self.name) is None or is_name(self.name),
            "name",
            repr(self.name),
            "must be 1 to 128 of A-Z a-z 0-9 . _ -",
            "choose such a name",
        )
        _check_times(mistakes, self._before_send, sweep_seconds, lag_seconds)
        mistakes.require_range(
            "max_attempts", max_attempts, low=1, high=_MAX_ATTEMPTS, way_out=f"leave it out for {max_attempts}"
        )
        mistakes.raise_all()

        self._destinations: dict[str, RelaysTo] = {}
        self._variables: dict[str, str] = {}
        self._used_by: str | None = None
        self.outbox_table = OutboxTable(self, "Table", encryption_key=encryption_key, removal_policy=removal_policy)
        self.table: dynamodb.ITable = self.outbox_table.table
        self.undelivered = undelivered_queue(
            self, "Undelivered", encryption_key=encryption_key, removal_policy=removal_policy
        )

        def function(child_id: str, handler: str, dead_letter_queue: sqs.IQueue | None) -> ClaimCheckFunction:
            return ClaimCheckFunction(
                self,
                child_id,
                handler=handler,
                handler_package=handler_package,
                environment={
                    **self._base_environment(),
                    Setting.OUTBOX_TTL: self.outbox_table.ttl_text,
                    Setting.OUTBOX_BEFORE_SEND: str(self._before_send),
                    Setting.OUTBOX_ATTEMPTS: str(max_attempts),
                },
                timeout=_TIMEOUT,
                tracing=tracing,
                dead_letter_queue=dead_letter_queue,
                log_retention=log_retention,
                removal_policy=removal_policy,
            )

        self.relay = function("Relay", RELAY_HANDLER, None)
        self.relay.acknowledge_no_dead_letter_queue(
            "The mapping of the stream invokes it synchronously, and has a destination for the batches it gives up."
        )
        self.sweep = function("Sweep", SWEEP_HANDLER, self.undelivered)
        self.outbox_table.grant_relay(self.relay)
        self.outbox_table.grant_sweep(self.sweep)
        for one in (self.relay, self.sweep):
            self._grant_undelivered(one, encryption_key)
        self.event_source = self._connect()
        every = Duration.seconds(sweep_seconds or _MINUTE)
        self.schedule = EventRule(
            self,
            "Schedule",
            every=every,
            function=self.sweep.function,
            dead_letter_queue=self.undelivered,
            retry_for=every,
            description=f"Sweeps the outbox {self.name}.",
        )
        self.alarm_set = AlarmSet(Construct(self, "Alarms"), service=self.name, topic=alarm_topic)
        self.alarms: Mapping[str, cloudwatch.Alarm] = self.alarm_set.alarms
        self._watch(lag_seconds or _DEFAULT_MAX_LAG_SECONDS, sweep_seconds or _MINUTE)
        for destination, pipeline in (destinations or {}).items():
            self.add_destination(destination, pipeline)
        validate_at_synth(self, self._check_destinations)

    # --- Using ------------------------------------------------------------------------------------------------------

    @property
    def destination_names(self) -> Sequence[str]:
        """Names of the destinations, in the order in which they were added."""
        return list(self._destinations)

    def add_destination(self, name: str, pipeline: RelaysTo, *, on_poison: OnPoison = "block") -> None:
        """Publish to one more pipeline; its bucket and inbox count how long a row may wait here (R6.1).

        Args:
            name: The first part of its rows' keys, and what an application stages under; do not change it later.
            pipeline: Where its rows go.
            on_poison: What a row that cannot be sent does to its FIFO group: ``block`` stops that group until an
                operator decides, so that order never breaks; ``park`` sets it aside, and the group goes on. Other
                groups, and standard queues, never wait for it.

        Raises:
            InvalidSettingsError: A setting is wrong, or what was told of the outbox before would not know of it.
        """
        self._check_destination(name, on_poison)
        self._destinations[name] = pipeline
        self._plan(pipeline)
        settings = {
            short.removeprefix(SETTING_PREFIX): value for short, value in pipeline.producer_environment().items()
        }
        variable = f"{Setting.OUTBOX_DESTINATION}{len(self._destinations)}"
        self._variables[variable] = json.dumps({"name": name, "onPoison": on_poison, **settings}, separators=(",", ":"))
        for one in (self.relay, self.sweep):
            one.function.add_environment(variable, self._variables[variable])
            pipeline.queue.grant_publish(one)

    def stage_environment(self) -> Mapping[str, str]:
        """Environment variables by which an application stages (`claim_check.outbox.settings.OutboxSettings`).

        Call it once all destinations are added.
        """
        self._used_by = "stage_environment()"
        return {**self._base_environment(), **self._variables}

    def grant_stage(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow staging for every destination: payloads into their buckets, rows into the table; no sending.

        Call it once all destinations are added.

        Args:
            grantee: Who.
        """
        self._used_by = "grant_stage()"
        grant = self.outbox_table.grant_stage(grantee)
        for pipeline in self._destinations.values():
            grant = grant.combine(pipeline.bucket.grant_put(grantee))
        return grant

    # --- Making -----------------------------------------------------------------------------------------------------

    def _base_environment(self) -> dict[str, str]:
        return {Setting.OUTBOX: self.name, Setting.OUTBOX_TABLE: self.table.table_name}

    def _connect(self) -> lambda_.EventSourceMapping:
        grant = self.outbox_table.grant_stream(self.relay)
        mapping = lambda_.EventSourceMapping(
            self,
            "EventSource",
            target=self.relay.function,
            event_source_arn=self.outbox_table.table.table_stream_arn,
            starting_position=lambda_.StartingPosition.TRIM_HORIZON,
            batch_size=_STREAM_BATCH,
            bisect_batch_on_error=True,
            report_batch_item_failures=True,
            max_record_age=Duration.minutes(_MAX_RECORD_AGE_MINUTES),
            retry_attempts=_RETRIES,
            # Neither later changes of a row, nor the removals by which its time to live shows in the stream.
            filters=[lambda_.FilterCriteria.filter({"eventName": lambda_.FilterRule.is_equal("INSERT")})],
        )
        cfn = mapping.node.default_child
        assert isinstance(cfn, lambda_.CfnEventSourceMapping)  # noqa: S101 - narrows jsii's type
        on_failure = lambda_.CfnEventSourceMapping.OnFailureProperty(destination=self.undelivered.queue_arn)
        cfn.destination_config = lambda_.CfnEventSourceMapping.DestinationConfigProperty(on_failure=on_failure)
        grant.apply_before(mapping)
        return mapping

    def _grant_undelivered(self, grantee: iam.IGrantable, key: kms.IKey | None) -> None:
        """Let Lambda tell what it gave up: it does so under the function's own role."""
        iam.Grant.add_to_principal(
            grantee=grantee, actions=["sqs:SendMessage"], resource_arns=[self.undelivered.queue_arn]
        )
        if key is not None:
            key.grant(grantee, "kms:Decrypt", "kms:GenerateDataKey")

    def _plan(self, pipeline: RelaysTo) -> None:
        """Have bucket and inbox count that a row waits: its object may be as old as an upload before it is staged."""
        before_send = (self._before_send or 0) + (known_seconds(pipeline.retention_terms.before_send) or 0)
        terms = replace(pipeline.retention_terms, before_send=Duration.seconds(before_send))
        pipeline.bucket.retain_for(pipeline.queue, terms=terms)
        pipeline.inbox.retain_for(pipeline.queue, terms=terms)
        self.outbox_table.retain_for(pipeline.queue, terms=terms)

    def _watch(self, lag_seconds: int, sweep_seconds: int) -> None:
        def swept(threshold: int, what_to_do: str) -> Rule:
            """Of what a sweep measures, once in each period: shorter ones would be empty, and never ring."""
            return Rule(
                threshold=threshold, datapoints=2, periods=3, period_seconds=sweep_seconds, what_to_do=what_to_do
            )

        lag = swept(
            lag_seconds,
            f"Committed messages are not sent for {lag_seconds} s and more. Look at the logs of relay and sweep: the "
            "queue or the table is down, a permission is gone, or a parked row stops its FIFO group.",
        )
        self.alarm_set.add_own("OutboxLag", Metric.OUTBOX_LAG, "Maximum", lag)
        self.alarm_set.add_own("OutboxParked", Metric.OUTBOX_PARKED, "Maximum", swept(1, _PARKED))
        age = self.relay.function.metric("IteratorAge", statistic="Maximum", period=_ITERATOR_AGE.period)
        self.alarm_set.add("OutboxStreamAge", age, _ITERATOR_AGE)
        waiting = self.undelivered.metric_approximate_number_of_messages_visible(
            period=_UNDELIVERED.period, statistic="Maximum"
        )
        self.alarm_set.add("OutboxUndelivered", waiting, _UNDELIVERED)
        self.alarm_set.add_function(self.relay.function, prefix="Relay")
        self.alarm_set.add_function(self.sweep.function, prefix="Sweep")

    # --- Validation -------------------------------------------------------------------------------------------------

    def _check_destinations(self) -> list[str]:
        if self._destinations:
            return []
        return ["destinations = None: an outbox publishes somewhere. Way out: pass destinations, or add_destination()."]

    def _check_destination(self, name: str, on_poison: str) -> None:
        mistakes = Mistakes(f"{describe(self)} add_destination()")
        mistakes.require(
            known(name) is not None and is_name(name),
            "name",
            repr(name),
            "must be 1 to 128 of A-Z a-z 0-9 . _ -, known at synth",
            "choose such a name",
        )
        mistakes.require(
            name not in self._destinations, "name", repr(name), "is taken by another destination", "choose another one"
        )
        mistakes.require(
            on_poison in get_args(OnPoison),
            "on_poison",
            repr(on_poison),
            f"must be one of {', '.join(get_args(OnPoison))}",
            "leave it out for block",
        )
        mistakes.require(
            len(self._destinations) < _MAX_DESTINATIONS,
            "name",
            repr(name),
            f"is one destination too many: the settings of {_MAX_DESTINATIONS} fit into a function's environment",
            "make another outbox",
        )
        mistakes.require(
            self._used_by is None,
            "name",
            repr(name),
            f"comes too late: {self._used_by} was called before, and does not know of it",
            "add all destinations first",
        )
        mistakes.raise_all()


def _check_times(mistakes: Mistakes, before_send: int | None, sweep: int | None, lag: int | None) -> None:
    for name, seconds in (("before_send", before_send), ("sweep_every", sweep), ("max_lag", lag)):
        mistakes.require(seconds is not None, name, "a token", "must be known at synth", "give a literal Duration")
    mistakes.require_range(
        "before_send", before_send, low=_MINUTE, high=30 * _DAY, unit="s", way_out="leave it out for a day"
    )
    mistakes.require_range("sweep_every", sweep, low=_MINUTE, high=3600, unit="s", way_out="leave it out for a minute")
    mistakes.require(
        sweep is None or sweep % _MINUTE == 0,
        "sweep_every",
        f"{sweep} s",
        "EventBridge counts whole minutes",
        "round it up",
    )
    mistakes.require_range("max_lag", lag, low=_MINUTE, high=_DAY, unit="s", way_out="leave it out for 5 minutes")
    mistakes.require(
        lag is None or before_send is None or lag < before_send,
        "max_lag",
        f"{lag} s",
        f"must be shorter than before_send = {before_send} s, after which rows are parked",
        "shorten it: somebody has to act before that",
    )
