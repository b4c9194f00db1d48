"""A process dies between any two calls to the outside, twice at each: before a call, and after it took effect.

The boundaries are not listed here: they are recorded from a passing run of each path. After each death the message is
delivered (or the event published) again until everything is quiet. Then the effect exists exactly once, no message is
lost, nothing is parked that should not be, and every pointer that could be seen on the way resolved (R2.1, R4.1).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import get_args

import pytest

from claim_check import contract
from claim_check.contract import ErrorCode
from claim_check.envelope import Claim, decode
from claim_check.errors import (
    AccessDenied,
    InfrastructureUnavailable,
    InvalidEnvelope,
    PermanentError,
    PublishError,
    Unavailable,
)
from claim_check.event import Event
from claim_check.message import Message
from claim_check.payload_store import PayloadStore
from claim_check.ports import InboxTable, MessageQueue, ObjectStore, WriteConflict
from claim_check.processor import Handler
from claim_check.producer import Producer, Unpublished
from claim_check.transaction import Transaction
from tests.fakes.faults import Crash, When
from tests.harness import BUCKET, EVENT_TYPE, TENANT, Sent, World, documents

EVER = 1_000_000
MAX_ATTEMPTS = 4
ROUNDS = 60
BEFORE_SEND_SECONDS = 3600.0
LARGE = b"a large file, in three parts" * 2
"""What the producer here uploads in parts; all else is smaller."""


class Unreadable(PermanentError):
    """A reason of the handler's own."""

    code = "Unreadable"


def handler(message: Message, tx: Transaction) -> None:
    """Do what the message id says."""
    if "fails" in message.message_id:
        raise RuntimeError
    if "poison" in message.message_id:
        raise Unreadable
    documents(message, tx)


@dataclass
class Expected:
    """What a path begins with, and what there must be in the end.

    Attributes:
        once: Identities whose effect must exist exactly once.
        parked: Messages that must lie in the DLQ, and the reasons that they may have there.
        redriven: Whether the DLQ is redriven, once, when all is quiet.
        publish: What the producer does first; repeated until it succeeds.
        resolves: Whether every payload is there.
    """

    once: list[str] = field(default_factory=list)
    parked: dict[str, set[str]] = field(default_factory=dict)
    redriven: bool = False
    publish: Callable[[Producer], object] = lambda _: None
    resolves: bool = True


def identity(sent: Sent) -> str:
    """What makes two messages the same work."""
    return sent.envelope.idempotency_key


# --- Paths of the consumer ------------------------------------------------------------------------------------------


def a_claim(world: World) -> Expected:
    """The happy path of a claim."""
    return Expected(once=[identity(world.send())])


def inline(world: World) -> Expected:
    """The happy path of an inline payload."""
    return Expected(once=[identity(world.send(world.envelope(b"{}", inline=True)))])


def duplicates(world: World) -> Expected:
    """One event three times, in one batch and in the next."""
    sent = world.send()
    world.send(sent.envelope)
    world.send(sent.envelope)
    return Expected(once=[identity(sent)])


def failing(world: World) -> Expected:
    """A handler that fails until its message is parked."""
    sent = world.send(world.envelope(identity="fails"))
    return Expected(parked={sent.sqs_message_id: {ErrorCode.HANDLER_FAILED, ErrorCode.HANDLER_CRASHED}})


def parking(world: World) -> Expected:
    """A handler that declares its message bad for good."""
    sent = world.send(world.envelope(identity="poison"))
    return Expected(parked={sent.sqs_message_id: {"Unreadable"}})


def missing(world: World) -> Expected:
    """A payload that is gone."""
    sent = world.send()
    claim = sent.envelope.payload
    assert isinstance(claim, Claim)
    world.objects.delete(BUCKET, claim.key)
    reasons = {ErrorCode.MISSING_PAYLOAD, ErrorCode.HANDLER_CRASHED}
    return Expected(parked={sent.sqs_message_id: reasons}, resolves=False)


def parking_unclaimed(world: World) -> Expected:
    """A message that is no envelope."""
    return Expected(parked={world.send_body("{"): {ErrorCode.INVALID_ENVELOPE}})


def conflict(world: World) -> Expected:
    """Other content under a completed identity."""
    sent = world.send()
    world.deliver()
    world.faults.clear()
    forged = world.send(world.envelope(b"other content", identity=sent.envelope.message_id))
    return Expected(once=[identity(sent)], parked={forged.sqs_message_id: {ErrorCode.CONFLICT}})


def redriven(world: World) -> Expected:
    """A message that is parked, and redriven once its handler was mended."""
    return Expected(once=[identity(world.send(world.envelope(identity="poison")))], redriven=True)


def suspect(world: World) -> Expected:
    """A message whose earlier attempt was never closed, beside one that is new."""
    sent, other = world.send(), world.send()
    world.seed_row(sent, "IN_PROGRESS", lease_until=world.clock.now())
    return Expected(once=[identity(sent), identity(other)])


def abandoned_parking(world: World) -> Expected:
    """A message whose parking was left half done."""
    sent = world.send()
    world.seed_row(sent, "PARKING", attempts=0, attempts_spent=3, last_code="Unreadable")
    return Expected(parked={sent.sqs_message_id: {"Unreadable"}})


def contended_commit(world: World) -> Expected:
    """A commit that succeeds when it is repeated."""
    world.faults.fail("complete", Unavailable("conflict"), times=1)
    return Expected(once=[identity(world.send())])


def batch(world: World) -> Expected:
    """Of everything something, in one batch."""
    once = [world.send(), world.send(world.envelope(b"{}", inline=True)), world.send()]
    world.send(once[0].envelope)
    bad = world.send_body("[]")
    poison = world.send(world.envelope(identity="poison"))
    fails = world.send(world.envelope(identity="fails"))
    reasons = {ErrorCode.HANDLER_FAILED, ErrorCode.HANDLER_CRASHED}
    parked = {bad: {ErrorCode.INVALID_ENVELOPE}, poison.sqs_message_id: {"Unreadable"}, fails.sqs_message_id: reasons}
    return Expected(once=[identity(sent) for sent in once], parked=parked)


def groups(world: World) -> Expected:
    """Two groups of a FIFO queue, one with a poison message at its head."""
    poison = world.send(world.envelope(identity="poison"), group="g-1")
    once = [world.send(group="g-1"), world.send(group="g-2"), world.send(group="g-2")]
    return Expected(once=[identity(sent) for sent in once], parked={poison.sqs_message_id: {"Unreadable"}})


# --- Paths of the producer ------------------------------------------------------------------------------------------


def event(name: str, content: bytes = b"bytes of a file", *, group: str | None = None) -> Event:
    """An event whose payload travels as a claim, unless it is JSON."""
    json = content.startswith(b"{")
    return Event(
        tenant_id=TENANT,
        event_type=EVENT_TYPE,
        payload=content,
        content_type="application/json" if json else "application/octet-stream",
        message_id=name,
        group_id=group,
    )


def publishing(*events: Event) -> Expected:
    """Publish events one by one."""

    def publish(producer: Producer) -> None:
        for one in events:
            producer.publish(one)

    return Expected(once=[str(one.message_id) for one in events], publish=publish)


def publish_a_claim(_: World) -> Expected:
    """One payload, one pointer."""
    return publishing(event("e-1"))


def publish_inline(_: World) -> Expected:
    """One message."""
    return publishing(event("e-1", b"{}"))


def publish_again(world: World) -> Expected:
    """The object is there already: an earlier attempt wrote it."""
    _stored(world, event("e-1"))
    return publishing(event("e-1"))


def publish_beside_an_aged_object(world: World) -> Expected:
    """The object that an attempt of long ago wrote is about to expire."""
    _stored(world, event("e-1"))
    world.clock.advance(BEFORE_SEND_SECONDS + 1)
    return publishing(event("e-1"))


def publish_in_parts(_: World) -> Expected:
    """A payload of three parts."""
    return publishing(event("e-1", LARGE))


def publish_in_parts_again(world: World) -> Expected:
    """Its object is there already."""
    _stored(world, event("e-1", LARGE))
    return publishing(event("e-1", LARGE))


def publish_in_parts_unseen(world: World) -> Expected:
    """Its object is there already, and the first look at it is denied: the completion finds it."""
    _stored(world, event("e-1", LARGE))
    world.faults.fail("head", AccessDenied("refused"))
    return publishing(event("e-1", LARGE))


def publish_in_parts_in_conflict(world: World) -> Expected:
    """Two writers of one key: everything is uploaded anew."""
    world.faults.fail("complete_upload_if_absent", WriteConflict())
    return publishing(event("e-1", LARGE))


def publish_in_conflict(world: World) -> Expected:
    """Two writers of one key."""
    world.faults.fail("put_if_absent", WriteConflict())
    return publishing(event("e-1"))


def publish_refused_entry(world: World) -> Expected:
    """The queue takes the message only when it is sent again."""
    world.faults.fail("send_batch", Unavailable("throttled"))
    return publishing(event("e-1"))


def publish_a_batch(_: World) -> Expected:
    """Claims and inline payloads, more than one call of ten holds."""
    events = [event(f"e-{n}", b"{}" if n % 3 else f"file {n}".encode()) for n in range(12)]
    return _batch_of(events)


def publish_groups(_: World) -> Expected:
    """Two groups of a FIFO queue."""
    return _batch_of([event(f"e-{n}", f"file {n}".encode(), group=f"g-{n % 2}") for n in range(4)])


def _batch_of(events: Sequence[Event]) -> Expected:
    def publish(producer: Producer) -> None:
        results = producer.publish_batch(events)
        assert not [one for one in results if isinstance(one, Unpublished)]

    return Expected(once=[str(one.message_id) for one in events], publish=publish)


def _stored(world: World, one: Event) -> None:
    content = one.payload
    assert isinstance(content, bytes)
    sha256 = hashlib.sha256(content).hexdigest()
    key = contract.object_key(
        tenant_id=TENANT, event_type=EVENT_TYPE, idempotency_key=str(one.message_id), sha256=sha256
    )
    world.objects._write(BUCKET, key, content, one.content_type, {contract.METADATA_SHA256: sha256})


def producer(world: World) -> Producer:
    """A producer in a new process."""
    store = PayloadStore(
        world.objects,
        bucket=BUCKET,
        before_send_seconds=BEFORE_SEND_SECONDS,
        clock=world.clock,
        random=lambda: 0.5,
        multipart_threshold=len(LARGE) - 1,
        part_bytes=len(LARGE) // 3 + 1,
        parallel_parts=1,
    )
    return Producer(
        store,
        world.queue,
        queue_url=world.queue_url,
        clock=world.clock,
        new_id=lambda: "never drawn",
        random=lambda: 0.5,
        telemetry=world.telemetry,
        parallel=1,
    )


PATHS: dict[str, Callable[[World], Expected]] = {
    path.__name__: path
    for path in (
        a_claim,
        inline,
        duplicates,
        failing,
        parking,
        missing,
        parking_unclaimed,
        conflict,
        redriven,
        suspect,
        abandoned_parking,
        contended_commit,
        batch,
        groups,
        publish_a_claim,
        publish_inline,
        publish_again,
        publish_beside_an_aged_object,
        publish_in_conflict,
        publish_in_parts,
        publish_in_parts_again,
        publish_in_parts_unseen,
        publish_in_parts_in_conflict,
        publish_refused_entry,
        publish_a_batch,
        publish_groups,
    )
}


# --- Running a path, and what must hold -----------------------------------------------------------------------------


@dataclass
class Run:
    """A path being run.

    Attributes:
        world: Its world.
        expected: What there must be in the end.
        deaths: Processes that died.
        published: Messages in the source queue once the producer was done.
        dies_again: Calls after which the process dies that takes the place of the first dead one.
    """

    world: World
    expected: Expected
    deaths: int = 0
    published: int = 0
    dies_again: int | None = None

    def until_quiet(self) -> None:
        """Publish until it succeeds, then deliver until the source queue is empty: a new process each time."""
        while not self._survives(lambda: self.expected.publish(producer(self.world))):
            pass
        self.published = len(self.world.queued())
        self._drain(handler)
        if self.expected.redriven:
            self.world.redrive()
            self._drain(documents)

    @property
    def objects(self) -> int:
        """Objects in the bucket."""
        return len(self.world.objects.keys(BUCKET))

    def _drain(self, handler: Handler) -> None:
        for _ in range(ROUNDS):
            if not self.world.queued():
                return
            self.world.pass_time()
            with suppress(InfrastructureUnavailable):  # Lambda delivers again
                self._survives(lambda: self.world.deliver(self.world.consumer(handler, max_attempts=MAX_ATTEMPTS)))
        assert not self.world.queued(), "never quiet"

    def _survives(self, process: Callable[[], object]) -> bool:
        try:
            process()
        except Crash:
            self.deaths += 1
            self.world.faults._plans.clear()
            if self.dies_again is not None:
                self.die_at(self.dies_again, "after")
                self.dies_again = None
            return False
        except PublishError:  # publishing the same event again is safe
            return False
        finally:
            if self.expected.resolves:
                pointers_resolve(self.world)
        return True

    def die_at(self, index: int, when: When) -> None:
        """Dead is dead: from that call on nothing of the process has an effect."""
        self.world.faults.fail(None, Crash(), when=when, skip=index)
        self.world.faults.fail(None, Crash(), when="before", skip=index + 1, times=EVER)

    def check(self) -> None:
        """What there must be in the end."""
        world, expected = self.world, self.expected
        effects = [write.key["pk"] for write in world.table.applied]
        assert sorted(effects) == sorted(f"{TENANT}#{one}" for one in expected.once), "each effect exactly once"
        copies = [sqs_message_id for sqs_message_id, _ in world.parked()]
        assert set(copies) == set(expected.parked) or expected.redriven, "parked is what should be, nothing else"
        assert all(copies.count(one) <= 1 + max(1, self.deaths) for one in copies), "one more copy for each death"
        for sqs_message_id, code in world.parked():
            assert code in expected.parked[sqs_message_id]
        states = [row.state for row in world.table.rows.values()]
        assert set(states) <= {"COMPLETED", "PARKED"}, "nothing is left open"


def pointers_resolve(world: World) -> None:
    """Whatever message can be seen, its payload is there and is what it says (the invariant above all)."""
    for one in world.queued():
        with suppress(InvalidEnvelope):
            envelope = decode(one.message.body)
            claim = envelope.payload
            if isinstance(claim, Claim):
                content = world.objects.content(claim.bucket, claim.key)
                assert content is not None
                assert hashlib.sha256(content).hexdigest() == claim.sha256


def start(path: str) -> Run:
    """A path in a world without a past."""
    world = World(fifo=path.endswith("groups"))
    return Run(world, PATHS[path](world))


@cache
def passing(path: str) -> Run:
    """A run in which nothing happens."""
    run = start(path)
    run.until_quiet()
    run.check()
    assert run.deaths == 0
    return run


def boundaries(path: str) -> tuple[str, ...]:
    """The calls of a passing run, in order."""
    return tuple(passing(path).world.faults.calls)


def finish(run: Run, path: str, what: str) -> None:
    """Run until all is quiet, and compare what is left with a run in which nothing happened."""
    try:
        run.until_quiet()
        run.check()
        assert run.objects == passing(path).objects, "an event published again writes no second object"
        lost = run.deaths + ("start_upload" in what)
        assert len(run.world.objects.uploads) <= lost, "only who dies, or never learns its id, leaves an upload behind"
        if run.world.fifo:
            assert run.published == passing(path).published, "nor a second message within five minutes"
    except AssertionError as error:
        error.add_note(f"{what} of {path}: {boundaries(path)}")
        raise


@pytest.mark.parametrize("when", get_args(When))
@pytest.mark.parametrize("path", PATHS)
def test_a_process_that_dies_at_any_boundary_of(path: str, when: When) -> None:
    for index, name in enumerate(boundaries(path)):
        run = start(path)
        run.die_at(index, when)
        finish(run, path, f"died {when} call {index}, {name},")
        assert run.deaths == 1, "a boundary that was not reached was not tested"


@pytest.mark.parametrize("when", get_args(When))
@pytest.mark.parametrize("path", PATHS)
def test_a_service_that_does_not_answer_at_any_boundary_of(path: str, when: When) -> None:
    """The process lives on, and does not know whether the call took effect."""
    for index, name in enumerate(boundaries(path)):
        if name == "change_visibility":  # answers with what was refused, and never fails
            continue
        run = start(path)
        run.world.faults.fail(None, Unavailable("no answer"), when=when, skip=index)
        finish(run, path, f"no answer {when} call {index}, {name},")


SHORT = 12


@pytest.mark.parametrize("path", [path for path in PATHS if path not in {"batch", "publish_a_batch"}])
def test_a_recovery_that_dies_as_well(path: str) -> None:
    """Die at any of the first boundaries, and again at any of those that follow."""
    for first in range(min(SHORT, len(boundaries(path)))):
        for second in range(SHORT):
            run = start(path)
            run.die_at(first, "after")
            run.dies_again = second
            finish(run, path, f"died after call {first}, and {second} calls later,")
            assert run.deaths >= 1


def test_every_call_to_the_outside_is_a_boundary_of_some_path(capsys: pytest.CaptureFixture[str]) -> None:
    """A call that a port gains is not crashed by any path until one is added here that makes it."""
    ports = {
        name for port in (ObjectStore, MessageQueue, InboxTable) for name in vars(port) if not name.startswith("_")
    }
    recorded = {path: boundaries(path) for path in PATHS}
    assert {name for calls in recorded.values() for name in calls} == ports | {"read"}
    number = sum(map(len, recorded.values()))
    with capsys.disabled():
        print(f"\ncrash tests: {len(PATHS)} paths, {number} boundaries, each crashed twice")  # noqa: T201 - to be seen
