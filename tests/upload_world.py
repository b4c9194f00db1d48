"""A pipeline with direct uploads, made of the fakes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from claim_check import contract
from claim_check.payload_store import PayloadStore
from claim_check.producer import Producer
from claim_check.upload_api import CONFIRM_ROUTE, GRANT_ROUTE, UploadApi
from claim_check.uploads import Grant, Uploads
from tests.fakes.upload_store import FakeUploadStore
from tests.harness import BUCKET, EVENT_TYPE, TENANT, World

CONTENT = b"%PDF-1.7 of some length"
MAX_PAYLOAD = 6 * contract.GIB


@dataclass
class UploadWorld:
    """One pipeline, its bucket and its queue; processes come and go.

    Attributes:
        fifo: Whether the queue is FIFO.
        world: What is outside the processes.
    """

    fifo: bool = False
    world: World = field(init=False)

    def __post_init__(self) -> None:
        """Make the services."""
        self.world = World(fifo=self.fifo)
        self.store = FakeUploadStore(self.world.objects)

    def producer(self, **options: Any) -> Producer:  # noqa: ANN401 - the producer's own options
        """A producer in a new process."""
        world = self.world
        store = PayloadStore(
            world.objects, bucket=BUCKET, before_send_seconds=86_400, clock=world.clock, random=lambda: 0.5
        )
        return Producer(
            store,
            world.queue,
            queue_url=world.queue_url,
            clock=world.clock,
            new_id=lambda: "never drawn",
            random=lambda: 0.5,
            telemetry=world.telemetry,
            **options,
        )

    def uploads(self, **options: Any) -> Uploads:  # noqa: ANN401 - the uploads' own options
        """The function's inside, in a new process."""
        world = self.world
        given: dict[str, Any] = {"max_payload_bytes": MAX_PAYLOAD, **options}
        return Uploads(
            self.store, self.producer(), bucket=BUCKET, clock=world.clock, telemetry=world.telemetry, **given
        )

    def call(self, route: str, document: object, *, tenant_claim: str | None = None, **request: Any) -> Any:  # noqa: ANN401 - JSON
        """Answer one request of the HTTP API: its status, and its document."""
        api = UploadApi(self.uploads(), telemetry=self.world.telemetry, tenant_claim=tenant_claim)
        answer = api.handle({"routeKey": route, "body": json.dumps(document), "isBase64Encoded": False, **request})
        return answer["statusCode"], json.loads(answer["body"])

    def grant(self, document: object) -> Any:  # noqa: ANN401 - JSON
        """``POST /uploads``."""
        return self.call(GRANT_ROUTE, document)

    def confirm(self, document: object) -> Any:  # noqa: ANN401 - JSON
        """``POST /events``."""
        return self.call(CONFIRM_ROUTE, document)

    def uploaded(self, document: dict[str, Any], content: bytes = CONTENT) -> Grant:
        """Grant and upload, without a confirm."""
        grant = self.uploads().grant(document)
        assert self.store.upload(grant.put, content) in {200, 412}
        return grant


def declaration(content: bytes = CONTENT, **changed: object) -> dict[str, Any]:
    """A declaration; fields that are changed to None are left out."""
    fields: dict[str, Any] = {
        "tenantId": TENANT,
        "eventType": EVENT_TYPE,
        "messageId": "doc-789-v3",
        "sha256": hashlib.sha256(content).hexdigest(),
        "contentLength": len(content),
        "contentType": "application/pdf",
        **changed,
    }
    return {name: value for name, value in fields.items() if value is not None}
