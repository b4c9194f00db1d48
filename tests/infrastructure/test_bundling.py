"""The Lambda asset: reproducible, built once, small, and the same for every installer.

Most tests install wheels that they make themselves, so that they need no package index; the asset that is deployed is
checked once, in `real`.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from claim_check_cdk import bundling
from claim_check_cdk.bundling import Bundle, BundlingError, bundle

MAX_ZIP_BYTES = 5_000_000
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
UNCHECKED_HASH = b"\x01\x00\x00\x00"


# --- Helpers --------------------------------------------------------------------------------------------------------


def make_wheel(folder: Path, name: str, tag: str = "py3-none-any", body: str = "VALUE = 1\n") -> str:
    """Write a wheel of one package with a console script; answers its line for a lock file."""
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}/__init__.py": body,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{name}-run = {name}:main\n",
    }
    record = "".join(f"{path},sha256={_record_hash(text)},{len(text)}\n" for path, text in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
    wheel = folder / f"{name}-1.0-{tag}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in files.items():
            archive.writestr(zipfile.ZipInfo(path), text)
    return f"{name}==1.0 --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"


def _record_hash(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def make_package(folder: Path, name: str = "my_handlers", body: str = "def handle(): ...\n") -> Path:
    package = folder / name
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "work.py").write_text(body)
    (package / "data.json").write_text("{}")
    return package


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file and folder with its mode and bytes."""
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in folder.rglob("*")
    }


def snapshot_of_build(root: Path) -> dict[str, int]:
    return {path.relative_to(root).as_posix(): path.stat().st_mtime_ns for path in root.rglob("*")}


@pytest.fixture
def wheelhouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place that installers look at."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for tool in ("UV", "PIP"):
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(folder))
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
    monkeypatch.setenv("UV_NO_CACHE", "1")
    return folder


UseRuntime = Callable[[Path], Path]


@pytest.fixture
def use_runtime(monkeypatch: pytest.MonkeyPatch, wheelhouse: Path) -> UseRuntime:
    """Puts a small copy of the runtime package into a folder, and has Python find that one."""
    lock = make_wheel(wheelhouse, "tiny_dependency")

    def use(folder: Path) -> Path:
        package = folder / bundling.RUNTIME_PACKAGE
        (package / "handlers").mkdir(parents=True)
        (package / "__init__.py").write_text('"""Runtime."""\n')
        (package / "contract.py").write_text("NAMES = {'b', 'a'}\nLIMIT = 1\n")
        (package / "handlers" / "__init__.py").write_text("")
        (package / "handlers" / "requirements.lock").write_text(lock)
        monkeypatch.delitem(sys.modules, bundling.RUNTIME_PACKAGE, raising=False)
        monkeypatch.syspath_prepend(folder)
        return package

    return use


@pytest.fixture
def runtime(tmp_path: Path, use_runtime: UseRuntime) -> Path:
    return use_runtime(tmp_path / "runtime")


@pytest.fixture(scope="module")
def real() -> Bundle:
    """The asset that is deployed."""
    return bundle()


# --- Reproducible ---------------------------------------------------------------------------------------------------


def test_two_copies_in_two_folders_give_the_same_asset(tmp_path: Path, use_runtime: UseRuntime) -> None:
    made = []
    for folder, umask in ((tmp_path / "one", 0o022), (tmp_path / "a longer path" / "two", 0o077)):
        before = os.umask(umask)
        try:
            use_runtime(folder)
            package = make_package(folder / "app")
            made.append(bundle(packages=[package], build_dir=folder / "build", python_version=HERE))
        finally:
            os.umask(before)
    first, second = made
    assert first.path != second.path
    assert first.digest == second.digest
    assert contents(first.path) == contents(second.path)
    assert {"claim_check/contract.py", "my_handlers/data.json", "tiny_dependency/__init__.py"} <= set(
        contents(first.path)
    )


@pytest.mark.usefixtures("runtime")
def test_uv_and_pip_make_the_same_asset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_uv = bundle(build_dir=tmp_path / "uv")
    monkeypatch.setattr(bundling, "_find_uv", lambda: None)
    with_pip = bundle(build_dir=tmp_path / "pip")
    assert with_uv.digest == with_pip.digest
    assert contents(with_uv.path) == contents(with_pip.path)


@pytest.mark.usefixtures("runtime")
def test_nothing_of_the_machine_is_in_it(tmp_path: Path) -> None:
    asset = bundle(build_dir=tmp_path / "build", python_version=HERE).path
    assert not (asset / "bin").exists()
    assert not {path.name for path in asset.rglob("*")} & {
        "RECORD",
        "INSTALLER",
        "REQUESTED",
        "direct_url.json",
        ".lock",
    }
    assert not [path for path in asset.rglob("*") if path.is_file() and str(tmp_path).encode() in path.read_bytes()]


def test_every_input_changes_the_digest(tmp_path: Path, runtime: Path, wheelhouse: Path) -> None:
    package = make_package(tmp_path)
    lock = tmp_path / "requirements.lock"
    lock.write_text(make_wheel(wheelhouse, "another"))
    seen = []

    def look(**settings: object) -> None:
        arguments: dict[str, object] = {"packages": [package], "requirements_lock": lock} | settings
        seen.append(bundle(build_dir=tmp_path / "build", **arguments).digest)  # type: ignore[arg-type]

    look()
    look(packages=[])
    look(requirements_lock=None)
    look(python_version="3.12")
    look(machine="x86_64")
    (runtime / "contract.py").write_text("LIMIT = 2\n")
    look()
    (package / "data.json").write_text("[]")
    look()
    (package / "work.py").rename(package / "renamed.py")
    look()
    lock.write_text(lock.read_text() + "# a comment\n")
    look()
    assert len(set(seen)) == len(seen) == 9


@pytest.mark.usefixtures("runtime")
def test_caches_and_hidden_files_change_nothing(tmp_path: Path) -> None:
    package = make_package(tmp_path)
    before = bundle(packages=[package], build_dir=tmp_path / "build")
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "work.nbi").write_bytes(b"x")
    (package / "stale.pyc").write_bytes(b"x")
    (package / ".DS_Store").write_bytes(b"x")
    assert bundle(packages=[package], build_dir=tmp_path / "build") == before


# --- Built once -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("runtime")
def test_a_second_build_builds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = make_package(tmp_path)
    first = bundle(packages=[package], build_dir=tmp_path / "build", python_version=HERE)
    before = snapshot_of_build(tmp_path / "build")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a program was started")

    monkeypatch.setattr(subprocess, "run", refuse)
    assert bundle(packages=[package], build_dir=tmp_path / "build", python_version=HERE) == first
    assert snapshot_of_build(tmp_path / "build") == before


@pytest.mark.usefixtures("runtime")
def test_an_edited_handler_installs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = make_package(tmp_path)
    first = bundle(packages=[package], build_dir=tmp_path / "build")
    monkeypatch.setattr(bundling, "_install", None)
    (package / "work.py").write_text("def handle(): return 1\n")
    second = bundle(packages=[package], build_dir=tmp_path / "build")
    assert second.digest != first.digest
    assert (second.path / "my_handlers" / "work.py").read_text() == "def handle(): return 1\n"


@pytest.mark.usefixtures("runtime")
def test_parallel_builds_do_not_disturb_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builders = 6
    together = threading.Barrier(builders)
    install = bundling._install

    def install_together(*arguments: object) -> None:
        install(*arguments)  # type: ignore[arg-type]
        together.wait(60)

    monkeypatch.setattr(bundling, "_install", install_together)
    build = tmp_path / "build"
    with ThreadPoolExecutor(builders) as pool:
        made = list(pool.map(lambda _: bundle(build_dir=build), range(builders)))
    assert len(set(made)) == 1
    assert (made[0].path / "claim_check" / "contract.py").is_file()
    assert sorted(path.name for path in build.rglob(".making-*")) == []


@pytest.mark.usefixtures("runtime")
def test_a_build_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_off(folder: Path) -> None:
        (folder / "half").write_text("")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(bundling, "_prune", break_off)
        with pytest.raises(KeyboardInterrupt):
            bundle(build_dir=tmp_path / "build")
    assert {path.name for path in (tmp_path / "build").rglob("*") if path.is_file()} == {".gitignore"}
    assert bundle(build_dir=tmp_path / "build").path.is_dir()


@pytest.mark.usefixtures("runtime")
def test_git_ignores_what_is_built(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)  # noqa: S603, S607 - the developer's git
    bundle(build_dir=tmp_path / "build")
    seen = subprocess.run(  # noqa: S603 - the developer's git
        ["git", "-C", str(tmp_path), "status", "--porcelain", "--untracked-files=all", "build"],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    )
    assert seen.stdout == ""


@pytest.mark.usefixtures("runtime")
def test_it_is_built_below_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "app").mkdir()
    monkeypatch.chdir(tmp_path / "app")
    made = bundle()
    assert made.path == tmp_path / "app" / ".build" / "lambda" / "assets" / made.digest


# --- Byte code ------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("runtime")
def test_byte_code_of_the_runtimes_python_never_asks_for_times(tmp_path: Path) -> None:
    made = bundle(build_dir=tmp_path / "build", python_version=HERE)
    assert made.compiled_with is not None
    assert made.compiled_with.startswith(f"{HERE}.")
    sources = {path.relative_to(made.path) for path in made.path.rglob("*.py")}
    for source in sources:
        cached = made.path / source.parent / "__pycache__" / f"{source.stem}.{sys.implementation.cache_tag}.pyc"
        assert cached.read_bytes()[4:8] == UNCHECKED_HASH
    (made.path / "claim_check" / "contract.py").write_text("raise SystemExit('the source was read')\n")
    assert run_in(made.path, "import claim_check.contract as c; print(c.LIMIT, c.__file__.rsplit('/')[-1])") == (
        "1 contract.py\n"
    )


@pytest.mark.usefixtures("runtime")
def test_a_file_that_does_not_compile_goes_without_byte_code(tmp_path: Path) -> None:
    package = make_package(tmp_path, body="def broken(:\n")
    made = bundle(packages=[package], build_dir=tmp_path / "build", python_version=HERE)
    compiled = {path.name.split(".")[0] for path in (made.path / "my_handlers").rglob("*.pyc")}
    assert compiled == {"__init__"}


@pytest.mark.usefixtures("runtime")
def test_without_the_runtimes_python_there_is_no_byte_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_it = bundle(build_dir=tmp_path / "build", python_version=HERE)
    monkeypatch.setattr(bundling, "_find_python", lambda _: None)
    without = bundle(build_dir=tmp_path / "build", python_version=HERE)
    assert without.compiled_with is None
    assert without.digest != with_it.digest
    assert list(without.path.rglob("*.pyc")) == []


# --- Compiled wheels ------------------------------------------------------------------------------------------------


def compiled_lock(tmp_path: Path, wheelhouse: Path) -> Path:
    """A lock of a package with a wheel for Lambda on arm64, and another for this machine."""
    here = f"cp{HERE.replace('.', '')}"
    local = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tags = [
        "cp314-cp314-manylinux_2_17_aarch64.manylinux2014_aarch64",
        f"{here}-{here}-{local.replace('linux_', 'manylinux_2_17_')}",
    ]
    lines = [make_wheel(wheelhouse, "native", tag, f"PLATFORM = {tag!r}\n") for tag in tags]
    lock = tmp_path / "requirements.lock"
    lock.write_text(f"native==1.0 {' '.join(line.split()[1] for line in lines)}\n")
    return lock


@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_compiled_wheels_are_those_of_lambda_and_the_asset_says_so(
    tmp_path: Path, wheelhouse: Path, monkeypatch: pytest.MonkeyPatch, installer: str
) -> None:
    if installer == "pip":
        monkeypatch.setattr(bundling, "_find_uv", lambda: None)
    made = bundle(requirements_lock=compiled_lock(tmp_path, wheelhouse), build_dir=tmp_path / "build")
    assert made.platform == "cp314-manylinux_2_34_aarch64"
    assert "aarch64" in (made.path / "native" / "__init__.py").read_text()


@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_a_local_run_gets_compiled_wheels_of_this_machine(
    tmp_path: Path, wheelhouse: Path, monkeypatch: pytest.MonkeyPatch, installer: str
) -> None:
    if installer == "pip":
        monkeypatch.setattr(bundling, "_find_uv", lambda: None)
    lock = compiled_lock(tmp_path, wheelhouse)
    made = bundle(requirements_lock=lock, local=True, build_dir=tmp_path / "build")
    assert made.platform == f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}"
    assert run_in(made.path, "import native; print(native.PLATFORM[:5])") == f"cp{HERE.replace('.', '')}\n"


@pytest.mark.usefixtures("runtime")
def test_a_local_run_of_the_default_asset_is_the_very_same(tmp_path: Path) -> None:
    assert bundle(local=True, build_dir=tmp_path / "build") == bundle(build_dir=tmp_path / "build")


@pytest.mark.usefixtures("runtime")
def test_a_platform_without_a_wheel_is_named(tmp_path: Path, wheelhouse: Path) -> None:
    lock = compiled_lock(tmp_path, wheelhouse)
    with pytest.raises(
        BundlingError, match=r"requirements\.lock could not be installed for cp313-manylinux_2_34_x86_64"
    ):
        bundle(requirements_lock=lock, python_version="3.13", machine="x86_64", build_dir=tmp_path / "build")


# --- Bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("name", ["claim_check", "tiny_dependency"])
def test_a_package_cannot_hide_another(tmp_path: Path, name: str) -> None:
    package = make_package(tmp_path / "app", name)
    with pytest.raises(BundlingError, match=f"'{name}'.* already in the asset. Rename it"):
        bundle(packages=[package], build_dir=tmp_path / "build")


@pytest.mark.usefixtures("runtime")
def test_a_link_to_a_file_is_followed_and_one_to_a_folder_refused(tmp_path: Path) -> None:
    package = make_package(tmp_path)
    (tmp_path / "elsewhere.json").write_text('"linked"')
    (package / "linked.json").symlink_to(tmp_path / "elsewhere.json")
    made = bundle(packages=[package], build_dir=tmp_path / "build")
    copied = made.path / "my_handlers" / "linked.json"
    assert copied.read_text() == '"linked"'
    assert not copied.is_symlink()
    (package / "folder").symlink_to(tmp_path)
    with pytest.raises(BundlingError, match="folder is a link to a folder"):
        bundle(packages=[package], build_dir=tmp_path / "build")


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_a_lock_without_hashes_is_refused(
    tmp_path: Path, runtime: Path, monkeypatch: pytest.MonkeyPatch, installer: str
) -> None:
    if installer == "pip":
        monkeypatch.setattr(bundling, "_find_uv", lambda: None)
    (runtime / "handlers" / "requirements.lock").write_text("tiny_dependency==1.0\n")
    with pytest.raises(BundlingError, match="Every line needs hashes"):
        bundle(build_dir=tmp_path / "build")


@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_code_of_a_source_distribution_is_never_run(
    tmp_path: Path, wheelhouse: Path, monkeypatch: pytest.MonkeyPatch, installer: str
) -> None:
    if installer == "pip":
        monkeypatch.setattr(bundling, "_find_uv", lambda: None)
    was_run = tmp_path / "was-run"
    files = {
        "PKG-INFO": "Metadata-Version: 2.1\nName: source_only\nVersion: 1.0\n",
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
        "backend.py": f"open({str(was_run)!r}, 'w').close()\n",
    }
    archive = wheelhouse / "source_only-1.0.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"source_only-1.0/{name}")
            entry.size = len(text)
            packed.addfile(entry, io.BytesIO(text.encode()))
    lock = tmp_path / "requirements.lock"
    lock.write_text(f"source_only==1.0 --hash=sha256:{hashlib.sha256(archive.read_bytes()).hexdigest()}\n")
    with pytest.raises(BundlingError, match="could not be installed"):
        bundle(requirements_lock=lock, build_dir=tmp_path / "build")
    assert not was_run.exists()


@pytest.mark.usefixtures("runtime")
def test_a_missing_lock_is_named(tmp_path: Path) -> None:
    with pytest.raises(BundlingError, match=r"gone\.lock cannot be read: No such file"):
        bundle(requirements_lock=tmp_path / "gone.lock", build_dir=tmp_path / "build")


@pytest.mark.usefixtures("runtime")
def test_without_an_installer_the_way_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(bundling, "_find_uv", lambda: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pip" else find_spec(name))
    with pytest.raises(BundlingError, match="Neither uv nor pip was found"):
        bundle(build_dir=tmp_path / "build")


def test_a_package_that_is_not_there_is_named() -> None:
    with pytest.raises(BundlingError, match="'no_such_package' was not found"):
        bundling.package_folder("no_such_package")


@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize(
    "module,found",
    [
        ("claim_check.contract", True),
        ("claim_check.handlers", True),
        ("claim_check.gone", False),
        ("my_handlers.work", True),
        ("my_handlers.data", False),
        ("my_handlers", True),
        ("elsewhere.work", None),
    ],
)
def test_modules_are_looked_up_where_the_asset_will_have_them(
    tmp_path: Path,
    module: str,
    found: bool | None,  # noqa: FBT001
) -> None:
    assert bundling.has_module(module, [make_package(tmp_path)]) is found


# --- The asset that is deployed -------------------------------------------------------------------------------------


def test_the_asset_is_pure_python_and_small(real: Bundle, tmp_path: Path) -> None:
    archive = Path(shutil.make_archive(str(tmp_path / "asset"), "zip", real.path))
    assert real.platform == "any"
    assert archive.stat().st_size <= MAX_ZIP_BYTES


def test_the_asset_holds_what_lambda_lacks_and_nothing_else(real: Bundle) -> None:
    names = {path.name for path in real.path.iterdir() if path.suffix != ".dist-info"}
    assert names - {"__pycache__"} == {"aws_lambda_powertools", "claim_check", "jmespath", "typing_extensions.py"}
    assert (real.path / "claim_check" / "py.typed").is_file()


def test_the_asset_runs_on_the_python_of_this_machine(real: Bundle) -> None:
    script = """
import claim_check.handlers.consumer, claim_check.handlers.producer, aws_lambda_powertools.logging, jmespath
import typing_extensions, sys
for name in ("claim_check.handlers.consumer", "aws_lambda_powertools", "jmespath", "typing_extensions"):
    print(sys.modules[name].__file__)
"""
    files = run_in(real.path, script).split()
    assert [Path(file).is_relative_to(real.path) for file in files] == [True] * 4


def run_in(asset: Path, script: str) -> str:
    """Run a script with nothing but the asset, this Python's standard library and its installed packages."""
    done = subprocess.run(  # noqa: S603 - this interpreter, a fixed script
        [sys.executable, "-BE", "-c", f"import sys; sys.path.insert(0, {str(asset)!r})\n{script}"],
        capture_output=True,
        text=True,
        check=True,
        cwd=asset,
    )
    return done.stdout
