from aws_lambda_powertools.metrics.provider.base import BaseProvider

__all__ = [
    "BaseProvider",
]
