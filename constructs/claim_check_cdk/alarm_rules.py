"""How every alarm of this project is made: a rule says when it rings and what to do, an `AlarmSet` makes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from constructs import Construct

from claim_check.contract import METRIC_DIMENSION, METRIC_NAMESPACE

PERIOD_SECONDS: Final = 60
"""Of every metric that is sent all the time."""

DAY: Final = 86_400
"""Seconds; CloudWatch looks no further back than this, unless each period is an hour or more."""

RUNBOOK_CONTEXT: Final = "claim-check:runbook"
"""Context key: where the runbook can be read, such as the address of its page in your repository's browser."""

RUNBOOK: Final = "docs/runbook.md"
"""Where it is unless the context says otherwise; each alarm has a section of its name there, which a test holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """When an alarm rings: ``datapoints`` of the last ``periods`` periods are at the threshold or beyond it.

    Attributes:
        threshold: Rings at this value and above it; where ``falling``, at this value and below it.
        datapoints: Periods that must be bad.
        periods: Periods looked at; more than one, so that the alarm does not flap.
        what_to_do: For who gets the alarm: what it means, and the first thing to do.
        period_seconds: Length of a period: a minute, or longer for what is measured less often.
        falling: Whether small values are the bad ones. By default large ones are.
        informs: Whether it only shows on the dashboard, and calls nobody. By default it calls.
        silence_rings: Whether a period without data is a bad one, for what is sent all the time. By default it is good.
    """

    threshold: float
    datapoints: int
    periods: int
    what_to_do: str
    period_seconds: int = PERIOD_SECONDS
    falling: bool = False
    informs: bool = False
    silence_rings: bool = False

    def __post_init__(self) -> None:
        """Refuse what CloudWatch refuses at deployment.

        Raises:
            ValueError: More data points than periods, or a window longer than a day.
        """
        if not 1 <= self.datapoints <= self.periods:
            raise ValueError(f"datapoints = {self.datapoints}: must be from 1 to periods = {self.periods}")
        if self.period_seconds * self.periods > DAY:
            raise ValueError(f"periods = {self.periods} of {self.period_seconds} s: must be a day at most together")

    @property
    def period(self) -> Duration:
        """Length of a period."""
        return Duration.seconds(self.period_seconds)


FUNCTION_ERRORS: Final = Rule(
    threshold=1,
    datapoints=2,
    periods=5,
    what_to_do="The function itself fails: a crash, a timeout, or an outage of S3, SQS or DynamoDB. Read its log for "
    "the newest error.",
)

FUNCTION_THROTTLES: Final = Rule(
    threshold=1,
    datapoints=3,
    periods=5,
    what_to_do="Lambda has no room for the function: the account's concurrency is used up, or the function's own "
    "reserved concurrency is too low. Raise one of them.",
)


PUBLISH_FAILED: Final = Rule(
    threshold=1,
    datapoints=2,
    periods=15,
    what_to_do="Events could not be published for an outage or a refusal of S3 or SQS, retries included; their callers "
    "were told. Repeating is safe: the same event has the same key. Read the newest error: a role, a policy, a key, a "
    "full queue, an outage.",
)


class AlarmSet:
    """The alarms of one service: each says whose it is, what to do, and where the runbook goes on.

    Missing data is good, unless a rule says otherwise: an idle queue and an idle function emit none.

    Attributes:
        alarms: Every alarm by its id.
        service: Whose alarms these are.
    """

    def __init__(self, scope: Construct, *, service: str, topic: sns.ITopic | None) -> None:
        """Start with none.

        Args:
            scope: Parent of the alarms; their ids are unique within it.
            service: The name under which the code emits its metrics, which each description begins with.
            topic: Told when an alarm rings and when it is over; None tells nobody.
        """
        self._scope = scope
        self._topic = topic
        self._runbook = runbook(scope)
        self.service = service
        self.alarms: dict[str, cloudwatch.Alarm] = {}

    def add(
        self, alarm_id: str, metric: cloudwatch.IMetric, rule: Rule, *, section: str | None = None
    ) -> cloudwatch.Alarm:
        """Make an alarm.

        Args:
            alarm_id: Id within the scope.
            metric: What it watches, with the rule's period.
            rule: When it rings, and what to do then.
            section: The runbook's section, without the word ``Alarm``. By default it is named like the alarm.
        """
        at_or_beyond = (
            cloudwatch.ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD
            if rule.falling
            else cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
        )
        link = f"{self._runbook}#alarm-{(section or alarm_id).lower()}"
        alarm = cloudwatch.Alarm(
            self._scope,
            alarm_id,
            alarm_description=f"{self.service}: {rule.what_to_do} Runbook: {link}",
            metric=metric,
            threshold=rule.threshold,
            comparison_operator=at_or_beyond,
            datapoints_to_alarm=rule.datapoints,
            evaluation_periods=rule.periods,
            treat_missing_data=(
                cloudwatch.TreatMissingData.BREACHING
                if rule.silence_rings
                else cloudwatch.TreatMissingData.NOT_BREACHING
            ),
        )
        if self._topic is not None and not rule.informs:
            action = actions.SnsAction(self._topic)
            alarm.add_alarm_action(action)
            alarm.add_ok_action(action)
        self.alarms[alarm_id] = alarm
        return alarm

    def add_own(self, alarm_id: str, name: str, statistic: str, rule: Rule) -> cloudwatch.Alarm:
        """Make an alarm on a metric that the code of this service emits.

        Args:
            alarm_id: Id within the scope.
            name: Of `claim_check.contract.Metric` or `claim_check.contract.ErrorCode`.
            statistic: ``Sum``, ``Maximum`` or ``Minimum``.
            rule: When it rings, and what to do then.
        """
        return self.add(alarm_id, own_metric(self.service, name, statistic, period=rule.period), rule)

    def add_function(
        self,
        function: lambda_.IFunction,
        *,
        prefix: str = "",
        errors: Rule = FUNCTION_ERRORS,
        throttles: Rule = FUNCTION_THROTTLES,
    ) -> None:
        """Make the alarms ``FunctionErrors`` and ``FunctionThrottles`` of a function.

        Args:
            function: The function.
            prefix: Begins the alarms' ids where a service has several functions. By default they have none.
            errors: When failures ring. By default at two bad minutes in five.
            throttles: When refused invocations ring. By default at three bad minutes in five.
        """
        failed = function.metric_errors(period=errors.period, statistic="Sum")
        refused = function.metric_throttles(period=throttles.period, statistic="Sum")
        self.add(f"{prefix}FunctionErrors", failed, errors, section="FunctionErrors")
        self.add(f"{prefix}FunctionThrottles", refused, throttles, section="FunctionThrottles")


def runbook(scope: Construct) -> str:
    """Address of the runbook's page, for links.

    Args:
        scope: Whose context says it.
    """
    return str(scope.node.try_get_context(RUNBOOK_CONTEXT) or RUNBOOK)


def own_metric(
    service: str, name: str, statistic: str, *, period: Duration | None = None, label: str | None = None
) -> cloudwatch.Metric:
    """A metric that the code emits, for an alarm or a widget.

    Args:
        service: The name under which the function emits its metrics.
        name: Of `claim_check.contract.Metric` or `claim_check.contract.ErrorCode`.
        statistic: Such as ``Sum``, ``Maximum`` or ``p99``.
        period: Of each data point. By default a minute.
        label: On a graph. By default CloudWatch's own.
    """
    return metric(METRIC_NAMESPACE, name, {METRIC_DIMENSION: service}, statistic, period=period, label=label)


def table_metric(
    table: dynamodb.ITable,
    name: str,
    statistic: str,
    *,
    index: str | None = None,
    period: Duration | None = None,
    label: str | None = None,
) -> cloudwatch.Metric:
    """A metric of a DynamoDB table, for an alarm or a widget.

    Args:
        table: The table.
        name: Such as ``WriteThrottleEvents``.
        statistic: Such as ``Sum``.
        index: Name of the index whose metric it is. By default that of the table itself.
        period: Of each data point. By default a minute.
        label: On a graph. By default CloudWatch's own.
    """
    dimensions = {"TableName": table.table_name, **({"GlobalSecondaryIndexName": index} if index else {})}
    return metric("AWS/DynamoDB", name, dimensions, statistic, period=period, label=label)


def metric(
    namespace: str,
    name: str,
    dimensions: Mapping[str, str],
    statistic: str,
    *,
    period: Duration | None = None,
    label: str | None = None,
) -> cloudwatch.Metric:
    """Any metric.

    Args:
        namespace: Such as ``AWS/SQS``.
        name: Of the metric.
        dimensions: All of them, or CloudWatch finds another metric, or none.
        statistic: Such as ``Sum``.
        period: Of each data point. By default a minute.
        label: On a graph. By default CloudWatch's own.
    """
    return cloudwatch.Metric(
        namespace=namespace,
        metric_name=name,
        dimensions_map=dict(dimensions),
        statistic=statistic,
        period=period or Duration.seconds(PERIOD_SECONDS),
        label=label,
    )
