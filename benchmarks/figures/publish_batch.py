"""Batches against the usual way, one message after the other, with services that are 10 ms away."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import boto3

from benchmarks import child
from benchmarks.far_services import far_services
from benchmarks.figure import BenchmarkError, Figure
from benchmarks.pipeline import Pipeline, event, small_event
from claim_check import Published
from claim_check.adapters.session import Clients
from claim_check.contract import KIB

if TYPE_CHECKING:
    from benchmarks.stand import Stand
    from claim_check import Event, Producer

CALL_SECONDS: Final = 0.010
ROUNDS: Final = 8
SMALL_BYTES: Final = 200
SMALL_EVENTS: Final = 3000
SMALL_LIMIT: Final = 50.0
LARGE_BYTES: Final = 256 * KIB
LARGE_EVENTS: Final = 200
LARGE_LIMIT: Final = 7.0
ONE_BY_ONE: Final = 40
"""Messages of the usual way in each round: its rate does not depend on their number."""

_QUEUE: Final = "https://sqs.us-east-1.amazonaws.com/000000000000/bench"
_BUCKET: Final = "bench-batch"


def measure(stand: Stand) -> Iterator[Figure]:
    """Small messages, then payloads of 256 KB."""
    with far_services(s3_seconds=CALL_SECONDS, other_seconds=CALL_SECONDS) as endpoint:
        environment = stand.bare_environment() | {"AWS_ENDPOINT_URL": endpoint}
        stand.say("small messages in a batch and one by one in turn")
        ours, usual = child.run(f"{__name__}:small_messages", environment=environment, rounds=ROUNDS)
        yield Figure.at_least(
            "small messages/s : SendMessage one by one",
            round(ours / usual, 1),
            SMALL_LIMIT,
            unit="x",
            how=_how(ours, usual, f"JSON of {SMALL_BYTES} bytes, publish_batch of {SMALL_EVENTS:,} with its log lines"),
        )
        stand.say("payloads of 256 KB in a batch and one by one in turn")
        ours, usual = child.run(f"{__name__}:payloads", environment=environment, rounds=ROUNDS)
        yield Figure.at_least(
            "payloads of 256 KB/s : amazon-sqs-extended-client",
            round(ours / usual, 1),
            LARGE_LIMIT,
            unit="x",
            how=_how(ours, usual, f"publish_batch of {LARGE_EVENTS}"),
        )


def small_messages(rounds: int) -> list[float]:
    """Messages a second, ours and one by one, in a process of its own; the best round of each."""
    sqs, publisher = boto3.Session().client("sqs"), _producer()
    events = [small_event(SMALL_BYTES, f"{number}") for number in range(SMALL_EVENTS)]
    body = bytes(_payload(events[0])).decode()
    return _rates(rounds, publisher, events, lambda: sqs.send_message(QueueUrl=_QUEUE, MessageBody=body))


def payloads(rounds: int) -> list[float]:
    """The same for payloads of 256 KB, against Amazon's Extended Client."""
    publisher, text = _producer(), "x" * LARGE_BYTES
    events = [event(text.encode(), f"{number}") for number in range(LARGE_EVENTS)]
    extended = _extended_client()
    return _rates(rounds, publisher, events, lambda: extended.send_message(QueueUrl=_QUEUE, MessageBody=text))


def _rates(rounds: int, publisher: Producer, events: list[Event], send_one: Callable[[], object]) -> list[float]:
    def batch() -> None:
        results = publisher.publish_batch(events)
        if not all(isinstance(result, Published) for result in results):
            raise BenchmarkError("not every event was published; see the log above")

    def one_by_one() -> None:
        for _ in range(ONE_BY_ONE):
            send_one()

    batch()
    one_by_one()
    pairs = [(_seconds(batch), _seconds(one_by_one)) for _ in range(rounds)]
    return [len(events) / min(ours for ours, _ in pairs), ONE_BY_ONE / min(usual for _, usual in pairs)]


def _seconds(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _producer() -> Producer:
    return Pipeline(Clients(boto3.Session()), "batch", _QUEUE, f"{_QUEUE}-dlq").producer()


def _payload(one: Event) -> bytes:
    assert isinstance(one.payload, bytes)  # noqa: S101 - narrows the type
    return one.payload


def _extended_client() -> Any:  # noqa: ANN401 - a client that a patched session makes
    """Amazon's client. Its import changes every session of the process, so ours is made before."""
    try:
        import sqs_extended_client  # noqa: F401, PLC0415 - see above
    except ImportError as error:
        raise BenchmarkError("amazon-sqs-extended-client is missing; `make setup` installs it.") from error
    client: Any = boto3.client("sqs")
    client.large_payload_support, client.always_through_s3 = _BUCKET, True
    return client


def _how(ours: float, usual: float, what: str) -> str:
    return (
        f"{what}, against a stand-in that answers every call after {CALL_SECONDS * 1000:.0f} ms, any number side by "
        f"side; one process each, the best of {ROUNDS} rounds in turn: {ours:.0f}/s : {usual:.0f}/s"
    )
