"""Waiting for a condition, with a deadline."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def wait_until(probe: Callable[[], Found | None], *, what: str, timeout: float = 30.0, interval: float = 0.05) -> Found:
    """Call ``probe`` until it returns something true, and return that.

    Args:
        probe: Returns something false as long as there is nothing.
        what: What is waited for, for the error's text.
        timeout: Seconds.
        interval: Seconds between two calls.

    Raises:
        TimeoutError: Nothing came in time.
    """
    deadline = time.monotonic() + timeout
    while True:
        found = probe()
        if found:
            return found
        if time.monotonic() >= deadline:
            raise TimeoutError(f"Waited {timeout:g} s in vain for {what}.")
        time.sleep(interval)
