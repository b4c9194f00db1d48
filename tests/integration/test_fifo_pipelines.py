"""FIFO in the embedded AWS: poison that is parked, poison that blocks its group, and the naive way that loses both."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console

from claim_check import Event, Producer, Published
from claim_check.adapters.inbox_items import deserialize, to_row
from claim_check.aws import producer
from claim_check.contract import InboxAttribute, Metric, inbox_key
from claim_check_ops.local import EmbeddedAws, wait_until
from claim_check_ops.local.deployment import Deployment
from claim_check_ops.local.progress import progress_bar
from claim_check_ops.local.wallet_run import WalletRun
from claim_check_ops.telemetry import SilentTelemetry

pytestmark = pytest.mark.integration

TENANT = "tenant-1"


# --- The wallet: poison is parked -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wallet_run(wallet: Deployment) -> WalletRun:
    """One run of the movements of ``make run``."""
    result = WalletRun(wallet)
    with progress_bar(Console(quiet=True)) as bar:
        result.execute(bar)
    return result


def test_every_account_ends_as_it_must(wallet_run: WalletRun) -> None:  # R13.2
    assert wallet_run.problems == []
    assert {account.name: account.problems for account in wallet_run.seen} == {
        "salary": (),
        "savings": (),
        "broken": (),
    }
    assert wallet_run.succeeded


def test_movements_are_in_order_the_retried_one_counts_once_and_poison_breaks_only_its_own(
    wallet_run: WalletRun,
) -> None:
    seen = {account.name: account for account in wallet_run.seen}
    assert (seen["savings"].sent, len(seen["savings"].entries)) == (5, 4), "one was sent twice"
    assert [entry.result for entry in seen["savings"].entries] == ["applied", "applied", "overdraft", "applied"]
    assert (seen["broken"].parked, len(seen["broken"].entries)) == (1, 3)
    assert seen["salary"].balance.cents == 214_450


# --- Orders: poison blocks its group (R5.1) -------------------------------------------------------------------------


class Orders:
    """What the test does with the pipeline of orders."""

    def __init__(self, deployment: Deployment) -> None:
        """Use a pipeline."""
        self.deployment = deployment
        self.publisher: Producer = producer(
            deployment.producer, clients=deployment.clients, telemetry=SilentTelemetry()
        )

    def add_article(self, name: str) -> None:
        """Mend the cause."""
        key = {"pk": {"S": f"article#{name}"}, "sk": {"S": "-"}}
        self.deployment.aws.dynamodb.put_item(TableName=self.deployment.table, Item=key)

    def publish(self, customer: str, place: int, article: str) -> Published:
        """Send an order."""
        return self.publisher.publish(
            Event.json(
                {"customer": customer, "place": place, "article": article},
                tenant_id=TENANT,
                event_type="OrderPlaced",
                message_id=f"{customer}-{place}",
                group_id=customer,
            )
        )

    def booked(self, customer: str) -> list[dict[str, Any]]:
        """A customer's orders."""
        answer = self.deployment.aws.dynamodb.query(
            TableName=self.deployment.table,
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": f"customer#{customer}"}},
            ConsistentRead=True,
        )
        return [{key: deserialize(value) for key, value in item.items()} for item in answer["Items"]]

    def row(self, message_id: str) -> Any:  # noqa: ANN401 - an inbox row, or None
        """The inbox row of an order."""
        key = inbox_key(consumer="orders", tenant_id=TENANT, idempotency_key=message_id)
        answer = self.deployment.aws.dynamodb.get_item(
            TableName=self.deployment.consumer.inbox_table, Key={InboxAttribute.KEY: {"S": key}}, ConsistentRead=True
        )
        return to_row(answer["Item"]) if "Item" in answer else None

    def waiting(self) -> int:
        """Messages in the queue, hidden ones too."""
        answer = self.deployment.aws.sqs.get_queue_attributes(
            QueueUrl=self.deployment.consumer.queue_url,
            AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
        )
        return sum(map(int, answer["Attributes"].values()))

    def blocked(self) -> float:
        """How often the consumer has told of a blocked group."""
        documents = self.deployment.aws.lambda_metrics(self.deployment.consumer_function)
        return float(sum(value for document in documents for value in document.get(Metric.GROUP_BLOCKED, [])))


def test_poison_blocks_its_group_alone_and_goes_on_in_order_once_the_cause_is_fixed(blocking: Deployment) -> None:
    orders = Orders(blocking)
    assert blocking.consumer.dlq_url is None
    stuck, moving, late = (f"{name}-{uuid.uuid4().hex[:8]}" for name in ("stuck", "moving", "late"))
    orders.add_article("pen")
    new = f"quill-{uuid.uuid4().hex[:8]}"
    for place, article in enumerate(["pen", new, "pen", "pen"]):
        orders.publish(stuck, place, article)
        orders.publish(moving, place, "pen")

    wait_until(lambda: len(orders.booked(moving)) == 4, what="the other group to be done", timeout=60)
    wait_until(lambda: orders.blocked() >= 2, what="the blocked group to be told of, again", timeout=60)
    orders.publish(late, 0, "pen")
    wait_until(lambda: orders.booked(late), what="a group that came later", timeout=60)
    assert len(orders.booked(stuck)) == 1
    assert orders.waiting() == 3, "nothing of the group is lost, and nothing of it is anywhere else"
    row = orders.row(f"{stuck}-1")
    assert (row.state, row.last_code) == ("FAILED", "NoSuchArticle")
    assert orders.row(f"{stuck}-2") is None, "what stands behind it has cost no attempt"

    orders.add_article(new)
    wait_until(lambda: len(orders.booked(stuck)) == 4, what="the blocked group to go on", timeout=90)
    wait_until(lambda: orders.waiting() == 0, what="the queue to be empty", timeout=60)
    for customer in (stuck, moving, late):
        assert all(order["inOrder"] for order in orders.booked(customer))


# --- The counter-example on the embedded AWS (R4.7) -----------------------------------------------------------------


@pytest.fixture
def pair(embedded_aws: EmbeddedAws) -> Iterator[tuple[str, str]]:
    """A FIFO queue with maxReceiveCount 3, and its DLQ."""
    name = f"naive-{uuid.uuid4().hex[:12]}"
    dlq = embedded_aws.sqs.create_queue(QueueName=f"{name}-dlq.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    arn = embedded_aws.sqs.get_queue_attributes(QueueUrl=dlq, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = f'{{"deadLetterTargetArn":"{arn}","maxReceiveCount":"3"}}'
    attributes = {"FifoQueue": "true", "RedrivePolicy": policy, "VisibilityTimeout": "1"}
    source = embedded_aws.sqs.create_queue(QueueName=f"{name}.fifo", Attributes=attributes)["QueueUrl"]  # type: ignore[arg-type]  # plain texts
    yield source, dlq
    for url in (source, dlq):
        embedded_aws.sqs.delete_queue(QueueUrl=url)


def test_counter_example_a_tail_that_is_only_reported_goes_to_the_dlq_with_its_head(
    embedded_aws: EmbeddedAws, pair: tuple[str, str]
) -> None:
    source, dlq = pair
    sqs = embedded_aws.sqs
    for body in ("bad", "b", "c", "d"):
        sqs.send_message(QueueUrl=source, MessageBody=body, MessageGroupId="g", MessageDeduplicationId=body)
    received: list[list[str]] = []
    for _ in range(4):  # whoever receives fails at the head and reports all behind it: nothing is deleted
        messages = sqs.receive_message(QueueUrl=source, MaxNumberOfMessages=10).get("Messages", [])
        received.append([message["Body"] for message in messages])
        time.sleep(1.1)
    assert received == [["bad", "b", "c", "d"]] * 3 + [[]]
    lost: list[str] = []
    while messages := sqs.receive_message(QueueUrl=dlq, MaxNumberOfMessages=10).get("Messages", []):
        for message in messages:
            lost.append(message["Body"])
            sqs.delete_message(QueueUrl=dlq, ReceiptHandle=message["ReceiptHandle"])
    assert lost == ["bad", "b", "c", "d"]


def test_the_apps_fifo_queue_has_its_backstop_far_from_there(wallet: Deployment) -> None:
    answer = wallet.aws.sqs.get_queue_attributes(QueueUrl=wallet.consumer.queue_url, AttributeNames=["RedrivePolicy"])
    assert "102" in answer["Attributes"]["RedrivePolicy"]
