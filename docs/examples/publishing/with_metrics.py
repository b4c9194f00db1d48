"""Publishes in a process of its own, with a name of its own in logs and metrics."""

import os

from claim_check import Event
from claim_check.adapters.powertools import PowertoolsTelemetry
from claim_check.aws import producer
from claim_check.settings import ProducerSettings

telemetry = PowertoolsTelemetry(service="importer")
publisher = producer(ProducerSettings.from_environment(os.environ), telemetry=telemetry)
try:
    publisher.publish(
        Event.json({"any": "JSON"}, tenant_id="t-1", event_type="DocumentUploaded", message_id="doc-789-v3")
    )
finally:
    telemetry.flush()  # metrics leave the process here
