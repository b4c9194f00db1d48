"""`ClaimCheckFunction`: exactly the privileges it needs, in place before it runs; findings; refused settings."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as event_sources
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from cdk_nag import AwsSolutionsChecks, ServerlessChecks

from claim_check_cdk.bundling import Bundle, bundle
from claim_check_cdk.claim_check_function import BUILD_DIR_CONTEXT, LOCAL_CONTEXT, ClaimCheckFunction
from claim_check_cdk.validation import InvalidSettingsError

NEW_POLICIES = "@aws-cdk/aws-lambda:createNewPoliciesWithAddToRolePolicy"
DEFAULT_RULES = "@aws-cdk/core:validateAgainstDefaultRules"
Resource = Mapping[str, Any]


class Sample:
    """One consumer that a queue invokes, and one scheduled function with a dead-letter queue."""

    def __init__(self, **context: object) -> None:
        """Synthesize with these context values."""
        app = cdk.App(context=context)
        self.stack = cdk.Stack(app, "Stack")
        self.queue = _queue(self.stack, "Queue")
        self.consumer = ClaimCheckFunction(
            self.stack,
            "Consumer",
            environment={"CLAIM_CHECK_CONSUMER": "documents"},
            timeout=cdk.Duration.minutes(2),
            memory_size_mib=1024,
            ephemeral_storage=cdk.Size.gibibytes(2),
            description="Handles documents",
        )
        self.consumer.acknowledge_no_dead_letter_queue("Its queue has one.")
        self.consumer.function.add_event_source(event_sources.SqsEventSource(self.queue))
        self.scheduled = ClaimCheckFunction(
            self.stack,
            "Scheduled",
            tracing=False,
            dead_letter_queue=_queue(self.stack, "Failures"),
            log_retention=logs.RetentionDays.ONE_WEEK,
            removal_policy=cdk.RemovalPolicy.DESTROY,
            architecture=lambda_.Architecture.X86_64,
        )
        self.consumer.add_to_role_policy(
            iam.PolicyStatement(actions=["s3:GetObject"], resources=[f"arn:{self.stack.partition}:s3:::bucket/key"])
        )
        self.consumer.grant_invoke(self.scheduled)
        self.template = assertions.Template.from_stack(self.stack)

    def resource(self, kind: str, prefix: str) -> tuple[str, Resource]:
        """The only resource of a kind whose logical id starts like this."""
        found = [item for item in self.template.find_resources(kind).items() if item[0].startswith(prefix)]
        assert len(found) == 1
        return found[0]


def _queue(scope: cdk.Stack, name: str) -> sqs.Queue:
    return sqs.Queue(scope, name, enforce_ssl=True, encryption=sqs.QueueEncryption.SQS_MANAGED)


@pytest.fixture(scope="module")
def sample() -> Sample:
    return Sample()


def findings(stack: cdk.Stack) -> set[tuple[str, str]]:
    """Rule and path of what cdk-nag finds; queues and mappings are left out: they are not what is tested here."""
    reports = [pack.validate_scope(stack) for pack in (AwsSolutionsChecks(stack), ServerlessChecks(stack))]
    return {
        (violation.rule_name, str(resource.construct_path))
        for report in reports
        for violation in report.violations
        for resource in violation.violating_resources
        if "SQS" not in violation.rule_name and "EventSourceMapping" not in violation.rule_name
    }


# --- What is made ---------------------------------------------------------------------------------------------------


def test_the_function_has_its_settings(sample: Sample) -> None:
    _, function = sample.resource("AWS::Lambda::Function", "Consumer")
    log_group, _ = sample.resource("AWS::Logs::LogGroup", "Consumer")
    properties = dict(function["Properties"])
    assert "ReservedConcurrentExecutions" not in properties
    del properties["Code"], properties["Role"]
    assert properties == {
        "Architectures": ["arm64"],
        "Description": "Handles documents",
        "Environment": {"Variables": {"CLAIM_CHECK_CONSUMER": "documents"}},
        "EphemeralStorage": {"Size": 2048},
        "Handler": "claim_check.handlers.consumer.handler",
        "LoggingConfig": {"LogFormat": "JSON", "LogGroup": {"Ref": log_group}},
        "MemorySize": 1024,
        "Runtime": "python3.14",
        "Timeout": 120,
        "TracingConfig": {"Mode": "Active"},
    }


def test_settings_left_out_get_their_documented_defaults() -> None:
    stack = cdk.Stack()
    ClaimCheckFunction(stack, "Plain")
    template = assertions.Template.from_stack(stack)
    template.has_resource_properties(
        "AWS::Lambda::Function",
        {
            "Architectures": ["arm64"],
            "Description": assertions.Match.absent(),
            "Environment": assertions.Match.absent(),
            "EphemeralStorage": assertions.Match.absent(),
            "MemorySize": 512,
            "Timeout": 60,
            "TracingConfig": {"Mode": "Active"},
        },
    )
    template.has_resource("AWS::Logs::LogGroup", {"Properties": {"RetentionInDays": 30}, "DeletionPolicy": "Retain"})


def test_the_log_group_is_the_functions_own(sample: Sample) -> None:
    _, kept = sample.resource("AWS::Logs::LogGroup", "Consumer")
    _, destroyed = sample.resource("AWS::Logs::LogGroup", "Scheduled")
    assert (kept["Properties"]["RetentionInDays"], kept["DeletionPolicy"]) == (30, "Retain")
    assert (destroyed["Properties"]["RetentionInDays"], destroyed["DeletionPolicy"]) == (7, "Delete")
    assert "LogGroupName" not in kept["Properties"]


def test_functions_share_the_asset_and_its_hash_is_the_digest_of_its_inputs(sample: Sample) -> None:
    _, function = sample.resource("AWS::Lambda::Function", "Consumer")
    # CDK hashes a hash that it is given once more.
    expected = hashlib.sha256(sample.consumer.bundle.digest.encode()).hexdigest()
    assert function["Properties"]["Code"]["S3Key"] == f"{expected}.zip"
    assert ClaimCheckFunction(cdk.Stack(), "Another").bundle == sample.consumer.bundle == bundle()


# --- Privileges -----------------------------------------------------------------------------------------------------


def test_the_role_is_the_functions_own_and_lambda_assumes_it(sample: Sample) -> None:
    role_id, role = sample.resource("AWS::IAM::Role", "Consumer")
    _, function = sample.resource("AWS::Lambda::Function", "Consumer")
    assert function["Properties"]["Role"] == {"Fn::GetAtt": [role_id, "Arn"]}
    assert "ManagedPolicyArns" not in role["Properties"]
    assert role["Properties"]["AssumeRolePolicyDocument"]["Statement"] == [
        {"Action": "sts:AssumeRole", "Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}}
    ]


def test_the_role_may_write_its_logs_and_traces_and_nothing_else(sample: Sample) -> None:
    log_group, _ = sample.resource("AWS::Logs::LogGroup", "Consumer")
    _, role = sample.resource("AWS::IAM::Role", "Consumer")
    assert _statements(role) == [
        {
            "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
            "Effect": "Allow",
            "Resource": {"Fn::GetAtt": [log_group, "Arn"]},
        },
        {"Action": ["xray:PutTelemetryRecords", "xray:PutTraceSegments"], "Effect": "Allow", "Resource": "*"},
    ]


def test_without_tracing_there_is_no_wildcard(sample: Sample) -> None:
    _, role = sample.resource("AWS::IAM::Role", "Scheduled")
    _, function = sample.resource("AWS::Lambda::Function", "Scheduled")
    assert [statement["Action"] for statement in _statements(role)] == [["logs:CreateLogStream", "logs:PutLogEvents"]]
    assert "TracingConfig" not in function["Properties"]


def _statements(role: Resource) -> list[Any]:
    return [entry for policy in role["Properties"]["Policies"] for entry in policy["PolicyDocument"]["Statement"]]


@pytest.mark.parametrize("new_policies", [None, True, False])
def test_added_statements_are_attached_before_function_and_mapping(new_policies: bool | None) -> None:  # noqa: FBT001
    """The flag would have ``function.add_to_role_policy`` write a policy that nothing waits for."""
    sample = Sample(**({} if new_policies is None else {NEW_POLICIES: new_policies}))
    role_id, _ = sample.resource("AWS::IAM::Role", "Consumer")
    policy_id, policy = sample.resource("AWS::IAM::Policy", "ConsumerRoleDefaultPolicy")
    _, function = sample.resource("AWS::Lambda::Function", "Consumer")
    _, mapping = sample.resource("AWS::Lambda::EventSourceMapping", "Consumer")
    added = {
        "Action": "s3:GetObject",
        "Effect": "Allow",
        "Resource": {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":s3:::bucket/key"]]},
    }
    assert added in policy["Properties"]["PolicyDocument"]["Statement"]
    assert policy["Properties"]["Roles"] == [{"Ref": role_id}]
    assert {policy_id, role_id} <= set(function["DependsOn"])
    assert mapping["Properties"]["FunctionName"] == {"Ref": sample.resource("AWS::Lambda::Function", "Consumer")[0]}


def test_invoking_is_granted_on_the_function_alone(sample: Sample) -> None:
    function_id, _ = sample.resource("AWS::Lambda::Function", "Consumer")
    role_id, _ = sample.resource("AWS::IAM::Role", "Scheduled")
    _, policy = sample.resource("AWS::IAM::Policy", "ScheduledRoleDefaultPolicy")
    granted = {
        "Action": "lambda:InvokeFunction",
        "Effect": "Allow",
        "Resource": {"Fn::GetAtt": [function_id, "Arn"]},
    }
    assert granted in policy["Properties"]["PolicyDocument"]["Statement"]
    assert policy["Properties"]["Roles"] == [{"Ref": role_id}]


def test_a_service_that_may_invoke_gets_a_permission() -> None:
    stack = cdk.Stack()
    function = ClaimCheckFunction(stack, "Plain")
    assert function.grant_invoke(iam.ServicePrincipal("scheduler.amazonaws.com")).success
    assertions.Template.from_stack(stack).has_resource_properties(
        "AWS::Lambda::Permission", {"Action": "lambda:InvokeFunction", "Principal": "scheduler.amazonaws.com"}
    )


def test_the_dead_letter_queue_is_set_and_granted(sample: Sample) -> None:
    queue_id, _ = sample.resource("AWS::SQS::Queue", "Failures")
    _, function = sample.resource("AWS::Lambda::Function", "Scheduled")
    _, policy = sample.resource("AWS::IAM::Policy", "ScheduledRoleDefaultPolicy")
    target = {"Fn::GetAtt": [queue_id, "Arn"]}
    assert function["Properties"]["DeadLetterConfig"] == {"TargetArn": target}
    assert {"Action": "sqs:SendMessage", "Effect": "Allow", "Resource": target} in policy["Properties"][
        "PolicyDocument"
    ]["Statement"]


@pytest.mark.parametrize("region", ["cn-north-1", "us-gov-west-1"])
def test_other_partitions_are_not_named_aws(region: str) -> None:
    app = cdk.App()
    stack = cdk.Stack(app, "Stack", env=cdk.Environment(account="000000000000", region=region))
    ClaimCheckFunction(stack, "Plain")
    assert "arn:aws:" not in json.dumps(assertions.Template.from_stack(stack).to_json())


# --- Findings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("default_rules", [True, False])
def test_nag_finds_nothing_that_is_not_acknowledged(default_rules: bool) -> None:  # noqa: FBT001
    sample = Sample(**{DEFAULT_RULES: default_rules})
    assert findings(sample.stack) == {
        # It was asked for, so whoever asked has to say why.
        ("Serverless-LambdaTracing", "Stack/Scheduled/Function/Resource"),
    }


def test_a_wildcard_that_is_added_later_is_found() -> None:
    stack = cdk.Stack(cdk.App(), "Stack")
    function = ClaimCheckFunction(stack, "Plain")
    function.add_to_role_policy(iam.PolicyStatement(actions=["s3:GetObject"], resources=["*"]))
    assert ("AwsSolutions-IAM5[Resource::*]", "Stack/Plain/Role/DefaultPolicy/Resource") in findings(stack)


def test_a_function_without_dead_letter_queue_is_found_until_it_is_acknowledged() -> None:
    stack = cdk.Stack(cdk.App(), "Stack")
    function = ClaimCheckFunction(stack, "Plain")
    finding = ("Serverless-LambdaDLQ", "Stack/Plain/Function/Resource")
    assert finding in findings(stack)
    function.acknowledge_no_dead_letter_queue("Invoked synchronously: the caller sees the error.")
    assert finding not in findings(stack)


@pytest.mark.parametrize(
    "made,said",
    [
        ({"compiled_with": None}, ["The Lambda asset has no .pyc files, since python3.14 is not installed here: "]),
        (
            {"platform": "cp314-manylinux_2_34_aarch64"},
            ["compiled wheels and runs on cp314-manylinux_2_34_aarch64 only"],
        ),
        ({}, []),
    ],
)
def test_what_an_asset_lacks_is_said_once_per_stack(
    made: dict[str, Any], said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    complete = dataclasses.replace(bundle(), platform="any", compiled_with="3.14.0")
    monkeypatch.setattr(
        "claim_check_cdk.claim_check_function.bundle", lambda **_: dataclasses.replace(complete, **made)
    )
    stack = cdk.Stack(cdk.App(), "Stack")
    for name in ("One", "Two"):
        ClaimCheckFunction(stack, name)
    found = assertions.Annotations.from_stack(stack).find_info("*", assertions.Match.string_like_regexp("Lambda asset"))
    assert len(found) == len(said)
    for text, message in zip(said, found, strict=True):
        assert text in str(message.entry.data)


@pytest.mark.parametrize("context,local", [({}, False), ({LOCAL_CONTEXT: True}, True), ({LOCAL_CONTEXT: "true"}, True)])
def test_a_local_run_asks_for_wheels_of_this_machine(
    context: dict[str, Any],
    local: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: dict[str, Any] = {}

    def remember(**settings: Any) -> Bundle:  # noqa: ANN401
        asked.update(settings)
        return bundle()

    monkeypatch.setattr("claim_check_cdk.claim_check_function.bundle", remember)
    ClaimCheckFunction(cdk.Stack(cdk.App(context=context)), "Plain", architecture=lambda_.Architecture.X86_64)
    assert asked == {
        "packages": [],
        "requirements_lock": None,
        "python_version": "3.14",
        "machine": "x86_64",
        "local": local,
        "build_dir": None,
    }


# --- A package of one's own -----------------------------------------------------------------------------------------


def test_the_users_package_travels_in_the_asset(tmp_path: Path) -> None:
    package = tmp_path / "my_handlers"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "entry.py").write_text("def handler(event, context): ...\n")
    app = cdk.App(context={BUILD_DIR_CONTEXT: str(tmp_path / "build")})
    stack = cdk.Stack(app, "Stack")
    function = ClaimCheckFunction(stack, "Own", handler="my_handlers.entry.handler", handler_package=package)
    assert function.bundle.path.is_relative_to(tmp_path / "build")
    assert (function.bundle.path / "my_handlers" / "entry.py").is_file()
    assert (function.bundle.path / "claim_check").is_dir()
    assert function.bundle.digest != bundle().digest


# --- Refused settings -----------------------------------------------------------------------------------------------

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"handler": "handler"}, "handler = 'handler': must be package.module.function"),
    ({"handler": "my-package.handler"}, "handler = 'my-package.handler'"),
    ({"handler": "claim_check.handlers.gone.handler"}, "'claim_check.handlers.gone.handler': the asset holds no such"),
    ({"handler": "elsewhere.entry.handler"}, "handler = 'elsewhere.entry.handler': the asset holds no such module"),
    ({"handler_package": Path("/nowhere")}, "handler_package = /nowhere: must be the folder of a package"),
    ({"handler_package": Path("/not-a-name")}, "one that Python can import. Way out: rename it"),
    ({"requirements_lock": Path("/nowhere.lock")}, "requirements_lock = /nowhere.lock: must be a file"),
    ({"environment": {"1BAD": "x"}}, "environment = '1BAD': a name starts with a letter"),
    ({"environment": {"AWS_REGION": "x"}}, "environment = 'AWS_REGION': Lambda keeps this name for itself"),
    ({"environment": {"AWS_LAMBDA_X": "x"}}, "environment = 'AWS_LAMBDA_X': Lambda keeps"),
    ({"environment": {"NAME": "x" * 4093}}, "environment = 4097 bytes: must be from 0 to 4096 bytes"),
    ({"timeout": cdk.Duration.seconds(901)}, "timeout = 901 seconds: must be from 1 to 900 seconds"),
    ({"timeout": cdk.Duration.seconds(0)}, "timeout = 0 seconds: must be from 1"),
    ({"timeout": cdk.Duration.millis(1500)}, "timeout = 1.5 seconds: Lambda counts whole seconds"),
    ({"memory_size_mib": 127}, "memory_size_mib = 127 MiB: must be from 128 to 10240 MiB"),
    ({"memory_size_mib": 10_241}, "memory_size_mib = 10241 MiB"),
    ({"ephemeral_storage": cdk.Size.mebibytes(511)}, "ephemeral_storage = 511 MiB: must be from 512 to 10240 MiB"),
    ({"ephemeral_storage": cdk.Size.mebibytes(10_241)}, "ephemeral_storage = 10241 MiB"),
    ({"ephemeral_storage": cdk.Size.kibibytes(1024 * 512 + 1)}, "ephemeral_storage = 536871936 bytes: Lambda counts"),
    ({"runtime": lambda_.Runtime.PYTHON_3_10}, "runtime = python3.10: the runtime library needs Python 3.11"),
    ({"runtime": lambda_.Runtime.NODEJS_22_X}, "runtime = nodejs22.x"),
    ({"architecture": lambda_.Architecture.custom("riscv")}, "architecture = riscv: must be one of arm64, x86_64"),
    ({"description": "x" * 257}, "description = 257 characters: must be at most 256"),
]


@pytest.mark.parametrize("settings,message", WRONG)
def test_a_wrong_setting_is_named_with_its_limit(settings: dict[str, Any], message: str) -> None:
    stack = cdk.Stack(cdk.App(), "Stack")
    with pytest.raises(InvalidSettingsError) as caught:
        ClaimCheckFunction(stack, "Wrong", **settings)
    assert message in str(caught.value)
    assert (
        "ClaimCheckFunction 'Stack/Wrong' has 1 invalid setting:" in str(caught.value) or "handler_package" in settings
    )
    assert "Way out: " in str(caught.value)


def test_all_mistakes_come_at_once() -> None:
    with pytest.raises(InvalidSettingsError) as caught:
        ClaimCheckFunction(
            cdk.Stack(),
            "Wrong",
            handler="x",
            environment={"1": "x"},
            timeout=cdk.Duration.hours(1),
            memory_size_mib=1,
            ephemeral_storage=cdk.Size.mebibytes(1),
            runtime=lambda_.Runtime.PYTHON_3_9,
        )
    assert [mistake.argument for mistake in caught.value.mistakes] == [
        "handler",
        "environment",
        "timeout",
        "memory_size_mib",
        "ephemeral_storage",
        "runtime",
    ]


def test_limits_themselves_are_accepted() -> None:
    stack = cdk.Stack()
    ClaimCheckFunction(
        stack,
        "Least",
        timeout=cdk.Duration.seconds(1),
        memory_size_mib=128,
        ephemeral_storage=cdk.Size.mebibytes(512),
        environment={"NAME": "x" * 4092},
        description="x" * 256,
        runtime=lambda_.Runtime.PYTHON_3_11,
    )
    ClaimCheckFunction(
        stack,
        "Most",
        timeout=cdk.Duration.minutes(15),
        memory_size_mib=10_240,
        ephemeral_storage=cdk.Size.gibibytes(10),
    )


def test_values_known_only_at_deployment_are_not_compared() -> None:
    stack = cdk.Stack()
    number = cdk.CfnParameter(stack, "Number", type="Number").value_as_number
    text = cdk.CfnParameter(stack, "Text").value_as_string
    ClaimCheckFunction(
        stack,
        "Late",
        timeout=cdk.Duration.seconds(number),
        memory_size_mib=number,  # type: ignore[arg-type]  # jsii's tokens of numbers are floats
        ephemeral_storage=cdk.Size.mebibytes(number),
        environment={"NAME": text},
        description=text,
    )
    assertions.Template.from_stack(stack).has_resource_properties(
        "AWS::Lambda::Function", {"MemorySize": {"Ref": "Number"}, "Timeout": {"Ref": "Number"}}
    )
