"""A small stack whose FIFO queue blocks on poison: no DLQ, order above progress."""

import os
from pathlib import Path

import aws_cdk as cdk

from claim_check_cdk import ClaimCheckPipeline, DomainTable, FifoOptions, ProducerFunction

PACKAGE = Path(__file__).parent / "orders"

app = cdk.App()
environment = cdk.Environment(account=os.environ["CDK_DEFAULT_ACCOUNT"], region=os.environ["CDK_DEFAULT_REGION"])
stack = cdk.Stack(app, "Blocking", env=environment)
orders = DomainTable(stack, "Orders", sort_key="sk")
pipeline = ClaimCheckPipeline(
    stack,
    "Pipeline",
    consumer_name="orders",
    handler="orders.handler:handle",
    handler_package=PACKAGE,
    handler_environment={"ORDERS_TABLE": orders.table.table_name},
    fifo=FifoOptions(on_poison="block"),
    timeout=cdk.Duration.seconds(30),
)
pipeline.grant_handler_table(orders.table, ["get", "put"])
producer = ProducerFunction(stack, "Producer", pipeline=pipeline, handler_package=PACKAGE)
cdk.CfnOutput(stack, "OrdersTableName", value=orders.table.table_name)
cdk.CfnOutput(stack, "ConsumerFunctionName", value=pipeline.function.function_name)
cdk.CfnOutput(stack, "ProducerFunctionName", value=producer.function.function_name)
app.synth()
