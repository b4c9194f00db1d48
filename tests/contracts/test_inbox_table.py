"""What every `InboxTable` does: the gate's rule, guards, refusals with the present row, transactions (R4.1 - R4.3)."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claim_check import contract
from claim_check.adapters.dynamodb import DynamoDbInbox
from claim_check.adapters.inbox_items import NAMES, to_item, to_row
from claim_check.adapters.session import Clients
from claim_check.contract import InboxState
from claim_check.inbox import may_take, taken
from claim_check.ports import Guard, InboxRow, InboxTable, Refused, TableWrite, Taken, WriteRefused
from tests.fakes.inbox_table import FakeInboxTable

NOW = 1_783_332_930.25
STATES: tuple[InboxState, ...] = ("IN_PROGRESS", "COMPLETED", "FAILED", "PARKING", "PARKED")


@dataclass
class Case:
    """A table, and what lies in it and in the handler's table behind its back.

    Attributes:
        table: The table.
        documents: Name of the handler's own table.
        read: Reads a row.
        document: Reads an item of the handler's table.
        refuse: Sees to it that a write, at this place in the transaction, is refused; None: all are taken again.
    """

    table: InboxTable
    documents: str
    read: Callable[[str], InboxRow | None]
    document: Callable[[str], dict[str, Any] | None]
    refuse: Callable[[TableWrite | None, int], None]

    def seed(self, **changes: Any) -> InboxRow:  # noqa: ANN401 - fields of InboxRow
        """A row that is there."""
        row = row_of(**changes)
        assert self.table.replace(row, guard=None) is None
        return row


def row_of(state: InboxState = "IN_PROGRESS", **changes: Any) -> InboxRow:  # noqa: ANN401 - fields of InboxRow
    """A row with every field set, under a key of its own."""
    row = InboxRow(
        key=f"documents#t-1#{uuid.uuid4().hex}",
        state=state,
        consumer="documents",
        sqs_message_id="sqs-1",
        fingerprint="f" * 64,
        owner=str(uuid.uuid4()),
        lease_until=NOW + 60.5,
        attempts=2,
        attempts_spent=3,
        last_code="HandlerFailed",
        last_message="builtins.ValueError at häll✓.py:1",
        tenant_id="t-1",
        event_type="DocumentUploaded",
        message_id="m-1",
        correlation_id="c-1",
        payload_bucket="bucket",
        payload_key="payloads/a",
        payload_version="v1",
        payload_bytes=5 * 2**40,
        first_seen_at=NOW - 1000.125,
        updated_at=NOW - 10,
        ttl=int(NOW) + 86_400,
    )
    return replace(row, **changes)


@pytest.fixture(scope="module")
def real(clients: Clients) -> Case:
    """The adapter, on tables of its own."""
    return _real(clients)


@pytest.fixture(scope="module", params=["fake", pytest.param("dynamodb", marks=pytest.mark.integration)])
def case(request: pytest.FixtureRequest) -> Case:
    """Each side in turn."""
    if request.param == "fake":
        return _fake()
    adapter: Case = request.getfixturevalue("real")
    return adapter


def _fake() -> Case:
    table = FakeInboxTable()

    def document(name: str) -> dict[str, Any] | None:
        return next((item for item in table.items("documents") if item["pk"] == name), None)

    def refuse(write: TableWrite | None, place: int) -> None:
        table.refuse_write = None if write is None else place

    return Case(table, "documents", table.rows.get, document, refuse)


def _real(clients: Clients) -> Case:
    client, inbox, documents = clients.dynamodb, f"inbox-{uuid.uuid4()}", f"documents-{uuid.uuid4()}"
    client.create_table(
        TableName=inbox,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": contract.InboxAttribute.KEY, "KeyType": "HASH"}],
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": "S"}
            for name in (
                contract.InboxAttribute.KEY,
                contract.InboxAttribute.OPEN_SHARD,
                contract.InboxAttribute.OPEN_SINCE,
            )
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": contract.INBOX_OPEN_INDEX,
                "KeySchema": [
                    {"AttributeName": contract.InboxAttribute.OPEN_SHARD, "KeyType": "HASH"},
                    {"AttributeName": contract.InboxAttribute.OPEN_SINCE, "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    client.create_table(
        TableName=documents,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
    )

    def read(key: str) -> InboxRow | None:
        item = client.get_item(TableName=inbox, Key={"pk": {"S": key}}).get("Item")
        return to_row(item) if item else None

    def document(name: str) -> dict[str, Any] | None:
        item = client.get_item(TableName=documents, Key={"pk": {"S": name}}).get("Item")
        return {name: next(iter(value.values())) for name, value in item.items()} if item else None

    def refuse(write: TableWrite | None, _: int) -> None:
        if write is not None:
            client.put_item(TableName=documents, Item={"pk": {"S": write.key["pk"]}, "there": {"S": "already"}})

    return Case(DynamoDbInbox(client, inbox), documents, read, document, refuse)


# --- The gate -------------------------------------------------------------------------------------------------------

LEASES = (0.0, NOW - 0.000001, NOW, NOW + 0.000001, NOW + 60)


def gate_agrees(case: Case, before: InboxRow, wanted: InboxRow, *, now: float, max_attempts: int) -> None:
    """The gate does what the pure rule says, and answers with the row as it was."""
    reply = case.table.take(wanted, now=now, max_attempts=max_attempts)
    if may_take(before, wanted, now=now, max_attempts=max_attempts):
        after = taken(wanted, before)
        assert reply == Taken(after, before)
        assert case.read(before.key) == after
    else:
        assert reply == Refused(before)
        assert case.read(before.key) == before


def test_the_gate_takes_an_absent_row(case: Case) -> None:
    wanted = row_of(attempts=0, attempts_spent=0, last_code=None, last_message=None)
    after = replace(wanted, attempts=1)
    assert case.table.take(wanted, now=NOW, max_attempts=5) == Taken(after, None)
    assert case.read(wanted.key) == after


@pytest.mark.parametrize("state", STATES)
def test_the_gate_follows_the_pure_rule_in_every_corner(case: Case, state: InboxState) -> None:
    corners = itertools.product(LEASES, (0, 4, 5, 6), (True, False), (True, False))
    for lease_until, attempts, same_life, same_content in corners:
        before = case.seed(state=state, lease_until=lease_until, attempts=attempts)
        wanted = row_of(
            key=before.key,
            sqs_message_id=before.sqs_message_id if same_life else "sqs-2",
            fingerprint=before.fingerprint if same_content else "0" * 64,
            attempts=0,
        )
        gate_agrees(case, before, wanted, now=NOW, max_attempts=5)


@pytest.mark.parametrize("before, wanted, after", [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 2, 2)])
def test_a_row_stays_marked_as_redriven(case: Case, before: int, wanted: int, after: int) -> None:
    """R9.1; rows of an older version have no such attribute."""
    present = case.seed(state="FAILED", attempts=1, redriven=before)
    reply = case.table.take(row_of(key=present.key, redriven=wanted), now=NOW, max_attempts=5)
    assert isinstance(reply, Taken)
    stored = case.read(present.key)
    assert stored is not None
    assert reply.row.redriven == stored.redriven == after


times = st.floats(min_value=0, max_value=4e9, allow_nan=False).map(lambda value: round(value, 6))


@dataclass(frozen=True)
class Corner:
    """A present row and a wanted one, as far as the gate looks at them."""

    state: InboxState
    now: float
    lease: float | None
    attempts: int
    max_attempts: int
    same_life: bool
    same_content: bool
    absent: frozenset[str]


@given(
    corner=st.builds(
        Corner,
        state=st.sampled_from(STATES),
        now=times,
        lease=st.one_of(times, st.none()),
        attempts=st.integers(0, 12),
        max_attempts=st.integers(1, 12),
        same_life=st.booleans(),
        same_content=st.booleans(),
        absent=st.frozensets(st.sampled_from([field.name for field in fields(InboxRow) if field.default is None])),
    )
)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_the_gate_follows_the_pure_rule_for_random_rows(case: Case, corner: Corner) -> None:
    nothing: dict[str, Any] = dict.fromkeys(corner.absent)
    lease = corner.now if corner.lease is None else corner.lease
    before = case.seed(state=corner.state, lease_until=lease, attempts=corner.attempts, **nothing)
    wanted = row_of(
        key=before.key,
        sqs_message_id=before.sqs_message_id if corner.same_life else "sqs-2",
        fingerprint=before.fingerprint if corner.same_content else "0" * 64,
        payload_version=None,
        correlation_id=None,
    )
    gate_agrees(case, before, wanted, now=corner.now, max_attempts=corner.max_attempts)


def test_a_row_past_its_time_to_live_but_still_there_counts_as_present(case: Case) -> None:
    """DESIGN section 3: DynamoDB removes expired rows when it gets round to it."""
    before = case.seed(state="COMPLETED", ttl=int(NOW) - 86_400)
    wanted = row_of(key=before.key, attempts=0)
    assert case.table.take(wanted, now=NOW, max_attempts=5) == Refused(before)


def test_two_gates_at_once_take_it_once(case: Case) -> None:
    wanted = [row_of(attempts=0) for _ in range(8)]
    wanted = [replace(one, key=wanted[0].key) for one in wanted]
    with ThreadPoolExecutor(len(wanted)) as pool:
        replies = list(pool.map(lambda one: case.table.take(one, now=NOW, max_attempts=5), wanted))
    (winner,) = [one.owner for one, reply in zip(wanted, replies, strict=True) if isinstance(reply, Taken)]
    refusals = [reply.row for reply in replies if isinstance(reply, Refused)]
    assert [row.owner for row in refusals if row] == [winner] * 7


# --- Guarded writes -------------------------------------------------------------------------------------------------


def test_a_row_reads_back_as_it_was_written(case: Case) -> None:
    row = case.seed(last_message='äöü ✓ 𝄞 " \\ \n', first_seen_at=0.1, lease_until=1e-6, payload_bytes=0)
    assert case.read(row.key) == row
    bare = InboxRow(key=f"park#{uuid.uuid4()}", state="PARKING", consumer="documents", sqs_message_id="s")
    assert case.table.replace(bare, guard=None) is None
    assert case.read(bare.key) == bare


def test_a_write_without_a_guard_wants_no_row(case: Case) -> None:
    row = case.seed()
    assert case.table.replace(replace(row, owner="another"), guard=None) == Refused(row)
    assert case.read(row.key) == row


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("same_owner", [True, False])
@pytest.mark.parametrize("lease", ["same", "other", "any"])
def test_a_guard_is_owner_state_and_lease(
    case: Case,
    state: InboxState,
    same_owner: bool,  # noqa: FBT001 - a parameter of the test
    lease: str,
) -> None:
    row = case.seed(state="PARKING")
    guard = Guard(
        owner=row.owner if same_owner else "another",
        state=state,
        lease_until={"same": row.lease_until, "other": row.lease_until + 1, "any": None}[lease],
    )
    new = replace(row, state="PARKED", lease_until=0.0, owner="new", last_code=None)
    if same_owner and state == "PARKING" and lease != "other":
        assert case.table.replace(new, guard=guard) is None
        assert case.read(row.key) == new
    else:
        assert case.table.replace(new, guard=guard) == Refused(row)
        assert case.read(row.key) == row


def test_a_guard_on_an_absent_row_is_refused_with_no_row(case: Case) -> None:
    row = row_of()
    assert case.table.replace(row, guard=Guard(owner=row.owner, state=row.state)) == Refused(None)
    assert case.read(row.key) is None


# --- The commit -----------------------------------------------------------------------------------------------------


def writes_of(case: Case, number: int) -> list[TableWrite]:
    """Writes of a handler, each of an item that must not exist."""
    names = [uuid.uuid4().hex for _ in range(number)]
    return [
        TableWrite(
            action="Put",
            table=case.documents,
            key={"pk": name},
            item={"pk": name, "place": str(place)},
            condition="attribute_not_exists(#pk)",
            names={"#pk": "pk"},
        )
        for place, name in enumerate(names)
    ]


def commit(
    case: Case, row: InboxRow, writes: Sequence[TableWrite], *, owner: str | None = None
) -> Refused | WriteRefused | None:
    guard = Guard(owner=owner or row.owner, state="IN_PROGRESS")
    return case.table.complete(done(row), guard=guard, writes=writes, token=row.owner)


def done(row: InboxRow) -> InboxRow:
    """The row completed."""
    return replace(row, state="COMPLETED", lease_until=0.0, last_code=None, last_message=None, updated_at=NOW)


@pytest.mark.parametrize("number", [0, 1, 3, 99])
def test_a_commit_is_the_row_and_all_writes(case: Case, number: int) -> None:
    """R4.1."""
    row, writes = case.seed(), writes_of(case, number)
    assert commit(case, row, writes) is None
    assert case.read(row.key) == done(row)
    assert [case.document(write.key["pk"]) for write in writes] == [write.item for write in writes]


@pytest.mark.parametrize("number", [0, 1, 3])
@pytest.mark.parametrize("state", STATES)
def test_without_the_lease_nothing_is_committed(case: Case, state: InboxState, number: int) -> None:
    row, writes = case.seed(state=state), writes_of(case, number)
    owner = "another" if state == "IN_PROGRESS" else None
    assert commit(case, row, writes, owner=owner) == Refused(row)
    assert case.read(row.key) == row
    assert [case.document(write.key["pk"]) for write in writes] == [None] * number


@pytest.mark.parametrize("number", [0, 2])
def test_without_a_row_nothing_is_committed(case: Case, number: int) -> None:
    row, writes = row_of(), writes_of(case, number)
    assert commit(case, row, writes) == Refused(None)
    assert case.read(row.key) is None


@pytest.mark.parametrize("place", [0, 2])
def test_a_refused_write_is_named_and_nothing_is_committed(case: Case, place: int) -> None:
    row, writes = case.seed(), writes_of(case, 3)
    case.refuse(writes[place], place)
    try:
        assert commit(case, row, writes) == WriteRefused(place)
    finally:
        case.refuse(None, place)
    assert case.read(row.key) == row
    others = [write for number, write in enumerate(writes) if number != place]
    assert [case.document(write.key["pk"]) for write in others] == [None, None]


def test_the_row_is_looked_at_before_the_writes(case: Case) -> None:
    row, writes = case.seed(), writes_of(case, 2)
    case.refuse(writes[0], 0)
    try:
        assert commit(case, row, writes, owner="another") == Refused(row)
    finally:
        case.refuse(None, 0)


@pytest.mark.parametrize("number", [0, 2])
def test_a_repeated_commit_has_no_second_effect_and_is_known_by_its_token(case: Case, number: int) -> None:
    """The answer to the first may be lost: told by the client token, or by the row that refuses it."""
    row, writes = case.seed(lease_until=NOW), writes_of(case, number)
    assert commit(case, row, writes) is None
    assert commit(case, row, writes) in (None, Refused(done(row)))
    assert case.read(row.key) == done(row)


@pytest.mark.integration
def test_the_client_token_makes_a_repeated_transaction_the_same(real: Case) -> None:
    row, writes = real.seed(lease_until=NOW), writes_of(real, 1)
    assert commit(real, row, writes) is None
    assert commit(real, row, writes) is None


@pytest.mark.integration
def test_all_kinds_of_writes_commit(real: Case, clients: Clients) -> None:
    put, update, delete, check = (write.key["pk"] for write in writes_of(real, 4))
    for name in (update, delete, check):
        clients.dynamodb.put_item(TableName=real.documents, Item={"pk": {"S": name}, "count": {"N": "1"}})
    writes = [
        TableWrite(action="Put", table=real.documents, key={"pk": put}, item={"pk": put, "count": 7}),
        TableWrite(
            action="Update",
            table=real.documents,
            key={"pk": update},
            update="SET #count = #count + :one",
            condition="#count = :one",
            names={"#count": "count"},
            values={":one": 1},
        ),
        TableWrite(action="Delete", table=real.documents, key={"pk": delete}),
        TableWrite(action="ConditionCheck", table=real.documents, key={"pk": check}, condition="attribute_exists(pk)"),
    ]
    assert commit(real, real.seed(), writes) is None
    found = [real.document(name) for name in (put, update, delete, check)]
    assert [one["count"] if one else None for one in found] == ["7", "2", None, "1"]


# --- The item -------------------------------------------------------------------------------------------------------


@given(
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=5, max_size=5),
    numbers=st.lists(times, min_size=3, max_size=3),
    counts=st.lists(st.integers(0, 2**63), min_size=4, max_size=4),
    state=st.sampled_from(STATES),
)
def test_a_row_survives_its_item(texts: list[str], numbers: list[float], counts: list[int], state: InboxState) -> None:
    row = row_of(
        state=state,
        last_code=texts[0],
        last_message=texts[1],
        message_id=texts[2],
        correlation_id=texts[3],
        owner=texts[4],
        lease_until=numbers[0],
        first_seen_at=numbers[1],
        updated_at=numbers[2],
        attempts=counts[0],
        attempts_spent=counts[1],
        payload_bytes=counts[2],
        ttl=counts[3],
    )
    assert to_row(to_item(row)) == row


def test_every_field_of_a_row_has_an_attribute() -> None:
    assert set(NAMES) == {field.name for field in fields(InboxRow)}
    assert len(set(NAMES.values())) == len(NAMES)


def test_attributes_of_a_newer_version_are_left_out() -> None:
    row = row_of()
    assert to_row({**to_item(row), "inventedLater": {"S": "x"}}) == row


def test_the_time_to_live_is_in_epoch_seconds() -> None:
    """DynamoDB takes milliseconds for a time tens of thousands of years away (R6.2)."""
    ttl = to_item(row_of())[contract.InboxAttribute.TTL]
    assert ttl == {"N": str(int(NOW) + 86_400)}
    assert int(ttl["N"]) < 10**11


@pytest.mark.parametrize("moment", [0.0, 1.0, 1_783_332_930.0, 1_783_332_930.5, 1e-6])
def test_numbers_are_written_as_the_table_would_write_them(moment: float) -> None:
    """Else a repeated transaction is not the same request to an emulator that compares what it stored."""
    number = to_item(row_of(lease_until=moment))[contract.InboxAttribute.LEASE_UNTIL]["N"]
    assert float(number) == moment
    assert not number.endswith(".0")


@pytest.mark.parametrize("state", STATES)
def test_only_open_rows_are_in_the_index_of_open_work(state: InboxState) -> None:
    """R4.3: one can list what is failed or stuck without scanning."""
    item = to_item(row_of(state=state, updated_at=1_783_332_930.0))
    if state == "COMPLETED":
        assert contract.InboxAttribute.OPEN_SHARD not in item
        assert contract.InboxAttribute.OPEN_SINCE not in item
    else:
        assert item[contract.InboxAttribute.OPEN_SHARD]["S"] in contract.inbox_open_shards("documents")
        assert item[contract.InboxAttribute.OPEN_SINCE] == {"S": f"{state}#2026-07-06T10:15:30Z"}


@pytest.mark.integration
def test_open_work_is_listed_by_state_oldest_first_without_a_scan(real: Case, clients: Clients) -> None:
    inbox: Any = real.table
    consumer = f"c-{uuid.uuid4().hex[:8]}"
    rows = [
        real.seed(key=f"{consumer}#t-1#{number}", consumer=consumer, state=state, updated_at=NOW - number)
        for number, state in enumerate(STATES * 4)
    ]
    committed = replace(rows[0], state="COMPLETED")
    assert real.table.replace(committed, guard=Guard(owner=rows[0].owner, state="IN_PROGRESS")) is None
    taken_again = rows[2]
    assert isinstance(real.table.take(row_of(key=taken_again.key, consumer=consumer), now=NOW, max_attempts=5), Taken)

    def listed(state: str) -> list[list[str]]:
        pages = [
            clients.dynamodb.query(
                TableName=inbox._table,
                IndexName=contract.INBOX_OPEN_INDEX,
                KeyConditionExpression="openShard = :shard AND begins_with(openSince, :state)",
                ExpressionAttributeValues={":shard": {"S": shard}, ":state": {"S": f"{state}#"}},
            )["Items"]
            for shard in contract.inbox_open_shards(consumer)
        ]
        for page in pages:
            assert [item["openSince"]["S"] for item in page] == sorted(item["openSince"]["S"] for item in page)
        return [[item["pk"]["S"] for item in page] for page in pages]

    for state in STATES:
        wanted = {row.key for row in rows if row.state == state and row not in (rows[0], taken_again)}
        wanted |= {taken_again.key} if state == "IN_PROGRESS" else set()
        found = [key for page in listed(state) for key in page]
        assert sorted(found) == (sorted(wanted) if state != "COMPLETED" else [])
