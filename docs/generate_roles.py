"""Writes `docs/reference/roles.md`: what each function's role may do, and which case needs it.

    python docs/generate_roles.py           write
    python docs/generate_roles.py --check   write nothing; end with 1 if the page is not current

The rights come from the synthesized templates. What needs them stands in `NEEDS` and `UNSEEN`;
`tests/integration/test_enforced_roles.py` takes every right away, one by one, and sees its case fail.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "reference" / "roles.md"
APPS: Final = (ROOT / "app.py", ROOT / "tests" / "integration" / "apps" / "narrow" / "app.py")
NOTE: Final = "<!-- Written by docs/generate_roles.py from the templates. Change the constructs, then run it again. -->"

Template = Mapping[str, Any]


# --- What needs what ------------------------------------------------------------------------------------------------

CASES: Final = {
    "publish": "An event with a payload is published: the payload to S3, then the message.",
    "publish again": "The same event is published again: S3 says that the object exists, and the producer looks at it.",
    "abort": "An upload in parts does not come to its end, and the producer removes the parts.",
    "process": "An event with a payload is handled: gate, fetch, handler, commit.",
    "process without version": "The same, and the claim names no version of its object.",
    "process foreign": "A message of an Extended Client is handled, whose payload lies in a bucket of theirs.",
    "hide": "A message that failed is hidden for the time of its backoff.",
    "park": "A message that can never succeed goes to the dead-letter queue.",
    "poll": "A worker outside Lambda receives a message in this role, and deletes it.",
    "upload": "An upload is granted, arrives with its tag, is confirmed and published.",
    "upload without version": "The same, and the object has no version.",
    "upload tagged by others": "The same, and somebody tagged the object, too: that tag stays.",
    "upload without version, tagged by others": (
        "Both. On AWS, every upload that brings its tag needs the right, too; the embedded AWS does not ask then."
    ),
    "sample": "The dead letters of a DLQ are received, measured, and made visible again.",
    "archive": "A dead letter near its retention is stored, and then deleted from the DLQ.",
    "archive again": "The same, and an earlier run had stored it already: the letter that is there is looked at.",
    "count stuck work": "Rows of the inbox that nobody goes on with are counted.",
    "place": "An order whose document is long is placed: payload, row and message.",
    "place again": "An order that is refused after its payload was written, twice: S3 says that the object exists.",
    "relay": "Two messages of a group are sent, and marked.",
    "relay past a discarded row": "The first of two messages was discarded: the group goes on, and the second is sent.",
    "reconcile": "A payload that no row knows is looked up in the inbox, and looked at with its tags.",
    "ingest": "An object is written, and the event that names its version is handed over.",
    "ingest without version": "The same, and the event names no version: the object is read by its entity tag.",
    "ingest a removal": "The event of an object that was removed is handed over.",
    "ingest, failing": "The handler fails: the failure is counted by message, which is hidden for its backoff.",
    "ingest, parking": "A message that is no notification goes to the dead-letter queue.",
    "compare": "An object that nobody told of is found, and an event is queued for it.",
    "look again": "An object that was not listed is looked at once more, before it is called gone.",
    "forward": "An event of EventBridge's goes on into the FIFO queue.",
}
"""Cases, by name; the tests have one function for each."""

NEEDS: Final[Mapping[tuple[str, str, str], str]] = {
    ("producer", "payloads", "s3:PutObject"): "publish",
    ("producer", "queue", "sqs:SendMessage"): "publish",
    ("producer", "payloads", "s3:GetObject"): "publish again",
    ("producer", "payloads", "s3:AbortMultipartUpload"): "abort",
    ("consumer", "inbox", "dynamodb:UpdateItem"): "process",
    ("consumer", "inbox", "dynamodb:PutItem"): "process",
    ("consumer", "payloads", "s3:GetObjectVersion"): "process",
    ("consumer", "payloads", "s3:GetObject"): "process without version",
    ("consumer", "payloads of Extended Clients", "s3:GetObject"): "process foreign",
    ("consumer", "handler's table", "dynamodb:GetItem"): "process",
    ("consumer", "handler's table", "dynamodb:PutItem"): "process",
    ("consumer", "handler's table", "dynamodb:UpdateItem"): "process",
    ("consumer", "handler's table", "dynamodb:DeleteItem"): "process",
    ("consumer", "handler's table", "dynamodb:ConditionCheckItem"): "process",
    ("consumer", "queue", "sqs:ChangeMessageVisibility"): "hide",
    ("consumer", "dead-letter queue", "sqs:SendMessage"): "park",
    ("consumer", "queue", "sqs:ReceiveMessage"): "poll",
    ("consumer", "queue", "sqs:DeleteMessage"): "poll",
    ("reconciler", "payloads", "s3:GetObject"): "reconcile",
    ("reconciler", "payloads", "s3:GetObjectTagging"): "reconcile",
    ("reconciler", "inbox", "dynamodb:BatchGetItem"): "reconcile",
    ("reconciler", "inbox/index/open", "dynamodb:Query"): "reconcile",
    ("reconciler", "outbox", "dynamodb:BatchGetItem"): "reconcile",
    ("reconciler", "outbox/index/open", "dynamodb:Query"): "reconcile",
    ("reconciler", "checkpoint", "dynamodb:UpdateItem"): "reconcile",
    ("orders", "payloads", "s3:PutObject"): "place",
    ("orders", "payloads", "s3:GetObject"): "place again",
    ("orders", "payloads", "s3:AbortMultipartUpload"): "abort",
    ("orders", "outbox", "dynamodb:BatchGetItem"): "place",
    ("orders", "outbox", "dynamodb:PutItem"): "place",
    ("orders", "outbox", "dynamodb:UpdateItem"): "place",
    ("orders", "handler's table", "dynamodb:PutItem"): "place",
    **{
        (kind, target, action): case
        for kind in ("outbox_relay", "outbox_sweep")
        for target, action, case in (
            ("outbox", "dynamodb:BatchGetItem", "relay"),
            ("outbox", "dynamodb:PutItem", "relay"),
            ("outbox", "dynamodb:UpdateItem", "relay"),
            ("outbox", "dynamodb:ConditionCheckItem", "relay past a discarded row"),
            ("queue", "sqs:SendMessage", "relay"),
        )
    },
    ("outbox_sweep", "outbox/index/open", "dynamodb:Query"): "relay",
    ("uploads", "payloads", "s3:GetObject"): "upload",
    ("uploads", "payloads", "s3:PutObject"): "upload",
    ("uploads", "payloads", "s3:PutObjectTagging"): "upload without version, tagged by others",
    ("uploads", "payloads", "s3:GetObjectVersionTagging"): "upload",
    ("uploads", "payloads", "s3:DeleteObjectVersionTagging"): "upload",
    ("uploads", "payloads", "s3:PutObjectVersionTagging"): "upload tagged by others",
    ("uploads", "payloads", "s3:GetObjectTagging"): "upload without version",
    ("uploads", "payloads", "s3:DeleteObjectTagging"): "upload without version",
    ("uploads", "queue", "sqs:SendMessage"): "upload",
    ("archive", "dead-letter queue", "sqs:ReceiveMessage"): "sample",
    ("archive", "dead-letter queue", "sqs:ChangeMessageVisibility"): "sample",
    ("archive", "dead-letter queue", "sqs:DeleteMessage"): "archive",
    ("archive", "archived letters", "s3:PutObject"): "archive",
    ("archive", "archived letters", "s3:GetObject"): "archive again",
    ("archive", "inbox/index/open", "dynamodb:Query"): "count stuck work",
    ("ingest", "ledger", "dynamodb:GetItem"): "ingest",
    ("ingest", "ledger", "dynamodb:PutItem"): "ingest",
    ("ingest", "ledger", "dynamodb:UpdateItem"): "ingest, failing",
    ("ingest", "followed objects", "s3:GetObjectVersion"): "ingest",
    ("ingest", "followed objects", "s3:GetObject"): "ingest without version",
    ("ingest", "handler's table", "dynamodb:PutItem"): "ingest",
    ("ingest", "handler's table", "dynamodb:DeleteItem"): "ingest a removal",
    ("ingest", "queue", "sqs:ChangeMessageVisibility"): "ingest, failing",
    ("ingest", "dead-letter queue", "sqs:SendMessage"): "ingest, parking",
    ("ingest", "queue", "sqs:ReceiveMessage"): "poll",
    ("ingest", "queue", "sqs:DeleteMessage"): "poll",
    ("ingest_reconciliation", "ledger", "dynamodb:GetItem"): "compare",
    ("ingest_reconciliation", "ledger", "dynamodb:PutItem"): "compare",
    ("ingest_reconciliation", "ledger", "dynamodb:Query"): "compare",
    ("ingest_reconciliation", "queue", "sqs:SendMessage"): "compare",
    ("ingest_reconciliation", "followed bucket", "s3:ListBucket"): "compare",
    ("ingest_reconciliation", "followed objects", "s3:GetObject"): "look again",
    ("ingest_forwarder", "queue", "sqs:SendMessage"): "forward",
}
"""The case that fails without a right: (kind of function, what the right is on, action)."""


@dataclass(frozen=True, slots=True)
class Unseen:
    """Why the embedded AWS cannot show that a right is needed, and who says that it is.

    Attributes:
        name: What asks for the right.
        text: Why nothing fails here without it.
        source: AWS's documentation of it.
    """

    name: str
    text: str
    source: str


_LOGS: Final = Unseen(
    "Lambda's logs",
    "Lambda writes what a function prints in the function's role; the embedded AWS writes it without asking.",
    "https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs.html",
)
_TRACES: Final = Unseen(
    "X-Ray",
    "Lambda sends the segments of sampled invocations in the function's role; the embedded AWS samples none.",
    "https://docs.aws.amazon.com/lambda/latest/dg/services-xray.html",
)
_MAPPING: Final = Unseen(
    "event source mapping",
    "Lambda looks at the queue in the function's role, and makes no mapping otherwise; the embedded AWS does not ask. "
    "Receiving and deleting is the mapping's work, too; what shows them here is the worker.",
    "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-lambda-function-trigger.html",
)
_FAILED_RUNS: Final = Unseen(
    "failed invocation",
    "Lambda sends on, in the function's role, what an asynchronous invocation could not do; the embedded AWS does "
    "not ask.",
    "https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-retain-records.html",
)
_STREAM: Final = Unseen(
    "event source mapping of a stream",
    "Lambda reads the stream in the function's role, and makes no mapping otherwise; the embedded AWS does not ask.",
    "https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-eventsourcemapping.html",
)
_MISSING: Final = Unseen(
    "missing or denied",
    "Without it S3 answers 403 for an object that is not there, and `MissingPayload` would be `AccessDenied`. The "
    "embedded AWS answers 404 in any case. That a list outside the prefix is refused is tested.",
    "https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html",
)
_KEY: Final = Unseen(
    "customer key",
    "S3, SQS and DynamoDB use the key on behalf of the caller; the embedded AWS never asks for it. Sending to a queue, "
    "and so parking, takes both; reading, and looking at an object's checksum, takes `kms:Decrypt`.",
    "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html",
)
_TABLE_KEY: Final = Unseen(
    "customer key of a table",
    "DynamoDB names it among the least that whoever uses an encrypted table must be allowed, with `kms:Decrypt`.",
    "https://docs.aws.amazon.com/kms/latest/developerguide/services-dynamodb.html",
)

UNSEEN: Final[Mapping[tuple[str, str], Unseen]] = {
    ("own log group", "logs:CreateLogStream"): _LOGS,
    ("own log group", "logs:PutLogEvents"): _LOGS,
    ("everything", "xray:PutTraceSegments"): _TRACES,
    ("everything", "xray:PutTelemetryRecords"): _TRACES,
    ("queue", "sqs:GetQueueAttributes"): _MAPPING,
    ("queue of failed runs", "sqs:SendMessage"): _FAILED_RUNS,
    ("outbox", "dynamodb:DescribeStream"): _STREAM,
    ("outbox", "dynamodb:GetRecords"): _STREAM,
    ("outbox", "dynamodb:GetShardIterator"): _STREAM,
    ("everything", "dynamodb:ListStreams"): _STREAM,
    ("bucket", "s3:ListBucket"): _MISSING,
    ("bucket of Extended Clients", "s3:ListBucket"): _MISSING,
    ("followed bucket", "s3:ListBucket"): _MISSING,
    ("customer key", "kms:Decrypt"): _KEY,
    ("customer key", "kms:GenerateDataKey"): _KEY,
    ("customer key", "kms:DescribeKey"): _TABLE_KEY,
}
"""Rights whose need the embedded AWS cannot show: (what the right is on, action)."""


# --- Rights of a template -------------------------------------------------------------------------------------------

_OWN: Final = {
    "CLAIM_CHECK_BUCKET": "bucket",
    "CLAIM_CHECK_QUEUE_URL": "queue",
    "CLAIM_CHECK_DLQ_URL": "dead-letter queue",
    "CLAIM_CHECK_INBOX_TABLE": "inbox",
    "CLAIM_CHECK_OUTBOX_TABLE": "outbox",
    "CLAIM_CHECK_ARCHIVE_BUCKET": "archive",
    "CLAIM_CHECK_FOREIGN_BUCKETS": "bucket of Extended Clients",
    "CLAIM_CHECK_INGEST_BUCKET": "followed bucket",
    "CLAIM_CHECK_INGEST_QUEUE_URL": "queue",
    "CLAIM_CHECK_LEDGER_TABLE": "ledger",
    "CLAIM_CHECK_RECONCILER_INBOXES": "inbox",
    "CLAIM_CHECK_RECONCILER_OUTBOXES": "outbox",
    "CLAIM_CHECK_RECONCILER_TABLE": "checkpoint",
}
"""What a function's own resources are, by the setting that names them."""

_OBJECTS: Final = {
    "bucket": "payloads",
    "archive": "archived letters",
    "bucket of Extended Clients": "payloads of Extended Clients",
    "followed bucket": "followed objects",
}
"""What the objects of a bucket are."""

_HASH: Final = re.compile(r"[0-9A-F]{8}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Right:
    """One action on one resource that a function's role allows.

    Attributes:
        stack: Name of the stack in the app.
        function: Logical id of the function.
        kind: Module of its entry point: ``producer``, ``consumer`` or ``uploads``.
        role: Logical id of the role.
        policy: Name of the policy.
        statement: Place of the statement in it.
        action: The action.
        place: Place of the resource in the statement.
        resource: The resource, by logical id.
        target: What the resource is to this function.
        condition: Operator, key and values of the condition, if there is one.
    """

    stack: str
    function: str
    kind: str
    role: str
    policy: str
    statement: int
    action: str
    place: int
    resource: str
    target: str
    condition: str

    @property
    def label(self) -> str:
        """The function as the page names it."""
        return f"{self.stack}: {readable(self.function).removesuffix('Function')}"

    @property
    def case(self) -> str | None:
        """The case that needs it; None if it cannot be shown."""
        return NEEDS.get((self.kind, self.target, self.action))

    @property
    def unseen(self) -> Unseen | None:
        """Why it cannot be shown."""
        return None if self.case else UNSEEN.get((self.target, self.action))


def readable(logical_id: str) -> str:
    """A logical id without the hash at its end."""
    return _HASH.sub("", logical_id)


def rights(stack: str, template: Template) -> Iterator[Right]:
    """Every right of every function's role of a template, in the order of the template.

    Args:
        stack: Name of the stack in the app.
        template: The template.

    Raises:
        ValueError: A managed policy, or a statement that denies.
    """
    resources = template["Resources"]
    for function, found in resources.items():
        if found["Type"] != "AWS::Lambda::Function":
            continue
        kind = found["Properties"]["Handler"].split(".")[-2]
        role = found["Properties"]["Role"]["Fn::GetAtt"][0]
        for policy, statement, given in _statements(resources, role):
            if given["Effect"] != "Allow":
                raise ValueError(f"{role}: {given['Effect']} in {policy}: this page knows Allow only")
            for action in listed(given["Action"]):
                for place, resource in enumerate(listed(given["Resource"])):
                    name, target = _resource(resources, found["Properties"], resource)
                    yield Right(
                        stack=stack,
                        function=function,
                        kind=kind,
                        role=role,
                        policy=policy,
                        statement=statement,
                        action=action,
                        place=place,
                        resource=name,
                        target=target,
                        condition=_condition(given.get("Condition", {})),
                    )


def listed(value: Any) -> list[Any]:  # noqa: ANN401 - a policy holds one of something, or a list
    """A list, whatever a policy has."""
    return value if isinstance(value, list) else [value]


def _statements(resources: Template, role: str) -> Iterator[tuple[str, int, Any]]:
    """Policy name, place and content of each statement of a role."""
    if "ManagedPolicyArns" in resources[role]["Properties"]:
        raise ValueError(f"{role} has managed policies: nobody here says what they allow")
    policies = list(resources[role]["Properties"].get("Policies", []))
    policies += [
        found["Properties"]
        for found in resources.values()
        if found["Type"] == "AWS::IAM::Policy" and {"Ref": role} in found["Properties"]["Roles"]
    ]
    for policy in policies:
        for place, statement in enumerate(policy["PolicyDocument"]["Statement"]):
            yield policy["PolicyName"], place, statement


def _resource(resources: Template, function: Template, resource: Any) -> tuple[str, str]:  # noqa: ANN401 - an intrinsic
    """Name of a statement's resource, and what it is to the function."""
    if resource == "*":
        return "*", "everything"
    suffix = ""
    if "Fn::Join" in resource:
        resource, suffix = resource["Fn::Join"][1]
    logical_id = resource["Fn::GetAtt"][0]
    return readable(logical_id) + suffix, _target(resources, function, logical_id, suffix)


def _target(resources: Template, function: Template, logical_id: str, suffix: str) -> str:
    reference = {"Ref": logical_id}
    if function["LoggingConfig"]["LogGroup"] == reference:
        return "own log group"
    if function.get("DeadLetterConfig", {}).get("TargetArn") == {"Fn::GetAtt": [logical_id, "Arn"]}:
        return "queue of failed runs"
    if _takes_failed_batches(resources, logical_id):
        return "queue of failed runs"
    variables = function.get("Environment", {}).get("Variables", {})
    named = (name for name, value in variables.items() if json.dumps(reference) in json.dumps(value))
    found = {_own(name, resources[logical_id]["Type"]) for name in named}
    if resources[logical_id]["Type"] == "AWS::KMS::Key":
        return "customer key"
    target = found.pop() if len(found) == 1 else "none of its settings"
    return _OBJECTS.get(target, f"{target}{suffix}") if suffix else target


def _takes_failed_batches(resources: Template, logical_id: str) -> bool:
    """Whether a mapping of a stream sends there what it gave up."""
    return any(
        {"Fn::GetAtt": [logical_id, "Arn"]}
        == found["Properties"].get("DestinationConfig", {}).get("OnFailure", {}).get("Destination")
        for found in resources.values()
        if found["Type"] == "AWS::Lambda::EventSourceMapping"
    )


def _own(variable: str, kind: str) -> str:
    """What a resource is that a setting names; a destination of an outbox names a queue and a bucket."""
    if variable.startswith("CLAIM_CHECK_OUTBOX_DESTINATION_"):
        return "queue" if kind == "AWS::SQS::Queue" else "bucket"
    return _OWN.get(variable, "handler's table")


def _condition(given: Template) -> str:
    parts = [
        f"`{key}` {operator} {', '.join(f'`{value}`' for value in listed(values))}"
        for operator, keys in given.items()
        for key, values in keys.items()
    ]
    return "; ".join(parts)


# --- The page -------------------------------------------------------------------------------------------------------

_ABOUT: Final = (
    """\
Every function has a role of its own with exactly these rights. There is no managed policy and no statement that denies.
`Documents`, `Wallet`, `Orders` and `Ingest` are this repository's app. `Narrow` is a test's: its pipelines are limited
to a tenant and an event type, keep versions, have a customer's key and take Extended Clients' messages.""",
    """\
Each right is taken away, one by one, and its case is seen to fail: `test_every_right_is_needed_by_its_case`. What the
rights do not give is denied, and the same call is seen to work for the account's root:
`test_a_function_is_denied_what_is_not_its_own`.""",
)
_UNSEEN_HEADING: Final = "What the embedded AWS cannot show"
_UNSEEN_ABOUT: Final = "These rights are there because AWS asks for them; here nothing fails without them."
_DIFFERENCES: Final = (
    """\
The bucket's policy refuses writes without `If-None-Match` by the key `s3:if-none-match`, which the embedded AWS does
not know: see [conditional writes](../explanation/conditional-writes.md).""",
    """\
The embedded AWS also asks for `sqs:SendMessageBatch` and its like, which are no actions on AWS: there
[`sqs:SendMessage` allows both calls](https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-api-permissions-reference.html).
A local deployment adds them to the deployed roles, never to a template.""",
)


def page(templates: Mapping[str, Template]) -> str:
    """The page.

    Args:
        templates: Templates by the name of their stack, in the order of the page.

    Raises:
        ValueError: A right that nothing needs.
    """
    every = [right for stack, template in templates.items() for right in rights(stack, template)]
    idle = sorted({f"{one.kind}: {one.action} on {one.target}" for one in every if not one.case and not one.unseen})
    if idle:
        raise ValueError(f"No case needs: {'; '.join(idle)}. Way out: take them out of the constructs, or name a case.")
    parts = [NOTE, "# Roles", *_ABOUT]
    for label in dict.fromkeys(one.label for one in every):
        rows = [_row(one) for one in every if one.label == label]
        parts += [f"## {label}", _table(("action", "on", "which is", "if", "needed by"), rows)]
    parts += ["## Cases", _table(("case", "what happens"), [(f"*{name}*", text) for name, text in CASES.items()])]
    told = dict.fromkeys(one.unseen for one in every if one.unseen is not None)
    unseen = [(one.name, one.text, f"[AWS]({one.source})") for one in told]
    parts += [f"## {_UNSEEN_HEADING}", _UNSEEN_ABOUT, _table(("who asks", "why nothing fails", "source"), unseen)]
    return "\n\n".join([*parts, *_DIFFERENCES]) + "\n"


def _row(right: Right) -> tuple[str, ...]:
    unseen = right.unseen
    need = f"[{unseen.name}](#{_UNSEEN_HEADING.lower().replace(' ', '-')})" if unseen else f"*{right.case}*"
    return f"`{right.action}`", f"`{right.resource}`", right.target, right.condition, need


def _table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(headings)
    lines = [head, ["---"] * len(head), *(list(row) for row in rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)


# --- Writing --------------------------------------------------------------------------------------------------------


def synthesize(app: Path, folder: Path) -> Path:
    """Synthesize an app with the feature flags of `cdk.json`, into a cloud assembly; returns its folder."""
    context = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CDK_")} | {
        "CDK_OUTDIR": str(folder),
        "CDK_CONTEXT_JSON": json.dumps(context),
        "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20",
    }
    done = subprocess.run(  # noqa: S603 - our own app
        [sys.executable, str(app)], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{app.relative_to(ROOT)} cannot be synthesized:\n{done.stderr}")
    return folder


def templates_of(*assemblies: Path) -> dict[str, Template]:
    """Templates of cloud assemblies, by the name of the stack."""
    paths = [path for assembly in assemblies for path in sorted(assembly.glob("*.template.json"))]
    return {path.name.removesuffix(".template.json"): json.loads(path.read_text(encoding="utf-8")) for path in paths}


def main() -> int:
    """Write, or check."""
    with tempfile.TemporaryDirectory() as folder:
        made = [synthesize(app, Path(folder) / str(number)) for number, app in enumerate(APPS)]
        text = page(templates_of(*made))
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    check = "--check" in sys.argv[1:]
    if not check:
        PAGE.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{'not current' if check else 'written'}: {PAGE.relative_to(ROOT)}\n")
    return int(check)


if __name__ == "__main__":
    raise SystemExit(main())
