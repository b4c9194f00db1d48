"""R1.1, R1.3, R1.4: the wire format, its golden examples, and its schema."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check import contract, schema
from claim_check.envelope import Claim, Envelope, Inline, decode, encode
from claim_check.errors import InvalidEnvelope, UnsupportedVersion

FOLDER = Path(__file__).parent / "envelopes"
GOLDEN = {path.stem: path.read_text(encoding="utf-8").rstrip("\n") for path in sorted(FOLDER.glob("*.json"))}
COMMITTED = Path(str(schema.__file__)).with_name("envelope-v1.json")
SQS_BODY = re.compile("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+")

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
NAME = st.from_regex(contract.NAME_PATTERN, fullmatch=True).filter(contract.is_name)
MOMENT = st.none() | st.datetimes(min_value=datetime(1970, 1, 2), timezones=st.just(UTC))  # noqa: DTZ001 - zone is given apart
PAYLOAD = st.one_of(
    st.builds(Inline, content_type=ANY_TEXT, body=st.text(st.characters(exclude_categories=["Cs"]))),
    st.builds(
        Claim,
        bucket=ANY_TEXT,
        key=ANY_TEXT,
        version_id=st.none() | ANY_TEXT,
        content_type=ANY_TEXT,
        content_length=st.integers(0, 2**53),
        sha256=st.from_regex("[0-9a-f]{64}", fullmatch=True),
    ),
)
ENVELOPE = st.builds(
    Envelope,
    message_id=ANY_TEXT,
    event_type=NAME,
    event_version=st.integers(1, 2**31 - 1),
    tenant_id=NAME,
    idempotency_key=ANY_TEXT,
    correlation_id=st.none() | ANY_TEXT,
    occurred_at=MOMENT,
    published_at=MOMENT,
    domain_ref=st.dictionaries(ANY_TEXT, ANY_TEXT | st.integers(-(2**53), 2**53), max_size=4),
    payload=PAYLOAD,
)


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    """The published schema."""
    document = json.loads(COMMITTED.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(document)
    return jsonschema.Draft202012Validator(document, format_checker=jsonschema.FormatChecker())


@given(ENVELOPE)
def test_decode_is_the_inverse_of_encode_and_sqs_takes_the_body(envelope: Envelope) -> None:
    body = encode(envelope)
    assert decode(body) == envelope
    assert SQS_BODY.fullmatch(body)
    assert "\n" not in body


@given(ENVELOPE)
def test_whatever_is_encoded_fits_the_schema(envelope: Envelope) -> None:
    jsonschema.Draft202012Validator(schema.envelope_schema()).validate(json.loads(encode(envelope)))


@pytest.mark.parametrize("name", ["claim", "inline"])
def test_golden_envelopes_decode_and_encode_to_themselves(name: str) -> None:
    assert encode(decode(GOLDEN[name])) == GOLDEN[name]


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_envelopes_fit_the_schema(name: str, validator: jsonschema.Draft202012Validator) -> None:
    validator.validate(json.loads(GOLDEN[name]))


def test_the_wire_format_is_as_documented() -> None:
    claim = decode(GOLDEN["claim"])
    assert (claim.message_id, claim.idempotency_key) == ("m-1", "document-uploaded:doc-789:v3")
    assert claim.published_at == datetime(2026, 7, 6, 10, 15, 31, tzinfo=UTC)
    assert isinstance(claim.payload, Claim)
    assert (claim.payload.version_id, claim.payload.content_length) == ("v1", 1_849_382)
    inline = decode(GOLDEN["inline"])
    assert inline.payload == Inline(content_type="application/json", body='{"name":"ü","odd":"\uffff"}')


def test_a_foreign_envelope_without_version_and_with_unknown_fields_decodes() -> None:
    found = decode(GOLDEN["foreign_minimal"])
    assert (found.event_version, found.idempotency_key, found.domain_ref) == (1, "m-3", {})
    assert isinstance(found.payload, Inline | Claim)
    assert found.payload.sha256 == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def changed(**changes: object) -> dict[str, Any]:
    document = json.loads(GOLDEN["claim"]) | changes
    return {name: value for name, value in document.items() if value is not ...}


@pytest.mark.parametrize(
    "document",
    [
        changed(messageId=...),
        changed(messageId=""),
        changed(messageId=7),
        changed(eventType="a/b"),
        changed(tenantId=".."),
        changed(eventVersion="1"),
        changed(eventVersion=1.5),
        changed(payloadRef=...),
        changed(inline={"contentType": "application/json", "body": "{}"}),
        changed(payloadRef={}),
        changed(payloadRef=changed()["payloadRef"] | {"contentLength": -1}),
        changed(payloadRef=changed()["payloadRef"] | {"sha256": "abc"}),
        changed(payloadRef=changed()["payloadRef"] | {"key": ""}),
    ],
)
def test_schema_and_decoder_refuse_alike(document: dict[str, Any], validator: jsonschema.Draft202012Validator) -> None:
    assert not validator.is_valid(document)
    with pytest.raises(InvalidEnvelope):
        decode(json.dumps(document))


@pytest.mark.parametrize("version", [0, 2, -1])
def test_another_version_is_a_clear_error(version: int, validator: jsonschema.Draft202012Validator) -> None:
    document = changed(v=version)
    assert not validator.is_valid(document)
    with pytest.raises(UnsupportedVersion, match=str(version)):
        decode(json.dumps(document))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


# FIELD: aws-powertools/powertools-lambda-typescript#4411
@given(st.text() | JSON.map(json.dumps) | st.dictionaries(st.sampled_from(list(changed())), JSON).map(json.dumps))
def test_any_body_decodes_or_is_one_clear_error(body: str) -> None:
    try:
        decode(body)
    except (InvalidEnvelope, UnsupportedVersion) as error:
        str(error).encode()


@given(st.sampled_from(list(changed())), JSON)
def test_any_one_field_replaced_decodes_or_is_one_clear_error(name: str, value: object) -> None:
    try:
        decode(json.dumps(changed(**{name: value})))
    except (InvalidEnvelope, UnsupportedVersion) as error:
        str(error).encode()


def test_the_committed_schema_is_the_generated_one() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == schema.text(), "python -m claim_check.schema > envelope-v1.json"
