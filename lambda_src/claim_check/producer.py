"""Publishes events: the payload first, then the pointer (R2.1).

The only thing a failure can leave behind is an object that nobody points at; publishing the same event again finds it.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Final, TypeAlias, TypeVar

from claim_check import contract, extended_client, inlining, packing, payload_source, sizes
from claim_check.contract import InlineMode, Metric, WireFormat
from claim_check.envelope import Claim, Envelope, Inline, encode
from claim_check.errors import (
    ClaimCheckError,
    EmptyField,
    InvalidEvent,
    MessageTooLarge,
    Overtaken,
    PublishError,
    Unavailable,
)
from claim_check.event import Event
from claim_check.payload_source import OnProgress, PayloadSource, Step
from claim_check.payload_store import MAX_GENERATIONS, PayloadStore
from claim_check.ports import Clock, MessageAttribute, MessageQueue, OutgoingMessage, SendResult, Telemetry
from claim_check.retries import Retry
from claim_check.side_by_side import SideBySide
from claim_check.telemetry import message_fields

FIFO_SUFFIX: Final = ".fifo"
WAVE: Final = 100
"""Events of a batch that are prepared together: what bounds memory, and what a crash can leave behind."""

WAVES_AHEAD: Final = 2
"""Waves that are on their way while the next one is prepared."""

SMALL_BYTES: Final = 16 * contract.KIB
"""Bytes up to this size are looked at without a thread: if they travel inline, that waits for nothing."""

CLAIM_SLACK_BYTES: Final = len(',"versionId":""') + 1024 + len(f".{MAX_GENERATIONS}")
"""What a claim may grow by once its object is written: S3's version ids have up to 1,024 bytes."""

OnBatchProgress: TypeAlias = Callable[[int, Step, int, int], object]
"""`claim_check.payload_source.OnProgress` with the event's place in its batch before it."""

_TRACE_HEADER: Final = re.compile("Root=[!-~]{1,1000}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """An event that was published.

    Attributes:
        message_id: The event's identity.
        idempotency_key: What makes two messages the same work.
        sqs_message_id: SQS's id of the message.
        payload: Where the content went: into the message, or to S3.
    """

    message_id: str
    idempotency_key: str
    sqs_message_id: str
    payload: Inline | Claim = field(repr=False)

    @property
    def sha256(self) -> str:
        """SHA-256 of the content, hexadecimal."""
        return self.payload.sha256

    @property
    def content_length(self) -> int:
        """Bytes of the content."""
        return self.payload.content_length


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpublished:
    """An event of a batch that was not published, or of which it is unknown.

    Attributes:
        message_id: The event's identity; publish it again under this one.
        error: Why.
    """

    message_id: str | None
    error: ClaimCheckError


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A message that is ready to be sent: its payload is where it says.

    Attributes:
        message_id: The event's identity.
        idempotency_key: What makes two messages the same work.
        fingerprint: What that identity is bound to: content, event type and version.
        payload: Where the content went: into the message, or to S3.
        message: The message.
    """

    message_id: str
    idempotency_key: str
    fingerprint: str
    payload: Inline | Claim = field(repr=False)
    message: OutgoingMessage = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """An event with its identity."""

    index: int
    event: Event
    message_id: str
    idempotency_key: str
    published_at: datetime
    group_id: str | None
    deduplication_id: str | None
    trace_header: str | None
    on_progress: OnProgress | None
    kept: bool = False


@dataclass(frozen=True, slots=True)
class _Staged:
    """A message that can be sent: its payload is where it says."""

    draft: _Draft
    payload: Inline | Claim
    message: OutgoingMessage
    size: int


@dataclass(frozen=True, slots=True)
class _Wave:
    """Events whose messages are on their way.

    Attributes:
        refused: Events that got no message, and why.
        answers: Waits for the calls: each with SQS's answer to each of its messages.
    """

    refused: list[tuple[_Draft, ClaimCheckError]]
    answers: Callable[[], list[tuple[Sequence[_Staged], list[str | ClaimCheckError]]]]


_Item = TypeVar("_Item")


class Producer:
    """Publishes events to one queue. Safe to share between threads."""

    def __init__(
        self,
        store: PayloadStore,
        queue: MessageQueue,
        *,
        queue_url: str,
        clock: Clock,
        new_id: Callable[[], str],
        random: Callable[[], float],
        telemetry: Telemetry,
        inline: InlineMode = "auto",
        inline_limit: int = contract.DEFAULT_INLINE_LIMIT_BYTES,
        max_message_bytes: int = contract.SQS_MAX_MESSAGE_BYTES,
        reserve_bytes: int = contract.DEFAULT_RESERVE_BYTES,
        max_payload_bytes: int = contract.DEFAULT_MAX_PAYLOAD_BYTES,
        fair_queues: bool = False,
        wire_format: WireFormat = "claim-check",
        parallel: int = 10,
        retry: Retry = Retry(),  # noqa: B008 - an immutable value
        flushes: bool = False,
    ) -> None:
        """Make a producer.

        Args:
            store: Where large payloads go.
            queue: How messages are sent.
            queue_url: Where to. A name that ends in ``.fifo`` makes group and deduplication ids mandatory.
            clock: Time.
            new_id: Draws the identity of events that have none.
            random: Draws from [0, 1) for the jitter.
            telemetry: Logs and metrics.
            inline: ``never`` sends every payload to S3.
            inline_limit: Largest whole message, attributes and reserve included, whose payload may travel inside.
            max_message_bytes: What the queue takes; a smaller MaximumMessageSize of the queue belongs here.
            reserve_bytes: Room for the attributes that a tracer adds after us.
            max_payload_bytes: Largest payload; up to 48.8 TiB, what S3 takes.
            fair_queues: On a standard queue, the tenant becomes the message group of events that have none.
            wire_format: ``extended-client`` writes what Amazon's Extended Client Libraries read; their payloads are
                text.
            parallel: Payloads and calls of a batch that are under way at once; 1 uses no threads.
            retry: How outages and refused entries are retried; its budget keeps FIFO retries inside SQS's
                deduplication interval.
            flushes: Emit metrics at the end of each call; otherwise whoever made ``telemetry`` does.
        """
        self._store = store
        self._queue = queue
        self._queue_url = queue_url
        self._queue_name = queue_url.rpartition("/")[2]
        self._fifo = queue_url.endswith(FIFO_SUFFIX)
        self._clock = clock
        self._new_id = new_id
        self._random = random
        self._telemetry = telemetry
        self._inline = inline
        self._inline_limit = min(inline_limit, max_message_bytes)
        self._max_message = max_message_bytes
        self._reserve = reserve_bytes
        self._max_payload = min(max_payload_bytes, contract.S3_MAX_OBJECT_BYTES)
        self._fair_queues = fair_queues
        self._wire_format: WireFormat = wire_format
        self._parallel = parallel
        self._retry = retry
        self._flushes = flushes

    def publish(
        self, event: Event, *, trace_header: str | None = None, on_progress: OnProgress | None = None
    ) -> Published:
        """Publish one event: its payload, and when S3 has confirmed that, the message.

        Args:
            event: What to publish.
            trace_header: Value of ``_X_AMZN_TRACE_ID``, if the caller is traced.
            on_progress: Told how far a payload is that comes from a file: the step (``hash`` or ``upload``), bytes
                done, bytes in all. Called from any thread.

        Raises:
            InvalidEvent: Refused before anything was written.
            PublishError: Not published, or unknown; publishing it again is safe.
        """
        with self._call("publish"):
            result = self._publish([event], trace_header, on_progress and (lambda _, *far: on_progress(*far)))[0]
        if isinstance(result, Unpublished):
            raise result.error
        return result

    def publish_batch(
        self,
        events: Iterable[Event],
        *,
        trace_header: str | None = None,
        on_progress: OnBatchProgress | None = None,
    ) -> list[Published | Unpublished]:
        """Publish any number of events, with as few calls as their number and bytes allow (R2.7).

        On FIFO queues the order within a group holds: what follows an event that was not published is not sent either.

        Args:
            events: What to publish.
            trace_header: Value of ``_X_AMZN_TRACE_ID``, if the caller is traced.
            on_progress: As for `publish`, with the event's place in the order given before it.

        Returns:
            What became of each event, in the order given. No failure hides another event's success.
        """
        with self._call("publish_batch"):
            return self._publish(list(events), trace_header, on_progress)

    @property
    def ordered(self) -> bool:
        """Whether it publishes to a FIFO queue."""
        return self._fifo

    def prepare(self, event: Event, *, trace_header: str | None = None) -> Prepared:
        """Put an event's payload where `publish` would, and make its message, but send nothing.

        For those who keep the message and send it later, such as an outbox.

        Args:
            event: What is to be published.
            trace_header: Value of ``_X_AMZN_TRACE_ID``, if the caller is traced.

        Raises:
            InvalidEvent: Refused before anything was written.
            PublishError: The payload was not written, or unknown; preparing it again is safe.
        """
        draft = replace(self._draft(0, event, _checked_trace(trace_header), None), kept=True)
        staged = self._stage(draft)
        if not isinstance(staged, _Staged):
            raise staged
        return Prepared(
            message_id=draft.message_id,
            idempotency_key=draft.idempotency_key,
            fingerprint=_envelope(draft, staged.payload).fingerprint,
            payload=staged.payload,
            message=staged.message,
        )

    def fingerprint(self, event: Event) -> str:
        """What an event's identity is bound to: content, event type and version. Reads the payload, writes nothing.

        Raises:
            InvalidEvent: The payload cannot be read, or is too large.
        """
        with payload_source.opened(event.payload, max_bytes=self._max_payload) as source:
            return f"{source.sha256}:{event.event_type}:{event.event_version}"

    def check_claim(self, event: Event, claim: Claim) -> None:
        """Check what `publish_claim` would check, and do nothing.

        Args:
            event: As for `publish_claim`.
            claim: The payload; where it lies need not be known for sure yet.

        Raises:
            InvalidEvent: The queue would not take this event.
        """
        self._check_size(self._staged(self._draft(0, event, None, None), claim).size + CLAIM_SLACK_BYTES)

    def publish_claim(self, event: Event, claim: Claim, *, trace_header: str | None = None) -> Published:
        """Publish the pointer to a payload that somebody else put into S3.

        The caller answers for the object: it is there, is what the claim says, and lives as long as the plan wants.

        Args:
            event: What to publish; its own payload is not looked at.
            claim: The payload.
            trace_header: Value of ``_X_AMZN_TRACE_ID``, if the caller is traced.

        Raises:
            InvalidEvent: Refused; nothing was sent.
            PublishError: Not published, or unknown; publishing it again is safe.
        """
        draft = self._draft(0, event, _checked_trace(trace_header), None)
        staged = self._staged(draft, claim)
        self._check_size(staged.size)
        with self._call("publish_claim"):
            (outcome,) = self._send([staged])[1]
            if isinstance(outcome, str):
                return self._succeeded(draft, claim, outcome)
            raise self._failed(event, draft.message_id, outcome).error

    @contextmanager
    def _call(self, name: str) -> Iterator[None]:
        """A call of the caller's: traced, and its metrics emitted once, however it ends."""
        try:
            with self._telemetry.span(name):
                yield
        finally:
            if self._flushes:
                self._telemetry.flush()

    # --- A batch, wave by wave --------------------------------------------------------------------------------------

    def _publish(
        self, events: Sequence[Event], trace_header: str | None, on_progress: OnBatchProgress | None
    ) -> list[Published | Unpublished]:
        trace_header = _checked_trace(trace_header)
        results: dict[int, Published | Unpublished] = {}
        drafts: dict[int, _Draft] = {}
        for index, event in enumerate(events):
            try:
                drafts[index] = self._draft(index, event, trace_header, on_progress)
            except ClaimCheckError as error:
                results[index] = self._failed(event, event.message_id, error)
        items = [packing.Item(index, 0, draft.group_id if self._fifo else None) for index, draft in drafts.items()]
        stopped: set[str | None] = set()
        with SideBySide(self._parallel) as threads:
            for one_round in packing.rounds(items):
                self._publish_round([drafts[item.index] for item in one_round], stopped, results, threads)
        return [results[index] for index in range(len(events))]

    def _publish_round(
        self,
        drafts: Sequence[_Draft],
        stopped: set[str | None],
        results: dict[int, Published | Unpublished],
        threads: SideBySide,
    ) -> None:
        """Publish events of which no two share a group; add the groups of those that failed to ``stopped``.

        While the calls of a wave are on their way, the next one is prepared and an earlier one is accounted for.
        """
        free = [draft for draft in drafts if not self._fifo or draft.group_id not in stopped]
        for draft in drafts:
            if self._fifo and draft.group_id in stopped:
                results[draft.index] = self._failed(draft.event, draft.message_id, _overtaken(draft))
        waves = list(_slices(free, WAVE))
        on_their_way: deque[_Wave] = deque()
        for number, wave in enumerate(waves, 1):
            on_their_way.append(self._send_wave(wave, threads, last=number == len(waves)))
            if len(on_their_way) > WAVES_AHEAD:
                self._settle(on_their_way.popleft(), stopped, results)
        for sent in on_their_way:
            self._settle(sent, stopped, results)

    def _send_wave(self, drafts: Sequence[_Draft], threads: SideBySide, *, last: bool) -> _Wave:
        """Stage events, and put their messages on the way."""
        outcomes = list(zip(drafts, self._stage_all(drafts, threads), strict=True))
        refused = [(draft, outcome) for draft, outcome in outcomes if not isinstance(outcome, _Staged)]
        staged = [outcome for _, outcome in outcomes if isinstance(outcome, _Staged)]
        return _Wave(refused, threads.start(self._send, self._calls(staged), wait=last))

    def _settle(self, wave: _Wave, stopped: set[str | None], results: dict[int, Published | Unpublished]) -> None:
        """Wait for a wave's answers, and tell what became of its events."""
        failed = wave.refused
        for call, answers in wave.answers():
            for one, answer in zip(call, answers, strict=True):
                if isinstance(answer, str):
                    results[one.draft.index] = self._succeeded(one.draft, one.payload, answer)
                else:
                    failed.append((one.draft, answer))
        for draft, error in failed:
            results[draft.index] = self._failed(draft.event, draft.message_id, error)
            stopped.add(draft.group_id)

    def _calls(self, staged: Sequence[_Staged]) -> list[list[_Staged]]:
        """Pack messages into calls; where ten do not fit by their bytes, the largest go to S3 first."""
        fitting: list[_Staged] = []
        for ten in _slices(staged, packing.SQS.entries):
            sizes_of_ten = [one.size for one in ten]
            if sum(sizes_of_ten) <= packing.SQS.size:
                fitting += ten
                continue
            chosen = packing.to_offload(sizes_of_ten, [self._claim_size(one) for one in ten])
            fitting += [self._offload(one) if place in chosen else one for place, one in enumerate(ten)]
        items = [packing.Item(place, one.size) for place, one in enumerate(fitting)]
        return [[fitting[item.index] for item in call] for call in packing.pack(items)]

    # --- One event: identity, payload -------------------------------------------------------------------------------

    def _draft(self, index: int, event: Event, trace_header: str | None, on_progress: OnBatchProgress | None) -> _Draft:
        if self._fifo and event.group_id is None:
            raise EmptyField(
                "group_id",
                "missing, and the queue is FIFO",
                limit="1 to 128 characters",
                way_out="name what must stay in order, such as the id of the document",
            )
        message_id = event.message_id or self._new_id()
        key = event.idempotency_key or message_id
        return _Draft(
            index=index,
            event=event,
            message_id=message_id,
            idempotency_key=key,
            published_at=datetime.fromtimestamp(self._clock.now(), UTC),
            group_id=event.group_id or (event.tenant_id if self._fair_queues else None),
            deduplication_id=deduplication_id(event.tenant_id, key) if self._fifo else None,
            trace_header=trace_header,
            on_progress=None if on_progress is None else partial(on_progress, index),
        )

    def _stage_all(self, drafts: Sequence[_Draft], threads: SideBySide) -> list[_Staged | ClaimCheckError]:
        """Stage events: small ones at once, since they wait for nothing; those that may need S3 side by side."""
        ready: dict[int, _Staged | ClaimCheckError] = {
            draft.index: small for draft in drafts if (small := self._stage_small(draft)) is not None
        }
        others = [draft for draft in drafts if draft.index not in ready]
        ready |= {
            draft.index: one for draft, one in zip(others, threads.start(self._stage, others, wait=True)(), strict=True)
        }
        return [ready[draft.index] for draft in drafts]

    def _stage_small(self, draft: _Draft) -> _Staged | None:
        payload = draft.event.payload
        if not isinstance(payload, bytes) or len(payload) > min(SMALL_BYTES, self._max_payload):
            return None
        return self._stage_inline(draft, payload_source.of_bytes(payload))

    def _stage(self, draft: _Draft) -> _Staged | ClaimCheckError:
        try:
            with payload_source.opened(
                draft.event.payload,
                max_bytes=self._max_payload,
                part_size=self._store.part_size,
                on_progress=draft.on_progress,
            ) as source:
                return self._stage_inline(draft, source) or self._stage_claim(draft, source)
        except ClaimCheckError as error:
            return error
        except Exception as error:  # noqa: BLE001 - a caller's file may raise anything; it must not hide others' success
            problem = PublishError(f"payload: reading or writing failed ({type(error).__name__}); publish it again")
            problem.__cause__ = error
            return problem

    def _stage_inline(self, draft: _Draft, source: PayloadSource) -> _Staged | None:
        if draft.event.sensitive or self._inline == "never":
            return None
        text = inlining.inline_text(source, draft.event.content_type, self._inline_limit)
        if text is None or (self._wire_format != "claim-check" and not extended_client.fits_inline(text)):
            return None
        staged = self._staged(draft, Inline(content_type=draft.event.content_type, body=text))
        return staged if staged.size <= self._inline_limit else None

    def _stage_claim(self, draft: _Draft, source: PayloadSource) -> _Staged:
        size = self._staged(draft, self._expected_claim(draft, source.content_length)).size + CLAIM_SLACK_BYTES
        self._check_size(size)
        if self._wire_format != "claim-check":
            extended_client.check_text(source)
        with self._telemetry.span("put_payload"):
            claim = self._store.put(
                source,
                tenant_id=draft.event.tenant_id,
                event_type=draft.event.event_type,
                idempotency_key=draft.idempotency_key,
                message_id=draft.message_id,
                content_type=draft.event.content_type,
                kept=draft.kept,
            )
        return self._staged(draft, claim)

    def _check_size(self, size: int) -> None:
        if size > self._max_message:
            raise MessageTooLarge(
                "attributes, domain_ref",
                f"the message without its payload has {size} bytes, reserves included",
                limit=f"up to {self._max_message} bytes",
                way_out="move attributes and domain_ref into the payload",
            )

    def _staged(self, draft: _Draft, payload: Inline | Claim) -> _Staged:
        message = _message(draft, payload, self._wire_format)
        return _Staged(draft, payload, message, sizes.message_bytes(message) + self._reserve)

    def _expected_claim(self, draft: _Draft, content_length: int) -> Claim:
        """A claim as long as the one that a put will give, but for the slack."""
        sha256 = "0" * 64
        key = contract.object_key(
            tenant_id=draft.event.tenant_id,
            event_type=draft.event.event_type,
            idempotency_key=draft.idempotency_key,
            sha256=sha256,
        )
        return Claim(
            bucket=self._store.bucket,
            key=key,
            content_type=draft.event.content_type,
            content_length=content_length,
            sha256=sha256,
        )

    def _claim_size(self, staged: _Staged) -> int | None:
        if isinstance(staged.payload, Claim):
            return None
        claim = self._expected_claim(staged.draft, staged.payload.content_length)
        return self._staged(staged.draft, claim).size + CLAIM_SLACK_BYTES

    def _offload(self, staged: _Staged) -> _Staged:
        """Move an inline payload to S3; where that fails it stays inline, in a call with fewer others."""
        if isinstance(staged.payload, Claim):
            return staged
        content = staged.payload.content
        try:
            return self._stage_claim(staged.draft, PayloadSource(len(content), staged.payload.sha256, content=content))
        except ClaimCheckError:
            return staged

    # --- One call ---------------------------------------------------------------------------------------------------

    def _send(
        self, call: Sequence[_Staged], started: float | None = None
    ) -> tuple[Sequence[_Staged], list[str | ClaimCheckError]]:
        """Send one call's messages; entries that were not accepted are tried again under the same ids.

        Args:
            call: The messages.
            started: When the first of them was first sent, so that all retries together stay within the budget.

        Returns:
            The call, and for each of its messages SQS's id of it or why it was not accepted.
        """
        answers: dict[int, str | ClaimCheckError] = {}
        problems = dict.fromkeys(range(len(call)), "no time was left")
        started = self._clock.monotonic() if started is None else started
        for _ in self._retry.tries(self._clock, self._random, started=started):
            left = [place for place in range(len(call)) if place not in answers]
            try:
                results = self._queue.send_batch(self._queue_url, [call[place].message for place in left])
            except Unavailable as error:
                problems |= dict.fromkeys(left, str(error))
                continue
            except PublishError as error:
                if len(left) == 1:
                    answers[left[0]] = error
                else:  # one message may have had the whole call refused
                    answers |= {place: self._send([call[place]], started)[1][0] for place in left}
                break
            for place, result in zip(left, results, strict=True):
                if (answer := _answer(result)) is not None:
                    answers[place] = answer
                problems[place] = str(result.error_code)
            if len(answers) == len(call):
                break
        return call, [answers.get(place) or _not_accepted(problems[place]) for place in range(len(call))]

    # --- What is told -----------------------------------------------------------------------------------------------

    def _succeeded(self, draft: _Draft, payload: Inline | Claim, sqs_message_id: str) -> Published:
        self._telemetry.count(Metric.PUBLISHED)
        self._telemetry.count(Metric.PUBLISHED_BYTES, payload.content_length)
        if isinstance(payload, Claim):
            self._telemetry.count(Metric.PUBLISHED_CLAIMS)
        fields = message_fields(_envelope(draft, payload))
        self._telemetry.log("info", "published", sqsMessageId=sqs_message_id, queue=self._queue_name, **fields)
        return Published(
            message_id=draft.message_id,
            idempotency_key=draft.idempotency_key,
            sqs_message_id=sqs_message_id,
            payload=payload,
        )

    def _failed(self, event: Event, message_id: str | None, error: ClaimCheckError) -> Unpublished:
        if not isinstance(error, InvalidEvent):  # that is the caller's own mistake, and it was told
            self._telemetry.count(Metric.PUBLISH_FAILED)
        self._telemetry.log(
            "error",
            "not published",
            queue=self._queue_name,
            messageId=message_id,
            tenantId=event.tenant_id,
            eventType=event.event_type,
            correlationId=event.correlation_id,
            errorCode=type(error).__name__,
        )
        return Unpublished(message_id=message_id, error=error)


def _checked_trace(trace_header: str | None) -> str | None:
    return trace_header if trace_header and _TRACE_HEADER.fullmatch(trace_header) else None


def deduplication_id(tenant_id: str, idempotency_key: str) -> str:
    """FIFO deduplication id of an event: its identity, tenant included, hashed to 64 characters (R2.6)."""
    return hashlib.sha256(f"{tenant_id}#{idempotency_key}".encode()).hexdigest()


def _envelope(draft: _Draft, payload: Inline | Claim) -> Envelope:
    event = draft.event
    return Envelope(
        message_id=draft.message_id,
        event_type=event.event_type,
        event_version=event.event_version,
        occurred_at=event.occurred_at,
        published_at=draft.published_at,
        tenant_id=event.tenant_id,
        correlation_id=event.correlation_id,
        idempotency_key=draft.idempotency_key,
        domain_ref=event.domain_ref,
        payload=payload,
    )


def _message(draft: _Draft, payload: Inline | Claim, wire_format: WireFormat) -> OutgoingMessage:
    attributes = {
        contract.ATTRIBUTE_EVENT_TYPE: draft.event.event_type,
        contract.ATTRIBUTE_TENANT_ID: draft.event.tenant_id,
        **draft.event.attributes,
    }
    envelope, marks = _envelope(draft, payload), dict[str, MessageAttribute]()
    if wire_format == "claim-check":
        body = encode(envelope)
    else:
        body, marks = extended_client.encode(envelope, wire_format)
    return OutgoingMessage(
        body=body,
        attributes={
            **{name: MessageAttribute(data_type="String", value=value) for name, value in attributes.items()},
            **marks,
        },
        group_id=draft.group_id,
        deduplication_id=draft.deduplication_id,
        trace_header=draft.trace_header,
    )


def _answer(result: SendResult) -> str | ClaimCheckError | None:
    """SQS's id, a refusal that repeating cannot mend, or None: try again."""
    if result.sqs_message_id is not None:
        return result.sqs_message_id
    return PublishError(f"the queue refused the message: {result.error_code}") if result.sender_fault else None


def _not_accepted(problem: str) -> PublishError:
    return PublishError(f"not accepted by the queue within the retries ({problem}); publish it again with the same ids")


def _overtaken(draft: _Draft) -> Overtaken:
    return Overtaken(
        f"not sent: an earlier event of group {draft.group_id} in this batch was not published; "
        "publish both again, in order"
    )


def _slices(items: Sequence[_Item], length: int) -> Iterator[Sequence[_Item]]:
    for start in range(0, len(items), length):
        yield items[start : start + length]
