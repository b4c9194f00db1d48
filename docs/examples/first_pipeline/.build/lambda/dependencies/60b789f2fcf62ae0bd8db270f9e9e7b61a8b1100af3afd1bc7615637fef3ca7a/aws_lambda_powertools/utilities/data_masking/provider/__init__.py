from aws_lambda_powertools.utilities.data_masking.provider.base import BaseProvider

__all__ = [
    "BaseProvider",
]
