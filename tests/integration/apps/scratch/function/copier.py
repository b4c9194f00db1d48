"""Copies each message into the open bucket, tries the closed one, and prints what tests look at."""

import json
import os
from typing import Any

import boto3
from botocore.exceptions import ClientError


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Handle a batch."""
    s3 = boto3.client("s3")
    for record in event["Records"]:
        closed = "allowed"
        try:
            s3.put_object(Bucket=os.environ["CLOSED_BUCKET"], Key=record["messageId"], Body=b"")
        except ClientError as error:
            closed = error.response["Error"]["Code"]
        metrics = [
            {"Namespace": "Scratch", "Dimensions": [["service"]], "Metrics": [{"Name": "Copied", "Unit": "Count"}]}
        ]
        print(json.dumps({"_aws": {"Timestamp": 0, "CloudWatchMetrics": metrics}, "service": "copier", "Copied": 1}))  # noqa: T201
        print(json.dumps({"closed": closed, "environment": sorted(os.environ)}))  # noqa: T201
        s3.put_object(Bucket=os.environ["OPEN_BUCKET"], Key=record["messageId"], Body=record["body"].encode())
    return {"batchItemFailures": []}
