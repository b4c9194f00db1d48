"""A replay after 30 days, by an injected clock: payload and row are there; a day after the plan, not (R6.2, R6.5).

The plan is that of a queue as `MessageQueue` makes it with a `DlqArchive`; what S3's lifecycle and DynamoDB's TTL would
have deleted by then, the world deletes.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from claim_check.consumer import Consumer
from claim_check.contract import ErrorCode
from claim_check.envelope import Claim
from claim_check.inbox import Inbox
from claim_check_cdk.retention import ARCHIVE_ROUNDING_SECONDS, RetentionPlan
from tests.archive_world import DAY, REMAINING, ArchiveWorld, broken
from tests.harness import BUCKET, CONSUMER, TENANT, Sent, documents

KEEP = 30 * DAY
SOURCE = 4 * DAY
DLQ = 14 * DAY
PLAN = RetentionPlan(
    source=SOURCE, dlq=DLQ, before_send=DAY, processing=18 * 60, archive=KEEP + ARCHIVE_ROUNDING_SECONDS
)


class Weeks(ArchiveWorld):
    """A world in which what is too old is gone: messages, objects, letters and rows."""

    def inbox(self, **options: Any) -> Inbox:  # noqa: ANN401 - those of the world
        """The consumer's inbox, which remembers as long as the plan says."""
        return Inbox(
            options.get("table") or self.table,
            consumer=CONSUMER,
            ttl_seconds=PLAN.days * DAY,
            clock=self.clock,
            new_token=lambda: f"token-{next(self._tokens)}",
            max_attempts=options.get("max_attempts", 5),
        )

    def publish(self, *, identity: str = "event-1", uploaded_before: float = 0.0) -> Sent:
        """Publish an event now, whose upload began so many seconds before."""
        published = datetime.fromtimestamp(self.clock.now(), UTC)
        self.clock.advance(-uploaded_before)
        envelope = replace(self.envelope(identity=identity), published_at=published)
        self.clock.advance(uploaded_before)
        return self.send(envelope)

    def pass_seconds(self, seconds: float) -> None:
        """Let time pass, and the services forget."""
        self.clock.advance(seconds)
        now = self.clock.now()
        for url, life in ((self.queue_url, SOURCE), (self.dlq_url, DLQ)):
            queue = self.queue._queue(url)
            queue.messages = [one for one in queue.messages if now - one.sent_at < life]
        for key in self.objects.keys(BUCKET):
            found = self.objects.head(bucket=BUCKET, key=key)
            assert found is not None
            assert found.last_modified is not None
            if now - found.last_modified.timestamp() >= PLAN.days * DAY:
                self.objects.delete(BUCKET, key)
        old = [letter for letter in self.letters() if now - letter.archived_at >= KEEP + ARCHIVE_ROUNDING_SECONDS]
        self.archive.remove(old)
        self.table.rows = {key: row for key, row in self.table.rows.items() if row.ttl > now}

    def days(self, count: int) -> None:
        """Let days pass, with the archive's runs."""
        for _ in range(count):
            self.pass_seconds(DAY)
            self.job().run(remaining_seconds=REMAINING)

    def readable(self, sent: Sent) -> bool:
        """Whether the payload is there."""
        claim = sent.envelope.payload
        assert isinstance(claim, Claim)
        return self.objects.content(BUCKET, claim.key) is not None

    def mended(self) -> Consumer:
        """The consumer after the fix."""
        return self.consumer(documents)


def test_a_message_parked_on_day_0_is_archived_by_day_14_and_redriven_on_day_30() -> None:
    world = Weeks()
    sent = world.publish()
    world.deliver(world.consumer(broken))
    assert world.parked() == [(sent.sqs_message_id, "Broken")]
    world.days(14)
    assert (world.dead(), len(world.archived())) == ([], 1)
    world.days(16)
    assert world.readable(sent)
    assert world.row(sent).state == "PARKED"
    world.redrive_all()
    world.deliver(world.mended())
    assert (world.row(sent).state, world.effects(sent), world.queued()) == ("COMPLETED", 1, [])


def test_without_the_archive_it_would_have_been_lost() -> None:
    world = Weeks()
    sent = world.publish()
    world.deliver(world.consumer(broken))
    world.pass_seconds(30 * DAY)
    assert (world.everywhere(), world.effects(sent)) == ({}, 0)


def test_what_was_completed_meanwhile_is_not_applied_twice_on_day_30() -> None:
    world = Weeks()
    sent = world.publish()
    world.deliver(world.consumer(broken))
    world.days(13)
    letters = world.letters()
    world.redrive_all()
    world.deliver(world.mended())
    assert world.effects(sent) == 1
    world.days(17)
    for letter in letters:  # somebody kept a copy
        world._send_back(letter.delivery)
    world.deliver(world.mended())
    assert (world.effects(sent), world.queued()) == (1, [])


def test_the_longest_way_that_the_plan_allows_still_finds_payload_and_row() -> None:
    # Uploaded a day before it is sent; every queue and the archive are used to their last second; parked again.
    world = Weeks()
    sent = world.publish(uploaded_before=DAY)
    world.pass_seconds(SOURCE - 1)
    world.deliver(world.consumer(broken))
    world.pass_seconds(DLQ - 1)
    world.job().run(remaining_seconds=REMAINING)
    assert world.dead() == []
    world.pass_seconds(KEEP + ARCHIVE_ROUNDING_SECONDS - 1)
    world.redrive_all()
    world.pass_seconds(SOURCE - 1)
    world.deliver(world.consumer(broken))
    assert len(world.dead()) == 1
    world.pass_seconds(DLQ - 1)
    assert world.readable(sent)
    world.redrive_all()
    world.deliver(world.mended())
    assert world.effects(sent) == 1


def test_a_day_after_the_plan_the_message_is_stale_and_the_payload_gone() -> None:
    world = Weeks()
    sent = world.publish()
    world.deliver(world.consumer(broken))
    world.days(14)
    letters = world.letters()
    world.pass_seconds((PLAN.days - 14 + 1) * DAY)
    assert not world.readable(sent)
    assert world.letters() == []
    for letter in letters:  # as only somebody who kept a copy elsewhere could
        world._send_back(letter.delivery)
    world.deliver(world.mended())
    assert world.effects(sent) == 0
    assert [code for _, code in world.parked()] == [ErrorCode.STALE]


def test_a_plan_that_forgot_the_archive_would_be_too_short_for_that_way() -> None:
    longest = DAY + (SOURCE - 1) + (DLQ - 1) + (KEEP + ARCHIVE_ROUNDING_SECONDS - 1) + (SOURCE - 1) + (DLQ - 1)
    assert replace(PLAN, archive=0).days * DAY < longest < PLAN.seconds


def test_the_identity_is_the_same_all_the_way() -> None:
    world = Weeks()
    sent = world.publish(identity="case-7")
    world.deliver(world.consumer(broken))
    world.days(14)
    (letter,) = world.letters()
    assert letter.delivery.first_message_id == sent.sqs_message_id
    world.redrive_all()
    world.deliver(world.mended())
    assert [item["pk"] for item in world.table.items("documents")] == [f"{TENANT}#case-7"]
