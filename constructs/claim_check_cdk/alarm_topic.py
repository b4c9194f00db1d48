"""The topic that alarms are sent to."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Stack, Token
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from claim_check_cdk.acknowledgements import acknowledge
from claim_check_cdk.validation import Mistakes, describe

_CLOUDWATCH = "cloudwatch.amazonaws.com"


class AlarmTopic(Construct):
    """An SNS topic that CloudWatch's alarms of this account may publish to, over TLS only.

    A topic without a policy lets its whole account publish. As soon as it has one (TLS only, say), alarms need a
    statement of their own there, and with a customer key another one in the key's policy: without them they are
    dropped in silence. AWS's own key for SNS cannot be used, since its policy cannot name CloudWatch.

    Attributes:
        topic: The topic.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        emails: Sequence[str] = (),
        encryption_key: kms.IKey | None = None,
    ) -> None:
        """Make the topic.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            emails: Addresses that get each alarm, once they have confirmed the mail that SNS sends them. By default
                none: subscribe a pager or a chat to `topic`.
            encryption_key: Customer key; CloudWatch is allowed to use it. By default the topic is not encrypted at
                rest: its messages hold names and descriptions of alarms only.

        Raises:
            InvalidSettingsError: An address is none.
        """
        super().__init__(scope, construct_id)
        mistakes = Mistakes(describe(self))
        for email in [emails] if isinstance(emails, str) else emails:
            mistakes.require(
                Token.is_unresolved(email) or (not isinstance(emails, str) and "@" in email),
                "emails",
                repr(email),
                "must be a list of addresses",
                'write emails=["oncall@example.com"]',
            )
        mistakes.raise_all()
        self.topic = sns.Topic(self, "Topic", enforce_ssl=True, master_key=encryption_key)
        account = {"aws:SourceAccount": Stack.of(self).account}
        self.topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid="AlarmsOfThisAccount",
                principals=[iam.ServicePrincipal(_CLOUDWATCH)],
                actions=["sns:Publish"],
                resources=[self.topic.topic_arn],
                conditions={"StringEquals": account},
            )
        )
        if encryption_key is not None:
            encryption_key.add_to_resource_policy(
                iam.PolicyStatement(
                    sid="AlarmsOfThisAccount",
                    principals=[iam.ServicePrincipal(_CLOUDWATCH)],
                    actions=["kms:Decrypt", "kms:GenerateDataKey*"],
                    resources=["*"],
                    conditions={"StringEquals": account},
                )
            )
        for email in emails:
            subscription = self.topic.add_subscription(subscriptions.EmailSubscription(email))
            acknowledge(
                subscription,
                "Serverless-SNSRedrivePolicy",
                "SNS repeats a mail for hours by itself, and the alarm's state stays on the dashboard.",
            )
