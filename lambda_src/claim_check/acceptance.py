"""What is judged by a message alone, before the inbox is asked: decoding, versions, age, and where its claim points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from claim_check import contract, extended_client
from claim_check.envelope import Envelope, Inline, UnverifiedClaim, decode
from claim_check.errors import PermanentError, Stale, UnsupportedVersion, UntrustedReference

if TYPE_CHECKING:
    from claim_check.consumer_rules import ConsumerRules
    from claim_check.delivery import Delivery
    from claim_check.ports import Clock, Telemetry


@dataclass(frozen=True, slots=True)
class Reading:
    """A received message, decoded as far as it could be.

    Attributes:
        delivery: The message.
        content: What is to be worked on, or why nothing is.
        decoded: What the message says, accepted or not; None if nobody can read it.
    """

    delivery: Delivery
    content: Envelope | PermanentError
    decoded: Envelope | None = None

    @property
    def identity(self) -> str:
        """Messages of one identity are handled one after the other."""
        if isinstance(self.content, Envelope):
            return f"{self.content.tenant_id}#{self.content.idempotency_key}"
        return f"#{self.delivery.sqs_message_id}"


class Acceptance:
    """Reads received messages."""

    def __init__(self, rules: ConsumerRules, *, ttl_seconds: int, clock: Clock, telemetry: Telemetry) -> None:
        """Set up.

        Args:
            rules: What the consumer accepts.
            ttl_seconds: How long its inbox remembers: an older message could be a duplicate that nobody knows.
            clock: Time.
            telemetry: Counts the wire formats.
        """
        self._rules = rules
        self._ttl_seconds = ttl_seconds
        self._clock = clock
        self._telemetry = telemetry

    def read(self, delivery: Delivery) -> Reading:
        """Decode a message and check all that needs no look at the inbox."""
        envelope = None
        try:
            envelope = self._decode(delivery)
            self._check_version(envelope)
            self._check_age(envelope, delivery)
            self._check_reference(envelope)
        except PermanentError as error:
            return Reading(delivery, error, envelope)
        return Reading(delivery, envelope, envelope)

    def _decode(self, delivery: Delivery) -> Envelope:
        if self._rules.foreign is None:
            return decode(delivery.body)
        found = extended_client.read(delivery, self._rules.foreign)
        if found.counter is not None:
            self._telemetry.count(found.counter)
        return found.envelope

    def _check_version(self, envelope: Envelope) -> None:
        accepted = self._rules.event_types
        if not accepted:
            return
        if envelope.event_type not in accepted:
            raise UnsupportedVersion(f"eventType: not among the types of consumer {self._rules.consumer}")
        if envelope.event_version not in accepted[envelope.event_type]:
            versions = ", ".join(map(str, sorted(accepted[envelope.event_type])))
            raise UnsupportedVersion(
                f"eventVersion: {envelope.event_version} is unknown; this consumer reads {versions}"
            )

    def _check_age(self, envelope: Envelope, delivery: Delivery) -> None:
        published = envelope.published_at.timestamp() if envelope.published_at else delivery.sent_at
        age = self._clock.now() - published
        if published and age > self._ttl_seconds:
            raise Stale(f"publishedAt: {age:.0f} s ago; the inbox remembers {self._ttl_seconds} s")

    def _check_reference(self, envelope: Envelope) -> None:
        claim = envelope.payload
        if isinstance(claim, Inline):
            return
        foreign = self._rules.foreign
        allowed = foreign is not None and foreign.allows(claim.bucket, claim.key)
        if isinstance(claim, UnverifiedClaim):
            if not allowed:
                raise UntrustedReference("s3BucketName, s3Key: not among the foreign buckets of this consumer")
            return
        if not allowed and claim.bucket != self._rules.bucket:
            raise UntrustedReference("payloadRef.bucket: not this consumer's bucket")
        parts = contract.parse_object_key(claim.key)
        if parts is None:
            raise UntrustedReference("payloadRef.key: not below this consumer's prefix")
        if parts.tenant_id != envelope.tenant_id:
            raise UntrustedReference("payloadRef.key: belongs to another tenant than the message")
        if parts.event_type != envelope.event_type:
            raise UntrustedReference("payloadRef.key: belongs to another event type than the message")
