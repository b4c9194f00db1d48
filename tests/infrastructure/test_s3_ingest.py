"""`S3Ingest`: notifications without a circle, policies, ordered ingest, refusals, cdk-nag (R10, R11)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_notifications as s3_notifications
from aws_cdk import aws_sqs as sqs
from aws_cdk.assertions import Template

from claim_check.contract import DAY_SECONDS, Setting
from claim_check.ingest.settings import IngestSettings, ReconciliationSettings
from claim_check_cdk import (
    AccessLogBucket,
    DomainTable,
    FifoOptions,
    InvalidSettingsError,
    KeyFilter,
    LedgerTable,
    MessageQueue,
    RetentionTerms,
    S3Ingest,
)
from claim_check_cdk.bundling import package_folder
from claim_check_cdk.ingest_source import DETAIL_TYPES, EVENTS
from stacks.ingest_stack import IngestStack
from stacks.settings import Settings
from tests.infrastructure.kit import (
    acknowledged,
    findings,
    flags,
    make_stack,
    only,
    resources,
    statements,
)

HANDLERS: Final[dict[str, Any]] = {
    "apply_put": "claim_check_examples.inventory:add",
    "apply_delete": "claim_check_examples.inventory:remove",
    "handler_package": package_folder("claim_check_examples"),
}
ACCOUNT: Final = {"Ref": "AWS::AccountId"}
PARK: Final = FifoOptions(on_poison="park")


def ingest(stack: cdk.Stack, construct_id: str = "Ingest", **settings: Any) -> S3Ingest:  # noqa: ANN401 - any setting
    """An ingest with the example's handlers."""
    return S3Ingest(stack, construct_id, **{**HANDLERS, **settings})


def refusal(make: Callable[[cdk.Stack], object]) -> str:
    """The text of the error with which settings are refused."""
    with pytest.raises(InvalidSettingsError) as caught:
        make(make_stack())
    text = str(caught.value)
    assert text.count("Way out: ") == len(caught.value.mistakes)
    return text


@pytest.fixture(scope="module")
def stack() -> cdk.Stack:
    """The app's stack of ingests, and one that has nothing but handlers."""
    app = cdk.App(context=flags())
    return IngestStack(app, "Ingest", settings=Settings.from_context(app.node))


@pytest.fixture(scope="module")
def template(stack: cdk.Stack) -> Template:
    """Its template."""
    return Template.from_stack(stack)


def statement_for(template: Template, service: str, queue: str) -> Mapping[str, Any]:
    """What a queue's policy lets a service do."""
    found = [
        statement
        for policy in resources(template, "AWS::SQS::QueuePolicy").values()
        if str(policy["Queues"]).find(queue) >= 0
        for statement in statements(policy)
        if statement["Principal"] == {"Service": service}
    ]
    (statement,) = found
    return statement


def bucket_of(template: Template, name: str) -> tuple[str, Mapping[str, Any]]:
    """Logical id and resource of the bucket whose logical id starts so."""
    found = template.find_resources("AWS::S3::Bucket")
    ((logical_id, resource),) = [(key, value) for key, value in found.items() if key.startswith(name)]
    return logical_id, resource


# --- Notifications (R10.1) ------------------------------------------------------------------------------------------


def test_the_bucket_itself_tells_the_queue(template: Template) -> None:
    _, bucket = bucket_of(template, "IngestBucket")
    told = bucket["Properties"]["NotificationConfiguration"]["QueueConfigurations"]
    assert [one["Event"] for one in told] == list(EVENTS)
    for one in told:
        assert one["Queue"]["Fn::GetAtt"][0].startswith("IngestQueue")
        assert one["Filter"] == {"S3Key": {"Rules": [{"Name": "prefix", "Value": "incoming/"}]}}


def test_no_custom_resource_is_involved(template: Template) -> None:
    types = {resource["Type"] for resource in template.to_json()["Resources"].values()}
    assert not [one for one in types if one.startswith(("Custom::", "AWS::CloudFormation::"))]


def test_the_bucket_is_made_after_the_queue_s_policy(template: Template) -> None:
    _, bucket = bucket_of(template, "IngestBucket")
    (policy,) = bucket["DependsOn"]
    assert template.find_resources("AWS::SQS::QueuePolicy")[policy]["Properties"]["Queues"][0]["Ref"].startswith(
        "IngestQueue"
    )


def test_the_queue_lets_in_s3_for_this_bucket_of_this_account_only(template: Template) -> None:  # R11.2
    _, bucket = bucket_of(template, "IngestBucket")
    statement = statement_for(template, "s3.amazonaws.com", "IngestQueueD")
    assert statement["Action"] == "sqs:SendMessage"
    assert statement["Condition"]["StringEquals"] == {"aws:SourceAccount": ACCOUNT}
    (_, parts) = statement["Condition"]["ArnLike"]["aws:SourceArn"]["Fn::Join"]
    (_, name) = bucket["Properties"]["BucketName"]["Fn::Join"]
    assert parts[2:] == [f":s3:::{name[0]}", *name[1:]]
    assert "GetAtt" not in json.dumps(statement["Condition"]), "the policy must not wait for the bucket"


def test_its_own_bucket_is_closed(template: Template) -> None:  # R11.1
    _, bucket = bucket_of(template, "IngestBucket")
    properties = bucket["Properties"]
    assert set(properties["PublicAccessBlockConfiguration"].values()) == {True}
    assert properties["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]
    assert properties["BucketEncryption"]
    assert properties["LoggingConfiguration"]["LogFilePrefix"] == "ingest-bucket/"
    assert properties["VersioningConfiguration"] == {"Status": "Enabled"}


def test_noncurrent_versions_live_as_long_as_their_notification_could_come_again(
    stack: cdk.Stack, template: Template
) -> None:
    assert isinstance(stack, IngestStack)
    _, bucket = bucket_of(template, "IngestBucket")
    rules = {rule["Id"]: rule for rule in bucket["Properties"]["LifecycleConfiguration"]["Rules"]}
    plan = stack.ingest.queue.retention_plan()
    assert rules["expire-noncurrent"]["NoncurrentVersionExpiration"] == {"NoncurrentDays": plan.days}
    assert rules["remove-expired-delete-markers"]["ExpiredObjectDeleteMarker"] is True
    assert rules["abort-incomplete-uploads"]["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 1}


def test_several_ingests_share_a_bucket_of_the_same_app() -> None:
    stack = make_stack()
    bucket = s3.Bucket(stack, "Shared", enforce_ssl=True)
    for name in ("csv", "json"):
        ingest(stack, name.title(), bucket=bucket, filters=[KeyFilter(suffix=f".{name}")])
    ingest(stack, "All", bucket=bucket, through="eventbridge")
    told = only(Template.from_stack(stack), "AWS::S3::Bucket")["NotificationConfiguration"]
    assert told["EventBridgeConfiguration"] == {"EventBridgeEnabled": True}
    queues = {one["Queue"]["Fn::GetAtt"][0][:4] for one in told["QueueConfigurations"]}
    assert queues == {"CsvQ", "Json"}
    assert len(told["QueueConfigurations"]) == 2 * len(EVENTS)


def test_a_bucket_without_a_name_is_known_by_the_name_of_its_stack() -> None:
    stack = make_stack("Some-Very-Long-Name-Of-A-Stack")
    ingest(stack, bucket=s3.Bucket(stack, "Bucket"))
    condition = statement_for(Template.from_stack(stack), "s3.amazonaws.com", "IngestQueueD")["Condition"]
    (_, parts) = condition["ArnLike"]["aws:SourceArn"]["Fn::Join"]
    assert parts[-1] == ":s3:::some-very-long-name-*"


@pytest.mark.parametrize("with_flags", [True, False], ids=["flags", "no-flags"])
@pytest.mark.parametrize("through", ["notification", "eventbridge"])
def test_bucket_key_and_queue_in_three_stacks_make_no_circle(through: str, *, with_flags: bool) -> None:
    """aws/aws-cdk#3067, #11158, #35418; the context turns a circle into an error."""
    context = {**(flags() if with_flags else {}), "@aws-cdk/core:validateAgainstDefaultRules": True}
    app = cdk.App(context=context)
    key_stack, bucket_stack, queue_stack = (cdk.Stack(app, name) for name in ("Key", "Bucket", "Queue"))
    key = kms.Key(key_stack, "Key", enable_key_rotation=True)
    named = "team-inbox" if through == "notification" else None
    bucket = s3.Bucket(bucket_stack, "Inbox", bucket_name=named, encryption_key=key, enforce_ssl=True)
    made = ingest(queue_stack, bucket=bucket, through=through, encryption_key=key)
    table = DomainTable(queue_stack, "Rows", encryption_key=key)
    made.grant_handler_table(table.table, ["put"])
    assembly = app.synth()
    manifest = {stack.stack_name: [one.id for one in stack.dependencies] for stack in assembly.stacks}
    service = {"notification": "s3", "eventbridge": "events"}[through]
    text = json.dumps(assembly.get_stack_by_name("Key").template)
    assert f'"Service": "{service}.amazonaws.com"' in text
    assert '"kms:GenerateDataKey"' in text
    assert "Fn::ImportValue" not in text
    before = "Queue" if through == "notification" else "Bucket"
    after = "Bucket" if through == "notification" else "Queue"
    assert before in manifest[after]
    assert after not in manifest[before]


def test_a_customer_key_of_the_ingest_lets_in_s3_and_nobody_else_s_bucket() -> None:
    stack = make_stack()
    key = kms.Key(stack, "Key", enable_key_rotation=True)
    ingest(stack, encryption_key=key)
    template = Template.from_stack(stack)
    (allowed,) = [
        statement
        for statement in only(template, "AWS::KMS::Key")["KeyPolicy"]["Statement"]
        if statement["Principal"] == {"Service": "s3.amazonaws.com"}
    ]
    assert allowed["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]
    assert allowed["Condition"] == statement_for(template, "s3.amazonaws.com", "IngestQueueD")["Condition"]


def test_an_imported_key_is_warned_about() -> None:
    stack = make_stack()
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:eu-west-1:111122223333:key/0000-1111")
    ingest(stack, encryption_key=key)
    warnings = [
        entry.data for entry in stack.node.find_child("Ingest").node.metadata if entry.type == "aws:cdk:warning"
    ]
    assert any("s3.amazonaws.com to kms:Decrypt and kms:GenerateDataKey" in warning for warning in warnings)


# --- Through EventBridge (R10.4) ------------------------------------------------------------------------------------


def test_ordered_events_go_through_a_function_that_names_the_group(template: Template) -> None:
    (rule,) = [one for one in resources(template, "AWS::Events::Rule").values() if "EventPattern" in one]
    assert rule["EventPattern"]["source"] == ["aws.s3"]
    assert rule["EventPattern"]["detail-type"] == list(DETAIL_TYPES)
    (target,) = rule["Targets"]
    assert target["Arn"]["Fn::GetAtt"][0].startswith("OrderedRouteForwarder")
    assert target["RetryPolicy"] == {"MaximumEventAgeInSeconds": DAY_SECONDS, "MaximumRetryAttempts": 185}
    assert target["DeadLetterConfig"]["Arn"]["Fn::GetAtt"][0].startswith("OrderedRouteUndelivered")
    assert "SqsParameters" not in target
    (forwarder,) = [
        function
        for name, function in resources(template, "AWS::Lambda::Function").items()
        if name.startswith("OrderedRouteForwarder")
    ]
    assert forwarder["DeadLetterConfig"]["TargetArn"] == target["DeadLetterConfig"]["Arn"]
    assert set(forwarder["Environment"]["Variables"]) == {Setting.INGEST_QUEUE_URL}


def test_ordered_buckets_tell_eventbridge_alone(template: Template) -> None:
    _, bucket = bucket_of(template, "OrderedBucket")
    told = {"EventBridgeConfiguration": {"EventBridgeEnabled": True}}
    assert bucket["Properties"]["NotificationConfiguration"] == told


def test_eventbridge_sends_to_a_standard_queue_itself() -> None:
    stack = make_stack()
    made = ingest(
        stack, through="eventbridge", filters=[KeyFilter(prefix="in/", suffix=".csv"), KeyFilter(prefix="x/")]
    )
    template = Template.from_stack(stack)
    (rule,) = [one for one in resources(template, "AWS::Events::Rule").values() if "EventPattern" in one]
    assert rule["Targets"][0]["Arn"]["Fn::GetAtt"][0].startswith("IngestQueue")
    assert rule["EventPattern"]["detail"]["object"] == {"key": [{"wildcard": "in/*.csv"}, {"prefix": "x/"}]}
    statement = statement_for(template, "events.amazonaws.com", "IngestQueueD")
    assert statement["Condition"]["ArnLike"]["aws:SourceArn"]["Fn::GetAtt"][0].startswith("IngestRouteEvents")
    assert made.route is not None
    assert made.route.forwarder is None
    assert made.notification_configuration == {"EventBridgeConfiguration": {}}


def test_what_eventbridge_keeps_lengthens_the_life_of_tombstones(stack: cdk.Stack) -> None:  # R10.2
    assert isinstance(stack, IngestStack)
    direct, ordered = (one.queue.retention_plan(one.retention_terms) for one in (stack.ingest, stack.ordered))
    assert direct.delivery == 0
    assert ordered.delivery == 15 * DAY_SECONDS


# --- Settings of the functions --------------------------------------------------------------------------------------


def variables(template: Template, name: str) -> dict[str, str]:
    """Environment of a function; what is known at deployment only is ``token``."""
    (function,) = [
        function
        for logical_id, function in resources(template, "AWS::Lambda::Function").items()
        if logical_id.startswith(name)
    ]
    given = function["Environment"]["Variables"]
    return {key: value if isinstance(value, str) else "token" for key, value in given.items()}


def test_the_ingester_reads_what_the_construct_writes(stack: cdk.Stack, template: Template) -> None:
    assert isinstance(stack, IngestStack)
    settings = IngestSettings.from_environment(variables(template, "IngestIngester"))
    assert settings.name == "inventory"
    assert (settings.apply_put, settings.apply_delete) == (HANDLERS["apply_put"], HANDLERS["apply_delete"])
    assert settings.tombstone_seconds == stack.ingest.queue.retention_plan().days * DAY_SECONDS
    assert settings.visibility_seconds == stack.ingest.queue.visibility_timeout.to_seconds()
    assert settings.dlq_url == "token"
    assert settings.pad == "right"


def test_the_reconciliation_reads_what_the_construct_writes(template: Template) -> None:
    settings = ReconciliationSettings.from_environment(variables(template, "IngestReconciler"))
    assert [(one.prefix, one.suffix) for one in settings.filters] == [("incoming/", "")]
    assert settings.every_seconds == DAY_SECONDS
    assert settings.grace_seconds == 900
    everything = ReconciliationSettings.from_environment(variables(template, "OrderedReconciler"))
    assert everything.filters == ()


def test_a_reconciliation_can_be_timed_or_left_out() -> None:
    stack = make_stack()
    ingest(
        stack,
        reconcile_every=cdk.Duration.hours(6),
        reconcile_grace=cdk.Duration.minutes(5),
        reconcile_rate=50,
        sequencer_pad="left",
    )
    settings = ReconciliationSettings.from_environment(variables(Template.from_stack(stack), "IngestReconciler"))
    assert (settings.every_seconds, settings.grace_seconds, settings.rate, settings.pad) == (21_600, 300, 50, "left")
    without = make_stack()
    assert ingest(without, reconcile=False).reconciler is None
    template = Template.from_stack(without)
    template.resource_count_is("AWS::Lambda::Function", 1)
    assert "IngestDifferences" not in ingest(make_stack(), reconcile=False).alarms.alarms


def test_reconciliations_go_off_often_and_never_overlap(template: Template) -> None:
    schedules = [one for one in resources(template, "AWS::Events::Rule").values() if "ScheduleExpression" in one]
    assert {one["ScheduleExpression"] for one in schedules} == {"rate(15 minutes)"}
    timeouts = {
        function["Timeout"]
        for name, function in resources(template, "AWS::Lambda::Function").items()
        if "Reconciler" in name
    }
    assert timeouts == {14 * 60}


def test_a_ledger_can_be_shared_and_its_tombstones_live_by_the_longest_queue() -> None:
    stack = make_stack()
    ledger = LedgerTable(stack, "Ledger")
    ingest(stack, "One", ledger=ledger)
    longest = RetentionTerms(redrive_rounds=3)
    second = ingest(stack, "Two", ledger=ledger, retention_terms=longest)
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::DynamoDB::Table", 1)
    table = only(template, "AWS::DynamoDB::Table")
    assert table["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    life = second.queue.retention_plan(longest).days * DAY_SECONDS
    assert int(variables(template, "OneIngester")[Setting.LEDGER_TTL]) == life


def test_tombstones_that_would_die_too_early_fail_the_synthesis() -> None:
    stack = make_stack()
    ingest(stack, ledger=LedgerTable(stack, "Ledger", tombstone_life=cdk.Duration.days(10)))
    with pytest.raises(RuntimeError, match=r"tombstone_life = 10 d: must be at least 39 d"):
        Template.from_stack(stack)


# --- Rights (R11.2) -------------------------------------------------------------------------------------------------


def rights(template: Template, role: str) -> dict[str, list[str]]:
    """Actions of a role's own policy, by resource as text."""
    (policy,) = [
        policy
        for policy in resources(template, "AWS::IAM::Policy").values()
        if policy["Roles"][0]["Ref"].startswith(role)
    ]
    found: dict[str, list[str]] = {}
    for statement in statements(policy):
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        many = isinstance(statement["Resource"], list)
        for resource in statement["Resource"] if many else [statement["Resource"]]:
            found.setdefault(json.dumps(resource), []).extend(actions)
    return found


def test_the_ingester_may_read_the_objects_it_is_told_of_and_no_more(template: Template) -> None:
    found = rights(template, "IngestIngester")
    ((objects, actions),) = [(resource, actions) for resource, actions in found.items() if "s3:GetObject" in actions]
    assert objects.endswith('"/incoming/*"]]}')
    assert actions == ["s3:GetObject", "s3:GetObjectVersion"]
    (ledger,) = [actions for resource, actions in found.items() if "IngestLedger" in resource]
    assert ledger == ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"]
    (table,) = [actions for resource, actions in found.items() if '"Inventory' in resource]
    assert table == ["dynamodb:DeleteItem", "dynamodb:PutItem"]
    conditions = [
        statement["Condition"]
        for policy in resources(template, "AWS::IAM::Policy").values()
        if policy["Roles"][0]["Ref"].startswith("IngestIngester")
        for statement in statements(policy)
        if statement["Action"] == "s3:ListBucket"
    ]
    assert conditions == [{"StringLike": {"s3:prefix": ["incoming/*"]}}]


def test_the_forwarder_may_send_to_two_queues_and_nothing_else(template: Template) -> None:
    found = rights(template, "OrderedRouteForwarder")
    assert list(found.values()) == [["sqs:SendMessage"], ["sqs:SendMessage"]]


def test_the_reconciliation_writes_no_object_and_deletes_nothing(template: Template) -> None:
    actions = {action for found in rights(template, "IngestReconciler").values() for action in found}
    assert actions == {
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:Query",
        "s3:GetObject",
        "s3:ListBucket",
        "sqs:SendMessage",
    }


def test_cdk_nag_finds_nothing(stack: cdk.Stack) -> None:
    assert findings(stack) == []
    reasons = [reason for rules in acknowledged(stack).values() for reason in rules.values()]
    assert all(len(reason.split()) > 5 for reason in reasons)


def test_cdk_nag_finds_nothing_where_the_bucket_is_elsewhere() -> None:
    app = cdk.App(context=flags())
    logs = AccessLogBucket(cdk.Stack(app, "Logs"), "Logs").bucket
    home, stack = cdk.Stack(app, "Home"), cdk.Stack(app, "Stack")
    named = s3.Bucket(
        home, "Named", bucket_name="team-inbox", enforce_ssl=True, server_access_logs_bucket=logs, encryption=None
    )
    ingest(stack, "Named", bucket=named, filters=[KeyFilter(prefix="in/")])
    imported = s3.Bucket.from_bucket_name(stack, "Theirs", "their-inbox")
    ingest(stack, "Imported", bucket=imported, manage_notifications=False)
    assert findings(stack) == []


def test_no_feature_flag_is_needed() -> None:
    stack = make_stack(with_flags=False)
    ingest(stack, access_logs_bucket=AccessLogBucket(stack, "Logs").bucket)
    assert findings(stack) == []


@pytest.mark.parametrize("region", ["cn-north-1", "us-gov-west-1"])
def test_other_partitions_need_no_change(region: str) -> None:
    stack = make_stack(env=cdk.Environment(account="111122223333", region=region))
    ingest(stack)
    ingest(stack, "Ordered", through="eventbridge", fifo=PARK)
    assert "arn:aws:" not in json.dumps(Template.from_stack(stack).to_json())


# --- Derived objects ------------------------------------------------------------------------------------------------


def test_handlers_may_put_derived_objects_beside_what_is_ingested() -> None:
    stack = make_stack()
    made = ingest(stack, filters=[KeyFilter(prefix="in/")])
    made.grant_handler_objects(made.bucket, prefix="thumbnails/")
    assert ["s3:PutObject"] in rights(Template.from_stack(stack), "IngestIngester").values()


@pytest.mark.parametrize("prefix", ["in/thumbnails/", "i", ""])
def test_derived_objects_that_would_be_ingested_in_turn_are_refused(prefix: str) -> None:
    made = ingest(make_stack(), filters=[KeyFilter(prefix="in/")])
    with pytest.raises(InvalidSettingsError, match="every object put there would be ingested in turn"):
        made.grant_handler_objects(made.bucket, prefix=prefix)


# --- Refusals -------------------------------------------------------------------------------------------------------


def test_s3_cannot_notify_a_fifo_queue() -> None:  # R10.4
    text = refusal(lambda stack: ingest(stack, fifo=PARK))
    assert "cannot be notified by S3, which sends to standard queues only" in text
    assert "set through='eventbridge'" in text
    assert "cannot be notified" in refusal(lambda stack: ingest(stack, queue=MessageQueue(stack, "Queue", fifo=PARK)))


def test_the_aws_managed_key_is_refused() -> None:
    def with_alias(stack: cdk.Stack) -> object:
        return ingest(stack, encryption_key=kms.Alias.from_alias_name(stack, "Alias", "alias/aws/sqs"))

    def with_queue(stack: cdk.Stack) -> object:
        alias = kms.Alias.from_alias_name(stack, "Alias", "alias/aws/sqs")
        return ingest(stack, queue=MessageQueue(stack, "Queue", encryption_key=alias))

    for make, argument in ((with_alias, "encryption_key"), (with_queue, "queue")):
        text = refusal(make)
        assert f"{argument} = encrypted with alias/aws/sqs: must not use the AWS-managed key" in text
        assert "(SSE-SQS)" in text


def test_a_queue_for_small_messages_is_refused() -> None:
    small = cdk.Size.kibibytes(63)
    assert "max_message_size = 64512 bytes of MaximumMessageSize" in refusal(
        lambda stack: ingest(stack, max_message_size=small)
    )
    assert "queue = 64512 bytes of MaximumMessageSize" in refusal(
        lambda stack: ingest(stack, queue=MessageQueue(stack, "Queue", max_message_size=small))
    )
    ingest(make_stack(), max_message_size=cdk.Size.kibibytes(64))


def test_overlapping_filters_are_refused() -> None:
    filters = [KeyFilter(prefix="in/"), KeyFilter(suffix=".csv")]
    for through in ("notification", "eventbridge"):
        text = refusal(partial(ingest, filters=filters, through=through))
        assert "overlaps filters[0]" in text


def test_overlaps_with_another_ingest_of_the_bucket_are_refused() -> None:
    def make(stack: cdk.Stack) -> object:
        bucket = s3.Bucket(stack, "Bucket")
        ingest(stack, "First", bucket=bucket, filters=[KeyFilter(prefix="a b/")])
        return ingest(stack, "Second", bucket=bucket, filters=[KeyFilter(prefix="x/"), KeyFilter(prefix="a b/c/")])

    text = refusal(make)
    assert "filters[1]" in text
    assert "overlaps a filter of another S3Ingest on this bucket" in text


def test_more_configurations_than_a_bucket_takes_are_refused() -> None:
    filters = [KeyFilter(prefix=f"{number:02}/") for number in range(26)]
    assert "filters = 104 configurations (4 kinds of events for each filter)" in refusal(
        lambda stack: ingest(stack, filters=filters)
    )
    ingest(make_stack(), filters=filters, through="eventbridge")


def test_an_imported_bucket_is_explained() -> None:
    text = refusal(
        lambda stack: ingest(
            stack,
            bucket=s3.Bucket.from_bucket_name(stack, "Theirs", "their-inbox"),
            filters=[KeyFilter(prefix="in coming/")],
        )
    )
    assert "its notifications cannot be set here" in text
    assert "manage_notifications=False" in text
    for word in ('"QueueConfigurations"', '"s3:ObjectRemoved:*"', '"FilterRules"', '"Value": "in+coming/"'):
        assert word in text


def test_an_imported_bucket_works_by_hand() -> None:
    stack = make_stack()
    bucket = s3.Bucket.from_bucket_attributes(stack, "Theirs", bucket_name="their-inbox", account="444455556666")
    made = ingest(stack, bucket=bucket, manage_notifications=False, versioned=True)
    (told,) = stack.resolve(made.notification_configuration)["QueueConfigurations"]
    assert told["Events"] == list(EVENTS)
    statement = statement_for(Template.from_stack(stack), "s3.amazonaws.com", "IngestQueueD")
    assert statement["Condition"]["StringEquals"] == {"aws:SourceAccount": "444455556666"}
    assert ":s3:::their-inbox" in json.dumps(statement["Condition"]["ArnLike"])


def test_a_bucket_of_another_stack_needs_a_name() -> None:
    app = cdk.App(context=flags())
    bucket = s3.Bucket(cdk.Stack(app, "Home"), "Inbox")
    with pytest.raises(InvalidSettingsError, match="of another stack and without a bucket_name"):
        ingest(cdk.Stack(app, "Stack"), bucket=bucket)


def test_a_bucket_with_a_configuration_of_its_own_is_refused() -> None:
    def make(stack: cdk.Stack) -> object:
        bucket = s3.Bucket(stack, "Bucket")
        cfn = bucket.node.default_child
        assert isinstance(cfn, s3.CfnBucket)
        cfn.notification_configuration = s3.CfnBucket.NotificationConfigurationProperty()
        return ingest(stack, bucket=bucket)

    assert "has a notification configuration of its own, and a bucket has only one" in refusal(make)


def test_a_bucket_with_notifications_of_the_cdk_fails_the_synthesis() -> None:
    stack = make_stack()
    bucket = s3.Bucket(stack, "Bucket")
    ingest(stack, bucket=bucket)
    bucket.add_event_notification(
        s3.EventType.OBJECT_CREATED, s3_notifications.SqsDestination(sqs.Queue(stack, "Other"))
    )
    with pytest.raises(RuntimeError, match="would overwrite each other"):
        Template.from_stack(stack)


@pytest.mark.parametrize(
    "prefix, filters, loops",
    [
        ("logs/", (KeyFilter(),), True),
        ("logs/", (KeyFilter(prefix="logs/2026"),), True),
        ("logs/", (KeyFilter(prefix="in/"),), False),
    ],
    ids=["all-keys", "within", "apart"],
)
def test_a_bucket_that_logs_into_what_is_ingested_fails_the_synthesis(
    prefix: str, filters: tuple[KeyFilter, ...], *, loops: bool
) -> None:
    stack = make_stack()
    bucket = s3.Bucket(stack, "Bucket")
    cfn = bucket.node.default_child
    assert isinstance(cfn, s3.CfnBucket)
    # Without a destination S3 takes the bucket itself.
    cfn.logging_configuration = s3.CfnBucket.LoggingConfigurationProperty(log_file_prefix=prefix)
    ingest(stack, bucket=bucket, filters=filters)
    if not loops:
        Template.from_stack(stack)
        return
    with pytest.raises(RuntimeError, match="logs every access into itself"):
        Template.from_stack(stack)


def test_an_imported_queue_is_refused() -> None:
    class Theirs(MessageQueue):
        """A queue construct around a queue that is imported."""

    def make(stack: cdk.Stack) -> object:
        theirs: Any = Theirs(stack, "Theirs")
        theirs.queue = sqs.Queue.from_queue_arn(stack, "Imported", "arn:aws:sqs:eu-west-1:111122223333:theirs")
        return ingest(stack, queue=theirs)

    assert "imported: must be made in this app" in refusal(make)


def test_all_mistakes_are_told_at_once() -> None:
    text = refusal(
        lambda stack: S3Ingest(
            stack,
            "Ingest",
            apply_put="nonsense",
            apply_delete="claim_check_examples.nothing:remove",
            handler_package=HANDLERS["handler_package"],
            handler_environment={"CLAIM_CHECK_X": "1"},
            ingest_name="a b",
            through="sns",  # type: ignore[arg-type]
            reconcile_every=cdk.Duration.minutes(1),
            reconcile_rate=0,
            max_attempts=0,
            batch_size=11,
            memory_size_mib=1,
        )
    )
    for argument in (
        "apply_put",
        "apply_delete",
        "handler_environment",
        "ingest_name",
        "through",
        "reconcile_every",
        "reconcile_rate",
        "max_attempts",
        "batch_size",
        "memory_size_mib",
    ):
        assert f"- {argument} = " in text, argument


def test_settings_that_would_have_no_effect_are_refused() -> None:
    def make(stack: cdk.Stack) -> object:
        queue = MessageQueue(stack, "Queue", function_timeout=cdk.Duration.minutes(3))
        bucket = s3.Bucket(stack, "Bucket")
        return ingest(
            stack,
            queue=queue,
            retention=cdk.Duration.days(1),
            bucket=bucket,
            bucket_name="own",
            access_logs_bucket=bucket,
        )

    text = refusal(make)
    for argument in ("retention", "bucket_name", "access_logs_bucket"):
        assert f"- {argument} = " in text, argument


# --- Alarms ---------------------------------------------------------------------------------------------------------


def test_the_alarms_are_these(stack: cdk.Stack) -> None:  # R10.3, R12.1
    assert isinstance(stack, IngestStack)
    common = {
        "FunctionErrors",
        "FunctionThrottles",
        "IngestAccessDenied",
        "IngestAge",
        "IngestDeadLetters",
        "IngestDifferences",
        "LedgerConflicts",
        "LedgerThrottles",
        "ReconcilerFailures",
        "ReconcilerFunctionErrors",
        "ReconcilerFunctionThrottles",
        "UnknownEvents",
    }
    assert set(stack.ingest.alarms.alarms) == common
    assert set(stack.ordered.alarms.alarms) == common | {
        "ForwarderFunctionErrors",
        "ForwarderFunctionThrottles",
        "UndeliveredEvents",
    }


def test_one_difference_rings(template: Template) -> None:
    (alarm,) = [
        one
        for name, one in resources(template, "AWS::CloudWatch::Alarm").items()
        if name.startswith("IngestAlarmsIngestDifferences")
    ]
    assert alarm["Threshold"] == 1
    assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
    assert (alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"] * alarm["Period"]) == (1, DAY_SECONDS)
    assert alarm["TreatMissingData"] == "notBreaching"
    assert alarm["Dimensions"] == [{"Name": "service", "Value": "inventory"}]
