"""Advanced feature flags utility"""

from aws_lambda_powertools.utilities.feature_flags.appconfig import AppConfigExtensionStore, AppConfigStore
from aws_lambda_powertools.utilities.feature_flags.base import StoreProvider
from aws_lambda_powertools.utilities.feature_flags.exceptions import ConfigurationStoreError
from aws_lambda_powertools.utilities.feature_flags.feature_flags import FeatureFlags
from aws_lambda_powertools.utilities.feature_flags.schema import RuleAction, SchemaValidator

__all__ = [
    "ConfigurationStoreError",
    "FeatureFlags",
    "RuleAction",
    "SchemaValidator",
    "AppConfigExtensionStore",
    "AppConfigStore",
    "StoreProvider",
]
