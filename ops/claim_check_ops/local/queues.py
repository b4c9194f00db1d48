"""A look into a deployment's queues that changes nothing for good."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from claim_check.contract import ATTRIBUTE_PARKED
from claim_check_ops.local.deployment import Deployment

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageTypeDef

_PEEK_SECONDS: Final = 1


@dataclass
class Queues:
    """The source queue and the DLQ of a pipeline.

    Attributes:
        deployment: The pipeline.
        parked: Reasons of parked messages seen so far, by the id of the message they are a copy of.
    """

    deployment: Deployment
    parked: dict[str, dict[str, Any]] = field(default_factory=dict)

    def look(self) -> None:
        """Read the reasons of all that lies in the DLQ."""
        for message in self._dead_letters():
            attribute = message.get("MessageAttributes", {}).get(ATTRIBUTE_PARKED)
            if attribute is not None:
                reason = json.loads(attribute["StringValue"])
                self.parked[reason["originalMessageId"]] = reason

    def source_is_empty(self) -> bool:
        """Whether the source queue holds nothing, hidden messages included."""
        answer = self.deployment.aws.sqs.get_queue_attributes(
            QueueUrl=self.deployment.consumer.queue_url,
            AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
        )
        return all(int(number) == 0 for number in answer["Attributes"].values())

    def _dead_letters(self) -> "Iterator[MessageTypeDef]":
        """Every visible message of the DLQ; it is visible again a second later."""
        while messages := self.deployment.aws.sqs.receive_message(
            QueueUrl=self.deployment.consumer.dlq_url or "",
            MaxNumberOfMessages=10,
            VisibilityTimeout=_PEEK_SECONDS,
            MessageAttributeNames=["All"],
        ).get("Messages", []):
            yield from messages
