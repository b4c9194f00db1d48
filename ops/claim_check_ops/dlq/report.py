"""What a redrive did, and what it did not, and why (R9.1). Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from claim_check_ops.dlq.letters import DeadLetter
from claim_check_ops.dlq.outcomes import Copy


@dataclass(frozen=True, slots=True)
class Moved:
    """A dead letter whose copy SQS confirmed.

    Attributes:
        letter_id: SQS's id of the dead letter.
        message_id: The event's id.
        copy_id: SQS's id of the copy.
        destination: Name of the queue.
        payload_bytes: Bytes of its payload.
    """

    letter_id: str
    message_id: str | None
    copy_id: str
    destination: str
    payload_bytes: int


@dataclass(frozen=True, slots=True)
class Stayed:
    """A dead letter that was meant, and stays.

    Attributes:
        letter_id: SQS's id of the dead letter.
        message_id: The event's id, if it has one.
        original_id: SQS's id of the message that was parked, if one was.
        reason: Why it is in the DLQ.
        code: Why it stays.
        text: The same in words.
    """

    letter_id: str
    message_id: str | None
    original_id: str | None
    reason: str
    code: str
    text: str

    @property
    def known_as(self) -> str:
        """The id by which whoever sent it knows it."""
        return self.message_id or self.original_id or self.letter_id


@dataclass(slots=True)
class Report:
    """What a redrive did.

    Attributes:
        run: Its name.
        moved: Dead letters whose copies SQS confirmed.
        stayed: Dead letters that were meant, and stay.
        completed: Ids of those that were acknowledged since their work is done.
        caught_up: Ids of those whose copies an earlier run had sent, removed now.
        still_there: Ids of those whose copies were sent, and that could not be deleted.
        not_given_back: Ids of those that stay hidden until their time is up.
        not_meant: How many were looked at and not meant.
        came_back: How many copies are in the DLQ again.
        unseen: About how many more there are that were never seen: behind others of their groups on FIFO, in the hands
            of somebody else, or parked since.
        stopped: Why it ended early; None if it did not.
        interrupted: Whether a person ended it.
        seconds: From the first copy to the last.
        copies: What became of the copies, when last looked at.
    """

    run: str
    moved: list[Moved] = field(default_factory=list)
    stayed: list[Stayed] = field(default_factory=list)
    completed: list[str] = field(default_factory=list)
    caught_up: list[str] = field(default_factory=list)
    still_there: set[str] = field(default_factory=set)
    not_given_back: set[str] = field(default_factory=set)
    not_meant: int = 0
    came_back: int = 0
    unseen: int = 0
    stopped: str | None = None
    interrupted: bool = False
    seconds: float = 0.0
    copies: list[Copy] = field(default_factory=list)

    @property
    def succeeded(self) -> bool:
        """Whether all that was meant is done, and no copy is known to have failed."""
        failed = any(copy.fate == "failed" for copy in self.copies)
        stays = self.stays or self.still_there or self.came_back or self.saw_nothing
        return self.stopped is None and not stays and not failed

    @property
    def saw_nothing(self) -> bool:
        """Whether there are dead letters, and none could be had: another command holds them, or did and died."""
        seen = self.moved or self.stayed or self.completed or self.caught_up or self.still_there or self.not_meant
        return bool(self.unseen) and not seen

    @property
    def stays(self) -> list[Stayed]:
        """What was meant and is neither sent nor done."""
        return [one for one in self.stayed if one.code != "AlreadyCompleted"]

    @property
    def payload_bytes(self) -> int:
        """Bytes of the payloads of what was moved."""
        return sum(one.payload_bytes for one in self.moved)

    def stay(self, letter: DeadLetter, code: str, text: str) -> None:
        """Note that a dead letter stays."""
        original = None if letter.parked is None else letter.parked.original_message_id
        self.stayed.append(Stayed(letter.id, event_id(letter), original, letter.reason, code, text))

    def fates(self) -> dict[str, int]:
        """How many copies had which fate, failed ones by their code."""
        found: dict[str, int] = {}
        for copy in self.copies:
            name = copy.fate if copy.fate != "failed" else f"failed: {copy.code}"
            found[name] = found.get(name, 0) + 1
        return dict(sorted(found.items()))

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "run": self.run,
            "succeeded": self.succeeded,
            "stopped": self.stopped,
            "seconds": round(self.seconds, 3),
            "moved": [
                {
                    "sqsMessageId": one.letter_id,
                    "messageId": one.message_id,
                    "copySqsMessageId": one.copy_id,
                    "queue": one.destination,
                    "payloadBytes": one.payload_bytes,
                }
                for one in self.moved
            ],
            "stayed": [
                {
                    "sqsMessageId": one.letter_id,
                    "messageId": one.message_id,
                    "reason": one.reason,
                    "why": one.code,
                    "text": one.text,
                }
                for one in self.stayed
            ],
            "completed": self.completed,
            "sentBefore": self.caught_up,
            "sentButStillThere": sorted(self.still_there),
            "hiddenUntilTheirTimeIsUp": sorted(self.not_given_back),
            "notMeant": self.not_meant,
            "cameBack": self.came_back,
            "neverSeen": self.unseen,
            "outcomes": self.fates(),
        }


def event_id(letter: DeadLetter) -> str | None:
    """The event's id, if the message tells one."""
    return letter.envelope.message_id if letter.envelope else None
