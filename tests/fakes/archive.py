"""An archive of dead letters in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from claim_check.archive import (
    ArchivedLetter,
    decode_letter,
    encode_letter,
    is_key_of,
    letter_key,
    letters_prefix,
)
from claim_check.delivery import Delivery
from tests.fakes.faults import Faults


@dataclass
class FakeArchive:
    """The `DeadLetterArchive` port. It keeps letters as they are stored, so that what is read went through JSON.

    Calls: ``archive_put``, ``archive_read``, ``archive_remove``.

    Attributes:
        faults: Failures to come.
        objects: Stored letters by key.
        refuse_removal: SQS ids of messages whose letters are not removed.
    """

    faults: Faults = field(default_factory=Faults)
    objects: dict[str, bytes] = field(default_factory=dict)
    refuse_removal: set[str] = field(default_factory=set)

    def put(self, letter: ArchivedLetter) -> bool:
        """Store a letter unless it is there."""
        with self.faults.around("archive_put"):
            key = letter_key(letter.delivery)
            if key in self.objects:
                return False
            self.objects[key] = encode_letter(letter)
            return True

    def letters(self, queue: str) -> Iterator[ArchivedLetter]:
        """Letters of a DLQ, oldest first."""
        for key in self._keys(queue):
            with self.faults.around("archive_read"):
                content = self.objects.get(key)
            if content is not None:
                yield decode_letter(content)

    def count(self, queue: str) -> int:
        """How many there are."""
        return len(self._keys(queue))

    def get(self, queue: str, sqs_message_id: str) -> ArchivedLetter | None:
        """A letter by SQS's id of its message."""
        with self.faults.around("archive_read"):
            key = next((key for key in self._keys(queue) if is_key_of(key, sqs_message_id)), None)
            return None if key is None else decode_letter(self.objects[key])

    def stored(self, delivery: Delivery) -> ArchivedLetter | None:
        """The letter of a message."""
        with self.faults.around("archive_read"):
            content = self.objects.get(letter_key(delivery))
            return None if content is None else decode_letter(content)

    def remove(self, letters: Sequence[ArchivedLetter]) -> list[ArchivedLetter]:
        """Remove letters."""
        with self.faults.around("archive_remove"):
            refused = [letter for letter in letters if letter.id in self.refuse_removal]
            for letter in letters:
                if letter.id not in self.refuse_removal:
                    self.objects.pop(letter_key(letter.delivery), None)
            return refused

    def _keys(self, queue: str) -> list[str]:
        return sorted(key for key in self.objects if key.startswith(letters_prefix(queue)))
