"""Messages that commit together with domain writes (R3)."""
