"""Claim checks over SQS and S3: the runtime library.

Importing it imports neither boto3 nor Powertools; the adapters in `claim_check.adapters` do that when they are used.
"""

from __future__ import annotations

from claim_check.envelope import Claim, Envelope, Inline

__all__ = ["Claim", "Envelope", "Inline"]
