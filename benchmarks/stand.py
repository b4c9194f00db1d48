"""What the figures are measured on: servers that start when they are first asked for, and end together."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Self

from benchmarks.figure import BenchmarkError
from benchmarks.s3_server import S3Server
from claim_check_ops.local import EmbeddedAws, EmbeddedAwsError
from claim_check_ops.local.embedded_aws import REGION


class Stand:
    """A context manager: leaving it ends what was started and removes what was written."""

    def __init__(self, say: Callable[[str], None] = lambda _: None) -> None:
        """Prepare; nothing runs yet.

        Args:
            say: Told what is being done now.
        """
        self.say = say
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Start nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """End everything."""
        self._stack.close()

    @cached_property
    def folder(self) -> Path:
        """A temporary folder."""
        return Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="claim-check-bench-")))

    @cached_property
    def aws(self) -> EmbeddedAws:
        """The embedded AWS."""
        self.say("starting the embedded AWS")
        try:
            return self._stack.enter_context(EmbeddedAws())
        except EmbeddedAwsError as error:
            raise BenchmarkError(str(error)) from error

    @cached_property
    def s3(self) -> S3Server:
        """The real S3 server."""
        self.say("starting the S3 server")
        return self._stack.enter_context(S3Server())

    @staticmethod
    def bare_environment() -> dict[str, str]:
        """Environment of a process that has made-up credentials and no AWS."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        return kept | {
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }

    def environment(self) -> dict[str, str]:
        """Environment of a process whose AWS is the embedded one."""
        return self.aws.process_environment()

    def environment_with_s3(self) -> dict[str, str]:
        """Environment of a process whose S3 is the real server, and everything else the embedded AWS."""
        return self.environment() | self.s3.environment()
