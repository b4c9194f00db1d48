"""What every adapter of the reconciliation does: single payloads, checkpoints, outbox rows (R7.1)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from claim_check.adapters.clock import SystemClock
from claim_check.adapters.outbox_items import to_item
from claim_check.adapters.reconciled_outbox import DynamoDbOutboxRows
from claim_check.adapters.reconciliation import DynamoDbCheckpoints, S3Payloads
from claim_check.adapters.session import SDK_ATTEMPTS, Clients
from claim_check.contract import OUTBOX_OPEN_INDEX, OutboxAttribute, OutboxState
from claim_check.errors import AccessDenied, ReadRefused
from claim_check.outbox.rows import OutboxRow
from claim_check.reconciliation.ports import Checkpoint, Checkpoints, OutboxRows, Payloads
from tests.fakes.payloads import FakePayloads
from tests.fakes.reconciliation import FakeCheckpoints, FakeOutboxRows
from tests.reconciliation_world import UNCONFIRMED, World

SIDES = ["fake", pytest.param("aws", marks=pytest.mark.integration)]
NOW = 1_783_332_930.25


@dataclass
class Bucket:
    """Payloads, and how they come there."""

    payloads: Payloads
    name: str
    put: Callable[..., object]
    delete: Callable[[str], object]

    def look(self, key: str, version_id: str | None = None) -> Any:  # noqa: ANN401 - a look, or None
        """Look at one."""
        return self.payloads.look(bucket=self.name, key=key, version_id=version_id)

    def remove(self, key: str, **seen: Any) -> str:  # noqa: ANN401 - fields of a look
        """Remove one as it is now, but for these."""
        return self.payloads.remove(bucket=self.name, key=key, seen=replace(self.look(key), **seen))


def bucket_of(side: str, request: pytest.FixtureRequest, *, versioned: bool) -> Bucket:
    name = f"payloads-{uuid.uuid4()}"
    if side == "fake":
        fake = FakePayloads(versioned=versioned)

        def put_fake(
            key: str, body: bytes = b"x", *, tags: Mapping[str, str] | None = None, kept: bool = False
        ) -> None:
            fake.put(key, at=NOW, uploaded=tags is not None, tags=tags, kept=kept, etag=body.hex())

        return Bucket(fake, name, put_fake, fake.objects.pop)
    s3 = request.getfixturevalue("clients").s3
    s3.create_bucket(Bucket=name, ObjectLockEnabledForBucket=versioned)

    def put(key: str, body: bytes = b"x", *, tags: Mapping[str, str] | None = None, kept: bool = False) -> None:
        metadata = {"upload": "direct"} if tags is not None else {"staged": "outbox"} if kept else {}
        tagging = "&".join(f"{tag}={value}" for tag, value in (tags or {}).items())
        s3.put_object(Bucket=name, Key=key, Body=body, Metadata=metadata, Tagging=tagging)

    once = request.getfixturevalue("clients").s3_once
    return Bucket(S3Payloads(s3, once=once), name, put, lambda key: s3.delete_object(Bucket=name, Key=key))


@pytest.fixture(params=SIDES)
def bucket(request: pytest.FixtureRequest) -> Bucket:
    """A plain bucket."""
    return bucket_of(request.param, request, versioned=False)


@pytest.fixture(params=SIDES)
def versioned(request: pytest.FixtureRequest) -> Bucket:
    """A versioned bucket, with Object Lock where it is real."""
    return bucket_of(request.param, request, versioned=True)


def test_what_is_not_there_is_none(bucket: Bucket) -> None:
    assert bucket.look("k") is None
    assert bucket.look("k", "no-such-version") is None
    assert bucket.payloads.tags(bucket=bucket.name, key="k", version_id=None) is None


def test_a_look_tells_whether_it_came_by_grant_and_its_tags_are_told(bucket: Bucket) -> None:
    bucket.put("plain")
    bucket.put("granted", tags=UNCONFIRMED)
    bucket.put("staged", kept=True)
    assert [bucket.look(key).kept for key in ("plain", "granted", "staged")] == [False, False, True]
    assert [bucket.look(key).uploaded for key in ("plain", "granted")] == [False, True]
    assert bucket.payloads.tags(bucket=bucket.name, key="granted", version_id=None) == UNCONFIRMED
    found = bucket.look("plain")
    assert (found.version_id, found.held) == (None, False)
    assert '"' not in found.etag
    assert found.last_modified.utcoffset() is not None


def test_what_was_looked_at_is_removed(bucket: Bucket) -> None:
    bucket.put("k")
    assert bucket.remove("k") == "removed"
    assert bucket.look("k") is None


def test_another_content_stays(bucket: Bucket) -> None:
    bucket.put("k")
    seen = bucket.look("k")
    bucket.put("k", b"other")
    assert bucket.payloads.remove(bucket=bucket.name, key="k", seen=seen) == "changed"
    assert bucket.look("k") is not None


def test_what_is_gone_is_no_removal(bucket: Bucket) -> None:
    bucket.put("k")
    seen = bucket.look("k")
    bucket.delete("k")
    assert bucket.payloads.remove(bucket=bucket.name, key="k", seen=seen) == "changed"


def test_exactly_the_version_that_was_looked_at_is_removed(versioned: Bucket) -> None:
    versioned.put("k")
    seen = versioned.look("k")
    assert seen.version_id
    versioned.put("k")  # the same content: its entity tag is the same, too
    assert versioned.payloads.remove(bucket=versioned.name, key="k", seen=seen) == "removed"
    assert versioned.look("k", seen.version_id) is None
    assert versioned.look("k") is not None
    assert versioned.payloads.remove(bucket=versioned.name, key="k", seen=seen) == "removed"


@pytest.mark.integration
@pytest.mark.parametrize("kind", ["hold", "retention"])
def test_a_held_object_is_told_and_kept(clients: Clients, request: pytest.FixtureRequest, kind: str) -> None:
    bucket = bucket_of("aws", request, versioned=True)
    bucket.put("k")
    until = datetime.now(UTC) + timedelta(days=1)
    if kind == "hold":
        clients.s3.put_object_legal_hold(Bucket=bucket.name, Key="k", LegalHold={"Status": "ON"})
    else:
        clients.s3.put_object_retention(
            Bucket=bucket.name, Key="k", Retention={"Mode": "COMPLIANCE", "RetainUntilDate": until}
        )
    assert bucket.look("k").held
    assert bucket.remove("k") == "refused"
    assert bucket.look("k") is not None


@pytest.mark.integration
def test_removals_are_sent_once(clients: Clients) -> None:
    """A repetition could meet what was written anew."""
    for client, attempts in ((clients.s3_once, 1), (clients.s3, SDK_ATTEMPTS)):
        retries: Any = vars(client.meta.config)["_user_provided_options"]["retries"]
        assert retries["total_max_attempts"] == attempts


def test_a_refused_look_is_no_missing_object() -> None:
    fake = FakePayloads(denied=True)
    with pytest.raises(AccessDenied):
        fake.look(bucket="b", key="k")


# --- Checkpoints ------------------------------------------------------------------------------------------------------


@pytest.fixture(params=SIDES)
def checkpoints(request: pytest.FixtureRequest) -> Checkpoints:
    """A table of checkpoints."""
    if request.param == "fake":
        return FakeCheckpoints()
    dynamodb = request.getfixturevalue("clients").dynamodb
    table = f"reconciler-{uuid.uuid4()}"
    dynamodb.create_table(
        TableName=table,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    )
    return DynamoDbCheckpoints(dynamodb, table)


def test_a_checkpoint_is_kept_by_who_has_the_lease(checkpoints: Checkpoints) -> None:
    assert checkpoints.take("n", owner="a", now=NOW, until=NOW + 10) == Checkpoint(name="n", state="")
    assert checkpoints.save(Checkpoint(name="n", state='{"x":1}'), owner="a", until=NOW + 20)
    assert checkpoints.take("n", owner="b", now=NOW + 19, until=NOW + 30) is None
    assert checkpoints.take("n", owner="b", now=NOW + 20, until=NOW + 30) == Checkpoint(name="n", state='{"x":1}')
    assert not checkpoints.save(Checkpoint(name="n", state="late"), owner="a", until=NOW + 40)
    assert checkpoints.save(Checkpoint(name="n", state="b's"), owner="b", until=0)
    assert checkpoints.take("n", owner="c", now=NOW + 21, until=NOW + 30) == Checkpoint(name="n", state="b's")


def test_taking_it_again_is_no_obstacle_if_an_answer_was_lost(checkpoints: Checkpoints) -> None:
    for _ in range(2):
        assert checkpoints.take("n", owner="a", now=NOW, until=NOW + 10) is not None


def test_checkpoints_do_not_meet(checkpoints: Checkpoints) -> None:
    assert checkpoints.take("n", owner="a", now=NOW, until=NOW + 10) is not None
    assert checkpoints.take("m", owner="b", now=NOW, until=NOW + 10) == Checkpoint(name="m", state="")


@pytest.mark.integration
def test_a_table_that_is_not_there_is_refused(clients: Clients) -> None:
    with pytest.raises(ReadRefused):
        DynamoDbCheckpoints(clients.dynamodb, "nobody").take("n", owner="a", now=NOW, until=NOW)


# --- Outbox rows ------------------------------------------------------------------------------------------------------


@dataclass
class Outbox:
    """Rows, and how they come there."""

    rows: OutboxRows
    put: Callable[[OutboxRow], object]

    def read(self, row: OutboxRow) -> OutboxRow | None:
        """As it is now."""
        return self.rows.rows([row.key]).get(row.key)


@pytest.fixture(params=SIDES)
def outbox(request: pytest.FixtureRequest) -> Outbox:
    """An outbox."""
    if request.param == "fake":
        by_key: dict[str, OutboxRow] = {}
        return Outbox(FakeOutboxRows(by_key), lambda row: by_key.update({row.key: row}))
    dynamodb = request.getfixturevalue("clients").dynamodb
    table = f"outbox-{uuid.uuid4()}"
    names = (OutboxAttribute.KEY, OutboxAttribute.OPEN_SHARD, OutboxAttribute.OPEN_SINCE)
    dynamodb.create_table(
        TableName=table,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
        KeySchema=[{"AttributeName": OutboxAttribute.KEY, "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": OUTBOX_OPEN_INDEX,
                "KeySchema": [
                    {"AttributeName": OutboxAttribute.OPEN_SHARD, "KeyType": "HASH"},
                    {"AttributeName": OutboxAttribute.OPEN_SINCE, "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    rows = DynamoDbOutboxRows(dynamodb, table, sleep=SystemClock().sleep)
    return Outbox(rows, lambda row: dynamodb.put_item(TableName=table, Item=to_item(row)))


def row_of(state: OutboxState, **fields: Any) -> OutboxRow:  # noqa: ANN401 - of the row
    """A row of an event of its own."""
    return replace(World().staged(uuid.uuid4().hex, state), body="{}", **fields)


def test_a_parked_row_is_set_aside_for_good(outbox: Outbox) -> None:
    row = row_of("PARKED", updated_at=NOW)
    outbox.put(row)
    assert row in list(outbox.rows.open_rows("PARKED"))
    assert outbox.rows.discard(row, now=NOW + 1)
    found = outbox.read(row)
    assert found is not None
    assert replace(found, ttl=0) == replace(row, state="DISCARDED", body=None, updated_at=NOW + 1)
    assert list(outbox.rows.open_rows("PARKED")) == []
    assert outbox.rows.discard(row, now=NOW + 2)  # the first answer may have been lost


@pytest.mark.parametrize("state", ["PENDING", "SENT"])
def test_a_row_that_is_or_may_be_sent_is_not(outbox: Outbox, state: OutboxState) -> None:
    row = row_of("PARKED", updated_at=NOW)
    outbox.put(replace(row, state=state))
    assert not outbox.rows.discard(row, now=NOW + 1)
    found = outbox.read(row)
    assert found is not None
    assert found.state == state


def test_a_row_that_was_parked_anew_is_not(outbox: Outbox) -> None:
    row = row_of("PARKED", updated_at=NOW)
    outbox.put(replace(row, updated_at=NOW + 1))
    assert not outbox.rows.discard(row, now=NOW + 2)


def test_a_row_that_is_gone_is_not(outbox: Outbox) -> None:
    row = row_of("PARKED")
    assert not outbox.rows.discard(row, now=NOW)
    assert outbox.read(row) is None
