"""The constructs in somebody else's project: installed from the wheel, one alone, the whole pipeline, one forked.

The projects live outside the checkout, in an environment of their own that has the built wheel and, from the
environment of the tests, third-party packages only.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from claim_check_cdk.bundling import bundle

ROOT = Path(__file__).parents[2]
SOURCES = ("constructs", "lambda_src", "ops")
PACKAGES = {"claim_check", "claim_check_cdk", "claim_check_examples", "claim_check_ops"}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

QUEUE_APP = '''
"""One construct of the library, and nothing else of it."""

import aws_cdk as cdk

from claim_check_cdk import MessageQueue

app = cdk.App()
stack = cdk.Stack(app, "Strange")
MessageQueue(stack, "Orders", function_timeout=cdk.Duration.minutes(2))
app.synth()
'''

PIPELINE_APP = '''
"""The whole pipeline with a handler of this project."""

from pathlib import Path

import aws_cdk as cdk

from claim_check_cdk import ClaimCheckPipeline

app = cdk.App()
stack = cdk.Stack(app, "Strange")
ClaimCheckPipeline(
    stack, "Scans", handler="my_handlers.scans:handle", handler_package=Path(__file__).parent / "my_handlers"
)
app.synth()
'''

HANDLER = '''
"""A handler that counts bytes."""

from claim_check import Message, Table, Transaction

SCANS = Table("scans", partition_key="pk")


def handle(message: Message, tx: Transaction) -> None:
    """Write one row about a file."""
    tx.put(SCANS, {"pk": message.message_id, "size": len(message.read())})
'''

FORK_APP = '''
"""The library's pipeline around a forked queue."""

from pathlib import Path

import aws_cdk as cdk

from claim_check_cdk import ClaimCheckPipeline
from my_queue import ShortQueue

app = cdk.App()
stack = cdk.Stack(app, "Strange")
queue = ShortQueue(stack, "Queue", function_timeout=cdk.Duration.minutes(3))
ClaimCheckPipeline(
    stack,
    "Scans",
    handler="my_handlers.scans:handle",
    handler_package=Path(__file__).parent / "my_handlers",
    queue=queue,
)
app.synth()
'''


@dataclass(frozen=True)
class Environment:
    """An environment outside the checkout that has the wheel."""

    python: Path
    site_packages: Path

    def run(self, project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run this Python in a project, which sees nothing of the checkout."""
        hidden = ("PYTHON", "VIRTUAL_ENV", "CDK_", "AWS_", "CLAIM_CHECK_")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        return subprocess.run(  # noqa: S603 - the interpreter of an environment made here
            [self.python, *arguments],
            cwd=project,
            env=environment
            | {"CDK_OUTDIR": str(project / "cdk.out"), "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20"},
            capture_output=True,
            text=True,
            check=False,
        )

    def synthesize(self, project: Path) -> dict[str, Any]:
        """Run a project's app; answers its template."""
        done = self.run(project, "app.py")
        assert done.returncode == 0, done.stderr
        template: dict[str, Any] = json.loads((project / "cdk.out" / "Strange.template.json").read_text())
        return template


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the checkout, built from a copy: building writes beside the sources."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, copy)
    for name in SOURCES:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    _python("-m", "build", "--wheel", "--no-isolation", "--outdir", str(copy / "dist"), str(copy))
    (built,) = (copy / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheel; a .pth file adds third-party packages, but no editable install of the checkout."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    _python("-m", "venv", "--without-pip", str(folder))
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    _python("-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index", str(wheel))
    found = subprocess.run(  # noqa: S603 - the interpreter of an environment made here
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    site_packages = Path(found.stdout.strip())
    (site_packages / "third_party.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return Environment(python, site_packages)


def _python(*arguments: str) -> None:
    done = subprocess.run(  # noqa: S603 - this interpreter
        [sys.executable, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def make_project(folder: Path, app: str) -> Path:
    """A project with an app and a handler package of its own."""
    (folder / "my_handlers").mkdir()
    (folder / "my_handlers" / "__init__.py").write_text('"""Handlers of this project."""\n')
    (folder / "my_handlers" / "scans.py").write_text(HANDLER)
    (folder / "app.py").write_text(app)
    return folder


def kinds(template: dict[str, Any]) -> list[str]:
    """Types of the resources, sorted."""
    return sorted(resource["Type"] for resource in template["Resources"].values())


# --- The wheel ------------------------------------------------------------------------------------------------------


def test_the_wheel_holds_the_four_packages_and_nothing_that_hides_another(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == PACKAGES
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    assert "claim_check/handlers/requirements.lock" in names


@pytest.mark.parametrize("source_root", SOURCES)
def test_the_wheel_holds_every_source_file(wheel: Path, source_root: str) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {path.relative_to(ROOT / source_root).as_posix() for path in (ROOT / source_root).rglob("*.py")}
    assert sources - names == set()


def test_the_packages_come_from_the_wheel(environment: Environment, tmp_path: Path) -> None:
    script = "import claim_check, claim_check_cdk, constructs; print(claim_check.__file__, claim_check_cdk.__file__)"
    done = environment.run(tmp_path, "-c", script)
    assert done.returncode == 0, done.stderr
    for path in done.stdout.split():
        assert Path(path).is_relative_to(environment.site_packages)


# --- Use it alone ---------------------------------------------------------------------------------------------------


def test_one_construct_works_alone(environment: Environment, tmp_path: Path) -> None:
    template = environment.synthesize(make_project(tmp_path, QUEUE_APP))
    assert kinds(template) == ["AWS::SQS::Queue", "AWS::SQS::Queue", "AWS::SQS::QueuePolicy", "AWS::SQS::QueuePolicy"]
    visibilities = {queue["Properties"].get("VisibilityTimeout") for queue in template["Resources"].values()}
    assert 720 in visibilities
    assert not (tmp_path / ".build").exists()


@pytest.fixture(scope="module")
def pipeline_project(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the whole pipeline, synthesized once."""
    project = make_project(tmp_path_factory.mktemp("project"), PIPELINE_APP)
    environment.synthesize(project)
    return project


def asset_of(project: Path) -> Path:
    """The one asset that a project has built."""
    (asset,) = (path for path in (project / ".build" / "lambda" / "assets").iterdir() if path.is_dir())
    return asset


def test_the_whole_pipeline_has_a_handler_of_the_project(pipeline_project: Path) -> None:
    template = json.loads((pipeline_project / "cdk.out" / "Strange.template.json").read_text())
    assert {"AWS::S3::Bucket", "AWS::SQS::Queue", "AWS::DynamoDB::Table", "AWS::Lambda::Function"} <= set(
        kinds(template)
    )
    (function,) = (r for r in template["Resources"].values() if r["Type"] == "AWS::Lambda::Function")
    assert function["Properties"]["Environment"]["Variables"]["CLAIM_CHECK_HANDLER"] == "my_handlers.scans:handle"


def test_the_handler_finds_the_library_in_the_asset(environment: Environment, pipeline_project: Path) -> None:
    asset = asset_of(pipeline_project)
    script = "import sys; sys.path.insert(0, sys.argv[1]); import my_handlers.scans as s, claim_check as c;"
    done = environment.run(pipeline_project.parent, "-Bc", f"{script} print(s.__file__, c.__file__)", str(asset))
    assert done.returncode == 0, done.stderr
    assert [Path(path).is_relative_to(asset) for path in done.stdout.split()] == [True, True]


def test_the_asset_is_that_of_the_checkout(pipeline_project: Path, tmp_path: Path) -> None:
    """Same inputs, same hash, same bytes: however the library came, and wherever the project lies."""
    theirs = asset_of(pipeline_project)
    ours = bundle(packages=[pipeline_project / "my_handlers"], build_dir=tmp_path)
    assert theirs.name == ours.digest
    assert _files(theirs) == _files(ours.path)


def test_a_second_synth_builds_nothing_and_gives_the_same(environment: Environment, pipeline_project: Path) -> None:
    first = (pipeline_project / "cdk.out" / "Strange.template.json").read_text()
    before = _times(pipeline_project / ".build")
    environment.synthesize(pipeline_project)
    assert (pipeline_project / "cdk.out" / "Strange.template.json").read_text() == first
    assert _times(pipeline_project / ".build") == before


def _times(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- Fork it --------------------------------------------------------------------------------------------------------


@pytest.fixture
def fork(environment: Environment, tmp_path: Path) -> Path:
    """A project that has copied one construct file, renamed its class and changed a default."""
    project = make_project(tmp_path, FORK_APP)
    original = (environment.site_packages / "claim_check_cdk" / "message_queue.py").read_text()
    changed = original.replace("class MessageQueue(", "class ShortQueue(").replace(
        "self._retention = retention or Duration.days(4)", "self._retention = retention or Duration.days(1)"
    )
    assert changed.count("ShortQueue") == changed.count("Duration.days(1)") == 1
    (project / "my_queue.py").write_text(changed)
    return project


def test_a_forked_construct_synthesizes_with_the_others(environment: Environment, fork: Path) -> None:
    template = environment.synthesize(fork)
    retentions = {
        resource["Properties"]["MessageRetentionPeriod"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::SQS::Queue"
    }
    assert retentions == {86_400, 14 * 86_400}


def test_a_forked_construct_type_checks_against_the_others(environment: Environment, fork: Path) -> None:
    with _mypy_cache(fork) as cache:
        done = _mypy(environment, fork, cache, ["app.py", "my_queue.py", "my_handlers"])
        assert done.returncode == 0, done.stdout + done.stderr
        assert "no issues found in 4 source files" in done.stdout
        (fork / "app.py").write_text(FORK_APP.replace("queue=queue", "queue=cdk.Duration.days(1)"))
        refused = _mypy(environment, fork, cache, ["app.py"])
        assert 'incompatible type "Duration"; expected "PipelineQueue | None"' in refused.stdout


@contextlib.contextmanager
def _mypy_cache(project: Path) -> Iterator[Path]:
    """A copy of the checkout's cache: without it the stubs of aws_cdk take two minutes and 3.3 GB, so one at a time."""
    cache = project / ".mypy_cache"
    with (ROOT / ".mypy_cache.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (ROOT / ".mypy_cache").is_dir():
            shutil.copytree(ROOT / ".mypy_cache", cache)
        yield cache


def _mypy(
    environment: Environment, project: Path, cache: Path, files: Sequence[str]
) -> subprocess.CompletedProcess[str]:
    # The settings decide whether the cache may be used, so they are those of the checkout, less its paths.
    return environment.run(
        project,
        "-m",
        "mypy",
        "--config-file",
        str(ROOT / "pyproject.toml"),
        "--cache-dir",
        str(cache),
        *files,
    )
