"""An application that places orders, the outbox it stages with, and the pipeline that its messages go to."""

from pathlib import Path

import aws_cdk as cdk

from claim_check_cdk import ClaimCheckFunction, ClaimCheckPipeline, DomainTable, FifoOptions, Outbox

HANDLERS = Path(__file__).parents[1] / "first_pipeline" / "invoices"

app = cdk.App()
stack = cdk.Stack(app, "Shop")
orders = DomainTable(stack, "Orders")
invoices = ClaimCheckPipeline(
    stack,
    "Invoices",
    handler="invoices.handler:handle",
    handler_package=HANDLERS,
    fifo=FifoOptions(on_poison="park"),
)
outbox = Outbox(stack, "Outbox", destinations={"invoices": invoices}, before_send=cdk.Duration.days(2))

shop = ClaimCheckFunction(
    stack,
    "PlaceOrder",
    handler="invoices.handler.handle",  # your own function, such as `place` below
    handler_package=HANDLERS,
    environment={**outbox.stage_environment(), "ORDERS_TABLE": orders.table.table_name},
)
outbox.grant_stage(shop)
orders.table.grant(shop, "dynamodb:PutItem")
app.synth()
