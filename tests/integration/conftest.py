"""What all integration tests share: one embedded AWS for the whole run."""

from collections.abc import Iterator

import pytest

from claim_check_ops.local import EmbeddedAws


@pytest.fixture(scope="session")
def embedded_aws() -> Iterator[EmbeddedAws]:
    """One embedded AWS, shared: tests make resources under names of their own, and never reset it."""
    with EmbeddedAws() as aws:
        yield aws
