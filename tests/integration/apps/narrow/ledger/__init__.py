"""The handlers of the narrow app."""
