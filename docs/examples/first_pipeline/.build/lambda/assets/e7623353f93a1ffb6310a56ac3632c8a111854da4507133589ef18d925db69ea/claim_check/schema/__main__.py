"""Prints the schema: ``python -m claim_check.schema > …/envelope-v1.json``."""

from __future__ import annotations

import sys

from claim_check.schema import text

sys.stdout.write(text())
