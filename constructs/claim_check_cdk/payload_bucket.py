"""A dedicated bucket for payloads, which lives by its retention plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_cloudtrail as cloudtrail
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from claim_check.contract import PAYLOAD_PREFIX, TAG_STATE, TAG_UNCONFIRMED, UNCONFIRMED_SECONDS
from claim_check_cdk.access_logs import log_access
from claim_check_cdk.payload_holder import PayloadHolder
from claim_check_cdk.payload_lifecycle import check_rules, shorter_than
from claim_check_cdk.pointer_life import lazy_number
from claim_check_cdk.retention import DAY
from claim_check_cdk.validation import Mistakes, describe, known_seconds

REQUEST_METRICS_ID: Final = "payloads"
"""Name of the filter under which CloudWatch counts the requests of the payload prefix."""

_MAX_LIFE_DAYS: Final = 36_500


class ObjectEventTrail(Protocol):
    """A trail that can record data events, such as ``cloudtrail.Trail``."""

    def add_s3_event_selector(self, s3_selector: Sequence[cloudtrail.S3EventSelector], /) -> None:
        """Record the events of these buckets and prefixes."""


class PayloadBucket(PayloadHolder):
    """A bucket that holds nothing but payloads (R11.1): no public access, TLS only, encrypted, written once.

    Its policy refuses unconditional writes below ``payloads/`` (R2.3), except the parts of a multipart upload. Payloads
    expire after exactly as long as a pointer to them could live, computed from every queue that is told with
    `retain_for` (R6). Uploads that were never finished are aborted after one day, and uploads by grant that were never
    confirmed expire by their tag (R6.4). The bucket stays when it leaves the stack.

    Attributes:
        bucket: The bucket.
        versioned: Whether it keeps versions.
        unconfirmed_expiration: Life of an upload by grant that was never confirmed.
        request_metrics_id: The filter of the metrics of its requests; None if there are none.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        expiration: Duration | None = None,
        unconfirmed_expiration: Duration | None = None,
        encryption_key: kms.IKey | None = None,
        versioned: bool = False,
        lifecycle_rules: Sequence[s3.LifecycleRule] = (),
        access_logs_bucket: s3.IBucket | None = None,
        access_logs_prefix: str = "payload-bucket/",
        data_events_trail: ObjectEventTrail | None = None,
        request_metrics: bool = True,
        object_lock: bool = False,
        object_lock_retention: s3.ObjectLockRetention | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Make the bucket; tell it with `retain_for` which queues may hold its pointers.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            expiration: Life of a payload, whole days; never shorter than the plan of any queue (the synthesis fails and
                prints it). By default exactly that plan.
            unconfirmed_expiration: Life of an upload by grant that was never confirmed, whole days. By default 7 days.
            encryption_key: Customer key. By default S3 encrypts with keys of its own.
            versioned: Keeps versions; noncurrent ones expire by the same plan. By default it does not.
            lifecycle_rules: Rules of your own, such as a transition to another storage class; none may end a payload
                before its plan. By default there are none.
            access_logs_bucket: Receives server access logs, such as ``AccessLogBucket(...).bucket``; must be encrypted
                with S3's own keys. By default there are no access logs.
            access_logs_prefix: Where in that bucket.
            data_events_trail: A CloudTrail trail that shall record each read and write of a payload. By default none.
            request_metrics: Whether CloudWatch counts requests, errors and latencies below ``payloads/``, for the
                dashboard: custom metrics, up to 16 of them, which cost about 5 USD a month and nothing while no request
                is made. By default it does.
            object_lock: Enables Object Lock, so that evidence can be put under legal hold; needs ``versioned``.
            object_lock_retention: Default retention of every object version; needs ``object_lock``.
            removal_policy: What happens to the bucket when it leaves the stack. By default it stays.

        Raises:
            InvalidSettingsError: Settings are wrong; the message lists all of them.
        """
        super().__init__(scope, construct_id, expiration=expiration, encryption_key=encryption_key)
        mistakes = Mistakes(describe(self))
        _check_days(mistakes, "expiration", expiration)
        _check_days(mistakes, "unconfirmed_expiration", unconfirmed_expiration)
        _check_lock(mistakes, versioned=versioned, object_lock=object_lock, retention=object_lock_retention)
        self.unconfirmed_expiration: Duration = unconfirmed_expiration or Duration.seconds(UNCONFIRMED_SECONDS)
        own_rules = self._rules(self.unconfirmed_expiration, versioned=versioned)
        check_rules(mistakes, lifecycle_rules, versioned=versioned, taken={str(rule.id) for rule in own_rules})
        mistakes.raise_all()
        self.versioned = versioned
        self.request_metrics_id: str | None = REQUEST_METRICS_ID if request_metrics else None
        self._lifecycle_rules = lifecycle_rules
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            encryption=s3.BucketEncryption.KMS if encryption_key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=encryption_key,
            bucket_key_enabled=True if encryption_key else None,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            versioned=versioned,
            object_lock_enabled=object_lock or None,
            object_lock_default_retention=object_lock_retention,
            lifecycle_rules=[*own_rules, *lifecycle_rules],
            metrics=(
                [s3.BucketMetrics(id=REQUEST_METRICS_ID, prefix=PAYLOAD_PREFIX)] if self.request_metrics_id else None
            ),
            removal_policy=removal_policy,
        )
        self._refuse_unconditional_writes()
        if access_logs_bucket is not None:
            log_access(self, self.bucket, access_logs_bucket, access_logs_prefix)
        if data_events_trail is not None:
            data_events_trail.add_s3_event_selector(
                [cloudtrail.S3EventSelector(bucket=self.bucket, object_prefix=PAYLOAD_PREFIX)]
            )

    # --- Lifecycle --------------------------------------------------------------------------------------------------

    def _days(self) -> int:
        return self._life_seconds() // DAY

    def _check_life(self) -> list[str]:
        plan = self.retention_plan()
        return super()._check_life() + (shorter_than(plan, self._lifecycle_rules) if plan else [])

    def _rules(self, unconfirmed: Duration, *, versioned: bool) -> list[s3.LifecycleRule]:
        life = Duration.days(lazy_number(self._days))
        rules = [
            s3.LifecycleRule(
                id="expire-payloads",
                prefix=PAYLOAD_PREFIX,
                expiration=life,
                noncurrent_version_expiration=life if versioned else None,
            ),
            s3.LifecycleRule(
                id="expire-unconfirmed-uploads",
                prefix=PAYLOAD_PREFIX,
                tag_filters={TAG_STATE: TAG_UNCONFIRMED},
                expiration=unconfirmed,
            ),
            # On its own: S3 refuses it together with a tag filter.
            s3.LifecycleRule(id="abort-incomplete-uploads", abort_incomplete_multipart_upload_after=Duration.days(1)),
        ]
        if versioned:
            # On its own: S3 refuses it together with an expiration in days.
            rules.append(s3.LifecycleRule(id="remove-expired-delete-markers", expired_object_delete_marker=True))
        return rules

    # --- Policy -----------------------------------------------------------------------------------------------------

    def _refuse_unconditional_writes(self) -> None:
        self.bucket.add_to_resource_policy(
            iam.PolicyStatement(
                sid="RefuseUnconditionalWrites",
                effect=iam.Effect.DENY,
                principals=[iam.AnyPrincipal()],
                actions=["s3:PutObject"],
                resources=[self.bucket.arn_for_objects(f"{PAYLOAD_PREFIX}*")],
                conditions={
                    "Null": {"s3:if-none-match": "true"},
                    # Starting a multipart upload and its parts take no condition; they create no object yet.
                    "Bool": {"s3:ObjectCreationOperation": "true"},
                },
            )
        )


def _check_days(mistakes: Mistakes, argument: str, duration: Duration | None) -> None:
    seconds = known_seconds(duration)
    if duration is not None and duration.is_unresolved():
        mistakes.add(argument, "a token", "must be known at synth", "give a literal Duration, or leave it out")
    if seconds is None:
        return
    mistakes.require_range(argument, seconds / DAY, low=1, high=_MAX_LIFE_DAYS, unit="d", way_out="leave it out")
    mistakes.require(
        seconds % DAY == 0, argument, f"{seconds} s", "must be whole days: S3 counts no less", "round it up"
    )


def _check_lock(
    mistakes: Mistakes, *, versioned: bool, object_lock: bool, retention: s3.ObjectLockRetention | None
) -> None:
    mistakes.require(
        versioned or not object_lock,
        "object_lock",
        object_lock,
        "needs a versioned bucket",
        "set versioned=True as well",
    )
    mistakes.require(
        object_lock or retention is None,
        "object_lock_retention",
        retention,
        "needs object_lock",
        "set object_lock=True",
    )
