from .apigw import ApiGatewayEnvelope
from .apigw_websocket import ApiGatewayWebSocketEnvelope
from .apigwv2 import ApiGatewayV2Envelope
from .base import BaseEnvelope
from .bedrock_agent import BedrockAgentEnvelope, BedrockAgentFunctionEnvelope
from .cloudwatch import CloudWatchLogsEnvelope
from .dynamodb import DynamoDBStreamEnvelope
from .event_bridge import EventBridgeEnvelope
from .kafka import KafkaEnvelope
from .kinesis import KinesisDataStreamEnvelope
from .kinesis_firehose import KinesisFirehoseEnvelope
from .lambda_function_url import LambdaFunctionUrlEnvelope
from .sns import SnsEnvelope, SnsSqsEnvelope
from .sqs import SqsEnvelope
from .vpc_lattice import VpcLatticeEnvelope
from .vpc_latticev2 import VpcLatticeV2Envelope

__all__ = [
    "ApiGatewayEnvelope",
    "ApiGatewayV2Envelope",
    "ApiGatewayWebSocketEnvelope",
    "BedrockAgentEnvelope",
    "BedrockAgentFunctionEnvelope",
    "CloudWatchLogsEnvelope",
    "DynamoDBStreamEnvelope",
    "EventBridgeEnvelope",
    "KinesisDataStreamEnvelope",
    "KinesisFirehoseEnvelope",
    "LambdaFunctionUrlEnvelope",
    "SnsEnvelope",
    "SnsSqsEnvelope",
    "SqsEnvelope",
    "KafkaEnvelope",
    "BaseEnvelope",
    "VpcLatticeEnvelope",
    "VpcLatticeV2Envelope",
]
