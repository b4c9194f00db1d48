"""Every error code: its log line has all of R11.4; payload, key and the handler's own words leak nowhere."""

from __future__ import annotations

import hashlib
import io
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import pytest
from aws_lambda_powertools import Logger

from claim_check import contract, errors
from claim_check.adapters.powertools import PowertoolsTelemetry
from claim_check.contract import ErrorCode
from claim_check.envelope import Envelope, encode
from claim_check.extended_client import ForeignMessages
from claim_check.message import Message
from claim_check.ports import MessageAttribute
from claim_check.processor import Handler
from claim_check.telemetry import key_hash
from claim_check.transaction import Transaction
from tests.canary import Canary
from tests.fakes.faults import Crash
from tests.foreign_world import FOREIGN_BUCKET, pointer, size
from tests.harness import BUCKET, DOCUMENTS, EVENT_TYPE, TENANT, TTL_SECONDS, World, chunks

TRACE_ID = "1-6b0ce1e3-8c6d02daab7cd9289efa3c10"
TRACE = f"Root={TRACE_ID};Parent=53995c3f42cd8ad8;Sampled=1"
ELSEWHERE = frozenset({ErrorCode.INVALID_NOTIFICATION})
"""Codes of other programs than the consumer: of the ingester."""

UNREADABLE = frozenset({ErrorCode.INVALID_ENVELOPE, ErrorCode.UNVERIFIED_PAYLOAD})
"""Codes of messages that nobody can read: their lines say which message it was, and no more."""


@dataclass
class Told(World):
    """A world whose consumer logs and counts as in Lambda, and a canary in its payloads.

    Attributes:
        canary: What must leak nowhere.
        log: The lines so far.
    """

    canary: Canary = field(default_factory=Canary)
    log: io.StringIO = field(default_factory=io.StringIO)

    def __post_init__(self) -> None:
        """Log in earnest."""
        super().__post_init__()
        logger = Logger(service=f"documents-{uuid.uuid4()}", stream=self.log, location=None)
        self.telemetry = PowertoolsTelemetry(service="documents", logger=logger)  # type: ignore[assignment]  # the real one

    def put(self, **claim: Any) -> Envelope:  # noqa: ANN401 - fields of Claim that differ from the truth
        """An event whose payload carries the canary; not sent yet."""
        envelope = self.envelope(self.canary.payload(200), **claim)
        self.canary.keep(self.key_of(envelope), *self.objects.keys(BUCKET))
        return envelope

    @staticmethod
    def key_of(envelope: Envelope) -> str:
        """Where its payload is."""
        key: str = getattr(envelope.payload, "key")  # noqa: B009 - of a claim
        return key

    def post(self, envelope: Envelope) -> None:
        """Send an event, traced."""
        self.send(envelope, trace_header=TRACE)

    def error_lines(self) -> list[dict[str, Any]]:
        """What was logged with an error code."""
        lines = [json.loads(line) for line in self.log.getvalue().splitlines()]
        return [line for line in lines if "errorCode" in line]

    def places(self, printed: str) -> Mapping[str, list[str]]:
        """Everywhere that a canary must not be."""
        copies = self.queue.messages(self.dlq_url)
        return {
            "log": self.log.getvalue().splitlines(),
            "metric": printed.splitlines(),
            "DLQ attribute": [str(one.value) for copy in copies for one in copy.message.attributes.values()],
            "inbox row": [f"{row.last_code} {row.last_message}" for row in self.table.rows.values()],
        }


Make: TypeAlias = Callable[[Told], tuple[Handler, dict[str, Any]]]


def talkative(message: Message, _: Transaction) -> None:
    """A handler whose error quotes the payload and its key."""
    text = message.read().decode()
    try:
        json.loads(text)
    except ValueError as error:
        raise RuntimeError(f"cannot use {text}") from error


def thorough(message: Message, tx: Transaction) -> None:
    """A handler that reads all, and writes a row."""
    for _ in chunks(message):
        pass
    tx.put(DOCUMENTS, {"pk": f"{message.tenant_id}#{message.idempotency_key}"})


def _missing(world: Told) -> tuple[Handler, dict[str, Any]]:
    envelope = world.put()
    world.objects.delete(BUCKET, world.key_of(envelope))
    world.post(envelope)
    return thorough, {"max_attempts": 1}


def _denied(world: Told) -> tuple[Handler, dict[str, Any]]:
    world.post(world.put())
    world.faults.fail("open", errors.AccessDenied("S3 denied the read: AccessDenied"), times=9)
    return thorough, {"max_attempts": 1}


def _unavailable(world: Told) -> tuple[Handler, dict[str, Any]]:
    world.post(world.put())
    world.post(world.put())  # where all fail, the batch as a whole does
    world.faults.fail("open", errors.Unavailable("S3: SlowDown"))
    return thorough, {}


def _tampered(world: Told) -> tuple[Handler, dict[str, Any]]:
    world.post(world.put(sha256=hashlib.sha256(b"another").hexdigest()))
    return thorough, {}


def _too_large(world: Told) -> tuple[Handler, dict[str, Any]]:
    world.post(world.put())
    return thorough, {"max_payload_bytes": 10}


def _wrong_type(world: Told) -> tuple[Handler, dict[str, Any]]:
    world.post(world.put())
    return thorough, {"content_types": ["image/png"]}


def _no_envelope(world: Told) -> tuple[Handler, dict[str, Any]]:
    world.send_body(f"{{not JSON {world.canary.token}", trace_header=TRACE)
    return thorough, {}


def _wrong_field(world: Told) -> tuple[Handler, dict[str, Any]]:
    document = json.loads(encode(world.put()))
    document["payloadRef"]["contentLength"] = world.canary.token
    world.send_body(json.dumps(document), trace_header=TRACE)
    return thorough, {}


def _new_version(world: Told) -> tuple[Handler, dict[str, Any]]:
    world.post(replace(world.put(), event_version=7))
    return thorough, {"event_types": {EVENT_TYPE: [1]}}


def _untrusted(world: Told) -> tuple[Handler, dict[str, Any]]:
    world.post(world.put(key=f"elsewhere/{world.canary.token}.pdf"))
    return thorough, {}


def _unverified(world: Told) -> tuple[Handler, dict[str, Any]]:
    key = f"in/{world.canary.token}"
    world.canary.keep(key)
    attributes: dict[str, MessageAttribute] = {contract.ATTRIBUTE_PAYLOAD_SIZE: size(300_000)}
    world.send_body(pointer(key), attributes=attributes, trace_header=TRACE)
    foreign = ForeignMessages(tenant_id=TENANT, event_type=EVENT_TYPE, buckets=(FOREIGN_BUCKET,))
    return thorough, {"foreign": foreign}


def _conflicting(world: Told) -> tuple[Handler, dict[str, Any]]:
    first = world.put()
    world.post(first)
    world.deliver()
    world.post(replace(world.put(), idempotency_key=first.idempotency_key, payload=_other(world)))
    return thorough, {}


def _other(world: Told) -> Any:  # noqa: ANN401 - a payload
    return world.put().payload


def _stale(world: Told) -> tuple[Handler, dict[str, Any]]:
    world.post(world.put())
    world.clock.advance(TTL_SECONDS + 1)
    return thorough, {}


def _failing(world: Told) -> tuple[Handler, dict[str, Any]]:
    world.post(world.put())
    return talkative, {"max_attempts": 1}


def _crashing(world: Told) -> tuple[Handler, dict[str, Any]]:
    world.post(world.put())

    def crash(message: Message, _: Transaction) -> None:
        raise Crash(message.read().decode())

    consumer = world.consumer(crash)
    with pytest.raises(Crash):
        world.deliver(consumer)
    world.clock.advance(3600)
    return thorough, {"max_attempts": 1}


def _uncommitted(world: Told) -> tuple[Handler, dict[str, Any]]:
    world.post(world.put())
    world.table.refuse_write = 0
    return thorough, {"max_attempts": 1}


def _out_of_time(world: Told) -> tuple[Handler, dict[str, Any]]:
    world.post(world.put())

    def slow(message: Message, _: Transaction) -> None:
        world.clock.advance(3600)
        message.read()

    return slow, {"max_attempts": 1}


def _lost(world: Told) -> tuple[Handler, dict[str, Any]]:
    envelope = world.put()
    sent = world.send(envelope, trace_header=TRACE)

    def late(message: Message, _: Transaction) -> None:
        message.read()
        world.seed_row(sent, "IN_PROGRESS", owner="another", lease_until=world.clock.now() + 100)

    return late, {}


def _declared(error: Callable[[str], errors.ConsumeError]) -> Make:
    """What a handler raises itself, in words of its own."""

    def make(world: Told) -> tuple[Handler, dict[str, Any]]:
        world.post(world.put())

        def handle(message: Message, _: Transaction) -> None:
            message.read()
            raise error("the domain's record is another one")

        return handle, {}

    return make


class Unreadable(errors.PermanentError):
    """A handler's own."""

    code = "Unreadable"


def _own(world: Told) -> tuple[Handler, dict[str, Any]]:
    world.post(world.put())

    def handle(message: Message, _: Transaction) -> None:
        raise Unreadable(message.read().decode())

    return handle, {}


CASES: Mapping[str, tuple[str, Make]] = {
    "object gone": (ErrorCode.MISSING_PAYLOAD, _missing),
    "read denied": (ErrorCode.ACCESS_DENIED, _denied),
    "S3 is down": (ErrorCode.UNAVAILABLE, _unavailable),
    "other bytes": (ErrorCode.CHECKSUM_MISMATCH, _tampered),
    "too large": (ErrorCode.PAYLOAD_TOO_LARGE, _too_large),
    "other media type": (ErrorCode.UNSUPPORTED_CONTENT_TYPE, _wrong_type),
    "no envelope": (ErrorCode.INVALID_ENVELOPE, _no_envelope),
    "a field of another kind": (ErrorCode.INVALID_ENVELOPE, _wrong_field),
    "event of a newer version": (ErrorCode.UNSUPPORTED_VERSION, _new_version),
    "key elsewhere": (ErrorCode.UNTRUSTED_REFERENCE, _untrusted),
    "Extended Client's pointer": (ErrorCode.UNVERIFIED_PAYLOAD, _unverified),
    "identity known with other content": (ErrorCode.CONFLICT, _conflicting),
    "older than the inbox remembers": (ErrorCode.STALE, _stale),
    "handler's text quotes the payload": (ErrorCode.HANDLER_FAILED, _failing),
    "process died": (ErrorCode.HANDLER_CRASHED, _crashing),
    "a write was refused": (ErrorCode.COMMIT_FAILED, _uncommitted),
    "time is up": (ErrorCode.DEADLINE_EXCEEDED, _out_of_time),
    "the lease went to another": (errors.LostLease.code, _lost),
    "the domain knows another claim": (ErrorCode.CLAIM_MISMATCH, _declared(errors.ClaimMismatch)),
    "staged already": (ErrorCode.ALREADY_STAGED, _declared(errors.AlreadyStaged)),
    "a code of the handler's own": (Unreadable.code, _own),
}


def test_no_code_is_left_out() -> None:
    raised_elsewhere = ELSEWHERE | {ErrorCode.OUTBOX_FULL}
    assert {code for code, _ in CASES.values()} >= contract.ERROR_CODES - raised_elsewhere


@pytest.mark.parametrize("name", CASES)
def test_the_line_of_an_error_has_everything_and_nothing_leaks(  # R11.4, R12.2
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, make = CASES[name]
    world = Told()
    handler, options = make(world)
    world.deliver(world.consumer(handler, **options))
    (line,) = [line for line in world.error_lines() if line["errorCode"] == code]

    assert line["level"] == "ERROR"
    assert (line["queue"], line["receiveCount"], line["traceId"]) == ("documents", line["receiveCount"], TRACE_ID)
    assert line["sqsMessageId"]
    if code not in UNREADABLE:
        assert (line["tenantId"], line["eventType"]) == (TENANT, EVENT_TYPE)
        assert line["messageId"]
        assert line["correlationId"] == f"correlation of {line['messageId']}"
        assert json.loads(line["domainRef"]) == {"documentId": "doc-789"}
        assert line["payloadBucket"] == BUCKET
        assert line["payloadKeyHash"] in {key_hash(secret) for secret in world.canary.secrets}
        assert line["payloadSizeBytes"] == len(world.canary.payload(200))

    printed = capsys.readouterr().out
    places = world.places(printed)
    assert [name for name, texts in places.items() if not texts] in ([], ["DLQ attribute"], ["inbox row"])
    assert any(f'"{code}"' in text for text in places["metric"]), "it is a metric, too"
    if code not in UNREADABLE | {ErrorCode.MISSING_PAYLOAD}:
        stored = [world.objects.content(BUCKET, key) or b"" for key in world.objects.keys(BUCKET)]
        assert any(world.canary.token.encode() in content for content in stored), "where it may be"
    assert world.canary.leaks(places) == []
