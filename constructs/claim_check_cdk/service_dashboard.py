"""A dashboard of one service: its alarms at the top, then rows of graphs (R12.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

import jsii
from aws_cdk import Duration, IStableStringProducer, Lazy, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from claim_check_cdk.alarm_rules import PERIOD_SECONDS, own_metric, runbook

COLUMNS: Final = 24
"""Width of a dashboard."""

_GRAPH_HEIGHT: Final = 6
_MAX_ALARMS: Final = 100
"""Of one alarm widget; https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html"""

_GUIDE: Final = """\
**{service}: is it healthy?** All alarms green: yes.

**If not, where?** The first row of graphs that changed its shape is the place.

A ringing alarm says what to do; so does the {runbook}.
"""


class WatchedAlarms(Protocol):
    """Alarms, such as `PipelineAlarms`."""

    @property
    def alarms(self) -> Mapping[str, cloudwatch.Alarm]:
        """Each by its id."""


class ServiceDashboard(Construct):
    """A CloudWatch dashboard of anything that has alarms and metrics: give it rows.

    Rows and alarms may be added until the synthesis.

    Attributes:
        dashboard: The dashboard.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        service: str,
        alarms: Mapping[str, cloudwatch.Alarm] | None = None,
        guide: str = _GUIDE,
        dashboard_name: str | None = None,
        period: Duration | None = None,
    ) -> None:
        """Make the dashboard, without rows.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            service: The name under which the metrics of its rows are emitted, unless a row says otherwise.
            alarms: Alarms by their ids; graphs may draw their thresholds. By default none.
            guide: Markdown beside the alarms that says how to read it, with ``{service}`` and ``{runbook}`` in it.
            dashboard_name: Its name, the same in all Regions of an account. By default CloudFormation gives it one.
            period: Of each data point. By default a minute.
        """
        super().__init__(scope, construct_id)
        self._service = service
        self._guide = guide
        self._period = period or Duration.seconds(PERIOD_SECONDS)
        self._known: Mapping[str, cloudwatch.Alarm] = alarms or {}
        self._alarms: list[cloudwatch.IAlarm] = list(self._known.values())
        self._rows: list[tuple[str, Sequence[cloudwatch.IWidget]]] = []
        self.dashboard = cloudwatch.CfnDashboard(
            self, "Dashboard", dashboard_name=dashboard_name, dashboard_body=Lazy.string(_Body(self))
        )

    def add_row(self, title: str, widgets: Sequence[cloudwatch.IWidget]) -> None:
        """Add a row at the bottom.

        Args:
            title: Stands above it.
            widgets: From left to right; what does not fit into 24 columns goes below.
        """
        self._rows.append((title, widgets))

    def add_alarms(self, alarms: Iterable[cloudwatch.IAlarm]) -> None:
        """Show more alarms at the top.

        Args:
            alarms: Such as the values of an ``AlarmSet``'s ``alarms``.
        """
        self._alarms += alarms

    def add_measured(
        self,
        title: str,
        graphs: Mapping[str, Sequence[str]],
        *,
        service: str | None = None,
        statistic: str = "Sum",
        period: Duration | None = None,
    ) -> None:
        """Add a row of metrics that the code emits.

        Args:
            title: Stands above it.
            graphs: Names of `claim_check.contract.Metric`, or error codes, by the title of the graph that shows them.
            service: The name under which they are emitted. By default the dashboard's.
            statistic: How values within a period become one. By default they are added up.
            period: Of each data point; an hour for what is measured once an hour. By default the dashboard's.
        """
        width = max(COLUMNS // max(1, len(graphs)), COLUMNS // 4)

        def line(name: str) -> cloudwatch.Metric:
            return own_metric(service or self._service, name, statistic, label=name, period=period or self._period)

        self.add_row(
            title,
            [self.graph(heading, [line(name) for name in names], width=width) for heading, names in graphs.items()],
        )

    def graph(
        self,
        title: str,
        metrics: Sequence[cloudwatch.IMetric],
        *,
        right: Sequence[cloudwatch.IMetric] = (),
        width: int = 6,
        stacked: bool = False,
        alarms: Sequence[str] = (),
    ) -> cloudwatch.IWidget:
        """Make a graph as the dashboard's own are, for `add_row`.

        Args:
            title: Stands above it.
            metrics: Its lines.
            right: Lines with an axis of their own.
            width: Columns.
            stacked: Whether lines are areas upon each other.
            alarms: Ids of the alarms it was made with whose thresholds are drawn, where there are such.
        """
        lines = [self._known[name] for name in alarms if name in self._known]
        return cloudwatch.GraphWidget(
            title=title,
            left=list(metrics),
            right=list(right),
            width=width,
            height=_GRAPH_HEIGHT,
            stacked=stacked,
            period=self._period,
            left_y_axis=cloudwatch.YAxisProps(min=0, show_units=False),
            right_y_axis=cloudwatch.YAxisProps(min=0, show_units=False) if right else None,
            left_annotations=[line.to_annotation() for line in lines],
        )

    # --- The body ---------------------------------------------------------------------------------------------------

    def body(self) -> str:
        """The dashboard's JSON, with all rows and alarms there are by now."""
        rows: list[Sequence[cloudwatch.IWidget]] = [self._head()]
        for title, widgets in self._rows:
            rows += [[_text(f"## {title}", height=1)], widgets]
        return Stack.of(self).to_json_string({"start": "-PT3H", "periodOverride": "inherit", "widgets": lay_out(rows)})

    def _head(self) -> list[cloudwatch.IWidget]:
        book = runbook(self)
        link = f"[runbook]({book})" if "://" in book else f"runbook (`{book}`)"
        guide = cloudwatch.TextWidget(
            markdown=self._guide.format(service=self._service, runbook=link), width=8, height=_GRAPH_HEIGHT
        )
        alarms = [
            cloudwatch.AlarmStatusWidget(
                title="Alarms", alarms=self._alarms[at : at + _MAX_ALARMS], width=16, height=_GRAPH_HEIGHT
            )
            for at in range(0, len(self._alarms), _MAX_ALARMS)
        ]
        return [*alarms[:1], guide, *alarms[1:]]


def lay_out(rows: Iterable[Sequence[cloudwatch.IWidget]]) -> list[Any]:
    """Place widgets row by row, from left to right, and render them.

    Args:
        rows: Each begins at the left, below all of the rows before it.
    """
    placed: list[Any] = []
    top = 0
    for row in rows:
        left = tallest = 0
        for widget in row:
            if left + widget.width > COLUMNS:
                top, left, tallest = top + tallest, 0, 0
            widget.position(left, top)
            placed += widget.to_json()
            left, tallest = left + int(widget.width), max(tallest, int(widget.height))
        top += tallest
    return placed


def _text(markdown: str, *, height: int) -> cloudwatch.IWidget:
    background = cloudwatch.TextWidgetBackground.TRANSPARENT
    return cloudwatch.TextWidget(markdown=markdown, width=COLUMNS, height=height, background=background)


@jsii.implements(IStableStringProducer)
class _Body:
    def __init__(self, dashboard: ServiceDashboard) -> None:
        self._dashboard = dashboard

    def produce(self) -> str:
        return self._dashboard.body()
