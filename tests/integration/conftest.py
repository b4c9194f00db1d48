"""What all integration tests share: one embedded AWS, and the app deployed into it, for the whole run."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from claim_check_ops.local import CdkCli, EmbeddedAws, deploy_assembly
from claim_check_ops.local.deployment import Deployment, documents_deployment
from claim_check_ops.local.run import Run

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def embedded_aws() -> Iterator[EmbeddedAws]:
    """One embedded AWS, shared: tests make resources under names of their own, and never reset it."""
    with EmbeddedAws() as aws:
        yield aws


@pytest.fixture(scope="session")
def assembly(embedded_aws: EmbeddedAws, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The app, synthesized by the real CDK command line."""
    return CdkCli(embedded_aws, PROJECT, output=tmp_path_factory.mktemp("cdk") / "cdk.out").synth()


@pytest.fixture(scope="session")
def documents(embedded_aws: EmbeddedAws, assembly: Path) -> Deployment:
    """The documents pipeline, deployed."""
    (stack,) = deploy_assembly(embedded_aws, assembly).values()
    return documents_deployment(embedded_aws, stack.outputs)


@pytest.fixture(scope="session")
def run(documents: Deployment) -> Run:
    """One run of the messages of ``make run``."""
    result = Run(documents, Console(quiet=True))
    result.execute()
    return result
