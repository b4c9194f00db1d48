"""Which keys of a bucket are ingested: prefix and suffix, what S3 refuses of them, and how each service writes them.

Nothing here knows the CDK's constructs. A filter holds the key's own text; S3's notification wants it URL-encoded, an
EventBridge pattern and an IAM resource want it as it is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final
from urllib.parse import quote_plus

from claim_check_cdk.validation import Mistakes, known

MAX_FILTER_CHARACTERS: Final = 1024
"""Of a prefix or suffix as S3 takes it: URL-encoded."""

MAX_FILTERS: Final = 100
"""Event notification configurations of a bucket."""

MAX_PATTERN_CHARACTERS: Final = 2048
"""Of an EventBridge rule's pattern."""

_MAX_KEY_BYTES: Final = 1024
_SAFE: Final = "/!-_.*'()"
"""S3's safe characters besides letters and digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFilter:
    """Keys that begin with ``prefix`` and end with ``suffix``, both as the keys have them: not URL-encoded.

    Attributes:
        prefix: Beginning of the key. By default any.
        suffix: End of the key. By default any.
    """

    prefix: str = ""
    suffix: str = ""

    def matches(self, key: str) -> bool:
        """Whether S3 tells of this key."""
        return key.startswith(self.prefix) and key.endswith(self.suffix)

    def overlaps(self, other: KeyFilter) -> bool:
        """Whether some key matches both; S3 refuses two such filters for one kind of event.

        Both prefixes begin the same key only if one begins the other, and likewise the suffixes; then the longer of
        each, put together, is a key that matches both.
        """
        one, two = sorted((self.prefix, other.prefix), key=len)
        three, four = sorted((self.suffix, other.suffix), key=len)
        return two.startswith(one) and four.endswith(three)

    @property
    def pattern(self) -> str:
        """The keys as an IAM resource or condition writes them."""
        return f"{self.prefix}*{self.suffix}"

    def rules(self) -> list[dict[str, str]]:
        """Rules of an S3 notification's filter, URL-encoded as S3 wants them; empty for all keys."""
        parts = (("prefix", self.prefix), ("suffix", self.suffix))
        return [{"Name": name, "Value": encoded(value)} for name, value in parts if value]

    def event_pattern(self) -> dict[str, str] | None:
        """How an EventBridge pattern matches the keys; None for all keys."""
        if self.prefix and self.suffix:
            return {"wildcard": f"{_literal(self.prefix)}*{_literal(self.suffix)}"}
        if self.prefix:
            return {"prefix": self.prefix}
        return {"suffix": self.suffix} if self.suffix else None

    def __str__(self) -> str:
        """For people."""
        return f"prefix {self.prefix!r}, suffix {self.suffix!r}"


ALL_KEYS: Final = KeyFilter()


def encoded(text: str) -> str:
    """A prefix or suffix as S3's notification takes it: blanks as ``+``, what is not safe percent-encoded."""
    return quote_plus(text, safe=_SAFE)


def overlapping(filters: Sequence[KeyFilter]) -> list[tuple[int, int]]:
    """The places of all pairs that some key would match both of."""
    return [
        (first, second) for (first, one), (second, other) in combinations(enumerate(filters), 2) if one.overlaps(other)
    ]


def key_patterns(filters: Sequence[KeyFilter]) -> list[dict[str, str]]:
    """What an EventBridge pattern says of ``detail.object.key``; empty if every key matches."""
    patterns = [one.event_pattern() for one in filters]
    return [] if None in patterns else [pattern for pattern in patterns if pattern is not None]


def check_filters(mistakes: Mistakes, filters: Sequence[KeyFilter]) -> None:
    """Note what S3 would refuse at deployment, or would never match.

    Args:
        mistakes: Where to.
        filters: The filters of one bucket.
    """
    mistakes.require_range(
        "filters",
        len(filters),
        low=1,
        high=MAX_FILTERS,
        way_out="leave it out for every key; filters of one beginning can be one shorter prefix",
    )
    comparable = [_check_texts(mistakes, index, one) for index, one in enumerate(filters)]
    if not all(comparable):
        return
    for index, one in enumerate(filters):
        both = len((one.prefix + one.suffix).encode())
        mistakes.require(
            both <= _MAX_KEY_BYTES,
            f"filters[{index}]",
            f"{both} bytes",
            f"prefix and suffix together must be at most {_MAX_KEY_BYTES} bytes, the longest key there is",
            "shorten one of them",
        )
    for first, second in overlapping(filters):
        mistakes.add(
            f"filters[{second}]",
            filters[second],
            f"overlaps filters[{first}] ({filters[first]}): some key matches both, which S3 refuses",
            "keep the wider of the two, or tell them apart by prefix or by suffix",
        )


def check_pattern(mistakes: Mistakes, filters: Sequence[KeyFilter], *, other_characters: int) -> None:
    """Note filters that one EventBridge pattern could not hold.

    Args:
        mistakes: Where to.
        filters: The filters.
        other_characters: What the rest of the pattern takes.
    """
    length = len(json.dumps(key_patterns(filters), ensure_ascii=False)) + other_characters
    mistakes.require_range(
        "filters",
        length,
        low=1,
        high=MAX_PATTERN_CHARACTERS,
        unit="characters of the rule's pattern",
        way_out="fewer or shorter filters, or several S3Ingest on one bucket",
    )


def _check_texts(mistakes: Mistakes, index: int, one: KeyFilter) -> bool:
    """Note what is wrong with the texts of a filter; whether they can be compared."""
    texts = (("prefix", one.prefix), ("suffix", one.suffix))
    comparable = [_check_text(mistakes, f"filters[{index}].{name}", value) for name, value in texts]
    return all(comparable)


def _check_text(mistakes: Mistakes, argument: str, value: object) -> bool:
    if not isinstance(value, str) or known(value) is None:
        mistakes.add(argument, "no literal text", "must be known at synth, where overlaps are found", "give a literal")
        return False
    mistakes.require(
        not any(special in value for special in ("*", "?", "${")),
        argument,
        repr(value),
        "must not hold *, ? or ${: S3 takes no wildcards there, and IAM would take them for some",
        "give the exact beginning or end of the keys",
    )
    mistakes.require(
        value.isprintable(), argument, ascii(value), "must be printable characters", "give it as the keys have it"
    )
    length = len(encoded(value)) if value.isprintable() else 0
    mistakes.require(
        length <= MAX_FILTER_CHARACTERS,
        argument,
        f"{length} characters when URL-encoded",
        f"must be at most {MAX_FILTER_CHARACTERS}",
        "shorten it",
    )
    return value.isprintable()


def _literal(text: str) -> str:
    """Text within an EventBridge wildcard, where a backslash escapes."""
    return text.replace("\\", "\\\\").replace("*", "\\*")
