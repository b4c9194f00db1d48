"""The ingests put to use: objects come and go in two buckets; ledger and inventory must say what is there."""

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from botocore.exceptions import ClientError
from rich.box import SIMPLE_HEAD
from rich.table import Table

from claim_check.adapters.inbox_items import deserialize
from claim_check.adapters.ledger import DynamoDbLedger
from claim_check.adapters.session import Clients
from claim_check.aws_ingest import reconciliation
from claim_check.dead_letters import parked_reason
from claim_check.delivery import from_api
from claim_check.errors import ClaimCheckError
from claim_check.ingest.changes import ObjectEvent
from claim_check.ingest.notifications import parse
from claim_check.ingest.ports import LedgerRow
from claim_check.ingest.settings import IngestSettings, ReconciliationSettings
from claim_check_examples.inventory import UnreadableObject
from claim_check_ops.local.embedded_aws import EmbeddedAws
from claim_check_ops.local.progress import ProgressBar
from claim_check_ops.local.waiting import wait_until
from claim_check_ops.telemetry import SilentTelemetry

SETTLE_SECONDS: Final = 90.0
POLL_SECONDS: Final = 0.25
WAYS: Final = {"Ingest": "S3", "Ordered": "EventBridge"}
"""How the events of an ingest come, by the beginning of its stack's outputs."""

_TEXT: Final = b"hello"
_CSV: Final = b"name,amount\nbread,3\nbutter,2\n"
_BROKEN_CSV: Final = b"name,amount\n\xff\xfe\n"
_PEEK_SECONDS: Final = 1
_NOT_FOUND: Final = 404


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestDeployment:
    """An ingest as it stands.

    Attributes:
        aws: Where it stands.
        way: How its events come.
        settings: Of its ingester.
        reconciliation: Of its reconciliation.
        table: Table of the inventory.
        session: Clients of its reconciliation; in that function's role, where policies are enforced.
    """

    aws: EmbeddedAws
    way: str
    settings: IngestSettings
    reconciliation: ReconciliationSettings
    table: str
    session: Clients

    @property
    def prefix(self) -> str:
        """How the keys begin that it follows."""
        return self.reconciliation.filters[0].prefix if self.reconciliation.filters else ""


def find_ingests(aws: EmbeddedAws, outputs: Iterable[Mapping[str, str]]) -> list[IngestDeployment]:
    """Find the ingests among the deployed stacks.

    Args:
        aws: Where they stand.
        outputs: Outputs of each stack.

    Raises:
        LookupError: No stack has one.
    """
    for one in outputs:
        if "IngestBucketName" in one:
            return [_ingest(aws, one, prefix, way) for prefix, way in WAYS.items()]
    raise LookupError("No deployed stack has the output IngestBucketName.")


def _ingest(aws: EmbeddedAws, outputs: Mapping[str, str], prefix: str, way: str) -> IngestDeployment:
    def configuration(output: str) -> Any:  # noqa: ANN401 - boto3's answer
        return aws.lambda_.get_function_configuration(FunctionName=outputs[f"{prefix}{output}"])

    ingester, reconciler = configuration("FunctionName"), configuration("ReconcilerFunctionName")
    role = reconciler["Role"].rpartition("/")[2]
    return IngestDeployment(
        aws=aws,
        way=way,
        settings=IngestSettings.from_environment(ingester["Environment"]["Variables"]),
        reconciliation=ReconciliationSettings.from_environment(reconciler["Environment"]["Variables"]),
        table=outputs[f"{prefix}InventoryTableName"],
        session=Clients(aws.session_as(role) if aws.enforce_iam else aws.session),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """An object of the run.

    Attributes:
        case: Its name in the table.
        where: The ingest whose bucket it was dropped into.
        key: Its key.
        changes: How often it was written or removed.
        parked: Code with which its notification must be parked; None if it must be ingested.
        followed: Whether the ingest follows its key at all.
    """

    case: str
    where: IngestDeployment
    key: str
    changes: int
    parked: str | None = None
    followed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerSeen:
    """What became of an object.

    Attributes:
        ledger: What its row says.
        inventory: What the handler's table says.
        problems: What is not as it must be; empty once it is settled.
    """

    ledger: str
    inventory: str
    problems: tuple[str, ...]


class IngestRun:
    """One run of all objects.

    Attributes:
        dropped: What was dropped.
        seen: What became of each.
        problems: What is wrong with the run as a whole.
    """

    def __init__(self, ingests: Iterable[IngestDeployment]) -> None:
        """Prepare a run against deployments."""
        self._ingests = {one.way: one for one in ingests}
        self._run_id = f"run-{secrets.token_hex(4)}"
        self._parked: dict[str, str] = {}
        self.dropped: list[Dropped] = []
        self.seen: dict[tuple[str, str], LedgerSeen] = {}
        self.problems: list[str] = []

    @property
    def succeeded(self) -> bool:
        """Whether every object ended as it must."""
        settled = [self.seen.get((one.where.way, one.case)) for one in self.dropped]
        return bool(settled) and not self.problems and all(one is not None and not one.problems for one in settled)

    def execute(self, bar: ProgressBar) -> None:
        """Drop, watch, judge; and once more for what the reconciliation has to find."""
        steps = self._steps()
        for number, (name, step) in enumerate(steps):
            bar.show(f"dropping: {name}", number, len(steps))
            self.dropped.append(step())
        self._watch(bar, len(steps))
        if not self.problems:
            self.dropped.append(self._lost(self._ingests["S3"]))
            self._watch(bar, len(self.dropped))

    def table(self) -> Table:
        """One row per object."""
        table = Table(title="Ingest: what became of every object", box=SIMPLE_HEAD, title_justify="left")
        for heading in ("object", "through", "changes", "ledger", "inventory", "right"):
            table.add_column(heading, justify="right" if heading in {"changes", "inventory"} else "left")
        for one in self.dropped:
            seen = self.seen.get((one.where.way, one.case), LedgerSeen(ledger="", inventory="", problems=("unseen",)))
            verdict = f"[red]{'; '.join(seen.problems)}[/red]" if seen.problems else "[green]yes[/green]"
            table.add_row(one.case, one.where.way, str(one.changes), seen.ledger, seen.inventory, verdict)
        return table

    def document(self) -> dict[str, object]:
        """The same for machines."""
        objects = []
        for one in self.dropped:
            seen = self.seen.get((one.where.way, one.case), LedgerSeen(ledger="", inventory="", problems=("unseen",)))
            objects.append(
                {
                    "case": one.case,
                    "through": one.where.way,
                    "changes": one.changes,
                    "ledger": seen.ledger,
                    "inventory": seen.inventory,
                    "problems": list(seen.problems),
                }
            )
        return {"succeeded": self.succeeded, "problems": self.problems, "objects": objects}

    # --- Cases ------------------------------------------------------------------------------------------------------

    def _steps(self) -> list[tuple[str, Callable[[], Dropped]]]:
        """All cases, by name."""
        direct, ordered = self._ingests["S3"], self._ingests["EventBridge"]
        return [
            ("put once", lambda: self._written(direct, "put once", [_TEXT])),
            ("overwritten", lambda: self._written(direct, "overwritten", [b"one", b"two", _TEXT])),
            ("deleted", lambda: self._written(direct, "deleted", [_TEXT, None])),
            ("deleted, put again", lambda: self._written(direct, "deleted, put again", [b"old", None, _CSV])),
            ("odd key", lambda: self._written(direct, "odd key", [_TEXT], name="a b+c%20 ü😀.txt")),
            ("copied", lambda: self._copied(direct)),
            ("in parts", lambda: self._in_parts(direct)),
            ("unreadable CSV", lambda: self._unreadable(direct)),
            ("not followed", lambda: self._not_followed(direct)),
            ("overwritten", lambda: self._written(ordered, "overwritten", [b"one", b"two", _TEXT])),
            ("deleted", lambda: self._written(ordered, "deleted", [_TEXT, None])),
        ]

    def _key(self, where: IngestDeployment, name: str) -> str:
        return f"{where.prefix}{self._run_id}/{name}"

    def _written(
        self, where: IngestDeployment, case: str, contents: list[bytes | None], *, name: str | None = None
    ) -> Dropped:
        """Write an object, content by content; None removes it."""
        key = self._key(where, name or case)
        for content in contents:
            if content is None:
                where.aws.s3.delete_object(Bucket=where.settings.bucket, Key=key)
            else:
                _put(where, key, content)
        return Dropped(case=case, where=where, key=key, changes=len(contents))

    def _copied(self, where: IngestDeployment) -> Dropped:
        source, key = self._key(where, "copied from"), self._key(where, "copied")
        _put(where, source, _TEXT)
        where.aws.s3.copy_object(
            Bucket=where.settings.bucket, Key=key, CopySource={"Bucket": where.settings.bucket, "Key": source}
        )
        return Dropped(case="copied", where=where, key=key, changes=1)

    def _in_parts(self, where: IngestDeployment) -> Dropped:
        place: Any = {"Bucket": where.settings.bucket, "Key": self._key(where, "in parts")}
        upload = where.aws.s3.create_multipart_upload(**place)["UploadId"]
        part = where.aws.s3.upload_part(**place, UploadId=upload, PartNumber=1, Body=_CSV)
        parts: Any = {"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
        where.aws.s3.complete_multipart_upload(**place, UploadId=upload, MultipartUpload=parts)
        return Dropped(case="in parts", where=where, key=place["Key"], changes=1)

    def _unreadable(self, where: IngestDeployment) -> Dropped:
        key = self._key(where, "unreadable.csv")
        _put(where, key, _BROKEN_CSV, content_type="text/csv")
        return Dropped(case="unreadable CSV", where=where, key=key, changes=1, parked=UnreadableObject.code)

    def _not_followed(self, where: IngestDeployment) -> Dropped:
        key = f"elsewhere/{self._run_id}.txt"
        _put(where, key, _TEXT)
        return Dropped(case="not followed", where=where, key=key, changes=1, followed=False)

    def _lost(self, where: IngestDeployment) -> Dropped:
        """Put an object while the bucket tells nobody; then the reconciliation looks."""
        key = self._key(where, "notification lost")
        with _silent(where):
            _put(where, key, _TEXT)
        settings = replace(where.reconciliation, grace_seconds=0)
        try:
            report = reconciliation(settings, clients=where.session, telemetry=SilentTelemetry()).run(anew=True)
        except ClaimCheckError as error:
            self.problems.append(f"reconciliation: {error}")
        else:
            if not report.differences:
                self.problems.append("the reconciliation found no difference")
        return Dropped(case="notification lost", where=where, key=key, changes=1)

    # --- Judging ----------------------------------------------------------------------------------------------------

    def _watch(self, bar: ProgressBar, total: int) -> None:
        def settled() -> bool:
            self._look_for_parked()
            self.seen = {(one.where.way, one.case): self._look(one) for one in self.dropped}
            waiting = [case for (_, case), seen in self.seen.items() if seen.problems]
            bar.show(f"waiting for: {', '.join(waiting)}" if waiting else "settled", total - len(waiting), total)
            return not waiting and all(self._is_empty(where) for where in self._ingests.values())

        try:
            wait_until(settled, what="every object to be settled", timeout=SETTLE_SECONDS, interval=POLL_SECONDS)
        except TimeoutError as error:
            self.problems.append(str(error))

    def _look(self, one: Dropped) -> LedgerSeen:
        there, row, listed = _head(one), _ledger_row(one), _inventory_row(one)
        says = (
            "-"
            if row is None
            else f"{'present' if row.object else 'deleted'}: {row.kind.partition(':')[2] or row.kind}"
        )
        lists = "-" if listed is None else f"{listed['size']} bytes"
        if one.parked is not None:
            code = self._parked.get(one.key)
            wrong = () if code == one.parked and row is None and listed is None else (f"parked: {code}",)
            return LedgerSeen(ledger=f"- (parked: {code})", inventory=lists, problems=wrong)
        expected = there if one.followed else None
        problems = []
        if (row.etag if row else None) != (expected or {}).get("etag"):
            problems.append("the ledger does not say what the bucket holds")
        if row is None and one.followed:
            problems.append("the ledger has no row")
        if (listed or {}).get("etag") != (expected or {}).get("etag"):
            problems.append("the inventory does not say what the bucket holds")
        if row is not None and expected is not None and row.version_id not in {None, expected["version"]}:
            problems.append("the ledger names another version")
        return LedgerSeen(ledger=says, inventory=lists, problems=tuple(problems))

    def _look_for_parked(self) -> None:
        for where in self._ingests.values():
            for message in _peek(where):
                reason = parked_reason(message)
                for record in parse(message.body):
                    if isinstance(record, ObjectEvent) and reason is not None:
                        self._parked[record.key.text] = reason.error_code

    @staticmethod
    def _is_empty(where: IngestDeployment) -> bool:
        answer = where.aws.sqs.get_queue_attributes(
            QueueUrl=where.settings.queue_url,
            AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
        )
        return all(int(number) == 0 for number in answer["Attributes"].values())


def _put(where: IngestDeployment, key: str, content: bytes, *, content_type: str = "text/plain") -> None:
    kind = "text/csv" if content == _CSV else content_type
    where.aws.s3.put_object(Bucket=where.settings.bucket, Key=key, Body=content, ContentType=kind)


@contextmanager
def _silent(where: IngestDeployment) -> Iterator[None]:
    """Let a bucket tell nobody, until the block ends."""
    bucket = where.settings.bucket
    told: Any = dict(where.aws.s3.get_bucket_notification_configuration(Bucket=bucket))
    told.pop("ResponseMetadata")
    where.aws.s3.put_bucket_notification_configuration(Bucket=bucket, NotificationConfiguration={})
    try:
        yield
    finally:
        where.aws.s3.put_bucket_notification_configuration(Bucket=bucket, NotificationConfiguration=told)


def _head(one: Dropped) -> dict[str, str | None] | None:
    try:
        found = one.where.aws.s3.head_object(Bucket=one.where.settings.bucket, Key=one.key)
    except ClientError as error:
        if error.response.get("ResponseMetadata", {}).get("HTTPStatusCode") != _NOT_FOUND:
            raise
        return None
    return {"etag": found["ETag"].strip('"'), "version": found.get("VersionId")}


def _ledger_row(one: Dropped) -> LedgerRow | None:
    ledger = DynamoDbLedger(one.where.aws.dynamodb, one.where.settings.ledger_table)
    return ledger.read(bucket=one.where.settings.bucket, key=one.key)


def _says(row: LedgerRow) -> str:
    _, _, kind = row.kind.partition(":")
    return f"{'present' if row.object else 'deleted'}: {kind or row.kind}"


def _inventory_row(one: Dropped) -> dict[str, Any] | None:
    answer = one.where.aws.dynamodb.get_item(TableName=one.where.table, Key={"pk": {"S": one.key}}, ConsistentRead=True)
    item = answer.get("Item")
    return {key: deserialize(value) for key, value in item.items()} if item else None


def _peek(where: IngestDeployment) -> Iterator[Any]:
    """Every visible message of the DLQ; it is visible again a second later."""
    while messages := where.aws.sqs.receive_message(
        QueueUrl=where.settings.dlq_url or "",
        MaxNumberOfMessages=10,
        VisibilityTimeout=_PEEK_SECONDS,
        AttributeNames=["All"],
        MessageAttributeNames=["All"],
    ).get("Messages", []):
        for message in messages:
            yield from_api(message, queue="")
