"""Settings of a producer: a mistake names the variable, the value and what is allowed."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from claim_check import aws
from claim_check.contract import Setting, producer_service, uploads_service
from claim_check.errors import InvalidSetting
from claim_check.event import Event
from claim_check.settings import ProducerSettings
from tests.fakes.clock import FakeClock
from tests.fakes.object_store import FakeObjectStore
from tests.fakes.queue import FakeQueue
from tests.fakes.telemetry import FakeTelemetry

LEAST = {Setting.BUCKET: "b", Setting.QUEUE_URL: "https://sqs/0/q", Setting.BEFORE_SEND: "3600"}


def test_the_least_that_is_needed_and_its_defaults() -> None:
    settings = ProducerSettings.from_environment(LEAST | {"PATH": "/bin"})
    assert settings == ProducerSettings(bucket="b", queue_url="https://sqs/0/q", before_send_seconds=3600)
    assert (settings.inline, settings.inline_limit_bytes, settings.max_message_bytes) == ("auto", 65_536, 1_048_576)
    assert not settings.fair_queues


def test_everything_set() -> None:
    settings = ProducerSettings.from_environment(
        LEAST
        | {
            Setting.INLINE: "never",
            Setting.INLINE_LIMIT: "0",
            Setting.MAX_MESSAGE: "262144",
            Setting.MAX_PAYLOAD: "5",
            Setting.FAIR_QUEUES: "true",
            Setting.TRACING: "true",
        }
    )
    assert (settings.inline, settings.inline_limit_bytes, settings.max_message_bytes) == ("never", 0, 262_144)
    assert (settings.max_payload_bytes, settings.fair_queues, settings.tracing) == (5, True, True)


def test_the_metrics_of_two_pipelines_producers_are_told_apart() -> None:  # R12.1
    services = [
        service(ProducerSettings.from_environment(LEAST | more).pipeline)
        for service in (producer_service, uploads_service)
        for more in ({}, {Setting.PIPELINE: "documents"}, {Setting.PIPELINE: "wallet"})
    ]
    assert services == [
        "producer",
        "documents-producer",
        "wallet-producer",
        "uploads",
        "documents-uploads",
        "wallet-uploads",
    ]


@pytest.mark.parametrize("name", LEAST)
def test_what_is_missing_is_named(name: str) -> None:
    for variables in ({key: value for key, value in LEAST.items() if key != name}, LEAST | {name: ""}):
        with pytest.raises(InvalidSetting, match=name):
            ProducerSettings.from_environment(variables)


@pytest.mark.parametrize(
    "name, value",
    [
        (Setting.BEFORE_SEND, "0"),
        (Setting.BEFORE_SEND, "1h"),
        (Setting.INLINE, "always"),
        (Setting.INLINE_LIMIT, "-1"),
        (Setting.INLINE_LIMIT, "64 KiB"),
        (Setting.MAX_MESSAGE, "0"),
        (Setting.MAX_PAYLOAD, "1.5"),
        (Setting.MAX_PAYLOAD, "\u0663"),
        (Setting.FAIR_QUEUES, "yes"),
        (Setting.TRACING, "1"),
    ],
)
def test_what_is_malformed_is_named_with_its_value(name: str, value: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        ProducerSettings.from_environment(LEAST | {name: value})
    assert name in str(caught.value)
    assert repr(value) in str(caught.value)


# R12.1
def test_a_process_of_its_own_emits_the_metrics_of_each_call(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    least = ProducerSettings.from_environment(LEAST)
    monkeypatch.setattr(aws, "SqsQueue", lambda _: FakeQueue(FakeClock()))
    monkeypatch.setattr(aws, "S3ObjectStore", lambda _: FakeObjectStore(FakeClock()))
    clients = SimpleNamespace(s3=None, sqs=None)
    publisher = aws.producer(least, clients=clients)  # type: ignore[arg-type]  # never called
    publisher.publish_batch([Event.json(number, tenant_id="t-1", event_type="Noted") for number in range(3)])
    emitted = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "_aws" in line]
    assert [(line["Published"], line["service"]) for line in emitted] == [([3.0], "producer")]

    silent = aws.producer(least, clients=clients, telemetry=FakeTelemetry())  # type: ignore[arg-type]  # never called
    silent.publish(Event.json(1, tenant_id="t-1", event_type="Noted"))
    assert "_aws" not in capsys.readouterr().out
