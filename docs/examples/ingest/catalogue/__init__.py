"""The team's own package."""
