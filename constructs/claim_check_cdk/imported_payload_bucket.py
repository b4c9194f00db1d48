"""A bucket for payloads that another app makes."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from claim_check_cdk.payload_holder import PayloadHolder
from claim_check_cdk.validation import Mistakes, describe, known_seconds


class ImportedPayloadBucket(PayloadHolder):
    """Payloads in a bucket that exists already: grants, and the check that it keeps them long enough (R6.2).

    Nobody here can see that bucket's lifecycle, so its expiration must be told; it is compared with the plan of every
    queue. Its policy, lifecycle and encryption stay with whoever made it; `PayloadBucket` shows what they should be.

    Attributes:
        bucket: The bucket.
        versioned: Whether it keeps versions.
        request_metrics_id: The filter of the metrics of its requests; None if there are none.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        bucket: s3.IBucket,
        expiration: Duration,
        versioned: bool = False,
        request_metrics_id: str | None = None,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        """Take a bucket as it is.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            bucket: The bucket.
            expiration: How long its lifecycle keeps objects below ``payloads/``.
            versioned: Whether it keeps versions. By default it does not.
            request_metrics_id: Name of its filter of request metrics for ``payloads/``, for a dashboard. By default it
                has none.
            encryption_key: Its customer key. By default the key that ``bucket`` knows of, if any.

        Raises:
            InvalidSettingsError: ``expiration`` is not known at synth.
        """
        super().__init__(
            scope, construct_id, expiration=expiration, encryption_key=encryption_key or bucket.encryption_key
        )
        mistakes = Mistakes(describe(self))
        mistakes.require(
            known_seconds(expiration) is not None,
            "expiration",
            expiration,
            "must be told, and known at synth: nobody here can see the lifecycle of an imported bucket",
            "pass expiration=Duration.days(...) as that bucket has it",
        )
        mistakes.raise_all()
        self.bucket = bucket
        self.versioned = versioned
        self.request_metrics_id = request_metrics_id
