"""Entry points of the Lambda functions: settings once, then hand the event over."""
