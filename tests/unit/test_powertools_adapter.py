"""R11.4, R12: allow-listed logs, one EMF value per metric, no X-Ray unless it is switched on."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import threading
from contextlib import nullcontext

import pytest
from aws_lambda_powertools import Logger

from claim_check import telemetry as rules
from claim_check.adapters.powertools import PowertoolsTelemetry
from claim_check.contract import METRIC_NAMESPACE, ErrorCode, Metric
from claim_check.envelope import Claim, Envelope, Inline


def make() -> tuple[PowertoolsTelemetry, io.StringIO]:
    stream = io.StringIO()
    return PowertoolsTelemetry(
        service="documents", logger=Logger(service=f"documents-{id(stream)}", stream=stream)
    ), stream


def test_only_allowed_fields_get_through() -> None:
    telemetry, stream = make()
    telemetry.log("error", "parked", messageId="m-1", payloadKey="payloads/secret", body="secret", tenantId=None)
    line = json.loads(stream.getvalue())
    assert (line["level"], line["message"], line["messageId"]) == ("ERROR", "parked", "m-1")
    assert "secret" not in stream.getvalue()
    assert "tenantId" not in line


def test_long_texts_are_cut() -> None:
    telemetry, stream = make()
    telemetry.log("info", "x", reason="r" * 100_000)
    assert len(json.loads(stream.getvalue())["reason"]) == rules.MAX_FIELD_LENGTH


def emitted(out: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.splitlines() if line.strip()]


# FIELD: aws-powertools/powertools-lambda-typescript#1529
def test_150_values_of_a_metric_are_one_sum(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry, _ = make()
    for _ in range(150):
        telemetry.count(Metric.PROCESSED)
    telemetry.count(Metric.PAYLOAD_BYTES, 10)
    telemetry.count(Metric.PAYLOAD_BYTES, 5)
    telemetry.count(ErrorCode.MISSING_PAYLOAD)
    telemetry.flush()
    (document,) = emitted(capsys.readouterr().out)
    aws = document["_aws"]
    assert isinstance(aws, dict)
    (metrics,) = aws["CloudWatchMetrics"]
    assert metrics["Namespace"] == METRIC_NAMESPACE
    assert metrics["Dimensions"] == [["service"]]
    assert document["service"] == "documents"
    assert {one["Name"]: one["Unit"] for one in metrics["Metrics"]} == {
        "Processed": "Count",
        "PayloadBytes": "Bytes",
        "MissingPayload": "Count",
    }
    assert [document[name] for name in ("Processed", "PayloadBytes", "MissingPayload")] == [[150.0], [15.0], [1.0]]


def test_the_age_of_a_batch_is_its_oldest_message(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry, _ = make()
    for age in (3.0, 400.0, 20.0):
        telemetry.count(Metric.MESSAGE_AGE, age)
    telemetry.flush()
    (document,) = emitted(capsys.readouterr().out)
    assert document["MessageAgeSeconds"] == [400.0]


def test_the_life_left_of_a_batch_is_that_of_its_oldest_payload(capsys: pytest.CaptureFixture[str]) -> None:  # R12.1
    telemetry, _ = make()
    for days in (30.0, 2.5, 12.0):
        telemetry.count(Metric.PAYLOAD_LIFE_LEFT, days)
    telemetry.flush()
    (document,) = emitted(capsys.readouterr().out)
    assert document["PayloadLifeLeftDays"] == [2.5]


def test_nothing_counted_nothing_emitted_and_a_flush_starts_anew(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry, _ = make()
    telemetry.flush()
    telemetry.count(Metric.PROCESSED)
    telemetry.flush()
    telemetry.flush()
    telemetry.count(Metric.PROCESSED, 2)
    telemetry.flush()
    assert [document["Processed"] for document in emitted(capsys.readouterr().out)] == [[1.0], [2.0]]


def test_counting_is_safe_from_several_threads(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry, _ = make()

    def count() -> None:
        for _ in range(2000):
            telemetry.count(Metric.PROCESSED)

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    telemetry.flush()
    assert [document["Processed"] for document in emitted(capsys.readouterr().out)] == [[16_000.0]]


def test_spans_do_nothing_without_tracing() -> None:
    telemetry, _ = make()
    assert isinstance(telemetry.span("gate"), nullcontext)


def test_every_metric_has_a_unit_cloudwatch_knows() -> None:
    names = {value for name, value in vars(Metric).items() if name.isupper()}
    units = {name: rules.unit_of(name) for name in names}
    assert units["MessageAgeSeconds"] == "Seconds"
    assert units["FetchMilliseconds"] == "Milliseconds"
    assert units["PublishedBytes"] == "Bytes"
    assert units["UnknownSharePercent"] == "Percent"
    assert set(units.values()) == {"Count", "Bytes", "Seconds", "Milliseconds", "Percent"}


def test_fields_of_a_message_hide_the_key_and_the_payload() -> None:
    base = {"message_id": "m", "event_type": "E", "tenant_id": "t", "idempotency_key": "k"}
    claim = Claim(bucket="b", key="payloads/key", content_type="a/b", content_length=7, sha256="0" * 64)
    fields = rules.message_fields(Envelope(**base, payload=claim, domain_ref={"documentId": "d"}))  # type: ignore[arg-type]
    assert fields["payloadBucket"] == "b"
    assert fields["payloadSizeBytes"] == 7
    assert fields["domainRef"] == '{"documentId":"d"}'
    assert "payloads/key" not in str(fields)
    inline = Inline(content_type="application/json", body='"secret"')
    fields = rules.message_fields(Envelope(**base, payload=inline, domain_ref={}))  # type: ignore[arg-type]
    assert "secret" not in str(fields)
    assert fields.keys() <= rules.ALLOWED_FIELDS


def printed_by(script: str) -> set[str]:
    command = [sys.executable, "-c", script]
    found = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - scripts of our own
    return set(found.stdout.split())


def imported_by(statement: str) -> set[str]:
    return printed_by(f"import sys\n{statement}\nprint(*sorted(sys.modules))")


# FIELD: awslabs/amazon-sqs-python-extended-client-lib#27 (no side effect of an import)
def test_importing_the_library_imports_neither_boto3_nor_powertools() -> None:
    modules = imported_by("import claim_check")
    assert "claim_check.producer" in modules
    assert not modules & {"boto3", "botocore", "aws_lambda_powertools", "urllib3", "aws_cdk"}


def test_the_adapters_import_no_xray_pydantic_or_requests() -> None:
    modules = imported_by(
        "import claim_check.adapters.powertools as p, claim_check.adapters.session, claim_check.adapters.s3\n"
        "p.PowertoolsTelemetry(service='x')"
    )
    assert not modules & {"aws_xray_sdk", "pydantic", "requests", "msgspec"}


def test_one_session_and_one_client_per_service() -> None:
    script = """
import boto3, os, threading
os.environ.update(AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="x", AWS_DEFAULT_REGION="eu-west-1")
made = []
class Session(boto3.Session):
    def __init__(self, *a, **k): made.append(1); super().__init__(*a, **k)
boto3.Session = Session
from claim_check.adapters.session import shared
assert made == []
threads = [threading.Thread(target=lambda: (shared().s3, shared().sqs, shared().dynamodb)) for _ in range(5)]
[t.start() for t in threads]; [t.join() for t in threads]
assert shared().s3 is shared().s3
print(len(made))
"""
    assert printed_by(script) == {"1"}
