from aws_lambda_powertools.utilities.idempotency.persistence.redis import (
    CacheClientProtocol,
    CacheConnection,
    CachePersistenceLayer,
)

__all__ = [
    "CacheClientProtocol",
    "CachePersistenceLayer",
    "CacheConnection",
]
