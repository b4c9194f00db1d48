"""Publishes a file into the pipeline of the stack `Invoices`: python3 publish.py FILE EVENT_ID."""

import json
import sys
from pathlib import Path

import boto3

from claim_check import Event
from claim_check.aws import producer
from claim_check.settings import ProducerSettings

file, event_id = Path(sys.argv[1]), sys.argv[2]
(stack,) = boto3.client("cloudformation").describe_stacks(StackName="Invoices")["Stacks"]
outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
settings = ProducerSettings.from_environment(json.loads(outputs["ProducerEnvironment"]))
published = producer(settings).publish(
    Event(tenant_id="t-1", event_type="InvoicesUploaded", message_id=event_id, payload=file, content_type="text/csv")
)
print(f"{published.message_id}: {published.content_length} bytes, SHA-256 {published.sha256}")
