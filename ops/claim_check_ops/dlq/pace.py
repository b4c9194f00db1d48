"""How fast a redrive goes: messages and bytes per second, at once (R9.2). Pure: time is told, nothing waits here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from claim_check import contract
from claim_check.packing import Item, Limits, pack, rounds

BURST_SECONDS: Final = 0.2
"""So much of a second's worth may go at once: that is how large one call of SendMessageBatch becomes."""


_ROUNDING: Final = 1e-9
"""Shares of a burst that are no more than the rounding of numbers: no clock could tell when that time has passed."""


class TokenBucket:
    """Lets through a rate, and at most a burst at once.

    What is larger than the burst goes through when the bucket is full, and leaves a debt that the next one waits for.
    So in any stretch of time no more than ``burst + rate * seconds`` went through before its last one.
    """

    def __init__(self, rate: float, *, burst: float, now: float) -> None:
        """Begin full.

        Args:
            rate: Tokens per second; more than zero.
            burst: What it holds.
            now: Seconds, of a clock that never goes back.
        """
        self._rate = rate
        self._burst = burst
        self._level = burst
        self._at = now

    def wait(self, cost: float, now: float) -> float:
        """Seconds until so much may go through."""
        missing = min(cost, self._burst) - self._filled(now)
        return missing / self._rate if missing > _ROUNDING * self._burst else 0.0

    def take(self, cost: float, now: float) -> None:
        """Let it through now, whatever `wait` says."""
        self._level, self._at = self._filled(now) - cost, max(now, self._at)

    def _filled(self, now: float) -> float:
        return min(self._burst, self._level + self._rate * max(0.0, now - self._at))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The two limits of a redrive.

    Attributes:
        rate: Messages per second.
        bytes_per_second: Payload bytes per second; None limits messages only.
    """

    rate: float
    bytes_per_second: float | None = None

    @property
    def per_call(self) -> int:
        """Messages of one call: ten at most, and not many at once where the rate is low."""
        return max(1, min(contract.SQS_MAX_BATCH_ENTRIES, math.floor(self.rate * BURST_SECONDS)))

    def seconds(self, *, messages: int, payload_bytes: int) -> float:
        """How long so much takes at least."""
        by_bytes = 0.0 if self.bytes_per_second is None else payload_bytes / self.bytes_per_second
        return max(messages / self.rate, by_bytes)


class Pace:
    """Both limits at once."""

    def __init__(self, limit: Limit, *, now: float) -> None:
        """Begin.

        Args:
            limit: The limits.
            now: Seconds, of a clock that never goes back.
        """
        self._messages = TokenBucket(limit.rate, burst=max(1.0, limit.per_call), now=now)
        by_bytes = limit.bytes_per_second
        self._bytes = None if by_bytes is None else TokenBucket(by_bytes, burst=by_bytes, now=now)

    def wait(self, *, messages: int, payload_bytes: int, now: float) -> float:
        """Seconds until so much may go."""
        by_bytes = 0.0 if self._bytes is None else self._bytes.wait(payload_bytes, now)
        return max(self._messages.wait(messages, now), by_bytes)

    def take(self, *, messages: int, payload_bytes: int, now: float) -> None:
        """So much goes now."""
        self._messages.take(messages, now)
        if self._bytes is not None:
            self._bytes.take(payload_bytes, now)


def calls(items: Sequence[Item], payload_bytes: Sequence[int], limit: Limit) -> Iterator[list[int]]:
    """Split messages into calls: in order, no group twice in one, none with more payload than a second allows.

    A payload that is larger than that on its own gets a call of its own.

    Args:
        items: The messages, by their places.
        payload_bytes: Bytes of each one's payload, by place.
        limit: The limits.

    Yields:
        The places of one call's messages.
    """
    for one_round in rounds(items):
        for call in pack(one_round, Limits(entries=limit.per_call)):
            yield from _by_payload([item.index for item in call], payload_bytes, limit.bytes_per_second)


def _by_payload(call: Iterable[int], payload_bytes: Sequence[int], most: float | None) -> Iterator[list[int]]:
    part: list[int] = []
    total = 0
    for place in call:
        if part and most is not None and total + payload_bytes[place] > most:
            yield part
            part, total = [], 0
        part.append(place)
        total += payload_bytes[place]
    if part:
        yield part
