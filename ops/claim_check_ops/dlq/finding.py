"""Which archive a DLQ has: told by the environment, or by the function that fills it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from claim_check.contract import Setting
from claim_check_ops.functions import all_variables, lambda_client
from claim_check_ops.pipelines import PipelineNotFound

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient


def archive_bucket(
    environment: Mapping[str, str], dlq_url: str, *, functions: LambdaClient | None = None
) -> str | None:
    """Bucket of the archive of a DLQ; None if it has none.

    Args:
        environment: Variables of this process: one that tells the consumer tells its archive, too.
        dlq_url: The DLQ.
        functions: Client of Lambda; made when it is needed.

    Raises:
        PipelineNotFound: Lambda refuses to tell.
    """
    if environment.get(Setting.ARCHIVE_BUCKET) or environment.get(Setting.CONSUMER):
        return environment.get(Setting.ARCHIVE_BUCKET)
    try:
        for _, variables in all_variables(functions or lambda_client()):
            if variables.get(Setting.DLQ_URL) == dlq_url and variables.get(Setting.ARCHIVE_BUCKET):
                return variables[Setting.ARCHIVE_BUCKET]
    except (ClientError, BotoCoreError) as error:
        raise PipelineNotFound(
            f"Functions cannot be listed, so it is not known whether there is an archive: {error}. Name its bucket by "
            "--archive-bucket, or leave it out by --no-archive."
        ) from error
    return None
