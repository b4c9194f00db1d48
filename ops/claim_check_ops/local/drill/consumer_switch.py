"""Breaks and mends the consumer's function, as a bad deployment and its fix do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from claim_check.contract import Setting
from claim_check_examples.documents import DOCUMENTS_TABLE
from claim_check_ops.local.deployment import Deployment

_S3_ENDPOINT: Final = "AWS_ENDPOINT_URL_S3"


class ConsumerSwitch:
    """Changes the variables of a consumer's function, and puts them back."""

    def __init__(self, deployment: Deployment, *, s3_endpoint: str) -> None:
        """Remember how it is.

        Args:
            deployment: The documents pipeline.
            s3_endpoint: The door through which the function reads payloads from now on.
        """
        self._deployment = deployment
        answer = deployment.aws.lambda_.get_function_configuration(FunctionName=deployment.consumer_function)
        self._before = dict(answer.get("Environment", {}).get("Variables", {}))
        self._counted = self._before | {_S3_ENDPOINT: s3_endpoint}

    def break_it(self) -> None:
        """The handler does not find the table that it writes to; one attempt is enough, so that nobody waits."""
        broken = {name: value for name, value in self._counted.items() if name != DOCUMENTS_TABLE}
        self._set(broken | {Setting.MAX_ATTEMPTS: "1"})

    def mend(self) -> None:
        """Everything as it was, but through the door."""
        self._set(self._counted)

    def restore(self) -> None:
        """Everything as it was."""
        self._set(self._before)

    def _set(self, variables: Mapping[str, str]) -> None:
        self._deployment.aws.lambda_.update_function_configuration(
            FunctionName=self._deployment.consumer_function, Environment={"Variables": dict(variables)}
        )
