"""Where a dead letter goes when it goes back to work (R9.1)."""

from __future__ import annotations

from claim_check_ops.dlq.letters import DeadLetter
from claim_check_ops.dlq.ports import QueueDirectory, QueueFacts


class Destinations:
    """Finds the queue that a dead letter came from.

    The first of these: the queue that somebody named; the source queue that its reason names; the queue that SQS says
    it moved it from. The last two count only if that queue's redrive policy names this very DLQ: an attribute can be
    forged by whoever may send to the DLQ.
    """

    def __init__(self, directory: QueueDirectory, dlq: QueueFacts, *, named: QueueFacts | None = None) -> None:
        """Know nothing yet.

        Args:
            directory: Finds queues.
            dlq: The DLQ.
            named: Where everything goes.
        """
        self._directory = directory
        self._dlq = dlq
        self._named = named
        self._found: dict[str, QueueFacts | None] = {}

    def of(self, letter: DeadLetter) -> QueueFacts | None:
        """Where it goes; None if that is not known.

        Raises:
            ReadRefused: SQS refuses to tell of the queue.
            Unavailable: It does not answer.
        """
        found = self._named or self._source(letter)
        if found is not None and found.fifo and letter.delivery.group_id is None:
            return None
        return found

    def _source(self, letter: DeadLetter) -> QueueFacts | None:
        if letter.parked is not None:
            return self._by_name(letter.parked.source_queue)
        account, _, name = (letter.delivery.dead_letter_source or "").rpartition(":")
        if not name or account != self._dlq.arn.rpartition(":")[0]:
            return None
        return self._by_name(name)

    def _by_name(self, name: str) -> QueueFacts | None:
        if name not in self._found:
            facts = self._directory.find(name)
            self._found[name] = facts if facts is not None and facts.dead_letters_to == self._dlq.arn else None
        return self._found[name]
