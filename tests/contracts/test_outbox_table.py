"""What every `OutboxTable` does: leases, fenced writes, heads of groups; and transactions that commit rows (R3.1)."""

from __future__ import annotations

import itertools
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Protocol

import pytest

from claim_check import contract
from claim_check.adapters.outbox import DynamoDbOutbox, DynamoDbTransactions
from claim_check.adapters.outbox_items import to_group
from claim_check.adapters.session import Clients
from claim_check.contract import OutboxAttribute
from claim_check.deadline import Deadline
from claim_check.errors import CommitFailed, OutboxFull, ReadRefused, Unavailable
from claim_check.outbox.items import plain_item
from claim_check.outbox.parked import ParkedRows
from claim_check.outbox.ports import Group, OutboxTable, Transactions
from claim_check.outbox.rows import OutboxRow
from claim_check.ports import MessageAttribute
from claim_check.transaction import Condition, Table, Transaction
from tests.fakes.clock import FakeClock
from tests.fakes.object_store import FakeObjectStore
from tests.fakes.outbox_table import OUTBOX, FakeOutboxTable

NOW = 1_783_332_930.25
UNTIL = NOW + 60.5
ABSENT = Condition(expression="attribute_not_exists(pk)")


class Both(OutboxTable, Transactions, Protocol):
    """A table, and the transactions that write to it."""


@dataclass
class Case:
    """A table, and a look behind its back.

    Attributes:
        table: The table.
        transactions: Commits.
        name: Its name.
        group: Reads a group's item.
        inserted: Keys of what was inserted, as the stream tells, in order per item.
    """

    table: OutboxTable
    transactions: Transactions
    name: str
    group: Callable[[str], Group | None]
    inserted: Callable[[], list[str]]

    def stage(self, *rows: OutboxRow, most: int = 100) -> int | None:
        """Commit rows with their groups, as the outbox does."""
        tx, table = self.transaction(), Table(self.name, partition_key="pk")
        for row in rows:
            if row.group_key is not None:
                key = {"pk": row.group_key}
                tx.append(table, key, OutboxAttribute.PENDING, [row.place], most=most, remove=[OutboxAttribute.TTL])
            tx.put(table, plain_item(row), condition=ABSENT)
        return self.transactions.commit(tx.writes, token=uuid.uuid4().hex)

    @staticmethod
    def transaction() -> Transaction:
        """A transaction without an end."""
        return Transaction(Deadline(FakeClock(), 1e9))

    def row(self, key: str) -> OutboxRow | None:
        """A row as it is."""
        return self.table.rows([key]).get(key)


_numbers = itertools.count(1)


def row_of(group: str | None = None, **changes: Any) -> OutboxRow:  # noqa: ANN401 - fields of OutboxRow
    """A row with every field set, under a key of its own."""
    row = OutboxRow(
        key=f"invoices#t-1#{uuid.uuid4().hex}",
        state="PENDING",
        destination="invoices",
        tenant_id="t-1",
        event_type="OrderPlaced",
        message_id="m-1",
        correlation_id="c-1",
        fingerprint="f" * 64,
        body='{"v":1,"häll":"✓"}',
        attributes={
            "eventType": MessageAttribute(data_type="String", value="OrderPlaced"),
            "raw": MessageAttribute(data_type="Binary", value=b"\x00\xff"),
        },
        group_id=group,
        deduplication_id="d" * 64 if group else None,
        trace_header="Root=1-2-3",
        payload_bucket="bucket",
        payload_key="payloads/a",
        payload_version="v1",
        payload_bytes=5 * 2**40,
        staged_at=NOW - 0.125,
        updated_at=NOW,
    )
    return replace(row, **changes)


def group_name() -> str:
    """A group of its own."""
    return f"g-{next(_numbers)}-{uuid.uuid4().hex[:8]}"


@pytest.fixture(scope="module", params=["fake", pytest.param("dynamodb", marks=pytest.mark.integration)])
def case(request: pytest.FixtureRequest) -> Case:
    """Each side in turn."""
    if request.param == "fake":
        table = FakeOutboxTable()
        return Case(table, table, OUTBOX, table.groups.get, lambda: list(table.stream))
    adapter: Case = request.getfixturevalue("real")
    return adapter


@pytest.fixture(scope="module")
def real(clients: Clients) -> Case:
    """The adapter, on a table of its own."""
    client, name = clients.dynamodb, f"outbox-{uuid.uuid4()}"
    attributes = (OutboxAttribute.KEY, OutboxAttribute.OPEN_SHARD, OutboxAttribute.OPEN_SINCE)
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": OutboxAttribute.KEY, "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": attribute, "AttributeType": "S"} for attribute in attributes],
        GlobalSecondaryIndexes=[
            {
                "IndexName": contract.OUTBOX_OPEN_INDEX,
                "KeySchema": [
                    {"AttributeName": OutboxAttribute.OPEN_SHARD, "KeyType": "HASH"},
                    {"AttributeName": OutboxAttribute.OPEN_SINCE, "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
    )

    def group(key: str) -> Group | None:
        item = client.get_item(TableName=name, Key={"pk": {"S": key}}).get("Item")
        return to_group(item) if item else None

    def inserted() -> list[str]:
        return [
            one["dynamodb"]["Keys"]["pk"]["S"] for one in stream_records(clients, name) if one["eventName"] == "INSERT"
        ]

    return Case(DynamoDbOutbox(client, name, sleep=time.sleep), DynamoDbTransactions(client), name, group, inserted)


def stream_records(clients: Clients, table: str) -> Iterator[dict[str, Any]]:
    """Everything in a table's stream."""
    assert clients._session is not None
    streams = clients._session.client("dynamodbstreams", endpoint_url=clients.dynamodb.meta.endpoint_url)
    arn = clients.dynamodb.describe_table(TableName=table)["Table"]["LatestStreamArn"]
    for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
        iterator = streams.get_shard_iterator(
            StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        yield from streams.get_records(ShardIterator=iterator)["Records"]


# --- Transactions ---------------------------------------------------------------------------------------------------


def test_a_staged_row_reads_back_as_it_was(case: Case) -> None:
    row = row_of()
    assert case.stage(row) is None
    assert case.row(row.key) == row
    assert case.table.rows([row.key, "nothing#t-1#there"]) == {row.key: row}


def test_a_row_is_staged_once(case: Case) -> None:
    row = row_of()
    assert case.stage(row) is None
    assert case.stage(row_of(), replace(row, body="other")) == 1  # R3.1: nothing of it is committed
    assert case.row(row.key) == row


def test_the_same_request_again_is_one_request(case: Case) -> None:
    row, tx = row_of(), case.transaction()
    tx.put(Table(case.name, partition_key="pk"), plain_item(row), condition=ABSENT)
    assert [case.transactions.commit(tx.writes, token="a" * 36) for _ in range(2)] == [None, None]


def test_rows_of_a_group_are_named_in_the_order_of_their_commits(case: Case) -> None:
    group = group_name()
    rows = [row_of(group) for _ in range(5)]
    for row in (rows[:1], rows[1:4], rows[4:]):
        assert case.stage(*row) is None
    found = case.group(rows[0].group_key or "")
    assert found is not None
    assert found.pending == tuple(row.place for row in rows)


def test_a_group_that_is_full_refuses_the_whole_transaction(case: Case) -> None:
    group = group_name()
    rows = [row_of(group) for _ in range(3)]
    assert case.stage(*rows[:2], most=1) is None
    assert case.stage(rows[2], most=1) == 0
    assert case.row(rows[2].key) is None


def test_what_is_inserted_shows_in_the_stream(case: Case) -> None:
    row = row_of(group_name())
    case.stage(row)
    assert {row.key, row.group_key} <= set(case.inserted())


def test_writers_of_one_group_side_by_side_all_get_a_place(case: Case) -> None:
    rows = [row_of("crowded") for _ in range(24)]

    def stage(row: OutboxRow) -> None:
        for _ in range(200):
            try:
                assert case.stage(row) is None
            except Unavailable:
                continue
            return
        pytest.fail("never committed")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(stage, rows))
    found = case.group(rows[0].group_key or "")
    assert found is not None
    assert sorted(found.pending) == sorted(row.place for row in rows)


# --- Rows of standard queues ----------------------------------------------------------------------------------------


def test_one_relay_gets_a_row(case: Case) -> None:
    row = row_of()
    case.stage(row)
    ours = case.table.lease_row(row.key, owner="me", now=NOW, until=UNTIL)
    assert ours == replace(row, owner="me", lease_until=UNTIL)
    assert case.table.lease_row(row.key, owner="you", now=NOW, until=UNTIL) is None
    again = case.table.lease_row(row.key, owner="me", now=NOW, until=UNTIL)  # the reply was lost
    assert again == replace(row, owner="me", lease_until=UNTIL, left_by="me")
    assert case.table.lease_row(row.key, owner="you", now=UNTIL, until=UNTIL + 1) is not None


def test_a_row_that_a_dead_relay_had_says_so_and_so_does_one_of_doubtful_outcome(case: Case) -> None:
    row = row_of()
    case.stage(row)
    case.table.lease_row(row.key, owner="dead", now=NOW, until=UNTIL)
    taken = case.table.lease_row(row.key, owner="me", now=UNTIL, until=UNTIL + 60)
    assert taken == replace(row, owner="me", lease_until=UNTIL + 60, left_by="dead")
    parked = replace(row, state="PARKED", doubtful=True)
    assert case.table.settle_row(parked, owner="me")
    assert case.table.settle_row(parked, owner="me")  # the reply was lost
    assert case.table.rows([row.key])[row.key] == parked


@pytest.mark.parametrize("change", [{"state": "SENT"}, {"state": "PARKED"}, {"due_at": NOW + 0.5}], ids=str)
def test_a_row_that_is_not_to_be_sent_now_is_not_leased(case: Case, change: dict[str, Any]) -> None:
    row = row_of(**change)
    case.stage(row)
    assert case.table.lease_row(row.key, owner="me", now=NOW, until=UNTIL) is None


def test_no_row_no_lease(case: Case) -> None:
    assert case.table.lease_row("invoices#t-1#none", owner="me", now=NOW, until=UNTIL) is None
    assert case.table.lease_group("@invoices#none", owner="me", now=NOW, until=UNTIL) is None
    assert not case.table.settle_row(row_of(), owner=None)


def sent(row: OutboxRow) -> OutboxRow:
    """The row, sent."""
    return replace(row, state="SENT", body=None, attributes={}, owner=None, lease_until=0.0, ttl=99, sqs_message_id="s")


def test_who_lost_a_row_writes_nothing(case: Case) -> None:
    row = row_of()
    case.stage(row)
    case.table.lease_row(row.key, owner="me", now=NOW, until=UNTIL)
    case.table.lease_row(row.key, owner="you", now=UNTIL, until=UNTIL + 60)
    assert not case.table.settle_row(replace(sent(row), sqs_message_id="mine"), owner="me")
    assert case.table.settle_row(sent(row), owner="you")
    assert case.table.settle_row(sent(row), owner="you")  # the reply was lost
    assert case.row(row.key) == sent(row)


def test_a_row_that_is_settled_stays_so(case: Case) -> None:
    row = row_of()
    case.stage(row)
    assert case.table.settle_row(sent(row), owner=None)
    assert not case.table.settle_row(replace(row, state="PARKED"), owner=None)
    assert case.row(row.key) == sent(row)


def test_unsent_rows_are_found_by_their_state_oldest_first(case: Case) -> None:
    rows = [row_of(staged_at=NOW + place, key=f"invoices#t-{uuid.uuid4().hex}#{place}") for place in (3, 1, 2)]
    parked, done = row_of(), row_of()
    case.stage(*rows, parked, done)
    case.table.settle_row(replace(parked, state="PARKED"), owner=None)
    case.table.settle_row(sent(done), owner=None)
    pending = list(case.table.open_rows("PENDING"))
    assert {row.key for row in rows} <= {row.key for row in pending}
    assert {parked.key, done.key}.isdisjoint(row.key for row in pending)
    assert parked.key in {row.key for row in case.table.open_rows("PARKED")}
    for shard in contract.outbox_open_shards():
        ages = [row.staged_at for row in pending if contract.outbox_open_shard(row.key) == shard]
        assert ages == sorted(ages)


# --- Groups ---------------------------------------------------------------------------------------------------------


def leased(case: Case, *rows: OutboxRow, owner: str = "me") -> str:
    """The key of a group whose rows are staged, and which is leased."""
    case.stage(*rows)
    key = rows[0].group_key or ""
    found = case.table.lease_group(key, owner=owner, now=NOW, until=UNTIL)
    assert found == Group(key=key, pending=tuple(row.place for row in rows), owner=owner, lease_until=UNTIL)
    return key


def two(group: str | None = None) -> tuple[OutboxRow, OutboxRow]:
    """Two rows of a group."""
    group = group or group_name()
    return row_of(group), row_of(group)


def test_one_relay_gets_a_group(case: Case) -> None:
    key = leased(case, *two())
    assert case.table.lease_group(key, owner="you", now=NOW, until=UNTIL) is None
    assert case.table.lease_group(key, owner="me", now=NOW, until=UNTIL) is not None
    assert case.table.lease_group(key, owner="you", now=UNTIL, until=UNTIL + 60) is not None


def test_what_is_sent_is_taken_off_its_group(case: Case) -> None:
    first, second = two()
    key = leased(case, first, second)
    assert case.table.settle_head(sent(first), group=key, owner="me")
    assert case.table.settle_head(sent(first), group=key, owner="me")  # the reply was lost: the same request
    found = case.group(key)
    assert found is not None
    assert found.pending == (second.place,)
    assert case.row(first.key) == sent(first)


def test_only_the_first_of_a_group_is_settled(case: Case) -> None:
    first, second = two()
    key = leased(case, first, second)
    assert not case.table.settle_head(sent(second), group=key, owner="me")
    assert case.row(second.key) == second


def test_who_lost_a_group_moves_nothing_on(case: Case) -> None:
    first, second = two()
    key = leased(case, first, second)
    case.table.lease_group(key, owner="you", now=UNTIL, until=UNTIL + 60)
    assert not case.table.settle_head(sent(first), group=key, owner="me")
    assert not case.table.drop_head(first.key, group=key, owner="me")
    assert not case.table.release_group(key, owner="me", emptied=False, ttl=99)
    assert case.row(first.key) == first
    assert case.table.lease_group(key, owner="me", now=UNTIL, until=UNTIL + 60) is None


@pytest.mark.parametrize("state, dropped", [("SENT", True), ("DISCARDED", True), ("PENDING", False)])
def test_a_name_is_dropped_only_if_its_row_is_not_to_be_sent(case: Case, state: Any, dropped: bool) -> None:  # noqa: ANN401, FBT001
    group = group_name()
    row = row_of(group, state=state)
    key = leased(case, row)
    assert case.table.drop_head(row.key, group=key, owner="me") is dropped
    found = case.group(key)
    assert found is not None
    assert (found.pending == ()) is dropped


def test_an_empty_group_is_released_only_if_it_is_empty(case: Case) -> None:
    first, second = two()
    key = leased(case, first)
    case.table.settle_head(sent(first), group=key, owner="me")
    case.stage(second)  # while the relay believes the group is empty
    assert not case.table.release_group(key, owner="me", emptied=True, ttl=99)
    again = case.table.lease_group(key, owner="me", now=NOW, until=UNTIL)
    assert again is not None
    assert again.pending == (second.place,)
    case.table.settle_head(sent(second), group=key, owner="me")
    assert case.table.release_group(key, owner="me", emptied=True, ttl=99)
    assert case.table.lease_group(key, owner="you", now=NOW, until=UNTIL) is not None


def test_staging_for_an_empty_group_keeps_it_from_expiring(real: Case, clients: Clients) -> None:
    first, second = two()
    key = leased(real, first)
    real.table.settle_head(sent(first), group=key, owner="me")
    real.table.release_group(key, owner="me", emptied=True, ttl=99)

    def ttl() -> object:
        item = clients.dynamodb.get_item(TableName=real.name, Key={"pk": {"S": key}})["Item"]
        return item.get(OutboxAttribute.TTL)

    assert ttl() == {"N": "99"}
    real.stage(second)
    assert ttl() is None


@pytest.mark.parametrize("set_aside", [False, True], ids=["stands-in-its-group", "was-set-aside"])
def test_a_parked_row_is_put_back_once_into_its_group(case: Case, set_aside: bool) -> None:  # noqa: FBT001
    first, second = two()
    key = leased(case, first, second)
    parked = replace(first, state="PARKED")
    if set_aside:
        assert case.table.settle_head(parked, group=key, owner="me")
    else:
        assert case.table.settle_row(parked, owner=None)
    operator = ParkedRows(
        case.table,
        case.transactions,
        FakeObjectStore(FakeClock()),
        table=case.name,
        before_send_seconds=1e9,
        ttl_seconds=100,
        clock=FakeClock(),
        new_token=lambda: uuid.uuid4().hex,
        random=lambda: 0.5,
    )
    no_payload = replace(parked, payload_bucket=None, payload_key=None)
    assert operator.retry(first.key) == "payload gone"
    assert operator._put_back(replace(no_payload, state="PENDING"))
    assert not operator._put_back(replace(no_payload, state="PENDING"))
    found = case.group(key)
    assert found is not None
    assert found.pending == ((second.place, first.place) if set_aside else (first.place, second.place))
    assert operator.discard(first.key) == "not parked"


# --- What goes wrong ------------------------------------------------------------------------------------------------


@pytest.mark.integration
def test_a_table_that_is_not_there_refuses(clients: Clients) -> None:
    table = DynamoDbOutbox(clients.dynamodb, "no-such-table", sleep=time.sleep)
    with pytest.raises(ReadRefused):
        table.rows(["a"])
    with pytest.raises(ReadRefused):
        list(table.open_rows("PENDING"))
    with pytest.raises(CommitFailed):
        table.settle_head(row_of("g"), group="@g", owner="me")


def test_the_longest_group_fits_into_an_item() -> None:
    longest = len(f"{'t' * 128}#{'f' * 32}") + 1
    assert contract.OUTBOX_GROUP_MAX_PENDING * longest < 400_000 - 1000  # DynamoDB's 400 KB, and the rest of the item


def test_full_is_told_as_such() -> None:
    assert OutboxFull.code == "OutboxFull"
    assert not OutboxFull.permanent
