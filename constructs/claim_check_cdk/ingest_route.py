"""The way of S3's events through EventBridge: straight into a standard queue, or in order into a FIFO queue (R10.4)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from claim_check.contract import Setting
from claim_check_cdk.claim_check_function import ClaimCheckFunction
from claim_check_cdk.event_rule import EventRule, undelivered_queue
from claim_check_cdk.pipeline_parts import PipelineQueue

FORWARDER_HANDLER: Final = "claim_check.handlers.ingest_forwarder.handler"
_FORWARDER_SECONDS: Final = 30


class EventRoute(Construct):
    """A rule that sends a bucket's events to a queue; on FIFO through a function that names each object's group.

    A rule has one fixed message group for all that it sends, so it cannot keep objects apart by itself
    (`docs/decisions/0037-a-function-names-the-message-group.md`).

    Attributes:
        rule: The rule construct.
        forwarder: The function between rule and FIFO queue; None on a standard queue.
        undelivered: Keeps the events that the queue or the function refused to the end, as they were.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        pattern: Mapping[str, Any],
        queue: PipelineQueue,
        fifo: bool,
        handler_package: Path | None = None,
        requirements_lock: Path | None = None,
        encryption_key: kms.IKey | None = None,
        tracing: bool = True,
        log_retention: logs.RetentionDays = logs.RetentionDays.ONE_MONTH,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Make the way.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            pattern: The events.
            queue: Where they go.
            fifo: Whether that is a FIFO queue.
            handler_package: The package of the ingest's handlers, so that all functions share one asset.
            requirements_lock: What that package needs, likewise.
            encryption_key: Customer key of the queues that are sent to. By default SQS's own keys.
            tracing: Whether X-Ray samples the forwarder's invocations. By default it does.
            log_retention: How long its logs are kept. By default one month.
            removal_policy: What happens to queue and logs when they leave the stack. By default they stay.
        """
        super().__init__(scope, construct_id)
        self.undelivered: sqs.Queue = undelivered_queue(
            self, "Undelivered", encryption_key=encryption_key, removal_policy=removal_policy
        )
        self.forwarder: ClaimCheckFunction | None = None
        if fifo:
            self.forwarder = ClaimCheckFunction(
                self,
                "Forwarder",
                handler=FORWARDER_HANDLER,
                handler_package=handler_package,
                requirements_lock=requirements_lock,
                environment={Setting.INGEST_QUEUE_URL: queue.queue.queue_url},
                timeout=Duration.seconds(_FORWARDER_SECONDS),
                dead_letter_queue=self.undelivered,
                tracing=tracing,
                log_retention=log_retention,
                removal_policy=removal_policy,
            )
            queue.grant_publish(self.forwarder)
            if encryption_key is not None:
                encryption_key.grant(self.forwarder, "kms:Decrypt", "kms:GenerateDataKey")
        self.rule = EventRule(
            self,
            "Events",
            pattern=pattern,
            function=self.forwarder.function if self.forwarder else None,
            queue=None if fifo else queue.queue,
            dead_letter_queue=self.undelivered,
        )
