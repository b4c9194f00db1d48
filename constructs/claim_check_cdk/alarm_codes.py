"""Which error codes ring an alarm of their own, and why the others do not (R12.1).

A code has its own alarm if its cause lies outside the one message, and more messages suffer with every minute: a role,
a lifecycle rule, a stranger, a deployment, an outage. What is wrong with a single message only is parked, and the alarm
on the dead-letter queue tells of it; its reason is in the copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from claim_check.contract import ErrorCode
from claim_check_cdk.alarm_rules import Rule

_QUARTER: Final = 15
"""Minutes that an alarm looks back: what rings once an hour rings each time, what rings each minute rings once."""


def _at_once(what_to_do: str) -> Rule:
    return Rule(threshold=1, datapoints=1, periods=_QUARTER, what_to_do=what_to_do)


ALARMED_CODES: Final[Mapping[str, Rule]] = {
    ErrorCode.ACCESS_DENIED: _at_once(
        "S3 refused a payload: the consumer's role, the bucket policy or the key policy is wrong. "
        "Messages are being parked. Compare the role with PayloadBucket.grant_read, fix it, then redrive the DLQ."
    ),
    ErrorCode.MISSING_PAYLOAD: _at_once(
        "A message points at an object that is gone. Look who deleted it (lifecycle, person, other "
        "job), and whether a queue is missing from PayloadBucket.retain_for. Restore the object, or have the event "
        "published anew."
    ),
    ErrorCode.CHECKSUM_MISMATCH: _at_once(
        "A payload's bytes are not those that were published. Treat it as tampering until proven "
        "otherwise: find the writer in the access logs, keep the object, and have the event published anew."
    ),
    ErrorCode.CLAIM_MISMATCH: _at_once(
        "A message's payload is not the one that the domain's own record names. Treat it as tampering until proven "
        "otherwise: compare the two, find who sent the message, and do not redrive it."
    ),
    ErrorCode.UNTRUSTED_REFERENCE: _at_once(
        "A message points outside the bucket, the tenant or the type it may point at. Treat its sender as hostile "
        "until proven otherwise: find who may send to the queue, take that right away, and do not redrive the message."
    ),
    ErrorCode.CONFLICT: _at_once(
        "An idempotency key came again with other content, type or version, and the second event was parked: its "
        "effect is missing. Find the producer that uses one key for two events, fix it, and have the event published "
        "under a key of its own."
    ),
    ErrorCode.INVALID_ENVELOPE: _at_once(
        "Something that is no event was sent to the queue, and parked. Find who sends: another system, a person, or "
        "messages of Extended Clients that this consumer does not take (foreign). Stop it, or send it elsewhere."
    ),
    ErrorCode.UNSUPPORTED_VERSION: _at_once(
        "Events of a type or version arrive that this consumer does not know; they are parked. A producer was deployed "
        "first: deploy the consumer that reads them, then redrive the DLQ."
    ),
    ErrorCode.STALE: _at_once(
        "A message is older than the inbox remembers, so nobody can say whether it was processed; it was parked. Find "
        "where it lay so long, look in the domain's own records whether its effect is there, and publish it anew if "
        "not."
    ),
    ErrorCode.HANDLER_CRASHED: _at_once(
        "A message ended the process in each of its attempts (out of memory, timeout, exit), and was given up. Compare "
        "the function's memory and duration with the payload's size, raise memory, storage or timeout, then redrive it."
    ),
    ErrorCode.COMMIT_FAILED: Rule(
        threshold=1,
        datapoints=3,
        periods=_QUARTER,
        what_to_do="Transactions are refused again and again: a condition that the handler did not declare, or "
        "conflicts and throttles until the deadline. Read the newest error line, and the tables' throttles and "
        "transaction conflicts on the dashboard.",
    ),
    ErrorCode.UNAVAILABLE: Rule(
        threshold=1,
        datapoints=10,
        periods=_QUARTER,
        what_to_do="S3, SQS or DynamoDB have not answered for ten minutes. No attempts are spent: messages wait, and "
        "none is parked for hours. See the AWS Health Dashboard, S3's 5xx and the tables' throttles; there is nothing "
        "to redrive.",
    ),
}
"""The rule of each code that rings; the alarm has the code's name."""

UNALARMED_CODES: Final[Mapping[str, str]] = {
    ErrorCode.PAYLOAD_TOO_LARGE: "It concerns one message, which is parked: DeadLetters rings.",
    ErrorCode.UNSUPPORTED_CONTENT_TYPE: "It concerns one message, which is parked: DeadLetters rings.",
    ErrorCode.UNVERIFIED_PAYLOAD: "It concerns one message of a foreign client, which is parked: DeadLetters rings.",
    ErrorCode.INVALID_NOTIFICATION: "It concerns one message of an ingest, which is parked: its DeadLetters rings.",
    ErrorCode.ALREADY_STAGED: "It tells the caller of an outbox that its work was committed before.",
    ErrorCode.OUTBOX_FULL: "It tells the caller of an outbox to wait; the outbox rings for its lag.",
    ErrorCode.HANDLER_FAILED: "It is tried again. What fails for good is parked within minutes, and DeadLetters rings; "
    "on a queue that blocks, GroupBlocked.",
    ErrorCode.DEADLINE_EXCEEDED: "It is tried again, and parked if it fails for good: DeadLetters rings.",
    "LostLease": "Another worker has the message, which is what leases are for; nothing is lost.",
}
"""Why each other code does not ring."""
