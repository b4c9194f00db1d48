"""A queue with its dead-letter queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from aws_cdk import ArnFormat, Duration, Names, RemovalPolicy, Size, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from claim_check.contract import (
    DEFAULT_MAX_ATTEMPTS,
    DEFAULT_OUTAGE_SECONDS,
    MIB,
    SQS_MAX_MESSAGE_BYTES,
    SQS_MAX_QUEUE_NAME_LENGTH,
    SQS_MAX_RETENTION_SECONDS,
    SQS_MAX_VISIBILITY_SECONDS,
    SQS_MIN_RETENTION_SECONDS,
    Backoff,
    receive_count_for,
)
from claim_check_cdk.acknowledgements import acknowledge
from claim_check_cdk.pointer_life import RetentionTerms, retention_of
from claim_check_cdk.retention import RetentionPlan, format_seconds
from claim_check_cdk.validation import Mistakes, describe, known, known_bytes, known_seconds

VISIBILITY_FACTOR: Final = 6
"""AWS's advice for a queue that Lambda reads: visibility timeout of 6 x function timeout, plus the batching window."""

_SQS_MIN_MESSAGE_BYTES: Final = 1024
_SQS_MAX_RECEIVE_COUNT: Final = 1000
_FIFO_SUFFIX: Final = ".fifo"

PoisonPolicy = Literal["park", "block"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FifoOptions:
    """What makes a queue a FIFO queue; its type never changes after creation.

    Attributes:
        on_poison: What a message does that can never succeed (R5.1). ``park``: it goes to the DLQ and its group goes
            on, so the group's order is broken. ``block``: there is no DLQ, its group waits, order never breaks; alarm
            long before the queue's retention ends, since expiry would be silent loss.
        high_throughput: Deduplicates and limits per message group, for many groups. By default true.
    """

    on_poison: PoisonPolicy
    high_throughput: bool = True


class MessageQueue(Construct):
    """A queue for envelopes, standard or FIFO, with a dead-letter queue of the same type (R5).

    Both are encrypted, refuse requests without TLS, and stay when they leave the stack. The source queue has a name
    that follows from its place in the app, because the DLQ's redrive-allow policy must name it without a dependency
    cycle: a queue that was kept must be imported, or deleted, before the same app can create it anew.

    On a standard queue a message may carry a message group id: SQS then shares the consumers fairly between the groups,
    one per tenant, say (fair queues, R5.2); it gives no order. Nothing has to be set here for that.

    Attributes:
        queue: The source queue.
        dead_letter_queue: Its DLQ; None on a FIFO queue that blocks.
        visibility_timeout: How long a received message is hidden.
        max_message_bytes: Largest message the queue takes, bytes; producers must know it.
        max_receive_count: When SQS itself moves a message to the DLQ: the backstop behind the inbox's own count.
        fifo: What was chosen for a FIFO queue; None on a standard queue.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        function_timeout: Duration | None = None,
        max_batching_window: Duration | None = None,
        visibility_timeout: Duration | None = None,
        retention: Duration | None = None,
        dead_letter_retention: Duration | None = None,
        dead_letter_queue: sqs.IQueue | None = None,
        backoff: Backoff | None = None,
        outage: Duration | None = None,
        max_receive_count: int | None = None,
        max_message_size: Size | None = None,
        encryption_key: kms.IKey | None = None,
        fifo: FifoOptions | None = None,
        queue_name: str | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Make both queues.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            function_timeout: Timeout of the function, or longest handling of the worker, that reads the queue. By
                default one minute.
            max_batching_window: How long Lambda gathers a batch; standard queues only. By default not at all.
            visibility_timeout: How long a received message is hidden, at least 6 x ``function_timeout`` plus
                ``max_batching_window`` (R4.8), at most 12 hours. By default exactly that.
            retention: How long the queue keeps a message, 60 s to 14 d. By default 4 days.
            dead_letter_retention: The same of the DLQ; never shorter than ``retention``. By default 14 days. With a
                ``dead_letter_queue`` of your own: what that queue has, needed only if it is imported.
            dead_letter_queue: A DLQ of your own, of the same type, account and Region; its redrive-allow policy is then
                yours too. By default one is made.
            backoff: How the consumer spaces retries; decides ``max_receive_count``. By default `contract.Backoff()`.
            outage: An outage of S3 or DynamoDB this long sends no innocent message to the DLQ. By default 6 hours.
            max_receive_count: Receives after which SQS moves a message, at least what ``backoff`` and ``outage`` ask
                for (R4.6); on FIFO also what standing behind nine failing messages of its group takes, at five attempts
                each. By default exactly that, never below 50.
            max_message_size: Largest message, 1 KiB to 1 MiB. By default 1 MiB, set explicitly.
            encryption_key: Customer key for both queues. By default SQS encrypts with keys of its own (SSE-SQS).
            fifo: Makes it a FIFO queue. By default it is a standard queue.
            queue_name: Name of the source queue, up to 80 characters; ends in ``.fifo`` exactly on FIFO. By default it
                follows from stack name and path.
            removal_policy: What happens to the queues when they leave the stack. By default they stay.

        Raises:
            InvalidSettingsError: Settings are wrong; the message lists all of them.
        """
        super().__init__(scope, construct_id)
        self.fifo = fifo
        self._blocks = fifo is not None and fifo.on_poison == "block"
        self._archived_seconds = 0
        self._where = describe(self)
        mistakes = Mistakes(self._where)
        self.visibility_timeout = _visibility(mistakes, function_timeout, max_batching_window, visibility_timeout, fifo)
        self._retention = retention or Duration.days(4)
        self._dead_letter_retention = self._dlq_seconds(mistakes, dead_letter_retention, dead_letter_queue)
        _check_retention(mistakes, self._retention, self._dead_letter_retention, blocks=self._blocks)
        self.max_receive_count = _receive_count(
            mistakes, self._retention, backoff, outage, max_receive_count, fifo=fifo is not None
        )
        size = max_message_size or Size.mebibytes(1)
        _check_size(mistakes, size)
        _check_name(mistakes, queue_name, fifo=fifo is not None)
        _check_dead_letter_queue(mistakes, dead_letter_queue, fifo=fifo, stack=Stack.of(self))
        mistakes.raise_all()

        self.max_message_bytes = int(size.to_bytes())
        self._encryption_key = encryption_key
        self._queue_name = queue_name or self._default_name()
        settings = self._shared_settings(removal_policy)
        self._own_dead_letter_queue = self._make_dead_letter_queue(settings) if dead_letter_queue is None else None
        self.dead_letter_queue: sqs.IQueue | None = dead_letter_queue or self._own_dead_letter_queue
        self.queue = self._make_queue(settings)

    # --- Making -----------------------------------------------------------------------------------------------------

    def _default_name(self) -> str:
        suffix = _FIFO_SUFFIX if self.fifo else ""
        length = SQS_MAX_QUEUE_NAME_LENGTH - len(suffix)
        return (
            Names.unique_resource_name(self, max_length=length, separator="-", allowed_special_characters="-") + suffix
        )

    def _shared_settings(self, removal_policy: RemovalPolicy) -> dict[str, Any]:
        key = self._encryption_key
        return {
            "encryption": sqs.QueueEncryption.KMS if key else sqs.QueueEncryption.SQS_MANAGED,
            "encryption_master_key": key,
            "enforce_ssl": True,
            "fifo": True if self.fifo else None,
            "max_message_size_bytes": self.max_message_bytes,
            "removal_policy": removal_policy,
        }

    def _make_dead_letter_queue(self, settings: dict[str, Any]) -> sqs.Queue | None:
        if self._blocks:
            return None
        retention = Duration.seconds(self._dead_letter_retention or 0)
        queue = sqs.Queue(self, "DeadLetterQueue", retention_period=retention, **settings)
        cfn = queue.node.default_child
        assert isinstance(cfn, sqs.CfnQueue)  # noqa: S101 - narrows jsii's type
        # By name, not by reference: source and DLQ refer to each other, which would be a cycle (R5.4).
        source = Stack.of(self).format_arn(
            service="sqs", resource=self._queue_name, arn_format=ArnFormat.NO_RESOURCE_NAME
        )
        cfn.redrive_allow_policy = {"redrivePermission": "byQueue", "sourceQueueArns": [source]}
        acknowledge(
            queue,
            "Serverless-SQSRedrivePolicy",
            "This is a dead-letter queue: it ends the chain, and an alarm watches it.",
        )
        return queue

    def _make_queue(self, settings: dict[str, Any]) -> sqs.Queue:
        dead_letters = None
        if self.dead_letter_queue is not None:
            dead_letters = sqs.DeadLetterQueue(queue=self.dead_letter_queue, max_receive_count=self.max_receive_count)
        queue = sqs.Queue(
            self,
            "Queue",
            queue_name=self._queue_name,
            retention_period=self._retention,
            visibility_timeout=self.visibility_timeout,
            receive_message_wait_time=Duration.seconds(20),
            dead_letter_queue=dead_letters,
            **settings,
            **self._fifo_settings(),
        )
        if self._blocks:
            reason = "Order matters more than progress here: a poison message blocks its group, and an alarm tells."
            for rule in ("AwsSolutions-SQS3", "Serverless-SQSRedrivePolicy"):
                acknowledge(queue, rule, reason)
        return queue

    def _fifo_settings(self) -> dict[str, Any]:
        if self.fifo is None:
            return {}
        if not self.fifo.high_throughput:
            return {"content_based_deduplication": False}
        return {
            "content_based_deduplication": False,
            "deduplication_scope": sqs.DeduplicationScope.MESSAGE_GROUP,
            "fifo_throughput_limit": sqs.FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
        }

    def _dlq_seconds(self, mistakes: Mistakes, told: Duration | None, given: sqs.IQueue | None) -> int | None:
        """Retention of the DLQ, seconds; None if it is a token."""
        if self._blocks:
            mistakes.require(
                told is None and given is None,
                "fifo.on_poison",
                "block",
                "has no dead-letter queue",
                "leave dead_letter_queue and dead_letter_retention out, or choose on_poison='park'",
            )
            return 0
        if told is not None:
            return known_seconds(told)
        if given is None:
            return SQS_MAX_RETENTION_SECONDS
        seconds = retention_of(given)
        mistakes.require(
            seconds is not None,
            "dead_letter_retention",
            None,
            "must be told for an imported dead_letter_queue",
            "pass dead_letter_retention=Duration.days(...) as that queue has it",
        )
        return seconds

    # --- Using ------------------------------------------------------------------------------------------------------

    def retention_plan(self, terms: RetentionTerms | None = None) -> RetentionPlan:
        """How long a payload must live whose pointer goes through this queue (R6.1).

        Args:
            terms: What no queue knows of itself. By default `RetentionTerms()`.

        Raises:
            InvalidSettingsError: A term is wrong.
        """
        terms = terms or RetentionTerms()
        mistakes = Mistakes(self._where)
        terms.check(mistakes, fifo=self.fifo is not None)
        mistakes.raise_all()
        source, visibility = known_seconds(self._retention), known_seconds(self.visibility_timeout)
        dlq = self._dead_letter_retention
        return terms.plan(
            name=self._where,
            source=SQS_MAX_RETENTION_SECONDS if source is None else source,
            dlq=SQS_MAX_RETENTION_SECONDS if dlq is None else dlq,
            processing=SQS_MAX_VISIBILITY_SECONDS if visibility is None else visibility,
            archive=self._archived_seconds,
        )

    def count_archive(self, keep: Duration) -> None:
        """Have every plan of this queue count that its dead letters may lie in an archive (R6.5).

        `DlqArchive` calls it.

        Payload buckets and inboxes ask for the plan at synth, so it does not matter who was told of the queue first.

        Args:
            keep: How long a letter can lie there. Of several archives the longest counts.
        """
        self._archived_seconds = max(self._archived_seconds, known_seconds(keep) or 0)

    def grant_publish(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow sending to the queue, single and in batches."""
        grant = self.queue.grant(grantee, "sqs:SendMessage")
        return self._with_key(grant, grantee, "kms:Decrypt", "kms:GenerateDataKey")

    def grant_consume(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow receiving, deleting and hiding messages, and sending to the DLQ, which is how a consumer parks."""
        grant = self.queue.grant(
            grantee,
            "sqs:ChangeMessageVisibility",
            "sqs:DeleteMessage",
            "sqs:GetQueueAttributes",
            "sqs:ReceiveMessage",
        )
        if self.dead_letter_queue is None:
            return self._with_key(grant, grantee, "kms:Decrypt")
        grant = grant.combine(self.dead_letter_queue.grant(grantee, "sqs:SendMessage"))
        return self._with_key(grant, grantee, "kms:Decrypt", "kms:GenerateDataKey")

    def _with_key(self, grant: iam.Grant, grantee: iam.IGrantable, *actions: str) -> iam.Grant:
        key = self._encryption_key
        return grant if key is None else grant.combine(key.grant(grantee, *actions))

    # --- Watching ---------------------------------------------------------------------------------------------------

    def metric_visible(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Messages that wait in the source queue, by default the maximum of five minutes."""
        return self.queue.metric_approximate_number_of_messages_visible(period=period, statistic="Maximum")

    def metric_in_flight(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Messages that are being worked on, by default the maximum of five minutes; SQS stops at 120,000."""
        return self.queue.metric_approximate_number_of_messages_not_visible(period=period, statistic="Maximum")

    def metric_oldest_message_age(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Age of the oldest waiting message, seconds. SQS omits what was received three times or more."""
        return self.queue.metric_approximate_age_of_oldest_message(period=period, statistic="Maximum")

    def metric_dead_letters(self, *, period: Duration | None = None) -> cloudwatch.Metric | None:
        """Messages that wait in the DLQ, by default the maximum of five minutes; None without a DLQ."""
        if self.dead_letter_queue is None:
            return None
        return self.dead_letter_queue.metric_approximate_number_of_messages_visible(period=period, statistic="Maximum")


# --- Checks ---------------------------------------------------------------------------------------------------------


def _visibility(
    mistakes: Mistakes,
    function_timeout: Duration | None,
    window: Duration | None,
    given: Duration | None,
    fifo: FifoOptions | None,
) -> Duration:
    timeout, gathering = (
        known_seconds(function_timeout or Duration.minutes(1)),
        known_seconds(window or Duration.seconds(0)),
    )
    mistakes.require_range("max_batching_window", gathering, low=0, high=300, unit="s", way_out="gather for less time")
    mistakes.require(
        not (fifo and gathering), "max_batching_window", f"{gathering} s", "is for standard queues only", "leave it out"
    )
    if timeout is None or gathering is None:
        return given or Duration.hours(12)
    least = VISIBILITY_FACTOR * timeout + gathering
    seconds = known_seconds(given) if given else least
    if seconds is not None and not least <= seconds <= SQS_MAX_VISIBILITY_SECONDS:
        mistakes.add(
            "visibility_timeout",
            f"{seconds} s",
            f"must be from 6 x function_timeout + max_batching_window = 6 x {timeout} s + {gathering} s = {least} s "
            f"to {SQS_MAX_VISIBILITY_SECONDS} s",
            "leave it out (it is computed), or shorten function_timeout",
        )
    return given or Duration.seconds(least)


def _check_retention(mistakes: Mistakes, retention: Duration, dead_letters: int | None, *, blocks: bool) -> None:
    source = known_seconds(retention)
    for argument, seconds in (("retention", source), ("dead_letter_retention", None if blocks else dead_letters)):
        mistakes.require_range(
            argument,
            seconds,
            low=SQS_MIN_RETENTION_SECONDS,
            high=SQS_MAX_RETENTION_SECONDS,
            unit="s",
            way_out="SQS keeps a message 60 s to 14 d",
        )
    if blocks:
        return
    if source is not None and dead_letters is not None and dead_letters < source <= SQS_MAX_RETENTION_SECONDS:
        mistakes.add(
            "dead_letter_retention",
            format_seconds(dead_letters),
            f"must not be below retention = {format_seconds(source)}: a standard queue keeps the first enqueue time, "
            "so SQS could delete a message the moment it arrives in the DLQ",
            "leave it out (14 d), or shorten retention",
        )


def _receive_count(
    mistakes: Mistakes,
    retention: Duration,
    backoff: Backoff | None,
    outage: Duration | None,
    given: int | None,
    *,
    fifo: bool,
) -> int:
    seconds = known_seconds(outage) if outage else DEFAULT_OUTAGE_SECONDS
    source = known_seconds(retention)
    if seconds is not None and source is not None and outage is not None and seconds >= source:
        mistakes.add(
            "outage",
            format_seconds(seconds),
            f"must be shorter than retention = {format_seconds(source)}, which ends every message",
            "keep messages longer, or plan for a shorter outage",
        )
    least = receive_count_for(
        backoff or Backoff(),
        DEFAULT_OUTAGE_SECONDS if seconds is None else seconds,
        attempts_ahead=DEFAULT_MAX_ATTEMPTS if fifo else 0,
    )
    count = least if given is None else given
    if known(count) is not None and not least <= count <= _SQS_MAX_RECEIVE_COUNT:
        ahead = ", behind nine failing messages of its group" if fifo else ""
        mistakes.add(
            "max_receive_count",
            count,
            f"must be from {least} (an outage of {format_seconds(seconds or 0)} under this backoff{ahead}) to "
            f"{_SQS_MAX_RECEIVE_COUNT}",
            "leave it out (it is computed), lengthen backoff.cap, or plan for a shorter outage; the retry budget is "
            "the consumer's max_attempts",
        )
    return count


def _check_size(mistakes: Mistakes, size: Size) -> None:
    mistakes.require_range(
        "max_message_size",
        known_bytes(size),
        low=_SQS_MIN_MESSAGE_BYTES,
        high=SQS_MAX_MESSAGE_BYTES,
        unit="bytes",
        way_out=f"larger payloads travel as a claim; leave it out for {SQS_MAX_MESSAGE_BYTES // MIB} MiB",
    )


def _check_name(mistakes: Mistakes, name: str | None, *, fifo: bool) -> None:
    if known(name) is None or name is None:
        return
    mistakes.require(
        1 <= len(name) <= SQS_MAX_QUEUE_NAME_LENGTH,
        "queue_name",
        f"{len(name)} characters",
        f"must have 1 to {SQS_MAX_QUEUE_NAME_LENGTH} characters",
        "leave it out, or shorten it",
    )
    mistakes.require(
        name.endswith(_FIFO_SUFFIX) == fifo,
        "queue_name",
        name,
        "must end in .fifo on a FIFO queue, and only there",
        "leave it out, or change the ending",
    )


def _check_dead_letter_queue(
    mistakes: Mistakes, queue: sqs.IQueue | None, *, fifo: FifoOptions | None, stack: Stack
) -> None:
    if queue is None:
        return
    for what, there, here in (
        ("account", queue.env.account, stack.account),
        ("Region", queue.env.region, stack.region),
    ):
        mistakes.require(
            known(there) is None or known(here) is None or there == here,
            "dead_letter_queue",
            f"'{queue.node.path}' in {what} {there}",
            f"must be in the {what} of its source, {here} (R5.1)",
            "leave it out (one is made), or name a queue there",
        )
    mistakes.require(
        queue.fifo == (fifo is not None),
        "dead_letter_queue",
        f"'{queue.node.path}', a {'FIFO' if queue.fifo else 'standard'} queue",
        f"must be of the same type as its source, {'FIFO' if fifo else 'standard'} (R5.1)",
        "leave it out (one is made), or name a queue of that type",
    )
