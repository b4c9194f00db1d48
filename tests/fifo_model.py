"""The protocol's model for one FIFO group: several messages in order, two workers, every interleaving (R4.7, R5.1).

The world: a group whose messages are received together, in order, as long as none of them is hidden; visibility and
leases end at any moment, so that a worker may go on with a batch that another one has received anew; workers die
between any two calls, answers are lost, the infrastructure fails. What touches a row is the library's own `Inbox`, by
the steps of `tests.protocol_model`; what is added here is what `Consumer` does with a group: one message after the
other, stop at the first that is not acknowledged, hand the rest back untouched, delete what was acknowledged.

In every reachable state:

1. a message takes effect only when everything before it in its group did, or was parked; where poison blocks, only when
   everything before it did;
2. nobody starts on a message, so that nothing is counted for it, before everything before it is done with;
3. every effect is applied at most once;
4. nothing is lost: it was applied, or a message or a copy still exists;
5. from every state the queue can still become empty.

Each name of `BUGS` breaks one rule on purpose, and its scenario must then fail.

Run: python -m tests.fifo_model [--bug NAME]
"""

from __future__ import annotations

import gc
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from tests import protocol_model as one

Row = one.Row


class Worker(NamedTuple):
    """A worker between two calls.

    Attributes:
        step: What it does next.
        todo: Its batch from the present message on: numbers in the group.
        acked: What it will have deleted.
        held: The present message's row as it believes it to be.
        current: Whether nobody has received the batch since.
    """

    step: str
    todo: tuple[int, ...] = ()
    acked: tuple[int, ...] = ()
    held: Row | None = None
    current: bool = False


class State(NamedTuple):
    """The whole world.

    Attributes:
        rows: Row of each message of the group.
        ended: Whether the lease of each row has ended.
        applied: Messages that took effect, in that order.
        parked: Messages with a copy in the DLQ.
        queue: Messages in the source queue.
        hidden: Whether the group waits for a message that was received.
        workers: The workers.
        crashes: Deaths left.
        outages: Failures of the infrastructure, and lost answers, left.
    """

    rows: tuple[Row | None, ...]
    ended: tuple[bool, ...]
    applied: tuple[int, ...]
    parked: frozenset[int]
    queue: tuple[int, ...]
    hidden: bool
    workers: tuple[Worker, ...]
    crashes: int
    outages: int


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Where the world starts, what poison does, and how much of each mishap is left."""

    messages: int = 2
    workers: int = 2
    blocks: bool = False
    crashes: int = 0
    outages: int = 0


SCENARIOS = {
    "park, a death": Scenario(crashes=1),
    "park, an outage": Scenario(outages=1),
    "park, three messages": Scenario(messages=3, workers=1, crashes=1, outages=1),
    "block, a death": Scenario(blocks=True, crashes=1),
    "block, an outage": Scenario(blocks=True, outages=1),
    "block, three messages": Scenario(blocks=True, messages=3, workers=1, crashes=2, outages=1),
}

BUGS = {
    "ack-while-leased": Scenario(),
    "block-parks": Scenario(blocks=True, workers=1),
    "commit-not-fenced": Scenario(),
    "completed-is-taken": Scenario(),
    "failure-is-acked": Scenario(workers=1),
    "lost-lease-goes-on": Scenario(),
    "parked-before-copied": Scenario(workers=1, crashes=1),
    "parking-left-is-acked": Scenario(workers=1, crashes=1),
    "queue-without-groups": Scenario(),
    "suspect-alone-at-the-end": Scenario(workers=1, crashes=1),
    "tail-goes-on": Scenario(workers=1),
    "tail-is-acked": Scenario(workers=1),
    "waiting-goes-on": Scenario(),
}
"""Rules that can be broken on purpose, and the smallest scenario that shows it."""

IDLE = Worker("idle")
STOPPED = {"wait", "leave"}
OF_THE_ROW = {"ack-while-leased", "commit-not-fenced", "completed-is-taken", "parking-left-is-acked"}
"""Bugs that `tests.protocol_model` knows."""

Step = tuple[str, State, str]
"""Its name, the world after it, and what is wrong with it, if anything is."""


class Model:
    """All steps from a state, with one rule broken or none."""

    def __init__(self, scenario: Scenario, bug: str = "") -> None:
        """Break a rule, or none."""
        self.blocks = scenario.blocks
        self.bug = bug
        self.row_bug = bug if bug in OF_THE_ROW else ""

    def steps(self, state: State) -> Iterator[Step]:
        """Everything that can happen next."""
        if state.hidden:
            yield "the group is visible again", state._replace(hidden=False), ""
        for place, row in enumerate(state.rows):
            if row and row.lease and not state.ended[place]:
                yield f"the lease of {place} ends", state._replace(ended=_at(state.ended, place, new=True)), ""
        for number, worker in enumerate(state.workers):
            if worker.step == "idle":
                yield from self._receive(state, number)
                continue
            if state.crashes:
                yield f"w{number} dies before {worker.step}", _put(state, number, IDLE, crashes=state.crashes - 1), ""
            for name, after, wrong in self._work(state, number, worker):
                yield f"w{number} {name}", after, wrong

    def _receive(self, state: State, number: int) -> Iterator[Step]:
        if not state.queue or (state.hidden and self.bug != "queue-without-groups"):
            return
        starts = range(len(state.queue)) if self.bug == "queue-without-groups" else (0,)
        for start in starts:
            batch = state.queue[start:]
            others = tuple(
                other._replace(current=False) if set(batch) & {*other.todo, *other.acked} else other
                for other in state.workers
            )
            received = state._replace(workers=others, hidden=True)
            worker = Worker("gate", todo=batch, current=True)
            yield f"w{number} receives {batch}", _put(received, number, worker), ""

    def _work(self, state: State, number: int, worker: Worker) -> Iterator[Step]:
        step = worker.step
        if step == "answer":
            kept = tuple(place for place in state.queue if place not in worker.acked)
            yield f"ends, {worker.acked} are deleted", _put(state, number, IDLE, queue=kept), ""
            if not worker.current or state.crashes:
                yield "ends, nothing is deleted", _put(state, number, IDLE), ""
        elif step in {"gate", "gate again", "alone"}:
            yield from self._gate(state, number, worker)
        elif step == "copy":
            parked = state.parked | {worker.todo[0]}
            yield "copies", _put(state, number, worker._replace(step="finish"), parked=parked), ""
        elif step == "copy late":
            late: dict[str, object] = {"parked": state.parked | {worker.todo[0]}}
            yield "copies", self._go(state, number, worker, "ack", None, late), ""
        else:
            yield from self._write(state, number, worker)

    # --- The gate ---------------------------------------------------------------------------------------------------

    def _gate(self, state: State, number: int, worker: Worker) -> Iterator[Step]:
        place = worker.todo[0]
        before = state.rows[place]
        token = worker.held.owner if worker.held else one.FRESH
        row, step, held = one.gate(self._unlimited(before), state.ended[place], place + 1, token, self.row_bug)
        changes: dict[str, object] = {}
        wrong = ""
        if row != self._unlimited(before):
            changes = {"rows": _at(state.rows, place, row), "ended": _at(state.ended, place, new=False)}
            if step in {"run", "suspect"}:
                wrong = self._too_early(state, place)
        following = [step]
        if step == "suspect":
            following = ["run"] if worker.step == "alone" else ["run", "set aside"]
        for nxt in following:
            if nxt == "run":
                for name, then in self._endings(state, held):
                    left = {"outages": state.outages - 1} if then == "refund" else {}
                    after = _put(state, number, worker._replace(step=then, held=held), **changes, **left)
                    yield f"gate {place}: taken, will {name}", after, wrong
            else:
                yield f"gate {place}: {nxt}", self._go(state, number, worker, nxt, held, changes), wrong
        if changes and state.outages:
            again = worker._replace(step="gate again", held=held)
            lost = _put(state, number, again, **changes, outages=state.outages - 1)
            yield f"gate {place}, its answer is lost", lost, wrong

    def _unlimited(self, row: Row | None) -> Row | None:
        """Where nothing may be parked, attempts are counted without a limit: the model needs to count only to one."""
        return row._replace(attempts=min(row.attempts, 1)) if row and self.blocks else row

    def _endings(self, state: State, held: Row | None) -> list[tuple[str, str]]:
        assert held is not None
        tired = held.attempts >= one.MAX_ATTEMPTS and not self.blocks
        poison = "fail" if self.blocks and self.bug != "block-parks" else "park"
        endings = [("succeed", "commit"), ("fail", "give up" if tired else "fail"), ("fail for good", poison)]
        return endings + ([("meet an outage", "refund")] if state.outages else [])

    def _too_early(self, state: State, place: int) -> str:
        waiting = [earlier for earlier in range(place) if not self._is_done(state, earlier)]
        return f"{place} was started before {waiting}" if waiting else ""

    def _is_done(self, state: State, place: int) -> bool:
        return place in state.applied or (place in state.parked and not self.blocks)

    # --- Writes -----------------------------------------------------------------------------------------------------

    def _write(self, state: State, number: int, worker: Worker) -> Iterator[Step]:
        step, place, held = worker.step, worker.todo[0], worker.held
        row = state.rows[place]
        changes: dict[str, object]
        assert row is not None
        assert held is not None
        if step == "commit":
            after, nxt, times = one.commit(row, held, self.row_bug)
            changes = {"rows": _at(state.rows, place, after), "applied": state.applied + (place,) * times}
            wrong = self._too_early(state, place) if times else ""
            yield f"commits {place}: {nxt}", self._go(state, number, worker, nxt, None, changes), wrong
            if times and state.outages:
                lost = _put(state, number, worker, **changes, outages=state.outages - 1)
                yield f"commits {place}, its answer is lost", lost, wrong
        elif step in {"fail", "refund", "set aside"}:
            after, nxt = one.fail(row, held, step, self.row_bug)
            if nxt == "wait" and self.bug == "failure-is-acked":
                nxt = "ack"
            changes = {"rows": _at(state.rows, place, after)}
            yield f"{step} {place}: {nxt}", self._go(state, number, worker, nxt, None, changes), ""
        elif step in {"park", "give up"}:
            after, nxt, parking = one.start_parking(row, held, place + 1, self.row_bug)
            changes = {"rows": _at(state.rows, place, after)}
            if nxt != "leave":
                changes["ended"] = _at(state.ended, place, new=False)
                nxt = "finish early" if self.bug == "parked-before-copied" else nxt
            yield f"starts parking {place}: {nxt}", self._go(state, number, worker, nxt, parking, changes), ""
        else:
            assert step in {"finish", "finish early"}, step
            after, nxt = one.finish_parking(row, held, self.row_bug)
            changes = {"rows": _at(state.rows, place, after)}
            if step == "finish early" and nxt == "ack":
                yield f"finishes parking {place}", _put(state, number, worker._replace(step="copy late"), **changes), ""
            else:
                yield f"finishes parking {place}: {nxt}", self._go(state, number, worker, nxt, None, changes), ""

    # --- The lane ---------------------------------------------------------------------------------------------------

    def _go(  # noqa: PLR0917 - what a step knows
        self, state: State, number: int, worker: Worker, nxt: str, held: Row | None, changes: dict[str, object]
    ) -> State:
        """What `Consumer._run_lane` does after a message: the next one, or the end of the batch."""
        first, *rest = worker.todo
        if nxt == "ack" or (nxt in STOPPED and rest and self._carelessly(nxt)):
            acked = (*worker.acked, first) if nxt == "ack" else worker.acked
            return _put(
                state, number, worker._replace(step=_next(rest), todo=tuple(rest), acked=acked, held=None), **changes
            )
        if nxt in STOPPED:
            acked = (*worker.acked, *rest) if self.bug == "tail-is-acked" else worker.acked
            return _put(state, number, worker._replace(step="answer", todo=(), acked=acked, held=None), **changes)
        if nxt == "alone":
            todo = (*rest, first) if self.bug == "suspect-alone-at-the-end" else worker.todo
            return _put(state, number, worker._replace(step="alone", todo=todo, held=None), **changes)
        return _put(state, number, worker._replace(step=nxt, held=held), **changes)

    def _carelessly(self, nxt: str) -> bool:
        broken = {"wait": {"tail-goes-on", "waiting-goes-on"}, "leave": {"tail-goes-on", "lost-lease-goes-on"}}
        return self.bug in broken[nxt]


def _next(rest: list[int]) -> str:
    return "gate" if rest else "answer"


def _at(values: tuple, place: int, new: object) -> tuple:  # type: ignore[type-arg]  # rows or flags
    return (*values[:place], new, *values[place + 1 :])


def _put(state: State, number: int, worker: Worker, **changes: object) -> State:
    workers = (*state.workers[:number], worker, *state.workers[number + 1 :])
    return state._replace(workers=workers, **changes)  # type: ignore[arg-type]  # fields of State


def complaint(state: State) -> str:
    """What is wrong with a state, if anything is."""
    if len(set(state.applied)) < len(state.applied):
        return "an effect was applied twice"
    lost = set(range(len(state.rows))) - set(state.applied) - state.parked - set(state.queue)
    return f"{sorted(lost)} lost" if lost else ""


def canonical(state: State) -> State:
    """Rename tokens and leases, of which only equality matters, and order the workers, which are alike."""
    rows = list(state.rows)
    mine: set[int] = set()
    workers = []
    for worker in state.workers:
        held = worker.held
        if held is not None:
            row = rows[worker.todo[0]]
            if row is None or held.owner != row.owner:
                held = Row(held.state, 2, 2, min(held.attempts, 1), held.life, crashed=False)
            else:
                mine.add(worker.todo[0])
                held = held._replace(owner=1, lease=0 if not held.lease else (1 if held.lease == row.lease else 2))
        workers.append(worker._replace(held=held, acked=tuple(sorted(worker.acked))))
    for place, row in enumerate(rows):
        if row:
            rows[place] = row._replace(owner=1 if place in mine else 0, lease=1 if row.lease else 0)
    ended = tuple(over and bool(row and row.lease) for over, row in zip(state.ended, rows, strict=True))
    applied = tuple(sorted(state.applied))  # the order was judged when it came about
    return state._replace(rows=tuple(rows), ended=ended, applied=applied, workers=tuple(sorted(workers, key=_order)))


def _order(worker: Worker) -> tuple[object, ...]:
    return worker.step, worker.todo, worker.acked, worker.current, worker.held or ()


def explore(scenario: Scenario, bug: str = "") -> one.Findings:
    """Look at every state that can be reached, breadth first."""
    gc.disable()  # many tuples, none of which is garbage before the end
    try:
        return _explore(scenario, bug)
    finally:
        gc.enable()


def _explore(scenario: Scenario, bug: str) -> one.Findings:
    places = tuple(range(scenario.messages))
    start = State(
        rows=(None,) * len(places),
        ended=(False,) * len(places),
        applied=(),
        parked=frozenset(),
        queue=places,
        hidden=False,
        workers=(IDLE,) * scenario.workers,
        crashes=scenario.crashes,
        outages=scenario.outages,
    )
    model = Model(scenario, bug)
    number = {start: 0}
    came: list[tuple[int, str]] = [(-1, "start")]
    leading_to: list[list[int]] = [[]]
    quiet: list[int] = []
    todo = deque([start])
    rows, steps = set[str](), set[str]()
    while todo:
        state = todo.popleft()
        here = number[state]
        rows.update(row.state if row else "" for row in state.rows)
        steps.update(worker.step for worker in state.workers)
        if not state.queue:
            quiet.append(here)
        for name, raw, wrong in model.steps(state):
            problem = wrong or complaint(raw)
            if problem:
                trace = (*one._trace(came, here), name)
                return one.Findings(len(number), frozenset(rows), frozenset(steps), problem, trace)
            after = canonical(raw)
            if after not in number:
                number[after] = len(came)
                came.append((here, name))
                leading_to.append([])
                todo.append(after)
            leading_to[number[after]].append(here)
    found = one.Findings(len(number), frozenset(rows), frozenset(steps))
    stuck = one._never_quiet(leading_to, quiet)
    if stuck is None:
        return found
    return replace(found, problem="a message is never done with", trace=one._trace(came, stuck))


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
