"""FIFO and fair pipelines as templates: what a poison message does decides queues, settings and alarms (R5.1, R5.2)."""

from __future__ import annotations

from typing import Any, Final

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from claim_check.contract import Backoff, Setting, receive_count_for
from claim_check_cdk import (
    AccessLogBucket,
    ClaimCheckPipeline,
    FifoOptions,
    InboxTable,
    InvalidSettingsError,
    MessageQueue,
)
from claim_check_cdk.bundling import package_folder
from tests.infrastructure.kit import acknowledged, findings, make_stack, resources

PACKAGE: Final = package_folder("claim_check_examples")
HANDLER: Final = "claim_check_examples.wallet:handle"
BLOCKING_ALARMS: Final = {"GroupBlocked", "HalfOfRetention"}


class Sample:
    """Three pipelines: one whose poison blocks, one whose poison is parked, and a fair one on a standard queue."""

    def __init__(self) -> None:
        """Synthesize."""
        self.stack = make_stack()
        inbox = InboxTable(self.stack, "Inbox")
        common: dict[str, Any] = {"handler": HANDLER, "handler_package": PACKAGE, "inbox": inbox}
        self.block = ClaimCheckPipeline(
            self.stack,
            "Block",
            fifo=FifoOptions(on_poison="block"),
            retention=cdk.Duration.days(6),
            access_logs_bucket=AccessLogBucket(self.stack, "AccessLogs").bucket,
            **common,
        )
        self.park = ClaimCheckPipeline(
            self.stack, "Park", fifo=FifoOptions(on_poison="park"), bucket=self.block.bucket, max_attempts=8, **common
        )
        self.fair = ClaimCheckPipeline(self.stack, "Fair", bucket=self.block.bucket, fair_queues=True, **common)
        self.given = ClaimCheckPipeline(
            self.stack,
            "Given",
            bucket=self.block.bucket,
            queue=MessageQueue(
                self.stack,
                "Queue",
                function_timeout=cdk.Duration.minutes(3),
                fifo=FifoOptions(on_poison="block"),
                retention=cdk.Duration.days(2),
            ),
            **common,
        )
        self.findings = findings(self.stack)
        self.acknowledged = acknowledged(self.stack)
        self.template = Template.from_stack(self.stack)

    def properties(self, construct: Any) -> dict[str, Any]:  # noqa: ANN401 - any L2 construct
        """Properties of a construct's resource."""
        resource = self.template.to_json()["Resources"][self.stack.get_logical_id(construct.node.default_child)]
        return dict(resource["Properties"])

    def variables(self, pipeline: ClaimCheckPipeline) -> dict[str, Any]:
        """Environment of a pipeline's function."""
        return dict(self.properties(pipeline.function)["Environment"]["Variables"])


@pytest.fixture(scope="module")
def sample() -> Sample:
    """One synth for the module."""
    return Sample()


def test_a_pipeline_that_blocks_has_no_dlq_and_says_so_to_its_consumer(sample: Sample) -> None:
    queue = sample.properties(sample.block.queue.queue)
    assert queue["FifoQueue"] is True
    assert "RedrivePolicy" not in queue
    assert sample.block.queue.dead_letter_queue is None
    assert Setting.DLQ_URL not in sample.variables(sample.block)
    assert Setting.DLQ_URL in sample.variables(sample.park)


def test_high_throughput_is_per_group_and_bodies_are_never_compared(sample: Sample) -> None:
    for pipeline in (sample.block, sample.park, sample.given):
        queue = sample.properties(pipeline.queue.queue)
        assert (queue["DeduplicationScope"], queue["FifoThroughputLimit"]) == ("messageGroup", "perMessageGroupId")
        assert queue["ContentBasedDeduplication"] is False
        assert queue["QueueName"].endswith(".fifo")
        assert len(queue["QueueName"]) <= 80
        assert "DelaySeconds" not in queue


def test_only_a_pipeline_that_blocks_watches_groups_and_expiry(sample: Sample) -> None:
    assert sample.block.alarms.alarms.keys() >= BLOCKING_ALARMS
    assert sample.given.alarms.alarms.keys() >= BLOCKING_ALARMS, "a queue that was handed over is looked at, too"
    for pipeline in (sample.park, sample.fair):
        assert not BLOCKING_ALARMS & pipeline.alarms.alarms.keys()
        assert "DeadLetters" in pipeline.alarms.alarms
    assert "DeadLetters" not in sample.block.alarms.alarms


def test_expiry_is_told_of_at_half_of_the_queues_own_retention(sample: Sample) -> None:
    for pipeline, days in ((sample.block, 6), (sample.given, 2)):
        for alarm_id in ("HalfOfRetention", "QueueAge"):
            assert sample.properties(pipeline.alarms.alarms[alarm_id])["Threshold"] == days * 86_400 / 2


def test_the_consumer_is_told_the_queues_timeout_so_that_a_crash_blocks_briefly(sample: Sample) -> None:
    assert sample.variables(sample.block)[Setting.VISIBILITY] == "1080"


def test_the_backstop_of_a_pipeline_follows_its_attempts(sample: Sample) -> None:  # R4.6
    policy = sample.properties(sample.park.queue.queue)["RedrivePolicy"]
    assert policy["maxReceiveCount"] == receive_count_for(Backoff(), attempts_ahead=8) == 57 + 9 * 8


def test_more_attempts_than_a_given_fifo_queue_has_room_for_are_refused() -> None:
    stack = make_stack()
    queue = MessageQueue(stack, "Queue", function_timeout=cdk.Duration.minutes(3), fifo=FifoOptions(on_poison="park"))
    with pytest.raises(InvalidSettingsError, match=r"max_attempts = 11: must be from 1 to 10.*nine messages ahead"):
        ClaimCheckPipeline(stack, "Orders", handler=HANDLER, handler_package=PACKAGE, queue=queue, max_attempts=11)


def test_a_mapping_reads_ten_at_a_time_without_gathering_and_answers_by_message(sample: Sample) -> None:
    mappings = resources(sample.template, "AWS::Lambda::EventSourceMapping").values()
    assert len(mappings) == 4
    for mapping in mappings:
        assert mapping["BatchSize"] == 10
        assert "MaximumBatchingWindowInSeconds" not in mapping
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_a_fair_queue_is_a_standard_queue_whose_producers_name_the_tenant(sample: Sample) -> None:  # R5.2
    queue = sample.properties(sample.fair.queue.queue)
    assert "FifoQueue" not in queue
    assert sample.fair.producer_environment()[Setting.FAIR_QUEUES] == "true"
    assert sample.park.producer_environment()[Setting.FAIR_QUEUES] == "false"


def test_cdk_nag_finds_nothing_and_the_missing_dlq_has_its_reason(sample: Sample) -> None:
    assert sample.findings == []
    reasons = sample.acknowledged[sample.block.queue.queue.node.path]
    assert "blocks its group" in reasons["AwsSolutions-SQS3"]
