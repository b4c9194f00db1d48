"""The *inventory* ingest: objects come and go in a bucket, and a table says what is there."""

from __future__ import annotations

from typing import Any, Final

from aws_cdk import CfnOutput, Stack
from constructs import Construct

from claim_check.contract import ErrorCode, Metric
from claim_check_cdk import (
    AccessLogBucket,
    AlarmTopic,
    DomainTable,
    FifoOptions,
    KeyFilter,
    S3Ingest,
    ServiceDashboard,
)
from claim_check_cdk.bundling import package_folder
from stacks.settings import Settings

INGEST: Final = "inventory"
ORDERED: Final = "inventory-ordered"
HANDLER_PACKAGE: Final = "claim_check_examples"
APPLY_PUT: Final = f"{HANDLER_PACKAGE}.inventory:add"
APPLY_DELETE: Final = f"{HANDLER_PACKAGE}.inventory:remove"
TABLE_VARIABLE: Final = "INVENTORY_TABLE"
PREFIX: Final = "incoming/"
WORK: Final = {
    "Applied": [Metric.INGESTED_PUTS, Metric.INGESTED_DELETES],
    "Not applied": [
        Metric.DUPLICATE,
        Metric.INGEST_STALE,
        Metric.INGEST_SUPERSEDED,
        Metric.INGEST_IGNORED,
        Metric.INGEST_UNKNOWN,
    ],
    "Trouble": [Metric.RETRIED, Metric.PARKED, Metric.INGEST_CONFLICTS, ErrorCode.UNAVAILABLE, ErrorCode.ACCESS_DENIED],
    "Reconciliation": [Metric.INGEST_LISTED, Metric.INGEST_DIFFERENCES],
}
"""Graphs of an ingest's metrics."""


class IngestStack(Stack):
    """Two ingests, and the tables their handlers write.

    The first is notified by S3 itself; its bucket keeps versions. The second takes the way through EventBridge into a
    FIFO queue, so that the events of one object are worked on one after the other.

    Attributes:
        inventory: The table of the first.
        ingest: The first.
        ordered_inventory: The table of the second.
        ordered: The second.
        alarms: Where all alarms go.
        dashboard: Both on one screen.
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
        logs = AccessLogBucket(self, "AccessLogs", removal_policy=keep).bucket
        self.alarms = AlarmTopic(self, "AlarmTopic", emails=settings.alarm_emails)
        shared: dict[str, Any] = {
            "alarm_topic": self.alarms.topic,
            "apply_put": APPLY_PUT,
            "apply_delete": APPLY_DELETE,
            "handler_package": package_folder(HANDLER_PACKAGE),
            "access_logs_bucket": logs,
            "max_concurrency": settings.max_concurrency,
            "log_retention": settings.log_retention,
            "removal_policy": keep,
        }
        self.inventory = DomainTable(self, "Inventory", removal_policy=keep)
        self.ingest = S3Ingest(
            self,
            "Ingest",
            ingest_name=INGEST,
            handler_environment={TABLE_VARIABLE: self.inventory.table.table_name},
            filters=[KeyFilter(prefix=PREFIX)],
            versioned=True,
            **shared,
        )
        self.ingest.grant_handler_table(self.inventory.table, ["put", "delete"])
        self.ordered_inventory = DomainTable(self, "OrderedInventory", removal_policy=keep)
        self.ordered = S3Ingest(
            self,
            "Ordered",
            ingest_name=ORDERED,
            handler_environment={TABLE_VARIABLE: self.ordered_inventory.table.table_name},
            through="eventbridge",
            fifo=FifoOptions(on_poison="park"),
            **shared,
        )
        self.ordered.grant_handler_table(self.ordered_inventory.table, ["put", "delete"])
        self.dashboard = ServiceDashboard(self, "Dashboard", service=INGEST)
        for name, made in ((INGEST, self.ingest), (ORDERED, self.ordered)):
            self.dashboard.add_alarms(made.alarms.alarms.values())
            self.dashboard.add_measured(f"Work of {name}", WORK, service=name)
        self._output("Ingest", self.ingest, self.inventory)
        self._output("Ordered", self.ordered, self.ordered_inventory)

    def _output(self, prefix: str, ingest: S3Ingest, table: DomainTable) -> None:
        reconciler = ingest.reconciler
        outputs = {
            "BucketName": ingest.bucket.bucket_name,
            "QueueUrl": ingest.queue.queue.queue_url,
            "LedgerTableName": ingest.ledger.table.table_name,
            "InventoryTableName": table.table.table_name,
            "FunctionName": ingest.function.function_name,
            "ReconcilerFunctionName": reconciler.function.function.function_name if reconciler else "",
        }
        for name, value in outputs.items():
            CfnOutput(self, f"{prefix}{name}", value=value)
