"""How constructs refuse bad settings: all mistakes at once, each with argument, value, limit and way out.

A construct collects its mistakes in a `Mistakes` and raises them once, at construction. Values that are only known at
deployment (tokens) are never compared: `known_seconds`, `known_bytes` and `known` answer None for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import jsii
from aws_cdk import Duration, Size, Token
from constructs import IConstruct, IValidation

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Mistake:
    """One refused setting.

    Attributes:
        argument: Name of the argument.
        value: What was given, for people.
        limit: What is allowed.
        way_out: What to do about it.
    """

    argument: str
    value: object
    limit: str
    way_out: str

    def __str__(self) -> str:
        """One line: argument, value, limit, way out."""
        return f"{self.argument} = {self.value}: {self.limit}. Way out: {self.way_out}."


class InvalidSettingsError(ValueError):
    """Settings of a construct that cannot work; `mistakes` holds every one of them."""

    def __init__(self, where: str, mistakes: Sequence[Mistake]) -> None:
        """Word the error.

        Args:
            where: The construct, by type and path.
            mistakes: At least one.
        """
        lines = "\n".join(f"  - {mistake}" for mistake in mistakes)
        super().__init__(f"{where} has {len(mistakes)} invalid setting{'s'[: len(mistakes) != 1]}:\n{lines}")
        self.mistakes = tuple(mistakes)


class Mistakes:
    """Collects the mistakes of one construct, to be raised once."""

    def __init__(self, where: str) -> None:
        """Start with none.

        Args:
            where: The construct, by type and path (see `describe`).
        """
        self._where = where
        self._found: list[Mistake] = []

    def add(self, argument: str, value: object, limit: str, way_out: str) -> None:
        """Note a mistake."""
        self._found.append(Mistake(argument, value, limit, way_out))

    def require(self, ok: bool | None, argument: str, value: object, limit: str, way_out: str) -> None:  # noqa: FBT001
        """Note a mistake unless ``ok``; None means "not known before deployment" and passes."""
        if ok is False:
            self.add(argument, value, limit, way_out)

    def require_range(
        self, argument: str, value: float | None, *, low: float, high: float, way_out: str, unit: str = ""
    ) -> None:
        """Note a mistake unless the value lies between two limits, both allowed; None (a token, or unset) passes."""
        if value is not None and not Token.is_unresolved(value) and not low <= value <= high:
            suffix = f" {unit}" if unit else ""
            self.add(argument, f"{value:g}{suffix}", f"must be from {low:g} to {high:g}{suffix}", way_out)

    def raise_all(self) -> None:
        """Raise everything found.

        Raises:
            InvalidSettingsError: There is at least one mistake.
        """
        if self._found:
            raise InvalidSettingsError(self._where, self._found)


def describe(construct: IConstruct) -> str:
    """How an error names a construct, such as ``MessageQueue 'Stack/Documents/Queue'``."""
    return f"{type(construct).__name__} '{construct.node.path}'"


def known(value: _T | None) -> _T | None:
    """The value if it may be compared at synth; None for a token (and for None)."""
    return None if Token.is_unresolved(value) else value


def known_seconds(duration: Duration | None) -> int | None:
    """A duration in seconds, fractions cut off; None for a token (and for None)."""
    if duration is None or duration.is_unresolved():
        return None
    return int(duration.to_seconds(integral=False))


def known_bytes(size: Size | None) -> int | None:
    """A size in bytes; None for a token (and for None)."""
    if size is None or size.is_unresolved():
        return None
    return int(size.to_bytes())


@jsii.implements(IValidation)
class _Validation:
    def __init__(self, check: Callable[[], Sequence[str]]) -> None:
        self._check = check

    def validate(self) -> list[str]:
        return list(self._check())


def validate_at_synth(construct: IConstruct, check: Callable[[], Sequence[str]]) -> None:
    """Have the synthesis fail with the texts that ``check`` returns then: for what is known only once all is wired."""
    construct.node.add_validation(_Validation(check))
