"""Who may put and read payloads: exact statements for any bucket that holds them (R11.2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from claim_check.contract import PAYLOAD_PREFIX, is_name, tenant_prefix
from claim_check_cdk.acknowledgements import acknowledge_objects
from claim_check_cdk.pointer_life import KeepsForPointers
from claim_check_cdk.validation import Mistakes, describe, known


class PayloadHolder(KeepsForPointers):
    """Base of the buckets that hold payloads, made here or elsewhere: their grants, and their life.

    Attributes:
        bucket: The bucket.
        versioned: Whether it keeps versions, so that a claim may name one.
    """

    bucket: s3.IBucket
    versioned: bool

    def __init__(
        self, scope: Construct, construct_id: str, *, expiration: Duration | None, encryption_key: kms.IKey | None
    ) -> None:
        """Start with no bucket: the subclass sets it.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            expiration: Life of a payload, if it was told.
            encryption_key: The bucket's customer key, if it has one.
        """
        super().__init__(scope, construct_id, argument="expiration", told=expiration)
        self._encryption_key = encryption_key

    def grant_put(
        self,
        grantee: iam.IGrantable,
        *,
        event_types: Collection[str] | None = None,
        tenants: Collection[str] | None = None,
    ) -> iam.Grant:
        """Allow writing payloads, in parts too, and looking at one that is there already (R2.3, R2.4).

        Args:
            grantee: Who.
            event_types: Of these event types only. By default of all.
            tenants: Of these tenants only. By default of all.

        Raises:
            InvalidSettingsError: A name that no event could have.
        """
        prefixes = self._prefixes("grant_put", event_types, tenants)
        # GetObject is HeadObject's permission: the producer looks at what a 412 says is there already. PutObject allows
        # every step of an upload in parts but its abort.
        grant = self._grant_objects(grantee, prefixes, ["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"])
        return self._with_key(grant, grantee, "kms:Decrypt", "kms:GenerateDataKey")

    def grant_upload(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow granting direct uploads of payloads to others, and confirming them (R2.8).

        A presigned request may do what its signer may, so the signer needs the rights that the upload uses.

        Args:
            grantee: Who.
        """
        prefixes = payload_prefixes(None, None)
        versions = ["s3:DeleteObjectVersionTagging", "s3:GetObjectVersionTagging", "s3:PutObjectVersionTagging"]
        grant = self._grant_objects(
            grantee,
            prefixes,
            [
                "s3:DeleteObjectTagging",
                "s3:GetObject",
                "s3:GetObjectTagging",
                "s3:PutObject",
                "s3:PutObjectTagging",
                *(versions if self.versioned else ()),
            ],
        )
        listing = self._grant_listing(grantee, prefixes)
        return self._with_key(grant.combine(listing), grantee, "kms:Decrypt", "kms:GenerateDataKey")

    def grant_read(
        self,
        grantee: iam.IGrantable,
        *,
        event_types: Collection[str] | None = None,
        tenants: Collection[str] | None = None,
    ) -> iam.Grant:
        """Allow reading payloads, and telling a missing one from a denied one (R4.5).

        Args:
            grantee: Who.
            event_types: Of these event types only. By default of all.
            tenants: Of these tenants only. By default of all.

        Raises:
            InvalidSettingsError: A name that no event could have.
        """
        prefixes = self._prefixes("grant_read", event_types, tenants)
        actions = ["s3:GetObject", "s3:GetObjectVersion"] if self.versioned else ["s3:GetObject"]
        grant = self._grant_objects(grantee, prefixes, actions)
        listing = self._grant_listing(grantee, prefixes)
        return self._with_key(grant.combine(listing), grantee, "kms:Decrypt")

    def _grant_listing(self, grantee: iam.IGrantable, prefixes: list[str]) -> iam.Grant:
        # Without it a missing key answers 403 and cannot be told from a denied one; S3 tests the key as the prefix.
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["s3:ListBucket"],
            resource_arns=[self.bucket.bucket_arn],
            conditions={"StringLike": {"s3:prefix": prefixes}},
        )

    def _grant_objects(self, grantee: iam.IGrantable, prefixes: list[str], actions: list[str]) -> iam.Grant:
        arns = [self.bucket.arn_for_objects(prefix) for prefix in prefixes]
        grant = iam.Grant.add_to_principal(grantee=grantee, actions=actions, resource_arns=arns)
        for prefix in prefixes:
            acknowledge_objects(
                grantee,
                self.bucket,
                prefix,
                "Keys hold hashes that only an event knows, so payloads are named by prefix: one dedicated bucket, and "
                "within it the tenants and event types this principal is for.",
            )
        return grant

    def _with_key(self, grant: iam.Grant, grantee: iam.IGrantable, *actions: str) -> iam.Grant:
        return grant if self._encryption_key is None else grant.combine(self._encryption_key.grant(grantee, *actions))

    def _prefixes(self, method: str, event_types: Collection[str] | None, tenants: Collection[str] | None) -> list[str]:
        mistakes = Mistakes(f"{describe(self)} {method}()")
        check_names(mistakes, "event_types", event_types)
        check_names(mistakes, "tenants", tenants)
        mistakes.raise_all()
        return payload_prefixes(event_types, tenants)


def payload_prefixes(event_types: Collection[str] | None, tenants: Collection[str] | None) -> list[str]:
    """Patterns that match the keys of these tenants' payloads of these types; None means all.

    Args:
        event_types: Event types.
        tenants: Tenant ids.
    """
    if event_types is None and tenants is None:
        return [f"{PAYLOAD_PREFIX}*"]
    roots = [tenant_prefix(tenant) for tenant in _each(tenants)]
    if event_types is None:
        return [f"{root}*" for root in roots]
    return [f"{root}{event_type}/*" for root in roots for event_type in sorted(event_types)]


def _each(names: Collection[str] | None) -> Iterable[str]:
    return ["*"] if names is None else sorted(names)


def check_names(mistakes: Mistakes, argument: str, names: Collection[str] | None) -> None:
    """Note names of tenants or event types that no event could have; None passes.

    Args:
        mistakes: Where to.
        argument: What the names were given as.
        names: The names.
    """
    if names is None:
        return
    if isinstance(names, str) or not names:
        mistakes.add(argument, repr(names), "must be a collection of at least one name", "leave it out for all")
        return
    for name in names:
        mistakes.require(
            known(name) is None or is_name(name),
            argument,
            repr(name),
            "must be 1 to 128 of A-Z a-z 0-9 . _ -, and not . or ..",
            "name it as events do; patterns are not allowed",
        )
