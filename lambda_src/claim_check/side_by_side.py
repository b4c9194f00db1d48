"""Calls that run side by side, in a bounded number of threads that start when they are first needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Self, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class SideBySide:
    """A context manager: leaving it waits for what runs, and drops what has not begun if it is left by an exception."""

    def __init__(self, parallel: int) -> None:
        """Start no thread yet.

        Args:
            parallel: Calls at once; 1 uses no threads, and calls in order.
        """
        self._parallel = parallel
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        """Start no thread yet."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=kind is not None)

    def start(
        self, function: Callable[[_Item], _Result], items: Sequence[_Item], *, wait: bool = False
    ) -> Callable[[], list[_Result]]:
        """Call a function for each item; what is returned waits for the results, in the order of the items.

        Args:
            function: Called from any thread.
            items: What with.
            wait: The caller does nothing else meanwhile, so that a single call needs no thread.
        """
        if self._parallel == 1 or (wait and len(items) <= 1):
            results = [function(item) for item in items]
            return lambda: results
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._parallel, thread_name_prefix="publish")
        futures = [self._pool.submit(function, item) for item in items]
        return lambda: [future.result() for future in futures]
