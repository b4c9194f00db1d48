"""Whether the payloads of dead letters can still be read: one HEAD each, never a byte of them (R9.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from claim_check.envelope import Claim
from claim_check.errors import AccessDenied, Unavailable, UntrustedReference
from claim_check.ports import StoredObject
from claim_check.side_by_side import SideBySide
from claim_check_ops.dlq.letters import DeadLetter
from claim_check_ops.dlq.ports import PayloadLook

PARALLEL: Final = 16
"""HEADs side by side."""

_TRIES: Final = 2

PayloadState = Literal["readable", "missing", "denied", "size differs", "hash differs", "unknown", "untrusted", "-"]
"""What a look at a payload says.

``unknown``: S3 did not answer. ``untrusted``: its consumer would not read from there, so nobody looked. ``-``: the
message tells of no payload that anybody could look at.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadCheck:
    """One payload.

    Attributes:
        state: What the look at it says.
        size: Bytes that are there; None if that is not known.
        last_modified: When it was written, epoch seconds; None if that is not known.
        expires_at: When the bucket's own rules delete it, epoch seconds, where S3 says so.
    """

    state: PayloadState
    size: int | None = None
    last_modified: float | None = None
    expires_at: float | None = None

    def life_ends(self, life_seconds: float) -> float | None:
        """When it will be gone, epoch seconds: as S3 says, else by its age and the plan."""
        if self.expires_at is not None:
            return self.expires_at
        return None if self.last_modified is None else self.last_modified + life_seconds


class PayloadChecker:
    """Looks at payloads, side by side."""

    def __init__(self, objects: PayloadLook, *, parallel: int = PARALLEL) -> None:
        """Set up.

        Args:
            objects: Where they are.
            parallel: Looks at once; 1 needs no threads.
        """
        self._objects = objects
        self._parallel = parallel

    def check(self, letters: Sequence[DeadLetter]) -> list[PayloadCheck]:
        """Look at the payload of each."""
        with SideBySide(self._parallel) as pool:
            return pool.start(self._check, letters, wait=True)()

    def _check(self, letter: DeadLetter) -> PayloadCheck:
        if letter.envelope is None:
            return PayloadCheck(state="-")
        claim = letter.claim
        if claim is None:
            return PayloadCheck(state="readable", size=letter.payload_bytes)
        if isinstance(letter.refusal, UntrustedReference):
            return PayloadCheck(state="untrusted")
        for _ in range(_TRIES):
            try:
                found = self._objects.head(bucket=claim.bucket, key=claim.key, version_id=claim.version_id)
            except AccessDenied:
                return PayloadCheck(state="denied")
            except Unavailable:
                continue
            return _judged(found, claim.content_length, claim.sha256 if isinstance(claim, Claim) else None)
        return PayloadCheck(state="unknown")


def _judged(found: StoredObject | None, size: int, sha256: str | None) -> PayloadCheck:
    if found is None:
        return PayloadCheck(state="missing")
    state: PayloadState = "readable"
    if found.content_length != size:
        state = "size differs"
    elif sha256 is not None and found.sha256 is not None and found.sha256 != sha256:
        state = "hash differs"
    return PayloadCheck(
        state=state,
        size=found.content_length,
        last_modified=None if found.last_modified is None else found.last_modified.timestamp(),
        expires_at=None if found.expires_at is None else found.expires_at.timestamp(),
    )
