"""Prints a schema: ``python -m claim_check.schema > envelope-v1.json``, or with ``uploads`` that of the upload API."""

from __future__ import annotations

import sys

from claim_check import schema
from claim_check.schema import uploads

sys.stdout.write(uploads.text() if sys.argv[1:] == ["uploads"] else schema.text())
