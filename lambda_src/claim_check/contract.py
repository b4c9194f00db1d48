"""What the infrastructure and the runtime agree on: names, limits, key layout, retry arithmetic.

The constructs (``claim_check_cdk``) and the runtime (``claim_check``) share this module and nothing else. It is pure,
uses the standard library only, and importing it imports nothing heavy: it is loaded at synth and at every cold start.

Units: sizes are bytes, times are seconds, unless a name says otherwise.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final, Literal

# --- Limits of the services -----------------------------------------------------------------------------------------

KIB: Final = 1024
MIB: Final = 1024 * KIB
GIB: Final = 1024 * MIB
DAY_SECONDS: Final = 86_400

SQS_MAX_MESSAGE_BYTES: Final = 1 * MIB
"""Largest message and largest batch of SQS (since 2025-08-04): body plus attribute names, types and values."""

SQS_BILLING_CHUNK_BYTES: Final = 64 * KIB
"""SQS bills every started 64 KiB of an action's payload."""

SQS_MAX_BATCH_ENTRIES: Final = 10
SQS_MAX_ATTRIBUTES: Final = 10
SQS_LONG_POLL_SECONDS: Final = 20
"""Longest that a receive waits for messages."""

SQS_MAX_VISIBILITY_SECONDS: Final = 12 * 3600
"""Longest time a message may be hidden, counted in total from its receive."""

SQS_MAX_IN_FLIGHT: Final = 120_000
"""Received and not yet deleted messages of a queue, standard or FIFO."""

SQS_MIN_RETENTION_SECONDS: Final = 60
SQS_MAX_RETENTION_SECONDS: Final = 14 * 86_400
SQS_MAX_QUEUE_NAME_LENGTH: Final = 80

S3_MAX_SINGLE_PUT_BYTES: Final = 5 * GIB
S3_MAX_PARTS: Final = 10_000
S3_MIN_PART_BYTES: Final = 5 * MIB
"""Smallest part of a multipart upload, but for its last one."""

S3_MAX_PART_BYTES: Final = 5 * GIB
S3_MAX_OBJECT_BYTES: Final = S3_MAX_PARTS * S3_MAX_PART_BYTES
"""Largest object of S3, 48.8 TiB: what so many parts of that size hold."""

LAMBDA_MAX_REQUEST_BYTES: Final = 6 * MIB
"""Largest synchronous invocation request and response of Lambda."""

LAMBDA_MIN_MEMORY_MIB: Final = 128
LAMBDA_MAX_MEMORY_MIB: Final = 10_240
LAMBDA_MIN_TEMP_MIB: Final = 512
LAMBDA_MAX_TEMP_MIB: Final = 10_240

TRANSACTION_MAX_ITEMS: Final = 100
"""Items in one TransactWriteItems; one of them is always the inbox row."""

TRANSACTION_MAX_BYTES: Final = 4_000_000

# --- Limits of our own ----------------------------------------------------------------------------------------------

DEFAULT_INLINE_LIMIT_BYTES: Final = SQS_BILLING_CHUNK_BYTES
"""A whole message up to this size travels inline when it may (R1.2): one SQS billing chunk."""

DEFAULT_RESERVE_BYTES: Final = 512
"""Room left in every message for the attributes that a tracer adds after us."""

USER_ATTRIBUTES_MAX: Final = 5
"""Message attributes a caller may set: ten of SQS, less two of ours, less three kept free for what comes later."""

NAME_MAX_LENGTH: Final = 128
NAME_PATTERN: Final = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)
"""Tenant ids, event types and consumer names; ``.`` and ``..`` are refused besides (they are path segments)."""

DEFAULT_MAX_ATTEMPTS: Final = 5
DEFAULT_MAX_PAYLOAD_BYTES: Final = 512 * MIB
DEFAULT_MULTIPART_THRESHOLD_BYTES: Final = 64 * MIB
"""Payloads above this size are uploaded in parts, side by side (R2.4); what fails is repeated by the part."""

DEFAULT_PART_BYTES: Final = 16 * MIB
UPLOAD_GRANT_SECONDS: Final = 900
"""How long after its grant a direct upload may begin."""

UNCONFIRMED_SECONDS: Final = 7 * 86_400
"""Life of a direct upload that was never confirmed (R6.4)."""

UPLOAD_CONFIRM_MARGIN_SECONDS: Final = 3600
"""A direct upload is not confirmed that late in its life: S3 deletes some time after it decided to."""

UPLOAD_CONFIRM_SECONDS: Final = UNCONFIRMED_SECONDS - UPLOAD_CONFIRM_MARGIN_SECONDS
"""How old a direct upload may be when it is confirmed."""

DEFAULT_STUCK_SECONDS: Final = 3600
"""How long ago a lease ended, or an attempt failed, for the inbox's row to count as stuck, unless told otherwise."""

LEASE_SLACK_SECONDS: Final = 5
"""A lease outlives the invocation that took it by this much, so that clocks may differ a little."""

WORKER_VISIBILITY_SECONDS: Final = 60
"""How long a message stays hidden, and its lease lasts, after its worker outside Lambda vanished."""

WORKER_GRACE_SECONDS: Final = 5.0
"""How long running handlers may go on when their worker is asked to stop: a whole stop takes less than ten."""

# --- Wire format (envelope version 1) -------------------------------------------------------------------------------

ENVELOPE_VERSION: Final = 1

ATTRIBUTE_EVENT_TYPE: Final = "eventType"
ATTRIBUTE_TENANT_ID: Final = "tenantId"
ATTRIBUTE_PARKED: Final = "parked"
"""One JSON value on the copy in a DLQ: errorCode, at, sourceQueue, originalMessageId, attempts."""

ATTRIBUTE_REDRIVE: Final = "redrive"
"""Set by the redrive command, so that replayed work is told apart from new work."""

ORIGINAL_MESSAGE_ID: Final = "originalMessageId"
"""Field of `ATTRIBUTE_PARKED`: SQS's id of the message that was parked."""

FIRST_MESSAGE_ID: Final = "firstMessageId"
"""Field of `ATTRIBUTE_PARKED`, from the second parking on: SQS's id of the message in its first life."""

REDRIVE_ROUND: Final = "round"
"""Field of `ATTRIBUTE_REDRIVE`: how often the message was sent back, this time included."""

REDRIVE_RUN: Final = "run"
"""Field of `ATTRIBUTE_REDRIVE`: which redrive sent it, for logs and people."""

ATTRIBUTE_CLAIM_CHECK: Final = "claimCheck"
"""In the Extended Client's format: the envelope of an inline payload, as one JSON value, without the payload itself."""

RESERVED_ATTRIBUTES: Final = frozenset(
    {ATTRIBUTE_EVENT_TYPE, ATTRIBUTE_TENANT_ID, ATTRIBUTE_PARKED, ATTRIBUTE_REDRIVE, ATTRIBUTE_CLAIM_CHECK}
)

ATTRIBUTE_PAYLOAD_SIZE: Final = "ExtendedPayloadSize"
ATTRIBUTE_LEGACY_PAYLOAD_SIZE: Final = "SQSLargePayloadSize"
FOREIGN_ATTRIBUTES: Final = frozenset({ATTRIBUTE_PAYLOAD_SIZE, ATTRIBUTE_LEGACY_PAYLOAD_SIZE})
"""Amazon's Extended Client Libraries read them as the mark of a pointer; the value is the payload's size, bytes."""

WireFormat = Literal["claim-check", "extended-client", "extended-client-legacy"]
"""What a producer writes: our envelope, or what Amazon's Extended Client Libraries read.

``extended-client`` has the names that all current ones read; ``extended-client-legacy`` those of Java before 1.1.
"""

METADATA_TENANT_ID: Final = "tenant-id"
METADATA_EVENT_ID: Final = "event-id"
METADATA_SHA256: Final = "sha256"

METADATA_UPLOAD: Final = "upload"
"""Says that a client uploaded the object by grant: perhaps it is unconfirmed, so no other pointer may rely on it."""

METADATA_STAGED: Final = "staged"
"""Says that the object was put for a message that is kept and sent later: its row alone says whether a message points
at it, so who publishes directly does not rely on it (R3.1, R7.1)."""

TAG_STATE: Final = "state"
"""Object tag that says how far an upload by grant has come."""

TAG_UNCONFIRMED: Final = "unconfirmed"
"""Value of `TAG_STATE` until an upload by grant is confirmed; such objects expire on their own, shorter rule (R6.4)."""

# --- Object keys (R2.2) ---------------------------------------------------------------------------------------------

PAYLOAD_PREFIX: Final = "payloads/"
ID_HASH_LENGTH: Final = 32


def is_name(text: str) -> bool:
    """Whether ``text`` may be a tenant id, an event type or a consumer name (DESIGN section 2)."""
    return NAME_PATTERN.fullmatch(text) is not None and text not in {".", ".."}


ARCHIVE_PREFIX: Final = "letters/"
"""Archived dead letters: ``letters/<DLQ>/<when SQS took it in>-<FIFO sequence>_<SQS message id>.json``."""


def id_hash(idempotency_key: str) -> str:
    """First 32 hexadecimal digits of the SHA-256 of an idempotency key: the identity in object keys and inbox rows.

    Args:
        idempotency_key: Any text that encodes to UTF-8.
    """
    return hashlib.sha256(idempotency_key.encode()).hexdigest()[:ID_HASH_LENGTH]


def object_key(*, tenant_id: str, event_type: str, idempotency_key: str, sha256: str, generation: int = 0) -> str:
    """The deterministic key of an event's payload: same event, same key on every retry.

    Args:
        tenant_id: Tenant, already checked with `is_name`.
        event_type: Event type, already checked with `is_name`.
        idempotency_key: The event's identity; only its hash enters the key.
        sha256: SHA-256 of the whole content, hexadecimal.
        generation: 0 at first; raised when an older object of the same key is about to expire (DESIGN section 4).
    """
    suffix = f".{generation}" if generation else ""
    return f"{tenant_prefix(tenant_id)}{event_type}/{id_hash(idempotency_key)}/{sha256}{suffix}"


def tenant_prefix(tenant_id: str) -> str:
    """Prefix of all payloads of a tenant."""
    return f"{PAYLOAD_PREFIX}tenants/{tenant_id}/"


_KEY_PATTERN: Final = re.compile(
    re.escape(PAYLOAD_PREFIX)
    + r"tenants/(?P<tenant>[A-Za-z0-9._-]{1,128})/(?P<type>[A-Za-z0-9._-]{1,128})"
    + r"/(?P<id_hash>[0-9a-f]{32})/(?P<sha256>[0-9a-f]{64})(\.(?P<generation>[1-9][0-9]{0,8}))?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class KeyParts:
    """What an object key says of its payload."""

    tenant_id: str
    event_type: str
    id_hash: str
    sha256: str
    generation: int


def parse_object_key(key: str) -> KeyParts | None:
    """Take a key of `object_key` apart; None for any other key."""
    match = _KEY_PATTERN.fullmatch(key)
    if match is None:
        return None
    return KeyParts(match["tenant"], match["type"], match["id_hash"], match["sha256"], int(match["generation"] or 0))


# --- Parts of a payload (R2.4) --------------------------------------------------------------------------------------


def part_bytes(content_length: int, *, at_least: int = DEFAULT_PART_BYTES) -> int:
    """Size of the parts of a multipart upload, bytes; where S3's 10,000 parts would not suffice, more, in whole MiB.

    Args:
        content_length: Bytes of the payload; at most `S3_MAX_OBJECT_BYTES`.
        at_least: Size wanted, from `S3_MIN_PART_BYTES`.
    """
    if content_length <= at_least * S3_MAX_PARTS:
        return at_least
    return -(-content_length // (S3_MAX_PARTS * MIB)) * MIB


# --- Inbox table ----------------------------------------------------------------------------------------------------

InboxState = Literal["IN_PROGRESS", "COMPLETED", "FAILED", "PARKING", "PARKED"]


class InboxAttribute:
    """Attribute names of an inbox row."""

    KEY: Final = "pk"
    STATE: Final = "state"
    CONSUMER: Final = "consumer"
    TENANT_ID: Final = "tenantId"
    EVENT_TYPE: Final = "eventType"
    MESSAGE_ID: Final = "messageId"
    SQS_MESSAGE_ID: Final = "sqsMessageId"
    CORRELATION_ID: Final = "correlationId"
    FINGERPRINT: Final = "fingerprint"
    OWNER: Final = "owner"
    LEASE_UNTIL: Final = "leaseUntil"
    ATTEMPTS: Final = "attempts"
    ATTEMPTS_SPENT: Final = "attemptsSpent"
    REDRIVEN: Final = "redriven"
    """Round of the last redrive whose copy was received; absent on work that never came back from a DLQ."""

    LAST_CODE: Final = "lastCode"
    LAST_MESSAGE: Final = "lastMessage"
    PAYLOAD_BUCKET: Final = "payloadBucket"
    PAYLOAD_KEY: Final = "payloadKey"
    PAYLOAD_VERSION: Final = "payloadVersion"
    PAYLOAD_BYTES: Final = "payloadBytes"
    FIRST_SEEN_AT: Final = "firstSeenAt"
    UPDATED_AT: Final = "updatedAt"
    TTL: Final = "ttl"
    OPEN_SHARD: Final = "openShard"
    """Partition key of the index of open work; absent on completed rows, so that the index stays small."""

    OPEN_SINCE: Final = "openSince"
    """Sort key of the index of open work: ``<state>#<ISO 8601 time>``."""


INBOX_OPEN_INDEX: Final = "open"
INBOX_OPEN_SHARDS: Final = 8
"""Shards per consumer of the index of open work: one partition takes 1,000 writes a second."""


def inbox_key(*, consumer: str, tenant_id: str, idempotency_key: str) -> str:
    """Key of the inbox row of one identity for one consumer; none of the parts can hold the separator."""
    return inbox_key_of_hash(consumer=consumer, tenant_id=tenant_id, id_hash=id_hash(idempotency_key))


def inbox_key_of_hash(*, consumer: str, tenant_id: str, id_hash: str) -> str:
    """The same of an identity of which only the hash is known, as in an object key."""
    return f"{consumer}#{tenant_id}#{id_hash}"


def park_key(sqs_message_id: str) -> str:
    """Key of the row that records a parked message which has no claim on an identity (DESIGN section 3)."""
    return f"park#{sqs_message_id}"


def inbox_open_shard(*, consumer: str, key: str) -> str:
    """Partition of the open-work index for a row, spread evenly by a hash of its key."""
    return f"{consumer}#{hashlib.sha256(key.encode()).digest()[0] % INBOX_OPEN_SHARDS}"


def inbox_open_shards(consumer: str) -> list[str]:
    """All partitions of the open-work index of a consumer, to be queried side by side."""
    return [f"{consumer}#{shard}" for shard in range(INBOX_OPEN_SHARDS)]


# --- Outbox table ---------------------------------------------------------------------------------------------------

OutboxState = Literal["PENDING", "SENT", "PARKED", "DISCARDED"]
"""``PENDING``: committed, to be sent. ``SENT``: the queue took it. ``PARKED``: not sent, waits for an operator.
``DISCARDED``: an operator decided that it is never sent.
"""

OnPoison = Literal["block", "park"]
"""What a row that cannot be sent does to its FIFO group: ``block`` stops that group until an operator decides, so that
order never breaks; ``park`` sets it aside and the group goes on."""


class OutboxAttribute:
    """Attribute names of an outbox row, and of the item that keeps the order of a FIFO group."""

    KEY: Final = "pk"
    STATE: Final = "state"
    DESTINATION: Final = "destination"
    TENANT_ID: Final = "tenantId"
    EVENT_TYPE: Final = "eventType"
    MESSAGE_ID: Final = "messageId"
    CORRELATION_ID: Final = "correlationId"
    FINGERPRINT: Final = "fingerprint"
    BODY: Final = "body"
    """The message's body, exactly as it is sent; gone once the row is sent, as are its attributes."""

    ATTRIBUTES: Final = "attributes"
    """The message's attributes: name to type and value."""

    GROUP_ID: Final = "groupId"
    DEDUPLICATION_ID: Final = "deduplicationId"
    TRACE_HEADER: Final = "traceHeader"
    PAYLOAD_BUCKET: Final = "payloadBucket"
    PAYLOAD_KEY: Final = "payloadKey"
    PAYLOAD_VERSION: Final = "payloadVersion"
    PAYLOAD_BYTES: Final = "payloadBytes"
    STAGED_AT: Final = "stagedAt"
    UPDATED_AT: Final = "updatedAt"
    DUE_AT: Final = "dueAt"
    """Not sent before: the backoff after a failure."""

    OWNER: Final = "owner"
    LEASE_UNTIL: Final = "leaseUntil"
    ATTEMPTS: Final = "attempts"
    LAST_CODE: Final = "lastCode"
    LAST_MESSAGE: Final = "lastMessage"
    SQS_MESSAGE_ID: Final = "sqsMessageId"
    LEFT_BY: Final = "leftBy"
    """Token of a relay that had the row and never wrote what became of it."""

    DOUBTFUL: Final = "doubtful"
    """A send was begun whose outcome nobody knows: the queue may have the message."""

    TTL: Final = "ttl"
    OPEN_SHARD: Final = "openShard"
    """Partition key of the index of unsent rows; absent on rows that are sent or discarded."""

    OPEN_SINCE: Final = "openSince"
    """Sort key of the index of unsent rows: ``<state>#<ISO 8601 time of staging>``."""

    PENDING: Final = "pending"
    """On a group's item: what is to be sent, in the order in which it was committed, as ``<tenant>#<idHash>``."""


OUTBOX_OPEN_INDEX: Final = "open"
OUTBOX_OPEN_SHARDS: Final = 8
"""Shards of the index of unsent rows: one partition takes 1,000 writes a second."""

OUTBOX_GROUP_MARK: Final = "@"
"""Begins the key of a group's item; no destination's name can."""

OUTBOX_GROUP_MAX_PENDING: Final = 2000
"""Unsent rows of one FIFO group: their names fit into one DynamoDB item, the longest ones too."""

OUTBOX_MAX_INLINE_BYTES: Final = 256 * KIB
"""Largest message that an outbox row holds with its payload inside: an item of DynamoDB has up to 400 KB."""

DEFAULT_OUTBOX_SECONDS: Final = 86_400
"""How old a row may be when it is sent; an older one is parked (R3.2)."""

DEFAULT_OUTBOX_ATTEMPTS: Final = 10
"""Refusals by the queue after which a row is parked."""


def outbox_key(*, destination: str, tenant_id: str, id_hash: str) -> str:
    """Key of the outbox row of one identity for one destination; the same identity as in object keys and inbox rows.

    Args:
        destination: Name of the queue's pipeline in the outbox, checked with `is_name`.
        tenant_id: Tenant, checked with `is_name`.
        id_hash: As `id_hash` makes it.
    """
    return f"{destination}#{tenant_id}#{id_hash}"


def outbox_group_key(*, destination: str, group_id: str) -> str:
    """Key of the item that keeps the order of a FIFO group."""
    return f"{OUTBOX_GROUP_MARK}{destination}#{hashlib.sha256(group_id.encode()).hexdigest()[:ID_HASH_LENGTH]}"


def outbox_open_shard(key: str) -> str:
    """Partition of the index of unsent rows for a row, spread evenly by a hash of its key."""
    return str(hashlib.sha256(key.encode()).digest()[0] % OUTBOX_OPEN_SHARDS)


def outbox_open_shards() -> list[str]:
    """All partitions of the index of unsent rows."""
    return [str(shard) for shard in range(OUTBOX_OPEN_SHARDS)]


# --- Ledger of ingested objects (R10) -------------------------------------------------------------------------------

LedgerState = Literal["PRESENT", "DELETED"]
SequencerPad = Literal["right", "left"]
"""On which side the shorter of two sequencers is padded; fixed when a ledger is created."""

LEDGER_SHARDS: Final = 16
"""Partitions per bucket: each takes 1,000 writes a second. All of them together, merged, are in the order of keys."""

LEDGER_TTL_SECONDS: Final = 45 * DAY_SECONDS
"""Life of a tombstone where none is computed: two queues' longest retention, a redrive, and a margin."""

INGEST_GRACE_SECONDS: Final = 900
"""A reconciliation leaves objects alone that are younger: their notifications may still be on their way."""

INGEST_RECONCILE_RATE: Final = 200
"""Synthetic events that a reconciliation queues, a second."""


class LedgerAttribute:
    """Attribute names of a ledger row: one row per bucket and key."""

    SHARD: Final = "pk"
    """Partition key, text (`ledger_shard`)."""

    KEY: Final = "sk"
    """Sort key, text: the object's key, up to 1,024 bytes, as both S3 and DynamoDB allow."""

    STATE: Final = "state"
    REVISION: Final = "revision"
    """Changes with every write: what every write is conditional on."""

    SEQUENCER: Final = "sequencer"
    """No event up to this one is applied any more."""

    EXACT: Final = "exact"
    """Whether the state is the very one of `SEQUENCER`; otherwise the bucket itself was looked at, later than that."""

    KIND: Final = "kind"
    VERSION_ID: Final = "versionId"
    ETAG: Final = "etag"
    SIZE: Final = "size"
    MODIFIED_AT: Final = "modifiedAt"
    APPLIED_AT: Final = "appliedAt"
    TTL: Final = "ttl"
    """Epoch seconds; tombstones, failures and checkpoints only."""

    FAILURES: Final = "failures"
    """Of a message's row: how often its handler failed."""

    CHECKPOINT: Final = "checkpoint"
    """Of a reconciliation's row: how far it has come, as JSON."""


def ledger_shard(*, bucket: str, key: str) -> str:
    """Partition of the ledger row of an object, spread evenly by a hash of its key."""
    number = hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[0] % LEDGER_SHARDS
    return f"{bucket}#{number:02d}"


def ledger_shards(bucket: str) -> list[str]:
    """All partitions of a bucket's ledger."""
    return [f"{bucket}#{number:02d}" for number in range(LEDGER_SHARDS)]


def ingest_group(*, bucket: str, key: str) -> str:
    """Message group of an object's events on a FIFO queue: 64 hexadecimal digits, whatever the key holds."""
    return hashlib.sha256(f"{bucket}/{key}".encode("utf-8", "surrogatepass")).hexdigest()


# --- Reconciliation of payloads (R7.1) ------------------------------------------------------------------------------

RECONCILE_GRACE_SECONDS: Final = 3 * DAY_SECONDS
"""Objects younger than this are left alone by default: a weekend, and three times what sending may take."""

RECONCILE_RATE: Final = 10
"""Objects removed a second, by default."""

RECONCILE_LOOKS: Final = 10_000
"""Objects of one run that no row knows and that are looked at one by one, by default."""

RECONCILE_MARGIN_SECONDS: Final = 3600
"""Added to the times that prove something: clocks differ, and a request may be under way."""

RECONCILE_DISCARDED_SECONDS: Final = 30 * DAY_SECONDS
"""How long an outbox row is remembered that was discarded together with its payload."""

RECONCILE_TICK_SECONDS: Final = 1800
"""How often the function looks whether a run is due, or is to be gone on with."""


class ReconciliationAttribute:
    """Attribute names of the one item that keeps how far the runs of a reconciliation have come."""

    KEY: Final = "pk"
    STATE: Final = "state"
    """JSON: how far the run has come, what it counted, and what the last one counted."""

    OWNER: Final = "owner"
    LEASE_UNTIL: Final = "leaseUntil"


# --- Retries --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential backoff of a failed message through its visibility timeout.

    The delay after failure ``n`` (from 1) lies between half of ``min(cap, base * 2^(n-1))`` and the whole of it.

    Attributes:
        base: First delay, seconds.
        cap: Longest delay, seconds; at most 12 hours.
    """

    base: int = 2
    cap: int = 900

    def ceiling(self, failures: int) -> int:
        """Longest delay after this many failures (1 and up), seconds."""
        return min(self.cap, self.base << min(max(failures, 1) - 1, 30))

    def delay(self, failures: int, fraction: float) -> int:
        """Delay after this many failures, whole seconds.

        Args:
            failures: Failures so far, 1 and up.
            fraction: Random number in [0, 1), drawn by the caller.
        """
        ceiling = self.ceiling(failures)
        return max(1, round(ceiling / 2 + fraction * ceiling / 2))


DEFAULT_BACKOFF: Final = Backoff()
OUTBOX_BACKOFF: Final = Backoff(base=5)
"""Delays of an outbox row that its queue refused."""

DEFAULT_OUTAGE_SECONDS: Final = 6 * 3600
"""An outage of the infrastructure this long sends no innocent message to a DLQ (DESIGN section 3)."""

MIN_RECEIVE_COUNT: Final = 50


def receive_count_for(
    backoff: Backoff, outage_seconds: int = DEFAULT_OUTAGE_SECONDS, *, attempts_ahead: int = 0
) -> int:
    """The ``maxReceiveCount`` whose summed *shortest* backoff outlasts an outage; never below 50 (R4.6).

    SQS's own count is only the backstop: attempts are counted in the inbox. On FIFO a message is received again with
    every attempt at one that stands ahead of it in its group, up to nine of them in one batch.

    Args:
        backoff: Delays between attempts.
        outage_seconds: The outage, seconds.
        attempts_ahead: On FIFO, the consumer's attempts at one message before it is parked; 0 on standard queues.
    """
    receives, waited = 0, 0
    while waited < outage_seconds:
        receives += 1
        waited += max(1, backoff.ceiling(receives) // 2)
    return max(MIN_RECEIVE_COUNT, receives + 1) + (SQS_MAX_BATCH_ENTRIES - 1) * attempts_ahead


# --- Settings of the functions --------------------------------------------------------------------------------------

InlineMode = Literal["auto", "never"]
PayloadAccess = Literal["none", "stream", "memory", "file"]
"""How a handler uses payloads, which decides memory and temporary storage (R4.4).

``none``: never opens them (needs only the message). ``stream``: reads chunks. ``memory``: holds a whole payload.
``file``: downloads it to temporary storage.
"""

STREAM_BYTES_PER_RECORD: Final = 4 * MIB
"""Memory that one streamed payload needs, whatever its size."""

FUNCTION_BASE_MEMORY_MIB: Final = 192
"""Memory of the interpreter, the AWS clients and the library before any payload."""


SETTING_PREFIX: Final = "CLAIM_CHECK_"
"""How the name of every setting begins; handlers name their own variables otherwise."""


class Setting:
    """Names of the environment variables by which constructs configure functions."""

    BUCKET: Final = "CLAIM_CHECK_BUCKET"
    QUEUE_URL: Final = "CLAIM_CHECK_QUEUE_URL"
    DLQ_URL: Final = "CLAIM_CHECK_DLQ_URL"
    INBOX_TABLE: Final = "CLAIM_CHECK_INBOX_TABLE"
    CONSUMER: Final = "CLAIM_CHECK_CONSUMER"
    HANDLER: Final = "CLAIM_CHECK_HANDLER"
    """``package.module:function`` of the user's own handler."""

    INBOX_TTL: Final = "CLAIM_CHECK_INBOX_TTL_SECONDS"
    BEFORE_SEND: Final = "CLAIM_CHECK_BEFORE_SEND_SECONDS"
    INLINE: Final = "CLAIM_CHECK_INLINE"
    INLINE_LIMIT: Final = "CLAIM_CHECK_INLINE_LIMIT_BYTES"
    MAX_MESSAGE: Final = "CLAIM_CHECK_MAX_MESSAGE_BYTES"
    MAX_PAYLOAD: Final = "CLAIM_CHECK_MAX_PAYLOAD_BYTES"
    MULTIPART_THRESHOLD: Final = "CLAIM_CHECK_MULTIPART_THRESHOLD_BYTES"
    WIRE_FORMAT: Final = "CLAIM_CHECK_WIRE_FORMAT"
    FAIR_QUEUES: Final = "CLAIM_CHECK_FAIR_QUEUES"
    """``true``: on a standard queue the tenant becomes the message group of events that have none (R5.2)."""

    CONTENT_TYPES: Final = "CLAIM_CHECK_CONTENT_TYPES"
    """Comma-separated; absent means any."""

    EVENT_TYPES: Final = "CLAIM_CHECK_EVENT_TYPES"
    """Accepted types with their versions, ``DocumentUploaded:1|2,DocumentRemoved:1``; absent means any."""

    FOREIGN_TENANT: Final = "CLAIM_CHECK_FOREIGN_TENANT"
    """Its presence, and that of the foreign event type, lets a consumer read the Extended Client's messages."""

    FOREIGN_EVENT_TYPE: Final = "CLAIM_CHECK_FOREIGN_EVENT_TYPE"
    """``OrderPlaced:1``: type, and version of its schema."""

    FOREIGN_BUCKETS: Final = "CLAIM_CHECK_FOREIGN_BUCKETS"
    """Comma-separated, each ``bucket`` or ``bucket/prefix``."""

    FOREIGN_CONTENT_TYPE: Final = "CLAIM_CHECK_FOREIGN_CONTENT_TYPE"
    FOREIGN_PLAIN_BODIES: Final = "CLAIM_CHECK_FOREIGN_PLAIN_BODIES"
    ALLOW_UNVERIFIED: Final = "CLAIM_CHECK_ALLOW_UNVERIFIED"
    UPLOAD_GRANT: Final = "CLAIM_CHECK_UPLOAD_GRANT_SECONDS"
    UPLOAD_CONFIRM: Final = "CLAIM_CHECK_UPLOAD_CONFIRM_SECONDS"
    UPLOAD_TENANT_CLAIM: Final = "CLAIM_CHECK_UPLOAD_TENANT_CLAIM"
    PAYLOAD_ACCESS: Final = "CLAIM_CHECK_PAYLOAD_ACCESS"
    MEMORY_BUDGET: Final = "CLAIM_CHECK_MEMORY_BUDGET_BYTES"
    TEMP_BUDGET: Final = "CLAIM_CHECK_TEMP_BUDGET_BYTES"
    EXPANSION: Final = "CLAIM_CHECK_EXPANSION"
    CONCURRENCY: Final = "CLAIM_CHECK_CONCURRENCY"
    MAX_ATTEMPTS: Final = "CLAIM_CHECK_MAX_ATTEMPTS"
    VISIBILITY: Final = "CLAIM_CHECK_VISIBILITY_SECONDS"
    """The queue's visibility timeout."""

    TRACING: Final = "CLAIM_CHECK_TRACING"

    RECONCILER: Final = "CLAIM_CHECK_RECONCILER"
    """Name of a reconciliation of payloads: the dimension of its metrics, and the key of its checkpoint."""

    RECONCILER_TABLE: Final = "CLAIM_CHECK_RECONCILER_TABLE"
    RECONCILER_INBOXES: Final = "CLAIM_CHECK_RECONCILER_INBOXES"
    """Every consumer with the table of its inbox: ``documents=TableA,search=TableB``."""

    RECONCILER_OUTBOXES: Final = "CLAIM_CHECK_RECONCILER_OUTBOXES"
    """Every destination with the table of its outbox, in the same form; absent means there is none."""

    RECONCILER_PREFIX: Final = "CLAIM_CHECK_RECONCILER_PREFIX"
    RECONCILER_GRACE: Final = "CLAIM_CHECK_RECONCILER_GRACE_SECONDS"
    RECONCILER_UNCONFIRMED: Final = "CLAIM_CHECK_RECONCILER_UNCONFIRMED_SECONDS"
    """No upload by grant is confirmed later than this."""

    RECONCILER_DELETE: Final = "CLAIM_CHECK_RECONCILER_DELETE"
    RECONCILER_RATE: Final = "CLAIM_CHECK_RECONCILER_RATE"
    RECONCILER_LOOKS: Final = "CLAIM_CHECK_RECONCILER_LOOKS"
    RECONCILER_EVERY: Final = "CLAIM_CHECK_RECONCILER_EVERY_SECONDS"
    OUTBOX: Final = "CLAIM_CHECK_OUTBOX"
    """Name of the outbox: its metrics and logs are told apart by it."""

    OUTBOX_TABLE: Final = "CLAIM_CHECK_OUTBOX_TABLE"
    OUTBOX_TTL: Final = "CLAIM_CHECK_OUTBOX_TTL_SECONDS"
    """How long a row is remembered once it was sent."""

    OUTBOX_BEFORE_SEND: Final = "CLAIM_CHECK_OUTBOX_BEFORE_SEND_SECONDS"
    """How old a row may be when it is sent."""

    OUTBOX_ATTEMPTS: Final = "CLAIM_CHECK_OUTBOX_ATTEMPTS"
    """Refusals by the queue after which a row is parked."""

    OUTBOX_DESTINATION: Final = "CLAIM_CHECK_OUTBOX_DESTINATION_"
    """Begins the name of one variable for each destination, numbered from 1: JSON of its name, of what its rows do
    when they cannot be sent, and of the producer's settings for its pipeline, without `SETTING_PREFIX`."""

    PIPELINE: Final = "CLAIM_CHECK_PIPELINE"
    """Name of the pipeline that a producer publishes into: its metrics are told apart by it."""

    ARCHIVE_BUCKET: Final = "CLAIM_CHECK_ARCHIVE_BUCKET"
    """Bucket of the archived dead letters; absent where nothing is archived."""

    ARCHIVE_AFTER: Final = "CLAIM_CHECK_ARCHIVE_AFTER_SECONDS"
    """Age in the DLQ from which a dead letter is archived: its retention less a margin."""

    STUCK_AFTER: Final = "CLAIM_CHECK_STUCK_AFTER_SECONDS"
    """Age from which unfinished work of the inbox counts as stuck."""

    INGEST: Final = "CLAIM_CHECK_INGEST"
    """Name of the ingester: the dimension of its metrics."""

    INGEST_BUCKET: Final = "CLAIM_CHECK_INGEST_BUCKET"
    INGEST_QUEUE_URL: Final = "CLAIM_CHECK_INGEST_QUEUE_URL"
    INGEST_PUT: Final = "CLAIM_CHECK_INGEST_PUT"
    """``package.module:function`` that applies a created or overwritten object."""

    INGEST_DELETE: Final = "CLAIM_CHECK_INGEST_DELETE"
    """``package.module:function`` that applies a removed object."""

    INGEST_FILTERS: Final = "CLAIM_CHECK_INGEST_FILTERS"
    """JSON, the filters of the notifications: ``[{"prefix":"in/","suffix":".csv"}]``; absent means every object."""

    LEDGER_TABLE: Final = "CLAIM_CHECK_LEDGER_TABLE"
    LEDGER_TTL: Final = "CLAIM_CHECK_LEDGER_TTL_SECONDS"
    """Life of a tombstone: longer than any event can be replayed."""

    LEDGER_PAD: Final = "CLAIM_CHECK_LEDGER_PAD"
    INGEST_GRACE: Final = "CLAIM_CHECK_INGEST_GRACE_SECONDS"
    INGEST_RECONCILE_RATE: Final = "CLAIM_CHECK_INGEST_RECONCILE_RATE"
    """Synthetic events a second."""

    INGEST_RECONCILE_EVERY: Final = "CLAIM_CHECK_INGEST_RECONCILE_EVERY_SECONDS"
    """A run that is not due does nothing: so the schedule may be short, and what did not finish goes on soon."""


# --- Metrics --------------------------------------------------------------------------------------------------------

METRIC_NAMESPACE: Final = "ClaimCheck"
METRIC_DIMENSION: Final = "service"
"""The one dimension of every metric: the consumer's name, or the producer's."""


def producer_service(pipeline: str | None) -> str:
    """The `METRIC_DIMENSION` of what publishes into a pipeline; ``producer`` if nobody told which one."""
    return f"{pipeline}-producer" if pipeline else "producer"


def uploads_service(pipeline: str | None) -> str:
    """The `METRIC_DIMENSION` of a pipeline's upload API; ``uploads`` if nobody told which one."""
    return f"{pipeline}-uploads" if pipeline else "uploads"


class Metric:
    """Names of the metrics the runtime emits; alarms and dashboards use no other. Errors are counted by their code."""

    PUBLISHED: Final = "Published"
    PUBLISHED_CLAIMS: Final = "PublishedClaims"
    PUBLISHED_BYTES: Final = "PublishedBytes"
    PUBLISH_FAILED: Final = "PublishFailed"
    """Events that were not published, or of which it is unknown, though nothing was wrong with them."""

    UPLOADS_GRANTED: Final = "UploadsGranted"
    UPLOADS_CONFIRMED: Final = "UploadsConfirmed"
    UPLOADS_REFUSED: Final = "UploadsRefused"
    NEW: Final = "New"
    """Received, and never sent back from a DLQ."""

    PROCESSED: Final = "Processed"
    DUPLICATE: Final = "Duplicate"
    DEFERRED: Final = "Deferred"
    RETRIED: Final = "Retried"
    PARKED: Final = "Parked"
    REDRIVEN: Final = "Redriven"
    LOST_LEASE: Final = "LostLease"
    GROUP_BLOCKED: Final = "GroupBlocked"
    """A message that can never succeed holds up its group: nothing may be parked where order must not break."""

    FOREIGN_POINTER: Final = "ForeignPointer"
    FOREIGN_OBJECT: Final = "ForeignObjectPointer"
    FOREIGN_INLINE: Final = "ForeignInline"
    UNVERIFIED: Final = "Unverified"
    """Processed, though nobody told what the payload must hash to."""

    PAYLOAD_BYTES: Final = "PayloadBytes"
    FETCH_MILLISECONDS: Final = "FetchMilliseconds"
    MESSAGE_AGE: Final = "MessageAgeSeconds"
    """Now less SentTimestamp at each receive: SQS's own age metric omits what was received three times or more."""

    PAYLOAD_LIFE_LEFT: Final = "PayloadLifeLeftDays"
    """Until the fetched payload expires; with less than the DLQ keeps a message, a copy parked now could outlive it."""

    DEAD_LETTERS: Final = "DeadLetters"
    """Dead letters that the sampler saw in its last run; zero is emitted, too. By reason: `dead_letter_metric`."""

    OLDEST_DEAD_LETTER: Final = "OldestDeadLetterSeconds"
    """Age in the DLQ of the oldest dead letter that was sampled and stays there; zero if there is none."""

    DEAD_LETTER_LIFE_LEFT: Final = "DeadLetterLifeLeftDays"
    """Until a sampled dead letter's payload expires and the inbox forgets it: the smallest."""

    STUCK_WORK: Final = "StuckWork"
    """Rows of the inbox whose lease ended long ago, or that failed long ago: the group behind them waits."""

    ARCHIVED_LETTERS: Final = "ArchivedLetters"
    ARCHIVE_FAILED: Final = "ArchiveFailed"
    """Dead letters due for the archive that could not be stored, or not be deleted from the DLQ."""

    INGESTED_PUTS: Final = "IngestedPuts"
    INGESTED_DELETES: Final = "IngestedDeletes"
    INGEST_STALE: Final = "IngestStale"
    """Older than what the ledger says was applied."""

    INGEST_SUPERSEDED: Final = "IngestSuperseded"
    """The bucket holds something newer by now: its own event brings that."""

    INGEST_IGNORED: Final = "IngestIgnored"
    """Known events that change no object's content, and test events."""

    INGEST_UNKNOWN: Final = "IngestUnknownEvents"
    """Events of a kind that is not known: acknowledged; a reconciliation finds what they meant."""

    INGEST_UNDECIDED: Final = "IngestUndecidedSequencers"
    """Sequencers of unequal length, or none: the bucket itself was asked."""

    INGEST_CONFLICTS: Final = "IngestConflicts"
    """Another ingester wrote the row first: read again, and decided anew."""

    INGEST_LISTED: Final = "IngestListedObjects"
    INGEST_DIFFERENCES: Final = "IngestDifferences"
    """Objects that a reconciliation found missing, changed or gone; zero is emitted, too."""

    RECONCILED_OBJECTS: Final = "ReconciledObjects"
    """Payloads that the last finished run of a reconciliation saw; as are the five that follow."""

    RECONCILED_OPEN: Final = "ReconciledOpen"
    RECONCILED_COMPLETED: Final = "ReconciledCompleted"
    RECONCILED_UNPUBLISHED: Final = "ReconciledUnpublished"
    RECONCILED_UNKNOWN: Final = "ReconciledUnknown"
    RECONCILED_FOREIGN: Final = "ReconciledForeign"
    DEAD_POINTERS: Final = "DeadPointers"
    """Open inbox and outbox rows whose object is gone, in the last finished run."""

    UNKNOWN_SHARE: Final = "UnknownSharePercent"
    """Of the payloads past the grace age, those that no row knows, in the last finished run."""

    UNKNOWN_GROWTH: Final = "UnknownGrowthPercent"
    """By how many percentage points that share grew since the run before."""

    PAYLOADS_REMOVED: Final = "PayloadsRemoved"
    PAYLOADS_HELD: Final = "PayloadsHeld"
    """Proven unpublished, and not removed: under a legal hold or retention, or S3 refused."""

    RECONCILIATION_AGE: Final = "ReconciliationAgeSeconds"
    """Since the last run that finished; emitted at every tick, so that its absence tells that nothing runs."""

    OUTBOX_LAG: Final = "OutboxLagSeconds"
    """Age of the oldest outbox row that is not sent, and of each row when it was; zero is emitted, too."""

    OUTBOX_PARKED: Final = "OutboxParkedRows"
    """Outbox rows that wait for an operator, as the last sweep found them; zero is emitted, too."""

    OUTBOX_SWEPT: Final = "OutboxSwept"
    """Rows that the sweep sent, and so the stream or an earlier attempt had missed."""


class ErrorCode:
    """Codes of R4.5: the same in logs, metrics, the inbox and the DLQ."""

    MISSING_PAYLOAD: Final = "MissingPayload"
    ACCESS_DENIED: Final = "AccessDenied"
    CHECKSUM_MISMATCH: Final = "ChecksumMismatch"
    PAYLOAD_TOO_LARGE: Final = "PayloadTooLarge"
    UNSUPPORTED_CONTENT_TYPE: Final = "UnsupportedContentType"
    INVALID_ENVELOPE: Final = "InvalidEnvelope"
    UNSUPPORTED_VERSION: Final = "UnsupportedVersion"
    UNTRUSTED_REFERENCE: Final = "UntrustedReference"
    UNVERIFIED_PAYLOAD: Final = "UnverifiedPayload"
    INVALID_NOTIFICATION: Final = "InvalidNotification"
    """No notification of S3's, or one that cannot be understood."""

    CLAIM_MISMATCH: Final = "ClaimMismatch"
    """The domain's own record of the payload is another one (R3.3)."""

    ALREADY_STAGED: Final = "AlreadyStaged"
    """The same event is in the outbox already: what it belongs to was committed before."""

    OUTBOX_FULL: Final = "OutboxFull"
    """Too many rows of one FIFO group are not sent yet."""

    CONFLICT: Final = "Conflict"
    STALE: Final = "Stale"
    HANDLER_FAILED: Final = "HandlerFailed"
    HANDLER_CRASHED: Final = "HandlerCrashed"
    COMMIT_FAILED: Final = "CommitFailed"
    DEADLINE_EXCEEDED: Final = "DeadlineExceeded"
    UNAVAILABLE: Final = "Unavailable"
    """S3, SQS or DynamoDB answered with a throttle or a 5xx, or not at all: the attempt is refunded."""


ERROR_CODES: Final = frozenset(value for name, value in vars(ErrorCode).items() if name.isupper())

OTHER_REASON: Final = "Other"
"""Stands for reasons of dead letters that are no code of ours: a handler's own, and none at all."""


def dead_letter_metric(code: str) -> str:
    """Metric that counts sampled dead letters of a reason; reasons that are no code of ours share one."""
    return f"{Metric.DEAD_LETTERS}{code if code in ERROR_CODES else OTHER_REASON}"
