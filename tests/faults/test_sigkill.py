"""A real worker process on real adapters is killed by SIGKILL between any two calls it makes.

The calls are recorded from a pass in which nobody is killed. A dead process has forgotten which answers it saw, so that
to be killed after a call took effect is to be killed before the next one; the last call has no next, so it is killed
after that one, too. After each kill another worker takes over: then every effect exists exactly once, the queue is
empty, and only what is bad lies in the DLQ, with its reason (R4.1).
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import boto3
import pytest

from claim_check import contract
from claim_check.adapters.session import Clients
from claim_check.contract import ErrorCode, InboxAttribute
from claim_check.envelope import Claim, Envelope, Inline, encode
from claim_check_ops.local import EmbeddedAws
from tests.faults.killable_worker import STOPPED, Calls, Place, arguments, work

pytestmark = [pytest.mark.integration, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
WORKER = Path(__file__).with_name("killable_worker.py")
REGION = "us-east-1"
TENANT, EVENT_TYPE = "t-1", "DocumentUploaded"
CONTENT = b"a payload that is read in one piece"
PATIENCE_SECONDS = 60.0
AN_HOUR = 3600.0


@pytest.fixture(scope="module")
def aws() -> Iterator[EmbeddedAws]:
    """An embedded AWS of its own."""
    with EmbeddedAws() as started:
        yield started


@pytest.fixture(scope="module")
def clients(aws: EmbeddedAws) -> Clients:
    """The library's own clients."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in aws.environment().items():
            patch.setenv(name, value)
        found = Clients(boto3.Session(region_name=REGION))
        assert all(one.meta.endpoint_url == aws.endpoint_url for one in (found.s3, found.sqs, found.dynamodb))
    return found


def make_place(clients: Clients) -> Place:
    """Queues, bucket and tables of one pass, and a message of every kind in the source queue."""
    name = uuid.uuid4().hex[:12]
    place = Place(
        queue_url=clients.sqs.create_queue(QueueName=f"{name}-source", Attributes={"VisibilityTimeout": "1"})[
            "QueueUrl"
        ],
        dlq_url=clients.sqs.create_queue(QueueName=f"{name}-dlq")["QueueUrl"],
        bucket=f"{name}-payloads",
        inbox=f"{name}-inbox",
        documents=f"{name}-documents",
    )
    clients.s3.create_bucket(Bucket=place.bucket)
    for table in (place.inbox, place.documents):
        clients.dynamodb.create_table(
            TableName=table,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        )
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    key = contract.object_key(tenant_id=TENANT, event_type=EVENT_TYPE, idempotency_key="claim", sha256=sha256)
    clients.s3.put_object(Bucket=place.bucket, Key=key, Body=CONTENT, ContentType="text/plain")
    claim = Claim(bucket=place.bucket, key=key, content_type="text/plain", content_length=len(CONTENT), sha256=sha256)
    bodies = [encode(envelope("claim", claim)), *(encode(envelope(name)) for name in ("flaky", "poison")), "nonsense"]
    for body in bodies:
        clients.sqs.send_message(QueueUrl=place.queue_url, MessageBody=body)
    return place


def envelope(name: str, payload: Inline | Claim | None = None) -> Envelope:
    return Envelope(
        message_id=name,
        event_type=EVENT_TYPE,
        tenant_id=TENANT,
        idempotency_key=name,
        payload=payload or Inline(content_type="application/json", body="{}"),
        domain_ref={},
    )


def check(place: Place, clients: Clients) -> None:
    """What there must be in the end."""
    effects = clients.dynamodb.scan(TableName=place.documents, ConsistentRead=True)["Items"]
    assert {item["pk"]["S"]: item["times"]["N"] for item in effects} == {"claim": "1", "flaky": "1"}
    copies = clients.sqs.receive_message(QueueUrl=place.dlq_url, MaxNumberOfMessages=10, MessageAttributeNames=["All"])[
        "Messages"
    ]
    reasons = [json.loads(copy["MessageAttributes"]["parked"]["StringValue"])["errorCode"] for copy in copies]
    assert set(reasons) == {"Unreadable", ErrorCode.INVALID_ENVELOPE}
    assert all(reasons.count(reason) <= 2 for reason in reasons), "at worst two copies"
    rows = clients.dynamodb.scan(TableName=place.inbox, ConsistentRead=True)["Items"]
    states = sorted(row[InboxAttribute.STATE]["S"] for row in rows)
    assert states == ["COMPLETED", "COMPLETED", "PARKED", "PARKED"]


def kill_at(index: int, *, after: bool, aws: EmbeddedAws, clients: Clients) -> list[str]:
    """Start a worker, kill it at a call, let another one finish. Returns the calls that the first one made."""
    place = make_place(clients)
    environment = aws.process_environment() | {"PYTHONPATH": os.pathsep.join([str(ROOT / "lambda_src"), str(ROOT)])}
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, str(WORKER), arguments(place, stop_at=index, after=after)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        watchdog = threading.Timer(PATIENCE_SECONDS, process.kill)
        watchdog.start()
        assert process.stdout is not None
        lines: list[str] = []
        for line in process.stdout:
            if line.strip() == STOPPED:
                process.kill()
            else:
                lines.append(line.strip())
        watchdog.cancel()
    assert process.returncode == -9, "killed, and by nothing else"
    work(place, clients, Calls(lambda _: None), ahead=AN_HOUR)
    check(place, clients)
    return lines


def test_a_worker_killed_at_every_call(aws: EmbeddedAws, clients: Clients, capsys: pytest.CaptureFixture[str]) -> None:
    recorded: list[str] = []
    place = make_place(clients)
    work(place, clients, Calls(recorded.append))
    check(place, clients)
    assert {"take", "open", "read", "complete", "replace", "send_batch", "change_visibility", "delete_message"} == set(
        recorded
    )

    def kill(boundary: tuple[int, bool]) -> None:
        index, after = boundary
        try:
            lines = kill_at(index, after=after, aws=aws, clients=clients)
            assert len(lines) == index + 1, "it stopped at the call that was chosen"
        except AssertionError as error:
            error.add_note(f"killed {'after' if after else 'before'} call {index} of {recorded}")
            raise

    boundaries = [(index, False) for index in range(len(recorded))] + [(len(recorded) - 1, True)]
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(kill, boundaries):
            pass
    with capsys.disabled():
        print(f"\nSIGKILL: {len(recorded)} calls, a process killed at each of {len(boundaries)} boundaries")  # noqa: T201 - to be seen
