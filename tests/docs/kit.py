"""What the tests of the docs share: the pages, and what they hold."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        """Where it is."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """All pages, generated ones too."""
    return [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(DOCS.rglob("*.md"))


def hand_written() -> list[Path]:
    """The pages that people write; the others name what wrote them."""
    return [page for page in pages() if not page.read_text(encoding="utf-8").startswith("<!-- Written by ")]


def blocks() -> list[Block]:
    """All fenced blocks."""
    found = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        matches = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        found += [Block(page, text.count("\n", 0, match.start()) + 1, match[1], match[2]) for match in matches]
    return found


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
