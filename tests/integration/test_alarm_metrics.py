"""Every metric that an alarm watches is one that the code or AWS really emits (R12.1)."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from urllib3 import HTTPResponse

from claim_check import Claim, Envelope
from claim_check.adapters.powertools import PowertoolsTelemetry
from claim_check.adapters.session import Clients
from claim_check.aws import consumer
from claim_check.contract import METRIC_DIMENSION, METRIC_NAMESPACE, ErrorCode, Metric, object_key
from claim_check.delivery import Delivery
from claim_check.envelope import encode
from claim_check_ops.local import wait_until
from claim_check_ops.local.deployment import Deployment
from claim_check_ops.local.documents_run import DocumentsRun
from tests.metric_sources import emits, services, watched

pytestmark = pytest.mark.integration


def emitted(documents: list[dict[str, Any]]) -> set[tuple[str, str, tuple[str, ...]]]:
    """Namespace, name and dimensions of every metric in captured EMF; a dimension must have a value."""
    found = set()
    for document in documents:
        for directive in document["_aws"]["CloudWatchMetrics"]:
            for dimensions in directive["Dimensions"]:
                assert all(document[dimension] for dimension in dimensions)
                found |= {(directive["Namespace"], one["Name"], tuple(dimensions)) for one in directive["Metrics"]}
    return found


def denied_read(documents: Deployment, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """EMF of a consumer whose read S3 denies; the embedded AWS denies nobody, so the answer is made up."""
    clients = Clients(documents.aws.session)

    def deny(request: AWSPreparedRequest, **_: object) -> AWSResponse:
        body = io.BytesIO(b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
        return AWSResponse(request.url, 403, HTTPHeaders(), HTTPResponse(body=body, status=403, preload_content=False))

    clients.s3.meta.events.register("before-send.s3.GetObject", deny)  # type: ignore[arg-type]  # it may answer
    telemetry = PowertoolsTelemetry(service=documents.consumer.consumer)
    denied = consumer(documents.consumer, handler=lambda *_: None, clients=clients, telemetry=telemetry)
    claim = Claim(
        bucket=documents.consumer.bucket,
        key=object_key(tenant_id="t-1", event_type="Denied", idempotency_key="denied", sha256="0" * 64),
        content_type="text/plain",
        content_length=1,
        sha256="0" * 64,
    )
    envelope = Envelope(
        message_id="denied",
        event_type="Denied",
        tenant_id="t-1",
        idempotency_key="denied",
        payload=claim,
        domain_ref={},
    )
    capsys.readouterr()
    delivery = Delivery(sqs_message_id="denied", receipt_handle="none", body=encode(envelope))
    (outcome,) = denied.handle([delivery], remaining_seconds=30)
    assert not outcome.acknowledged
    lines = capsys.readouterr().out.splitlines()
    return [json.loads(line) for line in lines if '"_aws"' in line]


def blocked_group(blocking: Deployment) -> list[dict[str, Any]]:
    """EMF of a consumer that may park nothing, and has met a message that cannot succeed."""
    blocking.aws.sqs.send_message(
        QueueUrl=blocking.consumer.queue_url, MessageBody="{", MessageGroupId="bad", MessageDeduplicationId="bad"
    )

    def told() -> list[dict[str, Any]]:
        found = blocking.aws.lambda_metrics(blocking.consumer_function)
        return found if any(Metric.GROUP_BLOCKED in document for document in found) else []

    emf = wait_until(told, what="a blocked group to be told of", timeout=60)
    blocking.aws.sqs.purge_queue(QueueUrl=blocking.consumer.queue_url)  # it would block its group for good
    return emf


def test_no_alarm_watches_a_metric_that_nobody_emits(
    *,
    documents: Deployment,
    blocking: Deployment,
    assembly: Path,
    blocking_assembly: Path,
    run: DocumentsRun,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run.succeeded
    captured = documents.aws.lambda_metrics(documents.consumer_function)
    captured += denied_read(documents, capsys)
    captured += blocked_group(blocking)
    captured += documents.aws.lambda_metrics(documents.producer_function)
    found = emitted(captured)
    templates = [*assembly.glob("*.template.json"), *blocking_assembly.glob("*.template.json")]
    assert len(templates) >= 3
    every = [one for path in templates for one in watched(json.loads(path.read_text(encoding="utf-8")))]
    assert [(one.where, one.kind) for one in every if one.kind not in found and not emits(*one.kind)] == []
    own = {one.kind for one in every if one.namespace == METRIC_NAMESPACE}
    assert {ErrorCode.MISSING_PAYLOAD, ErrorCode.CHECKSUM_MISMATCH, ErrorCode.ACCESS_DENIED} <= {
        name for _, name, _ in own & found
    }
    seen = {Metric.GROUP_BLOCKED, Metric.PAYLOAD_LIFE_LEFT, Metric.NEW, Metric.PROCESSED, Metric.PUBLISHED}
    assert seen <= {name for _, name, _ in own & found}, "watched as the deployed functions emit them"


def test_the_deployed_functions_emit_under_the_names_that_are_watched(
    documents: Deployment, assembly: Path, run: DocumentsRun
) -> None:
    assert run.succeeded
    emf = [
        document
        for function in (documents.consumer_function, documents.producer_function)
        for document in documents.aws.lambda_metrics(function)
    ]
    names = {document[METRIC_DIMENSION] for document in emf}
    (template,) = (json.loads(path.read_text(encoding="utf-8")) for path in assembly.glob("Documents.template.json"))
    assert {"documents", "documents-producer"} <= names <= services(template)


def test_the_dashboards_were_deployed(documents: Deployment) -> None:
    """Each with the body of its template, references resolved."""
    cloudwatch = documents.aws.cloudwatch
    names = [one["DashboardName"] for one in cloudwatch.list_dashboards()["DashboardEntries"]]
    assert len(names) >= 2
    for name in names:
        body = json.loads(cloudwatch.get_dashboard(DashboardName=name)["DashboardBody"])
        widgets = body["widgets"]
        assert len(widgets) > 10
        assert "Fn::" not in json.dumps(body)
        arns = [arn for one in widgets if one["type"] == "alarm" for arn in one["properties"]["alarms"]]
        assert arns
        assert all(arn.startswith("arn:aws:cloudwatch:") for arn in arns)
