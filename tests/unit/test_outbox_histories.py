"""Random histories of an outbox: whatever happens, what is committed is published, in order, and nothing else (R3.1).

Several applications stage for several groups, while relays of the stream and sweeps work, stall past their claims with
another at work meanwhile, die at any call, and get no answer before or after a call took effect; records of the stream
come twice, late, or never; queues refuse now and then, or for good. At the end of each history:

- every order that was committed was published, and no other;
- the first deliveries of each group are in the order in which its transactions were committed;
- on FIFO, nothing stands before what was refused for good, and nothing of its group behind it;
- a consumer with an inbox applies each exactly once, in that order.

A history follows from its seed alone.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from claim_check.contract import OnPoison
from claim_check.errors import AlreadyStaged, ClaimCheckError, Unavailable
from claim_check.outbox.claims import GroupClaim
from claim_check.outbox.rows import OutboxRow
from claim_check.outbox.stream import StreamRelay
from tests.fakes.faults import Crash
from tests.fakes.outbox_table import FakeOutboxTable
from tests.outbox_world import REMAINING_SECONDS, OutboxWorld, place_order, stream_event, until

if TYPE_CHECKING:
    from collections.abc import Iterator

HISTORIES: Final = 1200
PARTS: Final = 4
STEPS: Final = 40
FOR_GOOD: Final = 10**9
GROUPS: Final = 3
ANSWERING: Final = [
    "rows",
    "open_rows",
    "lease_row",
    "lease_group",
    "release_group",
    "settle_row",
    "settle_head",
    "drop_head",
    "commit",
    "send_batch",
    "put_if_absent",
]
STALL_SECONDS: Final = REMAINING_SECONDS + 10
SEEN: Counter[str] = Counter()


class History:
    """One world, and what is done to it."""

    def __init__(self, seed: int) -> None:
        """Start one."""
        self.random = random.Random(seed)  # noqa: S311 - a history, no secret
        self.on_poison: OnPoison = self.random.choice(["block", "park"])
        self.world = OutboxWorld(fifo=self.random.random() < 0.75, on_poison=self.on_poison)
        self.poisonous: set[str] = set()
        self.names = 0
        self.depth = 0

    # --- What can happen --------------------------------------------------------------------------------------------

    def stage(self) -> None:
        """One transaction, with one order or a few; told to be done, or repeated until it is."""
        group = f"g-{self.random.randrange(GROUPS)}"
        names = [f"o-{self.names + place}" for place in range(self.random.choice([1, 1, 1, 2, 3]))]
        self.names += len(names)
        poison = self.random.random() < 0.05
        for _ in range(20):
            outbox = self.world.outbox()
            try:
                with outbox.transaction() as tx:
                    for name in names:
                        content = b'"poison"' if poison else b"{}"
                        place_order(outbox, tx, name, group=group if self.world.fifo else None, content=content)
            except AlreadyStaged:
                SEEN["already staged"] += 1
                break
            except (ClaimCheckError, Crash):
                SEEN["staging failed"] += 1
                if self.random.random() < 0.3:  # nobody repeats it: it is committed, or it is not
                    break
                continue
            break
        if poison and names[0] in self.world.ordered():
            self.poisonous |= set(names)
            for name in names:
                self.refuse(name)

    def refuse(self, name: str) -> None:
        """The queue never takes it."""
        row = self.world.table.items[self.world.key(name)]
        if row.body:
            self.world.queue.refuse_entries[row.body] = (FOR_GOOD, True)
            SEEN["poison"] += 1

    def stream(self) -> None:
        """The mapping's turn, from where it got to."""
        count = self.random.randint(1, 6)
        with self.survives():
            self.world.deliver(count=count)

    def stray(self) -> None:
        """Records come again, or late, in any order."""
        stream = self.world.table.stream
        if stream:
            keys = self.random.choices(stream, k=self.random.randint(1, 5))
            relay = StreamRelay(self.world.relay(), telemetry=self.world.telemetry)
            with self.survives():
                relay.handle(stream_event(keys), remaining_seconds=REMAINING_SECONDS)

    def skip(self) -> None:
        """The mapping gives records up: too old, or tried too often."""
        self.world._read = min(len(self.world.table.stream), self.world._read + self.random.randint(1, 5))
        SEEN["skipped"] += 1

    def sweep(self) -> None:
        """The schedule's turn."""
        with self.survives():
            self.world.sweep()

    def wait(self) -> None:
        """Time passes."""
        self.world.clock.advance(self.random.choice([1, 5, 30, 120]))

    def mishap(self) -> None:
        """Something goes wrong at one of the next calls."""
        name, skip = self.random.choice(ANSWERING), self.random.randrange(4)
        kind = self.random.choice(["before", "after", "crash before", "crash after", "stall", "stall", "refuse"])
        SEEN[kind] += 1
        if kind == "stall":
            self.world.faults.on(name, self.meanwhile, skip=skip)
        elif kind == "refuse":
            self.refuse_once()
        elif kind.startswith("crash"):
            self.world.faults.fail(name, Crash(kind), when="before" if "before" in kind else "after", skip=skip)
        else:
            times = self.random.choice([1, 2, 8])
            self.world.faults.fail(
                name, Unavailable("down"), when="before" if kind == "before" else "after", skip=skip, times=times
            )

    def refuse_once(self) -> None:
        """The queue refuses an entry now and then."""
        pending = [row for row in self.world.table.items.values() if row.state == "PENDING" and row.body]
        if pending:
            body = self.random.choice(pending).body or ""
            left, _ = self.world.queue.refuse_entries.get(body, (0, True))
            if left < FOR_GOOD // 2:
                self.world.queue.refuse_entries[body] = (self.random.randint(1, 3), self.random.random() < 0.5)

    def meanwhile(self) -> None:
        """A process stalls, past its claims or not, while others go on."""
        if self.depth >= 2:
            return
        self.depth += 1
        if self.random.random() < 0.6:
            self.world.clock.advance(STALL_SECONDS)
            SEEN["stalled past its claim"] += 1
        for _ in range(self.random.randint(1, 3)):
            self.random.choice([self.stray, self.stray, self.sweep, self.stream])()
        self.depth -= 1

    @contextmanager
    def survives(self) -> Iterator[None]:
        """A process that dies, or gives up, is one process."""
        with suppress(Crash, ClaimCheckError):
            yield

    # --- One history ------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Do things, then let everything settle, then look."""
        actions: list[Callable[[], None]] = [
            *[self.stage] * 5,
            *[self.stream] * 4,
            *[self.stray] * 2,
            self.sweep,
            self.skip,
            *[self.wait] * 2,
            *[self.mishap] * 4,
        ]
        for _ in range(STEPS):
            self.random.choice(actions)()
        self.settle()
        self.check()

    def settle(self) -> None:
        """No mishaps any more: stream and sweep finish what can be finished."""
        self.world.faults.clear()
        for body, (left, at_fault) in list(self.world.queue.refuse_entries.items()):
            if left < FOR_GOOD // 2:
                self.world.queue.refuse_entries[body] = (0, at_fault)

        def step() -> None:
            self.world.clock.advance(STALL_SECONDS)
            with suppress(ClaimCheckError):
                self.world.deliver()
            self.world.sweep()

        step()
        until(lambda: not self.unfinished(), step, rounds=1000)

    def unfinished(self) -> list[str]:
        """Rows that could be sent, and are not."""
        blocked = {
            row.group_key
            for row in self.world.table.items.values()
            if row.state == "PARKED" and row.group_key and self.on_poison == "block"
        }
        rows = self.world.table.items.values()
        return [row.key for row in rows if row.state == "PENDING" and row.group_key not in blocked]

    def check(self) -> None:
        """What must hold."""
        world, sent = self.world, self.world.sent()
        committed = world.ordered()
        assert len(committed) == len(set(committed))
        assert set(sent) <= set(committed)  # nothing that was not committed
        rows = {name: world.row(name) for name in committed}
        published = {name for name, row in rows.items() if row.state == "SENT"}
        assert published == set(sent) - {n for n, row in rows.items() if row.state == "PARKED"}
        parked = {name for name, row in rows.items() if row.state == "PARKED"}
        assert parked <= self.poisonous
        assert not self.poisonous & published
        if not world.fifo:
            assert published == set(committed) - self.poisonous
            return
        first_deliveries = list(dict.fromkeys(sent))
        for group in {row.group_id for row in rows.values()}:
            ours = [name for name in committed if rows[name].group_id == group]
            expected = [name for name in ours if name not in self.poisonous]
            if self.on_poison == "block":
                bad = next((place for place, name in enumerate(ours) if name in self.poisonous), len(ours))
                expected = ours[:bad]
            assert [name for name in first_deliveries if rows[name].group_id == group] == expected
            SEEN["groups"] += 1
        SEEN["duplicates"] += len(sent) - len(first_deliveries)


@pytest.mark.parametrize("part", range(PARTS))
def test_every_history_publishes_what_was_committed_in_order(part: int) -> None:
    for seed in range(part, HISTORIES, PARTS):
        try:
            History(seed).run()
        except BaseException as error:
            error.add_note(f"history {seed}")
            raise
    for kind in ("already staged", "staging failed", "stalled past its claim", "poison", "crash after", "skipped"):
        assert SEEN[kind] > 20, f"the histories show too little of: {kind}"
    assert SEEN["duplicates"] > 0


def _pops_anything(table: FakeOutboxTable, place: str, key: str, owner: str) -> bool:
    """A relay moves a group on whoever has it, and whatever is first."""
    del place, owner
    group = table.groups[key]
    table.groups[key] = replace(group, pending=group.pending[1:])
    return True


def _goes_on(claim: GroupClaim, row: OutboxRow) -> bool:
    """What was refused is left behind, and its group goes on."""
    ours = SETTLE(claim, row)
    if row.state == "PENDING":
        claim._pending.pop(0)
    return ours


def _sends_before_it_claims(claim: GroupClaim) -> OutboxRow | None:
    """The head is taken off before it was sent."""
    row = NEXT(claim)
    if row is not None:
        claim._desk.table.settle_head(replace(row, state="SENT"), group=claim.name, owner=claim._desk.owner)
    return row


SETTLE: Final = GroupClaim.settle
NEXT: Final = GroupClaim.next
BREAKS: Final[dict[str, tuple[type[object], str, object]]] = {
    "only the owner, and only the first": (FakeOutboxTable, "_pop", _pops_anything),
    "a refused row stops its group": (GroupClaim, "settle", _goes_on),
    "sent before it is marked": (GroupClaim, "next", _sends_before_it_claims),
    "a sweep": (FakeOutboxTable, "open_rows", lambda *_: iter(())),
}


@pytest.mark.parametrize("rule", list(BREAKS))
def test_every_rule_is_needed(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, name, broken = BREAKS[rule]
    monkeypatch.setattr(kind, name, broken)
    for seed in range(200):
        try:
            History(seed).run()
        except (AssertionError, LookupError):
            return
    pytest.fail(f"no history needs the rule: {rule}")
