"""The functions of this account and Region: the settings they were given tell the commands what belongs together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import boto3

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient


def lambda_client() -> LambdaClient:
    """A client of Lambda with the credentials and the Region of this process.

    Raises:
        BotoCoreError: No Region is set, or the environment's settings are wrong.
    """
    client: LambdaClient = boto3.Session().client("lambda")
    return client


def variables_of(functions: LambdaClient, name: str) -> dict[str, str]:
    """Environment variables of a function.

    Raises:
        ClientError: Lambda refuses to tell.
        BotoCoreError: Lambda does not answer.
    """
    configuration = functions.get_function_configuration(FunctionName=name)
    return dict(configuration.get("Environment", {}).get("Variables", {}))


def all_variables(functions: LambdaClient) -> Iterator[tuple[str, dict[str, str]]]:
    """Names of all functions, with their environment variables.

    Raises:
        ClientError: Lambda refuses to tell.
        BotoCoreError: Lambda does not answer.
    """
    for page in functions.get_paginator("list_functions").paginate():
        for configuration in page["Functions"]:
            yield configuration["FunctionName"], dict(configuration.get("Environment", {}).get("Variables", {}))
