"""Two pipelines whose roles are as narrow as they can be made: by tenant, by event type, by what a handler needs.

Their bucket keeps versions and everything is encrypted with a customer's key, so that their roles have all there is.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms

from claim_check_cdk import (
    ClaimCheckPipeline,
    DomainTable,
    ExtendedClientBucket,
    FifoOptions,
    ForeignMessages,
    PayloadBucket,
    ProducerFunction,
    UploadApi,
)

EVENT_TYPE = "ScanArrived"
TENANT = "tenant-1"
PACKAGE = Path(__file__).parent / "ledger"


@dataclasses.dataclass
class Narrowed:
    """A pipeline as one tenant's producer of one event type may use it."""

    pipeline: ClaimCheckPipeline

    def producer_environment(self) -> Mapping[str, str]:
        """The pipeline's own."""
        return self.pipeline.producer_environment()

    def grant_publish(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow publishing these events only."""
        return self.pipeline.grant_publish(grantee, event_types=[EVENT_TYPE], tenants=[TENANT])


app = cdk.App()
stack = cdk.Stack(app, "Narrow")
key = kms.Key(stack, "Key", enable_key_rotation=True, removal_policy=cdk.RemovalPolicy.DESTROY)
payloads = PayloadBucket(
    stack, "Payloads", versioned=True, encryption_key=key, removal_policy=cdk.RemovalPolicy.DESTROY
)
ledger = DomainTable(stack, "Ledger", encryption_key=key, removal_policy=cdk.RemovalPolicy.DESTROY)
foreign = ExtendedClientBucket(stack, "Foreign", prefix="scans/", removal_policy=cdk.RemovalPolicy.DESTROY)
scans = ClaimCheckPipeline(
    stack,
    "Scans",
    handler="ledger.handler:book",
    handler_package=PACKAGE,
    handler_environment={"LEDGER_TABLE": ledger.table.table_name},
    bucket=payloads,
    event_types={EVENT_TYPE: [1]},
    tenants=[TENANT],
    foreign=ForeignMessages(tenant_id=TENANT, event_type=EVENT_TYPE, buckets=[foreign], allow_unverified=True),
    encryption_key=key,
    removal_policy=cdk.RemovalPolicy.DESTROY,
)
scans.grant_handler_table(ledger.table, ["get", "put", "update", "delete", "check"])
audit = ClaimCheckPipeline(
    stack,
    "Audit",
    handler="ledger.handler:note",
    handler_package=PACKAGE,
    bucket=payloads,
    payload_access="none",
    timeout=cdk.Duration.seconds(6),
    fifo=FifoOptions(on_poison="block"),
    removal_policy=cdk.RemovalPolicy.DESTROY,
)
ProducerFunction(stack, "Scanner", pipeline=Narrowed(scans), handler_package=PACKAGE)
UploadApi(stack, "UploadApi", pipeline=scans, handler_package=PACKAGE, removal_policy=cdk.RemovalPolicy.DESTROY)
app.synth()
