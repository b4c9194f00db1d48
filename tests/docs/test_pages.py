"""What the pages say: links lead somewhere, names and commands exist, nothing is left out."""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import botocore.session
import pytest
from botocore import xform_name

import claim_check
import claim_check_cdk
from claim_check import contract, errors, telemetry
from tests.docs.kit import DOCS, ROOT, Block, blocks, hand_written, pages, prose

# --- Links ----------------------------------------------------------------------------------------------------------

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        number, name = 0, slug
        while name in found:
            number += 1
            name = f"{slug}-{number}"
        found.add(name)
    return found


def broken(page: Path) -> Iterator[str]:
    """Links of a page that lead nowhere."""
    for target in _LINK.findall(prose(page)):
        if target.startswith(("https://", "http://")):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists():
            yield f"{target}: no such file"
        elif anchor and anchor not in anchors(path):
            yield f"{target}: no such heading"


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert list(broken(page)) == []


def test_no_page_is_an_orphan() -> None:
    """Every page that people write can be reached from the README."""
    reached: set[Path] = set()
    todo = [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        targets = (target.partition("#")[0] for target in _LINK.findall(prose(page)) if "://" not in target)
        todo += [path for name in targets if name and (path := (page.parent / name).resolve()).is_file()]
    orphans = {
        page for page in pages() if not page.read_text(encoding="utf-8").startswith("<!-- Written by ")
    } - reached
    assert sorted(map(str, orphans)) == []


# --- What is generated ----------------------------------------------------------------------------------------------


def test_reference_and_snippets_are_current(reference: ModuleType) -> None:
    """Way out: python docs/generate_reference.py."""
    stale = [
        str(path.relative_to(ROOT))
        for path, text in reference.current().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    assert stale == []


def test_every_page_of_the_reference_says_what_wrote_it() -> None:
    written_by = re.compile(r"<!-- Written by (docs/\w+\.py)")
    for page in (DOCS / "reference").iterdir():
        match = written_by.match(page.read_text(encoding="utf-8"))
        assert match is not None, page
        assert (ROOT / match[1]).exists(), page


def test_every_metric_state_and_attribute_is_described(reference: ModuleType) -> None:
    assert set(reference.METRICS) == set(reference.metric_names())
    attributes = {value for name, value in vars(contract.InboxAttribute).items() if name.isupper()}
    assert set(reference.ROW) == attributes
    assert set(reference.STATES) == set(contract.InboxState.__args__)  # type: ignore[attr-defined]  # a Literal


# --- Nothing is left out --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", claim_check_cdk.__all__)
def test_every_construct_is_named(name: str) -> None:
    assert f"## {name}\n" in (DOCS / "reference" / "constructs.md").read_text()
    assert f"`{name}`" in (DOCS / "how-to" / "use-one-construct.md").read_text()


@pytest.mark.parametrize("name", claim_check.__all__)
def test_every_public_name_of_the_library_is_in_the_reference(name: str) -> None:
    library, of_errors = ((DOCS / "reference" / page).read_text() for page in ("library.md", "errors.md"))
    assert f"## {name}\n" in library or f"`{name}`" in of_errors or f" {name}" in of_errors


@pytest.mark.parametrize("code", sorted(contract.ERROR_CODES | {errors.LostLease.code}))
def test_every_error_code_has_a_section_in_the_runbook(code: str) -> None:
    text = (DOCS / "runbook.md").read_text()
    section = re.search(rf"^## {code}$(.*?)(?=^#)", text, re.DOTALL | re.MULTILINE)
    assert section is not None
    for part in ("**Means:**", "**Confirm:**", "**Do:**"):
        assert part in section[1], f"{code}: {part}"


def test_every_alarm_has_a_section_in_the_runbook(reference: ModuleType) -> None:
    sections = {facts["section"] for facts in reference.alarms().values()}
    sections |= {facts["section"] for _, _, facts in reference.other_alarms()}
    assert len(sections) > 30
    assert sorted(sections - anchors(DOCS / "runbook.md")) == []


@pytest.mark.parametrize("variable", [value for name, value in vars(contract.Setting).items() if name.isupper()])
def test_every_setting_is_named(variable: str) -> None:
    assert f"`{variable}`" in (DOCS / "reference" / "settings.md").read_text()


def test_every_environment_setting_is_named() -> None:
    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    page = (DOCS / "how-to" / "deploy-to-an-account.md").read_text()
    for name in {name for one in context["claim-check:environments"].values() for name in one}:
        assert f"`{name}`" in page


REQUIREMENTS = {1: 4, 2: 8, 3: 3, 4: 10, 5: 4, 6: 5, 7: 1, 8: 2, 9: 3, 10: 4, 11: 4, 12: 2, 13: 3}


def test_every_requirement_is_in_the_checklist() -> None:
    listed = re.findall(r"^\| R(\d+\.\d+) \|", (DOCS / "requirements.md").read_text(), re.MULTILINE)
    assert listed == [f"{part}.{number}" for part, count in REQUIREMENTS.items() for number in range(1, count + 1)]


def test_decisions_are_numbered_and_listed() -> None:
    found = sorted(path.name for path in (DOCS / "decisions").glob("[0-9]*.md"))
    assert [name[:4] for name in found] == [f"{number:04d}" for number in range(1, len(found) + 1)]
    index = (DOCS / "decisions" / "README.md").read_text()
    assert [name for name in found if name not in index] == []


# --- What is named exists -------------------------------------------------------------------------------------------


def test_every_test_that_is_named_exists() -> None:
    sources = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("*.py"))
    named = set(re.findall(r"`(test_\w+)`", "".join(page.read_text() for page in hand_written())))
    assert named, "the docs name no test"
    assert sorted(name for name in named if f"def {name}(" not in sources) == []


def test_every_file_that_is_named_exists() -> None:
    roots = ("app", "stacks", "constructs", "lambda_src", "ops", "tests", "docs", "cdk", "benchmarks")
    named = re.findall(rf"`((?:{'|'.join(roots)})/[\w./-]+)`", "".join(prose(page) for page in pages()))
    assert sorted(name for name in set(named) if not (ROOT / name).exists()) == []


def spoken() -> str:
    """Everything that a reader may type: fenced blocks without a language, and code in the prose."""
    typed = [block.text for block in blocks() if not block.language]
    return "\n".join(typed + [code for page in pages() for code in re.findall(r"`([^`\n]+)`", prose(page))])


def test_every_make_target_exists(reference: ModuleType) -> None:
    named = re.findall(r"^make ([a-z-]+)", spoken(), re.MULTILINE)
    assert sorted(set(named) - set(reference.targets())) == []


def test_every_claim_check_command_exists(reference: ModuleType) -> None:
    known = {
        path: {name for option in node.params for name in (*option.opts, *option.secondary_opts)}
        for path, node in reference.commands()
    }
    for line in re.findall(r"^(?:\.venv/bin/)?(claim-check .*)$", spoken(), re.MULTILINE):
        words = [word for word in shlex.split(line, comments=True) if word != "--local"]
        path = max((" ".join(words[:length]) for length in (2, 3)), key=lambda name: (name in known, name))
        if any(name.startswith(f"{line} ") for name in known):  # the name of a group
            continue
        assert path in known, line
        assert {word for word in words if word.startswith("--")} <= known[path] | {"--help"}, line


GLOBAL_OPTIONS = {"query", "output", "endpoint-url", "region", "profile", "cli-binary-format", "cli-read-timeout"}


def aws_commands() -> Iterator[tuple[Block, str]]:
    """Every call of the AWS CLI, its lines joined."""
    for block in blocks():
        if block.language:
            continue
        for line in block.text.replace("\\\n", " ").splitlines():
            if line.strip().startswith("aws "):
                yield block, line.strip()


def test_every_aws_command_exists_and_has_its_options() -> None:
    session = botocore.session.get_session()
    seen = 0
    for where, line in aws_commands():
        words = shlex.split(re.sub(r"\$\(\(.*?\)\)", "0", line))
        service = {"s3api": "s3"}.get(words[1], words[1])
        model = session.get_service_model(service)
        operations = {xform_name(name, "-"): name for name in model.operation_names}
        assert words[2] in operations, f"{where}: {line}"
        shape = model.operation_model(operations[words[2]]).input_shape
        options = {xform_name(name, "-") for name in (shape.members if shape else ())}
        options |= {f"no-{name}" for name in options} | GLOBAL_OPTIONS
        given = {word[2:] for word in words if word.startswith("--")}
        assert given <= options, f"{where}: {line}: {sorted(given - options)}"
        required = {xform_name(name, "-") for name in (shape.required_members if shape else ())}
        assert required <= given, f"{where}: {line}: {sorted(required - given)} missing"
        seen += 1
    assert seen > 20


# --- What stands in blocks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [block for block in blocks() if block.language in {"json", "python"}], ids=str)
def test_blocks_of_code_can_be_read(block: Block) -> None:
    if block.language == "python":
        ast.parse(block.text)
    else:
        json.loads(block.text)


def test_the_log_line_has_allowed_fields_only() -> None:
    page = DOCS / "how-to" / "read-logs-and-metrics.md"
    (line,) = (json.loads(block.text) for block in blocks() if block.page == page and block.language == "json")
    assert set(line) <= telemetry.ALLOWED_FIELDS | {"level", "message", "timestamp", "service", "xray_trace_id"}


def test_the_readmes_tables_have_every_message_and_account_of_make_run() -> None:
    local = ROOT / "ops" / "claim_check_ops" / "local"
    scenario, wallet = ((local / name).read_text() for name in ("documents_scenario.py", "wallet_run.py"))
    cases = re.findall(r'(?:Case|self\._published|self\._invoked)\(\s*"([^"]+)"', scenario)
    accounts = re.findall(r'^    "(\w+)": \[', wallet, re.MULTILINE)
    ingest = (local / "ingest_run.py").read_text()
    objects = re.findall(r'^            \("([^"]+)", lambda', ingest, re.MULTILINE)
    objects += re.findall(r'case="([^"]+)"', ingest)
    assert len(objects) > len(accounts)
    cases += re.findall(r'Case\(\s*name="([^"]+)"', (local / "orders_run.py").read_text())
    assert len(cases) > len(accounts) > 0
    readme = (ROOT / "README.md").read_text()
    assert [name for name in cases + accounts + objects if f"  {name} " not in readme] == []


def test_no_page_names_a_folder_of_a_machine() -> None:
    unwanted = re.compile(r"/(root|home|Users|tmp)/\w")
    assert [str(page) for page in pages() if unwanted.search(page.read_text())] == []
