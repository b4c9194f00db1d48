"""CDK constructs for claim checks over SQS and S3.

`ClaimCheckPipeline` is all of it with one handler; each of the others works alone in any stack. Pure rules stand beside
them: `RetentionPlan` (how long a payload must live, and why) and `Sizing` (memory and temporary storage).
"""

from claim_check_cdk.access_log_bucket import AccessLogBucket
from claim_check_cdk.alarm_topic import AlarmTopic
from claim_check_cdk.claim_check_function import ClaimCheckFunction
from claim_check_cdk.claim_check_pipeline import ClaimCheckPipeline
from claim_check_cdk.dlq_archive import DlqArchive
from claim_check_cdk.dlq_sampler import DlqSampler
from claim_check_cdk.domain_table import DomainTable
from claim_check_cdk.extended_client import ExtendedClientBucket, ForeignMessages
from claim_check_cdk.imported_payload_bucket import ImportedPayloadBucket
from claim_check_cdk.inbox_table import InboxTable
from claim_check_cdk.ingest_filters import KeyFilter
from claim_check_cdk.ledger_table import LedgerTable
from claim_check_cdk.message_queue import FifoOptions, MessageQueue
from claim_check_cdk.outbox import Outbox
from claim_check_cdk.outbox_table import OutboxTable
from claim_check_cdk.payload_bucket import PayloadBucket
from claim_check_cdk.pipeline_alarms import PipelineAlarms
from claim_check_cdk.pipeline_dashboard import PipelineDashboard
from claim_check_cdk.pointer_life import RetentionTerms
from claim_check_cdk.producer_function import ProducerFunction
from claim_check_cdk.reconciler import Reconciler
from claim_check_cdk.retention import RetentionPlan
from claim_check_cdk.s3_ingest import S3Ingest
from claim_check_cdk.service_dashboard import ServiceDashboard
from claim_check_cdk.sizing import Sizing
from claim_check_cdk.upload_api import UploadApi
from claim_check_cdk.validation import InvalidSettingsError, Mistake

__all__ = [
    "AccessLogBucket",
    "AlarmTopic",
    "ClaimCheckFunction",
    "ClaimCheckPipeline",
    "DlqArchive",
    "DlqSampler",
    "DomainTable",
    "ExtendedClientBucket",
    "FifoOptions",
    "ForeignMessages",
    "ImportedPayloadBucket",
    "InboxTable",
    "InvalidSettingsError",
    "KeyFilter",
    "LedgerTable",
    "MessageQueue",
    "Mistake",
    "Outbox",
    "OutboxTable",
    "PayloadBucket",
    "PipelineAlarms",
    "PipelineDashboard",
    "ProducerFunction",
    "Reconciler",
    "RetentionPlan",
    "RetentionTerms",
    "S3Ingest",
    "ServiceDashboard",
    "Sizing",
    "UploadApi",
]
