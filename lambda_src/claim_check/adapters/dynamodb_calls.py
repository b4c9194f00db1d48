"""What every adapter on DynamoDB does alike: tells what a failed call means, reads many rows and whole indexes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from claim_check.adapters.failures import code_of, kind_of
from claim_check.errors import CommitFailed, ReadRefused, Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Failure = ClientError | BotoCoreError

BATCH_KEYS: Final = 100
"""Keys that one BatchGetItem takes."""

REFUSED: Final = "ConditionalCheckFailed"
"""Cancellation code of a write whose condition did not hold."""

PASSING: Final = frozenset(
    {
        "InternalServerError",
        "LimitExceededException",
        "ProvisionedThroughputExceeded",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ServiceUnavailable",
        "ThrottlingError",
        "ThrottlingException",
        "TransactionConflict",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)
"""Error and cancellation codes that pass by themselves; the SDK does not retry those inside a cancellation."""

_MAX_ROUNDS: Final = 8
"""Times that keys which DynamoDB left over are asked for again, without progress, before it counts as throttled."""


def condition_failed(error: Failure) -> bool:
    """Whether a single write was refused by its own condition."""
    return code_of(error) == f"{REFUSED}Exception"


def read_failure(error: Failure, refused_to: str) -> Unavailable | ReadRefused:
    """What a failed call outside a commit means.

    Args:
        error: The failure.
        refused_to: What DynamoDB did not do, if repeating cannot mend it: ``show the table``.
    """
    code = code_of(error)
    if _passes(code, error):
        return Unavailable(f"DynamoDB: {code}")
    return ReadRefused(f"DynamoDB refuses to {refused_to}: {code}")


def cancellations(error: ClientError) -> list[dict[str, Any]]:
    """Why a transaction was cancelled: one reason for each of its items, in order; nothing if it was not."""
    reasons: list[dict[str, Any]] = error.response.get("CancellationReasons", [])  # type: ignore[assignment]  # stubs
    return reasons


def commit_failure(error: ClientError, codes: Iterable[str], what: str) -> Unavailable | CommitFailed:
    """What a commit that no condition refused means.

    Args:
        error: The failure.
        codes: The codes of its cancellation reasons.
        what: What DynamoDB refused: ``the commit``.
    """
    cause = next((name for name in codes if name != "None"), code_of(error))
    if _passes(cause, error):
        return Unavailable(f"DynamoDB: {cause}")
    return CommitFailed(f"DynamoDB refused {what}: {cause}")


def items_of_keys(
    client: DynamoDBClient, table: str, keys: Sequence[Mapping[str, Any]], *, sleep: Callable[[float], object]
) -> Iterator[Mapping[str, Any]]:
    """Read items by key, consistently, 100 at a time, in no order.

    Args:
        client: DynamoDB client.
        table: Table name.
        keys: Primary keys in the low-level form, each once.
        sleep: Waits so many seconds.

    Raises:
        Unavailable: A throttle, a fault of the service, or no answer.
        ReadRefused: Anything that repeating cannot mend.
    """
    for start in range(0, len(keys), BATCH_KEYS):
        yield from _batch(client, table, keys[start : start + BATCH_KEYS], sleep)


def queried(client: DynamoDBClient, request: Mapping[str, Any], *, what: str = "the table") -> Iterator[Any]:
    """All items that a query gives, page after page.

    Args:
        client: DynamoDB client.
        request: Its arguments.
        what: What DynamoDB does not show if it refuses.

    Raises:
        Unavailable: A throttle, a fault of the service, or no answer.
        ReadRefused: Anything that repeating cannot mend.
    """
    request = dict(request)
    while True:
        answer = _asked(partial(client.query, **request), what)
        yield from answer["Items"]
        if not answer.get("LastEvaluatedKey"):
            return
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def _batch(
    client: DynamoDBClient, table: str, keys: Sequence[Mapping[str, Any]], sleep: Callable[[float], object]
) -> Iterator[Mapping[str, Any]]:
    left: Sequence[Mapping[str, Any]] = keys
    rounds = 0
    while rounds < _MAX_ROUNDS:
        request: Any = {table: {"Keys": left, "ConsistentRead": True}}
        answer = _asked(partial(client.batch_get_item, RequestItems=request), "the table")
        yield from answer["Responses"].get(table, [])
        before, left = len(left), answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", [])
        if not left:
            return
        rounds = 0 if len(left) < before else rounds + 1
        sleep(min(5.0, 0.1 * 2**rounds))
    raise Unavailable("DynamoDB: keys are left unprocessed again and again")


def _asked(ask: Callable[[], Any], what: str) -> Any:  # noqa: ANN401 - an answer of one of several calls
    try:
        return ask()
    except (ClientError, BotoCoreError) as error:
        raise read_failure(error, f"show {what}") from None


def _passes(code: str, error: Failure) -> bool:
    return code in PASSING or kind_of(error) == "transient"
