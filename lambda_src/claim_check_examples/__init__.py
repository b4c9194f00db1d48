"""Worked examples: handlers that the app of this repository deploys. Copy one to begin your own."""
