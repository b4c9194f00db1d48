"""The application with its roles enforced: it works, it needs every right it has, and it has no other (R11.2)."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest
from rich.console import Console

from claim_check_ops.local import DeployedStack, EmbeddedAws, deploy_assembly
from claim_check_ops.local.deployment import DOCUMENTS_TABLE, WALLET_TABLE, find_deployment
from claim_check_ops.local.documents_run import DocumentsRun
from claim_check_ops.local.ingest_run import IngestRun, find_ingests
from claim_check_ops.local.progress import progress_bar
from claim_check_ops.local.wallet_run import WalletRun
from tests.integration import enforced, enforced_archive, enforced_ingest, enforced_outbox, enforced_reconciler
from tests.integration.enforced import Function
from tests.integration.enforced_denials import Caller, Calls, furnish, is_denied

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed"),
]

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "reference" / "roles.md"
FUNCTIONS: Final = re.findall(r"^## (\w+: \w+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
"""All functions, as the page names them; another test holds the page to the templates."""

CASES: Final = {
    **enforced.CASES,
    "sample": enforced_archive.sample,
    "archive": enforced_archive.archive,
    "archive again": enforced_archive.archive_again,
    "count stuck work": enforced_archive.count_stuck_work,
    "place": enforced_outbox.place,
    "place again": enforced_outbox.place_again,
    "relay": enforced_outbox.relay,
    "relay past a discarded row": enforced_outbox.relay_past_a_discarded_row,
    "reconcile": enforced_reconciler.reconcile,
    **enforced_ingest.CASES,
}
"""The cases of `docs/generate_roles.py`, by name."""


@pytest.fixture(scope="module")
def roles() -> ModuleType:
    """The generator of the page about roles, as a module."""
    spec = importlib.util.spec_from_file_location("generate_roles", ROOT / "docs" / "generate_roles.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def narrow(roles: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The test's own app, synthesized."""
    folder: Path = roles.synthesize(roles.APPS[1], tmp_path_factory.mktemp("narrow") / "cdk.out")
    return folder


@pytest.fixture(scope="module")
def templates(roles: ModuleType, assembly: Path, narrow: Path) -> dict[str, Any]:
    """All templates, by the name of their stack."""
    found: dict[str, Any] = roles.templates_of(assembly, narrow)
    return found


@pytest.fixture(scope="module")
def aws() -> Iterator[EmbeddedAws]:
    """An embedded AWS that enforces IAM."""
    with EmbeddedAws(enforce_iam=True) as enforcing:
        yield enforcing


@pytest.fixture(scope="module")
def stacks(aws: EmbeddedAws, assembly: Path, narrow: Path) -> dict[str, DeployedStack]:
    """Everything, deployed: the stacks by the name of their template."""
    deployed = deploy_assembly(aws, assembly) | deploy_assembly(aws, narrow)
    manifests = (json.loads((folder / "manifest.json").read_text(encoding="utf-8")) for folder in (assembly, narrow))
    return {
        name: deployed[artifact["properties"].get("stackName", name)]
        for manifest in manifests
        for name, artifact in manifest["artifacts"].items()
        if artifact["type"] == "aws:cloudformation:stack"
    }


@pytest.fixture(scope="module")
def runs(aws: EmbeddedAws, stacks: dict[str, DeployedStack]) -> tuple[DocumentsRun, WalletRun]:
    """What ``make run-enforced`` does, once. Afterwards no queue is polled any more: it is the tests' own."""
    outputs = [stack.outputs for stack in stacks.values()]
    documents = DocumentsRun(find_deployment(aws, outputs, table=DOCUMENTS_TABLE))
    wallet = WalletRun(find_deployment(aws, outputs, table=WALLET_TABLE))
    ingest = IngestRun(find_ingests(aws, outputs))
    with progress_bar(Console(quiet=True)) as bar:
        documents.execute(bar)
        wallet.execute(bar)
        ingest.execute(bar)
    assert ingest.succeeded, (ingest.problems, ingest.seen)
    for mapping in aws.lambda_.list_event_source_mappings()["EventSourceMappings"]:
        aws.lambda_.update_event_source_mapping(UUID=mapping["UUID"], Enabled=False)
    return documents, wallet


@pytest.fixture(scope="module")
def functions(
    aws: EmbeddedAws,
    roles: ModuleType,
    stacks: dict[str, DeployedStack],
    templates: dict[str, Any],
    runs: tuple[DocumentsRun, WalletRun],
) -> dict[str, Function]:
    """All functions, by their name on the page."""
    assert runs
    return {
        right.label: Function.find(
            aws, stacks[right.stack], stack=right.stack, kind=right.kind, function=right.function
        )
        for stack, template in templates.items()
        for right in roles.rights(stack, template)
    }


# --- It works -------------------------------------------------------------------------------------------------------


def test_the_documents_pipeline_works_within_its_roles(runs: tuple[DocumentsRun, WalletRun]) -> None:
    documents, _ = runs
    assert documents.problems == []
    assert {case: seen.problems for case, seen in documents.seen.items()} == {one.case: () for one in documents.sent}
    assert documents.succeeded


def test_the_wallet_pipeline_works_within_its_roles(runs: tuple[DocumentsRun, WalletRun]) -> None:
    _, wallet = runs
    assert wallet.problems == []
    assert [account.problems for account in wallet.seen] == [()] * len(wallet.seen)
    assert wallet.succeeded


# --- It needs every right -------------------------------------------------------------------------------------------


def test_the_page_of_roles_is_current(roles: ModuleType, templates: dict[str, Any]) -> None:
    """Way out: python docs/generate_roles.py."""
    assert roles.PAGE.read_text(encoding="utf-8") == roles.page(templates)


def test_every_case_is_there_and_every_function(roles: ModuleType, functions: dict[str, Function]) -> None:
    assert set(CASES) == set(roles.CASES)
    assert set(roles.NEEDS.values()) == set(roles.CASES)
    assert set(functions) == set(FUNCTIONS)


def test_every_reason_is_used(roles: ModuleType, templates: dict[str, Any]) -> None:
    every = [right for stack, template in templates.items() for right in roles.rights(stack, template)]
    assert {(one.kind, one.target, one.action) for one in every if one.case} == set(roles.NEEDS)
    assert {(one.target, one.action) for one in every if one.unseen} == set(roles.UNSEEN)


def test_a_right_that_no_case_needs_is_refused(roles: ModuleType, templates: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="consumer: dynamodb:Scan on inbox"):
        roles.page({"Documents": _scanning(templates["Documents"])})


def _scanning(value: Any) -> Any:  # noqa: ANN401 - a template
    """A template that lets the consumer scan the inbox, too."""
    if isinstance(value, list):
        return [*map(_scanning, value), "dynamodb:Scan"] if "dynamodb:UpdateItem" in value else [*map(_scanning, value)]
    return {name: _scanning(part) for name, part in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize("label", FUNCTIONS)
def test_every_right_is_needed_by_its_case(
    roles: ModuleType, templates: dict[str, Any], functions: dict[str, Function], label: str
) -> None:
    function = functions[label]
    mine = [right for right in roles.rights(function.stack, templates[function.stack]) if right.label == label]
    cases = {right.case: CASES[right.case] for right in mine if right.case}
    assert cases
    before = function.policies()
    for case in cases.values():
        case(function)
    idle = []
    for right in mine:
        if right.case is None:
            continue
        with function.without(right.policy, right.statement, right.action, right.place):
            if _passes(cases[right.case], function):
                idle.append(f"{right.action} on {right.resource}: {right.case}")
    assert idle == []
    assert function.policies() == before
    for case in cases.values():
        case(function)


def _passes(case: Callable[[Function], None], function: Function) -> bool:
    try:
        case(function)
    except Exception:  # noqa: BLE001 - however it fails: nothing else was changed
        return False
    return True


# --- It has no other ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def root(aws: EmbeddedAws, functions: dict[str, Function]) -> Caller:
    """The account's root, and something to read wherever a function should not."""
    furnish(aws, {label: one for label, one in functions.items() if one.stack != enforced_ingest.STACK})
    enforced_ingest.furnish(aws, functions)
    return Caller(aws.session)


def calls_of(functions: dict[str, Function], label: str) -> Calls:
    """The calls of a function."""
    own = functions[label]
    if own.stack == enforced_ingest.STACK:
        return enforced_ingest.calls_of(functions, own)
    consumers = [one for one in functions.values() if one.kind == "consumer"]
    kinds = {
        "archive": enforced_archive.ArchiveCalls,
        "orders": enforced_outbox.StagingCalls,
        "outbox_relay": enforced_outbox.RelayCalls,
        "outbox_sweep": enforced_outbox.RelayCalls,
        "reconciler": enforced_reconciler.ReconcilerCalls,
    }

    def is_its_own(one: Function) -> bool:
        if own.kind == "reconciler":
            return one.bucket == own.bucket
        return own.queue_url == (one.consumer.dlq_url if own.kind == "archive" else one.queue_url)

    (consumer,) = filter(is_its_own, consumers)
    return kinds.get(own.kind, Calls)(
        own=own,
        consumer=consumer,
        other=next(one for one in consumers if one.bucket != own.bucket),
        siblings=[one for one in consumers if one.bucket == own.bucket and one is not consumer],
        narrow=own.stack == "Narrow" and own.kind != "uploads",
    )


@pytest.mark.parametrize("label", FUNCTIONS)
def test_a_function_is_denied_what_is_not_its_own(functions: dict[str, Function], root: Caller, label: str) -> None:
    calls = calls_of(functions, label)
    caller = Caller(functions[label].session)
    assert {name: is_denied(call, caller) for name, call in calls.allowed().items()} == dict.fromkeys(
        calls.allowed(), False
    )
    denied = calls.denied()
    assert len(denied) > 50
    assert [name for name, call in denied.items() if not is_denied(call, caller)] == []
    assert [name for name, call in denied.items() if is_denied(call, root)] == []
