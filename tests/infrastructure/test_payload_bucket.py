"""`PayloadBucket` and its kin: policy, lifecycle, options, grants; what is refused."""

from __future__ import annotations

import datetime as dt
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudtrail as cloudtrail
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from aws_cdk.assertions import Annotations, Match, Template

from claim_check_cdk import (
    AccessLogBucket,
    ImportedPayloadBucket,
    InvalidSettingsError,
    MessageQueue,
    PayloadBucket,
    RetentionTerms,
)
from claim_check_cdk.retention import DAY
from tests.infrastructure.kit import acknowledged, findings, imported_queue, make_stack, resources, statements


class Sample:
    """A plain bucket, and one with every option."""

    def __init__(self) -> None:
        """Synthesize."""
        self.stack = make_stack()
        self.queue = MessageQueue(self.stack, "Queue")
        self.logs = AccessLogBucket(self.stack, "Logs")
        self.plain = PayloadBucket(self.stack, "Plain", access_logs_bucket=self.logs.bucket)
        self.plain.retain_for(self.queue)
        self.trail_bucket = s3.Bucket(self.stack, "TrailBucket")
        self.full = PayloadBucket(
            self.stack,
            "Full",
            encryption_key=kms.Key(self.stack, "Key", enable_key_rotation=True),
            versioned=True,
            expiration=cdk.Duration.days(365),
            unconfirmed_expiration=cdk.Duration.days(2),
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="cooler",
                    transitions=[
                        s3.Transition(
                            storage_class=s3.StorageClass.INTELLIGENT_TIERING, transition_after=cdk.Duration.days(30)
                        )
                    ],
                )
            ],
            access_logs_bucket=self.logs.bucket,
            access_logs_prefix="full/",
            data_events_trail=cloudtrail.Trail(self.stack, "Trail", bucket=self.trail_bucket),
            object_lock=True,
            object_lock_retention=s3.ObjectLockRetention.governance(cdk.Duration.days(30)),
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        self.full.retain_for(self.queue, terms=RetentionTerms(redrive_rounds=3))
        self.roles = {
            name: iam.Role(self.stack, name, assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
            for name in ("Writer", "Reader", "FullWriter", "FullReader", "Scoped", "Tenant")
        }
        self.plain.grant_put(self.roles["Writer"])
        self.plain.grant_read(self.roles["Reader"])
        self.full.grant_put(self.roles["FullWriter"])
        self.full.grant_read(self.roles["FullReader"])
        self.plain.grant_read(self.roles["Scoped"], event_types=["B", "A"], tenants=["t-2", "t-1"])
        self.plain.grant_put(self.roles["Tenant"], event_types=["A"])
        self.findings = findings(self.stack)
        self.acknowledged = acknowledged(self.stack)
        self.template = Template.from_stack(self.stack)

    def logical_id(self, bucket: s3.IBucket) -> str:
        """Logical id of a bucket."""
        child = bucket.node.default_child
        assert isinstance(child, s3.CfnBucket)
        return str(self.stack.get_logical_id(child))

    def bucket(self, bucket: s3.IBucket) -> dict[str, Any]:
        """Properties of a bucket."""
        return dict(resources(self.template, "AWS::S3::Bucket")[self.logical_id(bucket)])

    def rules(self, bucket: s3.IBucket) -> dict[str, Any]:
        """Lifecycle rules of a bucket by id."""
        return {rule["Id"]: rule for rule in self.bucket(bucket)["LifecycleConfiguration"]["Rules"]}

    def bucket_policy(self, bucket: s3.IBucket) -> list[Any]:
        """Statements of a bucket's policy."""
        wanted = {"Ref": self.logical_id(bucket)}
        (policy,) = [
            policy
            for policy in resources(self.template, "AWS::S3::BucketPolicy").values()
            if policy["Bucket"] == wanted
        ]
        return list(statements(policy))

    def policy(self, role: str) -> list[Any]:
        """Statements of a role's default policy."""
        child = self.roles[role].node.find_child("DefaultPolicy").node.default_child
        assert isinstance(child, iam.CfnPolicy)
        return list(statements(resources(self.template, "AWS::IAM::Policy")[self.stack.get_logical_id(child)]))

    def objects(self, bucket: s3.IBucket, pattern: str) -> dict[str, Any]:
        """How the template names objects of a bucket."""
        return {"Fn::Join": ["", [{"Fn::GetAtt": [self.logical_id(bucket), "Arn"]}, f"/{pattern}"]]}


@pytest.fixture(scope="module")
def sample() -> Sample:
    """One synth for the module."""
    return Sample()


# --- Bucket ---------------------------------------------------------------------------------------------------------


def test_the_bucket_is_closed_encrypted_and_stays(sample: Sample) -> None:  # R11.1
    properties = sample.bucket(sample.plain.bucket)
    assert set(properties["PublicAccessBlockConfiguration"].values()) == {True}
    assert len(properties["PublicAccessBlockConfiguration"]) == 4
    assert properties["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]
    (encryption,) = properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}
    assert "VersioningConfiguration" not in properties
    assert "BucketName" not in properties
    raw = sample.template.find_resources("AWS::S3::Bucket")[sample.logical_id(sample.plain.bucket)]
    assert (raw["DeletionPolicy"], raw["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_every_option_reaches_the_template(sample: Sample) -> None:
    properties = sample.bucket(sample.full.bucket)
    (encryption,) = properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "aws:kms"
    assert encryption["BucketKeyEnabled"] is True
    assert properties["VersioningConfiguration"] == {"Status": "Enabled"}
    assert properties["ObjectLockEnabled"] is True
    assert properties["ObjectLockConfiguration"]["Rule"]["DefaultRetention"] == {"Days": 30, "Mode": "GOVERNANCE"}
    raw = sample.template.find_resources("AWS::S3::Bucket")[sample.logical_id(sample.full.bucket)]
    assert raw["DeletionPolicy"] == "Delete"
    sample.template.has_resource_properties(
        "AWS::CloudTrail::Trail",
        {
            "EventSelectors": Match.array_with(
                [
                    Match.object_like(
                        {
                            "DataResources": [
                                {
                                    "Type": "AWS::S3::Object",
                                    "Values": [sample.objects(sample.full.bucket, "payloads/")],
                                }
                            ]
                        }
                    )
                ]
            )
        },
    )


def test_unconditional_writes_are_refused_below_payloads_only(sample: Sample) -> None:  # R2.3
    (refusal,) = [
        statement
        for statement in sample.bucket_policy(sample.plain.bucket)
        if statement.get("Sid") == "RefuseUnconditionalWrites"
    ]
    assert refusal == {
        "Sid": "RefuseUnconditionalWrites",
        "Effect": "Deny",
        "Principal": {"AWS": "*"},
        "Action": "s3:PutObject",
        "Resource": sample.objects(sample.plain.bucket, "payloads/*"),
        "Condition": {"Null": {"s3:if-none-match": "true"}, "Bool": {"s3:ObjectCreationOperation": "true"}},
    }


def test_requests_without_tls_are_refused(sample: Sample) -> None:
    for bucket in (sample.plain.bucket, sample.full.bucket, sample.logs.bucket):
        conditions = [
            statement["Condition"]
            for statement in sample.bucket_policy(bucket)
            if statement["Effect"] == "Deny" and statement["Action"] == "s3:*"
        ]
        assert {"Bool": {"aws:SecureTransport": "false"}} in conditions
        assert {"NumericLessThan": {"s3:TlsVersion": 1.2}} in conditions


def test_access_logs_are_allowed_by_a_statement_of_ones_own(sample: Sample) -> None:
    assert sample.bucket(sample.plain.bucket)["LoggingConfiguration"] == {
        "DestinationBucketName": {"Ref": sample.logical_id(sample.logs.bucket)},
        "LogFilePrefix": "payload-bucket/",
    }
    allowed = [found for found in sample.bucket_policy(sample.logs.bucket) if found["Effect"] == "Allow"]
    assert {
        "Effect": "Allow",
        "Principal": {"Service": "logging.s3.amazonaws.com"},
        "Action": "s3:PutObject",
        "Resource": sample.objects(sample.logs.bucket, "payload-bucket/*"),
        "Condition": {
            "StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}},
            "ArnLike": {"aws:SourceArn": {"Fn::GetAtt": [sample.logical_id(sample.plain.bucket), "Arn"]}},
        },
    } in allowed
    assert len(allowed) == 2
    assert "AccessControl" not in sample.bucket(sample.logs.bucket)


# --- Lifecycle ------------------------------------------------------------------------------------------------------


def test_the_lifecycle_follows_from_the_queue(sample: Sample) -> None:  # R6.1, R6.4
    plan = sample.queue.retention_plan()
    assert plan.days == 39
    assert sample.rules(sample.plain.bucket) == {
        "expire-payloads": {
            "Id": "expire-payloads",
            "Prefix": "payloads/",
            "ExpirationInDays": plan.days,
            "Status": "Enabled",
        },
        "expire-unconfirmed-uploads": {
            "Id": "expire-unconfirmed-uploads",
            "Prefix": "payloads/",
            "TagFilters": [{"Key": "state", "Value": "unconfirmed"}],
            "ExpirationInDays": 7,
            "Status": "Enabled",
        },
        "abort-incomplete-uploads": {
            "Id": "abort-incomplete-uploads",
            "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1},
            "Status": "Enabled",
        },
    }


def test_a_versioned_bucket_has_the_noncurrent_rule_and_removes_expired_delete_markers(sample: Sample) -> None:
    rules = sample.rules(sample.full.bucket)
    assert rules["expire-payloads"]["ExpirationInDays"] == 365
    assert rules["expire-payloads"]["NoncurrentVersionExpiration"] == {"NoncurrentDays": 365}
    assert rules["remove-expired-delete-markers"] == {
        "Id": "remove-expired-delete-markers",
        "ExpiredObjectDeleteMarker": True,
        "Status": "Enabled",
    }
    assert rules["expire-unconfirmed-uploads"]["ExpirationInDays"] == 2
    assert rules["cooler"]["Transitions"] == [{"StorageClass": "INTELLIGENT_TIERING", "TransitionInDays": 30}]


def test_the_longest_lived_queue_decides_also_when_told_late() -> None:  # R6.3
    stack = make_stack()
    bucket = PayloadBucket(stack, "Payloads")
    bucket.retain_for(MessageQueue(stack, "Short", retention=cdk.Duration.days(1)))
    long = MessageQueue(stack, "Long", retention=cdk.Duration.days(14))
    bucket.retain_for(long, terms=RetentionTerms(triage=cdk.Duration.days(30)))
    bucket.retain_for(imported_queue(stack), retention=cdk.Duration.days(1), dead_letter_retention=cdk.Duration.days(2))
    (rule, *_) = next(iter(resources(Template.from_stack(stack), "AWS::S3::Bucket").values()))[
        "LifecycleConfiguration"
    ]["Rules"]
    assert rule["ExpirationInDays"] == 1 + 2 * 28 + 30 + 1


def test_a_plain_queue_of_this_app_is_read() -> None:
    stack = make_stack()
    bucket = PayloadBucket(stack, "Payloads")
    dead_letters = sqs.Queue(stack, "DeadLetters", retention_period=cdk.Duration.days(10))
    queue = sqs.Queue(
        stack,
        "Queue",
        visibility_timeout=cdk.Duration.minutes(10),
        dead_letter_queue=sqs.DeadLetterQueue(queue=dead_letters, max_receive_count=5),
    )
    bucket.retain_for(queue)
    plan = bucket.retention_plan()
    assert plan is not None
    assert (plan.source, plan.dlq, plan.processing) == (4 * DAY, 10 * DAY, 600)
    bucket.retain_for(queue, processing=cdk.Duration.days(2), retention=cdk.Duration.days(5))
    told = bucket.retention_plan()
    assert told is not None
    assert (told.source, told.dlq, told.processing) == (5 * DAY, 10 * DAY, 2 * DAY)


def test_one_clock_holds_for_a_standard_queue_on_request() -> None:
    stack = make_stack()
    bucket = PayloadBucket(stack, "Payloads")
    bucket.retain_for(
        MessageQueue(stack, "Queue"),
        terms=RetentionTerms(dead_letters_by_receive_count_only=True, redrive_rounds=0, triage=cdk.Duration.days(0)),
    )
    plan = bucket.retention_plan()
    assert plan is not None
    assert plan.days == 16


# --- Refused --------------------------------------------------------------------------------------------------------


def _synth_error(stack: cdk.Stack) -> str:
    with pytest.raises(RuntimeError) as raised:
        Template.from_stack(stack)
    return str(raised.value)


def test_an_expiration_below_the_plan_fails_the_synthesis_and_prints_the_terms() -> None:  # R6.2
    stack = make_stack()
    queue = MessageQueue(stack, "Queue")
    PayloadBucket(stack, "Payloads", expiration=cdk.Duration.days(3)).retain_for(queue)
    error = _synth_error(stack)
    assert "[Stack/Payloads] expiration = 3 d: must be at least 39 d" in error
    for line in queue.retention_plan().table().splitlines():
        assert line in error


def test_the_plan_itself_is_accepted_and_one_day_less_is_not() -> None:
    for days, refused in ((39, False), (38, True)):
        stack = make_stack()
        PayloadBucket(stack, "Payloads", expiration=cdk.Duration.days(days)).retain_for(MessageQueue(stack, "Queue"))
        if refused:
            assert "must be at least 39 d" in _synth_error(stack)
        else:
            Template.from_stack(stack)


def test_a_bucket_that_no_queue_was_told_of_fails_the_synthesis() -> None:
    stack = make_stack()
    PayloadBucket(stack, "Payloads")
    assert "expiration = None: there is no queue to compute it from" in _synth_error(stack)


def test_an_imported_queue_must_tell_how_long_it_keeps_a_message() -> None:
    stack = make_stack()
    bucket = PayloadBucket(stack, "Payloads")
    with pytest.raises(InvalidSettingsError) as raised:
        bucket.retain_for(imported_queue(stack))
    assert [mistake.argument for mistake in raised.value.mistakes] == ["retention", "dead_letter_retention"]
    assert "nobody here knows" in str(raised.value)


def test_what_a_queue_knows_is_not_told_again() -> None:
    stack = make_stack()
    bucket = PayloadBucket(stack, "Payloads")
    with pytest.raises(InvalidSettingsError, match="is known by the queue itself"):
        bucket.retain_for(MessageQueue(stack, "Queue"), retention=cdk.Duration.days(1))


def test_a_shorter_rule_of_ones_own_fails_the_synthesis() -> None:
    stack = make_stack()
    rules = [
        s3.LifecycleRule(id="short", prefix="payloads/tenants/t-1/", expiration=cdk.Duration.days(5)),
        s3.LifecycleRule(id="elsewhere", prefix="reports/", expiration=cdk.Duration.days(1)),
        s3.LifecycleRule(id="off", enabled=False, expiration=cdk.Duration.days(1)),
    ]
    PayloadBucket(stack, "Payloads", lifecycle_rules=rules).retain_for(MessageQueue(stack, "Queue"))
    error = _synth_error(stack)
    assert "lifecycle_rules[0].expiration = 5 d: must be at least 39 d" in error
    assert "lifecycle_rules[1]" not in error
    assert "lifecycle_rules[2]" not in error


DAYS = cdk.Duration.days(400)


@pytest.mark.parametrize(
    "settings, argument, says",
    [
        ({"expiration": cdk.Duration.hours(36)}, "expiration", "must be whole days"),
        ({"expiration": cdk.Duration.days(0)}, "expiration", "must be from 1"),
        ({"unconfirmed_expiration": cdk.Duration.hours(36)}, "unconfirmed_expiration", "whole days"),
        ({"object_lock": True}, "object_lock", "needs a versioned bucket"),
        (
            {"object_lock_retention": s3.ObjectLockRetention.governance(DAYS)},
            "object_lock_retention",
            "needs object_lock",
        ),
        (
            {
                "lifecycle_rules": [
                    s3.LifecycleRule(
                        id="a", abort_incomplete_multipart_upload_after=DAYS, tag_filters={"state": "unconfirmed"}
                    )
                ]
            },
            "lifecycle_rules[0]",
            "cannot abort uploads together with a tag or size filter",
        ),
        (
            {
                "lifecycle_rules": [
                    s3.LifecycleRule(id="a", abort_incomplete_multipart_upload_after=DAYS, object_size_less_than=9)
                ]
            },
            "lifecycle_rules[0]",
            "cannot abort uploads together with a tag or size filter",
        ),
        (
            {"lifecycle_rules": [s3.LifecycleRule(id="a", expired_object_delete_marker=True, expiration=DAYS)]},
            "lifecycle_rules[0]",
            "cannot remove expired delete markers together with an expiration",
        ),
        (
            {"lifecycle_rules": [s3.LifecycleRule(id="a", noncurrent_version_expiration=DAYS)]},
            "lifecycle_rules[0]",
            "has noncurrent versions, and this bucket keeps none",
        ),
        (
            {
                "lifecycle_rules": [
                    s3.LifecycleRule(
                        id="a",
                        prefix="reports/",
                        expiration=DAYS,
                        expiration_date=dt.datetime(2030, 1, 1, tzinfo=dt.UTC),
                    )
                ]
            },
            "lifecycle_rules[0]",
            "cannot have both expiration and expiration_date",
        ),
        (
            {"lifecycle_rules": [s3.LifecycleRule(id="a", expiration_date=dt.datetime(2030, 1, 1, tzinfo=dt.UTC))]},
            "lifecycle_rules[0]",
            "must not expire payloads/ on a date",
        ),
        ({"lifecycle_rules": [s3.LifecycleRule(id="a")]}, "lifecycle_rules[0]", "does nothing"),
        (
            {"lifecycle_rules": [s3.LifecycleRule(id="expire-payloads", expiration=DAYS)]},
            "lifecycle_rules[0]",
            "must have an id that no other rule has",
        ),
        (
            {
                "lifecycle_rules": [
                    s3.LifecycleRule(
                        id="a",
                        transitions=[s3.Transition(storage_class=s3.StorageClass.GLACIER, transition_after=DAYS)],
                    )
                ]
            },
            "lifecycle_rules[0]",
            "must not move payloads/ to an archive",
        ),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], argument: str, says: str) -> None:
    with pytest.raises(InvalidSettingsError) as raised:
        PayloadBucket(make_stack(), "Payloads", **settings)
    (mistake,) = raised.value.mistakes
    assert mistake.argument == argument
    assert says in mistake.limit
    assert "PayloadBucket 'Stack/Payloads'" in str(raised.value)


# --- Grants ---------------------------------------------------------------------------------------------------------


def test_a_writer_may_put_in_parts_and_look(sample: Sample) -> None:  # R11.2
    assert sample.policy("Writer") == [
        {
            "Action": ["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"],
            "Effect": "Allow",
            "Resource": sample.objects(sample.plain.bucket, "payloads/*"),
        }
    ]


def test_a_reader_may_read_and_tell_missing_from_denied(sample: Sample) -> None:  # R4.5
    assert sample.policy("Reader") == [
        {
            "Action": "s3:GetObject",
            "Effect": "Allow",
            "Resource": sample.objects(sample.plain.bucket, "payloads/*"),
        },
        {
            "Action": "s3:ListBucket",
            "Effect": "Allow",
            "Resource": {"Fn::GetAtt": [sample.logical_id(sample.plain.bucket), "Arn"]},
            "Condition": {"StringLike": {"s3:prefix": ["payloads/*"]}},
        },
    ]


def test_versions_and_a_customer_key_come_with_the_grants(sample: Sample) -> None:
    key = {"Fn::GetAtt": [next(iter(resources(sample.template, "AWS::KMS::Key"))), "Arn"]}
    objects, listing, decrypt = sample.policy("FullReader")
    assert objects["Action"] == ["s3:GetObject", "s3:GetObjectVersion"]
    assert listing["Action"] == "s3:ListBucket"
    assert decrypt == {"Action": "kms:Decrypt", "Effect": "Allow", "Resource": key}
    _, encrypt = sample.policy("FullWriter")
    assert encrypt == {"Action": ["kms:Decrypt", "kms:GenerateDataKey"], "Effect": "Allow", "Resource": key}


def test_grants_can_be_scoped_to_tenants_and_types(sample: Sample) -> None:  # R2.2
    patterns = [f"payloads/tenants/{tenant}/{kind}/*" for tenant in ("t-1", "t-2") for kind in ("A", "B")]
    objects, listing = sample.policy("Scoped")
    assert objects["Resource"] == [sample.objects(sample.plain.bucket, pattern) for pattern in patterns]
    assert listing["Condition"] == {"StringLike": {"s3:prefix": patterns}}
    (objects,) = sample.policy("Tenant")
    assert objects["Resource"] == sample.objects(sample.plain.bucket, "payloads/tenants/*/A/*")


@pytest.mark.parametrize("name", ["*", "a/b", "..", "", "ü", "a" * 129])
def test_a_grant_takes_no_name_that_no_event_could_have(name: str) -> None:
    bucket = PayloadBucket(stack := make_stack(), "Payloads")
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    with pytest.raises(InvalidSettingsError) as raised:
        bucket.grant_read(role, tenants=[name], event_types=[])
    assert [mistake.argument for mistake in raised.value.mistakes] == ["event_types", "tenants"]
    with pytest.raises(InvalidSettingsError, match="must be a collection"):
        bucket.grant_put(role, tenants="t-1")


def test_an_imported_role_is_granted_too() -> None:
    stack = make_stack()
    bucket = PayloadBucket(stack, "Payloads", expiration=cdk.Duration.days(30))
    role = iam.Role.from_role_name(stack, "Role", "reader")
    assert bucket.grant_read(role).success
    Template.from_stack(stack).resource_count_is("AWS::IAM::Policy", 1)


# --- Imported, across stacks ----------------------------------------------------------------------------------------


def test_an_imported_bucket_is_compared_with_the_plan() -> None:
    for days, refused in ((39, False), (30, True)):
        stack = make_stack()
        bucket = ImportedPayloadBucket(
            stack,
            "Payloads",
            bucket=s3.Bucket.from_bucket_name(stack, "Bucket", "payloads"),
            expiration=cdk.Duration.days(days),
            versioned=True,
        )
        bucket.retain_for(MessageQueue(stack, "Queue"))
        role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
        assert bucket.grant_read(role).success
        if refused:
            assert "[Stack/Payloads] expiration = 30 d: must be at least 39 d" in _synth_error(stack)
        else:
            policy = next(iter(resources(Template.from_stack(stack), "AWS::IAM::Policy").values()))
            assert statements(policy)[0]["Action"] == ["s3:GetObject", "s3:GetObjectVersion"]


def test_an_imported_bucket_must_tell_its_expiration() -> None:
    stack = make_stack()
    seconds = cdk.CfnParameter(stack, "Days", type="Number").value_as_number
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "payloads")
    with pytest.raises(InvalidSettingsError, match="nobody here can see the lifecycle of an imported bucket"):
        ImportedPayloadBucket(stack, "Payloads", bucket=bucket, expiration=cdk.Duration.days(seconds))


@pytest.mark.parametrize("with_flags", [True, False])
def test_log_bucket_payloads_and_reader_may_live_in_three_stacks(with_flags: bool) -> None:  # noqa: FBT001 - a parameter
    logs_stack = make_stack("Logs", with_flags=with_flags)
    app = logs_stack.node.root
    assert isinstance(app, cdk.App)
    payloads_stack, reader_stack = make_stack("Payloads", app=app), make_stack("Reader", app=app)
    logs = AccessLogBucket(logs_stack, "Logs")
    key = kms.Key(payloads_stack, "Key", enable_key_rotation=True)
    bucket = PayloadBucket(payloads_stack, "Payloads", access_logs_bucket=logs.bucket, encryption_key=key)
    bucket.retain_for(MessageQueue(reader_stack, "Queue", encryption_key=key))
    bucket.grant_read(iam.Role(reader_stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com")))
    assert findings(logs_stack, payloads_stack, reader_stack) == []
    templates = [Template.from_stack(stack) for stack in (logs_stack, payloads_stack, reader_stack)]
    assert findings(logs_stack, payloads_stack, reader_stack) == [], "ids of findings change once exports are made"
    delivery = [
        statement
        for policy in resources(templates[0], "AWS::S3::BucketPolicy").values()
        for statement in statements(policy)
        if statement["Effect"] == "Allow"
    ]
    assert [statement["Condition"] for statement in delivery] == [
        {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    ]


def test_an_imported_log_bucket_is_warned_about() -> None:
    stack = make_stack()
    logs = s3.Bucket.from_bucket_name(stack, "Logs", "logs")
    PayloadBucket(stack, "Payloads", expiration=cdk.Duration.days(30), access_logs_bucket=logs)
    Annotations.from_stack(stack).has_warning(
        "/Stack/Payloads", Match.string_like_regexp("must allow logging.s3.amazonaws.com")
    )


# --- Nag ------------------------------------------------------------------------------------------------------------


def test_cdk_nag_finds_nothing_that_is_not_acknowledged(sample: Sample) -> None:
    own = [found for found in sample.findings if "/Trail" not in found[1]]
    assert own == []


def test_a_bucket_without_access_logs_is_still_found() -> None:
    stack = make_stack()
    PayloadBucket(stack, "Payloads", expiration=cdk.Duration.days(30))
    assert findings(stack) == [("AwsSolutions-S1", "Stack/Payloads/Bucket/Resource")]


def test_a_log_bucket_alone_needs_its_acknowledgement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cdk.Validations, "acknowledge", lambda *_: None)
    stack = make_stack()
    AccessLogBucket(stack, "Logs")
    assert findings(stack) == [("AwsSolutions-S1", "Stack/Logs/Bucket/Resource")]


def test_each_acknowledgement_stands_on_one_construct(sample: Sample) -> None:
    rules = {path: sorted(rules) for path, rules in sample.acknowledged.items() if "/Queue/" not in path}
    plain = sample.logical_id(sample.plain.bucket)
    full = sample.logical_id(sample.full.bucket)
    iam5 = "AwsSolutions-IAM5[Resource::<{}.Arn>/{}]"
    assert rules == {
        "Stack/Logs/Bucket": ["AwsSolutions-S1"],
        "Stack/Writer/DefaultPolicy": [iam5.format(plain, "payloads/*")],
        "Stack/Reader/DefaultPolicy": [iam5.format(plain, "payloads/*")],
        "Stack/FullWriter/DefaultPolicy": [iam5.format(full, "payloads/*")],
        "Stack/FullReader/DefaultPolicy": [iam5.format(full, "payloads/*")],
        "Stack/Scoped/DefaultPolicy": sorted(
            iam5.format(plain, f"payloads/tenants/{tenant}/{kind}/*")
            for tenant in ("t-1", "t-2")
            for kind in ("A", "B")
        ),
        "Stack/Tenant/DefaultPolicy": [iam5.format(plain, "payloads/tenants/*/A/*")],
    }


# --- Request metrics ------------------------------------------------------------------------------------------------


def test_requests_below_the_payload_prefix_are_counted(sample: Sample) -> None:  # R12.1
    found = sample.bucket(sample.plain.bucket)["MetricsConfigurations"]
    assert found == [{"Id": "payloads", "Prefix": "payloads/"}]
    assert sample.plain.request_metrics_id == "payloads"


def test_they_can_be_left_out_since_they_cost_money() -> None:
    stack = make_stack()
    bucket = PayloadBucket(stack, "Bucket", request_metrics=False)
    bucket.retain_for(MessageQueue(stack, "Queue"))
    (properties,) = resources(Template.from_stack(stack), "AWS::S3::Bucket").values()
    assert "MetricsConfigurations" not in properties
    assert bucket.request_metrics_id is None


def test_those_of_an_imported_bucket_can_be_told() -> None:
    stack = make_stack()
    found = s3.Bucket.from_bucket_name(stack, "Found", "payloads-of-others")
    life = cdk.Duration.days(90)
    told = ImportedPayloadBucket(stack, "Told", bucket=found, expiration=life, request_metrics_id="all")
    assert told.request_metrics_id == "all"
    assert ImportedPayloadBucket(stack, "Untold", bucket=found, expiration=life).request_metrics_id is None
