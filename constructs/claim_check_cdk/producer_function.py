"""A Lambda function that an application invokes with an event, and that publishes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from aws_cdk import RemovalPolicy
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from constructs import Construct

from claim_check.contract import Metric, Setting, producer_service
from claim_check_cdk.alarm_rules import FUNCTION_ERRORS, PUBLISH_FAILED, AlarmSet
from claim_check_cdk.claim_check_function import ClaimCheckFunction

PRODUCER_HANDLER: Final = "claim_check.handlers.producer.handler"

_ERRORS: Final = replace(
    FUNCTION_ERRORS,
    datapoints=3,
    what_to_do="Events are not published: applications hand over events that are wrong (the invocation's error says "
    "what), or AWS refuses (then PublishFailed rings too). Read the function's log for the newest error.",
)


class PublishesTo(Protocol):
    """What a producer publishes to, such as `ClaimCheckPipeline`."""

    def producer_environment(self) -> Mapping[str, str]:
        """The settings a producer needs."""

    def grant_publish(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow publishing."""


class ProducerFunction(ClaimCheckFunction):
    """Publishes what it is invoked with: JSON in, ids out (R2).

    A request takes up to 6 MB, which in base64 is about 4.5 MB of payload; larger files go through the library or are
    uploaded straight to S3. What is wrong with an event is told in the invocation's error, before anything is written.

    Attributes:
        alarms: Its alarms by their ids.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        pipeline: PublishesTo,
        handler_package: Path | None = None,
        alarm_topic: sns.ITopic | None = None,
        log_retention: logs.RetentionDays = logs.RetentionDays.ONE_MONTH,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Make the function, and let it publish.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            pipeline: Where it publishes to.
            handler_package: The package of the pipeline's handler, so that both functions share one asset. By default
                the asset holds the library alone.
            alarm_topic: Told when an alarm rings and when it is over. By default nobody is told.
            log_retention: How long logs are kept. By default one month.
            removal_policy: What happens to the log group when it leaves the stack. By default it stays.
        """
        environment = pipeline.producer_environment()
        super().__init__(
            scope,
            construct_id,
            handler=PRODUCER_HANDLER,
            handler_package=handler_package,
            environment=environment,
            log_retention=log_retention,
            removal_policy=removal_policy,
        )
        self.acknowledge_no_dead_letter_queue("Applications invoke it synchronously and see the error.")
        pipeline.grant_publish(self)
        alarms = AlarmSet(
            Construct(self, "Alarms"), service=producer_service(environment.get(Setting.PIPELINE)), topic=alarm_topic
        )
        alarms.add_own("PublishFailed", Metric.PUBLISH_FAILED, "Sum", PUBLISH_FAILED)
        alarms.add_function(self.function, errors=_ERRORS)
        self.alarms: Mapping[str, cloudwatch.Alarm] = alarms.alarms
