"""The bucket of an ingest: how it is named without a circle of stacks, and how it comes to tell of its objects (R10.1).

S3 tests the destination when a notification is set, so a bucket can be made only after the queue and its policy. The
policy therefore must not refer to the bucket; it names it by its literal name, or by the pattern of a name that
CloudFormation chooses. `docs/decisions/0038-the-queue-knows-the-bucket-by-name.md` tells what was weighed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aws_cdk import ArnFormat, CfnResource, Stack, Token
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from claim_check_cdk.ingest_filters import KeyFilter, key_patterns
from claim_check_cdk.validation import known

EVENTS: Final = (
    "s3:ObjectCreated:*",
    "s3:ObjectRemoved:*",
    "s3:LifecycleExpiration:*",
    "s3:ObjectRestore:Completed",
)
"""What a bucket notifies of; everything else changes no object's content."""

DETAIL_TYPES: Final = ("Object Created", "Object Deleted", "Object Restore Completed")
"""The same as EventBridge calls it; what a lifecycle rule removes is deleted, too."""

CONFIGURED: Final = "claim-check:ingest-notification"
"""Metadata of a bucket: each configuration that an ingest put there, so that several ingests share one bucket."""

_NAME_PREFIX_CHARACTERS: Final = 20
"""So much of a stack's name survives in the names that CloudFormation chooses, which are cut to 63 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceBucket:
    """The bucket of an ingest as its stack sees it.

    Attributes:
        bucket: The bucket as it was given or made.
        seen: The bucket by what the stack may refer to: for a bucket of another stack whose name is known, the bucket
            of that name, so that the stacks do not depend on each other in a circle.
        cfn: Its resource; None if it is imported.
        arn_pattern: ARN, or a pattern of it, that refers to no resource.
        account: Account that owns it.
        elsewhere: Whether another stack of this app makes it under a name that CloudFormation chooses.
    """

    bucket: s3.IBucket
    seen: s3.IBucket
    cfn: s3.CfnBucket | None
    arn_pattern: str
    account: str
    elsewhere: bool


def source_bucket(scope: Construct, bucket: s3.IBucket) -> SourceBucket:
    """Look at a bucket.

    Args:
        scope: The ingest.
        bucket: Its bucket.
    """
    child, stack = bucket.node.default_child, Stack.of(scope)
    cfn = child if isinstance(child, s3.CfnBucket) else None
    name = bucket.bucket_name if cfn is None else _given_name(cfn)
    foreign = cfn is not None and Stack.of(bucket) is not stack
    seen = bucket
    if foreign and name is not None:
        seen = s3.Bucket.from_bucket_attributes(scope, "Source", bucket_name=name, encryption_key=bucket.encryption_key)
    pattern = f"{_chosen_name(Stack.of(bucket))}*" if name is None else name
    return SourceBucket(
        bucket=bucket,
        seen=seen,
        cfn=cfn,
        arn_pattern=stack.format_arn(
            service="s3", region="", account="", resource=pattern, arn_format=ArnFormat.NO_RESOURCE_NAME
        ),
        account=known(bucket.env.account) or stack.account,
        elsewhere=foreign and name is None,
    )


def _given_name(cfn: s3.CfnBucket) -> str | None:
    """Its name if it was given one; the L2's property is a token even if not, which then resolves to nothing."""
    return cfn.bucket_name if Stack.of(cfn).resolve(cfn.bucket_name) is not None else None


def _chosen_name(stack: Stack) -> str:
    """How the names begin that CloudFormation chooses for the buckets of a stack."""
    name = stack.stack_name
    return "" if Token.is_unresolved(name) else name[:_NAME_PREFIX_CHARACTERS].lower()


# --- Notifications --------------------------------------------------------------------------------------------------


def queue_configurations(queue_arn: str, filters: Sequence[KeyFilter]) -> list[dict[str, Any]]:
    """The queue configurations of a bucket as CloudFormation takes them.

    Args:
        queue_arn: The queue.
        filters: Which keys.
    """
    found = []
    for one in filters:
        rules = [{"name": rule["Name"], "value": rule["Value"]} for rule in one.rules()]
        selects = {"filter": {"s3Key": {"rules": rules}}} if rules else {}
        found += [{"event": event, "queue": queue_arn, **selects} for event in EVENTS]
    return found


def to_put(queue_arn: str, filters: Sequence[KeyFilter], *, through_events: bool) -> dict[str, Any]:
    """The same as S3's PutBucketNotificationConfiguration takes it, for a bucket that is not managed here.

    Args:
        queue_arn: The queue.
        filters: Which keys.
        through_events: Whether EventBridge brings them.
    """
    if through_events:
        return {"EventBridgeConfiguration": {}}
    configurations = []
    for one in filters:
        selects = {"Filter": {"Key": {"FilterRules": one.rules()}}} if one.rules() else {}
        configurations.append({"QueueArn": queue_arn, "Events": list(EVENTS), **selects})
    return {"QueueConfigurations": configurations}


def notify_queue(source: s3.CfnBucket, queue: sqs.IQueue, filters: Sequence[KeyFilter]) -> None:
    """Have a bucket tell a queue, by its own property: no custom resource is involved.

    Args:
        source: The bucket.
        queue: The queue; its policy is in place before the bucket is made.
        filters: Which keys.
    """
    _configure(source, [{"queue": one} for one in queue_configurations(queue.queue_arn, filters)])
    policy = queue.node.try_find_child("Policy")
    if policy is not None and isinstance(policy.node.default_child, CfnResource):
        source.add_resource_dependency(policy.node.default_child)


def notify_event_bridge(source: s3.CfnBucket) -> None:
    """Have a bucket tell EventBridge of every object.

    Args:
        source: The bucket.
    """
    _configure(source, [{"eventBridge": True}])


def own_configuration(source: s3.CfnBucket) -> bool:
    """Whether a bucket has a notification configuration that no ingest made."""
    return source.notification_configuration is not None and not _configured(source)


def _configured(source: s3.CfnBucket) -> list[Mapping[str, Any]]:
    return [entry.data for entry in source.node.metadata if entry.type == CONFIGURED]


def other_filters(source: s3.CfnBucket) -> list[KeyFilter]:
    """Filters of the ingests that a bucket tells already."""
    found = []
    for entry in _configured(source):
        rules = entry.get("queue", {}).get("filter", {}).get("s3Key", {}).get("rules", ())
        values = {rule["name"]: rule["value"] for rule in rules}
        if "queue" in entry:
            found.append(KeyFilter(prefix=values.get("prefix", ""), suffix=values.get("suffix", "")))
    return list(dict.fromkeys(found))


def _configure(source: s3.CfnBucket, entries: Sequence[Mapping[str, Any]]) -> None:
    for entry in entries:
        source.node.add_metadata(CONFIGURED, entry)
    configured = _configured(source)
    queues = [entry["queue"] for entry in configured if "queue" in entry]
    bridged = any("eventBridge" in entry for entry in configured)
    enabled = s3.CfnBucket.EventBridgeConfigurationProperty(event_bridge_enabled=True)
    source.notification_configuration = s3.CfnBucket.NotificationConfigurationProperty(
        queue_configurations=[_queue_property(one) for one in queues] or None,
        event_bridge_configuration=enabled if bridged else None,
    )


def _queue_property(one: Mapping[str, Any]) -> s3.CfnBucket.QueueConfigurationProperty:
    rules = [
        s3.CfnBucket.FilterRuleProperty(name=rule["name"], value=rule["value"])
        for rule in one.get("filter", {}).get("s3Key", {}).get("rules", ())
    ]
    selects = (
        s3.CfnBucket.NotificationFilterProperty(s3_key=s3.CfnBucket.S3KeyFilterProperty(rules=rules)) if rules else None
    )
    return s3.CfnBucket.QueueConfigurationProperty(event=one["event"], queue=one["queue"], filter=selects)


# --- EventBridge ----------------------------------------------------------------------------------------------------


def event_pattern(bucket_name: str, filters: Sequence[KeyFilter]) -> dict[str, Any]:
    """The EventBridge pattern of a bucket's events.

    Args:
        bucket_name: The bucket.
        filters: Which keys.
    """
    keys = key_patterns(filters)
    detail: dict[str, Any] = {"bucket": {"name": [bucket_name]}}
    if keys:
        detail["object"] = {"key": keys}
    return {"source": ["aws.s3"], "detail-type": list(DETAIL_TYPES), "detail": detail}


def explain(configuration: Mapping[str, Any]) -> str:
    """A configuration for people, to be set by hand."""
    return json.dumps(configuration, indent=2)
