"""
Typing for developer ease in the IDE
!!! abstract "Usage Documentation"
    [`Typing`](../utilities/typing.md)
"""

from .lambda_context import DurableContextProtocol, LambdaContext

__all__ = ["DurableContextProtocol", "LambdaContext"]
