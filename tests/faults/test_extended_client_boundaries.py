"""A process dies between any two calls of the Extended Client's paths, twice at each: as in `test_crash_boundaries`.

The boundaries are recorded from a passing run. In the end each effect exists exactly once, nothing is lost, and a
message without a hash was committed only after its bytes were read to the end.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import get_args

import pytest

from claim_check.contract import ATTRIBUTE_PAYLOAD_SIZE, ErrorCode
from claim_check.errors import InfrastructureUnavailable, PermanentError, PublishError, Unavailable
from claim_check.event import Event
from claim_check.message import Message
from claim_check.transaction import Transaction
from tests.fakes.faults import Crash, When
from tests.foreign_world import FOREIGN_BUCKET, ForeignWorld, identity_of, notification, pointer, size
from tests.harness import BUCKET, DOCUMENTS, EVENT_TYPE, TENANT, documents

EVER = 1_000_000
ROUNDS = 60
MAX_ATTEMPTS = 4


class Path:
    """A way through, and what there must be in the end.

    Attributes:
        world: Its world.
        once: Identities whose effect must exist exactly once.
        parked: The reasons that a message in the DLQ may have; empty: nothing may be there.
        redrives: How often the DLQ is sent back once all is quiet.
        publish: What the producer does first, until it succeeds.
    """

    def __init__(self, *, fifo: bool = False) -> None:
        """Nothing sent yet."""
        self.world = ForeignWorld(fifo=fifo)
        self.once: list[str] = []
        self.parked: set[str] = set()
        self.redrives = 0
        self.publish: Callable[[], object] = lambda: None
        self.deaths = 0
        self.broken = False

    # --- Running ----------------------------------------------------------------------------------------------------

    def handle(self, message: Message, tx: Transaction) -> None:
        """Do the work, unless this life is one that must fail."""
        if self.broken:
            raise PermanentError("not yet")
        documents(message, tx)

    def until_quiet(self) -> None:
        """Publish until it succeeds, then deliver, a new process each time; send back what is parked."""
        while not self._survives(self.publish):
            pass
        for lives_left in range(self.redrives, -1, -1):
            self.broken = lives_left > 0
            self._drain()
            if self.broken:
                self.world.redrive()

    def _drain(self) -> None:
        for _ in range(ROUNDS):
            if not self.world.queued():
                return
            self.world.pass_time()
            with suppress(InfrastructureUnavailable):  # Lambda delivers again
                self._survives(self._deliver)
        assert not self.world.queued(), "never quiet"

    def _deliver(self) -> None:
        self.world.deliver(self.world.consumer(self.handle, max_attempts=MAX_ATTEMPTS))

    def _survives(self, process: Callable[[], object]) -> bool:
        try:
            process()
        except Crash:
            self.deaths += 1
            self.world.faults._plans.clear()
            return False
        except PublishError:
            return False
        return True

    def die_at(self, index: int, when: When) -> None:
        """Dead is dead: from that call on nothing of the process has an effect."""
        self.world.faults.fail(None, Crash(), when=when, skip=index)
        self.world.faults.fail(None, Crash(), when="before", skip=index + 1, times=EVER)

    def check(self) -> None:
        """What there must be in the end."""
        effects = [write.key["pk"] for write in self.world.table.applied]
        assert sorted(effects) == sorted(f"{TENANT}#{one}" for one in self.once), "each effect exactly once"
        reasons = {code for _, code in self.world.parked()}
        assert reasons <= self.parked
        assert bool(reasons) == bool(self.parked)
        assert {row.state for row in self.world.table.rows.values()} <= {"COMPLETED", "PARKED"}


# --- The paths ------------------------------------------------------------------------------------------------------


def a_pointer() -> Path:
    """An offloaded message."""
    path = Path()
    path.world.offload()
    path.once = [identity_of("in/1")]
    return path


def a_wrapped_pointer() -> Path:
    """The same behind SNS."""
    path = Path()
    path.world.store()
    mark = {ATTRIBUTE_PAYLOAD_SIZE: size(len(path.world.objects.content(FOREIGN_BUCKET, "in/1") or b""))}
    path.world.send_body(notification(pointer("in/1"), mark))
    path.once = [identity_of("in/1")]
    return path


def an_inline_message() -> Path:
    """A small one."""
    path = Path()
    path.once = [f"message-{path.world.send_body('hello')}"]
    return path


def a_batch() -> Path:
    """Of everything something, a duplicate and a foreign bucket among it."""
    path = Path()
    world = path.world
    for _ in range(2):
        world.offload()
    path.once = [identity_of("in/1"), f"message-{world.send_body('hello')}"]
    world.send_body(pointer("in/2", bucket="elsewhere"), attributes={ATTRIBUTE_PAYLOAD_SIZE: size(1)})
    path.parked = {ErrorCode.UNTRUSTED_REFERENCE}
    return path


def a_missing_payload() -> Path:
    """Gone before it was read."""
    path = Path()
    path.world.offload()
    path.world.objects.delete(FOREIGN_BUCKET, "in/1")
    path.parked = {ErrorCode.MISSING_PAYLOAD, ErrorCode.HANDLER_CRASHED}
    return path


def corrupted_bytes() -> Path:
    """Not what S3's own checksum says."""
    path = Path()
    path.world.offload()
    path.world.objects.tamper(FOREIGN_BUCKET, "in/1", b"X" * 50)
    path.parked = {ErrorCode.CHECKSUM_MISMATCH, ErrorCode.HANDLER_CRASHED}
    return path


def an_inline_message_parked_twice() -> Path:
    """Its identity is the message id of its first life."""
    path = Path()
    path.once = [f"message-{path.world.send_body('hello')}"]
    path.redrives = 2
    return path


def a_pointer_parked_twice() -> Path:
    """Its identity is the pointer."""
    path = Path()
    path.world.offload()
    path.once = [identity_of("in/1")]
    path.redrives = 2
    return path


def publish(*events: Event, fifo: bool = False) -> Path:
    """What our producer writes for those clients, and our consumer reads."""
    path = Path(fifo=fifo)

    def send() -> None:
        for one in events:
            path.world.producer().publish(one)

    path.publish = send
    path.once = [str(one.message_id) for one in events]
    return path


def event(name: str, content: bytes = b"words", content_type: str = "text/plain", *, group: str | None = None) -> Event:
    return Event(
        tenant_id=TENANT,
        event_type=EVENT_TYPE,
        payload=content,
        content_type=content_type,
        message_id=name,
        group_id=group,
    )


PATHS: dict[str, Callable[[], Path]] = {
    "a pointer": a_pointer,
    "a wrapped pointer": a_wrapped_pointer,
    "an inline message": an_inline_message,
    "a batch": a_batch,
    "a missing payload": a_missing_payload,
    "corrupted bytes": corrupted_bytes,
    "an inline message parked twice": an_inline_message_parked_twice,
    "a pointer parked twice": a_pointer_parked_twice,
    "publishing a pointer": lambda: publish(event("e-1")),
    "publishing inline": lambda: publish(event("e-1", b"{}", "application/json")),
    "publishing to FIFO": lambda: publish(event("e-1", group="g"), event("e-2", group="g"), fifo=True),
}


@cache
def passing(name: str) -> Path:
    """A run in which nothing happens."""
    path = PATHS[name]()
    path.until_quiet()
    path.check()
    assert all(body.closed for body in path.world.objects.bodies)
    return path


def boundaries(name: str) -> tuple[str, ...]:
    """The calls of a passing run, in order."""
    return tuple(passing(name).world.faults.calls)


def finish(path: Path, name: str, what: str) -> None:
    """Run until all is quiet; an event published again writes no second object."""
    try:
        path.until_quiet()
        path.check()
        assert len(path.world.objects.keys(BUCKET)) == len(passing(name).world.objects.keys(BUCKET))
    except AssertionError as error:
        error.add_note(f"{what} of {name}: {boundaries(name)}")
        raise


@pytest.mark.parametrize("when", get_args(When))
@pytest.mark.parametrize("name", PATHS)
def test_a_process_that_dies_at_any_boundary_of(name: str, when: When) -> None:
    for index, call in enumerate(boundaries(name)):
        path = PATHS[name]()
        path.die_at(index, when)
        finish(path, name, f"died {when} call {index}, {call},")
        assert path.deaths == 1, "a boundary that was not reached was not tested"


@pytest.mark.parametrize("when", get_args(When))
@pytest.mark.parametrize("name", PATHS)
def test_a_service_that_does_not_answer_at_any_boundary_of(name: str, when: When) -> None:
    for index, call in enumerate(boundaries(name)):
        if call == "change_visibility":  # answers with what was refused, and never fails
            continue
        path = PATHS[name]()
        path.world.faults.fail(None, Unavailable("no answer"), when=when, skip=index)
        finish(path, name, f"no answer {when} call {index}, {call},")


def test_an_unverified_payload_is_read_to_its_end_before_the_commit() -> None:
    """R4.4: whatever the handler left unread is read, and compared, before anything is committed."""
    path = a_pointer()
    path.world.deliver(path.world.consumer(lambda _, tx: tx.put(DOCUMENTS, {"pk": "x"})))
    calls = path.world.calls("read", "complete")
    assert calls[-1] == "complete"
    assert calls.count("read") >= 2


def test_the_boundaries_are_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    number = sum(len(boundaries(name)) for name in PATHS)
    assert number > 60
    with capsys.disabled():
        print(f"\nExtended Client: {len(PATHS)} paths, {number} boundaries, each crashed twice")  # noqa: T201 - to be seen
