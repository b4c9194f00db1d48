"""`MessageQueue`: both queues, their policies and grants; what is refused."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sqs as sqs
from aws_cdk.assertions import Match, Template

from claim_check.contract import DEFAULT_MAX_ATTEMPTS, MIN_RECEIVE_COUNT, Backoff, receive_count_for
from claim_check_cdk import FifoOptions, InvalidSettingsError, MessageQueue, RetentionTerms
from claim_check_cdk.pointer_life import lazy_number
from claim_check_cdk.retention import DAY
from tests.infrastructure.kit import findings, imported_queue, make_stack, resources, statements


class Sample:
    """Every variant, in one stack."""

    def __init__(self) -> None:
        """Synthesize."""
        self.stack = make_stack()
        self.key = kms.Key(self.stack, "Key", enable_key_rotation=True)
        self.default = MessageQueue(self.stack, "Orders")
        self.tuned = MessageQueue(
            self.stack,
            "Tuned",
            function_timeout=cdk.Duration.minutes(5),
            max_batching_window=cdk.Duration.seconds(20),
            retention=cdk.Duration.days(10),
            dead_letter_retention=cdk.Duration.days(11),
            max_message_size=cdk.Size.kibibytes(256),
            max_receive_count=200,
            encryption_key=self.key,
            queue_name="orders",
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        self.parking = MessageQueue(self.stack, "Parking", fifo=FifoOptions(on_poison="park"))
        self.blocking = MessageQueue(self.stack, "Blocking", fifo=FifoOptions(on_poison="block", high_throughput=False))
        self.shared_dlq = sqs.Queue(self.stack, "Shared", retention_period=cdk.Duration.days(7), enforce_ssl=True)
        self.sharing = MessageQueue(self.stack, "Sharing", dead_letter_queue=self.shared_dlq)
        self.consumer = _role(self.stack, "Consumer")
        self.default.grant_consume(self.consumer)
        self.publisher = _role(self.stack, "Publisher")
        self.default.grant_publish(self.publisher)
        self.keyed_consumer = _role(self.stack, "KeyedConsumer")
        self.tuned.grant_consume(self.keyed_consumer)
        self.keyed_publisher = _role(self.stack, "KeyedPublisher")
        self.tuned.grant_publish(self.keyed_publisher)
        self.blocked_consumer = _role(self.stack, "BlockedConsumer")
        self.blocking.grant_consume(self.blocked_consumer)
        self.findings = findings(self.stack)
        self.template = Template.from_stack(self.stack)

    def logical_id(self, queue: sqs.IQueue | None) -> str:
        """Logical id of a queue."""
        assert isinstance(queue, sqs.Queue)
        child = queue.node.default_child
        assert isinstance(child, sqs.CfnQueue)
        return str(self.stack.get_logical_id(child))

    def queue(self, queue: sqs.IQueue | None) -> dict[str, Any]:
        """Properties of a queue."""
        return dict(resources(self.template, "AWS::SQS::Queue")[self.logical_id(queue)])

    def policy(self, role: iam.Role) -> list[Any]:
        """Statements of a role's default policy."""
        child = role.node.find_child("DefaultPolicy").node.default_child
        assert isinstance(child, iam.CfnPolicy)
        return list(statements(resources(self.template, "AWS::IAM::Policy")[self.stack.get_logical_id(child)]))


def _role(stack: cdk.Stack, name: str) -> iam.Role:
    return iam.Role(stack, name, assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))


@pytest.fixture(scope="module")
def sample() -> Sample:
    """One synth for the module."""
    return Sample()


# --- Queues ---------------------------------------------------------------------------------------------------------


def test_the_source_queue_by_default(sample: Sample) -> None:  # R4.8, R5.1, R5.4
    properties = sample.queue(sample.default.queue)
    name = properties.pop("QueueName")
    assert properties == {
        "MaximumMessageSize": 1_048_576,
        "MessageRetentionPeriod": 4 * DAY,
        "ReceiveMessageWaitTimeSeconds": 20,
        "RedrivePolicy": {
            "deadLetterTargetArn": {"Fn::GetAtt": [sample.logical_id(sample.default.dead_letter_queue), "Arn"]},
            "maxReceiveCount": receive_count_for(Backoff()),
        },
        "SqsManagedSseEnabled": True,
        "VisibilityTimeout": 6 * 60,
    }
    assert name.startswith("Stack-Orders-")
    assert len(name) <= 80


def test_the_dead_letter_queue_by_default(sample: Sample) -> None:
    assert sample.queue(sample.default.dead_letter_queue) == {
        "MaximumMessageSize": 1_048_576,
        "MessageRetentionPeriod": 14 * DAY,
        "RedriveAllowPolicy": {
            "redrivePermission": "byQueue",
            "sourceQueueArns": [
                {
                    "Fn::Join": [
                        "",
                        [
                            "arn:",
                            {"Ref": "AWS::Partition"},
                            ":sqs:",
                            {"Ref": "AWS::Region"},
                            ":",
                            {"Ref": "AWS::AccountId"},
                            f":{sample.queue(sample.default.queue)['QueueName']}",
                        ],
                    ]
                }
            ],
        },
        "SqsManagedSseEnabled": True,
    }


def test_the_redrive_allow_policy_names_a_queue_that_exists(sample: Sample) -> None:
    names = {properties.get("QueueName") for properties in resources(sample.template, "AWS::SQS::Queue").values()}
    for properties in resources(sample.template, "AWS::SQS::Queue").values():
        for arn in properties.get("RedriveAllowPolicy", {}).get("sourceQueueArns", []):
            assert arn["Fn::Join"][1][-1].removeprefix(":") in names


def test_every_setting_reaches_the_template(sample: Sample) -> None:
    source, dead_letters = sample.queue(sample.tuned.queue), sample.queue(sample.tuned.dead_letter_queue)
    assert source["QueueName"] == "orders"
    assert source["VisibilityTimeout"] == 6 * 300 + 20
    assert source["MessageRetentionPeriod"] == 10 * DAY
    assert dead_letters["MessageRetentionPeriod"] == 11 * DAY
    assert source["MaximumMessageSize"] == dead_letters["MaximumMessageSize"] == sample.tuned.max_message_bytes
    assert sample.tuned.max_message_bytes == 256 * 1024
    assert source["RedrivePolicy"]["maxReceiveCount"] == sample.tuned.max_receive_count == 200
    assert "KmsMasterKeyId" in source
    assert "KmsMasterKeyId" in dead_letters


def test_both_queues_stay_unless_told_otherwise(sample: Sample) -> None:
    raw = sample.template.find_resources("AWS::SQS::Queue")
    for queue in (sample.default.queue, sample.default.dead_letter_queue):
        assert raw[sample.logical_id(queue)]["DeletionPolicy"] == "Retain"
        assert raw[sample.logical_id(queue)]["UpdateReplacePolicy"] == "Retain"
    for queue in (sample.tuned.queue, sample.tuned.dead_letter_queue):
        assert raw[sample.logical_id(queue)]["DeletionPolicy"] == "Delete"


def test_every_queue_refuses_requests_without_tls(sample: Sample) -> None:
    refused = set()
    for policy in resources(sample.template, "AWS::SQS::QueuePolicy").values():
        for statement in statements(policy):
            assert statement["Effect"] == "Deny"
            assert statement["Action"] == "sqs:*"
            assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
            refused.add(statement["Resource"]["Fn::GetAtt"][0])
    assert refused == set(resources(sample.template, "AWS::SQS::Queue"))


def test_a_fifo_queue_that_parks_has_a_fifo_dlq(sample: Sample) -> None:  # R5.1
    source, dead_letters = sample.queue(sample.parking.queue), sample.queue(sample.parking.dead_letter_queue)
    assert source["FifoQueue"] is True
    assert dead_letters["FifoQueue"] is True
    assert source["QueueName"].endswith(".fifo")
    assert len(source["QueueName"]) <= 80
    assert source["ContentBasedDeduplication"] is False
    assert source["DeduplicationScope"] == "messageGroup"
    assert source["FifoThroughputLimit"] == "perMessageGroupId"


def test_the_backstop_on_fifo_counts_the_attempts_at_messages_ahead(sample: Sample) -> None:  # R4.6, R4.7
    backstop = receive_count_for(Backoff(), attempts_ahead=DEFAULT_MAX_ATTEMPTS)
    assert sample.queue(sample.parking.queue)["RedrivePolicy"]["maxReceiveCount"] == backstop
    assert backstop == receive_count_for(Backoff()) + 9 * DEFAULT_MAX_ATTEMPTS == 102


def test_a_fifo_queue_that_blocks_has_no_dlq(sample: Sample) -> None:  # R5.1
    source = sample.queue(sample.blocking.queue)
    assert sample.blocking.dead_letter_queue is None
    assert sample.blocking.metric_dead_letters() is None
    assert "RedrivePolicy" not in source
    assert "DeduplicationScope" not in source


def test_a_dlq_of_ones_own_is_used_as_it_is(sample: Sample) -> None:
    target = sample.queue(sample.sharing.queue)["RedrivePolicy"]["deadLetterTargetArn"]
    assert target == {"Fn::GetAtt": [sample.logical_id(sample.shared_dlq), "Arn"]}
    assert sample.sharing.dead_letter_queue is sample.shared_dlq


def test_a_long_path_gives_a_name_within_the_limit() -> None:
    stack = make_stack("S" * 100)
    for fifo in (None, FifoOptions(on_poison="park")):
        queue = MessageQueue(stack, ("Fifo" if fifo else "Standard") + "Q" * 90, fifo=fifo)
        assert queue.queue.fifo == (fifo is not None)
    found = resources(Template.from_stack(stack), "AWS::SQS::Queue").values()
    names = [properties["QueueName"] for properties in found if "QueueName" in properties]
    assert len(names) == 2
    assert all(75 < len(name) <= 80 for name in names)


# --- Grants ---------------------------------------------------------------------------------------------------------


def _arn(sample: Sample, queue: sqs.IQueue | None) -> dict[str, Any]:
    return {"Fn::GetAtt": [sample.logical_id(queue), "Arn"]}


def test_a_consumer_may_receive_hide_delete_and_park(sample: Sample) -> None:  # R11.2
    assert sample.policy(sample.consumer) == [
        {
            "Action": [
                "sqs:ChangeMessageVisibility",
                "sqs:DeleteMessage",
                "sqs:GetQueueAttributes",
                "sqs:ReceiveMessage",
            ],
            "Effect": "Allow",
            "Resource": _arn(sample, sample.default.queue),
        },
        {
            "Action": "sqs:SendMessage",
            "Effect": "Allow",
            "Resource": _arn(sample, sample.default.dead_letter_queue),
        },
    ]


def test_a_publisher_may_only_send(sample: Sample) -> None:
    assert sample.policy(sample.publisher) == [
        {"Action": "sqs:SendMessage", "Effect": "Allow", "Resource": _arn(sample, sample.default.queue)}
    ]


def test_a_customer_key_comes_with_the_grants(sample: Sample) -> None:
    for role in (sample.keyed_consumer, sample.keyed_publisher):
        (statement,) = [found for found in sample.policy(role) if "kms:Decrypt" in found["Action"]]
        assert statement["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]


def test_a_consumer_of_a_blocking_queue_cannot_park(sample: Sample) -> None:
    assert all("sqs:SendMessage" not in found["Action"] for found in sample.policy(sample.blocked_consumer))


# --- Nag, metrics, plan ---------------------------------------------------------------------------------------------


def test_cdk_nag_finds_nothing_that_is_not_acknowledged(sample: Sample) -> None:
    own = [finding for finding in sample.findings if "/Shared/" not in finding[1]]
    assert own == []


def test_metrics_are_those_of_sqs(sample: Sample) -> None:
    queue = sample.default
    dead_letters = queue.metric_dead_letters(period=cdk.Duration.minutes(1))
    assert queue.metric_visible().metric_name == "ApproximateNumberOfMessagesVisible"
    assert queue.metric_in_flight().metric_name == "ApproximateNumberOfMessagesNotVisible"
    assert queue.metric_oldest_message_age().metric_name == "ApproximateAgeOfOldestMessage"
    assert dead_letters is not None
    assert dead_letters.metric_name == "ApproximateNumberOfMessagesVisible"
    assert dead_letters.statistic == "Maximum"


def test_the_plan_counts_both_queues_and_the_visibility_timeout(sample: Sample) -> None:  # R6.1
    plan = sample.tuned.retention_plan(RetentionTerms(audit=cdk.Duration.days(2), redrive_rounds=2))
    assert (plan.source, plan.dlq, plan.processing) == (10 * DAY, 11 * DAY, 1820)
    assert (plan.before_send, plan.triage, plan.audit, plan.redrive_rounds) == (DAY, DAY, 2 * DAY, 2)
    assert plan.one_clock is False
    assert sample.blocking.retention_plan().dlq == 0
    assert sample.sharing.retention_plan().dlq == 7 * DAY


# --- Refused --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings, argument, says",
    [
        (
            {"retention": cdk.Duration.days(14), "dead_letter_retention": cdk.Duration.days(4)},
            "dead_letter_retention",
            "must not be below retention = 14 d",
        ),
        ({"retention": cdk.Duration.seconds(59)}, "retention", "must be from 60 to 1.2096e+06 s"),
        ({"retention": cdk.Duration.days(15)}, "retention", "must be from 60"),
        ({"dead_letter_retention": cdk.Duration.days(15)}, "dead_letter_retention", "must be from 60"),
        (
            {"visibility_timeout": cdk.Duration.seconds(359)},
            "visibility_timeout",
            "6 x function_timeout + max_batching_window = 6 x 60 s + 0 s = 360 s",
        ),
        ({"visibility_timeout": cdk.Duration.hours(13)}, "visibility_timeout", "to 43200 s"),
        (
            {"function_timeout": cdk.Duration.minutes(15), "visibility_timeout": cdk.Duration.minutes(89)},
            "visibility_timeout",
            "= 5400 s",
        ),
        ({"max_batching_window": cdk.Duration.seconds(301)}, "max_batching_window", "must be from 0 to 300 s"),
        (
            {"fifo": FifoOptions(on_poison="park"), "max_batching_window": cdk.Duration.seconds(1)},
            "max_batching_window",
            "is for standard queues only",
        ),
        ({"max_receive_count": 5}, "max_receive_count", "must be from 57 (an outage of 6 h"),
        ({"max_receive_count": 1001}, "max_receive_count", "to 1000"),
        (
            {"max_receive_count": 101, "fifo": FifoOptions(on_poison="park")},
            "max_receive_count",
            "must be from 102 (an outage of 6 h under this backoff, behind nine failing messages of its group)",
        ),
        ({"outage": cdk.Duration.days(4)}, "outage", "must be shorter than retention = 4 d"),
        ({"max_message_size": cdk.Size.bytes(1_048_577)}, "max_message_size", "bytes"),
        ({"max_message_size": cdk.Size.bytes(1023)}, "max_message_size", "bytes"),
        ({"queue_name": "q" * 81}, "queue_name", "1 to 80 characters"),
        ({"queue_name": "orders.fifo"}, "queue_name", "must end in .fifo on a FIFO queue, and only there"),
        ({"queue_name": "orders", "fifo": FifoOptions(on_poison="park")}, "queue_name", "must end in .fifo"),
        (
            {"fifo": FifoOptions(on_poison="block"), "dead_letter_retention": cdk.Duration.days(14)},
            "fifo.on_poison",
            "has no dead-letter queue",
        ),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], argument: str, says: str) -> None:
    with pytest.raises(InvalidSettingsError) as raised:
        MessageQueue(make_stack(), "Queue", **settings)
    (mistake,) = raised.value.mistakes
    assert mistake.argument == argument
    assert says in mistake.limit
    assert "MessageQueue 'Stack/Queue'" in str(raised.value)
    assert mistake.way_out


def test_a_dlq_of_the_wrong_type_is_refused() -> None:  # R5.1
    stack = make_stack()
    fifo = sqs.Queue(stack, "Fifo", fifo=True)
    with pytest.raises(
        InvalidSettingsError, match=r"dead_letter_queue = 'Stack/Fifo', a FIFO queue: must be of the same"
    ):
        MessageQueue(stack, "Queue", dead_letter_queue=fifo, dead_letter_retention=cdk.Duration.days(14))
    standard = imported_queue(stack)
    with pytest.raises(InvalidSettingsError, match=r"a standard queue: must be of the same type as its source, FIFO"):
        MessageQueue(
            stack,
            "Ordered",
            fifo=FifoOptions(on_poison="park"),
            dead_letter_queue=standard,
            dead_letter_retention=cdk.Duration.days(14),
        )


def test_a_dlq_elsewhere_is_refused() -> None:  # R5.1
    stack = make_stack(env=cdk.Environment(account="444455556666", region="us-east-1"))
    dead_letters, told = imported_queue(stack), cdk.Duration.days(14)
    with pytest.raises(InvalidSettingsError) as raised:
        MessageQueue(stack, "Queue", dead_letter_queue=dead_letters, dead_letter_retention=told)
    assert [mistake.limit for mistake in raised.value.mistakes] == [
        "must be in the account of its source, 444455556666 (R5.1)",
        "must be in the Region of its source, us-east-1 (R5.1)",
    ]


def test_an_imported_dlq_must_tell_its_retention() -> None:
    stack = make_stack()
    dead_letters = imported_queue(stack)
    with pytest.raises(InvalidSettingsError, match=r"dead_letter_retention = None: must be told"):
        MessageQueue(stack, "Queue", dead_letter_queue=dead_letters)
    queue = MessageQueue(stack, "Told", dead_letter_queue=dead_letters, dead_letter_retention=cdk.Duration.days(9))
    assert queue.retention_plan().dlq == 9 * DAY


def test_a_dlq_of_ones_own_that_keeps_less_than_the_source_is_refused() -> None:
    stack = make_stack()
    short = sqs.Queue(stack, "Short")  # SQS's default: 4 days
    with pytest.raises(InvalidSettingsError, match=r"dead_letter_retention = 4 d: must not be below retention = 5 d"):
        MessageQueue(stack, "Queue", retention=cdk.Duration.days(5), dead_letter_queue=short)


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(InvalidSettingsError) as raised:
        MessageQueue(
            make_stack(),
            "Queue",
            retention=cdk.Duration.days(20),
            visibility_timeout=cdk.Duration.seconds(1),
            max_receive_count=3,
            max_message_size=cdk.Size.mebibytes(2),
            queue_name="orders.fifo",
        )
    assert {mistake.argument for mistake in raised.value.mistakes} == {
        "retention",
        "visibility_timeout",
        "max_receive_count",
        "max_message_size",
        "queue_name",
    }


def test_terms_are_checked_before_anything_is_planned() -> None:
    queue = MessageQueue(make_stack(), "Queue", fifo=FifoOptions(on_poison="park"))
    terms = RetentionTerms(
        redrive_rounds=-1, before_send=cdk.Duration.seconds(0), dead_letters_by_receive_count_only=True
    )
    with pytest.raises(InvalidSettingsError) as raised:
        queue.retention_plan(terms)
    assert {mistake.argument for mistake in raised.value.mistakes} == {
        "redrive_rounds",
        "before_send",
        "dead_letters_by_receive_count_only",
    }


def test_tokens_are_passed_on_and_never_compared() -> None:
    stack = make_stack()
    parameter = cdk.CfnParameter(stack, "Seconds", type="Number")
    token = cdk.Duration.seconds(parameter.value_as_number)
    queue = MessageQueue(
        stack,
        "Queue",
        retention=token,
        visibility_timeout=token,
        queue_name=cdk.CfnParameter(stack, "Name").value_as_string,
        max_receive_count=lazy_number(lambda: 100),
    )
    template = Template.from_stack(stack)
    template.has_resource_properties(
        "AWS::SQS::Queue",
        {
            "MessageRetentionPeriod": {"Ref": "Seconds"},
            "VisibilityTimeout": {"Ref": "Seconds"},
            "QueueName": Match.any_value(),
        },
    )
    plan = queue.retention_plan()
    assert plan.source == 14 * DAY, "what is not known counts as the most that SQS has"


def test_the_receive_count_is_a_backstop() -> None:  # R4.6
    stack = make_stack()
    patient = MessageQueue(stack, "Patient", backoff=Backoff(base=1, cap=60), outage=cdk.Duration.hours(1))
    assert patient.max_receive_count == receive_count_for(Backoff(base=1, cap=60), 3600) > MIN_RECEIVE_COUNT
    quick = MessageQueue(stack, "Quick", outage=cdk.Duration.minutes(1))
    assert quick.max_receive_count == MIN_RECEIVE_COUNT
