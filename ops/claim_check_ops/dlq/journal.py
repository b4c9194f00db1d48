"""What a redrive has done so far, in a file: a rerun goes on from there (R9.1).

Every line is one JSON object, written through to the disk before the next step. ``sending`` stands before a copy is
sent, ``sent`` after SQS confirmed it, ``removed`` after its dead letter was deleted. A process that dies between the
first two leaves a copy of which nobody knows; it is sent again, and the inbox absorbs the second one.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

_VARIABLE: Final = "XDG_STATE_HOME"
_FIRST: Final = '{"event":"began","run":'
"""How every journal begins."""


class JournalInUse(Exception):
    """Another redrive writes to the journal."""


class JournalUnusable(Exception):
    """The journal cannot be written, or is none; the text says why."""


class JournalMismatch(Exception):
    """The journal belongs to another redrive; the text says in what they differ."""


class Journal(Protocol):
    """What a redrive has done so far.

    Attributes:
        run: Name of the redrive.
        sent: SQS's id of the copy, by the id of the dead letter.
        removed: Dead letters that were deleted after their copy was confirmed.
    """

    run: str
    sent: dict[str, str]
    removed: set[str]

    def note(self, event: str, **fields: object) -> None:
        """Write a line."""


class MemoryJournal:
    """A journal that is forgotten."""

    def __init__(self, run: str) -> None:
        """Begin."""
        self.run = run
        self.sent: dict[str, str] = {}
        self.removed: set[str] = set()
        self.began_at: float | None = None
        self.finished = False

    def note(self, event: str, **fields: object) -> None:
        """Take in a line."""
        self._apply({"event": event, **fields})

    def _apply(self, line: Mapping[str, Any]) -> None:
        if line["event"] == "began":
            self.run, self.began_at = line["run"], line["at"]
        elif line["event"] == "sent":
            self.sent.update(line["copies"])
        elif line["event"] == "removed":
            self.removed.update(line["ids"])
        elif line["event"] == "finished":
            self.finished = True


class FileJournal(MemoryJournal):
    """A journal in a file, which one process at a time may have open.

    Attributes:
        resumed: Whether it goes on with an earlier run.
    """

    def __init__(self, path: Path, *, run: str, about: Mapping[str, object], now: float) -> None:
        """Open it. One that was finished is put aside, and a new one begins.

        Args:
            path: The file; its folder is made.
            run: Name of this redrive, if none is to be gone on with.
            about: What the redrive is: a journal of another one is refused.
            now: Epoch seconds.

        Raises:
            JournalInUse: Another process has it open.
            JournalMismatch: It belongs to another redrive that was not finished.
            JournalUnusable: It cannot be written, or holds something else.
        """
        super().__init__(run)
        self.path = path
        self.resumed = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+", encoding="utf-8")
        except OSError as error:
            raise JournalUnusable(f"{path} cannot be written: {error.strerror}; name another by --journal") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise JournalInUse(
                f"another redrive has {path} open; wait for it, or name another file by --journal"
            ) from error
        try:
            self._open(about, now)
        except BaseException:
            self.close()
            raise

    def note(self, event: str, **fields: object) -> None:
        """Write a line through to the disk, then take it in."""
        self._file.write(json.dumps({"event": event, **fields}, separators=(",", ":")) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        super().note(event, **fields)

    def close(self) -> None:
        """Let others have it."""
        self._file.close()

    def _open(self, about: Mapping[str, object], now: float) -> None:
        lines = self._lines()
        if lines and lines[-1]["event"] == "finished":
            self.path.with_name(f"{self.path.name}.{lines[0]['run']}").write_text(self._text(), encoding="utf-8")
            self._file.truncate(0)
            lines = []
        if not lines:
            self.note("began", run=self.run, at=now, about=dict(about))
            return
        _check(lines[0].get("about", {}), about, self.path)
        for line in lines:
            self._apply(line)
        self.resumed = True

    def _text(self) -> str:
        self._file.seek(0)
        return self._file.read()

    def _lines(self) -> list[dict[str, Any]]:
        """The whole lines. A last one that was cut short by a crash is removed: it was not acted upon."""
        text = self._text()
        whole = text[: text.rfind("\n") + 1]
        lines = _parsed(whole) if whole else []
        if lines is None or not _FIRST.startswith(text[: len(_FIRST)]):
            raise JournalUnusable(f"{self.path} is no journal of a redrive; name another by --journal")
        if whole != text:
            self._file.truncate(len(whole.encode()))
        return lines


def _parsed(text: str) -> list[dict[str, Any]] | None:
    """Lines of a journal; None if it is none."""
    try:
        lines = [json.loads(line) for line in text.splitlines()]
    except ValueError:
        return None
    return lines if all(isinstance(line, dict) and "event" in line for line in lines) else None


def _check(before: Mapping[str, object], about: Mapping[str, object], path: Path) -> None:
    differing = sorted(name for name in before.keys() | about.keys() if before.get(name) != about.get(name))
    if differing:
        raise JournalMismatch(
            f"{path} is of a redrive that was not finished, with other options ({', '.join(differing)}). "
            "Give the same options to go on with it, or remove the file, or name another by --journal"
        )


@contextmanager
def opened(path: Path, *, run: str, about: Mapping[str, object], now: float) -> Iterator[FileJournal]:
    """A journal that is closed in the end; see `FileJournal`."""
    journal = FileJournal(path, run=run, about=about, now=now)
    try:
        yield journal
    finally:
        journal.close()


def default_path(dlq_name: str, environment: Mapping[str, str], home: Path) -> Path:
    """Where the journal of a DLQ's redrive is kept, by the XDG convention for state."""
    folder = Path(environment.get(_VARIABLE) or home / ".local" / "state")
    return folder / "claim-check" / "redrive" / f"{dlq_name}.jsonl"
