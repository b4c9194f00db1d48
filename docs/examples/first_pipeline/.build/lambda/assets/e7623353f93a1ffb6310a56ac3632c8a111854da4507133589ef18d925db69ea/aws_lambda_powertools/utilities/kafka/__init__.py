from aws_lambda_powertools.utilities.kafka.consumer_records import ConsumerRecords
from aws_lambda_powertools.utilities.kafka.kafka_consumer import kafka_consumer
from aws_lambda_powertools.utilities.kafka.schema_config import SchemaConfig

__all__ = [
    "kafka_consumer",
    "ConsumerRecords",
    "SchemaConfig",
]
