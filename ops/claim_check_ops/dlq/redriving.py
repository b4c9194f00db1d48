"""Sends dead letters back to work: canary first, at a limited pace, until errors return (R9.1, R9.2).

For each call: note which dead letters are sent, send their copies, note what SQS confirmed, only then delete. Whatever
this process dies of, a dead letter is in the DLQ, or its copy is in the queue, or both; the inbox absorbs the second.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from claim_check import contract
from claim_check.dead_letters import copy_behind, redriven_copy
from claim_check.errors import ClaimCheckError, Unavailable
from claim_check.packing import Item
from claim_check.ports import Clock, MessageQueue, OutgoingMessage, SendResult
from claim_check.sizes import message_bytes
from claim_check_ops.dlq.assessing import Assessed, Court
from claim_check_ops.dlq.journal import Journal
from claim_check_ops.dlq.letters import DeadLetter
from claim_check_ops.dlq.outcomes import Copy, Outcomes
from claim_check_ops.dlq.pace import Limit, Pace, calls
from claim_check_ops.dlq.ports import DeadLetterSource, QueueFacts
from claim_check_ops.dlq.report import Moved, Report, event_id
from claim_check_ops.dlq.selecting import Selection

WINDOW: Final = 100
"""Dead letters taken and judged at once."""

CAME_BACK: Final = "CameBack"
PARKED_MEANWHILE: Final = "ParkedMeanwhile"
SEND_REFUSED: Final = "SendRefused"
GROUP_WAITS: Final = "GroupWaits"

_LOOK_SECONDS: Final = 2.0
_KEEP_SECONDS: Final = 20.0
_SEND_TRIES: Final = 4

Windows: TypeAlias = Generator[list[Assessed], None, None]


class _Enough(Exception):
    """As many were sent as were asked for."""


class Stopped(Exception):
    """The redrive ends here; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """How a redrive is to be done.

    Attributes:
        selection: What is meant.
        limit: How fast.
        most: So many at most; None sends all that can go.
        canary_seconds: How long the first copy may take until it is completed; None sends no copy ahead.
        max_failures: More failed copies than this end it.
        settle_seconds: How long to watch the last copies.
        delete_completed: Whether what the inbox has completed is acknowledged.
    """

    selection: Selection
    limit: Limit
    most: int | None = None
    canary_seconds: float | None = 120.0
    max_failures: int = 5
    settle_seconds: float = 30.0
    delete_completed: bool = False


class Told(Protocol):
    """Is told how far a redrive is."""

    def step(self, text: str) -> None:
        """What is done now."""

    def moved(self, messages: int, payload_bytes: int) -> None:
        """So much more was sent."""


class Redriver:
    """Does one redrive."""

    def __init__(
        self,
        sources: Sequence[DeadLetterSource],
        queue: MessageQueue,
        *,
        court: Court,
        outcomes: Outcomes,
        journal: Journal,
        orders: Orders,
        clock: Clock,
        told: Told,
        ahead: Callable[[Windows], Windows],
    ) -> None:
        """Set up.

        Args:
            sources: Where dead letters are.
            queue: Sends copies.
            court: Judges dead letters.
            outcomes: Watches copies.
            journal: What was done before, and is done now.
            orders: How it is to be done.
            clock: Time.
            told: Is told how far it is.
            ahead: Takes the next window while one is worked on; the identity for one after the other.
        """
        self._sources = sources
        self._queue = queue
        self._court = court
        self._outcomes = outcomes
        self._journal = journal
        self._orders = orders
        self._began_at = clock.now()
        self._clock = clock
        self._told = told
        self._ahead = ahead
        self._pace = Pace(orders.limit, now=clock.monotonic())
        self._report = Report(run=journal.run)
        self._canary_due = orders.canary_seconds is not None
        self._looked_at = clock.monotonic()
        self._first_sent_at: float | None = None
        self._source: DeadLetterSource = sources[0]
        self._waiting_groups: set[str] = set()  # of all sources: what the archive keeps stands before the queue's

    def run(self) -> Report:
        """Do it; what went wrong is in the report. Whatever is raised, all that is held is given back."""
        try:
            with suppress(_Enough):
                for source in self._sources:
                    self._drain(source)
            self._settle()
            if not self._has_more_to_remove():
                self._journal.note("finished", at=self._clock.now())
        except Stopped as stopped:
            self._report.stopped = str(stopped)
        except ClaimCheckError as error:
            self._report.stopped = f"{type(error).__name__}: {error}"
        except KeyboardInterrupt:
            self._report.stopped, self._report.interrupted = "interrupted", True
        finally:
            for source in self._sources:
                self._report.not_given_back |= set(source.give_back())
        self._report.copies = list(self._outcomes.copies)
        return self._report

    def _has_more_to_remove(self) -> bool:
        """Whether dead letters whose copies were sent may still lie there; the next call must know of them."""
        hidden = self._report.unseen and self._journal.sent.keys() - self._journal.removed
        return bool(self._report.still_there or hidden)

    # --- Windows ----------------------------------------------------------------------------------------------------

    def _drain(self, source: DeadLetterSource) -> None:
        self._source, left_before = source, self._left()
        windows = self._windows(source)
        with closing(windows if source.ordered else self._ahead(windows)) as coming:
            for window in coming:
                self._work_on(window)
        self._report.unseen += max(0, (source.total() or 0) - (self._left() - left_before))

    def _left(self) -> int:
        """How many dead letters were seen and stay."""
        return len(self._report.stayed) + len(self._report.still_there) + self._report.not_meant

    def _windows(self, source: DeadLetterSource) -> Windows:
        while deliveries := source.take(WINDOW):
            letters = self._court.assessor.read(deliveries, source=source.name)
            yield self._court.assess([letter for letter in letters if self._is_meant(letter)])

    def _is_meant(self, letter: DeadLetter) -> bool:
        """Whether it is to be judged at all; what is left out is counted."""
        copy_id = copy_behind(letter.delivery)
        if copy_id is not None and self._outcomes.came_back(copy_id, letter.reason):
            self._report.came_back += 1
            self._report.stay(letter, CAME_BACK, "its copy was parked again")
            return False
        if letter.id in self._journal.sent:
            return True
        if not self._orders.selection.takes(letter, now=self._clock.now()):
            self._report.not_meant += 1
            return False
        if letter.died_at > self._began_at:
            self._report.stay(letter, PARKED_MEANWHILE, "it was parked after this redrive began")
            return False
        return True

    def _work_on(self, window: Sequence[Assessed]) -> None:
        before = [one.letter for one in window if one.letter.id in self._journal.sent]
        self._report.caught_up += self._delete(before)
        rest = [one for one in window if one.letter.id not in self._journal.sent]
        if self._orders.delete_completed:
            self._report.completed += self._delete([one.letter for one in rest if one.verdict.action == "done"])
        to_send = [one for one in rest if self._is_sendable(one)]
        if self._orders.most is not None:
            to_send = to_send[: self._orders.most - len(self._report.moved)]
        if self._canary_due and to_send:
            self._send_canary(to_send.pop(0))
        by_queue: dict[str, list[Assessed]] = {}
        for one in to_send:
            by_queue.setdefault(_destination(one).url, []).append(one)
        for url, ones in by_queue.items():
            self._send_all(url, ones)
        self._watch(now=False)
        if len(self._report.moved) == self._orders.most:
            raise _Enough

    def _is_sendable(self, one: Assessed) -> bool:
        """Whether its copy is to be sent; what stays is reported. What follows a group's waiting head waits, too."""
        letter, verdict = one.letter, one.verdict
        if verdict.action == "done" and self._orders.delete_completed:
            return False
        if verdict.action != "send":
            self._report.stay(letter, verdict.code, verdict.text)
            if verdict.blocks_group:
                self._let_group_wait(letter)
            return False
        return not self._waits(letter) and self._fits(one)

    def _fits(self, one: Assessed) -> bool:
        """Whether SQS takes the copy, which is larger than the dead letter: a call with it would be refused whole."""
        size = message_bytes(self._copy_of(one))
        if size <= contract.SQS_MAX_MESSAGE_BYTES:
            return True
        text = (
            f"its copy has {size:,} bytes with what is noted on it, and SQS takes {contract.SQS_MAX_MESSAGE_BYTES:,}; "
            "have SQS itself move it (StartMessageMoveTask)"
        )
        self._report.stay(one.letter, SEND_REFUSED, text)
        self._let_group_wait(one.letter)
        return False

    def _waits(self, letter: DeadLetter) -> bool:
        if not self._source.ordered or letter.delivery.group_id not in self._waiting_groups:
            return False
        self._report.stay(letter, GROUP_WAITS, "what stands before it in its group was not sent")
        return True

    def _let_group_wait(self, letter: DeadLetter) -> None:
        if letter.delivery.group_id is not None:
            self._waiting_groups.add(letter.delivery.group_id)

    # --- Sending ----------------------------------------------------------------------------------------------------

    def _send_canary(self, one: Assessed) -> None:
        self._canary_due = False
        self._told.step("canary")
        (copy,) = self._send(_destination(one).url, [one]) or (None,)
        if copy is None:
            raise Stopped("the canary could not be sent")
        name = f"the canary, {event_id(one.letter) or one.letter.id} (its copy is {copy.copy_id}),"
        deadline = self._clock.monotonic() + (self._orders.canary_seconds or 0.0)
        while copy.fate == "open":
            if self._clock.monotonic() >= deadline:
                raise Stopped(
                    f"{name} was not completed within {self._orders.canary_seconds:g} s; "
                    "look whether the consumer runs, or allow more by --canary-timeout"
                )
            self._pause(1.0)
            self._outcomes.look()
        if copy.fate == "failed":
            raise Stopped(f"{name} failed: {copy.code}; the cause is not mended")

    def _send_all(self, url: str, ones: Sequence[Assessed]) -> None:
        """Send in order, group by group at most one in a call."""
        fifo = url.endswith(".fifo")
        items = [
            Item(place, message_bytes(self._copy_of(one)), one.letter.delivery.group_id if fifo else None)
            for place, one in enumerate(ones)
        ]
        for call in calls(items, [one.letter.payload_bytes for one in ones], self._orders.limit):
            ready = [ones[place] for place in call if not self._waits(ones[place].letter)]
            if ready:
                self._send(url, ready)
                self._watch(now=False)

    def _copy_of(self, one: Assessed) -> OutgoingMessage:
        letter = one.letter
        return redriven_copy(
            letter.delivery,
            reason=letter.reason,
            run=self._journal.run,
            now=self._clock.now(),
            fifo=_destination(one).fifo,
        )

    def _send(self, url: str, ones: Sequence[Assessed]) -> list[Copy]:
        """Send one call's copies when the pace allows; delete what was confirmed."""
        self._await_pace(ones)
        self._journal.note("sending", ids=[one.letter.id for one in ones])
        results = self._confirmed(url, [self._copy_of(one) for one in ones])
        sent = []
        for one, result in zip(ones, results, strict=True):
            if result.sqs_message_id is not None:
                sent.append((one, result.sqs_message_id))
                continue
            text = f"its queue did not take the copy: {result.error_code}"
            self._report.stay(one.letter, SEND_REFUSED, text)
            self._let_group_wait(one.letter)
        return self._note_sent(sent)

    def _note_sent(self, sent: Sequence[tuple[Assessed, str]]) -> list[Copy]:
        if not sent:
            return []
        self._journal.note("sent", copies={one.letter.id: copy_id for one, copy_id in sent})
        copies = []
        for one, copy_id in sent:
            letter = one.letter
            moved = Moved(letter.id, event_id(letter), copy_id, _destination(one).name, letter.payload_bytes)
            self._report.moved.append(moved)
            key = self._court.assessor.key(letter) or ""
            copies.append(self._outcomes.sent(letter_id=letter.id, copy_id=copy_id, key=key))
        self._delete([one.letter for one, _ in sent])
        self._told.moved(len(sent), sum(one.letter.payload_bytes for one, _ in sent))
        self._report.seconds = self._clock.monotonic() - (self._first_sent_at or 0.0)
        return copies

    def _confirmed(self, url: str, copies: Sequence[OutgoingMessage]) -> list[SendResult]:
        """Send, and again what SQS did not take through no fault of ours.

        A copy whose answer was lost may be sent twice: a FIFO queue knows its id, and elsewhere the inbox absorbs it.

        Raises:
            Unavailable: SQS does not answer, again and again.
            PublishError: SQS refuses the call.
        """
        results: dict[int, SendResult] = {}
        left = list(range(len(copies)))
        for attempt in range(_SEND_TRIES):
            if attempt:
                self._pause(0.25 * 2**attempt)
            try:
                answers = self._queue.send_batch(url, [copies[place] for place in left])
            except Unavailable as error:
                if attempt == _SEND_TRIES - 1 and len(left) == len(copies):
                    raise
                answers = [SendResult(error_code=error.code)] * len(left)
            results |= dict(zip(left, answers, strict=True))
            left = [place for place in left if _may_be_sent_again(results[place])]
            if not left:
                break
        return [results[place] for place in range(len(copies))]

    def _await_pace(self, ones: Sequence[Assessed]) -> None:
        load = {"messages": len(ones), "payload_bytes": sum(one.letter.payload_bytes for one in ones)}
        while (wait := self._pace.wait(**load, now=self._clock.monotonic())) > 0:
            self._pause(min(wait, _KEEP_SECONDS))
        now = self._clock.monotonic()
        self._pace.take(**load, now=now)
        self._first_sent_at = now if self._first_sent_at is None else self._first_sent_at
        self._source.keep()

    def _pause(self, seconds: float) -> None:
        self._clock.sleep(seconds)
        self._source.keep()

    # --- Deleting ---------------------------------------------------------------------------------------------------

    def _delete(self, letters: Sequence[DeadLetter]) -> list[str]:
        """Delete dead letters whose copies are confirmed, or whose work is done. Returns the ids of those deleted."""
        if not letters:
            return []
        refused = set(self._source.remove([letter.delivery for letter in letters]))
        self._report.still_there |= refused
        deleted = [letter.id for letter in letters if letter.id not in refused]
        self._report.still_there -= set(deleted)
        if deleted:
            self._journal.note("removed", ids=deleted)
        return deleted

    # --- Watching ---------------------------------------------------------------------------------------------------

    def _watch(self, *, now: bool) -> None:
        """Look at the copies now and then.

        Raises:
            Stopped: Too many of them failed.
        """
        if not now and self._clock.monotonic() - self._looked_at < _LOOK_SECONDS:
            return
        self._outcomes.look()
        self._looked_at = self._clock.monotonic()
        failed = self._outcomes.count("failed")
        if max(failed, self._report.came_back) > self._orders.max_failures:
            codes = sorted({copy.code or "" for copy in self._outcomes.copies if copy.fate == "failed"})
            raise Stopped(f"errors return: {failed} copies failed ({', '.join(codes)}); the cause is not mended")

    def _settle(self) -> None:
        """Watch the last copies for a while."""
        self._told.step("watching the last copies")
        deadline = self._clock.monotonic() + self._orders.settle_seconds
        self._watch(now=True)
        while self._outcomes.count("open") and self._clock.monotonic() < deadline:
            self._pause(1.0)
            self._watch(now=True)


def _may_be_sent_again(result: SendResult) -> bool:
    return result.sqs_message_id is None and not result.sender_fault


def _destination(one: Assessed) -> QueueFacts:
    if one.destination is None:  # what has none is never judged as to be sent
        raise ValueError(one.letter.id)
    return one.destination


def one_by_one(windows: Windows) -> Windows:
    """Take each window when the one before is done."""
    return windows


def first_of(assessed: Sequence[Assessed], most: int | None) -> list[Assessed]:
    """The same without what is sent beyond so many."""
    kept, sent = [], 0
    for one in assessed:
        sent += one.verdict.action == "send"
        if one.verdict.action != "send" or most is None or sent <= most:
            kept.append(one)
    return kept


def total_of(assessed: Iterable[Assessed]) -> tuple[int, int]:
    """Messages and payload bytes of what would be sent."""
    loads = [one.letter.payload_bytes for one in assessed if one.verdict.action == "send"]
    return len(loads), sum(loads)
