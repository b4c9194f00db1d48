"""`ClaimCheckPipeline`: wiring, settings of the functions, least privilege; what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template
from aws_cdk.aws_apigatewayv2_authorizers import HttpJwtAuthorizer

from claim_check.contract import MIB, SETTING_PREFIX, Setting
from claim_check.settings import ConsumerSettings, ProducerSettings
from claim_check_cdk import (
    AccessLogBucket,
    ClaimCheckPipeline,
    DomainTable,
    ExtendedClientBucket,
    FifoOptions,
    ForeignMessages,
    InboxTable,
    InvalidSettingsError,
    MessageQueue,
    PayloadBucket,
    RetentionTerms,
    UploadApi,
)
from claim_check_cdk.bundling import package_folder
from claim_check_cdk.retention import DAY
from stacks.documents_stack import DocumentsStack
from stacks.ingest_stack import IngestStack
from stacks.orders_stack import OrdersStack
from stacks.settings import Settings
from tests.infrastructure.kit import acknowledged, findings, flags, make_stack, resources, statements

HANDLER = "claim_check_examples.documents:handle"
PACKAGE = package_folder("claim_check_examples")


class Sample:
    """A pipeline with nothing but a handler, and one with every option and shared parts."""

    def __init__(self) -> None:
        """Synthesize."""
        self.stack = make_stack()
        logs = AccessLogBucket(self.stack, "Logs")
        self.table = DomainTable(self.stack, "Documents")
        self.plain = ClaimCheckPipeline(
            self.stack, "Plain", handler=HANDLER, handler_package=PACKAGE, access_logs_bucket=logs.bucket
        )
        self.plain.grant_handler_table(self.table.table, ["put", "check"])
        self.key = kms.Key(self.stack, "Key", enable_key_rotation=True)
        self.bucket = PayloadBucket(
            self.stack, "Payloads", versioned=True, access_logs_bucket=logs.bucket, access_logs_prefix="shared/"
        )
        self.queue = MessageQueue(
            self.stack,
            "Queue",
            function_timeout=cdk.Duration.minutes(10),
            max_batching_window=cdk.Duration.seconds(30),
            max_message_size=cdk.Size.kibibytes(256),
        )
        self.inbox = InboxTable(self.stack, "Inbox")
        self.full = ClaimCheckPipeline(
            self.stack,
            "Full",
            handler=HANDLER,
            handler_package=PACKAGE,
            handler_environment={"LANGUAGE": "de"},
            consumer_name="ocr",
            bucket=self.bucket,
            queue=self.queue,
            inbox=self.inbox,
            retention_terms=RetentionTerms(before_send=cdk.Duration.hours(6), triage=cdk.Duration.days(30)),
            event_types={"Uploaded": [2, 1], "Replaced": [1]},
            tenants=["t-1"],
            content_types=["image/*", "application/pdf"],
            payload_access="file",
            max_payload=cdk.Size.mebibytes(100),
            expansion_factor=2.5,
            concurrent_records=4,
            memory_size_mib=2048,
            timeout=cdk.Duration.minutes(10),
            batch_size=100,
            max_batching_window=cdk.Duration.seconds(30),
            max_concurrency=2,
            max_attempts=3,
            inline="never",
            inline_limit=cdk.Size.kibibytes(32),
            fair_queues=True,
            max_age=cdk.Duration.minutes(5),
            encryption_key=self.key,
        )
        self.second = ClaimCheckPipeline(
            self.stack,
            "Second",
            handler=HANDLER,
            handler_package=PACKAGE,
            bucket=self.bucket,
            inbox=self.inbox,
            retention=cdk.Duration.minutes(30),
            dead_letter_retention=cdk.Duration.days(14),
            payload_access="none",
            fifo=FifoOptions(on_poison="park"),
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        keyed = DomainTable(self.stack, "Keyed", encryption_key=self.key)
        self.second.grant_handler_table(keyed.table, ["get", "update", "delete"])
        key = dynamodb.Attribute(name="pk", type=dynamodb.AttributeType.STRING)
        self.second.grant_handler_table(dynamodb.TableV2(self.stack, "Version2", partition_key=key), ["check"])
        self.publisher = iam.Role(self.stack, "Publisher", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
        self.plain.grant_publish(self.publisher)
        self.scoped = iam.Role(self.stack, "Scoped", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
        self.plain.grant_publish(self.scoped, event_types=["Uploaded"], tenants=["t-1"])
        self.findings = findings(self.stack)
        self.acknowledged = acknowledged(self.stack)
        self.template = Template.from_stack(self.stack)

    def properties(self, construct: Any) -> dict[str, Any]:  # noqa: ANN401 - any L2 construct
        """Properties of a construct's resource."""
        child = construct.node.default_child
        assert isinstance(child, cdk.CfnResource)
        resource = self.template.to_json()["Resources"][self.stack.get_logical_id(child)]
        return dict(resource["Properties"])

    def variables(self, pipeline: ClaimCheckPipeline) -> dict[str, Any]:
        """Environment of a pipeline's function."""
        return dict(self.properties(pipeline.function)["Environment"]["Variables"])

    def policy(self, role: iam.IRole) -> list[Any]:
        """Statements of a role's default policy."""
        return list(statements(self.properties(role.node.find_child("DefaultPolicy"))))

    def arn(self, construct: Any) -> dict[str, Any]:  # noqa: ANN401 - any L2 construct
        """ARN of a construct's resource in the template."""
        return {"Fn::GetAtt": [self.stack.get_logical_id(construct.node.default_child), "Arn"]}


@pytest.fixture(scope="module")
def sample() -> Sample:
    """One synth for the module."""
    return Sample()


# --- Wiring ---------------------------------------------------------------------------------------------------------


def test_the_mapping_reports_failures_by_record_and_bounds_concurrency(sample: Sample) -> None:  # R4.7
    assert sample.properties(sample.plain.event_source) == {
        "BatchSize": 10,
        "EventSourceArn": sample.arn(sample.plain.queue.queue),
        "FunctionName": sample.stack.resolve(sample.plain.function.function_name),
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
        "ScalingConfig": {"MaximumConcurrency": 10},
    }
    full = sample.properties(sample.full.event_source)
    assert full["BatchSize"] == 100
    assert full["MaximumBatchingWindowInSeconds"] == 30
    assert full["ScalingConfig"] == {"MaximumConcurrency": 2}


def test_the_mapping_waits_for_the_policy(sample: Sample) -> None:
    for pipeline in (sample.plain, sample.full, sample.second):
        mapping = pipeline.event_source.node.default_child
        policy = pipeline.consumer.role.node.find_child("DefaultPolicy").node.default_child
        assert isinstance(mapping, cdk.CfnResource)
        assert isinstance(policy, cdk.CfnResource)
        resource = sample.template.to_json()["Resources"][sample.stack.get_logical_id(mapping)]
        assert sample.stack.get_logical_id(policy) in resource["DependsOn"]


def test_the_function_and_its_queue_fit(sample: Sample) -> None:  # R4.8
    for pipeline, timeout, visibility in ((sample.plain, 180, 1080), (sample.full, 600, 3630)):
        assert sample.properties(pipeline.function)["Timeout"] == timeout
        assert sample.properties(pipeline.queue.queue)["VisibilityTimeout"] == visibility


def test_no_concurrency_is_reserved(sample: Sample) -> None:
    assert "ReservedConcurrentExecutions" not in sample.properties(sample.plain.function)


def test_invocations_are_sampled_unless_told_otherwise(sample: Sample) -> None:  # R12.2
    assert sample.properties(sample.plain.function)["TracingConfig"] == {"Mode": "Active"}


def test_given_parts_are_used_and_none_is_made_beside_them(sample: Sample) -> None:
    assert sample.full.bucket is sample.bucket
    assert sample.full.queue is sample.queue
    assert sample.full.inbox is sample.inbox
    for part in ("Bucket", "Queue", "Inbox"):
        assert sample.full.node.try_find_child(part) is None
        assert sample.plain.node.try_find_child(part) is not None


# FIELD: aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws#761
def test_every_pipeline_has_its_alarms(sample: Sample) -> None:
    for pipeline, service, age in (
        (sample.plain, "Plain", 3600),
        (sample.full, "ocr", 300),
        (sample.second, "Second", 900),
    ):
        assert {"DeadLetters", "InFlight", "InboxThrottles", "PayloadLife"} <= pipeline.alarms.alarms.keys()
        alarm = sample.properties(pipeline.alarms.alarms["WorkAge"])
        assert alarm["Dimensions"] == [{"Name": "service", "Value": service}]
        assert alarm["Threshold"] == age


def test_memory_and_storage_follow_from_the_payloads(sample: Sample) -> None:  # R4.4
    plain, full, second = (sample.properties(found.function) for found in (sample.plain, sample.full, sample.second))
    assert (plain["MemorySize"], plain["EphemeralStorage"]["Size"]) == (512, 512)
    assert (full["MemorySize"], full["EphemeralStorage"]["Size"]) == (2048, 1000)
    assert (second["MemorySize"], second["EphemeralStorage"]["Size"]) == (512, 512)


def test_the_policy_for_removal_reaches_every_part(sample: Sample) -> None:
    raw = sample.template.to_json()["Resources"]
    for construct, policy in (
        (sample.plain.bucket.bucket, "Retain"),
        (sample.plain.queue.queue, "Retain"),
        (sample.plain.queue.dead_letter_queue, "Retain"),
        (sample.plain.inbox.table, "Retain"),
        (sample.plain.consumer.log_group, "Retain"),
        (sample.second.queue.queue, "Delete"),
        (sample.second.queue.dead_letter_queue, "Delete"),
        (sample.second.consumer.log_group, "Delete"),
    ):
        assert construct is not None
        child = construct.node.default_child
        assert isinstance(child, cdk.CfnResource)
        assert raw[sample.stack.get_logical_id(child)]["DeletionPolicy"] == policy


# --- Retention ------------------------------------------------------------------------------------------------------


def test_bucket_and_inbox_follow_the_longest_plan_of_all_pipelines(sample: Sample) -> None:  # R6.2, R6.3
    plan = sample.queue.retention_plan(RetentionTerms(before_send=cdk.Duration.hours(6), triage=cdk.Duration.days(30)))
    assert plan.days == 67
    (rule, *_) = sample.properties(sample.bucket.bucket)["LifecycleConfiguration"]["Rules"]
    assert rule["ExpirationInDays"] == 67
    assert sample.variables(sample.full)[Setting.INBOX_TTL] == str(67 * DAY)
    assert sample.variables(sample.second)[Setting.INBOX_TTL] == str(67 * DAY)
    assert sample.variables(sample.plain)[Setting.INBOX_TTL] == str(39 * DAY)


# --- Settings -------------------------------------------------------------------------------------------------------


def _plain_text(variables: dict[str, Any]) -> dict[str, str]:
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in variables.items()}


def test_the_runtime_understands_every_variable(sample: Sample) -> None:
    settings = ConsumerSettings.from_environment(_plain_text(sample.variables(sample.full)))
    assert settings.consumer == "ocr"
    assert settings.handler == HANDLER
    assert settings.payload_access == "file"
    assert settings.temp_budget_bytes == 1000 * MIB
    assert settings.memory_budget_bytes == (2048 - 192) * MIB
    assert settings.expansion == 2.5
    assert settings.concurrency == 4
    assert settings.max_attempts == 3
    assert settings.max_payload_bytes == 100 * MIB
    assert settings.content_types == ("application/pdf", "image/*")
    assert settings.event_types == {"Uploaded": {1, 2}, "Replaced": {1}}
    assert settings.inbox_ttl_seconds == 67 * DAY
    assert settings.tracing is False
    assert sample.variables(sample.full)["LANGUAGE"] == "de"


def test_a_plain_pipeline_accepts_everything(sample: Sample) -> None:
    settings = ConsumerSettings.from_environment(_plain_text(sample.variables(sample.plain)))
    assert settings.consumer == "Plain"
    assert settings.content_types == ()
    assert settings.event_types == {}
    assert settings.concurrency == 10
    assert settings.payload_access == "stream"
    assert settings.tracing is False


def test_names_are_those_of_the_resources(sample: Sample) -> None:
    variables, resolve, plain = sample.variables(sample.plain), sample.stack.resolve, sample.plain
    assert variables[Setting.BUCKET] == resolve(plain.bucket.bucket.bucket_name)
    assert variables[Setting.QUEUE_URL] == resolve(plain.queue.queue.queue_url)
    assert plain.queue.dead_letter_queue is not None
    assert variables[Setting.DLQ_URL] == resolve(plain.queue.dead_letter_queue.queue_url)
    assert variables[Setting.INBOX_TABLE] == resolve(plain.inbox.table.table_name)


def test_a_producer_gets_what_it_needs(sample: Sample) -> None:
    variables = sample.stack.resolve(sample.full.producer_environment())
    settings = ProducerSettings.from_environment(_plain_text(variables))
    assert settings.before_send_seconds == 6 * 3600
    assert settings.inline == "never"
    assert settings.inline_limit_bytes == 32 * 1024
    assert settings.max_message_bytes == 256 * 1024
    assert settings.max_payload_bytes == 100 * MIB
    assert settings.fair_queues is True
    assert settings.tracing is False
    assert variables[Setting.QUEUE_URL] == sample.stack.resolve(sample.queue.queue.queue_url)


def test_every_setting_of_the_contract_is_passed_to_someone(sample: Sample) -> None:
    every = {value for name, value in vars(Setting).items() if name.isupper()}
    assert all(name.startswith(SETTING_PREFIX) for name in every)
    own = {Setting.MULTIPART_THRESHOLD}  # of processes of one's own: what a function is handed is smaller than a part
    producers = sample.full.producer_environment(wire_format="extended-client").keys()
    theirs = ExtendedClientBucket(make_stack(), "Theirs")
    foreign = ForeignMessages(tenant_id="t", event_type="E", buckets=[theirs], content_type="text/csv")
    given = sample.variables(sample.full).keys() - {"LANGUAGE"} | producers | foreign.environment().keys()
    assert given | settings_of_uploads() <= every
    assert every - own - given - settings_of_uploads() <= settings_of_the_app()


def settings_of_the_app() -> set[str]:
    """What functions of the app's stacks are handed, those beside a pipeline too; prefixes of names as such."""
    app = cdk.App(context=flags())
    settings = Settings.from_context(app.node)
    stacks: list[cdk.Stack] = [
        DocumentsStack(app, "Documents", settings=settings),
        OrdersStack(app, "Orders", settings=settings),
        IngestStack(app, "Ingest", settings=settings),
    ]
    found = {
        name
        for stack in stacks
        for function in resources(Template.from_stack(stack), "AWS::Lambda::Function").values()
        for name in function.get("Environment", {}).get("Variables", {})
    }
    prefixes = {value for name, value in vars(Setting).items() if name.isupper() and value.endswith("_")}
    return found | {prefix for prefix in prefixes if any(name.startswith(prefix) for name in found)}


def settings_of_uploads() -> set[str]:
    """What `UploadApi` hands to its function."""
    stack = make_stack()
    pipeline = ClaimCheckPipeline(stack, "Pipeline", handler="claim_check.handlers:none")
    jwt = HttpJwtAuthorizer("Jwt", "https://issuer.example.com", jwt_audience=["uploads"])
    UploadApi(stack, "Uploads", pipeline=pipeline, authorizer=jwt, tenant_claim="tenant")
    functions = resources(Template.from_stack(stack), "AWS::Lambda::Function").values()
    (found,) = [one["Environment"]["Variables"] for one in functions if "uploads" in one["Handler"]]
    return set(found)


# --- Privileges -----------------------------------------------------------------------------------------------------


def test_the_consumer_may_do_exactly_this(sample: Sample) -> None:  # R11.2
    plain = sample.plain
    objects = {"Fn::Join": ["", [sample.arn(plain.bucket.bucket), "/payloads/*"]]}
    assert sample.policy(plain.consumer.role) == [
        {
            "Action": [
                "sqs:ChangeMessageVisibility",
                "sqs:DeleteMessage",
                "sqs:GetQueueAttributes",
                "sqs:ReceiveMessage",
            ],
            "Effect": "Allow",
            "Resource": sample.arn(plain.queue.queue),
        },
        {"Action": "sqs:SendMessage", "Effect": "Allow", "Resource": sample.arn(plain.queue.dead_letter_queue)},
        {
            "Action": ["dynamodb:PutItem", "dynamodb:UpdateItem"],
            "Effect": "Allow",
            "Resource": sample.arn(plain.inbox.table),
        },
        {"Action": "s3:GetObject", "Effect": "Allow", "Resource": objects},
        {
            "Action": "s3:ListBucket",
            "Effect": "Allow",
            "Resource": sample.arn(plain.bucket.bucket),
            "Condition": {"StringLike": {"s3:prefix": ["payloads/*"]}},
        },
        {
            "Action": ["dynamodb:ConditionCheckItem", "dynamodb:PutItem"],
            "Effect": "Allow",
            "Resource": sample.arn(sample.table.table),
        },
    ]


def test_the_consumer_reads_only_its_tenants_and_types(sample: Sample) -> None:
    patterns = ["payloads/tenants/t-1/Replaced/*", "payloads/tenants/t-1/Uploaded/*"]
    found = {tuple(statement["Action"]): statement for statement in sample.policy(sample.full.consumer.role)}
    bucket = sample.arn(sample.bucket.bucket)
    assert found["s3:GetObject", "s3:GetObjectVersion"]["Resource"] == [
        {"Fn::Join": ["", [bucket, f"/{pattern}"]]} for pattern in patterns
    ]
    assert found[tuple("s3:ListBucket")]["Condition"] == {"StringLike": {"s3:prefix": patterns}}


def test_a_consumer_that_needs_no_payload_cannot_read_any(sample: Sample) -> None:
    assert "s3:" not in json.dumps(sample.policy(sample.second.consumer.role))


def test_a_table_of_ones_own_brings_its_key(sample: Sample) -> None:
    found = sample.policy(sample.second.consumer.role)
    actions = [statement["Action"] for statement in found]
    assert ["dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:UpdateItem"] in actions
    assert ["kms:Decrypt", "kms:DescribeKey"] in actions


def test_a_publisher_puts_payloads_and_sends_messages(sample: Sample) -> None:
    put, send = sample.policy(sample.publisher)
    assert put["Action"] == ["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"]
    assert send == {"Action": "sqs:SendMessage", "Effect": "Allow", "Resource": sample.arn(sample.plain.queue.queue)}
    (put, _) = sample.policy(sample.scoped)
    assert put["Resource"]["Fn::Join"][1][1] == "/payloads/tenants/t-1/Uploaded/*"


def test_no_policy_is_managed_and_no_wildcard_is_left_unexplained(sample: Sample) -> None:
    assert "ManagedPolicyArns" not in json.dumps(sample.template.to_json())
    assert sample.findings == []


def test_each_acknowledgement_of_a_pipeline(sample: Sample) -> None:
    bucket = sample.stack.get_logical_id(sample.plain.bucket.bucket.node.default_child)  # type: ignore[arg-type]
    found = {path: sorted(rules) for path, rules in sample.acknowledged.items() if path.startswith("Stack/Plain/")}
    assert found == {
        "Stack/Plain/Queue/DeadLetterQueue": ["Serverless-SQSRedrivePolicy"],
        "Stack/Plain/Consumer/Role/Resource": [
            "AwsSolutions-IAM5[Resource::*]",
            "Serverless-LambdaStarPermissions",
        ],
        "Stack/Plain/Consumer/Function/Resource": ["Serverless-LambdaDLQ"],
        "Stack/Plain/Consumer/Role/DefaultPolicy": [f"AwsSolutions-IAM5[Resource::<{bucket}.Arn>/payloads/*]"],
        "Stack/Plain/EventSource": ["Serverless-LambdaEventSourceMappingDestination"],
    }
    assert all(len(reason) > 40 for rules in sample.acknowledged.values() for reason in rules.values())


# --- A handler of one's own -----------------------------------------------------------------------------------------


def test_a_handler_package_of_ones_own_is_in_the_asset(tmp_path: Path) -> None:  # R13.1
    package = tmp_path / "orders"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "events.py").write_text("def handle(message, tx): ...\n")
    pipeline = ClaimCheckPipeline(make_stack(), "Orders", handler="orders.events:handle", handler_package=package)
    assert (pipeline.consumer.bundle.path / "orders" / "events.py").is_file()


# --- Refused --------------------------------------------------------------------------------------------------------


def _token() -> int:
    return int(cdk.Token.as_number({"Ref": "Parameter"}))


@pytest.mark.parametrize(
    "settings, argument, says",
    [
        ({"handler": "orders.events.handle"}, "handler", "must be package.module:function"),
        ({"handler": "claim_check_examples.absent:handle"}, "handler", "would hold no such module"),
        ({"handler": "orders:handle"}, "handler", "would hold no such module"),
        ({"handler_package": None}, "handler", "would hold no such module"),
        ({"consumer_name": "or ders"}, "consumer_name", "must be 1 to 128"),
        ({"handler_environment": {Setting.BUCKET: "x"}}, "handler_environment", "must not begin with CLAIM_CHECK_:"),
        ({"handler_environment": {"CLAIM_CHECK_X": "x"}}, "handler_environment", "must not begin with CLAIM_CHECK_:"),
        ({"event_types": {"a/b": [1]}}, "event_types", "must be 1 to 128"),
        ({"event_types": {"A": []}}, "event_types", "must name at least one version"),
        ({"event_types": {"A": [0]}}, "event_types", "from 1 up"),
        ({"event_types": {}}, "event_types", "at least one name"),
        ({"tenants": []}, "tenants", "at least one name"),
        ({"tenants": ["*"]}, "tenants", "must be 1 to 128"),
        ({"content_types": ["Image/PNG"]}, "content_types", "lower case"),
        ({"content_types": ["text/csv; charset=utf-8"]}, "content_types", "without parameters"),
        ({"content_types": []}, "content_types", "at least one"),
        ({"max_concurrency": 1}, "max_concurrency", "must be from 2 to 1000"),
        ({"max_concurrency": 1001}, "max_concurrency", "must be from 2 to 1000"),
        ({"batch_size": 0, "concurrent_records": 1}, "batch_size", "must be from 1 to 10"),
        ({"batch_size": 11}, "batch_size", "must be from 1 to 10"),
        (
            {"batch_size": 10_001, "max_batching_window": cdk.Duration.seconds(1)},
            "batch_size",
            "must be from 1 to 10000",
        ),
        (
            {"fifo": FifoOptions(on_poison="park"), "max_batching_window": cdk.Duration.seconds(5)},
            "max_batching_window",
            "is for standard queues only",
        ),
        ({"max_batching_window": cdk.Duration.minutes(6)}, "max_batching_window", "must be from 0 to 300 s"),
        ({"max_attempts": 0}, "max_attempts", "must be from 1 to 28"),
        ({"max_attempts": 29}, "max_attempts", "must be from 1 to 28"),
        ({"max_attempts": 58, "fifo": FifoOptions(on_poison="park")}, "max_attempts", "must be from 1 to 57"),
        ({"max_payload": cdk.Size.bytes(0)}, "max_payload", "must be from 1"),
        ({"max_payload": cdk.Size.tebibytes(49)}, "max_payload", "bytes"),
        ({"concurrent_records": 0}, "concurrent_records", "must be from 1 to 10"),
        ({"concurrent_records": 11}, "concurrent_records", "must be from 1 to 10"),
        ({"expansion_factor": 0.5}, "expansion_factor", "must be 1 or more"),
        ({"memory_size_mib": 128}, "memory_size_mib", "needs 232 MiB of memory (192 MiB"),
        (
            {"payload_access": "file", "ephemeral_storage": cdk.Size.mebibytes(5119)},
            "ephemeral_storage",
            "10 concurrent records x 512 MiB payload x 1 expansion = 5120 MiB",
        ),
        (
            {"payload_access": "memory", "expansion_factor": 3},
            "memory_size_mib",
            "10 concurrent records x 512 MiB payload x 3 expansion = 15552 MiB",
        ),
        ({"inline_limit": cdk.Size.mebibytes(2)}, "inline_limit", "bytes"),
        ({"inline_limit": cdk.Size.bytes(1023)}, "inline_limit", "bytes"),
        ({"fair_queues": True, "fifo": FifoOptions(on_poison="park")}, "fair_queues", "is for standard queues only"),
        ({"tracer": True}, "tracer", "needs aws-xray-sdk"),
        ({"tracer": True, "tracing": False, "requirements_lock": Path(__file__)}, "tracer", "needs tracing"),
        ({"max_payload": cdk.Size.bytes(_token())}, "max_payload", "must be known at synth"),
        ({"memory_size_mib": _token()}, "memory_size_mib", "must be known at synth"),
        ({"concurrent_records": _token()}, "concurrent_records", "must be known at synth"),
        ({"ephemeral_storage": cdk.Size.mebibytes(_token())}, "ephemeral_storage", "must be known at synth"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], argument: str, says: str) -> None:
    with pytest.raises(InvalidSettingsError) as raised:
        ClaimCheckPipeline(make_stack(), "Orders", **{"handler": HANDLER, "handler_package": PACKAGE, **settings})
    (mistake,) = raised.value.mistakes
    assert mistake.argument == argument
    assert says in mistake.limit
    assert "ClaimCheckPipeline 'Stack/Orders'" in str(raised.value)


def test_a_queue_that_hides_messages_too_briefly_is_refused() -> None:  # R4.8
    stack = make_stack()
    queue = MessageQueue(stack, "Queue", function_timeout=cdk.Duration.minutes(1))
    with pytest.raises(InvalidSettingsError, match=r"queue = visibility timeout 360 s: must be at least .* = 1080 s"):
        ClaimCheckPipeline(stack, "Orders", handler=HANDLER, handler_package=PACKAGE, queue=queue)


def test_settings_of_parts_that_are_given_are_refused() -> None:
    stack = make_stack()
    queue = MessageQueue(stack, "Queue", function_timeout=cdk.Duration.minutes(3))
    bucket = PayloadBucket(stack, "Payloads")
    with pytest.raises(InvalidSettingsError) as raised:
        ClaimCheckPipeline(
            stack,
            "Orders",
            handler=HANDLER,
            handler_package=PACKAGE,
            queue=queue,
            bucket=bucket,
            fifo=FifoOptions(on_poison="park"),
            retention=cdk.Duration.days(1),
            dead_letter_retention=cdk.Duration.days(1),
            access_logs_bucket=s3.Bucket.from_bucket_name(stack, "Logs", "logs"),
        )
    assert [mistake.argument for mistake in raised.value.mistakes] == [
        "fifo",
        "retention",
        "dead_letter_retention",
        "access_logs_bucket",
    ]


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(InvalidSettingsError) as raised:
        ClaimCheckPipeline(
            make_stack(),
            "Or ders",
            handler="orders",
            max_concurrency=1,
            memory_size_mib=128,
            max_attempts=0,
            content_types=["*"],
            inline_limit=cdk.Size.mebibytes(2),
        )
    assert {mistake.argument for mistake in raised.value.mistakes} == {
        "handler",
        "consumer_name",
        "max_concurrency",
        "memory_size_mib",
        "max_attempts",
        "content_types",
        "inline_limit",
    }


def test_an_action_that_does_not_exist_is_refused(sample: Sample) -> None:
    for actions in ([], ["write"], "put"):
        with pytest.raises(InvalidSettingsError, match="must be a collection of get, put, update, delete, check"):
            sample.plain.grant_handler_table(sample.table.table, actions)  # type: ignore[arg-type]
