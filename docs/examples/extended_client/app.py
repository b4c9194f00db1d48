"""A pipeline that reads what Amazon's Extended Clients send, beside messages of its own producers."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from claim_check_cdk import ClaimCheckPipeline, ExtendedClientBucket, ForeignMessages

HANDLERS = Path(__file__).parents[1] / "first_pipeline" / "invoices"

app = cdk.App()
stack = cdk.Stack(app, "Orders")
old_payloads = ExtendedClientBucket(stack, "OldPayloads")
pipeline = ClaimCheckPipeline(
    stack,
    "Orders",
    handler="invoices.handler:handle",
    handler_package=HANDLERS,
    foreign=ForeignMessages(
        tenant_id="t-1",
        event_type="OrderPlaced",
        buckets=[old_payloads],
        allow_unverified=True,
    ),
)
old_sender = iam.Role(stack, "OldSender", assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"))
old_payloads.grant_put(old_sender)
pipeline.queue.grant_publish(old_sender)
app.synth()
