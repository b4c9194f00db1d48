"""What all integration tests share: one embedded AWS, and the app deployed into it, for the whole run."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from rich.console import Console

from claim_check_ops.local import CdkCli, EmbeddedAws, deploy_assembly
from claim_check_ops.local.deployment import DOCUMENTS_TABLE, WALLET_TABLE, Deployment, find_deployment
from claim_check_ops.local.documents_run import DocumentsRun
from claim_check_ops.local.progress import progress_bar

PROJECT = Path(__file__).parents[2]
BLOCKING = Path(__file__).parent / "apps" / "blocking"


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
def outputs(embedded_aws: EmbeddedAws, assembly: Path) -> list[Mapping[str, str]]:
    """The app, deployed: the outputs of its stacks."""
    return [stack.outputs for stack in deploy_assembly(embedded_aws, assembly).values()]


@pytest.fixture(scope="session")
def documents(embedded_aws: EmbeddedAws, outputs: list[Mapping[str, str]]) -> Deployment:
    """The documents pipeline, deployed."""
    return find_deployment(embedded_aws, outputs, table=DOCUMENTS_TABLE)


@pytest.fixture(scope="session")
def wallet(embedded_aws: EmbeddedAws, outputs: list[Mapping[str, str]]) -> Deployment:
    """The wallet pipeline, deployed."""
    return find_deployment(embedded_aws, outputs, table=WALLET_TABLE)


@pytest.fixture(scope="session")
def blocking_assembly(embedded_aws: EmbeddedAws, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline whose poison blocks its group, synthesized."""
    return CdkCli(embedded_aws, BLOCKING, output=tmp_path_factory.mktemp("blocking") / "cdk.out").synth()


@pytest.fixture(scope="session")
def blocking(embedded_aws: EmbeddedAws, blocking_assembly: Path) -> Deployment:
    """The same, deployed."""
    found = [stack.outputs for stack in deploy_assembly(embedded_aws, blocking_assembly).values()]
    return find_deployment(embedded_aws, found, table="OrdersTableName")


@pytest.fixture(scope="session")
def run(documents: Deployment) -> DocumentsRun:
    """One run of the messages of ``make run``."""
    result = DocumentsRun(documents)
    with progress_bar(Console(quiet=True)) as bar:
        result.execute(bar)
    return result
