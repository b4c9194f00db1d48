"""Every code that rings is really emitted, as CloudWatch would find it: name, namespace, dimension (R4.5, R12.1)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from claim_check import errors
from claim_check.adapters.powertools import PowertoolsTelemetry
from claim_check.contract import METRIC_DIMENSION, METRIC_NAMESPACE, ErrorCode, Metric
from claim_check.message import Message
from claim_check.transaction import Transaction
from claim_check_cdk.alarm_codes import ALARMED_CODES
from tests.harness import BUCKET, CONSUMER, EVENT_TYPE, TTL_SECONDS, World


def _missing(world: World) -> None:
    payload: Any = world.send().envelope.payload
    world.objects.delete(BUCKET, payload.key)
    world.deliver()


def _denied(world: World) -> None:
    world.send()
    world.faults.fail("open", errors.AccessDenied("S3 refused"))
    world.deliver()


def _tampered(world: World) -> None:
    payload: Any = world.send().envelope.payload
    world.objects.tamper(BUCKET, payload.key, b"x" * payload.content_length)
    world.deliver()


def _other_bucket(world: World) -> None:
    world.send(world.envelope(bucket="somebody-elses"))
    world.deliver()


def _conflict(world: World) -> None:
    for content in (b"one", b"two"):
        world.send(world.envelope(content, identity="same"))
        world.deliver()


def _no_envelope(world: World) -> None:
    world.send_body("{")
    world.deliver()


def _new_version(world: World) -> None:
    world.send(world.envelope(event_version=2))
    world.deliver(world.consumer(event_types={EVENT_TYPE: {1}}))


def _stale(world: World) -> None:
    world.send()
    world.clock.advance(TTL_SECONDS + 1)
    world.deliver()


def _crashed(world: World) -> None:
    sent = world.send()
    world.seed_row(sent, "IN_PROGRESS", attempts=5, lease_until=world.clock.now() - 1)
    world.deliver()


def _unavailable(world: World) -> None:
    world.send()
    world.send(world.envelope(b"{}", inline=True))
    world.faults.fail("open", errors.Unavailable("S3 did not answer"))
    world.deliver()


def _raising(error: Exception) -> Callable[[World], None]:
    def handler(message: Message, tx: Transaction) -> None:  # noqa: ARG001 - a handler
        raise error

    def act(world: World) -> None:
        world.send()
        world.deliver(world.consumer(handler))

    return act


SCENARIOS: dict[str, Callable[[World], None]] = {
    ErrorCode.MISSING_PAYLOAD: _missing,
    ErrorCode.ACCESS_DENIED: _denied,
    ErrorCode.CHECKSUM_MISMATCH: _tampered,
    ErrorCode.CLAIM_MISMATCH: _raising(errors.ClaimMismatch("payload: another one than the domain's record")),
    ErrorCode.UNTRUSTED_REFERENCE: _other_bucket,
    ErrorCode.CONFLICT: _conflict,
    ErrorCode.INVALID_ENVELOPE: _no_envelope,
    ErrorCode.UNSUPPORTED_VERSION: _new_version,
    ErrorCode.STALE: _stale,
    ErrorCode.HANDLER_CRASHED: _crashed,
    ErrorCode.COMMIT_FAILED: _raising(errors.CommitFailed("a condition was not met")),
    ErrorCode.UNAVAILABLE: _unavailable,
}


def emf(text: str) -> list[dict[str, Any]]:
    """Captured metrics."""
    return [json.loads(line) for line in text.splitlines() if '"_aws"' in line]


def test_there_is_a_scenario_for_every_code_that_rings() -> None:
    assert SCENARIOS.keys() == ALARMED_CODES.keys()


@pytest.mark.parametrize("code", SCENARIOS)
def test_a_code_that_rings_is_emitted_under_the_consumers_name(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    world = World()
    world.telemetry = PowertoolsTelemetry(service=CONSUMER)  # type: ignore[assignment]  # the real one
    SCENARIOS[code](world)
    found = [one for one in emf(capsys.readouterr().out) if code in one]
    assert found
    for document in found:
        (directive,) = document["_aws"]["CloudWatchMetrics"]
        assert (directive["Namespace"], directive["Dimensions"]) == (METRIC_NAMESPACE, [[METRIC_DIMENSION]])
        assert document[METRIC_DIMENSION] == CONSUMER
        assert {"Name": code, "Unit": "Count"} in directive["Metrics"]


# FIELD: aws-powertools/powertools-lambda-typescript#1529
def test_a_large_batch_emits_one_value_of_each_metric(capsys: pytest.CaptureFixture[str]) -> None:
    """EMF drops the values of a metric past its hundredth, without a word."""
    world = World()
    world.telemetry = PowertoolsTelemetry(service=CONSUMER)  # type: ignore[assignment]  # the real one
    for _ in range(150):
        world.send_body("{")
    world.deliver(count=150)
    (document,) = emf(capsys.readouterr().out)
    assert document[ErrorCode.INVALID_ENVELOPE] == [150.0]
    assert document[Metric.NEW] == [150.0]
    assert document[Metric.PARKED] == [150.0]
