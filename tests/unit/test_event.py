"""Bad input to the producer: one exception type per cause, before anything is written."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check import contract
from claim_check.errors import (
    EmptyField,
    InvalidDomainRef,
    InvalidEvent,
    InvalidEventVersion,
    InvalidName,
    InvalidPayload,
    InvalidText,
    NaiveTimestamp,
    ReservedAttribute,
    TooManyAttributes,
)
from claim_check.event import Event

SECRET = b"4711-secret-payload"


def event(**fields: object) -> Event:
    base: dict[str, Any] = {
        "tenant_id": "t-1",
        "event_type": "DocumentUploaded",
        "payload": SECRET,
        "content_type": "application/pdf",
    }
    return Event(**(base | fields))


CASES: list[tuple[str, object, type[InvalidEvent]]] = [
    ("tenant_id", "", EmptyField),
    ("tenant_id", "a/b", InvalidName),
    ("tenant_id", ".", InvalidName),
    ("tenant_id", "..", InvalidName),
    ("tenant_id", "a" * 129, InvalidName),
    ("tenant_id", "t\n", InvalidName),
    ("tenant_id", "tenänt", InvalidName),
    ("tenant_id", 7, InvalidText),
    ("event_type", "", EmptyField),
    ("event_type", "a b", InvalidName),
    ("event_type", None, InvalidText),
    ("content_type", "", EmptyField),
    ("content_type", "pdf", InvalidText),
    ("content_type", "text/plain\r\nx-evil: 1", InvalidText),
    ("content_type", "text/plä", InvalidText),
    ("content_type", "a/" + "b" * 254, InvalidText),
    ("message_id", "", EmptyField),
    ("message_id", "x" * 129, InvalidText),
    ("message_id", "a\x00", InvalidText),
    ("message_id", "\ud800", InvalidText),
    ("correlation_id", "", EmptyField),
    ("correlation_id", "a\nb", InvalidText),
    ("idempotency_key", "", EmptyField),
    ("idempotency_key", "k" * 1025, InvalidText),
    ("idempotency_key", "k\udfff", InvalidText),
    ("event_version", 0, InvalidEventVersion),
    ("event_version", True, InvalidEventVersion),
    ("event_version", "1", InvalidEventVersion),
    ("event_version", 2**31, InvalidEventVersion),
    ("occurred_at", datetime(2026, 7, 6), NaiveTimestamp),  # noqa: DTZ001 - the point
    ("occurred_at", "2026-07-06T10:15:30Z", NaiveTimestamp),
    ("group_id", "", EmptyField),
    ("group_id", "g" * 129, InvalidText),
    ("group_id", "a b", InvalidText),
    ("group_id", "ü", InvalidText),
    ("domain_ref", {"a": {"nested": 1}}, InvalidDomainRef),
    ("domain_ref", {"a": 1.5}, InvalidDomainRef),
    ("domain_ref", {"a": True}, InvalidDomainRef),
    ("domain_ref", {"a": 2**53}, InvalidDomainRef),
    ("domain_ref", {"": "x"}, InvalidDomainRef),
    ("domain_ref", {3: "x"}, InvalidDomainRef),
    ("domain_ref", {"a": "\ud800"}, InvalidDomainRef),
    ("domain_ref", {"a": "x" * 5000}, InvalidDomainRef),
    ("domain_ref", ["a"], InvalidDomainRef),
    ("attributes", {f"a{number}": "x" for number in range(6)}, TooManyAttributes),
    ("attributes", {"eventType": "x"}, ReservedAttribute),
    ("attributes", {"parked": "x"}, ReservedAttribute),
    ("attributes", {"ExtendedPayloadSize": "1"}, ReservedAttribute),
    ("attributes", {"SQSLargePayloadSize": "1"}, ReservedAttribute),
    ("attributes", {"": "x"}, EmptyField),
    ("attributes", {"AWS.x": "x"}, InvalidText),
    ("attributes", {"amazon.x": "x"}, InvalidText),
    ("attributes", {"a..b": "x"}, InvalidText),
    ("attributes", {".a": "x"}, InvalidText),
    ("attributes", {"a.": "x"}, InvalidText),
    ("attributes", {"ä": "x"}, InvalidText),
    ("attributes", {"a" * 257: "x"}, InvalidText),
    ("attributes", {"a": ""}, EmptyField),
    ("attributes", {"a": 3}, InvalidText),
    ("attributes", {"a": "\x00"}, InvalidText),
    ("attributes", {"a": "\ud800"}, InvalidText),
    ("attributes", {"a": "\uffff"}, InvalidText),
    ("attributes", "a", InvalidText),
    ("payload", "text", InvalidPayload),
    ("payload", None, InvalidPayload),
    ("payload", bytearray(b"x"), InvalidPayload),
    ("payload", {"a": 1}, InvalidPayload),
    ("payload", io.StringIO("text"), InvalidPayload),
]


# FIELD: raol/amazon-sqs-net-extended-client-lib#39 (too many attributes are refused before S3 is touched)
@pytest.mark.parametrize("name, value, error", CASES)
def test_bad_input_names_field_value_limit_and_way_out(name: str, value: object, error: type[InvalidEvent]) -> None:
    with pytest.raises(InvalidEvent) as caught:
        event(**{name: value})
    assert type(caught.value) is error
    text = str(caught.value)
    assert text.startswith(name)
    assert "; allowed: " in text
    assert caught.value.limit in text
    assert SECRET.decode() not in text
    assert len(text) < 600
    text.encode()  # whatever the value was, the text can be logged


@pytest.mark.parametrize(
    "name, value",
    [
        ("tenant_id", "a" * 128),
        ("tenant_id", "..."),
        ("event_type", "Document.Uploaded_v2-x"),
        ("message_id", "ü" * 128),
        ("idempotency_key", "document-uploaded:doc-789:v3"),
        ("idempotency_key", "k" * 1024),
        ("event_version", 2**31 - 1),
        ("occurred_at", datetime(2026, 7, 6, tzinfo=UTC)),
        ("group_id", "g" * 128),
        ("domain_ref", {"documentId": "doc-789", "page": -(2**53) + 1}),
        ("attributes", {f"a{number}": "ü€😀\t" for number in range(5)}),
        ("attributes", {"a" * 256: "x", "a.b-c_d": "x"}),
        ("content_type", "text/csv; charset=utf-8"),
        ("content_type", "application/vnd.api+json"),
        ("content_type", "a/" + "b" * 253),
        ("payload", b""),
        ("payload", Path("/nowhere")),
        ("payload", io.BytesIO(b"x")),
    ],
)
def test_the_limit_itself_is_accepted(name: str, value: object) -> None:
    made = event(**{name: value})
    assert getattr(made, name) == value


# FIELD: timothymugayi/boto3-sqs-extended-client-lib#8
def test_the_callers_mappings_are_copied() -> None:
    attributes, domain_ref = {"order": "1"}, {"documentId": "doc-1"}
    made = event(attributes=attributes, domain_ref=domain_ref)
    attributes["order"] = "2"
    domain_ref["other"] = "x"
    assert made.attributes == {"order": "1"}
    assert made.domain_ref == {"documentId": "doc-1"}
    with pytest.raises(TypeError):
        made.attributes["x"] = "y"  # type: ignore[index]


def test_repr_does_not_show_the_payload() -> None:
    assert "secret" not in repr(event())


def test_json_is_compact_and_keeps_its_order() -> None:
    made = Event.json({"b": "ü", "a": [1, None]}, tenant_id="t", event_type="X", domain_ref={"id": 1})
    assert made.payload == '{"b":"ü","a":[1,null]}'.encode()
    assert made.content_type == "application/json"
    assert made.domain_ref == {"id": 1}


@pytest.mark.parametrize("document", [{"a": object()}, float("nan"), "\ud800", {1, 2}, SimpleNamespace()])
def test_json_refuses_what_is_none(document: object) -> None:
    with pytest.raises(InvalidPayload):
        Event.json(document, tenant_id="t", event_type="X")


def test_json_refuses_a_bottomless_document() -> None:
    deep: list[Any] = []
    for _ in range(200_000):
        deep = [deep]
    with pytest.raises(InvalidPayload):
        Event.json(deep, tenant_id="t", event_type="X")


@given(st.text())
def test_any_text_makes_an_event_or_a_clear_error(text: str) -> None:
    for name in (
        "tenant_id",
        "event_type",
        "content_type",
        "message_id",
        "correlation_id",
        "idempotency_key",
        "group_id",
    ):
        try:
            event(**{name: text})
        except InvalidEvent as error:
            str(error).encode()
    assert contract.is_name("t-1")
