"""A small stack that exercises the embedded AWS: a function copies messages from a queue into a bucket."""

import os

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs

app = cdk.App()
if app.node.try_get_context("fail"):
    raise SystemExit("the scratch app fails as asked")

environment = cdk.Environment(account=os.environ["CDK_DEFAULT_ACCOUNT"], region=os.environ["CDK_DEFAULT_REGION"])
stack = cdk.Stack(app, "Scratch", env=environment)
queue = sqs.Queue(stack, "Queue")
bucket = s3.Bucket(stack, "Bucket")
closed = s3.Bucket(stack, "Closed")
function = lambda_.Function(
    stack,
    "Function",
    runtime=lambda_.Runtime.PYTHON_3_14,
    architecture=lambda_.Architecture.ARM_64,
    handler="copier.handler",
    code=lambda_.Code.from_asset("function"),
    environment={"OPEN_BUCKET": bucket.bucket_name, "CLOSED_BUCKET": closed.bucket_name},
    log_group=logs.LogGroup(stack, "Log", retention=logs.RetentionDays.ONE_WEEK),
)
bucket.grant_put(function)
function.add_event_source(sources.SqsEventSource(queue, report_batch_item_failures=True))
cdk.CfnOutput(stack, "QueueUrl", value=queue.queue_url)
cdk.CfnOutput(stack, "BucketName", value=bucket.bucket_name)
cdk.CfnOutput(stack, "FunctionName", value=function.function_name)
app.synth()
