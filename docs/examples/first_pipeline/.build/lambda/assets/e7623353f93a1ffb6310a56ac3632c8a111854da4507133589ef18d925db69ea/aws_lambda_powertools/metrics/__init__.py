"""CloudWatch Embedded Metric Format utility"""

from aws_lambda_powertools.metrics.base import MetricResolution, MetricUnit, single_metric
from aws_lambda_powertools.metrics.exceptions import (
    MetricResolutionError,
    MetricUnitError,
    MetricValueError,
    SchemaValidationError,
)
from aws_lambda_powertools.metrics.metrics import EphemeralMetrics, Metrics

__all__ = [
    "single_metric",
    "MetricUnitError",
    "MetricResolutionError",
    "SchemaValidationError",
    "MetricValueError",
    "Metrics",
    "EphemeralMetrics",
    "MetricResolution",
    "MetricUnit",
]
