from aws_lambda_powertools.utilities.data_masking.provider.kms.aws_encryption_sdk import AWSEncryptionSDKProvider

__all__ = [
    "AWSEncryptionSDKProvider",
]
