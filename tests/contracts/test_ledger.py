"""What every ledger does: conditional writes with the effect, ordered reads, counts, checkpoints (R10.1, R10.2)."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claim_check import contract
from claim_check.adapters.ledger import NAMES, DynamoDbLedger, to_item, to_row
from claim_check.adapters.session import Clients
from claim_check.errors import CommitFailed, ReadRefused, Unavailable
from claim_check.ingest.ports import Checkpoints, LedgerReader, LedgerRefused, LedgerRow, LedgerTable
from claim_check.ports import TableWrite, WriteRefused
from tests.fakes.ingest import FakeLedger

NOW = 1_783_332_930.25


@dataclass
class Case:
    """A ledger, and what lies in the handler's table behind its back.

    Attributes:
        table: The ledger.
        reader: The same, for those who only look.
        checkpoints: The same, for checkpoints.
        documents: Name of the handler's own table.
        document: Whether there is an item in it.
        refuse: Sees to it that the handler's write is refused.
        bucket: A bucket that nobody else uses.
    """

    table: LedgerTable
    reader: LedgerReader
    checkpoints: Checkpoints
    documents: str
    document: Callable[[str], bool]
    refuse: Callable[[TableWrite], None]
    bucket: str = ""

    def row(self, key: str = "a", **changes: Any) -> LedgerRow:  # noqa: ANN401 - fields of LedgerRow
        """A row with every field set."""
        row = LedgerRow(
            bucket=self.bucket,
            key=key,
            state="PRESENT",
            revision=str(uuid.uuid4()),
            sequencer="0055AED6DCD90281E5",
            exact=True,
            kind="ObjectCreated:Put",
            version_id="v1",
            etag="e" * 32,
            size=5 * 2**40,
            modified_at=NOW - 1.0,
            applied_at=NOW,
            ttl=int(NOW) + 86_400,
        )
        return replace(row, **changes)

    def write(self, name: str) -> TableWrite:
        """A write of the handler's."""
        return TableWrite(action="Put", table=self.documents, key={"pk": name}, item={"pk": name})


@pytest.fixture(scope="module")
def real(clients: Clients) -> Case:
    """The adapter, on tables of its own."""
    client, ledger, documents = clients.dynamodb, f"ledger-{uuid.uuid4()}", f"documents-{uuid.uuid4()}"
    create_ledger(clients, ledger)
    client.create_table(
        TableName=documents,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
    )

    def document(name: str) -> bool:
        return "Item" in client.get_item(TableName=documents, Key={"pk": {"S": name}})

    adapter = DynamoDbLedger(client, ledger)
    return Case(adapter, adapter, adapter, documents, document, lambda _: None)


def create_ledger(clients: Clients, name: str) -> None:
    """A ledger's table, as the construct makes it."""
    keys = (contract.LedgerAttribute.SHARD, contract.LedgerAttribute.KEY)
    clients.dynamodb.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": keys[0], "KeyType": "HASH"}, {"AttributeName": keys[1], "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
    )


@pytest.fixture(params=["fake", pytest.param("dynamodb", marks=pytest.mark.integration)])
def case(request: pytest.FixtureRequest) -> Case:
    """Each side in turn, with a bucket of its own."""
    if request.param == "fake":
        ledger = FakeLedger()

        def document(name: str) -> bool:
            return any(write.key["pk"] == name for write in ledger.applied)

        def refuse(_: TableWrite) -> None:
            ledger.refuse_write = 0

        found = Case(ledger, ledger, ledger, "documents", document, refuse)
    else:
        found = request.getfixturevalue("real")
    return replace(found, bucket=f"bucket-{uuid.uuid4()}")


def test_what_was_never_written_is_not_there(case: Case) -> None:
    assert case.table.read(bucket=case.bucket, key="a") is None
    assert case.reader.row(bucket=case.bucket, key="a") is None


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"state": "DELETED", "etag": None, "size": None, "modified_at": None, "exact": False},
        {"sequencer": None, "version_id": None, "ttl": None, "size": 0},
    ],
    ids=["full", "tombstone", "sparse"],
)
def test_a_row_reads_back_as_it_was_written(case: Case, changes: dict[str, Any]) -> None:
    row = case.row(**changes)
    assert case.table.write(row, seen=None, writes=[]) is None
    assert case.table.read(bucket=case.bucket, key="a") == row


@pytest.mark.parametrize("key", ["a", "é" * 512, "/", " ", "😀", "a#b", "\x01\x7f"], ids=ascii)
def test_every_key_has_a_row_of_its_own(case: Case, key: str) -> None:
    """Keys have up to 1,024 bytes, and so have sort keys."""
    row = case.row(key)
    assert case.table.write(row, seen=None, writes=[]) is None
    assert case.table.read(bucket=case.bucket, key=key) == row
    assert case.table.read(bucket=case.bucket, key=f"{key}x"[:100]) in {None, row}


@pytest.mark.parametrize("with_effect", [False, True])
def test_a_row_is_written_only_if_it_is_as_it_was_read(case: Case, with_effect: bool) -> None:  # noqa: FBT001 - a parameter
    first, second = case.row(), case.row(state="DELETED")
    effects = [case.write("one"), case.write("two"), case.write("three")]

    def write(row: LedgerRow, seen: str | None, effect: int) -> LedgerRefused | WriteRefused | None:
        return case.table.write(row, seen=seen, writes=[effects[effect]] if with_effect else [])

    assert write(first, None, 0) is None
    assert write(second, None, 1) == LedgerRefused(first)
    assert write(second, "another", 1) == LedgerRefused(first)
    assert case.table.read(bucket=case.bucket, key="a") == first
    assert write(second, first.revision, 2) is None
    assert case.table.read(bucket=case.bucket, key="a") == second


def test_a_row_that_is_gone_refuses_with_nothing(case: Case) -> None:
    assert case.table.write(case.row(), seen="gone", writes=[case.write("lost")]) == LedgerRefused(None)
    assert not case.document("lost")


def test_row_and_effect_are_written_together_or_not_at_all(case: Case) -> None:
    name = str(uuid.uuid4())
    assert case.table.write(case.row(), seen=None, writes=[case.write(name)]) is None
    assert case.document(name)
    other = str(uuid.uuid4())
    assert isinstance(case.table.write(case.row(), seen="another", writes=[case.write(other)]), LedgerRefused)
    assert not case.document(other)


def test_an_effect_that_is_refused_takes_the_row_with_it(case: Case) -> None:
    name = str(uuid.uuid4())
    first = case.row("b")
    assert case.table.write(first, seen=None, writes=[case.write(name)]) is None
    refused = replace(case.write(name), condition="attribute_not_exists(pk)")
    case.refuse(refused)
    assert case.table.write(case.row(), seen=None, writes=[refused]) == WriteRefused(0)
    assert case.table.read(bucket=case.bucket, key="a") is None


def test_the_same_request_again_is_done_already(case: Case) -> None:
    row, name = case.row(), str(uuid.uuid4())
    for _ in range(2):
        assert case.table.write(row, seen=None, writes=[case.write(name)]) is None
    plain = case.row("b")
    assert case.table.write(plain, seen=None, writes=[]) is None
    reply = case.table.write(plain, seen=None, writes=[])
    assert isinstance(reply, LedgerRefused)
    assert reply.row is not None
    assert reply.row.revision == plain.revision


def test_of_two_at_once_one_is_refused(case: Case) -> None:
    first = case.row()
    assert case.table.write(first, seen=None, writes=[]) is None
    rows = [case.row() for _ in range(4)]

    def write(row: LedgerRow) -> object:
        try:
            return case.table.write(row, seen=first.revision, writes=[])
        except Unavailable:
            return "unavailable"

    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(write, rows))
    assert replies.count(None) == 1


def test_failures_are_counted_by_message(case: Case) -> None:
    message = str(uuid.uuid4())
    assert [case.table.failed(message, expires_at=int(NOW)) for _ in range(3)] == [1, 2, 3]
    assert case.table.failed(str(uuid.uuid4()), expires_at=int(NOW)) == 1


# --- Reads in order -------------------------------------------------------------------------------------------------

KEYS = ["a", "a/b", "a/c", "a0", "b", "é", "Z", "\uffff", "😀", *(f"many/{number}" for number in range(60))]


def test_rows_come_in_the_order_of_their_keys_bytes(case: Case) -> None:
    """As S3 lists: the order of UTF-8, in which U+FFFF comes before what lies beyond it."""
    for key in KEYS:
        assert case.table.write(case.row(key), seen=None, writes=[]) is None
    other = replace(case, bucket=f"bucket-{uuid.uuid4()}")
    assert case.table.write(other.row("a"), seen=None, writes=[]) is None
    case.table.failed(str(uuid.uuid4()), expires_at=int(NOW))

    def keys(prefix: str = "", start_after: str = "") -> list[str]:
        return [row.key for row in case.reader.rows(bucket=case.bucket, prefix=prefix, start_after=start_after)]

    ordered = sorted(KEYS, key=str.encode)
    assert keys() == ordered
    assert keys(prefix="a/") == ["a/b", "a/c"]
    assert keys(start_after="a/b") == ordered[ordered.index("a/b") + 1 :]
    assert keys(start_after="b-not-there") == ordered[ordered.index("b") + 1 :]
    assert keys(prefix="many/", start_after="many/30") == [key for key in ordered if key > "many/30" and "many" in key]


def test_nothing_is_read_of_a_bucket_without_rows(case: Case) -> None:
    assert list(case.reader.rows(bucket=case.bucket, prefix="", start_after="")) == []


# --- Checkpoints ----------------------------------------------------------------------------------------------------


def test_a_checkpoint_is_what_was_saved_last(case: Case) -> None:
    name = f"ingest#{case.bucket}"
    assert case.checkpoints.load(name) is None
    case.checkpoints.save(name, '{"after":"é"}')
    case.checkpoints.save(name, '{"after":"z"}')
    assert case.checkpoints.load(name) == '{"after":"z"}'
    assert list(case.reader.rows(bucket=case.bucket, prefix="", start_after="")) == []


# --- The adapter alone ----------------------------------------------------------------------------------------------


@pytest.mark.integration
def test_what_refuses_is_told_apart_from_what_passes(clients: Clients) -> None:
    absent = DynamoDbLedger(clients.dynamodb, f"absent-{uuid.uuid4()}")
    row = LedgerRow(bucket="b", key="k", state="PRESENT", revision="r")
    with pytest.raises(ReadRefused):
        absent.read(bucket="b", key="k")
    with pytest.raises(ReadRefused):
        list(absent.rows(bucket="b", prefix="", start_after=""))
    with pytest.raises(ReadRefused):
        absent.save("n", "t")
    with pytest.raises(CommitFailed):
        absent.write(row, seen=None, writes=[])


def test_every_field_of_a_row_has_an_attribute() -> None:
    fields = {*LedgerRow.__dataclass_fields__} - {"bucket", "key"}
    assert fields == NAMES.keys()


ROWS = st.builds(
    LedgerRow,
    bucket=st.from_regex(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", fullmatch=True),
    key=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=100),
    state=st.sampled_from(["PRESENT", "DELETED"]),
    revision=st.uuids().map(str),
    sequencer=st.none() | st.text("0123456789ABCDEF", min_size=1, max_size=20),
    exact=st.booleans(),
    etag=st.none() | st.text("0123456789abcdef", min_size=32, max_size=32),
    size=st.none() | st.integers(0, 5 * 2**40),
    modified_at=st.none() | st.floats(1e9, 2e9),
    applied_at=st.floats(1e9, 2e9),
    ttl=st.none() | st.integers(0, 2**33),
)


@given(ROWS)
@settings(deadline=None)
def test_every_row_survives_the_round_trip(row: LedgerRow) -> None:
    assert to_row(to_item(row)) == row


def test_attributes_of_a_newer_version_are_left_out() -> None:
    row = LedgerRow(bucket="b", key="k", state="PRESENT", revision="r")
    assert to_row(to_item(row) | {"later": {"S": "x"}}) == row


def test_the_partitions_of_a_bucket_are_all_used() -> None:
    used = {contract.ledger_shard(bucket="b", key=f"key-{number}") for number in range(1000)}
    assert used == set(contract.ledger_shards("b"))
