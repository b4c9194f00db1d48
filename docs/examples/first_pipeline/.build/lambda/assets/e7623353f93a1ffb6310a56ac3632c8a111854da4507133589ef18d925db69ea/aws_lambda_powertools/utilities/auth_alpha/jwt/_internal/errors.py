from aws_lambda_powertools.utilities.auth_alpha._internal.errors import sanitize_errors

__all__ = ["sanitize_errors"]
