"""Failures at chosen calls of the fakes, before or after a call took effect."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

When = Literal["before", "after"]


class Crash(BaseException):
    """The process dies here: an exception that nobody catches."""


@dataclass
class _Plan:
    name: str | None
    when: When
    action: Callable[[], object]
    skip: int
    times: int


@dataclass
class Faults:
    """Records the calls of all fakes that share it, and runs actions around chosen ones.

    Attributes:
        calls: Names of the calls so far (``"put_if_absent"``, ``"send_batch"``, …), in order.
    """

    calls: list[str] = field(default_factory=list)
    _plans: list[_Plan] = field(default_factory=list)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def on(  # noqa: D417 - `name` is positional
        self, name: str | None, action: Callable[[], object], *, when: When = "before", skip: int = 0, times: int = 1
    ) -> None:
        """Run ``action`` around matching calls; what it raises is what the caller sees.

        Args:
            action: Anything: raise, advance a clock, let another worker act.
            when: Before the call takes effect, or after it did and before its answer is seen.
            skip: Matching calls that go unharmed first.
            times: Calls hit after that.
        """
        with self._lock:
            self._plans.append(_Plan(name, when, action, skip, times))

    def fail(
        self, name: str | None, error: BaseException, *, when: When = "before", skip: int = 0, times: int = 1
    ) -> None:
        """Raise ``error`` around matching calls; a name of None matches every call."""

        def throw() -> None:
            raise error

        self.on(name, throw, when=when, skip=skip, times=times)

    def crash_at(self, index: int, when: When) -> None:
        """Crash around call number ``index`` (from 0, counted from now on, whatever its name)."""
        self.fail(None, Crash(f"{when} call {index}"), when=when, skip=index)

    def count(self, name: str) -> int:
        """How often a call was made."""
        with self._lock:
            return self.calls.count(name)

    def clear(self) -> None:
        """Forget all plans and recorded calls."""
        with self._lock:
            self.calls.clear()
            self._plans.clear()

    @contextmanager
    def around(self, name: str) -> Iterator[None]:
        """What every call of a fake runs in."""
        with self._lock:
            self.calls.append(name)
            hit = [plan for plan in self._plans if plan.name in {None, name} and self._due(plan)]
        self._run(hit, "before")
        yield
        self._run(hit, "after")

    @staticmethod
    def _due(plan: _Plan) -> bool:
        if plan.skip > 0:
            plan.skip -= 1
            return False
        plan.times -= 1
        return plan.times >= 0

    @staticmethod
    def _run(plans: list[_Plan], when: When) -> None:
        for plan in plans:
            if plan.when == when:
                plan.action()
