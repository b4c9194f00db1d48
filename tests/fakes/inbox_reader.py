"""The `InboxReader` port on the rows of a `tests.fakes.inbox_table.FakeInboxTable`, or any others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from claim_check import contract
from claim_check.adapters.dynamodb_calls import BATCH_KEYS
from claim_check.contract import InboxState
from claim_check.ports import InboxRow
from tests.fakes.faults import Faults

PAGE_ROWS = 20
"""Rows of one page of the index; DynamoDB's pages have up to 1 MB."""


@dataclass
class FakeInboxReader:
    """Reads rows. Its calls are named ``get_rows`` (a batch of keys) and ``query`` (a page) in `faults`.

    Attributes:
        rows_by_key: All rows there are.
        faults: Failures to come.
    """

    rows_by_key: Mapping[str, InboxRow]
    faults: Faults = field(default_factory=Faults)

    def rows(self, keys: Sequence[str]) -> Mapping[str, InboxRow]:
        """Rows by their keys."""
        wanted, found = list(dict.fromkeys(keys)), dict[str, InboxRow]()
        for start in range(0, len(wanted), BATCH_KEYS):
            with self.faults.around("get_rows"):
                batch = wanted[start : start + BATCH_KEYS]
                found |= {key: self.rows_by_key[key] for key in batch if key in self.rows_by_key}
        return found

    def open_rows(self, consumer: str, *, state: InboxState | None = None) -> Iterator[InboxRow]:
        """Rows that are not completed, shard by shard, page by page."""
        for shard in contract.inbox_open_shards(consumer):
            rows = sorted(self._shard(shard, state), key=lambda row: (row.state, int(row.updated_at)))
            for start in range(0, max(1, len(rows)), PAGE_ROWS):
                with self.faults.around("query"):
                    page = rows[start : start + PAGE_ROWS]
                yield from page

    def _shard(self, shard: str, state: InboxState | None) -> list[InboxRow]:
        return [
            row
            for row in self.rows_by_key.values()
            if row.state != "COMPLETED"
            and state in {None, row.state}
            and contract.inbox_open_shard(consumer=row.consumer, key=row.key) == shard
        ]
