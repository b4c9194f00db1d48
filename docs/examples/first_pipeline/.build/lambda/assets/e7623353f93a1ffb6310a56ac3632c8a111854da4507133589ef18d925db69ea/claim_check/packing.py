"""How messages are packed into calls of SendMessageBatch (R2.7). Pure: it knows sizes and groups, not messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from claim_check import contract


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call takes; other services have other figures."""

    entries: int = contract.SQS_MAX_BATCH_ENTRIES
    size: int = contract.SQS_MAX_MESSAGE_BYTES


SQS: Final = Limits()


@dataclass(frozen=True, slots=True)
class Item:
    """A message to be packed.

    Attributes:
        index: Its place in the caller's order.
        size: Bytes, with what is reserved for tracers.
        group: What it must not overtake; None on standard queues.
    """

    index: int
    size: int
    group: str | None = None


def pack(items: Iterable[Item], limits: Limits = SQS) -> list[list[Item]]:
    """Pack items into calls, in order, as many into each as its count and bytes allow.

    An item that exceeds a call on its own gets a call of its own: the queue's answer to it is the right one.
    """
    calls: list[list[Item]] = []
    room, total = 0, 0
    for item in items:
        if room == 0 or total + item.size > limits.size:
            calls.append([])
            room, total = limits.entries, 0
        calls[-1].append(item)
        room, total = room - 1, total + item.size
    return calls


def rounds(items: Sequence[Item]) -> list[list[Item]]:
    """Split items so that no group appears twice in a round.

    SendMessageBatch can refuse one entry and accept a later one of the same group, so one call never holds two of a
    group: round n has the n-th item of every group, and starts when round n - 1 is settled. Items without a group all
    go in the first round.
    """
    found: list[list[Item]] = []
    seen: dict[str, int] = {}
    for item in items:
        number = seen.get(item.group, 0) if item.group is not None else 0
        if item.group is not None:
            seen[item.group] = number + 1
        if number == len(found):
            found.append([])
        found[number].append(item)
    return found


def to_offload(sizes: Sequence[int], offloaded_sizes: Sequence[int | None], limits: Limits = SQS) -> list[int]:
    """Which of the messages of one call to move to S3 so that they fit: the largest first, and no more than needed.

    Args:
        sizes: Bytes of each message as it is.
        offloaded_sizes: Bytes of each with its payload in S3; None for one whose payload is there already.
        limits: What one call takes.

    Returns:
        Positions; if even all of them do not make the call fit, all that would help.
    """
    excess = sum(sizes) - limits.size
    chosen: list[int] = []
    for position in sorted(range(len(sizes)), key=lambda position: -sizes[position]):
        small = offloaded_sizes[position]
        if excess <= 0:
            break
        if small is not None and small < sizes[position]:
            chosen.append(position)
            excess -= sizes[position] - small
    return chosen
