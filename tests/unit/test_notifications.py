"""Every form and kind of S3's notifications, from recorded samples; keys in round trips (R10.1)."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check.errors import InvalidNotification
from claim_check.ingest.changes import Action, ObjectEvent, ObjectKey, OtherEvent, Seen
from claim_check.ingest.notifications import SYNTHETIC, parse, synthetic
from tests.fakes.ingest import FakeBucket
from tests.ingest_world import IngestWorld

SAMPLES = Path(__file__).with_name("notifications")
AT = 1_783_332_930.123
ETAG = "d41d8cd98f00b204e9800998ecf8427e"
SEQUENCER = "0055AED6DCD90281E5"

ACTIONS: dict[str, Action | None] = {
    "s3_put": "put",
    "s3_put_versioned": "put",
    "s3_put_empty": "put",
    "s3_post": "put",
    "s3_copy": "put",
    "s3_multipart_completion": "put",
    "s3_encoded_key": "put",
    "s3_delete": "delete",
    "s3_delete_marker_created": "delete",
    "s3_version_deleted": "look",
    "s3_lifecycle_expiration": "delete",
    "s3_lifecycle_expiration_of_a_version": "look",
    "s3_lifecycle_delete_marker": "delete",
    "s3_restore_started": None,
    "s3_restore_completed": "look",
    "s3_restore_expired": None,
    "s3_transition": None,
    "s3_tagging": None,
    "s3_acl": None,
    "s3_replication": None,
    "s3_reduced_redundancy_lost": None,
    "s3_intelligent_tiering": None,
    "s3_without_sequencer": "delete",
    "s3_test_event": None,
    "sns_test_event": None,
    "sns_put": "put",
    "sns_raw_put": "put",
    "minio_put": "put",
    "eventbridge_created": "put",
    "eventbridge_copied": "put",
    "eventbridge_deleted": "delete",
    "eventbridge_delete_marker": "delete",
    "eventbridge_version_deleted": "look",
    "eventbridge_expired": "delete",
    "eventbridge_restore_completed": "look",
    "eventbridge_restore_started": None,
    "eventbridge_storage_class": None,
    "eventbridge_tags": None,
}
"""What each sample with one record means; None is a known event that changes no object's content."""

APART = {"s3_several_records", "s3_unknown_kind", "eventbridge_unknown_kind"}


def sample(name: str) -> str:
    """The body of a sample message."""
    return (SAMPLES / f"{name}.json").read_text(encoding="utf-8")


def event_of(name: str) -> ObjectEvent:
    """The one event of a sample."""
    (event,) = parse(sample(name))
    assert isinstance(event, ObjectEvent)
    return event


def record_of(name: str, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of the object
    """The record of a sample, with other fields of its object; None removes one."""
    record: dict[str, Any] = json.loads(sample(name))["Records"][0]
    fields = record["s3"]["object"] | changes
    record["s3"]["object"] = {key: value for key, value in fields.items() if value is not None}
    return record


def read_one(record: object) -> Any:  # noqa: ANN401 - whatever it is
    """What one record is read as."""
    (parsed,) = parse(json.dumps({"Records": [record]}))
    return parsed


def test_every_sample_is_judged() -> None:
    assert {path.stem for path in SAMPLES.glob("*.json")} == ACTIONS.keys() | APART


@pytest.mark.parametrize("name", ACTIONS)
def test_each_kind_of_event_means_what_it_does_to_the_object(name: str) -> None:
    """R10.1: what a kind does.

    A delete marker is a delete (aws-solutions-library-samples/data-lakes-on-aws#24). Removing one version, or a delete
    marker, may make an older version current (awsdocs/amazon-s3-userguide#44), so only a look at the bucket tells.
    """
    (parsed,) = parse(sample(name))
    if ACTIONS[name] is None:
        assert isinstance(parsed, OtherEvent)
        assert parsed.known
    else:
        assert isinstance(parsed, ObjectEvent)
        assert parsed.action == ACTIONS[name]
        assert parsed.bucket == "ingest"


@pytest.mark.parametrize("name", ["s3_unknown_kind", "eventbridge_unknown_kind"])
def test_an_unknown_kind_is_told_apart_whatever_else_it_holds(name: str) -> None:
    (parsed,) = parse(sample(name))
    assert isinstance(parsed, OtherEvent)
    assert not parsed.known


def test_a_notification_is_read_whole() -> None:
    assert event_of("s3_put_versioned") == ObjectEvent(
        bucket="ingest",
        key=ObjectKey("a.txt"),
        action="put",
        kind="ObjectCreated:Put",
        sequencer=SEQUENCER,
        version_id="096fKKXTRTtl3on89fVO.nfljtsv6qko",
        etag=ETAG,
        size=1024,
        occurred_at=AT,
    )


def test_the_form_of_event_bridge_has_names_of_its_own_and_its_key_is_as_it_is() -> None:
    """localstack/localstack#11453: the version is `version-id`; its key is not encoded, so nothing is decoded."""
    assert event_of("eventbridge_created") == ObjectEvent(
        bucket="ingest",
        key=ObjectKey("a+b%20c é.txt"),
        action="put",
        kind="Object Created:PutObject",
        sequencer=SEQUENCER,
        version_id="IYV3p45BT0ac8hjHg1houSdS1a.Mro8e",
        etag="b1946ac92492d2347c6235b4d2611184",
        size=5,
        occurred_at=int(AT),
    )


def test_several_records_are_read_in_order() -> None:
    first, second = parse(sample("s3_several_records"))
    assert isinstance(first, ObjectEvent)
    assert isinstance(second, ObjectEvent)
    assert [first.action, second.action] == ["put", "delete"]
    assert [first.key.text, second.key.text] == ["a.txt", "b.txt"]


def test_delete_events_have_neither_size_nor_tag_and_zero_is_a_size() -> None:
    """aws-powertools/powertools-lambda-python#4156, #1637, #5129, #372: 0 and absent are two things."""
    assert event_of("s3_put_empty").size == 0
    assert (event_of("s3_delete").size, event_of("s3_delete").etag) == (None, None)
    assert event_of("eventbridge_copied").size == 0


def test_a_missing_sequencer_is_none() -> None:
    """aws/aws-sdk-net#1119: some SDK types do not even have the field."""
    assert event_of("s3_without_sequencer").sequencer is None


@pytest.mark.parametrize("name", ["s3_test_event", "sns_test_event"])
def test_the_test_event_is_recognised_exactly_in_sns_too(name: str) -> None:
    """It has no Records, and must not kill its batch.

    quiltdata/quilt#5162, redpanda-data/connect#4667, open-telemetry/opentelemetry-collector-contrib#47045,
    opensearch-project/data-prepper#1924, elastic/elastic-serverless-forwarder#308, fredliporace/cbers-2-stac#45.
    """
    assert parse(sample(name)) == [OtherEvent("s3:TestEvent", known=True)]


@pytest.mark.parametrize(
    "body",
    [
        '{"Event":"s3:TestEvent"}',
        '{"Service":"Amazon S3","Event":"s3:OtherEvent"}',
        '{"Service":"Amazon S3","Event":"s3:TestEvent","Records":[]}',
    ],
)
def test_what_only_looks_like_a_test_event_is_none(body: str) -> None:
    with pytest.raises(InvalidNotification):
        parse(body)


# --- Keys -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "encoded, key",
    [
        ("a+b%2Bc%2520%C3%A9/%C3%BC.txt", "a b+c%20é/ü.txt"),
        ("a%25", "a%"),
        ("%2Fleading", "/leading"),
        ("/leading", "/leading"),
        ("in%2Fa+b.txt", "in/a b.txt"),
        ("%F0%9F%98%80.txt", "😀.txt"),
        ("a%2525", "a%25"),
        ("folder/", "folder/"),
        ("plain é.txt", "plain é.txt"),
        ("..%2F..%2Fetc", "../../etc"),
    ],
)
def test_a_key_is_decoded_exactly_once(encoded: str, key: str) -> None:
    """Never twice; MinIO encodes the slash, too (minio/minio#11665).

    aws/aws-sdk-js#837, aws/aws-sdk-net#640, #1417, aws/aws-lambda-go#82, airbnb/binaryalert#54, aws/aws-sam-cli#379,
    getmoto/moto#9060.
    """
    assert read_one(record_of("s3_put", key=encoded)).key.text == key


KEYS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200).filter(lambda text: text.encode())


@given(KEYS, st.sampled_from(["/", "", "/!*'()"]))
def test_every_key_survives_the_round_trip(key: str, safe: str) -> None:
    """suitenumerique/meet#1455: a key is decoded at the edge only, and has a type of its own after it."""
    assert read_one(record_of("s3_put", key=quote_plus(key, safe=safe))).key == ObjectKey(key)
    assert read_one(record_of("s3_put", key=quote(key, safe=safe))).key == ObjectKey(key)


@given(KEYS)
def test_every_key_survives_event_bridge_and_our_own_form(key: str) -> None:
    document = json.loads(sample("eventbridge_created"))
    document["detail"]["object"]["key"] = key
    for body in (json.dumps(document), synthetic(bucket="ingest", key=key, seen=Seen(None, None))):
        (event,) = parse(body)
        assert isinstance(event, ObjectEvent)
        assert event.key == ObjectKey(key)


@given(KEYS)
def test_the_events_of_the_fake_bucket_are_read_as_they_were_written(key: str) -> None:
    world = IngestWorld()
    bucket: FakeBucket = world.bucket
    event = read_one(bucket.put(key, b"content"))
    assert (event.key.text, event.state.etag) == (key, bucket.current(key).etag)  # type: ignore[union-attr]


def test_a_keys_text_shows_in_no_repr() -> None:
    """R11.4."""
    event = event_of("s3_put")
    assert "a.txt" not in f"{event!r} {event.key} {event.key!r}"
    assert len(event.key.hash) == 16


@pytest.mark.parametrize("encoded", ["a" * 1025, "%C3%A9" * 513, "%FF", "%ED%A0%80", "", None, 7])
def test_what_can_be_no_key_is_malformed(encoded: object) -> None:
    parsed = read_one(record_of("s3_put", key=encoded))
    assert isinstance(parsed, InvalidNotification)
    assert "object.key" in str(parsed)


def test_the_longest_key_is_a_key() -> None:
    assert read_one(record_of("s3_put", key="%C3%A9" * 512)).key.text == "é" * 512


# --- Fields that are not as expected --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, value, field",
    [
        ("size", -1, "size"),
        ("size", True, "size"),
        ("size", "5", "size"),
        ("eTag", "", "etag"),
        ("eTag", 5, "etag"),
        ("sequencer", "not hex", "sequencer"),
        ("sequencer", "", "sequencer"),
        ("sequencer", 12, "sequencer"),
        ("versionId", "null", "version_id"),
        ("versionId", "", "version_id"),
    ],
)
def test_an_optional_field_that_says_nothing_is_absent(name: str, value: object, field: str) -> None:
    assert getattr(read_one(record_of("s3_put", **{name: value})), field) is None


def test_quotes_and_small_letters_do_not_matter() -> None:
    event = read_one(record_of("s3_put", eTag=f'"{ETAG}"', sequencer="0055aed6dcd90281e5"))
    assert (event.etag, event.sequencer) == (ETAG, SEQUENCER)


def test_the_removal_of_the_null_version_is_that_of_a_version() -> None:
    assert read_one(record_of("s3_delete", versionId="null")).action == "look"


@pytest.mark.parametrize("time", [None, 5, "yesterday", ""])
def test_a_time_that_cannot_be_read_is_unknown(time: object) -> None:
    assert read_one(record_of("s3_put") | {"eventTime": time}).occurred_at is None


def test_a_time_without_a_zone_is_utc() -> None:
    assert read_one(record_of("s3_put") | {"eventTime": "2026-07-06T10:15:30.123"}).occurred_at == AT


@pytest.mark.parametrize(
    "body",
    [
        "",
        "text",
        "[]",
        "5",
        "null",
        "{}",
        '{"Records":{}}',
        '{"Records":[]}',
        '{"Records":null}',
        '{"Type":"Notification","Message":"text"}',
        '{"Type":"Notification","Message":"[]"}',
        '{"Type":"SubscriptionConfirmation","Message":"You have chosen"}',
        '{"source":"aws.ec2","detail-type":"Object Created","detail":{}}',
        '{"source":"aws.s3"}',
        '{"v":1,"messageId":"m"}',
        "[" * 100_000,
    ],
)
def test_what_is_no_notification_is_malformed(body: str) -> None:
    with pytest.raises(InvalidNotification):
        parse(body)


@pytest.mark.parametrize(
    "record",
    [
        None,
        5,
        [],
        {},
        {"eventName": 5},
        {"eventName": "ObjectCreated:Put"},
        {"eventName": "ObjectCreated:Put", "s3": {"object": {"key": "a"}}},
        {"eventName": "ObjectCreated:Put", "s3": {"bucket": {"name": "ingest"}}},
        {"eventName": "ObjectCreated:Put", "s3": {"bucket": {"name": ""}, "object": {"key": "a"}}},
        {"eventName": "ObjectRemoved:Delete", "s3": {"bucket": [], "object": {"key": "a"}}},
    ],
)
def test_a_malformed_record_does_not_spoil_its_neighbours(record: object) -> None:
    bad, good = parse(json.dumps({"Records": [record, record_of("s3_put")]}))
    assert isinstance(bad, InvalidNotification)
    assert isinstance(good, ObjectEvent)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(
                ["Records", "s3", "object", "bucket", "key", "name", "eventName", "Message", "Type", "detail"]
            )
            | st.text(),
            inner,
        )
    ),
)


@given(JSON)
def test_no_document_is_more_than_malformed(document: object) -> None:
    with contextlib.suppress(InvalidNotification):
        parse(json.dumps(document))


# --- Our own events -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seen", [Seen(ETAG, "revision"), Seen(None, "revision"), Seen(ETAG, None)], ids=str)
def test_a_synthetic_event_says_what_was_seen(seen: Seen) -> None:
    body = synthetic(bucket="ingest", key="a \ufffe\x01é", seen=seen)
    assert body.isascii()
    assert parse(body) == [
        ObjectEvent(bucket="ingest", key=ObjectKey("a \ufffe\x01é"), action="look", kind=SYNTHETIC, seen=seen)
    ]


@pytest.mark.parametrize(
    "body",
    [
        '{"claimCheckIngest":2,"bucket":"b","key":"k"}',
        '{"claimCheckIngest":1,"bucket":"b"}',
        '{"claimCheckIngest":1,"bucket":"b","key":"k","seenEtag":5}',
    ],
)
def test_a_synthetic_event_of_another_shape_is_malformed(body: str) -> None:
    (parsed,) = parse(body)
    assert isinstance(parsed, InvalidNotification)
