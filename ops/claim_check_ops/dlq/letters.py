"""A dead letter: a message in a DLQ, as far as it can be understood, and why it is there. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from claim_check import contract, extended_client
from claim_check.acceptance import Acceptance
from claim_check.consumer_rules import ConsumerRules
from claim_check.contract import ErrorCode
from claim_check.dead_letters import ParkedReason, died_at, parked_reason
from claim_check.delivery import Delivery
from claim_check.envelope import Claim, Envelope, Inline, UnverifiedClaim, decode
from claim_check.errors import PermanentError
from claim_check.inbox import last_reason
from claim_check.ports import Clock, InboxRow
from claim_check_ops.telemetry import SilentTelemetry

UNTRACED: Final = "Untraced"
"""Reason of a message that SQS moved and that no row of the inbox knows: it never came to the gate."""

COMPLETED: Final = "Completed"
"""Reason of a message that SQS moved although its work is done: only its acknowledgement got lost."""

UNKNOWN: Final = "-"
"""Stands for a tenant or a type that a message does not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A message in a DLQ.

    Attributes:
        delivery: The message.
        source: Where it lies: the queue, or the archive.
        envelope: What it says; None if it says nothing that can be read.
        refusal: Why the consumer would park it again, whatever its handler does; None if it would not.
        parked: The reason that the consumer wrote on it; None where SQS itself moved it.
        row: The inbox's row of its identity, once it was looked up.
    """

    delivery: Delivery
    source: str
    envelope: Envelope | None
    refusal: PermanentError | None
    parked: ParkedReason | None
    row: InboxRow | None = None

    @property
    def id(self) -> str:
        """SQS's id of the message, as it lies in the DLQ."""
        return self.delivery.sqs_message_id

    @property
    def reason(self) -> str:
        """Why it is there: as parked, else as the inbox knows it."""
        if self.parked is not None:
            return self.parked.error_code
        if self.envelope is None:
            return self.refusal.code if self.refusal is not None else ErrorCode.INVALID_ENVELOPE
        if self.row is None:
            return self.refusal.code if self.refusal is not None else UNTRACED
        return COMPLETED if self.row.state == "COMPLETED" else last_reason(self.row)[0]

    @property
    def attempts(self) -> int | None:
        """Attempts it had; None if nobody knows."""
        if self.parked is not None:
            return self.parked.attempts
        return None if self.row is None else self.row.attempts or self.row.attempts_spent

    @property
    def tenant_id(self) -> str:
        """Its tenant, as the envelope says, else its attribute."""
        return self.envelope.tenant_id if self.envelope else self._attribute(contract.ATTRIBUTE_TENANT_ID)

    @property
    def event_type(self) -> str:
        """Its type, as the envelope says, else its attribute."""
        return self.envelope.event_type if self.envelope else self._attribute(contract.ATTRIBUTE_EVENT_TYPE)

    @property
    def claim(self) -> Claim | UnverifiedClaim | None:
        """Its payload in S3, if it has one."""
        payload = self.envelope.payload if self.envelope else None
        return None if payload is None or isinstance(payload, Inline) else payload

    @property
    def payload_bytes(self) -> int:
        """Bytes of its payload; 0 if that is not known."""
        return self.envelope.payload.content_length if self.envelope else 0

    @property
    def died_at(self) -> float:
        """When it came into the DLQ, epoch seconds."""
        return died_at(self.delivery)

    @property
    def published_at(self) -> float:
        """When it was published, epoch seconds; where it does not say so, when SQS took it in."""
        if self.envelope is not None and self.envelope.published_at is not None:
            return self.envelope.published_at.timestamp()
        return self.delivery.sent_at

    def life_ends(self, life_seconds: float) -> float | None:
        """When a payload of its age is gone and the inbox forgets it, epoch seconds; None for what is no event.

        Args:
            life_seconds: The retention plan's sum.
        """
        return self.published_at + life_seconds if self.envelope is not None and self.published_at else None

    def _attribute(self, name: str) -> str:
        attribute = self.delivery.attributes.get(name)
        value = attribute.value if attribute is not None else None
        return value if isinstance(value, str) and contract.is_name(value) else UNKNOWN


class LetterReader:
    """Understands dead letters as one consumer does."""

    def __init__(self, rules: ConsumerRules, *, ttl_seconds: int, clock: Clock) -> None:
        """Set up.

        Args:
            rules: What the consumer accepts now.
            ttl_seconds: How long its inbox remembers.
            clock: Time.
        """
        self._rules = rules
        self._acceptance = Acceptance(rules, ttl_seconds=ttl_seconds, clock=clock, telemetry=SilentTelemetry())

    def read(self, delivery: Delivery, *, source: str) -> DeadLetter:
        """Understand a message as far as possible."""
        content = self._acceptance.read(delivery).content
        refusal = content if isinstance(content, PermanentError) else None
        return DeadLetter(
            delivery=delivery,
            source=source,
            envelope=self._decoded(delivery) if isinstance(content, PermanentError) else content,
            refusal=refusal,
            parked=parked_reason(delivery),
        )

    def key(self, letter: DeadLetter) -> str | None:
        """Key of the inbox row of its identity; None if it has none."""
        if letter.envelope is None:
            return None
        return contract.inbox_key(
            consumer=self._rules.consumer,
            tenant_id=letter.envelope.tenant_id,
            idempotency_key=letter.envelope.idempotency_key,
        )

    def _decoded(self, delivery: Delivery) -> Envelope | None:
        try:
            if self._rules.foreign is None:
                return decode(delivery.body)
            return extended_client.read(delivery, self._rules.foreign).envelope
        except PermanentError:
            return None


@dataclass(frozen=True, slots=True)
class Group:
    """Dead letters of one reason, tenant and type.

    Attributes:
        reason: Why they are there.
        tenant_id: Their tenant.
        event_type: Their type.
        source: Where they lie.
        letters: The dead letters.
    """

    reason: str
    tenant_id: str
    event_type: str
    source: str
    letters: Sequence[DeadLetter]

    @property
    def payload_bytes(self) -> int:
        """Bytes of all their payloads."""
        return sum(letter.payload_bytes for letter in self.letters)

    @property
    def moved_by_sqs(self) -> int:
        """How many of them SQS itself moved."""
        return sum(letter.parked is None for letter in self.letters)

    def oldest(self, now: float) -> float:
        """Age of the oldest, as the queue's retention counts it, seconds."""
        return max(now - letter.delivery.sent_at for letter in self.letters)

    def life_left(self, now: float, life_seconds: float) -> float | None:
        """The shortest life that one of their payloads has left, seconds; None if none of them is an event."""
        ends = [end for letter in self.letters if (end := letter.life_ends(life_seconds)) is not None]
        return min(ends) - now if ends else None


def grouped(letters: Sequence[DeadLetter]) -> list[Group]:
    """Dead letters by reason, tenant, type and place, the largest group first."""
    found: dict[tuple[str, str, str, str], list[DeadLetter]] = {}
    for letter in letters:
        place = (letter.reason, letter.tenant_id, letter.event_type, letter.source)
        found.setdefault(place, []).append(letter)
    groups = [Group(*place, members) for place, members in found.items()]
    return sorted(groups, key=lambda group: (-len(group.letters), group.reason, group.tenant_id, group.event_type))


def joined(letters: Sequence[DeadLetter], keys: Sequence[str | None], rows: Mapping[str, InboxRow]) -> list[DeadLetter]:
    """Dead letters with the rows of their identities."""
    return [
        _with_row(letter, rows.get(key)) if key is not None else letter
        for letter, key in zip(letters, keys, strict=True)
    ]


def _with_row(letter: DeadLetter, row: InboxRow | None) -> DeadLetter:
    return DeadLetter(
        delivery=letter.delivery,
        source=letter.source,
        envelope=letter.envelope,
        refusal=letter.refusal,
        parked=letter.parked,
        row=row,
    )
