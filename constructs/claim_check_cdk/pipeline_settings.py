"""Checks of a pipeline's settings: everything that can be known before deployment."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aws_cdk import Duration, Size, Token
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from claim_check.contract import MIB, S3_MAX_OBJECT_BYTES, SETTING_PREFIX, SQS_MAX_BATCH_ENTRIES, is_name
from claim_check_cdk.acknowledgements import acknowledge
from claim_check_cdk.bundling import has_module
from claim_check_cdk.message_queue import VISIBILITY_FACTOR
from claim_check_cdk.payload_holder import check_names
from claim_check_cdk.pipeline_parts import PipelineQueue
from claim_check_cdk.sizing import Sizing
from claim_check_cdk.validation import Mistakes, known, known_bytes, known_seconds

MAX_BATCH: Final = 10_000
MAX_CONCURRENCY: Final = 1000
MIN_CONCURRENCY: Final = 2
MAX_GATHERING_SECONDS: Final = 300

_HANDLER: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
_CONTENT_TYPE: Final = re.compile(r"[a-z0-9!#$&^_.+-]+/([a-z0-9!#$&^_.+-]+|\*)", re.ASCII)
_MIN_INLINE_BYTES: Final = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Batching:
    """How Lambda reads the queue.

    Attributes:
        size: Messages in one invocation.
        window: How long Lambda gathers a batch; None: not at all.
        max_concurrency: Invocations side by side.
    """

    size: int
    window: Duration | None
    max_concurrency: int

    def check(self, mistakes: Mistakes, *, fifo: bool) -> None:
        """Note what Lambda would refuse, or what would harm."""
        seconds = known_seconds(self.window)
        mistakes.require_range(
            "max_batching_window", seconds, low=0, high=MAX_GATHERING_SECONDS, unit="s", way_out="gather for less time"
        )
        mistakes.require(
            not (fifo and seconds), "max_batching_window", f"{seconds} s", "is for standard queues only", "leave it out"
        )
        gathers = self.window is not None and seconds != 0 and not fifo
        mistakes.require_range(
            "batch_size",
            self.size,
            low=1,
            high=MAX_BATCH if gathers else SQS_MAX_BATCH_ENTRIES,
            way_out="more than 10 needs a standard queue and max_batching_window of at least 1 s",
        )
        mistakes.require_range(
            "max_concurrency",
            self.max_concurrency,
            low=MIN_CONCURRENCY,
            high=MAX_CONCURRENCY,
            way_out="take 2; one at a time is FIFO with one message group, never reserved concurrency: its throttled "
            "receives count towards maxReceiveCount",
        )

    def connect(self, scope: Construct, queue: sqs.IQueue, function: lambda_.IFunction) -> lambda_.EventSourceMapping:
        """Have Lambda hand the queue's messages to a function, which tells of each whether it failed.

        Args:
            scope: Parent construct, whose child ``EventSource`` it becomes.
            queue: The queue.
            function: The function.
        """
        mapping = lambda_.EventSourceMapping(
            scope,
            "EventSource",
            target=function,
            event_source_arn=queue.queue_arn,
            batch_size=self.size,
            max_batching_window=self.window,
            max_concurrency=self.max_concurrency,
            report_batch_item_failures=True,
        )
        acknowledge(
            mapping,
            "Serverless-LambdaEventSourceMappingDestination",
            "Mappings of SQS queues have no such destination: failed messages stay in the queue, or go to its DLQ.",
        )
        return mapping


def check_handler(
    mistakes: Mistakes,
    handler: str,
    *,
    handler_package: Path | None,
    requirements_lock: Path | None,
    argument: str = "handler",
) -> None:
    """Note a handler that the runtime could not import."""
    if known(handler) is None:
        return
    if _HANDLER.fullmatch(handler) is None:
        way_out = "name one, e.g. orders.events:handle"
        mistakes.add(argument, repr(handler), "must be package.module:function", way_out)
        return
    found = has_module(handler.partition(":")[0], [handler_package] if handler_package else [])
    mistakes.require(
        # A package that is neither may come with the wheels of the lock.
        requirements_lock is not None if found is None else found,
        argument,
        repr(handler),
        "the function's asset would hold no such module",
        "pass handler_package, the folder of the package that holds it",
    )


def check_names_of(
    mistakes: Mistakes, name_of_it: str, environment: Mapping[str, str], *, argument: str = "consumer_name"
) -> None:
    """Note a name that rows could not hold, and variables that belong to the library."""
    mistakes.require(
        known(name_of_it) is None or is_name(name_of_it),
        argument,
        repr(name_of_it),
        "must be 1 to 128 of A-Z a-z 0-9 . _ -, and not . or ..",
        f"pass {argument}; by default it is the construct id",
    )
    for name in environment:
        mistakes.require(
            not name.startswith(SETTING_PREFIX),
            "handler_environment",
            repr(name),
            f"must not begin with {SETTING_PREFIX}: those are the library's",
            "rename it, or use this construct's argument for it",
        )


def check_filters(
    mistakes: Mistakes,
    *,
    event_types: Mapping[str, Collection[int]] | None,
    tenants: Collection[str] | None,
    content_types: Collection[str] | None,
) -> None:
    """Note event types, tenants and content types that no event could have."""
    check_names(mistakes, "event_types", event_types)
    check_names(mistakes, "tenants", tenants)
    for name, versions in (event_types or {}).items():
        mistakes.require(
            len(versions) > 0 and all(version >= 1 for version in versions),
            "event_types",
            f"{name}: {sorted(versions)}",
            "must name at least one version, from 1 up",
            "list the versions that the handler understands",
        )
    if content_types is not None and (isinstance(content_types, str) or not content_types):
        mistakes.add(
            "content_types", repr(content_types), "must be a collection of at least one", "leave it out for all"
        )
        return
    for content_type in content_types or ():
        mistakes.require(
            _CONTENT_TYPE.fullmatch(content_type) is not None,
            "content_types",
            repr(content_type),
            "must be type/subtype or type/* in lower case, without parameters",
            "name it like application/pdf or image/*",
        )


def check_known(mistakes: Mistakes, settings: Mapping[str, Size | int | None]) -> bool:
    """Note settings that are tokens although they are added up at synth; whether there are none."""
    tokens = [
        argument
        for argument, value in settings.items()
        if (value.is_unresolved() if isinstance(value, Size) else Token.is_unresolved(value))
    ]
    for argument in tokens:
        mistakes.add(
            argument, "a token", "must be known at synth, where memory and storage are added up", "give a literal"
        )
    return not tokens


def check_sizes(
    mistakes: Mistakes, sizing: Sizing, *, batch_size: int, memory_mib: int | None, storage: Size | None
) -> None:
    """Note too little memory or storage, with the sum (R4.4), and sizes that make no sense."""
    mistakes.require_range(
        "max_payload",
        sizing.max_payload,
        low=1,
        high=S3_MAX_OBJECT_BYTES,
        unit="bytes",
        way_out="split larger payloads; leave it out for 512 MiB",
    )
    mistakes.require_range(
        "concurrent_records",
        sizing.concurrent_records,
        low=1,
        high=max(1, batch_size),
        way_out="at most the batch size",
    )
    mistakes.require(
        sizing.expansion >= 1, "expansion_factor", sizing.expansion, "must be 1 or more", "1 means: as large as it is"
    )
    size = known_bytes(storage)
    mistakes.require(
        size is None or size % MIB == 0, "ephemeral_storage", f"{size} bytes", "must be whole MiB", "round it up"
    )
    for argument, value, limit in sizing.refusals(
        memory_mib=memory_mib, temp_mib=None if size is None else size // MIB
    ):
        way_out = "give it more, or lower max_payload, concurrent_records or expansion_factor, or stream"
        mistakes.add(argument, value, limit, way_out)


def check_tracer(mistakes: Mistakes, *, tracer: bool, tracing: bool, requirements_lock: Path | None) -> None:
    """Note a tracer that could not be imported, or that nobody would listen to."""
    mistakes.require(tracing or not tracer, "tracer", tracer, "needs tracing", "leave tracing at True")
    mistakes.require(
        requirements_lock is not None or not tracer,
        "tracer",
        tracer,
        "needs aws-xray-sdk, which is not in the asset by default",
        "pass a requirements_lock that holds aws-xray-sdk",
    )


def check_inline(mistakes: Mistakes, limit: int, *, max_message: int) -> None:
    """Note a limit for inline payloads that the queue could not carry."""
    mistakes.require_range(
        "inline_limit",
        limit,
        low=_MIN_INLINE_BYTES,
        high=max_message,
        unit="bytes",
        way_out="leave it out for 64 KiB; the queue's MaximumMessageSize is the most",
    )


def check_attempts(mistakes: Mistakes, max_attempts: int, *, max_receive_count: int, fifo: bool) -> None:
    """Note a retry budget that comes near the queue's own backstop (R4.6)."""
    counted = "the attempts at up to nine messages ahead in the group" if fifo else "deferrals"
    mistakes.require_range(
        "max_attempts",
        max_attempts,
        low=1,
        high=max_receive_count // (SQS_MAX_BATCH_ENTRIES if fifo else 2),
        way_out=f"stay well below the queue's maxReceiveCount = {max_receive_count}, which also counts {counted}",
    )


def check_given_queue(
    mistakes: Mistakes,
    queue: PipelineQueue,
    *,
    timeout: Duration,
    window: Duration | None,
    settings: Mapping[str, object],
) -> None:
    """Note a queue that hides messages too briefly for this function, and settings that the queue already has.

    Args:
        mistakes: Where to.
        queue: The queue.
        timeout: The function's timeout.
        window: How long Lambda gathers a batch.
        settings: Settings of a queue of the pipeline's own, by argument.
    """
    check_unused(mistakes, "queue", settings)
    visibility, seconds = known_seconds(queue.visibility_timeout), known_seconds(timeout)
    if visibility is None or seconds is None:
        return
    least = VISIBILITY_FACTOR * seconds + (known_seconds(window) or 0)
    mistakes.require(
        visibility >= least,
        "queue",
        f"visibility timeout {visibility} s",
        f"must be at least 6 x timeout + max_batching_window = {least} s",
        "pass function_timeout and max_batching_window to the MessageQueue, or shorten timeout",
    )


def check_unused(mistakes: Mistakes, part: str, settings: Mapping[str, object]) -> None:
    """Note settings of a part that was given ready-made, and would have no effect."""
    for argument, value in settings.items():
        mistakes.require(
            value is None,
            argument,
            value,
            f"has no effect beside {part}",
            f"set it on your own {part}, or leave {part} out",
        )
