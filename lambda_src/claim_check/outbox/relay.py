"""What publishes outbox rows: at least once, in order per group, each under a claim with an owner and an end (R3.1).

A relay that stalls past its claim may send once more what another has sent since: under the same ids and with the same
body, which SQS's deduplication or the inbox absorbs. It records nothing any more (`claim_check.outbox.claims`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from claim_check import contract, packing, sizes
from claim_check.contract import (
    DEFAULT_OUTBOX_ATTEMPTS,
    DEFAULT_OUTBOX_SECONDS,
    OUTBOX_BACKOFF,
    Backoff,
    ErrorCode,
    Metric,
    OnPoison,
)
from claim_check.errors import PublishError, Unavailable
from claim_check.outbox.claims import Claim, Desk, GroupClaim, RowClaim
from claim_check.outbox.ports import OutboxTable
from claim_check.outbox.rows import OutboxRow
from claim_check.ports import Clock, Level, MessageQueue, SendResult, Telemetry

TOO_OLD: Final = "TooOld"
"""Why a row is parked whose payload may be gone before its message."""

REFUSED: Final = "Refused"
"""Why a row is parked that the queue does not take."""

UNKNOWN_DESTINATION: Final = "UnknownDestination"
"""Why a row is parked whose destination is not part of the outbox any more."""

MARGIN_SECONDS: Final = 3.0
"""No send begins with less time left."""

OUTAGE_SECONDS: Final = 15
"""A row is left alone for this long after an outage of its queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Where rows of a destination go.

    Attributes:
        queue_url: The queue.
        on_poison: What a row that cannot be sent does to its FIFO group.
    """

    queue_url: str
    on_poison: OnPoison = "block"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayRules:
    """How a relay works.

    Attributes:
        ttl_seconds: How long a row is remembered once it was sent.
        before_send_seconds: How old a row may be when it is sent.
        max_attempts: Refusals by the queue after which a row is parked.
        backoff: Delays after refusals.
    """

    ttl_seconds: int
    before_send_seconds: float = DEFAULT_OUTBOX_SECONDS
    max_attempts: int = DEFAULT_OUTBOX_ATTEMPTS
    backoff: Backoff = OUTBOX_BACKOFF


@dataclass(frozen=True, slots=True)
class Relayed:
    """What a run came to.

    Attributes:
        sent: Rows that were sent.
        failed: Those of the given keys that have to be given again: the table did not answer.
    """

    sent: int
    failed: frozenset[str]


@dataclass(slots=True)
class _Run:
    """One run: what it has claimed, and how it goes."""

    desk: Desk
    ends: float
    claims: dict[str, Claim] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    sent: int = 0


class Relay:
    """Publishes rows of one outbox."""

    def __init__(
        self,
        table: OutboxTable,
        queue: MessageQueue,
        *,
        routes: Mapping[str, Route],
        rules: RelayRules,
        clock: Clock,
        new_token: Callable[[], str],
        random: Callable[[], float],
        telemetry: Telemetry,
    ) -> None:
        """Make a relay.

        Args:
            table: The outbox.
            queue: How messages are sent.
            routes: Where to, by the name of the destination.
            rules: How it works.
            clock: Time.
            new_token: Makes owner tokens, never the same twice.
            random: Draws from [0, 1) for the jitter.
            telemetry: Logs and metrics.
        """
        self._table = table
        self._queue = queue
        self._routes = routes
        self._rules = rules
        self._clock = clock
        self._new_token = new_token
        self._random = random
        self._telemetry = telemetry

    def run(self, keys: Sequence[str], *, remaining_seconds: float) -> Relayed:
        """Publish what these rows say, and what stands before and behind them in their groups.

        Args:
            keys: Keys of rows, in any number.
            remaining_seconds: Time that this process has left.

        Raises:
            ReadRefused: The table refuses.
            Unavailable: The table did not answer: nothing was done.
        """
        wanted = list(dict.fromkeys(keys))
        found = self._table.rows(wanted)
        pending = [row for key in wanted if (row := found.get(key)) is not None and row.state == "PENDING"]
        run = self._start(remaining_seconds)
        self._claim_all(pending, run)
        while run.claims and self._goes_on(run):
            self._round(run)
        for claim in list(run.claims.values()):
            self._guarded(claim.name, claim.let_go, run)
        failed = frozenset(row.key for row in pending if {row.key, row.group_key} & run.failed)
        return Relayed(run.sent, failed)

    def _start(self, remaining_seconds: float) -> _Run:
        desk = Desk(
            table=self._table,
            owner=self._new_token(),
            until=self._clock.now() + remaining_seconds + contract.LEASE_SLACK_SECONDS,
            ttl_seconds=self._rules.ttl_seconds,
            clock=self._clock,
            random=self._random,
        )
        return _Run(desk, ends=self._clock.monotonic() + remaining_seconds - MARGIN_SECONDS)

    def _goes_on(self, run: _Run) -> bool:
        """Whether there is time to send: this process's, and on the clock by which others take claims over."""
        return self._clock.monotonic() < run.ends and self._clock.now() + MARGIN_SECONDS < run.desk.until

    # --- Claims -----------------------------------------------------------------------------------------------------

    def _claim_all(self, rows: Sequence[OutboxRow], run: _Run) -> None:
        for row in rows:
            name = row.group_key or row.key
            if name in run.claims or name in run.failed or not self._goes_on(run):
                continue
            self._guarded(name, partial(self._claim, row, name, run), run)

    def _claim(self, row: OutboxRow, name: str, run: _Run) -> None:
        """Take the right to a row, or to its whole group; whoever is at it already goes on alone."""
        claim: Claim | None
        if row.group_key is None:
            claim = RowClaim.take(name, run.desk)
        else:
            route = self._routes.get(row.destination)
            claim = GroupClaim.take(name, row.destination, route.on_poison if route else "block", run.desk)
        if claim is not None:
            run.claims[name] = claim

    def _guarded(self, name: str, act: Callable[[], object], run: _Run) -> None:
        """Act on a claim; where the table does not answer, give that claim up, and go on with the others."""
        try:
            act()
        except Unavailable as error:
            run.claims = {key: claim for key, claim in run.claims.items() if key != name}
            run.failed.add(name)
            self._telemetry.count(error.code)
            self._telemetry.log("warning", str(error), errorCode=error.code, call="outbox")

    # --- One round: no two rows of a group --------------------------------------------------------------------------

    def _round(self, run: _Run) -> None:
        """Send one row of each claim, in as few calls as their number and bytes allow (R2.7)."""
        ready: list[tuple[Claim, OutboxRow]] = []
        for name, claim in list(run.claims.items()):
            self._guarded(name, partial(self._look, claim, ready, run), run)
        by_queue: dict[str, list[tuple[Claim, OutboxRow]]] = {}
        for claim, row in ready:
            by_queue.setdefault(self._routes[row.destination].queue_url, []).append((claim, row))
        for queue_url, ours in by_queue.items():
            items = [packing.Item(place, sizes.message_bytes(row.message)) for place, (_, row) in enumerate(ours)]
            for call in packing.pack(items):
                if self._goes_on(run):
                    self._send(queue_url, [ours[item.index] for item in call], run)

    def _look(self, claim: Claim, ready: list[tuple[Claim, OutboxRow]], run: _Run) -> None:
        """Find what a claim has to be sent now; park what must not be sent any more."""
        while (row := claim.next()) is not None:
            reason = self._unsendable(row)
            if reason is None:
                ready.append((claim, row))
                return
            if not self._park(claim, row, *reason):
                break
        del run.claims[claim.name]
        claim.let_go()

    def _unsendable(self, row: OutboxRow) -> tuple[str, str] | None:
        """Why a row must not be sent any more: a code, and a text that may be logged."""
        if row.destination not in self._routes:
            return UNKNOWN_DESTINATION, "the outbox has no such destination any more; add it again, then retry the row"
        age, limit = self._clock.now() - row.staged_at, self._rules.before_send_seconds
        if age > limit:
            return TOO_OLD, f"staged {age:.0f} s ago, more than before_send = {limit:.0f} s; its payload may be gone"
        return None

    def _send(self, queue_url: str, call: Sequence[tuple[Claim, OutboxRow]], run: _Run) -> None:
        """Send messages of one queue, and write down what became of each."""
        try:
            results = self._queue.send_batch(queue_url, [row.message for _, row in call])
        except Unavailable as error:
            results = [SendResult(error_code=error.code)] * len(call)
        except PublishError as error:
            if len(call) > 1:  # one message may have had the whole call refused
                for one in call:
                    self._send(queue_url, [one], run)
                return
            results = [SendResult(error_code=type(error).__name__, sender_fault=True)]
        for (claim, row), result in zip(call, results, strict=True):
            self._guarded(claim.name, partial(self._settle, claim, row, result, run), run)

    # --- What became of a row ---------------------------------------------------------------------------------------

    def _settle(self, claim: Claim, row: OutboxRow, result: SendResult, run: _Run) -> None:
        if result.sqs_message_id is not None:
            self._sent(claim, row, result.sqs_message_id, run)
        elif not result.sender_fault:
            self._postpone(claim, row, ErrorCode.UNAVAILABLE, f"the queue did not take it: {result.error_code}")
        elif row.attempts + 1 < self._rules.max_attempts:
            self._postpone(claim, row, REFUSED, f"the queue refused it: {result.error_code}", counted=True)
        else:
            row = replace(row, attempts=row.attempts + 1)
            self._park(claim, row, REFUSED, f"the queue refused it {row.attempts} times: {result.error_code}")

    def _sent(self, claim: Claim, row: OutboxRow, sqs_message_id: str, run: _Run) -> None:
        now = self._clock.now()
        sent = replace(
            row,
            state="SENT",
            body=None,
            attributes={},
            owner=None,
            lease_until=0.0,
            updated_at=now,
            ttl=int(now) + self._rules.ttl_seconds,
            sqs_message_id=sqs_message_id,
        )
        run.sent += 1
        self._telemetry.count(Metric.OUTBOX_LAG, max(0.0, now - row.staged_at))
        self._telemetry.count(Metric.PUBLISHED)
        self._telemetry.count(Metric.PUBLISHED_BYTES, row.payload_bytes)
        if row.payload_key is not None:
            self._telemetry.count(Metric.PUBLISHED_CLAIMS)
        if claim.settle(sent):
            self._log("info", "published", sent)
        else:
            self._log("warning", "published, but another relay has taken it over", row, ErrorCode.UNAVAILABLE)

    def _postpone(self, claim: Claim, row: OutboxRow, code: str, text: str, *, counted: bool = False) -> None:
        """Leave a row for later; a group waits with it."""
        attempts = row.attempts + counted
        delay = self._rules.backoff.delay(attempts, self._random()) if counted else OUTAGE_SECONDS
        now = self._clock.now()
        row = row if counted else replace(row, doubtful=True)  # the queue may have taken it all the same
        later = self._changed(row, code, text, attempts=attempts, due_at=now + delay)
        claim.settle(later)
        self._telemetry.count(code)
        self._log("warning", text, later, code)

    def _park(self, claim: Claim, row: OutboxRow, code: str, text: str) -> bool:
        """Set a row aside for an operator. Whether it was ours."""
        parked = self._changed(row, code, text, state="PARKED")
        if not claim.settle(parked):
            return False
        self._telemetry.count(Metric.PARKED)
        self._log("error", text, parked, code)
        return True

    def _changed(self, row: OutboxRow, code: str, text: str, **changes: object) -> OutboxRow:
        free = replace(
            row,
            owner=None,
            lease_until=0.0,
            left_by=None,
            doubtful=row.doubtful or row.left_by is not None,
            updated_at=self._clock.now(),
            last_code=code,
            last_message=text,
        )
        return replace(free, **changes)  # type: ignore[arg-type]  # fields of the row

    def _log(self, level: Level, text: str, row: OutboxRow, code: str | None = None) -> None:
        route = self._routes.get(row.destination)
        self._telemetry.log(
            level,
            text,
            errorCode=code,
            queue=route.queue_url.rpartition("/")[2] if route else None,
            sqsMessageId=row.sqs_message_id,
            attempts=row.attempts,
            state=row.state,
            **row.log_fields,
        )
