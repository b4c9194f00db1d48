"""A pipeline with its alarms on a topic, a dashboard, and a row of our own on it."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

from claim_check_cdk import AlarmTopic, ClaimCheckPipeline, DomainTable, PipelineDashboard, ProducerFunction

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
producer = ProducerFunction(stack, "Producer", pipeline=pipeline, handler_package=PACKAGE, alarm_topic=topic)

dashboard = PipelineDashboard(stack, "Dashboard", pipeline=pipeline, tables={"invoices": invoices.table})
dashboard.add_alarms(producer.alarms.values())
paid = cloudwatch.Metric(namespace="Shop", metric_name="InvoicesPaid", statistic="Sum")
dashboard.add_row("Business", [dashboard.graph("Invoices paid", [paid], width=12)])
app.synth()
