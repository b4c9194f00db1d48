"""Which payloads may travel inside the message (R1.1, R1.2): small JSON that is not sensitive, and nothing else."""

from __future__ import annotations

import json
from typing import Final, NoReturn

from claim_check.payload_source import PayloadSource


def is_json_type(content_type: str) -> bool:
    """Whether a media type says JSON: ``application/json``, or any ``+json``."""
    media_type = content_type.partition(";")[0].strip().lower()
    return media_type == "application/json" or media_type.endswith("+json")


def inline_text(source: PayloadSource, content_type: str, limit: int) -> str | None:
    """The payload as the exact text that may travel inline; None if it is no JSON or longer than ``limit`` bytes.

    What calls itself JSON but is none, or is not UTF-8, is left to S3: it arrives there byte for byte.
    """
    if source.content_length > limit or not is_json_type(content_type):
        return None
    try:
        text = source.read().decode()
        _JSON.decode(text)
    except (ValueError, RecursionError):
        return None
    return text


def _skip(_: str) -> None:
    """Numbers are not converted: one of ten thousand digits is JSON all the same."""


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)  # NaN and Infinity are no JSON


_JSON: Final = json.JSONDecoder(parse_int=_skip, parse_float=_skip, parse_constant=_refuse)
"""Made once: one of its own for every event would cost more than reading a small one."""
