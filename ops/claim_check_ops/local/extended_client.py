"""Amazon's own Extended Clients, talking to the embedded AWS: peers of the tests, and one sender of `local run`.

They are optional (extra ``interop``). Importing them replaces `boto3.Session` for the whole process; here that is
undone at once.
"""

import importlib
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import boto3
import boto3.session

from claim_check_ops.local.embedded_aws import REGION, EmbeddedAws

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_SQS: Final = "sqs_extended_client"
_SNS: Final = "sns_extended_client"


def installed() -> bool:
    """Whether the SQS client is there."""
    return importlib.util.find_spec(_SQS) is not None


def sqs_client(aws: EmbeddedAws, bucket: str, *, always: bool = False, legacy: bool = False) -> "SQSClient":
    """The Python SQS Extended Client.

    Args:
        aws: Where it sends.
        bucket: Where it puts payloads.
        always: Puts small ones there, too.
        legacy: Writes the older names of attribute and class.
    """
    made = _client(aws, _SQS, "client", "SQSExtendedClientSession", "sqs")
    client: SQSClient = _set_up(made, aws, bucket, always=always, legacy=legacy)
    return client


def sns_client(aws: EmbeddedAws, bucket: str, *, always: bool = False, legacy: bool = False) -> Any:  # noqa: ANN401 - there are no stubs of SNS here
    """The Python SNS Extended Client; arguments as of `sqs_client`."""
    client = _client(aws, _SNS, "session", "SNSExtendedClientSession", "sns")
    return _set_up(client, aws, bucket, always=always, legacy=legacy)


def _client(aws: EmbeddedAws, package: str, module: str, session: str, service: str) -> Any:  # noqa: ANN401 - untyped
    with _boto3_as_it_is():
        make = getattr(importlib.import_module(f"{package}.{module}"), session)
        made = make(aws_access_key_id="test", aws_secret_access_key="test", region_name=REGION)  # noqa: S106 - the embedded AWS's
        verify = None if aws.ca_bundle is None else str(aws.ca_bundle)
        return made.client(service, endpoint_url=aws.endpoint_url, verify=verify)


def _set_up(client: Any, aws: EmbeddedAws, bucket: str, *, always: bool, legacy: bool) -> Any:  # noqa: ANN401 - untyped
    client.s3_client = aws.s3
    client.large_payload_support = bucket
    client.always_through_s3 = always
    client.use_legacy_attribute = legacy
    return client


@contextmanager
def _boto3_as_it_is() -> Iterator[None]:
    before = {(module, name): vars(module).get(name) for module, name in _REPLACED}
    try:
        yield
    finally:
        for (module, name), value in before.items():
            setattr(module, name, value)


_REPLACED: Final = ((boto3, "Session"), (boto3, "DEFAULT_SESSION"), (boto3.session, "Session"))
