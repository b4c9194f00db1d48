"""An HTTP API by which clients upload payloads straight to S3, and confirm them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from aws_cdk import Annotations, Duration, Names, RemovalPolicy, Stack, Token
from aws_cdk import aws_apigatewayv2 as apigatewayv2
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from claim_check.contract import (
    UPLOAD_CONFIRM_MARGIN_SECONDS,
    UPLOAD_GRANT_SECONDS,
    Metric,
    Setting,
    uploads_service,
)
from claim_check_cdk.alarm_rules import PUBLISH_FAILED, AlarmSet, Rule, metric
from claim_check_cdk.claim_check_function import ClaimCheckFunction
from claim_check_cdk.pointer_life import PlannedQueue, RetentionTerms
from claim_check_cdk.validation import Mistakes, describe, known, known_seconds

UPLOADS_HANDLER: Final = "claim_check.handlers.uploads.handler"
PATHS: Final = ("/uploads", "/events")

_TIMEOUT_SECONDS: Final = 29
"""An HTTP API waits 30 s at most."""

_MAX_GRANT_SECONDS: Final = 12 * 3600
"""A presigned request ends with the credentials that signed it; those of a function live up to 12 hours."""

_MAX_API_NAME: Final = 128
_CORS_SECONDS: Final = 3600
_API_ERRORS: Final = Rule(
    threshold=1,
    datapoints=3,
    periods=15,
    what_to_do="Requests of the upload API fail with 5xx: nothing is lost, since clients repeat, but nobody can "
    "upload. Read the newest line of the API's access log (integrationError) and the function's newest error.",
)
_RATE_LIMIT: Final = 50
_BURST_LIMIT: Final = 100


class UploadBucket(Protocol):
    """A bucket that payloads can be uploaded to, such as `PayloadBucket`."""

    @property
    def bucket(self) -> s3.IBucket:
        """The bucket itself."""

    def retain_for(self, queue: PlannedQueue, *, terms: RetentionTerms | None = None) -> None:
        """Keep payloads for as long as this queue could hold a pointer to them."""

    def grant_upload(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow granting and confirming uploads."""


class UploadQueue(PlannedQueue, Protocol):
    """A queue that confirmed uploads are published to, such as `MessageQueue`."""

    @property
    def queue(self) -> sqs.IQueue:
        """The queue itself."""

    def grant_publish(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow sending."""


class UploadInbox(Protocol):
    """An inbox that remembers what was published, such as `InboxTable`."""

    def retain_for(self, queue: PlannedQueue, *, terms: RetentionTerms | None = None) -> None:
        """Remember what came through this queue for as long as it could come again."""


class UploadsTo(Protocol):
    """What uploads are published to, such as `ClaimCheckPipeline`."""

    @property
    def bucket(self) -> UploadBucket:
        """Where payloads go."""

    @property
    def queue(self) -> UploadQueue:
        """Where messages go."""

    @property
    def inbox(self) -> UploadInbox:
        """What the consumer remembers."""

    @property
    def retention_terms(self) -> RetentionTerms:
        """Terms of the retention plan."""

    def producer_environment(self) -> Mapping[str, str]:
        """The settings a producer needs."""


class UploadApi(Construct):
    """``POST /uploads`` grants a presigned PUT, ``POST /events`` verifies what was uploaded and publishes it (R2.8).

    Nothing large passes through the API or Lambda. Callers sign their requests with IAM credentials, unless another
    authorizer is given. Uploads that are not confirmed expire by the bucket's own rule for them; the retention plan of
    the pipeline counts how long a client may take.

    Attributes:
        api: The HTTP API.
        stage: Its only stage.
        url: Its address, without a slash at the end.
        uploads: The function construct that answers.
        function: Its Lambda function.
        access_logs: The log group of the API's access logs.
        confirm_within: How old an upload may be when it is confirmed.
        alarms: Its alarms by their ids.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        pipeline: UploadsTo,
        authorizer: apigatewayv2.IHttpRouteAuthorizer | None = None,
        tenant_claim: str | None = None,
        allowed_origins: Sequence[str] = (),
        grant_expiry: Duration | None = None,
        longest_upload: Duration | None = None,
        confirm_within: Duration | None = None,
        rate_limit: float = _RATE_LIMIT,
        burst_limit: int = _BURST_LIMIT,
        handler_package: Path | None = None,
        encryption_key: kms.IKey | None = None,
        alarm_topic: sns.ITopic | None = None,
        log_retention: logs.RetentionDays = logs.RetentionDays.ONE_MONTH,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Make the API and its function.

        Args:
            scope: Parent construct.
            construct_id: Id within the parent.
            pipeline: What uploads are published to.
            authorizer: Who may call. By default whoever has the IAM right to (`grant_invoke`).
            tenant_claim: Claim of the caller's token, or of a Lambda authorizer's context, that names the only tenant
                it may act for; needs an ``authorizer``. By default callers are trusted with every tenant, as producers
                are.
            allowed_origins: Origins whose pages may call the API and upload, such as ``https://app.example.com``; the
                bucket gets the same rule. By default none: no CORS at all.
            grant_expiry: How long after its grant an upload may begin, up to 12 hours. By default 15 minutes.
            longest_upload: How long the slowest upload takes. By default 6 hours.
            confirm_within: How old an upload may be when it is confirmed. By default an hour less than the bucket's
                ``unconfirmed_expiration``; for a bucket made elsewhere it must be told.
            rate_limit: Requests a second that the API takes in all; more are answered with 429.
            burst_limit: Requests at once that it takes.
            handler_package: The package of the pipeline's handler, so that the functions share one asset. By default
                the asset holds the library alone.
            encryption_key: Customer key of the access logs; its policy must allow CloudWatch Logs. By default the
                service's own.
            alarm_topic: Told when an alarm rings and when it is over. By default nobody is told.
            log_retention: How long logs are kept. By default one month.
            removal_policy: What happens to logs when they leave the stack. By default they stay.

        Raises:
            InvalidSettingsError: Settings are wrong; the message lists all of them.
        """
        super().__init__(scope, construct_id)
        unconfirmed = known_seconds(getattr(pipeline.bucket, "unconfirmed_expiration", None))
        grant_seconds = UPLOAD_GRANT_SECONDS if grant_expiry is None else known_seconds(grant_expiry)
        longest_seconds = known_seconds(longest_upload or Duration.hours(6))
        latest = None if unconfirmed is None else unconfirmed - UPLOAD_CONFIRM_MARGIN_SECONDS
        confirm_seconds = latest if confirm_within is None else known_seconds(confirm_within)

        mistakes = Mistakes(describe(self))
        _check_times(mistakes, grant_seconds, longest_seconds, confirm_seconds, latest)
        _check_callers(mistakes, authorizer, tenant_claim, allowed_origins)
        for name, limit in (("rate_limit", rate_limit), ("burst_limit", burst_limit)):
            mistakes.require(Token.is_unresolved(limit) or limit >= 1, name, limit, "must be 1 or more", "leave it out")
        mistakes.raise_all()

        self.confirm_within = Duration.seconds(confirm_seconds or 0)
        self._plan(pipeline, (grant_seconds or 0) + (longest_seconds or 0) + (confirm_seconds or 0))
        self.uploads = ClaimCheckFunction(
            self,
            "Uploads",
            handler=UPLOADS_HANDLER,
            handler_package=handler_package,
            environment={
                **pipeline.producer_environment(),
                Setting.UPLOAD_GRANT: str(grant_seconds),
                Setting.UPLOAD_CONFIRM: str(confirm_seconds),
                **({Setting.UPLOAD_TENANT_CLAIM: tenant_claim} if tenant_claim else {}),
            },
            timeout=Duration.seconds(_TIMEOUT_SECONDS),
            log_retention=log_retention,
            removal_policy=removal_policy,
        )
        self.uploads.acknowledge_no_dead_letter_queue("An HTTP API invokes it synchronously, and its client repeats.")
        self.function: lambda_.Function = self.uploads.function
        pipeline.bucket.grant_upload(self.uploads)
        pipeline.queue.grant_publish(self.uploads)

        self.access_logs = logs.LogGroup(
            self, "AccessLogs", retention=log_retention, removal_policy=removal_policy, encryption_key=encryption_key
        )
        self.api = apigatewayv2.HttpApi(
            self,
            "Api",
            api_name=Names.unique_resource_name(self, max_length=_MAX_API_NAME, separator="-"),
            create_default_stage=False,
            default_authorizer=authorizer or authorizers.HttpIamAuthorizer(),
            cors_preflight=_cors(allowed_origins),
        )
        integration = integrations.HttpLambdaIntegration("Integration", self.function)
        for path in PATHS:
            self.api.add_routes(path=path, methods=[apigatewayv2.HttpMethod.POST], integration=integration)
        self.stage = self._make_stage(rate_limit, burst_limit)
        self.url = self.api.api_endpoint
        self._let_pages_upload(pipeline.bucket.bucket, allowed_origins)
        self.alarms = self._alarms(pipeline.producer_environment().get(Setting.PIPELINE), alarm_topic)

    def grant_invoke(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow a principal to call both operations, where callers sign with IAM credentials.

        Args:
            grantee: Who.
        """
        arns = [
            Stack.of(self).format_arn(
                service="execute-api", resource=self.api.api_id, resource_name=f"{self.stage.stage_name}/POST{path}"
            )
            for path in PATHS
        ]
        return iam.Grant.add_to_principal(grantee=grantee, actions=["execute-api:Invoke"], resource_arns=arns)

    def _alarms(self, pipeline: str | None, topic: sns.ITopic | None) -> Mapping[str, cloudwatch.Alarm]:
        alarms = AlarmSet(Construct(self, "Alarms"), service=uploads_service(pipeline), topic=topic)
        dimensions = {"ApiId": self.api.api_id, "Stage": self.stage.stage_name}
        alarms.add("ApiErrors", metric("AWS/ApiGateway", "5xx", dimensions, "Sum"), _API_ERRORS)
        alarms.add_own("PublishFailed", Metric.PUBLISH_FAILED, "Sum", PUBLISH_FAILED)
        alarms.add_function(self.function)
        return alarms.alarms

    def _plan(self, pipeline: UploadsTo, seconds: int) -> None:
        """Have bucket and inbox count what a client may take: grant, upload, and the time until it confirms."""
        before_send = max(seconds, known_seconds(pipeline.retention_terms.before_send) or 0)
        terms = replace(pipeline.retention_terms, before_send=Duration.seconds(before_send))
        pipeline.bucket.retain_for(pipeline.queue, terms=terms)
        pipeline.inbox.retain_for(pipeline.queue, terms=terms)

    def _make_stage(self, rate_limit: float, burst_limit: int) -> apigatewayv2.HttpStage:
        fields = {
            "requestId": "$context.requestId",
            "requestTime": "$context.requestTime",
            "routeKey": "$context.routeKey",
            "status": "$context.status",
            "responseLength": "$context.responseLength",
            "latencyMilliseconds": "$context.responseLatency",
            "error": "$context.error.message",
            "integrationError": "$context.integrationErrorMessage",
        }
        stage = apigatewayv2.HttpStage(
            self,
            "Stage",
            http_api=self.api,
            auto_deploy=True,
            throttle=apigatewayv2.ThrottleSettings(rate_limit=rate_limit, burst_limit=burst_limit),
        )
        cfn = stage.node.default_child
        assert isinstance(cfn, apigatewayv2.CfnStage)  # noqa: S101 - narrows jsii's type
        cfn.access_log_settings = apigatewayv2.CfnStage.AccessLogSettingsProperty(
            destination_arn=self.access_logs.log_group_arn, format=json.dumps(fields)
        )
        return stage

    def _let_pages_upload(self, bucket: s3.IBucket, origins: Sequence[str]) -> None:
        if not origins:
            return
        if not isinstance(bucket, s3.Bucket):
            Annotations.of(self).add_warning_v2(
                "claim-check:cors",
                "The bucket is imported, so its CORS rules could not be changed here. They must allow PUT with all "
                f"headers from {', '.join(origins)}, or pages cannot upload.",
            )
            return
        bucket.add_cors_rule(
            allowed_methods=[s3.HttpMethods.PUT],
            allowed_origins=list(origins),
            allowed_headers=["*"],
            exposed_headers=["ETag"],
            max_age=_CORS_SECONDS,
        )


def _cors(origins: Sequence[str]) -> apigatewayv2.CorsPreflightOptions | None:
    if not origins:
        return None
    return apigatewayv2.CorsPreflightOptions(
        allow_origins=list(origins),
        allow_methods=[apigatewayv2.CorsHttpMethod.POST],
        allow_headers=["authorization", "content-type", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256"],
        expose_headers=["retry-after"],
        max_age=Duration.seconds(_CORS_SECONDS),
    )


# --- Validation -----------------------------------------------------------------------------------------------------


def _check_times(
    mistakes: Mistakes, grant: int | None, longest: int | None, confirm: int | None, latest: int | None
) -> None:
    for name, seconds in (("grant_expiry", grant), ("longest_upload", longest)):
        mistakes.require(seconds is not None, name, "a token", "must be known at synth", "give a literal Duration")
    mistakes.require_range(
        "grant_expiry", grant, low=1, high=_MAX_GRANT_SECONDS, unit="s", way_out="leave it out for 15 minutes"
    )
    mistakes.require(
        confirm is not None,
        "confirm_within",
        None,
        "must be told: nobody here knows when that bucket deletes what is not confirmed",
        "pass confirm_within, at least an hour less than its lifecycle rule for the tag state=unconfirmed",
    )
    if confirm is None:
        return
    mistakes.require(
        latest is None or confirm <= latest,
        "confirm_within",
        f"{confirm} s",
        f"must be at most {latest} s, an hour less than the bucket's unconfirmed_expiration: S3 deletes some time "
        "after it decided to",
        "leave it out, or raise unconfirmed_expiration",
    )
    needed = (grant or 0) + (longest or 0)
    mistakes.require(
        needed <= confirm,
        "longest_upload",
        f"{longest} s",
        f"must leave time to confirm: with grant_expiry it is {needed} s, more than confirm_within = {confirm} s",
        "shorten it, or raise confirm_within and the bucket's unconfirmed_expiration",
    )


def _check_callers(
    mistakes: Mistakes,
    authorizer: apigatewayv2.IHttpRouteAuthorizer | None,
    tenant_claim: str | None,
    origins: Sequence[str],
) -> None:
    mistakes.require(
        tenant_claim is None or (authorizer is not None and known(tenant_claim) != ""),
        "tenant_claim",
        repr(tenant_claim),
        "needs a JWT or Lambda authorizer: IAM credentials carry no claims",
        "pass authorizer=HttpJwtAuthorizer(...), or leave tenant_claim out",
    )
    for origin in [origins] if isinstance(origins, str) else origins:
        scheme, found, host = origin.partition("://")
        mistakes.require(
            not isinstance(origins, str)
            and (known(origin) is None or (bool(found and host) and "/" not in host and "*" not in host + scheme)),
            "allowed_origins",
            repr(origins if isinstance(origins, str) else origin),
            "must be a list of origins: scheme and host, without path or wildcard",
            "name each, such as https://app.example.com",
        )
