"""A bucket that expires too early for the archive of its queue: synthesizing fails, and prints the sum."""

import aws_cdk as cdk

from claim_check_cdk import DlqArchive, MessageQueue, PayloadBucket

app = cdk.App()
stack = cdk.Stack(app, "Bookings")
queue = MessageQueue(stack, "Queue", function_timeout=cdk.Duration.minutes(3))
bucket = PayloadBucket(stack, "Payloads", expiration=cdk.Duration.days(45))
bucket.retain_for(queue)
DlqArchive(stack, "DlqArchive", queue=queue, consumer_name="bookings")
try:
    app.synth()
except RuntimeError as error:
    print(error)
