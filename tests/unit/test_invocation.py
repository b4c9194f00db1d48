"""The producer function's input and answer."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check import contract, invocation
from claim_check.envelope import Claim, Inline
from claim_check.errors import (
    EmptyField,
    EventTooLarge,
    InvalidDomainRef,
    InvalidEvent,
    InvalidEventVersion,
    InvalidName,
    InvalidPayload,
    InvalidText,
    NaiveTimestamp,
    UnknownField,
)
from claim_check.producer import Published

BASE: dict[str, Any] = {"tenantId": "t-1", "eventType": "DocumentUploaded"}


def test_every_field_arrives() -> None:
    event = invocation.to_event(
        BASE
        | {
            "payloadBase64": "JVBERg==",
            "contentType": "application/pdf",
            "messageId": "m-1",
            "eventVersion": 2,
            "occurredAt": "2026-07-06T12:15:30+02:00",
            "correlationId": "c-1",
            "idempotencyKey": "document-uploaded:doc-789:v3",
            "domainRef": {"documentId": "doc-789"},
            "attributes": {"priority": "high"},
            "groupId": "doc-789",
            "sensitive": True,
        },
        message_id="request-1",
    )
    assert (event.tenant_id, event.event_type, event.payload) == ("t-1", "DocumentUploaded", b"%PDF")
    assert (event.content_type, event.message_id, event.event_version) == ("application/pdf", "m-1", 2)
    assert event.occurred_at == datetime(2026, 7, 6, 10, 15, 30, tzinfo=UTC)
    assert (event.correlation_id, event.idempotency_key) == ("c-1", "document-uploaded:doc-789:v3")
    assert (event.domain_ref, event.attributes) == ({"documentId": "doc-789"}, {"priority": "high"})
    assert (event.group_id, event.sensitive) == ("doc-789", True)


@pytest.mark.parametrize(
    "given_payload, payload, content_type",
    [
        ({"payload": {"a": "ü"}}, '{"a":"ü"}'.encode(), "application/json"),
        ({"payload": None}, b"null", "application/json"),
        ({"payloadText": "ü"}, "ü".encode(), "text/plain; charset=utf-8"),
        ({"payloadBase64": ""}, b"", "application/octet-stream"),
    ],
)
def test_payloads_and_their_default_types(given_payload: dict[str, Any], payload: bytes, content_type: str) -> None:
    event = invocation.to_event(BASE | given_payload, message_id="request-1")
    assert (event.payload, event.content_type) == (payload, content_type)


def test_a_retried_invocation_is_the_same_work() -> None:
    assert invocation.to_event(BASE | {"payload": 1}, message_id="request-1").message_id == "request-1"


PAYLOAD = {"payload": "4711-secret"}


@pytest.mark.parametrize(
    "document, error, field",
    [
        ([], UnknownField, "event"),
        (None, UnknownField, "event"),
        (BASE | PAYLOAD | {"idempotencykey": "k"}, UnknownField, "idempotencykey"),
        (PAYLOAD, EmptyField, "tenant_id"),
        ({"tenantId": "t-1"} | PAYLOAD, EmptyField, "event_type"),
        (BASE | PAYLOAD | {"tenantId": "a/b"}, InvalidName, "tenant_id"),
        (BASE, EmptyField, "payload"),
        (BASE | PAYLOAD | {"payloadText": "x"}, InvalidPayload, "payload"),
        (BASE | {"payloadText": 7}, InvalidPayload, "payloadText"),
        (BASE | {"payloadText": "\ud800"}, InvalidPayload, "payloadText"),
        (BASE | {"payloadBase64": "4711-secret!"}, InvalidPayload, "payloadBase64"),
        (BASE | {"payloadBase64": "ü"}, InvalidPayload, "payloadBase64"),
        (BASE | {"payload": "\ud800"}, InvalidPayload, "payload"),
        (BASE | PAYLOAD | {"occurredAt": "2026-07-06T10:15:30"}, NaiveTimestamp, "occurredAt"),
        (BASE | PAYLOAD | {"occurredAt": "yesterday"}, NaiveTimestamp, "occurredAt"),
        (BASE | PAYLOAD | {"occurredAt": 1783332930}, NaiveTimestamp, "occurredAt"),
        (BASE | PAYLOAD | {"sensitive": "yes"}, InvalidText, "sensitive"),
        (BASE | PAYLOAD | {"eventVersion": "1"}, InvalidEventVersion, "event_version"),
        (BASE | PAYLOAD | {"domainRef": "x"}, InvalidDomainRef, "domain_ref"),
        (BASE | PAYLOAD | {"messageId": ""}, EmptyField, "message_id"),
    ],
)
def test_bad_input(document: object, error: type[InvalidEvent], field: str) -> None:
    with pytest.raises(InvalidEvent) as caught:
        invocation.to_event(document, message_id="request-1")
    assert type(caught.value) is error
    assert caught.value.field == field
    assert "4711" not in str(caught.value)


def test_the_maximum_follows_from_lambdas_request_in_base64() -> None:
    largest = base64.b64encode(bytes(invocation.MAX_PAYLOAD_BYTES)).decode()
    assert len(largest) + invocation.FIELDS_BYTES <= contract.LAMBDA_MAX_REQUEST_BYTES
    assert invocation.MAX_PAYLOAD_BYTES > 4_500_000
    assert invocation.to_event(BASE | {"payloadBase64": largest}, message_id="r").payload
    too_large = base64.b64encode(bytes(invocation.MAX_PAYLOAD_BYTES + 1)).decode()
    with pytest.raises(EventTooLarge, match=r"claim_check\.Producer"):
        invocation.to_event(BASE | {"payloadBase64": too_large}, message_id="r")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(sorted(invocation._KNOWN)), JSON))
def test_any_json_is_an_event_or_a_clear_error(document: dict[str, Any]) -> None:
    for fields in (document, BASE | document):
        try:
            invocation.to_event(fields, message_id="request-1")
        except InvalidEvent as error:
            str(error).encode()


def test_answers() -> None:
    inline = Published(
        message_id="m-1",
        idempotency_key="k",
        sqs_message_id="s-1",
        payload=Inline(content_type="application/json", body="{}"),
    )
    assert invocation.to_answer(inline) == {
        "messageId": "m-1",
        "idempotencyKey": "k",
        "sqsMessageId": "s-1",
        "delivery": "inline",
        "contentLength": 2,
        "sha256": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
    }
    claim = Claim(bucket="b", key="k", content_type="a/b", content_length=7, sha256="0" * 64)
    answer = invocation.to_answer(Published(message_id="m", idempotency_key="m", sqs_message_id="s", payload=claim))
    assert (answer["delivery"], answer["contentLength"], answer["sha256"]) == ("claim", 7, "0" * 64)
    assert "k" not in answer.values()
