"""One contract, two sides: the fakes that unit tests use, and the real adapters on the embedded AWS."""

from __future__ import annotations

from collections.abc import Iterator

import boto3
import pytest

from claim_check.adapters.session import Clients
from claim_check_ops.local import EmbeddedAws

REGION = "us-east-1"


@pytest.fixture(scope="session")
def embedded_aws() -> Iterator[EmbeddedAws]:
    """One embedded AWS, shared: tests make resources under names of their own."""
    with EmbeddedAws() as aws:
        yield aws


@pytest.fixture(scope="session")
def clients(embedded_aws: EmbeddedAws) -> Clients:
    """The library's own clients, which find the embedded AWS as they would find any: by their environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in embedded_aws.environment().items():
            patch.setenv(name, value)
        found = Clients(boto3.Session(region_name=REGION))
        made = (found.s3, found.s3_once, found.sqs, found.sqs_polling, found.dynamodb)
    assert all(client.meta.endpoint_url == embedded_aws.endpoint_url for client in made)
    return found
