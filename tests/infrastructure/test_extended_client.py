"""`ExtendedClientBucket` and `ForeignMessages`: what a pipeline may read of old clients, and how long it is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Match, Template

from claim_check.contract import Setting
from claim_check_cdk import (
    AccessLogBucket,
    ClaimCheckPipeline,
    ExtendedClientBucket,
    ForeignMessages,
    InvalidSettingsError,
    MessageQueue,
)
from tests.infrastructure.kit import Properties, acknowledged, findings, make_stack, resources, statements

HANDLERS = Path(__file__).parents[2] / "docs" / "examples" / "first_pipeline" / "invoices"
NAMES: dict[str, Any] = {"tenant_id": "t-1", "event_type": "OrderPlaced"}


class Sample:
    """A pipeline that takes what old clients send."""

    def __init__(self) -> None:
        """Synthesize."""
        self.stack = make_stack()
        self.logs = AccessLogBucket(self.stack, "Logs")
        self.theirs = ExtendedClientBucket(self.stack, "Theirs", prefix="in/", access_logs_bucket=self.logs.bucket)
        self.pipeline = ClaimCheckPipeline(
            self.stack,
            "Pipeline",
            handler="invoices.handler:handle",
            handler_package=HANDLERS,
            access_logs_bucket=self.logs.bucket,
            foreign=ForeignMessages(**NAMES, buckets=[self.theirs], allow_unverified=True),
        )
        self.sender = iam.Role(self.stack, "Sender", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
        self.theirs.grant_put(self.sender)
        self.findings = findings(self.stack)
        self.acknowledged = acknowledged(self.stack)
        self.template = Template.from_stack(self.stack)
        bucket = self.theirs.bucket.node.default_child
        assert isinstance(bucket, s3.CfnBucket)
        self.logical_id = self.stack.get_logical_id(bucket)

    def statements_of(self, role: str) -> list[Properties]:
        """What a role may do with the bucket."""
        policies = resources(self.template, "AWS::IAM::Policy")
        found = [policy for name, policy in policies.items() if role in name]
        return [one for policy in found for one in statements(policy) if self.logical_id in str(one)]


@pytest.fixture(scope="module")
def sample() -> Sample:
    """Synthesized once."""
    return Sample()


def test_old_clients_can_write(sample: Sample) -> None:
    """They put unconditionally: nothing may refuse that here, and all else is as closed as ever."""
    policies = resources(sample.template, "AWS::S3::BucketPolicy").values()
    (own,) = [one for one in policies if one["Bucket"] == {"Ref": sample.logical_id}]
    assert "if-none-match" not in str(own)
    assert "aws:SecureTransport" in str(own)
    bucket = resources(sample.template, "AWS::S3::Bucket")[sample.logical_id]
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert sample.statements_of("Sender") == [
        {
            "Action": "s3:PutObject",
            "Effect": "Allow",
            "Resource": {"Fn::Join": ["", [{"Fn::GetAtt": [sample.logical_id, "Arn"]}, "/in/*"]]},
        }
    ]


def test_the_consumer_reads_below_the_prefix_and_nothing_else(sample: Sample) -> None:
    arn = {"Fn::GetAtt": [sample.logical_id, "Arn"]}
    objects, listing = sample.statements_of("PipelineConsumer")
    assert (objects["Action"], len(objects["Resource"])) == ("s3:GetObject", 2), "its own bucket's and theirs"
    assert {"Fn::Join": ["", [arn, "/in/*"]]} in objects["Resource"]
    assert listing == {
        "Action": "s3:ListBucket",
        "Condition": {"StringLike": {"s3:prefix": ["in/*"]}},
        "Effect": "Allow",
        "Resource": arn,
    }


def test_the_consumer_is_told(sample: Sample) -> None:
    functions = resources(sample.template, "AWS::Lambda::Function").values()
    (variables,) = [one["Environment"]["Variables"] for one in functions]
    assert variables[Setting.FOREIGN_TENANT] == "t-1"
    assert variables[Setting.FOREIGN_EVENT_TYPE] == "OrderPlaced:1"
    assert variables[Setting.ALLOW_UNVERIFIED] == "true"
    assert variables[Setting.FOREIGN_BUCKETS] == {"Fn::Join": ["", [{"Ref": sample.logical_id}, "/in/"]]}


def test_payloads_live_as_long_as_the_pipelines_own(sample: Sample) -> None:
    """R6: the longest plan of the queues that may hold a pointer decides."""
    own = resources(sample.template, "AWS::S3::Bucket")
    days = {
        rule["ExpirationInDays"]
        for bucket in own.values()
        for rule in bucket["LifecycleConfiguration"]["Rules"]
        if rule.get("Id") == "expire-payloads"
    }
    assert len(days) == 1
    rules = own[sample.logical_id]["LifecycleConfiguration"]["Rules"]
    assert [rule.get("Prefix") for rule in rules if rule["Id"] == "expire-payloads"] == ["in/"]


def test_nothing_is_found_that_is_not_acknowledged(sample: Sample) -> None:
    assert sample.findings == []
    reasons = [reason for rules in sample.acknowledged.values() for reason in rules.values()]
    assert any("Extended Clients" in reason for reason in reasons)


def test_a_pipeline_that_opens_no_payloads_gets_nothing() -> None:
    stack = make_stack()
    theirs = ExtendedClientBucket(stack, "Theirs")
    ClaimCheckPipeline(
        stack,
        "Pipeline",
        handler="invoices.handler:handle",
        handler_package=HANDLERS,
        payload_access="none",
        foreign=ForeignMessages(**NAMES, buckets=[theirs], allow_unverified=True),
    )
    policies = resources(Template.from_stack(stack), "AWS::IAM::Policy").values()
    assert "s3:GetObject" not in str(list(policies))


def test_a_bucket_that_exists_is_told_its_retention_and_its_key() -> None:
    stack = make_stack()
    key = kms.Key(stack, "Key", enable_key_rotation=True)
    there = s3.Bucket.from_bucket_attributes(stack, "There", bucket_name="old-clients", encryption_key=key)
    theirs = ExtendedClientBucket(stack, "Theirs", bucket=there, expiration=cdk.Duration.days(60))
    theirs.retain_for(MessageQueue(stack, "Queue"))
    reader = iam.Role(stack, "Reader", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    theirs.grant_read(reader)
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::S3::Bucket", 0)
    template.has_resource_properties(
        "AWS::IAM::Policy",
        {"PolicyDocument": {"Statement": Match.array_with([Match.object_like({"Action": "kms:Decrypt"})])}},
    )


def test_a_shorter_life_fails_at_synth_and_shows_the_sum() -> None:
    stack = make_stack()
    theirs = ExtendedClientBucket(stack, "Theirs", expiration=cdk.Duration.days(3))
    theirs.retain_for(MessageQueue(stack, "Queue"))
    with pytest.raises(RuntimeError, match="expiration"):
        Template.from_stack(stack)


def test_a_bucket_without_a_queue_fails_at_synth() -> None:
    stack = make_stack()
    ExtendedClientBucket(stack, "Theirs")
    with pytest.raises(RuntimeError, match="retain_for"):
        Template.from_stack(stack)


@pytest.mark.parametrize(
    "wrong",
    [
        {"expiration": cdk.Duration.hours(30)},
        {"prefix": "in/*"},
        {"prefix": "a,b"},
        {"bucket": "exists"},
        {"bucket": "exists", "expiration": cdk.Duration.days(60), "access_logs_bucket": "exists"},
    ],
)
def test_wrong_settings_of_the_bucket_are_told(wrong: dict[str, object]) -> None:
    stack = make_stack()
    there = s3.Bucket.from_bucket_name(stack, "There", "there")
    settings = {name: there if value == "exists" else value for name, value in wrong.items()}
    with pytest.raises(InvalidSettingsError):
        ExtendedClientBucket(stack, "Theirs", **settings)  # type: ignore[arg-type]  # each of another type


@pytest.mark.parametrize(
    "wrong", [{"tenant_id": "a b"}, {"event_type": ""}, {"event_version": 0}, {"buckets": [None], "x": 1}]
)
def test_wrong_settings_of_the_messages_are_told(wrong: dict[str, object]) -> None:
    stack = make_stack()
    theirs = ExtendedClientBucket(stack, "Theirs")
    settings = {**NAMES, **{name: [theirs] if name == "buckets" else value for name, value in wrong.items()}}
    settings.pop("x", None)
    with pytest.raises(InvalidSettingsError, match="foreign"):
        ClaimCheckPipeline(
            stack,
            "Pipeline",
            handler="invoices.handler:handle",
            handler_package=HANDLERS,
            foreign=ForeignMessages(**settings),
        )


def test_messages_of_a_type_that_the_pipeline_does_not_take_are_told() -> None:
    with pytest.raises(InvalidSettingsError, match="OrderPlaced:1"):
        ClaimCheckPipeline(
            make_stack(),
            "Pipeline",
            handler="invoices.handler:handle",
            handler_package=HANDLERS,
            event_types={"OrderPlaced": [2]},
            foreign=ForeignMessages(**NAMES),
        )


def test_a_producer_is_told_the_wire_format() -> None:
    stack = make_stack()
    pipeline = ClaimCheckPipeline(
        stack,
        "Pipeline",
        handler="invoices.handler:handle",
        handler_package=HANDLERS,
        foreign=ForeignMessages(**NAMES),
    )
    assert Setting.WIRE_FORMAT not in pipeline.producer_environment()
    assert pipeline.producer_environment(wire_format="extended-client")[Setting.WIRE_FORMAT] == "extended-client"
