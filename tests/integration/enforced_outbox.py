"""The functions of an outbox where IAM is enforced: what they are for, and what they may not do."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from typing import Final

from claim_check import Event
from claim_check.adapters.outbox import DynamoDbOutbox
from claim_check.adapters.outbox_items import to_item
from claim_check.adapters.session import Clients
from claim_check.aws_outbox import outbox
from claim_check.contract import OUTBOX_OPEN_INDEX, PAYLOAD_PREFIX, Setting, id_hash, outbox_key
from claim_check.outbox.settings import OutboxSettings
from claim_check_examples.orders import MAX_CENTS
from claim_check_ops.telemetry import SilentTelemetry
from tests.integration.enforced import TENANT, CaseFailed, Function, content, invoke
from tests.integration.enforced_denials import OUTSIDE, Call, Calls, _every_call_on, _row, key_of
from tests.outbox_world import stream_event

AGE_SECONDS: Final = 60
_STAGED: Final = ("get", "look", "put", "abort")


# --- Cases ----------------------------------------------------------------------------------------------------------


def place(function: Function) -> None:
    """An order whose document does not travel inline."""
    order = json.loads(content(function)) | {"note": "x" * 100_000}
    if invoke(function, order)["placed"] != "now":
        raise CaseFailed("it was placed before")


def place_again(function: Function) -> None:
    """An order that is refused, twice: the second time its payload is there."""
    lines = [{"sku": "tea", "count": 1, "cents": MAX_CENTS + 1}]
    order = json.loads(content(function)) | {"note": "x" * 100_000, "lines": lines}
    for _ in range(2):
        try:
            invoke(function, order)
        except CaseFailed as error:
            if "without a person" in str(error):
                continue
            raise
        raise CaseFailed("it was not refused")


def relay(function: Function) -> None:
    """Two messages of a group."""
    _sent(function, _staged(function, 2))


def relay_past_a_discarded_row(function: Function) -> None:
    """The first of two messages is not to be sent any more."""
    first, second = _staged(function, 2)
    row = _table(function).rows([first])[first]
    function.aws.dynamodb.put_item(
        TableName=_settings(function).table, Item=to_item(replace(row, state="DISCARDED", body=None, attributes={}))
    )
    _sent(function, [second])


def _settings(function: Function) -> OutboxSettings:
    return OutboxSettings.from_environment(function.variables)


def _table(function: Function) -> DynamoDbOutbox:
    return DynamoDbOutbox(function.aws.dynamodb, _settings(function).table, sleep=lambda _: None)


def _staged(function: Function, count: int) -> list[str]:
    """Keys of rows of one group, staged by the account's root, and a while ago."""
    settings, group = _settings(function), f"enforced-{uuid.uuid4().hex}"
    messages = outbox(settings, clients=Clients(function.aws.session), telemetry=SilentTelemetry())
    (destination,) = settings.destinations
    keys = []
    for _ in range(count):
        name = f"enforced-{uuid.uuid4().hex}"
        with messages.transaction() as tx:
            event = Event.json({}, tenant_id=TENANT, event_type=function.event_type, message_id=name, group_id=group)
            messages.stage(event, tx)
        keys.append(outbox_key(destination=destination, tenant_id=TENANT, id_hash=id_hash(name)))
    for key, row in _table(function).rows(keys).items():
        aged = replace(row, staged_at=row.staged_at - AGE_SECONDS)
        assert aged.key == key
        function.aws.dynamodb.put_item(TableName=settings.table, Item=to_item(aged))
    return keys


def _sent(function: Function, keys: list[str]) -> None:
    """Let the function do its work, and look at the rows."""
    answer = invoke(function, stream_event(keys) if function.kind == "outbox_relay" else {})
    states = {row.state for row in _table(function).rows(keys).values()}
    if states != {"SENT"}:
        raise CaseFailed(f"{answer}, {states}")


# --- Denials --------------------------------------------------------------------------------------------------------


class _OutboxCalls(Calls):
    """What none of them may do."""

    @property
    def _outbox(self) -> str:
        return self.own.variables[Setting.OUTBOX_TABLE]

    def _rows(self) -> dict[str, Call]:
        """Calls that all of them make on their table."""
        table = self._outbox
        return {
            "look at rows": lambda it: it.dynamodb.batch_get_item(RequestItems={table: {"Keys": [_row()]}}),
            "put a row": lambda it: it.dynamodb.put_item(TableName=table, Item=_row()),
            "update a row": lambda it: it.dynamodb.update_item(TableName=table, Key=_row()),
        }

    def _common(self) -> dict[str, Call]:
        granted = ("put", "update", "write a transaction")
        rows = _every_call_on("the outbox", self._outbox)
        return {
            **self._foreign_queue("another queue", self.other.queue_url),
            **self._objects("another bucket", self.other.bucket, key_of(event_type=self.other.event_type)),
            **self._objects("its bucket outside the prefix", self.own.bucket, OUTSIDE),
            **{name: call for name, call in rows.items() if not name.startswith(granted)},
            **_every_call_on("its consumer's inbox", self.consumer.consumer.inbox_table),
            **self._lists(),
            **self._account(),
        }

    def _lists(self) -> dict[str, Call]:
        own = self.own.bucket
        return {
            "list its payloads": lambda it: it.s3.list_objects_v2(Bucket=own, Prefix=PAYLOAD_PREFIX),
            "list the buckets": lambda it: it.s3.list_buckets(),
        }


class RelayCalls(_OutboxCalls):
    """Calls of relay and sweep: they send, and read no payload."""

    def allowed(self) -> dict[str, Call]:
        """What stands beside the denials: the same calls where the function may make them."""
        calls = self._foreign_queue("its queue", self.own.queue_url)
        sends = {name: call for name, call in calls.items() if name.startswith("send")}
        query = {"query the unsent rows": self._query} if self.own.kind == "outbox_sweep" else {}
        return {**sends, **self._rows(), **query}

    def denied(self) -> dict[str, Call]:
        """Everything that must not be let through."""
        calls = self._foreign_queue("its queue", self.own.queue_url)
        query = {} if self.own.kind == "outbox_sweep" else {"query the unsent rows": self._query}
        return {
            **self._common(),
            **{name: call for name, call in calls.items() if not name.startswith("send")},
            **self._objects("its payloads", self.own.bucket, key_of(event_type=self.own.event_type)),
            **query,
        }

    def _query(self, it: object) -> object:
        return it.dynamodb.query(  # type: ignore[attr-defined]  # a caller
            TableName=self._outbox,
            IndexName=OUTBOX_OPEN_INDEX,
            KeyConditionExpression="openShard = :shard",
            ExpressionAttributeValues={":shard": {"S": "none"}},
        )


class StagingCalls(_OutboxCalls):
    """Calls of a function that stages: it writes payloads and rows, and sends nothing."""

    def allowed(self) -> dict[str, Call]:
        """What stands beside the denials: the same calls where the function may make them."""
        payloads = self._objects("its payloads", self.own.bucket, key_of(event_type=self.own.event_type))
        granted = {name: call for name, call in payloads.items() if name.startswith(_STAGED)}
        return {**granted, **self._rows()}

    def denied(self) -> dict[str, Call]:
        """Everything that must not be let through."""
        payloads = self._objects("its payloads", self.own.bucket, key_of(event_type=self.own.event_type))
        return {
            **self._common(),
            **self._foreign_queue("its queue", self.own.queue_url),
            **{name: call for name, call in payloads.items() if not name.startswith(_STAGED)},
        }
