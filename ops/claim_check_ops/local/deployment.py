"""A deployed pipeline: where everything is, read from its functions' own settings."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import boto3

from claim_check.adapters.session import Clients
from claim_check.settings import ConsumerSettings, ProducerSettings
from claim_check_ops.local import direct_uploads
from claim_check_ops.local.direct_uploads import DirectUploads
from claim_check_ops.local.embedded_aws import EmbeddedAws

DOCUMENTS_TABLE: Final = "DocumentsTableName"
WALLET_TABLE: Final = "WalletTableName"
"""Outputs that name the table of a handler's rows, and with it the pipeline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A pipeline as it stands.

    Attributes:
        aws: Where it stands.
        clients: The library's clients of it; where policies are enforced, in the producer function's role.
        producer_function: Function that publishes what it is invoked with.
        consumer_function: Function that consumes.
        producer: Settings of a producer.
        consumer: Settings of the consumer.
        table: Table of the handler's rows.
        uploads: Client of its upload API, if it has one.
        uploads_function: Function behind that.
    """

    aws: EmbeddedAws
    clients: Clients
    producer_function: str
    consumer_function: str
    producer: ProducerSettings
    consumer: ConsumerSettings
    table: str
    uploads: DirectUploads | None = None
    uploads_function: str | None = None


def find_deployment(aws: EmbeddedAws, outputs: Iterable[Mapping[str, str]], *, table: str) -> Deployment:
    """Find a pipeline among the deployed stacks.

    Args:
        aws: Where they stand.
        outputs: Outputs of each stack.
        table: Name of the output that only its stack has.

    Raises:
        LookupError: No stack has it.
    """
    for one in outputs:
        if table in one:
            return _deployment(aws, one, one[table])
    raise LookupError(f"No deployed stack has the output {table}.")


def _deployment(aws: EmbeddedAws, outputs: Mapping[str, str], table: str) -> Deployment:
    producer_function, consumer_function = outputs["ProducerFunctionName"], outputs["ConsumerFunctionName"]
    return Deployment(
        aws=aws,
        clients=Clients(_producing_session(aws, producer_function)),
        producer_function=producer_function,
        consumer_function=consumer_function,
        producer=ProducerSettings.from_environment(_variables(aws, producer_function)),
        consumer=ConsumerSettings.from_environment(_variables(aws, consumer_function)),
        table=table,
        uploads=DirectUploads(aws, outputs[direct_uploads.OUTPUT]) if direct_uploads.OUTPUT in outputs else None,
        uploads_function=outputs.get(direct_uploads.FUNCTION_OUTPUT),
    )


def _producing_session(aws: EmbeddedAws, producer_function: str) -> boto3.Session:
    if not aws.enforce_iam:
        return aws.session
    role = aws.lambda_.get_function_configuration(FunctionName=producer_function)["Role"]
    return aws.session_as(role.rpartition("/")[2])


def _variables(aws: EmbeddedAws, function: str) -> dict[str, str]:
    configuration = aws.lambda_.get_function_configuration(FunctionName=function)
    return configuration.get("Environment", {}).get("Variables", {})
