"""The CDK app: which stacks, in which environment."""

from __future__ import annotations

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks, ServerlessChecks

from stacks.documents_stack import DocumentsStack
from stacks.ingest_stack import IngestStack
from stacks.orders_stack import OrdersStack
from stacks.settings import Settings
from stacks.wallet_stack import WalletStack


def main() -> None:
    """Synthesize the app; a finding of cdk-nag fails it."""
    app = cdk.App()
    settings = Settings.from_context(app.node)
    DocumentsStack(
        app,
        "Documents",
        settings=settings,
        stack_name=f"claim-check-documents-{settings.environment}",
        description="Claim checks over SQS and S3: the documents pipeline",
    )
    WalletStack(
        app,
        "Wallet",
        settings=settings,
        stack_name=f"claim-check-wallet-{settings.environment}",
        description="Claim checks over SQS and S3: the wallet pipeline, in order per account",
    )
    OrdersStack(
        app,
        "Orders",
        settings=settings,
        stack_name=f"claim-check-orders-{settings.environment}",
        description="Claim checks over SQS and S3: orders and their messages are placed together, by an outbox",
    )
    IngestStack(
        app,
        "Ingest",
        settings=settings,
        stack_name=f"claim-check-ingest-{settings.environment}",
        description="Claim checks over SQS and S3: two buckets are followed, an inventory says what is in them",
    )
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app), ServerlessChecks(app))
    app.synth()


if __name__ == "__main__":
    main()
