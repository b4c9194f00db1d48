"""R1.1, R1.2: only small JSON that is not sensitive travels inside the message."""

from __future__ import annotations

import hashlib

import pytest

from claim_check.inlining import inline_text, is_json_type
from claim_check.payload_source import PayloadSource


def source(content: bytes) -> PayloadSource:
    return PayloadSource(len(content), hashlib.sha256(content).hexdigest(), content=content)


@pytest.mark.parametrize(
    "content_type", ["application/json", "APPLICATION/JSON; charset=utf-8", "application/vnd.api+json", "a/b+json;x=y"]
)
def test_json_types(content_type: str) -> None:
    assert is_json_type(content_type)


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/jsonl", "application/pdf", "text/json-seq", "json"]
)
def test_other_types(content_type: str) -> None:
    assert not is_json_type(content_type)


@pytest.mark.parametrize("content", [b"{}", b'"\xc3\xbc"', b" [1, 2]\n", b"1e400", b"9" * 10_000, b'"\\ud800"'])
def test_json_travels_as_the_exact_text(content: bytes) -> None:
    text = inline_text(source(content), "application/json", 10_000)
    assert text is not None
    assert text.encode() == content


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"plain", b"\xff", b"\xef\xbb\xbf{}", b"NaN", b"[Infinity]", b'"\xed\xa0\x80"', b"[" * 50_000, b"\x00"],
)
def test_what_only_calls_itself_json_goes_to_s3(content: bytes) -> None:
    assert inline_text(source(content), "application/json", 100_000) is None


def test_the_limit_itself_is_inline() -> None:
    assert inline_text(source(b'"12"'), "application/json", 4) == '"12"'
    assert inline_text(source(b'"12"'), "application/json", 3) is None
    assert inline_text(source(b'"12"'), "text/plain", 100) is None
