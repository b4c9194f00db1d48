"""Orders whose poison blocks its group."""
