"""What becomes of the copies of a redrive: the inbox's rows say it (R9.1, step 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from claim_check.contract import ErrorCode
from claim_check.ports import InboxReader, InboxRow

Fate = Literal["open", "completed", "failed"]

AT_ONCE: Final = 500
"""Rows asked for in one look: the longest sent come first."""

_NOT_ITS_FAULT: Final = frozenset({ErrorCode.UNAVAILABLE})


@dataclass(slots=True)
class Copy:
    """A copy that was sent.

    Attributes:
        letter_id: SQS's id of the dead letter.
        copy_id: SQS's id of the copy.
        key: Key of its identity's inbox row.
        fate: What became of it.
        code: Why it failed.
        final: Whether that can change.
    """

    letter_id: str
    copy_id: str
    key: str
    fate: Fate = "open"
    code: str | None = None
    final: bool = False


class Outcomes:
    """Watches the copies of one redrive."""

    def __init__(self, inbox: InboxReader) -> None:
        """Watch nothing yet."""
        self._inbox = inbox
        self._copies: dict[str, Copy] = {}

    @property
    def copies(self) -> Sequence[Copy]:
        """All copies, as they were sent."""
        return list(self._copies.values())

    def count(self, fate: Fate) -> int:
        """How many copies had this fate when last looked at."""
        return sum(copy.fate == fate for copy in self._copies.values())

    def sent(self, *, letter_id: str, copy_id: str, key: str) -> Copy:
        """Watch a copy, too."""
        copy = Copy(letter_id, copy_id, key)
        self._copies[copy_id] = copy
        return copy

    def came_back(self, copy_id: str, code: str) -> bool:
        """A copy lies in the DLQ again, whether the inbox says so or not; whether it is one of those watched here."""
        copy = self._copies.get(copy_id)
        if copy is None:
            return False
        copy.fate, copy.code, copy.final = "failed", code, True
        return True

    def look(self) -> None:
        """Ask the inbox about copies whose fate is not final.

        Raises:
            Unavailable: It does not answer.
            ReadRefused: It refuses.
        """
        asked = [copy for copy in self._copies.values() if not copy.final][:AT_ONCE]
        if not asked:
            return
        rows = self._inbox.rows([copy.key for copy in asked])
        for copy in asked:
            _judge(copy, rows.get(copy.key))


def _judge(copy: Copy, row: InboxRow | None) -> None:
    if row is None:
        return
    if row.state == "COMPLETED":  # by this copy, or by another delivery of the same event
        copy.fate, copy.code, copy.final = "completed", None, True
    elif row.sqs_message_id != copy.copy_id:
        return
    elif row.state in {"PARKED", "PARKING"}:
        copy.fate, copy.code, copy.final = "failed", row.last_code, row.state == "PARKED"
    elif row.state == "FAILED" and row.last_code not in _NOT_ITS_FAULT:
        copy.fate, copy.code = "failed", row.last_code
    else:
        copy.fate, copy.code = "open", None
