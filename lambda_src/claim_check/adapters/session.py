"""One boto3 session, and one client per service, made when they are first used.

A session costs more than all its clients together, so a process has one. Timeouts are short and retries few: the
library retries on top, within bounds that count on `CALL_SECONDS` (`claim_check.retries`).
"""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import boto3
from botocore.config import Config

from claim_check import contract

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

USER_AGENT: Final = "claim-check-sqs"
CONNECT_SECONDS: Final = 3
READ_SECONDS: Final = 10
S3_READ_SECONDS: Final = 20
POLL_READ_SECONDS: Final = contract.SQS_LONG_POLL_SECONDS + READ_SECONDS
SDK_ATTEMPTS: Final = 3
_NO_RETRIES: Any = {"mode": "standard", "total_max_attempts": 1}
CALL_SECONDS: Final = SDK_ATTEMPTS * (CONNECT_SECONDS + READ_SECONDS) + 1 + 2
"""Longest that a small call takes: every attempt times out, and the SDK waits up to 1 s and 2 s in between."""


def config_for(service: str, *, tls: bool = True) -> Config:
    """How clients are set up.

    Bodies sent to S3 carry a SHA-256 of ours that S3 verifies, so over TLS the signature does not hash them once more.
    Answers are verified against the claim, not twice.

    Args:
        service: boto3's name of the service.
        tls: Whether the endpoint is reached over TLS; without it bodies are signed.
    """
    common: dict[str, Any] = {
        "connect_timeout": CONNECT_SECONDS,
        "read_timeout": S3_READ_SECONDS if service == "s3" else READ_SECONDS,
        "retries": {"mode": "standard", "total_max_attempts": SDK_ATTEMPTS},
        "max_pool_connections": 64,
        "tcp_keepalive": True,
        "user_agent_extra": USER_AGENT,
    }
    if service == "sqs":
        # What we send is typed and checked before; SQS checks it, too. It is a quarter of the CPU of a batch.
        common["parameter_validation"] = False
    if service == "s3":
        common |= {
            "signature_version": "s3v4",
            "s3": {"payload_signing_enabled": not tls},
            "request_checksum_calculation": "when_required",
            "response_checksum_validation": "when_required",
        }
    return Config(**common)


class Clients:
    """A session and its clients. Safe to share between threads."""

    def __init__(self, session: boto3.Session | None = None) -> None:
        """Use a session.

        Args:
            session: One's own, for other credentials or another Region; made when first needed if there is none.
        """
        self._session = session
        self._clients: dict[str, Any] = {}
        self._lock = threading.Lock()

    @property
    def s3(self) -> S3Client:
        """Client of S3."""
        client: S3Client = self._client("s3")
        return client

    @property
    def s3_signing(self) -> S3Client:
        """Client of S3 for presigned URLs: they name the bucket's Region, since a redirect would lose the body."""
        client: S3Client = self._client("s3", signing=True)
        return client

    @property
    def s3_once(self) -> S3Client:
        """Client of S3 for what must not be repeated: a removal that comes late could meet what was written anew."""
        client: S3Client = self._client("s3", once=True)
        return client

    @property
    def sqs(self) -> SQSClient:
        """Client of SQS."""
        client: SQSClient = self._client("sqs")
        return client

    @property
    def sqs_polling(self) -> SQSClient:
        """Client of SQS for long polls: it waits longer, and leaves repeating to its caller."""
        client: SQSClient = self._client("sqs", polling=True)
        return client

    @property
    def dynamodb(self) -> DynamoDBClient:
        """Client of DynamoDB."""
        client: DynamoDBClient = self._client("dynamodb")
        return client

    def _client(self, service: str, **options: bool) -> Any:  # noqa: ANN401 - narrowed by the properties
        name = " ".join((service, *options))
        with self._lock:
            if self._session is None:
                self._session = boto3.Session()
            if name not in self._clients:
                self._clients[name] = make_client(self._session, service, **options)
            return self._clients[name]


def make_client(
    session: boto3.Session, service: str, *, polling: bool = False, signing: bool = False, once: bool = False
) -> Any:  # noqa: ANN401 - boto3 makes client classes at run time
    """A client, set up for the endpoint that the session and the environment give it."""
    create: Any = session.client
    config = config_for(service)
    if polling:
        patient: Any = {"read_timeout": POLL_READ_SECONDS, "retries": _NO_RETRIES}
        config = config.merge(Config(**patient))
    if once:
        config = config.merge(Config(retries=_NO_RETRIES))
    client = create(service, config=config)
    if signing and (urlsplit(client.meta.endpoint_url).hostname or "").endswith(
        (".amazonaws.com", ".amazonaws.com.cn")
    ):
        # By default botocore signs for S3's global address, which redirects where a bucket is elsewhere.
        regional: Any = {"s3": {"addressing_style": "virtual"}}
        return create(service, config=config.merge(Config(**regional)))
    if service == "s3" and client.meta.endpoint_url.startswith("http://"):
        return create(service, config=config.merge(Config(s3={"payload_signing_enabled": True})))
    return client


@lru_cache(maxsize=1)
def shared() -> Clients:
    """The process's own clients."""
    return Clients()
