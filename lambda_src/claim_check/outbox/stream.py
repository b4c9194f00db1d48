"""The relay behind the outbox's stream: which records count, and what Lambda is answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from claim_check.contract import OUTBOX_GROUP_MARK, OutboxAttribute
from claim_check.errors import InfrastructureUnavailable, MalformedBatch, Unavailable
from claim_check.outbox.relay import Relay
from claim_check.ports import Telemetry

SOURCE: Final = "aws:dynamodb"


class StreamRelay:
    """Hands the rows of a batch of stream records to a relay."""

    def __init__(self, relay: Relay, *, telemetry: Telemetry) -> None:
        """Make it.

        Args:
            relay: Sends.
            telemetry: Logs and metrics.
        """
        self._relay = relay
        self._telemetry = telemetry

    def handle(self, event: Mapping[str, Any], *, remaining_seconds: float) -> dict[str, list[dict[str, str]]]:
        """Publish what was inserted.

        A row that the queue did not take is not reported: its failure is written down, and the sweep comes back to it,
        so that it never holds up the rows behind it in the shard.

        Args:
            event: As Lambda's mapping of a DynamoDB stream gives it.
            remaining_seconds: Time that this process has left.

        Returns:
            The *first* record, in the order of the stream, whose row has to be tried again: Lambda repeats it and all
            that follow.

        Raises:
            MalformedBatch: The event is no batch of stream records; nothing was done.
            InfrastructureUnavailable: The table did not answer at all.
        """
        records = _records(event)
        staged = [record for record in records if _is_staged_row(record)]
        try:
            failed = self._relay.run([_key(one) for one in staged], remaining_seconds=remaining_seconds).failed
        except Unavailable as error:
            self._telemetry.count(error.code)
            raise InfrastructureUnavailable(f"outbox: {error}") from error
        finally:
            self._telemetry.flush()
        first = next((_sequence_number(one) for one in staged if _key(one) in failed), None)
        return {"batchItemFailures": [] if first is None else [{"itemIdentifier": first}]}


def _records(event: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    records = event.get("Records")
    if not isinstance(records, list) or not records:
        raise MalformedBatch("event: no Records; this function is for a DynamoDB stream")
    for record in records:
        if not isinstance(record, dict) or record.get("eventSource") != SOURCE:
            raise MalformedBatch(f"event: a record is not from {SOURCE}; this function is for a DynamoDB stream")
        _key(record)
        if not _sequence_number(record):
            raise MalformedBatch("event: a record has no SequenceNumber")
    return records


def _is_staged_row(record: Mapping[str, Any]) -> bool:
    """Whether a row is new: no later change of one, no removal by its time to live, no item of a group."""
    return record.get("eventName") == "INSERT" and not _key(record).startswith(OUTBOX_GROUP_MARK)


def _key(record: Mapping[str, Any]) -> str:
    try:
        return str(record["dynamodb"]["Keys"][OutboxAttribute.KEY]["S"])
    except (KeyError, TypeError) as error:
        raise MalformedBatch(
            f"event: a record has no key {OutboxAttribute.KEY}; is this the outbox's stream?"
        ) from error


def _sequence_number(record: Mapping[str, Any]) -> str:
    return str(record["dynamodb"].get("SequenceNumber") or "")
