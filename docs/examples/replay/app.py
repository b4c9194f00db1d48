"""A pipeline whose dead letters can be replayed weeks later."""

from pathlib import Path

import aws_cdk as cdk

from claim_check_cdk import AccessLogBucket, ClaimCheckPipeline, DlqArchive, DomainTable

app = cdk.App()
stack = cdk.Stack(app, "Bookings")
keep = cdk.RemovalPolicy.DESTROY
accounts = DomainTable(stack, "Accounts", removal_policy=keep)
logs = AccessLogBucket(stack, "AccessLogs", removal_policy=keep).bucket
pipeline = ClaimCheckPipeline(
    stack,
    "Pipeline",
    consumer_name="bookings",
    handler="bookings.handler:handle",
    handler_package=Path(__file__).parent / "bookings",
    handler_environment={"BOOKINGS_TABLE": accounts.table.table_name},
    access_logs_bucket=logs,
    removal_policy=keep,
)
pipeline.grant_handler_table(accounts.table, ["update"])
archive = DlqArchive(
    stack,
    "DlqArchive",
    queue=pipeline.queue,
    inbox=pipeline.inbox,
    consumer_name=pipeline.consumer_name,
    keep=cdk.Duration.days(30),
    access_logs_bucket=logs,
    handler_package=Path(__file__).parent / "bookings",
    removal_policy=keep,
)
cdk.CfnOutput(stack, "TableName", value=accounts.table.table_name)
cdk.CfnOutput(stack, "ArchiveFunctionName", value=archive.function.function_name)
cdk.CfnOutput(stack, "ArchiveBucketName", value=archive.bucket.bucket_name)
cdk.CfnOutput(stack, "ProducerEnvironment", value=stack.to_json_string(pipeline.producer_environment()))
app.synth()
