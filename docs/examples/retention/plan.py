"""Prints the plan of a queue: how long a payload must live, and why."""

import aws_cdk as cdk

from claim_check_cdk import MessageQueue, RetentionTerms

stack = cdk.Stack(cdk.App(), "Orders")
queue = MessageQueue(stack, "Queue", function_timeout=cdk.Duration.minutes(3))
print(queue.retention_plan(RetentionTerms(audit=cdk.Duration.days(7))).table())
