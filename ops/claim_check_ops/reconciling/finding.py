"""Which reconciliation is meant: a deployed one, one that the environment tells, or one put together of consumers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

from claim_check import contract
from claim_check.contract import Setting
from claim_check.reconciliation.settings import ReconcilerSettings
from claim_check_ops.functions import all_variables, lambda_client, variables_of
from claim_check_ops.pipelines import PipelineNotFound

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

BY_HAND: Final = "by-hand"
"""Name of a reconciliation of consumers for which none is deployed."""

_Variables = Mapping[str, str]


def reconciler_settings(
    environment: _Variables,
    *,
    function: str | None = None,
    bucket: str | None = None,
    overrides: _Variables | None = None,
    functions: LambdaClient | None = None,
) -> ReconcilerSettings:
    """Settings of a reconciliation.

    The first of these that tells them: the function's variables; the environment's own variables; the one `Reconciler`
    of this account and Region (of that bucket); all consumers of one bucket, which can only be reported on, since
    nobody here knows whether there are outboxes.

    Args:
        environment: Variables of this process.
        function: Name of the function of a `Reconciler`.
        bucket: Bucket of the payloads, where there are several.
        overrides: Settings that win over those found, by variable.
        functions: Client of Lambda; made when it is needed.

    Raises:
        PipelineNotFound: None, or more than one, comes into question; or Lambda refuses to tell.
        InvalidSetting: A setting is missing or malformed.
    """
    wins = dict(overrides or {})
    if function is None and environment.get(Setting.RECONCILER) and bucket in {None, environment.get(Setting.BUCKET)}:
        return ReconcilerSettings.from_environment({**environment, **wins})
    client = functions or _lambda()
    try:
        everyone = list(all_variables(client)) if function is None else [(function, variables_of(client, function))]
    except (ClientError, BotoCoreError) as error:
        raise PipelineNotFound(f"Functions cannot be looked at: {error}. Name --function.") from error
    ours = [(name, one) for name, one in everyone if bucket in {None, one.get(Setting.BUCKET)}]
    found = [(name, one) for name, one in ours if Setting.RECONCILER in one]
    if function is not None and not found:
        raise PipelineNotFound(f"Function {function} is no reconciler: it has no {Setting.RECONCILER}.")
    if len(found) > 1:
        names = ", ".join(sorted(f"{name} ({one[Setting.RECONCILER]})" for name, one in found))
        raise PipelineNotFound(f"There are {len(found)} reconcilers. Name one by --function: {names}.")
    if found:
        return ReconcilerSettings.from_environment({**found[0][1], **wins})
    return ReconcilerSettings.from_environment({**_of_consumers((one for _, one in ours), wins), **wins})


def _of_consumers(everyone: Iterable[_Variables], wins: _Variables) -> dict[str, str]:
    marks = {Setting.CONSUMER, Setting.INBOX_TABLE, Setting.BUCKET}
    consumers = [one for one in everyone if one.keys() >= marks]
    buckets = sorted({one[Setting.BUCKET] for one in consumers})
    if len(buckets) != 1:
        what = ", ".join(buckets) or "none"
        raise PipelineNotFound(f"There are {len(buckets)} buckets that consumers read from: {what}. Name --bucket.")
    if wins.get(Setting.RECONCILER_DELETE) == "true":
        raise PipelineNotFound(
            "No Reconciler is deployed for this bucket, so nobody here knows its outboxes and terms: nothing is "
            "removed. Leave --delete out, or deploy one."
        )
    inboxes = sorted(f"{one[Setting.CONSUMER]}={one[Setting.INBOX_TABLE]}" for one in consumers)
    return {
        Setting.RECONCILER: BY_HAND,
        Setting.BUCKET: buckets[0],
        Setting.RECONCILER_INBOXES: ",".join(inboxes),
        Setting.BEFORE_SEND: str(contract.SQS_MAX_RETENTION_SECONDS),
    }


def _lambda() -> LambdaClient:
    try:
        return lambda_client()
    except BotoCoreError as error:
        raise PipelineNotFound(f"Lambda cannot be asked: {error}") from error
