"""Lifecycle rules of a team's own beside those of a payload bucket: what S3 refuses, and what would break a claim."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_s3 as s3

from claim_check.contract import PAYLOAD_PREFIX
from claim_check_cdk.retention import RetentionPlan
from claim_check_cdk.validation import Mistakes, known_seconds

_ARCHIVES = ("GLACIER", "DEEP_ARCHIVE")


def check_rules(mistakes: Mistakes, rules: Sequence[s3.LifecycleRule], *, versioned: bool, taken: set[str]) -> None:
    """Note what S3 would refuse at deployment, and what would make a payload unreadable.

    Args:
        mistakes: Where to.
        rules: The team's rules.
        versioned: Whether the bucket keeps versions.
        taken: Ids of the bucket's own rules.
    """
    seen = set(taken)
    for index, rule in enumerate(rules):
        argument = f"lifecycle_rules[{index}]"
        name = rule.id or "without id"
        mistakes.require(name not in seen, argument, name, "must have an id that no other rule has", "rename it")
        seen.add(rule.id or "")
        for wrong, limit, way_out in _refused_by_s3(rule, versioned=versioned):
            mistakes.require(not wrong, argument, name, limit, way_out)
        if reaches_payloads(rule):
            _check_readable(mistakes, argument, name, rule)


def _refused_by_s3(rule: s3.LifecycleRule, *, versioned: bool) -> list[tuple[bool, str, str]]:
    sized = rule.object_size_greater_than is not None or rule.object_size_less_than is not None
    expires = rule.expiration is not None or rule.expiration_date is not None
    noncurrent = (
        rule.noncurrent_version_expiration,
        rule.noncurrent_versions_to_retain,
        rule.noncurrent_version_transitions,
    )
    acts = any(
        (expires, rule.expired_object_delete_marker, rule.abort_incomplete_multipart_upload_after, rule.transitions)
    )
    split = "make it two rules"
    return [
        (
            rule.abort_incomplete_multipart_upload_after is not None and (bool(rule.tag_filters) or sized),
            "cannot abort uploads together with a tag or size filter: parts have neither",
            split,
        ),
        (
            bool(rule.expired_object_delete_marker) and (expires or bool(rule.tag_filters)),
            "cannot remove expired delete markers together with an expiration or a tag filter",
            split,
        ),
        (
            rule.expiration is not None and rule.expiration_date is not None,
            "cannot have both expiration and expiration_date",
            "choose one",
        ),
        (
            not versioned and any(value is not None for value in noncurrent),
            "has noncurrent versions, and this bucket keeps none",
            "set versioned=True, or leave them out",
        ),
        (not acts and all(value is None for value in noncurrent), "does nothing", "give it an action, or leave it out"),
    ]


def _check_readable(mistakes: Mistakes, argument: str, name: str, rule: s3.LifecycleRule) -> None:
    mistakes.require(
        rule.expiration_date is None,
        argument,
        name,
        f"must not expire {PAYLOAD_PREFIX} on a date, whatever still points there",
        "leave expiration_date out, or give the rule another prefix",
    )
    classes = [transition.storage_class.to_string() for transition in _transitions(rule)]
    mistakes.require(
        not any(storage_class in _ARCHIVES for storage_class in classes),
        argument,
        name,
        f"must not move {PAYLOAD_PREFIX} to an archive, where a consumer cannot read it",
        "take GLACIER_INSTANT_RETRIEVAL or INTELLIGENT_TIERING",
    )


def _transitions(rule: s3.LifecycleRule) -> list[s3.Transition]:
    return list(rule.transitions or [])


def reaches_payloads(rule: s3.LifecycleRule) -> bool:
    """Whether a rule is enabled and its prefix covers some payload."""
    prefix = rule.prefix or ""
    overlaps = PAYLOAD_PREFIX.startswith(prefix) or prefix.startswith(PAYLOAD_PREFIX)
    return rule.enabled is not False and overlaps


def shorter_than(plan: RetentionPlan, rules: Sequence[s3.LifecycleRule]) -> list[str]:
    """Why rules end payloads too early, each with the table of terms: of two rules the shorter wins.

    Args:
        plan: How long a payload must live.
        rules: The team's rules.
    """
    found = []
    for index, rule in enumerate(rules):
        for argument in ("expiration", "noncurrent_version_expiration"):
            seconds = known_seconds(getattr(rule, argument))
            if seconds is not None and reaches_payloads(rule):
                found.append(plan.refusal(argument=f"lifecycle_rules[{index}].{argument}", given=seconds))
    return [refusal for refusal in found if refusal]
