"""A stack with one pipeline and the table that its handler writes."""

from pathlib import Path

import aws_cdk as cdk

from claim_check_cdk import ClaimCheckPipeline, DomainTable

app = cdk.App()
stack = cdk.Stack(app, "Invoices")
invoices = DomainTable(stack, "Table", removal_policy=cdk.RemovalPolicy.DESTROY)
pipeline = ClaimCheckPipeline(
    stack,
    "Pipeline",
    consumer_name="invoices",
    handler="invoices.handler:handle",
    handler_package=Path(__file__).parent / "invoices",
    handler_environment={"INVOICES_TABLE": invoices.table.table_name},
    removal_policy=cdk.RemovalPolicy.DESTROY,
)
pipeline.grant_handler_table(invoices.table, ["put"])
cdk.CfnOutput(stack, "TableName", value=invoices.table.table_name)
cdk.CfnOutput(stack, "ProducerEnvironment", value=stack.to_json_string(pipeline.producer_environment()))
app.synth()
