"""A pipeline whose payloads are reconciled every day; nothing is removed."""

from pathlib import Path

import aws_cdk as cdk

from claim_check_cdk import AlarmTopic, ClaimCheckPipeline, DomainTable, Reconciler

PACKAGE = Path(__file__).parents[1] / "first_pipeline" / "invoices"

app = cdk.App()
stack = cdk.Stack(app, "Invoices")
topic = AlarmTopic(stack, "AlarmTopic", emails=["oncall@example.com"]).topic
invoices = DomainTable(stack, "Invoices")
pipeline = ClaimCheckPipeline(
    stack,
    "Pipeline",
    consumer_name="invoices",
    handler="invoices.handler:handle",
    handler_package=PACKAGE,
    alarm_topic=topic,
)
pipeline.grant_handler_table(invoices.table, ["put"])
Reconciler(
    stack,
    "Reconciler",
    name="invoices-reconciler",
    bucket=pipeline.bucket,
    consumers=[pipeline],  # every consumer of the bucket
    outboxes=[],  # every outbox that stages payloads in it
    handler_package=PACKAGE,
    alarm_topic=topic,
)
app.synth()
