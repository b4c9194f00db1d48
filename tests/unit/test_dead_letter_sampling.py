"""Looking at dead letters without consuming them, and what is told of them (R9.1)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from claim_check.contract import DAY_SECONDS, ErrorCode, InboxState
from claim_check.delivery import Delivery
from claim_check.envelope import Claim, encode
from claim_check.errors import AccessDenied, Unavailable
from claim_check_ops.dlq import views
from claim_check_ops.dlq.letters import COMPLETED, UNTRACED, DeadLetter, grouped
from claim_check_ops.dlq.pace import Limit
from claim_check_ops.dlq.queue_source import QueueSource
from claim_check_ops.dlq.surveying import Sample, survey
from tests.dlq_world import DlqWorld
from tests.harness import TTL_SECONDS


@pytest.fixture
def world() -> DlqWorld:
    """A standard queue and its DLQ."""
    return DlqWorld()


def sample(world: DlqWorld, *, limit: int | None = None, **source: Any) -> Sample:  # noqa: ANN401 - of `World.source`
    """Look at dead letters."""
    return survey([world.source(**source)], world.assessor(), limit=limit)


def printed(table: object) -> str:
    """A table as text."""
    console = Console(width=200)
    with console.capture() as captured:
        console.print(table)
    return captured.get()


# --- Sampling -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("receivers", [1, 4], ids=["in turn", "side by side"])
def test_a_sample_leaves_everything_receivable_at_once(world: DlqWorld, receivers: int) -> None:
    """A reader that holds messages hides them from the alarm on visible ones (cdklabs/construct-hub#1779)."""
    world.dead(137)
    found = sample(world, receivers=receivers)
    assert len({letter.id for letter in found.letters}) == len(found.letters) == 137
    assert found.complete
    assert found.not_given_back == set()
    assert world.all_visible()
    assert len(world.queue.receive(world.dlq_url, 10)) == 10


def test_a_limit_takes_no_more_and_says_how_many_were_not_seen(world: DlqWorld) -> None:
    world.dead(30)
    found = sample(world, limit=12)
    assert len(found.letters) == 12
    assert not found.complete
    assert found.unseen == 18
    assert world.all_visible()


def test_an_answer_with_nothing_in_it_is_not_the_end(world: DlqWorld) -> None:
    """A short poll of SQS asks few of its servers."""
    world.dead(5)
    original, empty = world.queue.receive_batch, [True, True, True]

    def receive_batch(url: str, **options: Any) -> list[Delivery]:  # noqa: ANN401 - of the port
        if len(empty) > 2 and empty.pop():
            return []
        return original(url, **options)

    world.queue.receive_batch = receive_batch  # type: ignore[method-assign,assignment]
    assert len(sample(world).letters) == 5


def test_what_is_received_twice_is_one(world: DlqWorld) -> None:
    """At least once: a message can come again although it is hidden."""
    world.dead(3)
    original = world.queue.receive_batch

    def receive_batch(url: str, **options: Any) -> list[Delivery]:  # noqa: ANN401 - of the port
        found = original(url, **options)
        return found + found[:1]

    world.queue.receive_batch = receive_batch  # type: ignore[method-assign,assignment]
    assert len(sample(world).letters) == 3
    assert world.all_visible()


def test_a_lost_answer_is_asked_for_again(world: DlqWorld) -> None:
    world.dead(3)
    world.faults.fail("receive_batch", Unavailable("lost"), times=2)
    assert len(sample(world).letters) == 3


def test_a_lost_answer_of_a_fifo_queue_brings_the_same_messages_again() -> None:
    """Else their groups would be blocked until their time is up."""
    world = DlqWorld(fifo=True)
    world.dead(3)
    world.faults.fail("receive_batch", Unavailable("lost"), when="after")
    assert len(sample(world).letters) == 3
    attempts = [attempt for _, _, _, attempt in world.queue.receives]
    assert attempts[0] == attempts[1] != attempts[2]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("no")], ids=["interrupt", "error"])
def test_whatever_ends_it_all_is_visible_again(world: DlqWorld, error: BaseException) -> None:
    world.dead(25)
    world.faults.fail("receive_batch", error, skip=2)
    with pytest.raises(type(error)):
        sample(world)
    assert world.all_visible()


def test_an_interrupt_while_giving_back_begins_it_again(world: DlqWorld) -> None:
    world.dead(5)
    world.faults.fail("change_visibility", KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        sample(world)
    assert world.all_visible()


def test_what_cannot_be_given_back_is_told(world: DlqWorld) -> None:
    world.dead(12)
    original = world.queue.change_visibility

    def change_visibility(url: str, changes: Any) -> Any:  # noqa: ANN401 - of the port
        return [*original(url, changes[1:]), changes[0]]

    world.queue.change_visibility = change_visibility  # type: ignore[method-assign,assignment]
    assert len(sample(world).not_given_back) == 2, "one of each call of ten"


def test_what_is_held_no_longer_is_not_touched(world: DlqWorld) -> None:
    """Another may hold it by now."""
    world.dead(3)
    source = world.source(hold_seconds=60)
    source.take(10)
    world.clock.advance(61)
    world.queue.visibility_changes.clear()
    source.give_back()
    assert world.queue.visibility_changes == []


def test_a_fifo_sample_is_given_back_the_last_first_and_keeps_its_order() -> None:
    world = DlqWorld(fifo=True)
    sent = world.dead(10, groups=2)
    found = sample(world)
    assert len(found.letters) == 10
    handles = [change.receipt_handle for change in world.queue.visibility_changes if change.seconds == 0]
    by_handle = {letter.delivery.receipt_handle: letter for letter in found.letters}
    released = [by_handle[handle].delivery for handle in handles if handle in by_handle]
    for group in ("g-0", "g-1"):
        mine = [one.body for one in released if one.group_id == group]
        assert mine == [encode(one.envelope) for one in sent[int(group[-1]) :: 2]][::-1]
    again = world.queue.receive(world.dlq_url, 10)
    assert [one.message.body for one in again if one.message.group_id == "g-0"][:3] == [
        encode(one.envelope) for one in sent[0:6:2]
    ]


def test_a_fifo_sample_says_what_stands_behind_ten_of_a_group() -> None:
    world = DlqWorld(fifo=True)
    world.dead(14)
    found = sample(world)
    assert len(found.letters) == 10
    assert found.unseen == 4


def test_two_of_a_kind_of_source_are_one_letter(world: DlqWorld) -> None:
    world.dead(3)
    first, second = world.source(), world.source()
    taken: list[QueueSource] = [first]
    found = survey([*taken, second], world.assessor(), limit=None)
    assert len(found.letters) == 3


# --- Reasons --------------------------------------------------------------------------------------------------------


def one(world: DlqWorld) -> DeadLetter:
    """The one dead letter there is."""
    (letter,) = sample(world).letters
    return letter


def test_a_parked_message_tells_its_reason(world: DlqWorld) -> None:
    world.dead()
    letter = one(world)
    assert (letter.reason, letter.attempts, letter.tenant_id) == (ErrorCode.HANDLER_FAILED, 1, "t-1")


@pytest.mark.parametrize(
    "state, fields, reason",
    [
        ("FAILED", {"last_code": "CommitFailed"}, "CommitFailed"),
        ("IN_PROGRESS", {}, ErrorCode.HANDLER_CRASHED),
        ("COMPLETED", {}, COMPLETED),
    ],
)
def test_a_message_that_sqs_moved_has_the_reason_of_its_row(
    world: DlqWorld, state: InboxState, fields: dict[str, Any], reason: str
) -> None:
    sent = world.send()
    world.seed_row(sent, state, **fields)
    world.moved_by_sqs(sent)
    assert one(world).reason == reason


def test_a_message_that_sqs_moved_and_nobody_knows_is_untraced(world: DlqWorld) -> None:
    world.moved_by_sqs(world.send())
    letter = one(world)
    assert (letter.reason, letter.attempts) == (UNTRACED, None)


@pytest.mark.parametrize("body", ["{", "[]", '{"v":1}', "\U0001f600"])
def test_what_is_no_envelope_stays_in_the_listing(world: DlqWorld, body: str) -> None:
    world.put_dead(body, tenantId="t-7")
    letter = one(world)
    assert (letter.reason, letter.tenant_id, letter.event_type) == (ErrorCode.INVALID_ENVELOPE, "t-7", "-")


def test_a_parked_attribute_that_is_not_ours_is_no_reason(world: DlqWorld) -> None:
    world.put_dead(encode(world.envelope()), parked="[1]")
    assert one(world).reason == UNTRACED


def test_groups_have_counts_bytes_ages_and_the_shortest_life_left(world: DlqWorld) -> None:
    now = world.clock.now()
    first = world.envelope(b"12345")
    published = replace(first, published_at=first.published_at)
    world.die(world.send(published))
    world.clock.advance(100)
    world.dead(2)
    world.put_dead("{")
    letters = sample(world).letters
    groups = grouped(letters)
    assert [(group.reason, len(group.letters)) for group in groups] == [("HandlerFailed", 3), ("InvalidEnvelope", 1)]
    assert groups[0].payload_bytes == sum(letter.payload_bytes for letter in letters)
    assert groups[0].oldest(now + 200) == pytest.approx(200)
    left = groups[0].life_left(now + 200, TTL_SECONDS)
    assert left == pytest.approx(TTL_SECONDS - 200)
    assert groups[1].life_left(now, TTL_SECONDS) is None
    table = printed(views.groups_table(groups, now=now + 200, life_seconds=TTL_SECONDS))
    assert "HandlerFailed" in table
    assert "30.0 d" in table
    document = views.sample_document(Sample(letters=letters), groups, now=now + 200, life_seconds=TTL_SECONDS)
    assert document["groups"][0]["lifeLeftDays"] == pytest.approx(30 - 200 / DAY_SECONDS, abs=0.001)
    assert len(document["messages"]) == 4
    assert "HandlerFailed" in printed(views.letters_table(letters, now=now, life_seconds=TTL_SECONDS))


# --- Showing and checking -------------------------------------------------------------------------------------------


def test_details_show_a_hash_of_the_key_and_never_the_payload(world: DlqWorld) -> None:
    (sent,) = world.dead()
    claim = sent.envelope.payload
    assert isinstance(claim, Claim)
    letter = one(world)
    hidden = json.dumps(views.details(letter, now=0.0, life_seconds=1.0, reveal_key=False))
    assert claim.key not in hidden
    assert claim.sha256 not in hidden
    assert '"keyHash"' in hidden
    shown = views.details(letter, now=0.0, life_seconds=1.0, reveal_key=True)
    assert shown["envelope"]["payload"]["key"] == claim.key
    assert shown["inbox"]["lastCode"] == ErrorCode.HANDLER_FAILED
    assert "inbox.state" in printed(views.details_table(shown))


def test_an_inline_payload_is_never_shown(world: DlqWorld) -> None:
    world.die(world.send(world.envelope(b'{"secret":"canary-4711"}', inline=True)))
    assert "canary-4711" not in json.dumps(views.details(one(world), now=0.0, life_seconds=1.0, reveal_key=True))


def lost(world: DlqWorld) -> None:
    world.lose_payload(world.dead()[0])


def denied(world: DlqWorld) -> None:
    world.dead()
    world.faults.fail("head", AccessDenied("no"))


def unanswered(world: DlqWorld) -> None:
    world.dead()
    world.faults.fail("head", Unavailable("no"), times=9)


def inline(world: DlqWorld) -> None:
    world.die(world.send(world.envelope(b"{}", inline=True)))


def unreadable(world: DlqWorld) -> None:
    world.put_dead("{")


def slow(world: DlqWorld) -> None:
    world.dead()
    world.faults.fail("head", Unavailable("no"))


@pytest.mark.parametrize(
    "make, state",
    [
        (lost, "missing"),
        (denied, "denied"),
        (unanswered, "unknown"),
        (slow, "readable"),
        (inline, "readable"),
        (unreadable, "-"),
    ],
)
def test_a_check_says(make: Callable[[DlqWorld], None], state: str) -> None:
    world = DlqWorld()
    make(world)
    letter = one(world)
    (found,) = world.assessor().check([letter])
    assert found.state == state
    document = views.checks_document([letter], [found], now=0.0, life_seconds=1.0)
    assert document["counts"] == {state: 1}
    assert state in printed(views.checks_table([letter], [found]))


def test_a_check_looks_at_the_very_version(world: DlqWorld) -> None:
    world.objects.versioned = True
    sent = world.send()
    claim = sent.envelope.payload
    assert isinstance(claim, Claim)
    current = world.objects._current(claim.bucket, claim.key)
    assert current is not None
    version = replace(claim, version_id=current.info.version_id)
    world.die(sent, world.send(replace(sent.envelope, message_id="v", idempotency_key="v", payload=version)))
    world.objects.delete(claim.bucket, claim.key)
    letters = sample(world).letters
    states = {letter.claim.version_id: found.state for letter, found in _checked(world, letters) if letter.claim}
    assert states == {None: "missing", current.info.version_id: "readable"}


def _checked(world: DlqWorld, letters: list[DeadLetter]) -> list[tuple[DeadLetter, Any]]:
    return list(zip(letters, world.assessor().check(letters), strict=True))


def test_a_plan_says_what_goes_where_and_how_long_it_takes(world: DlqWorld) -> None:
    world.lose_payload(world.dead(21)[0])
    assessed = world.court().assess(sample(world).letters)
    table = printed(views.plan_table(assessed))
    assert "sends" in table
    assert "MissingPayload" in table
    assert views.estimate(assessed, Limit(rate=2.0)).endswith("at 2 messages/s that takes at least 10 s.")
    limited = Limit(rate=2.0, bytes_per_second=10.0)
    document = views.plan_document(assessed, limited)
    assert document["messages"] == 20
    assert document["seconds"] == document["payloadBytes"] / 10
