"""
Simple validator to enforce incoming/outgoing event conforms with JSON Schema
!!! abstract "Usage Documentation"
    [`Validation`](../utilities/validation.md)
"""

from .exceptions import (
    InvalidEnvelopeExpressionError,
    InvalidSchemaFormatError,
    SchemaValidationError,
)
from .validator import validate, validator

__all__ = [
    "validate",
    "validator",
    "InvalidSchemaFormatError",
    "SchemaValidationError",
    "InvalidEnvelopeExpressionError",
]
