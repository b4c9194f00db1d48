"""Utilities to enhance middleware
!!! abstract "Usage Documentation"
    [`Middleware Factory`](../utilities/middleware_factory.md)
"""

from aws_lambda_powertools.middleware_factory.factory import lambda_handler_decorator

__all__ = ["lambda_handler_decorator"]
