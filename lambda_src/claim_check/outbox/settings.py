"""Settings of an outbox, read once from the variables that the construct writes (`contract.Setting`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from claim_check import contract
from claim_check.contract import OnPoison, Setting
from claim_check.errors import InvalidSetting
from claim_check.settings import Environment, ProducerSettings

_NAME = "name"
_ON_POISON = "onPoison"


@dataclass(frozen=True, kw_only=True)
class Destination:
    """A pipeline that the outbox publishes to.

    Attributes:
        name: Its name in the outbox: the first part of every row's key.
        producer: How messages for it are made.
        on_poison: What a row that cannot be sent does to its FIFO group.
    """

    name: str
    producer: ProducerSettings
    on_poison: OnPoison = "block"


@dataclass(frozen=True, kw_only=True)
class OutboxSettings:
    """What an application needs to stage, and a relay to publish.

    Attributes:
        name: Name of the outbox, in metrics and logs.
        table: Table of the rows.
        destinations: By name.
    """

    name: str
    table: str
    destinations: Mapping[str, Destination]

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> OutboxSettings:
        """Read them.

        Raises:
            InvalidSetting: A variable is missing or malformed.
        """
        read = Environment(variables)
        return cls(
            name=read.text(Setting.OUTBOX),
            table=read.text(Setting.OUTBOX_TABLE),
            destinations=_destinations(read.numbered(Setting.OUTBOX_DESTINATION)),
        )


@dataclass(frozen=True, kw_only=True)
class RelaySettings:
    """What relay and sweep need beside that.

    Attributes:
        outbox: The outbox.
        ttl_seconds: How long a row is remembered once it was sent.
        before_send_seconds: How old a row may be when it is sent.
        max_attempts: Refusals by the queue after which a row is parked.
        tracing: Trace with X-Ray.
    """

    outbox: OutboxSettings
    ttl_seconds: int
    before_send_seconds: int = contract.DEFAULT_OUTBOX_SECONDS
    max_attempts: int = contract.DEFAULT_OUTBOX_ATTEMPTS
    tracing: bool = False

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> RelaySettings:
        """Read them.

        Raises:
            InvalidSetting: A variable is missing or malformed.
        """
        read = Environment(variables)
        return cls(
            outbox=OutboxSettings.from_environment(variables),
            ttl_seconds=read.integer(Setting.OUTBOX_TTL, minimum=1),
            before_send_seconds=read.integer(Setting.OUTBOX_BEFORE_SEND, default=cls.before_send_seconds, minimum=1),
            max_attempts=read.integer(Setting.OUTBOX_ATTEMPTS, default=cls.max_attempts, minimum=1),
            tracing=read.flag(Setting.TRACING),
        )


def _destinations(texts: Sequence[str]) -> dict[str, Destination]:
    if not texts:
        raise InvalidSetting(f"{Setting.OUTBOX_DESTINATION}1 is not set; an outbox needs a destination")
    found = [_destination(f"{Setting.OUTBOX_DESTINATION}{number}", text) for number, text in enumerate(texts, 1)]
    return {one.name: one for one in found}


def _destination(variable: str, text: str) -> Destination:
    try:
        fields = json.loads(text)
    except ValueError:
        fields = None
    if not isinstance(fields, dict) or not all(isinstance(value, str) for value in fields.values()):
        raise InvalidSetting(f"{variable}: is no JSON object of texts")
    name, on_poison = fields.pop(_NAME, ""), fields.pop(_ON_POISON, "block")
    if not contract.is_name(name):
        raise InvalidSetting(f"{variable}: {_NAME} = {name!r} is no name; A-Z a-z 0-9 . _ -, 1 to 128 of them")
    if on_poison not in get_args(OnPoison):
        raise InvalidSetting(
            f"{variable}: {_ON_POISON} = {on_poison!r}: must be one of {', '.join(get_args(OnPoison))}"
        )
    try:
        producer = ProducerSettings.from_environment(
            {f"{contract.SETTING_PREFIX}{short}": value for short, value in fields.items()}
        )
    except InvalidSetting as error:
        raise InvalidSetting(f"{variable}: {error}") from error
    return Destination(name=name, producer=producer, on_poison=on_poison)
