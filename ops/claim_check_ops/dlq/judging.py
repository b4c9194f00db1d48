"""What a redrive does with a dead letter: send it, leave it, or acknowledge it as done (R9.1, R9.2). Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from claim_check.contract import ErrorCode
from claim_check_ops.dlq.letters import DeadLetter
from claim_check_ops.dlq.payloads import PayloadCheck, PayloadState
from claim_check_ops.dlq.ports import QueueFacts

Action = Literal["send", "stay", "done"]
"""``done``: its work is completed already."""

SHORT_LIVED: Final = "ShortLived"
SIZE_DIFFERS: Final = "SizeDiffers"
NO_DESTINATION: Final = "NoDestination"
ALREADY_COMPLETED: Final = "AlreadyCompleted"

_PAYLOADS: Final[dict[PayloadState, tuple[str, str]]] = {
    "missing": (ErrorCode.MISSING_PAYLOAD, "its payload is gone; publish the event again if the data still exists"),
    "denied": (ErrorCode.ACCESS_DENIED, "S3 refuses a look at its payload; mend the policy or the key, and try again"),
    "size differs": (SIZE_DIFFERS, "its payload has another size than it had; publish the event again"),
    "hash differs": (ErrorCode.CHECKSUM_MISMATCH, "its payload is not what was published; publish the event again"),
    "unknown": (ErrorCode.UNAVAILABLE, "S3 did not answer; try again"),
    "untrusted": (ErrorCode.UNTRUSTED_REFERENCE, "its consumer does not read from there"),
}

_PASSING: Final = frozenset({ErrorCode.ACCESS_DENIED, ErrorCode.UNAVAILABLE})
"""What may be otherwise in a minute: on FIFO nothing of the group may pass such a message."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a dead letter.

    Attributes:
        action: What to do.
        code: Why it is not sent; empty if it is.
        text: The same in words.
    """

    action: Action
    code: str = ""
    text: str = ""

    @property
    def blocks_group(self) -> bool:
        """Whether what follows in its group must wait, where order matters."""
        return self.action == "stay" and self.code in _PASSING


SEND: Final = Verdict("send")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Judges by all that is known.

    Attributes:
        life_seconds: How long the plan lets a payload live, and the inbox remember.
        dlq_seconds: How long the DLQ keeps a message.
        now: Epoch seconds.
    """

    life_seconds: float
    dlq_seconds: float
    now: float

    def judge(self, letter: DeadLetter, payload: PayloadCheck, destination: QueueFacts | None) -> Verdict:
        """What to do with a dead letter.

        Args:
            letter: The dead letter, with its row.
            payload: The look at its payload.
            destination: Where it would go.
        """
        if (known := _by_row(letter)) is not None:
            return known
        if letter.refusal is not None:
            text = f"its consumer would park it again: {letter.refusal}"
            return Verdict("stay", letter.refusal.code, text)
        if payload.state in _PAYLOADS:
            return Verdict("stay", *_PAYLOADS[payload.state])
        if destination is None:
            text = "where it came from is not known, or is no queue of this DLQ; name the queue by --to"
            return Verdict("stay", NO_DESTINATION, text)
        return self._short_lived(letter, payload, destination.retention_seconds + self.dlq_seconds) or SEND

    def _short_lived(self, letter: DeadLetter, payload: PayloadCheck, needed: float) -> Verdict | None:
        """A payload that could be gone before its copy is: the copy would then be of no use to anybody."""
        if letter.claim is None:
            return None
        ends = [payload.life_ends(self.life_seconds), letter.life_ends(self.life_seconds)]
        left = min((end for end in ends if end is not None), default=float("inf")) - self.now
        if left >= needed:
            return None
        return Verdict(
            "stay",
            SHORT_LIVED,
            f"its payload lives for {left / 86_400:.1f} more days, and its queue with the DLQ may keep a copy for "
            f"{needed / 86_400:.1f}; publish the event again, which renews the payload",
        )


def _by_row(letter: DeadLetter) -> Verdict | None:
    row = letter.row
    if row is None or letter.envelope is None:
        return None
    if row.fingerprint != letter.envelope.fingerprint:
        text = "its identity is known with other content, event type or event version; its consumer would park it again"
        return Verdict("stay", ErrorCode.CONFLICT, text)
    if row.state == "COMPLETED":
        return Verdict("done", ALREADY_COMPLETED, "the inbox has it as completed; --delete-completed removes it")
    return None
