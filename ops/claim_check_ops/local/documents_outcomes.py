"""What became of the documents, read back from the inbox, the DLQ and the document rows."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from claim_check.adapters.inbox_items import deserialize, to_row
from claim_check.contract import InboxAttribute, inbox_key, park_key
from claim_check.ports import InboxRow
from claim_check_examples.documents import document_key
from claim_check_examples.file_facts import FileFacts
from claim_check_ops.local.deployment import Deployment
from claim_check_ops.local.documents_scenario import TENANT, Outcome, Sent
from claim_check_ops.local.queues import Queues


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What became of one message.

    Attributes:
        outcome: Its end.
        code: Why it was parked.
        seconds: From sending until it was settled.
        problems: What is not as it must be; empty if all is right.
    """

    outcome: Outcome
    code: str | None
    seconds: float
    problems: tuple[str, ...] = ()


@dataclass
class Outcomes:
    """Watches the outcomes of a run.

    Attributes:
        deployment: Where to look.
        queues: Its queues.
        settled: What is settled, by the name of the case.
    """

    deployment: Deployment
    queues: Queues
    settled: dict[str, Seen] = field(default_factory=dict)

    def look(self, sent: Iterable[Sent]) -> dict[str, Seen]:
        """Look anew; what is settled so far, by the name of the case."""
        self.queues.look()
        idle = self.queues.source_is_empty()
        for one in sent:
            if one.case not in self.settled and (seen := self._outcome(one, idle=idle)) is not None:
                self.settled[one.case] = seen
        return self.settled

    def documents(self) -> int:
        """Number of document rows."""
        table = self.deployment.table
        pages = self.deployment.aws.dynamodb.get_paginator("scan").paginate(TableName=table, Select="COUNT")
        return sum(page["Count"] for page in pages)

    def _outcome(self, sent: Sent, *, idle: bool) -> Seen | None:
        reason = self.queues.parked.get(sent.sqs_message_id or "")
        row = self._row(sent)
        if reason is not None:
            if row is None or row.state != "PARKED":
                return None
            return self._judged(sent, "parked", row, code=reason["errorCode"])
        if row is None or row.state != "COMPLETED":
            return None
        if sent.sqs_message_id in {None, row.sqs_message_id}:
            return self._judged(sent, "processed", row)
        return self._judged(sent, "duplicate", row) if idle else None

    def _judged(self, sent: Sent, outcome: Outcome, row: InboxRow, *, code: str | None = None) -> Seen:
        expected = sent.expected
        problems = []
        if (outcome, code) != (expected.outcome, expected.code):
            problems.append(f"expected {expected.outcome} {expected.code or ''}".strip())
        if outcome == "processed" and row.attempts != 1:
            problems.append(f"{row.attempts} attempts")
        if outcome == "processed" and expected.facts is not None:
            problems += self._document_problems(sent)
        settled_at = time.time() if outcome == "duplicate" else row.updated_at  # a duplicate changes nothing
        return Seen(outcome=outcome, code=code, seconds=settled_at - sent.sent_at, problems=tuple(problems))

    def _document_problems(self, sent: Sent) -> list[str]:
        key = {"pk": {"S": document_key(TENANT, sent.message_id or "")}}
        item = self.deployment.aws.dynamodb.get_item(TableName=self.deployment.table, Key=key).get("Item")
        if item is None:
            return ["no document row"]
        row = {name: deserialize(value) for name, value in item.items()}
        rows = row.get("rows")
        facts = FileFacts(int(row["size"]), row["detectedType"], None if rows is None else int(rows))
        problems = [] if row["sha256"] == sent.expected.sha256 else ["document row: other SHA-256"]
        return problems if facts == sent.expected.facts else [*problems, f"document row: {facts}"]

    def _row(self, sent: Sent) -> InboxRow | None:
        """The row that records this message: its identity's, or its own if it has no claim on one."""
        consumer = self.deployment.consumer.consumer
        own = self._get(park_key(sent.sqs_message_id)) if sent.sqs_message_id else None
        if own is not None or sent.idempotency_key is None:
            return own
        return self._get(inbox_key(consumer=consumer, tenant_id=TENANT, idempotency_key=sent.idempotency_key))

    def _get(self, key: str) -> InboxRow | None:
        answer = self.deployment.aws.dynamodb.get_item(
            TableName=self.deployment.consumer.inbox_table, Key={InboxAttribute.KEY: {"S": key}}, ConsistentRead=True
        )
        return to_row(answer["Item"]) if "Item" in answer else None
