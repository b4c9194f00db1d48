"""A queue with its dead-letter queue in a stack that has nothing else of ours."""

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_

from claim_check_cdk import MessageQueue

app = cdk.App()
stack = cdk.Stack(app, "Orders")
orders = MessageQueue(stack, "Orders", function_timeout=cdk.Duration.minutes(2))
worker = lambda_.Function(
    stack,
    "Worker",
    runtime=lambda_.Runtime.PYTHON_3_14,
    handler="index.handler",
    code=lambda_.Code.from_inline("def handler(event, context): ..."),
    timeout=cdk.Duration.minutes(2),
)
orders.grant_consume(worker)
cdk.CfnOutput(stack, "QueueUrl", value=orders.queue.queue_url)
app.synth()
