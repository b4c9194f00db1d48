"""The *wallet* pipeline: movements of accounts come in, balances come out, in order."""

from __future__ import annotations

from typing import Any, Final

from aws_cdk import Stack
from constructs import Construct

from claim_check_cdk import (
    AccessLogBucket,
    AlarmTopic,
    ClaimCheckPipeline,
    DomainTable,
    FifoOptions,
    PipelineDashboard,
    ProducerFunction,
)
from claim_check_cdk.bundling import package_folder
from stacks.pipeline_outputs import output_pipeline
from stacks.settings import Settings

CONSUMER: Final = "wallet"
HANDLER_PACKAGE: Final = "claim_check_examples"
HANDLER: Final = f"{HANDLER_PACKAGE}.wallet:handle"
TABLE_VARIABLE: Final = "WALLET_TABLE"


class WalletStack(Stack):
    """Producer function, FIFO pipeline, and the table its handler writes.

    A movement that cannot be read is parked and its account goes on: here progress matters more than that one message.

    Attributes:
        wallet: The table of balances and movements.
        pipeline: The pipeline.
        producer: The function that an application invokes with a movement.
        alarms: Where all alarms go.
        dashboard: Everything on one screen.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings, **stack: Any) -> None:  # noqa: ANN401 - cdk.StackProps
        """Wire the stack.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            settings: Settings of the environment.
            stack: Properties of the stack itself.
        """
        super().__init__(scope, construct_id, **stack)
        keep = settings.removal_policy
        self.wallet = DomainTable(self, "Wallet", sort_key="sk", removal_policy=keep)
        self.alarms = AlarmTopic(self, "AlarmTopic", emails=settings.alarm_emails)
        self.pipeline = ClaimCheckPipeline(
            self,
            "Pipeline",
            consumer_name=CONSUMER,
            handler=HANDLER,
            handler_package=package_folder(HANDLER_PACKAGE),
            handler_environment={TABLE_VARIABLE: self.wallet.table.table_name},
            fifo=FifoOptions(on_poison="park"),
            access_logs_bucket=AccessLogBucket(self, "AccessLogs", removal_policy=keep).bucket,
            alarm_topic=self.alarms.topic,
            max_concurrency=settings.max_concurrency,
            log_retention=settings.log_retention,
            removal_policy=keep,
        )
        self.pipeline.grant_handler_table(self.wallet.table, ["get", "put", "update"])
        self.producer = ProducerFunction(
            self,
            "Producer",
            pipeline=self.pipeline,
            handler_package=package_folder(HANDLER_PACKAGE),
            alarm_topic=self.alarms.topic,
            log_retention=settings.log_retention,
            removal_policy=keep,
        )
        self.dashboard = PipelineDashboard(
            self, "Dashboard", pipeline=self.pipeline, tables={"wallet": self.wallet.table}
        )
        self.dashboard.add_alarms(self.producer.alarms.values())
        output_pipeline(
            self,
            self.pipeline,
            self.producer,
            AlarmTopicArn=self.alarms.topic.topic_arn,
            DashboardName=self.dashboard.dashboard.ref,
            WalletTableName=self.wallet.table.table_name,
        )
