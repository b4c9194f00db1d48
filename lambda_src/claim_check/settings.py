"""Settings of producers and consumers, read once from the variables that the constructs write (`contract.Setting`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar, get_args

from claim_check import contract
from claim_check.contract import InlineMode, PayloadAccess, Setting, WireFormat
from claim_check.errors import InvalidSetting
from claim_check.extended_client import ForeignMessages

_Choice = TypeVar("_Choice", bound=str)

_TRUE_FALSE: Final = ("false", "true")


class Environment:
    """Reads typed values from environment variables.

    Every method raises `InvalidSetting` for a value that is missing (without a default) or not allowed; the text names
    the variable, the value and what is allowed.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        """Read from a mapping such as ``os.environ``."""
        self._variables = variables

    def text(self, name: str) -> str:
        """A text that must be there."""
        value = self._variables.get(name, "")
        if not value:
            raise InvalidSetting(f"{name} is not set; the constructs set it, or set it yourself")
        return value

    def optional(self, name: str) -> str | None:
        """A text, or None."""
        return self._variables.get(name) or None

    def integer(self, name: str, *, default: int | None = None, minimum: int = 0, maximum: float = float("inf")) -> int:
        """A whole number."""
        value = self._variables.get(name, "")
        if not value and default is not None:
            return default
        if not (value.isascii() and value.isdigit()) or not minimum <= int(value) <= maximum:
            most = "" if maximum == float("inf") else f" and at most {maximum}"
            raise InvalidSetting(f"{name} = {value!r}: a whole number of at least {minimum}{most} is needed")
        return int(value)

    def number(self, name: str, *, default: float) -> float:
        """A positive number."""
        value = self._variables.get(name, "")
        try:
            number = float(value) if value else default
        except ValueError:
            number = 0.0
        if not 0 < number < float("inf"):
            raise InvalidSetting(f"{name} = {value!r}: a positive number is needed")
        return number

    def choice(self, name: str, choices: Collection[_Choice], *, default: _Choice) -> _Choice:
        """One of a few words."""
        value = self._variables.get(name) or default
        for choice in choices:
            if choice == value:
                return choice
        raise InvalidSetting(f"{name} = {value!r}: must be one of {', '.join(choices)}")

    def numbered(self, prefix: str) -> list[str]:
        """Texts under one name each: the prefix, and a number from 1; the first number that is absent ends them."""
        found: list[str] = []
        while text := self._variables.get(f"{prefix}{len(found) + 1}"):
            found.append(text)
        return found

    def flag(self, name: str, *, default: bool = False) -> bool:
        """``true`` or ``false``."""
        return self.choice(name, _TRUE_FALSE, default=_TRUE_FALSE[default]) == "true"

    def words(self, name: str) -> tuple[str, ...]:
        """Words separated by commas."""
        return tuple(word for part in self._variables.get(name, "").split(",") if (word := part.strip()))


@dataclass(frozen=True, kw_only=True)
class ProducerSettings:
    """Settings of a producer.

    Attributes:
        bucket: Bucket of the payloads.
        queue_url: Queue of the messages.
        before_send_seconds: How old an object may be when its pointer is sent.
        inline: ``never`` sends every payload to S3.
        inline_limit_bytes: Largest whole message whose payload travels inside.
        max_message_bytes: What the queue takes.
        max_payload_bytes: Largest payload.
        multipart_threshold_bytes: Payloads above this size are uploaded in parts, side by side; up to 5 GiB.
        fair_queues: On a standard queue, the tenant becomes the message group of events that have none.
        wire_format: ``extended-client`` writes what Amazon's Extended Client Libraries read.
        pipeline: Name of the pipeline, which begins the producer's name in logs and metrics; absent leaves it out.
        tracing: Trace with X-Ray.
    """

    bucket: str
    queue_url: str
    before_send_seconds: int
    inline: InlineMode = "auto"
    inline_limit_bytes: int = contract.DEFAULT_INLINE_LIMIT_BYTES
    max_message_bytes: int = contract.SQS_MAX_MESSAGE_BYTES
    max_payload_bytes: int = contract.DEFAULT_MAX_PAYLOAD_BYTES
    multipart_threshold_bytes: int = contract.DEFAULT_MULTIPART_THRESHOLD_BYTES
    fair_queues: bool = False
    wire_format: WireFormat = "claim-check"
    pipeline: str | None = None
    tracing: bool = False

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> ProducerSettings:
        """Read them.

        Raises:
            InvalidSetting: A variable is missing or malformed.
        """
        read = Environment(variables)
        return cls(
            bucket=read.text(Setting.BUCKET),
            queue_url=read.text(Setting.QUEUE_URL),
            before_send_seconds=read.integer(Setting.BEFORE_SEND, minimum=1),
            inline=read.choice(Setting.INLINE, get_args(InlineMode), default="auto"),
            inline_limit_bytes=read.integer(Setting.INLINE_LIMIT, default=cls.inline_limit_bytes),
            max_message_bytes=read.integer(Setting.MAX_MESSAGE, default=cls.max_message_bytes, minimum=1),
            max_payload_bytes=read.integer(Setting.MAX_PAYLOAD, default=cls.max_payload_bytes),
            multipart_threshold_bytes=read.integer(
                Setting.MULTIPART_THRESHOLD,
                default=cls.multipart_threshold_bytes,
                minimum=contract.S3_MIN_PART_BYTES,
                maximum=contract.S3_MAX_SINGLE_PUT_BYTES,
            ),
            fair_queues=read.flag(Setting.FAIR_QUEUES),
            wire_format=read.choice(Setting.WIRE_FORMAT, get_args(WireFormat), default="claim-check"),
            pipeline=read.optional(Setting.PIPELINE),
            tracing=read.flag(Setting.TRACING),
        )


@dataclass(frozen=True, kw_only=True)
class UploadSettings:
    """Settings of the function behind an upload API, beside those of its producer.

    Attributes:
        producer: How it publishes what is confirmed.
        grant_seconds: How long after its grant an upload may begin.
        confirm_seconds: How old an upload may be when it is confirmed.
        tenant_claim: Claim of the caller's token that names its tenant; absent lets a caller act for any.
    """

    producer: ProducerSettings
    grant_seconds: int = contract.UPLOAD_GRANT_SECONDS
    confirm_seconds: int = contract.UPLOAD_CONFIRM_SECONDS
    tenant_claim: str | None = None

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> UploadSettings:
        """Read them.

        Raises:
            InvalidSetting: A variable is missing or malformed.
        """
        read = Environment(variables)
        producer = ProducerSettings.from_environment(variables)
        if producer.wire_format != "claim-check":
            raise InvalidSetting(f"{Setting.WIRE_FORMAT} = {producer.wire_format!r}: direct uploads need claim-check")
        return cls(
            producer=producer,
            grant_seconds=read.integer(
                Setting.UPLOAD_GRANT, default=cls.grant_seconds, minimum=1, maximum=contract.UNCONFIRMED_SECONDS
            ),
            confirm_seconds=read.integer(Setting.UPLOAD_CONFIRM, default=cls.confirm_seconds, minimum=1),
            tenant_claim=read.optional(Setting.UPLOAD_TENANT_CLAIM),
        )


@dataclass(frozen=True, kw_only=True)
class ConsumerSettings:
    """Settings of a consumer.

    Attributes:
        consumer: Its name.
        bucket: The only bucket whose references it follows.
        queue_url: Queue of the messages.
        dlq_url: Where messages are parked; None where nothing may be parked.
        inbox_table: Table of the inbox.
        inbox_ttl_seconds: How long the inbox remembers.
        handler: ``package.module:function``.
        payload_access: How the handler uses payloads.
        memory_budget_bytes: Memory for payloads.
        temp_budget_bytes: Temporary storage for payloads.
        expansion: Bytes needed for each byte of payload.
        concurrency: Records side by side.
        max_attempts: Attempts before a message is parked.
        visibility_seconds: The queue's visibility timeout; 0 if it is not known.
        max_payload_bytes: Largest payload.
        content_types: Accepted media types; empty accepts any.
        event_types: Accepted event types with their versions; empty accepts any.
        foreign: What it takes of Extended Clients' messages; absent takes none.
        tracing: Trace with X-Ray.
    """

    consumer: str
    bucket: str
    queue_url: str
    inbox_table: str
    inbox_ttl_seconds: int
    handler: str
    dlq_url: str | None = None
    payload_access: PayloadAccess = "stream"
    memory_budget_bytes: int = 64 * contract.MIB
    temp_budget_bytes: int = contract.LAMBDA_MIN_TEMP_MIB * contract.MIB
    expansion: float = 1.0
    concurrency: int = contract.SQS_MAX_BATCH_ENTRIES
    max_attempts: int = contract.DEFAULT_MAX_ATTEMPTS
    visibility_seconds: int = 0
    max_payload_bytes: int = contract.DEFAULT_MAX_PAYLOAD_BYTES
    content_types: tuple[str, ...] = ()
    event_types: Mapping[str, Collection[int]] = field(default_factory=dict)
    foreign: ForeignMessages | None = None
    tracing: bool = False

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> ConsumerSettings:
        """Read them.

        Raises:
            InvalidSetting: A variable is missing or malformed.
        """
        read = Environment(variables)
        return cls(
            consumer=read.text(Setting.CONSUMER),
            bucket=read.text(Setting.BUCKET),
            queue_url=read.text(Setting.QUEUE_URL),
            inbox_table=read.text(Setting.INBOX_TABLE),
            inbox_ttl_seconds=read.integer(Setting.INBOX_TTL, minimum=1),
            handler=read.text(Setting.HANDLER),
            dlq_url=read.optional(Setting.DLQ_URL),
            payload_access=read.choice(Setting.PAYLOAD_ACCESS, get_args(PayloadAccess), default="stream"),
            memory_budget_bytes=read.integer(Setting.MEMORY_BUDGET, default=cls.memory_budget_bytes),
            temp_budget_bytes=read.integer(Setting.TEMP_BUDGET, default=cls.temp_budget_bytes),
            expansion=read.number(Setting.EXPANSION, default=1.0),
            concurrency=read.integer(Setting.CONCURRENCY, default=cls.concurrency, minimum=1),
            max_attempts=read.integer(Setting.MAX_ATTEMPTS, default=cls.max_attempts, minimum=1),
            visibility_seconds=read.integer(Setting.VISIBILITY, default=cls.visibility_seconds),
            max_payload_bytes=read.integer(Setting.MAX_PAYLOAD, default=cls.max_payload_bytes),
            content_types=tuple(word.lower() for word in read.words(Setting.CONTENT_TYPES)),
            event_types=dict(_event_type(entry) for entry in read.words(Setting.EVENT_TYPES)),
            foreign=ForeignMessages.from_environment(read),
            tracing=read.flag(Setting.TRACING),
        )


def _event_type(entry: str) -> tuple[str, frozenset[int]]:
    name, _, versions = entry.partition(":")
    numbers = versions.split("|")
    if not contract.is_name(name) or not all(number.isascii() and number.isdigit() for number in numbers):
        raise InvalidSetting(f"{Setting.EVENT_TYPES}: {entry!r} is not of the form DocumentUploaded:1|2")
    return name, frozenset(map(int, numbers))
