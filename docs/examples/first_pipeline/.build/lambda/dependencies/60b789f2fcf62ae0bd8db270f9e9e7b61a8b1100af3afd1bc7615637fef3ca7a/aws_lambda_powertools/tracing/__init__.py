"""Tracing utility"""

from .extensions import aiohttp_trace_config
from .tracer import Tracer

__all__ = ["Tracer", "aiohttp_trace_config"]
