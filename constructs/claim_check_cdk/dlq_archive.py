"""Keeps dead letters beyond the fourteen days of SQS, so that they can still be redriven."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from aws_cdk import Annotations, Duration, RemovalPolicy
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from claim_check.contract import ARCHIVE_PREFIX, Metric, Setting
from claim_check_cdk.access_logs import log_access
from claim_check_cdk.acknowledgements import acknowledge_objects
from claim_check_cdk.alarm_rules import AlarmSet
from claim_check_cdk.dlq_sampler import DEFAULT_EVERY_SECONDS, DlqSampler, SampledInbox, grant_dead_letters
from claim_check_cdk.pointer_life import PlannedQueue
from claim_check_cdk.retention import ARCHIVE_ROUNDING_SECONDS, DAY, format_seconds
from claim_check_cdk.validation import Mistakes, describe, known_seconds

_DEFAULT_KEEP_DAYS: Final = 30
_MAX_KEEP_DAYS: Final = 3650
_MARGIN_SHARE: Final = 7
"""By default a seventh of the DLQ's retention is left when a letter is archived: two days of fourteen."""

_RUNS_IN_MARGIN: Final = 4
_EVERY_LETTER: Final = f"{ARCHIVE_PREFIX}*"


class ArchivableQueue(PlannedQueue, Protocol):
    """A queue whose dead letters can be archived, such as `MessageQueue`; it must be one that `CountsArchive`, too."""

    @property
    def dead_letter_queue(self) -> sqs.IQueue | None:
        """Its DLQ."""


@runtime_checkable
class CountsArchive(Protocol):
    """A queue that can count an archive in its plans: without that, payloads would die before their letters."""

    def count_archive(self, keep: Duration) -> None:
        """Have every retention plan of this queue count the archive."""


class DlqArchive(Construct):
    """Archives dead letters before SQS deletes them: a replay after 30 days, say, is possible (R6.5).

    A scheduled function measures the DLQ as `DlqSampler` does, and stores each message that comes near its retention:
    body, all attributes, group, trace header, reason, times and ids, durable in S3 before it is deleted from the DLQ.
    ``claim-check dlq`` reads both. The queue's retention plan counts the archive, so that payloads and inbox rows live
    long enough, whoever else plans with that queue.

    Attributes:
        bucket: Where letters are kept, apart from the payloads; inline payloads lie in them, so it is as closed as
            theirs.
        sampler: The construct of function, schedule and alarms.
        function: The Lambda function.
        keep: How long a letter is kept.
        archive_after: Age in the DLQ from which a letter is archived.
        alarms: Every alarm by its id.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        queue: ArchivableQueue,
        consumer_name: str,
        inbox: SampledInbox | None = None,
        keep: Duration | None = None,
        margin: Duration | None = None,
        every: Duration | None = None,
        stuck_after: Duration | None = None,
        bucket: s3.IBucket | None = None,
        access_logs_bucket: s3.IBucket | None = None,
        access_logs_prefix: str = "dlq-archive/",
        encryption_key: kms.IKey | None = None,
        handler_package: Path | None = None,
        alarm_topic: sns.ITopic | None = None,
        tracing: bool = True,
        log_retention: logs.RetentionDays = logs.RetentionDays.ONE_MONTH,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Make bucket, function and schedule, and have the queue's plans count the archive.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            queue: The queue whose dead letters are archived.
            consumer_name: Whose dead letters these are: the dimension of the metrics.
            inbox: The consumer's inbox, as for `DlqSampler`. By default it is not looked at.
            keep: How long a letter is kept once it is archived, whole days. By default 30 days.
            margin: How long before its end in the DLQ a message is archived. By default a seventh of the DLQ's
                retention: two days of fourteen.
            every: How often the function runs; four runs must fit into the margin. By default every hour.
            stuck_after: As for `DlqSampler`.
            bucket: A bucket of your own that holds no payloads; other archives may share it. It must be encrypted, and
                closed like theirs. By default one is made.
            access_logs_bucket: Receives the access logs of the bucket made here. By default there are none.
            access_logs_prefix: Where in that bucket.
            encryption_key: Customer key of the bucket, of the queue of undelivered runs; with a ``bucket`` of your own:
                the key that it has. By default the services' own keys.
            handler_package: The package of the pipeline's handler, so that the functions share one asset. By default
                the asset holds the library alone.
            alarm_topic: Told when an alarm rings and when it is over. By default nobody is told.
            tracing: Whether X-Ray samples invocations. By default it does.
            log_retention: How long logs are kept. By default one month.
            removal_policy: What happens to bucket and logs when they leave the stack. By default they stay.

        Raises:
            InvalidSettingsError: Settings are wrong; the message lists all of them.
        """
        super().__init__(scope, construct_id)
        dlq = queue.dead_letter_queue
        retention = queue.retention_plan().dlq
        keep_seconds = _DEFAULT_KEEP_DAYS * DAY if keep is None else known_seconds(keep)
        margin_seconds = retention // _MARGIN_SHARE if margin is None else known_seconds(margin)
        every_seconds = DEFAULT_EVERY_SECONDS if every is None else known_seconds(every)
        mistakes = Mistakes(describe(self))
        _check_times(mistakes, keep_seconds, margin_seconds, every_seconds, retention)
        mistakes.require(
            dlq is not None,
            "queue",
            "without a dead-letter queue",
            "has nothing to archive",
            "look after it with DlqSampler, or give it a DLQ",
        )
        mistakes.require(
            isinstance(queue, CountsArchive),
            "queue",
            type(queue).__name__,
            "cannot count an archive in its retention plan, so payloads would die before their letters",
            "give your fork of MessageQueue the method count_archive",
        )
        mistakes.require(
            bucket is None or access_logs_bucket is None,
            "access_logs_bucket",
            "given",
            "is for the bucket that is made here",
            "set it up on the bucket itself",
        )
        mistakes.raise_all()
        assert isinstance(queue, CountsArchive)  # noqa: S101 - checked above
        assert dlq is not None  # noqa: S101 - checked above
        assert keep_seconds is not None  # noqa: S101 - checked above
        assert margin_seconds is not None  # noqa: S101 - checked above
        self.keep = Duration.seconds(keep_seconds)
        self.archive_after = Duration.seconds(retention - margin_seconds)
        queue.count_archive(Duration.seconds(keep_seconds + ARCHIVE_ROUNDING_SECONDS))
        self._encryption_key = encryption_key
        self.bucket: s3.IBucket = bucket or self._make_bucket(removal_policy)
        if bucket is None and access_logs_bucket is not None:
            log_access(self, self._own_bucket, access_logs_bucket, access_logs_prefix)
        self._expire(self.bucket, dlq)
        self.sampler = DlqSampler(
            self,
            "Sampler",
            queue=queue,
            consumer_name=consumer_name,
            inbox=inbox,
            every=every,
            stuck_after=stuck_after,
            handler_package=handler_package,
            encryption_key=encryption_key,
            alarm_topic=alarm_topic,
            tracing=tracing,
            log_retention=log_retention,
            removal_policy=removal_policy,
        )
        self.function: lambda_.Function = self.sampler.function
        self.function.add_environment(Setting.ARCHIVE_BUCKET, self.bucket.bucket_name)
        self.function.add_environment(Setting.ARCHIVE_AFTER, str(retention - margin_seconds))
        grant_dead_letters(self.sampler.sampler, dlq, "DeleteMessage")
        self._grant_letters(
            self.sampler.sampler,
            ["s3:GetObject", "s3:PutObject"],
            ["kms:Decrypt", "kms:GenerateDataKey"],
            "The function stores letters under names made of message ids, which only a message knows: one dedicated "
            "prefix, no deletion.",
        )
        own = AlarmSet(Construct(self, "Alarms"), service=consumer_name, topic=alarm_topic)
        self._watch(own, retention, margin_seconds)
        self.alarms: Mapping[str, cloudwatch.Alarm] = {**self.sampler.alarms, **own.alarms}

    def grant_operator(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow what ``claim-check dlq`` does with archived letters: list, read, and remove what was redriven.

        Args:
            grantee: Who.
        """
        listing = iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["s3:ListBucket"],
            resource_arns=[self.bucket.bucket_arn],
            conditions={"StringLike": {"s3:prefix": [_EVERY_LETTER]}},
        )
        letters = self._grant_letters(
            grantee,
            ["s3:DeleteObject", "s3:GetObject"],
            ["kms:Decrypt"],
            "An operator reads letters, and removes those that were redriven: one dedicated prefix.",
        )
        return listing.combine(letters)

    # --- Making -----------------------------------------------------------------------------------------------------

    def _make_bucket(self, removal_policy: RemovalPolicy) -> s3.Bucket:
        key = self._encryption_key
        self._own_bucket = s3.Bucket(
            self,
            "Bucket",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            encryption=s3.BucketEncryption.KMS if key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=key,
            bucket_key_enabled=True if key else None,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="abort-incomplete-uploads", abort_incomplete_multipart_upload_after=Duration.days(1)
                )
            ],
            removal_policy=removal_policy,
        )
        self._own_bucket.add_to_resource_policy(
            iam.PolicyStatement(
                sid="RefuseUnconditionalWrites",
                effect=iam.Effect.DENY,
                principals=[iam.AnyPrincipal()],
                actions=["s3:PutObject"],
                resources=[self._own_bucket.arn_for_objects(_EVERY_LETTER)],
                conditions={
                    "Null": {"s3:if-none-match": "true"},
                    # The parts of a multipart upload take no condition; they create no object yet.
                    "Bool": {"s3:ObjectCreationOperation": "true"},
                },
            )
        )
        return self._own_bucket

    def _expire(self, bucket: s3.IBucket, dlq: sqs.IQueue) -> None:
        """Let the letters of this DLQ expire; other archives in the bucket have rules of their own."""
        if isinstance(bucket, s3.Bucket):
            bucket.add_lifecycle_rule(
                id=f"expire-letters-{self.node.addr[-8:]}",
                prefix=f"{ARCHIVE_PREFIX}{dlq.queue_name}/",
                expiration=self.keep,
            )
            return
        Annotations.of(self).add_warning_v2(
            "claim-check:archive-lifecycle",
            f"bucket '{bucket.node.path}' is imported, so its lifecycle could not be changed here. It must expire "
            f"{ARCHIVE_PREFIX} after {format_seconds(known_seconds(self.keep) or 0)}: the retention plan counts on it.",
        )

    def _grant_letters(
        self, grantee: iam.IGrantable, actions: list[str], key_actions: list[str], reason: str
    ) -> iam.Grant:
        grant = iam.Grant.add_to_principal(
            grantee=grantee, actions=actions, resource_arns=[self.bucket.arn_for_objects(_EVERY_LETTER)]
        )
        acknowledge_objects(grantee, self.bucket, _EVERY_LETTER, reason)
        key = self._encryption_key
        return grant if key is None else grant.combine(key.grant(grantee, *key_actions))

    def _watch(self, alarms: AlarmSet, retention: int, margin: int) -> None:
        overdue = retention - margin // 2
        late = (
            f"A dead letter is older than {format_seconds(overdue)} and is not archived; SQS deletes it after "
            f"{format_seconds(retention)}. "
        )
        behind = self.sampler.rule(
            threshold=overdue,
            what_to_do=late
            + "Read the newest errors of the archive's function; if nothing helps in time, redrive what is "
            "left, or lengthen the retention of the DLQ.",
        )
        silent = self.sampler.rule(
            threshold=retention,
            datapoints=2,
            silence_rings=True,
            what_to_do="The archive's function has measured nothing for two runs: it does not run, or fails before it "
            f"measures. SQS deletes dead letters after {format_seconds(retention)}, and its own age metric omits "
            "those that were sampled often. Look at the schedule (disabled?), and invoke the function by hand.",
        )
        failed = self.sampler.rule(
            threshold=1,
            datapoints=2,
            what_to_do="Dead letters that are due cannot be stored, or not be deleted from the DLQ, run after run. "
            "They are still in the DLQ. Read the newest errors of the archive's function.",
        )
        alarms.add_own("ArchiveBehind", Metric.OLDEST_DEAD_LETTER, "Maximum", behind)
        alarms.add_own("ArchiveFailed", Metric.ARCHIVE_FAILED, "Sum", failed)
        alarms.add_own("ArchiveSilent", Metric.OLDEST_DEAD_LETTER, "Maximum", silent)


def _check_times(mistakes: Mistakes, keep: int | None, margin: int | None, every: int | None, retention: int) -> None:
    for name, seconds in (("keep", keep), ("margin", margin)):
        mistakes.require(seconds is not None, name, "a token", "must be known at synth", "give a literal Duration")
    if keep is not None:
        mistakes.require_range("keep", keep / DAY, low=1, high=_MAX_KEEP_DAYS, unit="d", way_out="leave it out")
        mistakes.require(keep % DAY == 0, "keep", f"{keep} s", "must be whole days: S3 counts no less", "round it up")
    if margin is None:
        return
    mistakes.require(
        0 < margin < retention,
        "margin",
        f"{margin} s",
        f"must be shorter than the DLQ's retention of {format_seconds(retention)}",
        "leave it out",
    )
    mistakes.require(
        every is None or every * _RUNS_IN_MARGIN <= margin,
        "margin",
        f"{margin} s",
        f"must hold {_RUNS_IN_MARGIN} runs, one every {format_seconds(every or 0)}: one that fails then costs nothing",
        "lengthen it or the DLQ's retention, or run more often",
    )
