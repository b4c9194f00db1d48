"""Real Extended Clients and our library, on one embedded AWS."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from claim_check_ops.local import EmbeddedAws
from tests.interop.kit import Pipeline


@pytest.fixture(scope="session")
def embedded_aws() -> Iterator[EmbeddedAws]:
    """One embedded AWS, shared: tests make resources under names of their own."""
    with EmbeddedAws() as aws:
        yield aws


@pytest.fixture
def pipeline(embedded_aws: EmbeddedAws) -> Pipeline:
    """A pipeline of its own for each test."""
    return Pipeline(embedded_aws)


@pytest.fixture
def fifo(embedded_aws: EmbeddedAws) -> Pipeline:
    """The same, FIFO."""
    return Pipeline(embedded_aws, fifo=True)
