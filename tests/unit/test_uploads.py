"""R2.8, R6.4: grants and confirms of direct uploads, on fakes."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check import contract
from claim_check.contract import Metric
from claim_check.envelope import Claim, decode
from claim_check.errors import (
    EmptyField,
    EventTooLarge,
    ForeignTenant,
    InvalidEvent,
    MessageTooLarge,
    NotUploaded,
    Unavailable,
    UnknownField,
    UploadExpired,
    UploadMismatch,
    UploadRefused,
    UploadTampered,
)
from claim_check.event import Event
from claim_check.uploads import MAX_GENERATIONS, to_declaration
from tests.harness import BUCKET, EVENT_TYPE, TENANT
from tests.upload_world import CONTENT, MAX_PAYLOAD, UploadWorld, declaration

KEY = contract.object_key(
    tenant_id=TENANT,
    event_type=EVENT_TYPE,
    idempotency_key="doc-789-v3",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
)
MARGIN = contract.UPLOAD_CONFIRM_MARGIN_SECONDS


def claim_of(setup: UploadWorld) -> Claim:
    """The claim of the one message in the queue."""
    (message,) = setup.world.queued()
    payload = decode(message.message.body).payload
    assert isinstance(payload, Claim)
    return payload


# --- The way it should be -------------------------------------------------------------------------------------------


def test_what_was_declared_uploaded_and_confirmed_is_published() -> None:
    setup, declared = UploadWorld(), declaration(domainRef={"documentId": "doc-789"}, eventVersion=2)
    grant = setup.uploaded(declared)
    assert setup.store.tag_sets[BUCKET, KEY] == {"state": "unconfirmed"}
    assert setup.world.queued() == []
    published = setup.uploads().confirm(declared)
    (message,) = setup.world.queued()
    envelope = decode(message.message.body)
    claim = claim_of(setup)
    assert (claim.bucket, claim.key, claim.content_length) == (BUCKET, KEY, len(CONTENT))
    assert (claim.sha256, claim.content_type) == (declared["sha256"], "application/pdf")
    assert (envelope.message_id, envelope.event_version) == ("doc-789-v3", 2)
    assert dict(envelope.domain_ref) == {"documentId": "doc-789"}
    assert published.sqs_message_id
    assert setup.store.tag_sets[BUCKET, KEY] == {}
    assert grant.put.headers["x-amz-meta-upload"] == "direct"
    counts = setup.world.telemetry.counts
    assert (counts[Metric.UPLOADS_GRANTED], counts[Metric.UPLOADS_CONFIRMED]) == (1, 1)
    assert counts[Metric.PUBLISHED_CLAIMS] == 1


def test_a_grant_pins_everything() -> None:
    grant = UploadWorld().uploads().grant(declaration(messageId="é 1"))
    assert dict(grant.put.headers) == {
        "content-length": str(len(CONTENT)),
        "content-type": "application/pdf",
        "if-none-match": "*",
        "x-amz-checksum-sha256": grant.put.headers["x-amz-checksum-sha256"],
        "x-amz-tagging": "state=unconfirmed",
        "x-amz-meta-tenant-id": TENANT,
        "x-amz-meta-event-id": "%C3%A9%201",
        "x-amz-meta-sha256": hashlib.sha256(CONTENT).hexdigest(),
        "x-amz-meta-upload": "direct",
    }


def test_a_retried_upload_meets_its_own_object_and_goes_on() -> None:
    setup = UploadWorld()
    setup.uploaded(declaration())
    again = setup.uploads().grant(declaration())
    assert setup.store.upload(again.put, CONTENT) == 412
    setup.uploads().confirm(declaration())
    assert claim_of(setup).key == KEY


@pytest.mark.parametrize("fifo", [False, True])
def test_a_repeated_confirm_answers_the_same(fifo: bool) -> None:  # noqa: FBT001 - a parameter of the test
    setup = UploadWorld(fifo=fifo)
    declared = declaration(groupId="g-1" if fifo else None)
    setup.uploaded(declared)
    first, second = setup.confirm(declared), setup.confirm(declared)
    assert first == second
    assert first[0] == 200
    bodies = [decode(one.message.body) for one in setup.world.queued()]
    assert len(bodies) == (1 if fifo else 2)  # the inbox drops the second
    assert len({one.payload for one in bodies}) == 1


def test_other_tags_stay() -> None:
    setup = UploadWorld()
    setup.uploaded(declaration())
    setup.store.tag_sets[BUCKET, KEY]["scanned"] = "yes"
    setup.uploads().confirm(declaration())
    assert setup.store.tag_sets[BUCKET, KEY] == {"scanned": "yes"}


def test_a_version_is_pinned() -> None:
    setup = UploadWorld()
    setup.world.objects.versioned = True
    setup.uploaded(declaration())
    setup.uploads().confirm(declaration())
    assert claim_of(setup).version_id == "v1"


# --- What is refused ------------------------------------------------------------------------------------------------


def refused(setup: UploadWorld, document: object, error: type[InvalidEvent], field: str, **caller: str) -> InvalidEvent:
    """Confirm, and be refused; nothing is published."""
    with pytest.raises(error) as caught:
        setup.uploads().confirm(document, **caller)
    assert setup.world.queued() == []
    assert caught.value.field == field
    assert caught.value.limit
    assert caught.value.way_out
    assert KEY not in str(caught.value)
    return caught.value


def test_confirm_before_upload() -> None:
    setup = UploadWorld()
    setup.uploads().grant(declaration())
    refused(setup, declaration(), NotUploaded, "sha256")


def test_other_bytes_are_refused_by_s3_and_cannot_be_confirmed() -> None:
    setup = UploadWorld()
    grant = setup.uploads().grant(declaration())
    assert setup.store.upload(grant.put, CONTENT[::-1]) == 400
    assert setup.store.upload(grant.put, CONTENT + b"more", content_length=str(len(CONTENT) + 4)) == 403
    assert setup.store.upload(grant.put, CONTENT, x_amz_tagging="") == 403
    setup.world.clock.advance(contract.UPLOAD_GRANT_SECONDS + 1)
    assert setup.store.upload(grant.put, CONTENT) == 403
    refused(setup, declaration(), NotUploaded, "sha256")


@pytest.mark.parametrize(
    "content, metadata, content_type, field",
    [
        (CONTENT[:-1], {"tenant-id": TENANT}, "application/pdf", "contentLength"),
        (CONTENT[::-1], {"tenant-id": TENANT}, "application/pdf", "sha256"),
        (CONTENT, {"tenant-id": TENANT}, "text/html", "contentType"),
        (CONTENT, {"tenant-id": "t-2"}, "application/pdf", "tenantId"),
        (CONTENT, {}, "application/pdf", "tenantId"),
    ],
)
def test_something_else_at_the_key(content: bytes, metadata: dict[str, str], content_type: str, field: str) -> None:
    """Somebody with rights of his own wrote there."""
    setup = UploadWorld()
    setup.world.objects._write(BUCKET, KEY, content, content_type, metadata)
    setup.store.tag_sets[BUCKET, KEY] = {"state": "unconfirmed"}
    refused(setup, declaration(), UploadMismatch, field)
    assert setup.store.tag_sets[BUCKET, KEY] == {"state": "unconfirmed"}, "so it still expires"


def test_an_object_without_a_sha256_of_the_whole_is_refused() -> None:
    setup = UploadWorld()
    metadata = {"tenant-id": TENANT, "sha256": declaration()["sha256"]}
    started = setup.world.objects.start_upload(bucket=BUCKET, key=KEY, content_type="application/pdf", metadata={})
    when = setup.world.objects.uploads[started].started
    setup.world.objects._write(BUCKET, KEY, CONTENT, "application/pdf", metadata, started=when)
    refused(setup, declaration(), UploadMismatch, "sha256")


def test_a_tag_that_was_tampered_with() -> None:
    setup = UploadWorld()
    setup.uploaded(declaration())
    setup.store.tag_sets[BUCKET, KEY] = {"state": "confirmed"}
    refused(setup, declaration(), UploadTampered, "sha256")
    assert setup.store.tag_sets[BUCKET, KEY] == {"state": "confirmed"}


def test_another_tenants_upload() -> None:
    setup = UploadWorld()
    setup.uploaded(declaration())
    refused(setup, declaration(tenantId="t-2"), NotUploaded, "sha256")
    refused(setup, declaration(), ForeignTenant, "tenantId", tenant_id="t-2")
    with pytest.raises(ForeignTenant):
        setup.uploads().grant(declaration(), tenant_id="t-2")


@pytest.mark.parametrize("age, late", [(MARGIN, False), (0, False), (-1, True), (-MARGIN, True)])
def test_a_confirm_close_to_the_tag_rules_expiry_is_refused(age: int, late: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """``age`` is what is left until an hour before the rule strikes."""
    setup = UploadWorld()
    setup.uploaded(declaration())
    setup.world.clock.advance(contract.UNCONFIRMED_SECONDS - MARGIN - age)
    if late:
        refused(setup, declaration(), UploadExpired, "sha256")
        assert setup.store.tag_sets[BUCKET, KEY] == {"state": "unconfirmed"}
    else:
        setup.uploads().confirm(declaration())
        assert claim_of(setup).key == KEY


def test_after_that_a_new_upload_has_a_key_of_its_own() -> None:
    """The old object is still there; it may take S3 a day to delete it."""
    setup = UploadWorld()
    setup.uploaded(declaration())
    setup.world.clock.advance(contract.UNCONFIRMED_SECONDS)
    refused(setup, declaration(), UploadExpired, "sha256")
    setup.uploaded(declaration())
    setup.world.clock.advance(3600)
    setup.store.expire_unconfirmed()
    assert setup.world.objects.keys(BUCKET) == [f"{KEY}.1"]
    setup.uploads().confirm(declaration())
    assert claim_of(setup).key == f"{KEY}.1"


def test_an_event_uploaded_too_often_is_refused() -> None:
    setup = UploadWorld()
    for _ in range(MAX_GENERATIONS):
        setup.uploaded(declaration())
        setup.world.clock.advance(contract.UNCONFIRMED_SECONDS)
    with pytest.raises(UploadExpired):
        setup.uploads().grant(declaration())


def test_a_publisher_never_relies_on_an_upload_that_may_be_unconfirmed() -> None:
    """Its pointer would outlive the object: the rule deletes that in a week."""
    setup = UploadWorld()
    setup.uploaded(declaration())
    event = Event(
        tenant_id=TENANT,
        event_type=EVENT_TYPE,
        payload=CONTENT,
        content_type="application/pdf",
        message_id="doc-789-v3",
    )
    setup.producer().publish(event)
    setup.world.clock.advance(contract.UNCONFIRMED_SECONDS + 1)
    setup.store.expire_unconfirmed()
    assert setup.world.objects.content(BUCKET, claim_of(setup).key) == CONTENT


# --- Bad declarations: a clear error, nothing written ---------------------------------------------------------------


@pytest.mark.parametrize(
    "changed, error, field",
    [
        *[({name: None}, EmptyField, name) for name in declaration()],
        *[({name: ""}, EmptyField, name) for name in declaration()],
        ({"sha256": "E3" * 32}, InvalidEvent, "sha256"),
        ({"sha256": "e3"}, InvalidEvent, "sha256"),
        ({"sha256": ["e3"]}, InvalidEvent, "sha256"),
        ({"contentLength": -1}, InvalidEvent, "contentLength"),
        ({"contentLength": "12"}, InvalidEvent, "contentLength"),
        ({"contentLength": True}, InvalidEvent, "contentLength"),
        ({"contentLength": 1.5}, InvalidEvent, "contentLength"),
        ({"contentLength": 5 * contract.GIB + 1}, EventTooLarge, "contentLength"),
        ({"tenantId": "../t"}, InvalidEvent, "tenant_id"),
        ({"tenantId": {"a": 1}}, InvalidEvent, "tenant_id"),
        ({"contentType": "x\r\ny: z"}, InvalidEvent, "content_type"),
        ({"messageId": 5}, InvalidEvent, "message_id"),
        ({"domainRef": [1]}, InvalidEvent, "domain_ref"),
        ({"occurredAt": "2026-07-06"}, InvalidEvent, "occurredAt"),
        ({"payload": "x"}, UnknownField, "'payload'"),
        ({"key": "payloads/x"}, UnknownField, "'key'"),
    ],
)
@pytest.mark.parametrize("step", ["grant", "confirm"])
def test_bad_declarations(step: str, changed: dict[str, Any], error: type[InvalidEvent], field: str) -> None:
    setup = UploadWorld()
    with pytest.raises(error) as caught:
        getattr(setup.uploads(), step)(declaration(**changed))
    assert caught.value.field == field
    assert setup.world.faults.calls == []


def test_the_largest_upload_is_5_gib_and_more_names_the_way_out() -> None:
    to_declaration(declaration(contentLength=5 * contract.GIB), max_bytes=MAX_PAYLOAD)
    with pytest.raises(EventTooLarge, match=r"5 GiB.*claim_check\.Producer, which uploads in parts"):
        to_declaration(declaration(contentLength=5 * contract.GIB + 1), max_bytes=MAX_PAYLOAD)
    with pytest.raises(EventTooLarge, match="largest payload of this pipeline"):
        to_declaration(declaration(contentLength=101), max_bytes=100)


@pytest.mark.parametrize("step", ["grant", "confirm"])
def test_what_the_queue_would_refuse_is_refused_before_anything_is_uploaded(step: str) -> None:
    setup = UploadWorld(fifo=True)
    with pytest.raises(EmptyField) as caught:
        getattr(setup.uploads(), step)(declaration())
    assert caught.value.field == "group_id"
    attributes = {f"a{n}": "x" * 250_000 for n in range(5)}
    with pytest.raises(MessageTooLarge):
        getattr(setup.uploads(), step)(declaration(groupId="g", attributes=attributes))
    assert setup.world.faults.calls == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@given(document=json_values | st.fixed_dictionaries(dict.fromkeys(declaration(), json_values)))
def test_no_json_at_all_is_more_than_a_refusal(document: object) -> None:
    with pytest.raises(InvalidEvent):
        to_declaration(document, max_bytes=MAX_PAYLOAD)


@given(field=st.sampled_from(sorted(declaration())), value=json_values)
def test_one_field_of_any_value_is_accepted_or_refused(field: str, value: object) -> None:
    setup = UploadWorld()
    status, answer = setup.grant({**declaration(), field: value})
    assert status in {201, 400, 413}, answer


# --- Trouble outside ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["head", "tags", "replace_tags", "send_batch"])
def test_trouble_outside_is_told_and_a_repetition_succeeds(call: str) -> None:
    setup = UploadWorld()
    setup.uploaded(declaration())
    setup.world.faults.fail(call, Unavailable("throttled"), times=9 if call == "send_batch" else 1)
    status, problem = setup.confirm(declaration())
    assert (status, problem["status"]) == (503, 503)
    setup.world.faults.clear()
    assert setup.confirm(declaration())[0] == 200


def test_refusals_of_uploads_are_refusals_of_events() -> None:
    assert issubclass(UploadRefused, InvalidEvent)
