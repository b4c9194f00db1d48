"""Canaries: texts that payloads, file names and object keys carry, and that may be nowhere else (R11.4).

A text counts as found however it was written down: as it is, escaped in JSON, quoted in a URL, or in Base64.
"""

from __future__ import annotations

import base64
import json
import traceback
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

MIN_LENGTH = 16
"""Shorter texts would be found by chance."""


@dataclass
class Canary:
    """One run's secrets.

    Attributes:
        token: What payloads and file names carry.
        secrets: All that may be nowhere: the token, and what was added.
    """

    token: str = field(default_factory=lambda: f"canary-{uuid.uuid4().hex}")
    secrets: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """The token is the first of them."""
        self.keep(self.token)

    def keep(self, *secrets: str) -> None:
        """Add object keys, addresses or other texts that must not leak."""
        for secret in secrets:
            assert len(secret) >= MIN_LENGTH, f"{secret!r} would be found by chance"
            self.secrets.add(secret)

    def payload(self, length: int = 0) -> bytes:
        """A text that holds the token, of at least so many bytes."""
        line = f"{self.token},{uuid.uuid4()}\n".encode()
        return line * max(1, -(-length // len(line)))

    def leaks(self, places: Mapping[str, Iterable[str]]) -> list[str]:
        """Places in which a secret is, with what is around it; once for each text."""
        forms = sorted({form for secret in self.secrets for form in forms_of(secret)})
        return [
            f"{place}: …{text[max(0, at - 60) : at + len(form) + 20]}…"
            for place, texts in places.items()
            for text in texts
            for form, at in _first(text, forms)
        ]


def forms_of(secret: str) -> Iterator[str]:
    """A secret as it may have been written down."""
    yield secret
    yield json.dumps(secret)[1:-1]
    yield quote(secret, safe="")
    yield quote(secret)
    for shift in range(3):  # where it lies in the encoded text decides which letters come out; the edges are cut off
        encoded = base64.b64encode(b"\0" * shift + secret.encode()).decode().rstrip("=")
        yield encoded[(0, 2, 3)[shift] : -1]


def told(error: BaseException) -> str:
    """Everything that an exception tells: its text, those behind it, and where they came from."""
    return "".join(traceback.format_exception(error)) + repr(error)


def _first(text: str, forms: Iterable[str]) -> Iterator[tuple[str, int]]:
    for form in forms:
        at = text.find(form)
        if at >= 0:
            yield form, at
            return
