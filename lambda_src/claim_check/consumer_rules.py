"""What a consumer accepts, and how it retries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from claim_check import contract
from claim_check.contract import DEFAULT_BACKOFF, Backoff
from claim_check.errors import InvalidSetting, UnsupportedContentType

if TYPE_CHECKING:
    from claim_check.extended_client import ForeignMessages

DEFAULT_READ_LIMIT_BYTES: Final = contract.MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerRules:
    """What a consumer accepts, and how it retries.

    Attributes:
        consumer: Its name: the first part of every inbox key.
        bucket: The only bucket whose references it follows (R11.3).
        max_payload_bytes: Largest payload.
        content_types: Accepted media types, ``image/*`` for a whole family; empty accepts any.
        event_types: Accepted event types with their versions; empty accepts any.
        backoff: Delays between attempts.
        start_seconds: A message is not started with less time left than this.
        blocks_after: Attempts after which a message that may not be parked counts as blocking its group.
        read_limit_bytes: What `Message.read` returns at most.
        foreign: What it takes of Extended Clients' messages; None takes none.
    """

    consumer: str
    bucket: str
    max_payload_bytes: int = contract.DEFAULT_MAX_PAYLOAD_BYTES
    content_types: Collection[str] = ()
    event_types: Mapping[str, Collection[int]] = field(default_factory=dict)
    backoff: Backoff = DEFAULT_BACKOFF
    start_seconds: float = 1.0
    blocks_after: int = contract.DEFAULT_MAX_ATTEMPTS
    read_limit_bytes: int = DEFAULT_READ_LIMIT_BYTES
    foreign: ForeignMessages | None = None

    def __post_init__(self) -> None:
        """Keep the consumer's own bucket for payloads whose hash is known.

        Raises:
            InvalidSetting: It is among the foreign ones.
        """
        if self.foreign is not None and self.bucket in self.foreign.bucket_names:
            raise InvalidSetting(
                f"foreign bucket {self.bucket!r}: is the consumer's own; Extended Clients need one of theirs, without "
                "the demand for conditional writes"
            )

    def check_content_type(self, content_type: str) -> None:
        """Refuse a media type that is not accepted; parameters and case do not matter.

        Raises:
            UnsupportedContentType: It is neither named nor of a named family.
        """
        media = content_type.partition(";")[0].strip().lower()
        family = media.partition("/")[0] + "/*"
        if self.content_types and media not in self.content_types and family not in self.content_types:
            raise UnsupportedContentType(f"contentType: this consumer takes {', '.join(sorted(self.content_types))}")
