"""Files sent as events: checked before any is sent, small ones in batches, large ones alone, in the order given."""

from __future__ import annotations

import mimetypes
import os
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from claim_check.contract import MIB
from claim_check.errors import InvalidPayload, Overtaken
from claim_check.event import Event
from claim_check.payload_source import Step, check_size
from claim_check.producer import FIFO_SUFFIX, Producer, Published, Unpublished

STDIN: Final = "-"
BATCHED_BYTES: Final = 8 * MIB
"""Files up to this size are sent in batches."""

_BINARY: Final = "application/octet-stream"

OnFile: TypeAlias = Callable[[int, Step, int, int], object]
"""The file's place, the step, bytes done, bytes in all. Called from any thread."""


@dataclass(frozen=True, slots=True)
class File:
    """A file to be sent.

    Attributes:
        name: As it was given.
        event: What is published.
        size: Bytes; None of a stream.
    """

    name: str
    event: Event
    size: int | None


@dataclass(frozen=True, slots=True)
class Sent:
    """A file, and what became of it."""

    file: File
    result: Published | Unpublished


def checked_files(
    names: Sequence[str],
    *,
    max_bytes: int,
    content_type: str | None,
    message_id: str | None,
    **fields: Any,  # noqa: ANN401 - an event's
) -> list[File]:
    """Look at every file, and make an event of each, so that what is wrong is found before anything is sent.

    Args:
        names: Paths, of pipes too; ``-`` is the standard input.
        max_bytes: Largest payload.
        content_type: Of all of them; by default what the name's ending says.
        message_id: Identity of the event, if there is one file; drawn by default.
        fields: Other fields of every event.

    Raises:
        InvalidEvent: A field of the event, or a file, is wrong.
    """
    return [
        _checked(
            name,
            max_bytes,
            message_id=message_id or str(uuid.uuid4()),
            content_type=content_type or mimetypes.guess_type(name)[0] or _BINARY,
            **fields,
        )
        for name in names
    ]


def _checked(name: str, max_bytes: int, **fields: Any) -> File:  # noqa: ANN401 - an event's
    if name == STDIN:
        return File(name, Event(payload=sys.stdin.buffer, **fields), None)
    path = Path(name)
    try:
        opened = path.open("rb")
    except OSError as error:
        raise InvalidPayload(
            "payload",
            f"{name} cannot be read ({error.strerror})",
            limit="a readable file",
            way_out="check the path, and that it is no folder",
        ) from error
    if not opened.seekable():  # a pipe: what is read from it is gone
        return File(name, Event(payload=opened, **fields), None)
    with opened:
        size = os.fstat(opened.fileno()).st_size
    check_size(size, max_bytes)
    return File(name, Event(payload=path, **fields), size)


class Sender:
    """Sends files, and knows at any time what became of those that were sent.

    Attributes:
        sent: What became of files, in the order given.
    """

    def __init__(self, producer: Producer, *, queue_url: str) -> None:
        """Send with a producer into its queue."""
        self._producer = producer
        self._fifo = queue_url.endswith(FIFO_SUFFIX)
        self.sent: list[Sent] = []

    def send(self, files: Sequence[File], on_file: OnFile = lambda *_: None) -> Iterator[Sent]:
        """Send files in order; yields each as soon as it is known what became of it.

        On a FIFO queue nothing that follows a file which was not sent is sent: all of them are of one group.
        """
        stopped = False
        for start, run in _runs(files):
            results = self._overtaken(run) if stopped else self._publish(start, run, on_file)
            for file, result in zip(run, results, strict=True):
                stopped = stopped or (self._fifo and isinstance(result, Unpublished))
                self.sent.append(Sent(file, result))
                yield self.sent[-1]

    def _publish(self, start: int, run: Sequence[File], on_file: OnFile) -> list[Published | Unpublished]:
        def told(place: int, step: Step, done: int, total: int) -> None:
            on_file(start + place, step, done, total)

        return self._producer.publish_batch([file.event for file in run], on_progress=told)

    @staticmethod
    def _overtaken(run: Sequence[File]) -> list[Published | Unpublished]:
        error = Overtaken("not sent: an earlier file of this group was not; send both again, in order")
        return [Unpublished(message_id=file.event.message_id, error=error) for file in run]


def _runs(files: Sequence[File]) -> Iterator[tuple[int, list[File]]]:
    """Runs of small files, and each large one or stream alone, with the place where each begins."""
    run: list[File] = []
    for place, file in enumerate(files):
        if file.size is not None and file.size <= BATCHED_BYTES:
            run.append(file)
            continue
        if run:
            yield place - len(run), run
            run = []
        yield place, [file]
    if run:
        yield len(files) - len(run), run
