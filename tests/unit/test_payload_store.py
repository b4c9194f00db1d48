"""R2.2, R2.3: deterministic keys, conditional writes, what 412 and 409 mean."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from claim_check import contract
from claim_check.envelope import Claim
from claim_check.errors import AccessDenied, MissingPayload, PayloadConflict, PublishError, Unavailable
from claim_check.payload_source import PayloadSource
from claim_check.payload_store import MAX_GENERATIONS, PayloadStore, header_text
from claim_check.ports import WriteConflict
from tests.fakes.clock import FakeClock
from tests.fakes.object_store import FakeObjectStore

BUCKET = "bucket"
BEFORE_SEND = 3600.0
CONTENT = b"%PDF-1.7"


class Setup:
    """A payload store on a fake."""

    def __init__(self, *, versioned: bool = False) -> None:
        """Start empty."""
        self.clock = FakeClock()
        self.objects = FakeObjectStore(self.clock, versioned=versioned)
        self.store = PayloadStore(
            self.objects, bucket=BUCKET, before_send_seconds=BEFORE_SEND, clock=self.clock, random=lambda: 0.5
        )
        self.calls = self.objects.faults.calls

    def put(self, content: bytes = CONTENT, **fields: Any) -> Claim:  # noqa: ANN401 - arguments of `put`
        """Put one payload."""
        identity: dict[str, Any] = {
            "tenant_id": "t-1",
            "event_type": "DocumentUploaded",
            "idempotency_key": "document-uploaded:doc-789:v3",
            "message_id": "m-1",
            "content_type": "application/pdf",
        }
        source = PayloadSource(len(content), hashlib.sha256(content).hexdigest(), content=content)
        return self.store.put(source, **(identity | fields))


@pytest.fixture
def setup() -> Setup:
    """An empty store."""
    return Setup()


def test_a_put_is_one_request_and_carries_type_and_metadata(setup: Setup) -> None:
    claim = setup.put()
    assert setup.calls == ["put_if_absent"]
    assert claim.key == contract.object_key(
        tenant_id="t-1",
        event_type="DocumentUploaded",
        idempotency_key="document-uploaded:doc-789:v3",
        sha256=hashlib.sha256(CONTENT).hexdigest(),
    )
    info = setup.objects.objects[BUCKET, claim.key][0]
    assert info is not None
    assert info.info.content_type == "application/pdf"
    assert info.info.metadata == {"tenant-id": "t-1", "event-id": "m-1", "sha256": claim.sha256}
    assert (claim.content_length, claim.version_id) == (len(CONTENT), None)


def test_no_file_name_or_identity_shows_in_the_key(setup: Setup) -> None:
    claim = setup.put(idempotency_key="passport of Ms. Müller.pdf", message_id="Müller")
    parts = contract.parse_object_key(claim.key)
    assert parts is not None
    assert "ller" not in claim.key
    assert claim.key.isascii()


def test_the_same_event_again_finds_its_object(setup: Setup) -> None:
    assert setup.put() == setup.put()
    assert setup.calls == ["put_if_absent", "put_if_absent", "head"]
    assert len(setup.objects.keys(BUCKET)) == 1


def test_the_same_bytes_of_two_events_are_two_objects(setup: Setup) -> None:
    assert setup.put().key != setup.put(idempotency_key="other").key


def test_versions_are_claimed_and_found_again() -> None:
    setup = Setup(versioned=True)
    assert setup.put().version_id == "v1"
    assert setup.put().version_id == "v1"


def test_an_object_exactly_before_send_old_is_used(setup: Setup) -> None:
    first = setup.put()
    setup.clock.advance(BEFORE_SEND)
    assert setup.put() == first


def test_a_late_retry_never_points_at_a_dying_object(setup: Setup) -> None:
    first = setup.put()
    setup.clock.advance(BEFORE_SEND + 1)
    second = setup.put()
    assert second.key == first.key + ".1"
    assert setup.put() == second
    setup.clock.advance(BEFORE_SEND + 1)
    assert setup.put().key == first.key + ".2"
    assert all(contract.parse_object_key(key) for key in setup.objects.keys(BUCKET))


def test_generations_end(setup: Setup) -> None:
    for _ in range(MAX_GENERATIONS):
        setup.put()
        setup.clock.advance(BEFORE_SEND + 1)
    with pytest.raises(PublishError, match="idempotency key"):
        setup.put()


@pytest.mark.parametrize("other", [b"another", b"%PDF-1.6"])
def test_other_content_at_the_key_is_a_clear_error(setup: Setup, other: bytes) -> None:
    claim = setup.put()
    setup.objects.tamper(BUCKET, claim.key, other)
    with pytest.raises(PayloadConflict) as caught:
        setup.put()
    assert claim.key not in str(caught.value)


# FIELD: floci-io/floci#3083
def test_a_composite_checksum_is_never_compared_with_ours(setup: Setup) -> None:
    claim = setup.put()
    found = setup.objects.objects[BUCKET, claim.key]
    assert found[0] is not None
    object.__setattr__(found[0].info, "sha256", None)  # what the adapter makes of a multipart object's
    assert setup.put() == claim
    object.__setattr__(found[0].info, "metadata", {})
    with pytest.raises(PayloadConflict):
        setup.put()


# FIELD: apache/james-project#3152
def test_409_is_retried_with_backoff(setup: Setup) -> None:
    setup.objects.faults.fail("put_if_absent", WriteConflict(), times=2)
    setup.put()
    assert setup.calls == ["put_if_absent"] * 3
    assert setup.clock.sleeps == pytest.approx([0.15, 0.3])


def test_409_to_the_end_looks_at_the_object_once(setup: Setup) -> None:
    setup.objects.faults.fail("put_if_absent", WriteConflict(), times=99)
    with pytest.raises(PublishError, match="conflict"):
        setup.put()
    assert setup.calls == ["put_if_absent"] * 4 + ["head"]


def test_409_since_another_attempt_wrote_it_is_success(setup: Setup) -> None:
    claim = setup.put()
    setup.calls.clear()
    setup.objects.faults.fail("put_if_absent", WriteConflict(), times=99)
    assert setup.put() == claim
    assert setup.calls[-1] == "head"


def test_a_lost_answer_is_found_again(setup: Setup) -> None:
    setup.objects.faults.fail("put_if_absent", Unavailable("no answer"), when="after")
    claim = setup.put()
    assert setup.calls == ["put_if_absent", "put_if_absent", "head"]
    assert setup.objects.content(BUCKET, claim.key) == CONTENT


def test_all_answers_lost_is_found_by_the_last_look(setup: Setup) -> None:
    setup.put()
    setup.calls.clear()
    setup.objects.faults.fail("put_if_absent", Unavailable("no answer"), times=99)
    setup.put()
    assert setup.calls == ["put_if_absent"] * 4 + ["head"]


def test_an_outage_is_bounded(setup: Setup) -> None:
    setup.objects.faults.fail("put_if_absent", Unavailable("S3 did not take the payload (SlowDown)"), times=99)
    with pytest.raises(PublishError, match="SlowDown"):
        setup.put()
    assert len(setup.clock.sleeps) == 3


def test_a_refusal_is_not_retried(setup: Setup) -> None:
    setup.objects.faults.fail("put_if_absent", PublishError("S3 refused the payload: AccessDenied"), times=99)
    with pytest.raises(PublishError, match="AccessDenied"):
        setup.put()
    assert setup.calls == ["put_if_absent"]


@pytest.mark.parametrize("error", [AccessDenied("S3 refused"), Unavailable("no answer")])
def test_a_look_that_fails_says_what_is_needed(setup: Setup, error: Exception) -> None:
    setup.put()
    setup.objects.faults.fail("head", error)
    with pytest.raises(PublishError, match="s3:GetObject"):
        setup.put()


def test_an_object_that_came_and_went_is_written_anew(setup: Setup) -> None:
    claim = setup.put()
    setup.objects.faults.on("head", lambda: setup.objects.delete(BUCKET, claim.key))
    assert setup.put() == claim
    assert setup.objects.content(BUCKET, claim.key) == CONTENT


def test_open_reads_what_was_put(setup: Setup) -> None:
    claim = setup.put()
    setup.calls.clear()
    assert setup.store.open(claim).body.read(100) == CONTENT
    assert setup.calls == ["open", "read"]
    setup.objects.delete(BUCKET, claim.key)
    with pytest.raises(MissingPayload):
        setup.store.open(claim)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=128))
@example("%41")
def test_any_message_id_fits_into_a_header(text: str) -> None:
    encoded = header_text(text)
    assert encoded.isascii()
    assert encoded == "" or encoded.isprintable()
    assert " " not in encoded
    from urllib.parse import unquote  # noqa: PLC0415 - the oracle

    assert unquote(encoded) == text
