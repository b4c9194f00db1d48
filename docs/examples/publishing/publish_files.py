"""Publishes every file of a folder: python3 publish_files.py FOLDER TENANT."""

import mimetypes
import os
import sys
import uuid
from pathlib import Path

from claim_check import Event, Unpublished
from claim_check.aws import producer
from claim_check.settings import ProducerSettings

FILES = uuid.UUID("0b5bd1a2-6f2f-4a3e-9d2b-5a3f6c2d9e10")
folder, tenant = Path(sys.argv[1]), sys.argv[2]
publisher = producer(ProducerSettings.from_environment(os.environ))
results = publisher.publish_batch(
    Event(
        tenant_id=tenant,
        event_type="DocumentUploaded",
        message_id=str(uuid.uuid5(FILES, path.name)),  # the same on every run, and no file name in it
        payload=path,
        content_type=mimetypes.guess_type(path.name)[0] or "application/octet-stream",
    )
    for path in sorted(folder.iterdir())
)
failed = [result for result in results if isinstance(result, Unpublished)]
for result in failed:
    print(f"{result.message_id}: {result.error}")
print(f"{len(results) - len(failed)} published, {len(failed)} not")
