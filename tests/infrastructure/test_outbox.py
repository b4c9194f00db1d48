"""`Outbox`: table and stream, what each role may do, what is planned and watched, what is refused (R3, R6, R11)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Template

from claim_check import contract
from claim_check.contract import Metric, Setting
from claim_check.outbox.settings import OutboxSettings, RelaySettings
from claim_check_cdk import (
    ClaimCheckPipeline,
    FifoOptions,
    InboxTable,
    InvalidSettingsError,
    MessageQueue,
    Outbox,
    OutboxTable,
    PayloadBucket,
    RetentionTerms,
)
from claim_check_cdk.outbox import RELAY_HANDLER, SWEEP_HANDLER
from tests.infrastructure.kit import acknowledged, findings, make_stack, only, resources, statements

DAY = 86_400


def make_pipeline(stack: cdk.Stack, name: str = "Pipeline", **options: Any) -> ClaimCheckPipeline:  # noqa: ANN401 - of the construct
    """A pipeline."""
    return ClaimCheckPipeline(stack, name, handler="claim_check.handlers:none", **options)


class Sample:
    """An outbox for two pipelines, one of them FIFO, and an application that stages."""

    def __init__(self) -> None:
        """Synthesize."""
        self.stack = make_stack()
        self.invoices = make_pipeline(self.stack, "Invoices", fifo=FifoOptions(on_poison="park"))
        self.audit = make_pipeline(self.stack, "Audit")
        self.outbox = Outbox(self.stack, "Outbox", destinations={"invoices": self.invoices, "audit": self.audit})
        self.caller = iam.Role(self.stack, "Caller", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
        self.outbox.grant_stage(self.caller)
        self.environment = self.stack.resolve(self.outbox.stage_environment())
        self.findings = [one for one in findings(self.stack) if one[1].startswith("Stack/Outbox")]
        self.template = Template.from_stack(self.stack)

    def function(self, handler: str) -> Mapping[str, Any]:
        """A function's properties."""
        functions = resources(self.template, "AWS::Lambda::Function").values()
        return next(one for one in functions if one["Handler"] == handler)

    def allowed(self, role: str) -> dict[str, set[str]]:
        """Actions by resource, as text, of the policies whose logical id begins so."""
        found: dict[str, set[str]] = {}
        for logical_id, policy in resources(self.template, "AWS::IAM::Policy").items():
            for statement in statements(policy) if logical_id.startswith(role) else ():
                actions, targets = statement["Action"], statement["Resource"]
                for target in targets if isinstance(targets, list) else [targets]:
                    text = json.dumps(target)
                    found.setdefault(text, set()).update([actions] if isinstance(actions, str) else actions)
        return found


@pytest.fixture(scope="module")
def sample() -> Sample:
    """One synth for the module."""
    return Sample()


def table_of(template: Template) -> Mapping[str, Any]:
    """The outbox's table."""
    (found,) = [
        properties
        for logical_id, properties in resources(template, "AWS::DynamoDB::Table").items()
        if logical_id.startswith("Outbox")
    ]
    return found


# --- What is made ---------------------------------------------------------------------------------------------------


def test_the_table_streams_keys_alone(sample: Sample) -> None:
    table = table_of(sample.template)
    assert table["StreamSpecification"] == {"StreamViewType": "KEYS_ONLY"}  # no message passes through the stream
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["DeletionProtectionEnabled"] is True


def test_the_index_of_unsent_rows_is_the_contracts(sample: Sample) -> None:
    (index,) = table_of(sample.template)["GlobalSecondaryIndexes"]
    assert index["IndexName"] == contract.OUTBOX_OPEN_INDEX
    assert [key["AttributeName"] for key in index["KeySchema"]] == ["openShard", "openSince"]


def test_tables_stay(sample: Sample) -> None:
    found = sample.template.find_resources("AWS::DynamoDB::Table")
    assert {one["DeletionPolicy"] for one in found.values()} == {"Retain"}


def test_the_mapping_takes_inserts_and_gives_nothing_up_in_silence(sample: Sample) -> None:
    """FIELD_REPORTS: TTL removals, first failed record, bisect, maximum age, destination on failure."""
    (mapping,) = [
        one
        for name, one in resources(sample.template, "AWS::Lambda::EventSourceMapping").items()
        if name.startswith("Outbox")
    ]
    assert [json.loads(one["Pattern"]) for one in mapping["FilterCriteria"]["Filters"]] == [{"eventName": ["INSERT"]}]
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["BisectBatchOnFunctionError"] is True
    assert mapping["MaximumRecordAgeInSeconds"] == 3600
    assert mapping["MaximumRetryAttempts"] == 10
    assert mapping["StartingPosition"] == "TRIM_HORIZON"
    assert mapping["DestinationConfig"]["OnFailure"]["Destination"]["Fn::GetAtt"][0].startswith("OutboxUndelivered")


def test_the_mapping_waits_for_its_rights(sample: Sample) -> None:
    mappings = sample.template.find_resources("AWS::Lambda::EventSourceMapping")
    (mapping,) = [one for name, one in mappings.items() if name.startswith("Outbox")]
    assert any(name.startswith("OutboxRelayRoleDefaultPolicy") for name in mapping["DependsOn"])


def test_the_sweep_runs_every_minute(sample: Sample) -> None:
    rules = resources(sample.template, "AWS::Events::Rule")
    (rule,) = [one for name, one in rules.items() if name.startswith("Outbox")]
    assert rule["ScheduleExpression"] == "rate(1 minute)"
    assert rule["Targets"][0]["DeadLetterConfig"]["Arn"]["Fn::GetAtt"][0].startswith("OutboxUndelivered")


@pytest.mark.parametrize("handler", [RELAY_HANDLER, SWEEP_HANDLER])
def test_functions_get_the_settings_that_the_runtime_reads(sample: Sample, handler: str) -> None:
    variables = {
        name: value if isinstance(value, str) else as_text(value)
        for name, value in sample.function(handler)["Environment"]["Variables"].items()
    }
    settings = RelaySettings.from_environment(variables)
    assert settings.before_send_seconds == DAY
    assert settings.outbox.name == "Outbox"
    assert list(settings.outbox.destinations) == ["invoices", "audit"]
    assert settings.outbox.destinations["invoices"].on_poison == "block"
    assert settings.ttl_seconds == 2 * DAY + 2 * 18 * DAY + DAY + DAY  # before_send twice: pipeline's and outbox's


def as_text(value: Mapping[str, Any]) -> str:
    """A value that deployment makes, with every reference as a word."""
    if "Fn::Join" not in value:
        return "reference"
    return "".join(part if isinstance(part, str) else "reference" for part in value["Fn::Join"][1])


def test_an_application_gets_the_settings_that_the_runtime_reads(sample: Sample) -> None:
    variables = {
        name: value if isinstance(value, str) else as_text(value) for name, value in sample.environment.items()
    }
    settings = OutboxSettings.from_environment(variables)
    assert settings.destinations["audit"].producer.before_send_seconds == DAY
    assert set(variables) <= {
        Setting.OUTBOX,
        Setting.OUTBOX_TABLE,
        f"{Setting.OUTBOX_DESTINATION}1",
        f"{Setting.OUTBOX_DESTINATION}2",
    }


# --- Who may do what ------------------------------------------------------------------------------------------------


def test_relay_and_sweep_may_claim_mark_and_send_and_nothing_else(sample: Sample) -> None:
    rows = {"dynamodb:BatchGetItem", "dynamodb:ConditionCheckItem", "dynamodb:PutItem", "dynamodb:UpdateItem"}
    for role in ("OutboxRelayRole", "OutboxSweepRole"):
        allowed = sample.allowed(role)
        (table,) = [name for name in allowed if '"Arn"' in name and "OutboxTable" in name and "index" not in name]
        assert allowed[table] == rows
        index = [actions for name, actions in allowed.items() if "/index/open" in name]
        assert index == ([{"dynamodb:Query"}] if role == "OutboxSweepRole" else [])
        queues = [name for name in allowed if "InvoicesQueue" in name or "AuditQueue" in name]
        assert [allowed[name] for name in queues] == [{"sqs:SendMessage"}] * 2
        assert not any("s3:" in action for actions in allowed.values() for action in actions)  # no payload is read


def test_who_stages_may_write_payloads_and_rows_but_not_send(sample: Sample) -> None:
    allowed = sample.allowed("Caller")
    actions = set().union(*allowed.values())
    assert {one for one in actions if one.startswith("dynamodb:")} == {
        "dynamodb:BatchGetItem",
        "dynamodb:PutItem",
        "dynamodb:UpdateItem",
    }
    assert "s3:PutObject" in actions
    assert not any(one.startswith("sqs:") for one in actions)


def test_operators_may_look_and_send_again() -> None:
    stack = make_stack()
    table = OutboxTable(stack, "Table")
    table.retain_for(MessageQueue(stack, "Queue"))
    table.grant_operator(iam.Role(stack, "Operator", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com")))
    (policy,) = resources(Template.from_stack(stack), "AWS::IAM::Policy").values()
    assert [one["Action"] for one in statements(policy)] == [
        ["dynamodb:BatchGetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
        "dynamodb:Query",
    ]


def test_cdk_nag_finds_nothing(sample: Sample) -> None:
    assert sample.findings == []


def test_what_is_acknowledged_is_told_why(sample: Sample) -> None:
    found = acknowledged(sample.outbox)
    stars = {path for path, rules in found.items() if "AwsSolutions-IAM5[Resource::*]" in rules}
    assert {path.rpartition("Outbox/")[2].partition("/")[0] for path in stars} == {"Relay", "Sweep"}
    assert "Serverless-LambdaDLQ" in found["Stack/Outbox/Relay/Function/Resource"]
    assert not any("Serverless-LambdaDLQ" in rules for path, rules in found.items() if "Sweep" in path)


# --- Retention ------------------------------------------------------------------------------------------------------


def test_bucket_and_inbox_count_the_time_in_the_outbox() -> None:
    stack = make_stack()
    pipeline = make_pipeline(stack, retention_terms=RetentionTerms(before_send=cdk.Duration.days(2)))
    assert isinstance(pipeline.bucket, PayloadBucket)
    assert isinstance(pipeline.inbox, InboxTable)
    before = pipeline.bucket.retention_plan()
    Outbox(stack, "Outbox", destinations={"it": pipeline}, before_send=cdk.Duration.days(3))
    after = pipeline.bucket.retention_plan()
    assert before is not None
    assert after is not None
    assert after.before_send == before.before_send + 3 * DAY == 5 * DAY  # R3.2, R6.1
    assert pipeline.inbox.retention_plan() == after


def test_a_payload_life_that_is_too_short_for_the_outbox_fails_the_synthesis() -> None:
    stack = make_stack()
    bucket = PayloadBucket(stack, "Bucket", expiration=cdk.Duration.days(41))
    pipeline = make_pipeline(stack, bucket=bucket)
    Outbox(stack, "Outbox", destinations={"it": pipeline}, before_send=cdk.Duration.days(3))
    with pytest.raises(RuntimeError, match="before_send"):
        Template.from_stack(stack)


# --- Alarms ---------------------------------------------------------------------------------------------------------


def test_lag_and_parked_rows_ring(sample: Sample) -> None:
    alarms = {
        one["MetricName"]: one
        for name, one in resources(sample.template, "AWS::CloudWatch::Alarm").items()
        if name.startswith("Outbox")
    }
    lag, parked = alarms[Metric.OUTBOX_LAG], alarms[Metric.OUTBOX_PARKED]
    assert (lag["Threshold"], lag["Statistic"], lag["DatapointsToAlarm"], lag["EvaluationPeriods"]) == (
        300,
        "Maximum",
        2,
        3,
    )
    assert parked["Threshold"] == 1
    assert lag["Dimensions"] == [{"Name": "service", "Value": "Outbox"}]
    assert set(alarms) >= {"IteratorAge", "Errors", "Throttles", "ApproximateNumberOfMessagesVisible"}
    assert {one["TreatMissingData"] for one in alarms.values()} == {"notBreaching"}


def test_what_a_rarer_sweep_measures_rings_too() -> None:
    """Of three minutes, a sweep every ten minutes fills one at most: two of three would never be bad."""
    stack = make_stack()
    Outbox(stack, "Outbox", destinations={"it": make_pipeline(stack)}, sweep_every=cdk.Duration.minutes(10))
    alarms = resources(Template.from_stack(stack), "AWS::CloudWatch::Alarm").values()
    periods = {one["MetricName"]: one["Period"] for one in alarms if one["Namespace"] == contract.METRIC_NAMESPACE}
    assert (periods[Metric.OUTBOX_LAG], periods[Metric.OUTBOX_PARKED]) == (600, 600)


def test_each_alarm_has_an_id(sample: Sample) -> None:
    assert set(sample.outbox.alarms) == {
        "OutboxLag",
        "OutboxParked",
        "OutboxStreamAge",
        "OutboxUndelivered",
        "RelayFunctionErrors",
        "RelayFunctionThrottles",
        "SweepFunctionErrors",
        "SweepFunctionThrottles",
    }


# --- Alone, elsewhere, with keys ------------------------------------------------------------------------------------


def test_it_works_in_a_stack_of_its_own() -> None:
    app = cdk.App(context=dict(make_stack().node.get_all_context()))
    home, away = make_stack("Home", app=app), make_stack("Away", app=app)
    pipeline = make_pipeline(home)
    outbox = Outbox(away, "Outbox", destinations={"it": pipeline})
    outbox.grant_stage(iam.Role(away, "Caller", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com")))
    assert [one for one in findings(away) if one[1].startswith("Away/Outbox")] == []
    Template.from_stack(away)
    Template.from_stack(home)


def test_a_customer_key_encrypts_table_and_queue() -> None:
    stack = make_stack()
    key = kms.Key(stack, "Key")
    outbox = Outbox(stack, "Outbox", destinations={"it": make_pipeline(stack)}, encryption_key=key)
    outbox.grant_stage(iam.Role(stack, "Caller", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com")))
    assert [one for one in findings(stack) if one[1].startswith("Stack/Outbox")] == []
    template = Template.from_stack(stack)
    assert table_of(template)["SSESpecification"]["SSEType"] == "KMS"
    policies = resources(template, "AWS::IAM::Policy")
    for role in ("OutboxRelayRole", "OutboxSweepRole", "Caller"):
        (policy,) = [one for name, one in policies.items() if name.startswith(role)]
        assert "kms:Decrypt" in json.dumps(policy)


def test_a_destination_can_be_added_later() -> None:
    stack = make_stack()
    outbox = Outbox(stack, "Outbox", name="orders")
    outbox.add_destination("it", make_pipeline(stack), on_poison="park")
    assert outbox.destination_names == ["it"]
    function = next(
        one
        for one in resources(Template.from_stack(stack), "AWS::Lambda::Function").values()
        if one["Handler"] == RELAY_HANDLER
    )
    assert '"onPoison":"park"' in as_text(function["Environment"]["Variables"][f"{Setting.OUTBOX_DESTINATION}1"])


# --- What is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings, argument",
    [
        ({"name": "an outbox"}, "name"),
        ({"before_send": cdk.Duration.seconds(59), "max_lag": cdk.Duration.seconds(60)}, "before_send"),
        ({"before_send": cdk.Duration.days(31)}, "before_send"),
        ({"sweep_every": cdk.Duration.seconds(90)}, "sweep_every"),
        ({"sweep_every": cdk.Duration.hours(2)}, "sweep_every"),
        ({"max_lag": cdk.Duration.seconds(30)}, "max_lag"),
        ({"max_lag": cdk.Duration.days(1)}, "max_lag"),
        ({"max_attempts": 0}, "max_attempts"),
    ],
    ids=["name", "short", "long", "half-minutes", "rare", "lag-short", "lag-long", "attempts"],
)
def test_wrong_settings_are_refused(settings: Mapping[str, Any], argument: str) -> None:
    with pytest.raises(InvalidSettingsError) as caught:
        Outbox(make_stack(), "Outbox", **settings)
    assert argument in {mistake.argument for mistake in caught.value.mistakes}


def stage_first(outbox: Outbox) -> None:
    """Somebody was told of the destinations."""
    outbox.stage_environment()


def fill(outbox: Outbox) -> None:
    """As many destinations as fit."""
    for number in range(8):
        outbox.add_destination(f"d-{number}", make_pipeline(outbox.node.scope, f"P{number}"))  # type: ignore[arg-type]  # a stack


@pytest.mark.parametrize(
    "prepare, name, settings, argument",
    [
        (lambda _: None, "no name", {}, "name"),
        (lambda _: None, "x", {"on_poison": "skip"}, "on_poison"),
        (stage_first, "x", {}, "name"),
        (fill, "x", {}, "name"),
        (fill, "d-1", {}, "name"),
    ],
    ids=["name", "poison", "late", "many", "twice"],
)
def test_wrong_destinations_are_refused(
    prepare: Callable[[Outbox], object], name: str, settings: Mapping[str, Any], argument: str
) -> None:
    stack = make_stack()
    outbox = Outbox(stack, "Outbox")
    prepare(outbox)
    with pytest.raises(InvalidSettingsError) as caught:
        outbox.add_destination(name, make_pipeline(stack), **settings)
    assert argument in {mistake.argument for mistake in caught.value.mistakes}


def test_an_outbox_without_a_destination_fails_the_synthesis() -> None:
    stack = make_stack()
    Outbox(stack, "Outbox")
    with pytest.raises(RuntimeError, match="add_destination"):
        Template.from_stack(stack)


def test_the_resources_are_as_few_as_these(sample: Sample) -> None:
    tables = resources(sample.template, "AWS::DynamoDB::Table")
    assert len(tables) == 3
    assert only(Template.from_stack(_alone()), "AWS::DynamoDB::Table")


def _alone() -> cdk.Stack:
    stack = make_stack()
    OutboxTable(stack, "Table").retain_for(MessageQueue(stack, "Queue"))
    return stack
