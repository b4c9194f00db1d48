"""What a reconciliation does with an outbox on DynamoDB: it reads rows, and sets parked ones aside for good (R7.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from claim_check import contract
from claim_check.adapters.dynamodb_calls import condition_failed, read_failure
from claim_check.adapters.inbox_items import serialize, to_value
from claim_check.adapters.outbox import DynamoDbOutbox
from claim_check.contract import OutboxAttribute as Attribute
from claim_check.contract import OutboxState
from claim_check.outbox.rows import OutboxRow

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoDbOutboxRows:
    """`claim_check.reconciliation.ports.OutboxRows` on one DynamoDB table."""

    def __init__(self, client: DynamoDBClient, table: str, *, sleep: Callable[[float], object]) -> None:
        """Use a table.

        Args:
            client: DynamoDB client.
            table: Table name.
            sleep: Waits so many seconds.
        """
        self._client = client
        self._table = table
        self._reader = DynamoDbOutbox(client, table, sleep=sleep)

    def rows(self, keys: Sequence[str]) -> Mapping[str, OutboxRow]:
        """See `claim_check.reconciliation.ports.OutboxRows.rows`."""
        return self._reader.rows(keys)

    def open_rows(self, state: OutboxState) -> Iterator[OutboxRow]:
        """See `claim_check.reconciliation.ports.OutboxRows.open_rows`."""
        return self._reader.open_rows(state)

    def discard(self, row: OutboxRow, *, now: float) -> bool:
        """See `claim_check.reconciliation.ports.OutboxRows.discard`: body and attributes go, as with every last state.

        An earlier discard of the same row is a success, whoever made it: nobody sends it any more.
        """
        names = {
            "#state": Attribute.STATE,
            "#updated": Attribute.UPDATED_AT,
            "#attributes": Attribute.ATTRIBUTES,
            "#ttl": Attribute.TTL,
        }
        values = {
            ":discarded": "DISCARDED",
            ":parked": "PARKED",
            ":seen": row.updated_at,
            ":now": now,
            ":ttl": int(now) + contract.RECONCILE_DISCARDED_SECONDS,
        }
        gone = f"REMOVE {Attribute.BODY}, #attributes, {Attribute.OPEN_SHARD}, {Attribute.OPEN_SINCE}"
        try:
            self._client.update_item(
                TableName=self._table,
                Key={Attribute.KEY: serialize(row.key)},
                UpdateExpression=f"SET #state = :discarded, #updated = :now, #ttl = :ttl {gone}",
                ConditionExpression="#state = :discarded OR (#state = :parked AND #updated = :seen)",
                ExpressionAttributeNames=names,
                ExpressionAttributeValues={place: to_value(value) for place, value in values.items()},
            )
        except (ClientError, BotoCoreError) as error:
            if condition_failed(error):
                return False
            raise read_failure(error, "set an outbox row aside") from None
        return True
