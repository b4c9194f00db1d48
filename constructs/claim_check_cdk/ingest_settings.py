"""Checks of an ingest's settings: everything that can be known before deployment."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from aws_cdk import Duration, Size, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs

from claim_check.contract import KIB, SQS_MAX_MESSAGE_BYTES
from claim_check_cdk.ingest_filters import (
    MAX_FILTERS,
    KeyFilter,
    check_filters,
    check_pattern,
    encoded,
    overlapping,
)
from claim_check_cdk.ingest_source import (
    EVENTS,
    SourceBucket,
    event_pattern,
    explain,
    other_filters,
    own_configuration,
    to_put,
)
from claim_check_cdk.pipeline_parts import PipelineQueue
from claim_check_cdk.pipeline_settings import (
    Batching,
    check_attempts,
    check_given_queue,
    check_handler,
    check_known,
    check_sizes,
)
from claim_check_cdk.retention import DAY
from claim_check_cdk.service_access import AWS_MANAGED_SQS_KEY
from claim_check_cdk.sizing import Sizing
from claim_check_cdk.validation import Mistakes, known, known_seconds

Through = Literal["notification", "eventbridge"]

S3_MIN_MESSAGE_BYTES: Final = 64 * KIB
"""Of the MaximumMessageSize of a queue that S3 notifies."""

_MINUTE: Final = 60
_NAME_ROOM: Final = 63
"""A bucket's name in an EventBridge pattern."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How an ingest works on its queue.

    Attributes:
        sizing: Memory and temporary storage.
        batching: How Lambda reads the queue.
        timeout: Of the function.
        max_attempts: At one message.
    """

    sizing: Sizing
    batching: Batching
    timeout: Duration
    max_attempts: int

    def check(
        self,
        mistakes: Mistakes,
        *,
        memory: Mapping[str, Size | int | None],
        queue: PipelineQueue | None,
        own_queue: Mapping[str, object],
        receives: int,
        fifo: bool,
    ) -> None:
        """Note what does not fit together.

        Args:
            mistakes: Where to.
            memory: What memory and storage are added up of, by argument.
            queue: A queue that was given.
            own_queue: Settings of a queue of the ingest's own, by argument.
            receives: The queue's maxReceiveCount.
            fifo: Whether it is a FIFO queue.
        """
        if check_known(mistakes, memory):
            mib, storage = memory["memory_size_mib"], memory["ephemeral_storage"]
            check_sizes(
                mistakes,
                self.sizing,
                batch_size=self.batching.size,
                memory_mib=None if isinstance(mib, Size) else mib,
                storage=storage if isinstance(storage, Size) else None,
            )
        self.batching.check(mistakes, fifo=fifo)
        check_attempts(mistakes, self.max_attempts, max_receive_count=receives, fifo=fifo)
        if queue is not None:
            check_given_queue(mistakes, queue, timeout=self.timeout, window=self.batching.window, settings=own_queue)


def check_way(mistakes: Mistakes, through: Through, filters: Sequence[KeyFilter], *, fifo: bool) -> None:
    """Note a way that S3 does not offer (R10.4), and filters that S3 or EventBridge would refuse on it."""
    _check_keys(mistakes, filters, through=through)
    mistakes.require(
        through in {"notification", "eventbridge"},
        "through",
        repr(through),
        "must be notification or eventbridge",
        "leave it out for S3's own notifications",
    )
    mistakes.require(
        not (fifo and through == "notification"),
        "fifo",
        "a FIFO queue",
        "cannot be notified by S3, which sends to standard queues only",
        "set through='eventbridge' as well, or leave fifo out: the ledger orders events without it",
    )


def check_queue(
    mistakes: Mistakes, queue: PipelineQueue | None, *, max_message: int | None, key: kms.IKey | None
) -> None:
    """Note a queue that S3 or EventBridge could not send to.

    Args:
        mistakes: Where to.
        queue: A queue that was given.
        max_message: MaximumMessageSize of that queue or of the ingest's own, bytes.
        key: Customer key of whatever the ingest makes.
    """
    _check_key(mistakes, "encryption_key", key)
    mistakes.require_range(
        "max_message_size" if queue is None else "queue",
        max_message,
        low=S3_MIN_MESSAGE_BYTES,
        high=SQS_MAX_MESSAGE_BYTES,
        unit="bytes of MaximumMessageSize",
        way_out="S3 refuses a smaller one; leave max_message_size out for 1 MiB",
    )
    if queue is None:
        return
    cfn = queue.queue.node.default_child
    if not isinstance(cfn, sqs.CfnQueue):
        mistakes.add(
            "queue",
            f"'{queue.queue.node.path}', imported",
            "must be made in this app: its policy has to let the service send, and cannot be changed here",
            "leave it out (one is made), or pass a MessageQueue",
        )
        return
    key_id = Stack.of(queue.queue).resolve(cfn.kms_master_key_id)
    _check_key(mistakes, "queue", json.dumps(key_id) if key_id else "")


def _check_key(mistakes: Mistakes, argument: str, key: str | kms.IKey | None) -> None:
    """Note the AWS-managed key of SQS, whose policy lets no service in.

    Args:
        mistakes: Where to.
        argument: What it was given as.
        key: The key, or the text by which a queue names it.
    """
    text = key if isinstance(key, str) or key is None else f"{key.key_id} {getattr(key, 'alias_name', '')}"
    mistakes.require(
        AWS_MANAGED_SQS_KEY not in (text or ""),
        argument,
        f"encrypted with {AWS_MANAGED_SQS_KEY}",
        "must not use the AWS-managed key: its policy lets neither S3 nor EventBridge send, and nobody can change it",
        "leave the key out (SSE-SQS), or pass a customer key, which is then allowed to S3 here",
    )


def check_source(
    mistakes: Mistakes,
    source: SourceBucket,
    filters: Sequence[KeyFilter],
    *,
    through: Through,
    managed: bool,
) -> None:
    """Note a bucket whose notifications cannot be set here, or are set already.

    Args:
        mistakes: Where to.
        source: A bucket that was given.
        filters: Which keys.
        through: How its events come.
        managed: Whether its notifications are to be set here.
    """
    if not managed:
        return
    configuration = to_put("ARN of this ingest's queue", filters, through_events=through == "eventbridge")
    by_hand = "pass manage_notifications=False, and have its owner set this configuration once the queue is there"
    where = f"'{source.bucket.node.path}'"
    if source.cfn is None:
        mistakes.add(
            "bucket",
            f"{where}, imported",
            "its notifications cannot be set here: they belong to whoever made it",
            f"{by_hand}:\n{explain(configuration)}\n",
        )
        return
    mistakes.require(
        not own_configuration(source.cfn),
        "bucket",
        where,
        "has a notification configuration of its own, and a bucket has only one",
        f"pass manage_notifications=False, and add this to it:\n{explain(configuration)}\n",
    )
    if through == "notification":
        _check_other_ingests(mistakes, source.cfn, filters)
        mistakes.require(
            not source.elsewhere,
            "bucket",
            f"{where}, of another stack and without a bucket_name",
            "must be known by name: its stack is deployed after the queue's, which therefore cannot refer to it",
            "give the bucket a bucket_name, make the S3Ingest in the bucket's stack, or set through='eventbridge'",
        )


def _check_other_ingests(mistakes: Mistakes, cfn: s3.CfnBucket, filters: Sequence[KeyFilter]) -> None:
    others = other_filters(cfn)
    mine = [KeyFilter(prefix=encoded(one.prefix), suffix=encoded(one.suffix)) for one in filters]
    for first, second in overlapping([*others, *mine]):
        if first < len(others) <= second:
            mistakes.add(
                f"filters[{second - len(others)}]",
                filters[second - len(others)],
                f"overlaps a filter of another S3Ingest on this bucket ({others[first]}), which S3 refuses",
                "tell them apart by prefix or by suffix, or set through='eventbridge' on one of the two",
            )
    mistakes.require_range(
        "filters",
        (len(others) + len(filters)) * len(EVENTS),
        low=1,
        high=MAX_FILTERS,
        unit="configurations on this bucket",
        way_out="fewer filters, or through='eventbridge'",
    )


def _check_keys(mistakes: Mistakes, filters: Sequence[KeyFilter], *, through: Through) -> None:
    """Note filters that S3 or EventBridge would refuse."""
    check_filters(mistakes, filters)
    if through == "eventbridge":
        rest = len(json.dumps(event_pattern("x" * _NAME_ROOM, ())))
        check_pattern(mistakes, filters, other_characters=rest)
        return
    mistakes.require_range(
        "filters",
        len(filters) * len(EVENTS),
        low=0,
        high=MAX_FILTERS,
        unit=f"configurations ({len(EVENTS)} kinds of events for each filter)",
        way_out="fewer filters, or through='eventbridge'",
    )


def check_schedule(mistakes: Mistakes, every: Duration | None, grace: Duration | None, rate: int) -> None:
    """Note times and a rate that no reconciliation can keep."""
    for argument, duration, low in (("reconcile_every", every, 15 * _MINUTE), ("reconcile_grace", grace, 0)):
        mistakes.require(
            duration is None or not duration.is_unresolved(),
            argument,
            "a token",
            "must be known at synth",
            "give a literal",
        )
        mistakes.require_range(
            argument, known_seconds(duration), low=low, high=31 * DAY, unit="s", way_out="leave it out"
        )
    mistakes.require_range("reconcile_rate", rate, low=1, high=3000, unit="messages/s", way_out="leave it out for 200")


def check_handlers(
    mistakes: Mistakes, handlers: Mapping[str, str], *, handler_package: Path | None, requirements_lock: Path | None
) -> None:
    """Note handlers that the runtime could not import, by argument."""
    for argument, handler in handlers.items():
        check_handler(
            mistakes, handler, handler_package=handler_package, requirements_lock=requirements_lock, argument=argument
        )


def loops(source: SourceBucket, filters: Sequence[KeyFilter]) -> list[str]:
    """Why what the bucket itself receives would be ingested for ever; empty if it would not.

    Args:
        source: The bucket, read at synth when all of it is known.
        filters: Which keys.
    """
    if source.cfn is None:
        return []
    logging = Stack.of(source.bucket).resolve(source.cfn.logging_configuration) or {}
    target = logging.get("destinationBucketName", logging.get("DestinationBucketName"))
    itself = [{"Ref": Stack.of(source.bucket).get_logical_id(source.cfn)}, known(source.cfn.bucket_name) or "-"]
    prefix = logging.get("logFilePrefix", logging.get("LogFilePrefix")) or ""
    if not logging or (target is not None and target not in itself):
        return []
    if not any(one.overlaps(KeyFilter(prefix=prefix)) for one in filters):
        return []
    text = (
        f"bucket = '{source.bucket.node.path}': logs every access into itself, below {prefix!r}, and each log file "
        "would be ingested, which is an access again. Way out: send its access logs to an AccessLogBucket, or give "
        "filters that leave the log files out."
    )
    return [text]


def mixed(source: SourceBucket) -> list[str]:
    """Why notifications made elsewhere would be lost; empty if there are none.

    Args:
        source: The bucket, read at synth when all of it is known.
    """
    if source.bucket.node.try_find_child("Notifications") is None:
        return []
    text = (
        f"bucket = '{source.bucket.node.path}': also has notifications of add_event_notification or of "
        "enable_event_bridge_notification, whose custom resource and this ingest's property would overwrite each "
        "other. Way out: leave those out, or pass manage_notifications=False and add this ingest's queue to them."
    )
    return [text]
