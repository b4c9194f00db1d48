"""Publishes a text file so that an Extended Client can read it: python3 publish.py FILE TENANT."""

import os
import sys
from dataclasses import replace
from pathlib import Path

from claim_check import Event
from claim_check.aws import producer
from claim_check.settings import ProducerSettings

file, tenant = Path(sys.argv[1]), sys.argv[2]
settings = replace(ProducerSettings.from_environment(os.environ), wire_format="extended-client")
published = producer(settings).publish(
    Event(tenant_id=tenant, event_type="OrderPlaced", payload=file, content_type="text/plain", message_id=file.stem)
)
print(f"{published.message_id}: {published.content_length} bytes")
