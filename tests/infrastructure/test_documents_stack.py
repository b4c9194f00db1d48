"""The app: one masked snapshot, stable logical ids, findings, cfn-lint, other partitions, the CDK's own checks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudtrail as cloudtrail
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from claim_check_cdk import (
    AccessLogBucket,
    ClaimCheckPipeline,
    FifoOptions,
    MessageQueue,
    PayloadBucket,
    UploadApi,
)
from stacks.documents_stack import DocumentsStack
from stacks.ingest_stack import IngestStack
from stacks.settings import ENVIRONMENT_CONTEXT, ENVIRONMENTS_CONTEXT, Settings
from stacks.wallet_stack import WalletStack
from tests.infrastructure.kit import PROJECT, acknowledged, findings, flags, make_stack, masked, resources

STATEFUL: Final = (
    "AWS::S3::Bucket",
    "AWS::SQS::Queue",
    "AWS::DynamoDB::Table",
    "AWS::Logs::LogGroup",
)

EXPLAINED_LINT: Final = {
    # The CDK lets a function wait for its role and the role's policy; the first is implied by the reference to it.
    "W3005",
}


def documents_stack(environment: str = "production", *, env: cdk.Environment | None = None) -> DocumentsStack:
    """The stack of an environment."""
    app = cdk.App(context={**flags(), ENVIRONMENT_CONTEXT: environment})
    return DocumentsStack(app, "Documents", settings=Settings.from_context(app.node), env=env)


class Sample:
    """The stack of the production environment."""

    def __init__(self) -> None:
        """Synthesize."""
        self.stack = documents_stack()
        self.findings = findings(self.stack)
        self.acknowledged = acknowledged(self.stack)
        self.template = Template.from_stack(self.stack)


@pytest.fixture(scope="module")
def sample() -> Sample:
    """One synth for the module."""
    return Sample()


# --- The whole ------------------------------------------------------------------------------------------------------


def test_the_template_is_as_it_was(sample: Sample, snapshot: SnapshotAssertion) -> None:
    """Intended change? `pytest tests/infrastructure --snapshot-update`, and read the difference."""
    assert masked(sample.template.to_json()) == snapshot(extension_class=JSONSnapshotExtension)


def test_logical_ids_of_what_holds_data_never_change(sample: Sample) -> None:
    """A changed id replaces the resource: its data would stay behind, or be lost."""
    found = {resource_type: sorted(resources(sample.template, resource_type)) for resource_type in STATEFUL}
    assert found == {
        "AWS::S3::Bucket": [
            "AccessLogsBucketCD784A59",
            "DlqArchiveBucket1AD26701",
            "OldClientsBucket5650BBA7",
            "PipelineBucket60D569E5",
        ],
        "AWS::SQS::Queue": [
            "DlqArchiveSamplerUndeliveredE09D1EC1",
            "PipelineQueue723C0BA4",
            "PipelineQueueDeadLetterQueue1E6CA382",
            "ReconcilerUndelivered63EA81E0",
        ],
        "AWS::DynamoDB::Table": [
            "DocumentsTable2245A403",
            "PipelineInboxTable76B6B6B9",
            "ReconcilerStateTable5B700CB7",
        ],
        "AWS::Logs::LogGroup": [
            "DlqArchiveSamplerFunctionLogGroup1B36FBBB",
            "PipelineConsumerLogGroupE7AEE49B",
            "ProducerLogGroup921A9B44",
            "ReconcilerFunctionLogGroup2344ED60",
            "UploadApiAccessLogs7B8B326A",
            "UploadApiUploadsLogGroupE679D892",
        ],
    }


def test_what_holds_data_stays_in_production(sample: Sample) -> None:
    for resource_type in STATEFUL:
        for resource in sample.template.find_resources(resource_type).values():
            assert resource["DeletionPolicy"] == "Retain"
            assert resource["UpdateReplacePolicy"] == "Retain"


def test_nothing_needs_a_custom_resource(sample: Sample) -> None:
    types = {resource["Type"] for resource in sample.template.to_json()["Resources"].values()}
    assert not [name for name in types if name.startswith(("Custom::", "AWS::CloudFormation::"))]
    sample.template.resource_count_is("AWS::Lambda::Function", 5)


def test_a_local_run_finds_what_it_needs(sample: Sample) -> None:
    assert set(sample.template.to_json()["Outputs"]) == {
        "BucketName",
        "QueueUrl",
        "DeadLetterQueueUrl",
        "InboxTableName",
        "DocumentsTableName",
        "OldClientsBucketName",
        "ConsumerFunctionName",
        "ProducerFunctionName",
        "UploadApiUrl",
        "UploadFunctionName",
        "AlarmTopicArn",
        "ArchiveBucketName",
        "ArchiveFunctionName",
        "DashboardName",
        "ReconcilerFunctionName",
    }


def test_the_stack_only_composes() -> None:
    """No resource is defined in ``stacks/`` itself: everything is a child of a construct of ours."""
    stack = documents_stack()
    own = [child for child in stack.node.children if isinstance(child, cdk.CfnResource | cdk.Resource)]
    assert own == []


def test_the_names_are_those_of_the_example() -> None:
    from claim_check_examples import documents  # noqa: PLC0415 - imports nothing of the CDK
    from stacks import documents_stack as module  # noqa: PLC0415 - beside its counterpart

    assert module.TABLE_VARIABLE == documents.DOCUMENTS_TABLE
    assert f"{documents.__name__}:{documents.handle.__name__}" == module.HANDLER


# --- cdk-nag --------------------------------------------------------------------------------------------------------


def test_cdk_nag_finds_nothing_that_is_not_acknowledged(sample: Sample) -> None:
    assert sample.findings == []


def test_the_acknowledged_findings_are_exactly_these(sample: Sample) -> None:
    objects = "AwsSolutions-IAM5[Resource::<PipelineBucket60D569E5.Arn>/payloads/*]"
    x_ray = ["AwsSolutions-IAM5[Resource::*]", "Serverless-LambdaStarPermissions"]
    assert {path: sorted(rules) for path, rules in sample.acknowledged.items()} == {
        "Documents/AccessLogs/Bucket": ["AwsSolutions-S1"],
        "Documents/Pipeline/Queue/DeadLetterQueue": ["Serverless-SQSRedrivePolicy"],
        "Documents/Pipeline/Consumer/Role/Resource": x_ray,
        "Documents/Pipeline/Consumer/Role/DefaultPolicy": [
            "AwsSolutions-IAM5[Resource::<OldClientsBucket5650BBA7.Arn>/*]",
            objects,
        ],
        "Documents/Pipeline/Consumer/Function/Resource": ["Serverless-LambdaDLQ"],
        "Documents/Pipeline/EventSource": ["Serverless-LambdaEventSourceMappingDestination"],
        "Documents/DlqArchive/Sampler/Function/Role/Resource": x_ray,
        "Documents/DlqArchive/Sampler/Function/Role/DefaultPolicy": [
            "AwsSolutions-IAM5[Resource::<DlqArchiveBucket1AD26701.Arn>/letters/*]"
        ],
        "Documents/DlqArchive/Sampler/Undelivered": ["AwsSolutions-SQS3", "Serverless-SQSRedrivePolicy"],
        "Documents/Producer/Role/Resource": x_ray,
        "Documents/Producer/Role/DefaultPolicy": [objects],
        "Documents/Producer/Function/Resource": ["Serverless-LambdaDLQ"],
        "Documents/Reconciler/Function/Role/Resource": x_ray,
        "Documents/Reconciler/Function/Role/DefaultPolicy": [objects],
        "Documents/Reconciler/Undelivered": ["AwsSolutions-SQS3", "Serverless-SQSRedrivePolicy"],
        "Documents/UploadApi/Uploads/Role/Resource": x_ray,
        "Documents/UploadApi/Uploads/Role/DefaultPolicy": [objects],
        "Documents/UploadApi/Uploads/Function/Resource": ["Serverless-LambdaDLQ"],
    }


def test_every_acknowledgement_is_needed(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its acknowledgements the stack has exactly the findings that they answer, on those constructs."""
    monkeypatch.setattr(cdk.Validations, "acknowledge", lambda *_: None)
    found = {(rule, path.removesuffix("/Resource")) for rule, path in findings(documents_stack())}
    # cdk-nag sees by itself that a log bucket is one, if the bucket that logs there is in the same stack.
    found.add(("AwsSolutions-S1", "Documents/AccessLogs/Bucket"))
    # It sees, too, that a queue ends the chain, if a function of the same stack names it as its own.
    found.add(("AwsSolutions-SQS3", "Documents/DlqArchive/Sampler/Undelivered"))
    found.add(("AwsSolutions-SQS3", "Documents/Reconciler/Undelivered"))
    assert found == {
        (rule, path.removesuffix("/Resource")) for path, rules in sample.acknowledged.items() for rule in rules
    }


def test_every_acknowledgement_has_a_reason(sample: Sample) -> None:
    for rules in sample.acknowledged.values():
        assert all(len(reason) > 40 and reason.endswith(".") for reason in rules.values())


# --- cfn-lint, partitions -------------------------------------------------------------------------------------------


def everything() -> cdk.Stack:
    """Every construct with every option, for the linter."""
    stack = make_stack("Everything")
    key = kms.Key(stack, "Key", enable_key_rotation=True)
    logs = AccessLogBucket(stack, "Logs")
    bucket = PayloadBucket(
        stack,
        "Payloads",
        encryption_key=key,
        versioned=True,
        object_lock=True,
        object_lock_retention=s3.ObjectLockRetention.compliance(cdk.Duration.days(1)),
        access_logs_bucket=logs.bucket,
        data_events_trail=cloudtrail.Trail(stack, "Trail"),
    )
    bucket.retain_for(MessageQueue(stack, "Blocking", fifo=FifoOptions(on_poison="block", high_throughput=False)))
    pipeline = ClaimCheckPipeline(
        stack,
        "Ordered",
        handler="claim_check.handlers:none",
        bucket=bucket,
        fifo=FifoOptions(on_poison="park"),
        encryption_key=key,
        alarm_topic=sns.Topic(stack, "Topic"),
        event_types={"Uploaded": [1]},
        tenants=["t-1"],
    )
    pipeline.grant_publish(pipeline.consumer)
    api = UploadApi(stack, "Uploads", pipeline=pipeline, allowed_origins=["https://app.example.com"])
    api.grant_invoke(pipeline.consumer)
    return stack


def _write(stack: cdk.Stack, folder: Path) -> str:
    path = folder / f"{stack.stack_name}.template.json"
    path.write_text(json.dumps(Template.from_stack(stack).to_json()), encoding="utf-8")
    return str(path)


def test_cfn_lint_is_content(sample: Sample, tmp_path: Path) -> None:
    app = cdk.App(context=flags())
    wallet = WalletStack(app, "Wallet", settings=Settings.from_context(app.node))
    ingest = IngestStack(app, "Ingest", settings=Settings.from_context(app.node))
    templates = [_write(stack, tmp_path) for stack in (sample.stack, wallet, ingest, everything())]
    command = [
        sys.executable,
        "-c",
        "from cfnlint.runner import main; main()",
        "--format",
        "json",
        "--template",
        *templates,
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)  # noqa: S603 - our own
    found = [
        f"{match['Rule']['Id']} {match['Message']} at {'/'.join(map(str, match['Location']['Path'] or []))}"
        for match in json.loads(result.stdout or "[]")
        if match["Rule"]["Id"] not in EXPLAINED_LINT
    ]
    assert found == []
    assert result.returncode in {0, 4}, result.stderr  # 4: warnings, all of them explained


@pytest.mark.parametrize("region", ["cn-north-1", "cn-northwest-1", "us-gov-west-1", "us-gov-east-1"])
def test_other_partitions_need_no_change(region: str) -> None:
    text = json.dumps(Template.from_stack(documents_stack(env=_environment(region))).to_json())
    assert "arn:aws:" not in text


def test_a_stack_that_knows_no_region_names_no_partition(sample: Sample) -> None:
    for template in (sample.template, Template.from_stack(everything())):
        assert "arn:aws" not in json.dumps(template.to_json())


def _environment(region: str) -> cdk.Environment:
    return cdk.Environment(account="111122223333", region=region)


def test_no_feature_flag_is_needed() -> None:
    """A team's own app has other flags, or none."""
    stack = make_stack(with_flags=False)
    logs = AccessLogBucket(stack, "Logs")
    ClaimCheckPipeline(stack, "Plain", handler="claim_check.handlers:none", access_logs_bucket=logs.bucket)
    assert findings(stack) == []
    Template.from_stack(stack).resource_count_is("AWS::Lambda::Function", 1)


# --- Settings of environments ---------------------------------------------------------------------------------------


def _settings(environments: Any, name: Any = "test") -> Settings:  # noqa: ANN401 - whatever cdk.json holds
    app = cdk.App(context={ENVIRONMENT_CONTEXT: name, ENVIRONMENTS_CONTEXT: environments})
    return Settings.from_context(app.node)


def test_every_environment_of_cdk_json_is_understood() -> None:
    environments = flags()[ENVIRONMENTS_CONTEXT]
    assert flags()[ENVIRONMENT_CONTEXT] in environments
    found = {name: _settings(environments, name) for name in environments}
    assert found["production"].removal_policy == cdk.RemovalPolicy.RETAIN
    assert found["local"].removal_policy == cdk.RemovalPolicy.DESTROY
    assert {settings.environment for settings in found.values()} == set(environments)


def test_an_environment_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match=r"claim-check:environment = 'prod': must be one of test\. Way out:"):
        _settings({"test": {}}, "prod")


def test_wrong_settings_are_refused_all_at_once() -> None:
    wrong = {"removalPolicy": "keep", "logRetentionDays": 31, "maxConcurency": 5, "alarmEmail": "oncall"}
    with pytest.raises(ValueError, match="test") as raised:
        _settings({"test": wrong})
    assert all(word in str(raised.value) for word in ("maxConcurency", "'keep'", "31", "'oncall'"))


def test_an_address_gets_every_alarm_if_the_environment_names_one() -> None:  # R12.1
    settings = _settings({"test": {"alarmEmail": "oncall@example.com"}})
    assert settings.alarm_emails == ("oncall@example.com",)
    assert _settings({"test": {}}).alarm_emails == ()
    stack = WalletStack(cdk.App(context=flags()), "Wallet", settings=settings)
    (subscription,) = resources(Template.from_stack(stack), "AWS::SNS::Subscription").values()
    assert (subscription["Protocol"], subscription["Endpoint"]) == ("email", "oncall@example.com")


def test_every_alarm_of_a_stack_tells_its_topic_or_informs_only(sample: Sample) -> None:  # R12.1
    silent = {
        name
        for name, alarm in resources(sample.template, "AWS::CloudWatch::Alarm").items()
        if alarm.get("AlarmActions") != [{"Ref": "AlarmTopicC2164170"}]
    }
    assert len(silent) == 1
    assert "RedriveRunning" in silent.pop()


# --- app.py ---------------------------------------------------------------------------------------------------------


def _run_app(
    tmp_path: Path, *, command: Sequence[str] = ("app.py",), **context: str
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CDK_OUTDIR": str(tmp_path), "CDK_CONTEXT_JSON": json.dumps({**flags(), **context})}
    return subprocess.run(  # noqa: S603 - our own
        [sys.executable, *command], cwd=PROJECT, env=environment, capture_output=True, text=True, check=False
    )


def test_the_app_synthesizes_with_all_checks_on(tmp_path: Path) -> None:  # R13.1
    result = _run_app(tmp_path, **{ENVIRONMENT_CONTEXT: "local"})
    assert result.returncode == 0, result.stderr
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    stacks = [
        artifact["properties"]["stackName"]
        for artifact in manifest["artifacts"].values()
        if artifact["type"] == "aws:cloudformation:stack"
    ]
    assert sorted(stacks) == [f"claim-check-{name}-local" for name in ("documents", "ingest", "orders", "wallet")]


_CARELESS = """
import app
import aws_cdk as cdk
from aws_cdk import aws_s3 as s3, aws_sqs as sqs

class Careless(cdk.Stack):
    def __init__(self, scope, construct_id, *, settings, **stack):
        super().__init__(scope, construct_id, **stack)
        s3.Bucket(self, "Bucket")
        sqs.Queue(self, "Queue")

app.DocumentsStack = Careless
app.main()
"""


def test_a_finding_of_either_pack_fails_the_synthesis(tmp_path: Path) -> None:
    result = _run_app(tmp_path, command=("-c", _CARELESS))
    assert result.returncode != 0
    assert "AwsSolutions-S1" in result.stderr
    assert "Serverless-SQSRedrivePolicy" in result.stderr


def test_the_app_names_an_environment_that_does_not_exist(tmp_path: Path) -> None:
    result = _run_app(tmp_path, **{ENVIRONMENT_CONTEXT: "staging"})
    assert result.returncode != 0
    assert "claim-check:environment = 'staging'" in result.stderr
