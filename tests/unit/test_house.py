"""Guards of the house: the `constructs/` trap, the direction of imports, what must never be committed, exact pins."""

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CDK = ("aws_cdk", "constructs", "cdk_nag", "jsii", "claim_check_cdk")
LOCKS = (
    "requirements.txt",
    "requirements-dev.txt",
    "requirements-local.txt",
    "lambda_src/claim_check/handlers/requirements.lock",
)


def imports_of(path: Path) -> Iterator[str]:
    """Yield the dotted name of everything that a file imports, inside functions and type-checking blocks too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute, so that a file can be forked alone"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def sources(folder: str) -> list[Path]:
    """Return the Python files below a folder; there must be some, or a guard would hold nothing."""
    found = sorted((ROOT / folder).rglob("*.py"))
    assert found, f"{folder} holds no Python file: this guard guards nothing"
    return found


def offences(files: list[Path], forbidden: Callable[[str], bool]) -> list[str]:
    """Return every import that is forbidden, as `file: name`."""
    return [f"{path.relative_to(ROOT)}: {name}" for path in files for name in imports_of(path) if forbidden(name)]


def within(name: str, *packages: str) -> bool:
    """Whether a dotted name is one of the packages or inside one."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def committed() -> list[str]:
    """Return the names of the files under version control, and of new ones that are not ignored."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("no git checkout")
    command = [git, "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 - lists files
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


# The trap: a package `constructs` of our own would hide the one that aws-cdk-lib imports (aws/aws-cdk#19301).


def test_no_folder_named_constructs_is_a_package() -> None:
    assert (ROOT / "constructs").is_dir()
    traps = [name for name in committed() if re.search(r"(^|/)constructs/__init__\.pyi?$", name)]
    assert traps == []


def imported_constructs(folder: Path) -> str:
    """Return which file `import constructs` finds when a program starts in a folder."""
    program = "import sys; sys.path.insert(0, ''); import constructs; print(constructs.__file__)"
    found = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program], cwd=folder, check=True, capture_output=True, text=True
    )
    return found.stdout.strip()


def test_import_constructs_finds_the_published_package() -> None:
    assert "site-packages" in imported_constructs(ROOT)


def test_an_init_file_would_hide_the_published_package(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "constructs", tmp_path / "constructs", ignore=shutil.ignore_patterns("__pycache__"))
    assert "site-packages" in imported_constructs(tmp_path)
    (tmp_path / "constructs" / "__init__.py").touch()
    assert imported_constructs(tmp_path) == str(tmp_path / "constructs" / "__init__.py")


# The arrows: app → stacks → constructs; handlers → domain → ports ← adapters; ops → runtime.


def test_the_runtime_library_knows_nothing_of_the_cdk() -> None:
    assert offences(sources("lambda_src"), lambda name: within(name, *CDK, "claim_check_ops", "stacks")) == []


def test_constructs_share_nothing_but_the_contract_with_the_runtime() -> None:
    def forbidden(name: str) -> bool:
        if within(name, "claim_check_ops", "claim_check_examples", "stacks"):
            return True
        return within(name, "claim_check") and not within(name, "claim_check.contract")

    assert offences(sources("constructs/claim_check_cdk"), forbidden) == []


def test_the_contract_imports_the_standard_library_only() -> None:
    contract = ROOT / "lambda_src" / "claim_check" / "contract.py"
    assert contract.is_file()
    outside = offences([contract], lambda name: name.partition(".")[0] not in sys.stdlib_module_names)
    assert outside == []


def test_the_domain_knows_neither_aws_clients_nor_frameworks_nor_its_users() -> None:
    package = ROOT / "lambda_src" / "claim_check"
    meeting = sorted(package.glob("aws*.py"))  # where the two meet: one for each part, so that nobody pays for another
    outer = (package / "adapters", package / "handlers", *meeting)
    domain = [
        path for path in sources("lambda_src/claim_check") if not any(path.is_relative_to(part) for part in outer)
    ]
    assert len(domain) > 1
    users = (
        *(f"claim_check.{path.stem}" for path in meeting),
        "claim_check.handlers",
        "claim_check.adapters",
        "claim_check_examples",
    )
    forbidden = ("boto3", "botocore", "aws_lambda_powertools", *users)
    assert offences(domain, lambda name: within(name, *forbidden)) == []


def test_adapters_know_no_handlers() -> None:
    assert offences(sources("lambda_src/claim_check/adapters"), lambda name: within(name, "claim_check.handlers")) == []


def test_the_operators_command_needs_no_cdk() -> None:
    assert offences(sources("ops/claim_check_ops"), lambda name: within(name, *CDK, "stacks")) == []


@pytest.mark.parametrize(
    "line",
    ["import aws_cdk", "from aws_cdk import aws_s3", "def f():\n    import aws_cdk.aws_s3 as s3"],
)
def test_the_guard_sees_every_form_of_import(tmp_path: Path, line: str) -> None:
    path = tmp_path / "module.py"
    path.write_text(line, encoding="utf-8")
    assert any(within(name, *CDK) for name in imports_of(path))


# What is committed.

# Written in pieces, so that this file does not offend itself.
UNWANTED = {
    "a package registry": re.compile(
        "|".join(
            (
                "registry" + r"\.npm",
                "pypi" + r"\.org/",
                "python" + r"hosted\.org",
                "--index" + "-url",
                "--find" + "-links",
            )
        )
    ),
    "a path of somebody's machine": re.compile(r"(?<![\w.$}])/(?:home/\w|root/|Users/\w|work/\w)"),
}
# Options of the tool that writes lock files; they keep addresses out of them.
HARMLESS = re.compile(r"--no-emit-[a-z-]+|unexport PIP_FIND_LINKS")


def unwanted(text: str) -> list[str]:
    """Return what should not be in a committed text, each with its kind."""
    text = HARMLESS.sub("", text)
    return [f"{kind}: {found.group()}" for kind, pattern in UNWANTED.items() for found in pattern.finditer(text)]


def test_no_committed_file_names_a_registry_or_a_machines_folder() -> None:
    names = committed()
    assert "pyproject.toml" in names
    found = {}
    for name in names:
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if unwanted(text):
            found[name] = unwanted(text)
    assert found == {}


@pytest.mark.parametrize(
    "text",
    ["see https://" + "pypi" + ".org/simple", "open('/" + "home/me/x')", "/" + "root/.cache", "--find" + "-links x"],
)
def test_the_guard_sees_what_is_unwanted(text: str) -> None:
    assert unwanted(text)


@pytest.mark.parametrize("name", [*LOCKS, "package-lock.json"])
def test_lock_files_hold_no_address(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text.strip()
    assert "://" not in text
    assert '"resolved"' not in text


def requirements(name: str) -> list[str]:
    """Return the requirements of a lock file, continued lines joined, comments left out."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return [line for line in lines if line != "-e ."]


@pytest.mark.parametrize("name", LOCKS)
def test_lock_files_pin_exactly(name: str) -> None:
    found = requirements(name)
    assert found
    pin = re.compile(r"[a-z0-9-]+==[\w.+!]+(\s*;[^\\]+?)?(\s+--hash=sha256:[0-9a-f]{64})*")
    assert [line for line in found if not pin.fullmatch(line)] == []


@pytest.mark.parametrize("name", [name for name in LOCKS if name != "requirements.txt"])
def test_lock_files_hold_hashes(name: str) -> None:
    assert [line for line in requirements(name) if "--hash=" not in line] == []


def test_the_two_lock_files_of_the_checkout_agree() -> None:
    def pins(name: str) -> set[str]:
        return {re.split(r"[ ;]", line)[0] for line in requirements(name)}

    assert pins("requirements.txt") <= pins("requirements-dev.txt")


def test_the_functions_get_pure_python_only() -> None:
    names = {line.partition("==")[0] for line in requirements(LOCKS[-1])}
    assert names == {"aws-lambda-powertools", "jmespath", "typing-extensions"}
