"""An embedded AWS (MiniStack) as a child process: start it, talk to it, read what functions printed, end it.

MiniStack lives in an environment of its own (``.venv-local``), since it pins botocore exactly. It runs Lambda functions
as subprocesses of its own Python and passes its environment on to them, so it gets a clean one. It listens on
loopback only and ends with the process that started it, even when that process is killed. (Over TLS it also takes
loopback's port 443 where it may and nobody else has it; nothing here uses that port.)

Example:
    >>> with EmbeddedAws() as aws:  # doctest: +SKIP
    ...     aws.s3.create_bucket(Bucket="documents")
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, cast

import boto3
import botocore.config
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_logs import CloudWatchLogsClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sts import STSClient

ACCOUNT_ID: Final = "000000000000"
REGION: Final = "us-east-1"

_HOST: Final = "127.0.0.1"
_POLL_SECONDS: Final = 0.02
_START_ATTEMPTS: Final = 3
_LOG_TAIL_CHARACTERS: Final = 4000

# Ends the whole process group as soon as the pipe from the starting process closes, however that process ended.
_LAUNCHER: Final = """
import os, signal, sys, threading
def end_with_parent():
    sys.stdin.buffer.read()
    os.killpg(os.getpgrp(), signal.SIGKILL)
threading.Thread(target=end_with_parent, daemon=True).start()
from ministack.app import main
sys.argv = ["ministack"]
main()
"""

# Passed on from the own environment; everything else would leak into the functions.
_PASSED_ON: Final = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH")
# Never passed on to a client: a profile, a role or a certificate that belongs to another AWS.
_FOREIGN_PREFIXES: Final = ("AWS_", "CDK_")
_CA_VARIABLES: Final = ("NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


class EmbeddedAwsError(RuntimeError):
    """The embedded AWS could not be started or does not answer; the text holds the end of its log."""


_ROOT: Final = ("test", "test", None)
"""Key, secret and token of the account's root, which no policy limits."""


class _Session(boto3.Session):
    """Makes clients of the embedded AWS, whatever the process's environment says."""

    def __init__(
        self, endpoint_url: str, *, verify: str | None, credentials: tuple[str, str, str | None] = _ROOT
    ) -> None:
        key, secret, token = credentials
        super().__init__(
            aws_access_key_id=key, aws_secret_access_key=secret, aws_session_token=token, region_name=REGION
        )
        self._reach = {"endpoint_url": endpoint_url, "verify": verify}

    def client(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - boto3's own signature lists every service
        return super().client(*args, **{**self._reach, **kwargs})


class EmbeddedAws:
    """One embedded AWS on a free loopback port. A context manager: leaving it ends the process and its files.

    Args:
        enforce_iam: Enforce the IAM policies of roles, over TLS with a certificate of its own. Without it every call
            is allowed.
        python: The interpreter of the environment that holds MiniStack. Without it: the environment variable
            ``CLAIM_CHECK_LOCAL_PYTHON``, else ``.venv-local`` of the current folder or of the checkout.
        start_timeout: Seconds until it must answer.
        stop_timeout: Seconds between the polite and the hard end of its processes.
        port: The loopback port. Without it a free one.
    """

    def __init__(
        self,
        *,
        enforce_iam: bool = False,
        python: Path | None = None,
        start_timeout: float = 30.0,
        stop_timeout: float = 1.0,
        port: int | None = None,
    ) -> None:
        """Prepare; nothing runs before `start`."""
        self.enforce_iam: Final = enforce_iam
        self._python = python
        self._start_timeout = start_timeout
        self._stop_timeout = stop_timeout
        self._wanted_port = port
        self._port: int | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: Path | None = None

    def __enter__(self) -> Self:
        """Start it and wait until it answers."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End it."""
        self.stop()

    # Life

    def start(self) -> None:
        """Start it and wait until it answers.

        Raises:
            EmbeddedAwsError: It is running already, MiniStack or openssl is missing, or it did not answer in time.
        """
        if self._process is not None:
            raise EmbeddedAwsError("The embedded AWS is running already; stop() it first.")
        python = self._find_python()
        if self.enforce_iam and shutil.which("openssl") is None:
            raise EmbeddedAwsError("enforce_iam needs the command `openssl` for a certificate; install openssl.")
        self._folder = Path(tempfile.mkdtemp(prefix="claim-check-aws-"))
        try:
            self._launch_and_wait(python)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End its process group, the functions it left behind included, and remove its files. Safe to repeat."""
        self._end_processes()
        self.__dict__.pop("session", None)
        for name in ("s3", "sqs", "dynamodb", "cloudformation", "cloudwatch", "lambda_", "logs", "sts"):
            client = self.__dict__.pop(name, None)
            if client is not None:
                client.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def reset(self) -> None:
        """Forget everything: all resources, messages, objects and logs, the CDK bootstrap included."""
        self._http("POST", "/_ministack/reset", timeout=self._start_timeout)

    @property
    def running(self) -> bool:
        """Whether its process is alive."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The id of its process, which is also the id of its process group."""
        return self._require_process().pid

    # How to reach it

    @property
    def endpoint_url(self) -> str:
        """The address of all services."""
        self._require_process()
        return f"{'https' if self.enforce_iam else 'http'}://{_HOST}:{self._port}"

    @property
    def folder(self) -> Path:
        """Its own temporary folder, removed by `stop`."""
        if self._folder is None:
            raise EmbeddedAwsError("The embedded AWS is not running; start() it first.")
        return self._folder

    @property
    def ca_bundle(self) -> Path | None:
        """The certificate that clients must trust; None without TLS."""
        return self.folder / "tmp" / "ministack-tls" / "server.crt" if self.enforce_iam else None

    def environment(self) -> dict[str, str]:
        """Return the variables that a client, the CDK command line or a test needs, and only those.

        The CDK command line remembers which account a key belongs to, so it gets a home of its own (``CDK_HOME``).
        """
        variables = {
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL": self.endpoint_url,
            "AWS_ENDPOINT_URL_S3": self.endpoint_url,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "CDK_DEFAULT_ACCOUNT": ACCOUNT_ID,
            "CDK_DEFAULT_REGION": REGION,
            "CDK_HOME": str(self.folder / "cdk-home"),
            "NO_PROXY": f"{_HOST},localhost",
            "no_proxy": f"{_HOST},localhost",
        }
        if self.ca_bundle is not None:
            variables |= {"AWS_CA_BUNDLE": str(self.ca_bundle), "NODE_EXTRA_CA_CERTS": str(self.ca_bundle)}
        return variables

    def process_environment(self, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return a complete environment for a child process.

        Args:
            base: What to start from; the own environment by default. Settings of another AWS (profile, role,
                certificates) are left out of it.
        """
        kept = {
            name: value
            for name, value in (os.environ if base is None else base).items()
            if not name.startswith(_FOREIGN_PREFIXES) and name not in _CA_VARIABLES
        }
        return kept | self.environment()

    # Clients

    @cached_property
    def session(self) -> boto3.Session:
        """A boto3 session whose clients reach it, with credentials of its own; shared by all clients."""
        return _Session(self.endpoint_url, verify=self._verify)

    def session_as(self, role_name: str) -> boto3.Session:
        """Return a new session that may do what a role may, for an hour. Without ``enforce_iam`` that is everything.

        MiniStack lets the account's root assume every role; on AWS the role's trust policy would have to name it.

        Args:
            role_name: The role's name.
        """
        arn = f"arn:aws:iam::{ACCOUNT_ID}:role/{role_name}"
        given = self.sts.assume_role(RoleArn=arn, RoleSessionName="claim-check-local")["Credentials"]
        credentials = (given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"])
        return _Session(self.endpoint_url, verify=self._verify, credentials=credentials)

    def client(self, service: str, *, config: botocore.config.Config | None = None) -> Any:  # noqa: ANN401 - boto3 makes client classes at run time
        """Return a new boto3 client of the named service; the properties below are the typed, shared ones.

        Args:
            service: boto3's name of the service.
            config: Settings that win over those of this class (S3v4 signatures, short timeouts, few retries).
        """
        settings = botocore.config.Config(
            signature_version="s3v4" if service == "s3" else None,
            connect_timeout=5,
            read_timeout=60,
            proxies={},
            retries={"mode": "standard", "max_attempts": 3},
        )
        return self.session.client(service, config=settings.merge(config) if config else settings)

    @cached_property
    def s3(self) -> "S3Client":
        """The client of S3."""
        return cast("S3Client", self.client("s3"))

    @cached_property
    def sqs(self) -> "SQSClient":
        """The client of SQS."""
        return cast("SQSClient", self.client("sqs"))

    @cached_property
    def dynamodb(self) -> "DynamoDBClient":
        """The client of DynamoDB."""
        return cast("DynamoDBClient", self.client("dynamodb"))

    @cached_property
    def cloudformation(self) -> "CloudFormationClient":
        """The client of CloudFormation."""
        return cast("CloudFormationClient", self.client("cloudformation"))

    @cached_property
    def cloudwatch(self) -> "CloudWatchClient":
        """The client of CloudWatch."""
        return cast("CloudWatchClient", self.client("cloudwatch"))

    @cached_property
    def lambda_(self) -> "LambdaClient":
        """The client of Lambda."""
        return cast("LambdaClient", self.client("lambda"))

    @cached_property
    def logs(self) -> "CloudWatchLogsClient":
        """The client of CloudWatch Logs."""
        return cast("CloudWatchLogsClient", self.client("logs"))

    @cached_property
    def sts(self) -> "STSClient":
        """The client of STS."""
        return cast("STSClient", self.client("sts"))

    # What happened inside

    def lambda_logs(self, function_name: str) -> list[str]:
        """Return every line that a function printed, oldest first; empty before its first invocation.

        MiniStack writes a function's output to its log group when an invocation ends.
        """
        try:
            configuration = self.lambda_.get_function_configuration(FunctionName=function_name)
            group = configuration.get("LoggingConfig", {}).get("LogGroup") or f"/aws/lambda/{function_name}"
            pages = self.logs.get_paginator("filter_log_events").paginate(logGroupName=group)
            return [event.get("message", "") for page in pages for event in page.get("events", [])]
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") == "ResourceNotFoundException":
                return []
            raise

    def lambda_metrics(self, function_name: str) -> list[dict[str, Any]]:
        """Return every CloudWatch metric document (embedded metric format) that a function printed, oldest first."""
        return [document for line in self.lambda_logs(function_name) for document in _metric_documents(line)]

    def hidden_until(self, queue_url: str) -> dict[str, float]:
        """Return when each message of a queue can be received, epoch seconds, by its id. Receives nothing."""
        answer = json.loads(self._http("GET", "/_ministack/sqs/messages", timeout=self._start_timeout))
        queues = answer["messages"].get(ACCOUNT_ID, {}).get(REGION, {})
        return {message["MessageId"]: message["VisibleAt"] for message in queues.get(queue_url, [])}

    @property
    def log_file(self) -> Path:
        """What the embedded AWS itself printed, from its start."""
        return self.folder / "ministack.log"

    def log_tail(self, characters: int = _LOG_TAIL_CHARACTERS) -> str:
        """Return the end of `log_file`."""
        if self._folder is None or not self.log_file.exists():
            return "(no log)"
        return self.log_file.read_text(encoding="utf-8", errors="replace")[-characters:]

    # Inside

    @property
    def _verify(self) -> str | None:
        return str(self.ca_bundle) if self.ca_bundle else None

    def _find_python(self) -> Path:
        candidates = [self._python] if self._python else list(_default_pythons())
        for candidate in candidates:
            if candidate.exists():
                return candidate.absolute()
        looked = ", ".join(str(candidate) for candidate in candidates)
        raise EmbeddedAwsError(
            f"No environment with MiniStack found (looked for {looked}). Make it with `make setup`, or name its"
            " interpreter in CLAIM_CHECK_LOCAL_PYTHON."
        )

    def _launch_and_wait(self, python: Path) -> None:
        deadline = time.monotonic() + self._start_timeout
        for _ in range(_START_ATTEMPTS):
            self._launch(python)
            if self._answers_before(deadline):
                return
            # The port was free a moment ago; somebody else may have taken it since.
            if not self._port_was_taken():
                break
            self._end_processes()
        raise EmbeddedAwsError(f"The embedded AWS did not start. Its log ends:\n{self.log_tail()}")

    def _launch(self, python: Path) -> None:
        self._port = self._wanted_port or _free_port()
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        with self.log_file.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own launcher
                [str(python), "-c", _LAUNCHER],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env=self._server_environment(temporary),
                start_new_session=True,
            )

    def _server_environment(self, temporary: Path) -> dict[str, str]:
        variables = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        variables |= {
            "HOME": str(self.folder),
            "TMPDIR": str(temporary),
            "PYTHONUNBUFFERED": "1",
            "BIND_HOST": _HOST,
            "GATEWAY_PORT": str(self._port),
            "MINISTACK_HOST": _HOST,
            "SFTP_ENABLED": "0",
            "IOT_MTLS_ENABLED": "0",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        return variables | ({"AUTH": "true", "USE_SSL": "1"} if self.enforce_iam else {})

    def _answers_before(self, deadline: float) -> bool:
        while time.monotonic() < deadline and self.running:
            # Somebody else's server on the same port answers too, so the process must be alive after the answer.
            with contextlib.suppress(OSError, EmbeddedAwsError):
                self._http("GET", "/_ministack/health", timeout=1.0)
                return self.running
            time.sleep(_POLL_SECONDS)
        return False

    def _port_was_taken(self) -> bool:
        return self._wanted_port is None and not self.running and "already in use" in self.log_tail()

    def _http(self, method: str, path: str, *, timeout: float) -> bytes:
        request = urllib.request.Request(self.endpoint_url + path, method=method)  # noqa: S310 - our own loopback address
        context = ssl.create_default_context(cafile=self.ca_bundle) if self.ca_bundle else None
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )
        try:
            with opener.open(request, timeout=timeout) as answer:
                return cast("bytes", answer.read())
        except urllib.error.HTTPError as error:
            with error:
                raise EmbeddedAwsError(f"{method} {path} was answered with {error.code}.") from error

    def _require_process(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise EmbeddedAwsError("The embedded AWS is not running; start() it first.")
        return self._process

    def _end_processes(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        # start_new_session made it the leader of a group of its own: its pid names that group and nothing else.
        _signal_group(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(self._stop_timeout)
        _signal_group(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdin is not None:
            process.stdin.close()


def _metric_documents(line: str) -> Iterator[dict[str, Any]]:
    if '"_aws"' not in line:
        return
    with contextlib.suppress(json.JSONDecodeError):
        document = json.loads(line[line.index("{") :])
        if "CloudWatchMetrics" in document.get("_aws", {}):
            yield document


def _default_pythons() -> Iterator[Path]:
    named = os.environ.get("CLAIM_CHECK_LOCAL_PYTHON")
    if named:
        yield Path(named)
        return
    checkout = Path(__file__).resolve().parents[3]
    for root in dict.fromkeys((Path.cwd(), checkout, Path(sys.prefix).parent)):
        yield root / ".venv-local" / "bin" / "python"


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((_HOST, 0))
        return int(probe.getsockname()[1])


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)
