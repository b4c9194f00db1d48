"""Two pipelines that keep the order of a message group, and differ in what a poison message does."""

from pathlib import Path

import aws_cdk as cdk

from claim_check_cdk import ClaimCheckPipeline, FifoOptions

HANDLERS = Path(__file__).parents[1] / "first_pipeline" / "invoices"

app = cdk.App()
stack = cdk.Stack(app, "Ordered")
ClaimCheckPipeline(
    stack,
    "GoOn",
    handler="invoices.handler:handle",
    handler_package=HANDLERS,
    fifo=FifoOptions(on_poison="park"),
)
ClaimCheckPipeline(
    stack,
    "Wait",
    handler="invoices.handler:handle",
    handler_package=HANDLERS,
    fifo=FifoOptions(on_poison="block"),
    retention=cdk.Duration.days(14),
)
app.synth()
