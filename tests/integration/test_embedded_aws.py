"""The embedded AWS itself: it starts clean, it can be looked into, it ends without a trace; and both ways to deploy."""

import json
import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claim_check_ops.local import (
    CdkCli,
    CdkCliError,
    DeployedStack,
    DeploymentError,
    EmbeddedAws,
    EmbeddedAwsError,
    deploy_assembly,
    wait_until,
)

pytestmark = pytest.mark.integration

SCRATCH = Path(__file__).parent / "apps" / "scratch"


@pytest.fixture(scope="module")
def assembly(embedded_aws: EmbeddedAws, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scratch app, synthesized by the real command line."""
    return CdkCli(embedded_aws, SCRATCH, output=tmp_path_factory.mktemp("scratch") / "cdk.out").synth()


@pytest.fixture(scope="module")
def stack(embedded_aws: EmbeddedAws, assembly: Path) -> DeployedStack:
    """The scratch stack, deployed with boto3."""
    return deploy_assembly(embedded_aws, assembly)["Scratch"]


@pytest.fixture(scope="module")
def enforcing(assembly: Path) -> Iterator[tuple[EmbeddedAws, DeployedStack]]:
    """An embedded AWS that enforces IAM, with the scratch stack in it."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    with EmbeddedAws(enforce_iam=True) as aws:
        yield aws, deploy_assembly(aws, assembly)["Scratch"]


def send(aws: EmbeddedAws, stack: DeployedStack, body: str) -> dict[str, Any]:
    """Send a message; return what the function printed about it, once it was copied."""
    message_id = aws.sqs.send_message(QueueUrl=stack.outputs["QueueUrl"], MessageBody=body)["MessageId"]
    bucket = stack.outputs["BucketName"]
    wait_until(
        lambda: [
            found["Key"] for found in aws.s3.list_objects_v2(Bucket=bucket, Prefix=message_id).get("Contents", [])
        ],
        what="the copy of the message",
    )
    assert aws.s3.get_object(Bucket=bucket, Key=message_id)["Body"].read().decode() == body
    name = stack.outputs["FunctionName"]
    lines = wait_until(
        lambda: [line for line in aws.lambda_logs(name) if line.startswith('{"closed"')], what="the function's output"
    )
    printed: dict[str, Any] = json.loads(lines[-1])
    return printed


def alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not yet collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_mapping_feeds_the_function_and_its_output_can_be_read(
    embedded_aws: EmbeddedAws, stack: DeployedStack
) -> None:
    printed = send(embedded_aws, stack, "häll✓")
    assert printed["closed"] == "allowed"
    metric = embedded_aws.lambda_metrics(stack.outputs["FunctionName"])[-1]
    assert metric["Copied"] == 1
    assert metric["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "Scratch"


def test_a_function_that_never_ran_has_printed_nothing(embedded_aws: EmbeddedAws) -> None:
    assert embedded_aws.lambda_logs("there-is-no-such-function") == []


def test_nothing_of_our_environment_reaches_the_functions(assembly: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAKED_SECRET", "x")
    monkeypatch.setenv("AWS_PROFILE_OF_SOMEBODY", "x")
    with EmbeddedAws() as aws:
        printed = send(aws, deploy_assembly(aws, assembly)["Scratch"], "hello")
    assert "AWS_ENDPOINT_URL" in printed["environment"]
    assert not {"LEAKED_SECRET", "AWS_PROFILE_OF_SOMEBODY"} & set(printed["environment"])


def test_iam_is_enforced_when_asked_for(enforcing: tuple[EmbeddedAws, DeployedStack]) -> None:
    aws, stack = enforcing
    assert aws.endpoint_url.startswith("https://")
    assert send(aws, stack, "hello")["closed"] == "AccessDenied"


def test_it_listens_on_loopback_only(embedded_aws: EmbeddedAws) -> None:
    port = int(embedded_aws.endpoint_url.rpartition(":")[2])
    lines = Path("/proc/net/tcp").read_text(encoding="utf-8").splitlines()
    listening = [line.split()[1] for line in lines if line.split()[3] == "0A" and f":{port:04X} " in line]
    assert listening == [f"0100007F:{port:04X}"]


def test_reset_forgets_everything() -> None:
    with EmbeddedAws() as aws:
        aws.s3.create_bucket(Bucket="forgotten")
        aws.reset()
        assert aws.s3.list_buckets()["Buckets"] == []


def test_it_ends_without_a_trace_functions_included(assembly: Path) -> None:
    aws = EmbeddedAws()
    aws.start()
    send(aws, deploy_assembly(aws, assembly)["Scratch"], "hello")
    group, folder = aws.pid, aws.folder
    assert alive(group)
    aws.stop()
    aws.stop()
    assert not aws.running
    assert not folder.exists()
    wait_until(lambda: not group_exists(group), what="the end of the process group")
    with pytest.raises(EmbeddedAwsError, match="not running"):
        _ = aws.endpoint_url


def group_exists(group: int) -> bool:
    """Whether any process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_it_can_be_started_again_but_not_twice() -> None:
    aws = EmbeddedAws()
    for _ in range(2):
        with aws:
            assert aws.s3.list_buckets()["Buckets"] == []
            with pytest.raises(EmbeddedAwsError, match="running already"):
                aws.start()


def test_it_ends_with_a_parent_that_was_killed() -> None:
    program = (
        "import sys\n"
        "from claim_check_ops.local import EmbeddedAws\n"
        "aws = EmbeddedAws()\n"
        "aws.start()\n"
        "print(aws.pid, aws.folder, flush=True)\n"
        "sys.stdin.read()\n"
    )
    ops = Path(__file__).resolve().parents[2] / "ops"
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ops)},
    ) as parent:
        assert parent.stdout is not None
        pid, folder = parent.stdout.readline().split()
        assert alive(int(pid))
        parent.send_signal(signal.SIGKILL)
    wait_until(lambda: not alive(int(pid)), what="the end of the embedded AWS")
    shutil.rmtree(folder)


def test_a_missing_environment_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedAwsError, match="make setup"):
        EmbeddedAws(python=tmp_path / "python").start()


def test_a_start_that_fails_shows_the_log(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho this is the reason\nexit 3\n", encoding="utf-8")
    broken.chmod(0o755)
    aws = EmbeddedAws(python=broken)
    with pytest.raises(EmbeddedAwsError, match="this is the reason"):
        aws.start()
    assert not aws.running


def test_a_child_process_sees_this_aws_and_no_other(embedded_aws: EmbeddedAws) -> None:
    environment = embedded_aws.process_environment(
        {"AWS_PROFILE": "production", "AWS_CA_BUNDLE": "theirs", "HOME": "/h"}
    )
    assert environment["HOME"] == "/h"
    assert environment["AWS_ENDPOINT_URL"] == embedded_aws.endpoint_url
    assert not {"AWS_PROFILE", "AWS_CA_BUNDLE"} & environment.keys()


def test_resources_are_found_by_logical_id(stack: DeployedStack) -> None:
    assert stack.physical_id("Queue") == stack.outputs["QueueUrl"]
    assert stack.physical_id("Function", resource_type="AWS::Lambda::Function") == stack.outputs["FunctionName"]
    with pytest.raises(LookupError, match="0 resources"):
        stack.physical_id("Nothing")


def test_deploying_twice_changes_nothing(embedded_aws: EmbeddedAws, assembly: Path, stack: DeployedStack) -> None:
    assert deploy_assembly(embedded_aws, assembly, stacks=["Scratch"])["Scratch"] == stack


def test_a_stack_that_is_not_there(embedded_aws: EmbeddedAws, assembly: Path) -> None:
    with pytest.raises(LookupError, match="there are: Scratch"):
        deploy_assembly(embedded_aws, assembly, stacks=["Other"])


@pytest.mark.parametrize(
    "resource",
    [
        pytest.param({"Type": "AWS::Nothing::AtAll"}, id="refused at once"),
        pytest.param(
            {"Type": "AWS::Lambda::Url", "Properties": {"AuthType": "NONE", "TargetFunctionArn": "no-such-function"}},
            id="fails on the way",
        ),
    ],
)
def test_a_stack_that_fails_says_why(
    embedded_aws: EmbeddedAws, assembly: Path, tmp_path: Path, resource: dict[str, Any]
) -> None:
    broken = tmp_path / "cdk.out"
    shutil.copytree(assembly, broken)
    manifest = json.loads((broken / "manifest.json").read_text(encoding="utf-8"))
    manifest["artifacts"]["Scratch"]["properties"]["stackName"] = f"Broken{uuid.uuid4().hex[:8]}"
    (broken / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    template = json.loads((broken / "Scratch.template.json").read_text(encoding="utf-8"))
    template["Resources"]["Culprit"] = resource
    (broken / "Scratch.template.json").write_text(json.dumps(template), encoding="utf-8")
    with pytest.raises(DeploymentError, match=r"AWS::Nothing::AtAll|Culprit \(AWS::Lambda::Url\): .*not found"):
        deploy_assembly(embedded_aws, broken)


@pytest.mark.slow
def test_the_real_command_line_bootstraps_deploys_and_sees_no_difference(assembly: Path) -> None:
    with EmbeddedAws() as aws:
        lines: list[str] = []
        cli = CdkCli(aws, SCRATCH, app=str(assembly), on_line=lines.append)
        cli.bootstrap()
        outputs = cli.deploy()["Scratch"]
        assert outputs["QueueUrl"].startswith(aws.endpoint_url)
        assert "There were no differences" in cli.diff()
        assert any("Scratch" in line for line in lines)
        assert (
            aws.lambda_.get_function(FunctionName=outputs["FunctionName"])["Configuration"]["Runtime"] == "python3.14"
        )


def test_an_app_that_fails_is_reported_with_its_words(embedded_aws: EmbeddedAws, tmp_path: Path) -> None:
    cli = CdkCli(embedded_aws, SCRATCH, context={"fail": "yes"}, output=tmp_path)
    with pytest.raises(CdkCliError, match="the scratch app fails as asked"):
        cli.synth()


def test_a_command_that_takes_too_long_is_ended(embedded_aws: EmbeddedAws, tmp_path: Path) -> None:
    cli = CdkCli(embedded_aws, SCRATCH, app="sleep 60", output=tmp_path, timeout=2)
    with pytest.raises(CdkCliError, match="longer than 2 s"):
        cli.synth()
