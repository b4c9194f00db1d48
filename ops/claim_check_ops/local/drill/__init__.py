"""The replay drill: fill a DLQ, mend the cause, redrive under limits, and count what it did at S3's own door (R9)."""
