"""The outputs every pipeline's stack has, so that people and tools find what it made."""

from __future__ import annotations

from aws_cdk import CfnOutput, Stack

from claim_check_cdk import ClaimCheckFunction, ClaimCheckPipeline


def output_pipeline(stack: Stack, pipeline: ClaimCheckPipeline, producer: ClaimCheckFunction, **more: str) -> None:
    """Write the outputs of a stack.

    Args:
        stack: The stack.
        pipeline: Its pipeline.
        producer: The function that publishes to it.
        more: Outputs of the stack's own, by name.
    """
    outputs = {
        "BucketName": pipeline.bucket.bucket.bucket_name,
        "QueueUrl": pipeline.queue.queue.queue_url,
        "InboxTableName": pipeline.inbox.table.table_name,
        "ConsumerFunctionName": pipeline.function.function_name,
        "ProducerFunctionName": producer.function.function_name,
        **more,
    }
    if pipeline.queue.dead_letter_queue is not None:
        outputs["DeadLetterQueueUrl"] = pipeline.queue.dead_letter_queue.queue_url
    for name, value in outputs.items():
        CfnOutput(stack, name, value=value)
