"""The writes that commit together with the inbox row (R4.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from claim_check import contract
from claim_check.deadline import Deadline
from claim_check.errors import CommitFailed, ConsumeError, TransactionLimit
from claim_check.item_size import item_size
from claim_check.ports import TableWrite

INBOX_ROW_BYTES: Final = 16 * 1024
"""Kept free for the inbox row, which is part of every transaction."""

_WAY_OUT: Final = "stage the rest in chunks under the event's id before the commit, and flip a pointer in it"


@dataclass(frozen=True, slots=True)
class Table:
    """A DynamoDB table of the handler's own.

    Attributes:
        name: Table name.
        partition_key: Name of the partition key attribute.
        sort_key: Name of the sort key attribute, if there is one.
    """

    name: str
    partition_key: str
    sort_key: str | None = None

    def key_of(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The primary key among some attributes.

        Raises:
            TransactionLimit: A key attribute is missing.
        """
        names = [self.partition_key] if self.sort_key is None else [self.partition_key, self.sort_key]
        missing = [name for name in names if name not in values]
        if missing:
            raise TransactionLimit(f"table {self.name}: key attribute {', '.join(missing)} is missing")
        return {name: values[name] for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition on a write, and the error that its refusal means.

    Attributes:
        expression: DynamoDB condition expression.
        names: Expression attribute names it uses.
        values: Expression attribute values it uses.
    """

    expression: str
    names: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)


class Transaction:
    """Collects a handler's writes; nothing is written before the consumer commits them with the inbox row.

    At most 99 writes and 4 MB, no item twice: refused here, when the write is added.
    """

    def __init__(self, deadline: Deadline) -> None:
        """Start empty.

        Args:
            deadline: After it, writes are refused.
        """
        self._deadline = deadline
        self._writes: list[TableWrite] = []
        self._refusals: list[ConsumeError | None] = []
        self._items: set[tuple[Any, ...]] = set()
        self._bytes = INBOX_ROW_BYTES

    @property
    def writes(self) -> tuple[TableWrite, ...]:
        """The writes so far."""
        return tuple(self._writes)

    def put(
        self,
        table: Table,
        item: Mapping[str, Any],
        *,
        condition: Condition | None = None,
        if_condition_fails: ConsumeError | None = None,
    ) -> None:
        """Write a whole item.

        Args:
            table: Where to.
            item: Plain Python values; numbers are int or Decimal.
            condition: Must hold, else nothing is committed.
            if_condition_fails: What its refusal means; by default `CommitFailed`, which is retried.

        Raises:
            TransactionLimit: It does not fit.
            DeadlineExceeded: Time is up.
        """
        write = _write("Put", table, table.key_of(item), condition, item=dict(item))
        self._add(write, if_condition_fails)

    def update(
        self,
        table: Table,
        key: Mapping[str, Any],
        expression: str,
        *,
        names: Mapping[str, str] | None = None,
        values: Mapping[str, Any] | None = None,
        condition: Condition | None = None,
        if_condition_fails: ConsumeError | None = None,
    ) -> None:
        """Change an item with an update expression; otherwise like `put`."""
        write = _write(
            "Update", table, table.key_of(key), condition, update=expression, names=names or {}, values=values or {}
        )
        self._add(write, if_condition_fails)

    def delete(
        self,
        table: Table,
        key: Mapping[str, Any],
        *,
        condition: Condition | None = None,
        if_condition_fails: ConsumeError | None = None,
    ) -> None:
        """Delete an item; otherwise like `put`."""
        self._add(_write("Delete", table, table.key_of(key), condition), if_condition_fails)

    def check(
        self,
        table: Table,
        key: Mapping[str, Any],
        *,
        condition: Condition,
        if_condition_fails: ConsumeError | None = None,
    ) -> None:
        """Commit only if a condition holds on an item that is not written; otherwise like `put`."""
        self._add(_write("ConditionCheck", table, table.key_of(key), condition), if_condition_fails)

    def append(
        self,
        table: Table,
        key: Mapping[str, Any],
        name: str,
        elements: Sequence[Any],
        *,
        most: int,
        remove: Sequence[str] = (),
        if_full: ConsumeError | None = None,
    ) -> None:
        """Append to a list of an item, which is made if it is not there; otherwise like `put`.

        Nothing has to be read before, so writers of one list only ever wait for each other. Appending to the same list
        again adds to the same write.

        Args:
            table: Where to.
            key: Key of the item.
            name: The list's attribute.
            elements: Plain Python values, in order.
            most: The list may not be longer than this before.
            remove: Attributes to be removed.
            if_full: What it means that the list is longer.

        Raises:
            TransactionLimit: It does not fit.
            DeadlineExceeded: Time is up.
        """
        removed = {f"#remove{place}": attribute for place, attribute in enumerate(remove)}
        write = _write(
            "Update",
            table,
            table.key_of(key),
            Condition(
                expression="attribute_not_exists(#list) OR size(#list) <= :most",
                names={"#list": name},
                values={":most": most},
            ),
            update="SET #list = list_append(if_not_exists(#list, :none), :more)"
            + (f" REMOVE {', '.join(removed)}" if removed else ""),
            names={"#list": name, **removed},
            values={":none": [], ":more": list(elements)},
        )
        present = self._find(write)
        if present is None:
            self._add(write, if_full)
        else:
            self._deadline.check()
            more = [*self._writes[present].values[":more"], *elements]
            self._grow(_size(write))
            self._writes[present] = replace(write, values={**write.values, ":more": more})

    def refusal(self, index: int) -> ConsumeError:
        """What the refusal of write number ``index`` means."""
        declared = self._refusals[index]
        if declared is not None:
            return declared
        write = self._writes[index]
        return CommitFailed(f"the condition of write {index + 1} ({write.action} on {write.table}) does not hold")

    def _add(self, write: TableWrite, if_condition_fails: ConsumeError | None) -> None:
        self._deadline.check()
        identity = (write.table, *sorted(write.key.items()))
        size = _size(write)
        if identity in self._items:
            raise TransactionLimit(f"table {write.table}: one item twice in a transaction; merge the two writes")
        if len(self._writes) + 2 > contract.TRANSACTION_MAX_ITEMS:
            raise TransactionLimit(f"more than {contract.TRANSACTION_MAX_ITEMS - 1} writes; {_WAY_OUT}")
        self._grow(size)
        self._items.add(identity)
        self._writes.append(write)
        self._refusals.append(if_condition_fails)

    def _grow(self, size: int) -> None:
        if self._bytes + size > contract.TRANSACTION_MAX_BYTES:
            limit = contract.TRANSACTION_MAX_BYTES - INBOX_ROW_BYTES
            raise TransactionLimit(f"more than {limit} bytes in one transaction; {_WAY_OUT}")
        self._bytes += size

    def _find(self, write: TableWrite) -> int | None:
        """Place of an earlier append to the same list."""
        for place, one in enumerate(self._writes):
            if (one.table, one.key, one.update, one.names) == (write.table, write.key, write.update, write.names):
                return place
        return None


def _write(
    action: str,
    table: Table,
    key: Mapping[str, Any],
    condition: Condition | None,
    *,
    item: Mapping[str, Any] | None = None,
    update: str | None = None,
    names: Mapping[str, str] | None = None,
    values: Mapping[str, Any] | None = None,
) -> TableWrite:
    return TableWrite(
        action=action,  # type: ignore[arg-type]  # the callers above spell the four actions
        table=table.name,
        key=dict(key),
        item=item,
        update=update,
        condition=condition.expression if condition else None,
        names=_merged(names or {}, condition.names if condition else {}),
        values=_merged(values or {}, condition.values if condition else {}),
    )


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    clash = [name for name in first if name in second and first[name] != second[name]]
    if clash:
        raise TransactionLimit(f"placeholder {clash[0]} means two things in one write; give one of them another name")
    return {**first, **second}


def _size(write: TableWrite) -> int:
    try:
        return item_size(write.item or write.key) + item_size(write.values)
    except TypeError as error:
        raise TransactionLimit(f"table {write.table}: {error}") from None
