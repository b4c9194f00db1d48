"""What a pipeline takes of Amazon's Extended Client Libraries, and a bucket that those clients can write to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from claim_check.contract import Setting, is_name
from claim_check_cdk.access_logs import log_access
from claim_check_cdk.acknowledgements import acknowledge_objects
from claim_check_cdk.pointer_life import KeepsForPointers, PlannedQueue, RetentionTerms, lazy_number
from claim_check_cdk.retention import DAY
from claim_check_cdk.validation import Mistakes, describe, known, known_seconds

_WHY: Final = "Extended Clients draw random keys, so their payloads are named by prefix: one bucket of theirs."


class ForeignBucket(Protocol):
    """Where Extended Clients put payloads, such as `ExtendedClientBucket`."""

    @property
    def bucket(self) -> s3.IBucket:
        """The bucket itself."""

    @property
    def prefix(self) -> str:
        """How the keys begin that may be read."""

    def retain_for(self, queue: PlannedQueue, *, terms: RetentionTerms | None = None) -> None:
        """Keep payloads for as long as this queue could hold a pointer to them."""

    def grant_read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow reading payloads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignMessages:
    """What a pipeline takes of Extended Clients' messages.

    Attributes:
        tenant_id: Tenant of messages without an attribute ``tenantId``.
        event_type: Event type of messages without an attribute ``eventType``.
        event_version: Version of the payload's schema.
        buckets: Where their payloads may lie; nothing else is ever read. None are needed for our own producer's.
        content_type: Media type of their payloads. By default ``text/plain; charset=utf-8``.
        allow_unverified: Whether messages without identity and hash are taken, which all are but our own producer's.
        plain_bodies: Whether a body that is neither an envelope nor a pointer is taken for a small payload. By default
            it is; say False where clients offload everything, so that a malformed message never becomes data.
    """

    tenant_id: str
    event_type: str
    event_version: int = 1
    buckets: Collection[ForeignBucket] = ()
    content_type: str | None = None
    allow_unverified: bool = False
    plain_bodies: bool = True

    def environment(self) -> dict[str, str]:
        """The settings of a consumer that takes them."""
        places = [f"{one.bucket.bucket_name}/{one.prefix}" for one in self.buckets]
        return {
            Setting.FOREIGN_TENANT: self.tenant_id,
            Setting.FOREIGN_EVENT_TYPE: f"{self.event_type}:{self.event_version}",
            Setting.ALLOW_UNVERIFIED: str(self.allow_unverified).lower(),
            Setting.FOREIGN_PLAIN_BODIES: str(self.plain_bodies).lower(),
            **({Setting.FOREIGN_BUCKETS: ",".join(places)} if places else {}),
            **({Setting.FOREIGN_CONTENT_TYPE: self.content_type} if self.content_type else {}),
        }


def check_foreign(
    mistakes: Mistakes, foreign: ForeignMessages | None, event_types: Mapping[str, Collection[int]] | None
) -> None:
    """Note what the runtime would refuse.

    Args:
        mistakes: Where to.
        foreign: What a pipeline takes of Extended Clients' messages.
        event_types: What the pipeline takes at all; None takes everything.
    """
    if foreign is None:
        return
    for argument, name in (("tenant_id", foreign.tenant_id), ("event_type", foreign.event_type)):
        mistakes.require(
            known(name) is None or is_name(name),
            f"foreign.{argument}",
            repr(name),
            "must be 1 to 128 of A-Z a-z 0-9 . _ -, and not . or ..",
            "name what messages are that do not say so themselves",
        )
    mistakes.require(
        foreign.event_version >= 1, "foreign.event_version", foreign.event_version, "must be 1 or more", "leave it out"
    )
    mistakes.require(
        event_types is None or foreign.event_version in event_types.get(foreign.event_type, ()),
        "foreign.event_type",
        f"{foreign.event_type}:{foreign.event_version}",
        "must be among event_types, or every such message is parked",
        "add it there",
    )
    mistakes.require(
        foreign.allow_unverified or not foreign.buckets,
        "foreign.buckets",
        f"{len(foreign.buckets)} of them",
        "need allow_unverified=True: what lies there has no hash that anybody told",
        "say so, or leave the buckets out",
    )


class ExtendedClientBucket(KeepsForPointers):
    """A bucket that Amazon's SQS and SNS Extended Clients offload to.

    They write unconditionally, under random keys, so that a `PayloadBucket` refuses them; this one does not. Otherwise
    it is as closed: no public access, TLS only, encrypted. Payloads expire after as long as a pointer to them could
    live, computed from the queues that are told with `retain_for`. The bucket stays when it leaves the stack.

    Attributes:
        bucket: The bucket.
        prefix: How the keys of its payloads begin.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        bucket: s3.IBucket | None = None,
        prefix: str = "",
        expiration: Duration | None = None,
        encryption_key: kms.IKey | None = None,
        access_logs_bucket: s3.IBucket | None = None,
        access_logs_prefix: str = "extended-client-bucket/",
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Make the bucket, or take one that those clients write to already.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            bucket: A bucket that exists; its policy, lifecycle and encryption stay with whoever made it. By default one
                is made.
            prefix: How keys begin; end it with a slash to name a folder. By default the whole bucket.
            expiration: Life of a payload, whole days, never shorter than the plan of any queue; must be told of a
                bucket that exists. By default exactly that plan.
            encryption_key: Customer key. By default S3's own keys, or the key that ``bucket`` knows of.
            access_logs_bucket: Receives server access logs. By default there are none.
            access_logs_prefix: Where in that bucket.
            removal_policy: What happens to the bucket when it leaves the stack. By default it stays.

        Raises:
            InvalidSettingsError: Settings are wrong; the message lists all of them.
        """
        super().__init__(scope, construct_id, argument="expiration", told=expiration)
        mistakes = Mistakes(describe(self))
        seconds = known_seconds(expiration)
        mistakes.require(
            bucket is None or seconds is not None,
            "expiration",
            expiration,
            "must be told, and known at synth: nobody here can see the lifecycle of a bucket that exists",
            "pass expiration=Duration.days(...) as that bucket has it",
        )
        mistakes.require(
            seconds is None or (seconds > 0 and seconds % DAY == 0),
            "expiration",
            f"{seconds} s",
            "must be whole days: S3 counts no less",
            "round it up",
        )
        mistakes.require(
            bucket is None or access_logs_bucket is None,
            "access_logs_bucket",
            access_logs_bucket,
            "has no effect beside bucket",
            "set it where that bucket is made",
        )
        mistakes.require(
            "*" not in prefix and "," not in prefix, "prefix", repr(prefix), "must be no pattern", "name how keys begin"
        )
        mistakes.raise_all()
        self.prefix = prefix
        self._key = encryption_key or (bucket.encryption_key if bucket else None)
        self.bucket: s3.IBucket = bucket or self._make(removal_policy, access_logs_bucket, access_logs_prefix)

    def _make(
        self,
        removal_policy: RemovalPolicy,
        access_logs_bucket: s3.IBucket | None,
        access_logs_prefix: str,
    ) -> s3.Bucket:
        made = s3.Bucket(
            self,
            "Bucket",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            encryption=s3.BucketEncryption.KMS if self._key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=self._key,
            bucket_key_enabled=True if self._key else None,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="expire-payloads",
                    prefix=self.prefix or None,
                    expiration=Duration.days(lazy_number(lambda: self._life_seconds() // DAY)),
                ),
                s3.LifecycleRule(
                    id="abort-incomplete-uploads", abort_incomplete_multipart_upload_after=Duration.days(1)
                ),
            ],
            removal_policy=removal_policy,
        )
        if access_logs_bucket is not None:
            log_access(self, made, access_logs_bucket, access_logs_prefix)
        return made

    def grant_put(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow what an Extended Client does that sends.

        Args:
            grantee: Who.
        """
        grant = self._grant_objects(grantee, ["s3:PutObject"])
        return self._with_key(grant, grantee, "kms:Decrypt", "kms:GenerateDataKey")

    def grant_read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow reading payloads, and telling a missing one from a denied one (R4.5).

        Args:
            grantee: Who.
        """
        grant = self._grant_objects(grantee, ["s3:GetObject"])
        # Without it a missing key answers 403 and cannot be told from a denied one; S3 tests the key as the prefix.
        listing = iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["s3:ListBucket"],
            resource_arns=[self.bucket.bucket_arn],
            conditions={"StringLike": {"s3:prefix": [f"{self.prefix}*"]}},
        )
        return self._with_key(grant.combine(listing), grantee, "kms:Decrypt")

    def _grant_objects(self, grantee: iam.IGrantable, actions: list[str]) -> iam.Grant:
        pattern = f"{self.prefix}*"
        arns = [self.bucket.arn_for_objects(pattern)]
        grant = iam.Grant.add_to_principal(grantee=grantee, actions=actions, resource_arns=arns)
        acknowledge_objects(grantee, self.bucket, pattern, _WHY)
        return grant

    def _with_key(self, grant: iam.Grant, grantee: iam.IGrantable, *actions: str) -> iam.Grant:
        return grant if self._key is None else grant.combine(self._key.grant(grantee, *actions))
