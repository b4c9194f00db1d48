"""Compares a message's claim with the domain's own record of the payload, before the payload is used (R3.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from claim_check.envelope import Claim
from claim_check.errors import ClaimMismatch

if TYPE_CHECKING:
    from claim_check.envelope import Envelope

_ATTRIBUTE: Final = "__claim_check_expects__"

ExpectedClaim: TypeAlias = "Callable[[Envelope], Claim | None]"
"""Looks up what the domain says of a message's payload; None if it says nothing of it."""

_Handler = TypeVar("_Handler", bound=Callable[..., Any])


def expecting(find: ExpectedClaim) -> Callable[[_Handler], _Handler]:
    """Let a handler run only if the message's claim is the one that the domain has on record.

    ::

        @expecting(recorded_claim)
        def handle(message, tx): ...

    It is asked after the gate and before the payload is fetched. A claim that differs is a `ClaimMismatch`: the message
    is parked, and neither it nor its payload is looked at. What ``find`` raises counts as the handler's own error.

    Args:
        find: Given the envelope, returns the claim that the domain has stored, or None if it has none.
    """

    def mark(handler: _Handler) -> _Handler:
        setattr(handler, _ATTRIBUTE, find)
        return handler

    return mark


def check_expected(handler: object, envelope: Envelope) -> None:
    """Ask a handler's own record, if it has one, and compare.

    Raises:
        ClaimMismatch: The record says another object, version, length or hash; the text names what differs.
    """
    find: ExpectedClaim | None = getattr(handler, _ATTRIBUTE, None)
    expected = None if find is None else find(envelope)
    if expected is None:
        return
    claim = envelope.payload
    if not isinstance(claim, Claim):
        raise ClaimMismatch("payloadRef: missing, but the domain's record says that the payload is in S3")
    different = [name for name in ("bucket", "key", "content_length", "sha256") if _differ(claim, expected, name)]
    if None not in {claim.version_id, expected.version_id} and claim.version_id != expected.version_id:
        different.append("version_id")
    if different:
        raise ClaimMismatch(f"payloadRef: {', '.join(different)} not as in the domain's record")


def _differ(claim: Claim, expected: Claim, name: str) -> bool:
    return bool(getattr(claim, name) != getattr(expected, name))
