"""Which dead letters are meant: by reason, tenant, type, id, age (R9.1). Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from claim_check_ops.dlq.letters import DeadLetter

_AGE: Final = re.compile(r"(?P<number>\d+(\.\d+)?)(?P<unit>[smhd])", re.ASCII)
_SIZE: Final = re.compile(r"(?P<number>\d+(\.\d+)?) ?(?P<unit>[kmg]?i?b?)", re.ASCII | re.IGNORECASE)
_UNITS: Final = {
    f"{prefix}{binary}{b}": (1024 if binary else 1000) ** power
    for power, prefix in enumerate(("", "k", "m", "g"))
    for binary in ("", "i")
    for b in ("", "b")
}
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


class InvalidAge(ValueError):
    """A text is no age."""


def parse_age(text: str) -> float:
    """Seconds of an age such as ``90s``, ``15m``, ``6h`` or ``3d``.

    Raises:
        InvalidAge: It is none.
    """
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise InvalidAge(f"{text!r} is no age; write a number and a unit: 90s, 15m, 6h, 3d")
    return float(found["number"]) * _SECONDS[found["unit"]]


class InvalidSize(ValueError):
    """A text is no number of bytes."""


def parse_size(text: str) -> float:
    """Bytes of a size such as ``500kB``, ``20MB`` or ``16MiB``; a number alone is bytes.

    Raises:
        InvalidSize: It is none, or zero.
    """
    found = _SIZE.fullmatch(text.strip())
    size = float(found["number"]) * _UNITS[found["unit"].lower()] if found else 0.0
    if size <= 0:
        raise InvalidSize(f"{text!r} is no size; write a number above zero and a unit: 500kB, 20MB, 16MiB")
    return size


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which dead letters are meant; empty means all of them.

    Attributes:
        reasons: Reasons, as `list` shows them.
        tenants: Tenants.
        types: Event types.
        ids: Ids: of the event, or SQS's of the dead letter or of the message that was parked.
        older_than: They have been in the DLQ for longer than so many seconds.
        newer_than: They have been there for no longer than so many seconds.
    """

    reasons: Collection[str] = ()
    tenants: Collection[str] = ()
    types: Collection[str] = ()
    ids: Collection[str] = ()
    older_than: float | None = None
    newer_than: float | None = None

    def takes(self, letter: DeadLetter, *, now: float) -> bool:
        """Whether a dead letter is meant.

        Args:
            letter: The dead letter, with its row if SQS itself moved it.
            now: Epoch seconds.
        """
        age = now - letter.died_at
        return (
            (not self.reasons or letter.reason in self.reasons)
            and (not self.tenants or letter.tenant_id in self.tenants)
            and (not self.types or letter.event_type in self.types)
            and (not self.ids or not ids_of(letter).isdisjoint(self.ids))
            and (self.older_than is None or age > self.older_than)
            and (self.newer_than is None or age <= self.newer_than)
        )

    def document(self) -> dict[str, object]:
        """For the journal: what a resumed redrive must have in common with the one that it continues."""
        return {
            "reasons": sorted(self.reasons),
            "tenants": sorted(self.tenants),
            "types": sorted(self.types),
            "ids": sorted(self.ids),
            "olderThan": self.older_than,
            "newerThan": self.newer_than,
        }


def ids_of(letter: DeadLetter) -> set[str]:
    """All ids by which a person may know a dead letter."""
    found = {letter.id, letter.delivery.first_message_id}
    if letter.envelope is not None:
        found |= {letter.envelope.message_id, letter.envelope.idempotency_key}
    if letter.parked is not None:
        found.add(letter.parked.original_message_id)
    return found
