"""An executable model of the consumer's protocol (DESIGN section 3), small enough to look at every interleaving.

The world of the model: one identity, a standard queue that delivers at least once, two workers, a DLQ. Leases end at
any moment, a message may be delivered again at any moment, a worker may die between any two calls, any answer may be
lost, the infrastructure may fail, SQS may move a message to the DLQ by itself, and what lies in the DLQ may be redriven
under new message ids.

What happens to the row is not modelled: every step of a worker that touches it calls the library's own `Inbox` (and so
`may_take`, `taken` and `judge`) on a table of one row. What the model adds is what `Processor` and `Consumer` do
between those calls, and everything that can go wrong there.

In every reachable state:

1. the effect was applied at most once;
2. nothing is lost: it was applied, or a message or a copy still exists;
3. COMPLETED is final;
4. a life has so many attempts and no more, refunds not counted, and nothing is parked for them before;
5. from every state the source queue can still become empty: nobody waits for something that never comes.

Each name of `BUGS` breaks one rule on purpose, and some scenario must then fail.

Run: python -m tests.protocol_model [--bug NAME]
"""

from __future__ import annotations

import gc
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from claim_check import contract
from claim_check.contract import ErrorCode, InboxState
from claim_check.delivery import Delivery
from claim_check.envelope import Envelope, Inline
from claim_check.errors import LostLease
from claim_check.inbox import Inbox, Lease, Verdict, may_take, taken
from claim_check.ports import Guard, InboxRow, Refused, TableWrite, Taken
from tests.fakes.clock import FakeClock
from tests.fakes.inbox_table import FakeInboxTable

MAX_ATTEMPTS = 2
FRESH = 9
"""Number of a token or lease that was just made; canonical states have smaller ones."""


class Row(NamedTuple):
    """An inbox row, as far as the protocol looks at it.

    Attributes:
        state: State.
        owner: Token of its owner; 0 if nobody has it any more.
        lease: Number of its lease, 0 for none. Only equality matters.
        attempts: Attempts of this life.
        life: SQS message id.
        crashed: Whether its last code is HandlerCrashed.
    """

    state: InboxState
    owner: int
    lease: int
    attempts: int
    life: int
    crashed: bool


class Worker(NamedTuple):
    """A worker between two calls.

    Attributes:
        step: What it does next.
        mid: SQS message id of what it works on.
        held: The row as it believes it to be.
    """

    step: str
    mid: int
    held: Row | None


class State(NamedTuple):
    """The whole world.

    Attributes:
        row: The identity's row.
        ended: Whether the lease of the row has ended.
        effect: How often the effect was applied.
        tries: Attempts that count in the row's present life, by the model's own count.
        queue: Messages in the source queue; each can be received at any time.
        dlq: Messages with a copy in the DLQ.
        workers: The workers.
        next_id: SQS's next message id.
        crashes: Deaths left.
        redrives: Redrives left.
        native: Moves by SQS itself left.
        outages: Failures of the infrastructure left.
    """

    row: Row | None
    ended: bool
    effect: int
    tries: int
    queue: frozenset[int]
    dlq: frozenset[int]
    workers: tuple[Worker, ...]
    next_id: int
    crashes: int
    redrives: int
    native: int
    outages: int


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Where the world starts, how much of each mishap is left in it, and whether workers extend their leases."""

    workers: int = 2
    messages: int = 1
    crashes: int = 0
    redrives: int = 0
    native: int = 0
    outages: int = 0
    heartbeats: bool = False


SCENARIOS = {
    "two deaths": Scenario(crashes=2),
    "redriven, a death": Scenario(crashes=1, redrives=1),
    "outages, a death": Scenario(crashes=1, outages=2),
    "moved by SQS, redriven": Scenario(native=1, redrives=1),
    "two messages, a death": Scenario(messages=2, crashes=1),
    "two messages, one moved by SQS": Scenario(messages=2, native=1, crashes=1),
    "heartbeats, two deaths": Scenario(crashes=2, outages=1, heartbeats=True),
}

BUGS = {
    "ack-on-lost-lease": Scenario(crashes=1),
    "ack-while-leased": Scenario(crashes=1),
    "attempts-not-counted": Scenario(),
    "attempts-outlive-a-life": Scenario(redrives=1),
    "commit-not-fenced": Scenario(),
    "completed-is-taken": Scenario(),
    "failure-not-fenced": Scenario(),
    "park-not-fenced": Scenario(),
    "parked-always-acked": Scenario(redrives=1),
    "parked-before-copied": Scenario(crashes=1),
    "parked-not-fenced": Scenario(messages=2),
    "parking-left-is-acked": Scenario(crashes=1),
    "parking-never-taken-over": Scenario(workers=1, crashes=1, native=1, messages=2),
    "refunds-count": Scenario(outages=1),
    "suspects-pay": Scenario(crashes=1),
}
"""Rules that can be broken on purpose, and the smallest scenario that shows it."""

IDLE = Worker("idle", 0, None)
CONSUMER = "c"
ENVELOPE = Envelope(
    message_id="m",
    event_type="T",
    tenant_id="t",
    idempotency_key="m",
    payload=Inline(content_type="text/plain", body=""),
    domain_ref={},
)
KEY = contract.inbox_key(consumer=CONSUMER, tenant_id="t", idempotency_key="m")
EFFECT = TableWrite(action="Put", table="effects", key={"pk": "1"}, item={"pk": "1"})


# --- The library's own code, on a table of one row ------------------------------------------------------------------


class Table(FakeInboxTable):
    """The fake of the tests, with rules that can be broken."""

    def __init__(self, row: Row | None, bug: str) -> None:
        """Hold one row, or none."""
        super().__init__(rows={KEY: _lift(row)} if row else {})
        self.bug = bug

    def take(self, wanted: InboxRow, *, now: float, max_attempts: int) -> Taken | Refused:
        """The gate."""
        row = self.rows.get(wanted.key)
        broken = row is not None and self.bug == "completed-is-taken" and row.state == "COMPLETED"
        shut = {"parking-never-taken-over": "PARKING", "parked-always-acked": "PARKED"}.get(self.bug)
        if row is not None and row.state == shut:
            return Refused(row)
        if broken or may_take(row, wanted, now=now, max_attempts=max_attempts):
            after = taken(wanted, row)
            self.rows[wanted.key] = replace(after, attempts=1) if self.bug == "attempts-not-counted" else after
            return Taken(self.rows[wanted.key], row)
        return Refused(row)

    def _matches(self, key: str, guard: Guard | None) -> bool:
        return self.bug.endswith("-not-fenced") or super()._matches(key, guard)


def _lift(row: Row) -> InboxRow:
    return InboxRow(
        key=KEY,
        state=row.state,
        consumer=CONSUMER,
        sqs_message_id=str(row.life),
        fingerprint=ENVELOPE.fingerprint,
        owner=str(row.owner),
        lease_until=100.0 * row.lease,
        attempts=row.attempts,
        last_code=ErrorCode.HANDLER_CRASHED if row.crashed else ErrorCode.HANDLER_FAILED,
    )


def _lower(row: InboxRow) -> Row:
    crashed = row.last_code == ErrorCode.HANDLER_CRASHED
    lease = int(row.lease_until) // 100
    return Row(row.state, int(row.owner), lease, row.attempts, int(row.sqs_message_id), crashed)


def _inbox(table: Table, *, ended: bool = False, token: int = FRESH) -> tuple[Inbox, float]:
    """The library's inbox at a time before or after the end of lease 1, and the length of a fresh lease."""
    now = 100.0 if ended else 0.0
    inbox = Inbox(
        table,
        consumer=CONSUMER,
        ttl_seconds=1,
        clock=FakeClock(now),
        new_token=lambda: str(token),
        max_attempts=MAX_ATTEMPTS,
    )
    return inbox, 100.0 * FRESH - now


def _delivery(mid: int) -> Delivery:
    return Delivery(sqs_message_id=str(mid), receipt_handle="h", body="")


def _left(table: Table) -> Row | None:
    return _lower(table.rows[KEY]) if table.rows else None


Answer = tuple[Row | None, str, Row | None]
"""The row afterwards, what the worker does next, and the row it holds."""


@cache
def gate(row: Row | None, ended: bool, mid: int, token: int, bug: str) -> Answer:  # noqa: FBT001 - a cache key
    """`Inbox.gate`, and what `Processor` makes of its answer."""
    table = Table(row, bug)
    inbox, seconds = _inbox(table, ended=ended, token=token)
    answer = inbox.gate(ENVELOPE, _delivery(mid), lease_seconds=seconds)
    if isinstance(answer, Lease):
        return _left(table), "suspect" if answer.suspect else "run", _lower(answer.row)
    step = {
        Verdict.DONE: "ack",
        Verdict.DUPLICATE: "ack",
        Verdict.PARKED: "ack",
        Verdict.WAIT: "wait",
        Verdict.FINISH_PARKING: "park",
        Verdict.EXHAUSTED: "give up",
    }[answer.verdict]
    if bug == "ack-while-leased" and answer.verdict is Verdict.WAIT:
        step = "ack"
    if bug == "parking-left-is-acked" and answer.verdict is Verdict.FINISH_PARKING:
        step = "ack"
    if bug == "parked-always-acked" and answer.row.state == "PARKED":
        step = "ack"
    return _left(table), step, _lower(answer.row)


@cache
def commit(row: Row, held: Row, bug: str) -> tuple[Row | None, str, int]:
    """`Inbox.complete`: the row afterwards, the next step, and how often the effect was applied by it."""
    table = Table(row, bug if bug == "commit-not-fenced" else "")
    inbox, _ = _inbox(table)
    try:
        inbox.complete(Lease(_lift(held), suspect=False), [EFFECT], at=0.0)
    except LostLease:
        return row, "ack" if bug == "ack-on-lost-lease" else "leave", 0
    return _left(table), "ack", len(table.applied)


@cache
def fail(row: Row, held: Row, kind: str, bug: str) -> tuple[Row | None, str]:
    """`Inbox.fail` of a failure, a refund or a suspect that is set aside."""
    table = Table(row, bug if bug == "failure-not-fenced" else "")
    inbox, _ = _inbox(table)
    crashed = kind == "set aside"
    refund = (kind == "refund" and bug != "refunds-count") or (crashed and bug != "suspects-pay")
    code = ErrorCode.HANDLER_CRASHED if crashed else ErrorCode.HANDLER_FAILED
    try:
        committed = inbox.fail(Lease(_lift(held), suspect=False), code=code, message="", refund=refund)
    except LostLease:
        return row, "leave"
    if committed:
        return row, "ack"
    return _left(table), "alone" if crashed else "wait"


@cache
def extend(row: Row, held: Row) -> tuple[Row | None, Row | None]:
    """`Inbox.extend`: the row afterwards, and the lease as its owner knows it, None if it was lost."""
    table = Table(row, "")
    inbox, seconds = _inbox(table)
    try:
        lease = inbox.extend(Lease(_lift(held), suspect=False), seconds=seconds)
    except LostLease:
        return row, None
    return _left(table), _lower(lease.row)


@cache
def start_parking(row: Row, held: Row, mid: int, bug: str) -> Answer:
    """`Inbox.start_parking`."""
    table = Table(row, bug if bug == "park-not-fenced" else "")
    inbox, seconds = _inbox(table)
    code = ErrorCode.HANDLER_CRASHED if held.crashed else ErrorCode.HANDLER_FAILED
    try:
        parking = inbox.start_parking(_lift(held), _delivery(mid), code=code, message="", lease_seconds=seconds)
    except LostLease:
        return row, "leave", None
    if bug == "attempts-outlive-a-life":
        table.rows[KEY] = replace(table.rows[KEY], attempts=held.attempts)
    return _left(table), "finish" if bug == "parked-before-copied" else "copy", _lower(parking)


@cache
def finish_parking(row: Row, held: Row, bug: str) -> tuple[Row | None, str]:
    """`Inbox.finish_parking`."""
    table = Table(row, bug if bug == "parked-not-fenced" else "")
    inbox, _ = _inbox(table)
    lifted = _lift(held)
    if bug == "attempts-outlive-a-life":
        lifted = replace(lifted, attempts=row.attempts)
    try:
        inbox.finish_parking(lifted)
    except LostLease:
        return row, "leave"
    return _left(table), "copy" if bug == "parked-before-copied" else "ack"


# --- The world ------------------------------------------------------------------------------------------------------

Step = tuple[str, State, str]
"""Its name, the world after it, and what is wrong with it, if anything is."""


class Model:
    """All steps from a state, with one rule broken or none."""

    def __init__(self, bug: str = "", *, heartbeats: bool = False) -> None:
        """Break a rule, or none."""
        self.bug = bug
        self.heartbeats = heartbeats

    def steps(self, state: State) -> Iterator[Step]:
        """Everything that can happen next."""
        yield from self._surroundings(state)
        for number, worker in enumerate(state.workers):
            if worker.step == "idle":
                yield from self._receive(state, number)
                continue
            if state.crashes:
                yield f"w{number} dies before {worker.step}", _put(state, number, IDLE, crashes=state.crashes - 1), ""
            for name, after, wrong in self._work(state, number, worker):
                yield f"w{number} {name}", after, wrong

    def _surroundings(self, state: State) -> Iterator[Step]:
        if state.native:
            for mid in state.queue:
                moved = state._replace(queue=state.queue - {mid}, dlq=state.dlq | {mid}, native=state.native - 1)
                yield f"SQS moves {mid} to the DLQ", moved, ""
        if state.row and state.row.lease and not state.ended:
            yield "the lease ends", state._replace(ended=True), ""
        if state.redrives:
            for mid in state.dlq:
                sent = state._replace(
                    queue=state.queue | {state.next_id}, next_id=state.next_id + 1, redrives=state.redrives - 1
                )
                yield f"{mid} is redriven as {state.next_id}", sent._replace(dlq=state.dlq - {mid}), ""
                yield f"{mid} is redriven as {state.next_id} and kept", sent, ""

    @staticmethod
    def _receive(state: State, number: int) -> Iterator[Step]:
        for mid in state.queue:
            yield f"w{number} receives {mid}", _put(state, number, Worker("gate", mid, None)), ""

    def _work(self, state: State, number: int, worker: Worker) -> Iterator[Step]:
        step, mid, held = worker
        if step in {"gate", "alone", "gate again"}:
            yield from self._gate(state, number, worker)
        elif step == "copy":
            after = "ack" if self.bug == "parked-before-copied" else "finish"
            yield f"copies {mid}", _put(state, number, Worker(after, mid, held), dlq=state.dlq | {mid}), ""
        elif step == "ack":
            yield f"deletes {mid}", _put(state, number, IDLE, queue=state.queue - {mid}), ""
            yield f"cannot delete {mid}", _put(state, number, IDLE), ""
        else:
            assert held is not None
            assert state.row is not None
            yield from self._write(state, number, worker, state.row, held)
            if self.heartbeats and step in {"commit", "fail", "refund", "park"}:
                yield from self._heartbeat(state, number, worker, state.row, held)

    @staticmethod
    def _heartbeat(state: State, number: int, worker: Worker, row: Row, held: Row) -> Iterator[Step]:
        """A lost lease changes nothing; a lost answer leaves its owner with the lease as it was."""
        after, known = extend(row, held)
        if known is not None and after != row:
            extended = _put(state, number, worker._replace(held=known), row=after, ended=False)
            yield "extends its lease", extended, ""
            yield "extends its lease, its answer is lost", _put(extended, number, worker), ""

    def _gate(self, state: State, number: int, worker: Worker) -> Iterator[Step]:
        mid, token = worker.mid, worker.held.owner if worker.held else FRESH
        row, step, held = gate(state.row, state.ended, mid, token, self.bug)
        changes: dict[str, object] = {"row": row}
        if row != state.row:
            new_life = state.row is None or state.row.state in {"PARKING", "PARKED"}
            changes |= {"ended": False, "tries": 1 if new_life else state.tries + 1}
        following = [step]
        if step == "suspect":
            following = ["run"] if worker.step == "alone" else ["run", "set aside"]
        for nxt in following:
            if nxt == "run":
                yield from self._run(state, number, Worker(nxt, mid, held), changes)
            else:
                yield f"gate {mid}: {nxt}", _go(state, number, Worker(nxt, mid, held), changes), ""
        if row != state.row and worker.step != "gate again":
            again = Worker("gate again", mid, held)
            yield f"gate {mid}, its answer is lost", _put(state, number, again, **changes), ""

    @staticmethod
    def _run(state: State, number: int, worker: Worker, changes: dict[str, object]) -> Iterator[Step]:
        """How the handler will end; until its next call it makes no difference when."""
        _, mid, held = worker
        assert held is not None
        tired = held.attempts >= MAX_ATTEMPTS
        endings = {"succeed": "commit", "fail": "give up" if tired else "fail", "fail for good": "park"}
        for name, step in endings.items():
            yield f"gate {mid}: taken, will {name}", _put(state, number, Worker(step, mid, held), **changes), ""
        if state.outages:
            refund = _put(state, number, Worker("refund", mid, held), **changes)
            yield f"gate {mid}: taken, an outage follows", refund._replace(outages=state.outages - 1), ""

    def _write(self, state: State, number: int, worker: Worker, row: Row, held: Row) -> Iterator[Step]:
        step, mid, _ = worker
        if step == "commit":
            after, nxt, applied = commit(row, held, self.bug)
            changes: dict[str, object] = {"row": after, "effect": state.effect + applied}
            yield f"commits: {nxt}", _go(state, number, Worker(nxt, mid, None), changes), ""
            if applied:
                yield "commits, its answer is lost", _put(state, number, worker, **changes), ""
                if state.outages:
                    lost = _put(state, number, Worker("refund", mid, held), **changes)
                    yield "commits, all answers are lost", lost._replace(outages=state.outages - 1), ""
        elif step in {"fail", "refund", "set aside"}:
            after, nxt = fail(row, held, step, self.bug)
            refunded = step != "fail" and after != row
            changes = {"row": after, "tries": state.tries - refunded}
            yield f"{step}: {nxt}", _go(state, number, Worker(nxt, mid, None), changes), ""
        elif step in {"park", "give up"}:
            after, nxt, parking = start_parking(row, held, mid, self.bug)
            tries = 0 if row.state in {"PARKED", "PARKING"} and row.life != mid else state.tries
            early = step == "give up" and nxt != "leave" and tries < MAX_ATTEMPTS
            wrong = f"given up after {tries} attempts" if early else ""
            changes = {"row": after} | ({} if nxt == "leave" else {"ended": False})
            yield f"starts parking {mid}: {nxt}", _go(state, number, Worker(nxt, mid, parking), changes), wrong
        else:
            assert step == "finish", step
            after, nxt = finish_parking(row, held, self.bug)
            yield f"finishes parking {mid}: {nxt}", _go(state, number, Worker(nxt, mid, held), {"row": after}), ""


def _put(state: State, number: int, worker: Worker, **changes: object) -> State:
    workers = (*state.workers[:number], worker, *state.workers[number + 1 :])
    return state._replace(workers=workers, **changes)  # type: ignore[arg-type]  # fields of State


def _go(state: State, number: int, worker: Worker, changes: dict[str, object]) -> State:
    """Like `_put`; a worker that waits or leaves is done with its message, and an acknowledging one holds nothing."""
    if worker.step in {"wait", "leave"}:
        worker = IDLE
    elif worker.step in {"ack", "alone"}:
        worker = worker._replace(held=None)
    return _put(state, number, worker, **changes)


def complaint(before: State, after: State) -> str:
    """What is wrong with a state, if anything is."""
    if after.effect > 1:
        return "the effect was applied twice"
    if not (after.effect or after.queue or after.dlq):
        return "the message is lost"
    if before.row and before.row.state == "COMPLETED" and after.row != before.row:
        return "COMPLETED was not final"
    if after.tries > MAX_ATTEMPTS:
        return "an attempt too many"
    return ""


def canonical(state: State) -> State:
    """Rename tokens and leases, of which only equality matters, and order the workers, which are alike.

    A worker whose row was taken over can write nothing any more, so that all it remembers is the same.
    """
    row = state.row
    owner, lease = (row.owner, row.lease) if row else (0, 0)
    mine = False
    workers = []
    for step, mid, held in state.workers:
        if held is None:
            workers.append(Worker(step, mid, None))
        elif held.owner != owner:
            workers.append(Worker(step, mid, Row(held.state, 2, 2, min(held.attempts, 1), mid, crashed=False)))
        else:
            mine = True
            same = held.lease if held.lease == 0 else (1 if held.lease == lease else 2)
            workers.append(Worker(step, mid, held._replace(owner=1, lease=same)))
    if row:
        row = row._replace(owner=1 if mine else 0, lease=1 if row.lease else 0)
    ended = state.ended and bool(row and row.lease)
    return state._replace(row=row, ended=ended, workers=tuple(sorted(workers, key=_order)))


def _order(worker: Worker) -> tuple[str, int, tuple[object, ...]]:
    return worker.step, worker.mid, worker.held or ()


@dataclass(frozen=True)
class Findings:
    """What was found.

    Attributes:
        states: Number of states.
        rows: Every state that the row was in.
        steps: Everything that a worker was about to do.
        problem: What is wrong, or nothing.
        trace: The shortest way there.
    """

    states: int
    rows: frozenset[str]
    steps: frozenset[str]
    problem: str = ""
    trace: tuple[str, ...] = ()


def explore(scenario: Scenario, bug: str = "") -> Findings:
    """Look at every state that can be reached, breadth first."""
    gc.disable()  # millions of tuples, none of which is garbage before the end
    try:
        return _explore(scenario, bug)
    finally:
        gc.enable()


def _explore(scenario: Scenario, bug: str) -> Findings:
    queue = frozenset(range(1, scenario.messages + 1))
    start = State(
        row=None,
        ended=False,
        effect=0,
        tries=0,
        queue=queue,
        dlq=frozenset(),
        workers=(IDLE,) * scenario.workers,
        next_id=scenario.messages + 1,
        crashes=scenario.crashes,
        redrives=scenario.redrives,
        native=scenario.native,
        outages=scenario.outages,
    )
    model = Model(bug, heartbeats=scenario.heartbeats)
    number = {start: 0}
    came: list[tuple[int, str]] = [(-1, "start")]
    leading_to: list[list[int]] = [[]]
    quiet: list[int] = []
    todo = deque([start])
    rows, steps = set[str](), set[str]()
    while todo:
        state = todo.popleft()
        here = number[state]
        rows.add(state.row.state if state.row else "")
        steps.update(worker.step for worker in state.workers)
        if not state.queue:
            quiet.append(here)
        for name, raw, wrong in model.steps(state):
            after = canonical(raw)
            problem = wrong or complaint(state, raw)
            if problem:
                return Findings(len(number), frozenset(rows), frozenset(steps), problem, (*_trace(came, here), name))
            if after not in number:
                number[after] = len(came)
                came.append((here, name))
                leading_to.append([])
                todo.append(after)
            leading_to[number[after]].append(here)
    found = Findings(len(number), frozenset(rows), frozenset(steps))
    stuck = _never_quiet(leading_to, quiet)
    if stuck is None:
        return found
    return replace(found, problem="a message is never done with", trace=_trace(came, stuck))


def _never_quiet(leading_to: list[list[int]], quiet: list[int]) -> int | None:
    """The first state from which no way leads to an empty queue."""
    good = bytearray(len(leading_to))
    todo = list(quiet)
    for state in todo:
        good[state] = 1
    while todo:
        for before in leading_to[todo.pop()]:
            if not good[before]:
                good[before] = 1
                todo.append(before)
    first = good.find(0)
    return None if first < 0 else first


def _trace(came: list[tuple[int, str]], state: int) -> tuple[str, ...]:
    steps: list[str] = []
    while state >= 0:
        state, name = came[state]
        steps.append(name)
    return tuple(reversed(steps))


def main(arguments: list[str]) -> int:
    """Explore every scenario, or break one rule; print what was found."""
    bug = arguments[arguments.index("--bug") + 1] if "--bug" in arguments else ""
    wrong = False
    for name, scenario in ({bug: BUGS[bug]} if bug else SCENARIOS).items():
        found = explore(scenario, bug)
        print(f"{name}: {found.states} states, {found.problem or 'nothing wrong'}")  # noqa: T201 - a command
        for step in found.trace:
            print("   ", step)  # noqa: T201 - a command
        wrong |= bool(found.problem)
    return wrong


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
