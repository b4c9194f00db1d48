"""``claim-check status`` and ``inbox`` as people and scripts use them: against the deployed application (R4.3, R12)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from claim_check import Event
from claim_check.aws import producer
from claim_check_examples.documents import UnreadableFile
from claim_check_ops.local import wait_until
from claim_check_ops.local.deployment import Deployment
from claim_check_ops.telemetry import SilentTelemetry

pytestmark = pytest.mark.integration

COMMAND = Path(sys.executable).parent / "claim-check"
TENANT = "tenant-looked-at"


def run(documents: Deployment, *arguments: str) -> tuple[int, str]:
    """Exit code and output of a command."""
    environment = documents.aws.process_environment() | {"PATH": os.environ["PATH"]}
    done = subprocess.run(  # noqa: S603 - our own command
        [COMMAND, *arguments], capture_output=True, env=environment, check=False, timeout=120, text=True
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout or done.stderr


def publish(documents: Deployment, content: bytes) -> str:
    """Publish a table; its event's id."""
    publisher = producer(documents.producer, clients=documents.clients, telemetry=SilentTelemetry())
    event = Event(
        tenant_id=TENANT,
        event_type="Export",
        payload=content,
        content_type="text/csv",
        message_id=f"looked-at-{uuid.uuid4().hex}",
    )
    return publisher.publish(event).message_id


def row(documents: Deployment, message_id: str, state: str) -> dict[str, Any]:
    """What ``inbox show`` says of an event, once it is in a state."""

    def look() -> dict[str, Any] | None:
        _, out = run(documents, "inbox", "show", message_id, "--tenant", TENANT, *who(documents), "--json")
        rows = [one for one in json.loads(out.partition("\nThe inbox")[0])["rows"] if one["state"] == state]
        return rows[0] if rows else None

    return wait_until(look, what=f"the row to be {state}", timeout=120, interval=1)


def who(documents: Deployment) -> tuple[str, str]:
    """Options that name the consumer."""
    return "--consumer", documents.consumer.consumer


def test_an_event_is_shown_and_what_is_not_completed_is_listed(documents: Deployment) -> None:
    good, bad = publish(documents, b"a,b\n1,2\n"), publish(documents, b"a,b\n\xff\xfe,1\n")
    assert row(documents, good, "COMPLETED")["attempts"] == 1
    parked = row(documents, bad, "PARKED")
    assert parked["lastCode"] == UnreadableFile.code
    assert not {"payloadKey", "fingerprint", "owner"} & parked.keys()

    _, out = run(
        documents, "inbox", "list", *who(documents), "--tenant", TENANT, "--code", UnreadableFile.code, "--json"
    )
    assert bad in {one["messageId"] for one in json.loads(out)["rows"]}
    assert good not in out
    code, out = run(documents, "inbox", "show", parked["sqsMessageId"], "--function", documents.consumer_function)
    assert code == 0
    assert bad in out

    code, out = run(documents, "status", *who(documents), "--json")
    (status,) = json.loads(out)["consumers"]
    assert (code, status["problems"]) == (1, ["dead letters"])
    assert status["polling"] == ["Enabled"]
    assert status["dlq"]["visible"] + status["dlq"]["inFlight"] >= 1
    assert status["inbox"]["parked"][UnreadableFile.code] >= 1


def test_all_consumers_are_shown_and_one_of_several_must_be_named(documents: Deployment) -> None:
    _, out = run(documents, "status", "--json")
    names = {one["consumer"] for one in json.loads(out)["consumers"]}
    assert {documents.consumer.consumer, "wallet"} <= names
    code, out = run(documents, "inbox", "list")
    assert code == 2
    assert "wallet" in out
