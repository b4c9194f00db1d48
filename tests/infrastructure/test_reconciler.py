"""`Reconciler`: exactly the rights it uses, its schedule, its alarms, and what it refuses (R7.1, R11.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template

from claim_check.contract import UNCONFIRMED_SECONDS
from claim_check.reconciliation.settings import ReconcilerSettings
from claim_check_cdk import (
    ClaimCheckPipeline,
    ImportedPayloadBucket,
    InboxTable,
    InvalidSettingsError,
    PayloadBucket,
    Reconciler,
    RetentionTerms,
)
from claim_check_cdk.reconciler import RECONCILER_HANDLER, ReconciledBucket
from tests.infrastructure.kit import findings, make_stack, resources, statements

HOUR, DAY = 3600, 86_400


@dataclass(frozen=True)
class Consumer:
    """A consumer that another app has."""

    consumer_name: str
    inbox: InboxTable
    retention_terms: RetentionTerms


@dataclass(frozen=True)
class Outbox:
    """An outbox that another app has."""

    table: dynamodb.ITable
    destination_names: Sequence[str]


def make(stack: cdk.Stack, *, bucket: Mapping[str, Any] | None = None, **options: Any) -> Reconciler:  # noqa: ANN401 - of the constructs
    """A reconciler of a pipeline."""
    payloads = PayloadBucket(stack, "Payloads", expiration=cdk.Duration.days(60), **(bucket or {}))
    pipeline = ClaimCheckPipeline(stack, "Pipeline", handler="claim_check.handlers:none", bucket=payloads)
    return Reconciler(stack, "Reconciler", bucket=payloads, **{"consumers": [pipeline], **options})


def outbox(stack: cdk.Stack, **options: Any) -> Outbox:  # noqa: ANN401 - of the table
    """A table of outbox rows."""
    key = dynamodb.Attribute(name="pk", type=dynamodb.AttributeType.STRING)
    return Outbox(dynamodb.Table(stack, "Outbox", partition_key=key, **options), ("orders", "invoices"))


def own(template: Template) -> list[Mapping[str, Any]]:
    """Statements of the function's own policy."""
    (found,) = (
        one
        for logical_id, one in resources(template, "AWS::IAM::Policy").items()
        if logical_id.startswith("ReconcilerFunctionRole")
    )
    return list(statements(found))


def actions(template: Template) -> set[str]:
    """Everything that the function's own policy allows."""
    found: set[str] = set()
    for statement in own(template):
        action = statement["Action"]
        found |= {action} if isinstance(action, str) else set(action)
    return found


def function_of(template: Template) -> Mapping[str, Any]:
    """The function."""
    (found,) = (
        one for one in resources(template, "AWS::Lambda::Function").values() if one["Handler"] == RECONCILER_HANDLER
    )
    return found


class Sample:
    """One with nothing but defaults."""

    def __init__(self) -> None:
        """Synthesize."""
        self.stack = make_stack()
        self.reconciler = make(self.stack)
        self.findings = [one for one in findings(self.stack) if one[1].startswith("Stack/Reconciler")]
        self.template = Template.from_stack(self.stack)


@pytest.fixture(scope="module")
def sample() -> Sample:
    """One synth for the module."""
    return Sample()


def test_cdk_nag_finds_nothing(sample: Sample) -> None:
    assert sample.findings == []


def test_by_default_its_role_can_remove_nothing(sample: Sample) -> None:
    assert actions(sample.template) == {
        "dynamodb:BatchGetItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
        "s3:GetObject",
        "s3:GetObjectTagging",
        "s3:ListBucket",
        "sqs:SendMessage",
    }


def test_it_writes_its_own_table_only(sample: Sample) -> None:
    state = sample.stack.get_logical_id(sample.reconciler.state.table.node.default_child)  # type: ignore[arg-type]
    (write,) = [one for one in own(sample.template) if one["Action"] == "dynamodb:UpdateItem"]
    assert write["Resource"] == {"Fn::GetAtt": [state, "Arn"]}


def test_it_looks_at_payloads_only(sample: Sample) -> None:
    for statement in own(sample.template):
        if "s3:GetObject" in statement["Action"]:
            assert statement["Resource"]["Fn::Join"][1][-1] == "/payloads/*"
        if statement["Action"] == "s3:ListBucket":
            assert statement["Condition"] == {"StringLike": {"s3:prefix": ["payloads/*"]}}


@pytest.mark.parametrize(
    "options, added",
    [
        ({"delete": True}, {"s3:DeleteObject"}),
        (
            {"bucket": {"versioned": True}},
            {"s3:GetObjectVersion", "s3:GetObjectVersionTagging"},
        ),
        (
            {"bucket": {"versioned": True}, "delete": True},
            {
                "s3:DeleteObject",
                "s3:DeleteObjectVersion",
                "s3:GetObjectLegalHold",
                "s3:GetObjectRetention",
                "s3:GetObjectVersion",
                "s3:GetObjectVersionTagging",
            },
        ),
    ],
    ids=["delete", "versioned", "delete versions"],
)
def test_what_it_may_do_follows_what_it_does(sample: Sample, options: Mapping[str, Any], added: set[str]) -> None:
    stack = make_stack()
    make(stack, **options)
    assert actions(Template.from_stack(stack)) - actions(sample.template) == added


@pytest.mark.parametrize("delete", [False, True], ids=["report", "delete"])
def test_it_writes_outbox_rows_only_if_it_removes_their_payloads(delete: bool) -> None:  # noqa: FBT001 - a parameter of the test
    stack = make_stack()
    table = outbox(stack).table
    made = make(stack, outboxes=[Outbox(table, ("orders",))], delete=delete)
    name = stack.get_logical_id(table.node.default_child)  # type: ignore[arg-type]
    template = Template.from_stack(stack)
    written = [one["Resource"] for one in own(template) if "dynamodb:UpdateItem" in one["Action"]]
    assert ({"Fn::GetAtt": [name, "Arn"]} in written) == delete
    assert any(name in str(one["Resource"]) for one in own(template) if "dynamodb:BatchGetItem" in one["Action"])
    assert [one for one in findings(stack) if one[1].startswith(made.node.path)] == []


def test_a_prefix_narrows_the_role() -> None:
    stack = make_stack()
    made = make(stack, prefix="payloads/tenants/t-1/")
    assert [one for one in findings(stack) if one[1].startswith(made.node.path)] == []
    text = str(own(Template.from_stack(stack)))
    assert "payloads/tenants/t-1/*" in text
    assert "payloads/*" not in text


def test_the_function_reads_what_the_construct_wrote(sample: Sample) -> None:
    variables = {
        name: value if isinstance(value, str) else "token"
        for name, value in function_of(sample.template)["Environment"]["Variables"].items()
    }
    variables["CLAIM_CHECK_RECONCILER_INBOXES"] = "Pipeline=Table"
    settings = ReconcilerSettings.from_environment(variables)
    assert settings.inboxes == {"Table": ("Pipeline",)}
    assert settings.outboxes == {}
    assert settings.plan.name == "Reconciler"
    assert (settings.plan.delete, settings.plan.rate, settings.plan.looks) == (False, 10, 10_000)
    assert settings.plan.times.grace == 3 * DAY
    assert settings.plan.times.before_send == DAY
    assert settings.plan.times.unconfirmed == UNCONFIRMED_SECONDS
    assert settings.plan.every_seconds == DAY


def test_every_consumer_and_destination_is_told_with_its_table() -> None:
    stack = make_stack()
    rows = outbox(stack)
    inbox = InboxTable(stack, "Inbox", time_to_live=cdk.Duration.days(60))
    consumers = [
        Consumer("search", inbox, RetentionTerms(before_send=cdk.Duration.days(2))),
        Consumer("audit", inbox, RetentionTerms()),
    ]
    make(stack, consumers=consumers, outboxes=[rows])
    variables = function_of(Template.from_stack(stack))["Environment"]["Variables"]
    assert [part for part in variables["CLAIM_CHECK_RECONCILER_INBOXES"]["Fn::Join"][1] if isinstance(part, str)] == [
        "search=",
        ",audit=",
    ]
    assert [part for part in variables["CLAIM_CHECK_RECONCILER_OUTBOXES"]["Fn::Join"][1] if isinstance(part, str)] == [
        "orders=",
        ",invoices=",
    ]
    assert variables["CLAIM_CHECK_BEFORE_SEND_SECONDS"] == str(2 * DAY)


def test_it_goes_off_every_half_hour_and_keeps_what_failed(sample: Sample) -> None:
    (rule,) = resources(sample.template, "AWS::Events::Rule").values()
    assert rule["ScheduleExpression"] == "rate(30 minutes)"
    function = function_of(sample.template)
    assert function["Timeout"] == 840
    assert function["DeadLetterConfig"]["TargetArn"] == rule["Targets"][0]["DeadLetterConfig"]["Arn"]


def test_alarms_say_what_to_do_and_reach_the_topic() -> None:
    stack = make_stack()
    made = make(stack, alarm_topic=sns.Topic(stack, "Topic"), every=cdk.Duration.hours(6), unknown_growth=3)
    assert set(made.alarms) == {"DeadPointers", "UnknownPayloads", "ReconciliationOverdue", "UndeliveredRuns"}
    alarms = {
        logical_id: one
        for logical_id, one in resources(Template.from_stack(stack), "AWS::CloudWatch::Alarm").items()
        if logical_id.startswith("Reconciler")
    }
    by_metric = {one["MetricName"]: one for one in alarms.values()}
    overdue = by_metric["ReconciliationAgeSeconds"]
    assert (overdue["Threshold"], overdue["TreatMissingData"]) == (12 * HOUR, "breaching")
    assert by_metric["UnknownGrowthPercent"]["Threshold"] == 3
    assert by_metric["DeadPointers"]["TreatMissingData"] == "notBreaching"
    for one in alarms.values():
        assert one["AlarmActions"] == one["OKActions"]
        assert "docs/runbook.md#alarm-" in one["AlarmDescription"]


def test_a_customer_key_encrypts_table_and_queue_and_is_granted() -> None:
    stack = make_stack()
    made = make(stack, encryption_key=kms.Key(stack, "Key"))
    assert [one for one in findings(stack) if one[1].startswith(made.node.path)] == []
    assert {"kms:Decrypt", "kms:GenerateDataKey"} <= actions(Template.from_stack(stack))


def test_keys_of_the_consumers_tables_are_granted() -> None:
    stack = make_stack()
    inbox = InboxTable(stack, "Inbox", time_to_live=cdk.Duration.days(60), encryption_key=kms.Key(stack, "Key"))
    make(stack, consumers=[Consumer("search", inbox, RetentionTerms())])
    assert {"kms:Decrypt", "kms:DescribeKey"} <= actions(Template.from_stack(stack))


def test_in_a_stack_of_its_own_it_reads_what_others_made() -> None:
    app = cdk.App()
    home = make_stack("Home", app=app)
    pipeline = ClaimCheckPipeline(home, "Pipeline", handler="claim_check.handlers:none")
    stack = make_stack(app=app)
    made = Reconciler(
        stack,
        "Reconciler",
        bucket=PayloadBucket(stack, "Payloads", expiration=cdk.Duration.days(60)),
        consumers=[pipeline],
    )
    assert [one for one in findings(stack) if one[1].startswith(made.node.path)] == []
    assert "Fn::ImportValue" in str(own(Template.from_stack(stack)))


def imported(stack: cdk.Stack) -> ReconciledBucket:
    """A bucket of another app."""
    bucket = s3.Bucket.from_bucket_name(stack, "Named", "payloads-of-others")
    return ImportedPayloadBucket(stack, "Imported", bucket=bucket, expiration=cdk.Duration.days(60))


@pytest.mark.parametrize(
    "options, argument",
    [
        ({"name": "a b"}, "name"),
        ({"prefix": "other/"}, "prefix"),
        ({"consumers": []}, "consumers"),
        ({"grace": cdk.Duration.days(366)}, "grace"),
        ({"every": cdk.Duration.minutes(30)}, "every"),
        ({"every": cdk.Duration.days(8)}, "every"),
        ({"grace": cdk.Duration.seconds(cdk.Token.as_number({"Ref": "X"}))}, "grace"),
        ({"rate": 0.5}, "rate"),
        ({"looks": 100_001}, "looks"),
        ({"unknown_growth": 0}, "unknown_growth"),
    ],
    ids=["name", "prefix", "no consumer", "grace", "often", "rare", "token", "rate", "looks", "growth"],
)
def test_settings_that_cannot_work_are_refused(options: Mapping[str, Any], argument: str) -> None:
    stack = make_stack()
    with pytest.raises(InvalidSettingsError) as caught:
        make(stack, **options)
    assert [one.argument for one in caught.value.mistakes] == [argument]
    assert all(one.way_out for one in caught.value.mistakes)


def test_two_consumers_of_one_name_are_refused() -> None:
    stack = make_stack()
    inbox = InboxTable(stack, "Inbox", time_to_live=cdk.Duration.days(60))
    one = Consumer("search", inbox, RetentionTerms())
    with pytest.raises(InvalidSettingsError, match="consumers = search"):
        make(stack, consumers=[one, one])


def test_an_imported_buckets_rule_for_unconfirmed_uploads_must_be_told() -> None:
    stack = make_stack()
    consumers = [Consumer("search", InboxTable(stack, "Inbox", time_to_live=cdk.Duration.days(60)), RetentionTerms())]
    bucket = imported(stack)
    with pytest.raises(InvalidSettingsError, match="unconfirmed_expiration"):
        Reconciler(stack, "Reconciler", bucket=bucket, consumers=consumers)
    made = Reconciler(stack, "Told", bucket=bucket, consumers=consumers, unconfirmed_expiration=cdk.Duration.days(3))
    assert [one for one in findings(stack) if one[1].startswith(made.node.path)] == []
