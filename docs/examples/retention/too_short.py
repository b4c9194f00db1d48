"""An expiration that is too short: synthesizing fails, and prints the sum."""

import aws_cdk as cdk

from claim_check_cdk import MessageQueue, PayloadBucket

app = cdk.App()
stack = cdk.Stack(app, "Orders")
bucket = PayloadBucket(stack, "Payloads", expiration=cdk.Duration.days(3))
bucket.retain_for(MessageQueue(stack, "Queue", function_timeout=cdk.Duration.minutes(3)))
try:
    app.synth()
except RuntimeError as error:
    print(error)
