"""What a worker outside Lambda needs: bucket, queue, inbox, and a role that may use them."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from claim_check.contract import Setting
from claim_check_cdk import InboxTable, MessageQueue, PayloadBucket

app = cdk.App()
stack = cdk.Stack(app, "Worker")
queue = MessageQueue(stack, "Queue", function_timeout=cdk.Duration.minutes(3))
bucket = PayloadBucket(stack, "Payloads")
inbox = InboxTable(stack, "Inbox")
bucket.retain_for(queue)
inbox.retain_for(queue)
role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"))
queue.grant_consume(role)
bucket.grant_read(role)
inbox.grant_consumer(role)
assert queue.dead_letter_queue is not None  # noqa: S101 - only a FIFO queue that blocks has none
settings = {
    Setting.CONSUMER: "scans",
    Setting.HANDLER: "scans:handle",
    Setting.BUCKET: bucket.bucket.bucket_name,
    Setting.QUEUE_URL: queue.queue.queue_url,
    Setting.DLQ_URL: queue.dead_letter_queue.queue_url,
    Setting.INBOX_TABLE: inbox.table.table_name,
    Setting.INBOX_TTL: inbox.ttl_text,
    Setting.BEFORE_SEND: str(24 * 3600),  # what a producer needs besides
}
cdk.CfnOutput(stack, "Environment", value=stack.to_json_string(settings))
app.synth()
