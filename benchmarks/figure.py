"""One measured figure and the limit it is held to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, TypeAlias

Value: TypeAlias = float | str


class BenchmarkError(Exception):
    """Something cannot be measured here; the text says why, and the way out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of the result.

    Attributes:
        name: What was measured.
        value: The outcome; None if it could not be measured.
        limit: What it is held to; None if it is for information only.
        unit: Unit of value and limit; empty if they speak for themselves.
        passed: Whether the limit holds.
        how: How it was measured, or why it could not be.
    """

    name: str
    value: Value | None
    limit: Value | None
    unit: str
    passed: bool
    how: str

    @classmethod
    def at_most(cls, name: str, value: float, limit: float, *, unit: str, how: str) -> Self:
        """A number that may not exceed its limit."""
        return cls(name=name, value=value, limit=limit, unit=unit, passed=value <= limit, how=how)

    @classmethod
    def at_least(cls, name: str, value: float, limit: float, *, unit: str, how: str) -> Self:
        """A number that may not fall below its limit."""
        return cls(name=name, value=value, limit=limit, unit=unit, passed=value >= limit, how=how)

    @classmethod
    def exactly(cls, name: str, value: Value, limit: Value, *, unit: str = "", how: str) -> Self:
        """A value that must be this and no other."""
        return cls(name=name, value=value, limit=limit, unit=unit, passed=value == limit, how=how)

    @classmethod
    def noted(cls, name: str, value: Value, *, unit: str, how: str) -> Self:
        """A value for information, without a limit."""
        return cls(name=name, value=value, limit=None, unit=unit, passed=True, how=how)

    @classmethod
    def unmeasured(cls, name: str, why: str) -> Self:
        """A figure that could not be measured counts as a broken limit."""
        return cls(name=name, value=None, limit=None, unit="", passed=False, how=why)
