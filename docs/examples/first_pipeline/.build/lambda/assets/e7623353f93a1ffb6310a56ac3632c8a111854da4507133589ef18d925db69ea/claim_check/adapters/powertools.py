"""Telemetry on Powertools: JSON logs, metrics in CloudWatch's embedded format, X-Ray only if it is switched on."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from claim_check import telemetry as rules
from claim_check.contract import METRIC_NAMESPACE
from claim_check.ports import Level


class PowertoolsTelemetry:
    """`claim_check.ports.Telemetry` on Powertools. Safe to share between threads."""

    def __init__(self, *, service: str, tracing: bool = False, logger: Logger | None = None) -> None:
        """Set up logs and metrics.

        Args:
            service: The one dimension of every metric, and the ``service`` of every log line.
            tracing: Trace steps with X-Ray; needs the ``aws-xray-sdk`` package, which is imported only then.
            logger: One's own logger.
        """
        self._service = service
        self._logger = logger or Logger(service=service, location=None)
        self._values: dict[str, float] = {}
        self._lock = threading.Lock()
        self._tracer: Any = _tracer(service) if tracing else None

    def log(self, level: Level, event: str, **fields: str | float | None) -> None:
        """Write one line with the fields that may be logged; others are dropped."""
        getattr(self._logger, level)(event, extra=rules.allowed(fields))

    def count(self, metric: str, value: float = 1) -> None:
        """Add to a metric."""
        with self._lock:
            self._values[metric] = rules.combine(metric, self._values.get(metric), value)

    def flush(self) -> None:
        """Emit one value per metric, if there is any."""
        with self._lock:
            values, self._values = self._values, {}
        if not values:
            return
        metrics = EphemeralMetrics(namespace=METRIC_NAMESPACE, service=self._service)
        for name, value in values.items():
            metrics.add_metric(name=name, unit=MetricUnit(rules.unit_of(name)), value=value)
        metrics.flush_metrics()

    def span(self, name: str) -> AbstractContextManager[None]:
        """Trace a step, if tracing is switched on."""
        if self._tracer is None:
            return nullcontext()
        step: AbstractContextManager[None] = self._tracer.provider.in_subsegment(f"## {name}")
        return step


def _tracer(service: str) -> Any:  # noqa: ANN401 - typed as the optional package allows
    from aws_lambda_powertools import Tracer  # noqa: PLC0415 - costs 400 ms, so only when it is used

    return Tracer(service=service, auto_patch=False)
