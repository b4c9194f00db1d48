"""What the domain needs of the outside world, as small interfaces.

The adapters in `claim_check.adapters` implement them on AWS; the tests keep fakes that pass the same contract suite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol

from claim_check.checksums import Checksum
from claim_check.contract import InboxState

if TYPE_CHECKING:
    from claim_check.delivery import Delivery

# --- Object store (S3) ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject:
    """What the store answered about an object.

    Attributes:
        content_length: Bytes.
        content_type: Media type.
        version_id: Version, if the bucket keeps versions.
        last_modified: When it was written.
        sha256: The store's own SHA-256 of the whole object, hexadecimal, where it has one.
        metadata: User metadata.
        checksum: The store's own checksum of the whole object, of any kind, where it has one and was asked for it.
        expires_at: When the store's own rules delete it, where the store says so.
    """

    content_length: int
    content_type: str
    version_id: str | None = None
    last_modified: datetime | None = None
    sha256: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    checksum: Checksum | None = None
    expires_at: datetime | None = None


class ByteStream(Protocol):
    """A response body that is read once."""

    def read(self, size: int, /) -> bytes:
        """Read up to ``size`` bytes; empty at the end.

        Raises:
            Unavailable: The connection broke, or the body was cut short.
            ChecksumMismatch: The bytes are not those of the store's own checksum, if it was asked for.
        """

    def close(self) -> None:
        """Give the connection back."""


@dataclass(frozen=True, slots=True)
class OpenedObject:
    """An object being read: the answer's headers, and its body."""

    info: StoredObject
    body: ByteStream


class ObjectExists(Exception):
    """A conditional put met an object of the same key."""


class WriteConflict(Exception):
    """A conditional put ran into another write of the same key (S3: 409): nothing was written, try again."""


class UploadGone(Exception):
    """A multipart upload is not there any more: aborted, or completed (its answer may have been lost)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedPart:
    """A part that the store has taken.

    Attributes:
        number: Its place, from 1.
        tag: The store's name of what it took.
        sha256: SHA-256 of its bytes, hexadecimal.
    """

    number: int
    tag: str
    sha256: str


class ObjectStore(Protocol):
    """Reads and conditional writes of objects."""

    def put_if_absent(
        self,
        *,
        bucket: str,
        key: str,
        body: bytes | IO[bytes],
        content_length: int,
        sha256: str,
        content_type: str,
        metadata: Mapping[str, str],
    ) -> str | None:
        """Write an object unless the key exists; the store verifies the SHA-256. Returns the version id, if any.

        Raises:
            ObjectExists: There is an object of that key (S3: 412).
            WriteConflict: Another write of that key was under way (S3: 409).
            Unavailable: Throttled, failed, or no answer: it is unknown whether the object was written.
            PublishError: The store refused the write: nothing was written.
        """

    def start_upload(self, *, bucket: str, key: str, content_type: str, metadata: Mapping[str, str]) -> str:
        """Start a multipart upload and return its id; there is no object before it is completed.

        Raises:
            Unavailable: Throttled, failed, or no answer.
            PublishError: The store refused.
        """

    def upload_part(
        self,
        *,
        bucket: str,
        key: str,
        upload_id: str,
        number: int,
        body: IO[bytes],
        content_length: int,
        sha256: str,
    ) -> UploadedPart:
        """Write a part, over an earlier one of its number; the store verifies the SHA-256.

        Raises:
            UploadGone: There is no such upload.
            WriteConflict: Another operation on the upload was under way.
            Unavailable: Throttled, failed, or no answer.
            PublishError: The store refused the part.
        """

    def complete_upload_if_absent(
        self, *, bucket: str, key: str, upload_id: str, parts: Sequence[UploadedPart], content_length: int
    ) -> str | None:
        """Make an object of an upload's parts unless the key exists. Returns the version id, if any.

        Raises:
            ObjectExists: There is an object of that key (S3: 412); the upload stays.
            WriteConflict: Another write of that key was under way (S3: 409): the upload is of no use any more.
            UploadGone: There is no such upload.
            Unavailable: Throttled, failed, or no answer: it is unknown whether the object was written.
            PublishError: The store refused: nothing was written.
        """

    def abort_upload(self, *, bucket: str, key: str, upload_id: str) -> None:
        """Remove an upload with its parts. One that is gone is a success; a completed object stays.

        Raises:
            Unavailable: Throttled, failed, or no answer.
            PublishError: The store refused.
        """

    def head(self, *, bucket: str, key: str, version_id: str | None = None) -> StoredObject | None:
        """Look at an object, or one version of it, without reading it; None if there is none.

        Raises:
            AccessDenied: The store refuses.
            Unavailable: Throttled, failed, or no answer.
        """

    def open(self, *, bucket: str, key: str, version_id: str | None, checksum: bool = False) -> OpenedObject:
        """Start reading an object: exactly one request.

        Args:
            bucket: Bucket.
            key: Object key.
            version_id: Version; None reads the newest.
            checksum: Ask for the store's own checksum, for a payload whose SHA-256 nobody told.

        Raises:
            MissingPayload: There is no such object or version.
            AccessDenied: The store refuses.
            Unavailable: Throttled, failed, or no answer.
        """


# --- Direct uploads (S3) --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedPut:
    """A PUT that anybody may make until it expires, but only with exactly these headers.

    Attributes:
        url: Address with the signature; whoever has it may upload.
        headers: Headers to be sent as they are; each of them is signed.
    """

    url: str = field(repr=False)
    headers: Mapping[str, str]


class UploadStore(Protocol):
    """Lets others write an object, and looks at what they wrote."""

    def sign_put(
        self,
        *,
        bucket: str,
        key: str,
        content_length: int,
        content_type: str,
        sha256: str,
        metadata: Mapping[str, str],
        tags: Mapping[str, str],
        expires_seconds: int,
    ) -> SignedPut:
        """Sign a PUT of an object that must not exist yet: no other length, type, content, metadata or tags. No call.

        Raises:
            InvalidSetting: The client's signatures do not pin all of them.
            Unavailable: There are no credentials at the moment.
        """

    def head(self, *, bucket: str, key: str) -> StoredObject | None:
        """See `ObjectStore.head`."""

    def tags(self, *, bucket: str, key: str, version_id: str | None) -> Mapping[str, str]:
        """Tags of an object.

        Raises:
            MissingPayload: There is no such object or version.
            AccessDenied: The store refuses.
            Unavailable: Throttled, failed, or no answer.
        """

    def replace_tags(self, *, bucket: str, key: str, version_id: str | None, tags: Mapping[str, str]) -> None:
        """Give an object these tags and no others. Repeating it is safe.

        Raises:
            MissingPayload: There is no such object or version.
            AccessDenied: The store refuses.
            Unavailable: Throttled, failed, or no answer.
        """


# --- Queue (SQS) ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageAttribute:
    """A message attribute as SQS carries it.

    Attributes:
        data_type: ``String``, ``Number`` or ``Binary``, with an optional custom suffix.
        value: Text for String and Number, bytes for Binary.
    """

    data_type: str
    value: str | bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingMessage:
    """A message to be sent.

    Attributes:
        body: The body.
        attributes: Message attributes.
        group_id: Message group: order on FIFO, fairness on standard.
        deduplication_id: FIFO only.
        trace_header: AWSTraceHeader system attribute.
    """

    body: str
    attributes: Mapping[str, MessageAttribute]
    group_id: str | None = None
    deduplication_id: str | None = None
    trace_header: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SendResult:
    """What became of one entry of a batch.

    Attributes:
        sqs_message_id: Set when it was accepted.
        error_code: Set when it was not.
        sender_fault: Whether a retry of the same entry is pointless.
    """

    sqs_message_id: str | None = None
    error_code: str | None = None
    sender_fault: bool = False


@dataclass(frozen=True, slots=True)
class VisibilityChange:
    """A message to be hidden for so many seconds from now."""

    receipt_handle: str
    seconds: int


class MessageQueue(Protocol):
    """Sends to queues and hides messages. The queue is given by its URL."""

    def send_batch(self, queue_url: str, messages: Sequence[OutgoingMessage]) -> list[SendResult]:
        """Send up to ten messages in one call: one result each, in order.

        Raises:
            Unavailable: The whole call failed; it is unknown whether anything was sent.
            PublishError: The whole call was refused; nothing was sent.
        """

    def change_visibility(self, queue_url: str, changes: Sequence[VisibilityChange]) -> list[VisibilityChange]:
        """Hide messages, in calls of ten. Returns those that were refused even when tried again; never raises."""


class ReceivingQueue(Protocol):
    """What a worker does with a queue. The queue is given by its URL."""

    def receive_batch(
        self, queue_url: str, *, count: int, wait_seconds: int, visibility_seconds: int, attempt_id: str | None
    ) -> list[Delivery]:
        """Receive up to ``count`` messages, ten at most, with all of their attributes: exactly one request.

        Args:
            queue_url: The queue.
            count: 1 to 10.
            wait_seconds: How long to wait while there is none.
            visibility_seconds: How long they are hidden from others.
            attempt_id: FIFO only: the same for a repetition whose earlier answer was lost, so that its messages come
                again instead of blocking their groups.

        Raises:
            Unavailable: Throttled, failed, or no answer; messages may have been hidden.
            ReceiveRefused: The queue refuses.
        """

    def delete_batch(self, queue_url: str, receipt_handles: Sequence[str]) -> list[str]:
        """Delete messages, in calls of ten. Returns those that were refused even when tried again; never raises."""

    def change_visibility(self, queue_url: str, changes: Sequence[VisibilityChange]) -> list[VisibilityChange]:
        """See `MessageQueue.change_visibility`."""


# --- Inbox table (DynamoDB) -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxRow:
    """The inbox's record of one identity (or of one parked message without one).

    Times are epoch seconds.
    """

    key: str
    state: InboxState
    consumer: str
    sqs_message_id: str
    fingerprint: str = ""
    owner: str = ""
    lease_until: float = 0.0
    attempts: int = 0
    attempts_spent: int = 0
    redriven: int = 0
    last_code: str | None = None
    last_message: str | None = None
    tenant_id: str | None = None
    event_type: str | None = None
    message_id: str | None = None
    correlation_id: str | None = None
    payload_bucket: str | None = None
    payload_key: str | None = None
    payload_version: str | None = None
    payload_bytes: int | None = None
    first_seen_at: float = 0.0
    updated_at: float = 0.0
    ttl: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """The gate took the row.

    Attributes:
        row: The row as it is now: the lease is ours.
        before: The row as it was; None if there was none.
    """

    row: InboxRow
    before: InboxRow | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """The row must still be as it was seen: who owns it, in which state, with which lease."""

    owner: str
    state: InboxState
    lease_until: float | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """A conditional write was refused; `row` is what is there instead (None: no row)."""

    row: InboxRow | None


@dataclass(frozen=True, slots=True)
class WriteRefused:
    """The transaction was refused by a condition of the handler's own write number `index` (from 0)."""

    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableWrite:
    """One write that commits together with the inbox row.

    Attributes:
        action: Kind of write, as TransactWriteItems names it.
        table: Table name.
        key: Primary key of the item, in plain Python values.
        item: The whole item (Put only).
        update: Update expression (Update only).
        condition: Condition expression.
        names: Expression attribute names.
        values: Expression attribute values, in plain Python values.
    """

    action: Literal["Put", "Update", "Delete", "ConditionCheck"]
    table: str
    key: Mapping[str, Any]
    item: Mapping[str, Any] | None = None
    update: str | None = None
    condition: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)


class InboxTable(Protocol):
    """Conditional writes of inbox rows. Every one is a single request; none is applied in part.

    All raise `Unavailable` for throttles, conflicts, 5xx and lost answers: it is then unknown whether the write took
    effect, and repeating it is safe.
    """

    def take(self, wanted: InboxRow, *, now: float, max_attempts: int) -> Taken | Refused:
        """The gate's one conditional update: write ``wanted`` if `claim_check.inbox.may_take` allows it.

        Attempts and the time of first sight carry over from the present row; one attempt is added.
        """

    def replace(self, row: InboxRow, *, guard: Guard | None) -> Refused | None:
        """Write ``row`` if the present one matches the guard (None: if there is no row). None on success."""

    def complete(
        self, row: InboxRow, *, guard: Guard, writes: Sequence[TableWrite], token: str
    ) -> Refused | WriteRefused | None:
        """Write ``row`` under the guard and apply the handler's writes in one transaction. None on success.

        Args:
            row: The completed row.
            guard: What the present row must match.
            writes: The handler's writes; with none of them a plain conditional write does.
            token: Makes a repeated request the same request, up to 36 characters.

        Raises:
            CommitFailed: Refused for a reason that repeating cannot mend (validation, access).
        """


class InboxReader(Protocol):
    """Reads of inbox rows by those who only look: operators, the reconciler. None of them scans.

    All raise `ReadRefused` where the table refuses, and `Unavailable` for throttles, 5xx and lost answers.
    """

    def rows(self, keys: Sequence[str]) -> Mapping[str, InboxRow]:
        """Rows by their keys, as many keys as you like, read in batches of a hundred; what is not there is left out."""

    def open_rows(self, consumer: str, *, state: InboxState | None = None) -> Iterator[InboxRow]:
        """Rows of a consumer that are not completed, oldest change first within each shard; lazily, page by page."""


# --- Listing a bucket (S3) ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedObject:
    """An object as a listing shows it.

    Attributes:
        key: Object key.
        content_length: Bytes.
        etag: Entity tag, without quotes.
        last_modified: When it was written.
    """

    key: str
    content_length: int
    etag: str
    last_modified: datetime


@dataclass(frozen=True, slots=True)
class ListingPage:
    """One answer of a listing.

    Attributes:
        objects: Up to a thousand, in the order of their keys' bytes.
        more: Whether others come after the last of them.
    """

    objects: Sequence[ListedObject]
    more: bool


class ObjectListing(Protocol):
    """Lists the current objects of a bucket."""

    def page(self, *, bucket: str, prefix: str, start_after: str) -> ListingPage:
        """Up to a thousand objects whose keys come after ``start_after`` (empty: from the start): one request.

        Raises:
            ReadRefused: The store refuses, or there is no such bucket.
            Unavailable: Throttled, failed, or no answer.
        """


# --- Telemetry ------------------------------------------------------------------------------------------------------

Level = Literal["debug", "info", "warning", "error"]


class Telemetry(Protocol):
    """Structured logs and metrics. Only fields of the allow list get through (R11.4)."""

    def log(self, level: Level, event: str, **fields: str | float | None) -> None:
        """Write one log line."""

    def count(self, metric: str, value: float = 1) -> None:
        """Observe a metric; the sum (for ages and latencies the largest) is emitted once per batch. Thread-safe."""

    def flush(self) -> None:
        """Emit what was counted, and start anew."""

    def span(self, name: str) -> AbstractContextManager[None]:
        """Trace a step, if tracing is switched on."""


# --- Time -----------------------------------------------------------------------------------------------------------


class Clock(Protocol):
    """Time, injected."""

    def now(self) -> float:
        """Epoch seconds."""

    def monotonic(self) -> float:
        """Seconds that never go back."""

    def sleep(self, seconds: float) -> None:
        """Wait."""
