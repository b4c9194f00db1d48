"""The scheduled function that compares a bucket with its ledger (R10.3)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from claim_check_cdk.claim_check_function import ClaimCheckFunction
from claim_check_cdk.event_rule import EventRule, undelivered_queue

RECONCILIATION_HANDLER: Final = "claim_check.handlers.ingest_reconciliation.handler"
TICK_MINUTES: Final = 15
"""How often it looks whether a run is due; a run that ran out of time goes on then."""

_TIMEOUT_MINUTES: Final = 14
"""Below the tick, so that two invocations do not overlap."""

_RETRY_MINUTES: Final = 10


class IngestReconciler(Construct):
    """Goes off every quarter of an hour, and does something if a run is due or unfinished.

    Attributes:
        function: The function construct.
        rule: Its schedule.
        undelivered: Keeps invocations that failed to the end.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: Mapping[str, str],
        handler_package: Path | None = None,
        requirements_lock: Path | None = None,
        encryption_key: kms.IKey | None = None,
        tracing: bool = True,
        log_retention: logs.RetentionDays = logs.RetentionDays.ONE_MONTH,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Make function and schedule.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            environment: Its settings.
            handler_package: The package of the ingest's handlers, so that all functions share one asset.
            requirements_lock: What that package needs, likewise.
            encryption_key: Customer key of its queue. By default SQS's own keys.
            tracing: Whether X-Ray samples its invocations. By default it does.
            log_retention: How long its logs are kept. By default one month.
            removal_policy: What happens to queue and logs when they leave the stack. By default they stay.
        """
        super().__init__(scope, construct_id)
        self.undelivered: sqs.Queue = undelivered_queue(
            self, "Undelivered", encryption_key=encryption_key, removal_policy=removal_policy
        )
        self.function = ClaimCheckFunction(
            self,
            "Function",
            handler=RECONCILIATION_HANDLER,
            handler_package=handler_package,
            requirements_lock=requirements_lock,
            environment=environment,
            timeout=Duration.minutes(_TIMEOUT_MINUTES),
            dead_letter_queue=self.undelivered,
            tracing=tracing,
            log_retention=log_retention,
            removal_policy=removal_policy,
        )
        if encryption_key is not None:
            encryption_key.grant(self.function, "kms:Decrypt", "kms:GenerateDataKey")
        self.rule = EventRule(
            self,
            "Schedule",
            every=Duration.minutes(TICK_MINUTES),
            function=self.function.function,
            dead_letter_queue=self.undelivered,
            # An older one is worth nothing: the next is due.
            retry_for=Duration.minutes(_RETRY_MINUTES),
        )
