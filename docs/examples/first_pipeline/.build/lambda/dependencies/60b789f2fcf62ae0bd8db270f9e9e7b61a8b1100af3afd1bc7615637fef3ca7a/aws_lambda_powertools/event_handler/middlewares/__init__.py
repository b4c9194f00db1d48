from aws_lambda_powertools.event_handler.middlewares.base import BaseMiddlewareHandler, NextMiddleware

__all__ = ["BaseMiddlewareHandler", "NextMiddleware"]
