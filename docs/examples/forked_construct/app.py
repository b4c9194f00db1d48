"""The library's pipeline around a queue that was copied and changed."""

from pathlib import Path

import aws_cdk as cdk
from team_queue import TeamQueue

from claim_check_cdk import ClaimCheckPipeline

HANDLERS = Path(__file__).parents[1] / "first_pipeline" / "invoices"

app = cdk.App()
stack = cdk.Stack(app, "Forked")
queue = TeamQueue(stack, "Queue", function_timeout=cdk.Duration.minutes(3))
ClaimCheckPipeline(
    stack,
    "Pipeline",
    handler="invoices.handler:handle",
    handler_package=HANDLERS,
    queue=queue,
)
app.synth()
