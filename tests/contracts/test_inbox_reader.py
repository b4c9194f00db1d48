"""What every `InboxReader` does: rows by keys, open rows by state, oldest change first, without a scan (R4.3)."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from claim_check import contract
from claim_check.adapters.dynamodb import DynamoDbInbox
from claim_check.adapters.dynamodb_calls import BATCH_KEYS
from claim_check.adapters.inbox_items import to_item
from claim_check.adapters.inbox_reader import DynamoDbInboxReader
from claim_check.adapters.session import Clients
from claim_check.contract import InboxAttribute, InboxState
from claim_check.errors import ReadRefused, Unavailable
from claim_check.ports import InboxReader, InboxRow
from tests.contracts.conftest import REGION
from tests.contracts.test_inbox_table import row_of
from tests.fakes.inbox_reader import FakeInboxReader

NOW = 1_783_332_930.25
OPEN: tuple[InboxState, ...] = ("IN_PROGRESS", "FAILED", "PARKING", "PARKED")
LARGE = "x" * 100_000
"""A text so long that a dozen rows take more than one page of a query."""


@dataclass
class Case:
    """A reader, and how rows come into its table."""

    reader: InboxReader
    put: Callable[[InboxRow], object]

    def seed(self, consumer: str, states: Iterable[InboxState], **fields: Any) -> list[InboxRow]:  # noqa: ANN401 - fields of InboxRow
        """Rows that are there, each changed a second after the one before."""
        rows = [
            row_of(
                state, key=f"{consumer}#t-1#{uuid.uuid4().hex}", consumer=consumer, updated_at=NOW + number, **fields
            )
            for number, state in enumerate(states)
        ]
        for row in rows:
            self.put(row)
        return rows


@pytest.fixture(scope="module")
def real(clients: Clients) -> Case:
    """The adapter, on a table of its own."""
    client, name = clients.dynamodb, f"inbox-{uuid.uuid4()}"
    attributes = (InboxAttribute.KEY, InboxAttribute.OPEN_SHARD, InboxAttribute.OPEN_SINCE)
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": InboxAttribute.KEY, "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": one, "AttributeType": "S"} for one in attributes],
        GlobalSecondaryIndexes=[
            {
                "IndexName": contract.INBOX_OPEN_INDEX,
                "KeySchema": [
                    {"AttributeName": InboxAttribute.OPEN_SHARD, "KeyType": "HASH"},
                    {"AttributeName": InboxAttribute.OPEN_SINCE, "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    table = DynamoDbInbox(client, name)
    return Case(DynamoDbInboxReader(client, name, sleep=lambda _: None), lambda row: table.replace(row, guard=None))


@pytest.fixture(params=["fake", pytest.param("dynamodb", marks=pytest.mark.integration)])
def case(request: pytest.FixtureRequest) -> Case:
    """Each side in turn."""
    if request.param == "fake":
        rows = dict[str, InboxRow]()
        return Case(FakeInboxReader(rows), lambda row: rows.update({row.key: row}))
    adapter: Case = request.getfixturevalue("real")
    return adapter


@pytest.fixture
def consumer() -> str:
    """A name that nobody else has."""
    return f"documents-{uuid.uuid4().hex}"


# --- Rows by keys ---------------------------------------------------------------------------------------------------


def test_a_row_is_read_as_it_was_written_whatever_its_state(case: Case, consumer: str) -> None:
    rows = case.seed(consumer, (*OPEN, "COMPLETED"))
    assert case.reader.rows([row.key for row in rows]) == {row.key: row for row in rows}


@pytest.mark.parametrize("count", [0, 1, BATCH_KEYS, BATCH_KEYS + 1, 2 * BATCH_KEYS + 30])
def test_any_number_of_keys_is_read(case: Case, consumer: str, count: int) -> None:
    rows = case.seed(consumer, ["COMPLETED"] * count)
    found = case.reader.rows([row.key for row in rows])
    assert found == {row.key: row for row in rows}


def test_what_is_not_there_is_left_out_and_a_key_twice_is_read_once(case: Case, consumer: str) -> None:
    """BatchGetItem itself refuses the same key twice."""
    (row,) = case.seed(consumer, ["FAILED"])
    keys = [row.key, f"{consumer}#t-1#absent", row.key, *(row.key for _ in range(BATCH_KEYS))]
    assert case.reader.rows(keys) == {row.key: row}


# --- Open rows ------------------------------------------------------------------------------------------------------


def test_completed_rows_and_those_of_other_consumers_are_not_open(case: Case, consumer: str) -> None:
    rows = case.seed(consumer, ("COMPLETED", *OPEN))
    case.seed(f"{consumer}-2", OPEN)
    assert {row.key for row in case.reader.open_rows(consumer)} == {row.key for row in rows[1:]}


@pytest.mark.parametrize("state", OPEN)
def test_one_state_is_found_alone(case: Case, consumer: str, state: InboxState) -> None:
    """PARKING and PARKED begin alike, and neither is the other."""
    rows = case.seed(consumer, [*OPEN, *OPEN, *OPEN])
    found = list(case.reader.open_rows(consumer, state=state))
    assert sorted(row.key for row in found) == sorted(row.key for row in rows if row.state == state)
    assert {row.state for row in found} == {state}


def test_nothing_is_completed_that_is_not_there(case: Case, consumer: str) -> None:
    case.seed(consumer, ["COMPLETED"])
    assert list(case.reader.open_rows(consumer)) == []
    assert list(case.reader.open_rows(consumer, state="COMPLETED")) == []


def test_the_oldest_change_comes_first_in_each_shard(case: Case, consumer: str) -> None:
    case.seed(consumer, ["FAILED"] * 60)
    found = list(case.reader.open_rows(consumer, state="FAILED"))
    shards = [
        list(rows)
        for _, rows in itertools.groupby(
            found, key=lambda row: contract.inbox_open_shard(consumer=row.consumer, key=row.key)
        )
    ]
    assert len(shards) == len(set(map(shard_of, found))) > 1
    assert all([row.updated_at for row in rows] == sorted(row.updated_at for row in rows) for rows in shards)


def shard_of(row: InboxRow) -> str:
    """Its partition of the index."""
    return contract.inbox_open_shard(consumer=row.consumer, key=row.key)


def test_all_pages_are_read(case: Case, consumer: str) -> None:
    """More than 1 MB in each shard."""
    rows = case.seed(consumer, ["FAILED"] * 150, last_message=LARGE)
    assert {row.key for row in case.reader.open_rows(consumer)} == {row.key for row in rows}


# --- The adapter's own ----------------------------------------------------------------------------------------------


class Answers:
    """A reader whose client gives prepared answers.

    Attributes:
        reader: The reader.
        pauses: What it slept.
    """

    def __init__(self) -> None:
        """Prepare none."""
        client = boto3.Session(region_name=REGION, aws_access_key_id="x", aws_secret_access_key="x").client("dynamodb")
        self.stub = Stubber(client)
        self.pauses = list[float]()
        self.reader = DynamoDbInboxReader(client, "inbox", sleep=self.pauses.append)

    def batch(self, keys: list[str], rows: list[InboxRow], left: list[str]) -> None:
        """The answer to a batch of keys."""
        wanted = {"inbox": {"Keys": [{"pk": {"S": key}} for key in keys], "ConsistentRead": True}}
        unprocessed = {"inbox": {"Keys": [{"pk": {"S": key}} for key in left]}} if left else {}
        answer = {"Responses": {"inbox": [to_item(row) for row in rows]}, "UnprocessedKeys": unprocessed}
        self.stub.add_response("batch_get_item", answer, {"RequestItems": wanted})


@pytest.fixture
def answers() -> Iterator[Answers]:
    """All of them must be asked for."""
    prepared = Answers()
    with prepared.stub:
        yield prepared
    prepared.stub.assert_no_pending_responses()


def test_keys_that_were_left_over_are_asked_for_again(answers: Answers) -> None:
    rows = [row_of(key=f"k{number}") for number in range(3)]
    answers.batch(["k0", "k1", "k2"], rows[:1], ["k2", "k1"])
    answers.batch(["k2", "k1"], [], ["k2", "k1"])
    answers.batch(["k2", "k1"], rows[1:], [])
    assert answers.reader.rows(["k0", "k1", "k2"]) == {row.key: row for row in rows}
    assert answers.pauses == [0.1, 0.2]  # the second brought nothing


def test_keys_that_are_left_over_without_end_are_a_throttle(answers: Answers) -> None:
    for _ in range(8):
        answers.batch(["k0"], [], ["k0"])
    with pytest.raises(Unavailable, match="left unprocessed"):
        answers.reader.rows(["k0"])
    assert answers.pauses == sorted(answers.pauses)
    assert max(answers.pauses) == 5


def test_a_table_that_gives_one_row_at_a_time_is_read_to_the_end(answers: Answers) -> None:
    rows = [row_of(key=f"k{number:02}") for number in range(20)]
    keys = [row.key for row in rows]
    for number, row in enumerate(rows):
        answers.batch(keys[number:], [row], keys[number + 1 :])
    assert answers.reader.rows(keys) == {row.key: row for row in rows}


@pytest.mark.parametrize(
    "code,status,expected",
    [
        ("ProvisionedThroughputExceededException", 400, Unavailable),
        ("ThrottlingException", 400, Unavailable),
        ("InternalServerError", 500, Unavailable),
        ("AccessDeniedException", 400, ReadRefused),
        ("ResourceNotFoundException", 400, ReadRefused),
    ],
)
@pytest.mark.parametrize("call", ["batch_get_item", "query"])
def test_a_throttle_passes_and_a_refusal_does_not(
    answers: Answers, call: str, code: str, status: int, expected: type[Exception]
) -> None:
    text = "arn:aws:iam::000000000000:user/x is not authorized on payloads/tenants/t-1/secret"
    answers.stub.add_client_error(call, code, text, http_status_code=status)
    with pytest.raises(expected, match=code) as raised:
        list(answers.reader.open_rows("c")) if call == "query" else answers.reader.rows(["k"])
    assert text not in str(raised.value)


def test_a_lost_answer_is_unavailable() -> None:
    client = boto3.Session(region_name=REGION, aws_access_key_id="x", aws_secret_access_key="x").client(
        "dynamodb", endpoint_url="http://127.0.0.1:9"
    )
    client.meta.events.register("before-send", _no_answer)
    with pytest.raises(Unavailable):
        DynamoDbInboxReader(client, "inbox", sleep=lambda _: None).rows(["k"])


def _no_answer(**_: object) -> None:
    from botocore.exceptions import ReadTimeoutError  # noqa: PLC0415 - raised here only

    raise ReadTimeoutError(endpoint_url="http://127.0.0.1:9")


def test_a_page_that_fails_loses_no_earlier_one() -> None:
    """Rows come lazily: what was yielded before a failure was read."""
    row = replace(row_of("FAILED"), consumer="c", key="c#t-1#0")
    reader = FakeInboxReader({row.key: row})
    reader.faults.fail("query", Unavailable("DynamoDB: ThrottlingException"), skip=8)
    assert list(reader.open_rows("c")) == [row]
    with pytest.raises(Unavailable):
        list(reader.open_rows("c"))
