"""Which ingest a command is about: named, told by the environment, or found by its functions' own settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from claim_check.contract import Setting
from claim_check.ingest.settings import ReconciliationSettings
from claim_check_ops.functions import all_variables, lambda_client, variables_of

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient


class IngestNotFound(Exception):
    """It is not clear which ingest is meant; the text says what to name."""


def ingest_settings(
    environment: Mapping[str, str],
    *,
    function: str | None = None,
    ingest: str | None = None,
    overrides: Mapping[str, str] | None = None,
    functions: LambdaClient | None = None,
) -> ReconciliationSettings:
    """Settings of one ingest's reconciliation: bucket, queue, ledger, filters.

    The first of these that tells them: the function's variables; the environment's own variables; the functions of this
    account and Region, if all that are an ingest's (of that name) are one ingest's.

    Args:
        environment: Variables of this process.
        function: Name of the ingest's reconciliation function, or of its ingester.
        ingest: Name of the ingest.
        overrides: Settings that win over those found, by variable.
        functions: Client of Lambda; made when it is needed.

    Raises:
        IngestNotFound: None, or more than one, comes into question; or Lambda refuses to tell.
        InvalidSetting: A setting is missing or malformed.
    """
    told = environment.get(Setting.INGEST)
    if function is not None:
        found = _of_function(functions or _lambda(), function)
    elif told and ingest in {None, told}:
        found = dict(environment)
    else:
        found = _only_one(functions or _lambda(), ingest)
    return ReconciliationSettings.from_environment(found | dict(overrides or {}))


def _of_function(functions: LambdaClient, name: str) -> dict[str, str]:
    try:
        variables = variables_of(functions, name)
    except (ClientError, BotoCoreError) as error:
        raise IngestNotFound(f"Function {name} cannot be looked at: {error}") from error
    if Setting.INGEST not in variables:
        raise IngestNotFound(f"Function {name} belongs to no ingest: it has no {Setting.INGEST}.")
    return variables


def _only_one(functions: LambdaClient, ingest: str | None) -> dict[str, str]:
    """Variables of the one ingest there is, or of the one with this name; a reconciliation function knows the most."""
    try:
        everyone = [each for _, each in all_variables(functions) if Setting.INGEST in each]
    except (ClientError, BotoCoreError) as error:
        raise IngestNotFound(f"Functions cannot be listed: {error}. Name --function.") from error
    found = [each for each in everyone if ingest in {None, each[Setting.INGEST]}]
    places = {(each[Setting.INGEST], each.get(Setting.INGEST_BUCKET)) for each in found}
    if len(places) != 1:
        names = ", ".join(sorted({each[Setting.INGEST] for each in everyone})) or "none"
        raise IngestNotFound(
            f"{len(places)} ingests in this account and Region come into question. Name one by --ingest or --function. "
            f"There are: {names}."
        )
    return max(found, key=lambda variables: Setting.INGEST_RECONCILE_EVERY in variables)


def _lambda() -> LambdaClient:
    try:
        return lambda_client()
    except BotoCoreError as error:
        raise IngestNotFound(f"Lambda cannot be asked: {error}") from error
