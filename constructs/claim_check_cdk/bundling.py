"""Builds the Lambda asset without Docker: the same inputs give the same folder, byte for byte, on every machine.

The asset holds the runtime package ``claim_check``, the user's own handler packages beside it, and what the hash-locked
requirements name. Its digest is computed from those inputs before anything is built, so a second synth builds nothing,
and CDK never has to hash what came out (R13.1).

Two folders are kept under the build folder, by default ``.build/lambda`` of the directory the CDK app runs in:
``dependencies/<digest>`` (installed wheels; an edited handler does not install them again, nor needs the network) and
``assets/<digest>`` (what Lambda gets). Each is made in a temporary folder and renamed into place, so that parallel
synths neither wait for each other nor see half of it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final, Literal

RUNTIME_PACKAGE: Final = "claim_check"
DEFAULT_BUILD_DIR: Final = Path(".build") / "lambda"

Machine = Literal["arm64", "x86_64"]

_FORMAT: Final = "1"
"""Part of every digest: raise it when the same inputs shall give another asset."""

_WHEEL_MACHINES: Final[Mapping[Machine, str]] = {"arm64": "aarch64", "x86_64": "x86_64"}
_AMAZON_LINUX_2023_SINCE: Final = (3, 12)
"""Python runtimes from here on run on Amazon Linux 2023 (glibc 2.34), older ones on Amazon Linux 2 (glibc 2.26)."""

_INSTALLER_FILES: Final = frozenset(
    {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_build.json", "uv_cache.json"}
)
"""Files of ``*.dist-info`` that depend on who installed the wheel, and where."""

_COMPILE: Final = """
import py_compile, sys
for name in sys.stdin.read().splitlines():
    try:
        py_compile.compile(
            sys.argv[1] + "/" + name, dfile="/var/task/" + name, doraise=True, optimize=0,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
    except py_compile.PyCompileError:
        pass
"""
_IDENTIFY: Final = """
import platform, sys
final = sys.implementation.name == "cpython" and sys.version_info.releaselevel == "final"
print(platform.python_version() if final else "")
"""


class BundlingError(Exception):
    """The asset cannot be built; the message says what is missing and the way out."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A built asset.

    Attributes:
        path: Folder to hand to ``lambda_.Code.from_asset``.
        digest: Digest of all inputs, hexadecimal: the asset hash.
        platform: ``any`` when every wheel is pure Python, so that the asset runs on every machine and Python; otherwise
            the platform it was built for, e.g. ``cp314-manylinux_2_34_aarch64``.
        compiled_with: Version of the Python that made the ``.pyc`` files, e.g. ``3.14.1``; None when that Python was
            not found, in which case each cold start compiles the sources anew.
    """

    path: Path
    digest: str
    platform: str
    compiled_with: str | None


def bundle(
    *,
    packages: Sequence[Path] = (),
    requirements_lock: Path | None = None,
    python_version: str = "3.14",
    machine: Machine = "arm64",
    local: bool = False,
    build_dir: Path | None = None,
) -> Bundle:
    """Build the asset of all functions, or find it built.

    Args:
        packages: Folders of the user's own packages (each with an ``__init__.py``), put beside ``claim_check``. Hidden
            files and caches stay out.
        requirements_lock: A requirements file with hashes that holds what these packages need beyond Powertools; every
            line exact, dependencies included. None: only what the runtime needs.
        python_version: Python of the Lambda runtime, ``major.minor``.
        machine: Architecture of the function.
        local: Take compiled wheels for the Python that runs this instead of Lambda's. Changes nothing without
            ``requirements_lock``: the default asset is pure Python.
        build_dir: Where built assets are kept. Default: ``.build/lambda`` in the current directory.

    Raises:
        BundlingError: A package or lock file is missing or unfit, or the wheels could not be had.
    """
    runtime = package_folder(RUNTIME_PACKAGE)
    root = (build_dir or Path.cwd() / DEFAULT_BUILD_DIR).absolute()
    target = _Target(python_version, machine, local=local and requirements_lock is not None)
    compiler = None if target.local else _find_python(python_version)
    wheels = _Wheels([runtime / "handlers" / "requirements.lock", *_if_given(requirements_lock)], target, compiler)
    sources = _read_packages([runtime, *packages])
    digest = _digest({"wheels": wheels.digest}, sources)
    asset = root / "assets" / digest

    def fill(folder: Path) -> None:
        shutil.copytree(wheels.installed_in(root / "dependencies"), folder, dirs_exist_ok=True)
        _refuse_collisions(folder, packages)
        for name, content in sources.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        _compile(folder, compiler, (name for name in sources if name.endswith(".py")))

    _make_once(asset, fill)
    platform = target.tag if _has_compiled_wheels(asset) else "any"
    return Bundle(asset, digest, platform, compiler.version if compiler else None)


def package_folder(name: str) -> Path:
    """Folder of an importable package, found without importing it: in a checkout as well as installed (STYLE 3).

    Args:
        name: Name of a top-level package.

    Raises:
        BundlingError: There is no such package, or it is not a folder.
    """
    spec = importlib.util.find_spec(name)
    folders = [Path(entry) for entry in (spec and spec.submodule_search_locations) or []]
    if not folders or not folders[0].is_dir():
        raise BundlingError(
            f"The package {name!r} was not found as a folder on sys.path. It comes with the distribution "
            "claim-check-sqs; install that unpacked (pip install claim-check-sqs, or -e . in a checkout)."
        )
    return folders[0]


def has_module(module: str, packages: Sequence[Path]) -> bool | None:
    """Whether ``claim_check`` or one of the user's packages has a module; None when it can be in none of them.

    Args:
        module: ``package.module``.
        packages: Folders of the user's own packages.
    """
    package, *parts = module.split(".")
    folders = {folder.name: folder for folder in [package_folder(RUNTIME_PACKAGE), *packages]}
    if package not in folders:
        return None
    path = folders[package].joinpath(*parts)
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


@dataclass(frozen=True, slots=True)
class _Target:
    """Where compiled wheels have to run."""

    python_version: str
    machine: Machine
    local: bool

    @property
    def tag(self) -> str:
        if self.local:
            return f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}"
        return f"cp{self.python_version.replace('.', '')}-{self.wheel_platforms[0]}"

    @property
    def wheel_platforms(self) -> list[str]:
        """Platform tags of fitting wheels, best first."""
        machine = _WHEEL_MACHINES[self.machine]
        version = tuple(int(part) for part in self.python_version.split("."))
        newer = range(34, 17, -1) if version >= _AMAZON_LINUX_2023_SINCE else range(26, 17, -1)
        return [*(f"manylinux_2_{minor}_{machine}" for minor in newer), f"manylinux2014_{machine}"]

    def uv_options(self) -> list[str]:
        if self.local:
            return []
        version = tuple(int(part) for part in self.python_version.split("."))
        libc = "manylinux_2_34" if version >= _AMAZON_LINUX_2023_SINCE else "manylinux2014"
        return ["--python-platform", f"{_WHEEL_MACHINES[self.machine]}-{libc}", "--python-version", self.python_version]

    def pip_options(self) -> list[str]:
        if self.local:
            return []
        platforms = [option for name in self.wheel_platforms for option in ("--platform", name)]
        return [*platforms, "--python-version", self.python_version, "--implementation", "cp"]


@dataclass(frozen=True, slots=True)
class _Wheels:
    """What is installed, where it has to run, and who compiles it."""

    locks: Sequence[Path]
    target: _Target
    compiler: _Python | None

    @property
    def digest(self) -> str:
        compiler = self.compiler.version if self.compiler else ""
        settings = {"format": _FORMAT, "target": self.target.tag, "compiler": compiler}
        return _digest(settings, {str(number): _read(lock) for number, lock in enumerate(self.locks)})

    def installed_in(self, root: Path) -> Path:
        """The folder they are installed in, made now if need be."""

        def fill(folder: Path) -> None:
            _install(self.locks, self.target, folder)
            _prune(folder)
            _compile(folder, self.compiler, (path.relative_to(folder).as_posix() for path in folder.rglob("*.py")))

        _make_once(root / self.digest, fill)
        return root / self.digest


# --- Inputs ---------------------------------------------------------------------------------------------------------


def _read_packages(folders: Sequence[Path]) -> dict[str, bytes]:
    """All files of the packages by their path in the asset; what is built is exactly what was digested."""
    files: dict[str, bytes] = {}
    for folder in folders:
        for path in _walk(folder):
            files[(PurePosixPath(folder.name) / path.relative_to(folder).as_posix()).as_posix()] = path.read_bytes()
    return files


def _walk(folder: Path) -> Iterable[Path]:
    """Files below a folder in a fixed order, without caches and hidden files."""
    for entry in sorted(folder.iterdir(), key=lambda path: path.name):
        if entry.name.startswith(".") or entry.name == "__pycache__" or entry.suffix in {".pyc", ".pyo"}:
            continue
        if entry.is_symlink() and entry.is_dir():
            raise BundlingError(
                f"{entry} is a link to a folder, which an asset cannot hold. Put the files there instead."
            )
        if entry.is_dir():
            yield from _walk(entry)
        else:
            yield entry


def _read(lock: Path) -> bytes:
    try:
        return lock.read_bytes()
    except OSError as error:
        raise BundlingError(f"The lock file {lock} cannot be read: {error.strerror}.") from error


def _if_given(path: Path | None) -> list[Path]:
    return [] if path is None else [path]


def _digest(settings: Mapping[str, str], files: Mapping[str, bytes]) -> str:
    contents = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    return hashlib.sha256(json.dumps([settings, contents], sort_keys=True).encode()).hexdigest()


# --- Building -------------------------------------------------------------------------------------------------------


def _make_once(target: Path, fill: Callable[[Path], None]) -> None:
    """Make a folder unless it is there; whoever comes second with the same folder throws its own away."""
    if target.is_dir():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    # Nobody wants to commit what can be made anew, in whatever project this is.
    (target.parent / ".gitignore").write_text("*\n", encoding="utf-8")
    scratch = Path(tempfile.mkdtemp(prefix=".making-", dir=target.parent))
    try:
        fill(scratch)
        _set_modes(scratch)
        try:
            scratch.rename(target)
        except OSError:
            if not target.is_dir():
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _set_modes(folder: Path) -> None:
    """Readable by everybody, as Lambda needs it, whatever the umask."""
    folder.chmod(0o755)
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _refuse_collisions(folder: Path, packages: Sequence[Path]) -> None:
    for package in packages:
        if (
            package.name == RUNTIME_PACKAGE
            or (folder / package.name).exists()
            or (folder / f"{package.name}.py").exists()
        ):
            raise BundlingError(
                f"The package {package.name!r} ({package}) has the name of a package that is already in the asset. "
                "Rename it."
            )


def _install(locks: Sequence[Path], target: _Target, folder: Path) -> None:
    """Install the locked wheels with uv where it is found, else with pip."""
    common = ["--target", str(folder), "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    common += [option for lock in locks for option in ("-r", str(lock))]
    uv = _find_uv()
    if uv is not None:
        command = [
            uv,
            "pip",
            "install",
            "--python",
            sys.executable,
            "--link-mode",
            "copy",
            *target.uv_options(),
            *common,
        ]
        # The lock fixes every byte, so what the cache has needs no look at the index.
        if _run([*command, "--offline"]).returncode == 0:
            return
    elif importlib.util.find_spec("pip"):
        command = [sys.executable, "-m", "pip", "install", "--no-user", "--no-compile", *target.pip_options(), *common]
    else:
        raise BundlingError(
            f"Neither uv nor pip was found for {sys.executable}. Install one of them: uv is the faster."
        )
    done = _run(command)
    if done.returncode != 0:
        raise BundlingError(
            f"The locked wheels of {', '.join(map(str, locks))} could not be installed for {target.tag}. Every line "
            "needs hashes, and a wheel for this platform that the package index or the cache has. The installer said:\n"
            f"{done.stderr.strip()[-2000:]}\n"
            f"Where two locks disagree about a package, compile the second with: --constraint {locks[0]}"
        )


def _prune(folder: Path) -> None:
    """Drop what depends on the machine or on the installer, and what Lambda never uses."""
    shutil.rmtree(folder / "bin", ignore_errors=True)
    (folder / ".lock").unlink(missing_ok=True)
    for cached in list(folder.rglob("__pycache__")):
        shutil.rmtree(cached)
    for info in folder.glob("*.dist-info"):
        for name in _INSTALLER_FILES:
            (info / name).unlink(missing_ok=True)


def _has_compiled_wheels(asset: Path) -> bool:
    tags = [
        line
        for wheel in asset.glob("*.dist-info/WHEEL")
        for line in wheel.read_text(encoding="utf-8").splitlines()
        if line.startswith("Tag:")
    ]
    return any(not tag.endswith("-any") for tag in tags)


# --- Byte code ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Python:
    executable: str
    version: str


def _compile(folder: Path, python: _Python | None, names: Iterable[str]) -> None:
    """Add ``.pyc`` files that never ask for the source's time: ``/var/task`` cannot be written at a cold start.

    A file that does not compile is left as it is: an import shows its error.
    """
    if python is None:
        return
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(  # noqa: S603 - an interpreter that was found on this machine, with a fixed script
        [python.executable, "-sSB", "-c", _COMPILE, str(folder)],
        input="\n".join(sorted(names)),
        env=environment | {"PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise BundlingError(f"{python.executable} could not compile the asset: {done.stderr.strip()[-2000:]}")


@cache
def _find_python(version: str) -> _Python | None:
    """The CPython of this version, if this machine has one."""
    for executable in _python_candidates(version):
        done = _run([executable, "-sS", "-c", _IDENTIFY])
        found = done.stdout.strip()
        if done.returncode == 0 and found.startswith(f"{version}."):
            return _Python(executable, found)
    return None


def _python_candidates(version: str) -> Iterable[str]:
    yield sys.executable
    on_path = shutil.which(f"python{version}")
    if on_path is not None:
        yield on_path
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    yield from (str(path) for path in sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True))
    uv = _find_uv()
    if uv is not None:
        found = _run([uv, "python", "find", "--offline", "--no-python-downloads", "--no-project", version])
        if found.returncode == 0:
            yield found.stdout.strip()


def _find_uv() -> str | None:
    beside = shutil.which("uv", path=sysconfig.get_path("scripts"))
    return beside or shutil.which("uv")


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        # Programs that were found on this machine, with arguments made here.
        return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    except OSError as error:
        return subprocess.CompletedProcess(list(command), 127, "", str(error))
