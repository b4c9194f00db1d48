"""R2.8, R11.4: direct uploads over HTTP, as the OpenAPI document says."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from claim_check import contract, errors, upload_api, uploads
from claim_check.contract import Metric, Setting
from claim_check.errors import AccessDenied, InvalidEvent, InvalidSetting, MissingPayload, PublishError, Unavailable
from claim_check.schema import uploads as schema
from claim_check.settings import UploadSettings
from claim_check.upload_api import CONFIRM_ROUTE, GRANT_ROUTE, MAX_BODY_BYTES, UploadApi
from tests.harness import BUCKET
from tests.upload_world import CONTENT, UploadWorld, declaration

OPENAPI = schema.uploads_openapi()
COMMITTED = Path(str(schema.__file__)).with_name("uploads-openapi.json")
OPERATIONS = {GRANT_ROUTE: OPENAPI["paths"]["/uploads"]["post"], CONFIRM_ROUTE: OPENAPI["paths"]["/events"]["post"]}


def valid(name: str, document: object) -> None:
    """Hold a document against a schema of the OpenAPI document."""
    whole = {"$ref": f"#/components/schemas/{name}", "components": OPENAPI["components"]}
    jsonschema.Draft202012Validator(whole, format_checker=jsonschema.FormatChecker()).validate(document)


# --- Every status, as described -------------------------------------------------------------------------------------


def _tampered(setup: UploadWorld) -> None:
    setup.uploaded(declaration())
    for tags in setup.store.tag_sets.values():
        tags["state"] = "confirmed"


def _other_content(setup: UploadWorld) -> None:
    setup.uploaded(declaration())
    (key,) = setup.world.objects.keys(BUCKET)
    setup.world.objects.tamper(BUCKET, key, CONTENT[::-1])


def _late(setup: UploadWorld) -> None:
    setup.uploaded(declaration())
    setup.world.clock.advance(contract.UNCONFIRMED_SECONDS)


def _all_late(setup: UploadWorld) -> None:
    for _ in range(uploads.MAX_GENERATIONS):
        _late(setup)


def _fails(error: Exception, call: str) -> Callable[[UploadWorld], object]:
    def arrange(setup: UploadWorld) -> None:
        setup.uploaded(declaration())
        setup.world.faults.fail(call, error, times=99)

    return arrange


def _nothing(_: UploadWorld) -> None:
    """Begin with nothing."""


CASES: list[tuple[str, int, str, Callable[[UploadWorld], object], dict[str, Any]]] = [
    (GRANT_ROUTE, 201, "", _nothing, {}),
    (GRANT_ROUTE, 400, "InvalidName", _nothing, {"tenantId": "a/b"}),
    (GRANT_ROUTE, 403, "ForeignTenant", _nothing, {"tenantId": "t-2"}),
    (GRANT_ROUTE, 410, "UploadExpired", _all_late, {}),
    (GRANT_ROUTE, 413, "EventTooLarge", _nothing, {"contentLength": 2**40}),
    (GRANT_ROUTE, 500, "InvalidSetting", _fails(InvalidSetting("no s3v4"), "sign_put"), {}),
    (GRANT_ROUTE, 503, "Unavailable", _fails(Unavailable("throttled"), "head"), {}),
    (CONFIRM_ROUTE, 200, "", lambda setup: setup.uploaded(declaration()), {}),
    (CONFIRM_ROUTE, 400, "UnknownField", _nothing, {"bucket": "mine"}),
    (CONFIRM_ROUTE, 403, "ForeignTenant", lambda setup: setup.uploaded(declaration()), {"tenantId": "t-2"}),
    (CONFIRM_ROUTE, 404, "NotUploaded", _nothing, {}),
    (CONFIRM_ROUTE, 409, "UploadMismatch", _other_content, {}),
    (CONFIRM_ROUTE, 409, "UploadTampered", _tampered, {}),
    (CONFIRM_ROUTE, 410, "UploadExpired", _late, {}),
    (CONFIRM_ROUTE, 413, "EventTooLarge", _nothing, {"contentLength": 2**40}),
    (CONFIRM_ROUTE, 500, "InvalidSetting", _fails(InvalidSetting("wrong"), "tags"), {}),
    (CONFIRM_ROUTE, 500, "AccessDenied", _fails(AccessDenied("check s3:GetObject"), "head"), {}),
    (CONFIRM_ROUTE, 404, "NotUploaded", _fails(MissingPayload("gone since the look at it"), "tags"), {}),
    (CONFIRM_ROUTE, 503, "PublishError", _fails(PublishError("refused"), "send_batch"), {}),
]
CALLER = {"requestContext": {"authorizer": {"jwt": {"claims": {"custom:tenant": "t-1"}}}}}


@pytest.mark.parametrize("route, status, code, arrange, changed", CASES)
def test_each_answer_is_as_described(
    route: str, status: int, code: str, arrange: Callable[[UploadWorld], object], changed: dict[str, Any]
) -> None:
    setup = UploadWorld()
    arrange(setup)
    found, document = setup.call(route, declaration(**changed), tenant_claim="custom:tenant", **CALLER)
    assert found == status, document
    assert str(status) in OPERATIONS[route]["responses"]
    if status < 300:
        valid("Grant" if route == GRANT_ROUTE else "Confirmed", document)
        return
    valid("Problem", document)
    assert (document["code"], document["status"]) == (code, status)
    assert code in OPERATIONS[route]["responses"][str(status)]["description"] or status in {400, 503}  # of subclasses
    assert {"field", "limit", "wayOut"} <= document.keys() or status >= 500
    assert setup.world.queued() == []
    assert setup.world.telemetry.counts[Metric.UPLOADS_REFUSED] == 1


@pytest.mark.parametrize("route", OPERATIONS)
def test_every_described_status_is_tested(route: str) -> None:
    described = {int(status) for status in OPERATIONS[route]["responses"]} - {429}  # API Gateway's own
    assert described == {status for name, status, *_ in CASES if name == route}


def test_every_error_has_a_status() -> None:
    kinds = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, InvalidEvent)}
    assert all(any(issubclass(kind, known) for known in upload_api.STATUSES) for kind in kinds)
    assert set(upload_api.STATUSES.values()) == set(upload_api.TITLES)


# --- The document ---------------------------------------------------------------------------------------------------


def test_the_committed_document_is_current() -> None:
    """Way out: python -m claim_check.schema uploads > lambda_src/claim_check/schema/uploads-openapi.json."""
    assert COMMITTED.read_text(encoding="utf-8") == schema.text()


def test_the_routes_are_those_of_the_code() -> None:
    found = {f"{method.upper()} {path}" for path, item in OPENAPI["paths"].items() for method in item}
    assert found == {GRANT_ROUTE, CONFIRM_ROUTE}


def test_the_fields_are_those_of_the_code() -> None:
    declared = OPENAPI["components"]["schemas"]["Declaration"]
    assert set(declared["properties"]) == set(uploads.FIELDS)
    assert tuple(declared["required"]) == uploads.REQUIRED
    assert declared["additionalProperties"] is False


def test_the_schemas_are_schemas() -> None:
    for one in OPENAPI["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(one)
    references = {part.split('"')[0] for part in json.dumps(OPENAPI).split("#/components/schemas/")[1:]}
    assert references == set(OPENAPI["components"]["schemas"])


def test_the_examples_fit_and_are_understood() -> None:
    for operation in OPERATIONS.values():
        example = operation["requestBody"]["content"]["application/json"]["example"]
        valid("Declaration", example)
        uploads.to_declaration(example, max_bytes=1)
        for status, answer in operation["responses"].items():
            if status.startswith("2"):
                content = answer["content"]["application/json"]
                valid(content["schema"]["$ref"].rpartition("/")[2], content["example"])


@pytest.mark.parametrize("changed", [case[4] for case in CASES if case[1] in {400, 413}])
def test_the_schema_refuses_what_the_code_refuses(changed: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        valid("Declaration", declaration(**changed))


def test_the_schema_accepts_a_full_declaration() -> None:
    full = declaration(
        idempotencyKey="k",
        correlationId="c",
        eventVersion=2,
        occurredAt="2026-07-06T10:15:30Z",
        domainRef={"a": 1},
        attributes={"priority": "high"},
        groupId="g",
    )
    assert set(full) == set(uploads.FIELDS)
    valid("Declaration", full)
    assert UploadWorld().grant(full)[0] == 201


# --- HTTP -----------------------------------------------------------------------------------------------------------


def handle(setup: UploadWorld, **request: Any) -> Any:  # noqa: ANN401 - JSON
    """Hand a raw request over."""
    return UploadApi(setup.uploads(), telemetry=setup.world.telemetry).handle({"routeKey": GRANT_ROUTE, **request})


@pytest.mark.parametrize(
    "request_, status",
    [
        ({}, 400),
        ({"body": "{"}, 400),
        ({"body": "[]"}, 400),
        ({"body": "null"}, 400),
        ({"body": "[" * 100_000}, 413),
        ({"body": "[" * 10_000}, 400),
        ({"body": "{" + " " * MAX_BODY_BYTES + "}"}, 413),
        ({"body": "!", "isBase64Encoded": True}, 400),
        ({"body": base64.b64encode(b"\xff").decode(), "isBase64Encoded": True}, 400),
        ({"body": base64.b64encode(json.dumps(declaration()).encode()).decode(), "isBase64Encoded": True}, 201),
        ({"body": json.dumps(declaration()), "routeKey": "GET /uploads"}, 500),
        ({"body": json.dumps(declaration()), "routeKey": None}, 500),
    ],
)
def test_requests_of_every_shape(request_: dict[str, Any], status: int) -> None:
    answer = handle(UploadWorld(), **request_)
    assert answer["statusCode"] == status
    assert answer["headers"]["cache-control"] == "no-store"
    kind = "application/json" if status == 201 else "application/problem+json"
    assert answer["headers"]["content-type"] == kind
    assert isinstance(json.loads(answer["body"]), dict)


def test_a_repetition_is_told_when() -> None:
    setup = UploadWorld()
    setup.world.faults.fail("head", Unavailable("a text about the inside"))
    answer = handle(setup, body=json.dumps(declaration()))
    assert (answer["statusCode"], answer["headers"]["retry-after"]) == (503, "5")
    assert "inside" not in answer["body"]


@pytest.mark.parametrize(
    "authorizer, status",
    [
        ({"jwt": {"claims": {"tenant": "t-1"}}}, 201),
        ({"lambda": {"tenant": "t-1"}}, 201),
        ({"jwt": {"claims": {"tenant": "t-2"}}}, 403),
        ({"jwt": {"claims": {"tenant": ""}}}, 403),
        ({"jwt": {"claims": {}}}, 403),
        ({"lambda": {"tenant": ["t-1"]}}, 403),
        ({"lambda": None}, 403),
        ({"iam": {"userArn": "arn"}}, 403),
        (None, 403),
    ],
)
def test_a_caller_acts_for_its_own_tenant_only(authorizer: object, status: int) -> None:
    setup = UploadWorld()
    found, _ = setup.call(GRANT_ROUTE, declaration(), tenant_claim="tenant", requestContext={"authorizer": authorizer})
    assert found == status


def test_nothing_that_is_secret_is_logged_or_told() -> None:
    setup = UploadWorld()
    declared = declaration(contentType="text/x-canary", idempotencyKey="canary-key")
    _, granted = setup.grant(declared)
    (key,) = [where[1] for where in setup.store.granted.values()]
    setup.confirm(declared)
    setup.uploaded(declared)
    setup.confirm(declared)
    setup.confirm({**declared, "tenantId": "canary/tenant"})
    lines = json.dumps([[line.event, line.fields] for line in setup.world.telemetry.lines])
    for secret in (granted["upload"]["url"], key, key.rpartition("/")[2], "canary", "signature"):
        assert secret not in lines
    assert {"upload granted", "upload refused", "published"} <= set(setup.world.telemetry.events())


def test_settings() -> None:
    variables = {Setting.BUCKET: "b", Setting.QUEUE_URL: "q", Setting.BEFORE_SEND: "1"}
    plain = UploadSettings.from_environment(variables)
    assert (plain.grant_seconds, plain.confirm_seconds, plain.tenant_claim) == (900, 601_200, None)
    given = {Setting.UPLOAD_GRANT: "60", Setting.UPLOAD_CONFIRM: "3600", Setting.UPLOAD_TENANT_CLAIM: "tenant"}
    found = UploadSettings.from_environment(variables | given)
    assert (found.grant_seconds, found.confirm_seconds, found.tenant_claim) == (60, 3600, "tenant")
    for wrong in ({Setting.UPLOAD_GRANT: "0"}, {Setting.UPLOAD_CONFIRM: "x"}, {Setting.WIRE_FORMAT: "extended-client"}):
        with pytest.raises(InvalidSetting):
            UploadSettings.from_environment(variables | wrong)
