"""The functions of an ingest, where IAM is enforced: what they are for, and what they may not do."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote_plus

from claim_check.adapters.ingest_objects import S3ObjectSource
from claim_check.adapters.ledger import DynamoDbLedger
from claim_check.contract import Setting
from claim_check.ingest.ports import LedgerRow
from claim_check_ops.local import EmbeddedAws
from tests.integration.enforced import HIDDEN_SECONDS, CaseFailed, Function, invoke, message_for, received, record_of
from tests.integration.enforced_denials import OUTSIDE, Call, Calls, _every_call_on

STACK: Final = "Ingest"
OBJECT: Final = "incoming/object"
_READS: Final = ("get", "look")


# --- Cases ----------------------------------------------------------------------------------------------------------


def ingest(function: Function, *, with_version: bool = True) -> None:
    """An object is written, and its event handed over."""
    key, facts = _written(function)
    if not with_version:
        facts.pop("versionId", None)
    row = _handed_over(function, _event(function, key, "ObjectCreated:Put", sequencer="01", **facts))
    if row is None or row.object is None:
        raise CaseFailed(f"the ledger says {row}")


def ingest_removal(function: Function) -> None:
    """An object is removed, and its event handed over."""
    row = _handed_over(
        function, _event(function, f"incoming/{uuid.uuid4().hex}", "ObjectRemoved:Delete", sequencer="01")
    )
    if row is None or row.object is not None:
        raise CaseFailed(f"the ledger says {row}")


def ingest_failing(function: Function) -> None:
    """The handler's table is not there: the failure is counted, and the message hidden for its backoff."""
    key, facts = _written(function)
    body = json.dumps(_event(function, key, "ObjectCreated:Put", sequencer="01", **facts))
    message = received(function, body)
    record = record_of(function, body, message_id=message["MessageId"], receipt_handle=message["ReceiptHandle"])
    try:
        with _configured(function, {"INVENTORY_TABLE": "none"}):
            answer = invoke(function, {"Records": [record]})
        if not answer["batchItemFailures"]:
            raise CaseFailed("the message did not fail")
        left = function.aws.hidden_until(function.queue_url)[message["MessageId"]] - time.time()
        if left > HIDDEN_SECONDS / 2:
            raise CaseFailed(f"it stays hidden for {left:.0f} s")
        rows = function.aws.dynamodb.scan(TableName=function.variables[Setting.LEDGER_TABLE])["Items"]
        if not any(row["sk"]["S"].endswith(message["MessageId"]) or message["MessageId"] in str(row) for row in rows):
            raise CaseFailed("the failure was not counted")
    finally:
        function.aws.sqs.delete_message(QueueUrl=function.queue_url, ReceiptHandle=message["ReceiptHandle"])


def ingest_parking(function: Function) -> None:
    """A message that is no notification."""
    answer = invoke(function, {"Records": [record_of(function, "no notification")]})
    if answer["batchItemFailures"]:
        raise CaseFailed("it was not parked")


def compare(function: Function) -> None:
    """An object that nobody told of is found, and an event queued for it."""
    _written(function)
    with _configured(function, {Setting.INGEST_GRACE: "0", Setting.INGEST_RECONCILE_EVERY: "0"}):
        report = invoke(function, {})
    if not report.get("queued"):
        raise CaseFailed(str(report))


def look_again(function: Function) -> None:
    """What a reconciliation does before it calls an object gone: it looks at the object itself, in this role."""
    key, _ = _written(function)
    source = S3ObjectSource(function.clients.s3)
    if source.head(bucket=function.bucket, key=key) is None:
        raise CaseFailed("it is not seen")


def forward(function: Function) -> None:
    """An event of EventBridge's goes on into the FIFO queue."""
    event = {"id": str(uuid.uuid4()), "detail": {"bucket": {"name": "some"}, "object": {"key": "incoming/some"}}}
    if not invoke(function, event)["sqsMessageId"]:
        raise CaseFailed("it was not sent")


def _written(function: Function) -> tuple[str, dict[str, Any]]:
    key = f"incoming/{uuid.uuid4().hex}.txt"
    put = function.aws.s3.put_object(Bucket=function.bucket, Key=key, Body=b"content")
    version = put.get("VersionId")
    return key, {"size": 7, "eTag": put["ETag"].strip('"'), **({"versionId": version} if version else {})}


def _event(function: Function, key: str, name: str, **of_object: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    s3 = {"bucket": {"name": function.bucket}, "object": {"key": quote_plus(key, safe="/"), **of_object}}
    return {"Records": [{"eventSource": "aws:s3", "eventName": name, "s3": s3}]}


def _handed_over(function: Function, event: Mapping[str, Any]) -> LedgerRow | None:
    answer = invoke(function, {"Records": [record_of(function, json.dumps(event))]})
    if answer["batchItemFailures"]:
        raise CaseFailed("the message failed")
    ledger = DynamoDbLedger(function.aws.dynamodb, function.variables[Setting.LEDGER_TABLE])
    return ledger.read(bucket=function.bucket, key=event["Records"][0]["s3"]["object"]["key"])


@contextmanager
def _configured(function: Function, changed: Mapping[str, str]) -> Iterator[None]:
    """Other settings, until the block ends."""
    configure: Any = function.aws.lambda_.update_function_configuration
    configure(FunctionName=function.name, Environment={"Variables": {**function.variables, **changed}})
    try:
        yield
    finally:
        configure(FunctionName=function.name, Environment={"Variables": dict(function.variables)})


CASES: Final = {
    "ingest": ingest,
    "ingest without version": lambda function: ingest(function, with_version=False),
    "ingest a removal": ingest_removal,
    "ingest, failing": ingest_failing,
    "ingest, parking": ingest_parking,
    "compare": compare,
    "look again": look_again,
    "forward": forward,
}


# --- Denials --------------------------------------------------------------------------------------------------------


def furnish(aws: EmbeddedAws, functions: Mapping[str, Function]) -> None:
    """Put an object at every place that a call below reads, so that root can read it."""
    for function in functions.values():
        if Setting.INGEST_BUCKET in function.variables:
            for key in (OBJECT, OUTSIDE):
                aws.s3.put_object(Bucket=function.bucket, Key=key, Body=b"")


@dataclass(frozen=True)
class IngestCalls(Calls):
    """Calls of a function of an ingest, on its own resources and on those of the other pipelines.

    Attributes:
        ingester: The ingester of its ingest, which may be itself.
        neighbour: The ingester of another ingest.
    """

    ingester: Function
    neighbour: Function

    @property
    def _reads(self) -> bool:
        return self.own.kind in {"ingest", "ingest_reconciliation"}

    def allowed(self) -> dict[str, Call]:
        """What stands beside the denials: the same calls where the function may make them."""
        queue = self.own.queue_url
        calls: dict[str, Call] = {}
        if self._reads:
            objects = self._objects("its objects", self.own.bucket, OBJECT)
            calls |= {name: call for name, call in objects.items() if name.startswith(_READS)}
            bucket = self.own.bucket
            calls["list its objects"] = lambda it: it.s3.list_objects_v2(Bucket=bucket, Prefix="incoming/")
        if self.own.kind == "ingest":
            calls["receive from its queue"] = lambda it: it.sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=0)
        else:
            calls["send to its queue"] = lambda it: it.sqs.send_message(QueueUrl=queue, **message_for(queue, "denied"))
        return calls

    def denied(self) -> dict[str, Call]:
        """Everything that must not be let through."""
        ingester = self.ingester
        found = {
            **self._foreign_queue("another queue", self.other.queue_url),
            **self._its_queues(),
            **self._objects("another bucket", self.other.bucket, OUTSIDE),
            **self._objects("another ingest's bucket", self.neighbour.bucket, OBJECT),
            **_every_call_on("another ingest's ledger", self.neighbour.variables[Setting.LEDGER_TABLE]),
            **_every_call_on("another pipeline's inbox", self.other.variables[Setting.INBOX_TABLE]),
            **self._ledger(),
            **self._account(),
        }
        objects = self._objects("its objects", ingester.bucket, OBJECT)
        granted = _READS if self._reads else ()
        found |= {name: call for name, call in objects.items() if not name.startswith(granted)}
        if ingester.variables[Setting.INGEST] == "inventory":
            found |= self._objects("its bucket outside the prefix", ingester.bucket, OUTSIDE)
            bucket = ingester.bucket
            found["list its bucket"] = lambda it: it.s3.list_objects_v2(Bucket=bucket)
        return found

    def _its_queues(self) -> dict[str, Call]:
        """The other direction on its queue; the DLQ takes what the ingester parks, and nothing else."""
        queue, dlq = self.own.queue_url, self.ingester.variables[Setting.DLQ_URL]
        receives = self.own.kind == "ingest"
        calls = self._foreign_queue("its queue", queue)
        found = {name: call for name, call in calls.items() if name.startswith("send") == receives}
        of_dlq = self._foreign_queue("its dead-letter queue", dlq)
        return found | {name: call for name, call in of_dlq.items() if not (receives and name.startswith("send"))}

    def _ledger(self) -> dict[str, Call]:
        calls = _every_call_on("its ledger", self.ingester.variables[Setting.LEDGER_TABLE])
        granted: tuple[str, ...] = ()
        if self.own.kind == "ingest":
            granted = ("get", "put", "update", "write a transaction")
        if self.own.kind == "ingest_reconciliation":
            granted = ("get", "put", "query", "write a transaction")
        return {name: call for name, call in calls.items() if not name.startswith(granted)}


def calls_of(functions: Mapping[str, Function], own: Function) -> IngestCalls:
    """The calls of a function of an ingest."""
    ingesters = [one for one in functions.values() if one.kind == "ingest"]
    (ingester,) = (one for one in ingesters if one.queue_url == own.queue_url)
    neighbour = next(one for one in ingesters if one is not ingester)
    other = next(one for one in functions.values() if one.kind == "consumer")
    return IngestCalls(
        own=own, consumer=other, other=other, siblings=[], narrow=False, ingester=ingester, neighbour=neighbour
    )
