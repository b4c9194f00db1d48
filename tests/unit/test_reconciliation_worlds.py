"""Random worlds: whatever producers, relays, clients and consumers do, no pointer ever loses its payload (R7.1).

The oracle knows nothing of classes and rows. It remembers which objects a message has ever pointed at, and lets
everybody go on after the run: whatever can still be sent is sent. Every object that was ever pointed at must be there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from claim_check import contract
from claim_check.errors import Unavailable
from claim_check.outbox.rows import OutboxRow
from claim_check.reconciliation.judging import Times
from claim_check.reconciliation.runs import Plan
from tests.reconciliation_world import BUCKET, DAY, HOUR, UNCONFIRMED, World, key_of

NAMES: Final = ("a", "b")
BEFORE_SEND: Final = 2 * DAY
CONFIRM: Final = 3 * DAY
GRACES: Final = (0, HOUR, DAY, 5 * DAY)


@dataclass
class Actors:
    """Everybody but the reconciler, each as the library's own parts behave; the clock never moves within an action.

    Attributes:
        world: Where they act.
        pointed: Objects that a message was ever sent for.
        held: Objects under a legal hold.
        granted: Objects that were uploaded by grant, and when: until its time is over, each can be confirmed.
    """

    world: World
    pointed: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)
    granted: dict[str, float] = field(default_factory=dict)

    @property
    def now(self) -> float:
        """Epoch seconds."""
        return self.world.clock.now()

    def age(self, key: str) -> float:
        """Of an object that is there."""
        found = self.world.payloads.current(key)
        assert found is not None
        return self.now - found.at

    def place(self, name: str, *, kept: bool = False) -> str:
        """Put a payload, or rely on the one that is there: young, no upload by grant, and no outbox row's (R2.3)."""
        for generation in range(9):
            key = key_of(name, generation=generation)
            found = self.world.payloads.current(key)
            if found is None:
                return self.world.put(name, age=0, key=key, kept=kept)
            if not found.uploaded and (kept or not found.kept) and self.age(key) <= BEFORE_SEND:
                return key
        raise AssertionError("too many generations")

    def publish(self, name: str) -> None:
        """A producer publishes directly."""
        self.pointed.add(self.place(name))

    def orphan(self, name: str) -> None:
        """A producer dies before it sends."""
        self.place(name)

    def stage(self, name: str) -> None:
        """An application commits an outbox row, unless there is one."""
        key = contract.outbox_key(destination="documents", tenant_id="t-1", id_hash=contract.id_hash(name))
        if key not in self.world.outbox:
            self.world.staged(name, "PENDING", age=0, key=self.place(name, kept=True))

    def send(self, name: str) -> None:
        """A relay sends, if the row is young enough; else it parks it."""
        self._relay(name, settled=True)

    def send_and_die(self, name: str) -> None:
        """A relay sends, and dies before it can say so."""
        self._relay(name, settled=False)

    def refuse(self, name: str) -> None:
        """The queue refuses a row for good."""
        for key, row in self._rows(name):
            if row.state == "PENDING":
                self.world.outbox[key] = self._parked(row)

    def retry(self, name: str) -> None:
        """An operator has a parked row sent after all."""
        for key, row in self._rows(name):
            if row.state == "PARKED":
                self.world.outbox[key] = replace(row, state="SENT", updated_at=self.now, sqs_message_id="s")
                self.pointed.add(row.payload_key or "")

    def discard(self, name: str) -> None:
        """An operator decides that a parked row is never sent."""
        for key, row in self._rows(name):
            if row.state == "PARKED":
                self.world.outbox[key] = replace(row, state="DISCARDED", updated_at=self.now)

    def upload(self, name: str) -> None:
        """A client uploads by grant, under the first key that is free or young."""
        for generation in range(9):
            key = key_of(name, generation=generation)
            found = self.world.payloads.current(key)
            if found is None:
                self.world.put(name, age=0, key=key, uploaded=True, tags=UNCONFIRMED)
                self.granted[key] = self.now
                return
            if self.age(key) <= CONFIRM:
                return

    def confirm(self, name: str) -> None:
        """A client confirms its upload in time: the tag goes, then the message is sent."""
        for generation in range(9):
            key = key_of(name, generation=generation)
            found = self.world.payloads.current(key)
            if found is not None and found.uploaded and self.age(key) <= CONFIRM:
                self.world.payloads.objects[key][-1] = replace(found, tags={})
                self.pointed.add(key)
                return

    def receive(self, name: str) -> None:
        """A consumer begins with a message."""
        self._receive(name, "IN_PROGRESS")

    def complete(self, name: str) -> None:
        """A consumer completes a message."""
        self._receive(name, "COMPLETED")

    def hold(self, name: str) -> None:
        """Somebody puts an object under a legal hold."""
        key = key_of(name)
        found = self.world.payloads.current(key)
        if found is not None:
            self.world.payloads.objects[key][-1] = replace(found, held=True)
            self.held.add(key)

    def _receive(self, name: str, state: contract.InboxState) -> None:
        keys = [key_of(name, generation=generation) for generation in range(9)]
        for key in keys:
            if key in self.pointed:
                self.world.received(name, state, key=key)
                return

    def _rows(self, name: str) -> list[tuple[str, OutboxRow]]:
        return [(key, row) for key, row in self.world.outbox.items() if row.message_id == name]

    def _parked(self, row: OutboxRow) -> OutboxRow:
        """As a relay parks it that may have taken it over from one that died."""
        doubtful = row.doubtful or row.owner is not None
        return replace(row, state="PARKED", updated_at=self.now, doubtful=doubtful, owner=None)

    def _relay(self, name: str, *, settled: bool) -> None:
        for key, row in self._rows(name):
            if row.state != "PENDING":
                continue
            if self.now - row.staged_at > BEFORE_SEND:
                self.world.outbox[key] = self._parked(row)
                continue
            self.pointed.add(row.payload_key or "")
            if settled:
                self.world.outbox[key] = replace(row, state="SENT", updated_at=self.now, sqs_message_id="s")
            else:
                self.world.outbox[key] = replace(row, owner="dead")


ACTIONS: Final[dict[str, Callable[[Actors, str], None]]] = {
    name: getattr(Actors, name)
    for name in (
        "publish",
        "orphan",
        "stage",
        "send",
        "send_and_die",
        "refuse",
        "retry",
        "discard",
        "upload",
        "confirm",
        "receive",
        "complete",
        "hold",
    )
}
ONE_ACTION: Final = st.tuples(st.sampled_from(sorted(ACTIONS)), st.sampled_from(NAMES))
WAIT: Final = st.sampled_from([0, HOUR, DAY, 2 * DAY, 4 * DAY, 9 * DAY])
HISTORY: Final = st.lists(st.tuples(WAIT, ONE_ACTION), max_size=14)
MEANWHILE: Final = st.lists(st.tuples(st.integers(0, 25), ONE_ACTION), max_size=3)


def act(actors: Actors, action: tuple[str, str]) -> None:
    """Do one thing."""
    ACTIONS[action[0]](actors, action[1])


def check(actors: Actors) -> None:
    """What was ever pointed at, can be confirmed, or is held, is there."""
    promised = {key for key, at in actors.granted.items() if actors.now - at <= CONFIRM}
    there = set(actors.world.payloads.objects)
    assert not [key for key in actors.pointed | actors.held | promised if key not in there]


def everybody_goes_on(actors: Actors) -> None:
    """Whatever can still become a message does. Nobody writes a payload: that would hide a loss."""
    for name in NAMES:
        for action in ("retry", "send", "retry", "confirm"):
            act(actors, (action, name))
    check(actors)


@settings(max_examples=1500, deadline=None)
@given(
    history=HISTORY,
    waited=WAIT,
    options=st.tuples(st.sampled_from(GRACES), st.booleans()),
    meanwhile=MEANWHILE,
    dies=st.none() | st.integers(0, 25),
)
def test_no_pointer_ever_loses_its_payload(
    history: list[tuple[int, tuple[str, str]]],
    waited: int,
    options: tuple[int, bool],
    meanwhile: list[tuple[int, tuple[str, str]]],
    dies: int | None,
) -> None:
    grace, versioned = options
    times = Times(grace=grace, before_send=BEFORE_SEND, unconfirmed=CONFIRM)
    world = World(plan=Plan(name="n", bucket=BUCKET, times=times, delete=True, rate=1000))
    world.payloads.versioned = versioned
    actors = Actors(world)
    for wait, action in history:
        world.clock.advance(wait)
        act(actors, action)
    world.clock.advance(waited)
    for place, action in meanwhile:
        world.faults.on(None, lambda action=action: act(actors, action), skip=place)  # type: ignore[misc]  # default of a lambda
    if dies is not None:
        world.faults.fail(None, Unavailable("no answer"), when="after", skip=dies)
    try:
        world.run()
    except Unavailable:
        world.run()
    check(actors)
    everybody_goes_on(actors)


def test_the_worlds_do_have_payloads_that_are_removed() -> None:
    """Or the property would hold of a reconciler that removes nothing."""
    world = World(
        plan=Plan(name="n", bucket=BUCKET, times=Times(grace=0, before_send=BEFORE_SEND, unconfirmed=CONFIRM))
    )
    actors = Actors(world)
    for action in (("upload", "a"), ("stage", "b"), ("refuse", "b")):
        act(actors, action)
    world.clock.advance(9 * DAY)
    assert world.run(delete=True).tally.removed == 2
    check(actors)
    everybody_goes_on(actors)
