"""Settings of an environment, from the context in ``cdk.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs
from constructs import Node

ENVIRONMENT_CONTEXT: Final = "claim-check:environment"
ENVIRONMENTS_CONTEXT: Final = "claim-check:environments"

_REMOVAL_POLICIES: Final = {"retain": RemovalPolicy.RETAIN, "destroy": RemovalPolicy.DESTROY}
_LOG_RETENTION: Final = {
    7: logs.RetentionDays.ONE_WEEK,
    30: logs.RetentionDays.ONE_MONTH,
    90: logs.RetentionDays.THREE_MONTHS,
    365: logs.RetentionDays.ONE_YEAR,
}
_NAMES: Final = {"removalPolicy", "logRetentionDays", "maxConcurrency", "alarmEmail"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What differs from environment to environment.

    Attributes:
        environment: Its name, part of the stack's name.
        removal_policy: What happens to data when it leaves the stack.
        log_retention: How long logs are kept.
        max_concurrency: Invocations of a consumer side by side.
        alarm_emails: Addresses that get each alarm, once they have confirmed SNS's mail.
    """

    environment: str
    removal_policy: RemovalPolicy = RemovalPolicy.RETAIN
    log_retention: logs.RetentionDays = logs.RetentionDays.ONE_MONTH
    max_concurrency: int = 10
    alarm_emails: tuple[str, ...] = ()

    @classmethod
    def from_context(cls, node: Node) -> Settings:
        """Read the chosen environment's settings.

        Args:
            node: The app's node; ``claim-check:environment`` names the environment.

        Raises:
            ValueError: No such environment, or a setting that does not exist or cannot be; the message lists them all.
        """
        name = node.try_get_context(ENVIRONMENT_CONTEXT)
        environments: Mapping[str, Mapping[str, Any]] = node.try_get_context(ENVIRONMENTS_CONTEXT) or {}
        if name not in environments:
            raise ValueError(
                f"{ENVIRONMENT_CONTEXT} = {name!r}: must be one of {', '.join(sorted(environments)) or 'none at all'}. "
                f"Way out: cdk … --context {ENVIRONMENT_CONTEXT}=NAME, or describe it in cdk.json."
            )
        return cls._parse(name, environments[name])

    @classmethod
    def _parse(cls, name: str, given: Mapping[str, Any]) -> Settings:
        mistakes = [f"{key}: no such setting ({', '.join(sorted(_NAMES))})" for key in sorted(given.keys() - _NAMES)]
        email = given.get("alarmEmail")
        removal, days = given.get("removalPolicy", "retain"), given.get("logRetentionDays", 30)
        if removal not in _REMOVAL_POLICIES:
            mistakes.append(f"removalPolicy = {removal!r}: must be one of {', '.join(_REMOVAL_POLICIES)}")
        if days not in _LOG_RETENTION:
            mistakes.append(f"logRetentionDays = {days!r}: must be one of {', '.join(map(str, _LOG_RETENTION))}")
        if email is not None and (not isinstance(email, str) or "@" not in email):
            mistakes.append(f"alarmEmail = {email!r}: must be an address")
        if mistakes:
            raise ValueError(f"Environment {name!r} in cdk.json: {'; '.join(mistakes)}.")
        return cls(
            environment=name,
            removal_policy=_REMOVAL_POLICIES[removal],
            log_retention=_LOG_RETENTION[days],
            max_concurrency=given.get("maxConcurrency", 10),
            alarm_emails=(email,) if email else (),
        )
