"""Deploys an already synthesized cloud assembly into an embedded AWS, without the CDK command line, in about a second.

Meant for tests: assets go into the bucket that the bootstrap would have made, stacks are created or updated in the
order of their dependencies. `make run` and people use the real command line (`claim_check_ops.local.cdk_cli`).
"""

import io
import json
import time
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from claim_check_ops.local.batch_calls import allow_batch_calls
from claim_check_ops.local.embedded_aws import ACCOUNT_ID, REGION, EmbeddedAws

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.type_defs import StackTypeDef

_POLL_SECONDS: Final = 0.05
_BOOTSTRAP_VERSION: Final = "100"
_ZIP_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_CAPABILITIES: Final = ("CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND")


class DeploymentError(RuntimeError):
    """A stack did not reach its goal; the text names each resource that failed and why."""


@dataclass(frozen=True, slots=True)
class DeployedStack:
    """A stack that stands.

    Attributes:
        name: The stack's name.
        outputs: Value by output key.
        resources: Physical id by logical id.
        types: CloudFormation resource type by logical id.
    """

    name: str
    outputs: Mapping[str, str]
    resources: Mapping[str, str]
    types: Mapping[str, str]

    def physical_id(self, logical_id_prefix: str, *, resource_type: str | None = None) -> str:
        """Return the physical id of the one resource whose logical id starts so.

        Args:
            logical_id_prefix: The beginning of the logical id; the hash at its end may be left out.
            resource_type: Looks at resources of this type only, such as ``AWS::SQS::Queue``.

        Raises:
            LookupError: None or several match; the text lists them.
        """
        found = [
            logical_id
            for logical_id in self.resources
            if logical_id.startswith(logical_id_prefix) and resource_type in (None, self.types[logical_id])
        ]
        if len(found) != 1:
            known = ", ".join(sorted(self.resources))
            raise LookupError(
                f"{len(found)} resources of {self.name} match {logical_id_prefix!r} (there are: {known})."
            )
        return self.resources[found[0]]


def deploy_assembly(
    aws: EmbeddedAws,
    assembly: Path,
    *,
    stacks: Sequence[str] | None = None,
    timeout: float = 120.0,
) -> dict[str, DeployedStack]:
    """Deploy the stacks of a synthesized cloud assembly (``cdk.out``).

    Args:
        aws: Where to.
        assembly: The folder that holds ``manifest.json``.
        stacks: Names of the stacks, in this order; by default all of them, in the order of their dependencies.
        timeout: Seconds for each stack.

    Returns:
        What stands, by stack name.

    Raises:
        DeploymentError: A stack failed or took too long.
        LookupError: A named stack is not in the assembly.
    """
    artifacts = _stack_artifacts(assembly)
    unknown = set(stacks or ()) - artifacts.keys()
    if unknown:
        raise LookupError(f"Not in {assembly}: {', '.join(sorted(unknown))} (there are: {', '.join(artifacts)}).")
    _stand_in_for_bootstrap(aws)
    deployed = {}
    for name in stacks or artifacts:
        template_url = _publish_assets(aws, assembly, artifacts[name])
        deployed[name] = _deploy_stack(aws, name, artifacts[name], template_url, timeout=timeout)
    allow_batch_calls(aws)
    return deployed


def describe(aws: EmbeddedAws, name: str) -> DeployedStack:
    """Return what stands under a stack's name.

    Raises:
        LookupError: No such stack.
    """
    stack = _find_stack(aws, name)
    if stack is None:
        raise LookupError(f"There is no stack {name}.")
    pages = aws.cloudformation.get_paginator("list_stack_resources").paginate(StackName=name)
    resources = [resource for page in pages for resource in page["StackResourceSummaries"]]
    return DeployedStack(
        name=name,
        outputs={output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])},
        resources={found["LogicalResourceId"]: found.get("PhysicalResourceId", "") for found in resources},
        types={found["LogicalResourceId"]: found["ResourceType"] for found in resources},
    )


def _stack_artifacts(assembly: Path) -> dict[str, dict[str, Any]]:
    """Return the stack artifacts by stack name, each after those it depends on."""
    artifacts = json.loads((assembly / "manifest.json").read_text(encoding="utf-8"))["artifacts"]
    ordered: dict[str, dict[str, Any]] = {}

    def visit(artifact_id: str) -> None:
        artifact = artifacts[artifact_id]
        for dependency in artifact.get("dependencies", ()):
            visit(dependency)
        if artifact["type"] == "aws:cloudformation:stack":
            ordered.setdefault(artifact.get("properties", {}).get("stackName", artifact_id), artifact)

    for artifact_id in artifacts:
        visit(artifact_id)
    if not ordered:
        raise LookupError(f"The cloud assembly {assembly} holds no stack.")
    return ordered


def _stand_in_for_bootstrap(aws: EmbeddedAws) -> None:
    # Every template has a parameter that reads the bootstrap's version from here.
    parameters = aws.client("ssm")
    parameters.put_parameter(
        Name="/cdk-bootstrap/hnb659fds/version", Value=_BOOTSTRAP_VERSION, Type="String", Overwrite=True
    )
    parameters.close()


def _publish_assets(aws: EmbeddedAws, assembly: Path, artifact: Mapping[str, Any]) -> str:
    """Upload what a stack's asset manifest lists; return the address of the template."""
    template_file = artifact["properties"]["templateFile"]
    manifest = json.loads(
        (assembly / template_file.replace(".template.json", ".assets.json")).read_text(encoding="utf-8")
    )
    template_url = ""
    for asset in manifest["files"].values():
        source = assembly / asset["source"]["path"]
        for destination in asset["destinations"].values():
            bucket, key = _resolve(destination["bucketName"]), _resolve(destination["objectKey"])
            _ensure_bucket(aws, bucket)
            body = _zipped(source) if asset["source"]["packaging"] == "zip" else source.read_bytes()
            aws.s3.put_object(Bucket=bucket, Key=key, Body=body)
            if asset["source"]["path"] == template_file:
                template_url = f"{aws.endpoint_url}/{bucket}/{key}"
    return template_url


def _ensure_bucket(aws: EmbeddedAws, bucket: str) -> None:
    try:
        aws.s3.head_bucket(Bucket=bucket)
    except ClientError as error:
        if error.response.get("ResponseMetadata", {}).get("HTTPStatusCode") != 404:  # noqa: PLR2004 - "not found"
            raise
        aws.s3.create_bucket(Bucket=bucket)


def _resolve(text: str) -> str:
    for name, value in (("AccountId", ACCOUNT_ID), ("Region", REGION), ("Partition", "aws")):
        text = text.replace("${AWS::" + name + "}", value)
    return text


def _zipped(folder: Path) -> bytes:
    """Zip a folder (or pass a file on that is a zip already); the same content gives the same bytes."""
    if folder.is_file():
        return folder.read_bytes()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression=zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), date_time=_ZIP_EPOCH)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())
    return buffer.getvalue()


def _deploy_stack(
    aws: EmbeddedAws, name: str, artifact: Mapping[str, Any], template_url: str, *, timeout: float
) -> DeployedStack:
    parameters = [
        {"ParameterKey": key, "ParameterValue": value}
        for key, value in artifact["properties"].get("parameters", {}).items()
    ]
    settings: dict[str, Any] = {
        "StackName": name,
        "TemplateURL": template_url,
        "Parameters": parameters,
        "Capabilities": list(_CAPABILITIES),
    }
    try:
        changed = _create_or_update(aws, settings)
    except ClientError as error:
        raise DeploymentError(f"The stack {name} was refused: {error}") from error
    if not changed:
        return describe(aws, name)
    _await_stack(aws, name, timeout=timeout)
    return describe(aws, name)


def _create_or_update(aws: EmbeddedAws, settings: Mapping[str, Any]) -> bool:
    if _find_stack(aws, settings["StackName"]) is None:
        aws.cloudformation.create_stack(**settings)
        return True
    try:
        aws.cloudformation.update_stack(**settings)
    except ClientError as error:
        # CloudFormation has no code of its own for this.
        if "No updates are to be performed" in str(error):
            return False
        raise
    return True


def _find_stack(aws: EmbeddedAws, name: str) -> "StackTypeDef | None":
    try:
        return aws.cloudformation.describe_stacks(StackName=name)["Stacks"][0]
    except ClientError as error:
        if "does not exist" in str(error):
            return None
        raise


def _await_stack(aws: EmbeddedAws, name: str, *, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    while True:
        stack = _find_stack(aws, name)
        status = stack["StackStatus"] if stack else "DELETE_COMPLETE"
        if status in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
            return
        if not status.endswith("_IN_PROGRESS"):
            raise DeploymentError(f"The stack {name} ended as {status}.\n{_failures(aws, name)}")
        if time.monotonic() > deadline:
            raise DeploymentError(f"The stack {name} is still {status} after {timeout:g} s.")
        time.sleep(_POLL_SECONDS)


def _failures(aws: EmbeddedAws, name: str) -> str:
    events = aws.cloudformation.describe_stack_events(StackName=name)["StackEvents"]
    return "\n".join(
        f"  {event.get('LogicalResourceId')} ({event.get('ResourceType')}): {event.get('ResourceStatusReason', '')}"
        for event in events
        if event.get("ResourceStatus", "").endswith("FAILED")
    )
