"""Settings of an ingest, what its functions import, and what they are put together from (R10)."""

from __future__ import annotations

import subprocess
import sys

import pytest

from claim_check import contract
from claim_check.aws_ingest import ingester, reconciliation
from claim_check.contract import Setting
from claim_check.errors import InvalidSetting
from claim_check.ingest.settings import IngestSettings, KeyFilter, ReconciliationSettings
from claim_check_ops.telemetry import SilentTelemetry

SHARED = {
    Setting.INGEST: "in",
    Setting.INGEST_BUCKET: "bucket",
    Setting.INGEST_QUEUE_URL: "https://sqs/0/q",
    Setting.LEDGER_TABLE: "ledger",
}
INGESTER = {**SHARED, Setting.INGEST_PUT: "json:loads", Setting.INGEST_DELETE: "json:dumps"}


def test_defaults_are_the_contracts() -> None:
    assert IngestSettings.from_environment(INGESTER) == IngestSettings(
        name="in",
        bucket="bucket",
        queue_url="https://sqs/0/q",
        ledger_table="ledger",
        apply_put="json:loads",
        apply_delete="json:dumps",
    )
    found = ReconciliationSettings.from_environment(SHARED)
    assert (found.grace_seconds, found.rate, found.every_seconds) == (900, 200, 86_400)
    assert found.filters == ()


def test_every_variable_is_read() -> None:
    found = IngestSettings.from_environment(
        {
            **INGESTER,
            Setting.LEDGER_TTL: "100",
            Setting.LEDGER_PAD: "left",
            Setting.TRACING: "true",
            Setting.DLQ_URL: "https://sqs/0/d",
            Setting.PAYLOAD_ACCESS: "memory",
            Setting.MEMORY_BUDGET: "1",
            Setting.TEMP_BUDGET: "2",
            Setting.EXPANSION: "1.5",
            Setting.CONCURRENCY: "3",
            Setting.MAX_ATTEMPTS: "4",
            Setting.VISIBILITY: "5",
            Setting.MAX_PAYLOAD: "6",
        }
    )
    assert (found.tombstone_seconds, found.pad, found.tracing, found.dlq_url) == (100, "left", True, "https://sqs/0/d")
    assert (found.payload_access, found.memory_budget_bytes, found.temp_budget_bytes) == ("memory", 1, 2)
    assert (found.expansion, found.concurrency, found.max_attempts, found.visibility_seconds) == (1.5, 3, 4, 5)
    assert found.max_object_bytes == 6


def test_filters_are_those_of_the_notifications() -> None:
    text = '[{"prefix":"in/","suffix":".csv"},{"prefix":"é"},{}]'
    found = ReconciliationSettings.from_environment({**SHARED, Setting.INGEST_FILTERS: text})
    assert found.filters == (KeyFilter("in/", ".csv"), KeyFilter("é"), KeyFilter())
    assert [one.matches("in/a.csv") for one in found.filters] == [True, False, True]
    assert not found.filters[0].matches("in/a.txt")


@pytest.mark.parametrize(
    "variable, value",
    [
        (Setting.INGEST_FILTERS, "in/"),
        (Setting.INGEST_FILTERS, '["in/"]'),
        (Setting.INGEST_FILTERS, "5"),
        (Setting.INGEST_RECONCILE_RATE, "0"),
        (Setting.INGEST_GRACE, "-1"),
        (Setting.LEDGER_PAD, "middle"),
        (Setting.LEDGER_TTL, "0"),
        (Setting.LEDGER_TABLE, ""),
    ],
)
def test_a_wrong_value_is_named(variable: str, value: str) -> None:
    with pytest.raises(InvalidSetting, match=variable):
        ReconciliationSettings.from_environment({**SHARED, variable: value})


@pytest.mark.parametrize("reference", ["no_such_module:f", "json:no_such", "json", "json:__doc__", ":"])
def test_a_handler_that_cannot_be_imported_is_named(reference: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    settings = IngestSettings.from_environment({**INGESTER, Setting.INGEST_PUT: reference})
    with pytest.raises(InvalidSetting, match=reference or "''"):
        ingester(settings, telemetry=SilentTelemetry())


def test_the_parts_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    made = ingester(IngestSettings.from_environment(INGESTER), telemetry=SilentTelemetry())
    assert made.queue_url == "https://sqs/0/q"
    assert not made.fifo
    reconciliation(ReconciliationSettings.from_environment(SHARED), telemetry=SilentTelemetry())


def _loaded(module: str) -> set[str]:
    program = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)  # noqa: S603 - ours
    return set(done.stdout.split())


def test_other_functions_pay_nothing_for_ingesting() -> None:
    """Cold starts: what is not used is not imported."""
    found = _loaded("claim_check.handlers.consumer, claim_check.handlers.producer")
    assert not {name for name in found if "ingest" in name or "ledger" in name}


def test_the_domain_needs_no_aws_client() -> None:
    found = _loaded("claim_check.ingest")
    assert "claim_check.ingest.ingester" in found
    assert not {"boto3", "botocore", "aws_lambda_powertools"} & found


def test_a_ledgers_shards_are_as_many_as_the_contract_says() -> None:
    assert len(contract.ledger_shards("b")) == contract.LEDGER_SHARDS
    assert len(contract.ingest_group(bucket="b", key="k")) == 64
    assert contract.ingest_group(bucket="b", key="k") != contract.ingest_group(bucket="b", key="l")
