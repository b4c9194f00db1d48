"""Three ingests: of a bucket of their own, of a bucket that is there already, and object by object."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3

from claim_check_cdk import DomainTable, FifoOptions, KeyFilter, S3Ingest

HANDLERS = Path(__file__).parent / "catalogue"

app = cdk.App()
stack = cdk.Stack(app, "Catalogue")
table = DomainTable(stack, "Rows", partition_key="key").table
theirs = s3.Bucket.from_bucket_name(stack, "Theirs", "another-teams-bucket")

own = S3Ingest(
    stack,
    "Own",
    apply_put="catalogue.handlers:add",
    apply_delete="catalogue.handlers:remove",
    handler_package=HANDLERS,
    handler_environment={"CATALOGUE_TABLE": table.table_name},
    filters=[KeyFilter(prefix="incoming/", suffix=".csv")],
    versioned=True,
)
existing = S3Ingest(
    stack,
    "Existing",
    apply_put="catalogue.handlers:add",
    apply_delete="catalogue.handlers:remove",
    handler_package=HANDLERS,
    handler_environment={"CATALOGUE_TABLE": table.table_name},
    bucket=theirs,
    manage_notifications=False,
)
ordered = S3Ingest(
    stack,
    "Ordered",
    apply_put="catalogue.handlers:add",
    apply_delete="catalogue.handlers:remove",
    handler_package=HANDLERS,
    handler_environment={"CATALOGUE_TABLE": table.table_name},
    through="eventbridge",
    fifo=FifoOptions(on_poison="park"),
)
for ingest in (own, existing, ordered):
    ingest.grant_handler_table(table, ["put", "delete"])
cdk.CfnOutput(stack, "ForItsOwner", value=stack.to_json_string(existing.notification_configuration))
app.synth()
