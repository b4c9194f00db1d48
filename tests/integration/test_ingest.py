"""The ingests, deployed: S3's real notifications, and crafted ones through the real queue (R10)."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final
from urllib.parse import quote_plus

import pytest
from rich.console import Console

from claim_check.adapters.ledger import DynamoDbLedger
from claim_check.aws_ingest import reconciliation
from claim_check.contract import Metric
from claim_check.dead_letters import parked_reason
from claim_check.delivery import Delivery, from_api
from claim_check.ingest.ports import LedgerRow
from claim_check_ops.local import EmbeddedAws
from claim_check_ops.local.ingest_run import IngestDeployment, IngestRun, find_ingests
from claim_check_ops.local.progress import progress_bar
from claim_check_ops.local.waiting import wait_until
from claim_check_ops.telemetry import SilentTelemetry

pytestmark = pytest.mark.integration

SECONDS: Final = 60.0


@pytest.fixture(scope="module")
def ingests(embedded_aws: EmbeddedAws, outputs: list[Mapping[str, str]]) -> list[IngestDeployment]:
    """Both ingests, deployed."""
    return find_ingests(embedded_aws, outputs)


@pytest.fixture(scope="module")
def direct(ingests: list[IngestDeployment]) -> IngestDeployment:
    """The one that S3 notifies."""
    return ingests[0]


@pytest.fixture(scope="module")
def ingest_run(ingests: list[IngestDeployment]) -> IngestRun:
    """One run of the objects of ``make run``."""
    result = IngestRun(ingests)
    with progress_bar(Console(quiet=True)) as bar:
        result.execute(bar)
    return result


def test_every_object_ends_as_it_must(ingest_run: IngestRun) -> None:  # R10.1, R10.2, R13.2
    assert ingest_run.problems == []
    assert {case: seen.problems for (_, case), seen in ingest_run.seen.items() if seen.problems} == {}
    assert ingest_run.succeeded


def test_a_lost_notification_is_found_by_the_reconciliation(ingest_run: IngestRun) -> None:  # R10.3
    assert ingest_run.seen["S3", "notification lost"].ledger == "present: Reconciliation"


def test_the_run_fails_where_the_ledger_is_wrong(ingests: list[IngestDeployment]) -> None:
    run = IngestRun(ingests)
    with progress_bar(Console(quiet=True)) as bar:
        run.execute(bar)
    one = run.dropped[0]
    one.where.aws.dynamodb.delete_item(TableName=one.where.table, Key={"pk": {"S": one.key}})
    assert run.succeeded
    assert "inventory" in str(run._look(one).problems)


# --- Crafted notifications ------------------------------------------------------------------------------------------


def record(where: IngestDeployment, key: str, *, name: str = "ObjectCreated:Put", **of_object: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """A record as S3 writes it."""
    return {
        "eventVersion": "2.1",
        "eventSource": "aws:s3",
        "eventTime": "2026-11-30T06:24:30.561Z",
        "eventName": name,
        "s3": {
            "bucket": {"name": where.settings.bucket},
            "object": {"key": quote_plus(key, safe="/"), **of_object},
        },
    }


def send(where: IngestDeployment, body: object) -> str:
    """Put a message into an ingest's queue; its id."""
    text = body if isinstance(body, str) else json.dumps(body)
    return where.aws.sqs.send_message(QueueUrl=where.settings.queue_url, MessageBody=text)["MessageId"]


def written(where: IngestDeployment, content: bytes, *, quietly: bool = True) -> tuple[str, dict[str, Any]]:
    """An object outside of what S3 notifies of, and what a notification would say of it."""
    key = f"{'quiet' if quietly else 'incoming'}/{uuid.uuid4().hex} +ü.txt"
    answer = where.aws.s3.put_object(Bucket=where.settings.bucket, Key=key, Body=content)
    etag = answer["ETag"].strip('"')
    return key, {"size": len(content), "eTag": etag, "versionId": answer["VersionId"]}


def row_of(where: IngestDeployment, key: str) -> LedgerRow | None:
    """The ledger's row."""
    ledger = DynamoDbLedger(where.aws.dynamodb, where.settings.ledger_table)
    return ledger.read(bucket=where.settings.bucket, key=key)


def listed(where: IngestDeployment, key: str) -> Any:  # noqa: ANN401 - an item
    """The handler's row."""
    answer = where.aws.dynamodb.get_item(TableName=where.table, Key={"pk": {"S": key}}, ConsistentRead=True)
    return answer.get("Item")


def counted(where: IngestDeployment, metric: str) -> float:
    """Sum of a metric that the ingester emitted so far."""
    name = where.aws.lambda_.list_functions()["Functions"]
    (function,) = [
        one["FunctionName"]
        for one in name
        if one.get("Environment", {}).get("Variables", {}).get("CLAIM_CHECK_INGEST") == where.settings.name
        and "CLAIM_CHECK_INGEST_PUT" in one["Environment"]["Variables"]
    ]
    return sum(sum(one.get(metric, [])) for one in where.aws.lambda_metrics(function))


def parked(where: IngestDeployment) -> dict[str, str]:
    """Codes of what lies in the DLQ, by the id of the message that was parked."""
    found: dict[str, str] = {}
    while messages := where.aws.sqs.receive_message(
        QueueUrl=where.settings.dlq_url or "",
        MaxNumberOfMessages=10,
        VisibilityTimeout=1,
        AttributeNames=["All"],
        MessageAttributeNames=["All"],
    ).get("Messages", []):
        reasons = [parked_reason(_delivery(message)) for message in messages]
        found |= {reason.original_message_id: reason.error_code for reason in reasons if reason}
    return found


def _delivery(message: Any) -> Delivery:  # noqa: ANN401 - boto3's message
    return from_api(message, queue="")


@pytest.mark.parametrize("seed", range(6))
def test_an_object_s_events_in_any_order_leave_the_newest(direct: IngestDeployment, seed: int) -> None:  # R10.2
    """Put, overwritten, deleted, put again: the worked example, shuffled and each twice."""
    key = f"quiet/{uuid.uuid4().hex}"
    place: Any = {"Bucket": direct.settings.bucket, "Key": key}
    said = []
    for number, content in enumerate((b"one", b"two", None, b"three")):
        sequencer = {"sequencer": f"0055AED6DCD9028{number}E5"}
        if content is None:
            marker = direct.aws.s3.delete_object(**place)["VersionId"]
            said.append(
                record(direct, key, name="ObjectRemoved:DeleteMarkerCreated", versionId=marker, eTag="", **sequencer)
            )
            continue
        answer = direct.aws.s3.put_object(**place, Body=content)
        facts: dict[str, Any] = {
            "size": len(content),
            "eTag": answer["ETag"].strip('"'),
            "versionId": answer["VersionId"],
        }
        said.append(record(direct, key, **facts, **sequencer))
    newest = said[-1]["s3"]["object"]
    shuffled = [*said, *said]
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - repeatable on purpose
    for one in shuffled:
        send(direct, {"Records": [one]})

    def settled() -> bool:
        row, item = row_of(direct, key), listed(direct, key)
        return row is not None and row.version_id == newest["versionId"] and item is not None and empty(direct)

    wait_until(settled, what="the newest version", timeout=SECONDS)
    assert listed(direct, key)["versionId"] == {"S": newest["versionId"]}
    assert listed(direct, key)["size"] == {"N": "5"}


def empty(where: IngestDeployment) -> bool:
    """Whether the queue holds nothing, hidden messages included."""
    answer = where.aws.sqs.get_queue_attributes(
        QueueUrl=where.settings.queue_url,
        AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
    )
    return all(int(number) == 0 for number in answer["Attributes"].values())


def test_every_way_of_a_notification_is_understood(direct: IngestDeployment) -> None:  # R10.1
    keys, bodies = [], []
    for number in range(4):
        key, facts = written(direct, b"hello")
        keys.append(key)
        one = record(direct, key, **facts, sequencer=f"0055AED6DCD90281E{number}")
        event_bridge = {
            "id": str(uuid.uuid4()),
            "source": "aws.s3",
            "detail-type": "Object Created",
            "detail": {
                "bucket": {"name": direct.settings.bucket},
                "object": {
                    "key": key,
                    "size": facts["size"],
                    "etag": facts["eTag"],
                    "version-id": facts["versionId"],
                    "sequencer": "0055AED6DCD90281E5",
                },
                "reason": "PutObject",
            },
        }
        sns = {"Type": "Notification", "TopicArn": "arn:aws:sns:x", "Message": json.dumps({"Records": [one]})}
        bodies.append([{"Records": [one]}, sns, event_bridge, one][number])
    several = {"Records": [bodies.pop()]}
    extra, facts = written(direct, b"hello")
    several["Records"].append(record(direct, extra, **facts, sequencer="0055AED6DCD90281E9"))
    for body in (*bodies, several):
        send(direct, body)
    for key in (*keys, extra):
        wait_until(partial(listed, direct, key), what="every way to arrive", timeout=SECONDS)


def test_what_is_no_event_of_content_is_acknowledged_and_counted(direct: IngestDeployment) -> None:
    before = {metric: counted(direct, metric) for metric in (Metric.INGEST_IGNORED, Metric.INGEST_UNKNOWN)}
    send(direct, {"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": direct.settings.bucket})
    send(direct, {"Records": [record(direct, "quiet/x", name="ObjectTagging:Put", eTag="0" * 32)]})
    send(direct, {"Records": [record(direct, "quiet/x", name="ObjectAnnotated:Put")]})

    def told() -> bool:
        return (
            counted(direct, Metric.INGEST_IGNORED) >= before[Metric.INGEST_IGNORED] + 2
            and counted(direct, Metric.INGEST_UNKNOWN) >= before[Metric.INGEST_UNKNOWN] + 1
        )

    wait_until(told, what="the counts", timeout=SECONDS)
    wait_until(lambda: empty(direct), what="an empty queue", timeout=SECONDS)


@pytest.mark.parametrize("body", ["no JSON", "{}", '{"Records": 5}', '{"Records": [{"s3": {}}]}'])
def test_what_is_no_notification_is_parked(direct: IngestDeployment, body: str) -> None:
    message_id = send(direct, body)
    found = wait_until(lambda: parked(direct).get(message_id), what="the parked message", timeout=SECONDS)
    assert found == "InvalidNotification"


def test_a_notification_of_another_bucket_is_parked(direct: IngestDeployment) -> None:
    foreign = record(direct, "incoming/x", size=1, eTag="0" * 32, sequencer="01")
    foreign["s3"]["bucket"]["name"] = "somebody-elses"
    message_id = send(direct, {"Records": [foreign]})
    found = wait_until(lambda: parked(direct).get(message_id), what="the parked message", timeout=SECONDS)
    assert found == "UntrustedReference"


def test_what_a_lifecycle_rule_removed_is_gone(direct: IngestDeployment) -> None:
    key, facts = written(direct, b"hello")
    send(direct, {"Records": [record(direct, key, **facts, sequencer="0055AED6DCD90281E1")]})
    wait_until(lambda: listed(direct, key), what="the object", timeout=SECONDS)
    marker = direct.aws.s3.delete_object(Bucket=direct.settings.bucket, Key=key)["VersionId"]
    expired = record(
        direct, key, name="LifecycleExpiration:DeleteMarkerCreated", versionId=marker, sequencer="0055AED6DCD90281E2"
    )
    send(direct, {"Records": [expired]})
    wait_until(lambda: listed(direct, key) is None, what="its removal", timeout=SECONDS)
    row = row_of(direct, key)
    assert row is not None
    assert row.object is None
    assert row.ttl is not None


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_five_thousand_keys_are_reconciled(ingests: list[IngestDeployment]) -> None:  # R10.3
    """Of a bucket that was there before the ingest, in one run; the second finds nothing."""
    where = ingests[1]
    name = f"five-thousand-{uuid.uuid4().hex[:8]}"
    where.aws.s3.create_bucket(Bucket=name)
    queue = where.aws.sqs.create_queue(QueueName=name)["QueueUrl"]
    for number in range(5000):
        where.aws.s3.put_object(Bucket=name, Key=f"{number:05}", Body=b"x")
    settings = replace(where.reconciliation, name=name, bucket=name, queue_url=queue, grace_seconds=0, rate=3000)
    found = reconciliation(settings, clients=where.session, telemetry=SilentTelemetry()).run(anew=True)
    assert (found.listed, found.new, found.complete) == (5000, 5000, True)
    counts = where.aws.sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["ApproximateNumberOfMessages"])
    assert counts["Attributes"]["ApproximateNumberOfMessages"] == "5000"
