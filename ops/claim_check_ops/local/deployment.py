"""The deployed documents application: where everything is, read from its functions' own settings."""

from collections.abc import Mapping
from dataclasses import dataclass

from claim_check.adapters.session import Clients
from claim_check.settings import ConsumerSettings, ProducerSettings
from claim_check_ops.local.embedded_aws import EmbeddedAws


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """The documents pipeline as it stands.

    Attributes:
        aws: Where it stands.
        clients: The library's clients of it.
        producer_function: Function that publishes what it is invoked with.
        consumer_function: Function that consumes.
        producer: Settings of a producer.
        consumer: Settings of the consumer.
        documents_table: Table of the handler's rows.
    """

    aws: EmbeddedAws
    clients: Clients
    producer_function: str
    consumer_function: str
    producer: ProducerSettings
    consumer: ConsumerSettings
    documents_table: str


def documents_deployment(aws: EmbeddedAws, outputs: Mapping[str, str]) -> Deployment:
    """Find the documents pipeline.

    Args:
        aws: Where it stands.
        outputs: Outputs of its stack.
    """
    producer_function, consumer_function = outputs["ProducerFunctionName"], outputs["ConsumerFunctionName"]
    return Deployment(
        aws=aws,
        clients=Clients(aws.session),
        producer_function=producer_function,
        consumer_function=consumer_function,
        producer=ProducerSettings.from_environment(_variables(aws, producer_function)),
        consumer=ConsumerSettings.from_environment(_variables(aws, consumer_function)),
        documents_table=outputs["DocumentsTableName"],
    )


def _variables(aws: EmbeddedAws, function: str) -> dict[str, str]:
    configuration = aws.lambda_.get_function_configuration(FunctionName=function)
    return configuration.get("Environment", {}).get("Variables", {})
