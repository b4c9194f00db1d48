"""A Lambda function that runs the runtime library, with its own role and its own log group."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import aws_cdk as cdk
import jsii
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from claim_check.contract import (
    LAMBDA_MAX_MEMORY_MIB,
    LAMBDA_MAX_TEMP_MIB,
    LAMBDA_MIN_MEMORY_MIB,
    LAMBDA_MIN_TEMP_MIB,
    MIB,
)
from claim_check_cdk.acknowledgements import acknowledge
from claim_check_cdk.bundling import Bundle, Machine, bundle, has_module
from claim_check_cdk.validation import Mistakes, describe, known, known_bytes

CONSUMER_HANDLER: Final = "claim_check.handlers.consumer.handler"
BUILD_DIR_CONTEXT: Final = "claim-check:build-dir"
"""Context key: where built assets are kept, instead of ``.build/lambda`` in the current directory."""

LOCAL_CONTEXT: Final = "claim-check:local"
"""Context key: true builds compiled wheels of a ``requirements_lock`` for this machine instead of for Lambda."""

_MAX_TIMEOUT_SECONDS: Final = 900
_MAX_DESCRIPTION: Final = 256
_MAX_ENVIRONMENT_BYTES: Final = 4096
_HANDLER: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", re.ASCII)
_VARIABLE: Final = re.compile(r"[A-Za-z]\w+", re.ASCII)
_RESERVED_VARIABLES: Final = frozenset(
    {
        "AWS_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "AWS_DEFAULT_REGION",
        "AWS_EXECUTION_ENV",
        "AWS_REGION",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "LAMBDA_RUNTIME_DIR",
        "LAMBDA_TASK_ROOT",
    }
)
_MACHINES: Final[Mapping[str, Machine]] = {"arm64": "arm64", "x86_64": "x86_64"}
_PYTHON: Final = re.compile(r"python(3\.(?:1[1-9]|[2-9][0-9]))")


@jsii.implements(iam.IGrantable)
class ClaimCheckFunction(Construct):
    """A Python function from the one asset of all functions, with the least privileges that a function can have.

    Its role may write to its own log group and, when traced, send trace segments; everything else is added by whoever
    wires it (R11.2). Logs are JSON (R12.2). The asset is built without Docker: see `claim_check_cdk.bundling` (R13.1).

    Attributes:
        function: The function itself.
        role: Its role; statements added to it are in place before the function and its event sources.
        log_group: Its log group.
        bundle: What was built; ``bundle.platform`` is ``any`` when the asset runs on every machine.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        handler: str = CONSUMER_HANDLER,
        handler_package: Path | None = None,
        requirements_lock: Path | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: cdk.Duration | None = None,
        memory_size_mib: int = 512,
        ephemeral_storage: cdk.Size | None = None,
        tracing: bool = True,
        dead_letter_queue: sqs.IQueue | None = None,
        log_retention: logs.RetentionDays = logs.RetentionDays.ONE_MONTH,
        architecture: lambda_.Architecture = lambda_.Architecture.ARM_64,
        runtime: lambda_.Runtime = lambda_.Runtime.PYTHON_3_14,
        description: str | None = None,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN,
    ) -> None:
        """Make the function.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            handler: Lambda entry point, ``package.module.function``. By default the consumer of an SQS queue.
            handler_package: Folder of a package of the user's own (with an ``__init__.py``), put beside ``claim_check``
                in the asset. By default there is none.
            requirements_lock: Requirements file with hashes: what ``handler_package`` needs beyond Powertools and the
                boto3 of the Lambda runtime. By default it needs nothing.
            environment: Environment variables. By default there are none.
            timeout: Whole seconds up to 15 minutes. By default 60 seconds.
            memory_size_mib: Memory, MiB.
            ephemeral_storage: Size of ``/tmp``. By default the 512 MiB that cost nothing.
            tracing: Whether X-Ray samples invocations. Costs no import: the service does it.
            dead_letter_queue: Receives the events of *asynchronous* invocations that failed. A function that a queue
                invokes has none: its queue has one.
            log_retention: How long logs are kept.
            architecture: Processor.
            runtime: A Python runtime, 3.11 or newer.
            description: Shown in the console. By default there is none.
            removal_policy: What happens to the log group when it leaves the stack. By default it stays.

        Raises:
            InvalidSettingsError: Arguments are wrong; the message lists all of them.
            BundlingError: The asset cannot be built.
        """
        super().__init__(scope, construct_id)
        timeout = timeout or cdk.Duration.seconds(60)
        mistakes = Mistakes(describe(self))
        _check_handler(mistakes, handler, handler_package, requirements_lock)
        _check_environment(mistakes, environment or {})
        _check_sizes(mistakes, timeout, memory_size_mib, ephemeral_storage)
        _check_platform(mistakes, runtime, architecture, description)
        mistakes.raise_all()
        self.bundle: Bundle = self._bundle(handler_package, requirements_lock, runtime, architecture)
        self.log_group = logs.LogGroup(self, "LogGroup", retention=log_retention, removal_policy=removal_policy)
        self.role = self._make_role(tracing=tracing)
        self.function = lambda_.Function(
            self,
            "Function",
            code=lambda_.Code.from_asset(str(self.bundle.path), asset_hash=self.bundle.digest),
            handler=handler,
            runtime=runtime,
            architecture=architecture,
            role=self.role,
            log_group=self.log_group,
            logging_format=lambda_.LoggingFormat.JSON,
            environment=dict(environment or {}),
            timeout=timeout,
            memory_size=memory_size_mib,
            ephemeral_storage_size=ephemeral_storage,
            dead_letter_queue=dead_letter_queue,
            description=description,
        )
        if tracing:
            self._cfn_function.tracing_config = lambda_.CfnFunction.TracingConfigProperty(mode="Active")

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The role, so that the function itself can be handed to any ``grant_*`` method."""
        return self.role

    def add_to_role_policy(self, statement: iam.PolicyStatement) -> None:
        """Allow the function something more; in place before the function and its event sources are made."""
        self.role.add_to_policy(statement)

    def grant_invoke(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow a principal to invoke this function, unqualified: versions and aliases are not included."""
        grant = iam.Grant.add_to_principal(
            grantee=grantee, actions=["lambda:InvokeFunction"], resource_arns=[self.function.function_arn]
        )
        # A principal without a policy of its own, e.g. a service, needs a permission on the function.
        return grant if grant.success else self.function.grant_invoke(grantee)

    def acknowledge_no_dead_letter_queue(self, reason: str) -> None:
        """Tell cdk-nag why this function needs no dead-letter queue of its own, e.g. because a queue invokes it."""
        acknowledge(self._cfn_function, "Serverless-LambdaDLQ", reason)

    @property
    def _cfn_function(self) -> lambda_.CfnFunction:
        function = self.function.node.default_child
        assert isinstance(function, lambda_.CfnFunction)  # noqa: S101 - narrows jsii's type
        return function

    def _bundle(
        self, package: Path | None, lock: Path | None, runtime: lambda_.Runtime, architecture: lambda_.Architecture
    ) -> Bundle:
        build_dir = self.node.try_get_context(BUILD_DIR_CONTEXT)
        version = _PYTHON.fullmatch(runtime.name)
        made = bundle(
            packages=[package] if package else [],
            requirements_lock=lock,
            python_version=version[1] if version else runtime.name,
            machine=_MACHINES[architecture.name],
            local=str(self.node.try_get_context(LOCAL_CONTEXT)).lower() == "true",
            build_dir=Path(build_dir) if build_dir else None,
        )
        # CDK says the same thing about the same construct once, so it is said about the stack.
        about = cdk.Annotations.of(cdk.Stack.of(self))
        if made.compiled_with is None:
            about.add_info(
                f"The Lambda asset has no .pyc files, since {runtime.name} is not installed here: each cold start "
                "compiles the sources."
            )
        if made.platform != "any":
            about.add_info(f"The Lambda asset holds compiled wheels and runs on {made.platform} only.")
        return made

    def _make_role(self, *, tracing: bool) -> iam.Role:
        """A role whose own statements are part of it, apart from those that are added to its default policy.

        So the acknowledged wildcard of X-Ray covers no statement that comes later.
        """
        policies = {
            "Logs": _allow(["logs:CreateLogStream", "logs:PutLogEvents"], self.log_group.log_group_arn),
        }
        if tracing:
            policies["Tracing"] = _allow(["xray:PutTelemetryRecords", "xray:PutTraceSegments"], "*")
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"), inline_policies=policies)
        if tracing and role.node.default_child is not None:
            for finding in ("AwsSolutions-IAM5[Resource::*]", "Serverless-LambdaStarPermissions"):
                acknowledge(
                    role.node.default_child,
                    finding,
                    "X-Ray's PutTraceSegments and PutTelemetryRecords know no resources: IAM accepts only * for them.",
                )
        return role


def _allow(actions: list[str], resource: str) -> iam.PolicyDocument:
    return iam.PolicyDocument(statements=[iam.PolicyStatement(actions=actions, resources=[resource])])


# --- Validation -----------------------------------------------------------------------------------------------------


def _check_handler(mistakes: Mistakes, handler: str, package: Path | None, lock: Path | None) -> None:
    if _HANDLER.fullmatch(handler) is None:
        way_out = f"name one, e.g. {CONSUMER_HANDLER}"
        mistakes.add("handler", repr(handler), "must be package.module.function", way_out)
    else:
        found = has_module(handler.rpartition(".")[0], [package] if package else [])
        mistakes.require(
            # A package that is neither may come with the wheels of the lock.
            lock is not None if found is None else found,
            "handler",
            repr(handler),
            "the asset holds no such module",
            "name a module of claim_check or of handler_package",
        )
    if package is not None:
        mistakes.require(
            package.name.isidentifier(),
            "handler_package",
            package,
            "the folder's name must be one that Python can import",
            "rename it to letters, digits and _",
        )
        mistakes.require(
            (package / "__init__.py").is_file(),
            "handler_package",
            package,
            "must be the folder of a package",
            "name a folder that holds an __init__.py",
        )
    if lock is not None:
        mistakes.require(
            lock.is_file(),
            "requirements_lock",
            lock,
            "must be a file",
            "make one with: uv pip compile --generate-hashes requirements.in --output-file requirements.lock",
        )


def _check_environment(mistakes: Mistakes, environment: Mapping[str, str]) -> None:
    for name in environment:
        mistakes.require(
            _VARIABLE.fullmatch(name) is not None,
            "environment",
            repr(name),
            "a name starts with a letter and holds letters, digits and _, at least two in all",
            "rename it",
        )
        mistakes.require(
            not name.startswith("AWS_LAMBDA_") and name not in _RESERVED_VARIABLES,
            "environment",
            repr(name),
            "Lambda keeps this name for itself",
            "rename it",
        )
    size = sum(len(name.encode()) + len((known(value) or "").encode()) for name, value in environment.items())
    mistakes.require_range(
        "environment",
        size,
        low=0,
        high=_MAX_ENVIRONMENT_BYTES,
        unit="bytes",
        way_out="keep large values in a file of handler_package",
    )


def _check_sizes(mistakes: Mistakes, timeout: cdk.Duration, memory_mib: int, storage: cdk.Size | None) -> None:
    seconds = None if timeout.is_unresolved() else timeout.to_milliseconds() / 1000
    mistakes.require_range(
        "timeout",
        seconds,
        low=1,
        high=_MAX_TIMEOUT_SECONDS,
        unit="seconds",
        way_out="split longer work into several messages",
    )
    mistakes.require(
        seconds is None or seconds.is_integer(),
        "timeout",
        f"{seconds} seconds",
        "Lambda counts whole seconds",
        "round it up",
    )
    mistakes.require_range(
        "memory_size_mib",
        known(memory_mib),
        low=LAMBDA_MIN_MEMORY_MIB,
        high=LAMBDA_MAX_MEMORY_MIB,
        unit="MiB",
        way_out="stream what does not fit, or keep it in ephemeral_storage",
    )
    size = known_bytes(storage)
    mistakes.require_range(
        "ephemeral_storage",
        None if size is None else size / MIB,
        low=LAMBDA_MIN_TEMP_MIB,
        high=LAMBDA_MAX_TEMP_MIB,
        unit="MiB",
        way_out="stream what does not fit",
    )
    mistakes.require(
        size is None or size % MIB == 0,
        "ephemeral_storage",
        f"{size} bytes",
        "Lambda counts whole MiB",
        "round it up",
    )


def _check_platform(
    mistakes: Mistakes, runtime: lambda_.Runtime, architecture: lambda_.Architecture, description: str | None
) -> None:
    mistakes.require(
        _PYTHON.fullmatch(runtime.name) is not None,
        "runtime",
        runtime.name,
        "the runtime library needs Python 3.11 or newer",
        "take lambda_.Runtime.PYTHON_3_14",
    )
    mistakes.require(
        architecture.name in _MACHINES,
        "architecture",
        architecture.name,
        f"must be one of {', '.join(_MACHINES)}",
        "take lambda_.Architecture.ARM_64",
    )
    mistakes.require(
        len(known(description) or "") <= _MAX_DESCRIPTION,
        "description",
        f"{len(description or '')} characters",
        f"must be at most {_MAX_DESCRIPTION}",
        "shorten it",
    )
