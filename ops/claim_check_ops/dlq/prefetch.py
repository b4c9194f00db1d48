"""Takes the next thing in a thread while the present one is worked on."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Thing = TypeVar("_Thing")


def one_ahead(things: Generator[_Thing, None, None]) -> Generator[_Thing, None, None]:
    """The same things, each taken while the one before is worked on. What taking one raises is raised in its turn."""
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as pool:
        coming = pool.submit(next, things, None)
        while (thing := coming.result()) is not None:
            coming = pool.submit(next, things, None)
            yield thing
