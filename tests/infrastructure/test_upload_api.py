"""`UploadApi`: who may call, what its function may do, what is planned, and what is refused (R2.8, R6, R11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Annotations, Match, Template

from claim_check import contract
from claim_check.upload_api import CONFIRM_ROUTE, GRANT_ROUTE
from claim_check_cdk import (
    ClaimCheckPipeline,
    FifoOptions,
    ImportedPayloadBucket,
    InvalidSettingsError,
    PayloadBucket,
    UploadApi,
)
from claim_check_cdk.upload_api import PATHS, UPLOADS_HANDLER
from tests.infrastructure.kit import findings, make_stack, only, resources, statements

HOUR, DAY = 3600, 86_400
ORIGIN = "https://app.example.com"


def make(stack: cdk.Stack, *, pipeline: Mapping[str, Any] | None = None, **options: Any) -> UploadApi:  # noqa: ANN401 - of the constructs
    """An upload API before a pipeline."""
    made = ClaimCheckPipeline(stack, "Pipeline", handler="claim_check.handlers:none", **(pipeline or {}))
    return UploadApi(stack, "Uploads", pipeline=made, **options)


def of_uploads(stack: cdk.Stack) -> list[tuple[str, str]]:
    """What cdk-nag finds on the API and its parts."""
    return [one for one in findings(stack) if one[1].startswith("Stack/Uploads")]


class Sample:
    """One with nothing but defaults, and a caller."""

    def __init__(self) -> None:
        """Synthesize."""
        self.stack = make_stack()
        self.api = make(self.stack)
        self.caller = iam.Role(self.stack, "Caller", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
        self.api.grant_invoke(self.caller)
        self.findings = of_uploads(self.stack)
        self.template = Template.from_stack(self.stack)
        self.function = next(
            one
            for one in resources(self.template, "AWS::Lambda::Function").values()
            if one["Handler"] == UPLOADS_HANDLER
        )


@pytest.fixture(scope="module")
def sample() -> Sample:
    """One synth for the module."""
    return Sample()


def policy_of(template: Template, name: str) -> list[Mapping[str, Any]]:
    """Statements of the policy whose logical id begins so."""
    (found,) = (
        one for logical_id, one in resources(template, "AWS::IAM::Policy").items() if logical_id.startswith(name)
    )
    return list(statements(found))


def lifecycle(template: Template) -> dict[str, Any]:
    """Rules of the payload bucket, by id."""
    return {rule["Id"]: rule for rule in only(template, "AWS::S3::Bucket")["LifecycleConfiguration"]["Rules"]}


# --- What is made ---------------------------------------------------------------------------------------------------


def test_both_routes_need_iam_credentials(sample: Sample) -> None:
    routes = resources(sample.template, "AWS::ApiGatewayV2::Route").values()
    assert {route["RouteKey"] for route in routes} == {GRANT_ROUTE, CONFIRM_ROUTE} == {f"POST {path}" for path in PATHS}
    assert {route["AuthorizationType"] for route in routes} == {"AWS_IAM"}


def test_the_stage_throttles_and_logs_no_secret(sample: Sample) -> None:
    stage = only(sample.template, "AWS::ApiGatewayV2::Stage")
    assert stage["DefaultRouteSettings"] == {"ThrottlingBurstLimit": 100, "ThrottlingRateLimit": 50}
    text = stage["AccessLogSettings"]["Format"]
    assert "$context.requestId" in text
    assert not [word for word in ("path", "query", "authorizer", "identity") if word in text]


def test_there_is_no_cors_unless_asked_for(sample: Sample) -> None:
    assert "CorsConfiguration" not in only(sample.template, "AWS::ApiGatewayV2::Api")
    assert "CorsConfiguration" not in only(sample.template, "AWS::S3::Bucket")


def test_cors_is_for_the_named_origins_only_at_the_api_and_at_the_bucket() -> None:
    stack = make_stack()
    make(stack, allowed_origins=[ORIGIN])
    template = Template.from_stack(stack)
    cors = only(template, "AWS::ApiGatewayV2::Api")["CorsConfiguration"]
    assert (cors["AllowOrigins"], cors["AllowMethods"]) == ([ORIGIN], ["POST"])
    (rule,) = only(template, "AWS::S3::Bucket")["CorsConfiguration"]["CorsRules"]
    assert (rule["AllowedOrigins"], rule["AllowedMethods"]) == ([ORIGIN], ["PUT"])


def test_the_function_may_do_exactly_what_it_does(sample: Sample) -> None:
    found = policy_of(sample.template, "UploadsRoleDefaultPolicy")
    assert [one["Action"] for one in found] == [
        ["s3:DeleteObjectTagging", "s3:GetObject", "s3:GetObjectTagging", "s3:PutObject", "s3:PutObjectTagging"],
        "s3:ListBucket",
        "sqs:SendMessage",
    ]
    assert found[0]["Resource"]["Fn::Join"][1][1] == "/payloads/*"
    assert found[1]["Condition"] == {"StringLike": {"s3:prefix": ["payloads/*"]}}


def test_versions_and_keys_need_more() -> None:
    stack = make_stack()
    key = kms.Key(stack, "Key", enable_key_rotation=True)
    bucket = PayloadBucket(stack, "Payloads", versioned=True, encryption_key=key)
    make(stack, pipeline={"bucket": bucket, "encryption_key": key})
    found = policy_of(Template.from_stack(stack), "UploadsRoleDefaultPolicy")
    assert {"s3:DeleteObjectVersionTagging", "s3:GetObjectVersionTagging"} <= set(found[0]["Action"])
    assert ["kms:Decrypt", "kms:GenerateDataKey"] in [one["Action"] for one in found]


def test_a_caller_may_call_both_routes_and_nothing_else(sample: Sample) -> None:
    (one,) = policy_of(sample.template, "CallerDefaultPolicy")
    assert one["Action"] == "execute-api:Invoke"
    ends = [resource["Fn::Join"][1][-1] for resource in one["Resource"]]
    assert sorted(ends) == sorted(f"/$default/POST{path}" for path in PATHS)
    assert "*" not in str(one)


def test_cdk_nag_finds_nothing(sample: Sample) -> None:
    assert sample.findings == []


def test_the_settings_of_the_function(sample: Sample) -> None:
    variables = sample.function["Environment"]["Variables"]
    assert variables[contract.Setting.UPLOAD_GRANT] == "900"
    assert variables[contract.Setting.UPLOAD_CONFIRM] == str(7 * DAY - HOUR)
    assert contract.Setting.UPLOAD_TENANT_CLAIM not in variables
    assert sample.function["Timeout"] < 30


def test_another_authorizer_with_a_tenants_claim() -> None:
    stack = make_stack()
    jwt = authorizers.HttpJwtAuthorizer("Jwt", "https://issuer.example.com", jwt_audience=["uploads"])
    make(stack, authorizer=jwt, tenant_claim="custom:tenant")
    template = Template.from_stack(stack)
    routes = resources(template, "AWS::ApiGatewayV2::Route").values()
    assert {route["AuthorizationType"] for route in routes} == {"JWT"}
    found = [one["Environment"]["Variables"] for one in resources(template, "AWS::Lambda::Function").values()]
    assert {one.get(contract.Setting.UPLOAD_TENANT_CLAIM) for one in found} == {None, "custom:tenant"}


# --- What is planned (R6) -------------------------------------------------------------------------------------------


def test_the_plan_counts_grant_upload_and_confirm(sample: Sample) -> None:
    without = make_stack()
    ClaimCheckPipeline(without, "Pipeline", handler="claim_check.handlers:none")
    before = lifecycle(Template.from_stack(without))["expire-payloads"]["ExpirationInDays"]
    rules = lifecycle(sample.template)
    # before_send is 15 min + 6 h + 7 d - 1 h in place of a day; the sum is rounded up to whole days.
    assert rules["expire-payloads"]["ExpirationInDays"] - before in {6, 7}
    assert rules["expire-unconfirmed-uploads"]["ExpirationInDays"] == 7


def test_an_expiration_that_forgets_the_uploads_fails_and_prints_the_sum() -> None:
    stack = make_stack()
    make(stack, pipeline={"bucket": PayloadBucket(stack, "Payloads", expiration=cdk.Duration.days(40))})
    with pytest.raises(RuntimeError, match=r"before_send\s+7 d 5 h 15 min"):
        Template.from_stack(stack)


def test_the_confirm_follows_the_rule_of_the_bucket() -> None:
    stack = make_stack()
    bucket = PayloadBucket(stack, "Payloads", unconfirmed_expiration=cdk.Duration.days(2))
    api = make(stack, pipeline={"bucket": bucket})
    assert api.confirm_within.to_seconds() == 2 * DAY - HOUR


def test_fifo_too() -> None:
    stack = make_stack()
    make(stack, pipeline={"fifo": FifoOptions(on_poison="park")})
    assert of_uploads(stack) == []


# --- What is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, argument",
    [
        ({"grant_expiry": cdk.Duration.seconds(0)}, "grant_expiry"),
        ({"grant_expiry": cdk.Duration.hours(13)}, "grant_expiry"),
        ({"confirm_within": cdk.Duration.days(7)}, "confirm_within"),
        ({"longest_upload": cdk.Duration.days(7)}, "longest_upload"),
        ({"confirm_within": cdk.Duration.hours(1)}, "longest_upload"),
        ({"tenant_claim": "tenant"}, "tenant_claim"),
        ({"allowed_origins": ["*"]}, "allowed_origins"),
        ({"allowed_origins": ["https://*.example.com"]}, "allowed_origins"),
        ({"allowed_origins": [f"{ORIGIN}/page"]}, "allowed_origins"),
        ({"allowed_origins": ORIGIN}, "allowed_origins"),
        ({"rate_limit": 0}, "rate_limit"),
        ({"burst_limit": 0}, "burst_limit"),
    ],
)
def test_settings_that_cannot_work(options: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidSettingsError, match="Way out: ") as caught:
        make(make_stack(), **options)
    assert {mistake.argument for mistake in caught.value.mistakes} == {argument}


def test_a_bucket_made_elsewhere_must_tell() -> None:
    stack = make_stack()
    imported = s3.Bucket.from_bucket_name(stack, "Theirs", "their-payloads")
    bucket = ImportedPayloadBucket(stack, "Payloads", bucket=imported, expiration=cdk.Duration.days(90))
    pipeline = ClaimCheckPipeline(stack, "Pipeline", handler="claim_check.handlers:none", bucket=bucket)
    with pytest.raises(InvalidSettingsError, match="confirm_within"):
        UploadApi(stack, "Silent", pipeline=pipeline)
    UploadApi(stack, "Told", pipeline=pipeline, confirm_within=cdk.Duration.days(1), allowed_origins=[ORIGIN])
    Annotations.from_stack(stack).has_warning("/Stack/Told", Match.string_like_regexp("CORS rules"))
