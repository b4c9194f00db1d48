"""`DlqArchive` and `DlqSampler`: rights, schedule, life of letters, what plans count, alarms (R6.5, R12.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Annotations, Match, Template

from claim_check.contract import Setting
from claim_check_cdk import (
    AccessLogBucket,
    ClaimCheckPipeline,
    DlqArchive,
    DlqSampler,
    FifoOptions,
    InboxTable,
    InvalidSettingsError,
    MessageQueue,
    PayloadBucket,
    RetentionTerms,
    UploadApi,
)
from claim_check_cdk.dlq_sampler import DEAD_LETTERS_HANDLER
from tests.infrastructure.kit import findings, imported_queue, make_stack, only, resources, statements

HOUR, DAY = 3600, 86_400
LETTERS = "/letters/*"


class Parts:
    """A queue, a bucket and an inbox that know of it, and the archive."""

    def __init__(
        self,
        stack: cdk.Stack | None = None,
        *,
        queue: Mapping[str, Any] | None = None,
        **options: Any,  # noqa: ANN401 - of the construct
    ) -> None:
        """Wire them."""
        self.stack = stack or make_stack()
        self.queue = MessageQueue(self.stack, "Queue", **(queue or {}))
        self.payloads = PayloadBucket(self.stack, "Payloads")
        self.inbox = InboxTable(self.stack, "Inbox")
        for keeper in (self.payloads, self.inbox):
            keeper.retain_for(self.queue)
        known = {"queue": self.queue, "inbox": self.inbox, "consumer_name": "documents"}
        self.archive = DlqArchive(self.stack, "Archive", **{**known, **options})


class Sample(Parts):
    """One with nothing but defaults, and an operator."""

    def __init__(self) -> None:
        """Synthesize."""
        stack = make_stack()
        super().__init__(stack, access_logs_bucket=AccessLogBucket(stack, "Logs").bucket)
        self.operator = iam.Role(self.stack, "Operator", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
        self.archive.grant_operator(self.operator)
        self.findings = [one for one in findings(self.stack) if one[1].startswith("Stack/Archive")]
        self.template = Template.from_stack(self.stack)


@pytest.fixture(scope="module")
def sample() -> Sample:
    """One synth for the module."""
    return Sample()


def function_of(template: Template) -> Mapping[str, Any]:
    """The function that looks after the DLQ."""
    (found,) = (
        one for one in resources(template, "AWS::Lambda::Function").values() if one["Handler"] == DEAD_LETTERS_HANDLER
    )
    return found


def variables_of(template: Template) -> Mapping[str, Any]:
    """Its settings."""
    found: Mapping[str, Any] = function_of(template)["Environment"]["Variables"]
    return found


def policy_of(template: Template, name: str) -> list[Mapping[str, Any]]:
    """Statements of the policy whose logical id begins so."""
    (found,) = (
        one for logical_id, one in resources(template, "AWS::IAM::Policy").items() if logical_id.startswith(name)
    )
    return list(statements(found))


def bucket_of(template: Template, name: str = "Archive") -> Mapping[str, Any]:
    """The bucket whose logical id begins so."""
    (found,) = (
        one for logical_id, one in resources(template, "AWS::S3::Bucket").items() if logical_id.startswith(name)
    )
    return found


def rules_of(bucket: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Its lifecycle rules."""
    found: list[Mapping[str, Any]] = bucket["LifecycleConfiguration"]["Rules"]
    return found


# --- What is made ---------------------------------------------------------------------------------------------------


def test_the_bucket_is_as_closed_as_that_of_the_payloads(sample: Sample) -> None:  # R11.1
    bucket = bucket_of(sample.template)
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["BucketEncryption"]
    assert bucket["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]
    (policy,) = (
        one
        for one in resources(sample.template, "AWS::S3::BucketPolicy").values()
        if str(one["Bucket"]).startswith("{'Ref': 'Archive")
    )
    denied = {str(one.get("Sid", one["Condition"])): one["Effect"] for one in statements(policy)}
    assert set(denied.values()) == {"Deny"}
    assert "RefuseUnconditionalWrites" in denied
    assert any("SecureTransport" in name for name in denied)


def test_letters_expire_after_exactly_the_time_they_are_kept(sample: Sample) -> None:
    (letters,) = (rule for rule in rules_of(bucket_of(sample.template)) if "ExpirationInDays" in rule)
    assert letters["ExpirationInDays"] == 30
    assert letters["Prefix"]["Fn::Join"][1][0] == "letters/"
    assert letters["Prefix"]["Fn::Join"][1][2] == "/"


def test_the_function_is_told_all_it_needs(sample: Sample) -> None:
    variables = variables_of(sample.template)
    assert variables[Setting.CONSUMER] == "documents"
    assert variables[Setting.ARCHIVE_AFTER] == str(12 * DAY)
    assert variables[Setting.STUCK_AFTER] == str(HOUR)
    assert {Setting.DLQ_URL, Setting.ARCHIVE_BUCKET, Setting.INBOX_TABLE, Setting.INBOX_TTL} <= variables.keys()
    # By those two a function is known as one of the pipeline's own.
    assert not {Setting.BUCKET, Setting.QUEUE_URL} & variables.keys()


def test_the_function_may_do_exactly_what_it_does(sample: Sample) -> None:  # R11.2
    found = policy_of(sample.template, "ArchiveSamplerFunctionRole")
    actions = [one["Action"] for one in found]
    assert actions == [
        "sqs:SendMessage",
        ["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:ReceiveMessage"],
        "dynamodb:Query",
        ["s3:GetObject", "s3:PutObject"],
    ]
    assert str(found[2]["Resource"]).endswith("'/index/open']]}")
    assert found[3]["Resource"]["Fn::Join"][1][1] == LETTERS
    assert "Undelivered" in str(found[0]["Resource"])
    assert "DeadLetterQueue" in str(found[1]["Resource"])


def test_an_operator_may_list_read_and_remove_letters_only(sample: Sample) -> None:
    listing, letters = policy_of(sample.template, "OperatorDefaultPolicy")
    assert (listing["Action"], listing["Condition"]) == ("s3:ListBucket", {"StringLike": {"s3:prefix": ["letters/*"]}})
    assert letters["Action"] == ["s3:DeleteObject", "s3:GetObject"]
    assert letters["Resource"]["Fn::Join"][1][1] == LETTERS


def test_the_schedule_runs_hourly_and_loses_no_run(sample: Sample) -> None:
    rule = only(sample.template, "AWS::Events::Rule")
    assert rule["ScheduleExpression"] == "rate(1 hour)"
    (target,) = rule["Targets"]
    assert "Undelivered" in str(target["DeadLetterConfig"])
    assert "Undelivered" in str(function_of(sample.template)["DeadLetterConfig"])


def test_nothing_is_found_by_cdk_nag(sample: Sample) -> None:
    assert sample.findings == []


def test_bucket_and_undelivered_runs_stay_when_they_leave_the_stack(sample: Sample) -> None:
    kinds = ("AWS::S3::Bucket", "AWS::SQS::Queue", "AWS::Logs::LogGroup")
    for kind in kinds:
        for logical_id, one in sample.template.find_resources(kind).items():
            if logical_id.startswith("Archive"):
                assert one["DeletionPolicy"] == "Retain", logical_id


def test_customer_keys_of_letters_and_of_the_dlq_may_be_used() -> None:
    stack = make_stack()
    Parts(stack, encryption_key=kms.Key(stack, "Key"), queue={"encryption_key": kms.Key(stack, "QueueKey")})
    template = Template.from_stack(stack)
    encryption = bucket_of(template)["BucketEncryption"]["ServerSideEncryptionConfiguration"][0]
    assert encryption["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "aws:kms"
    found = policy_of(template, "ArchiveSamplerFunctionRole")
    keys = {str(one["Resource"]["Fn::GetAtt"][0])[:8]: one["Action"] for one in found if "kms:" in str(one["Action"])}
    assert keys.pop("QueueKey") == "kms:Decrypt"
    (letters,) = keys.values()
    assert {"kms:Decrypt", "kms:GenerateDataKey"} <= set(letters)


def test_access_logs_go_where_they_are_wanted(sample: Sample) -> None:
    assert bucket_of(sample.template)["LoggingConfiguration"]["LogFilePrefix"] == "dlq-archive/"


def test_two_archives_share_a_bucket_each_with_its_own_rule() -> None:
    stack = make_stack()
    shared = s3.Bucket(stack, "Shared")
    for name, keep in (("A", 10), ("B", 60)):
        queue = MessageQueue(stack, f"{name}Queue")
        DlqArchive(
            stack, f"{name}Archive", queue=queue, consumer_name=name, bucket=shared, keep=cdk.Duration.days(keep)
        )
    rules = rules_of(bucket_of(Template.from_stack(stack), "Shared"))
    assert [rule["ExpirationInDays"] for rule in rules] == [10, 60]
    assert len({str(rule["Prefix"]) for rule in rules}) == len({rule["Id"] for rule in rules}) == 2


def test_an_imported_bucket_is_warned_about() -> None:
    stack = make_stack()
    Parts(stack, bucket=s3.Bucket.from_bucket_name(stack, "Theirs", "their-letters"))
    Annotations.from_stack(stack).has_warning("*", Match.string_like_regexp(".*must expire letters/ after 30 d.*"))


# --- Retention ------------------------------------------------------------------------------------------------------


def test_payloads_and_inbox_count_the_archive(sample: Sample) -> None:  # R6.5
    plan = sample.queue.retention_plan()
    assert (plan.archive, plan.triage) == (31 * DAY, DAY)
    without = make_stack()
    assert plan.seconds - MessageQueue(without, "Queue").retention_plan().seconds == 31 * DAY
    (payloads,) = (rule for rule in rules_of(bucket_of(sample.template, "Payloads")) if rule["Id"] == "expire-payloads")
    assert payloads["ExpirationInDays"] == plan.days
    assert variables_of(sample.template)[Setting.INBOX_TTL] == str(plan.days * DAY)


def test_each_redrive_round_may_pass_through_the_archive() -> None:
    parts = Parts()
    one = parts.queue.retention_plan()
    two = parts.queue.retention_plan(RetentionTerms(redrive_rounds=2))
    assert two.seconds - one.seconds == one.life + 31 * DAY


def test_what_was_planned_with_terms_of_its_own_counts_the_archive_too() -> None:
    stack = make_stack()
    pipeline = ClaimCheckPipeline(stack, "Pipeline", handler="claim_check.handlers:none")
    UploadApi(stack, "Uploads", pipeline=pipeline)
    assert isinstance(pipeline.bucket, PayloadBucket)
    before = pipeline.bucket.retention_plan()
    DlqArchive(
        stack,
        "Archive",
        queue=pipeline.queue,
        inbox=pipeline.inbox,
        consumer_name="documents",
        keep=cdk.Duration.days(60),
    )
    after = pipeline.bucket.retention_plan()
    assert before is not None
    assert after is not None
    assert after.before_send == before.before_send > DAY
    assert after.seconds - before.seconds == 61 * DAY


@pytest.mark.parametrize("kind, argument", [(PayloadBucket, "expiration"), (InboxTable, "time_to_live")])
def test_a_shorter_life_fails_the_synthesis_and_prints_the_sum(kind: Any, argument: str) -> None:  # noqa: ANN401 - a construct  # R6.2
    stack = make_stack()
    queue = MessageQueue(stack, "Queue")
    keeper = kind(stack, "Keeper", **{argument: cdk.Duration.days(40)})
    keeper.retain_for(queue)
    assert keeper.node.validate() == []
    DlqArchive(stack, "Archive", queue=queue, consumer_name="documents")
    (refusal,) = keeper.node.validate()
    assert f"{argument} = 40 d: must be at least 70 d" in refusal
    assert "archive               31 d" in refusal


# --- Alarms ---------------------------------------------------------------------------------------------------------


def test_what_stays_behind_rings_half_a_margin_before_it_is_lost(sample: Sample) -> None:
    behind, silent = sorted(
        (
            one
            for one in resources(sample.template, "AWS::CloudWatch::Alarm").values()
            if one["MetricName"] == "OldestDeadLetterSeconds"
        ),
        key=lambda one: int(one["Threshold"]),
    )
    assert (behind["Threshold"], behind["TreatMissingData"]) == (13 * DAY, "notBreaching")
    assert silent["TreatMissingData"] == "breaching"  # SQS's own age metric omits what was sampled three times
    assert (silent["DatapointsToAlarm"], silent["EvaluationPeriods"]) == (2, 2)
    assert sorted(sample.archive.alarms) == [
        "ArchiveBehind",
        "ArchiveFailed",
        "ArchiveSilent",
        "DeadLetterFunctionErrors",
        "DeadLetterFunctionThrottles",
        "DeadLetterLife",
        "StuckWork",
        "UndeliveredRuns",
    ]


# --- The sampler alone ----------------------------------------------------------------------------------------------


def test_the_sampler_alone_can_neither_delete_nor_store() -> None:
    stack = make_stack()
    DlqSampler(stack, "Sampler", queue=MessageQueue(stack, "Queue"), consumer_name="documents")
    assert [one for one in findings(stack) if one[1].startswith("Stack/Sampler")] == []
    template = Template.from_stack(stack)
    assert [one["Action"] for one in policy_of(template, "SamplerFunctionRole")] == [
        "sqs:SendMessage",
        ["sqs:ChangeMessageVisibility", "sqs:ReceiveMessage"],
    ]
    assert Setting.ARCHIVE_BUCKET not in variables_of(template)


def test_the_sampler_alone_may_use_the_key_of_its_undelivered_runs() -> None:
    """Lambda sends a run that failed to the end under the function's own role: without the key it would be dropped."""
    stack = make_stack()
    queue, key = MessageQueue(stack, "Queue"), kms.Key(stack, "Key")
    DlqSampler(stack, "Sampler", queue=queue, consumer_name="documents", encryption_key=key)
    (found,) = [
        one
        for one in policy_of(Template.from_stack(stack), "SamplerFunctionRole")
        if one["Resource"] == stack.resolve(key.key_arn)
    ]
    assert found["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]


def test_the_sampler_of_a_queue_that_blocks_looks_at_the_inbox_only() -> None:
    stack = make_stack()
    queue = MessageQueue(stack, "Queue", fifo=FifoOptions(on_poison="block"))
    inbox = InboxTable(stack, "Inbox")
    inbox.retain_for(queue)
    made = DlqSampler(stack, "Sampler", queue=queue, inbox=inbox, consumer_name="wallet")
    template = Template.from_stack(stack)
    assert [one["Action"] for one in policy_of(template, "SamplerFunctionRole")] == [
        "sqs:SendMessage",
        "dynamodb:Query",
    ]
    assert Setting.DLQ_URL not in variables_of(template)
    assert {"StuckWork"} == {"StuckWork", "DeadLetterLife"} & made.alarms.keys()


# --- Refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, words",
    [
        ({"keep": cdk.Duration.hours(36)}, "keep = 129600 s: must be whole days"),
        ({"keep": cdk.Duration.days(4000)}, "keep = 4000 d: must be from 1 to 3650 d"),
        ({"margin": cdk.Duration.days(14)}, "margin = 1209600 s: must be shorter than the DLQ's retention of 14 d"),
        ({"margin": cdk.Duration.hours(3)}, "must hold 4 runs, one every 1 h"),
        ({"every": cdk.Duration.minutes(1)}, "every = 60 s: must be from 900 to 43200 s"),
        ({"consumer_name": "no name"}, "consumer_name = 'no name'"),
        ({"stuck_after": cdk.Duration.seconds(1)}, "stuck_after = 1 s: must be from 60 to 1.2096e+06 s"),
    ],
    ids=["part of a day", "for ever", "no time at all", "few runs", "too often", "no name", "at once"],
)
def test_settings_that_cannot_work_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidSettingsError) as refused:
        Parts(**options)
    assert words in str(refused.value)


def test_a_queue_that_blocks_has_nothing_to_archive() -> None:
    with pytest.raises(InvalidSettingsError, match="look after it with DlqSampler"):
        Parts(queue={"fifo": FifoOptions(on_poison="block")})


def test_a_queue_that_cannot_count_the_archive_is_refused() -> None:
    class Fork:
        """A fork of `MessageQueue` from before there was an archive."""

        def __init__(self, queue: MessageQueue) -> None:
            """Copy what it has."""
            self.dead_letter_queue, self.retention_plan = queue.dead_letter_queue, queue.retention_plan

    stack = make_stack()
    with pytest.raises(InvalidSettingsError, match="queue = Fork: cannot count an archive"):
        DlqArchive(stack, "Archive", queue=Fork(MessageQueue(stack, "Queue")), consumer_name="documents")


def test_a_sampler_with_nothing_to_look_at_is_refused() -> None:
    stack = make_stack()
    queue = MessageQueue(stack, "Queue", fifo=FifoOptions(on_poison="block"))
    with pytest.raises(InvalidSettingsError, match="leaves nothing to look at"):
        DlqSampler(stack, "Sampler", queue=queue, consumer_name="wallet")


def test_a_dlq_made_elsewhere_is_archived_by_the_retention_it_was_told_to_have() -> None:
    stack = make_stack(env=cdk.Environment(account="111122223333", region="eu-west-1"))
    queue = {"dead_letter_queue": imported_queue(stack), "dead_letter_retention": cdk.Duration.days(7)}
    parts = Parts(stack, queue=queue)
    assert parts.archive.archive_after.to_days() == 6
