"""The *documents* pipeline: files come in, a document row comes out."""

from __future__ import annotations

from typing import Any, Final

from aws_cdk import Duration, Stack
from constructs import Construct

from claim_check.contract import Metric, producer_service, uploads_service
from claim_check_cdk import (
    AccessLogBucket,
    AlarmTopic,
    ClaimCheckPipeline,
    DlqArchive,
    DomainTable,
    ExtendedClientBucket,
    ForeignMessages,
    PipelineDashboard,
    ProducerFunction,
    Reconciler,
    UploadApi,
)
from claim_check_cdk.bundling import package_folder
from stacks.pipeline_outputs import output_pipeline
from stacks.settings import Settings

CONSUMER: Final = "documents"
RECONCILER: Final = "documents-reconciler"
HANDLER_PACKAGE: Final = "claim_check_examples"
HANDLER: Final = f"{HANDLER_PACKAGE}.documents:handle"
TABLE_VARIABLE: Final = "DOCUMENTS_TABLE"
FOREIGN_TENANT: Final = "old-clients"
FOREIGN_EVENT_TYPE: Final = "DocumentUploaded"
RECONCILIATION: Final = {
    "Payloads by what is known of them": [
        Metric.RECONCILED_OPEN,
        Metric.RECONCILED_COMPLETED,
        Metric.RECONCILED_UNPUBLISHED,
        Metric.RECONCILED_UNKNOWN,
        Metric.RECONCILED_FOREIGN,
    ],
    "Dead pointers": [Metric.DEAD_POINTERS],
    "Unknown, percent": [Metric.UNKNOWN_SHARE, Metric.UNKNOWN_GROWTH],
    "Removed, and held": [Metric.PAYLOADS_REMOVED, Metric.PAYLOADS_HELD],
}
"""Graphs of the reconciler's metrics."""


class DocumentsStack(Stack):
    """Producer function, upload API, documents pipeline, the table its handler writes, and a reconciler.

    The pipeline also takes what Amazon's Extended Clients offload.

    Attributes:
        documents: The table of documents.
        old_clients: Where Extended Clients put their payloads.
        pipeline: The pipeline.
        producer: The function that an application invokes with an event.
        archive: Keeps dead letters, so that they can be replayed after 30 days.
        uploads: The API by which clients upload large files straight to S3.
        reconciler: What compares the payloads with the rows that point at them.
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
        self.documents = DomainTable(self, "Documents", removal_policy=keep)
        logs = AccessLogBucket(self, "AccessLogs", removal_policy=keep).bucket
        self.old_clients = ExtendedClientBucket(self, "OldClients", access_logs_bucket=logs, removal_policy=keep)
        self.alarms = AlarmTopic(self, "AlarmTopic", emails=settings.alarm_emails)
        self.pipeline = ClaimCheckPipeline(
            self,
            "Pipeline",
            consumer_name=CONSUMER,
            handler=HANDLER,
            handler_package=package_folder(HANDLER_PACKAGE),
            handler_environment={TABLE_VARIABLE: self.documents.table.table_name},
            access_logs_bucket=logs,
            foreign=ForeignMessages(
                tenant_id=FOREIGN_TENANT,
                event_type=FOREIGN_EVENT_TYPE,
                buckets=[self.old_clients],
                allow_unverified=True,
                plain_bodies=False,
            ),
            alarm_topic=self.alarms.topic,
            max_concurrency=settings.max_concurrency,
            log_retention=settings.log_retention,
            removal_policy=keep,
        )
        self.pipeline.grant_handler_table(self.documents.table, ["put"])
        self.producer = ProducerFunction(
            self,
            "Producer",
            pipeline=self.pipeline,
            handler_package=package_folder(HANDLER_PACKAGE),
            alarm_topic=self.alarms.topic,
            log_retention=settings.log_retention,
            removal_policy=keep,
        )
        self.uploads = UploadApi(
            self,
            "UploadApi",
            pipeline=self.pipeline,
            handler_package=package_folder(HANDLER_PACKAGE),
            alarm_topic=self.alarms.topic,
            log_retention=settings.log_retention,
            removal_policy=keep,
        )
        self.reconciler = Reconciler(
            self,
            "Reconciler",
            name=RECONCILER,
            bucket=self.pipeline.bucket,
            consumers=[self.pipeline],
            handler_package=package_folder(HANDLER_PACKAGE),
            alarm_topic=self.alarms.topic,
            log_retention=settings.log_retention,
            removal_policy=keep,
        )
        self.archive = DlqArchive(
            self,
            "DlqArchive",
            queue=self.pipeline.queue,
            inbox=self.pipeline.inbox,
            consumer_name=CONSUMER,
            access_logs_bucket=logs,
            handler_package=package_folder(HANDLER_PACKAGE),
            alarm_topic=self.alarms.topic,
            log_retention=settings.log_retention,
            removal_policy=keep,
        )
        self.dashboard = PipelineDashboard(
            self,
            "Dashboard",
            pipeline=self.pipeline,
            publishers=[producer_service(CONSUMER), uploads_service(CONSUMER)],
            tables={"documents": self.documents.table},
        )
        others = (self.producer.alarms, self.uploads.alarms, self.reconciler.alarms)
        self.dashboard.add_alarms([alarm for alarms in others for alarm in alarms.values()])
        self.dashboard.add_dead_letters(self.archive, archived=True)
        self.dashboard.add_measured(
            "Reconciliation", RECONCILIATION, service=RECONCILER, statistic="Maximum", period=Duration.hours(1)
        )
        output_pipeline(
            self,
            self.pipeline,
            self.producer,
            ArchiveBucketName=self.archive.bucket.bucket_name,
            ArchiveFunctionName=self.archive.function.function_name,
            AlarmTopicArn=self.alarms.topic.topic_arn,
            DashboardName=self.dashboard.dashboard.ref,
            DocumentsTableName=self.documents.table.table_name,
            ReconcilerFunctionName=self.reconciler.function.function_name,
            OldClientsBucketName=self.old_clients.bucket.bucket_name,
            UploadApiUrl=self.uploads.url,
            UploadFunctionName=self.uploads.function.function_name,
        )
