"""Random histories: deliveries out of order, duplicated, inside one another, with failures at any call (R4).

Whatever happens: no effect twice, nothing lost, COMPLETED is final, nothing parked without its reason.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from claim_check.contract import ErrorCode
from claim_check.envelope import Envelope, encode
from claim_check.errors import InfrastructureUnavailable, PermanentError, Unavailable
from claim_check.message import Message
from claim_check.ports import InboxRow
from claim_check.transaction import Transaction
from tests.fakes.faults import Crash, When
from tests.harness import REMAINING_SECONDS, World, documents

EVER = 1_000_000
MAX_ATTEMPTS = 4


class Unreadable(PermanentError):
    """A reason of the handler's own."""

    code = "Unreadable"


@dataclass(frozen=True)
class Mishap:
    """What goes wrong during one invocation.

    Attributes:
        kind: Its process dies, a service does not answer, or another invocation runs inside of it, at once or after
            the first one's lease has ended.
        index: At which of its calls.
        when: Before the call takes effect, or after.
    """

    kind: str
    index: int
    when: When


MISHAPS = st.builds(
    Mishap,
    kind=st.sampled_from(["death", "no answer", "another", "another, later"]),
    index=st.integers(0, 12),
    when=st.sampled_from(["before", "after"]),
)


@dataclass
class History:
    """What was published.

    Attributes:
        modes: How the handler treats each identity.
        contents: The envelopes published under each identity.
        bad: SQS message ids of what was no envelope.
        mishaps: Mishaps that may have left an attempt open or spoilt it.
    """

    modes: dict[str, str] = field(default_factory=dict)
    contents: dict[str, list[Envelope]] = field(default_factory=dict)
    bad: set[str] = field(default_factory=set)
    mishaps: int = 0


class Histories(RuleBasedStateMachine):
    """One pipeline, and everything that may happen to it."""

    identities: Bundle[str] = Bundle("identities")

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__()
        self.world = World()
        self.history = History()
        self.final: dict[str, InboxRow] = {}
        self.bodies: dict[str, Envelope] = {}

    # --- What is published ------------------------------------------------------------------------------------------

    @rule(
        target=identities,
        mode=st.sampled_from(["good", "good", "good", "fails", "poison", "flaky"]),
        inline=st.booleans(),
    )
    def publish(self, mode: str, inline: bool) -> str:  # noqa: FBT001 - drawn by Hypothesis
        """A new event."""
        identity = f"{mode}-{len(self.history.modes)}"
        envelope = self.world.envelope(f'{{"of":"{identity}"}}'.encode(), identity=identity, inline=inline)
        self.history.modes[identity] = mode
        self.history.contents[identity] = [envelope]
        self._send(envelope)
        return identity

    @rule(identity=identities)
    def publish_again(self, identity: str) -> None:
        """The same event in another message."""
        self._send(self.history.contents[identity][0])

    @rule(identity=identities)
    def publish_other_content(self, identity: str) -> None:
        """Other content under the same identity."""
        envelope = self.world.envelope(b"other content", identity=identity)
        self.history.contents[identity].append(envelope)
        self._send(envelope)

    @rule()
    def publish_nonsense(self) -> None:
        """No envelope at all."""
        self.history.bad.add(self.world.send_body("nonsense"))

    def _send(self, envelope: Envelope) -> None:
        self.bodies[encode(envelope)] = envelope
        self.world.send(envelope)

    # --- What happens -----------------------------------------------------------------------------------------------

    @rule(count=st.integers(1, 10), mishap=st.one_of(st.none(), MISHAPS))
    def deliver(self, count: int, mishap: Mishap | None) -> None:
        """One invocation."""
        if mishap is not None:
            self._plan(mishap)
        with suppress(Crash):
            self._invoke(count)
        self.world.faults._plans.clear()

    @rule(seconds=st.sampled_from([1, 10, 100, 1000]))
    def wait(self, seconds: int) -> None:
        """Let time pass."""
        self.world.clock.advance(seconds)

    @rule()
    def redrive(self) -> None:
        """Move the DLQ back."""
        bad = dict(self.world.parked())
        sent = self.world.redrive()
        if self.history.bad & bad.keys():
            self.history.bad |= set(sent)

    def _invoke(self, count: int) -> None:
        with suppress(InfrastructureUnavailable):
            self.world.deliver(self.world.consumer(self._handler, max_attempts=MAX_ATTEMPTS), count=count)

    def _plan(self, mishap: Mishap) -> None:
        faults = self.world.faults
        self.history.mishaps += 1
        if mishap.kind == "death":
            faults.fail(None, Crash(), when=mishap.when, skip=mishap.index)
            faults.fail(None, Crash(), skip=mishap.index + 1, times=EVER)
        elif mishap.kind == "no answer":
            for name in ("take", "open", "read", "replace", "complete", "send_batch"):
                faults.fail(name, Unavailable("no answer"), when=mishap.when, skip=mishap.index // 3)
        else:
            faults.on(None, lambda: self._another(later="later" in mishap.kind), when=mishap.when, skip=mishap.index)

    def _another(self, *, later: bool) -> None:
        if later:  # by the clocks of others; the first one's own deadline is far away
            self.world.clock._now += REMAINING_SECONDS * 10
        self._invoke(10)

    def _handler(self, message: Message, tx: Transaction) -> None:
        mode = message.idempotency_key.partition("-")[0]
        if mode == "fails" or (mode == "flaky" and message.attempt < MAX_ATTEMPTS):
            raise RuntimeError
        if mode == "poison":
            raise Unreadable
        documents(message, tx)

    # --- What must hold ---------------------------------------------------------------------------------------------

    @invariant()
    def no_effect_twice(self) -> None:
        """Each identity's effect is there at most once."""
        effects = [write.key["pk"] for write in self.world.table.applied]
        assert len(effects) == len(set(effects))

    @invariant()
    def completed_is_final(self) -> None:
        """A completed row never changes."""
        rows = self.world.table.rows
        for key, row in self.final.items():
            assert rows[key] == row
        self.final = {key: row for key, row in rows.items() if row.state == "COMPLETED"}

    @invariant()
    def nothing_is_lost(self) -> None:
        """What is neither in the queue nor in the DLQ had its effect."""
        queues = (self.world.queue_url, self.world.dlq_url)
        there = {one.message.body for queue in queues for one in self.world.queue.messages(queue)}
        for body, envelope in self.bodies.items():
            row = self.world.table.rows.get(self.world.key(envelope))
            done = row is not None and row.state == "COMPLETED" and row.fingerprint == envelope.fingerprint
            assert body in there or done, envelope.idempotency_key

    @invariant()
    def nothing_is_parked_without_its_reason(self) -> None:
        """A copy in the DLQ says what is true."""
        for copy, (sqs_message_id, code) in zip(
            self.world.queue.messages(self.world.dlq_url), self.world.parked(), strict=True
        ):
            envelope = self.bodies.get(copy.message.body)
            if envelope is None:
                assert (code, sqs_message_id in self.history.bad) == (ErrorCode.INVALID_ENVELOPE, True)
                continue
            mode = self.history.modes[envelope.idempotency_key]
            legitimate = {
                ErrorCode.CONFLICT: len(self.history.contents[envelope.idempotency_key]) > 1,
                ErrorCode.HANDLER_FAILED: mode in {"fails", "flaky"},
                ErrorCode.HANDLER_CRASHED: mode in {"fails", "flaky"} or self.history.mishaps >= MAX_ATTEMPTS,
                "Unreadable": mode == "poison",
            }
            assert legitimate.get(code), (mode, code)

    def teardown(self) -> None:
        """In the end everything is done with; and once the handlers are mended and the DLQ is redriven, done."""
        self._settle()
        for _ in range(2):
            self.world.redrive()
            self._handler = documents  # type: ignore[method-assign]  # the next release
            self._settle()
        assert {write.key["pk"].partition("#")[2] for write in self.world.table.applied} == set(self.history.modes)
        assert {code for _, code in self.world.parked()} <= {ErrorCode.CONFLICT, ErrorCode.INVALID_ENVELOPE}

    def _settle(self) -> None:
        for _ in range(200):
            if not self.world.queued():
                break
            self.world.pass_time()
            self._invoke(10)
        assert not self.world.queued(), "never quiet"
        self.no_effect_twice()
        self.completed_is_final()
        self.nothing_is_lost()


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=120, stateful_step_count=30, deadline=None, derandomize=True)
