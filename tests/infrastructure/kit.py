"""What the infrastructure tests share: stacks with the app's feature flags, templates, findings of cdk-nag."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from aws_cdk.assertions import Template
from cdk_nag import AwsSolutionsChecks, ServerlessChecks
from constructs import IConstruct

PROJECT: Final = Path(__file__).parents[2]
Properties = Mapping[str, Any]

_ASSET: Final = re.compile(r"\b[0-9a-f]{64}\b")


@cache
def flags() -> dict[str, Any]:
    """The context of ``cdk.json``."""
    context: dict[str, Any] = json.loads((PROJECT / "cdk.json").read_text(encoding="utf-8"))["context"]
    return context


def make_stack(
    name: str = "Stack", *, app: cdk.App | None = None, env: cdk.Environment | None = None, with_flags: bool = True
) -> cdk.Stack:
    """An empty stack in an app with the flags of ``cdk.json``, or with none at all."""
    return cdk.Stack(app or cdk.App(context=flags() if with_flags else {}), name, env=env)


def resources(template: Template, resource_type: str) -> dict[str, Properties]:
    """Properties of the resources of a type, by logical id."""
    found = template.find_resources(resource_type)
    return {logical_id: resource.get("Properties", {}) for logical_id, resource in found.items()}


def only(template: Template, resource_type: str) -> Properties:
    """Properties of the one resource of a type."""
    (properties,) = resources(template, resource_type).values()
    return properties


def statements(policy: Properties) -> list[Properties]:
    """Statements of a policy resource."""
    found: list[Properties] = policy["PolicyDocument"]["Statement"]
    return found


def findings(*stacks: cdk.Stack) -> list[tuple[str, str]]:
    """What cdk-nag's AwsSolutions and Serverless packs find: rule and construct path."""
    return [
        (violation.rule_name, str(resource.construct_path))
        for stack in stacks
        for pack in (AwsSolutionsChecks(stack), ServerlessChecks(stack))
        for violation in pack.validate_scope(stack).violations
        for resource in violation.violating_resources
    ]


def acknowledged(scope: IConstruct) -> dict[str, dict[str, str]]:
    """Reasons of acknowledged rules, by construct path and rule."""
    found: dict[str, dict[str, str]] = {}
    for construct in scope.node.find_all():
        for entry in construct.node.metadata:
            if entry.type == cdk.Validations.ACKNOWLEDGED_RULES_METADATA_KEY:
                reasons = {rule.removeprefix("Annotation::"): reason for rule, reason in entry.data.items()}
                found.setdefault(construct.node.path, {}).update(reasons)
    return found


def masked(template: Mapping[str, Any]) -> dict[str, Any]:
    """A template without what changes with every edit of the Lambda sources."""
    text = _ASSET.sub("<asset>", json.dumps(template))
    result: dict[str, Any] = json.loads(text)
    return result


def make_function(scope: cdk.Stack, construct_id: str = "Function") -> lambda_.Function:
    """A function that needs no bundling."""
    return lambda_.Function(
        scope,
        construct_id,
        code=lambda_.Code.from_inline("def handler(event, context): ..."),
        handler="index.handler",
        runtime=lambda_.Runtime.PYTHON_3_14,
    )


def imported_queue(scope: cdk.Stack, construct_id: str = "Imported", *, fifo: bool = False) -> sqs.IQueue:
    """A queue that another app made."""
    suffix = ".fifo" if fifo else ""
    return sqs.Queue.from_queue_arn(scope, construct_id, f"arn:aws:sqs:eu-west-1:111122223333:orders{suffix}")
