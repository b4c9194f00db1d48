"""The reconciler of payloads, where IAM is enforced: what it is for, and what it may not do."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from claim_check.contract import INBOX_OPEN_INDEX, METADATA_UPLOAD, PAYLOAD_PREFIX, Setting
from tests.integration.enforced import CaseFailed, Function, claim_of, invoke
from tests.integration.enforced_denials import OUTSIDE, Call, Calls, _every_call_on, key_of

_GRANTED: Final = ("get", "look", "read tags")


# --- Cases ----------------------------------------------------------------------------------------------------------


def reconcile(function: Function) -> None:
    """A payload that no row knows, and that came by grant: rows, object and tags are looked at."""
    claim = claim_of(function, f"enforced-{uuid.uuid4().hex}", b"nobody knows it")
    function.aws.s3.put_object(
        Bucket=function.bucket, Key=claim.key, Body=b"x", Metadata={METADATA_UPLOAD: "direct"}, IfNoneMatch="*"
    )
    with _everything_is_due(function, prefix=claim.key.rpartition("/")[0]):
        report = invoke(function, {})
    if report["status"] != "finished" or not report["looks"] or not report["reads"]:
        raise CaseFailed(str(report))


@contextmanager
def _everything_is_due(function: Function, *, prefix: str) -> Iterator[None]:
    """Whatever is there is old enough, and so is the last run; another prefix begins anew, after a failure, too."""
    configure: Any = function.aws.lambda_.update_function_configuration
    times = {Setting.RECONCILER_GRACE: "0", Setting.RECONCILER_EVERY: "1"}
    due = {**function.variables, **times, Setting.RECONCILER_PREFIX: prefix}
    configure(FunctionName=function.name, Environment={"Variables": due})
    try:
        yield
    finally:
        configure(FunctionName=function.name, Environment={"Variables": dict(function.variables)})


# --- Denials --------------------------------------------------------------------------------------------------------


class ReconcilerCalls(Calls):
    """Calls of the function: it looks at payloads and rows of its consumer, and changes nothing of theirs."""

    @property
    def _inbox(self) -> str:
        return self.consumer.consumer.inbox_table

    def allowed(self) -> dict[str, Call]:
        """What stands beside the denials: the same calls where the function may make them."""
        payloads, table = self._payloads(), self._inbox
        own = self.own.bucket
        return {
            "query the open rows": lambda it: it.dynamodb.query(
                TableName=table,
                IndexName=INBOX_OPEN_INDEX,
                KeyConditionExpression="openShard = :shard",
                ExpressionAttributeValues={":shard": {"S": "none"}},
            ),
            "list the payloads": lambda it: it.s3.list_objects_v2(Bucket=own, Prefix=PAYLOAD_PREFIX),
            **{name: call for name, call in payloads.items() if name.startswith(_GRANTED)},
        }

    def denied(self) -> dict[str, Call]:
        """Everything that must not be let through."""
        own = self.own.bucket
        state = self.own.variables[Setting.RECONCILER_TABLE]
        return {
            **self._foreign_queue("its consumer's queue", self.consumer.queue_url),
            **self._foreign_queue("another queue", self.other.queue_url),
            **{name: call for name, call in self._payloads().items() if not name.startswith(_GRANTED)},
            **self._objects("another bucket", self.other.bucket, key_of(event_type=self.other.event_type)),
            **self._objects("its bucket outside the prefix", own, OUTSIDE),
            **_every_call_on("the inbox", self._inbox),
            **{name: call for name, call in _every_call_on("its checkpoint", state).items() if "update" not in name},
            "list its bucket": lambda it: it.s3.list_objects_v2(Bucket=own),
            **self._account(),
        }

    def _payloads(self) -> Mapping[str, Call]:
        return self._objects("its payloads", self.own.bucket, key_of(event_type=self.own.event_type))
