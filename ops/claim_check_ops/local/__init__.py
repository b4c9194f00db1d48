"""Running the application on this machine: an embedded AWS, the real CDK command line, a fast way to deploy a template.

Nothing in here is known to the application: the constructs and the runtime library see an endpoint and nothing else.
"""

from claim_check_ops.local.cdk_cli import CdkCli, CdkCliError
from claim_check_ops.local.cloudformation import DeployedStack, DeploymentError, deploy_assembly
from claim_check_ops.local.embedded_aws import EmbeddedAws, EmbeddedAwsError
from claim_check_ops.local.waiting import wait_until

__all__ = [
    "CdkCli",
    "CdkCliError",
    "DeployedStack",
    "DeploymentError",
    "EmbeddedAws",
    "EmbeddedAwsError",
    "deploy_assembly",
    "wait_until",
]
