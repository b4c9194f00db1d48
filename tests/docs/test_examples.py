"""The snippets of the docs: they type-check, synthesize, and do what the pages say."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from claim_check import contract
from claim_check.errors import PayloadTooLarge
from claim_check.processor import Handler
from tests.docs.kit import ROOT
from tests.harness import BUCKET, EVENT_TYPE, TENANT, World
from tests.metric_sources import body_of, emits, watched

EXAMPLES = ROOT / "docs" / "examples"


def load(path: str) -> ModuleType:
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(f"example_{Path(path).stem}", EXAMPLES / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_examples_type_check() -> None:
    """Under the lock that the Makefile takes: two of them at once need more memory than most machines have."""
    with (ROOT / ".mypy_cache.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(  # noqa: S603 - our own files
            [
                *(sys.executable, "-m", "mypy", "docs/generate_reference.py", "docs/generate_roles.py"),
                *(str(path) for path in EXAMPLES.rglob("*.py") if not {".build", "forked_construct"} & set(path.parts)),
            ],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout


# --- Apps -----------------------------------------------------------------------------------------------------------


def synthesize(app: Path, output: Path) -> dict[str, Any]:
    """The template of an app's one stack. Built assets are shared with every other synthesis of the checkout."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CDK_")}
    done = subprocess.run(  # noqa: S603 - our own app
        [sys.executable, str(app)],
        cwd=ROOT,
        env=environment | {"CDK_OUTDIR": str(output), "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (template,) = output.glob("*.template.json")
    found: dict[str, Any] = json.loads(template.read_text())
    return found


def kinds(template: dict[str, Any]) -> list[str]:
    """Types of the resources."""
    return [resource["Type"] for resource in template["Resources"].values()]


def test_one_construct_is_a_queue_and_its_dlq(tmp_path: Path) -> None:
    made = kinds(synthesize(EXAMPLES / "one_construct" / "app.py", tmp_path))
    assert made.count("AWS::SQS::Queue") == 2
    assert "AWS::S3::Bucket" not in made


def test_two_pipelines_share_a_bucket_with_all_options(tmp_path: Path) -> None:
    template = synthesize(EXAMPLES / "options" / "app.py", tmp_path)
    assert kinds(template).count("AWS::S3::Bucket") == 2
    assert kinds(template).count("AWS::Lambda::EventSourceMapping") == 2
    alarms = [one["Properties"] for one in template["Resources"].values() if one["Type"] == "AWS::CloudWatch::Alarm"]
    assert alarms
    silent = [alarm for alarm in alarms if "AlarmActions" not in alarm]
    assert [alarm["MetricName"] for alarm in silent] == ["Redriven"] * 2, "one that informs, in each pipeline"


def test_a_watched_pipeline_has_a_topic_and_a_dashboard_with_a_row_of_its_own(tmp_path: Path) -> None:
    template = synthesize(EXAMPLES / "watched" / "app.py", tmp_path)
    assert {"AWS::SNS::Topic", "AWS::SNS::TopicPolicy", "AWS::SNS::Subscription"} <= set(kinds(template))
    (dashboard,) = (one for one in template["Resources"].values() if one["Type"] == "AWS::CloudWatch::Dashboard")
    titles = [one["properties"].get("title") for one in body_of(dashboard["Properties"])["widgets"]]
    assert titles[0] == "Alarms"
    assert titles[-1] == "Invoices paid"
    assert all(emits(*one.kind) for one in watched(template) if one.namespace != "Shop")


def test_a_reconciled_pipeline_has_alarms_and_a_role_that_can_remove_nothing(tmp_path: Path) -> None:  # R7.1
    template = synthesize(EXAMPLES / "reconciled" / "app.py", tmp_path)
    policies = {name: one for name, one in template["Resources"].items() if one["Type"] == "AWS::IAM::Policy"}
    (policy,) = (one for name, one in policies.items() if name.startswith("Reconciler"))
    assert "s3:Delete" not in str(policy)
    alarms = [one["Properties"] for one in template["Resources"].values() if one["Type"] == "AWS::CloudWatch::Alarm"]
    names = {"DeadPointers", "UnknownGrowthPercent", "ReconciliationAgeSeconds"}
    ours = [one for one in alarms if one["MetricName"] in names]
    assert len(ours) == len(names)
    assert all(one["AlarmActions"] for one in ours)


def test_of_two_ordered_pipelines_one_has_a_dlq_and_the_other_alarms(tmp_path: Path) -> None:
    template = synthesize(EXAMPLES / "ordered" / "app.py", tmp_path)
    queues = [one["Properties"] for one in template["Resources"].values() if one["Type"] == "AWS::SQS::Queue"]
    assert [queue["FifoQueue"] for queue in queues] == [True, True, True]
    alarms = {name for name, one in template["Resources"].items() if one["Type"] == "AWS::CloudWatch::Alarm"}
    for alarm in ("WaitAlarmsGroupBlocked", "WaitAlarmsHalfOfRetention", "WaitAlarmsQueueAge", "GoOnAlarmsDeadLetters"):
        assert any(name.startswith(alarm) for name in alarms), alarm


def test_a_pipeline_for_old_clients_has_a_bucket_that_they_can_write_to(tmp_path: Path) -> None:
    template = synthesize(EXAMPLES / "extended_client" / "app.py", tmp_path)
    policies = [one["Properties"] for one in template["Resources"].values() if one["Type"] == "AWS::S3::BucketPolicy"]
    assert sorted("if-none-match" in str(policy) for policy in policies) == [False, True]
    functions = [one["Properties"] for one in template["Resources"].values() if one["Type"] == "AWS::Lambda::Function"]
    (variables,) = [one["Environment"]["Variables"] for one in functions]
    assert variables[contract.Setting.ALLOW_UNVERIFIED] == "true"


def test_a_forked_queue_takes_the_place_of_ours(tmp_path: Path) -> None:
    """What the page says: copy one file, rename the class, change what you need."""
    source = (ROOT / "constructs" / "claim_check_cdk" / "message_queue.py").read_text()
    folder = tmp_path / "forked"
    folder.mkdir()
    fork = source.replace("class MessageQueue(", "class TeamQueue(").replace(
        "Duration.seconds(20)", "Duration.seconds(5)"
    )
    (folder / "team_queue.py").write_text(fork)
    app = (EXAMPLES / "forked_construct" / "app.py").read_text()
    handlers = f"Path({str(EXAMPLES / 'first_pipeline' / 'invoices')!r})"
    (folder / "app.py").write_text(app.replace('Path(__file__).parents[1] / "first_pipeline" / "invoices"', handlers))
    template = synthesize(folder / "app.py", tmp_path / "cdk.out")
    waits = [one["Properties"].get("ReceiveMessageWaitTimeSeconds") for one in template["Resources"].values()]
    assert 5 in waits
    assert 20 not in waits


# --- Handlers -------------------------------------------------------------------------------------------------------


def run(handler: Handler, content: bytes, *, world: World | None = None, **options: Any) -> World:  # noqa: ANN401 - of World
    """Send one payload through a consumer with this handler, once."""
    world = world or World()
    sha256 = hashlib.sha256(content).hexdigest()
    key = contract.object_key(tenant_id=TENANT, event_type=EVENT_TYPE, idempotency_key="event", sha256=sha256)
    world.objects._write(BUCKET, key, content, "application/octet-stream", {})
    world.send(world.envelope(identity="event", key=key, content_length=len(content), sha256=sha256))
    world.deliver(world.consumer(handler, **options))
    return world


INVOICE = json.dumps({"number": "2026-07", "total": 4200, "customer": "c-1"}).encode()


def test_an_invoice_is_three_writes_of_one_commit() -> None:
    world = run(load("handlers/book_invoice.py").handle, INVOICE)
    assert [write.action for write in world.table.applied] == ["Put", "ConditionCheck", "Update"]
    assert world.parked() == []


@pytest.mark.parametrize("write, code, parked", [(0, "BookedOtherwise", True), (1, "CustomerUnknown", False)])
def test_a_refused_write_means_what_the_handler_declared(write: int, code: str, parked: bool) -> None:  # noqa: FBT001 - a parameter of the test
    world = World()
    world.table.refuse_write = write
    run(load("handlers/book_invoice.py").handle, INVOICE, world=world)
    (row,) = world.table.rows.values()
    assert row.last_code == code
    assert (len(world.parked()) == 1) is parked
    assert world.table.applied == []


def test_a_mail_has_the_same_token_whenever_it_is_sent_again() -> None:
    sent: list[tuple[str, str]] = []

    class Mailer:
        """Fails once, after the mail left."""

        def send(self, text: str, *, idempotency_key: str) -> None:
            """Send, then perhaps fail."""
            sent.append((text, idempotency_key))
            if len(sent) == 1:
                raise TimeoutError

    world = World()
    handler = load("handlers/notify.py").Notify(Mailer()).handle
    world.send(world.envelope(b"12345"))
    world.settle(lambda: world.consumer(handler))
    assert [text for text, _ in sent] == ["5 bytes arrived for t-1"] * 2
    assert len({token for _, token in sent}) == 1


def test_a_slow_handler_stops_in_good_time_and_comes_again() -> None:
    handler = load("handlers/slow.py").handle
    world = World()
    world.send(world.envelope(b"x" * 200_000))
    assert len(world.deliver(world.consumer(handler), remaining=2.5)) == 1
    (row,) = world.table.rows.values()
    assert (row.state, row.last_code) == ("FAILED", "DeadlineExceeded")
    world.pass_time()
    assert world.deliver(world.consumer(handler)) == []
    assert [item["pages"] for item in world.table.items("pages")] == [4]


def archive() -> bytes:
    """A small archive of two files."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        file.writestr("a.txt", "a")
        file.writestr("b.txt", "b")
    return content.getvalue()


def test_whole_payloads() -> None:
    example = load("handlers/whole_file.py")
    world = run(example.in_memory, b"0123456789abc", access="memory")
    assert [item["first"] for item in world.table.items("archives")] == ["0123456789"]
    world = run(example.as_file, archive(), access="file")
    assert [item["files"] for item in world.table.items("archives")] == [2]
    world = run(example.not_at_all, b"12345", access="none")
    assert [item["size"] for item in world.table.items("archives")] == [5]
    assert "open" not in world.calls()


def test_read_takes_a_mebibyte_unless_told_otherwise() -> None:
    """What the page on handlers says of `read()` with payload access `stream`."""
    handler = load("handlers/whole_file.py").in_memory
    assert run(handler, b"x" * 2**20).parked() == []
    world = run(handler, b"x" * (2**20 + 1))
    assert [code for _, code in world.parked()] == [PayloadTooLarge.code]


def test_the_first_handler_counts_lines_and_refuses_what_is_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVOICES_TABLE", "invoices")
    handler = load("first_pipeline/invoices/handler.py").handle
    assert [item["lines"] for item in run(handler, b"a\nb\nc\n").table.items("invoices")] == [3]
    assert [code for _, code in run(handler, b"\xff\xfe").parked()] == ["NotText"]
