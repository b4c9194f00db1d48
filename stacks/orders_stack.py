"""The *orders*: an order and its message are placed together; the message becomes an invoice."""

from __future__ import annotations

from typing import Any, Final

from aws_cdk import CfnOutput, Stack
from constructs import Construct

from claim_check_cdk import (
    AccessLogBucket,
    AlarmTopic,
    ClaimCheckFunction,
    ClaimCheckPipeline,
    DomainTable,
    FifoOptions,
    Outbox,
    PipelineDashboard,
    Reconciler,
)
from claim_check_cdk.bundling import package_folder
from claim_check_cdk.handler_tables import grant_table
from stacks.settings import Settings

CONSUMER: Final = "invoices"
OUTBOX: Final = "orders"
RECONCILER: Final = "orders-reconciler"
HANDLER_PACKAGE: Final = "claim_check_examples"
HANDLER: Final = f"{HANDLER_PACKAGE}.orders:invoice"
PLACE: Final = f"{HANDLER_PACKAGE}.orders.place"
TABLE_VARIABLE: Final = "ORDERS_TABLE"


class OrdersStack(Stack):
    """The function that places orders, the outbox it stages with, and the FIFO pipeline that writes invoices.

    Attributes:
        orders: The table of orders and invoices.
        pipeline: The pipeline.
        outbox: The outbox.
        place: The function that an application invokes with an order.
        reconciler: What compares the payloads with the rows that point at them, in inbox and outbox.
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
        package = package_folder(HANDLER_PACKAGE)
        self.orders = DomainTable(self, "Orders", sort_key="sk", removal_policy=keep)
        self.alarms = AlarmTopic(self, "AlarmTopic", emails=settings.alarm_emails)
        self.pipeline = ClaimCheckPipeline(
            self,
            "Pipeline",
            consumer_name=CONSUMER,
            handler=HANDLER,
            handler_package=package,
            handler_environment={TABLE_VARIABLE: self.orders.table.table_name},
            fifo=FifoOptions(on_poison="park"),
            access_logs_bucket=AccessLogBucket(self, "AccessLogs", removal_policy=keep).bucket,
            alarm_topic=self.alarms.topic,
            max_concurrency=settings.max_concurrency,
            log_retention=settings.log_retention,
            removal_policy=keep,
        )
        self.pipeline.grant_handler_table(self.orders.table, ["get", "put"])
        self.outbox = Outbox(
            self,
            "Outbox",
            name=OUTBOX,
            destinations={CONSUMER: self.pipeline},
            handler_package=package,
            alarm_topic=self.alarms.topic,
            log_retention=settings.log_retention,
            removal_policy=keep,
        )
        self.place = ClaimCheckFunction(
            self,
            "PlaceOrder",
            handler=PLACE,
            handler_package=package,
            environment={TABLE_VARIABLE: self.orders.table.table_name, **self.outbox.stage_environment()},
            log_retention=settings.log_retention,
            removal_policy=keep,
        )
        self.place.acknowledge_no_dead_letter_queue("Applications invoke it synchronously and see the error.")
        self.outbox.grant_stage(self.place)
        grant_table("OrdersStack", self.place, self.orders.table, ["put"])
        self.dashboard = PipelineDashboard(
            self,
            "Dashboard",
            pipeline=self.pipeline,
            publishers=[OUTBOX],
            tables={"orders": self.orders.table, "outbox": self.outbox.table},
        )
        self.reconciler = Reconciler(
            self,
            "Reconciler",
            name=RECONCILER,
            bucket=self.pipeline.bucket,
            consumers=[self.pipeline],
            outboxes=[self.outbox],
            handler_package=package,
            alarm_topic=self.alarms.topic,
            log_retention=settings.log_retention,
            removal_policy=keep,
        )
        self.dashboard.add_alarms([*self.outbox.alarms.values(), *self.reconciler.alarms.values()])
        self._write_outputs()

    def _write_outputs(self) -> None:
        outputs = {
            "AlarmTopicArn": self.alarms.topic.topic_arn,
            "BucketName": self.pipeline.bucket.bucket.bucket_name,
            "ConsumerFunctionName": self.pipeline.function.function_name,
            "DashboardName": self.dashboard.dashboard.ref,
            "OrdersTableName": self.orders.table.table_name,
            "OutboxTableName": self.outbox.table.table_name,
            "PlaceOrderFunctionName": self.place.function.function_name,
            "ReconcilerFunctionName": self.reconciler.function.function_name,
            "RelayFunctionName": self.outbox.relay.function.function_name,
            "SweepFunctionName": self.outbox.sweep.function.function_name,
        }
        for name, value in outputs.items():
            CfnOutput(self, name, value=value)
