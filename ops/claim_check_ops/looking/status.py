"""How a consumer is, and whether a person is needed. Pure, but for the ports it asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from claim_check import contract
from claim_check.archive_job import stands_since
from claim_check_ops.looking.ports import Depth

if TYPE_CHECKING:
    from claim_check.contract import InboxState
    from claim_check.ports import InboxReader, InboxRow
    from claim_check.settings import ConsumerSettings
    from claim_check_ops.looking.ports import Pollers, Queues
    from claim_check_ops.pipelines import FoundConsumer

MAX_ROWS: Final = 10_000
"""Rows that are read of each state, unless told otherwise: then the numbers are lower bounds."""

POLLING: Final = frozenset({"Creating", "Enabled", "Enabling", "Updating"})
"""States of an event source mapping in which messages are, or soon will be, received."""

_OPEN: Final[tuple[InboxState, ...]] = ("IN_PROGRESS", "FAILED", "PARKING", "PARKED")
_NO_CODE: Final = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWork:
    """What the inbox holds of work that is not completed.

    Attributes:
        in_progress: Being worked on.
        overdue: Their lease has ended: the next delivery takes them over.
        stuck: Nobody has worked on them for long.
        blocked: Their attempts are used up where nothing may be parked: their group waits.
        failed: Waiting for their next attempt, by the code of the last.
        parking: Being parked.
        parked: Parked, by code, for as long as the inbox remembers; the DLQ says what is still there.
        oldest_seconds: Since the first sight of the oldest that is not parked; None if there is none.
        complete: Whether all rows were read; otherwise every number is a lower bound.
    """

    in_progress: int
    overdue: int
    stuck: int
    blocked: int
    failed: Mapping[str, int]
    parking: int
    parked: Mapping[str, int]
    oldest_seconds: float | None
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How a consumer is.

    Attributes:
        consumer: Its name.
        function: Its Lambda function, if it has one.
        polling: States of what lets Lambda poll; None outside Lambda.
        queue: Messages in its queue.
        queue_oldest_seconds: Age of the oldest message there; None if it is not known.
        dlq: Messages in its DLQ; None if it has none.
        dlq_oldest_seconds: Age of the oldest message there; None if it is not known.
        work: What its inbox says.
    """

    consumer: str
    function: str | None
    polling: Sequence[str] | None
    queue: Depth
    queue_oldest_seconds: float | None
    dlq: Depth | None
    dlq_oldest_seconds: float | None
    work: OpenWork

    @property
    def problems(self) -> list[str]:
        """Why a person is needed; empty if none is."""
        said = {
            "dead letters": bool(self.dlq and self.dlq.total),
            "stuck work": self.work.stuck > 0,
            "blocked groups": self.work.blocked > 0,
            "not polling": self.polling is not None and not POLLING & set(self.polling),
        }
        return [problem for problem, applies in said.items() if applies]


def status_of(
    found: FoundConsumer,
    *,
    queues: Queues,
    pollers: Pollers,
    inbox: InboxReader,
    now: float,
    stuck_after: float = contract.DEFAULT_STUCK_SECONDS,
    max_rows: int = MAX_ROWS,
) -> Status:
    """Look at a consumer: its queues, its inbox, and what polls for it.

    Args:
        found: The consumer.
        queues: Looks at queues.
        pollers: Looks at event source mappings.
        inbox: Reads its inbox.
        now: Epoch seconds.
        stuck_after: For how many seconds nobody must have worked on a row for it to count as stuck.
        max_rows: Rows that are read of each state.

    Raises:
        ReadRefused: Something refuses to be looked at.
        Unavailable: Something did not answer.
    """
    settings, function = found.settings, found.function
    dlq = settings.dlq_url
    return Status(
        consumer=settings.consumer,
        function=function,
        polling=None if function is None else pollers.states(function, settings.queue_url),
        queue=queues.depth(settings.queue_url),
        queue_oldest_seconds=queues.oldest_seconds(settings.queue_url),
        dlq=None if dlq is None else queues.depth(dlq),
        dlq_oldest_seconds=None if dlq is None else queues.oldest_seconds(dlq),
        work=open_work(settings, inbox, now=now, stuck_after=stuck_after, max_rows=max_rows),
    )


def open_work(
    settings: ConsumerSettings, inbox: InboxReader, *, now: float, stuck_after: float, max_rows: int
) -> OpenWork:
    """Count a consumer's rows that are not completed. See `status_of`."""
    rows = {state: _first(inbox.open_rows(settings.consumer, state=state), max_rows + 1) for state in _OPEN}
    unfinished = [row for state in _OPEN if state != "PARKED" for row in rows[state][:max_rows]]
    return OpenWork(
        in_progress=len(rows["IN_PROGRESS"][:max_rows]),
        overdue=sum(is_overdue(row, now) for row in unfinished),
        stuck=sum(now - stands_since(row) > stuck_after for row in unfinished),
        blocked=sum(settings.dlq_url is None and is_used_up(row, settings.max_attempts) for row in unfinished),
        failed=_by_code(rows["FAILED"][:max_rows]),
        parking=len(rows["PARKING"][:max_rows]),
        parked=_by_code(rows["PARKED"][:max_rows]),
        oldest_seconds=max((now - row.first_seen_at for row in unfinished), default=None),
        complete=all(len(found) <= max_rows for found in rows.values()),
    )


def is_overdue(row: InboxRow, now: float) -> bool:
    """Whether a lease has ended without its work: the worker died, or lost touch."""
    return row.state in {"IN_PROGRESS", "PARKING"} and row.lease_until <= now


def is_used_up(row: InboxRow, max_attempts: int) -> bool:
    """Whether a message has failed as often as one may that could be parked."""
    return row.state == "FAILED" and row.attempts >= max_attempts


def _first(rows: Iterable[InboxRow], count: int) -> list[InboxRow]:
    return list(islice(rows, count))


def _by_code(rows: Iterable[InboxRow]) -> dict[str, int]:
    return dict(sorted(Counter(row.last_code or _NO_CODE for row in rows).items()))
