"""The archive of a DLQ as a source of dead letters (R6.5). Nothing there is hidden, so nothing is to be given back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from claim_check.archive import ArchivedLetter, DeadLetterArchive
from claim_check.delivery import Delivery


class ArchiveSource:
    """`claim_check_ops.dlq.ports.DeadLetterSource` on an archive: the oldest first."""

    name = "archive"

    def __init__(self, archive: DeadLetterArchive, queue: str) -> None:
        """Read nothing yet.

        Args:
            archive: The archive.
            queue: Name of the DLQ.
        """
        self._archive = archive
        self._queue = queue
        self._letters: Iterator[ArchivedLetter] | None = None
        self._taken: dict[str, ArchivedLetter] = {}

    @property
    def ordered(self) -> bool:
        """See `DeadLetterSource.ordered`."""
        return self._queue.endswith(".fifo")

    def total(self) -> int | None:
        """See `DeadLetterSource.total`."""
        return self._archive.count(self._queue)

    def take(self, count: int) -> Sequence[Delivery]:
        """See `DeadLetterSource.take`."""
        if self._letters is None:
            self._letters = self._archive.letters(self._queue)
        found = list(islice(self._letters, count))
        self._taken |= {letter.id: letter for letter in found}
        return [letter.delivery for letter in found]

    def keep(self) -> None:
        """Nothing is held."""

    def remove(self, taken: Sequence[Delivery]) -> set[str]:
        """See `DeadLetterSource.remove`."""
        letters = [self._taken[one.sqs_message_id] for one in taken]
        return {letter.id for letter in self._archive.remove(letters)}

    def give_back(self) -> set[str]:
        """Nothing is held."""
        return set()
