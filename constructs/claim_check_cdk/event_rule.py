"""A rule of EventBridge that loses nothing in silence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from aws_cdk import ArnFormat, Duration, RemovalPolicy, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from claim_check_cdk.acknowledgements import acknowledge
from claim_check_cdk.retention import EVENTBRIDGE_DELIVERY_SECONDS
from claim_check_cdk.service_access import let_service_encrypt, let_service_send

EVENTS_SERVICE: Final = "events.amazonaws.com"
_RETRIES: Final = 185
"""The most that EventBridge allows within its longest time, a day."""


class EventRule(Construct):
    """A rule on the default bus with one target, a retry policy, and a dead-letter queue for what never arrived.

    Attributes:
        rule: The rule.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        dead_letter_queue: sqs.IQueue,
        pattern: Mapping[str, Any] | None = None,
        every: Duration | None = None,
        function: lambda_.IFunction | None = None,
        queue: sqs.IQueue | None = None,
        retry_for: Duration | None = None,
        description: str | None = None,
    ) -> None:
        """Make the rule; name either a pattern or a schedule, and either a function or a queue.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            dead_letter_queue: A standard queue that receives the events whose target refused them to the end.
            pattern: The events it matches.
            every: Or how often it goes off, whole minutes.
            function: The function that it invokes.
            queue: Or the standard queue that it sends to.
            retry_for: How long a refused event is tried again. By default one day, the longest there is.
            description: Shown in the console. By default there is none.
        """
        super().__init__(scope, construct_id)
        target = function.function_arn if function is not None else queue.queue_arn if queue is not None else ""
        seconds = int((retry_for or Duration.seconds(EVENTBRIDGE_DELIVERY_SECONDS)).to_seconds())
        self.rule = events.CfnRule(
            self,
            "Rule",
            description=description,
            event_pattern=pattern,
            schedule_expression=None if every is None else events.Schedule.rate(every).expression_string,
            targets=[
                events.CfnRule.TargetProperty(
                    id="Target",
                    arn=target,
                    dead_letter_config=events.CfnRule.DeadLetterConfigProperty(arn=dead_letter_queue.queue_arn),
                    retry_policy=events.CfnRule.RetryPolicyProperty(
                        maximum_event_age_in_seconds=seconds, maximum_retry_attempts=_RETRIES
                    ),
                )
            ],
        )
        if function is not None:
            lambda_.CfnPermission(
                self,
                "Permission",
                action="lambda:InvokeFunction",
                function_name=function.function_name,
                principal=EVENTS_SERVICE,
                source_arn=self.rule.attr_arn,
            )
        for receiver in (dead_letter_queue, queue):
            if receiver is not None:
                let_service_send(
                    receiver,
                    service=EVENTS_SERVICE,
                    source_arn=self.rule.attr_arn,
                    account=Stack.of(self).account,
                )


def undelivered_queue(
    scope: Construct,
    construct_id: str,
    *,
    encryption_key: kms.IKey | None = None,
    removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
) -> sqs.Queue:
    """Make the standard queue that keeps, for 14 days, the events which a rule or an asynchronous function gave up.

    Args:
        scope: Parent construct.
        construct_id: Id within the parent.
        encryption_key: Customer key. By default SQS encrypts with keys of its own.
        removal_policy: What happens to it when it leaves the stack. By default it stays.
    """
    queue = sqs.Queue(
        scope,
        construct_id,
        retention_period=Duration.days(14),
        encryption=sqs.QueueEncryption.KMS if encryption_key else sqs.QueueEncryption.SQS_MANAGED,
        encryption_master_key=encryption_key,
        enforce_ssl=True,
        removal_policy=removal_policy,
    )
    if encryption_key is not None:
        let_rules_encrypt(scope, encryption_key)
    reason = "It ends the chain for events that a rule or an asynchronous function gave up; an alarm watches it."
    for rule in ("AwsSolutions-SQS3", "Serverless-SQSRedrivePolicy"):
        acknowledge(queue, rule, reason)
    return queue


def let_rules_encrypt(scope: Construct, key: kms.IKey) -> None:
    """Let the rules of this account and Region send to queues that a customer key encrypts.

    Args:
        scope: The construct whose stack the rules are in.
        key: The key.
    """
    stack = Stack.of(scope)
    rules = stack.format_arn(
        service="events", resource="rule", resource_name="*", arn_format=ArnFormat.SLASH_RESOURCE_NAME
    )
    let_service_encrypt(scope, key, service=EVENTS_SERVICE, source_arn=rules, account=stack.account)
