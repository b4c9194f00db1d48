"""Payloads, file names and object keys are where they belong, and nowhere else (R11.4)."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from claim_check.adapters.inbox_items import to_item
from claim_check_ops.local import wait_until
from claim_check_ops.local.deployment import Deployment
from tests.canary import Canary, told
from tests.contracts.test_inbox_table import row_of
from tests.integration.canary_run import CanaryRun, planted_line, planted_metric

pytestmark = [pytest.mark.integration, pytest.mark.slow]


CODES = (
    "ChecksumMismatch",
    "Conflict",
    "InvalidEnvelope",
    "MissingPayload",
    "Stale",
    "UnreadableFile",
    "UnsupportedVersion",
    "UntrustedReference",
)
"""What the run makes go wrong."""


def untold(run: CanaryRun) -> list[tuple[str, str]]:
    """Places, and codes that are not in them."""
    places = run.places.look()
    texts = {name: "\n".join(places[name]) for name in ("log", "metric", "DLQ attribute", "inbox text")}
    return [(name, code) for name, text in texts.items() for code in CODES if code not in text]


@pytest.fixture(scope="module")
def canaries(documents: Deployment, tmp_path_factory: pytest.TempPathFactory) -> CanaryRun:
    """One run, searched once all of it was told: logs and metrics of a function come after its message is settled."""
    made = CanaryRun(documents, tmp_path_factory.mktemp("canaries"))
    made.execute()
    with suppress(TimeoutError):  # the test says what is missing
        wait_until(lambda: not untold(made), what="everything that went wrong is told", timeout=60)
    return made


def test_the_canaries_are_where_they_belong(canaries: CanaryRun) -> None:
    assert len(canaries.holding()) >= 10
    assert set(canaries.holding()) <= canaries.content.secrets


def test_and_nowhere_else(canaries: CanaryRun) -> None:
    places = canaries.places.look()
    assert [name for name, texts in places.items() if not texts] == []
    assert canaries.content.leaks(places) == []
    assert canaries.names.leaks(places) == []


def test_what_can_go_wrong_did(canaries: CanaryRun) -> None:
    """Or the search would have found nothing for want of failures; the other codes: tests/unit/test_error_lines.py."""
    assert untold(canaries) == []


def _log(run: CanaryRun, documents: Deployment, secret: str) -> None:
    planted_line(run.places.aws, documents.consumer_function, secret)


def _metric(run: CanaryRun, _: Deployment, secret: str) -> None:
    planted_metric(run.places.aws, secret)


def _dlq_attribute(run: CanaryRun, documents: Deployment, secret: str) -> None:
    attribute: Any = {"file": {"DataType": "String", "StringValue": secret}}
    dlq = documents.consumer.dlq_url or ""
    run.places.aws.sqs.send_message(QueueUrl=dlq, MessageBody="planted", MessageAttributes=attribute)


def _inbox_text(run: CanaryRun, documents: Deployment, secret: str) -> None:
    row = row_of("COMPLETED", key=f"planted#{uuid.uuid4()}", last_message=f"cannot use {secret}")
    run.places.aws.dynamodb.put_item(TableName=documents.consumer.inbox_table, Item=to_item(row))


def _exception(run: CanaryRun, _: Deployment, secret: str) -> None:
    error = ValueError("cannot be used")
    error.__cause__ = KeyError(secret)
    run.places.exceptions.append(told(error))


def _command(run: CanaryRun, _: Deployment, secret: str) -> None:
    run.places.shown.append(f"{secret}.pdf is gone")


@pytest.mark.parametrize("plant", [_log, _metric, _dlq_attribute, _inbox_text, _exception, _command])
def test_a_planted_leak_is_found(
    canaries: CanaryRun, documents: Deployment, plant: Callable[[CanaryRun, Deployment, str], None]
) -> None:
    planted = Canary()
    assert planted.leaks(canaries.places.look()) == []
    plant(canaries, documents, planted.token)
    (leak,) = planted.leaks(canaries.places.look())
    assert leak.replace(" ", "_").startswith(plant.__name__.strip("_").replace("dlq", "DLQ"))
