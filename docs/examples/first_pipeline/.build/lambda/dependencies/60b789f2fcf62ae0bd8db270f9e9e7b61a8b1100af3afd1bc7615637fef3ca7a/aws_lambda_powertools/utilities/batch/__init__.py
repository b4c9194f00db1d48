"""
Batch processing utility
"""

from aws_lambda_powertools.utilities.batch.base import (
    AsyncBatchProcessor,
    BasePartialBatchProcessor,
    BasePartialProcessor,
    BatchProcessor,
    EventType,
    FailureResponse,
    SuccessResponse,
)
from aws_lambda_powertools.utilities.batch.decorators import (
    async_batch_processor,
    async_process_partial_response,
    batch_processor,
    process_partial_response,
)
from aws_lambda_powertools.utilities.batch.exceptions import ExceptionInfo
from aws_lambda_powertools.utilities.batch.sqs_fifo_partial_processor import (
    SqsFifoPartialProcessor,
)
from aws_lambda_powertools.utilities.batch.types import BatchTypeModels

__all__ = (
    "async_batch_processor",
    "async_process_partial_response",
    "batch_processor",
    "process_partial_response",
    "BatchProcessor",
    "AsyncBatchProcessor",
    "BasePartialProcessor",
    "BasePartialBatchProcessor",
    "BatchTypeModels",
    "ExceptionInfo",
    "EventType",
    "FailureResponse",
    "SuccessResponse",
    "SqsFifoPartialProcessor",
)
