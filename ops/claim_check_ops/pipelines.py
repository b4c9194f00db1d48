"""Which pipeline a command is about: named, told by the environment, or found by its functions' own settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

from claim_check.contract import Setting
from claim_check.settings import ConsumerSettings, ProducerSettings
from claim_check_ops.functions import all_variables, lambda_client, variables_of

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

DEFAULT_BEFORE_SEND_SECONDS: Final = 3600
"""Used where only a consumer's settings are known. Less than a pipeline's own is always safe."""

_MARKS: Final = frozenset({Setting.CONSUMER, Setting.HANDLER})
"""Settings that only a function which consumes has."""


class PipelineNotFound(Exception):
    """It is not clear which pipeline is meant; the text says what to name."""


def producer_settings(
    environment: Mapping[str, str],
    *,
    function: str | None = None,
    queue_url: str | None = None,
    bucket: str | None = None,
    overrides: Mapping[str, str] | None = None,
    functions: LambdaClient | None = None,
) -> ProducerSettings:
    """Settings of a producer into one pipeline.

    The first of these that tells bucket and queue: the function's variables; ``queue_url`` with ``bucket``; the
    environment's own variables; the functions of this account and Region, if all of them belong to one queue.

    Args:
        environment: Variables of this process.
        function: Name of a producer or consumer function of the pipeline.
        queue_url: Its queue.
        bucket: Bucket of its payloads.
        overrides: Settings that win over those found, by variable.
        functions: Client of Lambda; made when it is needed.

    Raises:
        PipelineNotFound: None, or more than one, comes into question; or Lambda refuses to tell.
        InvalidSetting: A setting is missing or malformed.
    """
    told = Setting.BUCKET in environment and queue_url in {None, environment.get(Setting.QUEUE_URL)}
    if function is not None:
        found = _of_function(functions or _lambda(), function)
    elif told or (queue_url is not None and bucket is not None):
        found = dict(environment)
    else:
        found = _only_one(functions or _lambda(), queue_url)
    named = {Setting.QUEUE_URL: queue_url, Setting.BUCKET: bucket}
    found |= {name: value for name, value in named.items() if value is not None}
    return ProducerSettings.from_environment(
        {Setting.BEFORE_SEND: str(DEFAULT_BEFORE_SEND_SECONDS)} | found | dict(overrides or {})
    )


@dataclass(frozen=True, slots=True)
class FoundConsumer:
    """A consumer as it is deployed.

    Attributes:
        settings: Its settings.
        function: Name of its Lambda function; None if the environment told the settings, as it tells a worker.
    """

    settings: ConsumerSettings
    function: str | None


def consumer_settings(
    environment: Mapping[str, str],
    *,
    function: str | None = None,
    consumer: str | None = None,
    functions: LambdaClient | None = None,
) -> ConsumerSettings:
    """Settings of one consumer: its queue, DLQ, bucket and inbox.

    The first of these that tells them: the function's variables; the environment's own variables; the functions of this
    account and Region, if only one of them is a consumer (of that name).

    Args:
        environment: Variables of this process.
        function: Name of the consumer's function.
        consumer: Name of the consumer.
        functions: Client of Lambda; made when it is needed.

    Raises:
        PipelineNotFound: None, or more than one, comes into question; or Lambda refuses to tell.
        InvalidSetting: A setting is missing or malformed.
    """
    everyone = _consumers(environment, function=function, consumer=consumer, functions=functions)
    found = _named(everyone, consumer)
    if len(found) == 1:
        return ConsumerSettings.from_environment(found[0][1])
    if consumer is not None and not found:
        raise PipelineNotFound(f"No consumer has the name {consumer}. There are: {_names(everyone)}.")
    raise PipelineNotFound(
        f"{len(found)} consumers in this account and Region come into question. Name one by --consumer or --function. "
        f"There are: {_names(everyone)}."
    )


def consumers(
    environment: Mapping[str, str],
    *,
    function: str | None = None,
    consumer: str | None = None,
    functions: LambdaClient | None = None,
) -> list[FoundConsumer]:
    """All consumers that come into question, by name: as `consumer_settings`, but several are no mistake.

    Raises:
        PipelineNotFound: There is none; or Lambda refuses to tell.
        InvalidSetting: A setting is missing or malformed.
    """
    everyone = _consumers(environment, function=function, consumer=consumer, functions=functions)
    found = _named(everyone, consumer)
    if not found:
        wanted = "" if consumer is None else f" of the name {consumer}"
        raise PipelineNotFound(f"No function in this account and Region is a consumer{wanted}: {_names(everyone)}.")
    made = [FoundConsumer(ConsumerSettings.from_environment(variables), name) for name, variables in found]
    return sorted(made, key=lambda each: (each.settings.consumer, each.function or ""))


def _consumers(
    environment: Mapping[str, str], *, function: str | None, consumer: str | None, functions: LambdaClient | None
) -> list[tuple[str | None, Mapping[str, str]]]:
    """Functions that consume, with their variables; or the environment, if that is a consumer's."""
    if function is not None:
        return [(function, _of_function(functions or _lambda(), function))]
    told = environment.get(Setting.CONSUMER)
    if told and consumer in {None, told}:
        return [(None, environment)]
    try:
        return [(name, each) for name, each in _all(functions or _lambda()) if each.keys() >= _MARKS]
    except (ClientError, BotoCoreError) as error:
        raise PipelineNotFound(f"Functions cannot be listed: {error}. Name --function.") from error


def _named(
    everyone: Iterable[tuple[str | None, Mapping[str, str]]], consumer: str | None
) -> list[tuple[str | None, Mapping[str, str]]]:
    return [each for each in everyone if consumer in {None, each[1].get(Setting.CONSUMER)}]


def _names(everyone: Iterable[tuple[str | None, Mapping[str, str]]]) -> str:
    return ", ".join(sorted({each.get(Setting.CONSUMER, "") for _, each in everyone})) or "none"


def _of_function(functions: LambdaClient, name: str) -> dict[str, str]:
    try:
        variables = variables_of(functions, name)
    except (ClientError, BotoCoreError) as error:
        raise PipelineNotFound(f"Function {name} cannot be looked at: {error}") from error
    if Setting.QUEUE_URL not in variables:
        raise PipelineNotFound(f"Function {name} belongs to no pipeline: it has no {Setting.QUEUE_URL}.")
    return variables


def _only_one(functions: LambdaClient, queue_url: str | None) -> dict[str, str]:
    """Variables of the one pipeline there is, or of the one with this queue; a producer function knows the most."""
    try:
        found = [variables for _, variables in _all(functions) if queue_url in {None, variables[Setting.QUEUE_URL]}]
    except (ClientError, BotoCoreError) as error:
        raise PipelineNotFound(f"Functions cannot be listed: {error}. Name --queue-url and --bucket.") from error
    queues = sorted({variables[Setting.QUEUE_URL] for variables in found})
    if not queues:
        what = "with this --queue-url" if queue_url else "in this account and Region"
        raise PipelineNotFound(
            f"No function {what} belongs to a pipeline. Name --function, or --queue-url and --bucket."
        )
    if len(queues) > 1:
        raise PipelineNotFound(f"There are {len(queues)} pipelines. Name one by --queue-url: {', '.join(queues)}")
    return max(found, key=lambda variables: Setting.BEFORE_SEND in variables)


def _all(functions: LambdaClient) -> Iterator[tuple[str, dict[str, str]]]:
    """Names and variables of the functions that belong to pipelines."""
    for name, variables in all_variables(functions):
        if Setting.QUEUE_URL in variables and Setting.BUCKET in variables:
            yield name, variables


def _lambda() -> LambdaClient:
    try:
        return lambda_client()
    except BotoCoreError as error:
        raise PipelineNotFound(f"Lambda cannot be asked: {error}") from error
